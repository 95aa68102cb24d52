/* Between the files of minisign's format; nobody else includes it. */
#ifndef TP_FACTORY_ORIGIN_MINISIGN_INTERNAL_H
#define TP_FACTORY_ORIGIN_MINISIGN_INTERNAL_H

#include "factory/origin/minisign.h"

/* A part of the text; not NUL-terminated. */
struct tp_slice {
    const char *at;
    size_t len;
};

/* The next line, without its end, of LF or CR LF; `text` moves behind it. False where there is none. */
bool tp_slice_line(struct tp_slice *text, struct tp_slice *line);

/* What the decoded second line is, by its length and its first bytes. */
enum tp_minisign_kind { TP_MINISIGN_PUBLIC, TP_MINISIGN_SIGNATURE, TP_MINISIGN_SECRET, TP_MINISIGN_OTHER };

/* Sizes of the three, decoded. */
#define TP_MINISIGN_PUBLIC_BYTES    42u
#define TP_MINISIGN_SIGNATURE_BYTES 74u
#define TP_MINISIGN_SECRET_BYTES    158u

/* Decodes the first two lines of `text` (or, with bare, a single line), which moves behind them, and
 * refuses another kind than `wanted`. out: TP_MINISIGN_SECRET_BYTES. Errors: -EINVAL. */
int tp_minisign_decode(struct tp_slice *text, enum tp_minisign_kind wanted, bool bare,
                       const char *where, unsigned char *out, struct tp_error *e);

struct tp_minisign_secret {
    unsigned char id[TP_MINISIGN_ID_BYTES];
    unsigned char key[64]; /* libsodium's form: seed, public key */
};

#endif
