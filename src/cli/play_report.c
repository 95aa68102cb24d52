#include "cli/play_report.h"

#include <errno.h>

#include "cli/cli.h"

/* How many pictures stayed for how many refreshes, where there are such. */
static json_t *cadence(const struct tp_server_shown *s)
{
    json_t *j = json_object();
    for (int i = 1; i <= TP_SHOWN_CADENCE; i++) {
        char name[8];
        snprintf(name, sizeof name, "%d", i);
        if (s->cadence[i] > 0)
            json_object_set_new(j, name, json_integer((json_int_t)s->cadence[i]));
    }
    return j;
}

/* What only the guest can tell. */
static void add_unknown(json_t *j)
{
    static const char *const names[] = {"unsafe", "gate_late", "on_vblank", "latency_ms",
        "acquire_wait_ms", "gate_to_start_ms", "release_waits", "release_timeouts", "slot_waits"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_object_set_new(j, names[i], json_null());
}

/* The first tears, each with its place and time. */
static json_t *list_tears(const struct tp_beam_counts *b, int64_t from_ns)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < b->n_tears; i++)
        json_array_append_new(list,
            json_pack("{s:f, s:I, s:I, s:I, s:b}", "seconds",
                (double)(b->tears[i].time_ns - from_ns) / 1e9, "refresh",
                (json_int_t)b->tears[i].sequence, "line", (json_int_t)b->tears[i].line, "lines",
                (json_int_t)b->tears[i].lines, "behind", b->tears[i].behind));
    return list;
}

static double watched_share(const struct tp_watch_counts *w)
{
    return w->bands ? 1 - (double)w->unwatched / (double)w->bands : 0;
}

static void add_seen(json_t *j, struct tp_display *d, int64_t from_ns)
{
    struct tp_display_seen seen;
    tp_display_see(d, &seen);
    const struct tp_beam_counts *b = &seen.screen.beam;
    json_t *tears = json_null(), *watched = json_null();
    if (seen.watched) {
        tears = json_integer((json_int_t)b->watch.tears);
        watched = json_real(watched_share(&b->watch));
    }
    json_object_set_new(j, "tears", tears);
    json_object_set_new(j, "watched", watched);
    json_object_set_new(j, "first_tears", list_tears(b, from_ns));
    json_object_set_new(j, "async_tears", json_integer((json_int_t)seen.screen.async_tears));
    json_object_set_new(j, "refreshes", json_integer((json_int_t)seen.screen.refreshes));
    json_object_set_new(j, "video",
        json_pack("{s:I, s:I}", "frames", (json_int_t)seen.video.frames, "dropped",
            (json_int_t)seen.video.dropped));
}

static json_t *notes(struct tp_server *server)
{
    struct tp_server_notes n;
    tp_server_notes(server, &n);
    return json_pack("{s:I, s:I, s:I, s:I}", "pending", (json_int_t)n.pending, "final",
        (json_int_t)n.final, "lost", (json_int_t)n.lost, "resynced", (json_int_t)n.resynced);
}

int tp_play_report(struct tp_display *d, const char *path, struct tp_error *e)
{
    struct tp_server_shown s;
    tp_server_shown(tp_display_server(d), 0, &s);
    double seconds = (double)(s.last_ns - s.first_ns) / 1e9;
    double fps = s.frames > 1 ? (double)(s.frames - 1) / seconds : 0;
    json_t *j = json_pack(
        "{s:s, s:i, s:I, s:f, s:f, s:I, s:I, s:f, s:{s:f, s:f, s:f, s:f, s:f}, s:o, s:o, s:{}}",
        "turnpike", TP_VERSION, "schema", 1, "frames", (json_int_t)s.frames, "seconds", seconds,
        "fps", fps, "repeats", (json_int_t)s.repeats, "drops", (json_int_t)s.drops, "spacing_tail",
        s.spacing_tail, "interval_ms", "mean", s.mean_ns / 1e6, "stddev", s.stddev_ns / 1e6, "p50",
        (double)s.p50_ns / 1e6, "p99", (double)s.p99_ns / 1e6, "max", (double)s.max_ns / 1e6,
        "cadence", cadence(&s), "notes", notes(tp_display_server(d)), "faults");
    add_seen(j, d, s.first_ns);
    add_unknown(j);
    int r = tp_cli_write_json(j, path, e);
    json_decref(j);
    return r;
}

int tp_play_judge(struct tp_display *d, struct tp_error *e)
{
    struct tp_server_shown shown;
    struct tp_display_seen seen;
    tp_server_shown(tp_display_server(d), 0, &shown);
    tp_display_see(d, &seen);
    const struct tp_beam_counts *b = &seen.screen.beam;
    if (b->watch.tears > 0)
        return tp_fail(e, TP_STATUS_FAILED, -EPERM, "--assert",
            "--json names the first ones; docs/panel.md says what they mean",
            "%llu scan-outs tore, the first at line %u of refresh %llu",
            (unsigned long long)b->watch.tears, b->tears[0].line,
            (unsigned long long)b->tears[0].sequence);
    if (shown.frames == 0)
        return tp_fail(e, TP_STATUS_FAILED, -ENODATA, "--assert",
            "is it the program that draws? --snapshot shows the screen at the end",
            "nothing is known of tears: nothing was shown in %llu refreshes",
            (unsigned long long)seen.screen.refreshes);
    if (watched_share(&b->watch) < TP_PLAY_WATCHED)
        return tp_fail(e, TP_STATUS_FAILED, -ENODATA, "--assert",
            "give the machine less to do, or run as root; buffers that cannot be mapped are never "
            "seen (docs/panel.md)",
            "too little is known of tears: %.1f %% of what was shown in %llu frames could be read "
            "in time, not %.0f %%",
            100 * watched_share(&b->watch), (unsigned long long)shown.frames, 100 * TP_PLAY_WATCHED);
    return 0;
}
