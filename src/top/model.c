#include "top/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "frames/census/join.h"
#include "frames/census/metrics.h"
#include "top/model_internal.h"

#define SCREEN_NS INT64_C(3000000000) /* a picture of nobody is a guest for so long */

struct tp_top_model *tp_top_model_create(int64_t window_ns)
{
    struct tp_top_model *m = tp_calloc(1, sizeof *m);
    m->window_ns = window_ns;
    m->metrics = tp_metrics_create();
    return m;
}

static void end_guest(struct guest *g)
{
    if (!g)
        return;
    tp_metrics_destroy(g->running);
    free(g->frames.at);
    free(g);
}

void tp_top_forget(struct tp_top_model *m)
{
    for (unsigned i = 0; i < TP_TOP_GUESTS; i++) {
        end_guest(m->guests[i]);
        m->guests[i] = NULL;
    }
    free(m->refreshes.at);
    m->refreshes = (struct refreshes){0};
    m->n_screens = m->more_guests = 0;
    m->tears = m->async_tears = 0;
    m->setup = (struct tp_setup){0};
    m->snapshot = (struct tp_top_snapshot){0};
}

void tp_top_model_destroy(struct tp_top_model *m)
{
    if (!m)
        return;
    tp_top_forget(m);
    tp_metrics_destroy(m->metrics);
    free(m);
}

/* --- guests --- */

static struct guest **find(struct tp_top_model *m, unsigned id)
{
    for (unsigned i = 0; i < TP_TOP_GUESTS; i++)
        if (m->guests[i] && m->guests[i]->shown.id == id)
            return &m->guests[i];
    return NULL;
}

/* NULL: there is no room. */
static struct guest *guest_of(struct tp_top_model *m, unsigned id)
{
    struct guest **at = find(m, id);
    for (unsigned i = 0; !at && i < TP_TOP_GUESTS; i++)
        if (!m->guests[i])
            at = &m->guests[i];
    if (!at) {
        m->more_guests++;
        return NULL;
    }
    if (*at)
        return *at;
    struct guest *g = *at = tp_calloc(1, sizeof *g);
    g->running = tp_metrics_create();
    g->last_line_ns = g->since_ns = g->seen_ns = TP_NEVER;
    g->shown.id = id;
    g->shown.is_screen = id == TP_JOIN_SCREEN;
    snprintf(
        g->shown.name, sizeof g->shown.name, "%s", id == TP_JOIN_SCREEN ? "the screen" : "guest");
    return g;
}

void tp_top_guest(struct tp_top_model *m, unsigned guest, const char *name, pid_t pid)
{
    struct guest *g = guest_of(m, guest);
    if (!g)
        return;
    snprintf(g->shown.name, sizeof g->shown.name, "%s", *name ? name : "guest");
    g->shown.pid = pid;
}

void tp_top_gone(struct tp_top_model *m, unsigned guest)
{
    struct guest **at = find(m, guest);
    if (!at)
        return;
    end_guest(*at);
    *at = NULL;
    m->more_guests = 0; /* counted anew by those that are still there */
}

void tp_top_unheard(struct tp_top_model *m, unsigned guest, uint64_t lost)
{
    struct guest *g = guest_of(m, guest);
    if (g)
        g->shown.unheard += lost;
}

/* --- records --- */

static struct kept_frame *push_frame(struct frames *f)
{
    if (f->n == f->cap && f->cap < KEPT) { /* in their order: then there is one end alone */
        unsigned cap = f->cap ? 2 * f->cap : 64;
        struct kept_frame *at = tp_calloc(cap, sizeof *at);
        for (unsigned i = 0; i < f->n; i++)
            at[i] = *frame_at(f, i);
        free(f->at);
        *f = (struct frames){at, cap, 0, f->n};
    }
    if (f->n == f->cap) {
        f->first = (f->first + 1) % f->cap;
        f->n--;
    }
    return frame_at(f, f->n++);
}

static void judge(struct guest *g, struct kept_frame *k)
{
    const struct tp_frame_record *f = &k->record;
    struct tp_shown_verdict v;
    tp_metrics_shown(g->running, f, &v);
    if (g->last_line_ns != TP_NEVER)
        g->last_interval_ns = f->line_ns - g->last_line_ns;
    k->beat = (struct tp_top_beat){.interval_ns = g->last_interval_ns,
        .stay = v.judged && v.stay > 0 ? (unsigned)v.stay : 0,
        .late = v.repeats > 0,
        .torn = f->torn};
    g->last_line_ns = f->line_ns;
}

