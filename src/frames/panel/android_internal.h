/* The phone's screen, inside. */
#ifndef TP_FRAMES_PANEL_ANDROID_INTERNAL_H
#define TP_FRAMES_PANEL_ANDROID_INTERNAL_H

#include <drm_mode.h>
#include <pthread.h>

#include "frames/panel/android.h"
#include "frames/panel/android_api.h"
#include "frames/panel/android_buffer.h"
#include "frames/panel/android_clock.h"
#include "frames/panel/android_ledger.h"

#define TP_ANDROID_SEEN 8u
#define TP_ANDROID_STALL_NS INT64_C(500000000) /* nothing shown for so long: copies instead */
#define TP_ANDROID_DEAD_NS INT64_C(1000000000) /* copies neither: new layers */

struct tp_android;

/* A transaction that SurfaceFlinger has; its callbacks' context. */
struct tp_android_transaction {
    struct tp_android *panel;
    struct tp_android_transaction *next; /* in the list of those that nobody needs */
    uint64_t id, serial;
    unsigned callbacks; /* that are to come */
    struct tp_android_set {
        struct tp_android_transaction *transaction;
        ASurfaceControl *layer; /* NULL: it sets nothing there; compared, not used */
        bool own;
    } sets[TP_KMS_LAYERS];
};

/* How SurfaceFlinger has a layer; what is as it was is not sent again. */
struct tp_android_look {
    struct tp_a_rect source, destination;
    int32_t transform, data_space, z;
    uint16_t alpha;
    bool opaque, visible, back_pressure;
};

struct tp_android {
    struct tp_panel panel;
    struct tp_android_api api;
    struct tp_panel_android_config config;
    const struct tp_panel_events *events;
    void *data;
    pthread_t thread; /* the Choreographer's */
    bool running;

    /* Held by whoever makes transactions; taken before `mutex`. */
    pthread_mutex_t commit;
    ANativeWindow *window; /* a reference; NULL: none */
    int32_t width, height; /* the window's; asking it may be a call to another process */
    struct tp_android_layer {
        ASurfaceControl *control; /* a reference; NULL: not made yet */
        struct tp_android_look look;
        bool looked; /* look is what SurfaceFlinger has */
    } layers[TP_KMS_LAYERS];
    struct tp_kms_scanout picture;           /* the newest; its fbs are held, its in_fences owned */
    struct hdr_output_metadata hdr_metadata; /* picture.hdr_metadata is this, or NULL */
    bool paused, dark;
    bool hdr, direct, repaint; /* repaint: as soon as may be */
    bool voted;                /* SurfaceFlinger has the mode's refresh as our vote */
    bool leaving;              /* blanks were set; until when is waited for their completion */
    int64_t leave_until_ns;
    struct tp_kms_mode mode;
    struct tp_android_buffers buffers;
    unsigned said; /* causes that were told of: bits of enum tp_android_cause */

    pthread_mutex_t mutex; /* all below, and callbacks' work; no call of the system's under it */
    pthread_cond_t quiet;
    struct tp_ledger ledger;
    struct tp_android_transaction *unused;
    unsigned outstanding; /* transactions whose callbacks are to come */
    uint64_t next_id;
    struct tp_android_seen { /* latched, and not on the screen for sure */
        uint64_t serial;
        int64_t latched_ns;
        int fence; /* owned: signals when it is shown */
    } seen[TP_ANDROID_SEEN];
    unsigned n_seen;
    uint64_t shown_serial;
    struct tp_android_clock clock;
    int64_t vsync_id; /* the frame timeline of the last refresh; -1: none */
    struct tp_panel_android_counts counts;
    bool away_told;
    bool closing, stopped; /* no events any more; freed with the last callback */
    unsigned telling;      /* threads that are inside an event */
    /* The Choreographer's thread. */
    ALooper *looper;
    AChoreographer *choreographer;
    int64_t announced_period_ns;
    bool stop;
    enum { STARTING, STARTED, CANNOT_START } state;
};

/* --- android.c --- */
enum tp_android_cause { SAID_IMPORT, SAID_COPY, SAID_STALL, SAID_DEAD, SAID_CURSOR, SAID_LAYER };
/* commit is held. */
void tp_android_say(struct tp_android *a, enum tp_android_cause cause, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Tells what the ledger has to tell. No lock is held. */
void tp_android_tell(struct tp_android *a);
/* This thread is handing a transaction over, with commit held: callbacks from inside that tell
 * nothing, it will. */
extern _Thread_local bool tp_android_handing_over;
/* Around a call of an event: false, nobody is to be told any more. No lock is held. */
bool tp_android_begin_event(struct tp_android *a);
void tp_android_end_event(struct tp_android *a);
/* Frees what destroy has left, once no callback is to come. mutex is held, and gone after it was
 * freed: true. */
bool tp_android_unlock_or_free(struct tp_android *a);

/* --- android_transaction.c; commit is held --- */
/* Shows the newest picture, for the first time or again. */
void tp_android_apply(struct tp_android *a);
/* A blank in each layer's place. */
void tp_android_apply_blanks(struct tp_android *a);
/* Takes the layers away; all that is on them counts as free. */
void tp_android_drop_layers(struct tp_android *a);
/* Nothing can be shown now. */
static inline bool tp_android_is_away(const struct tp_android *a)
{
    return a->paused || a->dark || !a->window;
}
/* The fence is through: false, it was silent for a second. */
bool tp_android_wait_fence(int fence);
bool tp_android_is_sync_file(int fence);

/* --- android_callback.c --- */
void tp_android_on_commit(void *context, ASurfaceTransactionStats *stats);
void tp_android_on_complete(void *context, ASurfaceTransactionStats *stats);
void tp_android_on_release(void *context, int fence);
struct tp_android_transaction *tp_android_transaction_get(struct tp_android *a); /* mutex is held */
/* Pictures that are on the screen since this refresh are told of. No lock is held. */
void tp_android_tell_shown(struct tp_android *a, const struct tp_panel_tick *t);

/* --- android_life.c --- */
/* At each refresh: the watchdog, and what waits for its time. No lock is held. */
void tp_android_housekeep(struct tp_android *a, int64_t now_ns);

/* --- android_look.c --- */
int tp_android_look(struct tp_panel *p, struct tp_image *out, struct tp_error *e);

/* --- android_timeline.c --- */
int tp_android_timeline_start(struct tp_android *a, struct tp_error *e);
void tp_android_timeline_stop(struct tp_android *a);

#endif
