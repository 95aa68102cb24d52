#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "host_android_compat_text.h"
#include "factory/recipe/internal.h"

char *tp_recipe_file(const struct tp_build_request *req, const char *name)
{
    char *dir = tp_join(req->build_dir, "turnpike");
    char *path = tp_join(dir, name);
    free(dir);
    return path;
}

int tp_open_log(const struct tp_build_request *req, struct tp_error *e)
{
    int r = tp_mkdirs_for(req->log_path, e);
    if (r)
        return r;
    int fd = open(req->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    return fd < 0 ? tp_fail_errno(e, errno, req->log_path, "cannot be written") : fd;
}

/* ---- meson's command ---- */

struct words {
    char **v;
    size_t n, cap;
};

static void words_finish(struct words *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->v[i]);
    free(w->v);
}

static void take(struct words *w, char *s)
{
    TP_PUSH(w->v, w->n, w->cap) = s;
}

/* The text of the tree's list of options, empty when it has none. */
static void read_option_list(const char *tree, struct tp_buf *out)
{
    static const char *const names[] = {"meson.options", "meson_options.txt"};
    struct tp_error ignored = {0};
    for (size_t i = 0; i < 2 && !out->len; i++) {
        char *path = tp_join(tree, names[i]);
        if (tp_read_file(path, (size_t)4 << 20, out, &ignored))
            tp_buf_clear(out);
        free(path);
    }
}

static void add_options(struct words *w, const char *const *options, const char *option_list)
{
    for (; *options; options++) {
        if (**options != '?') {
            take(w, tp_strdup(*options));
            continue;
        }
        const char *option = *options + 1;
        char *quoted = tp_asprintf("'%.*s'", (int)strcspn(option, "="), option);
        if (strstr(option_list, quoted))
            take(w, tp_asprintf("-D%s", option));
        free(quoted);
    }
}

static void meson_command(const struct tp_build_request *req, const char *tree, struct words *w)
{
    const struct tp_recipe *recipe = tp_recipe_of(req->target);
    struct tp_buf list = {0};
    read_option_list(tree, &list);
    take(w, tp_strdup("meson"));
    take(w, tp_strdup("setup"));
    take(w, tp_strdup(recipe->cross ? "--cross-file" : "--native-file"));
    take(w, tp_recipe_file(req, "machine.ini"));
    add_options(w, tp_common_options, tp_buf_str(&list));
    add_options(w, recipe->options, tp_buf_str(&list));
    take(w, tp_strdup(req->build_dir));
    take(w, tp_strdup(tree));
    take(w, NULL);
    w->n--;
    tp_buf_finish(&list);
}

/* ---- what meson says when it stops ---- */

struct reader {
    const struct tp_build_request *req;
    struct tp_buf error;
};

static void on_meson_line(void *data, const char *line)
{
    struct reader *r = data;
    const char *error = strstr(line, "ERROR: ");
    if (error && !r->error.len)
        tp_buf_adds(&r->error, line);
    if (r->req->on_progress && *line) {
        struct tp_progress p = {"configure", 0, 0, -1, line};
        r->req->on_progress(r->req->data, &p);
    }
}

/* Meson's name for a part, and Debian's for the package that has it. */
static const struct {
    const char *part, *package;
} packages[] = {
    {"mako", "python3-mako"},       {"yaml", "python3-yaml"},
    {"packaging", "python3-packaging"}, {"glslangValidator", "glslang-tools"},
    {"bison", "bison"},             {"flex", "flex"},
    {"wayland-scanner", "libwayland-dev"}, {"zlib", "zlib1g-dev"},
    {"libzstd", "libzstd-dev"},     {"expat", "libexpat1-dev"},
    {"libdrm", "libdrm-dev"},       {"pkg-config", "pkg-config"},
};

static int meson_failed(const struct tp_build_request *req, const char *said, struct tp_error *e)
{
    const char *error = strstr(said, "ERROR: ");
    error = error ? error + 7 : *said ? said : "it gave no reason";
    if (strstr(error, "Meson version is"))
        return tp_fail(e, TP_STATUS_MISSING, -ENOENT, "meson",
                       "run ./setup, which takes it from the release's backports", "%s", error);
    bool lacks = strstr(error, "not found") || strstr(error, "required to build") ||
                 strstr(error, "Invalid version");
    for (size_t i = 0; lacks && i < sizeof packages / sizeof *packages; i++) {
        if (!strstr(error, packages[i].part))
            continue;
        char *todo = tp_asprintf("run ./setup, or: apt-get install %s", packages[i].package);
        int r = tp_fail(e, TP_STATUS_MISSING, -ENOENT, packages[i].part, todo, "%s", error);
        free(todo);
        return r;
    }
    char *todo = tp_asprintf("see %s, and meson-logs/meson-log.txt in %s", req->log_path,
                             req->build_dir);
    int r = tp_fail(e, TP_STATUS_FAILED, -EIO, "meson setup", todo, "%s", error);
    free(todo);
    return r;
}

/* ---- the build directory ---- */