void tp_top_frame(struct tp_top_model *m, const struct tp_frame_record *f)
{
    struct guest **at = find(m, f->guest), *g = at ? *at : NULL;
    if (!g || frame_instant(f) == TP_NEVER)
        return;
    if (g->frames.n > 0 && f->cap_mhz != g->last_cap_mhz && frame_instant(f) > g->since_ns)
        g->since_ns = frame_instant(f);
    g->last_cap_mhz = f->cap_mhz;
    struct kept_frame *k = push_frame(&g->frames);
    *k = (struct kept_frame){.record = *f};
    if (f->line_ns != TP_NEVER)
        judge(g, k);
}

void tp_top_refresh(struct tp_top_model *m, const struct tp_refresh_record *r)
{
    struct refreshes *q = &m->refreshes;
    if (!q->at) {
        q->cap = KEPT;
        q->at = tp_calloc(q->cap, sizeof *q->at);
    }
    if (q->n == q->cap) {
        q->first = (q->first + 1) % q->cap;
        q->n--;
    }
    *refresh_at(q, q->n++) = *r;
    m->tears += r->torn_ns != TP_NEVER;
    m->async_tears += r->async_torn;
}

/* --- numbers --- */

static uint32_t low(uint64_t v)
{
    return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static unsigned bounded(uint64_t v, unsigned most)
{
    return v > most ? most : (unsigned)v;
}

static void count_from_here(struct guest *g)
{
    g->samples[0] = (struct count_sample){.at_ns = TP_NEVER};
    memcpy(g->samples[0].counts, g->counts, sizeof g->samples[0].counts);
    g->n_samples = 1;
}

static void take_counts(struct guest *g, const uint64_t counts[TP_COUNTERS])
{
    memcpy(g->counts, counts, sizeof g->counts);
    memcpy(g->shown.so_far, counts, sizeof g->shown.so_far);
    if (!g->has_counts)
        count_from_here(g);
    g->has_counts = true;
}

static void look_at_slots(struct guest *g, const uint64_t gauges[TP_GAUGES])
{
    uint8_t *look = g->looks[g->next_look];
    g->shown.n_slots = bounded(gauges[TP_GAUGE_IMAGES], TP_RING_SLOTS);
    for (unsigned i = 0; i < g->shown.n_slots; i++) {
        uint64_t v = gauges[TP_GAUGE_SLOTS + i];
        unsigned state = bounded(v & 0xff, TP_TOP_STATES - 1);
        look[i] = (uint8_t)state;
        g->shown.slots[i].state = (uint8_t)state;
        g->shown.slots[i].frame = v >> 8;
    }
    g->next_look = (g->next_look + 1) % TP_TOP_LOOKS;
    g->n_looks = bounded(g->n_looks + 1u, TP_TOP_LOOKS);
}

void tp_top_gauges(struct tp_top_model *m, unsigned guest, const uint64_t gauges[TP_GAUGES])
{
    struct guest *g = guest_of(m, guest);
    if (!g)
        return;
    unsigned images = g->shown.images;
    g->changed |= g->shown.has_gauges &&
        (g->shown.gate != bounded(gauges[TP_GAUGE_GATE], TP_GATE_LATENCY) ||
            g->shown.cap_mhz != low(gauges[TP_GAUGE_CAP_MHZ]));
    g->shown.has_gauges = true;
    g->shown.gate = (enum tp_gate_mode)bounded(gauges[TP_GAUGE_GATE], TP_GATE_LATENCY);
    g->shown.cap_mhz = low(gauges[TP_GAUGE_CAP_MHZ]);
    g->shown.refresh_mhz = low(gauges[TP_GAUGE_REFRESH_MHZ]);
    g->shown.images = bounded(gauges[TP_GAUGE_IMAGES], TP_RING_SLOTS);
    g->shown.connected = bounded(gauges[TP_GAUGE_CONNECTED], 2);
    g->shown.release_fence = gauges[TP_GAUGE_RELEASE_FENCE] != 0;
    g->shown.presented = gauges[TP_GAUGE_PRESENTED];
    if (images != g->shown.images)
        g->n_looks = g->next_look = 0;
    take_counts(g, &gauges[TP_GAUGE_COUNTS]);
    look_at_slots(g, gauges);
}

static struct tp_top_screen *screen_of(struct tp_top_model *m, unsigned id)
{
    for (unsigned i = 0; i < m->n_screens; i++)
        if (m->screens[i].id == id)
            return &m->screens[i];
    if (m->n_screens == TP_TOP_SCREENS)
        return NULL;
    struct tp_top_screen *s = &m->screens[m->n_screens++];
    *s = (struct tp_top_screen){.id = id};
    return s;
}

void tp_top_screen_gauges(
    struct tp_top_model *m, unsigned screen, const char *name, const uint64_t gauges[TP_GAUGES])
{
    struct tp_top_screen *s = screen_of(m, screen);
    if (!s)
        return;
    snprintf(s->name, sizeof s->name, "%s", name);
    s->width_px = bounded(gauges[TP_GAUGE_WIDTH], 1u << 20);
    s->height_px = bounded(gauges[TP_GAUGE_HEIGHT], 1u << 20);
    s->refresh_mhz = low(gauges[TP_GAUGE_REFRESH_MHZ]);
    s->slowest_mhz = low(gauges[TP_GAUGE_SLOWEST_MHZ]);
    s->pipeline = bounded(gauges[TP_GAUGE_PIPELINE], 16);
    s->lead_ns = (int64_t)bounded(gauges[TP_GAUGE_LEAD_NS], 1000000000);
    s->watched = gauges[TP_GAUGE_WATCHED] != 0;
}

/* --- a capture's --- */

void tp_top_setting(struct tp_top_model *m, const char *name, const char *value)
{
    tp_setup_set(&m->setup, name, value);
}

void tp_top_count(struct tp_top_model *m, unsigned guest, enum tp_counter counter, uint64_t value)
{
    static const uint64_t none[TP_COUNTERS] = {0};
    struct guest *g = guest_of(m, guest);
    if (!g || counter >= TP_COUNTERS)
        return;
    if (!g->has_counts)
        take_counts(g, none); /* a capture begins with its run */
    g->counts[counter] = g->shown.so_far[counter] = value;
}

/* --- how it stands --- */

static void trim(struct tp_top_model *m, int64_t from_ns)
{
    struct refreshes *q = &m->refreshes;
    while (q->n > 0 && refresh_at(q, 0)->from_ns < from_ns) {
        q->first = (q->first + 1) % q->cap;
        q->n--;
    }
    for (unsigned i = 0; i < TP_TOP_GUESTS; i++) {
        if (!m->guests[i])
            continue;
        struct frames *f = &m->guests[i]->frames;
        while (f->n > LEAD && frame_instant(&frame_at(f, LEAD)->record) < from_ns) {
            f->first = (f->first + 1) % f->cap;
            f->n--;
        }
    }
}

static void count_refreshes(struct tp_top_model *m)
{
    struct tp_top_screen *s = m->screens;
    const struct refreshes *q = &m->refreshes;
    if (m->n_screens == 0)
        return;
    s->tears = m->tears;
    s->async_tears = m->async_tears;
    s->refreshes = q->n;
    s->fresh = 0;
    for (unsigned i = 0; i < q->n; i++) {
        const struct tp_refresh_record *r = refresh_at(q, i),
                                       *before = i ? refresh_at(q, i - 1) : r;
        s->fresh += r->shows && (r->guest != before->guest || r->frame != before->frame);
    }
}

/* The screen is a guest only where it shows what no guest draws. */
static bool is_there(const struct guest *g, int64_t from_ns)
{
    const struct frames *f = &g->frames;
    return !g->shown.is_screen ||
        (f->n > 0 && frame_instant(&frame_at(f, f->n - 1)->record) >= from_ns);
}

/* What was paced another way tells nothing of how it is paced now. */
static void begin_figures(struct guest *g, int64_t now_ns)
{
    g->changed = false;
    g->since_ns = now_ns;
    count_from_here(g);
}

static int by_id(const void *a, const void *b)
{
    const struct tp_top_guest *const *x = a, *const *y = b;
    return (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

const struct tp_top_snapshot *tp_top_update(struct tp_top_model *m, int64_t now_ns)
{
    struct tp_top_snapshot *s = &m->snapshot;
    trim(m, now_ns - m->window_ns);
    count_refreshes(m);
    *s = (struct tp_top_snapshot){
        .now_ns = now_ns, .n_screens = m->n_screens, .more_guests = m->more_guests};
    m->more_guests = 0;
    memcpy(s->screens, m->screens, sizeof s->screens);
    for (unsigned i = 0; i < TP_TOP_GUESTS; i++) {
        if (!m->guests[i] || !is_there(m->guests[i], now_ns - SCREEN_NS))
            continue;
        if (m->guests[i]->changed)
            begin_figures(m->guests[i], now_ns);
        tp_top_figures(m, m->guests[i], now_ns);
        s->guests[s->n_guests++] = &m->guests[i]->shown;
    }
    qsort(s->guests, s->n_guests, sizeof *s->guests, by_id);
    return s;
}
