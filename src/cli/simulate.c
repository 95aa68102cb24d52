/* turnpike simulate: a game's frames on a virtual clock. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "cli/parse.h"
#include "cli/recording.h"
#include "frames/pace/profile.h"
#include "frames/world/chart.h"
#include "frames/world/costs.h"
#include "frames/world/shrink.h"
#include "frames/world/world.h"
#include "report/summary.h"

#define TRACE_BYTES (256u << 20)

enum {
    OPT_TRACE = 1,
    OPT_COST,
    OPT_GUEST,
    OPT_REFRESH,
    OPT_CAP,
    OPT_GATE,
    OPT_IMAGES,
    OPT_FRAMES,
    OPT_SEED,
    OPT_PIPELINE,
    OPT_LATCH,
    OPT_COMPOSITOR,
    OPT_COMPOSE,
    OPT_CALLBACK,
    OPT_ASSERT,
    OPT_FAULTS,
    OPT_FENCE,
    OPT_CAPTURE,
    OPT_JSON,
    OPT_CHART,
    OPT_CHART_FROM,
};

struct options {
    struct tp_world_config config;
    struct tp_costs costs;
    const char *trace, *capture, *json, *chart;
    uint64_t chart_from;
    bool has_gate, has_chart_from, asserts;
};

/* --- options --- */

static bool parse_whole(const char *text, unsigned long max, unsigned long *out)
{
    return tp_parse_number(&text, max, out) && *text == 0;
}

static bool parse_us(const char *text, int64_t *ns)
{
    unsigned long us;
    if (!parse_whole(text, 1000000, &us))
        return false;
    *ns = (int64_t)us * 1000;
    return true;
}

/* How long, and of how many images of its own: "2000", "2000:3". */
static bool parse_compose(const char *text, struct tp_world_config *c)
{
    unsigned long us, images = 0;
    if (!tp_parse_number(&text, 1000000, &us) || us == 0)
        return false;
    if (*text == ':' && (!parse_whole(text + 1, 5, &images) || images < 2))
        return false;
    c->compose_ns = (int64_t)us * 1000;
    c->own_images = (unsigned)images;
    return *text == ':' || *text == 0;
}

static bool parse_guest(const char *text, struct tp_world_config *c)
{
    c->late_guest = strncmp(text, "late", 4) == 0;
    if (!c->late_guest && strncmp(text, "early", 5) != 0)
        return false;
    text += c->late_guest ? 4 : 5;
    unsigned long ahead = 0;
    if (*text == ':' && !parse_whole(text + 1, 3, &ahead))
        return false;
    c->run_ahead = (unsigned)ahead;
    return *text == ':' || *text == 0;
}

/* "60", "59.94", or a variable range: "48-120". */
static bool parse_refresh(const char *text, struct tp_world_config *c)
{
    c->slowest_mhz = 0;
    if (!tp_parse_hz(&text, &c->refresh_mhz))
        return false;
    if (*text != '-')
        return *text == 0;
    text++;
    c->slowest_mhz = c->refresh_mhz;
    return tp_parse_hz(&text, &c->refresh_mhz) && *text == 0 && c->slowest_mhz < c->refresh_mhz;
}

static bool parse_switch(const char *text, bool *out)
{
    *out = strcmp(text, "on") == 0;
    return *out || strcmp(text, "off") == 0;
}

