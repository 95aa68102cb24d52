/* Reads a capture once and keeps of it what the page is made of. */
#include "report/html_model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/html_text.h"

#define BIN_US 8192 /* of the overview, at first */
#define LATER_NS INT64_C(1000000000)

/* --- guests --- */

/* NULL: one too many. */
static struct report_guest *guest_of(struct tp_report *r, unsigned number)
{
    for (unsigned i = 0; i < r->n_guests; i++)
        if (r->guests[i].number == number)
            return &r->guests[i];
    if (r->n_guests == REPORT_GUESTS)
        return NULL;
    struct report_guest *g = &r->guests[r->n_guests++];
    *g = (struct report_guest){.number = number, .strip_left = REPORT_STRIP / 2};
    return g;
}

static unsigned place_of(const struct tp_report *r, const struct report_guest *g)
{
    return (unsigned)(g - r->guests);
}

const struct report_guest *report_main_guest(const struct tp_report *r)
{
    for (unsigned i = 0; i < r->n_guests; i++)
        if (r->guests[i].number == r->main_guest)
            return &r->guests[i];
    return NULL;
}

unsigned report_shown_guests(const struct tp_report *r, const struct report_guest **out)
{
    const struct report_guest *first = report_main_guest(r);
    unsigned n = 0;
    if (first)
        out[n++] = first;
    for (unsigned i = 0; i < r->n_guests; i++)
        if (&r->guests[i] != first && (!first || r->guests[i].summary.measures.frames > REPORT_FEW))
            out[n++] = &r->guests[i];
    return n;
}

char *report_guest_name(const struct report_guest *g)
{
    if (g->name && *g->name)
        return tp_strdup(g->name);
    return g->number == TP_JOIN_SCREEN ? tp_strdup("the screen") : tp_asprintf("guest %u", g->number);
}

static void on_guest(void *data, unsigned number, const char *name)
{
    struct report_guest *g = guest_of(data, number);
    if (!g)
        return;
    free(g->name);
    g->name = html_visible(name);
}

/* --- the overview: bins over all the time there is --- */

static void widen_bins(struct tp_report *r)
{
    for (unsigned i = 0; i < REPORT_BINS; i++) {
        struct report_bin sum = {0};
        for (unsigned k = 2 * i; k < 2 * i + 2 && k < REPORT_BINS; k++) {
            sum.frames += r->bins[k].frames;
            sum.kinds |= r->bins[k].kinds;
            if (r->bins[k].worst_us > sum.worst_us)
                sum.worst_us = r->bins[k].worst_us;
        }
        r->bins[i] = sum;
    }
    r->bin_us *= 2;
}

static struct report_bin *bin_at(struct tp_report *r, int64_t ns)
{
    int64_t us = report_us(&r->chunks, ns);
    us = us > 0 ? us : 0;
    while (us / r->bin_us >= REPORT_BINS)
        widen_bins(r);
    return &r->bins[us / r->bin_us];
}

/* --- events --- */

static void event(struct tp_report *r, const struct report_event *e)
{
    if (e->from_ns == TP_NEVER)
        return;
    report_set_origin(&r->chunks, e->from_ns);
    report_event_add(&r->events, e);
    bin_at(r, e->from_ns)->kinds |= 1u << e->kind;
}

static int64_t known_or(int64_t at_ns, int64_t other_ns)
{
    return at_ns != TP_NEVER ? at_ns : other_ns;
}

static void frame_event(struct tp_report *r, const struct report_guest *g, enum report_kind kind,
    const struct tp_frame_record *f, int64_t at_ns, uint64_t n, int64_t worst)
{
    int64_t at = known_or(at_ns, report_frame_instant(f));
    struct report_event e = {.kind = kind,
        .guest = place_of(r, g),
        .first = f->number,
        .last = f->number,
        .n = n,
        .from_ns = at,
        .to_ns = at,
        .worst = worst};
    event(r, &e);
}

/* --- frames --- */

