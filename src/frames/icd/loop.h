/* A target's thread: sleeps on one descriptor and a deadline, and can be woken. */
#ifndef TP_FRAMES_ICD_LOOP_H
#define TP_FRAMES_ICD_LOOP_H

#include <pthread.h>
#include <stdint.h>

/* A thread in a process of somebody else's: no signal of the process comes to it. -errno. */
int tp_thread_start(pthread_t *out, void *(*run)(void *), void *data);

struct tp_loop;

/* Called on the loop's thread, one after the other. data: as given to create. */
struct tp_loop_ops {
    /* Before it sleeps. Answers when it is to go on at the latest (CLOCK_MONOTONIC, ns; INT64_MAX:
     * no such instant), and in *events what of poll's to wait for on the descriptor. */
    int64_t (*before)(void *data, short *events);
    /* After it slept. revents: poll's, 0: a deadline or a wake. Follows each before. */
    void (*after)(void *data, short revents);
};

/* Starts it, with all signals blocked. fd: borrowed, -1: none. -errno where there is no thread to
 * be had. */
int tp_loop_create(
    const char *name, int fd, const struct tp_loop_ops *ops, void *data, struct tp_loop **out);
/* It goes on at once; from any thread, also its own. */
void tp_loop_wake(struct tp_loop *l);
/* Another descriptor from the next sleep on; from before or after alone. Borrowed, -1: none. */
void tp_loop_set_fd(struct tp_loop *l, int fd);
/* Ends it and waits for that; not from its own thread. NULL is fine. */
void tp_loop_destroy(struct tp_loop *l);

#endif
