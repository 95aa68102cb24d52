#include <stdio.h>
#include <string.h>

#include "factory/inspect/elf_internal.h"

/* bionic's private packings (its linker.h); glibc's elf.h has no names for them. */
#define ANDROID_REL 0x6000000f
#define ANDROID_RELA 0x60000011
#define ANDROID_RELR 0x6fffe000
#define OFFICIAL_RELR 36 /* DT_RELR, which older elf.h lack */

enum { SMALL_PAGE = 4096, LARGE_PAGE = 16384 };

static bool has(const struct tp_elf_run *run, int64_t tag)
{
    return tp_elf_dynamic(run->elf, tag) != NULL;
}

static uint64_t value(const struct tp_elf_run *run, int64_t tag)
{
    const GElf_Dyn *dyn = tp_elf_dynamic(run->elf, tag);
    return dyn ? dyn->d_un.d_val : 0;
}

/* A page of the file can be mapped where the segment is to be. */
static bool fits_its_place(const GElf_Phdr *p, uint64_t page)
{
    return page <= 1 || (p->p_vaddr - p->p_offset) % page == 0;
}

static void check_segments(struct tp_elf_run *run)
{
    const struct tp_elf *elf = run->elf;
    bool writable_code = false, entry_lies = elf->entry != 0, small_places = false;
    for (size_t i = 0; i < elf->n_segments; i++) {
        const GElf_Phdr *p = &elf->segments[i];
        if (p->p_type == PT_GNU_STACK && p->p_flags & PF_X)
            tp_findings_add(run->findings, TP_RULE_ELF_STACK, elf->where, NULL,
                            "it asks for an executable stack");
        if (p->p_type != PT_LOAD)
            continue;
        small_places |= !fits_its_place(p, LARGE_PAGE);
        writable_code |= (p->p_flags & (PF_W | PF_X)) == (PF_W | PF_X);
        if (elf->entry >= p->p_vaddr && elf->entry - p->p_vaddr < p->p_memsz)
            entry_lies = false;
    }
    if (entry_lies)
        tp_findings_add(run->findings, TP_RULE_ELF_HEADER, elf->where, NULL,
                        "its entry point (e_entry) lies in no segment");
    if (writable_code)
        tp_findings_add(run->findings, TP_RULE_ELF_WRITABLE_CODE, elf->where, NULL,
                        "a segment is writable and executable");
    if (run->machine != EM_AARCH64 || run->host)
        return;
    if (elf->load_align < LARGE_PAGE)
        tp_findings_add(run->findings, TP_RULE_ELF_PAGE_SIZE, elf->where, NULL,
                        "its segments are aligned to %llu bytes, not to 16384 (16 KiB)",
                        (unsigned long long)elf->load_align);
    else if (small_places)
        tp_findings_add(
            run->findings, TP_RULE_ELF_PAGE_SIZE, elf->where, NULL,
            "its segments ask for 16 KiB, and their places in the file fit 4 KiB alone");
}

/* Segments and the dynamic section as a loader wants them. False: nothing further can be said. */
static bool is_whole(struct tp_elf_run *run)
{
    const struct tp_elf *elf = run->elf;
    const GElf_Phdr *dynamic = NULL;
    const char *fault = NULL;
    size_t loads = 0;
    for (size_t i = 0; i < elf->n_segments; i++) {
        const GElf_Phdr *p = &elf->segments[i];
        if (p->p_type == PT_DYNAMIC)
            dynamic = p;
        if (p->p_type != PT_LOAD)
            continue;
        loads++;
        if (p->p_offset > elf->image_len || p->p_filesz > elf->image_len - p->p_offset)
            fault = "a segment lies outside of the file";
        else if (p->p_memsz < p->p_filesz)
            fault = "a segment is longer in the file than in memory";
        else if (p->p_align & (p->p_align - 1))
            fault = "a segment's alignment is no power of two";
        else if (!fits_its_place(p,
                                 run->bionic && p->p_align > SMALL_PAGE ? SMALL_PAGE : p->p_align))
            fault = "a segment's address and place in the file do not fit its alignment";
    }
    if (!loads)
        fault = "it has no loadable segment";
    else if (!dynamic || !elf->n_dynamic)
        fault = "it has no dynamic section";
    bool section = false;
    for (size_t i = 0; !fault && i < elf->n_sections; i++)
        section |= elf->sections[i].type == SHT_DYNAMIC &&
                   elf->sections[i].offset_bytes == dynamic->p_offset;
    if (!fault && !section)
        fault = "no section header names its dynamic section";
    if (fault)
        tp_findings_add(run->findings, TP_RULE_ELF_DAMAGED, elf->where, NULL, "%s", fault);
    return !fault;
}

static bool has_native_tls(const struct tp_elf *elf)
{
    for (size_t i = 0; i < elf->n_segments; i++) {
        if (elf->segments[i].p_type == PT_TLS)
            return true;
    }
    return false;
}

