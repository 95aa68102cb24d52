#include "cli/compositor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"

/* libseat's own backend needs no seat daemon, and no console where it is told so. */
#define SEAT "LIBSEAT_BACKEND=builtin", "SEATD_VTBOUND=0"
#define WLROOTS                                                                                    \
    SEAT, "WLR_LIBINPUT_NO_DEVICES=1", "WLR_RENDERER=pixman", "WLR_DRM_DEVICES=/dev/dri/card0"

#define LOG_BYTES 8192 /* of a compositor that failed: the end of what it said */

const char *const TP_COMPOSITOR_PLACEHOLDER[] = {"sh", "-c",
    "unset LD_PRELOAD; cd \"$XDG_RUNTIME_DIR\" && "
    "printf '%s\\n' \"${WAYLAND_DISPLAY-}\" \"${DISPLAY-}\" "
    "\"${GAMESCOPE_WAYLAND_DISPLAY-}\" >said.new && mv said.new said; "
    "exec sleep infinity",
    NULL};

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
        /* Else it keeps a new window's first picture while it gives the window its size, and
         * clients with two buffers, weston's among them, see both taken and end. */
        .args = {"-D", "noatomic", "-c"},
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
        .elsewhere = "/usr/games/gamescope", /* Debian's; not in root's PATH */
        .args = {"--"},
        .env = {SEAT, "WLR_LIBINPUT_NO_DEVICES=1", "TURNPIKE_TTY=1", "TURNPIKE_RENDER_NODE=1"},
        .vulkan = true,
        .runs_command =
            true, /* its X server takes clients of its own user only: no never_as_root */
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

const char *tp_compositor_program(const struct tp_compositor *c)
{
    if (tp_have_program(c->name))
        return c->name;
    return c->elsewhere && tp_have_program(c->elsewhere) ? c->elsewhere : NULL;
}

void tp_compositor_names(char *out, size_t room)
{
    size_t at = (size_t)snprintf(out, room, "none");
    for (size_t i = 0; i < sizeof COMPOSITORS / sizeof *COMPOSITORS && at < room; i++)
        if (COMPOSITORS[i].from_version == 0)
            at += (size_t)snprintf(out + at, room - at, ", %s", COMPOSITORS[i].name);
}

/* --- a running one --- */

/* Is there a Wayland socket in the folder that somebody listens at? */
static bool find_wayland(const char *folder, struct tp_compositor_place *place)
{
    for (int i = 0; i < 3; i++) {
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        snprintf(place->wayland, sizeof place->wayland, "wayland-%d", i);
        if ((size_t)snprintf(a.sun_path, sizeof a.sun_path, "%s/%s", folder, place->wayland) >=
            sizeof a.sun_path)
            return false;
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        bool there = fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0;
        if (fd >= 0)
            close(fd);
        if (there)
            return true;
    }
    return false;
}

/* Has the placeholder said where it is? The file is the compositor's user's. */
static bool hear_placeholder(const char *folder, struct tp_compositor_place *place)
{
    char *const lines[] = {place->wayland, place->x11, place->gamescope};
    const size_t room[] = {sizeof place->wayland, sizeof place->x11, sizeof place->gamescope};
    char *path = tp_join(folder, "said");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
    free(path);
    if (!f)
        return false;
    for (size_t i = 0; i < 3; i++) {
        if (!fgets(lines[i], (int)room[i], f))
            *lines[i] = 0;
        lines[i][strcspn(lines[i], "\n")] = 0;
    }
    fclose(f);
    return true;
}

bool tp_compositor_is_ready(
    const struct tp_compositor *c, const char *folder, struct tp_compositor_place *place)
{
    return c->runs_command ? hear_placeholder(folder, place) : find_wayland(folder, place);
}

int tp_compositor_open_log(const char *folder, struct tp_error *e)
{
    char *path = tp_join(folder, "compositor.log");
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
    int r = fd < 0 ? tp_fail_errno(e, errno, path, "cannot be written") : fd;
    free(path);
    return r;
}

void tp_compositor_show_log(int fd)
{
    char text[LOG_BYTES];
    off_t end = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    off_t from = end > LOG_BYTES ? end - LOG_BYTES : 0;
    ssize_t n = end <= 0 ? 0 : pread(fd, text, sizeof text, from);
    if (n > 0)
        fwrite(text, 1, (size_t)n, stderr);
}
