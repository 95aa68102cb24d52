/* The report as text for a terminal, and as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/html_model.h"
#include "report/summary.h"

#define SAID 5u /* events in the text */

/* --- text --- */

static void figures(const struct report_guest *g, struct tp_buf *out)
{
    const struct tp_measures *m = &g->summary.measures;
    if (m->interval.max_ns == 0) {
        tp_buf_adds(out, "the first 10 frames are in no figure\n");
        return;
    }
    tp_buf_addf(out, "%" PRIu64 " frames in %.2f s: intervals of %.2f ms, 1 %% above %.2f, at most %.2f\n",
        m->frames, (double)m->span_ns / 1e9, tp_ms((double)m->interval.p50_ns),
        tp_ms((double)m->interval.p99_ns), tp_ms((double)m->interval.max_ns));
    if (g->summary.has_guest)
        tp_buf_addf(out,
            "start to first line %.2f ms, 1 %% above %.2f; an acquire waits %.2f ms: %.2f for an image, "
            "%.2f for its release, %.2f for the gate",
            tp_ms((double)m->latency.p50_ns), tp_ms((double)m->latency.p99_ns), tp_ms(m->acquire_wait.mean_ns),
            tp_ms(m->slot_wait_ns), tp_ms(m->release_wait_ns), tp_ms(m->gate_wait_ns));
    double asleep = g->signs.frames > 0 ? g->signs.asleep_ns / (double)g->signs.frames : 0;
    if (asleep >= 10000)
        tp_buf_addf(out, ", %.2f asleep", tp_ms(asleep));
    if (g->summary.has_guest)
        tp_buf_addc(out, '\n');
    bool judged = false;
    for (unsigned i = 1; i <= TP_CADENCE; i++)
        judged |= m->cadence[i] > 0;
    tp_buf_addf(out, "%" PRIu64 " repeats, %" PRIu64 " drops, %" PRIu64 " ready too late%s", m->repeats,
        m->drops, m->gate_late, judged ? "; stayed for" : "");
    for (unsigned i = 1; i <= TP_CADENCE; i++)
        if (m->cadence[i] > 0)
            tp_buf_addf(
                out, " %u%s: %" PRIu64, i, i == TP_CADENCE ? " or more" : "", m->cadence[i]);
    tp_buf_addc(out, '\n');
}

/* Gravest kinds first, the worst of a kind first. */
static int by_gravity(const void *a, const void *b)
{
    const struct report_event *x = a, *y = b;
    if (x->kind != y->kind)
        return (int)x->kind - (int)y->kind;
    if (x->worst != y->worst)
        return x->worst > y->worst ? -1 : 1;
    return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static void say_event(const struct tp_report *r, const struct report_event *e, struct tp_buf *out)
{
    char *text = report_event_text(r, e), *name = report_guest_name(&r->guests[e->guest]);
    tp_buf_adds(out, "  ");
    report_add_time(out, report_us(&r->chunks, e->from_ns) - report_start_us(&r->chunks));
    tp_buf_addf(out, "  %s", text);
    if (r->n_guests > 1 && e->kind != EVENT_STOP)
        tp_buf_addf(out, " (%s)", name);
    tp_buf_addc(out, '\n');
    free(text);
    free(name);
}

static int by_time(const void *a, const void *b)
{
    const struct report_event *x = a, *y = b;
    return x->from_ns != y->from_ns ? (x->from_ns < y->from_ns ? -1 : 1) : by_gravity(a, b);
}

/* The worst few, by time. What was set is none of them. */
static void events(const struct tp_report *r, struct tp_buf *out)
{
    struct report_event *list;
    size_t n = report_events_sorted(&r->events, &list), bad = 0;
    for (size_t i = 0; i < n; i++)
        bad += list[i].kind < EVENT_RATE;
    size_t few = bad < SAID ? bad : SAID;
    qsort(list, n, sizeof *list, by_gravity);
    qsort(list, few, sizeof *list, by_time);
    if (few > 0)
        tp_buf_addf(out, "\n%s:\n", few < bad ? "the worst events" : "events");
    for (size_t i = 0; i < few; i++)
        say_event(r, &list[i], out);
    if (few > 0 && few < n)
        tp_buf_addf(out, "  … and %zu more on the page\n", n - few);
    free(list);
}

void tp_report_text(const struct tp_report *r, struct tp_buf *out)
{
    const struct report_guest *guests[REPORT_GUESTS];
    unsigned n = report_shown_guests(r, guests);
    if (n == 0)
        tp_buf_adds(out, "No frame is in this capture.\n");
    for (unsigned i = 0; i < n; i++) {
        const struct report_guest *g = guests[i];
        char *name = report_guest_name(g);
        if (n > 1)
            tp_buf_addf(out, "%s%s: ", i > 0 ? "\n" : "", name);
        free(name);
        tp_buf_addf(out, "%s\n", g->verdict.text);
        if (g->summary.measures.frames > 0)
            figures(g, out);
        for (unsigned k = 0; k < g->n_findings; k++) {
            const struct tp_finding *f = &g->findings[k];
            tp_buf_addf(out, "\n%s: %s\n  %s\n  what to try: %s\n", tp_finding_severity(f->severity),
                f->title, f->text, f->todo);
        }
    }
    events(r, out);
}

/* --- JSON --- */

static json_t *findings_json(const struct report_guest *g)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < g->n_findings; i++) {
        const struct tp_finding *f = &g->findings[i];
        json_array_append_new(list,
            json_pack("{s:s, s:s, s:s, s:s, s:s}", "id", f->id, "severity",
                tp_finding_severity(f->severity), "title", f->title, "text", f->text, "todo", f->todo));
    }
    return list;
}

static json_t *guest_json(const struct report_guest *g, const struct tp_summary *summary)
{
    json_t *j = tp_summary_json(summary);
    json_object_set_new(j, "verdict", json_string(g->verdict.text));
    json_object_set_new(j, "severity", json_string(tp_finding_severity(g->verdict.severity)));
    json_object_set_new(j, "findings", findings_json(g));
    return j;
}

static json_t *guests_json(const struct tp_report *r)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < r->n_guests; i++) {
        char *name = report_guest_name(&r->guests[i]);
        json_t *j = guest_json(&r->guests[i], &r->guests[i].summary);
        json_object_del(j, "turnpike");
        json_object_del(j, "schema");
        json_object_set_new(j, "guest", json_integer(r->guests[i].number));
        json_object_set_new(j, "name", json_string(name));
        json_array_append_new(list, j);
        free(name);
    }
    return list;
}

static json_t *settings_json(const struct tp_report *r)
{
    json_t *j = json_object();
    for (unsigned i = 0; i < r->n_settings; i++)
        json_object_set_new(j, r->settings[i].name, json_string(r->settings[i].value));
    return j;
}

json_t *tp_report_json(const struct tp_report *r)
{
    const struct report_guest *g = report_main_guest(r);
    struct report_guest nobody = {.verdict.text = "No frame is in this capture."};
    json_t *j = guest_json(g ? g : &nobody, &r->main);
    const struct tp_capture_found *f = &r->found;
    json_object_set_new(j, "settings", settings_json(r));
    json_object_set_new(j, "guests", guests_json(r));
    json_object_set_new(j, "capture",
        json_pack("{s:b, s:I, s:I, s:I, s:b}", "whole", f->ended && f->damaged == 0, "blocks",
            (json_int_t)f->blocks, "records", (json_int_t)f->records, "damaged",
            (json_int_t)f->damaged, "lost", f->lost));
    return j;
}
