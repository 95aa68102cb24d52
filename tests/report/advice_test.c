/* Advice: each cause is named where it is planted, and only there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "report/advice.h"

#define MS INT64_C(1000000)
#define FRAMES 1000

/* --- a run, frame by frame --- */

/* {0} with the defaults below is a healthy one: 60 Hz, 4 ms of CPU and 5 of GPU, four images. */
struct run {
    uint32_t refresh_mhz, cap_mhz, images;
    int64_t cpu_ns, gpu_ns, compositor_ns;
    unsigned stay;               /* refreshes from frame to frame, 0: 1 */
    unsigned stay_more;          /* so many more, every second frame */
    unsigned released_late;      /* refreshes, of every fourth frame */
    int64_t release_wait_ns, slot_wait_ns; /* of every fourth frame */
    unsigned repeats;            /* of every fourth frame */
    bool late;                   /* every fourth frame is */
    int64_t queue_ns;            /* from ready to latch */
    int64_t told_after_ns;       /* of one frame */
    int64_t published_after_ns;  /* of every fourth frame */
    bool panel_side;             /* the game's is not known */
    int64_t long_gpu_ns;         /* of every fourth frame */
    int64_t stop_ns;             /* the panel's, once */
    int64_t stood_ns;            /* the game's, once; the panel goes on */
    enum tp_stall_part stood_in; /* this part of its frame */
    int64_t stands_ns;           /* the panel goes on for so long behind the last frame */
    unsigned frames;             /* 0: FRAMES */
    bool slow_when_idle;
};

struct played {
    struct tp_summary summary;
    struct tp_setup setup;
    struct tp_signs signs;
    struct tp_finding findings[TP_FINDINGS];
    unsigned n;
    struct tp_verdict verdict;
};

static struct tp_frame_record frame_of(const struct run *r, unsigned i, int64_t line, int64_t next)
{
    int64_t period = INT64_C(1000000000000) / r->refresh_mhz, lead = 1650000;
    bool fourth = i % 4 == 3;
    int64_t latch = line - period - lead;
    int64_t ready = latch - (r->queue_ns > 0 ? r->queue_ns : 7 * MS);
    int64_t gpu = fourth && r->long_gpu_ns > 0 ? r->long_gpu_ns : r->gpu_ns;
    if (r->slow_when_idle && i % 200 >= 100)
        gpu = 12 * MS;
    int64_t published = ready + r->compositor_ns + (fourth ? r->published_after_ns : 0);
    struct tp_frame_record f = {.number = i,
        .image = i % r->images,
        .late = fourth && r->late,
        .repeats = fourth ? r->repeats : 0,
        .sequence = (uint64_t)((line + period / 2) / period),
        .refresh_mhz = r->refresh_mhz,
        .cap_mhz = r->cap_mhz,
        .begin_ns = ready - gpu - r->cpu_ns,
        .gate_ns = ready - gpu - r->cpu_ns,
        .acquired_ns = ready - gpu - r->cpu_ns,
        .cpu_ns = ready - gpu - r->cpu_ns,
        .cpu_to_ns = ready - gpu,
        .presented_ns = ready - gpu,
        .returned_ns = ready - gpu,
        .elsewhere_ns = TP_NEVER,
        .elsewhere_to_ns = TP_NEVER,
        .write_ns = ready - gpu,
        .ready_ns = ready,
        .booked_ns = latch,
        .committed_ns = ready,
        .composed_ns = ready + r->compositor_ns,
        .published_ns = published,
        .latched_ns = latch,
        .line_ns = line,
        .released_ns = next + (fourth ? r->released_late * period : 0),
        .slot_wait_ns = fourth ? r->slot_wait_ns : 0,
        .release_wait_ns = fourth ? r->release_wait_ns : 0};
    f.permitted = (int64_t)f.sequence;
    f.asked_ns = f.acquired_ns - f.slot_wait_ns - f.release_wait_ns;
    f.told_ns = f.released_ns + (i == 500 && r->told_after_ns > 0 ? r->told_after_ns : MS / 2);
    if (r->panel_side)
        f.begin_ns = f.asked_ns = f.gate_ns = f.acquired_ns = f.cpu_ns = f.cpu_to_ns =
            f.write_ns = f.presented_ns = f.ready_ns = TP_NEVER;
    return f;
}

