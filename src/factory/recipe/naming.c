#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

/* "v1.07" to 7, or -1. */
static long android_minor(const char *tag)
{
    unsigned minor;
    int end = 0;
    if (sscanf(tag, "v1.%4u%n", &minor, &end) != 1 || tag[end] || strspn(tag + 3, "0123456789") < 2)
        return -1;
    return (long)minor;
}

char *tp_version_next(const struct tp_target *target, const char *const *tags, size_t n)
{
    if (!strcmp(target->system, "android")) {
        long next = 3;
        for (size_t i = 0; i < n; i++) {
            long minor = android_minor(tags[i]);
            next = minor >= next ? minor + 1 : next;
        }
        return tp_asprintf("v1.%02ld", next);
    }
    unsigned best[3] = {0, 1, 0};
    bool found = false;
    for (size_t i = 0; i < n; i++) {
        unsigned v[3];
        int end = 0;
        if (sscanf(tags[i], "linux-v%4u.%4u.%4u%n", &v[0], &v[1], &v[2], &end) != 3 || tags[i][end])
            continue;
        int k = 0;
        while (k < 2 && v[k] == best[k])
            k++;
        if (v[k] >= best[k]) {
            memcpy(best, v, sizeof v);
            found = true;
        }
    }
    return tp_asprintf("linux-v%u.%u.%u", best[0], best[1], best[2] + (found ? 1 : 0));
}
