/* What the files of the ELF check share. */
#ifndef TP_FACTORY_INSPECT_ELF_INTERNAL_H
#define TP_FACTORY_INSPECT_ELF_INTERNAL_H

#include "factory/inspect/bionic.h"
#include "factory/inspect/elf_check.h"
#include "factory/package/elf_dynamic.h"

struct tp_elf_run {
    const struct tp_elf *elf;
    const struct tp_elf_ask *ask;
    struct tp_findings *findings;
    struct tp_elf_facts *facts;
    uint16_t machine;
    bool host;   /* built by turnpike for proofs on a computer: its C library and machine are that
                    one's */
    bool broken; /* its tables cannot be trusted: what stands on them is passed over */
    bool bionic; /* it is held against Android's linker and C library */
};

/* The header, before anything is taken at its word. False: a finding says why it can be read no
 * further. */
bool tp_elf_header_holds(const void *data, size_t len, const char *where, uint16_t machine,
                         struct tp_findings *findings);

/* Rules, by file; each adds its findings. */
void tp_elf_check_layout(struct tp_elf_run *run); /* segments, dynamic tags, TLS */
void tp_elf_check_api(struct tp_elf_run *run);    /* libraries, symbols, C library, entry point */
void tp_elf_check_origin(struct tp_elf_run *run); /* build-id, debug information, note, variant */

/* The real minimum rises to api where it is lower. */
void tp_elf_needs_api(struct tp_elf_run *run, int api, const char *why);
/* Is an API level declared that is below this one? */
bool tp_elf_declares_below(const struct tp_elf_run *run, int api);
/* Who says so: "minApi declares" or "the phone has API", for the number that follows. */
const char *tp_elf_who_declares(const struct tp_elf_run *run);
/* What to do about it; NULL, the rule's own, where the archive declares it. */
const char *tp_elf_api_fix(const struct tp_elf_run *run);

#endif
