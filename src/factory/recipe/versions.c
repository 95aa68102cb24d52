/* What has a part in a driver's bytes besides the sources: tools, options, flags, linked libraries. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/proc.h"
#include "factory/recipe/internal.h"

#define MOST_WORDS 6

static void add(struct tp_ingredients *all, const char *role, char *value)
{
    TP_PUSH(all->tools, all->n_tools, all->cap_tools) = (struct tp_ingredient){tp_strdup(role), value};
}

/* The first line of what a program says that holds `mark`, or "not known". */
static void add_version(struct tp_ingredients *all, const char *role, const char *const *argv,
                        char *const *env, const char *mark)
{
    struct tp_buf said = {0};
    struct tp_error ignored = {0};
    struct tp_cmd cmd = {.argv = argv, .env = (const char *const *)env, .timeout_ms = 60000,
                         .out = &said, .log_fd = -1};
    char *version = NULL;
    if (!tp_run(&cmd, &ignored)) {
        for (const char *s = tp_buf_str(&said); *s && !version;) {
            size_t n = strcspn(s, "\n");
            char *line = tp_strndup(s, n);
            if (n && strstr(line, mark))
                version = tp_strdup(line);
            free(line);
            s += n + (s[n] == '\n');
        }
    }
    add(all, role, version ? version : tp_strdup("not known"));
    tp_buf_finish(&said);
}

static void ask_tools(const struct tp_tools *t, char *const *env, struct tp_ingredients *all)
{
    char *triple = t->triple ? tp_asprintf("--target=%s", t->triple) : NULL;
    bool lld = strstr(t->cc, "clang") != NULL;
    const char *link[MOST_WORDS] = {t->cc, "-Wl,--version"};
    size_t n = 2;
    if (lld)
        link[n++] = "-fuse-ld=lld";
    if (triple)
        link[n++] = triple;
    add_version(all, "compiler", (const char *const[]){t->cc, "--version", NULL}, env, "");
    add_version(all, "linker", link, env, lld ? "LLD" : "ld");
    add_version(all, "strip", (const char *const[]){t->strip, "--version", NULL}, env, "");
    free(triple);
    if (t->ndk)
        add(all, "ndk", tp_strdup(t->ndk));
    static const char mako[] = "import mako; print('Mako', mako.__version__)";
    static const struct {
        const char *role, *argv[5], *mark;
    } others[] = {
        {"meson", {"meson", "--version"}, ""},
        {"glslang", {"glslangValidator", "--version"}, "lslang"},
        {"bison", {"bison", "--version"}, ""},
        {"flex", {"flex", "--version"}, ""},
        /* The one that Mesa's generators get: first in the build's PATH, not in this program's. */
        {"python", {"env", "python3", "--version"}, ""},
        {"mako", {"env", "python3", "-c", mako}, ""},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        add_version(all, others[i].role, others[i].argv, env, others[i].mark);
}

/* What linux-arm64 takes in from its sysroot. */
static int hash_libraries(const struct tp_tools *t, struct tp_ingredients *all, struct tp_error *e)
{
    static const char *const names[] = {"libz.a", "libexpat.a", "libzstd.a"};
    int r = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && !r; i++) {
        char *path = tp_asprintf("%s/usr/lib/aarch64-linux-gnu/%s", t->sysroot, names[i]);
        char sum[TP_SHA256_HEX];
        if (tp_is_file(path) && !(r = tp_sha256_file(path, sum, e)))
            TP_PUSH(all->libraries, all->n_libraries, all->cap_libraries) =
                (struct tp_ingredient){tp_strdup(names[i]), tp_strdup(sum)};
        free(path);
    }
    return r;
}

/* The machine file as it would be with tree, build folder and sysroot at the root of the disk, and
 * without a launcher: what is left is the same on every machine. */
static char *portable_machine_file(const struct tp_build_request *req, const struct tp_tools *t)
{
    struct tp_tools bare = *t;
    char sysroot[] = "/sysroot";
    bare.cc = (char *)tp_base_name(t->cc);
    bare.cxx = (char *)tp_base_name(t->cxx);
    bare.ar = (char *)tp_base_name(t->ar);
    bare.strip = (char *)tp_base_name(t->strip);
    bare.sysroot = t->sysroot ? sysroot : NULL;
    bare.launcher = NULL;
    bool compat = !strcmp(req->target->name, "host-android");
    struct tp_places places = {"/mesa", "/build", compat ? "/build/turnpike/compat.h" : NULL};
    return tp_machine_file(req->target, &bare, &places);
}

int tp_recipe_ingredients(const struct tp_build_request *req, struct tp_ingredients *out,
                          struct tp_error *e)
{
    *out = (struct tp_ingredients){0};
    struct tp_tools t;
    int r = tp_tools_find(req, false, &t, e);
    if (r)
        return r;
    char **env = tp_recipe_env(req, &t, true);
    ask_tools(&t, env, out);
    const struct tp_recipe *recipe = tp_recipe_of(req->target);
    if (recipe->cross && !strcmp(req->target->system, "linux") && t.sysroot)
        r = hash_libraries(&t, out, e);
    out->options = tp_common_options;
    out->more_options = recipe->options;
    out->machine_file = portable_machine_file(req, &t);
    tp_env_free(env);
    tp_tools_finish(&t);
    if (!r && tp_interrupted())
        r = tp_fail(e, TP_STATUS_FAILED, -EINTR, "tools", NULL, "interrupted");
    return r;
}

static void list_finish(struct tp_ingredient *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(list[i].name);
        free(list[i].value);
    }
    free(list);
}

void tp_ingredients_finish(struct tp_ingredients *all)
{
    list_finish(all->tools, all->n_tools);
    list_finish(all->libraries, all->n_libraries);
    free(all->machine_file);
    *all = (struct tp_ingredients){0};
}
