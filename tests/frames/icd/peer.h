/* A server's end of a scan-out connection, which says what a test makes it say. */
#ifndef TP_TESTS_ICD_PEER_H
#define TP_TESTS_ICD_PEER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "frames/wire/board.h"
#include "frames/wire/scanout.h"

enum { PEER_BUFFERS = 64 };

struct peer {
    uint64_t capabilities; /* of the server */
    uint64_t theirs;       /* the guest's, as it says */
    int listener, sock;    /* sock: -1: nobody is connected */
    int stop;              /* an eventfd */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct tp_board *board; /* NULL: none */
    int board_fd;
    /* Buffers in the order of their registration, of this connection. */
    struct {
        struct tp_buffer_name name;
        uint32_t sequence;
        enum tp_board_state state;
        bool gone;
        unsigned asked; /* how often for its state */
        int memory;     /* -1: given up */
    } buffers[PEER_BUFFERS];
    unsigned n_buffers, n_live;
    int rings[TP_CENSUS_RINGS]; /* the guest's live records, by number; -1: none */
    unsigned n_rings, most_rings, ringed; /* now, at most, and frames of them so far */
    unsigned connections;
};

/* A socket that listens at the abstract name, and nothing more. Asserts. */
int peer_listen(const char *name);
/* Listens there, and answers. Asserts. */
void peer_start(struct peer *p, const char *name, uint64_t capabilities);
/* Hangs up, and listens no more. */
void peer_stop(struct peer *p);
/* Until so many buffers have been registered on this connection. */
void peer_wait(struct peer *p, unsigned buffers);
void peer_wait_connections(struct peer *p, unsigned connections);
void peer_wait_live(struct peer *p, unsigned live);
/* Until there are so many rings. */
void peer_wait_rings(struct peer *p, unsigned rings);

/* Writes a buffer's word and wakes who sleeps on it. */
void peer_set(struct peer *p, unsigned buffer, enum tp_board_state state);
/* Sends a note of how the buffer stands. fence: borrowed, -1: none. */
void peer_note(
    struct peer *p, unsigned buffer, enum tp_note_what what, enum tp_fence_kind kind, int fence);
void peer_timeline(struct peer *p, const struct tp_timeline_frame *t);
void peer_setting(struct peer *p, enum tp_setting setting, int64_t value);
/* Bytes that are no frame. */
void peer_nonsense(struct peer *p);
/* How often a buffer's state was asked for. */
unsigned peer_asked(struct peer *p, unsigned buffer);
/* The first bytes of a buffer's memory. */
void peer_read(struct peer *p, unsigned buffer, void *out, size_t bytes);

#endif
