/*
 * What the files of the X11 target share.
 *
 *     target_x11.c     the target: made, asked, its streams opened and closed
 *     x11_link.c       a connection of our own to the application's server, and its window
 *     x11_image.c      images as pixmaps or shared memory, and how one gets into the window
 *     x11_picture.c    pictures on their way, and what the server says of them
 *
 * All goes over a connection of our own: the application's may be used by a thread that never
 * listens, with error handlers that end the program. Windows are the server's, for all to draw in.
 */
#ifndef TP_FRAMES_ICD_X11_H
#define TP_FRAMES_ICD_X11_H

#include <pthread.h>

#include "frames/icd/loop.h"
#include "frames/icd/present_queue.h"
#include "frames/icd/target.h"
#include "frames/icd/xcb_library.h"

/* --- x11_link.c --- */

struct tp_x11_link {
    xcb_connection_t *c; /* owned */
    uint8_t present;     /* major opcodes and first events of extensions; 0: not there */
    uint8_t shm_event;   /* 0: shared memory cannot be had */
    bool shm_pixmaps;
    uint32_t dri3;   /* minor version of DRI3 1.x, and 1 more; 0: not there */
    bool names_none; /* of its modifiers; known once formats were asked for */
};

struct tp_x11_window {
    xcb_window_t id;
    uint32_t width, height;
    uint8_t depth, bits; /* of a pixel: as it counts, and in memory */
    uint32_t fourcc;     /* 0: no format that is known here */
    bool alpha;
};

/* To the server of another connection. -ENODEV. */
int tp_x11_link_open(struct tp_x11_link *l, xcb_connection_t *other);
void tp_x11_link_close(struct tp_x11_link *l);
/* A round trip: the window as it is now. -ENODEV: it is gone. */
int tp_x11_window_get(struct tp_x11_link *l, xcb_window_t id, struct tp_x11_window *out);
/* The DRM format of pictures in windows of this visual; 0: none. */
uint32_t tp_x11_visual_fourcc(
    xcb_connection_t *c, xcb_visualid_t visual, uint8_t *depth, bool *alpha);
/* A round trip. *out: the caller's to free. */
int tp_x11_formats(struct tp_x11_link *l, const struct tp_x11_window *w,
    struct tp_target_format **out, uint32_t *n);
/* Makes the device known whose memory the server takes; 0: not known. */
uint64_t tp_x11_device(struct tp_x11_link *l, const struct tp_x11_window *w);

/* --- x11_image.c --- */

struct tp_x11_image {
    uint32_t pixmap;       /* 0: none */
    bool copied;           /* the pixmap is memory of the server's, into which the image is put */
    uint32_t segment;      /* 0: none */
    const uint8_t *pixels; /* mapped, where they are sent; NULL */
    size_t bytes;
    uint32_t width, height, pitch, offset;
};

/* A round trip. -EOPNOTSUPP: the server does not take it. */
int tp_x11_image_add(struct tp_x11_link *l, const struct tp_x11_window *w,
    const struct tp_stream_image *from, struct tp_x11_image *out);
void tp_x11_image_remove(struct tp_x11_link *l, struct tp_x11_image *image);
/* Puts its pixels into a window or pixmap. True: a ShmCompletion event says when they have been
 * read, where it is asked for; false: they have been. */
bool tp_x11_image_put(struct tp_x11_link *l, const struct tp_x11_window *w, uint32_t drawable,
    xcb_gcontext_t gc, const struct tp_x11_image *image, bool event);

/* --- the target --- */

struct tp_x11_stream {
    struct tp_stream base;
    struct tp_x11_stream *next;
    const struct tp_stream_events *events;
    void *data;
    struct tp_stream_info info;
    struct tp_present_queue queue;
    bool told_suboptimal;
    struct tp_x11_image images[];
};

/* A picture that the server has. */
struct tp_x11_flight {
    struct tp_x11_flight *next;
    struct tp_x11_stream *stream; /* NULL: closed since */
    uint32_t index, number;       /* number: Present's serial */
    uint64_t serial;
    uint32_t segment;
    bool shown, idle; /* has been told */
};

struct tp_x11 {
    struct tp_target base;
    xcb_connection_t *app; /* the application's */
    pthread_mutex_t lock;  /* for what follows */
    struct tp_x11_link link;
    struct tp_x11_window window;
    bool asked, lost;
    struct tp_loop *loop;          /* from the first stream on */
    struct tp_x11_stream *streams; /* the newest first: the others are retired by it */
    struct tp_x11_flight *flights; /* oldest first */
    xcb_gcontext_t gc;
    uint32_t present_id; /* of Present's events of the window */
    uint32_t last_number;
    int64_t turn_ns;   /* without Present: when the next one may go */
    int64_t period_ns; /* 0: not known yet */
    uint64_t msc;      /* of the last picture shown, and when */
    int64_t shown_ns;
};

/* --- x11_picture.c --- */

extern const struct tp_loop_ops tp_x11_loop_ops;
/* With the lock held: the window or the server is gone. */
void tp_x11_lose(struct tp_x11 *x);

#endif
