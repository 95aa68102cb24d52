#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "factory/inspect/zip_internal.h"

static bool has_dots(const struct tp_zip_entry *e)
{
    for (size_t at = 0; at < e->name_len;) {
        const char *slash = memchr(e->name + at, '/', e->name_len - at);
        size_t end = slash ? (size_t)(slash - e->name) : e->name_len;
        if (end - at == 2 && e->name[at] == '.' && e->name[at + 1] == '.')
            return true;
        at = end + 1;
    }
    return false;
}

/* What is wrong with where it would land; NULL: nothing. */
static const char *path_fault(const struct tp_zip_entry *e)
{
    if (e->name_len && e->name[0] == '/')
        return "its name is an absolute path";
    if (memchr(e->name, '\\', e->name_len))
        return "its name has a backslash";
    if (e->name_len > 1 && e->name[1] == ':' && zip_lower(e->name[0]) >= 'a' &&
        zip_lower(e->name[0]) <= 'z')
        return "its name begins with a drive";
    return has_dots(e) ? "its name leads out of its folder (..)" : NULL;
}

/* The characters of a name in UTF-8; -1: it is none. */
static int characters(const char *name, size_t len)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    int n = 0;
    for (size_t i = 0; i < len; n++) {
        uint8_t c = (uint8_t)name[i++];
        int more = c < 0x80      ? 0
            : (c & 0xe0) == 0xc0 ? 1
            : (c & 0xf0) == 0xe0 ? 2
            : (c & 0xf8) == 0xf0 ? 3
                                 : -1;
        if (more < 0 || (size_t)more > len - i)
            return -1;
        uint32_t point = more ? c & (0x3fu >> more) : c;
        for (int k = 0; k < more; k++, i++) {
            if (((uint8_t)name[i] & 0xc0) != 0x80)
                return -1;
            point = point << 6 | ((uint8_t)name[i] & 0x3f);
        }
        if (point < least[more] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
            return -1;
    }
    return n;
}

static const char *name_fault(const struct tp_zip_entry *e)
{
    if (!e->name_len)
        return "it has no name";
    for (size_t i = 0; i < e->name_len; i++) {
        if ((uint8_t)e->name[i] < 32 || e->name[i] == 127)
            return "its name has a control character";
    }
    int n = characters(e->name, e->name_len);
    if (n < 0)
        return "its name is not UTF-8";
    if (n > TP_ZIP_IMPORT_NAME)
        return "its name is longer than 180 characters";
    return e->name[0] == '.' ? "its name begins with a dot" : NULL;
}

/* A folder in an archive that is packed well otherwise, or the whole archive in a folder. */
static void tell_folder(const struct tp_zip_entry *e, bool meta_on_top, struct tp_findings *f)
{
    char *label = tp_zip_label(e);
    bool needed = tp_zip_name_ends(e, ".so") || (!meta_on_top && tp_zip_base_is(e, "meta.json"));
    tp_findings_add(f, TP_RULE_ZIP_FOLDER, label,
        meta_on_top ? "pack the files alone, without folders: zip -j NAME.zip meta.json LIBRARY.so"
                    : NULL,
        "%s%s", e->folder ? "it is a folder" : "it lies in a folder",
        needed ? ", where most apps do not look for it" : "");
    free(label);
}

static void check_entry(
    const struct tp_zip_entry *e, bool hostile_only, bool meta_on_top, struct tp_findings *f)
{
    const char *fault = path_fault(e);
    if (fault)
        zip_tell(f, TP_RULE_ZIP_PATH, e, fault);
    else if (!hostile_only && (fault = name_fault(e)))
        zip_tell(f, TP_RULE_ZIP_NAME, e, fault);
    else if (!hostile_only && memchr(e->name, '/', e->name_len))
        tell_folder(e, meta_on_top, f);
    unsigned type = e->mode & S_IFMT;
    if (type == S_IFLNK)
        zip_tell(f, TP_RULE_ZIP_LINK, e, "it is a symbolic link");
    else if (type && type != S_IFREG && type != S_IFDIR)
        zip_tell(f, TP_RULE_ZIP_LINK, e, "it is a device or a pipe");
    if (e->flags & ZIP_FLAG_ENCRYPTED)
        zip_tell(f, TP_RULE_ZIP_ENCRYPTED, e, "it is encrypted");
    else if (e->method != ZIP_STORED && e->method != ZIP_DEFLATED) {
        char *label = tp_zip_label(e);
        tp_findings_add(f, TP_RULE_ZIP_METHOD, label, NULL, "it is packed by method %u", e->method);
        free(label);
    }
}

