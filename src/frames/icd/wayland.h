/*
 * What the files of the Wayland target share.
 *
 *     target_wayland.c        the target: made, asked, its streams opened and closed
 *     wayland_globals.c       what the compositor offers
 *     wayland_formats.c       which formats, by linux-dmabuf and wl_shm
 *     wayland_buffer.c        images as wl_buffers
 *     wayland_commit.c        pictures on their way, frame callbacks, releases
 *     wayland_shown.c         when pictures were shown
 *
 * The wl_display is the application's. All objects of ours are in an event queue of ours, which the
 * target's thread dispatches with the target's lock held: handlers need no other, and nothing is
 * destroyed while its event is handled. What needs an answer at once waits in a queue of its own.
 */
#ifndef TP_FRAMES_ICD_WAYLAND_H
#define TP_FRAMES_ICD_WAYLAND_H

#include <pthread.h>

#include "frames/icd/loop.h"
#include "frames/icd/present_queue.h"
#include "frames/icd/target.h"
#include "frames/icd/wayland_library.h"
#include "linux-dmabuf-client.h"
#include "linux-explicit-synchronization-client.h"
#include "presentation-time-client.h"
#include "tearing-control-client.h"

struct tp_wayland_formats {
    struct tp_target_format *formats; /* owned */
    uint32_t n, room;
    bool failed; /* out of memory: some are not in it */
};

/* linux-dmabuf's answers, as they come in. */
struct tp_wayland_feedback {
    struct zwp_linux_dmabuf_feedback_v1 *object; /* version 4; NULL: an older one */
    void *table;                                 /* mapped; NULL: none */
    size_t table_bytes;
    struct tp_wayland_formats coming; /* of the tranches until "done" */
    uint32_t n_first, coming_first;   /* how many of the formats are the first tranche's */
    uint64_t device;
};

struct tp_wayland {
    struct tp_target base;
    struct wl_display *display;     /* the application's */
    struct wl_surface *app_surface; /* the application's: nothing is sent by it */

    pthread_mutex_t setup; /* for asking the compositor what it offers, once */
    bool asked;

    /* From here on by the lock. */
    pthread_mutex_t lock;
    struct wl_event_queue *queue;
    struct wl_surface *surface; /* the application's, with our queue */
    struct wl_registry *registry;
    /* NULL: the compositor has it not. */
    struct wl_compositor *compositor;
    struct wl_shm *shm;
    struct zwp_linux_dmabuf_v1 *dmabuf;
    struct zwp_linux_explicit_synchronization_v1 *sync;
    struct wp_presentation *presentation;
    struct wp_tearing_control_manager_v1 *tearing;
    bool gamescope;
    bool shared_dmabuf; /* shared memory may go as a dma-buf */
    clockid_t clock;    /* of presentation */
    int64_t period_ns;
    bool answers, mute; /* presentation has told of a picture; does not tell of any */
    struct tp_wayland_formats dmabuf_formats, shm_formats;
    struct tp_wayland_feedback feedback;

    /* Of the surface; NULL: never needed. */
    struct zwp_linux_surface_synchronization_v1 *surface_sync;
    struct wp_tearing_control_v1 *tearing_control;
    struct tp_loop *loop;      /* from the first stream on */
    bool reading;              /* the loop's own: it has announced a read */
    int64_t loop_until_ns;     /* when the loop goes on at the latest; INT64_MIN: it is awake */
    bool dead;                 /* the connection has ended */
    bool blocked;              /* the compositor does not read: nothing more is sent */
    struct wl_list streams;    /* oldest first */
    struct wl_list closed;     /* whose buffers end when the compositor reads again */
    struct wl_callback *frame; /* what is committed has not begun a refresh yet; NULL: it has */
    int64_t asked_ns;          /* when the last picture went out that waits for that */
    int64_t refreshed_ns;      /* when the last refresh began */
    bool hidden;               /* refreshes do not come */
    VkPresentModeKHR last_mode;
    struct tp_wayland_image *last; /* committed last; NULL: none, or of a stream that is closed */
    int32_t transform;             /* as the surface has it */
    bool opaque, async;
    struct wl_buffer *lingering; /* on screen, of a stream that is closed; owned */
};

struct tp_wayland_image {
    struct tp_wayland_stream *stream;
    struct wl_buffer *buffer;      /* NULL: not added, or its first picture makes it */
    struct tp_stream_image shared; /* by wl_shm */
    bool dmabuf;                   /* with the compositor's fences, where it has such */
    bool held;
    struct zwp_linux_buffer_release_v1 *release; /* NULL: the buffer's own is awaited */
};