/* Something grave, something, nothing. */
static unsigned frame_events(
    struct tp_report *r, struct report_guest *g, const struct tp_frame_record *f)
{
    unsigned weight = f->torn ? 2 : 0;
    if (tp_waited_long(&r->setup, f)) {
        frame_event(r, g, EVENT_WAIT, f, f->asked_ns, 1, f->release_wait_ns);
        weight = 2;
    }
    if (f->dropped) {
        frame_event(r, g, EVENT_DROP, f, known_or(f->presented_ns, f->ready_ns), 1, 1);
        weight = weight > 1 ? weight : 1;
    }
    if (f->repeats > 0 && f->number >= TP_LEFT_OUT) {
        int64_t n = f->repeats < INT32_MAX ? (int64_t)f->repeats : INT32_MAX;
        frame_event(r, g, EVENT_REPEAT, f, f->line_ns, (uint64_t)n, n);
        weight = weight > 1 ? weight : 1;
    }
    if (f->late) {
        bool known = f->ready_ns != TP_NEVER && f->booked_ns != TP_NEVER;
        frame_event(r, g, EVENT_LATE, f, f->ready_ns, 1, known ? f->ready_ns - f->booked_ns : 0);
        weight = weight > 1 ? weight : 1;
    }
    return weight;
}

/* The frame before this one was released late. */
static void release_event(
    struct tp_report *r, struct report_guest *g, const struct tp_frame_record *f)
{
    if (g->signs.late_by == 0)
        return;
    struct tp_frame_record before = {.number = g->last_number};
    frame_event(r, g, EVENT_RELEASE, &before, f->line_ns, 1, g->signs.late_by);
}

static void strip_stay(struct report_guest *g, uint64_t frame, uint64_t stay)
{
    uint8_t stays = stay < UINT8_MAX ? (uint8_t)stay : UINT8_MAX;
    bool same = g->stays > 0 && g->strip[(g->stays - 1) % REPORT_STRIP] == stays;
    bool begun = g->strip_left < REPORT_STRIP / 2;
    if (g->strip_left == 0)
        return;
    g->strip[g->stays++ % REPORT_STRIP] = stays;
    if (begun || (!same && g->stays > REPORT_STRIP / 2))
        g->strip_left--;
    uint64_t shown = g->stays < REPORT_STRIP ? g->stays : REPORT_STRIP;
    g->strip_first = frame >= shown ? frame - shown : 0;
}

static void shown(struct tp_report *r, struct report_guest *g, const struct tp_frame_record *f)
{
    struct report_bin *bin = bin_at(r, f->line_ns);
    bin->frames++;
    if (g->bar_ns == 0) {
        uint32_t mhz = f->refresh_mhz > 0 ? f->refresh_mhz : r->setup.refresh_mhz;
        g->bar_ns = (tp_mhz_period_ns(mhz > 0 ? mhz : 60000) + REPORT_BAR / 2) / REPORT_BAR;
        g->bar_ns = g->bar_ns > 0 ? g->bar_ns : 1;
    }
    if (g->shown && f->line_ns > g->last_line_ns && f->number > TP_LEFT_OUT) {
        int64_t interval = f->line_ns - g->last_line_ns;
        int64_t bar = (interval + g->bar_ns / 2) / g->bar_ns;
        g->bars[bar < (int64_t)REPORT_BARS ? bar : (int64_t)REPORT_BARS - 1]++;
        int64_t us = interval / 1000 < UINT32_MAX ? interval / 1000 : UINT32_MAX;
        if (us > bin->worst_us)
            bin->worst_us = (uint32_t)us;
        if (!f->variable && f->sequence > g->last_sequence)
            strip_stay(g, f->number, f->sequence - g->last_sequence);
    }
    g->shown = true;
    g->last_line_ns = f->line_ns;
    g->last_sequence = f->sequence;
    g->last_number = f->number;
}

static void on_frame(void *data, const struct tp_frame_record *f)
{
    struct tp_report *r = data;
    struct report_guest *g = guest_of(r, f->guest);
    tp_figures_frame(r->figures, f);
    if (!g) {
        r->other_frames++;
        return;
    }
    report_set_origin(&r->chunks, report_frame_instant(f));
    tp_signs_frame(&g->signs, &r->setup, f);
    release_event(r, g, f);
    unsigned weight = frame_events(r, g, f);
    if (f->line_ns != TP_NEVER)
        shown(r, g, f);
    unsigned flags = (f->dropped ? ROW_DROPPED : 0u) | (f->late ? ROW_LATE : 0u) |
        (f->torn ? ROW_TORN : 0u) | (f->variable ? ROW_VARIABLE : 0u) |
        (tp_waited_long(&r->setup, f) ? ROW_WAITED : 0u);
    report_chunks_frame(&r->chunks, f, place_of(r, g), flags, weight);
}

