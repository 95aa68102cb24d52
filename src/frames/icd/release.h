/*
 * The scan-out connection (docs/protocol.md): what becomes of a swapchain's images on the panel, as
 * the server tells it. One for each instance, with a thread of its own from the first watch on; it
 * connects, and connects again when the server comes back.
 *
 * Who watches is told of everything through its events, from the thread or from tp_scanout_drain,
 * one at a time and with the connection's lock held: no function of this header may be called from
 * an event, nor with a lock held that the events take.
 */
#ifndef TP_FRAMES_ICD_RELEASE_H
#define TP_FRAMES_ICD_RELEASE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "frames/wire/board.h"
#include "frames/wire/scanout.h"

struct tp_scanout;
struct tp_scanout_watch;

struct tp_scanout_events {
    /* The server is there. The board (NULL: none) stays until disconnected has returned. */
    void (*connected)(void *data, uint64_t capabilities, const struct tp_board_view *board);
    /* The server went, or one has come that has not said yet what it is. for_good: nothing is
     * expected of it any more. */
    void (*disconnected)(void *data, bool for_good);
    /* This image is about to be registered under this name. */
    void (*registering)(void *data, unsigned slot, const struct tp_buffer_name *name);
    /* False: not of this watch; then the fence stays the caller's. Else it is moved. */
    bool (*registered)(void *data, const struct tp_register_frame *answer);
    bool (*note)(void *data, const struct tp_note *note, bool resync, int fence);
    bool (*state)(void *data, const struct tp_state_frame *answer, int fence);
    void (*timeline)(void *data, const struct tp_timeline_frame *t);
    void (*setting)(void *data, const struct tp_setting_frame *s);
};

/* Connects to nothing yet. -ENOMEM. */
int tp_scanout_create(const struct sockaddr_un *server, socklen_t bytes, struct tp_scanout **out);
/* After its last watch. NULL is fine. */
void tp_scanout_destroy(struct tp_scanout *c);

/* Begins to tell. What is known already (connected, timeline, settings) is told before it returns.
 * -ENOMEM, or where there is no thread to be had. */
int tp_scanout_watch(struct tp_scanout *c, unsigned n_slots, const struct tp_scanout_events *events,
    void *data, struct tp_scanout_watch **out);
/* Gives its images up; no event comes after it. NULL is fine. */
void tp_scanout_unwatch(struct tp_scanout_watch *w);

/* This image is to be registered; its memory's fd is borrowed until unwatch. -errno of fstat. */
int tp_scanout_add(struct tp_scanout_watch *w, unsigned slot, int fd);
/* These live records (census/ring.h) are the server's to read, now and on each connection; their
 * memory's fd is borrowed until unwatch. */
void tp_scanout_census(struct tp_scanout_watch *w, int fd);
/* Asks the server for the state of this buffer. */
void tp_scanout_ask(struct tp_scanout_watch *w, const struct tp_buffer_name *name);
/* Takes what has come and is not read yet, without waiting. Where no server is expected, it is
 * looked whether there is one all the same. */
void tp_scanout_drain(struct tp_scanout *c);
/* 0: the server's end is open, and so its board is not that of one which is gone. -EPIPE: it is not
 * any more, and tp_scanout_drain will tell; -ENOTCONN: there is none. A system call, which waits
 * for nothing. Unlike all else here it is called with a lock held that the events take. */
int tp_scanout_look(const struct tp_scanout_watch *w);

#endif
