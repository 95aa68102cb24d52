/* Writes small shared objects for arm64, sound but for what the test asks to be otherwise. */
#ifndef TESTS_FACTORY_INSPECT_ELF_WRITER_H
#define TESTS_FACTORY_INSPECT_ELF_WRITER_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "factory/inspect/elf_check.h"

struct elf_symbol {
    const char *name;
    bool undefined, weak;
};

/* {0} but for what a test sets; start from elf_android or elf_linux. Lists end with what is 0. */
struct elf_shape {
    const char *soname, *rpath, *runpath;
    const char *needed[16];
    struct elf_symbol symbols[16];
    const char *versions[4]; /* needed of libc.so.6, "GLIBC_2.17" */
    const char *note;        /* the text of the note `turnpike`; NULL: none */
    const uint32_t *code;    /* instructions, n_code of them */
    size_t n_code;
    uint64_t align;
    uint64_t dynamic[4][2]; /* further dynamic entries, tag and value; ends with tag 0 */
    uint32_t code_flags;    /* of the first segment; 0: PF_R | PF_X */
    uint32_t stack_flags;   /* 0: PF_R | PF_W */
    uint32_t relocation;    /* R_… of one relocation; 0: none */
    uint16_t machine;       /* 0: EM_AARCH64 */
    bool tls, no_build_id, debug, no_hash, gnu_hash, no_dynamic_header;
};

/* Sound drivers. */
struct elf_shape elf_android(void);
struct elf_shape elf_linux(void);

/* The file's bytes; the caller finishes the buffer. */
struct tp_buf elf_write(const struct elf_shape *shape);

/* Holds bytes, which may be anything, against every rule; where: what findings call them. */
void elf_check_bytes(const void *data, size_t len, const char *where, const struct tp_elf_ask *ask,
                     struct tp_findings *findings, struct tp_elf_facts *facts);

#endif