/* The process slept in this part; it is the acquire's, or comes before or behind it. */
static void stand(struct tp_frame_record *f, const struct run *r)
{
    int64_t ns = r->stood_ns;
    if (r->stood_in < TP_STALL_CPU)
        f->asked_ns -= ns;
    if (r->stood_in == TP_STALL_ASLEEP) { /* the ICD takes all of its sleep for the gate's */
        f->gate_ns -= ns;
        f->gate_wait_ns = ns;
    } else if (r->stood_in == TP_STALL_GATE)
        f->gate_wait_ns = ns;
    else if (r->stood_in == TP_STALL_SLOT)
        f->slot_wait_ns = ns;
    else if (r->stood_in == TP_STALL_RELEASE)
        f->release_wait_ns = ns;
    else if (r->stood_in == TP_STALL_ELSEWHERE)
        f->asked_ns += ns;
    else if (r->stood_in == TP_STALL_CPU)
        f->asked_ns = f->gate_ns = f->acquired_ns = f->acquired_ns - ns;
    else if (r->stood_in == TP_STALL_GPU)
        f->asked_ns = f->gate_ns = f->acquired_ns = f->presented_ns = f->presented_ns - ns;
    else if (r->stood_in == TP_STALL_WAY)
        f->asked_ns = f->gate_ns = f->acquired_ns = f->presented_ns = f->ready_ns = f->ready_ns - ns;
}

static void play(struct run r, struct played *p)
{
    r.refresh_mhz = r.refresh_mhz ? r.refresh_mhz : 60000;
    r.images = r.images ? r.images : 4;
    r.cpu_ns = r.cpu_ns ? r.cpu_ns : 4 * MS;
    r.gpu_ns = r.gpu_ns ? r.gpu_ns : 5 * MS;
    r.stay = r.stay ? r.stay : 1;
    int64_t period = INT64_C(1000000000000) / r.refresh_mhz, line = 1000 * MS;
    struct tp_metrics *m = tp_metrics_create();
    *p = (struct played){0};
    p->setup = (struct tp_setup){.refresh_mhz = r.refresh_mhz,
        .cap_mhz = r.cap_mhz,
        .images = r.images,
        .pipeline = 1,
        .has_pipeline = true,
        .lead_ns = 1650000,
        .gate = "vsync",
        .release_fence = TP_ON};
    r.frames = r.frames ? r.frames : FRAMES;
    p->signs.start_ns = line;
    for (unsigned i = 0; i < r.frames; i++) {
        int64_t next = line + (r.stay + (i % 2 ? r.stay_more : 0)) * period;
        next += i == 500 ? r.stop_ns : 0;
        next += i == 499 ? r.stood_ns : 0;
        struct tp_frame_record f = frame_of(&r, i, line, next);
        if (i == 500 && r.stood_in != TP_STALL_UNKNOWN)
            stand(&f, &r);
        struct tp_refresh_record s = {.sequence = f.sequence,
            .refresh_mhz = r.refresh_mhz,
            .from_ns = line,
            .shows = true,
            .frame = i,
            .torn_ns = TP_NEVER};
        tp_metrics_frame(m, &f);
        tp_signs_frame(&p->signs, &p->setup, &f);
        tp_signs_refresh(&p->signs, &s);
        for (; s.from_ns + 3 * period / 2 < next && r.stood_ns > 0 && i == 499;) {
            s.from_ns += period;
            tp_signs_refresh(&p->signs, &s);
        }
        line = next;
    }
    struct tp_refresh_record s = {.refresh_mhz = r.refresh_mhz, .from_ns = line - period};
    for (int64_t end = s.from_ns + r.stands_ns; s.from_ns < end;) {
        s.from_ns += period;
        tp_signs_refresh(&p->signs, &s);
    }
    tp_metrics_get(m, &p->summary.measures);
    tp_metrics_destroy(m);
    p->summary.has_tears = p->summary.has_counts = true;
    p->summary.has_guest = !r.panel_side;
}

