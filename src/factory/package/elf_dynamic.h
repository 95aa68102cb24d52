/* What a shared object's dynamic section points at: bytes by address, version needs, relocations.
 */
#ifndef TP_FACTORY_PACKAGE_ELF_DYNAMIC_H
#define TP_FACTORY_PACKAGE_ELF_DYNAMIC_H

#include "factory/package/elf_file.h"

/* The file's bytes at the address where the loader maps them, borrowed until tp_elf_close. *len:
 * how many follow in that segment. NULL where no loaded segment has them in the file. */
const void *tp_elf_at(const struct tp_elf *elf, uint64_t address, size_t *len);

struct tp_elf_version {
    const char *library; /* "libc.so.6" */
    const char *version; /* "GLIBC_2.34" */
    bool weak;
};

/*
 * The symbol versions that the file needs of other libraries (DT_VERNEED), with strings that point
 * into the file's image. *out: the caller frees; NULL when there is none. -EBADMSG for a damaged
 * table, -EFBIG for one over 4096 versions.
 */
int tp_elf_versions(const struct tp_elf *elf, struct tp_elf_version **out, size_t *n,
                    struct tp_error *e);

/* Has the file a relocation of this type (R_…) in DT_RELA or DT_JMPREL? What lies outside of the
 * file is not looked at. */
bool tp_elf_has_relocation(const struct tp_elf *elf, uint32_t type);

#endif
