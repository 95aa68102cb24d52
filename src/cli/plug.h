/* The output of a display that is plugged out and in while it runs: by a plan, or by hand. */
#ifndef TP_CLI_PLUG_H
#define TP_CLI_PLUG_H

#include "frames/server/server.h"

#define TP_PLUG_EVENTS 32

struct tp_plug_plan {
    struct tp_plug_event {
        int64_t after_ns; /* since the display began */
        bool connected;
        /* Of its only mode. 0 pixels: its modes as it began; 0 mHz: the first of their rates. */
        uint32_t width_px, height_px, refresh_mhz;
    } events[TP_PLUG_EVENTS];
    unsigned n;
};

/* "2:out,3.5:in:1024x768@60": false where it is not so, or the times do not rise. */
bool tp_plug_parse(const char *text, struct tp_plug_plan *out);

/* The highest rate of the plan's, in millihertz; 0: it names none. */
uint32_t tp_plug_highest(const struct tp_plug_plan *plan);

struct tp_plug {
    struct tp_server *server;        /* borrowed */
    const struct tp_plug_plan *plan; /* borrowed */
    struct tp_kms_output usual, now; /* as it began, and is */
    unsigned next;
    int64_t began_ns;
};

/* For output 0, as the server was made with it. Nobody is served yet: the whole plan is tried, so
 * that a mode that cannot be is told at once. Does what it has for the beginning. */
int tp_plug_init(struct tp_plug *p, struct tp_server *server, const struct tp_kms_output *output,
    const struct tp_plug_plan *plan, struct tp_error *e);
/* When the plan's next step is due (CLOCK_MONOTONIC); INT64_MAX: none is left. */
int64_t tp_plug_due_ns(const struct tp_plug *p);
/* Does all that is due. */
int tp_plug_run(struct tp_plug *p, struct tp_error *e);
/* Plugs it out, or in again as it was last. */
int tp_plug_toggle(struct tp_plug *p, struct tp_error *e);

#endif