static void advise(struct played *p)
{
    p->n = tp_advise(&p->summary, &p->setup, &p->signs, p->findings);
    tp_advise_verdict(&p->summary, &p->setup, &p->signs, p->findings, p->n, &p->verdict);
}

static const struct tp_finding *finding(const struct played *p, const char *id)
{
    for (unsigned i = 0; i < p->n; i++)
        if (strcmp(p->findings[i].id, id) == 0)
            return &p->findings[i];
    return NULL;
}

static void assert_says(const struct played *p, const char *id, const char *words)
{
    const struct tp_finding *f = finding(p, id);
    if (!f)
        fail_msg("there is no %s", id);
    if (!strstr(f->text, words) && !strstr(f->todo, words))
        fail_msg("%s does not say '%s': %s %s", id, words, f->text, f->todo);
}

static void assert_only(const struct played *p, const char *id)
{
    for (unsigned i = 0; i < p->n; i++)
        if (strcmp(p->findings[i].id, id) != 0)
            fail_msg("%s beside %s: %s", p->findings[i].id, id, p->findings[i].text);
    assert_int_equal(p->n, 1);
}

/* --- tests --- */

static void a_healthy_run_has_no_findings(void **state)
{
    (void)state;
    struct played p;
    play((struct run){0}, &p);
    advise(&p);
    assert_int_equal(p.n, 0);
    assert_int_equal(p.verdict.severity, TP_FINDING_NOTE);
    assert_string_equal(
        p.verdict.text, "Healthy: 60.00 frames a second on 60 Hz, no tear, every frame on its refresh.");
}

static void tears_without_fences_are_the_fences_fault(void **state)
{
    (void)state;
    struct played p;
    play((struct run){0}, &p);
    p.setup.release_fence = TP_OFF;
    p.summary.measures.tears = 7;
    advise(&p);
    assert_only(&p, "tears-fences-off");
    assert_says(&p, "tears-fences-off", "TURNPIKE_RELEASE_FENCE=on");
    assert_int_equal(p.verdict.severity, TP_FINDING_ERROR);
    assert_non_null(strstr(p.verdict.text, "Tearing, as release fences are off: "));
    p.summary.measures.tears = 0;
    advise(&p);
    assert_int_equal(p.n, 0);
}

static void tears_with_fences_have_another_cause(void **state)
{
    (void)state;
    struct played p;
    play((struct run){0}, &p);
    p.summary.measures.tears = 1;
    advise(&p);
    assert_only(&p, "tears");
    assert_says(&p, "tears", "Release fences are on");
    p.setup.board = TP_OFF;
    advise(&p);
    assert_says(&p, "tears", "no board");
    p.summary.counts[TP_COUNT_UNSAFE] = 3;
    advise(&p);
    assert_says(&p, "tears", "3 times an image was handed out");
    p.summary.has_tears = false; /* nobody looked */
    advise(&p);
    assert_only(&p, "unsafe");
}

static void a_wait_beyond_its_bound_is_an_error(void **state)
{
    (void)state;
    struct played p;
    play((struct run){0}, &p);
    p.summary.counts[TP_COUNT_RELEASE_TIMEOUTS] = 2;
    advise(&p);
    assert_only(&p, "release-timeouts");
    assert_int_equal(p.findings[0].severity, TP_FINDING_ERROR);
    /* Where nobody counts, the records tell. */
    play((struct run){.release_wait_ns = 80 * MS}, &p);
    p.summary.has_counts = false;
    advise(&p);
    assert_says(&p, "release-timeouts", "80 ms");
    /* Where it is counted, that holds. */
    p.summary.has_counts = true;
    advise(&p);
    assert_null(finding(&p, "release-timeouts"));
}

