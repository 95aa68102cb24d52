/*
 * AHardwareBuffers: guests' dma-bufs made known to the phone's allocator, copies of what it does
 * not take, and the blank.
 */
#ifndef TP_FRAMES_PANEL_ANDROID_BUFFER_H
#define TP_FRAMES_PANEL_ANDROID_BUFFER_H

#include <stdatomic.h>

#include "frames/kms/kms.h"
#include "frames/panel/android_api.h"

#define TP_ANDROID_IMPORTS 48u
#define TP_ANDROID_COPIES 5u /* of a slot: applied, latched, shown, let go, and one to fill */

struct tp_android_buffers {
    const struct tp_android_api *api;
    struct tp_android_import {
        struct tp_kms_fb_info key; /* fds and id apart; width 0: free */
        AHardwareBuffer *buffer;   /* owned; NULL: the allocator did not take it */
        uint64_t used;             /* when, in calls */
    } imports[TP_ANDROID_IMPORTS];
    uint64_t calls;
    struct tp_android_copy {
        AHardwareBuffer *buffer; /* owned */
        uint32_t width, height, format, stride_px;
        atomic_bool
            busy;  /* SurfaceFlinger's; any thread's to end, which puts the fence there first */
        int fence; /* owned: it is read until then */
    } copies[TP_KMS_LAYERS][TP_ANDROID_COPIES];
    AHardwareBuffer *blank; /* owned */
    uint8_t *row;           /* owned */
    size_t row_bytes;
};

void tp_android_buffers_init(struct tp_android_buffers *b, const struct tp_android_api *api);
/* Again is fine: a copy may have got a fence meanwhile. */
void tp_android_buffers_finish(struct tp_android_buffers *b);

/*
 * The framebuffer's memory as an AHardwareBuffer, which stays the cache's: until it has not been
 * asked for in a while, or tp_android_buffers_forget. NULL: it cannot be; why, if that was found
 * out just now, else NULL.
 *
 * How: the allocator makes a buffer of the same size and format, which goes through a socket
 * (AHardwareBuffer_sendHandleToUnixSocket); on the way its memory's descriptor is replaced by the
 * guest's. Size and stride must be the same, so that the display reads what is there.
 */
AHardwareBuffer *tp_android_import(
    struct tp_android_buffers *b, const struct tp_kms_fb_info *fb, const char **why);
/* Lets go of all guests' memory, and of what was not taken. */
void tp_android_buffers_forget(struct tp_android_buffers *b);

/*
 * Fills one of the slot's copies that is not busy. Its index, and the buffer, which stays the
 * cache's; -EAGAIN: all are busy; -EINVAL: pixels that cannot be read (a tiled format); -EIO.
 */
int tp_android_copy(struct tp_android_buffers *b, unsigned slot, const struct tp_kms_fb_info *fb,
    AHardwareBuffer **out);
/* A tiny buffer that shows nothing; NULL where there is no memory. */
AHardwareBuffer *tp_android_blank(struct tp_android_buffers *b);

/* What format the allocator calls it, and its bytes a pixel; 0: it has none. */
uint32_t tp_android_format(uint32_t fourcc, uint32_t *bytes);

#endif
