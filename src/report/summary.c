#include "report/summary.h"

#include <stdio.h>
#include <string.h>

/* --- as JSON --- */

static json_t *spread(const struct tp_spread *s, bool max)
{
    json_t *j = json_pack("{s:f, s:f}", "p50", tp_ms((double)s->p50_ns), "p99", tp_ms((double)s->p99_ns));
    if (max)
        json_object_set_new(j, "max", json_real(tp_ms((double)s->max_ns)));
    return j;
}

static json_t *intervals(const struct tp_spread *s)
{
    json_t *j = spread(s, true);
    json_object_set_new(j, "mean", json_real(tp_ms(s->mean_ns)));
    json_object_set_new(j, "stddev", json_real(tp_ms(s->stddev_ns)));
    return j;
}

static json_t *waits(const struct tp_measures *m)
{
    json_t *j = spread(&m->acquire_wait, true);
    json_object_set_new(j, "slot", json_real(tp_ms(m->slot_wait_ns)));
    json_object_set_new(j, "release", json_real(tp_ms(m->release_wait_ns)));
    json_object_set_new(j, "gate", json_real(tp_ms(m->gate_wait_ns)));
    return j;
}

static json_t *cadence(const struct tp_measures *m)
{
    json_t *j = json_object();
    for (unsigned i = 1; i <= TP_CADENCE; i++) {
        char name[8];
        snprintf(name, sizeof name, "%u", i);
        if (m->cadence[i] > 0)
            json_object_set_new(j, name, json_integer((json_int_t)m->cadence[i]));
    }
    return j;
}

static json_t *faults(const struct tp_summary *s)
{
    json_t *j = json_object();
    for (unsigned i = 0; i < s->n_faults; i++)
        json_object_set_new(j, s->faults[i].name, json_integer((json_int_t)s->faults[i].injected));
    return j;
}

static void set_number(json_t *j, const char *name, bool known, uint64_t n)
{
    json_object_set_new(j, name, known ? json_integer((json_int_t)n) : json_null());
}

static json_t *notes(const struct tp_summary *s)
{
    json_t *j = json_object();
    set_number(j, "pending", s->has_counts, s->counts[TP_COUNT_NOTES_PENDING]);
    set_number(j, "final", s->has_counts, s->counts[TP_COUNT_NOTES_FINAL]);
    set_number(j, "lost", s->has_counts, s->counts[TP_COUNT_NOTES_LOST]);
    set_number(j, "resynced", s->has_counts, s->counts[TP_COUNT_NOTES_RESYNCED]);
    return j;
}

/* What only the game's side can tell. */
static void set_guest(json_t *j, const struct tp_summary *s)
{
    const struct tp_measures *m = &s->measures;
    bool counted = s->has_guest && s->has_counts;
    json_object_set_new(j, "on_vblank", s->has_guest ? json_real(m->on_vblank) : json_null());
    json_object_set_new(j, "latency_ms", s->has_guest ? spread(&m->latency, false) : json_null());
    json_object_set_new(j, "acquire_wait_ms", s->has_guest ? waits(m) : json_null());
    json_object_set_new(
        j, "gate_to_start_ms", s->has_guest ? spread(&m->gate_to_start, true) : json_null());
    set_number(j, "gate_late", s->has_guest, m->gate_late);
    set_number(j, "unsafe", counted, s->counts[TP_COUNT_UNSAFE]);
    set_number(j, "release_waits", counted, s->counts[TP_COUNT_RELEASE_WAITS]);
    set_number(j, "release_timeouts", counted, s->counts[TP_COUNT_RELEASE_TIMEOUTS]);
    set_number(j, "slot_waits", counted, s->counts[TP_COUNT_SLOT_WAITS]);
}

json_t *tp_summary_json(const struct tp_summary *s)
{
    const struct tp_measures *m = &s->measures;
    double seconds = (double)m->span_ns / 1e9;
    json_t *j = json_pack("{s:s, s:i, s:I, s:f, s:f, s:f, s:o, s:o, s:o, s:o}", "turnpike",
        TP_VERSION, "schema", 1, "frames", (json_int_t)m->frames, "seconds", seconds, "fps", tp_measures_fps(m),
        "spacing_tail", m->spacing_tail, "interval_ms", intervals(&m->interval), "cadence",
        cadence(m), "notes", notes(s), "faults", faults(s));
    set_number(j, "tears", s->has_tears, m->tears);
    set_number(j, "async_tears", true, m->async_tears);
    set_number(j, "repeats", true, m->repeats);
    set_number(j, "drops", true, m->drops);
    set_guest(j, s);
    return j;
}

/* --- from a capture --- */

struct reading {
    struct tp_figures *figures;
    unsigned guest;
};

static void on_frame(void *data, const struct tp_frame_record *f)
{
    struct reading *r = data;
    if (r->guest == TP_FIGURES_MAIN || f->guest == r->guest)
        tp_figures_frame(r->figures, f);
}

static void on_refresh(void *data, const struct tp_refresh_record *f)
{
    tp_figures_refresh(((struct reading *)data)->figures, f);
}

static void on_setting(void *data, int64_t at_ns, const char *name, const char *value)
{
    (void)at_ns;
    tp_figures_setting(((struct reading *)data)->figures, name, value);
}

static void on_count(void *data, const char *name, uint64_t value)
{
    tp_figures_count(((struct reading *)data)->figures, name, value);
}

int tp_summary_read(const char *path, unsigned guest, struct tp_summary *out,
    struct tp_capture_found *found, struct tp_error *e)
{
    struct reading r = {.figures = tp_figures_create(), .guest = guest};
    struct tp_capture_sink sink = {.setting = on_setting,
        .frame = on_frame,
        .refresh = on_refresh,
        .count = on_count,
        .data = &r};
    int err = tp_capture_read(path, &sink, found, e);
    tp_figures_get(r.figures, guest, out);
    tp_figures_destroy(r.figures);
    return err;
}
