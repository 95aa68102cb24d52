/* The doctor's rules, for scripts: `table` is the table of docs/doctor.md. */
#include <stdio.h>
#include <string.h>

#include "report/doctor/rules.h"

int main(int argc, char **argv)
{
    struct tp_rules rules;
    struct tp_error e = {0};

    if (argc != 2 || strcmp(argv[1], "table") != 0) {
        fputs("usage: doctor_tool table\n", stderr);
        return 2;
    }
    if (tp_rules_builtin(&rules, &e)) {
        fprintf(stderr, "%s: %s\n", e.where, e.what);
        return 1;
    }
    puts("| finding | stage | severity | says | who writes the line |\n|---|---|---|---|---|");
    for (unsigned i = 0; i < rules.n; i++) {
        const struct tp_rule *r = &rules.list[i];
        if (r->severity != TP_DOCTOR_FACT)
            printf("| `%s` | %s | %s | %s | %s |\n", r->id, tp_doctor_stages[r->stage],
                tp_doctor_severities[r->severity], r->title, r->source);
    }
    tp_rules_finish(&rules);
    return 0;
}
