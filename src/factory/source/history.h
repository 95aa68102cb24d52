/* Which commits lie between two revisions: of Mesa, wherever its repository is, or of a checkout.
 */
#ifndef TP_FACTORY_SOURCE_HISTORY_H
#define TP_FACTORY_SOURCE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct tp_commit {
    char hash[65]; /* in full: 40 hex digits, 64 in a repository of SHA-256 */
    char *subject; /* owned; whatever bytes its author wrote, no line's end among them */
};

struct tp_history_request {
    const char *from; /* a revision that is outside the range; NULL: the first commit is in it */
    const char *to;   /* the last one in the range */
    const char *const *paths; /* commits that touch these alone; NULL-terminated; NULL: all */
    size_t max;               /* how many are wanted; 0: none */
    /* For tp_history_get alone; NULL and 0: as struct tp_source_request. */
    const char *spec, *git_url, *cache;
    int64_t git_timeout_ms;
};

/* A range of commits. The caller ends it with tp_history_finish. */
struct tp_history {
    char *place;   /* the repository: a URL without what gives access, or a folder */
    char from[65]; /* the commit; "": the range has no such end */
    char to[65];
    char *version;             /* VERSION at `to`, without white space; "" where there is none */
    bool straight;             /* `to` descends from `from` */
    size_t all;                /* commits in the range, merges left out */
    size_t touching;           /* those that touch the paths */
    struct tp_commit *commits; /* of these the newest, at most max */
    size_t n, cap;
};

/*
 * The range in the repository that spec names: "git[:URL][@REV]", "auto" (Mesa's own), or a folder
 * that is a checkout. A repository on this machine is read where it is; of another one the range
 * alone comes, without files, into a temporary folder in the cache. A version ("25.0.7") also
 * stands for Mesa's tag
 * ("mesa-25.0.7").
 * Errors: -ENOENT (status INPUT) for a revision that is not there; -EOPNOTSUPP (status INPUT) for a
 * spec that has no history; status MISSING where no repository answers; -ETIMEDOUT; -EINTR.
 */
int tp_history_get(
    const struct tp_history_request *req, struct tp_history *out, struct tp_error *e);

/* Is there a history behind this spec at all: a repository, or a folder that is a checkout? Errors:
 * a spec that is none (status INPUT). */
int tp_history_possible(const char *spec, bool *possible, struct tp_error *e);

/* The range in the checkout that the folder dir is in. Errors: as above. */
int tp_history_of(const char *dir, const struct tp_history_request *req, struct tp_history *out,
    struct tp_error *e);

/* The tags that a revision descends from, one a line, into a text that the caller frees. */
int tp_history_tags(const char *dir, const char *rev, char **tags, struct tp_error *e);

/* Accepts {0} and what a failed call left. */
void tp_history_finish(struct tp_history *h);

#endif
