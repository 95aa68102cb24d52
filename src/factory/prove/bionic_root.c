#include "factory/prove/bionic_root.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "factory/package/elf_file.h"

/* Android 10 and later have the C library in a package of its own; what is needed before that is
 * mounted lies in bootstrap, and /system/lib64 has links. Before, all is in /system. */
#define APEX "apex/com.android.runtime/"
static const struct part {
    const char *name, *goes; /* goes: where linker64 and the program look for it */
    const char *places[4];   /* the flat one is looked for last */
} parts[] = {
    {"linker64", "system/bin/linker64",
     {APEX "bin/linker64", "system/bin/linker64", "system/bin/bootstrap/linker64"}},
    {"libc.so", "system/lib64/libc.so",
     {APEX "lib64/bionic/libc.so", "system/lib64/libc.so", "system/lib64/bootstrap/libc.so"}},
    {"libm.so", "system/lib64/libm.so",
     {APEX "lib64/bionic/libm.so", "system/lib64/libm.so", "system/lib64/bootstrap/libm.so"}},
    {"libdl.so", "system/lib64/libdl.so",
     {APEX "lib64/bionic/libdl.so", "system/lib64/libdl.so", "system/lib64/bootstrap/libdl.so"}},
    {"libz.so", "system/lib64/libz.so", {"system/lib64/libz.so", APEX "lib64/libz.so"}},
};
#define PARTS (sizeof parts / sizeof *parts)

/* The caller frees it; NULL when it is nowhere. */
static char *find(const char *dir, const struct part *part)
{
    for (const char *const *place = part->places; *place; place++) {
        char *path = tp_join(dir, *place);
        if (tp_is_file(path))
            return path;
        free(path);
    }
    char *path = tp_join(dir, part->name);
    if (tp_is_file(path))
        return path;
    free(path);
    return NULL;
}

/* A link there that leads nowhere, or into a circle: copied without what it points to. Caller frees;
 * NULL: there is none. */
static char *find_dangling(const char *dir, const struct part *part)
{
    for (size_t i = 0; i <= sizeof part->places / sizeof *part->places; i++) {
        bool flat = i == sizeof part->places / sizeof *part->places || !part->places[i];
        char *path = tp_join(dir, flat ? part->name : part->places[i]);
        if (tp_exists(path) && !tp_is_file(path) && !tp_is_dir(path))
            return path;
        free(path);
        if (flat)
            break;
    }
    return NULL;
}

static int no_part(const char *dir, const struct part *part, struct tp_error *e)
{
    char *dangling = find_dangling(dir, part);
    if (dangling) {
        int bad = tp_fail(e, TP_STATUS_INPUT, -ENOENT, dangling,
                          "copy the file that it points to from the phone (docs/proving.md)",
                          "is a link that leads to no file");
        free(dangling);
        return bad;
    }
    char *todo = tp_asprintf("a phone has it as /%s%s%s: `adb pull` it into %s (docs/proving.md)",
                             part->places[0], part->places[1] ? " or /" : "",
                             part->places[1] ? part->places[1] : "", dir);
    int r = tp_fail(e, TP_STATUS_MISSING, -ENOENT, dir, todo, "there is no %s in it", part->name);
    free(todo);
    return r;
}

/* A file that was cut short would end in a fault somewhere. */
static int check_part(const char *path, struct tp_error *e)
{
    struct tp_elf *elf;
    struct tp_error why = {0};
    int r = tp_elf_open(path, &elf, &why);
    if (r) /* its advice is for drivers */
        return tp_fail(e, why.status, r, path, "copy it from the phone again (docs/proving.md)", "%s",
                       why.what);
    if (elf->class_bits != 64 || elf->machine != EM_AARCH64 || elf->type != ET_DYN)
        r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, path, "take the 64-bit files of an arm64 phone",
                    "is not an arm64 program or library");
    size_t loads = 0;
    for (size_t i = 0; i < elf->n_segments && !r; i++) {
        const GElf_Phdr *s = &elf->segments[i];
        loads += s->p_type == PT_LOAD;
        if (s->p_type == PT_LOAD &&
            (s->p_offset > elf->image_len || s->p_filesz > elf->image_len - s->p_offset))
            r = tp_fail(e, TP_STATUS_INPUT, -EBADMSG, path, "copy it from the phone again",
                        "is cut short");
    }
    if (!r && !loads)
        r = tp_fail(e, TP_STATUS_INPUT, -EBADMSG, path, "copy it from the phone again",
                    "has nothing to load");
    tp_elf_close(elf);
    return r;
}

int tp_bionic_root_check(const char *dir, struct tp_error *e)
{
    if (!tp_is_dir(dir))
        return tp_fail(e, TP_STATUS_INPUT, -ENOTDIR, dir,
                       "name the folder with linker64, libc.so, libm.so, libdl.so and libz.so",
                       "is not a folder");
    int r = 0;
    for (size_t i = 0; i < PARTS && !r; i++) {
        char *path = find(dir, &parts[i]);
        r = path ? check_part(path, e) : no_part(dir, &parts[i], e);
        free(path);
    }
    return r;
}

static int link_part(const char *dir, const struct part *part, const char *root, struct tp_error *e)
{
    char *path = find(dir, part);
    if (!path)
        return no_part(dir, part, e);
    char *from = tp_absolute(path), *to = tp_join(root, part->goes);
    int r = tp_mkdirs_for(to, e);
    if (!r && symlink(from, to) < 0)
        r = tp_fail_errno(e, errno, to, "cannot be made");
    free(to);
    free(from);
    free(path);
    return r;
}

int tp_bionic_root_merge(const char *dir, const char *root, struct tp_error *e)
{
    int r = 0;
    for (size_t i = 0; i < PARTS && !r; i++)
        r = link_part(dir, &parts[i], root, e);
    return r;
}