static void late_fences_are_told_with_their_refreshes(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.released_late = 2, .release_wait_ns = 5 * MS}, &p);
    advise(&p);
    assert_only(&p, "late-fences");
    assert_says(&p, "late-fences", "mostly by 2 refreshes");
    assert_says(&p, "late-fences", "TURNPIKE_MIN_IMAGES=6");
    assert_int_equal(p.findings[0].severity, TP_FINDING_WARNING);
    /* Nobody waits for them. */
    play((struct run){.released_late = 1}, &p);
    advise(&p);
    assert_only(&p, "late-fences");
    assert_says(&p, "late-fences", "mostly by 1 refresh.");
    assert_int_equal(p.findings[0].severity, TP_FINDING_NOTE);
    assert_non_null(strstr(p.verdict.text, "Healthy"));
    /* They say nothing where they are off. */
    p.setup.release_fence = TP_OFF;
    advise(&p);
    assert_int_equal(p.n, 0);
}

static void a_silent_fence_is_told(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.told_after_ns = 1000 * MS}, &p);
    advise(&p);
    assert_only(&p, "silent-fences");
    play((struct run){.told_after_ns = 400 * MS}, &p);
    advise(&p);
    assert_int_equal(p.n, 0);
}

static void too_few_images_are_told_with_how_many_it_takes(void **state)
{
    (void)state;
    struct played p;
    /* 9 ms in a period of 16.7: H = (1 + D + 1) T + lead + J, four images. */
    play((struct run){.images = 2, .stay = 2, .release_wait_ns = 25 * MS}, &p);
    advise(&p);
    assert_only(&p, "few-images");
    assert_says(&p, "few-images", "takes 4 images");
    assert_says(&p, "few-images", "TURNPIKE_MIN_IMAGES=4");
    /* Enough of them; and two that hold the rate that is wanted. */
    play((struct run){.images = 4, .stay = 2, .release_wait_ns = 25 * MS}, &p);
    advise(&p);
    assert_null(finding(&p, "few-images"));
    play((struct run){.images = 2, .stay = 2, .cap_mhz = 30000, .release_wait_ns = 25 * MS}, &p);
    advise(&p);
    assert_null(finding(&p, "few-images"));
}

static void images_that_are_needed_follow_the_work(void **state)
{
    (void)state;
    struct played p;
    play((struct run){0}, &p);
    assert_int_equal(tp_advise_images(&p.setup, &p.signs), 4);
    play((struct run){.gpu_ns = 14 * MS}, &p); /* 18 ms: two periods */
    assert_int_equal(tp_advise_images(&p.setup, &p.signs), 5);
    p.setup.pipeline = 0;
    assert_int_equal(tp_advise_images(&p.setup, &p.signs), 4);
    p.setup.has_pipeline = false; /* then it is what is seen from latch to first line: one */
    assert_int_equal(tp_advise_images(&p.setup, &p.signs), 5);
    p.signs = (struct tp_signs){0};
    assert_int_equal(tp_advise_images(&p.setup, &p.signs), 0);
}

static void a_cost_beyond_the_period_says_whose(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.gpu_ns = 20 * MS, .stay = 2, .cap_mhz = 0, .images = 6}, &p);
    advise(&p);
    assert_only(&p, "over-budget");
    assert_says(&p, "over-budget", "the GPU alone needs more");
    assert_says(&p, "over-budget", "resolution");
    play((struct run){.cpu_ns = 20 * MS, .gpu_ns = 2 * MS, .stay = 2, .images = 6}, &p);
    advise(&p);
    assert_says(&p, "over-budget", "the CPU alone needs more");
    assert_says(&p, "over-budget", "load on the CPU");
    play((struct run){.cpu_ns = 9 * MS, .gpu_ns = 10 * MS, .stay = 2, .images = 6}, &p);
    advise(&p);
    assert_says(&p, "over-budget", "one after the other");
    /* The rate holds: they overlap. */
    play((struct run){.cpu_ns = 9 * MS, .gpu_ns = 10 * MS, .images = 6}, &p);
    advise(&p);
    assert_int_equal(p.n, 0);
}

static void some_dear_frames_are_stalls(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.long_gpu_ns = 30 * MS, .late = true}, &p);
    advise(&p);
    assert_only(&p, "stalls");
    assert_says(&p, "stalls", "34.0 ms");
    /* Nobody sees it. */
    play((struct run){.long_gpu_ns = 30 * MS}, &p);
    advise(&p);
    assert_int_equal(p.n, 0);
}