/* --- refreshes --- */

static void panel_events(struct tp_report *r, const struct tp_refresh_record *f)
{
    uint64_t stops = r->panel.stops, changes = r->panel.rate_changes;
    struct report_event e = {.n = 1, .from_ns = r->last_refresh_ns, .to_ns = f->from_ns};
    tp_signs_refresh(&r->panel, f);
    if (r->panel.stops > stops) {
        e.kind = EVENT_STOP;
        e.worst = f->from_ns - r->last_refresh_ns;
        event(r, &e);
    }
    if (r->panel.rate_changes > changes) {
        e.kind = EVENT_RATE;
        e.from_ns = f->from_ns;
        e.worst = f->refresh_mhz;
        event(r, &e);
    }
}

static void tear_event(
    struct tp_report *r, const struct report_guest *g, const struct tp_refresh_record *f)
{
    struct report_event e = {.kind = EVENT_TEAR,
        .guest = place_of(r, g),
        .first = f->frame,
        .last = f->frame,
        .n = 1,
        .from_ns = f->from_ns,
        .to_ns = f->to_ns,
        .worst = f->torn_line};
    event(r, &e);
    r->chunks.weight = 2;
}

static void on_refresh(void *data, const struct tp_refresh_record *f)
{
    struct tp_report *r = data;
    struct report_guest *g = f->shows ? guest_of(r, f->guest) : NULL;
    report_set_origin(&r->chunks, f->from_ns);
    tp_figures_refresh(r->figures, f);
    panel_events(r, f);
    r->last_refresh_ns = f->from_ns;
    r->refreshes++;
    if (g && f->torn_ns != TP_NEVER)
        tear_event(r, g, f);
    if (g || !f->shows)
        report_chunks_refresh(&r->chunks, f, g ? place_of(r, g) : 0);
}

/* --- settings and counts --- */

static void set(struct report_setting *s, int64_t at_ns, const char *name, const char *value)
{
    free(s->name);
    free(s->value);
    *s = (struct report_setting){html_visible(name), html_visible(value), at_ns};
}

static void on_setting(void *data, int64_t at_ns, const char *name, const char *value)
{
    struct tp_report *r = data;
    tp_setup_set(&r->setup, name, value);
    tp_figures_setting(r->figures, name, value);
    char *visible = html_visible(name);
    unsigned i = 0;
    while (i < r->n_settings && strcmp(r->settings[i].name, visible) != 0)
        i++;
    free(visible);
    char *now = html_visible(value);
    bool changed = i < r->n_settings && at_ns != 0 && strcmp(r->settings[i].value, now) != 0;
    free(now);
    if (i < REPORT_SETTINGS)
        set(&r->settings[i], at_ns, name, value);
    else
        r->other_settings++;
    r->n_settings += i == r->n_settings && i < REPORT_SETTINGS;
    /* The rate's changes are the panel's events. */
    if (!changed || strcmp(name, "refresh-mhz") == 0 || r->n_changes == REPORT_CHANGES)
        return;
    set(&r->changes[r->n_changes], at_ns, name, value);
    struct report_event e = {.kind = EVENT_CHANGE,
        .n = 1,
        .from_ns = at_ns,
        .to_ns = at_ns,
        .worst = -(int64_t)r->n_changes,
        .change = r->n_changes};
    r->n_changes++;
    event(r, &e);
}

static void on_count(void *data, const char *name, uint64_t value)
{
    tp_figures_count(((struct tp_report *)data)->figures, name, value);
}

/* --- all of it --- */

/* Of the screen's own frames nobody expects a game's side, where games are recorded beside it. */
static void drop_finding(struct report_guest *g, const char *id)
{
    for (unsigned i = 0; i < g->n_findings; i++)
        if (strcmp(g->findings[i].id, id) == 0) {
            g->n_findings--;
            memmove(&g->findings[i], &g->findings[i + 1], (g->n_findings - i) * sizeof *g->findings);
            return;
        }
}

