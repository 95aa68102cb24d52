#include "cli/display.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "cli/parse.h"
#include "frames/panel/window.h"

struct tp_display {
    struct tp_server *server;
    struct tp_panel *screen;    /* the server's; simulated */
    struct tp_panel *window;    /* the server's; NULL: there is none, or it has gone */
    struct tp_capture *capture; /* owned; NULL: none */
    const char *video;          /* borrowed; its file */
    bool watched;
    bool closed;
    char *socket;         /* owned */
    const char *snapshot; /* borrowed; NULL: none */
    struct tp_plug plug;
    sigset_t before;
};

static volatile sig_atomic_t wants_picture, wants_plug;

static void on_usr1(int sig)
{
    (void)sig;
    wants_picture = 1;
}

static void on_usr2(int sig)
{
    (void)sig;
    wants_plug = 1;
}

static void on_child(int sig)
{
    (void)sig; /* only ends the wait */
}

/* --- options --- */

void tp_display_defaults(struct tp_display_options *o)
{
    *o = (struct tp_display_options){
        .width_px = 1920,
        .height_px = 1080,
        .refresh_mhz = {60000},
        .n_refresh = 1,
        .pipeline = 1,
        .latch_us = 1650,
        .watch = TP_WATCH_SAMPLED,
    };
}

static bool is_listed(uint32_t mhz, const struct tp_display_options *o)
{
    for (unsigned i = 0; i < o->n_refresh; i++)
        if (o->refresh_mhz[i] == mhz)
            return true;
    return false;
}

static bool parse_range(const char *text, uint32_t *min_mhz, uint32_t *max_mhz)
{
    return tp_parse_hz(&text, min_mhz) && *text++ == '-' && tp_parse_hz(&text, max_mhz) && !*text &&
        *min_mhz < *max_mhz;
}

static bool parse_refresh(const char *text, struct tp_display_options *o)
{
    o->range_min_mhz = o->range_max_mhz = 0;
    if (strchr(text, '-')) {
        if (!parse_range(text, &o->range_min_mhz, &o->range_max_mhz))
            return false;
        o->refresh_mhz[0] = o->range_max_mhz;
        o->n_refresh = 1;
        return true;
    }
    for (o->n_refresh = 0; o->n_refresh < TP_KMS_MODES; text++) {
        uint32_t mhz;
        if (!tp_parse_hz(&text, &mhz) || is_listed(mhz, o))
            return false;
        o->refresh_mhz[o->n_refresh++] = mhz;
        if (*text != ',')
            return !*text;
    }
    return false;
}

static bool parse_watch(const char *text, enum tp_watch_how *out)
{
    static const char *const names[] = {"off", "sampled", "full"}; /* as in enum tp_watch_how */
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, names[i])) {
            *out = (enum tp_watch_how)i;
            return true;
        }
    return false;
}

static bool parse_to(const char *text, unsigned long max, unsigned long *out)
{
    return tp_parse_number(&text, max, out) && !*text;
}

