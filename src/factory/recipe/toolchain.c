#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "base/fs.h"
#include "factory/recipe/internal.h"

#define ARM64_LIBS "usr/lib/aarch64-linux-gnu"

struct need {
    const char *program, *package;
};

static const struct need common_needs[] = {
    {"meson", "meson"},       {"ninja", "ninja-build"}, {"python3", "python3"},
    {"pkg-config", "pkg-config"}, {"bison", "bison"},   {"flex", "flex"},
    {"glslangValidator", "glslang-tools"},
};

static int missing(const char *program, const char *package, struct tp_error *e)
{
    char *todo = tp_asprintf("run ./setup, or: apt-get install %s", package);
    int r = tp_fail(e, TP_STATUS_MISSING, -ENOENT, program, todo, "is needed and not in PATH");
    free(todo);
    return r;
}

static int need(const char *program, const char *package, struct tp_error *e)
{
    return tp_have_program(program) ? 0 : missing(program, package, e);
}

/* Both outputs of a short command; the exit status or a negative errno. */
static int ask(const char *const *argv, struct tp_buf *out)
{
    struct tp_cmd cmd = {.argv = argv, .timeout_ms = 60000, .out = out, .err = out, .log_fd = -1};
    struct tp_error ignored = {0};
    return tp_run(&cmd, &ignored);
}

static int check_meson(struct tp_error *e)
{
    struct tp_buf out = {0};
    unsigned major = 0, minor = 0;
    int r = 0;
    if (ask((const char *const[]){"meson", "--version", NULL}, &out) ||
        sscanf(tp_buf_str(&out), "%u.%u", &major, &minor) != 2 ||
        (major == 1 ? minor < 1 : major < 1)) {
        r = tp_fail(e, TP_STATUS_MISSING, -ENOENT, "meson",
                    "run ./setup, which takes it from the release's backports",
                    "1.1 or newer is needed to build Mesa, this is %.40s",
                    out.len ? strtok(out.data, "\n") : "none that runs");
    }
    tp_buf_finish(&out);
    return r;
}

static bool has_modules(const char *python)
{
    struct tp_buf out = {0};
    bool ok = !ask((const char *const[]){python, "-c", "import mako, yaml, packaging", NULL}, &out);
    tp_buf_finish(&out);
    return ok;
}

/* Mesa's generators call whichever python3 comes first in PATH. Where that is one without their
 * modules (pyenv's, for one) and the system's has them, the system's goes first. */
static int find_python(struct tp_tools *t, struct tp_error *e)
{
    const char *path = getenv("PATH");
    path = path && *path ? path : "/usr/bin:/bin";
    if (has_modules("python3"))
        t->path = tp_strdup(path);
    else if (has_modules("/usr/bin/python3"))
        t->path = tp_asprintf("/usr/bin:/bin:%s", path);
    else
        return tp_fail(e, TP_STATUS_MISSING, -ENOENT, "python3",
                       "run ./setup, or: apt-get install python3-mako python3-yaml "
                       "python3-packaging",
                       "Mesa's generators need its modules mako, yaml and packaging");
    return 0;
}

/* Debian Policy 5.6.1: lower-case letters, digits and "+-.", two at least. */
static bool is_package_name(const char *s)
{
    return s[0] && s[1] && strchr("+-.", s[0]) == NULL &&
           !s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789+-.")];
}

/* Its words go into the machine file: no shell reads them. */
static int check_launcher(const char *launcher, struct tp_error *e)
{
    static const char give[] = "give a program and its options, separated by spaces";
    const char *odd = strpbrk(launcher, ";&|<>()$`\\\"'*?[]\n\r");
    if (odd)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--launcher", give,
                       "'%.*s' is followed by %s, but no shell reads it", (int)(odd - launcher),
                       launcher, *odd == '\n' || *odd == '\r' ? "a new line" : odd);
    char *first = tp_strndup(launcher, strcspn(launcher, " \t"));
    int r = 0;
    if (!*first)
        r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--launcher", give, "starts with a space");
    else if (strchr(first, '/') && tp_is_dir(first))
        r = tp_fail(e, TP_STATUS_INPUT, -EISDIR, "--launcher", give, "%s is a folder", first);
    else if (strchr(first, '/') && !tp_have_program(first))
        r = tp_fail(e, TP_STATUS_INPUT, -ENOENT, "--launcher", give, "%s is no program", first);
    else if (!is_package_name(first) && !tp_have_program(first))
        r = tp_fail(e, TP_STATUS_MISSING, -ENOENT, first, "check --launcher",
                    "is needed and not in PATH");
    else
        r = need(first, first, e);
    free(first);
    return r;
}

