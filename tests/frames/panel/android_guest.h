/*
 * What the panel's tests have around it: framebuffers of memfds that pass for dma-bufs, dlsym by
 * API level, the double's time, descriptors watched, and a guest that renders into what was
 * released.
 */
#ifndef TP_TESTS_ANDROID_GUEST_H
#define TP_TESTS_ANDROID_GUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "frames/panel/android.h"

#define GUEST_BUFFERS 6u
#define GUEST_CURSORS 2u
#define GUEST_RING 1024u

struct tp_kms_fb {
    struct tp_kms_fb_info info;
    int refs;
};

struct guest {
    struct tp_panel *panel;
    void *window;
    struct tp_kms_fb buffers[GUEST_BUFFERS + GUEST_CURSORS]; /* the cursor's last */
    unsigned uses[GUEST_BUFFERS + GUEST_CURSORS];            /* layers that are the panel's */
    uint64_t freed[GUEST_BUFFERS + GUEST_CURSORS];           /* when, in releases */
    const void *hdr; /* struct hdr_output_metadata of the pictures; NULL */
    uint64_t serial;
    struct given { /* a layer that is the panel's */
        uint64_t serial;
        unsigned layer, buffer;
        bool out;  /* told, or never given */
        int fence; /* told, and to be waited for */
    } given[GUEST_RING][2];
    struct { /* fences that the panel gave */
        uint64_t serial;
        unsigned layer;
    } waiting[GUEST_RING];
    unsigned n_waiting;
    struct tp_panel_tick tick;
    /* What was seen. */
    uint64_t given_layers; /* that publish took */
    uint64_t ticks, published, refused, short_of, released, fenced, shown, out_of_order;
    uint64_t last_released[2], last_shown;
    uint64_t away, back;
    uint64_t back_after; /* how many transactions there were when it was told to be back */
    bool is_away;
    bool lenient; /* the screen is off or its surface gone: what is read then is not seen */
    uint64_t torn, twice, unknown, early, backwards;
    unsigned lines; /* said */
    char last_line[256];
};

/* A panel on the double, with a window of that size. */
void guest_init(struct guest *g, int level, uint64_t seed, uint32_t refresh_mhz);
/* Shuts it down, and lets the double come to its end. */
void guest_finish(struct guest *g);
/* The buffer that was free for the longest time; -1: none is. */
int guest_free_buffer(const struct guest *g);
/* A picture with this buffer, and this cursor (-1: none). What publish answers. */
int guest_publish(struct guest *g, int buffer, int cursor, bool async);
/* What has come back with a fence that is through by now is free. */
void guest_look_at_fences(struct guest *g);
/* One refresh goes by, and what was let go is looked at. */
void guest_step(struct guest *g);
/* Layers that the panel has. */
unsigned guest_outstanding(const struct guest *g);

extern bool guest_plain_memory;   /* framebuffers are no dma-bufs */
extern uint64_t guest_bad_closes; /* of descriptors that are not open */
extern const char *guest_lacks;   /* a call that this phone does not have; NULL */
unsigned guest_open_descriptors(void);

#endif
