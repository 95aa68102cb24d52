/*
 * The board: a page of shared memory for each guest's connection. The server writes what became of
 * every buffer that the guest registered, before it does or says anything else about it; the guest
 * reads it without a system call, and sleeps on a word of it where it has to wait.
 *
 * One 64-bit word a buffer. High half: the generation that the guest gave with the registration, 0:
 * the index is not in use. Low half: sequence << 2 | state, where the sequence goes up with each
 * word that is written here; it is what a futex watches. The words begin where the header says, so
 * that a later version can have a longer header.
 *
 * The guest maps the page for reading alone. The server writes it and never reads it back, and
 * keeps what it needs elsewhere: whatever a guest might do to the page hurts nobody but itself.
 */
#ifndef TP_FRAMES_WIRE_BOARD_H
#define TP_FRAMES_WIRE_BOARD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define TP_BOARD_MAGIC 0x44425054u /* "TPBD" */
#define TP_BOARD_VERSION 1u
#define TP_BOARD_OLDEST 1u
#define TP_BOARD_BYTES 4096u
#define TP_BOARD_WORDS 504u

enum tp_board_state {
    TP_BOARD_FREE,     /* the panel does not read it */
    TP_BOARD_REPLACED, /* something else has been put in its place; the fence will follow */
    TP_BOARD_FENCED,   /* the fence is known; it was sent to who takes notes */
    TP_BOARD_SHOWN,    /* it was published, and nothing has replaced it */
};

/* The page. All of it little-endian. */
struct tp_board {
    uint32_t magic, version;
    uint32_t oldest;       /* the oldest version whose readers can read this */
    uint32_t words_offset; /* bytes from the start, a multiple of 8 */
    uint32_t n_words;
    uint32_t reserved[11];
    _Atomic uint64_t words[TP_BOARD_WORDS];
};
_Static_assert(sizeof(struct tp_board) == TP_BOARD_BYTES, "one page");
_Static_assert(offsetof(struct tp_board, words) == 64, "the header of version 1");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the low half lies first");

static inline uint32_t tp_board_low(uint32_t sequence, enum tp_board_state state)
{
    return sequence << 2 | (uint32_t)state;
}
static inline enum tp_board_state tp_board_state_of(uint32_t low)
{
    return (enum tp_board_state)(low & 3u);
}
static inline uint64_t tp_board_word(uint32_t generation, uint32_t low)
{
    return (uint64_t)generation << 32 | low;
}

/* --- the server's side --- */

/* Writes the header into zeroed memory. */
void tp_board_init(struct tp_board *b);
/* Writes a word whole; what this thread did before is seen by whoever reads it. */
void tp_board_store(struct tp_board *b, unsigned index, uint64_t word);
/* Wakes who sleeps on this word. A system call; needs a board that was made by tp_board_create. */
void tp_board_wake(struct tp_board *b, unsigned index);

/* Makes one in memory of its own. fd: to be sent to the guest, who can only read it; moved to the
 * caller. Negative errno. */
int tp_board_create(struct tp_board **out, int *fd);
/* NULL is fine. */
void tp_board_destroy(struct tp_board *b);

/* --- the guest's side --- */

/* A board as a guest sees it. The mapping is owned, where there is one. */
struct tp_board_view {
    const _Atomic uint32_t *halves; /* low and high of each word */
    unsigned n_words;
    const void *map;
    size_t map_bytes;
};

/* Looks at a board in memory, of so many bytes, that stays as long as the view. -EBADMSG: it is
 * none; -EPROTO: of a version that is not understood here. */
int tp_board_look(const void *memory, size_t bytes, struct tp_board_view *out);
/* Maps a board that the server sent; fd is borrowed. Besides the above -EPERM for memory that could
 * be made shorter under the mapping, and the errors of fstat and mmap. */
int tp_board_open(int fd, struct tp_board_view *out);
/* What was not opened is left alone. */
void tp_board_close(struct tp_board_view *v);

/* The state of a buffer. low: for tp_board_wait; NULL is fine. -EINVAL: the board has no such
 * index; -ESTALE: the word is of another generation: the buffer is not registered. */
int tp_board_read(
    const struct tp_board_view *v, unsigned index, uint32_t generation, uint32_t *low);
/* Sleeps until the low half is not low any more. deadline_ns: of CLOCK_MONOTONIC; INT64_MAX: none.
 * 0, -ETIMEDOUT, -EINVAL: no such index. */
int tp_board_wait(const struct tp_board_view *v, unsigned index, uint32_t low, int64_t deadline_ns);

#endif