/* NAME[:PER_MILLE[:REFRESHES]]; text ends there. */
static bool parse_fault(char *text, struct tp_world_config *c)
{
    unsigned long rate = 1, refreshes = 1;
    char *colon = strchr(text, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
    if (second)
        *second = 0;
    if (colon)
        *colon = 0;
    if (colon && !parse_whole(colon + 1, 1000, &rate))
        return false;
    if (second &&
        (!parse_whole(second + 1, 16, &refreshes) || refreshes == 0 ||
            strcmp(text, "late-fence") != 0))
        return false;
    bool all = strcmp(text, "all") == 0, some = all;
    for (unsigned i = 0; i < TP_FAULTS; i++)
        if (all || strcmp(text, tp_world_fault_names[i]) == 0) {
            c->per_mille[i] = (uint32_t)rate;
            some = true;
        }
    if (second)
        c->late_refreshes = (unsigned)refreshes;
    return some;
}

static bool parse_faults(const char *text, struct tp_world_config *c)
{
    char *copy = tp_strdup(text);
    bool ok = true;
    char *rest = copy;
    for (char *one; ok && (one = strsep(&rest, ","));)
        ok = parse_fault(one, c);
    free(copy);
    return ok;
}

static bool parse_unsigned(const char *text, unsigned long min, unsigned long max, unsigned *out)
{
    unsigned long n;
    if (!parse_whole(text, max, &n) || n < min)
        return false;
    *out = (unsigned)n;
    return true;
}

static bool parse_big(const char *text, uint64_t min, uint64_t *out)
{
    unsigned long n;
    if (!parse_whole(text, INT64_MAX, &n) || n < min)
        return false;
    *out = n;
    return true;
}

/* What is wrong with it, or NULL. Costs are read later. */
static const char *set_option(int opt, const char *text, struct options *o)
{
    struct tp_world_config *c = &o->config;
    switch (opt) {
    case OPT_TRACE:
        o->trace = text;
        return NULL;
    case OPT_GUEST:
        return parse_guest(text, c) ? NULL : "--guest is early or late, with :0 to :3 behind it";
    case OPT_REFRESH:
        return parse_refresh(text, c) ? NULL : "--refresh is 1 to 1000 Hz, or a range as 48-120";
    case OPT_CAP:
        return tp_cap_read(text, &c->gate.cap_mhz) == 0 && c->gate.cap_mhz > 0
            ? NULL
            : "--cap is a number of frames a second";
    case OPT_GATE:
        o->has_gate = true;
        return tp_gate_mode_read(text, &c->gate.mode) == 0 ? NULL
                                                           : "--gate is off, vsync, cap or latency";
    case OPT_IMAGES:
        return parse_unsigned(text, 2, 64, &c->images) ? NULL : "--images is 2 to 64";
    case OPT_FRAMES:
        return parse_big(text, 1, &c->frames) ? NULL : "--frames is 1 to 9223372036854775807";
    case OPT_SEED:
        return parse_big(text, 0, &c->seed) ? NULL : "--seed is 0 to 9223372036854775807";
    case OPT_PIPELINE:
        return parse_unsigned(text, 0, 2, &c->pipeline) ? NULL : "--pipeline is 0 to 2";
    case OPT_LATCH:
        return parse_us(text, &c->lead_ns) ? NULL : "--latch is a number of microseconds";
    case OPT_COMPOSITOR:
        return parse_us(text, &c->compositor_ns) ? NULL : "--compositor-us is up to a second";
    case OPT_COMPOSE:
        return parse_compose(text, c) ? NULL : "--compose is 1 to 1000000 us, and :2 to :5 images";
    case OPT_CALLBACK:
        return parse_us(text, &c->callback_ns) ? NULL : "--callback is up to a second";
    case OPT_ASSERT:
        o->asserts = true;
        return NULL;
    case OPT_FAULTS:
        return parse_faults(text, c) ? NULL
                                     : "--faults is a list of NAME or NAME:PER_MILLE; see --help";
    case OPT_FENCE:
        return parse_switch(text, &c->release) ? NULL : "--release-fence is on or off";
    case OPT_CAPTURE:
        o->capture = text;
        return NULL;
    case OPT_JSON:
        o->json = text;
        return NULL;
    case OPT_CHART:
        o->chart = text;
        return NULL;
    case OPT_CHART_FROM:
        o->has_chart_from = true;
        return parse_big(text, 0, &o->chart_from) ? NULL : "--chart-from is a frame's number";
    }
    return NULL;
}

/* --- where it goes --- */

/* The file of both names is one, or will be. */
static bool is_one_file(const char *a, const char *b)
{
    if (!a || !b || strcmp(a, "-") == 0)
        return false;
    if (strcmp(a, b) == 0 || tp_is_same_file(a, b))
        return true;
    const char *x = strrchr(a, '/'), *y = strrchr(b, '/');
    if (strcmp(tp_base_name(a), tp_base_name(b)) != 0)
        return false;
    char *in_a = x ? tp_asprintf("%.*s/", (int)(x - a), a) : tp_strdup(".");
    char *in_b = y ? tp_asprintf("%.*s/", (int)(y - b), b) : tp_strdup(".");
    bool one = tp_is_same_file(in_a, in_b);
    free(in_a);
    free(in_b);
    return one;
}

/* What is wrong with the names of files, or NULL. */
static const char *check_files(const struct options *o)
{
    if (o->has_chart_from && !o->chart)
        return "--chart-from is a part of a --chart";
    if ((o->chart && strcmp(o->chart, "-") == 0) || (o->capture && strcmp(o->capture, "-") == 0))
        return "--chart and --capture write a file; only --json has '-'";
    const char *files[] = {o->trace, o->json, o->chart, o->capture};
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = i + 1; k < 4; k++)
            if (is_one_file(files[i], files[k]))
                return "--trace, --json, --chart and --capture are files of their own";
    return NULL;
}

