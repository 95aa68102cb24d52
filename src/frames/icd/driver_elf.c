#include "frames/icd/driver_elf.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SEGMENTS = 128, MAX_PART = 1 << 20 };

/* This library's own, as the linker placed it: what can be mapped beside it is like it. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static const char *machine_name(unsigned machine, unsigned char class, char *room, size_t n)
{
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {{EM_X86_64, "x86_64"}, {EM_386, "i386 (32 bits)"}, {EM_AARCH64, "aarch64"},
        {EM_ARM, "arm (32 bits)"}, {EM_PPC64, "ppc64"}, {EM_S390, "s390"}, {EM_MIPS, "mips"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].machine == machine && !(machine == EM_X86_64 && class == ELFCLASS32))
            return names[i].name;
    }
    snprintf(room, n, "machine %u of ELF, %s bits", machine, class == ELFCLASS64 ? "64" : "32");
    return room;
}

static int damaged(const char *shown, struct tp_error *e)
{
    return tp_fail(e, TP_STATUS_INPUT, -EBADMSG, shown, "get or build it again",
        "the library is damaged, or was cut off");
}

static ssize_t read_at(int fd, void *to, size_t n, uint64_t at)
{
    return at > INT64_MAX - (uint64_t)n ? -1 : pread(fd, to, n, (off_t)at);
}

/* Its segments' headers, into room for MAX_SEGMENTS; how many, or -1. */
static int read_segments(int fd, const ElfW(Ehdr) * h, ElfW(Phdr) * to)
{
    size_t bytes = h->e_phnum * sizeof *to;

    if (h->e_phentsize != sizeof *to || h->e_phnum == 0 || h->e_phnum > MAX_SEGMENTS)
        return -1;
    return read_at(fd, to, bytes, h->e_phoff) == (ssize_t)bytes ? h->e_phnum : -1;
}

int tp_icd_elf_check(int fd, const char *shown, struct tp_error *e)
{
    const ElfW(Ehdr) *ours = &__ehdr_start;
    ElfW(Phdr) segments[MAX_SEGMENTS];
    char theirs[48], here[48];
    struct stat st;
    ElfW(Ehdr) h;

    if (fstat(fd, &st))
        return tp_fail_errno(e, errno, shown, "the driver cannot be read");
    if (read_at(fd, &h, sizeof h, 0) != sizeof h || memcmp(h.e_ident, ELFMAG, SELFMAG))
        return damaged(shown, e);
    /* The machine stands at the same place in either class. */
    if (h.e_machine != ours->e_machine || h.e_ident[EI_CLASS] != ours->e_ident[EI_CLASS] ||
        h.e_ident[EI_DATA] != ours->e_ident[EI_DATA])
        return tp_fail(e, TP_STATUS_INPUT, -ENOTSUP, shown,
            "take the driver that was built for this machine",
            "the driver is for %s, this process is %s",
            machine_name(h.e_machine, h.e_ident[EI_CLASS], theirs, sizeof theirs),
            machine_name(ours->e_machine, ours->e_ident[EI_CLASS], here, sizeof here));
    int n = read_segments(fd, &h, segments);
    if (n < 0)
        return damaged(shown, e);
    for (int i = 0; i < n; i++) {
        uint64_t from = segments[i].p_offset, bytes = segments[i].p_filesz;
        if (bytes > 0 && (from > (uint64_t)st.st_size || bytes > (uint64_t)st.st_size - from))
            return damaged(shown, e);
    }
    return 0;
}

/* Bytes of a segment as they lie in the file, the caller's to free; NULL: none, or too many. */
static char *read_part(int fd, uint64_t from, uint64_t bytes)
{
    char *part = bytes > 0 && bytes <= MAX_PART ? malloc(bytes + 1) : NULL;

    if (part && read_at(fd, part, bytes, from) != (ssize_t)bytes) {
        free(part);
        return NULL;
    }
    if (part)
        part[bytes] = 0;
    return part;
}

static bool has_note(const char *part, size_t bytes)
{
    ElfW(Nhdr) note;

    for (size_t at = 0; at + sizeof note <= bytes;) {
        memcpy(&note, part + at, sizeof note);
        at += sizeof note;
        uint64_t name = (note.n_namesz + UINT64_C(3)) / 4 * 4;
        uint64_t rest = (note.n_descsz + UINT64_C(3)) / 4 * 4;
        if (name + rest > bytes - at)
            return false;
        if (note.n_namesz == sizeof "Android" && !memcmp(part + at, "Android", sizeof "Android"))
            return true;
        at += name + rest;
    }
    return false;
}

static uint64_t offset_of(const ElfW(Phdr) * segments, int n, uint64_t address)
{
    for (int i = 0; i < n; i++) {
        if (segments[i].p_type == PT_LOAD && address >= segments[i].p_vaddr &&
            address - segments[i].p_vaddr < segments[i].p_filesz)
            return address - segments[i].p_vaddr + segments[i].p_offset;
    }
    return UINT64_MAX;
}

static bool is_of_android(const char *library)
{
    static const char *const names[] = {"libc.so", "libandroid.so", "libcutils.so",
        "libhardware.so", "liblog.so", "libnativewindow.so", "libsync.so"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(library, names[i]))
            return true;
    }
    return false;
}

static bool needs_android(
    int fd, const ElfW(Phdr) * segments, int n, const char *part, size_t bytes)
{
    const ElfW(Dyn) *dynamic = (const void *)part;
    size_t n_entries = bytes / sizeof *dynamic;
    uint64_t names = UINT64_MAX;
    char name[32];

    for (size_t i = 0; i < n_entries; i++) {
        if (dynamic[i].d_tag == DT_STRTAB)
            names = offset_of(segments, n, dynamic[i].d_un.d_ptr);
    }
    for (size_t i = 0; names != UINT64_MAX && i < n_entries; i++) {
        if (dynamic[i].d_tag != DT_NEEDED)
            continue;
        ssize_t got = read_at(fd, name, sizeof name - 1, names + dynamic[i].d_un.d_val);
        if (got <= 0)
            continue;
        name[got] = 0;
        if (is_of_android(name))
            return true;
    }
    return false;
}

bool tp_icd_elf_is_android(int fd)
{
    ElfW(Phdr) segments[MAX_SEGMENTS];
    ElfW(Ehdr) h;
    bool is = false;

    if (read_at(fd, &h, sizeof h, 0) != sizeof h)
        return false;
    int n = read_segments(fd, &h, segments);
    for (int i = 0; i < n && !is; i++) {
        if (segments[i].p_type != PT_NOTE && segments[i].p_type != PT_DYNAMIC)
            continue;
        size_t bytes = segments[i].p_filesz;
        char *part = read_part(fd, segments[i].p_offset, bytes);
        if (part)
            is = segments[i].p_type == PT_NOTE ? has_note(part, bytes)
                                               : needs_android(fd, segments, n, part, bytes);
        free(part);
    }
    return is;
}
