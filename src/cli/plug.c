#include "cli/plug.h"

#include <string.h>

#include "base/proc.h"
#include "cli/parse.h"

static bool parse_event(const char **at, struct tp_plug_event *out)
{
    uint64_t ms;
    if (!tp_parse_thousandths(at, 1000000, &ms) || *(*at)++ != ':')
        return false;
    *out = (struct tp_plug_event){.after_ns = (int64_t)ms * 1000000};
    if (!strncmp(*at, "out", 3)) {
        *at += 3;
        return true;
    }
    if (strncmp(*at, "in", 2) != 0)
        return false;
    *at += 2;
    out->connected = true;
    if (**at != ':')
        return true;
    ++*at;
    if (!tp_parse_size(at, &out->width_px, &out->height_px))
        return false;
    if (**at != '@')
        return true;
    ++*at;
    return tp_parse_hz(at, &out->refresh_mhz);
}

bool tp_plug_parse(const char *text, struct tp_plug_plan *out)
{
    for (out->n = 0; out->n < TP_PLUG_EVENTS; text++) {
        struct tp_plug_event *event = &out->events[out->n];
        if (!parse_event(&text, event) ||
            (out->n > 0 && event->after_ns <= out->events[out->n - 1].after_ns))
            return false;
        out->n++;
        if (*text != ',')
            return !*text;
    }
    return false;
}

uint32_t tp_plug_highest(const struct tp_plug_plan *plan)
{
    uint32_t highest = 0;
    for (unsigned i = 0; i < plan->n; i++)
        if (plan->events[i].refresh_mhz > highest)
            highest = plan->events[i].refresh_mhz;
    return highest;
}

/* What it makes of the output. One in whose range the new mode does not lie has none. */
static void describe(
    const struct tp_plug *p, const struct tp_plug_event *event, struct tp_kms_output *out)
{
    if (event->connected)
        *out = p->usual;
    out->connected = event->connected;
    if (event->width_px > 0) {
        uint32_t rate = event->refresh_mhz ? event->refresh_mhz : p->usual.modes[0].refresh_mhz;
        out->modes[0] = (struct tp_kms_mode){event->width_px, event->height_px, rate};
        out->n_modes = 1;
        if (rate < out->vrr_min_mhz || rate > out->vrr_max_mhz)
            out->vrr_min_mhz = out->vrr_max_mhz = 0;
    }
}

static int become(struct tp_plug *p, const struct tp_kms_output *next, struct tp_error *e)
{
    int r = tp_server_set_output(p->server, 0, next, e);
    if (r == 0)
        p->now = *next;
    return r;
}

int tp_plug_init(struct tp_plug *p, struct tp_server *server, const struct tp_kms_output *output,
    const struct tp_plug_plan *plan, struct tp_error *e)
{
    struct tp_kms_output next = *output;
    int r = 0;
    *p = (struct tp_plug){.server = server, .plan = plan, .usual = *output, .now = *output};
    for (unsigned i = 0; r == 0 && i < plan->n; i++) {
        describe(p, &plan->events[i], &next);
        r = become(p, &next, e);
    }
    if (r == 0)
        r = become(p, output, e);
    p->began_ns = tp_now_ns();
    return r < 0 ? r : tp_plug_run(p, e);
}

int64_t tp_plug_due_ns(const struct tp_plug *p)
{
    return p->next < p->plan->n ? p->began_ns + p->plan->events[p->next].after_ns : INT64_MAX;
}

int tp_plug_run(struct tp_plug *p, struct tp_error *e)
{
    int r = 0;
    while (r == 0 && tp_plug_due_ns(p) <= tp_now_ns()) {
        struct tp_kms_output next = p->now;
        describe(p, &p->plan->events[p->next++], &next);
        r = become(p, &next, e);
    }
    return r;
}

int tp_plug_toggle(struct tp_plug *p, struct tp_error *e)
{
    struct tp_kms_output next = p->now;
    next.connected = !next.connected;
    return become(p, &next, e);
}
