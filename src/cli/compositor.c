#include "cli/compositor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"

/* libseat's own backend needs no seat daemon, and no console where it is told so. */
#define SEAT "LIBSEAT_BACKEND=builtin", "SEATD_VTBOUND=0"
#define WLROOTS                                                                                    \
    SEAT, "WLR_LIBINPUT_NO_DEVICES=1", "WLR_RENDERER=pixman", "WLR_DRM_DEVICES=/dev/dri/card0"

static const char WESTON_CONFIG[] =
    "[core]\nxwayland=false\n[shell]\nlocking=false\npanel-position=none\n"
    "background-color=0xff000000\nstartup-animation=none\nanimation=none\n";

static const struct tp_compositor COMPOSITORS[] = {
    {
        .name = "weston",
        .package = "weston",
        .args = {"--backend=drm-backend.so", "--use-pixman", "--tty=7", "--continue-without-input",
            "--idle-time=0", "-c"},
        .env = {SEAT, "TURNPIKE_TTY=1"},
        .config = WESTON_CONFIG,
        .only_as_root = true, /* for its console */
    },
    {
        .name = "weston",
        .package = "weston",
        .from_version = 12, /* renamed options, and libseat alone */
        .args = {"--backend=drm", "--renderer=pixman", "--drm-device=card0",
            "--continue-without-input", "--idle-time=0", "-c"},
        .env = {SEAT, "TURNPIKE_TTY=1"},
        .config = WESTON_CONFIG,
    },
    {
        .name = "sway",
        .package = "sway",
        .args = {"-c"},
        .env = {WLROOTS, "TURNPIKE_TTY=1"},
        .config = "xwayland disable\ndefault_border none\ndefault_floating_border none\n"
                  "seat * hide_cursor 100\noutput * bg #000000 solid_color\n",
        .never_as_root = true,
    },
    {
        .name = "cage",
        .package = "cage",
        .args = {"-d", "--"},
        .env = {WLROOTS, "TURNPIKE_TTY=1"},
        .never_as_root = true,
        .runs_command = true,
    },
    {
        .name = "gamescope",
        .package = "gamescope",
        .args = {"--"},
        .env = {SEAT, "TURNPIKE_TTY=1"},
        .never_as_root = true,
        .runs_command = true,
    },
};

const struct tp_compositor *tp_compositor_find(const char *name)
{
    for (size_t i = 0; i < sizeof COMPOSITORS / sizeof *COMPOSITORS; i++)
        if (!strcmp(COMPOSITORS[i].name, name))
            return &COMPOSITORS[i];
    return NULL;
}

/* The first number that `NAME --version` prints; 0: none. */
static int installed_version(const char *name)
{
    struct tp_buf out = {0};
    const struct tp_cmd cmd = {
        .argv = (const char *const[]){name, "--version", NULL},
        .timeout_ms = 10000,
        .out = &out,
        .log_fd = -1,
    };
    int version = 0;
    if (tp_run(&cmd, NULL) == 0) {
        const char *at = tp_buf_str(&out);
        version = atoi(at + strcspn(at, "0123456789"));
    }
    tp_buf_finish(&out);
    return version;
}

const struct tp_compositor *tp_compositor_for_installed(const struct tp_compositor *c)
{
    const struct tp_compositor *end = COMPOSITORS + sizeof COMPOSITORS / sizeof *COMPOSITORS;
    if (c + 1 == end || strcmp(c[1].name, c->name) != 0)
        return c;
    int version = installed_version(c->name);
    while (c + 1 < end && !strcmp(c[1].name, c->name) && c[1].from_version <= version)
        c++;
    return c;
}

void tp_compositor_names(char *out, size_t room)
{
    size_t at = (size_t)snprintf(out, room, "none");
    for (size_t i = 0; i < sizeof COMPOSITORS / sizeof *COMPOSITORS && at < room; i++)
        if (COMPOSITORS[i].from_version == 0)
            at += (size_t)snprintf(out + at, room - at, ", %s", COMPOSITORS[i].name);
}
