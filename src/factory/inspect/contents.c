#include "factory/inspect/contents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fs.h"
#include "base/json.h"
#include "factory/inspect/asset.h"
#include "factory/inspect/meta_check.h"

/* A meta.json that is too long for apps is read all the same, up to this. */
#define META_READ_BYTES (16 * TP_META_MAX_BYTES)

/* A library's bytes, and what they are. {0} before, finish_image after it. */
struct image {
    struct tp_zip_bytes bytes; /* where it is in a zip */
    struct tp_elf *elf;        /* NULL: it cannot be read */
    bool sound;                /* its rules can be checked */
};

static void identify(struct tp_library_file *lib, const void *data, size_t len,
    struct image *image, struct tp_findings *f)
{
    image->sound = tp_elf_check_open(data, len, lib->name, f, &image->elf);
    if (!image->elf)
        return;
    lib->machine = image->elf->machine;
    for (size_t i = 0; i < image->elf->n_needed; i++) {
        if (!strcmp(image->elf->needed[i], "libc.so"))
            lib->abi = TP_ABI_BIONIC;
        else if (!strcmp(image->elf->needed[i], "libc.so.6"))
            lib->abi = TP_ABI_GLIBC;
    }
}

/* What is too large for it is told, but for a bomb, which is told already. */
static void read_library(struct tp_contents *c, struct tp_library_file *lib, struct image *image,
    struct tp_findings *f)
{
    const struct tp_zip_entry *e = lib->entry;
    if (e->size_bytes <= c->budget_bytes && e->size_bytes <= TP_LIBRARY_MAX_BYTES) {
        c->budget_bytes -= e->size_bytes;
        if (!tp_zip_view_read(c->zip, e, TP_LIBRARY_MAX_BYTES, &image->bytes, f))
            identify(lib, image->bytes.data, image->bytes.len, image, f);
        return;
    }
    lib->unread = true;
    if (!tp_findings_has(f, TP_RULE_ZIP_BOMB) && !tp_findings_has(f, TP_RULE_ZIP_TOO_LARGE))
        tp_findings_add(f, TP_RULE_FILE_TOO_LARGE, lib->name, NULL, "it unpacks to %llu MiB",
            (unsigned long long)(e->size_bytes >> 20));
}

static void finish_image(struct image *image)
{
    tp_elf_close(image->elf);
    tp_zip_bytes_finish(&image->bytes);
}

static char *base_name(const struct tp_zip_entry *e)
{
    const char *slash = memrchr(e->name, '/', e->name_len);
    size_t skip = slash ? (size_t)(slash - e->name) + 1 : 0;
    char *name = tp_strndup(e->name + skip, e->name_len - skip);
    char *text = tp_printable_line(name);
    free(name);
    return text;
}

static void list_libraries(struct tp_contents *c)
{
    c->libraries = tp_calloc(TP_ZIP_IMPORT_ENTRIES, sizeof *c->libraries);
    for (size_t i = 0; i < c->zip->n && c->n_libraries < TP_ZIP_IMPORT_ENTRIES; i++) {
        const struct tp_zip_entry *e = &c->zip->entries[i];
        if (!e->folder && e->name_len > 3 && !memcmp(e->name + e->name_len - 3, ".so", 3))
            c->libraries[c->n_libraries++] =
                (struct tp_library_file){.entry = e, .name = base_name(e)};
    }
}

static void find_meta(struct tp_contents *c)
{
    for (size_t i = 0; i < c->zip->n; i++) {
        const struct tp_zip_entry *e = &c->zip->entries[i];
        if (!tp_zip_base_is(e, "meta.json") || (c->meta_entry && !tp_zip_name_is(e, "meta.json")))
            continue;
        c->meta_entry = e;
        c->meta_on_top = tp_zip_name_is(e, "meta.json");
        if (c->meta_on_top)
            return;
    }
}

/* The library that meta.json names; else the only one, the one with vulkan in its name, or none. */
static struct tp_library_file *find_driver(const struct tp_contents *c, const char *named)
{
    struct tp_library_file *found = NULL;
    for (size_t i = 0; i < c->n_libraries; i++) {
        if (*named && !strcmp(c->libraries[i].name, named))
            return &c->libraries[i];
    }
    if (c->n_libraries == 1)
        return &c->libraries[0];
    for (size_t i = 0; i < c->n_libraries; i++) {
        if (strstr(c->libraries[i].name, "vulkan"))
            found = found ? found : &c->libraries[i];
    }
    return found;
}

