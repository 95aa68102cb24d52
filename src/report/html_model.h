/* What is kept of a capture while it is read, for the page that is made of it. */
#ifndef TP_REPORT_HTML_MODEL_H
#define TP_REPORT_HTML_MODEL_H

#include "frames/census/figures.h"
#include "report/advice.h"
#include "report/html.h"

#define REPORT_GUESTS TP_FIGURES_GUESTS /* more are counted, and not shown */
#define REPORT_FEW 30u /* frames of a guest that is no more than a window on its way */
#define REPORT_SETTINGS 64u
#define REPORT_CHANGES 64u
#define REPORT_BARS 65u   /* of the histogram; the last: all longer */
#define REPORT_BAR 8u     /* of them make one refresh */
#define REPORT_STRIP 160u /* stays in the strip of the cadence */
#define REPORT_EVENTS 150u /* of a kind are listed: the worst */
#define REPORT_BINS 1024u
#define REPORT_CHUNKS 256u
#define REPORT_ROWS 1024u /* frames of a chunk, and twice as many refreshes */

/* --- events: what went wrong, the same in a row taken together --- */

enum report_kind {
    EVENT_TEAR,
    EVENT_WAIT,   /* an acquire waited for a release beyond its bound */
    EVENT_STOP,   /* no refresh came */
    EVENT_DROP,   /* never shown */
    EVENT_REPEAT, /* shown later than it should have been */
    EVENT_LATE,   /* ready after its latch */
    EVENT_RELEASE, /* released late */
    EVENT_RATE,    /* the panel's rate changed */
    EVENT_CHANGE,  /* a setting changed */
    EVENT_KINDS
};

struct report_event {
    enum report_kind kind;
    unsigned guest;            /* its place in guests */
    uint64_t first, last;      /* frames; not of STOP, RATE and CHANGE */
    uint64_t n;                /* so many in this row */
    int64_t from_ns, to_ns;
    int64_t worst;             /* ns; REPEAT and RELEASE: refreshes; TEAR: the line; RATE: mHz */
    unsigned change;           /* CHANGE: its place in changes */
};

struct report_events {
    struct report_event kept[EVENT_KINDS][REPORT_EVENTS];
    unsigned n[EVENT_KINDS];
    uint64_t rows[EVENT_KINDS], all[EVENT_KINDS]; /* rows, and what is in them */
    struct report_event open[EVENT_KINDS][REPORT_GUESTS];
};

/* One of them; one more of the row that is open, where it follows close. */
void report_event_add(struct report_events *e, const struct report_event *one);
/* Closes what is open. */
void report_events_end(struct report_events *e);
/* All that are kept, by time. Returns how many; the caller frees *out. */
size_t report_events_sorted(const struct report_events *e, struct report_event **out);

/* --- frames in full: chunks, each of which can be read alone --- */

struct report_chunk {
    uint8_t *bytes;
    size_t n;
    int64_t from_us, to_us; /* since the origin */
    unsigned frames, refreshes;
    uint64_t place; /* of it among all that ever were */
    unsigned weight;
};

struct report_chunks {
    struct report_chunk at[REPORT_CHUNKS + 1];
    unsigned n;
    uint64_t all, frames_all, frames_kept;
    unsigned weight; /* of the one that is being filled */
    unsigned n_frames, n_refreshes;
    struct tp_frame_record frames[REPORT_ROWS];
    uint8_t flags[REPORT_ROWS], guests[REPORT_ROWS];
    struct tp_refresh_record refreshes[2 * REPORT_ROWS];
    uint8_t refresh_guests[2 * REPORT_ROWS];
    bool has_origin;
    int64_t origin_ns; /* of the page's time */
};

enum report_frame_flag {
    ROW_DROPPED = 1,
    ROW_LATE = 2,
    ROW_TORN = 4,
    ROW_VARIABLE = 8,
    ROW_WAITED = 16, /* beyond the bound */
};

/* guest: its place. weight: 0 nothing happened, 1 something, 2 something grave. */
void report_chunks_frame(struct report_chunks *c, const struct tp_frame_record *f, unsigned guest,
    unsigned flags, unsigned weight);
void report_chunks_refresh(
    struct report_chunks *c, const struct tp_refresh_record *r, unsigned guest);
/* What is being filled becomes a chunk. */
void report_chunks_end(struct report_chunks *c);
void report_chunks_finish(struct report_chunks *c);
/* The instant of a frame by which it is sorted; TP_NEVER: it has none. */
int64_t report_frame_instant(const struct tp_frame_record *f);
/* The first one that is known is the origin of the page's time. */
void report_set_origin(struct report_chunks *c, int64_t ns);
/* Microseconds since then, and a count, as numbers that a script takes exactly. */
int64_t report_us(const struct report_chunks *c, int64_t ns);
int64_t report_bounded(uint64_t v);
/* The first instant of all that are kept, in these; 0 where there is none. */
int64_t report_start_us(const struct report_chunks *c);

/* --- all of it --- */

struct report_bin {
    uint32_t worst_us; /* interval */
    uint32_t frames, kinds; /* bits of enum report_kind */
};

struct report_guest {
    unsigned number;
    char *name; /* NULL: nobody said */
    struct tp_summary summary;
    struct tp_signs signs;
    struct tp_finding findings[TP_FINDINGS];
    unsigned n_findings;
    struct tp_verdict verdict;
    int64_t bar_ns; /* the histogram's width of a bar */
    uint64_t bars[REPORT_BARS];
    uint8_t strip[REPORT_STRIP]; /* a ring; filled once something irregular is in its midst */
    uint64_t strip_first;        /* the frame of the first stay, once it is full */
    uint64_t stays;
    unsigned strip_left;         /* stays that are still wanted; 0: full */
    bool shown;
    int64_t last_line_ns;
    uint64_t last_sequence, last_number;
};

struct report_setting {
    char *name, *value;
    int64_t at_ns;
};

struct tp_report {
    struct tp_capture_found found;
    struct tp_figures *figures; /* while it is read */
    struct tp_summary main;     /* of the guest that has the figures */
    unsigned main_guest;        /* its number */
    struct tp_setup setup;
    struct report_guest guests[REPORT_GUESTS];
    unsigned n_guests;
    uint64_t other_frames; /* of guests beyond these */
    struct report_setting settings[REPORT_SETTINGS], changes[REPORT_CHANGES];
    unsigned n_settings, n_changes;
    uint64_t other_settings;
    uint64_t refreshes;
    struct tp_signs panel; /* of refreshes alone, which are no guest's */
    struct report_events events;
    struct report_chunks chunks;
    struct report_bin bins[REPORT_BINS];
    int64_t bin_us;
    int64_t last_refresh_ns;
};

/* The guest that has the figures; NULL: it is none of guests. */
const struct report_guest *report_main_guest(const struct tp_report *r);
/* The guests that have a verdict, the main one first; not those that showed a few frames and went,
 * as windows do. out: at least REPORT_GUESTS. Returns how many. */
unsigned report_shown_guests(const struct tp_report *r, const struct report_guest **out);
/* "the game's name" or "guest 3", safe to be shown; caller frees. */
char *report_guest_name(const struct report_guest *g);
/* "1:02.345", from microseconds since the start. */
void report_add_time(struct tp_buf *out, int64_t us);
/* In so many words, no HTML; caller frees. */
char *report_event_text(const struct tp_report *r, const struct report_event *e);
/* Static: "tear", "wait" … */
const char *report_kind_name(enum report_kind k);

#endif
