/* What a shared object says about itself, read through libelf and trusted in nothing. */
#ifndef TP_FACTORY_PACKAGE_ELF_FILE_H
#define TP_FACTORY_PACKAGE_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/* A larger file is refused before it is read (a driver with debug information has some 200 MB). */
#define TP_ELF_MAX_BYTES ((size_t)512 << 20)

struct tp_elf_section {
    const char *name;
    uint32_t type; /* SHT_… */
    uint64_t flags, offset_bytes, size_bytes;
};

struct tp_elf_symbol {
    const char *name;
    bool undefined; /* the file needs it; otherwise the file exports it */
    bool weak;
};

struct tp_elf_note {
    const char *owner; /* owner_len bytes; not NUL-terminated, the file's own NUL not counted */
    size_t owner_len;
    uint32_t type;
    const void *desc;
    size_t desc_len;
};

/* Everything in it is owned by it and ends with tp_elf_close; strings may point into the file's
 * image. Read-only for callers. */
struct tp_elf {
    const char *where; /* the path or name that errors use */
    const char *image; /* the file's bytes */
    size_t image_len;
    int class_bits;    /* 32 or 64 */
    bool little_endian;
    uint16_t type, machine; /* ET_…, EM_… */
    uint64_t entry;         /* e_entry */
    char build_id[129];     /* lower-case hex, "" when there is none */
    uint64_t load_align;    /* the smallest p_align of the PT_LOAD segments, 0 without any */

    /* The dynamic section: NULL where the entry is absent. */
    const char *soname, *rpath, *runpath;
    const char **needed;
    size_t n_needed;

    GElf_Phdr *segments;
    size_t n_segments;
    GElf_Dyn *dynamic; /* without the closing DT_NULL */
    size_t n_dynamic;
    bool has_section_names;
    struct tp_elf_section *sections; /* without the first, which is always empty */
    size_t n_sections;
    /* Global and weak dynamic symbols that others see: hidden and local ones are left out. */
    struct tp_elf_symbol *symbols;
    size_t n_symbols;
    struct tp_elf_note *notes;
    size_t n_notes;

    /* Private to elf_file.c. */
    struct tp_buf file;
    Elf *handle;
    char *where_copy;
    size_t cap_needed, cap_dynamic, cap_sections, cap_symbols, cap_notes;
};

/*
 * Reads an ELF file of either class and byte order. Counts, offsets and strings are checked against
 * the file; how much it may hold of each is bounded (see elf_file.c), so garbage ends in an error
 * and never in a long loop. What is absent (no dynamic section, no symbols) is no error here.
 * *out: closed by the caller; NULL on failure. Errors: -EBADMSG for a damaged file, -EFBIG for one
 * over a bound, those of reading; e names the file and the part of it.
 */
int tp_elf_open(const char *path, struct tp_elf **out, struct tp_error *e);
/* As tp_elf_open, from memory that is borrowed until tp_elf_close. where: what errors call it. */
int tp_elf_open_memory(const void *data, size_t len, const char *where, struct tp_elf **out,
                       struct tp_error *e);
/* NULL is accepted. */
void tp_elf_close(struct tp_elf *elf);

/* True when the file itself defines and exports a symbol of this name. */
bool tp_elf_exports(const struct tp_elf *elf, const char *name);
/* The first dynamic entry with this tag (DT_…), or NULL. */
const GElf_Dyn *tp_elf_dynamic(const struct tp_elf *elf, int64_t tag);
/* The first note of this owner and type at or after index *at, which is moved behind it; or NULL. */
const struct tp_elf_note *tp_elf_next_note(const struct tp_elf *elf, const char *owner,
                                           uint32_t type, size_t *at);

#endif
