/*
 * Targets: where a surface's pictures go. One interface for Wayland, X11, a screen without a
 * compositor and headless; swapchains know nothing else of them.
 *
 *     target    one for each VkSurfaceKHR: what the other side of the surface is and can do
 *     stream    one for each swapchain on it: the images, and the pictures that are presented
 *
 * What a target may know: the window system, file descriptors, DRM formats and modifiers, and
 * Vulkan's enums. It knows no Vulkan object, no slot, no gate and no scan-out connection. Its
 * images are memory with a format; who rendered them, and when they may be rendered into again, is
 * not its business.
 *
 * Threads.
 * - A target has a lock of its own, and a thread of its own where it must listen (loop.h), from its
 *   first stream on. Every call below may come from any thread, at the same time for different
 *   streams and targets. Of one stream, calls come one at a time; of one target, open and close
 * come one at a time.
 * - No call waits for the other side but query, formats, open, add (a round trip each; the result
 * of an add may also come later, as an event) and close. present never waits: what cannot go out
 * yet is queued in the target (present_queue.h) and goes out from its thread.
 * - Events come from any thread, also from inside present, and may come with the target's lock
 *   held: the receiver never calls a target from one, and never calls a target with the lock held
 *   that its events take. A stream's events come one at a time, each picture's in its order.
 * - After close has returned no event comes.
 * - The application's connection (wl_display, xcb_connection_t) is shared with the application: a
 *   target uses a queue of its own, takes no event of another's, and survives its errors.
 *
 * Errors: 0, or a negative errno: -ESTALE: the surface has changed so that this stream cannot go on
 * (VK_ERROR_OUT_OF_DATE_KHR); -ENODEV: the window, its connection or the screen is gone
 * (VK_ERROR_SURFACE_LOST_KHR); -EBUSY: the window belongs to somebody else
 * (VK_ERROR_NATIVE_WINDOW_IN_USE_KHR); -EOPNOTSUPP: the other side does not take that; -ENOMEM.
 * tp_icd_log (log.h) says the reason, once.
 */
#ifndef TP_FRAMES_ICD_TARGET_H
#define TP_FRAMES_ICD_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frames/icd/vk.h"

struct tp_target;
struct tp_stream;

#define TP_TARGET_MODES 5u
#define TP_TARGET_SPACES 16u
#define TP_TARGET_PLANES 4u

/* In which memory an image of a format may be. */
enum {
    TP_MEMORY_DMABUF = 1, /* a dma-buf */
    TP_MEMORY_SHARED = 2, /* shared memory: a memfd, which can be mapped; linear, one plane */
};

/* What an image may be. Better ones come first; a fourcc may come many times. */
struct tp_target_format {
    uint32_t fourcc;   /* DRM_FORMAT_… */
    uint64_t modifier; /* DRM_FORMAT_MOD_INVALID: whatever the driver and the other side agree on */
    uint32_t memory;   /* TP_MEMORY_…, one or both */
};

struct tp_target_caps {
    /* The window's; 0: it takes the swapchain's (0xffffffff in Vulkan). Then any extent from 1 to
     * max is good, else this one, and others where there is scaling. */
    uint32_t width, height;
    uint32_t max_width, max_height; /* 0: as the driver can */
    uint32_t min_images;            /* that the other side needs to go on in FIFO; at least 2 */
    uint32_t max_images;            /* 0: as many as one likes */
    VkPresentModeKHR modes[TP_TARGET_MODES]; /* FIFO among them */
    uint32_t n_modes;
    VkColorSpaceKHR spaces[TP_TARGET_SPACES]; /* SRGB_NONLINEAR first */
    uint32_t n_spaces;
    VkSurfaceTransformFlagsKHR transforms;
    VkSurfaceTransformFlagBitsKHR transform; /* the one that costs nothing */
    VkCompositeAlphaFlagsKHR alphas;
    /* VK_EXT_surface_maintenance1; 0: none. */
    VkPresentScalingFlagsEXT scaling;
    VkPresentGravityFlagsEXT gravity_x, gravity_y;
    /* A picture may come with a sync file that has not signalled. False: its fence is -1 always,
     * and the caller waits for the GPU before it calls present. */
    bool takes_fences;
    /* "presented" events come, with real instants. False: they come, too, as good as is known. */
    bool timed;
    bool counts; /* refreshes (target_display.h) */
    int64_t period_ns; /* of the screen; 0: not known */
    /* The device on whose memory the other side works best; 0: not known. makedev's numbers. */
    uint64_t device;
};

struct tp_stream_info {
    uint32_t width, height;
    uint32_t fourcc; /* X… where the alpha does not count */
    uint32_t n_images;
    VkPresentModeKHR mode; /* until a picture says another */
    VkColorSpaceKHR space;
    VkSurfaceTransformFlagBitsKHR transform;
    VkCompositeAlphaFlagBitsKHR alpha;
    VkPresentScalingFlagsEXT scaling; /* 0, or one of caps' */
    VkPresentGravityFlagsEXT gravity_x, gravity_y;
    bool clipped;
};

