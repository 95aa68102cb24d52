#include "cli/inspection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "factory/inspect/bionic.h"
#include "factory/inspect/meta_check.h"

static json_t *patch_ids(const struct tp_elf_facts *facts)
{
    json_t *ids = json_array(), *patch;
    size_t i;
    json_array_foreach(json_object_get(facts->note, "patches"), i, patch)
        json_array_append_new(ids, json_string(tp_json_text(patch, "id")));
    return ids;
}

static int min_api(const struct tp_contents *c)
{
    int declared = tp_meta_number(c->meta, "minApi", 0);
    return c->facts.min_api ? c->facts.min_api : declared > 0 ? declared : 0;
}

/* How many findings of a rule are not listed. */
static json_t *left_out(const struct tp_findings *f)
{
    json_t *more = json_object();
    for (int rule = 0; rule < TP_RULES; rule++) {
        if (tp_findings_left_out(f, rule))
            json_object_set_new(more, tp_rule_of(rule)->id,
                json_integer((json_int_t)tp_findings_left_out(f, rule)));
    }
    return more;
}

json_t *tp_cli_inspection_json(const struct tp_cli_inspection *i)
{
    const struct tp_findings *f = &i->found.findings;
    const struct tp_contents *c = &i->found.contents;
    json_t *findings = json_array(), *importers = json_array();
    for (size_t k = 0; k < f->n; k++)
        json_array_append_new(findings,
            json_pack("{s:s, s:s, s:s, s:s, s:s}", "id", tp_rule_of(f->list[k].rule)->id,
                "severity", tp_severity_name(f->list[k].severity), "where", f->list[k].where,
                "text", f->list[k].text, "fix", f->list[k].fix));
    for (size_t k = 0; k < i->n_answers; k++)
        json_array_append_new(importers,
            json_pack("{s:s, s:b, s:s, s:s}", "name", i->answers[k].importer->name, "accepts",
                i->answers[k].outcome == TP_OUTCOME_TAKES, "outcome",
                tp_outcome_name(i->answers[k].outcome), "why", i->answers[k].why));
    char *file = tp_printable_line(i->file);
    json_t *j = json_pack("{s:s, s:b, s:s, s:o, s:o, s:o, s:o, s:i, s:s, s:s, s:s, s:s, s:I, s:b,"
                          " s:b}",
        "file", file, "ok", i->ok, "kind", tp_kind_name(c->kind), "findings", findings, "more", left_out(f),
        "importers", importers, "patches", patch_ids(&c->facts), "min_api", min_api(c), "name",
        tp_json_text(c->meta, "name"), "driver_version", tp_json_text(c->meta, "driverVersion"),
        "glibc", c->facts.glibc, "build_id", c->facts.build_id, "page_bytes",
        (json_int_t)(c->facts.page_bytes & INT64_MAX), "relr", c->facts.relr, "tls", c->facts.native_tls);
    free(file);
    return j;
}

enum { WIDTH = 96 };
enum look { PLAIN, GOOD, WARNING, BAD, FAINT };

static const char *on(bool colours, enum look look)
{
    static const char *const codes[] = {"", "\033[1;32m", "\033[1;33m", "\033[1;31m", "\033[2m"};
    return colours ? codes[look] : "";
}

static const char *off(bool colours)
{
    return colours ? "\033[0m" : "";
}

/* Text in lines that begin behind `indent` columns; the first line has `used` of them already. */
static void print_wrapped(const char *text, int indent, int used)
{
    int column = used;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, " \n");
        int columns = 0;
        for (size_t k = 0; k < n; k++)
            columns += ((unsigned char)p[k] & 0xc0) != 0x80;
        if (column > indent && column + 1 + columns > WIDTH) {
            putchar('\n');
            column = 0;
        }
        if (column < indent)
            column += printf("%*s", indent - column, "");
        else if (column > indent)
            column += printf(" ");
        printf("%.*s", (int)n, p);
        column += columns;
        p += n + (p[n] != 0);
    }
    putchar('\n');
}

