/*
 * Makes records of what rings tell: of what a guest says of its frame, and the server of the
 * picture that showed it, one tp_frame_record; of a scan-out a tp_refresh_record. Pure, in memory
 * of a bounded size whatever comes: entries are other processes' words, and may be anything.
 *
 * A frame belongs to the pictures that have its buffer (memory and generation), that were committed
 * after it was and before that buffer's next frame. Where there is such a picture the panel's
 * instants hold, not what a compositor told the guest. Pictures in which no swapchain's buffer is
 * become frames of a guest of their own, the screen: a compositor's, or those of a program that
 * draws without our Vulkan driver.
 *
 * What is told is fit for a capture: instants within 2^60 ns of 0, numbers in their bounds, the
 * frames of a guest by their numbers, refreshes by theirs. A frame's other half is waited for, a
 * second at most.
 */
#ifndef TP_FRAMES_CENSUS_JOIN_H
#define TP_FRAMES_CENSUS_JOIN_H

#include "frames/census/ring.h"

#define TP_JOIN_SCREEN 65535u        /* the guest that pictures of nobody's are frames of */
#define TP_JOIN_RINGS 128u           /* at the same time */
#define TP_JOIN_WAIT_NS 1000000000ll /* for a frame's other half, or a refresh's */

struct tp_join;

/* Who is told; each may be NULL. None may call the join. What is handed over lasts until the call
 * returns. */
struct tp_join_sink {
    /* A ring was added: its frames will be this guest's. name: printable UTF-8. pid 0: not known.
     */
    void (*guest)(void *data, unsigned guest, const char *name, uint32_t pid);
    /* Its ring has gone, and its last frame was told. */
    void (*gone)(void *data, unsigned guest);
    void (*frame)(void *data, const struct tp_frame_record *f);
    void (*refresh)(void *data, const struct tp_refresh_record *r);
    /* From now on it is so, says this guest; or TP_JOIN_SCREEN. */
    void (*setting)(void *data, unsigned guest, const struct tp_ring_setting *s);
    /* So many entries more of its ring are not among the records: overwritten, or what none can
     * be. */
    void (*lost)(void *data, unsigned guest, uint64_t entries);
    void *data;
};

/* The sink is copied. */
struct tp_join *tp_join_create(const struct tp_join_sink *sink);
/* What waits is not told. NULL is fine. */
void tp_join_destroy(struct tp_join *j);

/*
 * A ring; id is the caller's, and not used for two at the same time. name: any bytes with an end.
 * Answers the guest's number: 0, 1, … for swapchains, never used twice; TP_JOIN_SCREEN for a
 * screen. Of screens one is heard at a time, the first that is there. -ENOSPC: as many as there
 * may be, and this one is not heard; -EEXIST: the id is in use.
 */
int tp_join_add(struct tp_join *j, uint32_t id, enum tp_ring_producer producer, uint32_t pid,
    const char *name);
/* No more comes of it; what is there of it is told as usual. */
void tp_join_gone(struct tp_join *j, uint32_t id);

/* An entry of that ring, in its order; and that so many were lost before the next one. */
void tp_join_put(struct tp_join *j, uint32_t id, const struct tp_ring_entry *e);
void tp_join_lost(struct tp_join *j, uint32_t id, uint64_t entries);
/* One of its gauges is so now. Known ones: pipeline, slowest-mhz and the counters; others are left
 * alone. */
void tp_join_gauge(struct tp_join *j, uint32_t id, unsigned gauge, uint64_t value);

/* What there was in all rings by now_ns (CLOCK_MONOTONIC, or another that does not go back) has
 * been put: what is complete, or has waited for too long, is told. */
void tp_join_pass(struct tp_join *j, int64_t now_ns);
/* There will be no more of any: all that waits is told as it is. */
void tp_join_end(struct tp_join *j);

/* Sums of all rings' counters, those that are gone among them. */
void tp_join_counts(const struct tp_join *j, uint64_t counts[TP_COUNTERS]);

#endif
