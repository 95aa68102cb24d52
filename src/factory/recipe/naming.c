#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "factory/recipe/recipe.h"

const struct tp_brand tp_brand = {
    .prefix = "WN",
    .product = "Turnip",
    .author = "WinNative",
    .vendor = "Mesa",
};

int tp_version_check(const char *version, struct tp_error *e)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
    size_t len = version ? strlen(version) : 0;
    if (len && len <= 64 && *version != '.' && *version != '-' && strspn(version, allowed) == len)
        return 0;
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--version",
                   "use letters, digits and . _ + -, at most 64, as in v1.04",
                   "'%.80s' cannot be part of an archive's name", version ? version : "");
}

/* A Linux release is tagged linux-v0.1.0; the archive's name says Linux already. */
static const char *bare_version(const struct tp_target *t, const char *version)
{
    return !strcmp(t->system, "linux") && !strncmp(version, "linux-", 6) ? version + 6 : version;
}

static char *brand_name(const struct tp_target *t, const char *version, char variant,
                        const char *tail)
{
    return tp_asprintf("%s-%s%s%s-%s-%c%s", tp_brand.prefix, t->product, *t->product ? "-" : "",
                       tp_brand.product, bare_version(t, version), variant, tail);
}

char *tp_archive_name(const struct tp_target *target, const char *version, char variant)
{
    return brand_name(target, version, variant, "_Axxx.zip");
}

char *tp_driver_name(const struct tp_target *target, const char *version, char variant)
{
    return brand_name(target, version, variant, " Axxx");
}

char *tp_driver_version(const char *version, char variant)
{
    const char *v = strncmp(version, "linux-", 6) ? version : version + 6;
    return tp_asprintf("%s-%s-%c", tp_brand.prefix, v, variant);
}