/* ---- linux-arm64: Debian's cross compiler and a folder of arm64 packages ---- */

static int check_arm64_sysroot(const char *dir, struct tp_error *e)
{
    static const char *const wanted[] = {
        ARM64_LIBS "/pkgconfig/wayland-client.pc", ARM64_LIBS "/pkgconfig/xrandr.pc",
        ARM64_LIBS "/pkgconfig/libdrm.pc", ARM64_LIBS "/libz.a",
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char *path = tp_join(dir, wanted[i]);
        bool there = tp_exists(path);
        free(path);
        if (!there)
            return tp_fail(e, TP_STATUS_INPUT, -ENOENT, dir,
                           "make one with tools/arm64-sysroot DIR, or leave --sysroot out",
                           "is no sysroot for linux-arm64: it lacks %s", wanted[i]);
    }
    return 0;
}

static int find_arm64(const struct tp_build_request *req, bool fetch, struct tp_tools *t,
                      struct tp_error *e)
{
    int r = need("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu", e);
    if (!r)
        r = need("aarch64-linux-gnu-g++", "g++-aarch64-linux-gnu", e);
    if (!r)
        r = need("wayland-scanner", "libwayland-dev", e);
    if (r)
        return r;
    t->cc = tp_strdup("aarch64-linux-gnu-gcc");
    t->cxx = tp_strdup("aarch64-linux-gnu-g++");
    t->ar = tp_strdup("aarch64-linux-gnu-gcc-ar");
    t->strip = tp_strdup("aarch64-linux-gnu-strip");
    if (req->tools.sysroot) {
        t->sysroot = realpath(req->tools.sysroot, NULL);
        if (!t->sysroot)
            return tp_fail_errno(e, errno, req->tools.sysroot, "cannot be used as sysroot");
        return check_arm64_sysroot(t->sysroot, e);
    }
    char *dir = tp_arm64_sysroot_dir(e);
    if (!dir)
        return -ENOENT;
    r = tp_machine_path_check(dir, "the arm64 sysroot", e);
    if (!r && fetch && req->on_progress && !tp_is_dir(dir)) {
        struct tp_progress p = {"sysroot", 0, 0, -1, "fetching arm64 libraries"};
        req->on_progress(req->data, &p);
    }
    if (!r && fetch)
        r = tp_arm64_sysroot_make(dir, e);
    if (!r && tp_is_dir(dir)) {
        t->sysroot = realpath(dir, NULL);
        r = t->sysroot ? check_arm64_sysroot(t->sysroot, e) : tp_fail_errno(e, errno, dir, "is lost");
    }
    free(dir);
    return r;
}

/* ---- android-arm64: an NDK, or clang with bionic's headers and stubs ---- */

static char *ndk_version(const char *ndk)
{
    char *path = tp_join(ndk, "source.properties"), *version = NULL;
    struct tp_buf text = {0};
    struct tp_error ignored = {0};
    if (!tp_read_file(path, 65536, &text, &ignored)) {
        const char *at = strstr(tp_buf_str(&text), "Pkg.Revision");
        at = at ? strchr(at, '=') : NULL;
        if (at) {
            at += 1 + strspn(at + 1, " ");
            version = tp_strndup(at, strcspn(at, "\r\n"));
        }
    }
    tp_buf_finish(&text);
    free(path);
    return version ? version : tp_strdup("of unknown version");
}

/* The folder that holds bin/clang and sysroot, or NULL. */
static char *ndk_llvm(const char *ndk)
{
    static const char *const patterns[] = {"toolchains/llvm/prebuilt/linux-*", "."};
    char *found = NULL;
    for (size_t i = 0; i < 2 && !found; i++) {
        char *pattern = tp_join(ndk, patterns[i]);
        glob_t g = {0};
        if (!glob(pattern, GLOB_ONLYDIR, NULL, &g)) {
            for (size_t k = 0; k < g.gl_pathc && !found; k++) {
                char *clang = tp_join(g.gl_pathv[k], "bin/clang");
                char *sysroot = tp_join(g.gl_pathv[k], "sysroot/usr/include");
                if (tp_exists(clang) && tp_is_dir(sysroot))
                    found = realpath(g.gl_pathv[k], NULL);
                free(clang);
                free(sysroot);
            }
        }
        globfree(&g);
        free(pattern);
    }
    return found;
}

