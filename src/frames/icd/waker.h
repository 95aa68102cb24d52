/*
 * The sleep of an acquire. What it may wait for is of three kinds: an event that comes with a lock
 * held (woken), a word of the board, a fence's descriptor. One thread sleeps at a time.
 */
#ifndef TP_FRAMES_ICD_WAKER_H
#define TP_FRAMES_ICD_WAKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "frames/icd/slots.h"

/* The owner's lock guards it. */
struct tp_waker {
    _Atomic uint32_t count; /* goes up with each wake */
    int event;              /* an eventfd; -1: not needed yet */
    bool asleep, on_event, on_board;
    pthread_cond_t awake; /* who took the board away waits for the sleeper */
};

void tp_waker_init(struct tp_waker *w);
void tp_waker_finish(struct tp_waker *w);

/* With the lock held. */
void tp_waker_wake(struct tp_waker *w);
/* Nobody sleeps on the board when it returns; the lock is given up meanwhile. */
void tp_waker_leave_board(struct tp_waker *w, pthread_mutex_t *lock);

/* With the lock held, which is given up for the sleep: until something of wait, a wake, or sooner.
 * board: NULL: wait's word is left alone. */
void tp_waker_sleep(struct tp_waker *w, pthread_mutex_t *lock, const struct tp_slots_wait *wait,
    const struct tp_board_view *board);

#endif
