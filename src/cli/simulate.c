/* turnpike simulate: a game's frames on a virtual clock. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "cli/recording.h"
#include "cli/simulate.h"
#include "frames/world/chart.h"

#define TRACE_BYTES (256u << 20)

static int read_costs(struct tp_simulate *o, struct tp_error *e)
{
    if (!o->trace) {
        if (o->costs.n == 0)
            tp_costs_parse("10000", &o->costs, NULL);
        return 0;
    }
    struct tp_buf text = {0};
    int r = tp_read_file(o->trace, TRACE_BYTES, &text, e);
    if (r >= 0)
        r = tp_costs_read(tp_buf_str(&text), text.len, o->trace, &o->costs, e);
    tp_buf_finish(&text);
    return r;
}

static int write_chart(const struct tp_simulate *o, const struct tp_chart *chart,
    const struct tp_world_result *r, struct tp_error *e)
{
    struct tp_buf svg = {0};
    tp_chart_draw(chart, &o->config, r, &svg);
    int err = tp_write_file(o->chart, tp_buf_str(&svg), svg.len, 0644, e);
    tp_buf_finish(&svg);
    return err;
}

/* Runs it, with whoever is to look on: for a chart, for a capture. */
static int run_world(struct tp_simulate *o, struct tp_world_result *r, struct tp_error *e)
{
    struct tp_recording *recording = NULL;
    int err = o->chart ? tp_try_write(o->chart, e) : 0;
    if (err >= 0)
        err = tp_cli_try_json(o->json, e);
    if (err < 0)
        return err;
    struct tp_chart *chart = o->chart ? tp_chart_create(o->chart_from) : NULL;
    o->config.watch = chart ? tp_chart_watch(chart) : NULL;
    if (o->capture)
        err = tp_recording_begin(o->capture, &o->config, &recording, e);
    if (err >= 0)
        err = tp_world_run(&o->config, r, e);
    int whole = tp_recording_end(recording, err < 0 ? NULL : r, e);
    err = err < 0 ? err : whole;
    if (err >= 0 && chart)
        err = write_chart(o, chart, r, e);
    tp_chart_destroy(chart);
    o->config.watch = NULL;
    return err;
}

static int simulate(const struct tp_command *cmd, struct tp_simulate *o)
{
    struct tp_world_config *c = &o->config;
    struct tp_error e = {0};
    if (c->gate.mode == TP_GATE_CAP && c->gate.cap_mhz == 0)
        return tp_cli_usage(cmd, "--gate cap needs a --cap");
    if (c->compose_ns > 0 && o->chart)
        return tp_cli_usage(cmd, "--chart shows direct scan-out, and with --compose there is none");
    const char *wrong = tp_simulate_check_files(o);
    if (wrong)
        return tp_cli_usage(cmd, "%s", wrong);
    if (c->gate.mode == TP_GATE_OFF && c->gate.cap_mhz > 0)
        fprintf(stderr, "turnpike %s: with --gate off there is no cap\n", cmd->name);
    if (c->images == 0)
        c->images = tp_slots_image_count(0, c->pipeline, 0);
    if (read_costs(o, &e) < 0)
        return tp_cli_fail(cmd, &e);
    c->costs = o->costs.at;
    c->n_costs = o->costs.n;
    struct tp_world_result *r = tp_calloc(1, sizeof *r);
    int status = run_world(o, r, &e) < 0 ? tp_cli_fail(cmd, &e) : tp_simulate_report(cmd, o, r, &e);
    free(r);
    return status;
}

static int run(int argc, char **argv)
{
    const struct tp_command *cmd = &tp_command_simulate;
    struct tp_simulate o = {0};
    struct tp_error e = {0};
    int status = -1;
    tp_world_defaults(&o.config);
    o.config.frames = TP_SIMULATE_USUAL_FRAMES;
    o.chart_from = TP_CHART_FROM;
    for (int c; status < 0 && (c = tp_cli_option(cmd, argc, argv)) != -1;) {
        const char *wrong = NULL;
        if (c == '?') {
            status = TP_STATUS_INPUT;
        } else if (c == TP_SIMULATE_COST) {
            tp_costs_finish(&o.costs);
            if (tp_costs_parse(optarg, &o.costs, &e) < 0)
                status = tp_cli_fail(cmd, &e);
        } else if ((wrong = tp_simulate_set(c, optarg, &o))) {
            status = tp_cli_usage(cmd, "%s; it was '%s'", wrong, optarg);
        }
    }
    if (status < 0 && optind < argc)
        status = tp_cli_usage(cmd, "there is nothing to do with '%s'", argv[optind]);
    if (status < 0 && o.trace && o.costs.n > 0)
        status = tp_cli_usage(cmd, "--trace and --cost both say what a frame costs");
    if (status < 0)
        status = simulate(cmd, &o);
    tp_costs_finish(&o.costs);
    return status;
}

const struct tp_command tp_command_simulate = {
    .name = "simulate",
    .summary = "run a game's frames on a virtual clock",
    .help =
        "usage: turnpike simulate [OPTIONS]\n\n"
        "Runs a game, its swapchain and gate, a compositor, the server and a panel on a virtual\n"
        "clock, and says what the panel showed: tears, rate, latency, frames that were late.\n\n"
        "  --trace F           costs of frames, a number of microseconds a line\n"
        "  --cost US|CPU+GPU[,…]  the same, one after the other (default: 10000)\n"
        "  --guest early|late[:0..3]  acquires before or after it renders; its run-ahead\n"
        "  --refresh HZ        of the panel, or a range as 48-120 (default: 60)\n"
        "  --cap FPS           a cap on the rate\n"
        "  --gate MODE         off, vsync, cap or latency (default: vsync)\n"
        "  --images N          of the swapchain (default: 3 and the pipeline)\n"
        "  --frames N          how many (default: 10000)\n"
        "  --seed S            of what happens by chance (default: 1)\n"
        "  --pipeline 0..2     refreshes from latch to first line (default: 1)\n"
        "  --latch US          before the refresh (default: 1650)\n"
        "  --compositor-us US  from a frame that is ready to its commit (default: 0)\n"
        "  --compose US[:IMAGES]  the compositor draws a picture of its own in this time, from "
        "the\n"
        "                      client's (default: it scans those out directly)\n"
        "  --callback US       of the panel's completions (default: 500)\n"
        "  --release-fence on|off  off: as without this program: it may tear\n"
        "  --faults NAME[:PER_MILLE],…  lost-note, late-fence[:RATE:REFRESHES], dup-note,\n"
        "                      reorder, truncated-fds, server-crash, compositor-crash,\n"
        "                      compositor-stall, panel-off, refresh-switch, clock-jitter,\n"
        "                      slow-reader, fd-exhaustion, silent-fence, dvfs, all\n"
        "  --assert            status 1 where something tore\n"
        "  --capture F         each frame and scan-out, in a compact file\n"
        "  --json F            the result as JSON ('-': standard output)\n"
        "  --chart F.svg       a picture of eight refreshes, game to panel\n"
        "  --chart-from N      the first frame in it (default: 150)\n"
        "\nExit status: 0 it ran, 1 an invariant broke (a short story says how) or --assert,\n"
        "2 wrong usage, or faults that let too little through for it to come to its end.\n",
    .options = tp_simulate_options,
    .run = run,
};
