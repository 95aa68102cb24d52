/* turnpike play: a display, a compositor on it and a program in that, started and ended together.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/parts.h"
#include "base/proc.h"
#include "cli/children.h"
#include "cli/compositor.h"
#include "cli/demand.h"
#include "cli/display.h"
#include "cli/guest.h"
#include "cli/namespace.h"
#include "cli/play_report.h"

#define TP_DISPLAY_SOCKET "play's own folder"

#define SECOND INT64_C(1000000000)
#define LOOK_NS (SECOND / 50)   /* how often it is asked whether a compositor is there */
#define APPEAR_NS (30 * SECOND) /* how long it may take to come */
#define SHIM "libturnpike-drm.so" /* the preload library */
#define END_NS (3 * SECOND)     /* to end when it was asked to, before it is killed */
#define AGAIN_NS (SECOND / 10)  /* a compositor that just starts may have missed it */
#define USER_ID 1000u           /* for compositors that refuse root, where sudo names nobody */

struct arguments {
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

struct play {
    const struct arguments *a;
    char *folder; /* of this run: sockets, configuration, the shim's tree */
    char *shim;
    struct tp_namespace namespace; /* of who uses the card; its strings are owned below */
    char *tree, *mount;
    char *manifest; /* of our Vulkan driver; NULL: it is not there, and nobody asked for it */
    char *compositor_driver; /* the one below it, for the compositor; NULL: as for the command */
    uid_t uid; /* of the compositor; 0: ours */
    gid_t gid;
    struct tp_display *display;
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

/* --- arguments --- */

/* As in enum tp_namespace_mode. */
static const char *const MODES[] = {"auto", "yes", "no"};

static int parse_one(int c, struct arguments *a)
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

static int parse(int argc, char **argv, struct arguments *a)
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

/* --- what has to be there --- */

/* A socket's path has 107 bytes at the most; the longest below a place is of sway's own. */
#define BELOW "/.tp-4194304-XXXXXX/sway-ipc.4294967295.4194304.sock"

static const char *temp_place(void)
{
    const char *const places[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    for (size_t i = 0; i < 3; i++)
        if (places[i] && *places[i] && strlen(places[i]) + sizeof BELOW <= 108 &&
            tp_is_dir(places[i]) && access(places[i], W_OK | X_OK) == 0)
            return places[i];
    return "/tmp";
}

/* Whom the compositor runs as. Its library and its folder are its own to read then; /tmp is where
 * it can get at. */
static void choose_user(struct play *p)
{
    const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
    if (!p->a->compositor || !p->a->compositor->never_as_root || geteuid() != 0)
        return;
    p->uid = uid ? (uid_t)strtoul(uid, NULL, 10) : USER_ID;
    p->gid = gid ? (gid_t)strtoul(gid, NULL, 10) : USER_ID;
    if (p->uid == 0)
        p->uid = p->gid = USER_ID;
}

static bool wants_render_node(const struct arguments *a)
{
    const char *asked = getenv("TURNPIKE_RENDER_NODE");
    return (a->compositor && a->compositor->vulkan) || (asked && !strcmp(asked, "1"));
}

/* Our Vulkan driver is for who can do without as well. */
static int find_vulkan(struct play *p, struct tp_error *e)
{
    struct tp_error unsaid = {0};
    bool must = tp_guest_asked(&p->a->guest) || (p->a->compositor && p->a->compositor->vulkan);
    int r = tp_guest_prepare(p->folder, &p->manifest, must ? e : &unsaid);
    return must ? r : 0;
}

static int make_folder(struct play *p, struct tp_error *e)
{
    const char *place = p->uid ? "/tmp" : temp_place();
    tp_sweep_temp(place);
    p->folder = tp_temp_dir(place, e);
    if (!p->folder)
        return e->err;
    if (p->uid && chown(p->folder, p->uid, p->gid) < 0)
        return tp_fail_errno(e, errno, p->folder, "cannot be given to user %u", (unsigned)p->uid);
    p->tree = tp_join(p->folder, "tree");
    p->mount = tp_join(p->folder, "sys");
    p->namespace = (struct tp_namespace){p->a->mode, p->tree, p->mount, wants_render_node(p->a)};
    if (p->a->mode != TP_NAMESPACE_NO && tp_namespace_prepare(&p->namespace, e) < 0)
        return e->err;
    if (find_vulkan(p, e) < 0)
        return e->err;
    char *shim = tp_part_path("src/frames/shim/" SHIM, e);
    if (!shim || !p->uid) {
        p->shim = shim;
        return shim ? 0 : e->err;
    }
    p->shim = tp_join(p->folder, SHIM);
    int r = tp_copy_file(shim, p->shim, e);
    if (r == 0 && chmod(p->shim, 0755) < 0)
        r = tp_fail_errno(e, errno, p->shim, "cannot be made readable");
    free(shim);
    return r;
}

/* Who renders for a compositor that demands more of a driver than most programs do. */
static int choose_driver(struct play *p, struct tp_error *e)
{
    const struct tp_compositor *c = p->a->compositor;
    if (!c || !c->vulkan)
        return 0;
    char *server = tp_join(p->folder, "drm");
    int r = tp_demand_driver(c->name, &p->a->guest, p->manifest, server, &p->compositor_driver, e);
    free(server);
    return r;
}

/* --- environments --- */

static const char *keep(struct play *p, char *s)
{
    tp_cli_list_add(&p->strings, s);
    return s;
}

/* For a program on the card. */
static void add_card(struct play *p, struct tp_cli_list *env)
{
    const char *others = getenv("LD_PRELOAD");
    tp_cli_list_add(env, keep(p, tp_asprintf("TURNPIKE_SOCKET=%s", tp_display_socket(p->display))));
    tp_cli_list_add(env, keep(p, tp_asprintf("TURNPIKE_TREE=%s", p->tree)));
    tp_cli_list_add(env,
        keep(p,
            tp_asprintf(
                "LD_PRELOAD=%s%s%s", p->shim, others && *others ? ":" : "", others ? others : "")));
}

static void add_command(const struct play *p, struct tp_cli_list *args)
{
    for (char **at = p->a->command; *at; at++)
        tp_cli_list_add(args, *at);
}

/* --- starting --- */

static int write_config(
    struct play *p, const char *text, struct tp_cli_list *args, struct tp_error *e)
{
    char *path = tp_join(p->folder, "compositor.conf");
    int r = tp_write_file(path, text, strlen(text), 0644, e);
    tp_cli_list_add(args, keep(p, path));
    return r;
}

/* A user that is not play's has nothing in play's home. */
static void add_home(struct play *p, struct tp_cli_list *env)
{
    static const char *const roots[] = {
        "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"};
    tp_cli_list_add(env, keep(p, tp_asprintf("HOME=%s", p->folder)));
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        tp_cli_list_add(env, roots[i]);
}

static int start_compositor(struct play *p, struct tp_error *e)
{
    const struct tp_compositor *c = p->a->compositor;
    struct tp_cli_list args = {0}, env = {0};
    int r = 0;
    if (!p->a->verbose)
        r = p->log_fd = tp_compositor_open_log(p->folder, e);
    r = r < 0 ? r : 0;
    const char *program = tp_compositor_program(c);
    tp_cli_list_add(&args, program ? program : c->name);
    for (size_t i = 0; c->args[i]; i++)
        tp_cli_list_add(&args, c->args[i]);
    if (r == 0 && c->config)
        r = write_config(p, c->config, &args, e);
    for (size_t i = 0; c->runs_command && TP_COMPOSITOR_PLACEHOLDER[i]; i++)
        tp_cli_list_add(&args, TP_COMPOSITOR_PLACEHOLDER[i]);
    add_card(p, &env);
    for (size_t i = 0; c->env[i]; i++)
        tp_cli_list_add(&env, c->env[i]);
    if (c->vulkan) {
        struct tp_guest_options of_compositor = p->a->guest;
        if (p->compositor_driver)
            of_compositor.driver = p->compositor_driver;
        tp_guest_add(&of_compositor, p->manifest, NULL, &env, &p->strings);
    }
    tp_cli_list_add(&env, keep(p, tp_asprintf("XDG_RUNTIME_DIR=%s", p->folder)));
    tp_cli_list_add(&env, "WAYLAND_DISPLAY");
    tp_cli_list_add(&env, "DISPLAY");
    if (p->uid)
        add_home(p, &env);
    const struct tp_child child = {
        .argv = args.at,
        .env = env.at,
        .uid = p->uid,
        .gid = p->gid,
        .apart = true,
        .quiet = p->log_fd >= 0,
        .log_fd = p->log_fd,
        .prepare = tp_namespace_enter,
        .data = &p->namespace,
        .signals = tp_display_signals(p->display),
    };
    if (r == 0)
        r = p->compositor = tp_child_start(&child, e);
    if (r == -ENOENT)
        snprintf(e->todo, sizeof e->todo, "apt-get install %s", c->package);
    else if (r < 0 && p->a->mode == TP_NAMESPACE_YES)
        snprintf(e->todo, sizeof e->todo, "without a namespace of its own: --namespace no");
    tp_cli_list_finish(&args);
    tp_cli_list_finish(&env);
    return r < 0 ? r : 0;
}

static int start_command(struct play *p, struct tp_error *e)
{
    struct tp_cli_list args = {0}, env = {0};
    add_command(p, &args);
    if (p->a->compositor) {
        static const char *const names[] = {
            "DISPLAY", "WAYLAND_DISPLAY", "GAMESCOPE_WAYLAND_DISPLAY"};
        const char *const values[] = {p->place.x11, p->place.wayland, p->place.gamescope};
        for (size_t i = 0; i < 3; i++)
            tp_cli_list_add(
                &env, *values[i] ? keep(p, tp_asprintf("%s=%s", names[i], values[i])) : names[i]);
        tp_cli_list_add(&env, keep(p, tp_asprintf("XDG_RUNTIME_DIR=%s", p->folder)));
    } else {
        add_card(p, &env);
    }
    if (p->manifest)
        tp_guest_add(
            &p->a->guest, p->manifest, tp_display_socket(p->display), &env, &p->strings);
    const struct tp_child child = {
        .argv = args.at,
        .env = env.at,
        .prepare = p->a->compositor ? NULL : tp_namespace_enter,
        .data = &p->namespace,
        .signals = tp_display_signals(p->display),
    };
    pid_t pid = tp_child_start(&child, e);
    if (pid > 0)
        p->command = pid;
    else if (pid == -ENOENT)
        snprintf(e->todo, sizeof e->todo, "give its path, or install it");
    else if (!p->a->compositor && p->a->mode == TP_NAMESPACE_YES)
        snprintf(e->todo, sizeof e->todo, "without a namespace of its own: --namespace no");
    tp_cli_list_finish(&args);
    tp_cli_list_finish(&env);
    return pid < 0 ? (int)pid : 0;
}

/* --- running --- */

/* Notes who has ended. */
static void reap(struct play *p)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == p->compositor) {
            p->compositor = 0;
            p->compositor_how = status;
        }
        if (pid != p->command)
            continue;
        p->command = 0;
        if (!p->ending)
            p->status = tp_child_status(status);
    }
}

