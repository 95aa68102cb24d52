/*
 * Reads the rings of a server and its guests into a join: what play, serve and top do.
 */
#ifndef TP_FRAMES_CENSUS_FOLLOW_H
#define TP_FRAMES_CENSUS_FOLLOW_H

#include "frames/census/join.h"

struct tp_follow;

#define TP_CENSUS_NO_PID UINT32_MAX /* a guest that is in no pid namespace of ours */

/* A ring as the server lists it (TCEN on a control connection, tp_server_census). */
struct tp_census_ring {
    uint32_t id;  /* of this server, never used twice; not 0 */
    uint32_t pid; /* as the kernel says it; 0: the server's own; TP_CENSUS_NO_PID */
    int fd;       /* owned by who has the list */
};

/* The sink is copied: join.h. */
struct tp_follow *tp_follow_create(const struct tp_join_sink *sink);
/* NULL is fine. */
void tp_follow_destroy(struct tp_follow *f);

/* All rings that there are now: new ones are opened, and those that are not in the list are over.
 * The descriptors stay the caller's. What is no ring is left out. */
void tp_follow_rings(struct tp_follow *f, const struct tp_census_ring *rings, unsigned n);
/* Reads what is new in all of them, and tells what is complete. */
void tp_follow_turn(struct tp_follow *f, int64_t now_ns);
/* The last turn, and all that waits is told. */
void tp_follow_end(struct tp_follow *f, int64_t now_ns);

/* Sums of all rings' counters. */
void tp_follow_counts(const struct tp_follow *f, uint64_t counts[TP_COUNTERS]);

/* The rings that are open now, in the order of their ids: i from 0. NULL: there are no more. For
 * gauges and names; not to be read by tp_ring_next. guest: as in records; may be NULL. */
const struct tp_ring_view *tp_follow_view(const struct tp_follow *f, unsigned i, unsigned *guest,
    uint32_t *pid);

#endif