static void a_panel_that_stops_is_told_with_how_long(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.stop_ns = 300 * MS}, &p);
    advise(&p);
    assert_only(&p, "panel-stopped");
    assert_says(&p, "panel-stopped", "1 time no refresh came, for up to 317 ms");
    play((struct run){.stop_ns = 40 * MS}, &p);
    advise(&p);
    assert_null(finding(&p, "panel-stopped"));
}

static void composition_is_told(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.compositor_ns = 6 * MS}, &p);
    advise(&p);
    assert_only(&p, "composition");
    assert_says(&p, "composition", "6.0 ms");
    play((struct run){.compositor_ns = MS}, &p);
    advise(&p);
    assert_int_equal(p.n, 0);
}

static void frames_that_are_held_are_told(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.published_after_ns = 50 * MS, .repeats = 3}, &p);
    advise(&p);
    assert_only(&p, "held");
    assert_says(&p, "held", "50 ms");
    play((struct run){.published_after_ns = 3 * MS, .repeats = 3}, &p);
    advise(&p);
    assert_null(finding(&p, "held"));
}

static void a_picture_that_stands_still_at_the_end_is_told(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.stands_ns = 6000 * MS}, &p);
    advise(&p);
    assert_only(&p, "stands-still");
    assert_says(&p, "stands-still", "for 6.0 s since 0:16.6");
    assert_says(&p, "stands-still", "stood still, was paused, or had ended");
    assert_int_equal(p.verdict.severity, TP_FINDING_WARNING);
    assert_string_equal(p.verdict.text, "No new frame for the last 6.0 s: 60.00 frames a second on 60 Hz "
                                        "until then, no tear, every frame on its refresh.");
    /* Where another guest went on it may well have ended; where its own successor did, it has. */
    p.signs.others = true;
    advise(&p);
    assert_only(&p, "stands-still");
    assert_non_null(strstr(p.verdict.text, "Healthy: 60.00"));
    p.signs.replaced = true;
    advise(&p);
    assert_int_equal(p.n, 0);
}

static void what_is_usual_at_the_end_is_no_standstill(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.stands_ns = 900 * MS}, &p);
    advise(&p);
    assert_int_equal(p.n, 0);
    play((struct run){.stay = 30, .cap_mhz = 2000, .stands_ns = 2000 * MS}, &p); /* two frames a second */
    advise(&p);
    assert_null(finding(&p, "stands-still"));
    assert_null(finding(&p, "stood-still"));
    play((struct run){.stay = 90}, &p); /* a frame in one and a half seconds */
    p.signs.stops = 0; /* the run has refreshes with new frames alone */
    advise(&p);
    assert_null(finding(&p, "stood-still"));
    play((struct run){.stay = 30, .cap_mhz = 2000, .stands_ns = 3000 * MS}, &p);
    advise(&p);
    assert_non_null(finding(&p, "stands-still"));
}

static void a_standstill_is_told_with_where_it_lay(void **state)
{
    (void)state;
    static const char *const words[] = {[TP_STALL_ELSEWHERE] = "before the game asked",
        [TP_STALL_SLOT] = "waiting for an image.", [TP_STALL_RELEASE] = "waiting for an image's release",
        [TP_STALL_GATE] = "waiting for the gate", [TP_STALL_ASLEEP] = "the process slept",
        [TP_STALL_CPU] = "between its image and its present", [TP_STALL_GPU] = "on the GPU",
        [TP_STALL_WAY] = "the compositor or the server"};
    for (unsigned i = TP_STALL_ELSEWHERE; i <= TP_STALL_WAY; i++) {
        struct played p;
        play((struct run){.stood_ns = 14000 * MS, .stood_in = (enum tp_stall_part)i}, &p);
        advise(&p);
        assert_says(&p, "stood-still", words[i]);
        assert_says(&p, "stood-still", "No new frame came for 14.02 s from 0:08.316 (before frame 500).");
        assert_null(finding(&p, "uneven"));
        assert_null(finding(&p, "panel-stopped"));
        assert_true(p.summary.measures.gate_wait_ns < (i == TP_STALL_GATE ? 20e6 : 1e6));
        assert_true((p.signs.asleep_ns > 13000e6) == (i == TP_STALL_ASLEEP));
    }
    struct played p;
    play((struct run){.stood_ns = 600 * MS, .panel_side = true}, &p); /* 36 frames */
    advise(&p);
    assert_says(&p, "stood-still", "Only the panel's side of it is known.");
    assert_non_null(strstr(p.verdict.text, "The picture stood still for 0.6 s: "));
    play((struct run){.stop_ns = 5000 * MS}, &p); /* the panel's, not the game's */
    advise(&p);
    assert_non_null(finding(&p, "panel-stopped"));
    assert_null(finding(&p, "stood-still"));
    play((struct run){.stood_ns = 400 * MS, .stood_in = TP_STALL_CPU}, &p);
    advise(&p);
    assert_null(finding(&p, "stood-still"));
}

