/*
 * The doctor's rules, for scripts:
 *   table   the table of docs/doctor.md
 *   words   each rule's id, source and, one a line, the pieces of its patterns that lie between
 * what differs, so that they can be looked for where the line is written
 */
#include <stdio.h>
#include <string.h>

#include "report/doctor/rules.h"

static void print_table(const struct tp_rules *rules)
{
    puts("| finding | stage | severity | says | who writes the line |\n|---|---|---|---|---|");
    for (unsigned i = 0; i < rules->n; i++) {
        const struct tp_rule *r = &rules->list[i];
        if (r->severity != TP_DOCTOR_FACT)
            printf("| `%s` | %s | %s | %s | %s |\n", r->id, tp_doctor_stages[r->stage],
                tp_doctor_severities[r->severity], r->title, r->source);
    }
}

static void print_words(const struct tp_rules *rules)
{
    for (unsigned i = 0; i < rules->n; i++) {
        const struct tp_rule *r = &rules->list[i];
        for (unsigned k = 0; k < r->n_patterns; k++) {
            const struct tp_phrase *p = &r->patterns[k];
            for (unsigned m = 0; m < p->n; m++) {
                if (p->pieces[m].kind == TP_PIECE_TEXT)
                    printf("%s\t%s\t%s\n", r->id, r->source, p->pieces[m].text);
            }
        }
    }
}

int main(int argc, char **argv)
{
    struct tp_rules rules;
    struct tp_error e = {0};
    bool table = argc > 1 && !strcmp(argv[1], "table");

    if (argc != 2 || (!table && strcmp(argv[1], "words") != 0)) {
        fputs("usage: doctor_tool table|words\n", stderr);
        return 2;
    }
    if (tp_rules_builtin(&rules, &e)) {
        fprintf(stderr, "%s: %s\n", e.where, e.what);
        return 1;
    }
    if (table)
        print_table(&rules);
    else
        print_words(&rules);
    tp_rules_finish(&rules);
    return 0;
}
