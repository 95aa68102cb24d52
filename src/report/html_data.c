/* What the page's script draws, as data: an index in JSON, and the chunks' columns in base64. */
#include <stdlib.h>

#include "report/html_page.h"
#include "report/html_text.h"

static json_t *chunks_json(const struct report_chunks *c)
{
    json_t *list = json_array();
    json_int_t at = 0;
    for (unsigned i = 0; i < c->n; i++) {
        const struct report_chunk *one = &c->at[i];
        json_array_append_new(list,
            json_pack("[I,I,I,I,I,I,I]", (json_int_t)one->from_us, (json_int_t)one->to_us,
                (json_int_t)one->frames, (json_int_t)one->refreshes, at, (json_int_t)one->n,
                (json_int_t)one->place));
        at += (json_int_t)one->n;
    }
    return list;
}

static json_t *events_json(const struct tp_report *r)
{
    json_t *list = json_array();
    struct report_event *events;
    size_t n = report_events_sorted(&r->events, &events);
    for (size_t i = 0; i < n; i++) {
        const struct report_event *e = &events[i];
        const struct report_chunks *c = &r->chunks;
        json_array_append_new(list,
            json_pack("[s,i,I,I,I]", report_kind_name(e->kind), (int)e->guest,
                (json_int_t)report_us(c, e->from_ns), (json_int_t)report_us(c, e->to_ns),
                report_bounded(e->first)));
    }
    free(events);
    return list;
}

static json_t *bins_json(const struct tp_report *r)
{
    json_t *worst = json_array(), *frames = json_array(), *kinds = json_array();
    unsigned n = REPORT_BINS;
    while (n > 0 && r->bins[n - 1].frames == 0 && r->bins[n - 1].kinds == 0)
        n--;
    for (unsigned i = 0; i < n; i++) {
        json_array_append_new(worst, json_integer(r->bins[i].worst_us));
        json_array_append_new(frames, json_integer(r->bins[i].frames));
        json_array_append_new(kinds, json_integer(r->bins[i].kinds));
    }
    return json_pack("{s:I, s:o, s:o, s:o}", "us", (json_int_t)r->bin_us, "worst", worst, "frames",
        frames, "kinds", kinds);
}

static json_t *names_json(const struct tp_report *r)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < r->n_guests; i++) {
        char *name = report_guest_name(&r->guests[i]);
        json_array_append_new(list,
            json_pack("{s:s, s:i, s:b}", "name", name, "images",
                (int)r->guests[i].signs.most_image, "game", r->guests[i].summary.has_guest));
        free(name);
    }
    return list;
}

static json_t *kinds_json(void)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < EVENT_KINDS; i++)
        json_array_append_new(list, json_string(report_kind_name(i)));
    return list;
}

void page_data(struct tp_buf *out, const struct tp_report *r)
{
    json_t *j = json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "refresh",
        (json_int_t)r->setup.refresh_mhz, "usual",
        (json_int_t)(r->main.measures.interval.p50_ns / 1000), "guests", names_json(r), "kinds", kinds_json(), "chunks",
        chunks_json(&r->chunks), "events", events_json(r), "bins", bins_json(r));
    tp_buf_adds(out, "<script type=\"application/json\" id=\"index\">");
    html_json(out, j);
    tp_buf_adds(out, "</script>\n<script type=\"text/plain\" id=\"columns\">");
    for (unsigned i = 0; i < r->chunks.n; i++)
        html_base64(out, r->chunks.at[i].bytes, r->chunks.at[i].n);
    tp_buf_adds(out, "</script>\n");
    json_decref(j);
}