static void a_few_frames_are_not_judged(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.frames = 5}, &p);
    advise(&p);
    assert_int_equal(p.n, 0);
    assert_string_equal(p.verdict.text, "Too short to judge: 5 frames on 60 Hz, no tear.");
    play((struct run){.frames = 2, .stands_ns = 10000 * MS}, &p);
    advise(&p);
    assert_only(&p, "stands-still");
    assert_int_equal(p.findings[0].severity, TP_FINDING_NOTE);
    assert_string_equal(p.verdict.text,
        "A still picture: 2 frames on 60 Hz, no tear, the last one 10.0 s before the end.");
    p.summary.measures.tears = 1;
    advise(&p);
    assert_non_null(strstr(p.verdict.text, "Tear"));
}

static void a_cap_that_beats_names_those_that_do_not(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.cap_mhz = 40000, .stay_more = 1}, &p);
    advise(&p);
    assert_only(&p, "cap-beats");
    assert_says(&p, "cap-beats", "stay 1 and 2 refreshes in turn (50 % and 50 %)");
    assert_says(&p, "cap-beats", "at this refresh: 60, 30.");
    assert_says(&p, "cap-beats", "divides: 120 Hz");
    assert_int_equal(p.findings[0].severity, TP_FINDING_WARNING);
}

static void a_cap_that_divides_does_not_beat(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.cap_mhz = 30000, .stay = 2}, &p);
    advise(&p);
    assert_int_equal(p.n, 0);
    play((struct run){.cap_mhz = 40000, .stay = 3, .refresh_mhz = 120000}, &p);
    advise(&p);
    assert_int_equal(p.n, 0);
    play((struct run){.cap_mhz = 60000, .refresh_mhz = 59950}, &p);
    advise(&p);
    assert_int_equal(p.n, 0);
    /* A variable rate follows any cap, and without the gate there is none. */
    play((struct run){.cap_mhz = 40000, .stay_more = 1}, &p);
    p.setup.slowest_mhz = 48000;
    advise(&p);
    assert_null(finding(&p, "cap-beats"));
    p.setup.slowest_mhz = 0;
    strcpy(p.setup.gate, "off");
    advise(&p);
    assert_null(finding(&p, "cap-beats"));
}

static void lost_notes_are_told_with_the_board(void **state)
{
    (void)state;
    struct played p;
    play((struct run){0}, &p);
    p.summary.counts[TP_COUNT_NOTES_LOST] = 200;
    p.summary.counts[TP_COUNT_NOTES_PENDING] = 900;
    p.summary.counts[TP_COUNT_NOTES_FINAL] = 900;
    advise(&p);
    assert_only(&p, "notes-lost");
    assert_says(&p, "notes-lost", "200 of about 2000 notes from the server (10.0 %)");
    assert_says(&p, "notes-lost", "A board tells the same");
    p.setup.board = TP_ON;
    advise(&p);
    assert_says(&p, "notes-lost", "The board tells the same");
    p.setup.board = TP_OFF;
    advise(&p);
    assert_says(&p, "notes-lost", "There is no board");
    p.summary.has_counts = false; /* nobody counted */
    advise(&p);
    assert_int_equal(p.n, 0);
}

