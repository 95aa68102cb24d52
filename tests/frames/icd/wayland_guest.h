/* What a swapchain is to a Wayland target, in tests: images of one colour each, and an ear. */
#ifndef WAYLAND_GUEST_H
#define WAYLAND_GUEST_H

#include <pthread.h>

#include "frames/icd/target.h"

enum { GUEST_IMAGES = 4, GUEST_MAX_EVENTS = 4096 };

enum guest_event_type {
    GUEST_COMMITTED,
    GUEST_RELEASED,
    GUEST_SHOWN,
    GUEST_DISCARDED,
    GUEST_CHANGED,
    GUEST_TYPES
};

struct guest_event {
    enum guest_event_type type;
    uint32_t index;  /* committed, released */
    uint64_t serial; /* committed, shown, discarded */
    int fence;       /* released; the guest's */
    struct tp_shown shown;
    enum tp_target_change change;
};

struct guest {
    struct tp_target *target;
    struct tp_stream *stream;
    uint32_t width, height;
    int fds[GUEST_IMAGES];
    uint32_t *pixels[GUEST_IMAGES];
    pthread_mutex_t lock;
    pthread_cond_t came;
    uint64_t serial;
    unsigned n_of[GUEST_TYPES], n;
    bool held[GUEST_IMAGES];                     /* presented, and not released */
    struct guest_event events[GUEST_MAX_EVENTS]; /* the first ones */
};

/* A stream as described; its images are memory of that kind. 0, or the target's error. */
int guest_open(struct guest *g, struct tp_target *target, const struct tp_stream_info *info,
    uint32_t memory, uint64_t modifier);
/* An opaque one of FIFO. */
struct tp_stream_info guest_info(uint32_t width, uint32_t height);
void guest_close(struct guest *g);

/* The next serial, which it has then. */
int guest_present(struct guest *g, uint32_t index, VkPresentModeKHR mode);
int guest_present_more(struct guest *g, struct tp_picture p);
/* Fills an image's quarters, row by row; opaque. */
void guest_paint(struct guest *g, uint32_t index, const uint32_t colours[4]);

/* So many events of a type have come, within a long time. */
bool guest_await(struct guest *g, enum guest_event_type type, unsigned n);
/* An image that is not with the target; waits for one. -1: none came. */
int guest_free_image(struct guest *g);
unsigned guest_count(struct guest *g, enum guest_event_type type);
/* The n-th of a type, from 0; it must be there. */
struct guest_event guest_event(struct guest *g, enum guest_event_type type, unsigned n);

#endif
