/* A release's notes, as GitHub shows them. */
#ifndef TP_FACTORY_NOTES_NOTES_H
#define TP_FACTORY_NOTES_NOTES_H

#include <jansson.h>

#include "base/buf.h"
#include "factory/notes/marker.h"
#include "factory/notes/relnotes.h"
#include "factory/source/history.h"

/* How many commits or entries are listed; the rest is counted. */
#define TP_NOTES_MOST 60

/* The parts of Mesa that the driver is made of; NULL-terminated. */
extern const char *const tp_notes_paths[];

/* All borrowed; NULL where something is not known. */
struct tp_notes {
    const char *version;                /* of the release: "v1.04" */
    const char *mesa_version;           /* what was built, or the range's end */
    const char *mesa_revision;          /* "" as well where the source has none */
    const char *mesa_source;            /* as --mesa spells it */
    const char *toolchain;              /* what compiled it */
    const char *previous;               /* tag of the release before this one */
    const char *since;                  /* a tag or revision that `ours` begins after */
    const json_t *summary;              /* build's summary.json */
    const struct tp_history *ours;      /* our commits */
    const char *range_from, *range_to;  /* Mesa's range as it was asked for; NULL: there is none */
    const struct tp_history *mesa;      /* Mesa's commits, or */
    const struct tp_relnotes *relnotes; /* its release notes */
    const char *const *missing;         /* sentences; NULL-terminated */
};

/* Adds the whole text. The same struct gives the same bytes. */
void tp_notes_add(struct tp_buf *out, const struct tp_notes *n);

/* The ids of the patches that are made differently in the two variants of a summary, one a line, in
 * file order. NULL where the summary does not hold both, with the states of their patches. The
 * caller frees. */
char *tp_notes_difference(const json_t *summary);

#endif
