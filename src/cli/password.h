/* The password of a secret key: from a descriptor, the environment or the terminal. */
#ifndef TP_CLI_PASSWORD_H
#define TP_CLI_PASSWORD_H

#include "factory/origin/minisign.h"

/* The environment's variable. */
#define TP_PASSWORD_VARIABLE "TURNPIKE_KEY_PASSWORD"

/* For tp_minisign_secret_load: the first line of descriptor *(int *)data unless that is -1, else the
 * variable, else what is typed on the terminal, unseen. */
tp_minisign_ask tp_cli_password;

/* Takes the variable out of the environment: no program that is started afterwards has it. */
void tp_cli_password_forget(void);

/* Loads a key as a command does: asks, then forgets. fd: -1 for none. */
int tp_cli_key_load(const char *path, int fd, struct tp_minisign_secret **out, struct tp_error *e);

/* The value of --password-fd: an open descriptor, or -1. */
int tp_cli_password_fd(const char *text);

#endif
