/* Which Android brings which symbol of its libraries: data/bionic-symbols.txt and
 * data/platform-symbols.txt, built in. */
#ifndef TP_FACTORY_INSPECT_BIONIC_H
#define TP_FACTORY_INSPECT_BIONIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The API levels that the tables speak of: Android 5.0, the first of arm64, to Android 16. */
enum { TP_API_FIRST = 21, TP_API_LAST = 36 };

struct tp_bionic_symbol {
    const char *name;
    uint8_t since; /* the first API level that has it */
    uint8_t until; /* the last one; 0: TP_API_LAST has it still */
    bool platform; /* not in the NDK */
};

struct tp_bionic_library {
    const char *name; /* "libc.so" */
    const struct tp_bionic_symbol *symbols; /* by name, as strcmp orders them */
    size_t n_symbols;
};

/* Ends with a row whose name is NULL. */
extern const struct tp_bionic_library tp_bionic_libraries[];

/* NULL for a library that the tables do not have. */
const struct tp_bionic_library *tp_bionic_library(const char *name);
/* NULL for a symbol that the library has on no level. */
const struct tp_bionic_symbol *tp_bionic_symbol(const struct tp_bionic_library *library,
                                                const char *name);
/* "Android 11"; beyond the table "Android (API 40)", from a buffer of the calling thread. */
const char *tp_android_name(int api);

#endif
