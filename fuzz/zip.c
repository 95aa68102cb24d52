/* Any bytes as an archive: the zip, its metadata, its libraries, and every importer's answer. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "factory/inspect/importers.h"
#include "factory/inspect/inspect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tp_inspection found = {0};
    tp_inspect_memory(data, size, "WN-Turnip-25.0.7-b_Axxx.zip", 30, &found);
    for (const struct tp_importer *i = tp_importers; i->name; i++) {
        char *why;
        enum tp_outcome o = tp_importer_ask(i, &found.contents, &found.findings, 30, &why);
        /* What cannot be read as an archive is taken by nobody. */
        if (!*why || (o == TP_OUTCOME_TAKES && found.contents.kind == TP_KIND_DAMAGED))
            abort();
        free(why);
    }
    tp_inspection_finish(&found);
    return 0;
}
