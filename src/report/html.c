/* The page: a template, and what stands in its places. */
#include "report/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/html_page.h"
#include "report/html_text.h"
#include "web.h" /* made by web/embed.c */

struct page {
    const struct tp_report *r;
    const char *name;
    struct tp_buf script;
};

/* --- the head: verdict, tiles, findings --- */

static void tile(struct tp_buf *out, const char *name, bool bad, const char *value, const char *more)
{
    tp_buf_addf(out, "<li%s>%s <b>%s</b> <small>%s</small></li>\n",
        bad ? " class=\"bad\"" : "", name, value, more);
}

static void tiles(struct tp_buf *out, const struct report_guest *g)
{
    const struct tp_summary *s = &g->summary;
    const struct tp_measures *m = &s->measures;
    char value[48], more[96];
    double seconds = (double)m->span_ns / 1e9;
    tp_buf_adds(out, "<ul class=\"tiles\">\n");
    snprintf(value, sizeof value, "%.2f", tp_measures_fps(m));
    snprintf(more, sizeof more, "%" PRIu64 " frames in %.1f\u00a0s", m->frames, seconds);
    tile(out, "Frames a second", false, value, more);
    if (s->has_tears) {
        snprintf(value, sizeof value, "%" PRIu64, m->tears);
        snprintf(more, sizeof more, "%" PRIu64 " async", m->async_tears);
        tile(out, "Tears", m->tears > 0, value, m->async_tears > 0 ? more : "on the panel");
    }
    if (s->has_guest && m->interval.max_ns > 0) {
        snprintf(value, sizeof value, "%.*f %%", m->on_vblank >= 1 ? 0 : 2, 100 * m->on_vblank);
        snprintf(more, sizeof more, "%" PRIu64 " repeats", m->repeats);
        tile(out, "On their refresh", m->on_vblank < 0.99, value, more);
        snprintf(value, sizeof value, "%.1f ms", tp_ms((double)m->latency.p50_ns));
        snprintf(more, sizeof more, "1 %% above %.1f ms", tp_ms((double)m->latency.p99_ns));
        tile(out, "Start to first line", false, value, more);
        snprintf(value, sizeof value, "%.1f ms", tp_ms(m->slot_wait_ns + m->release_wait_ns));
        snprintf(more, sizeof more, "and %.1f ms for the gate", tp_ms(m->gate_wait_ns));
        tile(out, "Waits for an image", false, value, more);
    }
    snprintf(value, sizeof value, "%" PRIu64, m->drops + m->gate_late);
    snprintf(more, sizeof more, "%" PRIu64 " dropped, %" PRIu64 " missed a latch", m->drops, m->gate_late);
    tile(out, "Lost or late", false, value, more);
    tp_buf_adds(out, "</ul>\n");
}

static void findings(struct tp_buf *out, const struct report_guest *g)
{
    tp_buf_adds(out, "<h2 class=\"hidden\">What to try next</h2>\n<ul class=\"findings\">\n");
    for (unsigned i = 0; i < g->n_findings; i++) {
        const struct tp_finding *f = &g->findings[i];
        tp_buf_addf(out, "<li class=\"finding %s\" id=\"%u-%s\"><h3>", tp_finding_severity(f->severity),
            g->number, f->id);
        html_escape(out, f->title);
        tp_buf_addf(out, " <span class=\"hidden\">(%s)</span></h3>\n<p>", tp_finding_severity(f->severity));
        html_escape(out, f->text);
        tp_buf_adds(out, "</p>\n<p class=\"todo\"><b>What to try:</b> ");
        html_escape(out, f->todo);
        tp_buf_adds(out, "</p></li>\n");
    }
    tp_buf_adds(out, "</ul>\n");
}

