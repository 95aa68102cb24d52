/* Meson's cross and native files. Facts about flags: Mesa 25.0.7 with gcc 12 and clang 14. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "factory/recipe/internal.h"

/* One list of a machine file under way. */
struct list {
    struct tp_buf text;
};

/* Meson doubles every backslash of a machine file before it reads the strings, so that nothing can
 * stand for a quote: tp_machine_path_check keeps both out. */
static void list_add(struct list *l, const char *s)
{
    tp_buf_addf(&l->text, "%s'%s'", l->text.len ? ", " : "", s);
}

int tp_machine_path_check(const char *path, const char *what, struct tp_error *e)
{
    for (const char *s = path; s && *s; s++) {
        const char *odd = *s == '\''  ? "a single quote"
                        : *s == '\\' ? "a backslash" /* in ninja's file, meson makes it a slash */
                        : *s == '\n' ? "a newline"
                        : (unsigned char)*s < ' ' || *s == 127 ? "a control character"
                                                               : NULL;
        if (odd)
            return tp_fail(e, TP_STATUS_INPUT, -EINVAL, path, "use another folder, or rename it",
                           "%s has %s in its path, which meson cannot take", what, odd);
    }
    return 0;
}

/* s: allocated; freed here. */
static void list_take(struct list *l, char *s)
{
    list_add(l, s);
    free(s);
}

static void list_end(struct list *l, struct tp_buf *out, const char *name)
{
    tp_buf_addf(out, "%s = [%s]\n", name, tp_buf_str(&l->text));
    tp_buf_clear(&l->text);
}

static void add_words(struct list *l, const char *words)
{
    while (words && *(words += strspn(words, " \t"))) {
        size_t n = strcspn(words, " \t");
        list_take(l, tp_strndup(words, n));
        words += n;
    }
}

static bool is_android(const struct tp_target *t)
{
    return !strcmp(t->system, "android");
}

/*
 * The compiler's command. Only what every call of it needs may stand here: a flag that is for
 * linking alone silently breaks meson's checks.
 */
static void compiler(struct tp_buf *out, const char *name, const char *program,
                     const struct tp_target *target, const struct tp_tools *tools)
{
    struct list l = {0};
    add_words(&l, tools->launcher);
    list_add(&l, program);
    if (tools->triple)
        list_take(&l, tp_asprintf("--target=%s", tools->triple));
    if (tools->triple && tools->sysroot && !tools->ndk)
        list_take(&l, tp_asprintf("--sysroot=%s", tools->sysroot));
    /* Meson asks the compiler where it looks for libraries, and writes a RUNPATH for all others: a
     * path of this machine that would end up in the driver. -B makes the sysroot one of them. */
    if (!is_android(target) && tools->sysroot)
        list_take(&l, tp_asprintf("-B%s/usr/lib/aarch64-linux-gnu", tools->sysroot));
    list_end(&l, out, name);
    tp_buf_finish(&l.text);
}

/* The same bytes wherever the tree, the build directory and the sysroot are. Meson names sources
 * relative to the build directory, so that form is mapped as well. */
static void prefix_maps(struct list *l, const struct tp_tools *tools, const struct tp_places *p)
{
    char *relative = tp_relative(p->tree, p->build_dir);
    size_t n = strlen(relative);
    if (n && relative[n - 1] == '/') /* "../" where the tree holds the build directory */
        relative[n - 1] = '\0';
    /* Of two maps that fit, gcc takes the later one: the folder inside the other comes last. */
    bool tree_last = strlen(p->tree) > strlen(p->build_dir);
    if (tree_last)
        list_take(l, tp_asprintf("-ffile-prefix-map=%s=/build", p->build_dir));
    list_take(l, tp_asprintf("-ffile-prefix-map=%s=/mesa", p->tree));
    if (!tree_last)
        list_take(l, tp_asprintf("-ffile-prefix-map=%s=/build", p->build_dir));
    list_take(l, tp_asprintf("-ffile-prefix-map=%s=/mesa", relative));
    if (tools->sysroot)
        list_take(l, tp_asprintf("-ffile-prefix-map=%s=/sysroot", tools->sysroot));
    free(relative);
}

