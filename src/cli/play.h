/* What the files of turnpike play share. */
#ifndef TP_CLI_PLAY_H
#define TP_CLI_PLAY_H

#include "cli/children.h"
#include "cli/compositor.h"
#include "cli/display.h"
#include "cli/guest.h"
#include "cli/live.h"
#include "cli/namespace.h"

struct tp_play_arguments {
    struct tp_display_options display;
    struct tp_guest_options guest;
    const struct tp_compositor *compositor; /* NULL: the command is on the card itself */
    int64_t seconds;                        /* 0: until the command ends */
    enum tp_namespace_mode mode;
    const char *json;
    bool assert;  /* a tear is a failure */
    bool verbose; /* what the compositor says goes to standard error at once */
    char **command;
};

struct tp_play {
    const struct tp_play_arguments *a;
    char *folder; /* of this run: sockets, configuration, the shim's tree */
    char *shim;
    struct tp_namespace namespace; /* of who uses the card; its strings are owned below */
    char *tree, *mount;
    char *manifest; /* of our Vulkan driver; NULL: it is not there, and nobody asked for it */
    char *compositor_driver; /* the one below it, for the compositor; NULL: as for the command */
    uid_t uid;               /* of the compositor; 0: ours */
    gid_t gid;
    struct tp_display *display;
    struct tp_live *live; /* NULL: nobody wants figures */
    struct tp_cli_list strings; /* allocated ones of the environments */
    struct tp_compositor_place place;
    int log_fd; /* what the compositor says; -1: our standard error */
    bool compositor_failed;
    pid_t compositor, command; /* 0: not running */
    int compositor_how;        /* it ended, as waitpid says it */
    int status;                /* of the command, where it ended by itself */
    bool ending;
    int64_t until_ns;
};

/* What has to be there before the display is: its folder, the preload library, the drivers. */
int tp_play_prepare(struct tp_play *p, struct tp_error *e);
/* Frees what it made, and removes the folder. What was not made is fine. */
void tp_play_clear(struct tp_play *p);

/* On the display that is up. -errno, with what to do about it. */
int tp_play_start_compositor(struct tp_play *p, struct tp_error *e);
/* In the compositor that is ready, or on the card itself. */
int tp_play_start_command(struct tp_play *p, struct tp_error *e);

/* In the worker (tp_child_keep): the display, and what runs on it, from start to end. Returns the
 * exit status; what went wrong is told. */
int tp_play_run(struct tp_play *p);

#endif
