#include "factory/package/elf_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

/* No driver comes near these; they keep a hostile file from costing more than its own size. */
enum {
    MAX_SEGMENTS = 256,
    MAX_SECTIONS = 4096,
    MAX_DYNAMIC = 4096,
    MAX_NOTES = 1024,
    MAX_SYMBOLS = 1 << 20,
};

static int damaged(const struct tp_elf *f, struct tp_error *e, const char *part, const char *what)
{
    return tp_fail(e, TP_STATUS_INPUT, -EBADMSG, f->where,
                   "the file is damaged or cut short: build or fetch it again", "%s %s", part,
                   what);
}

static int libelf_failed(const struct tp_elf *f, struct tp_error *e, const char *part)
{
    const char *why = elf_errmsg(-1);
    return damaged(f, e, part, why ? why : "cannot be read");
}

static int too_many(const struct tp_elf *f, struct tp_error *e, size_t n, size_t most,
                    const char *things)
{
    return tp_fail(e, TP_STATUS_INPUT, -EFBIG, f->where, "name a driver (libvulkan_freedreno.so)",
                   "has %zu %s, more than the %zu that a driver may have", n, things, most);
}

/* A range of the file, converted to this machine's form of the given type. NULL with e filled. */
static Elf_Data *chunk(const struct tp_elf *f, uint64_t offset, uint64_t size, Elf_Type type,
                       const char *part, struct tp_error *e)
{
    if (offset > f->image_len || size > f->image_len - offset) {
        damaged(f, e, part, "lies outside of the file");
        return NULL;
    }
    Elf_Data *d = elf_getdata_rawchunk(f->handle, (int64_t)offset, (size_t)size, type);
    if (!d)
        libelf_failed(f, e, part);
    return d;
}

struct strings {
    const char *data;
    size_t len;
};

/* A string table in which every offset below len gives a terminated string. */
static int read_strings(const struct tp_elf *f, uint64_t offset, uint64_t size, const char *part,
                        struct strings *out, struct tp_error *e)
{
    *out = (struct strings){"", 0};
    if (!size)
        return 0;
    Elf_Data *d = chunk(f, offset, size, ELF_T_BYTE, part, e);
    if (!d)
        return -EBADMSG;
    *out = (struct strings){d->d_buf, d->d_size};
    if (!out->len || out->data[out->len - 1])
        return damaged(f, e, part, "does not end with a NUL");
    return 0;
}

static const char *string_at(const struct strings *s, uint64_t offset)
{
    return offset < s->len ? s->data + offset : NULL;
}

/* libelf makes do with the part of a table that is in the file; here a cut one is damage. */
static int check_table(const struct tp_elf *f, uint64_t offset, uint64_t n, uint64_t each,
                       uint64_t proper, const char *table, struct tp_error *e)
{
    if (!offset)
        return 0;
    if (each != proper)
        return damaged(f, e, table, "has entries of a wrong size");
    if (offset > f->image_len || n * each > f->image_len - offset)
        return damaged(f, e, table, "lies outside of the file");
    return 0;
}

static int read_header(struct tp_elf *f, struct tp_error *e)
{
    GElf_Ehdr eh;
    if (elf_kind(f->handle) != ELF_K_ELF || !gelf_getehdr(f->handle, &eh))
        return tp_fail(e, TP_STATUS_INPUT, -EBADMSG, f->where,
                       "name a shared object (libvulkan_freedreno.so)", "is not an ELF file");
    f->class_bits = eh.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    f->little_endian = eh.e_ident[EI_DATA] == ELFDATA2LSB;
    f->type = eh.e_type;
    f->machine = eh.e_machine;
    f->entry = eh.e_entry;
    int r = check_table(f, eh.e_phoff, eh.e_phnum, eh.e_phentsize, sizeof(Elf64_Phdr),
                        "the program header table", e);
    if (r < 0)
        return r;
    /* A count of 0 beside a table stands for 65280 or more, in the table's first entry. */
    return check_table(f, eh.e_shoff, eh.e_shnum ? eh.e_shnum : SHN_LORESERVE, eh.e_shentsize,
                       sizeof(Elf64_Shdr), "the section header table", e);
}

