/* What the file itself must be, before it is started: a Vulkan driver, in an archive that is about it. */
#ifndef TP_FACTORY_PROVE_FILE_H
#define TP_FACTORY_PROVE_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "factory/package/elf_file.h"

/* Everything is borrowed. */
struct tp_prove_file {
    const char *path; /* the driver's own, or its archive's */
    bool in_archive;
    const struct tp_elf *elf;
    const void *data; /* the driver's bytes */
    size_t len;
    const json_t *note; /* the driver's; NULL: none */
};

/*
 * Adds to checks, {"id", "ok", "detail"} each: `entry`, by which the driver is entered, and `meta` of an
 * archive: what its meta.json says of the driver in it. Errors: -EINVAL (INPUT) for a file that is no
 * Vulkan driver of a machine that there is.
 */
int tp_prove_file_check(const struct tp_prove_file *file, json_t *checks, struct tp_error *e);

#endif
