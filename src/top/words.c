/* Panes in words: intervals, waits, what is late, latency, notes, and causes. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "top/draw_internal.h"

#define HEADING 11u /* columns */
#define NARROW 56u  /* no headings below it */
#define GAP 3u      /* between fields */

void tp_field_set(struct field *f, const char *label, unsigned ink, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->value, sizeof f->value, fmt, ap);
    va_end(ap);
    f->label = label;
    f->ink = ink;
}

struct area tp_heading(struct area a, const char *heading)
{
    if (a.w < NARROW)
        return a;
    if (a.c)
        tp_canvas_put(a.c, a.x, a.y, HEADING - 1, TP_INK_COOL, heading);
    a.x += HEADING;
    a.w -= HEADING;
    return a;
}

static unsigned width_of(const struct field *f)
{
    unsigned label = (unsigned)strlen(f->label);
    return label + (label > 0) + (unsigned)strlen(f->value);
}

/* Those that begin with a bar stand beside the one before them, on one line. */
static bool goes_on(const struct field *f)
{
    return f->label[0] == '|';
}

static unsigned width_with_next(const struct field *f, unsigned n)
{
    unsigned w = width_of(f);
    for (unsigned i = 1; i < n && goes_on(&f[i]); i++)
        w += 1 + width_of(&f[i]);
    return w;
}

unsigned tp_fields(struct area a, const char *heading, const struct field *f, unsigned n)
{
    unsigned x = 0, line = 0, wide = a.w < NARROW ? GAP - 1 : GAP;
    struct area in = tp_heading(a, heading);
    for (unsigned i = 0; i < n; i++) {
        unsigned gap = goes_on(&f[i]) ? 1 : wide;
        if (x > 0 && !goes_on(&f[i]) && x + gap + width_with_next(&f[i], n - i) > in.w) {
            x = 0;
            line++;
        }
        if (in.c && line >= in.h)
            break;
        x += x > 0 ? gap : 0;
        if (in.c && x < in.w) {
            unsigned at =
                tp_canvas_put(in.c, in.x + x, in.y + line, in.w - x, TP_INK_PLAIN, f[i].label);
            at += at > 0;
            if (x + at < in.w)
                tp_canvas_put(
                    in.c, in.x + x + at, in.y + line, in.w - x - at, f[i].ink, f[i].value);
        }
        x += width_of(&f[i]);
    }
    return line + 1;
}

/* What a healthy run has none of. */
static unsigned bad(uint64_t n)
{
    return n > 0 ? TP_INK_BAD | TP_INK_BOLD : TP_INK_PLAIN;
}

static unsigned warn(bool so)
{
    return so ? TP_INK_WARN | TP_INK_BOLD : TP_INK_PLAIN;
}

static void set_count(struct field *f, const char *label, unsigned ink, bool known, uint64_t n)
{
    if (known)
        tp_field_set(f, label, ink, "%llu", (unsigned long long)n);
    else
        tp_field_set(f, label, TP_INK_DIM, "-");
}

/* --- intervals --- */

static unsigned intervals(struct area a, const struct tp_top_guest *g)
{
    const struct tp_measures *m = &g->summary.measures;
    struct field f[5];
    tp_field_set(&f[0], "p50", TP_INK_BOLD, "%.2f", tp_ms((double)m->interval.p50_ns));
    tp_field_set(&f[1], "p99", TP_INK_BOLD, "%.2f", tp_ms((double)m->interval.p99_ns));
    tp_field_set(&f[2], "max", TP_INK_BOLD, "%.2f ms", tp_ms((double)m->interval.max_ns));
    tp_field_set(
        &f[3], "spacing tail", warn(m->spacing_tail >= 0.005), "%.1f %%", 100 * m->spacing_tail);
    tp_field_set(&f[4], "stutter p99", TP_INK_PLAIN, "%.2f ms", tp_ms((double)m->stutter.p99_ns));
    return tp_fields(a, "intervals", f, 5);
}

/* --- waits: for the release, for a slot, for the gate, side by side --- */

static unsigned waits(struct area a, const struct tp_top_guest *g)
{
    const struct tp_summary *s = &g->summary;
    const struct tp_measures *m = &s->measures;
    struct field f[5];
    unsigned n = 0;
    tp_field_set(&f[n++], "release", TP_INK_BOLD, "%.2f", tp_ms(m->release_wait_ns));
    tp_field_set(&f[n++], "| slot", TP_INK_BOLD, "%.2f", tp_ms(m->slot_wait_ns));
    tp_field_set(&f[n++], "| gate", TP_INK_BOLD, "%.2f ms", tp_ms(m->gate_wait_ns));
    tp_field_set(
        &f[n++], "acquire p99", TP_INK_PLAIN, "%.2f ms", tp_ms((double)m->acquire_wait.p99_ns));
    tp_field_set(&f[n++], "max", TP_INK_PLAIN, "%.2f ms", tp_ms((double)m->acquire_wait.max_ns));
    return tp_fields(a, "waits", f, n);
}

static unsigned late(struct area a, const struct tp_top_guest *g)
{
    const struct tp_summary *s = &g->summary;
    const struct tp_measures *m = &s->measures;
    bool known = s->has_guest, counted = s->has_guest && s->has_counts;
    struct field f[7];
    set_count(&f[0], "time-outs", bad(s->counts[TP_COUNT_RELEASE_TIMEOUTS]), counted,
        s->counts[TP_COUNT_RELEASE_TIMEOUTS]);
    set_count(&f[1], "gate late", warn(m->gate_late > 0), known, m->gate_late);
    set_count(&f[2], "repeats", warn(m->repeats > 0), true, m->repeats);
    set_count(&f[3], "drops", warn(m->drops > 0), true, m->drops);
    set_count(
        &f[4], "unsafe", bad(s->counts[TP_COUNT_UNSAFE]), counted, s->counts[TP_COUNT_UNSAFE]);
    set_count(&f[5], "release waits", TP_INK_PLAIN, counted, s->counts[TP_COUNT_RELEASE_WAITS]);
    set_count(&f[6], "| slot waits", TP_INK_PLAIN, counted, s->counts[TP_COUNT_SLOT_WAITS]);
    return tp_fields(a, "counts", f, 7);
}

