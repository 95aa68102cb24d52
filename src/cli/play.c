/* turnpike play: a display, a compositor on it and a program in that, started and ended together.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "cli/children.h"
#include "cli/compositor.h"
#include "cli/display.h"
#include "cli/namespace.h"
#include "cli/paths.h"

#define SECOND INT64_C(1000000000)
#define LOOK_NS (SECOND / 50)   /* how often it is asked whether a compositor is there */
#define APPEAR_NS (30 * SECOND) /* how long it may take to come */
#define END_NS (3 * SECOND)     /* to end when it was asked to, before it is killed */
#define SHIM "libturnpike-drm.so"
#define USER_ID 1000u /* for compositors that refuse root, where sudo names nobody */

struct arguments {
    struct tp_display_options display;
    const struct tp_compositor *compositor; /* NULL: the command is on the card itself */
    int64_t seconds;                        /* 0: until the command ends */
    enum tp_namespace_mode mode;
    const char *json;
    char **command;
};

struct play {
    const struct arguments *a;
    char *folder; /* of this run: sockets, configuration, the shim's tree */
    char *shim;
    struct tp_namespace namespace; /* of who uses the card; its strings are owned below */
    char *tree, *mount;
    uid_t uid; /* of the compositor; 0: ours */
    gid_t gid;
    struct tp_display *display;
    struct tp_cli_list strings; /* allocated ones of the environments */
    char wayland[32];           /* the compositor's socket in the folder */
    pid_t compositor, command;  /* 0: not running */
    int status;                 /* of the command, where it ended by itself */
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
            return tp_cli_usage(cmd, "--seconds is a whole number from 1 on");
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
    if (optind == argc)
        return tp_cli_usage(cmd, "say behind -- which program to run");
    a->command = argv + optind;
    return 0;
}

/* --- what has to be there --- */

/* Where the preload library is: beside the program in the build folder, or where it is installed.
 */
static char *find_shim(struct tp_error *e)
{
    static const char *const places[] = {
        "src/frames/shim/" SHIM, "../" TP_LIBDIR "/turnpike/" SHIM, "../lib/turnpike/" SHIM};
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    char *slash = n > 0 ? (exe[n] = 0, strrchr(exe, '/')) : NULL;
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        *slash = 0;
        char *path = tp_join(exe, places[i]);
        if (tp_is_file(path))
            return path;
        free(path);
    }
    tp_fail(e, TP_STATUS_MISSING, -ENOENT, SHIM, "build it: ninja " SHIM " in the build folder",
        "is not beside this program");
    return NULL;
}

