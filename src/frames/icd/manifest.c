#include "frames/icd/manifest.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/*
 * A reader of the little of JSON that is needed here: a library in a game's process brings no JSON
 * library along, whose names would meet those of the game's.
 */
struct reader {
    const char *at, *end;
};

enum { MAX_DEPTH = 64, MAX_KEY = 64 };

static char next(struct reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
        r->at++;
    return r->at < r->end ? *r->at : 0;
}

static bool skip_char(struct reader *r, char c)
{
    if (next(r) != c)
        return false;
    r->at++;
    return true;
}

static int hex(struct reader *r)
{
    int value = 0;

    for (int i = 0; i < 4; i++) {
        char c = r->at < r->end ? *r->at++ : 0;
        int digit = c >= '0' && c <= '9'         ? c - '0'
            : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                 : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* A string; out may be NULL. One that does not fit is read to its end all the same: -ENAMETOOLONG.
 */
static int string(struct reader *r, char *out, size_t room)
{
    static const char plain[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    size_t n = 0;

    if (!skip_char(r, '"'))
        return -EINVAL;
    while (r->at < r->end && *r->at != '"') {
        char bytes[4] = {*r->at++};
        size_t more = 1;
        if (bytes[0] == '\\') {
            char c = r->at < r->end ? *r->at++ : 0;
            const char *known = c ? strchr(plain, c) : NULL;
            int code = known ? means[known - plain] : c == 'u' ? hex(r) : -1;
            if (code <= 0)
                return -EINVAL;
            /* Halves of a pair come out as three bytes each: no file is called like that. */
            more = code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
            if (more == 1) {
                bytes[0] = (char)code;
            } else if (more == 2) {
                bytes[0] = (char)(0xc0 | code >> 6);
                bytes[1] = (char)(0x80 | (code & 63));
            } else {
                bytes[0] = (char)(0xe0 | code >> 12);
                bytes[1] = (char)(0x80 | (code >> 6 & 63));
                bytes[2] = (char)(0x80 | (code & 63));
            }
        } else if ((unsigned char)bytes[0] < 32) {
            return -EINVAL;
        }
        for (size_t i = 0; i < more; i++, n++) {
            if (out && n + 1 < room)
                out[n] = bytes[i];
        }
    }
    if (r->at == r->end)
        return -EINVAL;
    r->at++;
    if (!out)
        return 0;
    out[n < room ? n : room - 1] = 0;
    return n < room ? 0 : -ENAMETOOLONG;
}

static int skip(struct reader *r, int depth)
{
    char c = next(r), close = c == '{' ? '}' : ']';

    if (c == '"')
        return string(r, NULL, 0);
    if (c != '{' && c != '[') {
        const char *from = r->at;
        while (r->at < r->end && *r->at && !strchr(",]} \t\r\n\"[{:", *r->at))
            r->at++;
        return r->at > from ? 0 : -EINVAL;
    }
    if (depth >= MAX_DEPTH)
        return -EINVAL;
    r->at++;
    if (skip_char(r, close))
        return 0;
    do {
        if (c == '{' && (string(r, NULL, 0) || !skip_char(r, ':')))
            return -EINVAL;
        if (skip(r, depth + 1))
            return -EINVAL;
    } while (skip_char(r, ','));
    return skip_char(r, close) ? 0 : -EINVAL;
}

/* Goes to the value of this key in the object that comes. */
static int find(struct reader *r, const char *key)
{
    char name[MAX_KEY];

    if (!skip_char(r, '{'))
        return -EINVAL;
    do {
        int e = string(r, name, sizeof name);
        if ((e && e != -ENAMETOOLONG) || !skip_char(r, ':'))
            return -EINVAL;
        if (!e && !strcmp(name, key))
            return 0;
        if (skip(r, 0))
            return -EINVAL;
    } while (skip_char(r, ','));
    return -EINVAL;
}

int tp_manifest_library(const char *text, size_t n, char *out, size_t room)
{
    struct reader r = {text, text + n};
    int e;

    if (find(&r, "ICD") || find(&r, "library_path"))
        return -EINVAL;
    e = string(&r, out, room);
    return !e && !*out ? -EINVAL : e;
}
