#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "factory/inspect/importers_internal.h"
#include "factory/inspect/meta_check.h"

enum tp_outcome importer_adrenotools(struct tp_asked *a)
{
    if (!a->c->zip) {
        const char *fault = importer_load_fault(a, false);
        return fault ? importer_answer(a, TP_OUTCOME_SYSTEM,
                           "it does not load (%s): the phone's own driver runs in "
                           "its place, without a word",
                           fault)
                     : importer_answer(a, TP_OUTCOME_TAKES, "loads it");
    }
    const char *fault = importer_archive_fault(a);
    if (fault)
        return importer_answer(a, TP_OUTCOME_REFUSES, "%s", fault);
    if (!a->c->meta)
        return importer_answer(
            a, TP_OUTCOME_REFUSES, "there is no meta.json to tell it the library");
    return importer_load(
        a, "loads it from an app's own folder; from shared storage (sdcard) it cannot");
}

/* GameNative and Winlator: app/src/main/java/com/winlator/contents/AdrenotoolsManager.java.
 * Whatever goes wrong is a line in the log and an empty name. */
enum tp_outcome importer_gamenative(struct tp_asked *a)
{
    const char *fault = importer_stream_fault(a);
    if (fault)
        return importer_answer(a, TP_OUTCOME_NOTHING, "%s", fault);
    if (importer_in_folders(a))
        return importer_answer(
            a, TP_OUTCOME_NOTHING, "an entry lies in a folder, which it does not make");
    if (!importer_on_top(a, "meta.json"))
        return importer_answer(a, TP_OUTCOME_NOTHING, "there is no meta.json");
    const char *name = importer_text(a, "name");
    if (!a->c->meta || !*name)
        return importer_answer(a, TP_OUTCOME_NOTHING, "it reads no name in meta.json");
    if (tp_meta_folder_fault(name) || !strcmp(name, "tmp"))
        return importer_answer(
            a, TP_OUTCOME_NOTHING, "it cannot make a folder called \"%.60s\"", name);
    if (!strcasecmp(name, "system"))
        return importer_answer(
            a, TP_OUTCOME_SYSTEM, "\"%.60s\" is its word for the phone's own driver", name);
    return importer_load(a, "takes it; of two with one name, it ignores the second");
}

/* runtime/content/DriverPackages.java's safeName. */
static bool winnative_name(const struct tp_zip_entry *e)
{
    bool good = e->name_len && e->name[0] != '.' && !memchr(e->name, '/', e->name_len) &&
        !memchr(e->name, '\\', e->name_len);
    int units = 0;
    for (size_t i = 0; i < e->name_len; i++) {
        unsigned char byte = (unsigned char)e->name[i];
        good = good && byte >= 32;
        /* Java counts in UTF-16: a character of four bytes is two. */
        units += byte < 0x80 || byte >= 0xc0 ? 1 + (byte >= 0xf0) : 0;
    }
    return good && units <= TP_ZIP_IMPORT_NAME;
}

static enum tp_outcome winnative_entries(struct tp_asked *a)
{
    const char *fault = importer_stream_fault(a);
    if (fault)
        return importer_answer(a, TP_OUTCOME_REFUSES, "%s", fault);
    for (size_t i = 0; i < a->c->zip->n; i++) {
        if (!winnative_name(&a->c->zip->entries[i])) {
            char *label = tp_zip_label(&a->c->zip->entries[i]);
            enum tp_outcome o =
                importer_answer(a, TP_OUTCOME_REFUSES, "no entry may be called %.120s", label);
            free(label);
            return o;
        }
    }
    if (importer_has(a, TP_RULE_ZIP_DUPLICATE))
        return importer_answer(a, TP_OUTCOME_REFUSES, "an entry is there twice");
    if (a->c->zip->n > TP_ZIP_IMPORT_ENTRIES)
        return importer_answer(
            a, TP_OUTCOME_REFUSES, "there are more than %d entries", TP_ZIP_IMPORT_ENTRIES);
    if (importer_has(a, TP_RULE_ZIP_TOO_LARGE))
        return importer_answer(a, TP_OUTCOME_REFUSES, "it unpacks to more than 128 MiB");
    return TP_OUTCOME_TAKES;
}

