#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "factory/inspect/elf_internal.h"
#include "factory/inspect/elf_libraries.h"

/* A hostile file has a million symbols: so many are named, the others counted. */
enum { NAMED_SYMBOLS = 12 };

/* Symbols that one finding names, as text. */
struct named {
    struct tp_buf text;
    size_t n;
};

static void name_symbol(struct named *list, const char *symbol, const char *about)
{
    if (list->n++ >= NAMED_SYMBOLS)
        return;
    tp_buf_addf(&list->text, "%s%.200s%s%s%s", list->n > 1 ? ", " : "", symbol, *about ? " (" : "",
                about, *about ? ")" : "");
}

static const char *named_text(struct named *list)
{
    if (list->n > NAMED_SYMBOLS)
        tp_buf_addf(&list->text, " and %zu more", list->n - NAMED_SYMBOLS);
    return tp_buf_str(&list->text);
}

static bool needs_library(const struct tp_elf *elf, const char *name)
{
    for (size_t i = 0; i < elf->n_needed; i++) {
        if (!strcmp(elf->needed[i], name))
            return true;
    }
    return false;
}

/* glibc's own: libm.so.6, ld-linux-aarch64.so.1, … */
static bool is_numbered(const char *name)
{
    return strstr(name, ".so.") != NULL;
}

static bool is_sibling(const struct tp_elf_ask *ask, const char *name)
{
    for (size_t i = 0; i < ask->n_siblings; i++) {
        if (!strcmp(ask->siblings[i], name))
            return true;
    }
    return false;
}

/* "2.34" > "2.4": number by number. */
static bool is_later_version(const char *a, const char *b)
{
    while (*a || *b) {
        char *after_a, *after_b;
        unsigned long x = strtoul(a, &after_a, 10), y = strtoul(b, &after_b, 10);
        if (x != y)
            return x > y;
        if (after_a == a || after_b == b)
            return after_a != a;
        a = *after_a == '.' ? after_a + 1 : "";
        b = *after_b == '.' ? after_b + 1 : "";
    }
    return false;
}

static const char glibc_version[] = "GLIBC_";

/* Finds the highest glibc version. False: the table is damaged, and a finding says so. */
static bool read_glibc(struct tp_elf_run *run)
{
    struct tp_elf_version *versions;
    size_t n;
    struct tp_error e = {0};
    if (tp_elf_versions(run->elf, &versions, &n, &e) < 0) {
        tp_findings_add(run->findings, TP_RULE_ELF_DAMAGED, run->elf->where, NULL, "%s", e.what);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const char *number = versions[i].version + strlen(glibc_version);
        if (!strncmp(versions[i].version, glibc_version, strlen(glibc_version)) &&
            strspn(number, "0123456789.") == strlen(number) &&
            strlen(number) < sizeof run->facts->glibc &&
            is_later_version(number, run->facts->glibc))
            snprintf(run->facts->glibc, sizeof run->facts->glibc, "%s", number);
    }
    free(versions);
    return true;
}

/* Is the C library the platform's? What stands on it means nothing where it is not. */
static bool check_libc(struct tp_elf_run *run)
{
    const struct tp_elf *elf = run->elf;
    bool bionic = needs_library(elf, "libc.so"),
         glibc = needs_library(elf, "libc.so.6") || *run->facts->glibc;
    const char *fault = NULL;
    if (run->bionic && glibc)
        fault =
            bionic
                ? "it needs both Android's C library and glibc: no system has both"
                : "it is built against glibc (libc.so.6), which Android does not have: the linker "
                  "refuses it";
    else if (!run->bionic && bionic)
        fault = "it is built against Android's C library (libc.so): glibc's loader refuses it";
    else if (!bionic && !glibc && !run->ask->companion)
        fault = "it names no C library: WinNative refuses it, for it wants exactly one of libc.so and "
                "libc.so.6";
    if (fault && glibc && *run->facts->glibc)
        tp_findings_add(run->findings, TP_RULE_ELF_LIBC, elf->where, NULL, "%s (GLIBC_%s)", fault,
                        run->facts->glibc);
    else if (fault)
        tp_findings_add(run->findings, TP_RULE_ELF_LIBC, elf->where, NULL, "%s", fault);
    /* No C library named at all says nothing of the platform. */
    return !fault || (!bionic && !glibc);
}

