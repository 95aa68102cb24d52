/* Shared by the recipe's files; nobody else includes it. */
#ifndef TP_FACTORY_RECIPE_INTERNAL_H
#define TP_FACTORY_RECIPE_INTERNAL_H

#include "base/buf.h"
#include "base/proc.h"
#include "factory/recipe/recipe.h"

#define TP_DRIVER_TARGET "src/freedreno/vulkan/libvulkan_freedreno.so"
#define TP_SHIM_TARGET "src/freedreno/drm-shim/libfreedreno_noop_drm_shim.so"

/* What programs say when a disk is full, in the C locale: strerror(ENOSPC). */
#define TP_NO_SPACE "No space left on device"

/* The lowest Android that the driver runs on: bounds what bionic is asked for. */
#define TP_ANDROID_API 29

/* How one target is built. */
struct tp_recipe {
    struct tp_target target;
    /* Of meson, beside tp_common_options; NULL-terminated. "?name=value" stands for -Dname=value
     * where this Mesa has the option. */
    const char *const *options;
    bool cross;
};

const struct tp_recipe *tp_recipe_of(const struct tp_target *target);
extern const char *const tp_common_options[];

/* A toolchain that was found. Strings are owned by it; tp_tools_finish frees them. */
struct tp_tools {
    char *cc, *cxx, *ar, *strip;
    char *triple;   /* clang's --target, with the API level; NULL: the compiler's own */
    char *sysroot;  /* absolute; NULL: none */
    bool builtins;  /* android-arm64: the compiler's run-time library is there */
    char *ndk;      /* the NDK's version, NULL without one */
    char *path;     /* the PATH that meson and ninja get */
    char *launcher; /* as given, NULL for none */
};

/* Finds what the target needs. Errors: as tp_recipe_check. fetch: make the arm64 sysroot where it
 * is missing and no other was named. */
int tp_tools_find(const struct tp_build_request *req, bool fetch, struct tp_tools *out,
                  struct tp_error *e);
void tp_tools_finish(struct tp_tools *t);

/* Where things are while a machine file is written; all absolute, links resolved. */
struct tp_places {
    const char *tree, *build_dir;
    const char *compat; /* the force-included header; NULL for none */
};

/* Refuses a path that cannot be written in a machine file: one with a single quote, a backslash or a
 * control character (-EINVAL, status INPUT). path: NULL is fine. what: "the build folder". */
int tp_machine_path_check(const char *path, const char *what, struct tp_error *e);

/* The text of meson's cross or native file for a target; every path has passed the check above.
 * Caller frees. */
char *tp_machine_file(const struct tp_target *target, const struct tp_tools *tools,
                      const struct tp_places *places);

/* The environment that meson and ninja run in: what could change the bytes is fixed, what could
 * leak in is removed; while configuring, nothing is compiled on other machines. An array for tp_cmd.env; tp_env_free frees it. */
char **tp_recipe_env(const struct tp_build_request *req, const struct tp_tools *tools,
                     bool configuring);
void tp_env_free(char **env);

/* Reads ninja's output line by line. */
struct tp_ninja {
    void (*on_progress)(void *data, const struct tp_progress *p);
    void *data;
    int64_t start_ns;    /* CLOCK_MONOTONIC, when ninja started */
    unsigned done, total;
    struct tp_buf failed; /* the first FAILED: step, from that line to the next step's */
    bool in_failed;
};
/* The environment's entry that tp_ninja_line's counts need. */
#define TP_NINJA_STATUS "NINJA_STATUS=[%f/%t] "
void tp_ninja_line(struct tp_ninja *n, const char *line, int64_t now_ns);
void tp_ninja_finish(struct tp_ninja *n);
/* What to tell a person: the failed step and its last lines that fit, its command left out. Caller
 * frees. */
char *tp_ninja_failure(const struct tp_ninja *n, size_t max_bytes);

/* Removes DT_RPATH and DT_RUNPATH from a 64-bit little-endian ELF file. -EBADMSG for another. */
int tp_drop_runpath(const char *path, struct tp_error *e);

/* build_dir/turnpike/NAME: the recipe's own files. Caller frees. */
char *tp_recipe_file(const struct tp_build_request *req, const char *name);
/* Opens req's log for appending (its folder is made), or -1. */
int tp_open_log(const struct tp_build_request *req, struct tp_error *e);

#endif