/* Serves until then, or until something happened. */
static int serve(struct play *p, int64_t until_ns, struct tp_error *e)
{
    int r = tp_display_wait(p->display, until_ns < p->until_ns ? until_ns : p->until_ns, e);
    reap(p);
    return r < 0 ? r : 0;
}

static bool over(const struct play *p)
{
    return tp_interrupted() || tp_display_closed(p->display) || tp_now_ns() >= p->until_ns;
}

/* The compositor has failed: what it said is shown. */
static int fail_compositor(struct play *p, int err, const char *what, struct tp_error *e)
{
    p->compositor_failed = true;
    return tp_fail(
        e, TP_STATUS_FAILED, err, p->a->compositor->name, "see above what it said", "%s", what);
}

/* It has gone before its time. */
static int lose_compositor(struct play *p, const char *when, struct tp_error *e)
{
    int how = p->compositor_how;
    char what[128];
    if (WIFSIGNALED(how))
        snprintf(what, sizeof what, "was killed by signal %d (%s) %s", WTERMSIG(how),
            strsignal(WTERMSIG(how)), when);
    else
        snprintf(what, sizeof what, "ended with status %d %s", WEXITSTATUS(how), when);
    return fail_compositor(p, -ECHILD, what, e);
}

/* A process that dies lets go of its clients before its parent hears of it. proc(5), stat: the flags
 * have PF_EXITING, or SIGKILL is pending. */
