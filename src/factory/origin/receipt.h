/* A receipt, read back: what was built, from what, with what. Anybody may have written it. */
#ifndef TP_FACTORY_ORIGIN_RECEIPT_H
#define TP_FACTORY_ORIGIN_RECEIPT_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"

/* Reads a receipt's JSON, whatever is in it. *out: a new reference. Errors: those of reading; -EINVAL
 * (status INPUT) for what is no JSON object, with the line. */
int tp_receipt_read(const char *path, json_t **out, struct tp_error *e);

/* What a build was asked for and gave. Strings are borrowed from the receipt; "" where it is silent. */
struct tp_plan {
    const char *archive, *archive_sha256; /* the file's name, no path; its hash */
    const char *target, *version, *build_commit;
    char variant;
    int64_t epoch; /* SOURCE_DATE_EPOCH, seconds */
    const char **with, **without; /* owned; NULL-terminated */
    struct {
        const char *version, *kind, *spec, *revision, *sha256;
    } mesa;
};

/*
 * Checks what a rebuild depends on. where: what errors call the receipt. The caller ends the plan with
 * tp_plan_finish, after a failure too. Errors: -EINVAL (status INPUT), naming the field.
 */
int tp_plan_read(const json_t *receipt, const char *where, struct tp_plan *out, struct tp_error *e);
void tp_plan_finish(struct tp_plan *plan);

/*
 * What --mesa may be without asking: Mesa's own git at the receipt's commit, or Debian's source package.
 * Building runs what the source says, so no other place is taken from a file that anybody may have
 * written. Caller frees; NULL where the place has to be given.
 */
char *tp_plan_source(const struct tp_plan *plan, const char *git_url);

#endif
