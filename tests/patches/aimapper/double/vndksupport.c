/* libvndksupport.so, the double: loads mapper.NAME.so, whatever folder is said before it, from the
 * folder TURNPIKE_MAPPER_DIR, or from its own. With TURNPIKE_MAPPER=missing the vendor has none, and
 * with TURNPIKE_MAPPER_PATHS=only none by its bare name. The counts are the tests'. */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "counts.h"

#define PUBLIC __attribute__((visibility("default")))

static struct double_counts counts;
static char order[256];
static void *held[8]; /* loaded and not unloaded */

/* Loads since the last call of this, and what was asked for. */
PUBLIC struct double_counts double_counts_take(void)
{
    struct double_counts taken = counts;
    counts = (struct double_counts){0};
    memcpy(taken.order, order, sizeof(order));
    order[0] = 0;
    return taken;
}

static void replace_held(void *old, void *new)
{
    for (unsigned i = 0; i < sizeof(held) / sizeof(*held); i++) {
        if (held[i] == old) {
            held[i] = new;
            return;
        }
    }
}

PUBLIC void double_unload_rest(void)
{
    for (unsigned i = 0; i < sizeof(held) / sizeof(*held); i++) {
        if (held[i])
            dlclose(held[i]);
        held[i] = NULL;
    }
}

static void note(const char *name)
{
    size_t used = strlen(order);
    snprintf(order + used, sizeof(order) - used, "%s%s", used ? " " : "", name);
}

static bool find_folder(char folder[PATH_MAX])
{
    Dl_info info;
    const char *set = getenv("TURNPIKE_MAPPER_DIR");
    if (set)
        return snprintf(folder, PATH_MAX, "%s/", set) < PATH_MAX;
    if (!dladdr(&counts, &info) || !info.dli_fname || !strrchr(info.dli_fname, '/'))
        return false;
    return snprintf(folder, PATH_MAX, "%.*s",
               (int)(strrchr(info.dli_fname, '/') + 1 - info.dli_fname), info.dli_fname) < PATH_MAX;
}

PUBLIC void *android_load_sphal_library(const char *name, int flags)
{
    char folder[PATH_MAX], path[PATH_MAX + NAME_MAX];
    const char *slash = strrchr(name, '/'), *file = slash ? slash + 1 : name;
    const char *setting = getenv("TURNPIKE_MAPPER"), *paths = getenv("TURNPIKE_MAPPER_PATHS");
    counts.asked++;
    if (strncmp(file, "mapper.", 7) != 0 || !find_folder(folder))
        return NULL;
    note(name);
    if ((setting && !strcmp(setting, "missing")) || (!slash && paths && !strcmp(paths, "only")))
        return NULL;
    snprintf(path, sizeof(path), "%s%s", folder, file);
    void *library = dlopen(path, flags);
    if (library) {
        counts.loads++;
        replace_held(NULL, library);
    }
    return library;
}

#ifndef DOUBLE_WITHOUT_UNLOAD
PUBLIC int android_unload_sphal_library(void *library)
{
    counts.unloads++;
    replace_held(library, NULL);
    return dlclose(library);
}
#endif
