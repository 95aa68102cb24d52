/*
 * What a rule looks for in a message: its words as they are, and {name} for what differs, which is
 * kept: any text, up to where the words behind it are found first, or to the line's end. {name#} is
 * a decimal number, {name%} a hexadecimal one, with or without 0x (and blanks behind that, as
 * printf's 0x%8x has them). It may stand anywhere in the line.
 */
#ifndef TP_REPORT_DOCTOR_PHRASE_H
#define TP_REPORT_DOCTOR_PHRASE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define TP_PHRASE_WORDS 12u /* pieces of text and captures */
#define TP_CAPTURE_NAME_ROOM 16u
#define TP_PHRASE_KEY 4u /* bytes of the shortest piece that a line is searched for */

enum tp_piece_kind { TP_PIECE_TEXT, TP_PIECE_ANY, TP_PIECE_DECIMAL, TP_PIECE_HEX };

struct tp_piece {
    enum tp_piece_kind kind;
    char *text; /* owned: the words, or the capture's name */
    size_t len;
};

struct tp_phrase {
    struct tp_piece pieces[TP_PHRASE_WORDS];
    unsigned n;
    unsigned key; /* the longest piece of text: a line without it cannot match */
    bool of_tag;  /* it is logcat's tag that must be these words, whatever the message is */
};

/* One capture of a match, borrowed from the line and the pattern. */
struct tp_captured {
    const char *name, *text;
    size_t len;
};

struct tp_phrase_found {
    struct tp_captured captured[TP_PHRASE_WORDS];
    unsigned n;
};

/* Errors: no piece of TP_PHRASE_KEY bytes, too many pieces, two captures side by side. where: for
 * what is said. The caller finishes it. */
int tp_phrase_parse(const char *text, const char *where, struct tp_phrase *out, struct tp_error *e);
void tp_phrase_finish(struct tp_phrase *p);
/* Is it in this message? The time is bounded by a multiple of its length. */
bool tp_phrase_match(
    const struct tp_phrase *p, const char *text, size_t len, struct tp_phrase_found *out);

#endif
