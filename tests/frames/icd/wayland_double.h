/*
 * A Wayland compositor whose every step is the test's: it shows nothing, writes down each commit,
 * and answers when it is told to. It runs on a thread of its own; what it has written down may be
 * read, and answers may be sent, between double_lock and double_unlock.
 */
#ifndef WAYLAND_DOUBLE_H
#define WAYLAND_DOUBLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct wl_resource;

struct double_options {
    bool no_shm;
    uint32_t dmabuf; /* version; 0: none */
    bool refuse;     /* every dma-buf */
    bool sync, presentation, tearing, gamescope;
    clockid_t clock; /* of presentation */
    int compositor;  /* version; 0: 4 */
};

/* A commit with a buffer. */
struct double_commit {
    struct wl_resource *buffer, *feedback, *release; /* NULL: none, or answered */
    ino_t memory;                                    /* of a dma-buf; 0: wl_shm */
    uint32_t first_pixel;                            /* wl_shm: then */
    int32_t damage[4], n_damage;                     /* the first rectangle of so many */
    bool damage_in_buffer;
    int32_t transform;
    bool opaque;
    int fence; /* the double's; -1: none */
    uint32_t hint;
};

#define DOUBLE_MODIFIER UINT64_C(0x0500000000000001) /* some vendor's */
#define DOUBLE_DEVICE 0xe200u                        /* 226:0 */

/* Starts it; the client's end of the connection. */
int double_start(const struct double_options *options);
void double_stop(void);

void double_lock(void);
void double_unlock(void); /* sends what was said meanwhile */

/* --- with the lock --- */

extern struct double_commit double_commits[];
extern unsigned double_n_commits, double_n_frames; /* frames: callbacks that are not answered */
extern unsigned double_n_buffers, double_n_errors;
/* A refresh begins. */
void double_refresh(void);
/* Of a commit: it was shown, then; it never was; its buffer is read no more, with a fence or -1. */
void double_shown(
    unsigned commit, int64_t time_ns, uint32_t period_ns, uint64_t sequence, bool by_hardware);
void double_discarded(unsigned commit);
void double_release(unsigned commit, int fence);
void double_release_buffer(unsigned commit); /* by wl_buffer.release alone */
/* The surface's feedback is said anew: linear ones alone, or the vendor's first. */
void double_feedback(bool vendor);

/* --- without it --- */

/* Waits until there are so many; false: they do not come. */
bool double_await_commits(unsigned n);
/* The client's connection ends. */
void double_hang_up(void);

#endif
