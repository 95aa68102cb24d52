#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/fs.h"
#include "factory/recipe/internal.h"

static int damaged(const char *path, struct tp_error *e)
{
    return tp_fail(e, TP_STATUS_FAILED, -EBADMSG, path, NULL,
                   "is not a whole 64-bit little-endian ELF file");
}

/* True when [offset, offset + size) lies inside the file. */
static bool inside(const struct tp_buf *f, uint64_t offset, uint64_t size)
{
    return offset <= f->len && size <= f->len - offset;
}

/* Moves the entries behind a removed one up; the freed places at the end become DT_NULL. */
static size_t drop(struct tp_buf *f, uint64_t offset, uint64_t count)
{
    uint64_t kept = 0;
    size_t dropped = 0;
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Dyn d;
        memcpy(&d, f->data + offset + i * sizeof d, sizeof d);
        if (d.d_tag == DT_RPATH || d.d_tag == DT_RUNPATH) {
            dropped++;
            continue;
        }
        memcpy(f->data + offset + kept++ * sizeof d, &d, sizeof d);
    }
    memset(f->data + offset + kept * sizeof(Elf64_Dyn), 0, dropped * sizeof(Elf64_Dyn));
    return dropped;
}

int tp_drop_runpath(const char *path, struct tp_error *e)
{
    struct tp_buf f = {0};
    int r = tp_read_file(path, 0, &f, e);
    if (r)
        goto out;
    Elf64_Ehdr h;
    if (f.len < sizeof h || memcmp(f.data, ELFMAG, SELFMAG) || f.data[EI_CLASS] != ELFCLASS64 ||
        f.data[EI_DATA] != ELFDATA2LSB) {
        r = damaged(path, e);
        goto out;
    }
    memcpy(&h, f.data, sizeof h);
    if (h.e_phentsize != sizeof(Elf64_Phdr) ||
        !inside(&f, h.e_phoff, (uint64_t)h.e_phnum * sizeof(Elf64_Phdr))) {
        r = damaged(path, e);
        goto out;
    }
    size_t dropped = 0;
    for (unsigned i = 0; i < h.e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, f.data + h.e_phoff + i * sizeof p, sizeof p);
        if (p.p_type != PT_DYNAMIC)
            continue;
        if (!inside(&f, p.p_offset, p.p_filesz)) {
            r = damaged(path, e);
            goto out;
        }
        dropped += drop(&f, p.p_offset, p.p_filesz / sizeof(Elf64_Dyn));
    }
    if (dropped)
        r = tp_write_file(path, f.data, f.len, 0755, e);
out:
    tp_buf_finish(&f);
    return r;
}