int tp_display_option(
    const struct tp_command *cmd, int val, const char *value, struct tp_display_options *o)
{
    unsigned long n = 0;
    switch (val) {
    case 'P':
        o->window = !strcmp(value, "window");
        if (o->window || !strcmp(value, "sim"))
            return 0;
        return tp_cli_usage(
            cmd, "there is no panel '%s': sim is a simulated screen, window shows it", value);
    case 'S':
        if (tp_parse_size(&value, &o->width_px, &o->height_px) && !*value)
            return 0;
        return tp_cli_usage(cmd, "--size is WIDTHxHEIGHT, each from 1 to 16384: 1920x1080");
    case 'R':
        if (parse_refresh(value, o))
            return 0;
        return tp_cli_usage(cmd,
            "--refresh is up to sixteen different rates from 1 to 1000 Hz: 60 or 60,120; or a "
            "range, the lower first: 48-120");
    case 'V':
        if (parse_range(value, &o->vrr_min_mhz, &o->vrr_max_mhz))
            return 0;
        return tp_cli_usage(
            cmd, "--vrr is a range of rates from 1 to 1000 Hz, the lower first: 48-120");
    case 'D':
        if (!parse_to(value, 2, &n))
            return tp_cli_usage(cmd, "--pipeline is 0, 1 or 2 refreshes");
        o->pipeline = (unsigned)n;
        return 0;
    case 'L':
        if (!parse_to(value, 1000000, &n))
            return tp_cli_usage(
                cmd, "--latch is microseconds from 0 to 1000000, and less than a refresh");
        o->latch_us = (int64_t)n;
        return 0;
    case 'O':
        if (!parse_to(value, TP_KMS_OVERLAYS, &n))
            return tp_cli_usage(
                cmd, "--overlays is a number of planes from 0 to %d", TP_KMS_OVERLAYS);
        o->n_overlays = (unsigned)n;
        return 0;
    case 'K':
        o->socket = value;
        return 0;
    case 'U':
        if (tp_plug_parse(value, &o->plugs))
            return 0;
        return tp_cli_usage(cmd,
            "--plug is up to %d steps, each SECONDS:out, SECONDS:in or SECONDS:in:WxH@HZ, in the "
            "order of their times: 2:out,3.5:in:1024x768@60",
            TP_PLUG_EVENTS);
    case 'G':
        o->snapshot = value;
        return 0;
    case 'W':
        if (parse_watch(value, &o->watch))
            return 0;
        return tp_cli_usage(cmd, "--watch is off, sampled or full");
    case 'Y':
        o->video = value;
        return 0;
    case 'T':
        o->capture = value;
        if (*value && strcmp(value, "-") != 0)
            return 0;
        return tp_cli_usage(cmd, "--capture writes a file; it has no '-'");
    default:
        return -1;
    }
}

/* --- running --- */

static void on_log(void *data, const char *line)
{
    (void)data;
    fprintf(stderr, "turnpike: %s\n", line);
}

static char *usual_socket(const struct tp_display_options *o, struct tp_error *e)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (o->socket && *o->socket == '@')
        return tp_strdup(o->socket);
    if (o->socket)
        return tp_absolute(o->socket);
    if (runtime && *runtime)
        return tp_join(runtime, "turnpike-0");
    tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL, "say --socket PATH, or set XDG_RUNTIME_DIR",
        "there is no place for the socket");
    return NULL;
}

static void catch_signals(struct tp_display *d)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD};
    struct sigaction usr1 = {.sa_handler = on_usr1}, usr2 = {.sa_handler = on_usr2},
                     child = {.sa_handler = on_child};
    sigset_t ours;
    sigemptyset(&ours);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(&ours, signals[i]);
    sigprocmask(SIG_BLOCK, &ours, &d->before);
    sigaction(SIGUSR1, &usr1, NULL);
    sigaction(SIGUSR2, &usr2, NULL);
    sigaction(SIGCHLD, &child, NULL);
}

/* The range that --vrr or --refresh gives. */
static int choose_range(const struct tp_display_options *o, struct tp_kms_output *out, struct tp_error *e)
{
    bool vrr = o->vrr_max_mhz > 0, range = o->range_max_mhz > 0;
    if (vrr && range && (o->vrr_min_mhz != o->range_min_mhz || o->vrr_max_mhz != o->range_max_mhz))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL, "leave one of them out",
            "--vrr and --refresh give different ranges");
    out->vrr_min_mhz = vrr ? o->vrr_min_mhz : o->range_min_mhz;
    out->vrr_max_mhz = vrr ? o->vrr_max_mhz : o->range_max_mhz;
    for (unsigned i = 0; i < o->n_refresh; i++)
        if (o->refresh_mhz[i] >= out->vrr_min_mhz && o->refresh_mhz[i] <= out->vrr_max_mhz)
            return 0;
    if (out->vrr_max_mhz == 0)
        return 0;
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL, "give a --refresh within the range",
        "no refresh rate lies within --vrr"); /* it would never be used */
}

/* A disk that is full already is said at once. */
static int try_room(const char *path, struct tp_error *e)
{
    struct statvfs fs;
    struct stat st;
    int r = 0;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return 0;
    char *folder = tp_parent(path);
    if (statvfs(folder, &fs) == 0 && fs.f_blocks > 0 && fs.f_bavail == 0)
        r = tp_fail_errno(e, ENOSPC, path, "cannot be written");
    free(folder);
    return r;
}