struct tp_wayland_stream {
    struct tp_stream base;
    struct wl_list link;
    const struct tp_stream_events *events;
    void *data;
    struct tp_stream_info info;
    struct tp_present_queue queue;
    struct tp_queued *ready; /* has its turn, but not its fence; NULL: none */
    struct wl_list awaited;  /* struct tp_wayland_awaited: committed, and not yet shown */
    uint64_t modifier;       /* of its images; DRM_FORMAT_MOD_INVALID: none is a dma-buf */
    bool begun;              /* its first picture is out */
    bool told_suboptimal;
    struct tp_wayland_image images[];
};

/* --- wayland_globals.c --- */

/* Binds what there is. -ENODEV: the connection has ended. */
int tp_wayland_bind(struct tp_wayland *w);
/* What tp_wayland_bind made, in whichever state. */
void tp_wayland_unbind(struct tp_wayland *w);

/* --- wayland_formats.c --- */

/* Hears what wl_shm and linux-dmabuf take. Right after the bind, from inside the dispatch: another
 * thread may have read the answer by the end of the round trip, and it would go to nobody. */
void tp_wayland_listen_shm(struct tp_wayland *w);
void tp_wayland_listen_dmabuf(struct tp_wayland *w);
void tp_wayland_finish_formats(struct tp_wayland *w);
bool tp_wayland_takes(const struct tp_wayland_formats *formats, uint32_t fourcc, uint64_t modifier);

/* --- wayland_buffer.c --- */

/*
 * libwayland ends a connection whose buffer (4 KiB, 28 descriptors) is full of what the compositor
 * has not read: waits, that long (ms; -1: without end), until all that was written is out. -EAGAIN:
 * it is not. To be called before what waits for an answer all the same; the lock is not held.
 */
int tp_wayland_make_room(struct wl_display *display, int timeout_ms);
/* A dma-buf's is made: waits for the answer. The lock is not held. -EOPNOTSUPP, -ENODEV,
 * -ENOMEM. */
int tp_wayland_add(
    struct tp_wayland *w, struct tp_wayland_image *out, const struct tp_stream_image *image);
/* Shared memory's, for its first picture; with the lock held. -ENOMEM. */
int tp_wayland_make_shared(struct tp_wayland *w, struct tp_wayland_image *image);
/* The first of the closed streams ends with its buffers; with the lock held. In silence: the
 * compositor is not told. */
void tp_wayland_bury(struct tp_wayland *w, bool silent);
/* Will it take shared memory as a dma-buf? Waits for the answer. */
bool tp_wayland_probe_shared(struct tp_wayland *w);

/* --- wayland_commit.c: all with the lock held --- */

/* From now on its releases are heard of. */
void tp_wayland_listen_release(struct tp_wayland_image *image);
/* Sends what may go out now. */
void tp_wayland_pump(struct tp_wayland *w);
/* Sends what is written; the loop goes on with what the socket does not take. Ends the buffers of
 * closed streams. */
void tp_wayland_flush(struct tp_wayland *w);
/* When to pump again, if nothing happens before. */
int64_t tp_wayland_until(const struct tp_wayland *w);
/* The stream's pictures that are not out yet end. */
void tp_wayland_drop(struct tp_wayland_stream *s, bool tell);
/* The connection has ended: tells everybody, once. */
void tp_wayland_lose(struct tp_wayland *w);

/* --- wayland_shown.c: all with the lock held --- */

/* Right after the bind, too. */
void tp_wayland_listen_presentation(struct tp_wayland *w);
/* Before the commit of a picture: its "shown" or "discarded" will come. -ENOMEM. */
int tp_wayland_await_shown(struct tp_wayland_stream *s, uint64_t serial);
/* The refresh of what was committed last has begun: without presentation that counts as shown. */
void tp_wayland_refreshed(struct tp_wayland *w, int64_t now_ns);
/* Does presentation tell anything at all? Until when to see, INT64_MAX: that is known. */
int64_t tp_wayland_shown_until(const struct tp_wayland *w);
void tp_wayland_check_shown(struct tp_wayland *w, int64_t now_ns);
/* Nobody waits any more for the stream's pictures. tell: as "discarded". */
void tp_wayland_forget_shown(struct tp_wayland_stream *s, bool tell);

static inline struct tp_wayland *tp_wayland_of(struct tp_wayland_stream *s)
{
    return (struct tp_wayland *)s->base.target;
}

#endif