static unsigned latency(struct area a, const struct tp_top_guest *g)
{
    const struct tp_measures *m = &g->summary.measures;
    struct field f[4];
    if (!g->summary.has_guest)
        return 0;
    tp_field_set(&f[0], "p50", TP_INK_BOLD, "%.2f", tp_ms((double)m->latency.p50_ns));
    tp_field_set(&f[1], "p99", TP_INK_BOLD, "%.2f ms", tp_ms((double)m->latency.p99_ns));
    tp_field_set(
        &f[2], "on its refresh", warn(m->on_vblank < 0.995), "%.1f %%", 100 * m->on_vblank);
    tp_field_set(&f[3], "gate to start p99", TP_INK_PLAIN, "%.2f ms",
        tp_ms((double)m->gate_to_start.p99_ns));
    return tp_fields(a, "latency", f, 4);
}

static unsigned notes(struct area a, const struct tp_top_guest *g)
{
    const struct tp_summary *s = &g->summary;
    struct field f[6];
    unsigned n = 4;
    if (!s->has_counts)
        return 0;
    set_count(
        &f[0], "lost", bad(s->counts[TP_COUNT_NOTES_LOST]), true, s->counts[TP_COUNT_NOTES_LOST]);
    set_count(&f[1], "pending", TP_INK_PLAIN, true, s->counts[TP_COUNT_NOTES_PENDING]);
    set_count(&f[2], "final", TP_INK_PLAIN, true, s->counts[TP_COUNT_NOTES_FINAL]);
    set_count(&f[3], "resynced", TP_INK_PLAIN, true, s->counts[TP_COUNT_NOTES_RESYNCED]);
    if (g->has_gauges)
        tp_field_set(
            &f[n++], "board", warn(g->connected != 2), "%s", g->connected == 2 ? "yes" : "no");
    if (g->unheard > 0)
        tp_field_set(&f[n++], "top missed", TP_INK_WARN, "%llu", (unsigned long long)g->unheard);
    return tp_fields(a, "notes", f, n);
}

#define IN_WORDS(name, order)                                                                      \
    static unsigned name##_wants(                                                                  \
        const struct tp_top_guest *g, const struct tp_top_snapshot *s, unsigned w)                 \
    {                                                                                              \
        (void)s;                                                                                   \
        return name((struct area){.w = w}, g);                                                     \
    }                                                                                              \
    static void name##_draw(                                                                       \
        struct area a, const struct tp_top_guest *g, const struct tp_top_snapshot *s)              \
    {                                                                                              \
        (void)s;                                                                                   \
        name(a, g);                                                                                \
    }                                                                                              \
    const struct pane tp_pane_##name = {name##_wants, name##_draw, 1, order, TP_GROWS};

IN_WORDS(intervals, 3)
IN_WORDS(waits, 2)
IN_WORDS(late, 1)
IN_WORDS(latency, 7)
IN_WORDS(notes, 9)

/* --- causes --- */

static unsigned ink_of(enum tp_severity s)
{
    return s == TP_FINDING_ERROR ? TP_INK_BAD : s == TP_FINDING_WARNING ? TP_INK_WARN : TP_INK_COOL;
}

/* Draws one where there is room for any of it. Answers the lines that it took, or would take. */
static unsigned finding(struct area a, const struct tp_finding *f)
{
    static const char *const marks[] = {"i ", "! ", "!!"};
    struct tp_canvas measure = {.utf8 = true};
    struct tp_canvas *c = a.c ? a.c : &measure;
    unsigned most = a.c ? a.h : 1000, n;
    if (a.w < 10 || most == 0)
        return 0;
    tp_canvas_put(c, a.x, a.y, 2, ink_of(f->severity) | TP_INK_BOLD, marks[f->severity]);
    n = tp_canvas_wrap(c, a.x + 3, a.y, a.w - 3, most, ink_of(f->severity) | TP_INK_BOLD, f->title);
    n += tp_canvas_wrap(c, a.x + 3, a.y + n, a.w - 3, most - n, TP_INK_PLAIN, f->text);
    if (n < most && f->todo[0]) {
        tp_canvas_put(c, a.x, a.y + n, 2, TP_INK_GOOD | TP_INK_BOLD, "→");
        n += tp_canvas_wrap(c, a.x + 3, a.y + n, a.w - 3, most - n, TP_INK_GOOD, f->todo);
    }
    return n;
}

static unsigned findings_wants(
    const struct tp_top_guest *g, const struct tp_top_snapshot *s, unsigned w)
{
    unsigned n = 0;
    (void)s;
    for (unsigned i = 0; i < g->n_findings; i++)
        n += finding((struct area){.w = w}, &g->findings[i]);
    return n;
}

static void findings_draw(
    struct area a, const struct tp_top_guest *g, const struct tp_top_snapshot *s)
{
    (void)s;
    for (unsigned i = 0; i < g->n_findings && a.h > 0; i++) {
        unsigned n = finding(a, &g->findings[i]);
        a.y += n;
        a.h -= n < a.h ? n : a.h;
    }
}

const struct pane tp_pane_findings = {findings_wants, findings_draw, 2, 4, TP_GROWS_FIRST};
