/* Every rule of Android and Linux that a driver's file must keep, and what the file says of itself.
 */
#ifndef TP_FACTORY_INSPECT_ELF_CHECK_H
#define TP_FACTORY_INSPECT_ELF_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "factory/inspect/finding.h"
#include "factory/package/elf_file.h"

enum tp_platform { TP_PLATFORM_ANDROID, TP_PLATFORM_LINUX };

/* What the file is said to be; all borrowed. {0}: an Android driver of which nothing is declared. */
struct tp_elf_ask {
    enum tp_platform platform;
    uint16_t machine;         /* EM_…; 0: AArch64, or, for a driver made for proofs, any */
    int min_api;              /* as declared; 0: not declared, nothing is held against it */
    bool phone;               /* min_api is the level of the phone that is asked about */
    const char *library_name; /* meta.json's libraryName; NULL: not compared with the SONAME */
    char variant;             /* 'b', 'p'; 0: not said, the note's own is taken */
    /* To hold the note against; NULL: not compared. */
    const char *driver_version, *target, *mesa_version;
    bool ours;      /* the archive says that turnpike made it: the note must be there */
    bool companion; /* a library that a driver brings along: it has no entry point of its own, and its
                     * name and origin are not asked for */
    const char *const *siblings; /* the other libraries in the archive, by name */
    size_t n_siblings;
};

/* What was seen; {0} before tp_elf_check, tp_elf_facts_finish after it. */
struct tp_elf_facts {
    int min_api;           /* the real minimum on Android: what the file needs; 0 for Linux */
    char min_api_why[256]; /* what needs it: "call_once (libc.so)"; "" for TP_API_FIRST */
    char glibc[32];        /* the highest version needed, "2.34"; "" without glibc */
    char build_id[129];    /* lower-case hex, or "" */
    uint64_t page_bytes;   /* the smallest alignment of a loadable segment */
    bool native_tls, relr;
    bool power;   /* it sets KGSL properties: asks for clocks */
    json_t *note; /* the note `turnpike` (package/elf_note.h), or NULL */
};

void tp_elf_facts_finish(struct tp_elf_facts *facts);

/*
 * Holds an open file against every rule, adds what it breaks to findings (where: elf->where) and
 * fills facts. Rules that lose their meaning with another's breach (symbols of a driver for another
 * C library) are passed over, so that one fault gives one finding.
 */
void tp_elf_check(const struct tp_elf *elf, const struct tp_elf_ask *ask,
                  struct tp_findings *findings, struct tp_elf_facts *facts);

/*
 * Opens a file's bytes, which may be anything, for tp_elf_check; they are borrowed until
 * tp_elf_close. where: what findings call it. *elf: closed by the caller; NULL where none can be
 * read. False: a finding (elf-header, elf-machine, elf-damaged) says why it is not to be checked
 * further, though what it is for may be read.
 */
bool tp_elf_check_open(const void *data, size_t len, const char *where,
                       struct tp_findings *findings, struct tp_elf **elf);

#endif
