/* How compositors are started on a card of ours. */
#ifndef TP_CLI_COMPOSITOR_H
#define TP_CLI_COMPOSITOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct tp_compositor {
    const char *name;      /* of --compositor, and of its program */
    const char *package;   /* Debian's, for who lacks it */
    const char *elsewhere; /* where the program is if not in PATH; NULL: nowhere */
    int from_version;      /* of the program; the highest one that is not above it counts */
    const char *args[12];
    const char *env[8]; /* "NAME=value" */
    const char *config; /* written into a file, whose path follows the args; NULL: none */
    bool never_as_root, only_as_root;
    bool vulkan;       /* it renders with Vulkan: gets our driver, and a render node for it */
    bool runs_command; /* it ends with a command of its own: a placeholder follows its arguments */
};

/* The row for the oldest version; NULL: there is no such compositor in the table. */
const struct tp_compositor *tp_compositor_find(const char *name);
/* The row for the version that is installed: asks the program where there is more than one. */
const struct tp_compositor *tp_compositor_for_installed(const struct tp_compositor *c);
/* What to execute; NULL: it is not installed. */
const char *tp_compositor_program(const struct tp_compositor *c);
/* "none, cage, …" */
void tp_compositor_names(char *out, size_t room);

/* The command of a compositor that ends with one: says where clients are to connect, and waits. */
extern const char *const TP_COMPOSITOR_PLACEHOLDER[];

/* Where clients connect: values of WAYLAND_DISPLAY, in the folder, of DISPLAY, and of
 * GAMESCOPE_WAYLAND_DISPLAY, for Vulkan drivers of X clients; "": none. */
struct tp_compositor_place {
    char wayland[128], x11[32], gamescope[128];
};
/* Can clients connect to it, whose XDG_RUNTIME_DIR the folder is? Then fills place. */
bool tp_compositor_is_ready(
    const struct tp_compositor *c, const char *folder, struct tp_compositor_place *place);

/* A new file in the folder for what it says: a descriptor, which the caller closes. */
int tp_compositor_open_log(const char *folder, struct tp_error *e);
/* Prints the end of that to standard error; -1: nothing. */
void tp_compositor_show_log(int fd);

#endif
