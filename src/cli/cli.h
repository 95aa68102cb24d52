/* What the commands share: usage, errors, lists of options, JSON out. */
#ifndef TP_CLI_CLI_H
#define TP_CLI_CLI_H

#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct tp_command {
    const char *name;
    const char *summary;           /* one line, for `turnpike --help` */
    const char *help;              /* one screen */
    const struct option *options;  /* getopt_long's; each value is a letter or a number below 32 */
    /* argv holds the command's own arguments, argv[0] its name. Returns an exit status. */
    int (*run)(int argc, char **argv);
};

extern const struct tp_command tp_command_build, tp_command_chips, tp_command_doctor,
    tp_command_inspect,
    tp_command_notes, tp_command_patch, tp_command_play,
    tp_command_prove, tp_command_rebuild, tp_command_report, tp_command_serve, tp_command_sign,
    tp_command_simulate, tp_command_top, tp_command_verify;

/* The next option of a command: getopt_long, its messages in our words. Returns -1 at the end, the
 * option's val, or '?' after having said what was wrong. --help is handled: prints and exits 0. */
int tp_cli_option(const struct tp_command *cmd, int argc, char **argv);

/* Says so, and returns 2, when one of the arguments behind the options is empty. */
int tp_cli_operands(const struct tp_command *cmd, int argc, char **argv);

/* Prints "turnpike CMD: where: what" and what to do; returns the exit status. */
int tp_cli_fail(const struct tp_command *cmd, const struct tp_error *e);
/* As above for wrong usage; names the command's --help. */
int tp_cli_usage(const struct tp_command *cmd, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Says so, and returns 2, when an id is both switched on and left out. */
struct tp_cli_list;
int tp_cli_contradiction(const struct tp_command *cmd, const struct tp_cli_list *with,
                         const struct tp_cli_list *without);

/* A NULL-terminated list of borrowed strings that grows; {0} is empty. */
struct tp_cli_list {
    const char **at;
    int n, cap;
};
void tp_cli_list_add(struct tp_cli_list *l, const char *s);
void tp_cli_list_finish(struct tp_cli_list *l);

/* Writes JSON to a file, whole or not at all, or to standard output for "-". */
int tp_cli_write_json(const json_t *j, const char *path, struct tp_error *e);
/* Would it find a place to write? Yes for "-", and where none is wanted (NULL). */
int tp_cli_try_json(const char *path, struct tp_error *e);
/* Flushes standard output and says so when it could not be written (a full disk, a closed pipe). */
int tp_cli_flush(struct tp_error *e);

#endif