static void check_tls(struct tp_elf_run *run)
{
    const struct tp_elf *elf = run->elf;
    uint32_t offset_in_static = elf->machine == EM_X86_64 ? R_X86_64_TPOFF64 : R_AARCH64_TLS_TPREL;
    run->facts->native_tls = has_native_tls(elf);
    if (!run->bionic)
        return;
    if (run->facts->native_tls)
        tp_elf_needs_api(run, 29, "native thread-local storage");
    if (value(run, DT_FLAGS) & DF_STATIC_TLS || tp_elf_has_relocation(elf, offset_in_static)) {
        tp_findings_add(run->findings, TP_RULE_ELF_STATIC_TLS, elf->where, NULL,
                        "it has initial-exec thread-local storage");
        return;
    }
    if (run->facts->native_tls && tp_elf_declares_below(run, 29))
        tp_findings_add(run->findings, TP_RULE_ELF_TLS, elf->where, tp_elf_api_fix(run),
                        "it has native thread-local storage, and %s %d",
                        tp_elf_who_declares(run), run->ask->min_api);
}

static void check_relr(struct tp_elf_run *run)
{
    bool official = has(run, OFFICIAL_RELR), private = has(run, ANDROID_RELR);
    run->facts->relr = official || private;
    if (!run->bionic || !run->facts->relr)
        return;
    int api = official ? 30 : 28;
    tp_elf_needs_api(run, api,
                     official ? "packed relocations (DT_RELR)"
                              : "packed relocations (DT_ANDROID_RELR)");
    if (tp_elf_declares_below(run, api))
        tp_findings_add(
            run->findings, TP_RULE_ELF_RELR, run->elf->where, tp_elf_api_fix(run),
            "its relative relocations are packed with %s, which %s (API %d) is the first to "
            "read, and %s %d: older ones load it without them and crash",
            official ? "the official tag (DT_RELR)" : "Android's own tag (DT_ANDROID_RELR)",
            tp_android_name(api), api, tp_elf_who_declares(run), run->ask->min_api);
}

static void check_forms(struct tp_elf_run *run)
{
    if (!run->bionic) {
        if (has(run, ANDROID_REL) || has(run, ANDROID_RELA) || has(run, ANDROID_RELR))
            tp_findings_add(
                run->findings, TP_RULE_ELF_RELOCATIONS, run->elf->where, NULL,
                "its relocations are packed as only Android reads them: glibc passes over "
                "them, and the driver crashes");
        return;
    }
    if (has(run, ANDROID_REL) || has(run, ANDROID_RELA)) {
        tp_elf_needs_api(run, 23, "packed relocations (DT_ANDROID_RELA)");
        if (tp_elf_declares_below(run, 23))
            tp_findings_add(
                run->findings, TP_RULE_ELF_RELOCATIONS, run->elf->where, tp_elf_api_fix(run),
                "its relocations are packed (DT_ANDROID_RELA), which Android 6 (API 23) is "
                "the first to read, and %s %d",
                tp_elf_who_declares(run), run->ask->min_api);
    }
    if (!has(run, DT_HASH) && has(run, DT_GNU_HASH)) {
        tp_elf_needs_api(run, 23, "its symbol hash table (DT_GNU_HASH alone)");
        if (tp_elf_declares_below(run, 23))
            tp_findings_add(
                run->findings, TP_RULE_ELF_HASH, run->elf->where, tp_elf_api_fix(run),
                "its only symbol hash table is DT_GNU_HASH, which Android 6 (API 23) is the "
                "first to read, and %s %d",
                tp_elf_who_declares(run), run->ask->min_api);
    }
    if (!has(run, DT_HASH) && !has(run, DT_GNU_HASH))
        tp_findings_add(run->findings, TP_RULE_ELF_HASH, run->elf->where, NULL,
                        "it has no symbol hash table: the linker refuses it");
}

static void check_names(struct tp_elf_run *run)
{
    const struct tp_elf *elf = run->elf;
    const char *name = run->ask->library_name;
    if (!run->ask->companion && name && !elf->soname)
        tp_findings_add(run->findings, TP_RULE_ELF_SONAME, elf->where, NULL,
                        "it has no SONAME, where libraryName is \"%s\"", name);
    else if (!run->ask->companion && name && strcmp(elf->soname, name) != 0)
        tp_findings_add(run->findings, TP_RULE_ELF_SONAME, elf->where, NULL,
                        "its SONAME is \"%s\", not libraryName's \"%s\"", elf->soname, name);
    if (elf->rpath || elf->runpath)
        tp_findings_add(run->findings, TP_RULE_ELF_SEARCH_PATH, elf->where, NULL,
                        "it carries the %s \"%s\"", elf->runpath ? "RUNPATH" : "RPATH",
                        elf->runpath ? elf->runpath : elf->rpath);
}

void tp_elf_check_layout(struct tp_elf_run *run)
{
    if (!is_whole(run)) {
        run->broken = true;
        return;
    }
    check_segments(run);
    if (has(run, DT_TEXTREL) || value(run, DT_FLAGS) & DF_TEXTREL)
        tp_findings_add(run->findings, TP_RULE_ELF_TEXTREL, run->elf->where, NULL,
                        "it has relocations in its code (DT_TEXTREL)");
    check_names(run);
    check_tls(run);
    check_relr(run);
    check_forms(run);
}
