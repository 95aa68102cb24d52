#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "factory/recipe/internal.h"

/* A block longer than this holds more than anyone reads; the log has it whole. */
#define FAILED_MAX ((size_t)256 << 10)

/* "[12/640] Compiling …": the counts, and where the text starts. */
static const char *parse_status(const char *line, unsigned *done, unsigned *total)
{
    int at = 0;
    if (sscanf(line, "[%9u/%9u] %n", done, total, &at) != 2 || !at || *done > *total)
        return NULL;
    return line + at;
}

/* Steps differ, but Mesa has hundreds of them: the mean of those done is a fair guess of the rest.
 * The first ones (generators, tiny objects) tell nothing yet. */
static int64_t estimate_ms(const struct tp_ninja *n, int64_t now_ns)
{
    if (n->done < 10 && n->done * 4 < n->total)
        return -1;
    double spent_ms = (double)(now_ns - n->start_ns) / 1e6;
    return (int64_t)(spent_ms / n->done * (n->total - n->done));
}

void tp_ninja_line(struct tp_ninja *n, const char *line, int64_t now_ns)
{
    unsigned done, total;
    const char *text = parse_status(line, &done, &total);
    if (text) {
        n->in_failed = false;
        n->done = done;
        n->total = total;
        struct tp_progress p = {"compile", done, total, 0, text};
        p.eta_ms = done ? estimate_ms(n, now_ns) : -1;
        if (n->on_progress)
            n->on_progress(n->data, &p);
        return;
    }
    if (!strncmp(line, "FAILED: ", 8))
        n->in_failed = n->failed.len == 0;
    else if (!strncmp(line, "ninja: ", 7)) {
        /* "ninja: error: …" and "ninja: fatal: …" stand alone; "build stopped" ends a block and says
         * nothing new. */
        bool alone = !strncmp(line + 7, "error: ", 7) || !strncmp(line + 7, "fatal: ", 7);
        n->in_failed = n->failed.len == 0 && alone;
    }
    if (n->in_failed && n->failed.len < FAILED_MAX)
        tp_buf_addf(&n->failed, "%s\n", line);
}

void tp_ninja_finish(struct tp_ninja *n)
{
    tp_buf_finish(&n->failed);
}

/* The start of the last lines of text that fit in max_bytes. */
static const char *tail(const char *text, size_t len, size_t max_bytes)
{
    if (len <= max_bytes)
        return text;
    const char *from = text + len - max_bytes;
    const char *line = strchr(from, '\n');
    return line && line[1] ? line + 1 : from;
}

char *tp_ninja_failure(const struct tp_ninja *n, size_t max_bytes)
{
    const char *text = tp_buf_str(&n->failed);
    const char *first_end = strchr(text, '\n');
    if (!first_end)
        return tp_strdup("ninja said nothing");
    size_t head = (size_t)(first_end - text);
    head = head < max_bytes / 2 ? head : max_bytes / 2;
    const char *body = first_end + 1;
    if (!strncmp(text, "FAILED: ", 8)) {
        /* The command, one long line. */
        const char *next = strchr(body, '\n');
        body = next ? next + 1 : body + strlen(body);
    }
    /* What a compiler says after its first error is mostly about where it came from. */
    const char *error = strstr(body, "error: ");
    if (error) {
        while (error > body && error[-1] != '\n')
            error--;
        body = error;
    }
    size_t room = max_bytes - head - 1, len = strlen(body);
    if (!error)
        body = tail(body, len, room);
    len = strlen(body);
    len = len < room ? len : room;
    while (len && body[len - 1] == '\n')
        len--;
    return tp_asprintf("%.*s%s%.*s", (int)head, text, len ? "\n" : "", (int)len, body);
}