static int read_segments(struct tp_elf *f, struct tp_error *e)
{
    size_t n;
    if (elf_getphdrnum(f->handle, &n) < 0)
        return libelf_failed(f, e, "the program header table");
    if (n > MAX_SEGMENTS)
        return too_many(f, e, n, MAX_SEGMENTS, "segments");
    f->segments = tp_calloc(n ? n : 1, sizeof *f->segments);
    for (; f->n_segments < n; f->n_segments++) {
        GElf_Phdr *p = &f->segments[f->n_segments];
        if (!gelf_getphdr(f->handle, (int)f->n_segments, p))
            return libelf_failed(f, e, "the program header table");
        if (p->p_type == PT_LOAD && (!f->load_align || p->p_align < f->load_align))
            f->load_align = p->p_align;
    }
    return 0;
}

static int read_sections(struct tp_elf *f, struct tp_error *e)
{
    size_t n, names_index;
    if (elf_getshdrnum(f->handle, &n) < 0)
        return libelf_failed(f, e, "the section header table");
    if (n > MAX_SECTIONS)
        return too_many(f, e, n, MAX_SECTIONS, "sections");
    if (!n)
        return 0;
    if (elf_getshdrstrndx(f->handle, &names_index) < 0)
        return libelf_failed(f, e, "the section name table");
    GElf_Shdr sh;
    struct strings names = {"", 0};
    Elf_Scn *scn = names_index ? elf_getscn(f->handle, names_index) : NULL;
    if (scn && gelf_getshdr(scn, &sh) && sh.sh_type == SHT_STRTAB) {
        if (read_strings(f, sh.sh_offset, sh.sh_size, "the section name table", &names, e) < 0)
            return -EBADMSG;
        f->has_section_names = true;
    }
    for (size_t i = 1; i < n; i++) {
        scn = elf_getscn(f->handle, i);
        if (!scn || !gelf_getshdr(scn, &sh))
            return libelf_failed(f, e, "the section header table");
        const char *name = string_at(&names, sh.sh_name);
        TP_PUSH(f->sections, f->n_sections, f->cap_sections) = (struct tp_elf_section){
            .name = name ? name : "",
            .type = sh.sh_type,
            .flags = sh.sh_flags,
            .offset_bytes = sh.sh_offset,
            .size_bytes = sh.sh_size,
        };
    }
    return 0;
}

/* Where in the file the loader finds an address. False when no segment holds it. */
static bool offset_of(const struct tp_elf *f, uint64_t address, uint64_t *offset)
{
    for (size_t i = 0; i < f->n_segments; i++) {
        const GElf_Phdr *p = &f->segments[i];
        if (p->p_type == PT_LOAD && address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz) {
            *offset = p->p_offset + (address - p->p_vaddr);
            return true;
        }
    }
    return false;
}

static int read_dynamic_entries(struct tp_elf *f, struct tp_error *e)
{
    const GElf_Phdr *p = NULL;
    for (size_t i = 0; i < f->n_segments && !p; i++) {
        if (f->segments[i].p_type == PT_DYNAMIC)
            p = &f->segments[i];
    }
    if (!p)
        return 0;
    Elf_Data *d = chunk(f, p->p_offset, p->p_filesz, ELF_T_DYN, "the dynamic section", e);
    if (!d)
        return -EBADMSG;
    GElf_Dyn dyn;
    for (int i = 0; gelf_getdyn(d, i, &dyn); i++) {
        if (dyn.d_tag == DT_NULL)
            return 0;
        if (i == MAX_DYNAMIC)
            return too_many(f, e, p->p_filesz / 16, MAX_DYNAMIC, "dynamic entries");
        TP_PUSH(f->dynamic, f->n_dynamic, f->cap_dynamic) = dyn;
    }
    return damaged(f, e, "the dynamic section", "has no end mark");
}