static bool says_linux(const json_t *meta)
{
    if (json_object_get(meta, "platform"))
        return !strcasecmp(tp_json_text(meta, "platform"), "linux");
    return false;
}

/* What it says it is for; where it does not say, what the driver is for. One fault is told once:
 * where the two differ, the driver is held against its own platform's rules. */
static enum tp_platform find_platform(const struct tp_contents *c, const json_t *meta)
{
    enum tp_abi abi = c->driver ? c->driver->abi : TP_ABI_NONE;
    if (json_object_get(meta, "platform"))
        return abi == TP_ABI_GLIBC || (abi == TP_ABI_NONE && says_linux(meta))
            ? TP_PLATFORM_LINUX
            : TP_PLATFORM_ANDROID;
    return abi == TP_ABI_GLIBC && !json_object_get(meta, "minApi") ? TP_PLATFORM_LINUX
                                                                   : TP_PLATFORM_ANDROID;
}

static void check_platform(const struct tp_contents *c, const json_t *meta, struct tp_findings *f)
{
    const char *platform = tp_json_text(meta, "platform"), *libc = tp_json_text(meta, "libc");
    enum tp_abi abi = c->driver ? c->driver->abi : TP_ABI_NONE;
    bool known = !strcasecmp(platform, "linux") || !strcasecmp(platform, "android");
    enum tp_abi said = !strcasecmp(platform, "linux") ? TP_ABI_GLIBC : TP_ABI_BIONIC;
    if (*platform && !known)
        tp_findings_add(f, TP_RULE_META_PLATFORM, "meta.json", NULL,
            "its platform is \"%.40s\", neither android nor linux", platform);
    else if (*platform && abi != TP_ABI_NONE && abi != said)
        tp_findings_add(f, TP_RULE_META_PLATFORM, "meta.json", NULL,
            "its platform is \"%.40s\", and %s is linked with %s", platform, c->driver->name,
            abi == TP_ABI_GLIBC ? "glibc" : "Android's C library");
    else if (*libc && strcmp(libc, "glibc") != 0)
        tp_findings_add(f, TP_RULE_META_PLATFORM, "meta.json", NULL,
            "its libc is \"%.40s\", and WinNative's Linux has glibc", libc);
}

static void check_library_name(struct tp_contents *c, const char *named, struct tp_findings *f)
{
    size_t n = strlen(named);
    if (!n)
        return; /* a missing key is told by its own rule */
    if (strchr(named, '/') || strchr(named, '\\'))
        tp_findings_add(f, TP_RULE_LIBRARY_NAME, "meta.json", NULL,
            "its libraryName \"%.80s\" has a path in it", named);
    else if (n < 4 || strcmp(named + n - 3, ".so") != 0)
        tp_findings_add(f, TP_RULE_LIBRARY_NAME, "meta.json", NULL,
            "its libraryName \"%.80s\" does not end in .so", named);
    else if (!c->driver || strcmp(c->driver->name, named) != 0)
        tp_findings_add(f, TP_RULE_LIBRARY_NAME, "meta.json", NULL,
            "its libraryName \"%.80s\" is not in the archive%s%s", named,
            c->driver ? ", which has " : "", c->driver ? c->driver->name : "");
    else
        c->driver_named = tp_zip_name_is(c->driver->entry, named);
}

static void check_hash(
    const struct tp_contents *c, const struct tp_zip_bytes *b, struct tp_findings *f)
{
    const char *said = tp_json_text(c->meta, "librarySha256");
    char sum[TP_SHA256_HEX];
    if (!*said)
        return;
    tp_sha256(b->data, b->len, sum);
    if (strcasecmp(said, sum) != 0)
        tp_findings_add(f, TP_RULE_LIBRARY_HASH, c->driver->name, NULL,
            "meta.json says the sum %.16s…, and the library's is %.16s…", said, sum);
}

/* 'b' or 'p' where the metadata says it, else 0. */
static char variant_of(const json_t *meta)
{
    const char *v = tp_json_text(meta, "variant");
    if (*v && !v[1])
        return *v;
    v = tp_json_text(meta, "driverVersion");
    return tp_asset_variant(v);
}

/* What holds for every library of an archive. siblings: filled, borrowed by what comes back. */
static struct tp_elf_ask ask_of_all(const struct tp_contents *c, const struct tp_inspect_ask *ask,
    const char *siblings[TP_ZIP_IMPORT_ENTRIES])
{
    int declared = tp_meta_number(c->meta, "minApi", 0);
    for (size_t i = 0; i < c->n_libraries; i++)
        siblings[i] = c->libraries[i].name;
    return (struct tp_elf_ask){
        .platform = c->platform,
        .min_api = ask->api ? ask->api
            : declared > 0  ? declared
                            : 0,
        .phone = ask->api > 0,
        .siblings = siblings,
        .n_siblings = c->n_libraries,
    };
}