static int read_costs(struct options *o, struct tp_error *e)
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

/* --- what came of it --- */

static double ms(double ns)
{
    return ns / 1e6;
}

static double fps_of(const struct tp_world_result *r)
{
    return r->span_ns > 0 ? (double)(r->frames - 1) / ((double)r->span_ns / 1e9) : 0;
}

static json_t *story(const struct tp_world_result *r)
{
    json_t *j = json_array();
    for (unsigned i = 0; i < r->n_story; i++)
        json_array_append_new(j, json_string(r->story[i]));
    return j;
}

static json_t *result(const struct options *o, const struct tp_world_result *r)
{
    struct tp_summary summary;
    tp_world_summary(&o->config, r, &summary);
    json_t *j = tp_summary_json(&summary);
    json_object_set_new(j, "seed", json_integer((json_int_t)o->config.seed));
    json_object_set_new(j, "broken", *r->broken ? json_string(r->broken) : json_null());
    if (*r->broken)
        json_object_set_new(j, "story", story(r));
    return j;
}

static void print_shown(const struct tp_world_result *r)
{
    printf(", %.2f %% on their refresh\nstayed for", 100 * r->on_vblank);
    for (unsigned i = 1; i <= TP_CADENCE; i++)
        if (r->cadence[i] > 0)
            printf(" %u: %llu", i, (unsigned long long)r->cadence[i]);
    printf("; %llu repeats, %llu drops\n", (unsigned long long)r->repeats,
        (unsigned long long)r->drops);
    printf("start to first line: %.2f ms, 1 %% above %.2f ms\n", ms((double)r->latency.p50_ns),
        ms((double)r->latency.p99_ns));
}

static void print_result(const struct options *o, const struct tp_world_result *r)
{
    printf("%llu frames in %.3f s: %.3f fps, %llu tears, %llu late", (unsigned long long)r->frames,
        (double)r->span_ns / 1e9, fps_of(r), (unsigned long long)r->tears,
        (unsigned long long)r->gate_late);
    if (r->frames > 0)
        print_shown(r);
    else
        printf("\nnothing was shown: %llu drops\n", (unsigned long long)r->drops);
    printf("an acquire waits %.2f ms: %.2f for an image, %.2f for its release, %.2f for the gate\n",
        ms(r->acquire_wait.mean_ns), ms(r->slot_wait_ns), ms(r->release_wait_ns),
        ms(r->gate_wait_ns));
    for (unsigned i = 0; i < TP_FAULTS; i++)
        if (o->config.per_mille[i] > 0)
            printf("%s: %llu times\n", tp_world_fault_names[i], (unsigned long long)r->injected[i]);
}

/* The story is that of the smallest world in which it breaks. */
static void print_story(
    const struct tp_command *cmd, const struct options *o, const struct tp_world_result *r)
{
    struct tp_world_config c = o->config;
    struct tp_world_result *small = tp_calloc(1, sizeof *small);
    *small = *r;
    tp_world_shrink(&c, small);
    fprintf(stderr, "turnpike %s: seed %llu: %s\n", cmd->name, (unsigned long long)o->config.seed,
        r->broken);
    fprintf(stderr, "so does it with --seed %llu --guest %s:%u", (unsigned long long)c.seed,
        c.late_guest ? "late" : "early", c.run_ahead);
    const char *before = " --faults ";
    for (unsigned i = 0; i < TP_FAULTS; i++)
        if (c.per_mille[i] > 0) {
            fprintf(stderr, "%s%s:%u", before, tp_world_fault_names[i], c.per_mille[i]);
            before = ",";
        }
    fprintf(stderr, " within %llu frames:\n", (unsigned long long)(small->frames + small->drops));
    for (unsigned i = 0; i < small->n_story; i++)
        fprintf(stderr, "  %s\n", small->story[i]);
    free(small);
}

