#include "elf_writer.h"

#include <string.h>

enum { MAX_SECTIONS = 24 };

struct writer {
    struct tp_buf file, strings, names;
    Elf64_Shdr sections[MAX_SECTIONS];
    size_t n_sections;
    Elf64_Dyn dynamic[64];
    size_t n_dynamic;
};

struct elf_shape elf_android(void)
{
    return (struct elf_shape){
        .soname = "libvulkan_freedreno.so",
        .needed = {"libc.so", "libm.so", "libdl.so", "libz.so", "liblog.so", "libcutils.so",
                   "libhardware.so", "libnativewindow.so", "libsync.so"},
        .symbols = {{"HMI"},
                    {"malloc", true},
                    {"cosf", true},
                    {"__android_log_print", true},
                    {"hw_get_module", true},
                    {"sync_merge", true},
                    {"memfd_create", true, true}},
        .align = 16384,
    };
}

struct elf_shape elf_linux(void)
{
    return (struct elf_shape){
        .soname = "libvulkan_freedreno.so",
        .needed = {"libdrm.so.2", "libc.so.6"},
        .symbols = {{"vk_icdGetInstanceProcAddr"}, {"malloc", true}, {"no_table_has_this", true}},
        .versions = {"GLIBC_2.4", "GLIBC_2.34", "GLIBC_2.17"},
        .align = 65536,
    };
}

static uint32_t string(struct tp_buf *b, const char *s)
{
    if (!b->len)
        tp_buf_addc(b, 0);
    uint32_t at = (uint32_t)b->len;
    tp_buf_add(b, s, strlen(s) + 1);
    return at;
}

static void align_file(struct writer *w, size_t to)
{
    while (w->file.len % to)
        tp_buf_addc(&w->file, 0);
}

/* A section with these bytes, at the file's end; its address is its offset. */
static Elf64_Shdr *section(struct writer *w, const char *name, uint32_t type, const void *data,
                           size_t len)
{
    align_file(w, 8);
    Elf64_Shdr *sh = &w->sections[w->n_sections++];
    *sh = (Elf64_Shdr){
        .sh_name = string(&w->names, name),
        .sh_type = type,
        .sh_flags = SHF_ALLOC,
        .sh_addr = w->file.len,
        .sh_offset = w->file.len,
        .sh_size = len,
        .sh_addralign = type == SHT_NOTE ? 4 : 8,
    };
    tp_buf_add(&w->file, data, len);
    return sh;
}

static void entry(struct writer *w, int64_t tag, uint64_t value)
{
    w->dynamic[w->n_dynamic++] = (Elf64_Dyn){.d_tag = tag, .d_un.d_val = value};
}

static void note(struct writer *w, const char *name, const char *owner, uint32_t type,
                 const void *desc, size_t len)
{
    struct tp_buf b = {0};
    Elf64_Nhdr nh = {(uint32_t)strlen(owner) + 1, (uint32_t)len, type};
    tp_buf_add(&b, &nh, sizeof nh);
    tp_buf_add(&b, owner, nh.n_namesz);
    while (b.len % 4)
        tp_buf_addc(&b, 0);
    tp_buf_add(&b, desc, len);
    while (b.len % 4)
        tp_buf_addc(&b, 0);
    section(w, name, SHT_NOTE, b.data, b.len);
    tp_buf_finish(&b);
}

static void notes(struct writer *w, const struct elf_shape *s)
{
    if (!s->no_build_id)
        note(w, ".note.gnu.build-id", ELF_NOTE_GNU, NT_GNU_BUILD_ID,
             "\x01\x23\x45\x67\x89\xab\xcd\xef", 8);
    if (s->note)
        note(w, ".note.turnpike", "turnpike", 1, s->note, strlen(s->note));
}

