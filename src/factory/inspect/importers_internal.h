/* What the importers' functions share. */
#ifndef TP_FACTORY_INSPECT_IMPORTERS_INTERNAL_H
#define TP_FACTORY_INSPECT_IMPORTERS_INTERNAL_H

#include "factory/inspect/importers.h"

/* A question and its answer. */
struct tp_asked {
    const struct tp_contents *c;
    const struct tp_findings *f;
    int api;
    char why[512];
    char fault[160]; /* for a reason in the making */
};

/* Fills a->why; returns the outcome. */
enum tp_outcome importer_answer(struct tp_asked *a, enum tp_outcome outcome, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

bool importer_has(const struct tp_asked *a, enum tp_rule_id rule);
/* Text of meta.json; "" where it is not there. */
const char *importer_text(const struct tp_asked *a, const char *key);
/* What keeps every reader from the entries; NULL: nothing. */
const char *importer_archive_fault(const struct tp_asked *a);
/* What besides keeps Java's ZipInputStream from them, which reads from front to back. */
const char *importer_stream_fault(const struct tp_asked *a);
/* What keeps the driver from being loaded by Android's linker (or WinNative's Linux); NULL:
 * nothing. */
const char *importer_load_fault(const struct tp_asked *a, bool in_linux);
/* A library that is too large to be looked into; NULL: there is none. */
const struct tp_library_file *importer_unread(const struct tp_asked *a);
enum tp_outcome importer_unread_answer(struct tp_asked *a);
/* The entry of that very name; NULL: there is none. */
const struct tp_zip_entry *importer_on_top(const struct tp_asked *a, const char *name);
bool importer_in_folders(const struct tp_asked *a);
/* Does it ask for a newer phone? */
bool importer_too_new(const struct tp_asked *a);
enum tp_outcome importer_too_new_answer(struct tp_asked *a, enum tp_outcome outcome);

/* The last step everywhere on Android: libadrenotools loads directory + libraryName; what does not
 * load is a line in the log, and the phone's own driver (src/driver.cpp, src/hook/hook_impl.cpp).
 * then: what is said where it loads. */
enum tp_outcome importer_load(struct tp_asked *a, const char *then);

/* importer_apps.c: one for each way of importing. */
enum tp_outcome importer_adrenotools(struct tp_asked *a);
enum tp_outcome importer_gamenative(struct tp_asked *a);
enum tp_outcome importer_winnative(struct tp_asked *a);
enum tp_outcome importer_strato(struct tp_asked *a);
enum tp_outcome importer_dolphin(struct tp_asked *a);
enum tp_outcome importer_yuzu(struct tp_asked *a);
enum tp_outcome importer_citra(struct tp_asked *a);
enum tp_outcome importer_ppsspp(struct tp_asked *a);
enum tp_outcome importer_vita3k(struct tp_asked *a);
enum tp_outcome importer_micewine(struct tp_asked *a);

#endif
