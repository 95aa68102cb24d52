/* What the files of the world share. All times are of its own clock, in ns. */
#ifndef TP_FRAMES_WORLD_INTERNAL_H
#define TP_FRAMES_WORLD_INTERNAL_H

#include "frames/icd/slots_acquire.h"
#include "frames/panel/sim_scan.h"
#include "frames/server/notes.h"
#include "frames/wire/hello.h"
#include "frames/world/world.h"

#define NEVER TP_NEVER
#define FRAMES 128u /* that are remembered, a power of two */
#define KEPT 16u
#define FENCES 4096u /* at the same time */
#define MESSAGES 64u /* under way to the guest at the same time: a socket's room */
#define JOBS 16u
#define OWN_MOST 5u /* images of a compositor */
#define OWN_SETS 4u /* of compositors, one after the other */
#define BOARDS 4u
#define START_NS INT64_C(1000000000)
#define HOP_NS 5000 /* from one process to another */

/* --- the clock --- */

enum event_type {
    EVENT_GUEST,    /* a: the guest's turn; stale ones are left out */
    EVENT_GPU,      /* its job is done */
    EVENT_MESSAGE,  /* one reaches the guest; a: which, b: of what connection */
    EVENT_REQUEST,  /* one reaches the server; a: which buffer */
    EVENT_COMPOSE,  /* the compositor has a frame; a: its number, b: which compositor */
    EVENT_FLIP,     /* the flip event reaches the compositor; a: the frame, b: as above */
    EVENT_RELEASE,  /* the compositor's release reaches the guest; a: the image, b: as above */
    EVENT_CALLBACK, /* the panel's completion reaches the server; a: serial, b: fence */
    EVENT_SIGNAL,   /* a fence; a: which */
    EVENT_SHOWN,    /* presentation feedback reaches the guest; a: the frame */
    EVENT_NOTES,    /* a server that has this bug tells of a picture; a: its serial */
    EVENT_GONE,     /* an image is not the panel's any more; a: which */
    EVENT_SERVER,   /* its own timers */
    EVENT_CLOSED,   /* the guest sees that the server's end is closed */
    EVENT_STRIKE,   /* a fault begins; a: which */
    EVENT_FAULT,    /* it ends; a: which */
    EVENT_REPAINT,  /* a compositor that composes goes on; a: its turn */
    EVENT_DRAWN,    /* its picture is drawn; a: its turn */
};

struct event {
    int64_t at;
    uint64_t order; /* of those at the same instant */
    enum event_type type;
    int32_t b;
    uint64_t a;
};

struct events {
    struct event *heap;
    size_t n, cap;
    uint64_t orders;
};

/* --- who takes part --- */

struct frame {
    uint64_t number, id; /* from 0; the gate's */
    unsigned image;      /* the client's */
    unsigned drawn;      /* what the panel reads: that, or the compositor's own */
    int32_t life;        /* of the compositor that it went to */
    int64_t begin, asked, acquired, gate, entry, ready, commit, line; /* NEVER: not yet */
    int64_t cpu, gpu;
    int64_t release;  /* when the image that it got was free */
    int64_t earliest; /* ready, had it started as soon as it could have */
    uint64_t serial;
    bool gone; /* from the panel */
    bool torn; /* its image was written since */
    bool tore; /* a scan-out of it is counted as a tear */
    /* For who looks on. */
    int64_t computes, elsewhere, elsewhere_to, write, booked, composed, published, latched,
        released, told, returned;
    int64_t slot_wait, release_wait, gate_wait;
    uint64_t repeats, sequence;
    int64_t permitted;
    uint32_t refresh_mhz;
};

struct image {
    int64_t write_from, write_to; /* the last time that the GPU wrote it */
    int64_t read_from, read_to;   /* the last scan-out of it */
    uint64_t read_frame;          /* which that showed */
    int64_t unheld;               /* since when no panel reads it, as the panel knows it */
    /* Of it, from its publish until its fence signals; once the server that has the fence is gone,
     * until the panel lets go. */
    unsigned uses;
    bool torn;      /* that scan-out is counted */
    uint64_t frame; /* that it has */
};
#define NEW_IMAGE                                                                                  \
    ((struct image){.write_from = NEVER,                                                           \
        .write_to = NEVER,                                                                         \
        .read_from = NEVER,                                                                        \
        .read_to = NEVER,                                                                          \
        .unheld = NEVER})