static void head(struct tp_buf *out, const struct report_guest *g, bool many)
{
    static const char *const signs[] = {"✓", "!", "✕"};
    bool unjudged = g->verdict.severity == TP_FINDING_NOTE && g->summary.measures.interval.max_ns == 0;
    const char *severity = tp_finding_severity(g->verdict.severity);
    tp_buf_adds(out, "<section class=\"head\">\n");
    if (many || g->name) {
        char *name = report_guest_name(g);
        tp_buf_adds(out, "<p class=\"guest\"><bdi>");
        html_escape(out, name);
        tp_buf_adds(out, "</bdi></p>\n");
        free(name);
    }
    tp_buf_addf(out, "<div class=\"verdict %s\"><span class=\"sign\" aria-hidden=\"true\">%s</span><h1>",
        severity, unjudged ? "–" : signs[g->verdict.severity]);
    html_escape(out, g->verdict.text);
    tp_buf_adds(out, "</h1></div>\n");
    if (g->summary.measures.frames > 0)
        tiles(out, g);
    if (g->n_findings > 0)
        findings(out, g);
    tp_buf_adds(out, "</section>\n");
}

static void heads(struct tp_buf *out, const struct page *p)
{
    const struct report_guest *guests[REPORT_GUESTS];
    unsigned n = report_shown_guests(p->r, guests);
    for (unsigned i = 0; i < n; i++)
        head(out, guests[i], n > 1);
    if (n == 0)
        tp_buf_adds(out, "<section class=\"head\"><div class=\"verdict warning\"><span class=\"sign\" "
                         "aria-hidden=\"true\">!</span><h1>No frame is in this capture.</h1></div></section>\n");
}

/* --- the other places --- */

static void missing(struct tp_buf *out, const struct page *p)
{
    struct tp_buf lines = {0};
    tp_report_missing(p->r, &lines);
    char *text = tp_buf_take(&lines), *rest = text;
    if (*text)
        tp_buf_adds(out, "<ul class=\"notice\" aria-label=\"What is missing\">\n");
    for (char *line; *rest && (line = strsep(&rest, "\n"));) {
        tp_buf_adds(out, "<li>");
        html_escape(out, line);
        tp_buf_adds(out, "</li>\n");
    }
    if (*text)
        tp_buf_adds(out, "</ul>\n");
    free(text);
}

static void kept(struct tp_buf *out, const struct page *p)
{
    const struct report_chunks *c = &p->r->chunks;
    if (c->frames_kept < c->frames_all)
        tp_buf_addf(out,
            "<p class=\"notice\">The timeline has %" PRIu64 " of %" PRIu64 " frames in full, those around "
            "events first. Figures, overview and verdict are of all.</p>\n",
            c->frames_kept, c->frames_all);
}

static void events(struct tp_buf *out, const struct page *p)
{
    static const char *const marks[] = {"T", "W", "S", "D", "R", "L", "F", "≈", "="};
    struct report_event *list;
    size_t n = report_events_sorted(&p->r->events, &list);
    int64_t start = report_start_us(&p->r->chunks);
    if (n == 0)
        tp_buf_adds(out, "<p class=\"soft\">None: no tear, no late frame, no drop, no stop.</p>\n");
    else
        tp_buf_adds(out, "<div class=\"filters scripted\" role=\"group\" aria-label=\"Kinds of events\"></div>\n"
                         "<ol class=\"list\" tabindex=\"0\" aria-label=\"Events, by time\">\n");
    for (size_t i = 0; i < n; i++) {
        const char *kind = report_kind_name(list[i].kind);
        char *text = report_event_text(p->r, &list[i]), *name = NULL;
        tp_buf_addf(out, "<li class=\"%s\"><a href=\"#timeline\" data-event=\"%zu\"><time>", kind, i);
        report_add_time(out, report_us(&p->r->chunks, list[i].from_ns) - start);
        tp_buf_addf(out, "</time> <i class=\"mark %s\" aria-hidden=\"true\">%s</i> <span>", kind,
            marks[list[i].kind]);
        html_escape(out, text);
        if (p->r->n_guests > 1) {
            name = report_guest_name(&p->r->guests[list[i].guest]);
            tp_buf_adds(out, " <span class=\"soft\">(<bdi>");
            html_escape(out, name);
            tp_buf_adds(out, "</bdi>)</span>");
        }
        tp_buf_adds(out, "</span></a></li>\n");
        free(text);
        free(name);
    }
    if (n > 0)
        tp_buf_adds(out, "</ol>\n");
    for (unsigned k = 0; k < EVENT_KINDS; k++)
        if (p->r->events.rows[k] > p->r->events.n[k])
            tp_buf_addf(out,
                "<p class=\"soft\">Of those marked %s the %u worst of %" PRIu64 " are listed.</p>\n",
                marks[k], p->r->events.n[k], p->r->events.rows[k]);
    free(list);
}

