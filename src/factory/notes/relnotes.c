#include "factory/notes/relnotes.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"

bool tp_mesa_release_parse(const char *text, struct tp_mesa_release *out)
{
    *out = (struct tp_mesa_release){.candidate = UINT_MAX};
    if (!strncmp(text, "mesa-", 5))
        text += 5;
    size_t parts = 0;
    while (parts < 3 && isdigit((unsigned char)*text)) {
        unsigned n = 0;
        for (; isdigit((unsigned char)*text); text++) {
            if (n > 99999)
                return false;
            n = n * 10 + (unsigned)(*text - '0');
        }
        out->part[parts++] = n;
        if (*text != '.' || !isdigit((unsigned char)text[1]))
            break;
        text++;
    }
    if (parts < 2)
        return false;
    if (!strncasecmp(text, "-devel", 6)) {
        out->candidate = 0;
        return true;
    }
    if (!strncasecmp(text, "-rc", 3)) {
        const char *s = text + 3;
        unsigned n = 0;
        for (; isdigit((unsigned char)*s) && n < 1000; s++)
            n = n * 10 + (unsigned)(*s - '0');
        out->candidate = n;
        return s > text + 3 && (!*s || *s == '-');
    }
    /* Debian's revision of the same release. */
    return !*text || (*text == '-' && isdigit((unsigned char)text[1]));
}

int tp_mesa_release_compare(const struct tp_mesa_release *a, const struct tp_mesa_release *b)
{
    for (int i = 0; i < 3; i++) {
        if (a->part[i] != b->part[i])
            return a->part[i] < b->part[i] ? -1 : 1;
    }
    return (a->candidate > b->candidate) - (a->candidate < b->candidate);
}

static bool is_rule(const char *s, size_t n)
{
    while (n && isspace((unsigned char)s[n - 1]))
        n--;
    size_t same = 0;
    while (same < n && s[same] == *s)
        same++;
    return n >= 3 && same == n && strchr("=-~^", *s);
}

static int section(const char *title, size_t n)
{
    static const struct {
        const char *title;
        int kind;
    } known[] = {{"New features", TP_RELNOTE_FEATURE}, {"Bug fixes", TP_RELNOTE_FIX},
        {"Changes", TP_RELNOTE_CHANGE}};
    while (n && isspace((unsigned char)title[n - 1]))
        n--;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (n == strlen(known[i].title) && !strncasecmp(title, known[i].title, n))
            return known[i].kind;
    }
    return -1;
}

/* RST's backslash takes the meaning from what follows. */
static void add_text(struct tp_buf *b, const char *s, size_t n)
{
    while (n && isspace((unsigned char)*s))
        s++, n--;
    while (n && isspace((unsigned char)s[n - 1]))
        n--;
    if (b->len && n)
        tp_buf_addc(b, ' ');
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\\' && i + 1 < n)
            i++;
        if (s[i])
            tp_buf_addc(b, s[i]);
    }
}

struct reader {
    void (*each)(void *data, enum tp_relnote_kind kind, const char *entry);
    void *data;
    int kind;            /* of the section; -1: one that nobody asks about */
    struct tp_buf entry; /* the one that is being read */
    bool open;
};

static void close_entry(struct reader *r)
{
    const char *s = tp_buf_str(&r->entry);
    if (r->open && r->kind >= 0 && *s && strcasecmp(s, "none") && strcasecmp(s, "none."))
        r->each(r->data, (enum tp_relnote_kind)r->kind, s);
    tp_buf_clear(&r->entry);
    r->open = false;
}

void tp_relnotes_parse(const char *text, size_t len,
    void (*each)(void *data, enum tp_relnote_kind kind, const char *entry), void *data)
{
    struct reader r = {.each = each, .data = data, .kind = -1};
    const char *before = NULL;
    size_t before_len = 0;
    for (const char *s = text, *end = text + len; s < end;) {
        const char *nl = memchr(s, '\n', (size_t)(end - s));
        size_t n = (size_t)((nl ? nl : end) - s), space = 0;
        while (space < n && isspace((unsigned char)s[space]))
            space++;
        if (before && before_len && is_rule(s, n)) {
            r.open = false; /* the line before was a title, no entry */
            close_entry(&r);
            r.kind = section(before, before_len);
        } else if (space == n) {
            close_entry(&r);
        } else if (n > 1 && (*s == '-' || *s == '*') && isspace((unsigned char)s[1])) {
            close_entry(&r);
            r.open = true;
            add_text(&r.entry, s + 1, n - 1);
        } else if (r.open && space) {
            add_text(&r.entry, s, n);
        } else {
            close_entry(&r);
        }
        before = s;
        before_len = space == n ? 0 : n;
        s = nl ? nl + 1 : end;
    }
    close_entry(&r);
    tp_buf_finish(&r.entry);
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char *text, const char *word, bool any_case)
{
    size_t n = strlen(word);
    for (const char *s = text; *s; s++) {
        if ((s == text || !in_word(s[-1])) && !(any_case ? strncasecmp : strncmp)(s, word, n) &&
            !in_word(s[n]))
            return true;
    }
    return false;
}

bool tp_relnotes_names_driver(const char *entry)
{
    static const char *const words[] = {"turnip", "freedreno", "ir3", "adreno", "kgsl", "u_gralloc",
        "vulkan/runtime", "vk/runtime", "vulkan runtime"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (has_word(entry, words[i], true))
            return true;
    }
    return has_word(entry, "tu", false);
}
