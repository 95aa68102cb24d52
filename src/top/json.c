#include "top/json.h"

#include <stdlib.h>

#include "base/buf.h"
#include "frames/pace/profile.h"
#include "report/summary.h"

static json_t *text(const char *bytes)
{
    char *printable = tp_printable_line(bytes);
    json_t *j = json_string(printable);
    free(printable);
    return j;
}

/* Not what json_t's integers cannot hold. */
static json_t *number(uint64_t n)
{
    return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static json_t *screen(const struct tp_top_screen *s)
{
    json_t *j = json_object();
    json_object_set_new(j, "name", text(s->name));
    json_object_set_new(j, "width", json_integer(s->width_px));
    json_object_set_new(j, "height", json_integer(s->height_px));
    json_object_set_new(j, "refresh_hz", json_real(s->refresh_mhz / 1000.0));
    json_object_set_new(
        j, "slowest_hz", s->slowest_mhz ? json_real(s->slowest_mhz / 1000.0) : json_null());
    json_object_set_new(j, "pipeline", json_integer(s->pipeline));
    json_object_set_new(j, "latch_us", json_real((double)s->lead_ns / 1e3));
    json_object_set_new(j, "tears", s->watched ? number(s->tears) : json_null());
    json_object_set_new(j, "async_tears", number(s->async_tears));
    json_object_set_new(j, "refreshes", number(s->refreshes));
    json_object_set_new(j, "fresh", number(s->fresh));
    return j;
}

static json_t *so_far(const struct tp_top_guest *g)
{
    json_t *j = json_object();
    for (unsigned i = 0; i < TP_COUNTERS; i++)
        json_object_set_new(j, tp_counter_names[i], number(g->so_far[i]));
    return j;
}

static json_t *slots(const struct tp_top_guest *g)
{
    json_t *j = json_array();
    for (unsigned i = 0; i < g->n_slots; i++)
        json_array_append_new(j,
            json_pack("{s:s, s:o}", "state", tp_top_state_name(g->slots[i].state), "frame",
                number(g->slots[i].frame)));
    return j;
}

static json_t *findings(const struct tp_top_guest *g)
{
    json_t *j = json_array();
    for (unsigned i = 0; i < g->n_findings; i++) {
        const struct tp_finding *f = &g->findings[i];
        json_array_append_new(j,
            json_pack("{s:s, s:s, s:s, s:s, s:s}", "id", f->id, "severity",
                tp_finding_severity(f->severity), "title", f->title, "text", f->text, "fix",
                f->todo));
    }
    return j;
}

static json_t *guest(const struct tp_top_guest *g)
{
    json_t *j = tp_summary_json(&g->summary);
    json_object_del(j, "turnpike");
    json_object_del(j, "schema");
    json_object_set_new(j, "name", text(g->name));
    json_object_set_new(j, "pid", g->pid > 0 ? json_integer(g->pid) : json_null());
    json_object_set_new(j, "fps_now", json_real(g->fps));
    json_object_set_new(j, "stopped", json_boolean(g->stopped));
    json_object_set_new(j, "window_s", json_real((double)g->window_ns / 1e9));
    if (g->has_gauges) {
        json_object_set_new(j, "gate", json_string(tp_gate_mode_name(g->gate)));
        json_object_set_new(j, "cap", json_real(g->cap_mhz / 1000.0));
        json_object_set_new(j, "images", json_integer(g->images));
        json_object_set_new(j, "board", json_boolean(g->connected == 2));
        json_object_set_new(j, "release_fence", json_boolean(g->release_fence));
        json_object_set_new(j, "presented", number(g->presented));
        json_object_set_new(j, "slots", slots(g));
        json_object_set_new(j, "so_far", so_far(g));
    }
    json_object_set_new(j, "unheard", number(g->unheard));
    json_object_set_new(j, "verdict", json_string(g->verdict.text));
    json_object_set_new(j, "findings", findings(g));
    return j;
}

json_t *tp_top_json(const struct tp_top_snapshot *s, const struct tp_top_ui *ui)
{
    json_t *screens = json_array(), *guests = json_array();
    for (unsigned i = 0; i < s->n_screens; i++)
        json_array_append_new(screens, screen(&s->screens[i]));
    for (unsigned i = 0; i < s->n_guests; i++)
        json_array_append_new(guests, guest(s->guests[i]));
    return json_pack("{s:s, s:i, s:o, s:o, s:o, s:o}", "turnpike", TP_VERSION, "schema", 1,
        "socket", text(ui->socket), "pid", ui->server > 0 ? json_integer(ui->server) : json_null(),
        "screens", screens, "guests", guests);
}
