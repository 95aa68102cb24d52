/* How turnpike play starts a compositor and a command: their environments and arguments. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "cli/play.h"

/* --- environments --- */

static const char *keep(struct tp_play *p, char *s)
{
    tp_cli_list_add(&p->strings, s);
    return s;
}

/* For a program on the card. */
static void add_card(struct tp_play *p, struct tp_cli_list *env)
{
    const char *others = getenv("LD_PRELOAD");
    tp_cli_list_add(env, keep(p, tp_asprintf("TURNPIKE_SOCKET=%s", tp_display_socket(p->display))));
    tp_cli_list_add(env, keep(p, tp_asprintf("TURNPIKE_TREE=%s", p->tree)));
    tp_cli_list_add(env,
        keep(p,
            tp_asprintf(
                "LD_PRELOAD=%s%s%s", p->shim, others && *others ? ":" : "", others ? others : "")));
}

static void add_command(const struct tp_play *p, struct tp_cli_list *args)
{
    for (char **at = p->a->command; *at; at++)
        tp_cli_list_add(args, *at);
}

/* --- starting --- */

static int write_config(
    struct tp_play *p, const char *text, struct tp_cli_list *args, struct tp_error *e)
{
    char *path = tp_join(p->folder, "compositor.conf");
    int r = tp_write_file(path, text, strlen(text), 0644, e);
    tp_cli_list_add(args, keep(p, path));
    return r;
}

/* A user that is not play's has nothing in play's home. */
static void add_home(struct tp_play *p, struct tp_cli_list *env)
{
    static const char *const roots[] = {
        "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"};
    tp_cli_list_add(env, keep(p, tp_asprintf("HOME=%s", p->folder)));
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        tp_cli_list_add(env, roots[i]);
}

int tp_play_start_compositor(struct tp_play *p, struct tp_error *e)
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

int tp_play_start_command(struct tp_play *p, struct tp_error *e)
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
        tp_guest_add(&p->a->guest, p->manifest, tp_display_socket(p->display), &env, &p->strings);
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
