#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "factory/recipe/internal.h"

/* 1980-01-01 00:00:00 UTC, the time that the archives' entries bear. */
#define DEFAULT_EPOCH 315532800

/* What compilers, pkg-config, python and meson take from the environment, and that a user may have
 * set for other work. */
static const char *const removed[] = {
    "CFLAGS",          "CXXFLAGS",      "CPPFLAGS",       "LDFLAGS",
    "CC",              "CXX",           "AR",             "STRIP",
    "CC_LD",           "CXX_LD",        "CPATH",          "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX",
    "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR", "PKG_CONFIG_SYSROOT_DIR", "PKG_CONFIG",
    "DESTDIR",         "MAKEFLAGS",     "PYTHONPATH",     "PYTHONHOME",
    "NINJA_STATUS",    "LD_PRELOAD",    "LANG",           "LANGUAGE",
};

static const char *const fixed[] = {
    "LC_ALL=C",
    "TZ=UTC",
    "PYTHONHASHSEED=0",
    /* Mesa's generators must leave no __pycache__ in the tree: --revert restores it exactly. */
    "PYTHONDONTWRITEBYTECODE=1",
    TP_NINJA_STATUS,
};

/* Meson's checks are small, and many fail on purpose. distcc takes a failure for a sick machine,
 * avoids it for a minute and, where fallbacks are forbidden, fails the next checks as well: meson then
 * notes wrong answers. So they are compiled here. */
static const char *const while_configuring[] = {
    "DISTCC_HOSTS=localhost",
    "DISTCC_FALLBACK",
    "ICECC=no",
};

char **tp_recipe_env(const struct tp_build_request *req, const struct tp_tools *tools,
                     bool configuring)
{
    char **env = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++)
        TP_PUSH(env, n, cap) = tp_strdup(removed[i]);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        TP_PUSH(env, n, cap) = tp_strdup(fixed[i]);
    for (size_t i = 0; configuring && i < sizeof while_configuring / sizeof *while_configuring; i++)
        TP_PUSH(env, n, cap) = tp_strdup(while_configuring[i]);
    long long epoch = req->source_date_epoch ? (long long)req->source_date_epoch : DEFAULT_EPOCH;
    TP_PUSH(env, n, cap) = tp_asprintf("SOURCE_DATE_EPOCH=%lld", epoch);
    /* Mesa asks git for its label; a tree without git, or inside another repository, must not
     * answer differently (bin/git_sha1_gen.py). */
    TP_PUSH(env, n, cap) =
        tp_asprintf("MESA_GIT_SHA1_OVERRIDE=%s", req->revision ? req->revision : "");
    /* Meson makes this folder even where it may not download; not in the tree, then. */
    char *cache = tp_recipe_file(req, "packagecache"), *absolute = tp_absolute(cache);
    TP_PUSH(env, n, cap) = tp_asprintf("MESON_PACKAGE_CACHE_DIR=%s", absolute);
    free(absolute);
    free(cache);
    if (tools->path)
        TP_PUSH(env, n, cap) = tp_asprintf("PATH=%s", tools->path);
    TP_PUSH(env, n, cap) = NULL;
    return env;
}

void tp_env_free(char **env)
{
    for (size_t i = 0; env && env[i]; i++)
        free(env[i]);
    free(env);
}