static int read_dynamic(struct tp_elf *f, struct tp_error *e)
{
    int r = read_dynamic_entries(f, e);
    if (r < 0)
        return r;
    const GElf_Dyn *tab = tp_elf_dynamic(f, DT_STRTAB), *size = tp_elf_dynamic(f, DT_STRSZ);
    struct strings names = {"", 0};
    uint64_t offset;
    if (tab && size) {
        if (!offset_of(f, tab->d_un.d_ptr, &offset))
            return damaged(f, e, "the dynamic string table", "lies in no loaded segment");
        r = read_strings(f, offset, size->d_un.d_val, "the dynamic string table", &names, e);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < f->n_dynamic; i++) {
        const GElf_Dyn *dyn = &f->dynamic[i];
        if (dyn->d_tag != DT_NEEDED && dyn->d_tag != DT_SONAME && dyn->d_tag != DT_RPATH &&
            dyn->d_tag != DT_RUNPATH)
            continue;
        const char *s = string_at(&names, dyn->d_un.d_val);
        if (!s)
            return damaged(f, e, "a dynamic entry", "names a string outside of the string table");
        if (dyn->d_tag == DT_NEEDED)
            TP_PUSH(f->needed, f->n_needed, f->cap_needed) = s;
        else if (dyn->d_tag == DT_SONAME)
            f->soname = s;
        else if (dyn->d_tag == DT_RPATH)
            f->rpath = s;
        else
            f->runpath = s;
    }
    return 0;
}

