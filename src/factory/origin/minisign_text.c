/* Minisign's texts: comments and base64, read as anybody may have written them. */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "factory/origin/minisign_internal.h"

static const char untrusted[] = "untrusted comment:";
static const char trusted[] = "trusted comment: ";

bool tp_slice_line(struct tp_slice *text, struct tp_slice *line)
{
    if (!text->len)
        return false;
    const char *end = memchr(text->at, '\n', text->len);
    size_t n = end ? (size_t)(end - text->at) : text->len;
    *line = (struct tp_slice){text->at, n};
    n += end != NULL;
    text->at += n;
    text->len -= n;
    if (line->len && line->at[line->len - 1] == '\r')
        line->len--;
    return true;
}

static bool starts(struct tp_slice s, const char *with)
{
    size_t n = strlen(with);
    return s.len >= n && !memcmp(s.at, with, n);
}

/* The number of bytes, or 0 for what is no base64 or too long. */
static size_t decode_base64(struct tp_slice line, unsigned char *out, size_t size)
{
    size_t n = 0;
    const char *end = NULL;
    if (sodium_base642bin(out, size, line.at, line.len, NULL, &n, &end,
                          sodium_base64_VARIANT_ORIGINAL) < 0)
        return 0;
    return end == line.at + line.len ? n : 0;
}

static enum tp_minisign_kind kind_of(const unsigned char *bytes, size_t n)
{
    bool legacy = n >= 2 && bytes[0] == 'E' && bytes[1] == 'd';
    bool hashed = n >= 2 && bytes[0] == 'E' && bytes[1] == 'D';
    if (n == TP_MINISIGN_PUBLIC_BYTES && legacy)
        return TP_MINISIGN_PUBLIC;
    if (n == TP_MINISIGN_SIGNATURE_BYTES && (legacy || hashed))
        return TP_MINISIGN_SIGNATURE;
    if (n == TP_MINISIGN_SECRET_BYTES && legacy)
        return TP_MINISIGN_SECRET;
    return TP_MINISIGN_OTHER;
}

static int wrong_kind(enum tp_minisign_kind given, enum tp_minisign_kind wanted, const char *where,
                      struct tp_error *e)
{
    static const char *const names[] = {"a public key", "a signature", "a secret key"};
    static const char *const todo[] = {
        "give the signer's public key: the .pub file of minisign, or its line of 56 characters",
        "name the file; its signature is looked for beside it, as FILE.minisig",
        "give the secret key, which minisign -G writes to ~/.minisign/minisign.key",
    };
    if (given == TP_MINISIGN_OTHER)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, todo[wanted],
                       "is not %s in minisign's format, or it is damaged", names[wanted]);
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, todo[wanted], "is %s of minisign, not %s%s",
                   names[given], names[wanted],
                   given == TP_MINISIGN_SECRET ? "; keep it to yourself" : "");
}

int tp_minisign_decode(struct tp_slice *text, enum tp_minisign_kind wanted, bool bare,
                       const char *where, unsigned char *out, struct tp_error *e)
{
    struct tp_slice first = {0}, second;
    size_t n = 0;
    if (text->len <= TP_MINISIGN_TEXT_MAX && tp_slice_line(text, &first)) {
        if (starts(first, untrusted) && tp_slice_line(text, &second))
            n = decode_base64(second, out, TP_MINISIGN_SECRET_BYTES);
        else if (bare && !text->len)
            n = decode_base64(first, out, TP_MINISIGN_SECRET_BYTES);
    }
    enum tp_minisign_kind kind = kind_of(out, n);
    return kind == wanted ? 0 : wrong_kind(kind, wanted, where, e);
}

void tp_minisign_id(const unsigned char id[TP_MINISIGN_ID_BYTES], char out[TP_MINISIGN_ID_TEXT])
{
    unsigned long long number = 0; /* little-endian */
    for (int i = TP_MINISIGN_ID_BYTES; i--;)
        number = number << 8 | id[i];
    snprintf(out, TP_MINISIGN_ID_TEXT, "%llX", number);
}

int tp_minisign_public_parse(const char *text, size_t len, const char *where,
                             struct tp_minisign_public *out, struct tp_error *e)
{
    unsigned char bytes[TP_MINISIGN_SECRET_BYTES];
    struct tp_slice rest = {text, len};
    int r = tp_minisign_decode(&rest, TP_MINISIGN_PUBLIC, true, where, bytes, e);
    if (!r) {
        memcpy(out->id, bytes + 2, sizeof out->id);
        memcpy(out->key, bytes + 10, sizeof out->key);
    }
    sodium_memzero(bytes, sizeof bytes); /* a secret key by mistake */
    return r;
}

int tp_minisign_signature_parse(const char *text, size_t len, const char *where,
                                struct tp_minisign_signature *out, struct tp_error *e)
{
    *out = (struct tp_minisign_signature){0};
    unsigned char bytes[TP_MINISIGN_SECRET_BYTES];
    struct tp_slice rest = {text, len}, comment, last, more;
    int r = tp_minisign_decode(&rest, TP_MINISIGN_SIGNATURE, false, where, bytes, e);
    if (r)
        return r;
    out->hashed = bytes[1] == 'D';
    memcpy(out->id, bytes + 2, sizeof out->id);
    memcpy(out->file, bytes + 10, sizeof out->file);
    size_t n = strlen(trusted);
    if (!tp_slice_line(&rest, &comment) || !starts(comment, trusted) ||
        memchr(comment.at, 0, comment.len) || !tp_slice_line(&rest, &last) ||
        decode_base64(last, out->comment, sizeof out->comment) != sizeof out->comment ||
        (tp_slice_line(&rest, &more) && more.len))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, "get the signature once more",
                       "is a damaged signature: its third line is a trusted comment, its fourth and last "
                       "88 characters");
    out->trusted = tp_strndup(comment.at + n, comment.len - n);
    return 0;
}

void tp_minisign_signature_finish(struct tp_minisign_signature *s)
{
    free(s->trusted);
    *s = (struct tp_minisign_signature){0};
}

int tp_minisign_public_load(const char *file_or_key, struct tp_minisign_public *out,
                            struct tp_error *e)
{
    if (!tp_exists(file_or_key) && strlen(file_or_key) >= 50 && !strchr(file_or_key, '.'))
        return tp_minisign_public_parse(file_or_key, strlen(file_or_key), "--pub", out, e);
    struct tp_buf text = {0};
    int r = tp_read_file(file_or_key, TP_MINISIGN_TEXT_MAX, &text, e);
    if (!r)
        r = tp_minisign_public_parse(tp_buf_str(&text), text.len, file_or_key, out, e);
    if (text.data)
        sodium_memzero(text.data, text.len);
    tp_buf_finish(&text);
    return r;
}