struct fence {
    int64_t signal; /* INT64_MAX: not known yet */
    bool signalled, watched;
    unsigned refs;
};

struct job {
    uint64_t frame;
    int64_t takes;
    bool writes;
    int fences[TP_SLOTS_FENCES];
    unsigned n_fences;
};

struct message {
    bool used;
    struct tp_frame_header header;
    uint8_t bytes[TP_SCANOUT_BYTES];
    size_t n;
    int fence;
};

struct guest {
    enum { BEGINS, COMPUTES, ACQUIRES, STOPPED } state;
    uint64_t frame; /* its number */
    uint64_t turn;
    struct tp_slots *slots;
    struct tp_gate *gate;
    struct tp_acquire acquire;
    struct tp_slots_wait wait;
    bool poked, booked;
    int64_t reads_from; /* it is slow: not before */
    int64_t asleep_until, returned;
    uint64_t done; /* frames whose GPU work is done */
    struct tp_acquired got;
    struct job jobs[JOBS];
    unsigned first_job, n_jobs;
    bool running;
    int64_t gpu_free, busy_ns, clock_at;
    uint32_t slower; /* DVFS: thousandths */
};

struct compositor {
    uint64_t queue[FRAMES];
    unsigned first, n;
    bool flipping, away;
    int32_t lives;   /* it died so often */
    int64_t showing; /* image, -1: none */
    int64_t stalled_until;
    /* It composes. */
    enum { RESTS, REPAINTS, DRAWS } state; /* REPAINTS: it wants an image of its own */
    uint64_t turn;
    int64_t target_ns; /* the refresh that it last drew for */
    struct tp_acquire acquire;
    uint64_t drawing; /* frame */
    unsigned slot;    /* of its own, that it draws into */
    bool poked, armed, has_shown;
    unsigned set; /* of images: a new compositor has new ones */
};

/* The swapchain that the panel reads, as its ICD has it: the guest's, or that of a compositor that
 * composes. */
struct screened {
    struct tp_slots *slots;
    struct tp_board_view view;
    struct tp_buffer_name names[TP_SLOTS_MAX];
    uint32_t generation;
    unsigned images;
    unsigned base;               /* of its images in the panel's */
    struct tp_slots_counts past; /* of compositors that died */
};

struct server {
    struct tp_notes *notes;
    struct tp_notes_peer *peer;
    struct tp_board boards[BOARDS], *board; /* of servers, one after the other; this one's */
    uint64_t serial, used_sequence, sequence;
    uint64_t first;             /* serial of this one */
    bool has_commit, up, ticks; /* ticks: it has seen a refresh since */
    unsigned published;         /* in this refresh */
    unsigned boards_used;
    bool dead;  /* writes nothing any more */
    bool ended; /* one has, and the guest is connected to it yet */
    uint64_t commit;
    struct message messages[MESSAGES];
    unsigned n;          /* of them */
    int32_t sessions;    /* connections so far */
    unsigned registered; /* of the guest's images, that it has read of this one */
    int64_t timer;
    uint64_t blank; /* its serial; 0: none */
    bool blank_due;
};

/* What the world measures by itself; the rest is of its records. */
struct metrics {
    struct tp_metrics *records;
    uint64_t ready, in_period;
};

/* How long an acquire has been waiting for what is nobody's fault and nobody's work. */
struct watch {
    int64_t at, waited;
    uint64_t frame; /* its number + 1 */
    bool excused;
};

struct still {
    uint64_t frames;              /* shown or dropped so far */
    int64_t frames_at, fault_at; /* since when; and since when nothing has gone wrong, or ended */
};

