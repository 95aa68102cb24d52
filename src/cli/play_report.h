/* What a screen showed, as `play --json` writes it. */
#ifndef TP_CLI_PLAY_REPORT_H
#define TP_CLI_PLAY_REPORT_H

#include "cli/display.h"
#include "cli/live.h"

/* Writes what the display has shown and seen to a file, or to standard output for "-". live: was
 * stopped. */
int tp_play_report(
    struct tp_display *d, const struct tp_live *live, const char *path, struct tp_error *e);

/* Share of what was shown that has to be read in time, for an answer. */
#define TP_PLAY_WATCHED 0.9

/* 0; or FAILED: the screen has seen a tear (-EPERM), or too little to know (-ENODATA). */
int tp_play_judge(struct tp_display *d, struct tp_error *e);

#endif
