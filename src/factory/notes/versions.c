#include "factory/notes/versions.h"

#include <stdint.h>
#include <string.h>

#include "base/buf.h"

static const struct {
    const char *name, *prefix;
    int parts;
    size_t digits; /* of the last part, at least: v1.07 */
    uint32_t first[3];
} lines[] = {
    [TP_RELEASES_ANDROID] = {"android", "v", 2, 2, {1, 3, 0}},
    [TP_RELEASES_LINUX] = {"linux", "linux-v", 3, 1, {0, 1, 0}},
};

bool tp_release_line_find(const char *name, enum tp_release_line *line)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (!strcmp(name, lines[i].name)) {
            *line = (enum tp_release_line)i;
            return true;
        }
    }
    return false;
}

/* Decimal digits alone, six at most, without zeros in front but those of "07". NULL when not. */
static const char *number(const char *s, const char *end, size_t digits, uint32_t *out)
{
    size_t n = 0;
    *out = 0;
    for (; s + n < end && s[n] >= '0' && s[n] <= '9' && n < 7; n++)
        *out = *out * 10 + (uint32_t)(s[n] - '0');
    return n >= digits && n < 7 && (*s != '0' || n <= digits) ? s + n : NULL;
}

static bool parse(enum tp_release_line line, const char *s, const char *end, uint32_t v[3])
{
    size_t n = strlen(lines[line].prefix);
    if ((size_t)(end - s) < n || memcmp(s, lines[line].prefix, n) != 0)
        return false;
    s += n;
    for (int i = 0; i < lines[line].parts; i++) {
        bool last = i == lines[line].parts - 1;
        s = number(s, end, last ? lines[line].digits : 1, &v[i]);
        if (!s || (!last && (s == end || *s++ != '.')))
            return false;
    }
    /* Android's versions all begin with 1. */
    return s == end && (line != TP_RELEASES_ANDROID || v[0] == 1);
}

static int compare(const uint32_t a[3], const uint32_t b[3])
{
    for (int i = 0; i < 3; i++) {
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    }
    return 0;
}

/* The highest into v, and where it stands; NULL when there is none. */
static const char *highest(
    enum tp_release_line line, const char *tags, const char *but, uint32_t v[3], size_t *len)
{
    const char *best = NULL;
    for (const char *s = tags; *s; s = strchrnul(s, '\n') + (*strchrnul(s, '\n') == '\n')) {
        const char *end = strchrnul(s, '\n');
        end -= end > s && end[-1] == '\r';
        uint32_t one[3] = {0};
        if (!parse(line, s, end, one) ||
            (but && strlen(but) == (size_t)(end - s) && !memcmp(but, s, (size_t)(end - s))))
            continue;
        if (!best || compare(one, v) > 0) {
            best = s;
            *len = (size_t)(end - s);
            memcpy(v, one, sizeof one);
        }
    }
    return best;
}

char *tp_release_latest(enum tp_release_line line, const char *tags, const char *but)
{
    uint32_t v[3];
    size_t len;
    const char *at = highest(line, tags, but, v, &len);
    return at ? tp_strndup(at, len) : NULL;
}

char *tp_release_next(enum tp_release_line line, const char *tags)
{
    uint32_t v[3] = {0};
    size_t len;
    if (highest(line, tags, NULL, v, &len))
        v[lines[line].parts - 1]++;
    if (compare(v, lines[line].first) < 0)
        memcpy(v, lines[line].first, sizeof v);
    return line == TP_RELEASES_ANDROID ? tp_asprintf("v%u.%02u", v[0], v[1])
                                       : tp_asprintf("linux-v%u.%u.%u", v[0], v[1], v[2]);
}