static void without_a_gate_a_queue_is_told(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.queue_ns = 40 * MS}, &p);
    strcpy(p.setup.gate, "off");
    advise(&p);
    assert_only(&p, "gate-off");
    assert_says(&p, "gate-off", "2.4 refreshes");
    assert_int_equal(p.findings[0].severity, TP_FINDING_WARNING);
    play((struct run){0}, &p);
    strcpy(p.setup.gate, "off");
    advise(&p);
    assert_only(&p, "gate-off");
    assert_int_equal(p.findings[0].severity, TP_FINDING_NOTE);
}

static void clocks_that_drop_between_frames_are_told(void **state)
{
    (void)state;
    struct played p;
    /* Half of the time 12 ms in each refresh; else 5 in one. The dear ones keep the GPU busy. */
    play((struct run){.slow_when_idle = true}, &p);
    advise(&p);
    assert_null(finding(&p, "clocks"));
    struct tp_signs *s = &p.signs;
    s->gpu_idle = (struct tp_sign){.n = 500, .sum = 500.0 * 9 * MS};
    s->gpu_busy = (struct tp_sign){.n = 500, .sum = 500.0 * 6 * MS};
    advise(&p);
    assert_says(&p, "clocks", "9.0 ms while it is mostly idle and 6.0 ms while it is busy");
}

static void changes_drops_and_asked_for_tears_are_notes(void **state)
{
    (void)state;
    struct played p;
    play((struct run){0}, &p);
    p.signs.rate_changes = 1;
    p.summary.measures.drops = 1;
    p.summary.measures.async_tears = 5;
    advise(&p);
    assert_int_equal(p.n, 3);
    assert_says(&p, "refresh-changed", "1 time;");
    assert_says(&p, "drops", "1 frame was presented");
    assert_says(&p, "async-tears", "IMMEDIATE");
    assert_non_null(strstr(p.verdict.text, "Healthy"));
}

static void what_has_no_cause_is_uneven(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.repeats = 1}, &p);
    p.summary.measures.repeats = FRAMES / 4;
    advise(&p);
    assert_only(&p, "uneven");
    p.summary.measures.repeats = 2;
    advise(&p);
    assert_int_equal(p.n, 0);
}

static void the_panels_side_alone_is_told(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.panel_side = true}, &p);
    advise(&p);
    assert_only(&p, "panel-side-only");
    assert_non_null(strstr(p.verdict.text, "Healthy: 60.00"));
}

static void nothing_shown_is_told(void **state)
{
    (void)state;
    struct played p = {0};
    advise(&p);
    assert_only(&p, "nothing-shown");
    assert_string_equal(p.verdict.text, "Nothing was shown.");
}

static void the_gravest_comes_first(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.cap_mhz = 40000, .stay_more = 1}, &p);
    p.summary.measures.tears = 1;
    p.signs.rate_changes = 1;
    advise(&p);
    assert_int_equal(p.n, 3);
    assert_string_equal(p.findings[0].id, "tears");
    assert_string_equal(p.findings[1].id, "cap-beats");
    assert_string_equal(p.findings[2].id, "refresh-changed");
    assert_non_null(strstr(p.verdict.text, "1 more finding."));
}

/* Whatever numbers a capture has: no text is cut, and nothing overflows. */
static void the_largest_numbers_fit_their_sentences(void **state)
{
    (void)state;
    struct played p;
    play((struct run){.cap_mhz = 40000, .stay_more = 1, .released_late = 2, .release_wait_ns = 5 * MS}, &p);
    uint64_t most = UINT64_MAX / 4;
    struct tp_measures *m = &p.summary.measures;
    m->tears = m->async_tears = m->drops = m->repeats = m->gate_late = most;
    for (unsigned i = 0; i < TP_COUNTERS; i++)
        p.summary.counts[i] = most;
    p.signs.late = p.signs.late_held = p.signs.late_panel = p.signs.late_work = most / 8;
    p.signs.silent = p.signs.stops = p.signs.rate_changes = most;
    p.signs.longest_held_ns = p.signs.longest_stop_ns = p.signs.longest_wait_ns = INT64_MAX / 4;
    p.signs.slow_way = most;
    p.signs.stalls.n = p.signs.stalls.frame = most;
    p.signs.stalls.longest_ns = p.signs.stalls.part_ns = p.signs.last.refresh_ns = INT64_MAX;
    p.signs.stalls.part = TP_STALL_ASLEEP;
    for (unsigned i = 0; i < 3; i++) {
        p.setup.release_fence = (enum tp_known)i;
        p.setup.board = (enum tp_known)i;
        advise(&p);
        assert_true(p.n > 8);
        for (unsigned k = 0; k < p.n; k++) {
            const struct tp_finding *f = &p.findings[k];
            if (strlen(f->text) + 1 >= sizeof f->text || strlen(f->todo) + 1 >= sizeof f->todo ||
                strlen(f->title) + 1 >= sizeof f->title)
                fail_msg("%s is cut: %s", f->id, f->text);
        }
        assert_true(strlen(p.verdict.text) + 1 < sizeof p.verdict.text);
    }
}

