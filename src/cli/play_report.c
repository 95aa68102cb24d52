#include "cli/play_report.h"

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

/* What only the guest, or who made the pictures, can tell. */
static void add_unknown(json_t *j)
{
    static const char *const names[] = {"tears", "async_tears", "unsafe", "gate_late", "on_vblank",
        "latency_ms", "acquire_wait_ms", "gate_to_start_ms", "release_waits", "release_timeouts",
        "slot_waits", "notes"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_object_set_new(j, names[i], json_null());
}

int tp_play_report(const struct tp_server *server, const char *path, struct tp_error *e)
{
    struct tp_server_shown s;
    tp_server_shown(server, 0, &s);
    double seconds = (double)(s.last_ns - s.first_ns) / 1e9;
    double fps = s.frames > 1 ? (double)(s.frames - 1) / seconds : 0;
    json_t *j = json_pack(
        "{s:s, s:i, s:I, s:f, s:f, s:I, s:I, s:f, s:{s:f, s:f, s:f, s:f, s:f}, s:o, s:{}}",
        "turnpike", TP_VERSION, "schema", 1, "frames", (json_int_t)s.frames, "seconds", seconds,
        "fps", fps, "repeats", (json_int_t)s.repeats, "drops", (json_int_t)s.drops, "spacing_tail",
        s.spacing_tail, "interval_ms", "mean", s.mean_ns / 1e6, "stddev", s.stddev_ns / 1e6, "p50",
        (double)s.p50_ns / 1e6, "p99", (double)s.p99_ns / 1e6, "max", (double)s.max_ns / 1e6,
        "cadence", cadence(&s), "faults");
    add_unknown(j);
    int r = tp_cli_write_json(j, path, e);
    json_decref(j);
    return r;
}
