/* Whether a Vulkan driver has what a compositor demands of it, asked before the compositor is
 * started: it would end with an assertion, or draw nothing. */
#ifndef TP_CLI_DEMAND_H
#define TP_CLI_DEMAND_H

#include "base/error.h"
#include "cli/guest.h"

/*
 * Chooses the driver below ours for a compositor that renders with Vulkan (gamescope). *driver:
 * NULL: the one that o and the environment say will do; else another of this machine that does, by
 * its manifest, the caller's to free; said on standard error.
 * who: the compositor. server: the socket's path, which needs not be there yet.
 * MISSING (-ENODEV): none here will do; the text says what is lacking.
 */
int tp_demand_driver(const char *who, const struct tp_guest_options *o, const char *manifest,
    const char *server, char **driver, struct tp_error *e);

#endif