static void symbols(struct writer *w, const struct elf_shape *s)
{
    Elf64_Sym table[17] = {0};
    size_t n = 1;
    for (; n < 17 && s->symbols[n - 1].name; n++) {
        const struct elf_symbol *from = &s->symbols[n - 1];
        table[n] = (Elf64_Sym){
            .st_name = string(&w->strings, from->name),
            .st_info = ELF64_ST_INFO(from->weak ? STB_WEAK : STB_GLOBAL, STT_NOTYPE),
            .st_shndx = from->undefined ? SHN_UNDEF : 1,
        };
    }
    /* One bucket: a chain through all. */
    uint32_t hash[2 + 1 + 17] = {1, (uint32_t)n, n > 1 ? 1 : 0};
    for (size_t i = 1; i + 1 < n; i++)
        hash[3 + i] = (uint32_t)i + 1;
    if (!s->no_hash) {
        Elf64_Shdr *sh = section(w, ".hash", SHT_HASH, hash, (3 + n) * sizeof *hash);
        sh->sh_link = (uint32_t)w->n_sections; /* .dynsym, which follows */
        entry(w, s->gnu_hash ? DT_GNU_HASH : DT_HASH, sh->sh_addr);
    }
    Elf64_Shdr *sh = section(w, ".dynsym", SHT_DYNSYM, table, n * sizeof *table);
    sh->sh_entsize = sizeof *table;
    sh->sh_info = 1;
    entry(w, DT_SYMTAB, sh->sh_addr);
    entry(w, DT_SYMENT, sizeof *table);
}

static void versions(struct writer *w, const struct elf_shape *s)
{
    struct {
        Elf64_Verneed need;
        Elf64_Vernaux aux[4];
    } table = {.need = {.vn_version = VER_NEED_CURRENT, .vn_aux = sizeof(Elf64_Verneed)}};
    uint16_t n = 0;
    for (; n < 4 && s->versions[n]; n++)
        table.aux[n] = (Elf64_Vernaux){
            .vna_other = (uint16_t)(n + 2),
            .vna_name = string(&w->strings, s->versions[n]),
            .vna_next = sizeof(Elf64_Vernaux),
        };
    if (!n)
        return;
    table.aux[n - 1].vna_next = 0;
    table.need.vn_cnt = n;
    table.need.vn_file = string(&w->strings, "libc.so.6");
    section(w, ".gnu.version_r", SHT_GNU_verneed, &table,
            sizeof(Elf64_Verneed) + n * sizeof(Elf64_Vernaux));
    entry(w, DT_VERNEED, w->sections[w->n_sections - 1].sh_addr);
    entry(w, DT_VERNEEDNUM, 1);
}

static void named_entries(struct writer *w, const struct elf_shape *s)
{
    for (size_t i = 0; i < 16 && s->needed[i]; i++)
        entry(w, DT_NEEDED, string(&w->strings, s->needed[i]));
    if (s->soname)
        entry(w, DT_SONAME, string(&w->strings, s->soname));
    if (s->rpath)
        entry(w, DT_RPATH, string(&w->strings, s->rpath));
    if (s->runpath)
        entry(w, DT_RUNPATH, string(&w->strings, s->runpath));
    for (size_t i = 0; i < 4 && s->dynamic[i][0]; i++)
        entry(w, (int64_t)s->dynamic[i][0], s->dynamic[i][1]);
}

static Elf64_Phdr load(uint64_t offset, uint64_t end, uint64_t address, uint32_t flags,
                       uint64_t align)
{
    return (Elf64_Phdr){
        .p_type = PT_LOAD,
        .p_flags = flags,
        .p_offset = offset,
        .p_vaddr = address,
        .p_paddr = address,
        .p_filesz = end - offset,
        .p_memsz = end - offset,
        .p_align = align,
    };
}

struct tp_buf elf_write(const struct elf_shape *s)
{
    enum { SEGMENTS = 5 };
    struct writer w = {0};
    char head[sizeof(Elf64_Ehdr) + SEGMENTS * sizeof(Elf64_Phdr)] = {0};
    tp_buf_add(&w.file, head, sizeof head);
    w.sections[w.n_sections++] = (Elf64_Shdr){0};