/* An image's memory, for add. fd is borrowed until the stream is closed. */
struct tp_stream_image {
    uint32_t memory; /* one of TP_MEMORY_… */
    int fd;
    uint64_t bytes; /* of the memory */
    uint32_t width, height;
    uint32_t fourcc;
    uint64_t modifier;
    uint32_t n_planes;
    uint32_t offsets[TP_TARGET_PLANES], pitches[TP_TARGET_PLANES]; /* bytes */
};

/* A picture to be shown. What it points at is borrowed for the call. */
struct tp_picture {
    uint32_t index;
    uint64_t serial; /* the caller's, not 0, going up; events bear it */
    int fence;       /* a sync file of the rendering, moved, whatever is answered; -1: it is done */
    VkPresentModeKHR mode;
    int64_t not_before_ns;        /* CLOCK_MONOTONIC; 0: as soon as the mode has it */
    const VkRectLayerKHR *damage; /* what differs from this swapchain's picture before */
    uint32_t n_damage;            /* 0: all of it */
    const VkHdrMetadataEXT *hdr;  /* NULL: as before */
};

/* A picture has been shown. */
struct tp_shown {
    uint64_t serial;
    int64_t time_ns;   /* when its first line was, CLOCK_MONOTONIC */
    int64_t period_ns; /* of the screen then; 0: not known, or variable */
    uint64_t sequence; /* the screen's count of refreshes; 0: not known */
    bool exact;        /* time_ns is the hardware's, not when we were told */
};

enum tp_target_change {
    TP_TARGET_SUBOPTIMAL,  /* still shown, but another swapchain would fit better */
    TP_TARGET_OUT_OF_DATE, /* cannot be shown any more: as -ESTALE */
    TP_TARGET_LOST,        /* as -ENODEV. Holds on images end with it */
};

/* All are set. data: as given to open. */
struct tp_stream_events {
    /* The picture left the queue: it is with the other side now, which may read the image. */
    void (*committed)(void *data, uint32_t index, uint64_t serial);
    /* The other side reads the image no more, once the fence has signalled (a sync file, moved; -1:
     * at once). Also for an image whose picture was never committed. */
    void (*released)(void *data, uint32_t index, int fence);
    /* One of these two for each picture whose present answered 0, in any order with released. */
    void (*shown)(void *data, const struct tp_shown *s);
    void (*discarded)(void *data, uint64_t serial); /* never shown: another took its place */
    void (*changed)(void *data, enum tp_target_change what);
};

struct tp_target_ops {
    const char *name;                     /* for people: "wayland", … */
    void (*destroy)(struct tp_target *t); /* after its last stream */
    int (*query)(struct tp_target *t, struct tp_target_caps *out);
    /* *out: the caller's to free. */
    int (*formats)(struct tp_target *t, struct tp_target_format **out, uint32_t *n);
    /*
     * Begins a stream. A stream that the target has already is retired by it: what it has queued is
     * still shown, until the new one's first picture goes out, unless a window could take offence
     * at its size; what it holds then is released as ever.
     */
    int (*open)(struct tp_target *t, const struct tp_stream_info *info,
        const struct tp_stream_events *events, void *data, struct tp_stream **out);
    /* Ends it: its queue is dropped, its images are taken away. What is on the screen may stay. */
    void (*close)(struct tp_stream *s);
    /* An image of the stream; once for each index, before its first picture. */
    int (*add)(struct tp_stream *s, uint32_t index, const struct tp_stream_image *image);
    int (*present)(struct tp_stream *s, const struct tp_picture *p);
};

/* The first members of what each kind has. */
struct tp_target {
    const struct tp_target_ops *ops;
};
struct tp_stream {
    struct tp_target *target;
};

/*
 * Making them. 0 and *out, or an error as above. Nothing is asked of the other side yet where that
 * would be a round trip: query does that, once. Handles stay the application's, and outlive the
 * target.
 */
int tp_target_wayland_create(
    struct wl_display *display, struct wl_surface *surface, struct tp_target **out);
/* Can it show anything of ours? For vkGetPhysicalDeviceWaylandPresentationSupportKHR. */
bool tp_target_wayland_supports(struct wl_display *display);
int tp_target_x11_create(xcb_connection_t *connection, xcb_window_t window, struct tp_target **out);
bool tp_target_x11_supports(xcb_connection_t *connection, xcb_visualid_t visual);
/* The xcb connection of an Xlib display, by libX11-xcb of the process; NULL: there is none. */
xcb_connection_t *tp_target_xlib_connection(Display *display);
int tp_target_headless_create(struct tp_target **out);

#endif
