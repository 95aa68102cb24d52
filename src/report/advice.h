/*
 * What is wrong with a run, by its own numbers, and what to try next. `turnpike report` and
 * `turnpike top` say these words. Pure, deterministic, and it needs no memory of its own.
 *
 * A run's records go into tp_signs, its settings into tp_setup; together with the summary they
 * become findings, the gravest first. What is not known (a live capture whose GPU parts nobody
 * measured, a server that counts nothing) is never taken for zero.
 */
#ifndef TP_REPORT_ADVICE_H
#define TP_REPORT_ADVICE_H

#include "frames/census/metrics.h"

/* --- how the run was set up --- */

enum tp_known { TP_UNKNOWN, TP_OFF, TP_ON };

/* {0}: nothing is known. */
struct tp_setup {
    uint32_t refresh_mhz, slowest_mhz; /* slowest: above 0 for a variable rate */
    uint32_t cap_mhz;                  /* 0: none */
    unsigned images;                   /* 0: not known */
    unsigned pipeline;                 /* refreshes from latch to first line */
    bool has_pipeline;
    int64_t lead_ns; /* from latch to refresh */
    char gate[16];   /* "off", "vsync", "cap", "latency"; "" */
    enum tp_known release_fence, board;
};

/* A setting by its name and value in a capture (docs/capture.md): "refresh-mhz", "gate", …, "board".
 * What is not known is left. The last one of a name holds. */
void tp_setup_set(struct tp_setup *s, const char *name, const char *value);

/* --- what its records show --- */

#define TP_SIGNS_BINS 160u  /* eight of them an octave: what is told by them is right to 9 % */
#define TP_SIGNS_LATE 16u   /* refreshes */

struct tp_sign { /* of a duration */
    uint64_t n;
    double sum;
    int64_t most;
};

/* Where a guest's time went while its picture stood still. */
enum tp_stall_part {
    TP_STALL_UNKNOWN,  /* only the panel's side is known */
    TP_STALL_ELSEWHERE, /* before it asked for an image */
    TP_STALL_SLOT,
    TP_STALL_RELEASE,
    TP_STALL_GATE,
    TP_STALL_ASLEEP, /* in its acquire, after all it had waited for */
    TP_STALL_CPU,
    TP_STALL_GPU,
    TP_STALL_WAY /* from ready to the panel */
};

/* {0} before the first record. Of one guest; records in its order. */
struct tp_signs {
    uint64_t frames; /* not counting the first ten, which are in none of these */
    struct tp_sign cpu, gpu, work; /* work: both, of a frame of which both are known */
    uint32_t work_bins[TP_SIGNS_BINS];
    uint64_t over; /* frames whose work was more than the time from one to the next */
    bool over_now; /* the last one's was */
    struct tp_sign to_commit, to_latch, to_show; /* ready to commit, to latch, to first line */
    struct tp_sign to_line;                      /* latch to first line */
    struct tp_sign composing;                    /* commit to the compositor's own picture */
    uint64_t slow_way; /* frames of which both of these take more than a fifth of a refresh */
    struct tp_sign away;                         /* an image: from acquire to its release */
    uint64_t released_late[TP_SIGNS_LATE + 1];   /* by so many refreshes; the last: or more */
    unsigned late_by; /* refreshes: of the frame before the last one, which that one made known */
    uint64_t silent; /* frames whose release nobody told for half a second */
    uint64_t late; /* frames shown later than they should have been, or ready after their latch; */
    uint64_t late_held, late_panel, late_wait, late_work; /* of them: by what seems to be the cause */
    int64_t longest_held_ns;
    uint64_t long_waits; /* acquires that waited for a release beyond the bound of a healthy one */
    uint64_t stops, rate_changes; /* of the panel */
    int64_t longest_stop_ns, longest_wait_ns;
    unsigned most_image; /* the highest index of an image, plus one */
    int64_t start_ns;    /* of the capture, to tell instants by; 0: not known */
    int64_t shown_ns;    /* the last frame's first line; counts where shown is not 0 */
    uint64_t shown;      /* frames, the first ones with them */
    bool replaced;       /* a successor of this guest went on */
    bool others;         /* another guest did */
    struct {             /* intervals of a second, or of 30 frames, and far above the usual */
        uint64_t n, frame; /* frame: the one that ended the longest */
        int64_t longest_ns, from_ns, part_ns;
        enum tp_stall_part part; /* of the longest, where most of it lay */
    } stalls;
    double asleep_ns; /* in acquires, after all that they had waited for: sum of what is stalls' size */
    struct tp_sign gpu_idle, gpu_busy; /* the GPU's time for a frame, by what it had to do lately */
    double busy_share;                 /* of late, 0 to 1 */
    struct { /* of the last records, to tell the next ones from */
        bool frame, refresh;
        int64_t line_ns, released_ns, gpu_end_ns, refresh_ns, published_ns, given_ns;
        double usual_ns; /* interval */
        bool over; /* of the frame before the last one */
        uint32_t refresh_mhz;
    } last;
};

/* setup: for what a record lacks. */
void tp_signs_frame(
    struct tp_signs *s, const struct tp_setup *setup, const struct tp_frame_record *f);
void tp_signs_refresh(struct tp_signs *s, const struct tp_refresh_record *r);
/* Its acquire waited for a release beyond the bound of a healthy one. */
bool tp_waited_long(const struct tp_setup *setup, const struct tp_frame_record *f);

/* --- what that comes to --- */

enum tp_severity { TP_FINDING_NOTE, TP_FINDING_WARNING, TP_FINDING_ERROR };

/* "note", "warning", "error"; static. */
const char *tp_finding_severity(enum tp_severity s);

/* Texts are UTF-8 and hold nothing of what a capture calls things. */
struct tp_finding {
    char id[24]; /* a stable word: "late-fences" */
    enum tp_severity severity;
    char title[96]; /* a few words */
    char text[512]; /* sentences: what was seen, and the cause */
    char todo[512]; /* sentences: what to try */
};

#define TP_FINDINGS 24u /* more are never found */

/* Returns how many. None, or notes alone: the run is healthy. */
unsigned tp_advise(const struct tp_summary *summary, const struct tp_setup *setup,
    const struct tp_signs *signs, struct tp_finding out[TP_FINDINGS]);

struct tp_verdict {
    enum tp_severity severity;
    char text[256]; /* a sentence: "Tearing: …" */
};

/* The one sentence over it all. */
void tp_advise_verdict(const struct tp_summary *summary, const struct tp_setup *setup,
    const struct tp_signs *signs, const struct tp_finding *findings, unsigned n,
    struct tp_verdict *out);

/* How many images the full rate needs, ⌈H/T⌉ by what was seen; 0: not known. */
unsigned tp_advise_images(const struct tp_setup *setup, const struct tp_signs *signs);

#endif
