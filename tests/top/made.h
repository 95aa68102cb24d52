/* A snapshot that is made by hand, for pictures and JSON: two guests on one screen. */
#ifndef TP_TESTS_TOP_MADE_H
#define TP_TESTS_TOP_MADE_H

#include "top/ui.h"

struct made {
    struct tp_top_snapshot s;
    struct tp_top_ui ui;
    struct tp_top_guest guests[3];
};

/* All is well: a game at 60 Hz, and one that is capped to 30. */
void made_healthy(struct made *m);
/* The first one tears, waits too long and loses notes; with findings in words. */
void made_unhealthy(struct made *m);
/* A server, and nobody who draws. */
void made_empty(struct made *m);

#endif
