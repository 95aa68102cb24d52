/* The Vulkan driver of play: its options, and the environment by which the loader finds it. */
#ifndef TP_CLI_GUEST_H
#define TP_CLI_GUEST_H

#include <getopt.h>

#include "base/error.h"
#include "cli/cli.h"

#define TP_GUEST_OPTIONS                                                                           \
    {"driver", required_argument, NULL, 'X'}, {"gate", required_argument, NULL, 'g'},              \
        {"cap", required_argument, NULL, 'c'}, {"images", required_argument, NULL, 'i'},           \
    {                                                                                              \
        "release-fence", required_argument, NULL, 'F'                                              \
    }
#define TP_GUEST_HELP                                                                              \
    "  --driver SO|ZIP     the Vulkan driver below turnpike's (the loader's own choice)\n"         \
    "  --gate MODE         when a frame may begin: off, vsync (default), cap, latency\n"           \
    "  --cap FPS           frames a second at most\n"                                              \
    "  --images N          images that a swapchain has at least, 1 to 64\n"                        \
    "  --release-fence on|off  wait for a buffer's release (on)\n"

struct tp_guest_options {
    const char *driver, *gate, *cap, *images; /* NULL: nothing is said */
    const char *release_fence;                /* "1" or "0"; NULL */
    char *driver_path;                        /* absolute; owned */
};

/* One option of the above: 0, TP_STATUS_INPUT (told), or -1: it is another's. */
int tp_guest_option(
    const struct tp_command *cmd, int c, const char *value, struct tp_guest_options *o);
/* Has anything been asked for? */
bool tp_guest_asked(const struct tp_guest_options *o);
void tp_guest_finish(struct tp_guest_options *o);

/*
 * Writes the loader's manifest of turnpike's driver into the folder; *manifest: its path, the
 * caller's to free. -ENOENT (MISSING) where the driver is not there.
 */
int tp_guest_prepare(const char *folder, char **manifest, struct tp_error *e);

/* Adds "NAME=value" strings to env, and to owned, whose strings the caller frees: the driver for the
 * loader and the driver below it; and with, for the program that plays, where the server is and what
 * was asked for. server: its socket; NULL: this is a compositor. */
void tp_guest_add(const struct tp_guest_options *o, const char *manifest, const char *server,
    struct tp_cli_list *env, struct tp_cli_list *owned);

#endif