static void settings_are_read_by_their_names(void **state)
{
    (void)state;
    struct tp_setup s = {0};
    tp_setup_set(&s, "refresh-mhz", "59950");
    tp_setup_set(&s, "gate", "latency");
    tp_setup_set(&s, "release-fence", "off");
    tp_setup_set(&s, "board", "on");
    tp_setup_set(&s, "pipeline", "2");
    tp_setup_set(&s, "images", "5");
    assert_int_equal(s.refresh_mhz, 59950);
    assert_string_equal(s.gate, "latency");
    assert_int_equal(s.release_fence, TP_OFF);
    assert_int_equal(s.board, TP_ON);
    assert_int_equal(s.pipeline, 2);
    assert_int_equal(s.images, 5);
    /* What they cannot be is not known, or is left. */
    tp_setup_set(&s, "refresh-mhz", "-1");
    tp_setup_set(&s, "images", "99999999999999999999");
    tp_setup_set(&s, "gate", "a gate with a name that is too long");
    tp_setup_set(&s, "release-fence", "perhaps");
    tp_setup_set(&s, "pipeline", "200");
    assert_int_equal(s.refresh_mhz, 0);
    assert_int_equal(s.images, 0);
    assert_string_equal(s.gate, "latency");
    assert_int_equal(s.release_fence, TP_UNKNOWN);
    assert_int_equal(s.pipeline, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_healthy_run_has_no_findings),
        cmocka_unit_test(tears_without_fences_are_the_fences_fault),
        cmocka_unit_test(tears_with_fences_have_another_cause),
        cmocka_unit_test(a_wait_beyond_its_bound_is_an_error),
        cmocka_unit_test(late_fences_are_told_with_their_refreshes),
        cmocka_unit_test(a_silent_fence_is_told),
        cmocka_unit_test(too_few_images_are_told_with_how_many_it_takes),
        cmocka_unit_test(images_that_are_needed_follow_the_work),
        cmocka_unit_test(a_cost_beyond_the_period_says_whose),
        cmocka_unit_test(some_dear_frames_are_stalls),
        cmocka_unit_test(a_panel_that_stops_is_told_with_how_long),
        cmocka_unit_test(composition_is_told),
        cmocka_unit_test(frames_that_are_held_are_told),
        cmocka_unit_test(a_picture_that_stands_still_at_the_end_is_told),
        cmocka_unit_test(what_is_usual_at_the_end_is_no_standstill),
        cmocka_unit_test(a_standstill_is_told_with_where_it_lay),
        cmocka_unit_test(a_few_frames_are_not_judged),
        cmocka_unit_test(a_cap_that_beats_names_those_that_do_not),
        cmocka_unit_test(a_cap_that_divides_does_not_beat),
        cmocka_unit_test(lost_notes_are_told_with_the_board),
        cmocka_unit_test(without_a_gate_a_queue_is_told),
        cmocka_unit_test(clocks_that_drop_between_frames_are_told),
        cmocka_unit_test(changes_drops_and_asked_for_tears_are_notes),
        cmocka_unit_test(what_has_no_cause_is_uneven),
        cmocka_unit_test(the_panels_side_alone_is_told),
        cmocka_unit_test(nothing_shown_is_told),
        cmocka_unit_test(the_gravest_comes_first),
        cmocka_unit_test(the_largest_numbers_fit_their_sentences),
        cmocka_unit_test(settings_are_read_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
