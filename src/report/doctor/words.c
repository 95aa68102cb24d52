#include "report/doctor/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* States are numbered so that those in which a word ends come last: one comparison tells them. A
 * state is kept as the place of its row, so that a step is one addition and one look-up. */
struct tp_words {
    uint16_t class_of[256]; /* bytes that no word has are of class 0 */
    unsigned classes, n;
    uint32_t ends_from;         /* rows from here on have words */
    uint32_t *rows;             /* n of them, of `classes` next rows each */
    struct tp_word_set *ending; /* by state */
};

/* While it is built: states in the order in which they come up. */
struct machine {
    struct tp_words *w;
    uint32_t *next; /* by state and class; 0: none yet (the root follows nobody) */
    uint32_t *suffix;
    struct tp_word_set *ending;
    unsigned n;
};

static bool any(const struct tp_word_set *s)
{
    for (unsigned i = 0; i < TP_WORDS_MOST / 64; i++) {
        if (s->bits[i])
            return true;
    }
    return false;
}

static void join(struct tp_word_set *to, const struct tp_word_set *from)
{
    for (unsigned i = 0; i < TP_WORDS_MOST / 64; i++)
        to->bits[i] |= from->bits[i];
}

static void add_word(struct machine *m, const char *word, size_t len, unsigned number)
{
    uint32_t at = 0;

    for (size_t i = 0; i < len; i++) {
        uint32_t *next = &m->next[at * m->w->classes + m->w->class_of[(uint8_t)word[i]]];
        if (!*next)
            *next = m->n++;
        at = *next;
    }
    m->ending[at].bits[number / 64] |= UINT64_C(1) << number % 64;
}

/* The longest suffix of each state that is a state, breadth first; what is missing goes there. */
static void link_suffixes(struct machine *m)
{
    unsigned classes = m->w->classes;
    uint32_t *queue = tp_calloc(m->n, sizeof *queue);
    unsigned head = 0, tail = 0;

    queue[tail++] = 0;
    while (head < tail) {
        uint32_t at = queue[head++];
        for (unsigned c = 0; c < classes; c++) {
            uint32_t *next = &m->next[at * classes + c];
            uint32_t fallback = at ? m->next[m->suffix[at] * classes + c] : 0;
            if (!*next) {
                *next = fallback;
                continue;
            }
            m->suffix[*next] = fallback;
            join(&m->ending[*next], &m->ending[fallback]);
            queue[tail++] = *next;
        }
    }
    free(queue);
}

/* The states in their lasting order. */
static void lay_out(struct machine *m)
{
    struct tp_words *w = m->w;
    uint32_t *place = tp_calloc(m->n, sizeof *place);
    unsigned at = 0;

    for (int ends = 0; ends < 2; ends++) {
        if (ends)
            w->ends_from = at * w->classes;
        for (unsigned i = 0; i < m->n; i++) {
            if (any(&m->ending[i]) == (ends == 1))
                place[i] = at++;
        }
    }
    w->n = m->n;
    w->rows = tp_calloc((size_t)m->n * w->classes, sizeof *w->rows);
    w->ending = tp_calloc(m->n, sizeof *w->ending);
    for (unsigned i = 0; i < m->n; i++) {
        w->ending[place[i]] = m->ending[i];
        for (unsigned c = 0; c < w->classes; c++)
            w->rows[place[i] * w->classes + c] = place[m->next[i * w->classes + c]] * w->classes;
    }
    free(place);
}

struct tp_words *tp_words_create(const char *const *words, const size_t *lens, unsigned n)
{
    struct tp_words *w = tp_calloc(1, sizeof *w);
    struct machine m = {.w = w, .n = 1};
    size_t most = 1;

    w->classes = 1;
    for (unsigned i = 0; i < n; i++) {
        most += lens[i];
        for (size_t k = 0; k < lens[i]; k++) {
            uint16_t *class = &w->class_of[(uint8_t)words[i][k]];
            if (!*class)
                *class = (uint16_t)w->classes++;
        }
    }
    m.next = tp_calloc(most * w->classes, sizeof *m.next);
    m.suffix = tp_calloc(most, sizeof *m.suffix);
    m.ending = tp_calloc(most, sizeof *m.ending);
    for (unsigned i = 0; i < n; i++)
        add_word(&m, words[i], lens[i], i);
    link_suffixes(&m);
    lay_out(&m);
    free(m.next);
    free(m.suffix);
    free(m.ending);
    return w;
}

void tp_words_destroy(struct tp_words *w)
{
    if (!w)
        return;
    free(w->rows);
    free(w->ending);
    free(w);
}

bool tp_words_find(
    const struct tp_words *w, const char *text, size_t len, struct tp_word_set *found)
{
    const uint32_t *rows = w->rows;
    uint32_t at = 0, from = w->ends_from;
    bool some = false;

    for (size_t i = 0; i < len; i++) {
        at = rows[at + w->class_of[(uint8_t)text[i]]];
        if (__builtin_expect(at >= from, 0)) {
            if (!some)
                *found = (struct tp_word_set){0};
            some = true;
            join(found, &w->ending[at / w->classes]);
        }
    }
    return some;
}