static void check_driver(struct tp_contents *c, const struct image *image,
    const struct tp_inspect_ask *ask, struct tp_findings *f)
{
    const char *siblings[TP_ZIP_IMPORT_ENTRIES];
    const char *version = tp_json_text(c->meta, "driverVersion");
    const char *mesa = tp_json_text(c->meta, "mesaVersion");
    struct tp_elf_ask elf = ask_of_all(c, ask, siblings);
    elf.machine = !strcmp(tp_json_text(c->meta, "architecture"), "x86_64") ? EM_X86_64 : 0;
    elf.library_name = c->driver_named ? c->driver->name : NULL;
    elf.variant = variant_of(c->meta);
    elf.ours = tp_asset_is_ours(version);
    elf.driver_version = elf.ours ? version : NULL;
    elf.mesa_version = *mesa ? mesa : NULL;
    if (image->sound)
        tp_elf_check(image->elf, &elf, f, &c->facts);
}

static bool is_for_another(const struct tp_contents *c, const struct tp_library_file *lib)
{
    return c->driver && c->driver->abi != TP_ABI_NONE && lib->abi != TP_ABI_NONE &&
        lib->abi != c->driver->abi;
}

/* Libraries that the driver brings along. */
static void check_companions(
    struct tp_contents *c, const struct tp_inspect_ask *ask, struct tp_findings *f)
{
    const char *siblings[TP_ZIP_IMPORT_ENTRIES];
    struct tp_elf_ask elf = ask_of_all(c, ask, siblings);
    elf.companion = true;
    for (size_t i = 0; i < c->n_libraries; i++) {
        struct tp_library_file *lib = &c->libraries[i];
        struct image image = {0};
        struct tp_elf_facts facts = {0};
        if (lib == c->driver)
            continue;
        read_library(c, lib, &image, f);
        if (is_for_another(c, lib))
            tp_findings_add(f, TP_RULE_LIBRARY_PLATFORMS, lib->name, NULL,
                "it is for %s, and %s is for %s", lib->abi == TP_ABI_GLIBC ? "Linux" : "Android",
                c->driver->name, lib->abi == TP_ABI_GLIBC ? "Android" : "Linux");
        else if (image.sound)
            tp_elf_check(image.elf, &elf, f, &facts);
        tp_elf_facts_finish(&facts);
        finish_image(&image);
    }
}

/* meta.json is in front where it is well packed; yuzu takes the first entry that looks like it. */
static void check_other_json(const struct tp_contents *c, struct tp_findings *f)
{
    for (size_t i = 0; i < c->zip->n; i++) {
        const struct tp_zip_entry *e = &c->zip->entries[i];
        if (e->folder || !tp_zip_name_holds(e, ".json") || tp_zip_base_is(e, "meta.json"))
            continue;
        char *label = tp_zip_label(e);
        bool first = e < c->meta_entry;
        tp_findings_add_as(f, TP_RULE_META_OTHER_JSON,
            first ? TP_SEVERITY_ERROR : TP_SEVERITY_WARNING, label, NULL, "it lies %s meta.json",
            first ? "in front of" : "behind");
        free(label);
    }
}

static void read_meta(struct tp_contents *c, const struct tp_zip_bytes *text,
    const struct tp_inspect_ask *ask, struct tp_findings *f)
{
    /* Which rules hold depends on the platform, which is in the metadata, too. */
    size_t mark = text->len >= 3 && !memcmp(text->data, "\xef\xbb\xbf", 3) ? 3 : 0;
    json_t *draft =
        text->data ? json_loadb((const char *)text->data + mark, text->len - mark, 0, NULL) : NULL;
    const char *named = tp_json_text(draft, "libraryName");
    c->driver = find_driver(c, named);
    struct image image = {0};
    if (c->driver)
        read_library(c, c->driver, &image, f);
    c->platform = find_platform(c, draft);
    if (text->data) {
        c->meta = tp_meta_check(text->data, text->len,
            c->platform == TP_PLATFORM_LINUX || says_linux(draft), ask->api, f);
        check_platform(c, c->meta, f);
        check_library_name(c, tp_json_text(c->meta, "libraryName"), f);
        check_other_json(c, f);
    }
    json_decref(draft);
    if (image.bytes.data) {
        check_hash(c, &image.bytes, f);
        check_driver(c, &image, ask, f);
    }
    finish_image(&image);
    check_companions(c, ask, f);
}