static bool seen_by_others(const GElf_Sym *sym)
{
    int bind = GELF_ST_BIND(sym->st_info), visibility = GELF_ST_VISIBILITY(sym->st_other);
    return (bind == STB_GLOBAL || bind == STB_WEAK) &&
           (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

static int read_symbols(struct tp_elf *f, struct tp_error *e)
{
    Elf_Scn *scn = NULL;
    GElf_Shdr sh, strings_sh;
    while ((scn = elf_nextscn(f->handle, scn))) {
        if (!gelf_getshdr(scn, &sh))
            return libelf_failed(f, e, "the section header table");
        if (sh.sh_type == SHT_DYNSYM)
            break;
    }
    if (!scn)
        return 0;
    uint64_t each = sizeof(Elf64_Sym);
    if (sh.sh_entsize != each || sh.sh_size % each)
        return damaged(f, e, "the dynamic symbol table", "has entries of a wrong size");
    uint64_t n = sh.sh_size / each;
    if (n > MAX_SYMBOLS)
        return too_many(f, e, (size_t)n, MAX_SYMBOLS, "dynamic symbols");
    Elf_Scn *strings_scn = elf_getscn(f->handle, sh.sh_link);
    if (!strings_scn || !gelf_getshdr(strings_scn, &strings_sh))
        return damaged(f, e, "the dynamic symbol table", "names no string table");
    struct strings names;
    int r = read_strings(f, strings_sh.sh_offset, strings_sh.sh_size, "the dynamic symbols' names",
                         &names, e);
    if (r < 0)
        return r;
    Elf_Data *d = chunk(f, sh.sh_offset, sh.sh_size, ELF_T_SYM, "the dynamic symbol table", e);
    if (!d)
        return -EBADMSG;
    for (uint64_t i = 1; i < n; i++) {
        GElf_Sym sym;
        if (!gelf_getsym(d, (int)i, &sym))
            return libelf_failed(f, e, "the dynamic symbol table");
        const char *name = string_at(&names, sym.st_name);
        if (!name)
            return damaged(f, e, "a dynamic symbol", "has its name outside of the string table");
        if (*name && seen_by_others(&sym))
            TP_PUSH(f->symbols, f->n_symbols, f->cap_symbols) = (struct tp_elf_symbol){
                .name = name,
                .undefined = sym.st_shndx == SHN_UNDEF,
                .weak = GELF_ST_BIND(sym.st_info) == STB_WEAK,
            };
    }
    return 0;
}

static int read_notes_in(struct tp_elf *f, uint64_t offset, uint64_t size, uint64_t align,
                         struct tp_error *e)
{
    if (!size)
        return 0;
    Elf_Data *d = chunk(f, offset, size, align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR, "a note", e);
    if (!d)
        return -EBADMSG;
    size_t at = 0;
    while (at < d->d_size) {
        GElf_Nhdr nh;
        size_t owner_at, desc_at, next = gelf_getnote(d, at, &nh, &owner_at, &desc_at);
        if (!next)
            return damaged(f, e, "a note", "is longer than the place it stands in");
        if (f->n_notes == MAX_NOTES)
            return too_many(f, e, f->n_notes + 1, MAX_NOTES, "notes");
        const char *owner = (const char *)d->d_buf + owner_at;
        TP_PUSH(f->notes, f->n_notes, f->cap_notes) = (struct tp_elf_note){
            .owner = owner,
            .owner_len = strnlen(owner, nh.n_namesz),
            .type = nh.n_type,
            .desc = (const char *)d->d_buf + desc_at,
            .desc_len = nh.n_descsz,
        };
        at = next;
    }
    return 0;
}

static bool in_note_segment(const struct tp_elf *f, uint64_t offset)
{
    for (size_t i = 0; i < f->n_segments; i++) {
        const GElf_Phdr *p = &f->segments[i];
        if (p->p_type == PT_NOTE && offset >= p->p_offset && offset - p->p_offset < p->p_filesz)
            return true;
    }
    return false;
}

/* Segments first; then the sections that no PT_NOTE segment holds. */
static int read_notes(struct tp_elf *f, struct tp_error *e)
{
    int r = 0;
    for (size_t i = 0; i < f->n_segments && r == 0; i++) {
        const GElf_Phdr *p = &f->segments[i];
        if (p->p_type == PT_NOTE)
            r = read_notes_in(f, p->p_offset, p->p_filesz, p->p_align, e);
    }
    Elf_Scn *scn = NULL;
    while (r == 0 && (scn = elf_nextscn(f->handle, scn))) {
        GElf_Shdr sh;
        if (!gelf_getshdr(scn, &sh))
            return libelf_failed(f, e, "the section header table");
        if (sh.sh_type == SHT_NOTE && !in_note_segment(f, sh.sh_offset))
            r = read_notes_in(f, sh.sh_offset, sh.sh_size, sh.sh_addralign, e);
    }
    return r;
}

static void find_build_id(struct tp_elf *f)
{
    size_t at = 0;
    const struct tp_elf_note *n = tp_elf_next_note(f, ELF_NOTE_GNU, NT_GNU_BUILD_ID, &at);
    if (!n || n->desc_len * 2 >= sizeof f->build_id)
        return;
    const unsigned char *bytes = n->desc;
    for (size_t i = 0; i < n->desc_len; i++) {
        f->build_id[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        f->build_id[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
}

/* What no driver of turnpike's machines is, told before anything in the file is taken at its word. */
static int check_kind(const struct tp_elf *f, struct tp_error *e)
{
    const unsigned char *ident = (const unsigned char *)f->image;
    if (memcmp(ident, ELFMAG, SELFMAG) != 0)
        return tp_fail(e, TP_STATUS_INPUT, -EBADMSG, f->where,
                       "name a shared object (libvulkan_freedreno.so)", "is not an ELF file");
    const char *kind = ident[EI_CLASS] == ELFCLASS32  ? "a 32-bit" :
                       ident[EI_CLASS] != ELFCLASS64  ? "neither a 32-bit nor a 64-bit" :
                       ident[EI_DATA] == ELFDATA2MSB  ? "a big-endian" :
                       ident[EI_DATA] != ELFDATA2LSB  ? "neither a little- nor a big-endian" : NULL;
    if (kind)
        return tp_fail(e, TP_STATUS_INPUT, -EBADMSG, f->where,
                       "name a driver for x86-64 or arm64 (libvulkan_freedreno.so)",
                       "is %s ELF file: drivers here are 64-bit, little-endian", kind);
    if (f->image_len < sizeof(Elf64_Ehdr))
        return tp_fail(e, TP_STATUS_INPUT, -EBADMSG, f->where, "build or fetch it again",
                       "is cut short: its %zu bytes are less than the header of an ELF file",
                       f->image_len);
    return 0;
}

static int load(struct tp_elf *f, struct tp_error *e)
{
    if (elf_version(EV_CURRENT) == EV_NONE)
        return tp_fail(e, TP_STATUS_MISSING, -ENOTSUP, "libelf", "install libelf anew",
                       "does not know the current ELF version");
    int r = check_kind(f, e);
    if (r)
        return r;
    /* libelf's parameter is not const, but a handle opened so is read only. */
    f->handle = elf_memory((char *)f->image, f->image_len);
    if (!f->handle)
        return libelf_failed(f, e, "the ELF header");
    r = read_header(f, e);
    if (!r)
        r = read_segments(f, e);
    if (!r)
        r = read_sections(f, e);
    if (!r)
        r = read_dynamic(f, e);
    if (!r)
        r = read_symbols(f, e);
    if (!r)
        r = read_notes(f, e);
    if (!r)
        find_build_id(f);
    return r;
}

static int open_image(struct tp_elf *f, struct tp_elf **out, struct tp_error *e)
{
    int r = f->image_len < EI_NIDENT ? tp_fail(e, TP_STATUS_INPUT, -EBADMSG, f->where,
                                               "name a shared object (libvulkan_freedreno.so)",
                                               "is not an ELF file: it has %zu bytes", f->image_len)
                                     : load(f, e);
    if (r < 0) {
        tp_elf_close(f);
        return r;
    }
    *out = f;
    return 0;
}

int tp_elf_open(const char *path, struct tp_elf **out, struct tp_error *e)
{
    *out = NULL;
    struct tp_elf *f = tp_calloc(1, sizeof *f);
    f->where = f->where_copy = tp_strdup(path);
    int r = tp_read_file(path, TP_ELF_MAX_BYTES, &f->file, e);
    if (r < 0) {
        tp_elf_close(f);
        return r;
    }
    f->image = f->file.data;
    f->image_len = f->file.len;
    return open_image(f, out, e);
}

int tp_elf_open_memory(const void *data, size_t len, const char *where, struct tp_elf **out,
                       struct tp_error *e)
{
    *out = NULL;
    struct tp_elf *f = tp_calloc(1, sizeof *f);
    f->where = f->where_copy = tp_strdup(where);
    f->image = data;
    f->image_len = len;
    return open_image(f, out, e);
}

void tp_elf_close(struct tp_elf *f)
{
    if (!f)
        return;
    elf_end(f->handle);
    free(f->segments);
    free(f->dynamic);
    free(f->needed);
    free(f->sections);
    free(f->symbols);
    free(f->notes);
    tp_buf_finish(&f->file);
    free(f->where_copy);
    free(f);
}

bool tp_elf_exports(const struct tp_elf *f, const char *name)
{
    for (size_t i = 0; i < f->n_symbols; i++) {
        if (!f->symbols[i].undefined && !strcmp(f->symbols[i].name, name))
            return true;
    }
    return false;
}

const GElf_Dyn *tp_elf_dynamic(const struct tp_elf *f, int64_t tag)
{
    for (size_t i = 0; i < f->n_dynamic; i++) {
        if (f->dynamic[i].d_tag == tag)
            return &f->dynamic[i];
    }
    return NULL;
}

const struct tp_elf_note *tp_elf_next_note(const struct tp_elf *f, const char *owner,
                                           uint32_t type, size_t *at)
{
    size_t len = strlen(owner);
    while (*at < f->n_notes) {
        const struct tp_elf_note *n = &f->notes[(*at)++];
        if (n->type == type && n->owner_len == len && !memcmp(n->owner, owner, len))
            return n;
    }
    return NULL;
}
