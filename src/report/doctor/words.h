/* Which of many words are in a line, found in one pass over it (Aho and Corasick's machine). */
#ifndef TP_REPORT_DOCTOR_WORDS_H
#define TP_REPORT_DOCTOR_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TP_WORDS_MOST 256u

/* A set of words, by their number. */
struct tp_word_set {
    uint64_t bits[TP_WORDS_MOST / 64];
};

struct tp_words;

/* words: n of them, up to TP_WORDS_MOST, none empty; they are copied. Never NULL. */
struct tp_words *tp_words_create(const char *const *words, const size_t *lens, unsigned n);
/* NULL is fine. */
void tp_words_destroy(struct tp_words *w);
/* Is one of them in the text? Those that are go into found, which is emptied where there is one. */
bool tp_words_find(
    const struct tp_words *w, const char *text, size_t len, struct tp_word_set *found);

#endif
