#include "factory/package/driver_check.h"

#include <errno.h>
#include <string.h>

#include "factory/inspect/elf_check.h"

/* Every finding in one sentence, and the first one's remedy. */
static int refuse(const struct tp_elf *elf, const struct tp_findings *findings, struct tp_error *e)
{
    struct tp_buf all = {0};
    const char *fix = NULL;
    for (size_t i = 0; i < findings->n; i++) {
        const struct tp_finding *f = &findings->list[i];
        if (f->severity < TP_SEVERITY_WARNING)
            continue;
        tp_buf_addf(&all, "%s%s", all.len ? "; " : "", f->text);
        fix = fix ? fix : f->fix;
    }
    int r = tp_fail(e, TP_STATUS_FAILED, -EINVAL, elf->where, fix, "%s", tp_buf_str(&all));
    tp_buf_finish(&all);
    return r;
}

int tp_driver_check(const struct tp_elf *elf, const struct tp_driver_claim *claim, json_t **note,
                    struct tp_error *e)
{
    const struct tp_elf_ask ask = {
        .platform = strcmp(claim->system, "android") ? TP_PLATFORM_LINUX : TP_PLATFORM_ANDROID,
        .machine = claim->machine,
        .min_api = claim->min_api,
        .library_name = TP_DRIVER_LIBRARY,
        .variant = claim->variant,
        .driver_version = claim->driver_version,
        .target = claim->target,
        .mesa_version = claim->mesa_version,
        .ours = true,
    };
    struct tp_findings findings = {0};
    struct tp_elf_facts facts = {0};
    tp_elf_check(elf, &ask, &findings, &facts);
    int r = tp_findings_count(&findings, TP_SEVERITY_WARNING) ? refuse(elf, &findings, e) : 0;
    if (note)
        *note = r < 0 ? NULL : json_incref(facts.note);
    tp_elf_facts_finish(&facts);
    tp_findings_finish(&findings);
    return r;
}
