#include "report/doctor/phrase.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* Where a number was wanted and something else stood: so many places are tried. */
#define ATTEMPTS 64

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_';
}

/* The length of "{name}" at the text, braces included; 0: it is text. */
static size_t capture_at(const char *text, struct tp_piece *out)
{
    size_t n = 1;

    while (is_name(text[n]))
        n++;
    if (text[0] != '{' || n < 2 || n > TP_CAPTURE_NAME_ROOM)
        return 0;
    out->kind = text[n] == '#' ? TP_PIECE_DECIMAL : text[n] == '%' ? TP_PIECE_HEX : TP_PIECE_ANY;
    out->len = n - 1;
    n += out->kind != TP_PIECE_ANY;
    return text[n] == '}' ? n + 1 : 0;
}

static int refuse(const char *where, struct tp_error *e, const char *what)
{
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where,
        "give it words that only this line has, and {name} for what differs", "%s", what);
}

int tp_phrase_parse(const char *text, const char *where, struct tp_phrase *out, struct tp_error *e)
{
    *out = (struct tp_phrase){.key = TP_PHRASE_WORDS};
    while (*text) {
        struct tp_piece piece = {0};
        size_t n = capture_at(text, &piece);
        if (out->n == TP_PHRASE_WORDS)
            return refuse(where, e, "the pattern has too many pieces");
        if (n) {
            if (out->n > 0 && out->pieces[out->n - 1].kind != TP_PIECE_TEXT)
                return refuse(where, e, "the pattern has two captures side by side");
            piece.text = tp_strndup(text + 1, piece.len);
        } else {
            for (n = 1; text[n] && !capture_at(text + n, &piece); n++)
                ;
            piece = (struct tp_piece){TP_PIECE_TEXT, tp_strndup(text, n), n};
            if (n >= TP_PHRASE_KEY &&
                (out->key == TP_PHRASE_WORDS || n >= out->pieces[out->key].len))
                out->key = out->n;
        }
        out->pieces[out->n++] = piece;
        text += n;
    }
    return out->key == TP_PHRASE_WORDS
        ? refuse(where, e, "the pattern has no piece of four letters")
        : 0;
}

void tp_phrase_finish(struct tp_phrase *p)
{
    for (unsigned i = 0; i < p->n; i++)
        free(p->pieces[i].text);
    *p = (struct tp_phrase){0};
}

static bool is_digit_of(enum tp_piece_kind kind, char c)
{
    if (c >= '0' && c <= '9')
        return true;
    c |= 0x20;
    return kind == TP_PIECE_HEX && c >= 'a' && c <= 'f';
}

static size_t number_at(enum tp_piece_kind kind, const char *at, const char *end)
{
    const char *p = at;

    if (kind == TP_PIECE_HEX && end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        for (p += 2; p < end && *p == ' ';)
            p++;
    const char *from = p;
    while (p < end && is_digit_of(kind, *p))
        p++;
    return p > from ? (size_t)(p - at) : 0;
}

static void keep(
    struct tp_phrase_found *m, const struct tp_piece *piece, const char *from, const char *to)
{
    m->captured[m->n++] = (struct tp_captured){piece->text, from, (size_t)(to - from)};
}

/* Where the text stands next; NULL: nowhere. */
static const char *find(const struct tp_piece *piece, const char *at, const char *end)
{
    return memmem(at, (size_t)(end - at), piece->text, piece->len);
}

/* Behind the last of these words before the end: the shortest text that lies between. */
static const char *behind_last(const struct tp_piece *words, const char *from, const char *end)
{
    for (const char *p; (p = find(words, from, end));)
        from = p + words->len;
    return from;
}

/* From this place on. stuck: words are missing, so it is no use to try further on. */
static bool match_at(const struct tp_phrase *p, const char *at, const char *end,
    struct tp_phrase_found *out, bool *stuck)
{
    const struct tp_piece *open = NULL; /* a capture whose end is not known yet */
    const char *from = at;

    out->n = 0;
    for (unsigned i = 0; i < p->n; i++) {
        const struct tp_piece *piece = &p->pieces[i];
        if (piece->kind == TP_PIECE_ANY) {
            open = piece;
            from = at;
        } else if (piece->kind == TP_PIECE_TEXT) {
            const char *found = open || i == 0 ? find(piece, at, end) : at;
            if (!found) {
                *stuck = true;
                return false;
            }
            if ((size_t)(end - found) < piece->len || memcmp(found, piece->text, piece->len) != 0)
                return false;
            if (open && i == 2)
                from = behind_last(&p->pieces[0], from, found);
            if (open)
                keep(out, open, from, found);
            open = NULL;
            at = found + piece->len;
        } else {
            size_t n = number_at(piece->kind, at, end);
            if (n == 0)
                return false;
            keep(out, piece, at, at + n);
            at += n;
        }
    }
    if (open)
        keep(out, open, from, end);
    return true;
}

bool tp_phrase_match(
    const struct tp_phrase *p, const char *text, size_t len, struct tp_phrase_found *out)
{
    const char *end = text + len, *at = text;
    bool stuck = false;

    for (int i = 0; i < ATTEMPTS && !stuck; i++) {
        const struct tp_piece *first = &p->pieces[0];
        if (first->kind == TP_PIECE_TEXT && !(at = find(first, at, end)))
            return false;
        if (first->kind != TP_PIECE_TEXT && first->kind != TP_PIECE_ANY)
            while (at < end && !number_at(first->kind, at, end))
                at++;
        if (match_at(p, at, end, out, &stuck))
            return true;
        if (first->kind == TP_PIECE_ANY || at == end)
            return false;
        at++;
    }
    return false;
}
