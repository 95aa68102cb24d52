/* What `turnpike inspect` says of a file, as JSON and for a person. */
#ifndef TP_CLI_INSPECTION_H
#define TP_CLI_INSPECTION_H

#include <jansson.h>

#include "factory/inspect/importers.h"
#include "factory/inspect/inspect.h"

/* What one importer answers. */
struct tp_cli_answer {
    const struct tp_importer *importer;
    enum tp_outcome outcome;
    char *why; /* owned */
};

/* One file's inspection, and the answers of the importers that were asked. */
struct tp_cli_inspection {
    const char *file; /* as it was given */
    struct tp_inspection found;
    struct tp_cli_answer *answers;
    size_t n_answers;
    bool taken; /* some app of those asked takes it, or what is said of it is not about importing */
    bool ok;
};

/* A new reference. */
json_t *tp_cli_inspection_json(const struct tp_cli_inspection *i);
/* Verdict, findings from the gravest on, importers; with colours for a terminal. */
void tp_cli_inspection_print(const struct tp_cli_inspection *i, bool colours);

#endif