struct named {
    uint64_t hash; /* of the name in lower case */
    const struct tp_zip_entry *entry;
};

static uint64_t hash_of(const struct tp_zip_entry *e)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < e->name_len; i++)
        h = (h ^ (uint8_t)zip_lower(e->name[i])) * 0x100000001b3u;
    return h;
}

/* By name in lower case; equal ones by the name as it is. */
static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    size_t n = x->entry->name_len < y->entry->name_len ? x->entry->name_len : y->entry->name_len;
    for (size_t i = 0; i < n; i++) {
        int d = zip_lower(x->entry->name[i]) - zip_lower(y->entry->name[i]);
        if (d)
            return d;
    }
    if (x->entry->name_len != y->entry->name_len)
        return x->entry->name_len < y->entry->name_len ? -1 : 1;
    return memcmp(x->entry->name, y->entry->name, n);
}

static bool same_lower(const struct tp_zip_entry *a, const struct tp_zip_entry *b)
{
    if (a->name_len != b->name_len)
        return false;
    for (size_t i = 0; i < a->name_len; i++) {
        if (zip_lower(a->name[i]) != zip_lower(b->name[i]))
            return false;
    }
    return true;
}

static void check_twins(const struct tp_zip_view *z, struct tp_findings *f)
{
    struct named *names = tp_calloc(z->n ? z->n : 1, sizeof *names);
    for (size_t i = 0; i < z->n; i++)
        names[i] = (struct named){hash_of(&z->entries[i]), &z->entries[i]};
    qsort(names, z->n, sizeof *names, by_name);
    for (size_t i = 1; i < z->n; i++) {
        const struct tp_zip_entry *a = names[i - 1].entry, *b = names[i].entry;
        if (names[i].hash != names[i - 1].hash || !same_lower(a, b))
            continue;
        if (!memcmp(a->name, b->name, a->name_len))
            zip_tell(f, TP_RULE_ZIP_DUPLICATE, b, "it is there twice");
        else
            zip_tell(
                f, TP_RULE_ZIP_CASE, b, "another entry's name is the same in other letters' case");
    }
    free(names);
}

/* Nothing honest is packed a hundred to one: drivers are some five to one. */
enum { BOMB_RATIO = 100 };

static void check_sum(const struct tp_zip_view *z, struct tp_findings *f)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < z->n; i++) {
        if (__builtin_add_overflow(sum, z->entries[i].size_bytes, &sum))
            sum = UINT64_MAX;
    }
    if (sum <= TP_ZIP_IMPORT_BYTES || tp_findings_has(f, TP_RULE_ZIP_BOMB))
        return;
    bool bomb = sum / BOMB_RATIO > z->len;
    tp_findings_add(f, bomb ? TP_RULE_ZIP_BOMB : TP_RULE_ZIP_TOO_LARGE, NULL, NULL,
        "it says that %zu bytes unpack to %llu MiB", z->len, (unsigned long long)(sum >> 20));
}

void tp_zip_view_check_names(const struct tp_zip_view *z, bool hostile_only, struct tp_findings *f)
{
    bool meta_on_top = false;
    for (size_t i = 0; i < z->n; i++)
        meta_on_top = meta_on_top || tp_zip_name_is(&z->entries[i], "meta.json");
    for (size_t i = 0; i < z->n; i++)
        check_entry(&z->entries[i], hostile_only, meta_on_top, f);
    check_twins(z, f);
    check_sum(z, f);
    if (!hostile_only && z->n > TP_ZIP_IMPORT_ENTRIES)
        tp_findings_add(f, TP_RULE_ZIP_TOO_MANY, NULL, NULL, "it has %zu%s entries", z->n,
            z->n == TP_ZIP_MAX_ENTRIES ? " and more" : "");
}