static bool is_dying(pid_t pid)
{
    char path[32], line[1024];
    unsigned long flags = 0, pending = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    const char *name_end = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    char *at = name_end ? strchr(name_end + 2, ' ') : NULL; /* behind the third field */
    for (int field = 4; at && *at && field <= 31; field++) {
        unsigned long n = strtoul(at, &at, 10);
        flags = field == 9 ? n : flags;
        pending = field == 31 ? n : pending;
    }
    fclose(f);
    return (flags & 4) || (pending & 1ul << (SIGKILL - 1));
}

/* The command has ended by itself. Was it because the compositor failed? One that was asked to end,
 * and did with status 0, did not. */
static int judge_compositor(struct play *p, struct tp_error *e)
{
    int r = 0;
    if (!p->a->compositor || over(p))
        return 0;
    int64_t limit = tp_now_ns() + END_NS;
    while (r == 0 && p->compositor > 0 && is_dying(p->compositor) && tp_now_ns() < limit)
        r = serve(p, tp_now_ns() + LOOK_NS, e);
    if (r == 0 && p->compositor == 0 && p->compositor_how != 0)
        r = lose_compositor(p, "while the program in it ran", e);
    return r;
}

static int await_compositor(struct play *p, struct tp_error *e)
{
    int64_t limit = tp_now_ns() + APPEAR_NS;
    while (!over(p)) {
        if (p->compositor == 0)
            return lose_compositor(p, "before it was ready", e);
        if (tp_compositor_is_ready(p->a->compositor, p->folder, &p->place))
            return 0;
        if (tp_now_ns() > limit)
            return fail_compositor(p, -ETIMEDOUT, "was not ready within 30 seconds", e);
        int r = serve(p, tp_now_ns() + LOOK_NS, e);
        if (r < 0)
            return r;
    }
    return 0;
}

