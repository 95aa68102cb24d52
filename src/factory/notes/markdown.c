#include "factory/notes/markdown.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The character at s and its length in bytes; 0xFFFD and 1 for what is no UTF-8 (RFC 3629). */
static uint32_t decode(const unsigned char *s, size_t *len)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = *s < 0x80          ? 1
        : *s >= 0xC2 && *s < 0xE0 ? 2
        : (*s & 0xF0) == 0xE0     ? 3
        : *s >= 0xF0 && *s < 0xF5 ? 4
                                  : 0;
    uint32_t c = n == 1 ? *s : n ? *s & (0xFFu >> (n + 1)) : 0xFFFD;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80)
            n = 0;
        else
            c = c << 6 | (s[i] & 0x3F);
    }
    *len = n ? n : 1;
    return !n || c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000) ? 0xFFFD : c;
}

static bool is_space(uint32_t c)
{
    return c == ' ' || (c >= 9 && c <= 13) || c == 0x85 || c == 0xA0 || c == 0x2028 || c == 0x2029;
}

/* Nothing to see, or a change of the direction in which the rest is shown. */
static bool is_hidden(uint32_t c)
{
    return c < ' ' || (c >= 127 && c < 160) || c == 0xAD || c == 0x61C || c == 0x180E ||
        (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
        (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) ||
        (c >= 0xFDD0 && c <= 0xFDEF) || (c & 0xFFFE) == 0xFFFE || (c >= 0xE0000 && c <= 0xE0FFF);
}

static void add_clean(struct tp_buf *out, const char *text, size_t max_chars)
{
    size_t chars = 0, n;
    bool gap = false;
    for (const unsigned char *s = (const unsigned char *)text; *s; s += n) {
        uint32_t c = decode(s, &n);
        if (is_space(c)) {
            gap = chars > 0;
        } else if (!is_hidden(c)) {
            if (chars + (size_t)gap >= max_chars) {
                tp_buf_adds(out, "…");
                return;
            }
            if (gap)
                tp_buf_addc(out, ' ');
            if (c == 0xFFFD)
                tp_buf_adds(out, "\uFFFD");
            else
                tp_buf_add(out, s, n);
            chars += 1 + (size_t)gap;
            gap = false;
        }
    }
}

static size_t longest_run(const char *s, char c)
{
    size_t best = 0, run = 0;
    for (; *s; s++) {
        run = *s == c ? run + 1 : 0;
        best = run > best ? run : best;
    }
    return best;
}

void tp_md_code(struct tp_buf *out, const char *text, size_t max_chars)
{
    struct tp_buf clean = {0};
    add_clean(&clean, text, max_chars ? max_chars : 160);
    const char *s = tp_buf_str(&clean);
    if (!clean.len) {
        tp_buf_adds(out, "(nothing)");
        tp_buf_finish(&clean);
        return;
    }
    size_t ticks = longest_run(s, '`') + 1;
    /* One space at both ends is not shown, and keeps the text's own backticks from the fence. */
    bool apart = s[0] == '`' || s[clean.len - 1] == '`';
    for (size_t i = 0; i < ticks; i++)
        tp_buf_addc(out, '`');
    if (apart)
        tp_buf_addc(out, ' ');
    tp_buf_adds(out, s);
    if (apart)
        tp_buf_addc(out, ' ');
    for (size_t i = 0; i < ticks; i++)
        tp_buf_addc(out, '`');
    tp_buf_finish(&clean);
}
