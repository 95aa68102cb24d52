#include "factory/inspect/asset.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"

#define BRAND "WN-"
#define TAIL "_Axxx.zip"

bool tp_asset_is_ours(const char *name)
{
    return !strncmp(name, BRAND, strlen(BRAND));
}

/* Where the version and variant end: in front of " Axxx", "_Axxx.zip" or ".zip". */
static size_t stem(const char *name)
{
    static const char *const tails[] = {TAIL, " Axxx", ".zip"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        size_t t = strlen(tails[i]);
        if (n > t && !strcmp(name + n - t, tails[i]))
            return n - t;
    }
    return n;
}

char tp_asset_variant(const char *name)
{
    size_t n = stem(name);
    if (!tp_asset_is_ours(name) || n < 3 || name[n - 2] != '-')
        return 0;
    return name[n - 1] == 'b' || name[n - 1] == 'p' ? name[n - 1] : 0;
}

void tp_asset_check(const char *file, const json_t *meta, struct tp_findings *f)
{
    const char *name = tp_json_text(meta, "name"), *version = tp_json_text(meta, "driverVersion");
    if (!tp_asset_is_ours(version) || !tp_asset_is_ours(name))
        return;
    char said = tp_asset_variant(name), built = tp_asset_variant(version);
    char filed = tp_asset_variant(file);
    if (built && ((said && said != built) || (filed && filed != built))) {
        tp_findings_add(f, TP_RULE_ASSET_VARIANT, NULL, NULL,
            "the file is called %.80s, its name is \"%.60s\", and its driver is %.60s", file, name,
            version);
        return;
    }
    char *wanted = tp_asprintf("%.*s%s", (int)stem(name), name, TAIL);
    if (strcmp(file, wanted) != 0) {
        char *fix = tp_asprintf("rename it to %s", wanted);
        tp_findings_add_as(f, TP_RULE_ASSET_NAME,
            tp_asset_is_ours(file) && !strchr(file, '(') ? TP_SEVERITY_ERROR : TP_SEVERITY_WARNING,
            NULL, fix, "the file is called %.120s", file);
        free(fix);
    }
    free(wanted);
}
