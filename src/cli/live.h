/* What happens to frames on a display that runs: its figures, and its capture. */
#ifndef TP_CLI_LIVE_H
#define TP_CLI_LIVE_H

#include "frames/census/metrics.h"
#include "frames/server/server.h"

struct tp_live;

struct tp_live_options {
    const char *command; /* that makes the capture: play, serve */
    const char *capture; /* a file, made anew; NULL: none */
    bool watched;        /* somebody looks for tears */
};

/* Listens from here on, on a thread of its own, so that a slow disk holds up nobody. The server and
 * o's strings are borrowed until the end. Errors: as tp_recorder_create; of the thread. */
int tp_live_create(struct tp_server *server, const struct tp_live_options *o, struct tp_live **out,
    struct tp_error *e);
/* The run is over, for the figures and for the capture, whatever happens afterwards. */
void tp_live_stop(struct tp_live *l);
/* The figures, once it was stopped. */
void tp_live_summary(const struct tp_live *l, struct tp_summary *out);
/* Ends the capture; stops where nobody has. Errors: as tp_recorder_finish. NULL is fine. */
int tp_live_finish(struct tp_live *l, struct tp_error *e);

#endif
