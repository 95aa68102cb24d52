#include "factory/inspect/bionic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct tp_bionic_library *tp_bionic_library(const char *name)
{
    for (const struct tp_bionic_library *l = tp_bionic_libraries; l->name; l++) {
        if (!strcmp(l->name, name))
            return l;
    }
    return NULL;
}

static int by_name(const void *name, const void *symbol)
{
    return strcmp(name, ((const struct tp_bionic_symbol *)symbol)->name);
}

const struct tp_bionic_symbol *tp_bionic_symbol(const struct tp_bionic_library *library,
                                                const char *name)
{
    return bsearch(name, library->symbols, library->n_symbols, sizeof *library->symbols, by_name);
}

const char *tp_android_name(int api)
{
    static const char *const names[] = {
        "Android 5.0", "Android 5.1", "Android 6",  "Android 7.0", "Android 7.1", "Android 8.0",
        "Android 8.1", "Android 9",   "Android 10", "Android 11",  "Android 12",  "Android 12L",
        "Android 13",  "Android 14",  "Android 15", "Android 16",
    };
    static _Thread_local char other[32];
    if (api >= TP_API_FIRST && api <= TP_API_LAST)
        return names[api - TP_API_FIRST];
    snprintf(other, sizeof other, "Android (API %d)", api);
    return other;
}
