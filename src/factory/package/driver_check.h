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
};

/*
 * Holds an open driver against every rule: ELF64 little-endian shared object for the machine, SONAME
 * TP_DRIVER_LIBRARY, no RPATH or RUNPATH, no .debug_* sections, the system's entry point exported, a
 * build-id, and a `turnpike` note that agrees with the claim. note: when not NULL, receives a new
 * reference to the note's object (NULL on failure). -EINVAL (status FAILED) with every broken rule in
 * e->what and the first one's remedy in e->todo.
 */
int tp_driver_check(const struct tp_elf *elf, const struct tp_driver_claim *claim, json_t **note,
                    struct tp_error *e);

#endif
