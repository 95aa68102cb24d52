#include "cli/play_report.h"

#include <errno.h>

#include "cli/cli.h"
#include "report/summary.h"

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

/* What only a screen that looks can tell. */
static void add_seen(json_t *j, const struct tp_display_seen *seen, int64_t from_ns)
{
    const struct tp_beam_counts *b = &seen->screen.beam;
    json_object_set_new(
        j, "watched", seen->watched ? json_real(watched_share(&b->watch)) : json_null());
    json_object_set_new(j, "first_tears", list_tears(b, from_ns));
    json_object_set_new(j, "refreshes", json_integer((json_int_t)seen->screen.refreshes));
    json_object_set_new(j, "video",
        json_pack("{s:I, s:I}", "frames", (json_int_t)seen->video.frames, "dropped",
            (json_int_t)seen->video.dropped));
}

int tp_play_report(
    struct tp_display *d, const struct tp_live *live, const char *path, struct tp_error *e)
{
    struct tp_server_shown shown;
    struct tp_display_seen seen;
    struct tp_summary summary;
    tp_server_shown(tp_display_server(d), 0, &shown);
    tp_display_see(d, &seen);
    tp_live_summary(live, &summary);
    json_t *j = tp_summary_json(&summary);
    add_seen(j, &seen, shown.first_ns);
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
            100 * watched_share(&b->watch), (unsigned long long)shown.frames,
            100 * TP_PLAY_WATCHED);
    return 0;
}
