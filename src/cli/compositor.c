#include "cli/compositor.h"

#include <stdio.h>
#include <string.h>

/* libseat's own backend needs no seat daemon, and no console where it is told so. */
#define SEAT "LIBSEAT_BACKEND=builtin", "SEATD_VTBOUND=0"
#define WLROOTS                                                                                    \
    SEAT, "WLR_LIBINPUT_NO_DEVICES=1", "WLR_RENDERER=pixman", "WLR_DRM_DEVICES=/dev/dri/card0"

static const struct tp_compositor COMPOSITORS[] = {
    {
        .name = "weston",
        .package = "weston",
        .args = {"--backend=drm-backend.so", "--use-pixman", "--tty=7", "--continue-without-input",
            "--idle-time=0", "-c"},
        .env = {SEAT, "TURNPIKE_TTY=1"},
        .config = "[core]\nxwayland=false\n[shell]\nlocking=false\npanel-position=none\n"
                  "background-color=0xff000000\nstartup-animation=none\nanimation=none\n",
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

void tp_compositor_names(char *out, size_t room)
{
    size_t at = (size_t)snprintf(out, room, "none");
    for (size_t i = 0; i < sizeof COMPOSITORS / sizeof *COMPOSITORS && at < room; i++)
        at += (size_t)snprintf(out + at, room - at, ", %s", COMPOSITORS[i].name);
}