static void print_verdict(const struct tp_cli_inspection *i, bool colours)
{
    const struct tp_findings *f = &i->found.findings;
    size_t errors = tp_findings_count(f, TP_SEVERITY_ERROR);
    size_t warnings = tp_findings_count(f, TP_SEVERITY_WARNING) - errors, refused = 0, unknown = 0;
    for (size_t k = 0; k < i->n_answers; k++) {
        unknown += i->answers[k].outcome == TP_OUTCOME_UNKNOWN;
        refused += i->answers[k].outcome != TP_OUTCOME_TAKES;
    }
    refused -= unknown;
    char *file = tp_printable_line(i->file);
    printf("%s: ", file);
    free(file);
    if (errors && errors == f->count[TP_RULE_FILE_TOO_LARGE])
        printf("%snot looked into, for it is too large%s", on(colours, BAD), off(colours));
    else if (errors)
        printf("%s%zu thing%s wrong with it%s", on(colours, BAD), errors,
            errors == 1 ? " is" : "s are", off(colours));
    else if (!i->taken)
        printf("%sof no use to any app%s", on(colours, BAD), off(colours));
    else if (!i->ok)
        printf("%snot every app asked takes it%s", on(colours, BAD), off(colours));
    else if (warnings)
        printf("%sgood, but for %zu thing%s%s", on(colours, WARNING), warnings,
            warnings == 1 ? "" : "s", off(colours));
    else
        printf("%sgood%s", on(colours, GOOD), off(colours));
    if (i->n_answers && !refused && !unknown)
        printf(
            ": %s takes it", i->n_answers == 1 ? i->answers[0].importer->title : "every app asked");
    else if (refused)
        printf(": not taken by %zu of %zu apps asked", refused, i->n_answers);
    if (unknown)
        printf("%s not known of %zu of %zu apps asked", refused ? "," : ":", unknown, i->n_answers);
    putchar('\n');
}

static void print_facts(const struct tp_contents *c)
{
    const char *name = tp_json_text(c->meta, "name"),
               *version = tp_json_text(c->meta, "driverVersion");
    char *words = tp_printable_line(name), *number = tp_printable_line(version);
    printf("  %s", tp_kind_words(c->kind));
    if (*words)
        printf(": \"%s\"%s%s", words, *number ? ", driver version " : "", number);
    putchar('\n');
    free(words);
    free(number);
    if (c->facts.min_api)
        printf("  runs from %s (API %d) on%s%s\n", tp_android_name(c->facts.min_api),
            c->facts.min_api, *c->facts.min_api_why ? ": it needs " : "", c->facts.min_api_why);
    if (*c->facts.glibc)
        printf("  needs glibc %s\n", c->facts.glibc);
    if (c->facts.page_bytes >= 1024)
        printf("  loads with pages up to %llu KiB%s%s\n",
            (unsigned long long)c->facts.page_bytes >> 10,
            c->facts.relr ? "; relocations in RELR's form" : "",
            c->facts.native_tls ? "; native thread-local storage" : "");
    json_t *ids = patch_ids(&c->facts);
    if (json_array_size(ids))
        printf("  built by turnpike with %zu patch%s\n", json_array_size(ids),
            json_array_size(ids) == 1 ? "" : "es");
    json_decref(ids);
}

static void print_finding(const struct tp_finding *f, bool colours)
{
    static const enum look looks[] = {FAINT, WARNING, BAD};
    const char *severity = tp_severity_name(f->severity), *id = tp_rule_of(f->rule)->id;
    printf("\n  %s%s%s %s%s%s\n", on(colours, looks[f->severity]), severity, off(colours), id,
        *f->where ? ", " : "", f->where);
    print_wrapped(f->text, 6, 0);
    printf("      %swhat to do:%s", on(colours, FAINT), off(colours));
    print_wrapped(f->fix, 6, 6 + (int)strlen("what to do:"));
}

static void print_findings(const struct tp_findings *f, bool colours)
{
    for (int severity = TP_SEVERITY_ERROR; severity >= TP_SEVERITY_NOTE; severity--) {
        for (size_t k = 0; k < f->n; k++) {
            if ((int)f->list[k].severity == severity)
                print_finding(&f->list[k], colours);
        }
    }
    for (int rule = 0; rule < TP_RULES; rule++) {
        if (tp_findings_left_out(f, rule))
            printf(
                "\n  %s: %zu more of these\n", tp_rule_of(rule)->id, tp_findings_left_out(f, rule));
    }
}

static void print_importers(const struct tp_cli_inspection *i, bool colours)
{
    static const struct {
        enum look look;
        const char *word;
    } outcomes[] = {
        [TP_OUTCOME_TAKES] = {GOOD, "yes"},
        [TP_OUTCOME_REFUSES] = {BAD, "refuses"},
        [TP_OUTCOME_NOTHING] = {BAD, "does nothing"},
        [TP_OUTCOME_UNKNOWN] = {WARNING, "not known"},
        [TP_OUTCOME_SYSTEM] = {BAD, "in vain"},
    };
    if (i->n_answers)
        printf("\n  %-12s %-13s what it does\n", "importer", "takes it");
    for (size_t k = 0; k < i->n_answers; k++) {
        const struct tp_cli_answer *a = &i->answers[k];
        printf("  %-12s %s%-13s%s", a->importer->name, on(colours, outcomes[a->outcome].look),
            outcomes[a->outcome].word, off(colours));
        print_wrapped(a->why, 29, 28);
    }
}

void tp_cli_inspection_print(const struct tp_cli_inspection *i, bool colours)
{
    print_verdict(i, colours);
    print_facts(&i->found.contents);
    print_findings(&i->found.findings, colours);
    print_importers(i, colours);
}