static const char *temp_place(void)
{
    const char *const places[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    for (size_t i = 0; i < 3; i++)
        if (places[i] && *places[i] && tp_is_dir(places[i]))
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
    p->namespace = (struct tp_namespace){p->a->mode, p->tree, p->mount};
    if (p->a->mode != TP_NAMESPACE_NO && tp_namespace_prepare(&p->namespace, e) < 0)
        return e->err;
    char *shim = find_shim(e);
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

/* For a program in the compositor: without what is the card's. */
static void add_inside(struct play *p, struct tp_cli_list *env)
{
    const char *others = getenv("LD_PRELOAD");
    tp_cli_list_add(env, "TURNPIKE_TREE");
    tp_cli_list_add(env, "TURNPIKE_TTY");
    tp_cli_list_add(env, others ? keep(p, tp_asprintf("LD_PRELOAD=%s", others)) : "LD_PRELOAD");
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

static int start_compositor(struct play *p, struct tp_error *e)
{
    const struct tp_compositor *c = p->a->compositor;
    struct tp_cli_list args = {0}, env = {0}, inside = {0};
    int r = 0;
    tp_cli_list_add(&args, c->name);
    for (size_t i = 0; c->args[i]; i++)
        tp_cli_list_add(&args, c->args[i]);
    if (c->config)
        r = write_config(p, c->config, &args, e);
    if (c->runs_command) {
        tp_cli_list_add(&args, "env");
        add_inside(p, &inside);
        for (int i = 0; i < inside.n; i++) {
            if (!strchr(inside.at[i], '='))
                tp_cli_list_add(&args, "-u");
            tp_cli_list_add(&args, inside.at[i]);
        }
        add_command(p, &args);
    }
    add_card(p, &env);
    for (size_t i = 0; c->env[i]; i++)
        tp_cli_list_add(&env, c->env[i]);
    tp_cli_list_add(&env, keep(p, tp_asprintf("XDG_RUNTIME_DIR=%s", p->folder)));
    tp_cli_list_add(&env, "WAYLAND_DISPLAY");
    tp_cli_list_add(&env, "DISPLAY");
    const struct tp_child child = {
        .argv = args.at,
        .env = env.at,
        .uid = p->uid,
        .gid = p->gid,
        .apart = true,
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
    tp_cli_list_finish(&inside);
    return r < 0 ? r : 0;
}

static int start_command(struct play *p, struct tp_error *e)
{
    struct tp_cli_list args = {0}, env = {0};
    add_command(p, &args);
    if (p->a->compositor) {
        tp_cli_list_add(&env, "DISPLAY");
        tp_cli_list_add(&env, keep(p, tp_asprintf("XDG_RUNTIME_DIR=%s", p->folder)));
        tp_cli_list_add(&env, keep(p, tp_asprintf("WAYLAND_DISPLAY=%s", p->wayland)));
    } else {
        add_card(p, &env);
    }
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
        bool tells = pid == p->command;
        if (pid == p->compositor) {
            p->compositor = 0;
            tells = p->a->compositor->runs_command;
        }
        if (pid == p->command)
            p->command = 0;
        if (tells && !p->ending)
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
    return tp_interrupted() || tp_now_ns() >= p->until_ns;
}

/* Is there a Wayland socket in the folder that somebody listens at? */
static bool find_wayland(struct play *p)
{
    for (int i = 0; i < 3; i++) {
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        snprintf(p->wayland, sizeof p->wayland, "wayland-%d", i);
        if ((size_t)snprintf(a.sun_path, sizeof a.sun_path, "%s/%s", p->folder, p->wayland) >=
            sizeof a.sun_path)
            return false;
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        bool there = fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a) == 0;
        if (fd >= 0)
            close(fd);
        if (there)
            return true;
    }
    return false;
}

static int await_compositor(struct play *p, struct tp_error *e)
{
    const char *name = p->a->compositor->name;
    int64_t limit = tp_now_ns() + APPEAR_NS;
    while (!over(p)) {
        if (p->compositor == 0)
            return tp_fail(e, TP_STATUS_FAILED, -ECHILD, name, "see above what it said",
                "ended before it was ready");
        if (find_wayland(p))
            return 0;
        if (tp_now_ns() > limit)
            return tp_fail(e, TP_STATUS_FAILED, -ETIMEDOUT, name, "see above what it said",
                "was not ready within %d seconds", (int)(APPEAR_NS / SECOND));
        int r = serve(p, tp_now_ns() + LOOK_NS, e);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Asks it to end, and kills it when it does not; the display goes on meanwhile. */
static void end(struct play *p, const pid_t *pid, bool group)
{
    static const int signals[] = {SIGTERM, SIGKILL};
    struct tp_error e = {0};
    p->until_ns = INT64_MAX;
    p->ending = true;
    for (size_t i = 0; i < 2 && *pid > 0; i++) {
        int64_t limit = tp_now_ns() + END_NS;
        kill(group && signals[i] == SIGKILL ? -*pid : *pid, signals[i]);
        while (*pid > 0 && tp_now_ns() < limit && serve(p, limit, &e) == 0)
            ;
    }
}

static int run_all(struct play *p, struct tp_error *e)
{
    int r = 0;
    p->until_ns = p->a->seconds ? tp_now_ns() + p->a->seconds * SECOND : INT64_MAX;
    if (p->a->compositor)
        r = start_compositor(p, e);
    bool beside = !p->a->compositor || !p->a->compositor->runs_command;
    if (r == 0 && p->a->compositor && beside)
        r = await_compositor(p, e);
    if (r == 0 && beside && !over(p))
        r = start_command(p, e);
    while (r == 0 && !over(p) && (beside ? p->command > 0 : p->compositor > 0)) {
        if (beside && p->a->compositor && p->compositor == 0)
            r = tp_fail(e, TP_STATUS_FAILED, -ECHILD, p->a->compositor->name,
                "see above what it said", "ended before the program in it");
        else
            r = serve(p, INT64_MAX, e);
    }
    return r;
}

/* How many pictures stayed for how many refreshes, where there are such. */
static json_t *cadence(const struct tp_server_shown *s)
{
    json_t *j = json_object();
    for (int i = 1; i <= TP_SHOWN_CADENCE; i++) {
        char name[8];
        snprintf(name, sizeof name, "%d", i);
        if (s->cadence[i] > 0)
            json_object_set_new(j, name, json_integer((json_int_t)s->cadence[i]));
    }
    return j;
}

/* What only the guest, or who made the pictures, can tell. */
static void add_unknown(json_t *j)
{
    static const char *const names[] = {"tears", "async_tears", "unsafe", "gate_late", "on_vblank",
        "latency_ms", "acquire_wait_ms", "gate_to_start_ms", "release_waits", "release_timeouts",
        "slot_waits", "notes"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        json_object_set_new(j, names[i], json_null());
}

static int write_report(struct play *p, struct tp_error *e)
{
    struct tp_server_shown s;
    tp_server_shown(tp_display_server(p->display), 0, &s);
    double seconds = (double)(s.last_ns - s.first_ns) / 1e9;
    double fps = s.frames > 1 ? (double)(s.frames - 1) / seconds : 0;
    if (!p->a->json)
        return 0;
    json_t *j = json_pack(
        "{s:s, s:i, s:I, s:f, s:f, s:I, s:I, s:f, s:{s:f, s:f, s:f, s:f, s:f}, s:o, s:{}}",
        "turnpike", TP_VERSION, "schema", 1, "frames", (json_int_t)s.frames, "seconds", seconds,
        "fps", fps, "repeats", (json_int_t)s.repeats, "drops", (json_int_t)s.drops, "spacing_tail",
        s.spacing_tail, "interval_ms", "mean", s.mean_ns / 1e6, "stddev", s.stddev_ns / 1e6, "p50",
        (double)s.p50_ns / 1e6, "p99", (double)s.p99_ns / 1e6, "max", (double)s.max_ns / 1e6,
        "cadence", cadence(&s), "faults");
    add_unknown(j);
    int r = tp_cli_write_json(j, p->a->json, e);
    json_decref(j);
    return r;
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
        if (r == 0)
            r = write_report(p, &e);
        end(p, &p->command, false);
        end(p, &p->compositor, true);
        tp_children_kill();
        tp_display_finish(p->display);
    }
    free(socket);
    for (int i = 0; i < p->strings.n; i++)
        free((char *)(uintptr_t)p->strings.at[i]);
    tp_cli_list_finish(&p->strings);
    return r < 0 ? tp_cli_fail(&tp_command_play, &e) : p->status;
}

static int run(int argc, char **argv)
{
    struct arguments a = {0};
    struct play p = {.a = &a};
    struct tp_error e = {0};
    int status = parse(argc, argv, &a);
    if (status)
        return status;
    if (a.compositor && !tp_have_program(a.compositor->name)) {
        char todo[64];
        snprintf(todo, sizeof todo, "apt-get install %s", a.compositor->package);
        tp_fail(&e, TP_STATUS_MISSING, -ENOENT, a.compositor->name, todo, "is not installed here");
        return tp_cli_fail(&tp_command_play, &e);
    }
    if (a.compositor)
        a.compositor = tp_compositor_for_installed(a.compositor);
    choose_user(&p);
    int r = make_folder(&p, &e);
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
    return status;
}

static const struct option options[] = {
    TP_DISPLAY_OPTIONS,
    {"compositor", required_argument, NULL, 'C'},
    {"seconds", required_argument, NULL, 's'},
    {"namespace", required_argument, NULL, 'N'},
    {"json", required_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

const struct tp_command tp_command_play = {
    .name = "play",
    .summary = "run a compositor and a program on a simulated screen",
    .help =
        "usage: turnpike play [OPTIONS] -- COMMAND [ARGUMENT…]\n\n"
        "Starts a display, a compositor on it and the program in that; ends all of them together. "
        "Root\n"
        "starts compositors that refuse root as user 1000, or as who called sudo.\n\n"
        "  --compositor NAME   none (the program uses the card itself), weston, sway, cage, "
        "gamescope\n"
        "  --namespace MODE    the card in a mount namespace, besides the preload library: auto (for\n"
        "                      root; default), yes (others: in a user namespace), no\n"
        "  --seconds N         end all after so long, with status 0\n"
        "  --json FILE         frames and rate as JSON; - for standard output\n" TP_DISPLAY_HELP
        "\nExit status: the program's; 1 it failed, 2 wrong usage, 3 something is missing on this\n"
        "machine.\n",
    .options = options,
    .run = run,
};
