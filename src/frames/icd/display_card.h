/*
 * An open card and its thread, shared by all targets of this process that show on its screens:
 * there is one master of a card, and it is an open file.
 */
#ifndef TP_FRAMES_ICD_DISPLAY_CARD_H
#define TP_FRAMES_ICD_DISPLAY_CARD_H

#include "frames/icd/display_link.h"
#include "frames/icd/loop.h"

struct tp_display_user;

/* What is called on the card's thread, with its lock held. */
struct tp_display_user_ops {
    /* Sends what is due; answers when to be called again at the latest (CLOCK_MONOTONIC, ns;
     * INT64_MAX: never). May give up the lock meanwhile, while user->busy. */
    int64_t (*work)(struct tp_display_user *u);
    /* The commit with this user's cookie is on its way to the screen, or the refresh has begun
     * that was asked for with it. */
    void (*flipped)(struct tp_display_user *u, const struct drm_event_vblank *e);
    void (*screens_changed)(struct tp_display_user *u);
    void (*gone)(struct tp_display_user *u); /* the card; once */
};

struct tp_display_user {
    const struct tp_display_user_ops *ops;
    struct tp_display_user *next;
    uint64_t cookie; /* of its commit under way; 0: none */
    bool busy;
};

struct tp_display_card {
    struct tp_display_link link;
    pthread_mutex_t lock; /* for what follows, and for all that its users have */
    pthread_cond_t idle;  /* a user is not busy any more */
    struct tp_display_user *users;
    uint64_t last_cookie;
    bool gone, master;
    /* Of display_card.c. */
    unsigned refs;
    struct tp_display_card *next;
    bool foreign; /* somebody else's open file */
    int epoll;
    struct tp_loop *loop; /* NULL: nothing to listen for yet */
};

/* The card of this process: the one that is open, else it is opened. Held until put. Errors as
 * tp_display_link_open's. */
int tp_display_card_get(struct tp_display_card **out);
/* One round a file that the application has opened; not shared with others. */
int tp_display_card_wrap(int fd, struct tp_display_card **out);
struct tp_display_card *tp_display_card_hold(struct tp_display_card *c);
/* The last one closes it. NULL is fine. */
void tp_display_card_put(struct tp_display_card *c);

/* With the lock held: its thread runs, and it may set modes. -EBUSY: somebody else may; -ENODEV. */
int tp_display_card_start(struct tp_display_card *c);
/* With the lock held: its thread runs, and hears of screens. */
int tp_display_card_listen(struct tp_display_card *c);
/* Its thread works. */
void tp_display_card_wake(struct tp_display_card *c);
/* With the lock held, which is given up meanwhile. */
void tp_display_card_wait_idle(struct tp_display_card *c, struct tp_display_user *u);
/* With the lock held: the card does not answer any more; its users hear of it. */
void tp_display_card_lose(struct tp_display_card *c);

#endif
