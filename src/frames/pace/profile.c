#include "frames/pace/profile.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define LINE 256u
#define MOST_FPS 10000u

static const char *const modes[] = {
    [TP_GATE_OFF] = "off",
    [TP_GATE_VSYNC] = "vsync",
    [TP_GATE_CAP] = "cap",
    [TP_GATE_LATENCY] = "latency",
};

const char *tp_gate_mode_name(enum tp_gate_mode mode)
{
    return modes[mode];
}

int tp_gate_mode_read(const char *name, enum tp_gate_mode *out)
{
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(name, modes[i]) != 0)
            continue;
        *out = (enum tp_gate_mode)i;
        return 0;
    }
    return -EINVAL;
}

/* A number of thousandths, up to that many whole ones. */
static int read_thousandths(const char *s, uint32_t most, uint32_t *out)
{
    uint32_t n = 0, scale = 1000;
    if (*s < '0' || *s > '9')
        return -EINVAL;
    for (; *s >= '0' && *s <= '9'; s++) {
        n = n * 10 + (uint32_t)(*s - '0');
        if (n > most)
            return -EINVAL;
    }
    n *= 1000;
    if (*s == '.' && s[1] != 0)
        for (s++; *s >= '0' && *s <= '9' && scale > 1; s++) {
            scale /= 10;
            n += scale * (uint32_t)(*s - '0');
        }
    if (*s != 0 || n > most * 1000)
        return -EINVAL;
    *out = n;
    return 0;
}

int tp_cap_read(const char *text, uint32_t *out_mhz)
{
    if (strcmp(text, "none") == 0) {
        *out_mhz = 0;
        return 0;
    }
    return read_thousandths(text, MOST_FPS, out_mhz);
}

static int read_images(const char *text, unsigned *out)
{
    uint32_t n;
    if (strchr(text, '.') || read_thousandths(text, 64, &n) < 0 || n < 2000)
        return -EINVAL;
    *out = n / 1000;
    return 0;
}

/* Cuts blanks from both ends. */
static char *trim(char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    size_t n = strlen(s);
    while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t' || s[n - 1] == '\r'))
        s[--n] = 0;
    return s;
}

static int set(struct tp_profile *p, const char *key, const char *value)
{
    if (strcmp(key, "gate") == 0) {
        p->has_mode = true;
        return tp_gate_mode_read(value, &p->gate.mode);
    }
    if (strcmp(key, "cap") == 0) {
        p->has_cap = true;
        return tp_cap_read(value, &p->gate.cap_mhz);
    }
    if (strcmp(key, "images") == 0) {
        p->has_images = true;
        return read_images(value, &p->images);
    }
    return -ENOENT;
}

struct reading {
    const char *program, *where;
    unsigned line;
    bool in_section, matches;
    struct tp_profile *out;
    struct tp_error *e;
};

static int refuse(const struct reading *r, const char *what)
{
    char where[512];
    snprintf(where, sizeof where, "%s:%u", r->where, r->line);
    return tp_fail(r->e, TP_STATUS_INPUT, -EINVAL, where,
        "A line is [PATTERN], gate = MODE, cap = FPS, images = N, or a comment", "%s", what);
}

static int read_line(struct reading *r, char *line)
{
    line = trim(line);
    if (*line == 0 || *line == '#')
        return 0;
    if (*line == '[') {
        size_t n = strlen(line);
        if (n < 3 || line[n - 1] != ']')
            return refuse(r, "the pattern of a section does not end");
        line[n - 1] = 0;
        r->in_section = true;
        r->matches = fnmatch(line + 1, r->program, FNM_CASEFOLD | FNM_NOESCAPE) == 0;
        return 0;
    }
    char *equals = strchr(line, '=');
    if (!equals || !r->in_section)
        return refuse(r,
            equals ? "a setting stands before the first section"
                   : "the line is neither a section nor a setting");
    *equals = 0;
    struct tp_profile other = {0};
    int err = set(r->matches ? r->out : &other, trim(line), trim(equals + 1));
    if (err == -ENOENT)
        return refuse(r, "there is no such setting");
    return err < 0 ? refuse(r, "the setting has a value that it cannot have") : 0;
}

int tp_profile_read(const char *text, size_t bytes, const char *program, const char *where,
    struct tp_profile *out, struct tp_error *e)
{
    struct reading r = {.program = program, .where = where, .out = out, .e = e};
    *out = (struct tp_profile){0};
    for (size_t at = 0; at < bytes;) {
        const char *end = memchr(text + at, '\n', bytes - at);
        size_t n = end ? (size_t)(end - text) - at : bytes - at;
        char line[LINE];
        r.line++;
        if (n >= sizeof line || memchr(text + at, 0, n))
            return refuse(&r, n >= sizeof line ? "the line is too long" : "the line has a NUL");
        memcpy(line, text + at, n);
        line[n] = 0;
        int err = read_line(&r, line);
        if (err < 0)
            return err;
        at += n + 1;
    }
    return 0;
}
