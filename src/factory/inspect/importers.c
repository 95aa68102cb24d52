#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "factory/inspect/bionic.h"
#include "factory/inspect/importers_internal.h"
#include "factory/inspect/meta_check.h"

const struct tp_importer tp_importers[] = {
    {"adrenotools", "", "libadrenotools, which loads the driver in all of these", false,
        "libadrenotools, src/driver.cpp and src/hook/hook_impl.cpp", importer_adrenotools},
    {"gamenative", "", "GameNative", false,
        "GameNative, com/winlator/contents/AdrenotoolsManager.java", importer_gamenative},
    {"winlator", " ludashi cmod ", "Winlator for Adreno (bionic forks), older WinNative", false,
        "Winlator-Ludashi, contents/AdrenotoolsManager.java", importer_gamenative},
    {"winnative", "", "WinNative", true, "WinNative, runtime/content/DriverPackages.java",
        importer_winnative},
    {"strato", " skyline ", "Strato, Skyline", false,
        "Skyline, utils/GpuDriverHelper.kt; Strato, data/DriverPackageMetadata.kt",
        importer_strato},
    {"rpcsx", " rpcs3 ", "RPCSX, RPCS3 for Android", false,
        "rpcsx-ui-android, net/rpcs3/utils/GpuDriverHelper.kt and GpuDriverMetadata.kt",
        importer_strato},
    {"dolphin", "", "Dolphin", false,
        "Dolphin, utils/GpuDriverHelper.kt and model/GpuDriverMetadata.kt", importer_dolphin},
    {"yuzu", " eden citron sudachi suyu torzu ", "yuzu, Eden, Citron, Sudachi", false,
        "yuzu, utils/GpuDriverHelper.kt and GpuDriverMetadata.kt", importer_yuzu},
    {"citra", " azahar lime3ds mandarine borked3ds ", "Citra, Azahar, Lime3DS, Mandarine", false,
        "Citra, utils/GpuDriverHelper.kt and GpuDriverMetadata.kt", importer_citra},
    {"ppsspp", "", "PPSSPP", false, "PPSSPP, UI/DriverManagerScreen.cpp", importer_ppsspp},
    {"vita3k", "", "Vita3K", false, "Vita3K for Android, app_init.cpp", importer_vita3k},
    {"micewine", "", "MiceWine", false, "MiceWine, core/RatPackageManager.kt", importer_micewine},
    {0},
};

enum tp_outcome importer_answer(struct tp_asked *a, enum tp_outcome outcome, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(a->why, sizeof a->why, fmt, ap);
    va_end(ap);
    return outcome;
}

bool importer_has(const struct tp_asked *a, enum tp_rule_id rule)
{
    return tp_findings_has(a->f, rule);
}

const char *importer_text(const struct tp_asked *a, const char *key)
{
    return tp_json_text(a->c->meta, key);
}

const char *importer_archive_fault(const struct tp_asked *a)
{
    const struct tp_contents *c = a->c;
    return !c->zip                               ? "it takes archives, not a library alone"
        : c->kind == TP_KIND_DAMAGED             ? "the zip is cut off or damaged"
        : c->kind == TP_KIND_NESTED              ? "it finds archives in the archive, and no driver"
        : importer_has(a, TP_RULE_ZIP_ENCRYPTED) ? "an entry is encrypted"
        : importer_has(a, TP_RULE_ZIP_METHOD)    ? "it cannot unpack an entry's method"
        : importer_has(a, TP_RULE_ZIP_CRC) || importer_has(a, TP_RULE_ZIP_SIZE_LIES)
        ? "an entry does not unpack"
        : importer_has(a, TP_RULE_ZIP_BOMB) ? "it fills the storage with what it unpacks"
        : importer_has(a, TP_RULE_ZIP_PATH) ? "an entry's name leads out of its folder"
                                            : NULL;
}

const char *importer_stream_fault(const struct tp_asked *a)
{
    const char *fault = importer_archive_fault(a);
    return fault ? fault
        : importer_has(a, TP_RULE_ZIP_PREFIX)
        ? "something stands in front of the zip, and it does not see its entries"
        : importer_has(a, TP_RULE_ZIP_GAP) ? "there is a gap between the entries, where it stops"
        : importer_has(a, TP_RULE_ZIP_STORED_DESCRIPTOR)
        ? "a stored entry tells its size behind its data"
        : importer_has(a, TP_RULE_ZIP_LOCAL_DIFFERS)
        ? "an entry's own header is not what the directory says"
        : NULL;
}

const struct tp_zip_entry *importer_on_top(const struct tp_asked *a, const char *name)
{
    for (size_t i = 0; i < a->c->zip->n; i++) {
        if (tp_zip_name_is(&a->c->zip->entries[i], name))
            return &a->c->zip->entries[i];
    }
    return NULL;
}

bool importer_in_folders(const struct tp_asked *a)
{
    for (size_t i = 0; i < a->c->zip->n; i++) {
        if (memchr(a->c->zip->entries[i].name, '/', a->c->zip->entries[i].name_len))
            return true;
    }
    return false;
}

