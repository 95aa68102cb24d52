/* A swapchain, as its files share it. */
#ifndef TP_FRAMES_ICD_SWAPCHAIN_H
#define TP_FRAMES_ICD_SWAPCHAIN_H

#include "frames/icd/buffer.h"
#include "frames/icd/census.h"
#include "frames/icd/present_queue.h"
#include "frames/icd/release.h"
#include "frames/icd/slots.h"
#include "frames/icd/waker.h"
#include "frames/pace/pace.h"

enum { TP_PRESENT_RECORDS = 128 };

/* An image of a swapchain. */
struct tp_icd_image {
    struct tp_icd_buffer buffer;
    VkFence fence;            /* of the submit of its last present; NULL: never needed yet */
    bool fence_in_use;        /* it was submitted, and not reset since */
    VkSemaphore semaphore;    /* gives its picture's sync file, or its copy its turn; NULL: neither */
    VkCommandBuffer commands; /* the copy; NULL: none */
    uint32_t family;          /* for which it is recorded */
    uint64_t frame;           /* the gate's, since its acquire; 0: none */
    bool committed;           /* since its acquire */
    /* The sync file of a picture that is under way, until it is known when it was complete. */
    int ready; /* -1: none */
    uint64_t ready_serial;
};

/* What became of a present; the ring's oldest are forgotten. */
struct tp_icd_record {
    uint64_t serial, frame; /* ours, the gate's */
    uint64_t id;            /* VK_KHR_present_id's; 0: none */
    uint32_t timing_id;     /* VK_GOOGLE_display_timing's */
    bool timed;             /* which asked for it */
    enum { TP_PRESENT_UNDERWAY, TP_PRESENT_SHOWN, TP_PRESENT_DISCARDED } end;
    int64_t desired_ns, ready_ns, shown_ns;
    int64_t line_ns; /* its first line came so long after that */
};

struct tp_icd_swapchain {
    struct tp_icd_device *device;
    struct tp_icd_surface *surface;
    VkAllocationCallbacks callbacks;        /* what allocator points at */
    const VkAllocationCallbacks *allocator; /* the application's; NULL: none */
    struct tp_icd_pool pool;
    struct tp_icd_image images[TP_SLOTS_MAX];
    uint32_t n_images;
    VkPresentModeKHR mode;
    bool mode_may_change; /* each present may bring another */
    struct tp_stream *stream;
    bool takes_fences;          /* the target's */
    struct tp_scanout *scanout; /* borrowed of the instance; NULL: no server */
    struct tp_scanout_watch *watch;
    bool hears; /* what the server says counts; else it is told of frames, no more */
    VkCommandPool pools[32]; /* by queue family, for copies */
    struct tp_icd_swapchain *next; /* in the list of all (swapchain.c) */

    /*
     * For what follows. Events of target and connection take it: neither is called with it held.
     */
    pthread_mutex_t lock;
    struct tp_waker waker; /* wakes the acquire that sleeps */
    pthread_cond_t told;   /* of CLOCK_MONOTONIC: a present has ended, or the state has changed */
    struct tp_slots *slots;
    struct tp_gate *gate; /* NULL: not paced */
    struct tp_gate_settings settings;
    bool settings_said;                /* by people: a guest's choice of mode does not count then */
    const struct tp_board_view *board; /* NULL: none */
    bool server_timed;                 /* the server's timeline comes */
    uint32_t output;                   /* of which */
    int64_t line_ns; /* a picture's first line comes so long after its flip is told */
    bool retired, out_of_date, suboptimal;
    uint64_t serial;
    uint64_t done_id; /* the highest present id that is on the screen, or never will be */
    struct tp_icd_record records[TP_PRESENT_RECORDS]; /* by serial */
    uint64_t told_serial; /* up to which vkGetPastPresentationTimingGOOGLE has told */
    VkHdrMetadataEXT hdr;
    bool hdr_new;
    struct tp_icd_census *census; /* NULL: there was no memory for one */
    uint32_t captured;            /* the number of that in the capture; 0: none */

    /* Where the target takes no fences: who waits for them. */
    pthread_t worker;
    bool working, ends;
    pthread_cond_t work;
    struct tp_present_queue jobs;
};

static inline struct tp_icd_swapchain *tp_icd_swapchain_of(VkSwapchainKHR handle)
{
    return (struct tp_icd_swapchain *)(uintptr_t)handle;
}

/* What an acquire or a present would answer before it does anything; VK_SUCCESS: go on. With the
 * lock held. */
VkResult tp_icd_swapchain_state(struct tp_icd_swapchain *c);
/* A call on the target failed; answers its VkResult. Without the lock. */
VkResult tp_icd_swapchain_failed(struct tp_icd_swapchain *c, int err);
/* The device is lost: whoever waits for a swapchain of its is told. Without any lock. */
void tp_icd_swapchains_lost(struct tp_icd_device *d);

/* The rest with the lock held. */

/* What its target tells (events.c), and what the connection tells. data: the swapchain. */
extern const struct tp_stream_events tp_icd_stream_events;
extern const struct tp_scanout_events tp_icd_scanout_events;
/* The gate gets its settings anew. */
void tp_icd_swapchain_pace(struct tp_icd_swapchain *c);
/* Something has changed: whoever sleeps looks again. */
void tp_icd_swapchain_wake(struct tp_icd_swapchain *c);

/* Pictures under way are looked at: which are complete (present.c). */
void tp_icd_swapchain_look(struct tp_icd_swapchain *c);

/* Begins a present's record (timing.c). */
struct tp_icd_record *tp_icd_record_begin(struct tp_icd_swapchain *c);
/* NULL: too long ago. */
struct tp_icd_record *tp_icd_record_find(struct tp_icd_swapchain *c, uint64_t serial);
void tp_icd_record_end(struct tp_icd_swapchain *c, uint64_t serial, const struct tp_shown *shown);

/* Ends the thread that waits for fences, when its jobs are done (present.c). Without the lock. */
void tp_icd_swapchain_stop(struct tp_icd_swapchain *c);

#endif
