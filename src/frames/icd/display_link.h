/*
 * The way to a card with screens: the display server's by its socket (docs/protocol.md), or one of
 * the kernel's. Calls are DRM's ioctls either way, and its events are read from the descriptor.
 */
#ifndef TP_FRAMES_ICD_DISPLAY_LINK_H
#define TP_FRAMES_ICD_DISPLAY_LINK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <drm.h>
#include <drm_mode.h>

#include "frames/wire/drm_call.h"

struct tp_display_link {
    int fd;          /* events come here; owned */
    int hotplug;     /* readable when screens have come or gone; -1: nobody tells; owned */
    bool server;     /* else by ioctl */
    bool shared;     /* takes memory that is no dma-buf, as the server's card does */
    uint64_t device; /* makedev's number of the kernel's card; 0 */
    /* The rest: the server's alone. */
    int channel; /* -1: gone; owned */
    uint32_t sequence;
    uint8_t *out, *in; /* TP_FRAME_BYTES each, one block */
    struct tp_drm_fences fences;
    pthread_mutex_t lock; /* one call at a time */
};

/*
 * Opens the server's card; address NULL: the kernel's first one with screens. Atomic commits and
 * all planes are asked for. Becomes master where there is none, as any open of a card does: see
 * tp_display_link_drop. -ENODEV: there is none, or it cannot do atomic commits; -EACCES; -ENOMEM.
 */
int tp_display_link_open(
    struct tp_display_link *l, const struct sockaddr *address, socklen_t address_bytes);
/* A card that somebody else has opened: its descriptor is duplicated. */
int tp_display_link_wrap(struct tp_display_link *l, int fd);
void tp_display_link_finish(struct tp_display_link *l);

/* 0 or more, or a negative errno; -ENODEV: the card is gone. Any thread's. */
int tp_display_ioctl(struct tp_display_link *l, unsigned long request, void *arg);

/* Has the kernel look at a connector anew, which takes its time, and is done for masters alone: it
 * tells what it saw last. */
void tp_display_probe(struct tp_display_link *l, uint32_t connector);

/* Throws away what the hot-plug descriptor has. False: there will be no more. */
bool tp_display_link_drain(struct tp_display_link *l);

#endif
