/* Where Mesa comes from: git, a folder, a tarball, or Debian's source package. */
#ifndef TP_FACTORY_SOURCE_SOURCE_H
#define TP_FACTORY_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define TP_SOURCE_GIT_URL "https://gitlab.freedesktop.org/mesa/mesa.git"

/* Everything is borrowed for the call; NULL and 0 mean the default. */
struct tp_source_request {
    const char *spec;        /* see tp_source_get; default "auto" */
    const char *dest;        /* folder to make: absent, or there and empty */
    const char *cache;       /* downloads are kept here; default tp_cache_dir */
    const char *git_url;     /* what "git" and "auto" mean; default TP_SOURCE_GIT_URL */
    const char *private_apt; /* the script; default tools/private-apt beside the program */
    int64_t git_timeout_ms;  /* how long "auto" waits for git to answer; default 10000.
                                "git", asked for by name, waits six times as long */
    /* One sentence for the person who waits ("git does not answer: using Debian's source package");
     * may come several times. */
    void (*note)(void *data, const char *text);
    void *data;
};

/* What was got. Owned by the caller: tp_source_finish frees the strings and leaves the tree. No
 * string is NULL after success. */
struct tp_source {
    char *tree;     /* absolute; holds VERSION and src/, is ours to patch, and has no .git */
    char *kind;     /* "git", "directory", "tarball" or "debian" */
    char *spec;     /* what was asked for, made exact, in the form that tp_source_get takes again:
                       "git:URL@REV", "/abs/folder", "/abs/file.tar.xz@sha256:HEX",
                       "debian:25.0.7-2+deb13u1". A name or password for HTTP is left out. The
                       two paths name places on this machine: not for files that travel */
    char *version;  /* VERSION's content without white space around it: "25.0.7" */
    char *revision; /* commit in full (git; a folder that is a checkout; a tarball that git archive
                       made), else "" */
    char *sha256;   /* of the tarball, lower-case hex, else "" */
    bool dirty;     /* a folder with a checkout in which something differs from revision */
    int64_t epoch;  /* for SOURCE_DATE_EPOCH: seconds since 1970, the first that applies of
                       1. the date in docs/relnotes/VERSION.rst, 0 h UTC: a release has the same
                          epoch whichever way it came;
                       2. the date of the commit `revision`, as committed;
                       3. the newest time stamp in the tarball;
                       4. the newest date among docs/relnotes, as in 1;
                       5. 1980-01-01.
                       None looks at when a file came onto this machine. */
};

/*
 * Gets a Mesa tree into req->dest. SPEC is one of
 *   auto                    git; where it does not answer in time, debian (said through note)
 *   git[:URL][@REV]         shallow; REV is a branch, a tag or a full commit, default main. The
 * last
 *                           '@' splits, unless it belongs to user@host
 *   FOLDER                  is copied, never changed; .git, build folders, Python caches and
 * virtual environments stay behind FILE[@sha256:HEX]       .tar, .tar.xz, .tar.gz or .tar.zst (told
 * by content) debian[:VERSION]        the newest source package that the archive really serves;
 * VERSION is Debian's (25.0.7-2) or Mesa's (25.0.7) Files get the time of unpacking. All or
 * nothing: the tree is made in a temporary folder beside dest and renamed when whole; what a killed
 * process left there is swept by the next call.
 *
 * Returns 0, or a negative errno with the error's status: INPUT for a spec, file or revision that
 * is wrong, MISSING for a network or tool that is not there, FAILED else; -EINTR when
 * tp_interrupted.
 */
int tp_source_get(const struct tp_source_request *req, struct tp_source *out, struct tp_error *e);

/* Accepts {0} and what tp_source_get left after a failure. */
void tp_source_finish(struct tp_source *s);


#endif
