/* What is in an archive: its metadata and its libraries. */
#ifndef TP_FACTORY_INSPECT_CONTENTS_H
#define TP_FACTORY_INSPECT_CONTENTS_H

#include <jansson.h>

#include "factory/inspect/elf_check.h"
#include "factory/inspect/kinds.h"

/* A library larger than this is not looked into. */
#define TP_LIBRARY_MAX_BYTES ((size_t)96 << 20)

/* For which C library a file is. */
enum tp_abi { TP_ABI_NONE, TP_ABI_BIONIC, TP_ABI_GLIBC };

struct tp_library_file {
    const struct tp_zip_entry *entry;
    char *name; /* without folders */
    enum tp_abi abi;
    uint16_t machine; /* EM_…; 0: no ELF file that can be read */
    bool unread;      /* it is too large to be looked into: nothing is known of it */
};

/* {0} before tp_contents_read; tp_contents_finish after it. Read-only for others. */
struct tp_contents {
    enum tp_kind kind;
    enum tp_platform platform;             /* for which it is to be judged */
    struct tp_zip_view *zip;               /* borrowed; NULL: a library alone */
    const struct tp_zip_entry *meta_entry; /* NULL: there is none */
    bool meta_on_top;                      /* it lies in no folder */
    json_t *meta; /* as lenient readers see it; NULL: unreadable, or none */
    struct tp_library_file *libraries;
    size_t n_libraries;
    struct tp_library_file *driver; /* one of them; NULL: it is not known which */
    bool driver_named;              /* libraryName leads to it, and it lies on top */
    struct tp_elf_facts facts;      /* the driver's */
    uint64_t budget_bytes;          /* what may still be unpacked of libraries */
};

/* How the whole is asked about. */
struct tp_inspect_ask {
    const char *file_name; /* without folders: "WN-Turnip-25.0.7-b_Axxx.zip" */
    int api;               /* the phone's API level; 0: any */
};

/*
 * Reads a whole zip's metadata and libraries and holds them against all rules; breaches become
 * findings. zip is borrowed until tp_contents_finish.
 */
void tp_contents_read(struct tp_contents *c, struct tp_zip_view *zip,
    const struct tp_inspect_ask *ask, struct tp_findings *findings);
/* The same for a library alone. */
void tp_contents_read_library(struct tp_contents *c, const void *bytes, size_t len,
    const struct tp_inspect_ask *ask, struct tp_findings *findings);
void tp_contents_finish(struct tp_contents *c);

#endif