    uint32_t nop = 0xd503201f;
    section(&w, ".text", SHT_PROGBITS, s->code ? s->code : &nop, s->code ? s->n_code * 4 : 4);
    w.sections[1].sh_flags |= SHF_EXECINSTR;
    notes(&w, s);
    symbols(&w, s);
    size_t dynsym = w.n_sections - 1;
    versions(&w, s);
    size_t verneed = w.n_sections - 1 > dynsym ? w.n_sections - 1 : 0;
    if (s->relocation) {
        Elf64_Rela rela = {.r_info = ELF64_R_INFO(0, s->relocation)};
        section(&w, ".rela.dyn", SHT_RELA, &rela, sizeof rela)->sh_entsize = sizeof rela;
        w.sections[w.n_sections - 1].sh_link = (uint32_t)dynsym;
        entry(&w, DT_RELA, w.sections[w.n_sections - 1].sh_addr);
        entry(&w, DT_RELASZ, sizeof rela);
        entry(&w, DT_RELAENT, sizeof rela);
    }
    named_entries(&w, s);
    section(&w, ".dynstr", SHT_STRTAB, w.strings.data, w.strings.len);
    w.sections[dynsym].sh_link = (uint32_t)w.n_sections - 1;
    if (verneed) {
        w.sections[verneed].sh_link = (uint32_t)w.n_sections - 1;
        w.sections[verneed].sh_info = 1;
    }
    entry(&w, DT_STRTAB, w.sections[w.n_sections - 1].sh_addr);
    entry(&w, DT_STRSZ, w.strings.len);
    entry(&w, DT_NULL, 0);

    align_file(&w, 8);
    uint64_t code_end = w.file.len;
    Elf64_Shdr *dynamic = section(&w, ".dynamic", s->no_dynamic_header ? SHT_PROGBITS : SHT_DYNAMIC,
                                  w.dynamic, w.n_dynamic * sizeof *w.dynamic);
    dynamic->sh_addr += s->align;
    dynamic->sh_flags |= SHF_WRITE;
    dynamic->sh_entsize = sizeof *w.dynamic;
    dynamic->sh_link = (uint32_t)w.n_sections - 2;
    uint64_t data_end = w.file.len;

    Elf64_Phdr segments[SEGMENTS] = {
        load(0, code_end, 0, s->code_flags ? s->code_flags : PF_R | PF_X, s->align),
        load(code_end, data_end, code_end + s->align, PF_R | PF_W, s->align),
        load(code_end, data_end, code_end + s->align, PF_R | PF_W, 8),
        {.p_type = PT_GNU_STACK,
         .p_flags = s->stack_flags ? s->stack_flags : PF_R | PF_W,
         .p_align = 16},
        {.p_type = s->tls ? PT_TLS : PT_NULL,
         .p_flags = PF_R,
         .p_memsz = s->tls ? 64 : 0,
         .p_align = 8},
    };
    segments[2].p_type = PT_DYNAMIC;
    if (s->debug)
        section(&w, ".debug_info", SHT_PROGBITS, "debug", 5)->sh_flags = 0;
    Elf64_Shdr *names = section(&w, ".shstrtab", SHT_STRTAB, "", 0);
    names->sh_flags = 0;
    names->sh_addr = 0;
    names->sh_size = w.names.len;
    tp_buf_add(&w.file, w.names.data, w.names.len);
    align_file(&w, 8);

    Elf64_Ehdr eh = {
        .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = s->machine ? s->machine : EM_AARCH64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof eh,
        .e_shoff = w.file.len,
        .e_ehsize = sizeof eh,
        .e_phentsize = sizeof *segments,
        .e_phnum = SEGMENTS,
        .e_shentsize = sizeof *w.sections,
        .e_shnum = (uint16_t)w.n_sections,
        .e_shstrndx = (uint16_t)(w.n_sections - 1),
    };
    tp_buf_add(&w.file, w.sections, w.n_sections * sizeof *w.sections);
    memcpy(w.file.data, &eh, sizeof eh);
    memcpy(w.file.data + sizeof eh, segments, sizeof segments);
    tp_buf_finish(&w.strings);
    tp_buf_finish(&w.names);
    return w.file;
}

void elf_check_bytes(const void *data, size_t len, const char *where, const struct tp_elf_ask *ask,
                     struct tp_findings *findings, struct tp_elf_facts *facts)
{
    struct tp_elf *elf;
    if (tp_elf_check_open(data, len, where, findings, &elf))
        tp_elf_check(elf, ask, findings, facts);
    tp_elf_close(elf);
}
