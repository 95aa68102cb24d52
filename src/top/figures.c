/* A guest's figures of the last seconds, by the arithmetic that simulate, play and report have. */
#include <string.h>

#include "frames/census/metrics.h"
#include "frames/pace/profile.h"
#include "top/model_internal.h"

#define RATE_NS INT64_C(2000000000)  /* that the frame rate is of */
#define STILL_NS INT64_C(2000000000) /* without a frame: it stands still */
#define SAMPLE_NS INT64_C(500000000) /* from one sample of the counts to the next */
#define MS INT64_C(1000000)

/* --- the rate --- */

static void rate(struct guest *g, int64_t now_ns)
{
    const struct frames *f = &g->frames;
    int64_t newest = TP_NEVER, oldest = TP_NEVER;
    unsigned n = 0;
    for (unsigned i = f->n; i-- > 0;) {
        int64_t line = frame_at(f, i)->record.line_ns;
        if (line == TP_NEVER)
            continue;
        if (newest == TP_NEVER)
            newest = line;
        if (n > 1 && line < newest - RATE_NS)
            break;
        oldest = line;
        n++;
    }
    g->shown.still_ns = newest == TP_NEVER ? 0 : now_ns - newest;
    int64_t patience = 4 * g->last_interval_ns;
    g->shown.stopped = n == 0 || g->shown.still_ns > (patience > STILL_NS ? patience : STILL_NS);
    if (g->seen_ns == TP_NEVER)
        g->seen_ns = now_ns;
    g->shown.is_new = n == 0 && now_ns < g->seen_ns + STILL_NS;
    g->shown.fps = n > 1 && newest > oldest && !g->shown.stopped
        ? (double)(n - 1) * 1e9 / (double)(newest - oldest)
        : 0;
}

/* --- counts --- */

static void count(struct guest *g, int64_t now_ns, int64_t window_ns, struct tp_summary *to)
{
    to->has_counts = g->has_counts;
    if (!g->has_counts)
        return;
    unsigned base = 0;
    while (base + 1 < g->n_samples && g->samples[base + 1].at_ns <= now_ns - window_ns)
        base++;
    for (unsigned i = 0; i < TP_COUNTERS; i++) {
        uint64_t before = g->samples[base].counts[i];
        to->counts[i] = g->counts[i] > before ? g->counts[i] - before : 0;
    }
    struct count_sample *last = &g->samples[g->n_samples - 1];
    if (last->at_ns != TP_NEVER && now_ns < last->at_ns + SAMPLE_NS)
        return;
    if (g->n_samples == COUNT_SAMPLES)
        memmove(g->samples, g->samples + 1, --g->n_samples * sizeof *g->samples);
    struct count_sample *s = &g->samples[g->n_samples++];
    s->at_ns = now_ns;
    memcpy(s->counts, g->counts, sizeof s->counts);
}

/* --- measures and causes --- */

static void set_up(const struct tp_top_model *m, const struct guest *g, struct tp_setup *to)
{
    *to = m->setup;
    if (m->n_screens > 0) {
        const struct tp_top_screen *s = &m->screens[0];
        to->refresh_mhz = s->refresh_mhz;
        to->slowest_mhz = s->slowest_mhz;
        to->pipeline = s->pipeline;
        to->has_pipeline = true;
        to->lead_ns = s->lead_ns;
    }
    if (!g->shown.has_gauges)
        return;
    if (m->n_screens == 0)
        to->refresh_mhz = g->shown.refresh_mhz;
    to->cap_mhz = g->shown.cap_mhz;
    to->images = g->shown.images;
    strcpy(to->gate, tp_gate_mode_name(g->shown.gate));
    to->release_fence = g->shown.release_fence ? TP_ON : TP_OFF;
    to->board = g->shown.connected == 2 ? TP_ON : g->shown.connected == 1 ? TP_OFF : TP_UNKNOWN;
}

static bool is_watched(const struct tp_top_model *m)
{
    return m->n_screens == 0 || m->screens[0].watched;
}

static bool is_of_now(const struct guest *g, int64_t instant_ns)
{
    return g->since_ns == TP_NEVER || instant_ns >= g->since_ns;
}

static void measure(
    struct tp_top_model *m, struct guest *g, struct tp_signs *signs, const struct tp_setup *setup)
{
    struct tp_summary *s = &g->shown.summary;
    tp_metrics_reset(m->metrics);
    for (unsigned i = 0; i < g->frames.n; i++) {
        const struct tp_frame_record *f = &frame_at(&g->frames, i)->record;
        if (!is_of_now(g, frame_instant(f)))
            continue;
        tp_metrics_frame(m->metrics, f);
        tp_signs_frame(signs, setup, f);
        s->has_guest |= f->acquired_ns != TP_NEVER;
    }
    for (unsigned i = 0; i < m->refreshes.n; i++) {
        const struct tp_refresh_record *r = refresh_at(&m->refreshes, i);
        if (!is_of_now(g, r->from_ns))
            continue;
        tp_metrics_refresh(m->metrics, r);
        tp_signs_refresh(signs, r);
        s->has_tears = is_watched(m);
    }
    tp_metrics_get(m->metrics, &s->measures);
}

/* --- pictures of it --- */

static void draw_beats(struct guest *g)
{
    struct tp_top_guest *to = &g->shown;
    unsigned first = g->frames.n, n = 0;
    memset(to->bins, 0, sizeof to->bins);
    while (first > 0 && n < TP_TOP_STRIP)
        n += frame_at(&g->frames, --first)->record.line_ns != TP_NEVER;
    to->n_beats = 0;
    for (unsigned i = 0; i < g->frames.n; i++) {
        const struct kept_frame *k = frame_at(&g->frames, i);
        if (k->record.line_ns == TP_NEVER || k->beat.interval_ns <= 0)
            continue;
        int64_t bin = k->beat.interval_ns / MS;
        if (i >= first)
            to->beats[to->n_beats++] = k->beat;
        if (!is_of_now(g, k->record.line_ns - k->beat.interval_ns))
            continue;
        to->bins[bin < (int64_t)TP_TOP_BINS ? bin : (int64_t)TP_TOP_BINS - 1]++;
    }
}

static void draw_slots(struct guest *g)
{
    struct tp_top_guest *to = &g->shown;
    unsigned first = (g->next_look + TP_TOP_LOOKS - g->n_looks) % TP_TOP_LOOKS;
    memset(to->states, 0, sizeof to->states);
    to->n_looks = g->n_looks;
    for (unsigned k = 0; k < g->n_looks; k++) {
        const uint8_t *look = g->looks[(first + k) % TP_TOP_LOOKS];
        for (unsigned i = 0; i < to->n_slots; i++) {
            to->slots[i].looks[k] = look[i];
            to->states[look[i]]++;
        }
    }
}

void tp_top_figures(struct tp_top_model *m, struct guest *g, int64_t now_ns)
{
    struct tp_top_guest *to = &g->shown;
    struct tp_setup setup;
    struct tp_signs signs = {0};
    to->window_ns = is_of_now(g, now_ns - m->window_ns) ? m->window_ns : now_ns - g->since_ns;
    to->summary = (struct tp_summary){0};
    rate(g, now_ns);
    count(g, now_ns, m->window_ns, &to->summary);
    set_up(m, g, &setup);
    measure(m, g, &signs, &setup);
    signs.replaced = to->is_screen; /* by guests that draw themselves */
    draw_beats(g);
    draw_slots(g);
    to->n_findings = tp_advise(&to->summary, &setup, &signs, to->findings);
    tp_advise_verdict(&to->summary, &setup, &signs, to->findings, to->n_findings, &to->verdict);
}
