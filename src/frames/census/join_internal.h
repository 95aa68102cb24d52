/* What the parts of the join share: who is heard, and what waits for its other half. */
#ifndef TP_FRAMES_CENSUS_JOIN_INTERNAL_H
#define TP_FRAMES_CENSUS_JOIN_INTERNAL_H

#include "frames/census/join.h"
#include "frames/census/spacing.h"

#define JOIN_BOUND (INT64_C(1) << 60) /* of instants and numbers, as captures have it */
#define JOIN_FRAMES 512u              /* of a swapchain, that wait */
#define JOIN_PICTURES 1024u           /* uncapped, there are hundreds in a tenth of a second */
#define JOIN_CROWD 64u                /* that go where there is no room for more */
#define JOIN_REFRESHES 1024u
#define JOIN_GRID 1024u   /* refreshes whose instants are known */
#define JOIN_DECIDED 256u /* pictures that are told, for refreshes that show them */

#define JOIN_SETTLE_NS 250000000ll /* for what was said of it meanwhile on the other side */

/* A guest's frame that waits for the panel's word. */
struct join_frame {
    struct tp_ring_frame f;
    int64_t came_ns;
    uint64_t pass;
};

struct join_source {
    bool used, gone;
    uint32_t id;
    unsigned guest; /* TP_JOIN_SCREEN: it is a screen */
    struct join_frame *room;  /* owned */
    struct join_frame *frames; /* in it; by their numbers */
    unsigned n, n_room;
    bool told; /* some frame was: */
    uint64_t last_number;
    int64_t last_line_ns, last_ready_ns;
    uint64_t last_sequence;
    struct tp_spacing spacing;
    uint64_t counts[TP_COUNTERS];
};

/* Whose frame a picture is. */
struct join_owner {
    bool known;
    unsigned guest;
    uint64_t frame;
};

struct join_picture {
    struct tp_ring_picture p;
    bool ended; /* it has left the panel, or was dropped */
    bool torn;
    int64_t ended_ns;  /* when that was heard */
    int64_t passed_ns; /* when it was first heard of a refresh with a later one; TP_NEVER */
    struct join_owner owner;
};

/* Of the first refresh from which it counts on. */
struct join_tick {
    uint64_t sequence;
    uint32_t refresh_mhz;
    int64_t latch_ns, from_ns;
};

struct join_screen {
    bool heard; /* there is one: */
    uint32_t id;
    uint64_t pipeline, slowest_mhz;
    struct join_picture pictures[JOIN_PICTURES]; /* by their serials */
    unsigned n;
    uint64_t popped;   /* pictures up to this serial are not waited for any more */
    uint64_t numbered; /* the last of the screen's own */
    struct {
        struct tp_ring_refresh r;
        int64_t came_ns;
    } refreshes[JOIN_REFRESHES]; /* a ring */
    unsigned first_refresh, n_refreshes;
    uint64_t shown; /* the serial of the last refresh that had one */
    struct join_tick grid[JOIN_GRID]; /* a ring */
    unsigned first_tick, n_ticks;
    struct {
        uint64_t serial;
        struct join_owner owner;
    } decided[JOIN_DECIDED]; /* a ring; the latest at last_decided */
    unsigned last_decided;
};

struct tp_join {
    struct tp_join_sink sink;
    int64_t now_ns;
    uint64_t pass;
    unsigned next_guest;
    struct join_source sources[TP_JOIN_RINGS];
    struct join_screen screen;
    uint64_t next_number; /* of the screen's frames */
    struct tp_spacing screen_spacing;
    bool had_screen;
    uint64_t gone_counts[2][TP_COUNTERS]; /* of swapchains, and of screens */
};

/* --- join_frame.c --- */

/* The guest's frames that are complete, or all of them. */
void join_tell_frames(struct tp_join *j, struct join_source *s, bool all);
/* The oldest of them, as it is. */
void join_tell_first(struct tp_join *j, struct join_source *s);
/* A picture of nobody else's, as the screen's frame with this number. */
void join_tell_picture(struct tp_join *j, const struct join_picture *p, uint64_t number);

/* --- join_screen.c --- */

void join_put_picture(struct tp_join *j, const struct tp_ring_picture *p);
void join_put_refresh(struct tp_join *j, const struct tp_ring_refresh *r);
/* Before a pass: which pictures a later one has taken the place of. */
void join_note_passed(struct tp_join *j);
/* Pictures and refreshes that are complete, or all of them. */
void join_tell_screen(struct tp_join *j, bool all);
/* The panel does not show it any more, and all of its refreshes are known. */
bool join_is_over(const struct tp_join *j, const struct join_picture *p);
/* The i-th tick that is known, the oldest first. */
const struct join_tick *join_tick(const struct join_screen *s, unsigned i);

/* --- join.c --- */

bool join_has_buffer(const struct tp_buffer_name *name, const struct tp_ring_picture *p);
void join_lose(const struct tp_join *j, unsigned guest, uint64_t entries);

static inline bool join_is_instant(int64_t ns)
{
    return ns >= -JOIN_BOUND && ns <= JOIN_BOUND;
}
static inline void join_check_instant(int64_t *ns)
{
    if (!join_is_instant(*ns))
        *ns = TP_NEVER;
}

#endif