/* Of an archive without a driver the importers read meta.json all the same. That it is without one
 * is the finding; what else is wrong would hide it. */
static void read_meta_alone(struct tp_contents *c, struct tp_findings *f)
{
    struct tp_findings aside = {0};
    struct tp_zip_bytes text = {0};
    find_meta(c);
    if (c->meta_entry &&
        !tp_zip_view_read(c->zip, c->meta_entry, META_READ_BYTES, &text, f))
        c->meta = tp_meta_check(text.data, text.len, false, 0, &aside);
    tp_zip_bytes_finish(&text);
    tp_findings_finish(&aside);
}

/* The kinds that hold no driver for apps end here. */
static bool holds_driver(struct tp_contents *c, struct tp_findings *f)
{
    c->kind = tp_kind_of_entries(c->zip);
    tp_zip_view_check_names(c->zip, c->kind == TP_KIND_MODULE, f);
    if (c->kind == TP_KIND_MODULE)
        tp_findings_add(
            f, TP_RULE_KIND_MODULE, NULL, NULL, "it is a module for Magisk or KernelSU");
    else if (c->kind == TP_KIND_NESTED)
        tp_findings_add(
            f, TP_RULE_KIND_NESTED, NULL, NULL, "it holds other archives and no driver");
    else if (c->kind == TP_KIND_NO_DRIVER)
        tp_findings_add(f, TP_RULE_KIND_NO_DRIVER, NULL, NULL,
            "there is no .so among its %zu entr%s", c->zip->n, c->zip->n == 1 ? "y" : "ies");
    return c->kind == TP_KIND_ANDROID || c->kind == TP_KIND_QUALCOMM;
}

void tp_contents_read(struct tp_contents *c, struct tp_zip_view *zip,
    const struct tp_inspect_ask *ask, struct tp_findings *f)
{
    c->zip = zip;
    c->budget_bytes = TP_ZIP_IMPORT_BYTES;
    if (!zip->whole) {
        c->kind = TP_KIND_DAMAGED;
        return;
    }
    if (!holds_driver(c, f)) {
        read_meta_alone(c, f);
        return;
    }
    list_libraries(c);
    find_meta(c);
    struct tp_zip_bytes text = {0};
    if (!c->meta_entry)
        tp_findings_add(f, TP_RULE_META_MISSING, NULL, NULL, "it has no meta.json");
    else if (!c->meta_on_top)
        c->kind = TP_KIND_FOLDER;
    if (c->meta_entry && c->meta_entry->size_bytes > META_READ_BYTES)
        tp_findings_add(f, TP_RULE_META_SIZE, "meta.json", NULL, "it has %llu bytes",
            (unsigned long long)c->meta_entry->size_bytes);
    else if (c->meta_entry)
        tp_zip_view_read(c->zip, c->meta_entry, META_READ_BYTES, &text, f);
    read_meta(c, &text, ask, f);
    tp_zip_bytes_finish(&text);
    if (c->kind == TP_KIND_ANDROID && c->platform == TP_PLATFORM_LINUX)
        c->kind = TP_KIND_LINUX;
    tp_asset_check(ask->file_name, c->meta, f);
}

void tp_contents_read_library(struct tp_contents *c, const void *data, size_t len,
    const struct tp_inspect_ask *ask, struct tp_findings *f)
{
    c->kind = TP_KIND_DRIVER;
    c->libraries = tp_calloc(1, sizeof *c->libraries);
    c->libraries[0].name = tp_printable_line(ask->file_name);
    c->n_libraries = 1;
    c->driver = &c->libraries[0];
    struct image image = {0};
    tp_findings_add(f, TP_RULE_KIND_BARE, NULL, NULL, "it is a library without an archive");
    identify(c->driver, data, len, &image, f);
    c->platform = c->driver->abi == TP_ABI_GLIBC ? TP_PLATFORM_LINUX : TP_PLATFORM_ANDROID;
    struct tp_elf_ask elf = {
        .platform = c->platform,
        .min_api = ask->api,
        .phone = ask->api > 0,
    };
    if (image.sound)
        tp_elf_check(image.elf, &elf, f, &c->facts);
    finish_image(&image);
}

void tp_contents_finish(struct tp_contents *c)
{
    json_decref(c->meta);
    for (size_t i = 0; i < c->n_libraries; i++)
        free(c->libraries[i].name);
    free(c->libraries);
    tp_elf_facts_finish(&c->facts);
    *c = (struct tp_contents){0};
}
