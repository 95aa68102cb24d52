/* What a driver must be before it is packed: the rules that every importer shares. */
#ifndef TP_FACTORY_PACKAGE_DRIVER_CHECK_H
#define TP_FACTORY_PACKAGE_DRIVER_CHECK_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"
#include "factory/package/elf_file.h"

/* The name under which loaders look for the driver, and so its SONAME and its archive entry. */
#define TP_DRIVER_LIBRARY "libvulkan_freedreno.so"

/* What the driver is said to be; all borrowed. */
struct tp_driver_claim {
    const char *system;         /* "android" or "linux" */
    uint16_t machine;           /* EM_AARCH64 or EM_X86_64 */
    char variant;               /* 'b' or 'p' */
    const char *target;         /* "linux-arm64", …; NULL: not compared */
    const char *driver_version; /* "WN-25.0.7-b" */
    const char *mesa_version;   /* "25.0.7"; NULL: not compared */
    int min_api;                /* of android; 0: not declared */
};

/*
 * Holds an open driver against every rule of inspect/elf_check.h, warnings included, with the SONAME
 * TP_DRIVER_LIBRARY and a `turnpike` note that agrees with the claim. note: when not NULL, receives a new
 * reference to the note's object (NULL on failure). -EINVAL (status FAILED) with every broken rule in
 * e->what and the first one's remedy in e->todo.
 */
int tp_driver_check(const struct tp_elf *elf, const struct tp_driver_claim *claim, json_t **note,
                    struct tp_error *e);

#endif