/* WinNative: runtime/content/DriverPackages.java. */
enum tp_outcome importer_winnative(struct tp_asked *a)
{
    enum tp_outcome o = winnative_entries(a);
    if (o != TP_OUTCOME_TAKES)
        return o;
    const struct tp_zip_entry *meta = importer_on_top(a, "meta.json");
    if (!meta || meta->size_bytes > TP_META_MAX_BYTES)
        return importer_answer(a, TP_OUTCOME_REFUSES,
            meta ? "meta.json has more than 64 KiB" : "there is no meta.json");
    const char *name = importer_text(a, "name"), *library = importer_text(a, "libraryName");
    if (!a->c->meta || tp_meta_folder_fault(name) || *name == '@')
        return importer_answer(
            a, TP_OUTCOME_REFUSES, "it reads no name in meta.json that a folder can have");
    size_t n = strlen(library);
    if (n < 3 || strcmp(library + n - 3, ".so") != 0 || !importer_on_top(a, library))
        return importer_answer(a, TP_OUTCOME_REFUSES, "libraryName is no .so in the archive");
    if (importer_unread(a))
        return importer_unread_answer(a);
    const struct tp_library_file *driver = a->c->driver;
    if (!driver || driver->machine != EM_AARCH64 || importer_has(a, TP_RULE_ELF_TYPE) ||
        driver->abi == TP_ABI_NONE)
        return importer_answer(
            a, TP_OUTCOME_REFUSES, "the library is none for arm64 with libc.so or libc.so.6");
    if (importer_has(a, TP_RULE_LIBRARY_HASH))
        return importer_answer(a, TP_OUTCOME_REFUSES, "librarySha256 is not the library's");
    bool linux_driver = driver->abi == TP_ABI_GLIBC;
    const char *platform = importer_text(a, "platform");
    if (*platform && strcasecmp(platform, linux_driver ? "linux" : "android") != 0)
        return importer_answer(a, TP_OUTCOME_REFUSES, "platform is not the library's");
    if (!linux_driver && importer_too_new(a))
        return importer_too_new_answer(a, TP_OUTCOME_REFUSES);
    for (size_t i = 0; i < a->c->n_libraries; i++) {
        if (a->c->libraries[i].abi != driver->abi)
            return importer_answer(a, TP_OUTCOME_REFUSES,
                "%.80s is for another platform, or for none", a->c->libraries[i].name);
    }
    if (!linux_driver)
        return importer_load(a, "takes it, unless one of that name is there");
    const char *fault = importer_load_fault(a, true);
    if (fault)
        return importer_answer(
            a, TP_OUTCOME_SYSTEM, "imports it, but it does not load (%s)", fault);
    return importer_answer(
        a, TP_OUTCOME_TAKES, "takes it for its Linux, unless one of that name is there");
}

/* kotlinx.serialization with its strict defaults: well-formed, all nine keys, no other. */
static const char *strict_fault(struct tp_asked *a)
{
    const json_t *meta = a->c->meta;
    if (!meta || importer_has(a, TP_RULE_META_ENCODING))
        return "meta.json is not well-formed";
    if (tp_meta_number(meta, "schemaVersion", 0) != 1)
        return "schemaVersion is not 1";
    for (size_t i = 0; tp_meta_keys[i]; i++) {
        const json_t *v = json_object_get(meta, tp_meta_keys[i]);
        bool number =
            !strcmp(tp_meta_keys[i], "minApi") || !strcmp(tp_meta_keys[i], "schemaVersion");
        snprintf(
            a->fault, sizeof a->fault, "meta.json has no %s that it can read", tp_meta_keys[i]);
        if (number ? tp_meta_number(meta, tp_meta_keys[i], -1) < 0 : !json_is_string(v))
            return a->fault;
    }
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)meta, key, v)
    {
        snprintf(a->fault, sizeof a->fault, "it does not know the key %.80s", key);
        if (!tp_meta_is_known(key))
            return a->fault;
    }
    return NULL;
}

