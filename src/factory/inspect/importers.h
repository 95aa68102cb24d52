/* What each app's importer makes of an archive. */
#ifndef TP_FACTORY_INSPECT_IMPORTERS_H
#define TP_FACTORY_INSPECT_IMPORTERS_H

#include "factory/inspect/contents.h"

enum tp_outcome {
    TP_OUTCOME_TAKES,   /* it is imported, and this driver is the one that runs */
    TP_OUTCOME_REFUSES, /* the app says no */
    TP_OUTCOME_NOTHING, /* the app does nothing, and says nothing */
    TP_OUTCOME_UNKNOWN, /* what it depends on is too large to be looked into */
    TP_OUTCOME_SYSTEM,  /* it is imported, and the phone's own driver runs silently in its place */
};

struct tp_asked;
struct tp_importer {
    const char *name;    /* the word of --importer */
    const char *aliases; /* apps that do the same: " eden sudachi ", or "" */
    const char *title;   /* "yuzu, Eden, Citron, Sudachi" */
    bool linux_too;      /* it takes drivers for Linux besides Android's */
    const char *source;  /* where its rules are read: project and file */
    enum tp_outcome (*ask)(struct tp_asked *asked); /* importers_internal.h */
};

/* Ends with a row whose name is NULL. */
extern const struct tp_importer tp_importers[];

/* By name or alias, in letters of either case; NULL: there is none. */
const struct tp_importer *tp_importer_find(const char *name);
/* Is it one for the platform of these contents? */
bool tp_importer_applies(const struct tp_importer *importer, const struct tp_contents *c);

/*
 * What it does with them, on a phone of this API level (0: one that is new enough). findings: of
 * these contents. *why: in words; the caller frees.
 */
enum tp_outcome tp_importer_ask(const struct tp_importer *importer, const struct tp_contents *c,
    const struct tp_findings *findings, int api, char **why);
/* "takes", "refuses", "nothing", "not-known", "system-driver". */
const char *tp_outcome_name(enum tp_outcome outcome);

#endif