static int use_ndk(const char *ndk, const char *said_by, struct tp_tools *t, struct tp_error *e)
{
    char *llvm = ndk_llvm(ndk);
    if (!llvm)
        return tp_fail(e, TP_STATUS_INPUT, -ENOENT, ndk,
                       "name an unpacked NDK for Linux, r26 or newer: the folder with "
                       "source.properties",
                       "%s names no NDK: there is no toolchains/llvm/prebuilt/linux-*/bin/clang",
                       said_by);
    t->cc = tp_join(llvm, "bin/clang");
    t->cxx = tp_join(llvm, "bin/clang++");
    t->ar = tp_join(llvm, "bin/llvm-ar");
    t->strip = tp_join(llvm, "bin/llvm-strip");
    t->sysroot = tp_join(llvm, "sysroot");
    t->builtins = true;
    t->ndk = ndk_version(ndk);
    free(llvm);
    return 0;
}

static int check_bionic_sysroot(const char *dir, struct tp_error *e)
{
    static const char *const wanted[] = {
        "usr/include/stdio.h",
        "usr/include/aarch64-linux-android/asm/types.h",
        "usr/include/c++/v1/cstddef",
    };
    char *libs = tp_asprintf("usr/lib/aarch64-linux-android/%d", TP_ANDROID_API);
    char *crt = tp_asprintf("%s/crtbegin_so.o", libs), *libc = tp_asprintf("%s/libc.so", libs);
    const char *all[] = {wanted[0], wanted[1], wanted[2], crt, libc};
    int r = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all && !r; i++) {
        char *path = tp_join(dir, all[i]);
        if (!tp_exists(path))
            r = tp_fail(e, TP_STATUS_INPUT, -ENOENT, dir,
                        "lay it out as an NDK's toolchains/llvm/prebuilt/linux-x86_64/sysroot",
                        "is no bionic sysroot: it lacks %s", all[i]);
        free(path);
    }
    free(libs);
    free(crt);
    free(libc);
    return r;
}

static bool has_builtins(const char *clang, const char *triple)
{
    struct tp_buf out = {0};
    char *target = tp_asprintf("--target=%s", triple);
    const char *const argv[] = {clang, target, "--rtlib=compiler-rt", "--print-libgcc-file-name",
                                NULL};
    bool there = false;
    if (!ask(argv, &out) && out.len) {
        out.data[strcspn(out.data, "\n")] = '\0';
        there = tp_is_file(out.data);
    }
    free(target);
    tp_buf_finish(&out);
    return there;
}

static int use_bionic_sysroot(const char *dir, struct tp_tools *t, struct tp_error *e)
{
    static const struct need needs[] = {
        {"clang", "clang"}, {"clang++", "clang"}, {"ld.lld", "lld"},
        {"llvm-ar", "llvm"}, {"llvm-strip", "llvm"},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        int r = need(needs[i].program, needs[i].package, e);
        if (r)
            return r;
    }
    t->sysroot = realpath(dir, NULL);
    if (!t->sysroot)
        return tp_fail_errno(e, errno, dir, "cannot be used as sysroot");
    t->cc = tp_strdup("clang");
    t->cxx = tp_strdup("clang++");
    t->ar = tp_strdup("llvm-ar");
    t->strip = tp_strdup("llvm-strip");
    t->builtins = has_builtins(t->cc, t->triple);
    return check_bionic_sysroot(t->sysroot, e);
}

