/* From a stripped driver to an archive that an app imports, with its receipt. */
#ifndef TP_FACTORY_PACKAGE_PACKAGE_H
#define TP_FACTORY_PACKAGE_PACKAGE_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"
#include "base/fs.h"
#include "factory/package/driver_check.h"

/* Everything is borrowed until tp_package_write returns. Text is UTF-8; what may be NULL says so. */
struct tp_package_request {
    const char *driver;       /* path of the stripped .so */
    const char *out_dir;      /* a folder that exists */
    const char *archive_name; /* "WN-Turnip-25.0.7-b_Axxx.zip": no folder, ends in .zip */

    const char *system;         /* "android" or "linux" */
    const char *machine;        /* "aarch64" or "x86_64"; NULL: "aarch64" */
    const char *target;         /* "linux-arm64", as in the driver's note */
    char variant;               /* 'b' or 'p' */
    const char *version;        /* "25.0.7" */
    const char *driver_version; /* "WN-25.0.7-b" */

    const char *name; /* "WN-Turnip-25.0.7-b Axxx", shown by importers */
    const char *description, *author, *vendor;
    int min_api; /* Android's API level; unused for linux */

    struct {
        const char *version;  /* "25.0.7" */
        const char *revision; /* git commit; NULL where the source has none */
        const char *source;   /* the kind: "git", "debian", "tarball", "directory" */
        const char *spec;     /* what --mesa takes to get it again; NULL: a place on this machine */
        const char *sha256;   /* of the tarball; NULL where there is none */
    } mesa;
    const char *build_commit; /* turnpike's own revision, or "unknown" */

    /* For the receipt alone. */
    json_t *receipt;   /* the patch receipt: every edit with file, line, hash before and after */
    json_t *patches;   /* the patches and their states */
    json_t *toolchain; /* names to texts or lists: compiler, linker, flags, options; may be NULL */
    json_t *options;   /* what else the build was asked for: patches switched on or left out; may be NULL */
    int64_t epoch;     /* SOURCE_DATE_EPOCH of the build, seconds */
};

struct tp_package_result {
    char *path;         /* of the archive */
    char *receipt_path; /* of NAME.receipt.json beside it */
    char sha256[TP_SHA256_HEX], driver_sha256[TP_SHA256_HEX];
    char *driver_version;
};

/*
 * Checks the driver (tp_driver_check) and writes out_dir/archive_name and its receipt, both or
 * neither; files of these names are replaced. The archive holds meta.json, then TP_DRIVER_LIBRARY:
 * metadata first, so that a reader of a stream knows what it gets. The same request and driver give
 * the same bytes.
 * result: the caller ends it with tp_package_result_finish, after a failure too.
 * Errors: -EINVAL for a request that makes no archive or a driver that may not be packed (status
 * FAILED), those of tp_elf_open, those of writing (a full disk is named).
 */
int tp_package_write(const struct tp_package_request *request, struct tp_package_result *result,
                     struct tp_error *e);
void tp_package_result_finish(struct tp_package_result *result);

#endif
