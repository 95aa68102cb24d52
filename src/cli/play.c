/* turnpike play: a display, a compositor on it and a program in that, started and ended together.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/play.h"

#define TP_DISPLAY_SOCKET "play's own folder"

/* As in enum tp_namespace_mode. */
static const char *const MODES[] = {"auto", "yes", "no"};

static int parse_one(int c, struct tp_play_arguments *a)
{
    const struct tp_command *cmd = &tp_command_play;
    char names[128], *end;
    int r = tp_display_option(cmd, c, optarg, &a->display);
    if (r < 0)
        r = tp_guest_option(cmd, c, optarg, &a->guest);
    if (r >= 0)
        return r;
    switch (c) {
    case 'C':
        a->compositor = tp_compositor_find(optarg);
        if (a->compositor || !strcmp(optarg, "none"))
            return 0;
        tp_compositor_names(names, sizeof names);
        return tp_cli_usage(
            cmd, "there is no recipe for the compositor '%s'; there are: %s", optarg, names);
    case 's':
        a->seconds = strtol(optarg, &end, 10);
        if (*end || a->seconds < 1 || a->seconds > 1000000)
            return tp_cli_usage(cmd, "--seconds is a whole number from 1 to 1000000");
        return 0;
    case 'N':
        for (int i = 0; i < 3; i++)
            if (!strcmp(optarg, MODES[i])) {
                a->mode = (enum tp_namespace_mode)i;
                return 0;
            }
        return tp_cli_usage(cmd, "--namespace is auto, yes or no");
    case 'j':
        a->json = optarg;
        return 0;
    case 'A':
        a->assert = true;
        return 0;
    case 'v':
        a->verbose = true;
        return 0;
    default:
        return TP_STATUS_INPUT;
    }
}

static int parse(int argc, char **argv, struct tp_play_arguments *a)
{
    const struct tp_command *cmd = &tp_command_play;
    tp_display_defaults(&a->display);
    for (int c; (c = tp_cli_option(cmd, argc, argv)) != -1;)
        if (parse_one(c, a))
            return TP_STATUS_INPUT;
    if (a->assert && a->display.watch == TP_WATCH_OFF)
        return tp_cli_usage(cmd, "--assert needs a screen that watches for tears, not --watch off");
    if (optind == argc)
        return tp_cli_usage(cmd, "say behind -- which program to run");
    a->command = argv + optind;
    if (!**a->command)
        return tp_cli_usage(cmd, "the program's name behind -- is empty");
    return 0;
}
/* --- the command --- */

static int run(int argc, char **argv)
{
    struct tp_play_arguments a = {0};
    struct tp_play p = {.a = &a, .log_fd = -1};
    struct tp_error e = {0};
    int status = parse(argc, argv, &a);
    if (status)
        return status;
    if (a.compositor && !tp_compositor_program(a.compositor)) {
        char todo[64];
        snprintf(todo, sizeof todo, "apt-get install %s", a.compositor->package);
        tp_fail(&e, TP_STATUS_MISSING, -ENOENT, a.compositor->name, todo, "is not installed here");
        return tp_cli_fail(&tp_command_play, &e);
    }
    if (a.compositor)
        a.compositor = tp_compositor_for_installed(a.compositor);
    if (a.compositor && a.compositor->only_as_root && geteuid() != 0) {
        tp_fail(&e, TP_STATUS_MISSING, -EPERM, a.compositor->name,
            "run turnpike play as root, or use --compositor sway or cage",
            "this version needs root for its console");
        return tp_cli_fail(&tp_command_play, &e);
    }
    int r = a.json && strcmp(a.json, "-") != 0 ? tp_display_try_write(a.json, &e) : 0;
    if (r == 0)
        r = tp_play_prepare(&p, &e);
    if (r == 0) {
        r = tp_child_keep(p.folder, &status, &e);
        if (r == 0)
            status = tp_play_run(&p);
    }
    if (r < 0)
        status = tp_cli_fail(&tp_command_play, &e);
    tp_play_clear(&p);
    tp_guest_finish(&a.guest);
    return status;
}

static const struct option options[] = {
    TP_DISPLAY_OPTIONS,
    TP_GUEST_OPTIONS,
    {"compositor", required_argument, NULL, 'C'},
    {"seconds", required_argument, NULL, 's'},
    {"namespace", required_argument, NULL, 'N'},
    {"json", required_argument, NULL, 'j'},
    {"assert", no_argument, NULL, 'A'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

const struct tp_command tp_command_play = {
    .name = "play",
    .summary = "run a compositor and a program on a simulated screen",
    .help =
        "usage: turnpike play [OPTIONS] -- COMMAND [ARGUMENT…]\n\n"
        "Starts a display, a compositor on it and the program in that; ends all of them together.\n"
        "The program runs as who called. Root starts compositors that refuse root as user 1000, "
        "or\n"
        "as who called sudo.\n\n"
        "  --compositor NAME   none (the program uses the card itself), weston, sway, cage, "
        "gamescope\n"
        "  --namespace MODE    the card in a mount namespace, besides the preload library: auto "
        "(for\n"
        "                      root; default), yes (others: in a user namespace), no\n"
        "  --seconds N         end all after so long, with status 0\n"
        "  --json FILE         frames, rate and tears as JSON; - for standard output\n"
        "  --assert            status 1 when a picture tore\n"
        "  --verbose           what the compositor says, at once; else only when it "
        "failed\n" TP_GUEST_HELP TP_DISPLAY_HELP
        "\nExit status: the program's; 1 the compositor or the display failed, 2 wrong usage, 3\n"
        "something is missing on this machine, or the program could not be started.\n",
    .options = options,
    .run = run,
};
