#include "factory/notes/marker.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* word() takes no '-' first: it would make an option of it. */
static const char version_letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+~-";

static const char start[] = "<!-- turnpike-mesa revision=", middle[] = " version=",
                  finish[] = " -->";

void tp_marker_add(struct tp_buf *out, const struct tp_marker *m)
{
    if (*m->revision || *m->version)
        tp_buf_addf(out, "%s%s%s%s%s\n", start, *m->revision ? m->revision : "-", middle,
            *m->version ? m->version : "-", finish);
}

/* A word of these characters, or "-" for none, into out. What comes behind it, or NULL. */
static const char *word(
    const char *s, const char *end, const char *allowed, size_t least, char out[65])
{
    size_t n = 0;
    bool none = s < end && *s == '-';
    while (!none && s + n < end && s[n] && strchr(allowed, s[n]))
        n++;
    if (none || (n >= least && n <= 64)) {
        memcpy(out, s, n);
        out[n] = 0;
        return s + n + none;
    }
    return NULL;
}

static const char *text(const char *s, const char *end, const char *wanted)
{
    size_t n = strlen(wanted);
    return s && (size_t)(end - s) >= n && !memcmp(s, wanted, n) ? s + n : NULL;
}

static bool parse(const char *s, const char *end, struct tp_marker *m)
{
    s = text(s, end, start);
    s = s ? word(s, end, "0123456789abcdef", 7, m->revision) : NULL;
    s = text(s, end, middle);
    s = s ? word(s, end, version_letters, 1, m->version) : NULL;
    s = text(s, end, finish);
    while (s && s < end && (*s == ' ' || *s == '\r'))
        s++;
    return s == end && (*m->revision || *m->version);
}

int tp_marker_read(const char *text_, size_t len, struct tp_marker *m, struct tp_error *e)
{
    bool found = false;
    *m = (struct tp_marker){0};
    for (const char *s = text_, *end = text_ + len; s < end;) {
        const char *line = memchr(s, '\n', (size_t)(end - s));
        line = line ? line : end;
        struct tp_marker one = {0};
        if (parse(s, line, &one)) {
            if (found && (strcmp(one.revision, m->revision) || strcmp(one.version, m->version)))
                return tp_fail(e, TP_STATUS_FAILED, -EINVAL, NULL, "name the revision with --from",
                    "two lines of the previous release's text name different revisions of Mesa");
            *m = one;
            found = true;
        }
        s = line < end ? line + 1 : end;
    }
    if (!found)
        return tp_fail(e, TP_STATUS_FAILED, -ENOENT, NULL, "name the revision with --from",
            "the previous release's text does not say which Mesa it was made of");
    return 0;
}
