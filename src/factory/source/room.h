/* What the room's files share. Nothing outside includes this. */
#ifndef TP_FACTORY_SOURCE_ROOM_H
#define TP_FACTORY_SOURCE_ROOM_H

#include "base/buf.h"
#include "base/fs.h"
#include "factory/source/source.h"

enum tp_source_kind {
    TP_SOURCE_AUTO,
    TP_SOURCE_GIT,
    TP_SOURCE_DIRECTORY,
    TP_SOURCE_TARBALL,
    TP_SOURCE_DEBIAN,
};

/* spec.c: a SPEC taken apart. tp_spec_finish frees the strings. */
struct tp_spec {
    enum tp_source_kind kind;
    char *url, *rev;            /* git and auto */
    char *path;                 /* directory and tarball; absolute */
    char *version;              /* debian; NULL: the newest */
    char sha256[TP_SHA256_HEX]; /* tarball; "" when none was given */
};
int tp_spec_parse(const char *text, const char *git_url, struct tp_spec *out, struct tp_error *e);
void tp_spec_finish(struct tp_spec *s);
/* A git URL without what gives access: the password, and over HTTP the name. The caller frees. */
char *tp_spec_public_url(const char *url);

/* One call of tp_source_get: what each kind of source gets and what it fills in. */
struct tp_job {
    const struct tp_source_request *req; /* borrowed */
    const char *cache;                   /* borrowed; absolute */
    const char *dest;                    /* borrowed; absolute */
    const char *stage;                   /* borrowed; an empty temporary folder on dest's disk */
    char *root;                          /* owned; out: the Mesa tree below stage */
    int64_t commit_date;                 /* out; -1: not known */
    int64_t newest;                      /* out: newest time in the tarball; -1: not known */
    struct tp_source *out;               /* borrowed; spec, revision, sha256, dirty are filled */
};
void tp_job_note(const struct tp_job *job, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* git.c, copy.c, unpack.c, debian.c: each fills the job as above. */
int tp_git_get(struct tp_job *job, const struct tp_spec *spec, struct tp_error *e);
int tp_copy_get(struct tp_job *job, const struct tp_spec *spec, struct tp_error *e);
int tp_unpack_get(struct tp_job *job, const struct tp_spec *spec, struct tp_error *e);
int tp_debian_get(struct tp_job *job, const struct tp_spec *spec, struct tp_error *e);

/* Asks the repository for one reference, for at most timeout_ms. MISSING when it does not answer.
 */
int tp_git_answers(const struct tp_spec *spec, int64_t timeout_ms, struct tp_error *e);
/* Runs git in dir (NULL: here); standard output goes to out (may be NULL), messages to err. */
int tp_git_run(const char *dir, const char *const *args, int64_t timeout_ms, struct tp_buf *out,
    struct tp_buf *err, struct tp_error *e);

/* What git said of a failure, as an error. spec: url and rev matter. */
int tp_git_explain(const struct tp_spec *spec, const struct tp_buf *said, struct tp_error *e);

/* debversion.c: Debian Policy 5.6.12: <0, 0 or >0 as a is older than, the same as or newer than b.
 */
int tp_debversion_compare(const char *a, const char *b);

/* tree.c */
/* True when dir has VERSION and src/. */
bool tp_tree_is_mesa(const char *dir);
/* The one Mesa tree in dir: dir itself or a folder in it. name: what to call it in the error.
 * Returns a path (caller frees) or NULL. */
char *tp_tree_find(const char *dir, const char *name, struct tp_error *e);
/* Refuses a symbolic link in root that leads out of it. name: as above. */
int tp_tree_check_links(const char *root, const char *name, struct tp_error *e);
/* VERSION without white space. The caller frees; NULL with an error when it is no version. */
char *tp_tree_version(const char *root, const char *name, struct tp_error *e);
/* The epoch by the rules of struct tp_source; commit_date and newest are -1 where not known. */
int64_t tp_tree_epoch(const char *root, const char *version, int64_t commit_date, int64_t newest);

#endif