struct world {
    const struct tp_world_config *c;
    struct tp_world_result *out;
    int64_t now;
    uint64_t random;
    struct events events;
    struct tp_scan scan;
    struct server server;
    struct compositor compositor;
    struct guest guest;
    struct metrics metrics;
    struct frame frames[FRAMES];
    struct frame kept[KEPT]; /* older ones that the panel has yet; in a ring */
    unsigned n_kept;
    struct image images[TP_SLOTS_MAX];     /* the guest's */
    struct image own[OWN_SETS * OWN_MOST]; /* of compositors that compose */
    struct image *panel;                   /* which of them the panel reads */
    unsigned n_panel;
    struct screened screened;
    struct fence fences[FENCES];
    int free_fence;                             /* where to look next */
    unsigned n_fences;                          /* held, by whomever */
    unsigned n_completions, n_carried, n_early; /* of these: by what is on its way */
    uint64_t latched[TP_SCAN_PIPELINE + 2];     /* serials, not shown yet */
    unsigned n_latched;
    int32_t screens;          /* that went off; nothing is anywhere then */
    uint64_t forgotten;       /* a blank: no picture up to it is anywhere */
    int early[FRAMES];        /* fences + 1 of serials, that signal with their release */
    uint64_t serials[FRAMES]; /* frame number + 1 of a serial; 0: a blank */
    bool panel_has[FRAMES];   /* serials that are frames: published, and not let go */
    bool over;
    bool steady; /* nothing goes wrong by chance */
    bool paced;  /* by the gate, and not late on purpose */
    bool fits;   /* and each frame has all that it needs */
    struct watch watch;
    struct still still;
    int64_t slowest_ns;             /* refresh so far */
    int64_t first_late;             /* frames before the first that is judged; -1: none is yet */
    int64_t between_ns;             /* from one frame to the next, at most */
    int64_t settled_ns, last_line_ns; /* first lines of the first frame that counts, and the last */
    tp_fine clock;                  /* a cap's, of the last frame; 0: none yet */
    struct tp_refresh_record reads; /* the scan-out that goes on; for who looks on */
    int64_t policy_start;           /* of the last frame by a policy, and the refresh then */
    uint64_t policy_refresh;
};