static void details(struct tp_buf *out, const struct page *p)
{
    const struct report_guest *guests[REPORT_GUESTS];
    unsigned n = report_shown_guests(p->r, guests);
    for (unsigned i = 0; i < n; i++) {
        const struct report_guest *g = guests[i];
        if (g->summary.measures.frames == 0)
            continue;
        tp_buf_addf(out, "<section aria-labelledby=\"figures-%u\">\n<h2 id=\"figures-%u\">Figures", g->number,
            g->number);
        if (n > 1) {
            char *name = report_guest_name(g);
            tp_buf_adds(out, " of <bdi>");
            html_escape(out, name);
            tp_buf_adds(out, "</bdi>");
            free(name);
        }
        tp_buf_adds(out, "</h2>\n<div class=\"cards\">\n");
        page_histogram(out, g);
        page_cadence(out, g);
        page_stages(out, g);
        tp_buf_adds(out, "</div>\n");
        page_figures(out, p->r, g);
        tp_buf_adds(out, "</section>\n");
    }
}

/* --- the template --- */

static void put_hash(struct tp_buf *out, const struct page *p)
{
    html_hash(out, p->script.data, p->script.len);
}

static void put_style_hash(struct tp_buf *out, const struct page *p)
{
    (void)p;
    html_hash(out, web_page_css, strlen(web_page_css));
}

static void put_style(struct tp_buf *out, const struct page *p)
{
    (void)p;
    tp_buf_adds(out, web_page_css);
}

static void put_script(struct tp_buf *out, const struct page *p)
{
    tp_buf_add(out, p->script.data, p->script.len);
}

static void put_name(struct tp_buf *out, const struct page *p)
{
    char *name = html_visible(p->name);
    html_escape(out, name);
    free(name);
}

static void put_title(struct tp_buf *out, const struct page *p)
{
    put_name(out, p);
    tp_buf_adds(out, " · turnpike report");
}

static void put_version(struct tp_buf *out, const struct page *p)
{
    (void)p;
    tp_buf_adds(out, TP_VERSION);
}

static void put_setup(struct tp_buf *out, const struct page *p)
{
    page_setup(out, p->r);
}

static void put_data(struct tp_buf *out, const struct page *p)
{
    page_data(out, p->r);
}

static const struct {
    const char *name;
    void (*put)(struct tp_buf *, const struct page *);
} places[] = {{"script-hash", put_hash}, {"style-hash", put_style_hash}, {"title", put_title},
    {"style", put_style}, {"name", put_name}, {"heads", heads}, {"missing", missing}, {"kept", kept},
    {"events", events}, {"details", details}, {"setup", put_setup}, {"version", put_version},
    {"data", put_data}, {"script", put_script}};

static void fill(struct tp_buf *out, const struct page *p, const char *name, size_t n)
{
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
        if (strlen(places[i].name) == n && strncmp(places[i].name, name, n) == 0)
            places[i].put(out, p);
}

void tp_report_html(const struct tp_report *r, const char *name, struct tp_buf *out)
{
    struct page p = {.r = r, .name = name};
    tp_buf_adds(&p.script, web_columns_js);
    tp_buf_adds(&p.script, web_timeline_js);
    tp_buf_adds(&p.script, web_words_js);
    tp_buf_adds(&p.script, web_page_js);
    const char *at = web_page_html;
    for (const char *place; (place = strstr(at, "{{"));) {
        const char *end = strstr(place, "}}");
        tp_buf_add(out, at, (size_t)(place - at));
        fill(out, &p, place + 2, (size_t)(end - place - 2));
        at = end + 2;
    }
    tp_buf_adds(out, at);
    tp_buf_finish(&p.script);
}