static int find_android(const struct tp_build_request *req, struct tp_tools *t, struct tp_error *e)
{
    const char *env = getenv("ANDROID_NDK_HOME");
    t->triple = tp_asprintf("aarch64-linux-android%d", TP_ANDROID_API);
    if (req->tools.ndk)
        return use_ndk(req->tools.ndk, "--ndk", t, e);
    if (req->tools.sysroot)
        return use_bionic_sysroot(req->tools.sysroot, t, e);
    if (env && *env)
        return use_ndk(env, "ANDROID_NDK_HOME", t, e);
    return tp_fail(e, TP_STATUS_MISSING, -ENOENT, "android-arm64",
                   "unpack Google's NDK (r26 or newer) and give --ndk DIR or set "
                   "ANDROID_NDK_HOME; or give --sysroot DIR with clang and lld installed",
                   "no NDK was named, and no bionic sysroot");
}

/* ---- this machine ---- */

static int find_host(bool clang, struct tp_tools *t, struct tp_error *e)
{
    const char *cc = clang ? "clang" : "gcc", *cxx = clang ? "clang++" : "g++";
    int r = need(cc, cc, e);
    if (!r)
        r = need(cxx, clang ? "clang" : "g++", e);
    if (!r && clang)
        r = need("ld.lld", "lld", e);
    if (!r)
        r = need("strip", "binutils", e);
    t->cc = tp_strdup(cc);
    t->cxx = tp_strdup(cxx);
    t->ar = tp_strdup(clang ? "ar" : "gcc-ar");
    t->strip = tp_strdup("strip");
    return r;
}

static int check_paths(const struct tp_build_request *req, struct tp_error *e)
{
    const char *const paths[][2] = {
        {req->tree, "Mesa's tree"},
        {req->build_dir, "the build folder"},
        {req->tools.sysroot, "the sysroot"},
        {req->tools.ndk, "the NDK"},
    };
    int r = 0;
    for (size_t i = 0; i < sizeof paths / sizeof *paths && !r; i++) {
        char *path = paths[i][0] ? tp_absolute(paths[i][0]) : NULL;
        r = tp_machine_path_check(path, paths[i][1], e);
        free(path);
    }
    return r;
}

int tp_tools_find(const struct tp_build_request *req, bool fetch, struct tp_tools *out,
                  struct tp_error *e)
{
    memset(out, 0, sizeof *out);
    const struct tp_target *target = req->target;
    bool android = !strcmp(target->system, "android");
    int r = check_paths(req, e);
    if (r)
        return r;
    /* What the user named comes first: a mistake there is the likelier one. */
    if (!tp_recipe_of(target)->cross)
        r = find_host(android, out, e);
    else
        r = android ? find_android(req, out, e) : 0;
    for (size_t i = 0; i < sizeof common_needs / sizeof *common_needs && !r; i++)
        r = need(common_needs[i].program, common_needs[i].package, e);
    if (!r && req->tools.launcher && *req->tools.launcher) {
        out->launcher = tp_strdup(req->tools.launcher);
        r = check_launcher(out->launcher, e);
    }
    if (!r)
        r = check_meson(e);
    if (!r)
        r = find_python(out, e);
    if (!r && tp_recipe_of(target)->cross && !android)
        r = find_arm64(req, fetch, out, e);
    /* Links, and ANDROID_NDK_HOME, may have led elsewhere. */
    if (!r)
        r = tp_machine_path_check(out->sysroot, "the sysroot", e);
    if (!r)
        r = tp_machine_path_check(out->cc, "the compiler", e);
    if (r)
        tp_tools_finish(out);
    return r;
}

void tp_tools_finish(struct tp_tools *t)
{
    char *all[] = {t->cc, t->cxx, t->ar, t->strip, t->triple, t->sysroot, t->ndk, t->path,
                   t->launcher};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    memset(t, 0, sizeof *t);
}

int tp_recipe_check(const struct tp_build_request *req, char **toolchain, struct tp_error *e)
{
    struct tp_tools t;
    int r = tp_tools_find(req, false, &t, e);
    if (r || !toolchain)
        goto out;
    struct tp_buf said = {0};
    if (ask((const char *const[]){t.cc, "--version", NULL}, &said))
        tp_buf_adds(&said, t.cc);
    int first = (int)strcspn(tp_buf_str(&said), "\n");
    if (t.ndk)
        *toolchain = tp_asprintf("NDK %s, %.*s", t.ndk, first, said.data);
    else
        *toolchain = tp_asprintf("%.*s", first, said.data);
    tp_buf_finish(&said);
out:
    if (!r)
        tp_tools_finish(&t);
    return r;
}