/* Dolphin: utils/GpuDriverHelper.kt, model/GpuDriverMetadata.kt. */
enum tp_outcome importer_dolphin(struct tp_asked *a)
{
    const char *fault = importer_stream_fault(a);
    if (fault)
        return importer_answer(
            a, TP_OUTCOME_REFUSES, "says that the archive is invalid: %s", fault);
    if (!importer_on_top(a, "meta.json"))
        return importer_answer(a, TP_OUTCOME_REFUSES, "says that metadata is missing");
    if ((fault = strict_fault(a)))
        return importer_answer(a, TP_OUTCOME_REFUSES, "says that metadata is invalid: %s", fault);
    if (importer_too_new(a))
        return importer_too_new_answer(a, TP_OUTCOME_REFUSES);
    return importer_load(a, "takes it");
}

/* Skyline and Strato: utils/GpuDriverHelper.kt; RPCSX, RPCS3: net/rpcs3/utils/GpuDriverMetadata.kt.
 */
enum tp_outcome importer_strato(struct tp_asked *a)
{
    enum tp_outcome o = importer_dolphin(a);
    if (o != TP_OUTCOME_TAKES)
        return o;
    const char *name = importer_text(a, "name"), *package = importer_text(a, "packageVersion");
    if (strchr(name, '/') || strchr(package, '/') || strlen(name) + strlen(package) > 250)
        return importer_answer(a, TP_OUTCOME_REFUSES,
            "ends with an error: it cannot make a folder of name and "
            "packageVersion");
    return importer_answer(
        a, TP_OUTCOME_TAKES, "takes it as \"%.60s%s%.40s\"", name, *package ? "-v" : "", package);
}

/* The first entry whose name holds .json is the metadata for these. */
static const struct tp_zip_entry *first_json(const struct tp_asked *a)
{
    for (size_t i = 0; i < a->c->zip->n; i++) {
        const struct tp_zip_entry *e = &a->c->zip->entries[i];
        if (!e->folder && tp_zip_name_holds(e, ".json"))
            return e;
    }
    return NULL;
}

static enum tp_outcome by_first_json(struct tp_asked *a, bool streams)
{
    enum { MAX_META = 500000 };
    const char *fault = streams ? importer_stream_fault(a) : importer_archive_fault(a);
    if (fault)
        return importer_answer(a, TP_OUTCOME_REFUSES, "%s", fault);
    const struct tp_zip_entry *e = first_json(a);
    if (!e)
        return importer_answer(a, TP_OUTCOME_REFUSES, "there is no .json");
    if (e != a->c->meta_entry || e->size_bytes > MAX_META) {
        char *label = tp_zip_label(e);
        enum tp_outcome o =
            importer_answer(a, TP_OUTCOME_REFUSES, "it takes %.120s for the metadata", label);
        free(label);
        return o;
    }
    if (streams && e->described)
        return importer_answer(
            a, TP_OUTCOME_REFUSES, "meta.json tells its size behind its data, and it reads none");
    if (!*importer_text(a, "name"))
        return importer_answer(a, TP_OUTCOME_REFUSES, "it reads no name in meta.json");
    if (importer_too_new(a))
        return importer_too_new_answer(a, TP_OUTCOME_REFUSES);
    if (!a->c->meta_on_top)
        return importer_answer(a, TP_OUTCOME_SYSTEM,
            "unpacks it with its folder and finds no meta.json then: the "
            "phone's own driver runs in its place, without a word");
    /* They are read in this order, and the first that is missing ends the reading. */
    static const char *const keys[] = {
        "description", "author", "vendor", "driverVersion", "minApi"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!json_object_get(a->c->meta, keys[i]))
            return importer_answer(a, TP_OUTCOME_SYSTEM,
                "stops reading meta.json where %s is missing, and knows no "
                "library: the phone's own driver runs in its place, without a word",
                keys[i]);
    }
    return importer_load(a, "takes it");
}

