#include "factory/package/elf_dynamic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* libelf turned all that tp_elf_open read into this machine's order; here bytes are read as they
 * lie, and tp_elf_open takes little-endian files alone. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a little-endian machine");

enum { MAX_VERSIONS = 4096 };

const void *tp_elf_at(const struct tp_elf *f, uint64_t address, size_t *len)
{
    for (size_t i = 0; i < f->n_segments; i++) {
        const GElf_Phdr *p = &f->segments[i];
        if (p->p_type != PT_LOAD || address < p->p_vaddr || address - p->p_vaddr >= p->p_filesz)
            continue;
        uint64_t into = address - p->p_vaddr;
        if (p->p_offset >= f->image_len || into >= f->image_len - p->p_offset)
            return NULL;
        uint64_t in_segment = p->p_filesz - into, in_file = f->image_len - p->p_offset - into;
        *len = (size_t)(in_segment < in_file ? in_segment : in_file);
        return f->image + p->p_offset + into;
    }
    return NULL;
}

static int damaged(const struct tp_elf *f, struct tp_error *e, const char *what)
{
    return tp_fail(e, TP_STATUS_INPUT, -EBADMSG, f->where,
                   "the file is damaged or cut short: build or fetch it again",
                   "the table of needed versions %s", what);
}

/* A string of the dynamic string table that ends within it, or NULL. */
static const char *dynamic_string(const struct tp_elf *f, uint64_t offset)
{
    const GElf_Dyn *tab = tp_elf_dynamic(f, DT_STRTAB), *size = tp_elf_dynamic(f, DT_STRSZ);
    size_t len;
    const char *s = tab ? tp_elf_at(f, tab->d_un.d_ptr, &len) : NULL;
    if (!s || !size)
        return NULL;
    if (size->d_un.d_val < len)
        len = (size_t)size->d_un.d_val;
    return offset < len && memchr(s + offset, 0, len - offset) ? s + offset : NULL;
}

struct versions {
    struct tp_elf_version *list;
    size_t n, cap;
};

/* The versions of one library; data, len: from its first one to the end of the segment. */
static int read_library(const struct tp_elf *f, const char *library, unsigned count,
                        const char *data, size_t len, struct versions *v, struct tp_error *e)
{
    for (size_t at = 0; count; count--) {
        Elf64_Vernaux aux;
        if (at > len || len - at < sizeof aux)
            return damaged(f, e, "ends before its last version");
        memcpy(&aux, data + at, sizeof aux);
        const char *version = dynamic_string(f, aux.vna_name);
        if (!version)
            return damaged(f, e, "names a version outside of the string table");
        if (v->n == MAX_VERSIONS)
            return tp_fail(e, TP_STATUS_INPUT, -EFBIG, f->where, NULL,
                           "needs more than %d versions of symbols", MAX_VERSIONS);
        TP_PUSH(v->list, v->n, v->cap) =
            (struct tp_elf_version){library, version, aux.vna_flags & VER_FLG_WEAK};
        if (!aux.vna_next)
            break;
        at += aux.vna_next;
    }
    return 0;
}

static int read_versions(const struct tp_elf *f, struct versions *v, struct tp_error *e)
{
    const GElf_Dyn *need = tp_elf_dynamic(f, DT_VERNEED), *num = tp_elf_dynamic(f, DT_VERNEEDNUM);
    if (!need || !num)
        return 0;
    size_t len, at = 0;
    const char *data = tp_elf_at(f, need->d_un.d_ptr, &len);
    if (!data)
        return damaged(f, e, "lies outside of the file");
    if (num->d_un.d_val > MAX_VERSIONS)
        return tp_fail(e, TP_STATUS_INPUT, -EFBIG, f->where, NULL,
                       "needs versions of more than %d libraries", MAX_VERSIONS);
    for (uint64_t left = num->d_un.d_val; left; left--) {
        Elf64_Verneed vn;
        if (at > len || len - at < sizeof vn)
            return damaged(f, e, "ends before its last library");
        memcpy(&vn, data + at, sizeof vn);
        const char *library = dynamic_string(f, vn.vn_file);
        if (!library || vn.vn_aux > len - at)
            return damaged(f, e, "names a library outside of the string table");
        int r =
            read_library(f, library, vn.vn_cnt, data + at + vn.vn_aux, len - at - vn.vn_aux, v, e);
        if (r < 0)
            return r;
        if (!vn.vn_next)
            break;
        at += vn.vn_next;
    }
    return 0;
}

int tp_elf_versions(const struct tp_elf *f, struct tp_elf_version **out, size_t *n,
                    struct tp_error *e)
{
    struct versions v = {0};
    int r = read_versions(f, &v, e);
    if (r < 0) {
        free(v.list);
        v = (struct versions){0};
    }
    *out = v.list;
    *n = v.n;
    return r;
}

static bool table_has(const struct tp_elf *f, int64_t table, int64_t size, uint32_t type)
{
    const GElf_Dyn *start = tp_elf_dynamic(f, table), *bytes = tp_elf_dynamic(f, size);
    size_t len;
    const char *data = start && bytes ? tp_elf_at(f, start->d_un.d_ptr, &len) : NULL;
    if (!data)
        return false;
    if (bytes->d_un.d_val < len)
        len = (size_t)bytes->d_un.d_val;
    for (size_t at = 0; len - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
        Elf64_Rela rela;
        memcpy(&rela, data + at, sizeof rela);
        if (ELF64_R_TYPE(rela.r_info) == type)
            return true;
    }
    return false;
}

bool tp_elf_has_relocation(const struct tp_elf *f, uint32_t type)
{
    return table_has(f, DT_RELA, DT_RELASZ, type) || table_has(f, DT_JMPREL, DT_PLTRELSZ, type);
}