static int report(const struct tp_command *cmd, const struct options *o,
    const struct tp_world_result *r, struct tp_error *e)
{
    int err = 0;
    if (!o->json || strcmp(o->json, "-") != 0) {
        print_result(o, r);
        err = tp_cli_flush(e);
    }
    if (err >= 0 && o->json) {
        json_t *j = result(o, r);
        err = tp_cli_write_json(j, o->json, e);
        json_decref(j);
    }
    if (err < 0)
        return tp_cli_fail(cmd, e);
    if (*r->broken)
        print_story(cmd, o, r);
    return *r->broken || (o->asserts && r->tears > 0) ? TP_STATUS_FAILED : TP_STATUS_OK;
}

static int write_chart(const struct options *o, const struct tp_chart *chart,
    const struct tp_world_result *r, struct tp_error *e)
{
    struct tp_buf svg = {0};
    tp_chart_draw(chart, &o->config, r, &svg);
    int err = tp_write_file(o->chart, tp_buf_str(&svg), svg.len, 0644, e);
    tp_buf_finish(&svg);
    return err;
}

/* Runs it, with whoever is to look on: for a chart, for a capture. */
static int run_world(struct options *o, struct tp_world_result *r, struct tp_error *e)
{
    struct tp_recording *recording = NULL;
    int err = o->chart ? tp_try_write(o->chart, e) : 0;
    if (err >= 0 && o->json && strcmp(o->json, "-") != 0)
        err = tp_try_write(o->json, e);
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

static int simulate(const struct tp_command *cmd, struct options *o)
{
    struct tp_world_config *c = &o->config;
    struct tp_error e = {0};
    if (c->gate.mode == TP_GATE_CAP && c->gate.cap_mhz == 0)
        return tp_cli_usage(cmd, "--gate cap needs a --cap");
    if (c->compose_ns > 0 && o->chart)
        return tp_cli_usage(cmd, "--chart shows direct scan-out, and with --compose there is none");
    const char *wrong = check_files(o);
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
    int status = run_world(o, r, &e) < 0 ? tp_cli_fail(cmd, &e) : report(cmd, o, r, &e);
    free(r);
    return status;
}

static int run(int argc, char **argv)
{
    const struct tp_command *cmd = &tp_command_simulate;
    struct options o = {0};
    struct tp_error e = {0};
    int status = -1;
    tp_world_defaults(&o.config);
    o.config.frames = 10000;
    o.chart_from = TP_CHART_FROM;
    for (int c; status < 0 && (c = tp_cli_option(cmd, argc, argv)) != -1;) {
        const char *wrong = NULL;
        if (c == '?') {
            status = TP_STATUS_INPUT;
        } else if (c == OPT_COST) {
            tp_costs_finish(&o.costs);
            if (tp_costs_parse(optarg, &o.costs, &e) < 0)
                status = tp_cli_fail(cmd, &e);
        } else if ((wrong = set_option(c, optarg, &o))) {
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

static const struct option options[] = {
    {"trace", required_argument, NULL, OPT_TRACE},
    {"cost", required_argument, NULL, OPT_COST},
    {"guest", required_argument, NULL, OPT_GUEST},
    {"refresh", required_argument, NULL, OPT_REFRESH},
    {"cap", required_argument, NULL, OPT_CAP},
    {"gate", required_argument, NULL, OPT_GATE},
    {"images", required_argument, NULL, OPT_IMAGES},
    {"frames", required_argument, NULL, OPT_FRAMES},
    {"seed", required_argument, NULL, OPT_SEED},
    {"pipeline", required_argument, NULL, OPT_PIPELINE},
    {"latch", required_argument, NULL, OPT_LATCH},
    {"compositor-us", required_argument, NULL, OPT_COMPOSITOR},
    {"compose", required_argument, NULL, OPT_COMPOSE},
    {"callback", required_argument, NULL, OPT_CALLBACK},
    {"assert", no_argument, NULL, OPT_ASSERT},
    {"faults", required_argument, NULL, OPT_FAULTS},
    {"release-fence", required_argument, NULL, OPT_FENCE},
    {"capture", required_argument, NULL, OPT_CAPTURE},
    {"json", required_argument, NULL, OPT_JSON},
    {"chart", required_argument, NULL, OPT_CHART},
    {"chart-from", required_argument, NULL, OPT_CHART_FROM},
    {"help", no_argument, NULL, 'h'},
    {0},
};

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
        "2 wrong usage.\n",
    .options = options,
    .run = run,
};
