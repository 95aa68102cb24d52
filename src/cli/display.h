/* A display server with simulated panels, as `serve` and `play` run it. */
#ifndef TP_CLI_DISPLAY_H
#define TP_CLI_DISPLAY_H

#include <signal.h>

#include "cli/cli.h"
#include "cli/plug.h"
#include "frames/panel/sim.h"
#include "frames/panel/sim_capture.h"

struct tp_display_options {
    bool window; /* shown on the desktop */
    uint32_t width_px, height_px;
    uint32_t refresh_mhz[TP_KMS_MODES];
    unsigned n_refresh, pipeline, n_overlays;
    int64_t latch_us;
    uint32_t vrr_min_mhz, vrr_max_mhz;     /* 0: none */
    uint32_t range_min_mhz, range_max_mhz; /* of refresh rates; 0: none */
    const char *socket;                /* NULL: turnpike-0 in XDG_RUNTIME_DIR */
    const char *snapshot;              /* PNG file; NULL: none */
    enum tp_watch_how watch;           /* for tears */
    const char *video;                 /* YUV4MPEG2 file; NULL: none */
    const char *capture;               /* of frames (docs/capture.md); NULL: none */
    struct tp_plug_plan plugs;
    const uid_t *uids; /* who may connect besides this user and root */
    size_t n_uids;
};

/* 1920x1080 at 60 Hz, pipeline 1, a latch 1650 µs before the refresh. */
void tp_display_defaults(struct tp_display_options *o);

/* getopt_long's options of a display, for a command's list, and their lines of help. */
#define TP_DISPLAY_OPTIONS                                                                         \
    {"panel", required_argument, NULL, 'P'}, {"size", required_argument, NULL, 'S'},               \
        {"refresh", required_argument, NULL, 'R'}, {"pipeline", required_argument, NULL, 'D'},     \
        {"latch", required_argument, NULL, 'L'}, {"socket", required_argument, NULL, 'K'},         \
        {"snapshot", required_argument, NULL, 'G'}, {"vrr", required_argument, NULL, 'V'},         \
        {"plug", required_argument, NULL, 'U'}, {"watch", required_argument, NULL, 'W'},           \
        {"capture-video", required_argument, NULL, 'Y'},                                           \
        {"capture", required_argument, NULL, 'T'},                                                 \
    {                                                                                              \
        "overlays", required_argument, NULL, 'O'                                                   \
    }
/* TP_DISPLAY_SOCKET: the command's default place for the socket. */
#define TP_DISPLAY_HELP                                                                            \
    "  --panel sim|window  a simulated screen (default), or one that a window shows as well\n"     \
    "  --size WxH          of the screen in pixels (1920x1080)\n"                                  \
    "  --refresh HZ[,HZ…]  refresh rates, the usual one first (60); MIN-MAX: a variable one\n"   \
    "  --vrr MIN-MAX       a range in Hz for variable refresh (none)\n"                            \
    "  --pipeline 0..2     refreshes from the latch to the first line (1)\n"                       \
    "  --latch US          how long before the refresh the latch lies (1650)\n"                    \
    "  --overlays 0..6     planes beside the primary and the cursor (0)\n"                         \
    "  --socket PATH       where clients connect; @NAME: abstract (" TP_DISPLAY_SOCKET ")\n"       \
    "  --snapshot F.png    what the screen shows, on SIGUSR1 and at the end\n"                     \
    "  --watch HOW         for tears: sampled (two places of each line; default), full, off\n"     \
    "  --capture F         what becomes of each frame, in a compact file, for turnpike report\n"   \
    "  --capture-video F.y4m  what it shows at each refresh\n"                                     \
    "  --plug WHEN:WHAT,…  out, in or in:WxH@HZ, so many seconds from the start; SIGUSR2 by "    \
    "hand\n"

/* Says whether a file can be written at the end, before anything is begun. */
int tp_display_try_write(const char *path, struct tp_error *e);

/* Takes one of these options: 0; an exit status after having said what is wrong; -1: none of these.
 */
int tp_display_option(
    const struct tp_command *cmd, int val, const char *value, struct tp_display_options *o);

struct tp_display;

/* The signals that a display takes are blocked from here on, and wait for tp_display_wait: SIGINT,
 * SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD. What o names is borrowed until the end. */
int tp_display_create(
    const struct tp_display_options *o, struct tp_display **out, struct tp_error *e);
/* Everything else has started, too: the video takes the place of a file that was there. */
int tp_display_keep(struct tp_display *d, struct tp_error *e);
/* Writes what the screen shows to the snapshot's file, where there is one. */
int tp_display_picture(struct tp_display *d, struct tp_error *e);
/* What the screen has seen so far. */
struct tp_display_seen {
    struct tp_panel_sim_counts screen;
    bool watched; /* for tears */
    struct tp_capture_counts video;
};
void tp_display_see(struct tp_display *d, struct tp_display_seen *out);
/* Ends it. NULL is fine. */
void tp_display_finish(struct tp_display *d);

/* Serves until a signal came (SIGUSR1 and 2 are dealt with here), the window was closed, or that
 * time (CLOCK_MONOTONIC; INT64_MAX: none): answers 1, the caller looks what it was; or a negative
 * errno.
 */
int tp_display_wait(struct tp_display *d, int64_t until_ns, struct tp_error *e);
/* A person closed the window: it is to end. */
bool tp_display_closed(const struct tp_display *d);

/* Its address, for TURNPIKE_SOCKET. */
const char *tp_display_socket(const struct tp_display *d);
struct tp_server *tp_display_server(struct tp_display *d);
/* The signals as they were before tp_display_create: for children. */
const sigset_t *tp_display_signals(const struct tp_display *d);

#endif
