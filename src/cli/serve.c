/* turnpike serve: a DRM card with a simulated screen, for programs that preload libturnpike-drm.so.
 */
#include "base/proc.h"
#include "cli/display.h"
#include "cli/live.h"

#define TP_DISPLAY_SOCKET "turnpike-0 in XDG_RUNTIME_DIR"

static int record(struct tp_display *d, const struct tp_display_options *o, struct tp_live **out,
    struct tp_error *e)
{
    const struct tp_live_options live = {
        .command = "serve", .capture = o->capture, .watched = o->watch != TP_WATCH_OFF};
    return tp_live_create(tp_display_server(d), &live, out, e);
}

static int run(int argc, char **argv)
{
    const struct tp_command *cmd = &tp_command_serve;
    struct tp_display_options o;
    struct tp_display *d;
    struct tp_live *live = NULL;
    struct tp_error e = {0};
    tp_display_defaults(&o);
    for (int c; (c = tp_cli_option(cmd, argc, argv)) != -1;)
        if (c == '?' || tp_display_option(cmd, c, optarg, &o))
            return TP_STATUS_INPUT;
    if (optind < argc)
        return tp_cli_usage(cmd, "there is nothing to do with '%s'", argv[optind]);
    if (tp_display_create(&o, &d, &e) < 0)
        return tp_cli_fail(cmd, &e);
    printf("%ux%u at %u.%03u Hz: TURNPIKE_SOCKET=%s\n", o.width_px, o.height_px,
        o.refresh_mhz[0] / 1000, o.refresh_mhz[0] % 1000, tp_display_socket(d));
    int r = tp_cli_flush(&e);
    if (r == 0 && o.capture)
        r = record(d, &o, &live, &e);
    if (r == 0)
        r = tp_display_keep(d, &e);
    while (r >= 0 && !tp_interrupted() && !tp_display_closed(d))
        r = tp_display_wait(d, INT64_MAX, &e);
    if (r >= 0)
        r = tp_display_picture(d, &e);
    int whole = tp_live_finish(live, &e);
    r = r < 0 ? r : whole;
    tp_display_finish(d);
    return r < 0 ? tp_cli_fail(cmd, &e) : TP_STATUS_OK;
}

static const struct option options[] = {
    TP_DISPLAY_OPTIONS,
    {"help", no_argument, NULL, 'h'},
    {0},
};

const struct tp_command tp_command_serve = {
    .name = "serve",
    .summary = "be a DRM card with a simulated screen",
    .help = "usage: turnpike serve [OPTIONS]\n\n"
            "Serves a display over a socket. Programs that use DRM/KMS find it as /dev/dri/card0 "
            "when they\n"
            "run with TURNPIKE_SOCKET and LD_PRELOAD=libturnpike-drm.so. Runs until it is "
            "interrupted,\nor its window is closed.\n\n" TP_DISPLAY_HELP
            "\nExit status: 1 it failed, 2 wrong usage, 3 something is missing on this machine;\n"
            "SIGINT, SIGTERM and SIGHUP end it with 130, 143 and 129.\n",
    .options = options,
    .run = run,
};