static void check_library(struct tp_elf_run *run, const char *name)
{
    struct tp_library known = tp_library_known(name);
    const char *where = run->elf->where;
    if (is_sibling(run->ask, name))
        return;
    switch (known.place) {
    case TP_LIBRARY_ANDROID:
        if (tp_elf_declares_below(run, known.since))
            tp_findings_add(
                run->findings, TP_RULE_ELF_NEEDED, where,
                run->ask->phone ? tp_elf_api_fix(run)
                                : "declare the higher minApi, or open it at run time (dlopen)",
                "it needs %s, which %s (API %d) is the first to have, and %s %d: "
                "older ones refuse the driver",
                name, tp_android_name(known.since), known.since, tp_elf_who_declares(run),
                run->ask->min_api);
        tp_elf_needs_api(run, known.since, name);
        break;
    case TP_LIBRARY_VENDOR:
        tp_findings_add_as(
            run->findings, TP_RULE_ELF_NEEDED, TP_SEVERITY_NOTE, where,
            "put it into the archive, or import it only where the phone's own driver has it",
            "it needs %s, which the phone's vendor brings: it loads only where that is of a "
            "version that fits",
            name);
        break;
    case TP_LIBRARY_REFUSED:
        tp_findings_add(
            run->findings, TP_RULE_ELF_NEEDED, where, NULL,
            "it needs %s: %s, so that the linker refuses the driver and apps use the phone's own",
            name, known.why);
        break;
    case TP_LIBRARY_UNKNOWN:
        tp_findings_add(
            run->findings, TP_RULE_ELF_NEEDED, where, NULL,
            "it needs %s, which no Android has for apps and the archive does not bring: the "
            "linker refuses the driver and apps use the phone's own",
            name);
        break;
    }
}

static void check_needed(struct tp_elf_run *run)
{
    const struct tp_elf *elf = run->elf;
    for (size_t i = 0; i < elf->n_needed; i++) {
        if (strchr(elf->needed[i], '/'))
            tp_findings_add(run->findings, TP_RULE_ELF_NEEDED_PATH, elf->where, NULL,
                            "it needs a library by its path, \"%s\"", elf->needed[i]);
        else if (run->bionic)
            check_library(run, elf->needed[i]);
        else if (!is_numbered(elf->needed[i]) &&
                 tp_library_known(elf->needed[i]).place == TP_LIBRARY_REFUSED)
            tp_findings_add(run->findings, TP_RULE_ELF_NEEDED, elf->where, NULL,
                            "it needs %s, which is Android's: no Linux has it", elf->needed[i]);
    }
}

/* The needed library that has the symbol earliest. */
struct source {
    const struct tp_bionic_library *library;
    const struct tp_bionic_symbol *symbol;
};

static struct source find_source(const struct tp_bionic_library *const *libraries, size_t n,
                                 const char *name)
{
    struct source best = {0};
    for (size_t i = 0; i < n; i++) {
        const struct tp_bionic_symbol *s = tp_bionic_symbol(libraries[i], name);
        if (s && (!best.symbol || s->since < best.symbol->since))
            best = (struct source){libraries[i], s};
    }
    return best;
}

/* The libraries that are searched: those it names, and those that libc.so itself brings in. False
 * where one of them is not in the tables, so that nothing can be said of a symbol that the others
 * lack. */
static bool searched_libraries(const struct tp_elf *elf, const struct tp_bionic_library **out,
                               size_t *n, size_t max)
{
    static const char *const implied[] = {"libc.so", "libdl.so"};
    bool all_known = true;
    *n = 0;
    for (size_t i = 0; i < 2; i++)
        out[(*n)++] = tp_bionic_library(implied[i]);
    for (size_t i = 0; i < elf->n_needed; i++) {
        const struct tp_bionic_library *l = tp_bionic_library(elf->needed[i]);
        if (!l)
            all_known = false;
        else if (l != out[0] && l != out[1] && *n < max)
            out[(*n)++] = l;
    }
    return all_known;
}

static const struct tp_bionic_library *holder_of(const char *symbol)
{
    for (const struct tp_bionic_library *l = tp_bionic_libraries; l->name; l++) {
        if (tp_bionic_symbol(l, symbol))
            return l;
    }
    return NULL;
}

/* What the walk over the symbols gathers; a finding each. */
struct gathered {
    struct named late, gone, unnamed, nowhere;
    int late_since;
};