static void end_command(struct play *p)
{
    struct tp_error e = {0};
    p->until_ns = INT64_MAX;
    p->ending = true;
    if (p->command > 0)
        kill(p->command, SIGTERM);
    int64_t limit = tp_now_ns() + END_NS;
    while (p->command > 0 && tp_now_ns() < limit && serve(p, limit, &e) == 0)
        ;
    if (p->command > 0) /* reaped with the rest */
        kill(p->command, SIGKILL);
}

/* Asks it to end, again and again, and kills it and its group when it does not; the display goes on
 * meanwhile. */
static void end_compositor(struct play *p)
{
    struct tp_error e = {0};
    int64_t limit = tp_now_ns() + END_NS;
    p->until_ns = INT64_MAX;
    p->ending = true;
    while (p->compositor > 0 && tp_now_ns() < limit) {
        int64_t again = tp_now_ns() + AGAIN_NS;
        kill(p->compositor, SIGTERM);
        while (p->compositor > 0 && tp_now_ns() < again && serve(p, again, &e) == 0)
            ;
    }
    if (p->compositor > 0)
        kill(-p->compositor, SIGKILL);
}

static int run_all(struct play *p, struct tp_error *e)
{
    int r = 0;
    p->until_ns = p->a->seconds ? tp_now_ns() + p->a->seconds * SECOND : INT64_MAX;
    if (p->a->compositor)
        r = start_compositor(p, e);
    if (r == 0 && p->a->compositor)
        r = await_compositor(p, e);
    if (r == 0 && !over(p))
        r = start_command(p, e);
    if (r == 0)
        r = tp_display_keep(p->display, e);
    while (r == 0 && !over(p) && p->command > 0) {
        if (p->a->compositor && p->compositor == 0)
            r = lose_compositor(p, "before the program in it", e);
        else
            r = serve(p, INT64_MAX, e);
    }
    return r < 0 ? r : judge_compositor(p, e);
}

/* In the worker. */
static int play(struct play *p)
{
    struct tp_display_options o = p->a->display;
    struct tp_error e = {0};
    char *socket = o.socket ? NULL : tp_join(p->folder, "drm");
    if (socket)
        o.socket = socket;
    if (p->uid) {
        o.uids = &p->uid;
        o.n_uids = 1;
    }
    int r = tp_display_create(&o, &p->display, &e);
    if (r == 0) {
        r = run_all(p, &e);
        /* The last picture is the one of before anybody was asked to end. */
        if (r == 0)
            r = tp_display_picture(p->display, &e);
        if (r == 0 && p->a->json)
            r = tp_play_report(p->display, p->a->json, &e);
        if (r == 0 && p->a->assert)
            r = tp_play_judge(p->display, &e);
        end_command(p);
        end_compositor(p);
        tp_children_kill();
        tp_display_finish(p->display);
    }
    free(socket);
    for (int i = 0; i < p->strings.n; i++)
        free((char *)(uintptr_t)p->strings.at[i]);
    tp_cli_list_finish(&p->strings);
    if (p->compositor_failed)
        tp_compositor_show_log(p->log_fd);
    if (p->log_fd >= 0)
        close(p->log_fd);
    return r < 0 ? tp_cli_fail(&tp_command_play, &e) : p->status;
}

static int run(int argc, char **argv)
{
    struct arguments a = {0};
    struct play p = {.a = &a, .log_fd = -1};
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
    choose_user(&p);
    int r = a.json && strcmp(a.json, "-") != 0 ? tp_display_try_write(a.json, &e) : 0;
    if (r == 0)
        r = make_folder(&p, &e);
    if (r == 0)
        r = choose_driver(&p, &e);
    if (r == 0) {
        r = tp_child_keep(p.folder, &status, &e);
        if (r == 0)
            status = play(&p);
    }
    if (r < 0)
        status = tp_cli_fail(&tp_command_play, &e);
    if (p.folder) /* the keeper may have been killed, and the worker too */
        tp_remove_tree(p.folder, NULL);
    free(p.folder);
    free(p.tree);
    free(p.mount);
    free(p.shim);
    free(p.manifest);
    free(p.compositor_driver);
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
