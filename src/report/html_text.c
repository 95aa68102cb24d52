#include "report/html_text.h"

#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* --- text from outside --- */

/* The character at the text's start and its length; 0: what is there is no UTF-8 (RFC 3629). */
static unsigned character(const unsigned char *s, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned n = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;
    if (n == 0)
        return 0;
    *c = n == 1 ? *s : *s & (0x7fu >> n);
    for (unsigned i = 1; i < n; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        *c = *c << 6 | (s[i] & 0x3f);
    }
    return *c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ? 0 : n;
}

/* It would change how its neighbours are shown, or cannot be seen. */
static bool acts(uint32_t c)
{
    static const struct {
        uint32_t from, to;
    } ranges[] = {{0, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, {0x61c, 0x61c}, {0x115f, 0x1160},
        {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
        {0x3164, 0x3164}, {0xfdd0, 0xfdef}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
        {0xfff0, 0xfffb}, {0xe0000, 0xe0fff}};
    for (unsigned i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i].from && c <= ranges[i].to)
            return true;
    return (c & 0xfffe) == 0xfffe;
}

char *html_visible(const char *text)
{
    struct tp_buf out = {0};
    const unsigned char *s = (const unsigned char *)text;
    while (*s) {
        uint32_t c = 0;
        unsigned n = character(s, &c);
        if (n == 0)
            tp_buf_addf(&out, "\\x{%02x}", *s);
        else if (acts(c))
            tp_buf_addf(&out, "\\u{%x}", c);
        else
            tp_buf_add(&out, s, n);
        s += n > 0 ? n : 1;
    }
    return tp_buf_take(&out);
}

/* --- HTML --- */

void html_escape(struct tp_buf *out, const char *text)
{
    for (; *text; text++) {
        size_t plain = strcspn(text, "&<>\"'");
        tp_buf_add(out, text, plain);
        text += plain;
        if (*text == 0)
            return;
        tp_buf_addf(out, "&#%d;", *text);
    }
}

void html_json(struct tp_buf *out, const json_t *j)
{
    /* All that is not ASCII is escaped by jansson, and "<", which begins "</script" and "<!--",
     * here. It stands in strings alone. */
    char *text = json_dumps(j, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_PRESERVE_ORDER);
    for (const char *s = text; s && *s; s++) {
        size_t plain = strcspn(s, "<");
        tp_buf_add(out, s, plain);
        s += plain;
        if (*s == 0)
            break;
        tp_buf_adds(out, "\\u003c");
    }
    free(text);
}

void html_base64(struct tp_buf *out, const uint8_t *bytes, size_t n)
{
    char text[4 * 1024 + 1];
    for (size_t at = 0; at < n; at += 3 * 1024) {
        size_t some = n - at < 3 * 1024 ? n - at : 3 * 1024;
        sodium_bin2base64(text, sizeof text, bytes + at, some, sodium_base64_VARIANT_ORIGINAL);
        tp_buf_adds(out, text);
    }
}

void html_hash(struct tp_buf *out, const void *bytes, size_t n)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(hash, bytes, n);
    tp_buf_adds(out, "'sha256-");
    html_base64(out, hash, sizeof hash);
    tp_buf_addc(out, '\'');
}
