/* What a screen showed, as `play --json` writes it. */
#ifndef TP_CLI_PLAY_REPORT_H
#define TP_CLI_PLAY_REPORT_H

#include "frames/server/server.h"

/* Writes the first output's frames and rate to a file, or to standard output for "-". */
int tp_play_report(const struct tp_server *server, const char *path, struct tp_error *e);

#endif
