/* A file that somebody wants to import, looked at from all sides. */
#ifndef TP_FACTORY_INSPECT_INSPECT_H
#define TP_FACTORY_INSPECT_INSPECT_H

#include "base/error.h"
#include "factory/inspect/contents.h"

/* Larger files are not looked into: with what they unpack to, they would not fit in 256 MB. */
#define TP_INSPECT_MAX_ZIP_BYTES ((size_t)96 << 20)
#define TP_INSPECT_MAX_ELF_BYTES ((size_t)192 << 20)

/* Owned by it: everything. Ends with tp_inspection_finish. */
struct tp_inspection {
    struct tp_findings findings;
    struct tp_contents contents;
    struct tp_zip_view *zip; /* NULL where it is no zip */
    struct tp_buf bytes;
};

/*
 * Inspects any regular file. api: the API level of the phone that it is for; 0: any. What is wrong
 * with the file is in out->findings; errors are those of opening and reading it alone. out: the
 * caller ends it with tp_inspection_finish, after a failure too.
 */
int tp_inspect_file(const char *path, int api, struct tp_inspection *out, struct tp_error *e);
/* The same for bytes, which are borrowed until tp_inspection_finish. file_name: without folders. */
void tp_inspect_memory(
    const void *bytes, size_t len, const char *file_name, int api, struct tp_inspection *out);
void tp_inspection_finish(struct tp_inspection *i);

#endif