int tp_display_try_write(const char *path, struct tp_error *e)
{
    int r = tp_try_write(path, e);
    return r < 0 ? r : try_room(path, e);
}

static int show_in_window(struct tp_display *d, const struct tp_display_options *o,
    struct tp_panel **panel, struct tp_error *e)
{
    const struct tp_panel_window_config config = {
        .screen = *panel, .width_px = o->width_px, .height_px = o->height_px, .title = "turnpike"};
    int r = tp_panel_window_create(&config, panel, e);
    d->window = *panel;
    return r;
}

static int open_video(struct tp_display *d, const struct tp_display_options *o, struct tp_error *e)
{
    const struct tp_capture_config config = {.path = o->video,
        .width_px = o->width_px,
        .height_px = o->height_px,
        .refresh_mhz = o->refresh_mhz[0],
        .log = on_log};
    d->video = o->video;
    if (!o->video)
        return 0;
    int r = try_room(o->video, e);
    return r < 0 ? r : tp_capture_create(&config, &d->capture, e);
}

static int start(struct tp_display *d, const struct tp_display_options *o, struct tp_error *e)
{
    struct tp_server_config config = {
        .kms = {.n_outputs = 1, .n_overlays = o->n_overlays},
        .path = d->socket,
        .uids = o->uids,
        .n_uids = o->n_uids,
        .log = on_log,
    };
    struct tp_kms_output *out = &config.kms.outputs[0];
    struct tp_panel_sim_config panel = {
        .mode = {o->width_px, o->height_px, o->refresh_mhz[0]},
        .lead_ns = o->latch_us * 1000,
        .pipeline = o->pipeline,
        .watch = o->watch,
        .looked = o->window,
    };
    if (panel.lead_ns * tp_plug_highest(&o->plugs) >= INT64_C(1000000000000))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL, "give a shorter --latch",
            "the latch lies more than a refresh of --plug's before the refresh");
    if (choose_range(o, out, e) < 0)
        return e->err;
    panel.vrr_min_mhz = out->vrr_min_mhz;
    panel.vrr_max_mhz = out->vrr_max_mhz;
    out->connected = true;
    for (unsigned i = 0; i < o->n_refresh; i++) {
        if (panel.lead_ns >= INT64_C(1000000000000) / o->refresh_mhz[i])
            return tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL, "give a shorter --latch",
                "the latch lies more than a refresh before the refresh");
        out->modes[out->n_modes++] =
            (struct tp_kms_mode){o->width_px, o->height_px, o->refresh_mhz[i]};
    }
    int r = open_video(d, o, e);
    panel.capture = d->capture;
    if (r == 0)
        r = tp_panel_sim_create(&panel, &config.panels[0], e);
    d->screen = config.panels[0];
    d->watched = o->watch != TP_WATCH_OFF;
    if (r == 0 && o->window)
        r = show_in_window(d, o, &config.panels[0], e);
    if (r == 0)
        r = tp_server_create(&config, &d->server, e);
    return r < 0 ? r : tp_plug_init(&d->plug, d->server, &config.kms.outputs[0], &o->plugs, e);
}

int tp_display_create(
    const struct tp_display_options *o, struct tp_display **out, struct tp_error *e)
{
    struct rlimit fds;
    *out = NULL;
    if (o->snapshot && tp_display_try_write(o->snapshot, e) < 0)
        return e->err;
    if (o->capture && tp_display_try_write(o->capture, e) < 0)
        return e->err;
    char *socket = usual_socket(o, e);
    if (!socket)
        return e->err;
    if (getrlimit(RLIMIT_NOFILE, &fds) == 0) { /* clients' buffers are descriptors here */
        fds.rlim_cur = fds.rlim_max;
        setrlimit(RLIMIT_NOFILE, &fds);
    }
    struct tp_display *d = tp_calloc(1, sizeof *d);
    d->socket = socket;
    d->snapshot = o->snapshot;
    catch_signals(d);
    int r = start(d, o, e);
    if (r < 0) {
        tp_server_destroy(d->server);
        tp_capture_destroy(d->capture);
        sigprocmask(SIG_SETMASK, &d->before, NULL);
        free(d->socket);
        free(d);
        return r;
    }
    *out = d;
    return 0;
}