/* All that a configuration depends on: equal text, equal build.ninja. Caller frees. */
static char *stamp_text(const struct words *command, const char *machine, char *const *env)
{
    struct tp_buf b = {0};
    tp_buf_addf(&b, "turnpike recipe 1, %s\n", TP_VERSION);
    for (size_t i = 0; i < command->n; i++)
        tp_buf_addf(&b, "%s\n", command->v[i]);
    for (size_t i = 0; env[i]; i++) {
        if (strchr(env[i], '='))
            tp_buf_addf(&b, "%s\n", env[i]);
    }
    tp_buf_adds(&b, machine);
    return tp_buf_take(&b);
}

static bool is_configured(const struct tp_build_request *req, const char *stamp)
{
    char *stamp_path = tp_recipe_file(req, "recipe.txt");
    char *ninja = tp_join(req->build_dir, "build.ninja");
    struct tp_buf old = {0};
    struct tp_error ignored = {0};
    bool same = tp_is_file(ninja) && !tp_read_file(stamp_path, (size_t)1 << 20, &old, &ignored) &&
                !strcmp(tp_buf_str(&old), stamp);
    tp_buf_finish(&old);
    free(ninja);
    free(stamp_path);
    return same;
}

/* Only a folder that a recipe made may be emptied. */
static int empty_build_dir(const struct tp_build_request *req, struct tp_error *e)
{
    char *own = tp_recipe_file(req, "");
    bool ours = tp_is_dir(own);
    free(own);
    if (ours) {
        int r = tp_remove_tree(req->build_dir, e);
        if (r)
            return r;
    } else if (tp_exists(req->build_dir) && rmdir(req->build_dir) < 0) {
        return tp_fail(e, TP_STATUS_INPUT, -EEXIST, req->build_dir,
                       "name a new or empty folder for the build",
                       "holds something that is not a build of this program");
    }
    char *own_dir = tp_join(req->build_dir, "turnpike");
    int r = tp_mkdirs(own_dir, e);
    free(own_dir);
    return r;
}

static int write_own(const struct tp_build_request *req, const char *name, const char *text,
                     struct tp_error *e)
{
    char *path = tp_recipe_file(req, name);
    int r = tp_write_file(path, text, strlen(text), 0644, e);
    free(path);
    return r;
}

/* A log inside the build directory is emptied with it, so the log is opened afterwards. */
static int run_meson(const struct tp_build_request *req, const struct words *command, char **env,
                     struct tp_error *e)
{
    int log = tp_open_log(req, e);
    if (log < 0)
        return log;
    struct reader reader = {.req = req};
    struct tp_buf err = {0};
    struct tp_cmd cmd = {
        .argv = (const char *const *)command->v,
        .env = (const char *const *)env,
        .err = &err,
        .log_fd = log,
        .on_line = on_meson_line,
        .data = &reader,
    };
    int r = tp_run(&cmd, e);
    if (r > 0)
        r = meson_failed(req, tp_buf_str(reader.error.len ? &reader.error : &err), e);
    tp_buf_finish(&reader.error);
    tp_buf_finish(&err);
    close(log);
    return r;
}

static int configure(const struct tp_build_request *req, struct tp_error *e)
{
    struct tp_tools tools;
    int r = tp_tools_find(req, true, &tools, e); /* checks the paths as well: nothing is made yet */
    if (r)
        return r;
    struct words command = {0};
    char **env = NULL, *machine = NULL, *stamp = NULL, *compat = NULL, *build_dir = NULL;
    char *tree = realpath(req->tree, NULL);
    if (!tree) {
        r = tp_fail_errno(e, errno, req->tree, "cannot be built");
        goto out;
    }
    r = tp_mkdirs(req->build_dir, e);
    if (r)
        goto out;
    build_dir = realpath(req->build_dir, NULL);
    /* Links may lead to other names than those that were checked. */
    r = tp_machine_path_check(tree, "Mesa's tree", e);
    if (!r)
        r = tp_machine_path_check(build_dir, "the build folder", e);
    if (r)
        goto out;
    struct tp_build_request real = *req;
    real.build_dir = build_dir;
    if (!strcmp(req->target->name, "host-android"))
        compat = tp_recipe_file(&real, "compat.h");
    struct tp_places places = {tree, build_dir, compat};
    machine = tp_machine_file(req->target, &tools, &places);
    meson_command(&real, tree, &command);
    env = tp_recipe_env(&real, &tools, true);
    stamp = stamp_text(&command, machine, env);
    if (is_configured(&real, stamp))
        goto out;
    r = empty_build_dir(&real, e);
    if (!r && compat)
        r = write_own(&real, "compat.h", host_android_compat_text, e);
    if (!r)
        r = write_own(&real, "machine.ini", machine, e);
    if (!r)
        r = run_meson(&real, &command, env, e);
    /* Last: without it the folder counts as unfinished. */
    if (!r)
        r = write_own(&real, "recipe.txt", stamp, e);
out:
    free(stamp);
    tp_env_free(env);
    words_finish(&command);
    free(machine);
    free(compat);
    free(build_dir);
    free(tree);
    tp_tools_finish(&tools);
    return r;
}

int tp_recipe_configure(const struct tp_build_request *req, double *seconds, struct tp_error *e)
{
    int64_t start = tp_now_ns();
    int r = configure(req, e);
    if (seconds)
        *seconds = (double)(tp_now_ns() - start) / 1e9;
    return r;
}