static bool is_successor(const struct report_guest *g, const struct report_guest *next)
{
    bool named = g->name && *g->name && next->name;
    return g->number == TP_JOIN_SCREEN || (named && strcmp(g->name, next->name) == 0);
}

/* What is the panel's, and how the run ended for this guest. A guest is a swapchain: a game that
 * makes a new one, as for another size, goes on as another guest. */
static void look_at_end(const struct tp_report *r, struct report_guest *g)
{
    struct tp_signs *s = &g->signs;
    s->stops = r->panel.stops;
    s->longest_stop_ns = r->panel.longest_stop_ns;
    s->rate_changes = r->panel.rate_changes;
    s->last.refresh = r->panel.last.refresh;
    s->last.refresh_ns = r->panel.last.refresh_ns;
    s->start_ns = r->chunks.has_origin
        ? r->chunks.origin_ns + 1000 * report_start_us(&r->chunks)
        : 0;
    for (unsigned i = 0; i < r->n_guests; i++) {
        const struct report_guest *next = &r->guests[i];
        bool later = next->signs.shown > 0 && next->signs.shown_ns > s->shown_ns + LATER_NS;
        if (next == g || next->number == TP_JOIN_SCREEN || !later)
            continue;
        s->replaced |= is_successor(g, next);
        s->others = true;
    }
}

static void conclude(struct tp_report *r)
{
    report_events_end(&r->events);
    report_chunks_end(&r->chunks);
    r->main_guest = tp_figures_guest(r->figures);
    tp_figures_get(r->figures, TP_FIGURES_MAIN, &r->main);
    for (unsigned i = 0; i < r->n_guests; i++) {
        struct report_guest *g = &r->guests[i];
        tp_figures_get(r->figures, g->number, &g->summary);
        look_at_end(r, g);
        g->n_findings = tp_advise(&g->summary, &r->setup, &g->signs, g->findings);
        if (g->number == TP_JOIN_SCREEN && r->n_guests > 1)
            drop_finding(g, "panel-side-only");
        tp_advise_verdict(&g->summary, &r->setup, &g->signs, g->findings, g->n_findings, &g->verdict);
    }
}

int tp_report_read(const char *capture, struct tp_report **out, struct tp_error *e)
{
    struct tp_report *r = tp_calloc(1, sizeof *r);
    struct tp_capture_sink sink = {.setting = on_setting,
        .guest = on_guest,
        .frame = on_frame,
        .refresh = on_refresh,
        .count = on_count,
        .data = r};
    r->bin_us = BIN_US;
    r->figures = tp_figures_create();
    *out = NULL;
    int err = tp_capture_read(capture, &sink, &r->found, e);
    conclude(r);
    if (err < 0)
        tp_report_destroy(r);
    else
        *out = r;
    return err < 0 ? err : 0;
}

static void free_settings(struct report_setting *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        free(s[i].name);
        free(s[i].value);
    }
}

void tp_report_destroy(struct tp_report *r)
{
    if (!r)
        return;
    tp_figures_destroy(r->figures);
    for (unsigned i = 0; i < r->n_guests; i++)
        free(r->guests[i].name);
    free_settings(r->settings, r->n_settings);
    free_settings(r->changes, r->n_changes);
    report_chunks_finish(&r->chunks);
    free(r);
}

/* --- what is missing --- */

void tp_report_missing(const struct tp_report *r, struct tp_buf *out)
{
    const struct tp_capture_found *f = &r->found;
    if (f->damaged > 0)
        tp_buf_addf(out,
            "%" PRIu64 " block%s of the capture %s damaged: some of what happened then is not in here.\n",
            f->damaged, f->damaged == 1 ? "" : "s", f->damaged == 1 ? "is" : "are");
    if (f->lost)
        tp_buf_adds(out, "Behind the last damaged block nothing could be read any more.\n");
    else if (!f->ended)
        tp_buf_adds(out, "The capture was cut: the run went on behind its end, or its program died.\n");
    if (f->unknown > 0)
        tp_buf_addf(out, "%" PRIu64 " record%s of kinds that a later turnpike knows.\n", f->unknown,
            f->unknown == 1 ? " is" : "s are");
    if (r->other_frames > 0)
        tp_buf_addf(out, "%" PRIu64 " frames of further guests are left out: %u are shown.\n",
            r->other_frames, REPORT_GUESTS);
}
