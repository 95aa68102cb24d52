/* Any text as an archive's index of source packages, and any two versions compared. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "factory/source/debindex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = tp_strndup((const char *)data, size);
    struct tp_debsource *list;
    size_t n = tp_debindex_parse(text, &list);
    for (size_t i = 0; i < n; i++) {
        /* a name from the index becomes part of a path */
        if (strchr(list[i].file, '/') || strlen(list[i].sha256) != TP_SHA256_HEX - 1)
            abort();
        tp_debindex_is(list[i].version, list[0].version);
    }
    tp_debindex_finish(list, n);
    free(text);
    return 0;
}