const char *importer_load_fault(const struct tp_asked *a, bool in_linux)
{
    static const enum tp_rule_id always[] = {
        TP_RULE_ELF_HEADER,
        TP_RULE_ELF_DAMAGED,
        TP_RULE_ELF_MACHINE,
        TP_RULE_ELF_TYPE,
        TP_RULE_ELF_TEXTREL,
        TP_RULE_ELF_WRITABLE_CODE,
        TP_RULE_ELF_NEEDED_PATH,
        TP_RULE_ELF_NEEDED,
        TP_RULE_ELF_LIBC,
        TP_RULE_ELF_EXPORTS,
        TP_RULE_ELF_EMUTLS,
        TP_RULE_ELF_STATIC_TLS,
        TP_RULE_ELF_SYMBOL,
    };
    /* A new enough phone does not mind these; whether this one does, the file was asked with its
     * level. */
    static const enum tp_rule_id by_api[] = {
        TP_RULE_ELF_TLS,
        TP_RULE_ELF_RELR,
        TP_RULE_ELF_RELOCATIONS,
        TP_RULE_ELF_HASH,
        TP_RULE_ELF_API,
    };
    const struct tp_library_file *driver = a->c->driver;
    if (driver && driver->machine && driver->machine != EM_AARCH64)
        return "it is for another processor";
    if (!in_linux && driver && driver->abi == TP_ABI_GLIBC)
        return "it is for Linux, with glibc";
    for (size_t i = 0; i < a->f->n; i++) {
        const struct tp_finding *found = &a->f->list[i];
        /* Without a C library's name Android loads it: its programs have theirs loaded already. */
        bool fatal = false,
             nameless = found->rule == TP_RULE_ELF_LIBC && !in_linux && driver &&
            driver->abi == TP_ABI_NONE && !*a->c->facts.glibc &&
            !strcmp(found->where, driver->name);
        for (size_t k = 0; k < sizeof always / sizeof *always; k++)
            fatal = fatal || (found->rule == always[k] && !nameless);
        for (size_t k = 0; a->api && k < sizeof by_api / sizeof *by_api; k++)
            fatal = fatal || found->rule == by_api[k];
        if (fatal && found->severity == TP_SEVERITY_ERROR)
            return tp_rule_of(found->rule)->id;
    }
    return NULL;
}

const struct tp_library_file *importer_unread(const struct tp_asked *a)
{
    for (size_t i = 0; i < a->c->n_libraries; i++) {
        if (a->c->libraries[i].unread)
            return &a->c->libraries[i];
    }
    return NULL;
}

enum tp_outcome importer_unread_answer(struct tp_asked *a)
{
    return importer_answer(a, TP_OUTCOME_UNKNOWN,
        "whether it loads is not known: %.80s is too large to be looked into here",
        importer_unread(a)->name);
}

enum tp_outcome importer_load(struct tp_asked *a, const char *then)
{
    const char *library = importer_text(a, "libraryName");
    if (!*library)
        return importer_answer(a, TP_OUTCOME_SYSTEM,
            "imports it, but has no libraryName to load: the phone's own "
            "driver runs in its place, without a word");
    if (!importer_on_top(a, library))
        return importer_answer(a, TP_OUTCOME_SYSTEM,
            "imports it, but finds no \"%.60s\" to load: the phone's own "
            "driver runs in its place, without a word",
            library);
    const char *fault = importer_load_fault(a, false);
    if (!fault && importer_unread(a))
        return importer_unread_answer(a);
    if (fault)
        return importer_answer(a, TP_OUTCOME_SYSTEM,
            "imports it, but it does not load (%s): the phone's own driver "
            "runs in its place, without a word",
            fault);
    return importer_answer(a, TP_OUTCOME_TAKES, "%s", then);
}

bool importer_too_new(const struct tp_asked *a)
{
    return a->api && tp_meta_number(a->c->meta, "minApi", 0) > a->api;
}

enum tp_outcome importer_too_new_answer(struct tp_asked *a, enum tp_outcome outcome)
{
    return importer_answer(a, outcome, "asks for API %d, and the phone has %d (%s)",
        tp_meta_number(a->c->meta, "minApi", 0), a->api, tp_android_name(a->api));
}

const struct tp_importer *tp_importer_find(const char *name)
{
    char *word = tp_asprintf(" %s ", name);
    const struct tp_importer *i = tp_importers;
    while (i->name && strcasecmp(i->name, name) != 0 &&
        (strchr(name, ' ') || !strcasestr(i->aliases, word)))
        i++;
    free(word);
    return i->name ? i : NULL;
}

bool tp_importer_applies(const struct tp_importer *importer, const struct tp_contents *c)
{
    return c->platform != TP_PLATFORM_LINUX || importer->linux_too;
}

enum tp_outcome tp_importer_ask(const struct tp_importer *importer, const struct tp_contents *c,
    const struct tp_findings *findings, int api, char **why)
{
    struct tp_asked a = {.c = c, .f = findings, .api = api};
    enum tp_outcome o;
    if (c->kind == TP_KIND_UNKNOWN)
        o = importer_answer(&a, TP_OUTCOME_REFUSES, "it is no zip");
    else if (c->kind == TP_KIND_TOO_LARGE)
        o = importer_answer(&a, TP_OUTCOME_UNKNOWN, "the file is too large to be looked into here");
    else
        o = importer->ask(&a);
    *why = tp_printable_line(a.why);
    return o;
}

const char *tp_outcome_name(enum tp_outcome outcome)
{
    static const char *const names[] = {
        [TP_OUTCOME_TAKES] = "takes",
        [TP_OUTCOME_REFUSES] = "refuses",
        [TP_OUTCOME_NOTHING] = "nothing",
        [TP_OUTCOME_UNKNOWN] = "not-known",
        [TP_OUTCOME_SYSTEM] = "system-driver",
    };
    return names[outcome];
}