static void compile_args(struct list *l, bool cxx, const struct tp_target *target,
                         const struct tp_tools *tools, const struct tp_places *p)
{
    if (is_android(target) && !tools->triple) {
        list_add(l, "-D__ANDROID__=1");
        list_add(l, "-D__INTRODUCED_IN(n)=");
    }
    if (p->compat) {
        list_add(l, "-include");
        list_add(l, p->compat);
    }
    if (tools->triple) {
        /* The atomics' out-of-line helpers are in the compiler's run-time library. */
        if (!tools->builtins)
            list_add(l, "-mno-outline-atomics");
        /* Clang 14 looks for no C++ headers on Android unless told which. */
        if (cxx)
            list_add(l, "-stdlib=libc++");
    }
    prefix_maps(l, tools, p);
}

static void link_args(struct list *l, const struct tp_target *target, const struct tp_tools *tools)
{
    list_add(l, "-Wl,--build-id=sha1");
    if (!is_android(target) && tools->sysroot)
        list_take(l, tp_asprintf("-Wl,-rpath-link,%s/usr/lib/aarch64-linux-gnu", tools->sysroot));
    if (!tools->triple)
        return;
    list_add(l, "-nostdlib++");
    list_add(l, "--unwindlib=none");
    if (tools->builtins) {
        list_add(l, "--rtlib=compiler-rt");
    } else {
        list_add(l, "-nodefaultlibs");
        list_add(l, "-lc");
        list_add(l, "-lm");
        list_add(l, "-ldl");
    }
    /* Kernels with 16 KiB pages refuse less. */
    list_add(l, "-Wl,-z,max-page-size=16384");
}

static void properties(struct tp_buf *out, const struct tp_target *target,
                       const struct tp_tools *tools)
{
    struct list l = {0};
    tp_buf_adds(out, "\n[properties]\nneeds_exe_wrapper = true\n");
    if (is_android(target)) {
        /* Nothing of this machine's libraries is for the phone. */
        list_add(&l, "/nonexistent");
    } else {
        list_take(&l, tp_asprintf("%s/usr/lib/aarch64-linux-gnu/pkgconfig", tools->sysroot));
        list_take(&l, tp_asprintf("%s/usr/share/pkgconfig", tools->sysroot));
    }
    list_end(&l, out, "pkg_config_libdir");
    if (!is_android(target)) {
        list_add(&l, tools->sysroot);
        tp_buf_addf(out, "sys_root = %s\n", tp_buf_str(&l.text));
    }
    tp_buf_finish(&l.text);
    tp_buf_addf(out,
                "\n[host_machine]\nsystem = '%s'\ncpu_family = 'aarch64'\ncpu = 'aarch64'\n"
                "endian = 'little'\n",
                target->system);
}

char *tp_machine_file(const struct tp_target *target, const struct tp_tools *tools,
                      const struct tp_places *places)
{
    struct tp_buf out = {0};
    struct list l = {0};
    bool clang = is_android(target);
    tp_buf_adds(&out, "[binaries]\n");
    compiler(&out, "c", tools->cc, target, tools);
    compiler(&out, "cpp", tools->cxx, target, tools);
    list_add(&l, tools->ar);
    list_end(&l, &out, "ar");
    list_add(&l, tools->strip);
    list_end(&l, &out, "strip");
    if (clang)
        tp_buf_adds(&out, "c_ld = 'lld'\ncpp_ld = 'lld'\n");
    tp_buf_adds(&out, "pkg-config = 'pkg-config'\n");
    if (tp_recipe_of(target)->cross)
        properties(&out, target, tools);
    tp_buf_adds(&out, "\n[built-in options]\n");
    compile_args(&l, false, target, tools, places);
    list_end(&l, &out, "c_args");
    compile_args(&l, true, target, tools, places);
    list_end(&l, &out, "cpp_args");
    link_args(&l, target, tools);
    list_end(&l, &out, "c_link_args");
    link_args(&l, target, tools);
    list_end(&l, &out, "cpp_link_args");
    tp_buf_finish(&l.text);
    return tp_buf_take(&out);
}
