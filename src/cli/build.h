/* turnpike build: its arguments, and the job that they describe. */
#ifndef TP_CLI_BUILD_H
#define TP_CLI_BUILD_H

#include "cli/cli.h"
#include "factory/source/source.h"

struct tp_build_arguments {
    const char *mesa, *target, *version, *out, *ndk, *sysroot, *launcher, *patches, *json;
    const char *bionic_root;
    const char *key;         /* a secret key of minisign's; NULL: nothing is signed */
    int password_fd;         /* -1: the environment, the terminal */
    /* Looks at the source that came, may refuse it, and may say otherwise what kind it is; may be NULL. */
    int (*on_source)(void *data, struct tp_source *source, struct tp_error *e);
    void *data;
    char variants[3]; /* "bp", in the order asked for */
    unsigned jobs;
    bool no_prove;
    bool quiet; /* standard output is another's; also where json is "-" */
    struct tp_cli_list with, without;
};

/* From Mesa's source to archives and summary.json in the out folder; both archives appear once both
 * drivers are built and proved, or none does. Returns an exit status; e says why. */
int tp_build_job(const struct tp_build_arguments *a, struct tp_error *e);

/* The value of --jobs, of any command that builds. 0, or TP_STATUS_INPUT after having said why. */
int tp_build_parse_jobs(const struct tp_command *cmd, const char *s, unsigned *jobs);

#endif