static inline struct frame *frame_at(struct world *w, uint64_t number)
{
    return &w->frames[number % FRAMES];
}
static inline int64_t max_ns(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static inline int64_t period_of(uint32_t mhz)
{
    return INT64_C(1000000000000) / mhz;
}
/* The panel's, now. */
static inline int64_t panel_period(const struct world *w)
{
    return period_of(w->scan.mode.refresh_mhz);
}

/* --- run.c --- */

void push(struct world *w, int64_t at, enum event_type type, uint64_t a, int32_t b);
/* For the story. */
void tell(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* 0 to n - 1. */
uint64_t dice(struct world *w, uint64_t n);
/* The dice say that a fault of this kind happens; strikes: here, and it is counted. */
bool falls(struct world *w, enum tp_world_fault f);
bool strikes(struct world *w, enum tp_world_fault f);
static inline bool has_bug(const struct world *w, enum tp_world_bug b)
{
    return w->c->bug == b;
}
int make_fence(struct world *w, int64_t signal);
void hold_fence(struct world *w, int fence);
void drop_fence(struct world *w, int fence);
/* It has signalled: whoever waits for it is told. */
void signal_fence(struct world *w, int fence);

/* --- game.c --- */

void start_guest(struct world *w);
void stop_guest(struct world *w);
void guest_turn(struct world *w, uint64_t turn);
void guest_message(struct world *w, unsigned which, int32_t session);
void guest_release(struct world *w, unsigned image, int32_t life);
/* That connection's other end is closed; there is a compositor again. */
void guest_closed(struct world *w, int32_t session);
void guest_resume(struct world *w);
void guest_shown(struct world *w, uint64_t number);
/* Before an image is taken: whose words are believed lives, or is noticed to be gone. */
void look_at_server(struct world *w);
/* What the panel reads goes to a server that is there. */
void connect_screened(struct world *w);
void create_slots(
    struct world *w, unsigned images, enum tp_release_wait wait, struct tp_slots **out);
void sleep_until(struct world *w, int64_t at);
/* Something that an acquire may wait for has happened. */
void poke_guest(struct world *w);
void run_guest(struct world *w);

/* --- gpu.c --- */

void submit(struct world *w, const struct job *j);
void gpu_done(struct world *w);
void gpu_kick(struct world *w);
/* Somebody's GPU begins to write this image. */
void begin_writing(struct world *w, struct image *m, int64_t until);

/* --- screen.c --- */

void start_screen(struct world *w);
void stop_screen(struct world *w);
void start_server(struct world *w);
void end_messages(struct world *w);
/* The compositor's next picture, to the server. */
void commit_frame(struct world *w, uint64_t frame);
/* Of the server's own. */
void show_blank(struct world *w);
void publish(struct world *w, uint64_t frame);
void tell_timeline(struct world *w, int64_t time, bool stopped);
void commit_next(struct world *w);
/* The frame of a serial; NULL: it is a blank's. */
struct frame *frame_of(struct world *w, uint64_t serial);
void scan_event(struct world *w, const struct tp_scan_event *e);
void compose(struct world *w, uint64_t number, int32_t life);
void flipped(struct world *w, uint64_t number, int32_t life);
/* It is given up: never shown. */
void lose_frame(struct world *w, struct frame *f);
/* The server's part of an apply. */
void tell_notes(struct world *w, uint64_t serial);
void panel_callback(struct world *w, uint64_t serial, int fence);
/* What that wait asks the server goes to it. */
void ask_server(struct world *w, const struct tp_slots_wait *wait);
void server_request(struct world *w, uint64_t which);
void server_timer(struct world *w);
void server_drained(struct world *w);
/* It reads what the guest registers, as long as there is room for the answers. */
void server_registers(struct world *w);
/* Of images: those of pictures after this one that the panel has, whatever fences say. */
void count_uses(struct world *w, uint64_t after);

/* --- compose.c: a compositor that composes --- */

static inline bool composes(const struct world *w)
{
    return w->c->compose_ns > 0;
}
void start_composing(struct world *w);
void stop_composing(struct world *w);
/* There is something to do for it, maybe: a client's picture, a flip, the end of a stall. */
void arm_repaint(struct world *w);
void repaint(struct world *w, uint64_t turn);
void drawn(struct world *w, uint64_t turn);
/* Something came that it may wait for. */
void poke_repaint(struct world *w);
void die_composing(struct world *w);
void count_slots(const struct world *w, struct tp_slots_counts *out);

/* --- faults.c --- */

void roll_faults(struct world *w);
void begin_fault(struct world *w, enum tp_world_fault f);
void end_fault(struct world *w, enum tp_world_fault f);

/* --- bugs.c --- */

/* A word of the board, as one who has the bug reads or writes it. */
uint64_t as_guest_reads(struct world *w, unsigned index, uint64_t word);
/* When a quarantine that begins now began. */
int64_t quarantine_from(const struct world *w);
/* A note with a fence comes. */
void spoil_note(struct world *w, struct tp_scanout_frame *f);
void spoil_clock(struct world *w);
/* The wrong order: false: it waits for the grid, before it has an image. */
bool book_before(struct world *w, struct frame *f);
/* Takes an image out of the order of things; any: also one that is free. */
bool take_anyway(struct world *w, bool any);

/* --- record.c --- */

void make_record(const struct world *w, const struct frame *f, struct tp_frame_record *out);
/* Whoever looks on is told of a frame that is over, or too long ago. */
void record_frame(struct world *w, const struct frame *f);
/* Of the scan-out that is over, as another begins. */
void record_scan(struct world *w, const struct tp_scan_event *e);
/* The image of this frame, which the scan-out of this instant shows, was written from then on. */
void record_tear(struct world *w, uint64_t number, int64_t from);
/* Of all that is left. */
void record_rest(struct world *w);

/* --- policy.c --- */

/* The next frame may not begin before until. */
bool policy_holds(struct world *w, int64_t *until);

/* --- invariants.c --- */

void start_invariants(struct world *w);
/* An invariant broke: the run is over. */
void broken(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fault_comes_or_ends(struct world *w);
/* After every event. */
void check_event(struct world *w);
void check_acquired(struct world *w, const struct frame *f);
/* A frame's first line. */
void check_line(struct world *w, int64_t line);
/* wanted: the refresh that the cap allows it at the latest; stay: how many the last one had. */
void check_shown(struct world *w, int64_t sequence, int64_t wanted, int64_t stay);
void check_run(struct world *w);

/* --- metrics.c --- */

void start_metrics(struct world *w);
/* It is presented. */
void count_acquire(struct world *w, const struct frame *f);
void count_ready(struct world *w, const struct frame *f);
void count_shown(struct world *w, struct frame *f, uint64_t sequence);
void finish_metrics(struct world *w);
void free_metrics(struct world *w);

#endif