int tp_display_keep(struct tp_display *d, struct tp_error *e)
{
    return d->capture ? tp_capture_keep(d->capture, e) : 0;
}

int tp_display_picture(struct tp_display *d, struct tp_error *e)
{
    if (!d->snapshot)
        return 0;
    struct tp_image image = {0};
    struct tp_buf png = {0};
    int r = tp_server_look(d->server, 0, &image, e);
    if (r == 0)
        r = tp_image_to_png(&image, &png, e);
    if (r == 0)
        r = tp_write_file(d->snapshot, png.data, png.len, 0644, e);
    tp_image_finish(&image);
    tp_buf_finish(&png);
    return r;
}

void tp_display_finish(struct tp_display *d)
{
    if (!d)
        return;
    struct tp_capture_counts video;
    tp_server_destroy(d->server);
    if (d->capture) {
        tp_capture_count(d->capture, &video);
        if (video.dropped > 0)
            fprintf(stderr, "turnpike: %s: %llu frames; %llu refreshes are not in it\n", d->video,
                (unsigned long long)video.frames, (unsigned long long)video.dropped);
    }
    tp_capture_destroy(d->capture);
    sigprocmask(SIG_SETMASK, &d->before, NULL);
    free(d->socket);
    free(d);
}

void tp_display_see(struct tp_display *d, struct tp_display_seen *out)
{
    *out = (struct tp_display_seen){.watched = d->watched};
    tp_panel_sim_count(d->screen, &out->screen);
    if (d->capture)
        tp_capture_count(d->capture, &out->video);
}

/* The window has gone: 1, a person closed it; or the desktop's error. */
static int lose_window(struct tp_display *d, struct tp_error *e)
{
    int r = tp_panel_window_gone(d->window, e);
    d->window = NULL;
    d->closed = r > 0;
    return r;
}

bool tp_display_closed(const struct tp_display *d)
{
    return d->closed;
}

/* What is due by the plan, and what signals asked for. */
static int do_asked(struct tp_display *d, struct tp_error *e)
{
    int r = tp_plug_run(&d->plug, e);
    if (r == 0 && wants_plug) {
        wants_plug = 0;
        r = tp_plug_toggle(&d->plug, e);
    }
    if (wants_picture) {
        struct tp_error said = {0};
        wants_picture = 0;
        if (tp_display_picture(d, &said) < 0)
            fprintf(stderr, "turnpike: %s: %s\n", said.where, said.what);
    }
    return r;
}

int tp_display_wait(struct tp_display *d, int64_t until_ns, struct tp_error *e)
{
    sigset_t open = d->before;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigdelset(&open, signals[i]);
    for (;;) {
        struct pollfd p[2] = {{.fd = tp_server_fd(d->server), .events = POLLIN},
            {.fd = d->window ? tp_panel_window_fd(d->window) : -1, .events = POLLIN}};
        int64_t due_ns = tp_plug_due_ns(&d->plug), now_ns = tp_now_ns();
        if (until_ns != INT64_MAX && until_ns <= now_ns)
            return 1;
        int64_t next_ns = due_ns < until_ns ? due_ns : until_ns;
        int64_t left = next_ns > now_ns ? next_ns - now_ns : 0;
        const struct timespec limit = {left / 1000000000, left % 1000000000};
        int r = ppoll(p, 2, next_ns == INT64_MAX ? NULL : &limit, &open);
        if (r < 0 && errno != EINTR)
            return tp_fail_errno(e, errno, NULL, "the display's loop");
        bool interrupted = r < 0;
        if (r > 0 && p[1].revents)
            return lose_window(d, e);
        r = r > 0 ? tp_server_dispatch(d->server, 0) : 0;
        if (r < 0)
            return tp_fail_errno(e, r, NULL, "the display's loop");
        r = do_asked(d, e);
        if (r < 0)
            return r;
        if (interrupted)
            return 1;
    }
}

const char *tp_display_socket(const struct tp_display *d)
{
    return d->socket;
}

struct tp_server *tp_display_server(struct tp_display *d)
{
    return d->server;
}

const sigset_t *tp_display_signals(const struct tp_display *d)
{
    return &d->before;
}