/* yuzu and what came of it: utils/GpuDriverHelper.kt, utils/GpuDriverMetadata.kt. */
enum tp_outcome importer_yuzu(struct tp_asked *a)
{
    return by_first_json(a, false);
}

/* Citra and what came of it: the same, read from front to back. */
enum tp_outcome importer_citra(struct tp_asked *a)
{
    return by_first_json(a, true);
}

/* PPSSPP: UI/DriverManagerScreen.cpp. */
enum tp_outcome importer_ppsspp(struct tp_asked *a)
{
    const char *fault = importer_archive_fault(a);
    if (fault)
        return importer_answer(a, TP_OUTCOME_REFUSES, "%s", fault);
    if (!importer_on_top(a, "meta.json"))
        return importer_answer(a, TP_OUTCOME_REFUSES, "says that meta.json is missing");
    if (!a->c->meta || importer_has(a, TP_RULE_META_ENCODING))
        return importer_answer(a, TP_OUTCOME_REFUSES, "says that meta.json is not valid JSON");
    if (tp_meta_number(a->c->meta, "schemaVersion", 0) > 1)
        return importer_answer(
            a, TP_OUTCOME_REFUSES, "says that it does not know this schemaVersion");
    if (tp_meta_folder_fault(importer_text(a, "name")))
        return importer_answer(
            a, TP_OUTCOME_REFUSES, "meta.json has no name that a folder can have");
    if (importer_in_folders(a))
        return importer_answer(a, TP_OUTCOME_REFUSES, "it cannot read a folder as a file");
    if (importer_too_new(a))
        return importer_too_new_answer(a, TP_OUTCOME_REFUSES);
    return importer_load(a, "takes it");
}

/* Vita3K: app_init.cpp's install of a custom driver: no metadata; the last entry with "vulkan" in
 * its name is the driver, and the zip's own name is the driver's. */
enum tp_outcome importer_vita3k(struct tp_asked *a)
{
    const char *fault = importer_archive_fault(a);
    if (fault && !importer_has(a, TP_RULE_ZIP_PATH))
        return importer_answer(a, TP_OUTCOME_REFUSES, "%s", fault);
    const struct tp_zip_entry *last = NULL;
    for (size_t i = 0; i < a->c->zip->n; i++) {
        const struct tp_zip_entry *e = &a->c->zip->entries[i];
        if (!e->folder && memmem(e->name, e->name_len, "vulkan", 6))
            last = e;
    }
    if (!last)
        return importer_answer(a, TP_OUTCOME_REFUSES, "no entry has \"vulkan\" in its name");
    if (!a->c->driver || a->c->driver->entry != last) {
        char *label = tp_zip_label(last);
        enum tp_outcome o =
            importer_answer(a, TP_OUTCOME_SYSTEM, "it takes %.120s for the driver", label);
        free(label);
        return o;
    }
    const char *broken = importer_load_fault(a, false);
    if (!broken && importer_unread(a))
        return importer_unread_answer(a);
    if (broken)
        return importer_answer(a, TP_OUTCOME_SYSTEM,
            "imports it, but it does not load (%s): the phone's own driver "
            "runs in its place, without a word",
            broken);
    return importer_answer(a, TP_OUTCOME_TAKES, "takes it under the file's own name");
}

/* MiceWine: core/RatPackageManager.kt. */
enum tp_outcome importer_micewine(struct tp_asked *a)
{
    const char *fault = importer_archive_fault(a);
    if (fault)
        return importer_answer(a, TP_OUTCOME_REFUSES, "%s", fault);
    if (!importer_on_top(a, "meta.json") || !a->c->meta || !*importer_text(a, "name"))
        return importer_answer(a, TP_OUTCOME_REFUSES, "it reads no name in a meta.json on top");
    return importer_load(a, "takes it");
}
