/* What turnpike play does while it runs: it serves the display until somebody ends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "cli/play.h"
#include "cli/play_report.h"

#define SECOND INT64_C(1000000000)
#define LOOK_NS (SECOND / 50)   /* how often it is asked whether a compositor is there */
#define APPEAR_NS (30 * SECOND) /* how long it may take to come */
#define END_NS (3 * SECOND)     /* to end when it was asked to, before it is killed */
#define AGAIN_NS (SECOND / 10)  /* a compositor that just starts may have missed it */

/* Notes who has ended. */
static void reap(struct tp_play *p)
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
static int serve(struct tp_play *p, int64_t until_ns, struct tp_error *e)
{
    int r = tp_display_wait(p->display, until_ns < p->until_ns ? until_ns : p->until_ns, e);
    reap(p);
    return r < 0 ? r : 0;
}

static bool over(const struct tp_play *p)
{
    return tp_interrupted() || tp_display_closed(p->display) || tp_now_ns() >= p->until_ns;
}

/* The compositor has failed: what it said is shown. */
static int fail_compositor(struct tp_play *p, int err, const char *what, struct tp_error *e)
{
    p->compositor_failed = true;
    return tp_fail(
        e, TP_STATUS_FAILED, err, p->a->compositor->name, "see above what it said", "%s", what);
}

/* It has gone before its time. */
static int lose_compositor(struct tp_play *p, const char *when, struct tp_error *e)
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

/* A process that dies lets go of its clients before its parent hears of it. proc(5), stat: the
 * flags have PF_EXITING, or SIGKILL is pending. */
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
static int judge_compositor(struct tp_play *p, struct tp_error *e)
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

static int await_compositor(struct tp_play *p, struct tp_error *e)
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

static void end_command(struct tp_play *p)
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
static void end_compositor(struct tp_play *p)
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

static int run_all(struct tp_play *p, struct tp_error *e)
{
    int r = 0;
    p->until_ns = p->a->seconds ? tp_now_ns() + p->a->seconds * SECOND : INT64_MAX;
    if (p->a->compositor)
        r = tp_play_start_compositor(p, e);
    if (r == 0 && p->a->compositor)
        r = await_compositor(p, e);
    if (r == 0 && !over(p))
        r = tp_play_start_command(p, e);
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

static int listen_to_frames(struct tp_play *p, struct tp_error *e)
{
    const struct tp_live_options o = {.command = "play",
        .capture = p->a->display.capture,
        .watched = p->a->display.watch != TP_WATCH_OFF};
    if (!o.capture && !p->a->json)
        return 0;
    return tp_live_create(tp_display_server(p->display), &o, &p->live, e);
}

int tp_play_run(struct tp_play *p)
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
        r = listen_to_frames(p, &e);
        if (r == 0)
            r = run_all(p, &e);
        if (p->live)
            tp_live_stop(p->live);
        /* The last picture is the one of before anybody was asked to end. */
        if (r == 0)
            r = tp_display_picture(p->display, &e);
        if (r == 0 && p->a->json)
            r = tp_play_report(p->display, p->live, p->a->json, &e);
        if (r == 0 && p->a->assert)
            r = tp_play_judge(p->display, &e);
        int whole = tp_live_finish(p->live, &e);
        r = r < 0 ? r : whole;
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