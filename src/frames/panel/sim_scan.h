/*
 * A screen that scans line by line, as a model: which picture is on which refresh, from when to
 * when it is read, and when it is let go. Pure: it knows no clock, no thread and no memory; the
 * caller hands in instants and takes out what happened. The simulated panel and the simulated world
 * run on it. The same calls with the same instants give the same events.
 *
 * Fixed rate: refresh n begins, with line 0, at base + n periods, each cut to a nanosecond by
 * itself, so that no rounding adds up. Line y is read y lines' time later; then there is blanking.
 * The latch for n lies lead before it; what it takes is shown from refresh n + pipeline on.
 *
 * Variable rate: a picture is taken once it is ready, and shown lead and pipeline periods later,
 * but never sooner than a period after the refresh before. With no picture for the range's longest
 * interval, the old one is shown again. Where pictures come at a rate below the range, and its
 * upper end is at least twice the lower, such repeats divide the pictures' interval evenly
 * (low-framerate compensation).
 *
 * A latch goes through the pictures in the order in which they were published, as far as they are
 * ready (their acquire fences have signalled): one that is not holds up those behind it. The first
 * is taken; a MAILBOX one behind it takes its place, and a FIFO one waits for the next latch
 * (SurfaceFlinger: back-pressure). What was replaced unshown is dropped. What was shown is released
 * when the scan-out of its first *shown* successor begins.
 */
#ifndef TP_FRAMES_PANEL_SIM_SCAN_H
#define TP_FRAMES_PANEL_SIM_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#define TP_SCAN_QUEUE 32u   /* published, not latched */
#define TP_SCAN_PIPELINE 2u /* at most */
#define TP_SCAN_EVENTS (TP_SCAN_QUEUE + 8u)
#define TP_SCAN_NEVER INT64_MAX

struct tp_scan_mode {
    uint32_t refresh_mhz;                  /* the highest, where it is variable */
    uint32_t slowest_mhz;                  /* 0: fixed; else the lowest of the range */
    uint32_t active_lines, blanking_lines; /* of a period of refresh_mhz */
};

enum tp_scan_kind {
    TP_SCAN_FIFO,    /* replaces nothing that is not shown yet */
    TP_SCAN_MAILBOX, /* may replace such */
    /* Shown as soon as it is ready and what was ahead of it is shown or dropped, in the midst of a
     * scan-out; replaces ones of its kind that wait. */
    TP_SCAN_ASYNC,
};

struct tp_scan_event {
    enum tp_scan_event_type {
        /* serial was taken; sequence: the refresh that is to show it; with a variable rate, the
         * first that may. */
        TP_SCAN_LATCH,
        /* serial will never be shown, and is free. */
        TP_SCAN_DROP,
        /* A scan-out began, of this sequence; of serial (0: nothing was ever shown). It is read
         * until end_ns, where no async one takes its place. What was shown before is released next.
         */
        TP_SCAN_REFRESH,
        /* From line on, serial is read in this scan-out, until end_ns; line is active_lines in the
         * blanking. What was shown before is released next. */
        TP_SCAN_FLIP,
        /* serial is not read any more. */
        TP_SCAN_RELEASE,
    } type;
    int64_t time_ns;
    uint64_t serial, sequence;
    int64_t end_ns, period_ns; /* REFRESH, FLIP; period_ns: the shortest to the next refresh */
    uint32_t line;             /* FLIP */
    bool fresh;                /* REFRESH, FLIP: the first line of serial */
};

struct tp_scan_counts {
    uint64_t refreshes, shown, dropped;
    uint64_t repeats;     /* refreshes that showed what was shown before */
    uint64_t async_tears; /* scan-outs in the midst of which an async one took over */
};

/* The caller's; its fields are the model's own, and may be looked at. */
struct tp_scan {
    struct tp_scan_mode mode, next_mode;
    bool switching;    /* next_mode holds from the next refresh on */
    int64_t switch_ns; /* when that was asked for */
    bool on;
    int64_t lead_ns, now_ns; /* now: the last event */
    unsigned pipeline;
    uint64_t sequence,
        base_sequence;        /* of the last refresh; of the one that the grid counts from */
    int64_t time_ns, base_ns; /* of these */
    bool latched;             /* fixed rate: the latch for the next refresh is through */
    struct tp_scan_entry {
        uint64_t serial;
        int64_t ready_ns; /* TP_SCAN_NEVER: its fence has not signalled */
        enum tp_scan_kind kind;
        uint64_t sequence; /* taken, fixed rate: is shown by this refresh */
        int64_t first_ns;  /* taken, variable rate: not before */
    } queue[TP_SCAN_QUEUE], taken[TP_SCAN_PIPELINE + 2]; /* the oldest first */
    unsigned n_queue, n_taken;
    uint64_t shown;
    bool unseen;                   /* it came in the blanking: its first line is still to come */
    bool torn;                     /* this scan-out is counted as an async tear */
    int64_t fresh_ns, interval_ns; /* shown's first line; between the last two such; 0: none */
    unsigned repeated;             /* refreshes since that first line */
    struct tp_scan_counts counts;
    struct tp_scan_event events[TP_SCAN_EVENTS]; /* to be taken out, a ring */
    unsigned first_event, n_events;
};

/* A screen that is on; its refresh 0 begins at start_ns. -EINVAL: no lines, no rate, a pipeline
 * over TP_SCAN_PIPELINE, a lead that is negative or not shorter than the period, a range from high
 * to low. */
int tp_scan_init(struct tp_scan *s, const struct tp_scan_mode *mode, int64_t lead_ns,
    unsigned pipeline, int64_t start_ns);

/*
 * A picture is there at now_ns; ready: its fences have signalled. Serials count up, from 1. It
 * counts for what happens from now_ns on, also where events of before have not been taken out yet.
 * -EAGAIN: the queue is full; -ENODEV: the screen is off.
 */
int tp_scan_publish(
    struct tp_scan *s, uint64_t serial, enum tp_scan_kind kind, bool ready, int64_t now_ns);
/* The fences of that one have signalled. */
void tp_scan_ready(struct tp_scan *s, uint64_t serial, int64_t now_ns);

/* For both of these, what was due by now_ns has been taken out. */

/* Another rate or size: from the next refresh on, which still is where the old rate has it; with a
 * variable rate, as early as that may be. -EINVAL as for init. */
int tp_scan_set_mode(struct tp_scan *s, const struct tp_scan_mode *mode, int64_t now_ns);
/* Off: all is dropped or released at now_ns, and nothing happens any more. On again: a refresh
 * begins at now_ns. */
void tp_scan_set_power(struct tp_scan *s, bool on, int64_t now_ns);

/* The instant of the next event, as far as is known now; TP_SCAN_NEVER: the screen is off. */
int64_t tp_scan_next(const struct tp_scan *s);
/* Takes out the next event that is due at now_ns or before, in the order in which they happen.
 * False: there is none. */
bool tp_scan_step(struct tp_scan *s, int64_t now_ns, struct tp_scan_event *out);

/* When this line (active_lines: the end) of the last refresh is read. */
int64_t tp_scan_line_ns(const struct tp_scan *s, uint32_t line);
/* When that refresh begins, or has begun; fixed rate. */
int64_t tp_scan_refresh_ns(const struct tp_scan *s, uint64_t sequence);

#endif
