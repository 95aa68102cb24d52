#include "factory/source/debindex.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "factory/source/room.h"

/* " HEX SIZE NAME" under Checksums-Sha256. */
static void take_checksum(const char *line, struct tp_debsource *into)
{
    char sum[TP_SHA256_HEX], name[256];
    unsigned long long size;
    if (sscanf(line, " %64[0-9a-f] %llu %255s", sum, &size, name) != 3 || strlen(sum) != 64)
        return;
    const char *tar = strstr(name, ".orig.tar.");
    if (!tar || strchr(tar + 10, '.') || strncmp(name, "mesa_", 5) || strchr(name, '/'))
        return;
    free(into->file);
    into->file = tp_strdup(name);
    into->size = size;
    memcpy(into->sha256, sum, sizeof sum);
}

static int newest_first(const void *a, const void *b)
{
    const struct tp_debsource *x = a, *y = b;
    return tp_debversion_compare(y->version, x->version);
}

size_t tp_debindex_parse(const char *text, struct tp_debsource **list)
{
    size_t n = 0, cap = 0;
    struct tp_debsource now = {0};
    bool mesa = false, sums = false;
    *list = NULL;
    for (;;) {
        size_t len = strcspn(text, "\n");
        char *line = tp_strndup(text, len);
        bool end = !text[len];
        if (!len || end) {
            if (mesa && now.version && now.file) {
                TP_PUSH(*list, n, cap) = now;
            } else {
                free(now.version);
                free(now.file);
            }
            now = (struct tp_debsource){0};
            mesa = sums = false;
        } else if (*line == ' ') {
            if (sums)
                take_checksum(line, &now);
        } else {
            sums = !strncmp(line, "Checksums-Sha256:", 17);
            mesa = mesa || !strcmp(line, "Package: mesa");
            if (!strncmp(line, "Version: ", 9) && !now.version)
                now.version = tp_strdup(line + 9);
        }
        free(line);
        if (end)
            break;
        text += len + 1;
    }
    if (n)
        qsort(*list, n, sizeof **list, newest_first);
    return n;
}

void tp_debindex_finish(struct tp_debsource *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(list[i].version);
        free(list[i].file);
    }
    free(list);
}

bool tp_debindex_is(const char *version, const char *asked)
{
    if (!strcmp(version, asked))
        return true;
    const char *colon = strchr(version, ':'), *dash = strrchr(version, '-');
    if (colon)
        version = colon + 1;
    return dash && strlen(asked) == (size_t)(dash - version) &&
        !strncmp(version, asked, strlen(asked));
}
