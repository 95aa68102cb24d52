/* Building again: what stands in the way beforehand, and what differs afterwards. */
#ifndef TP_FACTORY_ORIGIN_REBUILD_H
#define TP_FACTORY_ORIGIN_REBUILD_H

#include <stdbool.h>
#include <stddef.h>

#include "factory/edit/edit.h"
#include "factory/origin/receipt.h"

/* One thing that is otherwise. Owns its text. */
struct tp_difference {
    bool decides; /* the bytes cannot be the same; otherwise they may be */
    char *where;  /* "compiler", "patch driver-label", "meta.json", ".text" */
    char *text;   /* a sentence without its full stop */
};

/* {0} is empty; tp_differences_finish ends it. */
struct tp_differences {
    struct tp_difference *at;
    size_t n, cap;
};
void tp_differences_finish(struct tp_differences *d);
bool tp_differences_decide(const struct tp_differences *d);

/* Adds one; where and text are copied. */
void tp_differences_add(struct tp_differences *d, bool decides, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The patches of the receipt against those that a build here would make. */
void tp_rebuild_compare_patches(const json_t *receipt, const struct tp_plan *plan,
                                const struct tp_patch_set *here, struct tp_differences *out);

/* Its toolchain against what is here, in the receipt's form. A receipt that has none differs in nothing. */
void tp_rebuild_compare_tools(const json_t *receipt, const json_t *here, struct tp_differences *out);

/* The source: what came in, against the receipt's. Texts may be "". */
void tp_rebuild_compare_mesa(const struct tp_plan *plan, const char *version, const char *revision,
                             const char *sha256, struct tp_differences *out);

/*
 * The bytes of two archives, and what is otherwise in them: the driver section by section, meta.json
 * field by field, or the container alone. *equal: the files are the same. Errors: those of reading
 * either whole; one that cannot be taken apart is a difference, no error.
 */
int tp_rebuild_compare(const char *archive, const char *again, bool *equal, struct tp_differences *out,
                       struct tp_error *e);

/*
 * Is again what archive is but for meta.json's buildCommit, byte for byte? *commit: what archive has there;
 * the caller frees; NULL where the answer is no.
 */
bool tp_rebuild_only_commit(const char *archive, const char *again, char **commit);

/* What a rebuild can tell of a receipt's surroundings. */
struct tp_rebuild_known {
    bool same_turnpike; /* it is of this revision: it must hold what a build writes, and nothing else */
    bool same_tarball;  /* the source was a tarball of the receipt's hash */
    bool epoch_known;   /* the source's date would be the same whichever way it came */
};

/*
 * A receipt against the one that the rebuild wrote, field by field ("driver.sha256"). A difference that
 * decides is a false claim; one that does not is a claim that nothing here can prove, its text the claim.
 * What the receipt is silent about is none of them, unless it is of this very turnpike.
 */
void tp_rebuild_compare_receipts(const json_t *was, const json_t *is, const struct tp_rebuild_known *known,
                                 struct tp_differences *out);

#endif
