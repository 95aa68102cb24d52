/* What a screen showed, as `play --json` writes it. */
#ifndef TP_CLI_PLAY_REPORT_H
#define TP_CLI_PLAY_REPORT_H

#include "cli/display.h"

/* Writes what the display has shown and seen to a file, or to standard output for "-". */
int tp_play_report(struct tp_display *d, const char *path, struct tp_error *e);

/* 0; -EPERM (FAILED): the screen has seen a tear, or nothing of what it showed. */
int tp_play_judge(struct tp_display *d, struct tp_error *e);

#endif
