#include "made.h"

#include <stdio.h>
#include <string.h>

#define MS INT64_C(1000000)
#define T INT64_C(16666667)

static void screen(struct made *m)
{
    m->s.now_ns = 100000 * MS;
    m->s.n_screens = 1;
    m->s.screens[0] = (struct tp_top_screen){.id = 0,
        .name = "Virtual-1",
        .width_px = 1920,
        .height_px = 1080,
        .refresh_mhz = 60000,
        .pipeline = 1,
        .lead_ns = 1650000,
        .watched = true,
        .refreshes = 600,
        .fresh = 599};
    m->ui = (struct tp_top_ui){
        .link = TP_TOP_LIVE, .socket = "/run/user/1000/turnpike-0", .server = 4711};
}

void made_empty(struct made *m)
{
    memset(m, 0, sizeof *m);
    screen(m);
}

static void beats(struct tp_top_guest *g, unsigned n, unsigned stay, unsigned late_every)
{
    g->n_beats = n;
    for (unsigned i = 0; i < n; i++) {
        bool late = late_every > 0 && i % late_every == late_every - 1;
        unsigned stays = stay + (late ? 1 + i / late_every % 3 : 0);
        g->beats[i] = (struct tp_top_beat){.interval_ns = stays * T, .stay = stays, .late = late};
        g->bins[stays * T / MS < 48 ? stays * T / MS : 47]++;
        g->summary.measures.cadence[stays]++;
    }
}

static void guest(struct tp_top_guest *g, unsigned id, const char *name, pid_t pid)
{
    *g = (struct tp_top_guest){.id = id,
        .pid = pid,
        .has_gauges = true,
        .gate = TP_GATE_VSYNC,
        .refresh_mhz = 60000,
        .images = 4,
        .connected = 2,
        .release_fence = true,
        .window_ns = 10000 * MS,
        .n_slots = 4,
        .n_looks = TP_TOP_LOOKS};
    static const uint8_t turn[] = {3, 3, 4, 5, 5, 5, 1, 2, 0};
    snprintf(g->name, sizeof g->name, "%s", name);
    for (unsigned i = 0; i < g->n_slots; i++) {
        for (unsigned k = 0; k < TP_TOP_LOOKS; k++) {
            g->slots[i].looks[k] = turn[(k + 2 * i) % sizeof turn];
            g->states[g->slots[i].looks[k]]++;
        }
        g->slots[i].state = g->slots[i].looks[TP_TOP_LOOKS - 1];
        g->slots[i].frame = 4709 + i;
    }
    struct tp_measures *m = &g->summary.measures;
    g->summary.has_guest = g->summary.has_counts = g->summary.has_tears = true;
    m->on_vblank = 1;
    m->latency = (struct tp_spread){.p50_ns = 34100000, .p99_ns = 35000000, .max_ns = 35100000};
    m->acquire_wait = (struct tp_spread){.p50_ns = 5100000, .p99_ns = 5400000, .max_ns = 6000000};
    m->gate_to_start = (struct tp_spread){.p50_ns = 20000, .p99_ns = 90000, .max_ns = 200000};
    m->release_wait_ns = 310000;
    m->gate_wait_ns = 4800000;
    static const uint64_t counts[TP_COUNTERS] = {0, 12, 0, 0, 600, 600, 0, 0};
    memcpy(g->summary.counts, counts, sizeof counts);
}

void made_healthy(struct made *m)
{
    made_empty(m);
    struct tp_top_guest *a = &m->guests[0], *b = &m->guests[1];
    guest(a, 0, "vkcube", 4720);
    a->fps = 60;
    a->summary.measures.interval =
        (struct tp_spread){.p50_ns = T, .p99_ns = T, .max_ns = T, .mean_ns = T};
    beats(a, 400, 1, 0);
    snprintf(a->verdict.text, sizeof a->verdict.text,
        "Healthy: 60.00 frames a second on 60 Hz, no tear, every frame on its refresh.");
    guest(b, 1, "DOOM Eternal", 4731);
    b->fps = 30;
    b->gate = TP_GATE_CAP;
    b->cap_mhz = 30000;
    b->summary.measures.interval =
        (struct tp_spread){.p50_ns = 2 * T, .p99_ns = 2 * T, .max_ns = 2 * T, .mean_ns = 2 * T};
    beats(b, 300, 2, 0);
    snprintf(b->verdict.text, sizeof b->verdict.text,
        "Healthy: 30.00 frames a second on 60 Hz, no tear, every frame on its refresh.");
    m->s.n_guests = 2;
    m->s.guests[0] = a;
    m->s.guests[1] = b;
}

static void finding(struct tp_top_guest *g, enum tp_severity severity, const char *title,
    const char *text, const char *todo)
{
    struct tp_finding *f = &g->findings[g->n_findings++];
    f->severity = severity;
    snprintf(f->id, sizeof f->id, "finding");
    snprintf(f->title, sizeof f->title, "%s", title);
    snprintf(f->text, sizeof f->text, "%s", text);
    snprintf(f->todo, sizeof f->todo, "%s", todo);
}

void made_unhealthy(struct made *m)
{
    made_healthy(m);
    struct tp_top_guest *g = &m->guests[0];
    struct tp_measures *x = &g->summary.measures;
    memset(g->bins, 0, sizeof g->bins);
    memset(x->cadence, 0, sizeof x->cadence);
    beats(g, 400, 1, 7);
    g->beats[398].torn = true;
    g->fps = 47.31;
    x->interval =
        (struct tp_spread){.p50_ns = T, .p99_ns = 4 * T, .max_ns = 4 * T, .mean_ns = 21e6};
    x->spacing_tail = 0.14;
    x->on_vblank = 0.86;
    x->gate_late = 31;
    x->repeats = 114;
    x->drops = 2;
    x->tears = 3;
    x->release_wait_ns = 6.2e6;
    g->summary.counts[TP_COUNT_RELEASE_TIMEOUTS] = g->so_far[TP_COUNT_RELEASE_TIMEOUTS] = 4;
    g->summary.counts[TP_COUNT_NOTES_LOST] = g->so_far[TP_COUNT_NOTES_LOST] = 58;
    g->summary.counts[TP_COUNT_NOTES_RESYNCED] = 9;
    m->s.screens[0].tears = 3;
    m->s.screens[0].fresh = 471;
    finding(g, TP_FINDING_ERROR, "It tears",
        "3 refreshes showed an image that was written meanwhile. Release fences are on.",
        "See the first one in a capture: which image is written, and who still reads it.");
    finding(g, TP_FINDING_WARNING, "Release notes are lost",
        "58 of about 1258 notes from the server (4.6 %) did not reach the game; 9 times the state "
        "was asked for again. The board tells the same, and so no wait was longer for it.",
        "See why the game’s side does not empty its socket.");
    g->verdict.severity = TP_FINDING_ERROR;
    snprintf(g->verdict.text, sizeof g->verdict.text,
        "It tears: 47.31 frames a second on 60 Hz, 3 tears, 86.00 %% of frames on their refresh. 1 "
        "more finding.");
}
