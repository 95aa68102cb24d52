/* Any text as Mesa's release notes, as a previous release's text and as a commit's subject. What is
 * quoted of it is one line of UTF-8 without control characters, which ends where its fence says. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "factory/notes/markdown.h"
#include "factory/notes/marker.h"
#include "factory/notes/relnotes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(int holds)
{
    if (!holds)
        abort();
}

static void quote(const char *text)
{
    struct tp_buf b = {0};
    tp_md_code(&b, text, 0);
    const char *s = tp_buf_str(&b);
    need(b.len <= 160 * 6 && strlen(s) == b.len);
    for (size_t i = 0; i < b.len; i++)
        need((unsigned char)s[i] >= ' ' && s[i] != 127);
    char *printable = tp_printable(s); /* what is no UTF-8 would come back otherwise */
    need(!strcmp(printable, s));
    free(printable);
    size_t fence = strspn(s, "`");
    for (size_t i = fence, run = 0; fence && i < b.len; i++) {
        run = s[i] == '`' ? run + 1 : 0;
        need(run < fence || i + 1 == b.len);
    }
    tp_buf_finish(&b);
}

static void each(void *data, enum tp_relnote_kind kind, const char *entry)
{
    (void)data;
    need(kind < TP_RELNOTE_KINDS && *entry && !strchr(entry, '\n'));
    tp_relnotes_names_driver(entry);
    quote(entry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = size ? (const char *)data : "";
    tp_relnotes_parse(text, size, each, NULL);
    struct tp_marker m, twin;
    if (tp_marker_read(text, size, &m, NULL) == 0) {
        struct tp_buf b = {0};
        need(*m.version != '-' && !m.revision[strspn(m.revision, "0123456789abcdef")]);
        tp_marker_add(&b, &m);
        need(tp_marker_read(b.data, b.len, &twin, NULL) == 0 && !strcmp(m.version, twin.version));
        tp_buf_finish(&b);
    }
    char *copy = tp_strndup(text, size);
    struct tp_mesa_release r;
    tp_mesa_release_parse(copy, &r);
    quote(copy);
    free(copy);
    return 0;
}
