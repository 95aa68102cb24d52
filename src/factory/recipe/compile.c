#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "factory/recipe/internal.h"

static void on_ninja_line(void *data, const char *line)
{
    tp_ninja_line(data, line, tp_now_ns());
}

static int build_failed(const struct tp_build_request *req, const struct tp_ninja *ninja,
                        struct tp_error *e)
{
    char *what = tp_ninja_failure(ninja, 1800);
    char *todo = strstr(what, TP_NO_SPACE)
        ? tp_asprintf("free some space in %s; the whole output is in %s", req->build_dir,
                      req->log_path)
        : tp_asprintf("the whole output is in %s", req->log_path);
    int r = tp_fail(e, TP_STATUS_FAILED, -EIO, req->target->name, todo, "%s", what);
    free(what);
    free(todo);
    return r;
}

static int run_ninja(const struct tp_build_request *req, const struct tp_tools *tools,
                     unsigned *steps, struct tp_error *e)
{
    int log = tp_open_log(req, e);
    if (log < 0)
        return log;
    unsigned jobs = req->tools.jobs;
    if (!jobs) {
        long cpus = sysconf(_SC_NPROCESSORS_ONLN);
        jobs = cpus > 0 ? (unsigned)cpus : 1;
    }
    char *j = tp_asprintf("-j%u", jobs);
    char **env = tp_recipe_env(req, tools, false);
    struct tp_ninja ninja = {
        .on_progress = req->on_progress,
        .data = req->data,
        .start_ns = tp_now_ns(),
    };
    struct tp_buf own = {0};
    struct tp_cmd cmd = {
        .argv = (const char *const[]){"ninja", "-C", req->build_dir, j, TP_DRIVER_TARGET,
                                      req->target->has_shim ? TP_SHIM_TARGET : NULL, NULL},
        .env = (const char *const *)env,
        .log_fd = log,
        .err = &own,
        .on_line = on_ninja_line,
        .data = &ninja,
    };
    int r = tp_run(&cmd, e);
    if (r > 0) { /* a step's output comes on standard output, what ninja itself cannot do here */
        char *save = NULL;
        for (char *l = own.len ? strtok_r(own.data, "\n", &save) : NULL; l;
             l = strtok_r(NULL, "\n", &save))
            tp_ninja_line(&ninja, l, tp_now_ns());
        r = build_failed(req, &ninja, e);
    }
    tp_buf_finish(&own);
    *steps = ninja.done;
    tp_ninja_finish(&ninja);
    tp_env_free(env);
    free(j);
    close(log);
    return r;
}

static int strip(const struct tp_build_request *req, const char *program, const char *path,
                 struct tp_error *e)
{
    struct tp_buf said = {0};
    struct tp_cmd cmd = {
        .argv = (const char *const[]){program, "--strip-all", path, NULL},
        .env = (const char *const[]){"LC_ALL=C", NULL},
        .out = &said,
        .err = &said,
        .log_fd = -1,
    };
    int r = tp_run(&cmd, e);
    if (r > 0 && strstr(tp_buf_str(&said), TP_NO_SPACE)) {
        r = tp_fail_errno(e, ENOSPC, req->build_dir, "%s cannot write the stripped driver there",
                          program);
    } else if (r > 0) {
        char *todo = tp_asprintf("see whether %s is the strip of this target's compiler; the driver "
                                 "before it is %s/%s", program, req->build_dir, TP_DRIVER_TARGET);
        r = tp_fail(e, TP_STATUS_FAILED, -EIO, program, todo, "cannot strip the driver: %.500s",
                    said.len ? said.data : "no reason given");
        free(todo);
    }
    tp_buf_finish(&said);
    return r;
}

/* Worked on under another name, so that out_path is whole or absent. */
static int stage(const struct tp_build_request *req, const struct tp_tools *tools,
                 const char *out_path, struct tp_error *e)
{
    char *built = tp_join(req->build_dir, TP_DRIVER_TARGET);
    char *part = tp_recipe_file(req, "driver.part");
    int r = tp_mkdirs_for(out_path, e);
    if (!r)
        r = tp_copy_file(built, part, e);
    if (!r)
        r = tp_drop_runpath(part, e);
    if (!r)
        r = strip(req, tools->strip, part, e);
    if (!r)
        r = tp_copy_file(part, out_path, e);
    unlink(part);
    free(part);
    free(built);
    return r;
}

int tp_recipe_compile(const struct tp_build_request *req, const char *out_path,
                      struct tp_build_result *result, struct tp_error *e)
{
    int64_t start = tp_now_ns();
    struct tp_tools tools;
    struct tp_build_result done = {0};
    int r = tp_tools_find(req, false, &tools, e);
    if (r)
        return r;
    r = run_ninja(req, &tools, &done.steps, e);
    if (!r)
        r = stage(req, &tools, out_path, e);
    done.seconds = (double)(tp_now_ns() - start) / 1e9;
    if (result)
        *result = done;
    tp_tools_finish(&tools);
    return r;
}