static void place_symbol(struct tp_elf_run *run, struct source from, struct gathered *g)
{
    const struct tp_bionic_symbol *s = from.symbol;
    char about[128];
    if (s->since > TP_API_FIRST) {
        snprintf(about, sizeof about, "%s (%s)", s->name, from.library->name);
        tp_elf_needs_api(run, s->since, about);
    }
    if (tp_elf_declares_below(run, s->since)) {
        snprintf(about, sizeof about, "%s, from %s, API %d, on", from.library->name,
                 tp_android_name(s->since), s->since);
        name_symbol(&g->late, s->name, about);
        if (s->since > g->late_since)
            g->late_since = s->since;
    } else if (s->until) {
        snprintf(about, sizeof about, "%s, gone after %s", from.library->name,
                 tp_android_name(s->until));
        name_symbol(&g->gone, s->name, about);
    }
}

static const char emulated_tls[] = "__emutls_get_address";

static void place_missing(struct tp_elf_run *run, const char *symbol, bool all_known,
                          struct gathered *g)
{
    if (!strcmp(symbol, emulated_tls)) {
        tp_findings_add(
            run->findings, TP_RULE_ELF_EMUTLS, run->elf->where, NULL,
            "it needs __emutls_get_address, the run time of emulated thread-local storage");
        return;
    }
    if (!all_known)
        return;
    const struct tp_bionic_library *holder = holder_of(symbol);
    if (holder)
        name_symbol(&g->unnamed, symbol, holder->name);
    else
        name_symbol(&g->nowhere, symbol, "");
}

static void report_symbols(struct tp_elf_run *run, struct gathered *g)
{
    struct tp_findings *f = run->findings;
    const char *where = run->elf->where;
    if (g->late.n)
        tp_findings_add(
            f, TP_RULE_ELF_API, where, tp_elf_api_fix(run),
            "it needs %s, and %s %d: on %s (API %d) the linker refuses the driver, "
            "and apps use the phone's own without a word",
            named_text(&g->late), tp_elf_who_declares(run), run->ask->min_api,
            tp_android_name(g->late_since - 1),
            g->late_since - 1);
    if (g->gone.n)
        tp_findings_add(f, TP_RULE_ELF_SYMBOL, where,
                        "use what has taken its place, or look it up at run time (dlsym)",
                        "it needs %s: later ones refuse the driver", named_text(&g->gone));
    if (g->unnamed.n)
        tp_findings_add_as(
            f, TP_RULE_ELF_SYMBOL, TP_SEVERITY_WARNING, where, NULL,
            "it needs %s without naming that library: it loads only where another library "
            "happens to bring it",
            named_text(&g->unnamed));
    if (g->nowhere.n)
        tp_findings_add(
            f, TP_RULE_ELF_SYMBOL, where, NULL,
            "it needs %s, which no library that it names has on any Android: the linker refuses "
            "the driver, and apps use the phone's own",
            named_text(&g->nowhere));
    tp_buf_finish(&g->late.text);
    tp_buf_finish(&g->gone.text);
    tp_buf_finish(&g->unnamed.text);
    tp_buf_finish(&g->nowhere.text);
}

static void check_symbols(struct tp_elf_run *run)
{
    const struct tp_bionic_library *libraries[32];
    size_t n;
    struct gathered g = {0};
    bool all_known =
        searched_libraries(run->elf, libraries, &n, sizeof libraries / sizeof *libraries);
    for (size_t i = 0; i < run->elf->n_symbols; i++) {
        const struct tp_elf_symbol *symbol = &run->elf->symbols[i];
        if (!symbol->undefined || symbol->weak)
            continue;
        struct source from = find_source(libraries, n, symbol->name);
        if (from.symbol)
            place_symbol(run, from, &g);
        else
            place_missing(run, symbol->name, all_known, &g);
    }
    report_symbols(run, &g);
}

static void check_entry_point(struct tp_elf_run *run)
{
    bool android = run->ask->platform == TP_PLATFORM_ANDROID;
    const char *symbol = android ? "HMI" : "vk_icdGetInstanceProcAddr";
    if (!tp_elf_exports(run->elf, symbol))
        tp_findings_add(run->findings, TP_RULE_ELF_EXPORTS, run->elf->where, NULL,
                        "it does not export %s, which the loader on %s asks for", symbol,
                        android ? "Android" : "Linux");
    else if (!android && !run->host && tp_elf_exports(run->elf, "HMI"))
        tp_findings_add(run->findings, TP_RULE_ELF_EXPORTS, run->elf->where, NULL,
                        "it exports HMI, Android's entry point, though it is for Linux");
}

void tp_elf_check_api(struct tp_elf_run *run)
{
    if (!read_glibc(run) || !check_libc(run))
        return;
    check_needed(run);
    if (!run->ask->companion)
        check_entry_point(run);
    if (run->bionic)
        check_symbols(run);
}
