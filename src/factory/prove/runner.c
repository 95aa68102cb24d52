#include "factory/prove/runner.h"

#include <elf.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/fs.h"
#include "base/parts.h"
#include "base/proc.h"
#include "factory/kgsl/log.h"
#include "factory/prove/bionic_root.h"

enum { RUN_MS = 30000, EMULATED_MS = 90000, TRY_MS = 20000, MAX_LOG = 64 << 20, MAX_ARGUMENTS = 24 };
/* The end of what a run wrote to standard error that is kept, and that is told of one that failed. */
enum { MAX_SAID = 16 << 10, MAX_TOLD = 600 };

#define LEAST_AS (6ull << 30)
#define QEMU "qemu-aarch64-static"

/* Android's libraries whose functions the stub has, or the client; the last is opened by name. */
static const char *const platform[] = {"libcutils.so",       "libhardware.so", "liblog.so",
                                       "libnativewindow.so", "libsync.so",     "libvndksupport.so"};

static bool needs(const struct tp_elf *elf, const char *library)
{
    for (size_t i = 0; i < elf->n_needed; i++) {
        if (!strcmp(elf->needed[i], library))
            return true;
    }
    return false;
}

static void find_arm64_layer(struct tp_runner *r)
{
    char *layer = tp_join(r->root, "usr/lib/aarch64-linux-gnu/libVkLayer_khronos_validation.so");
    if (tp_exists(layer))
        r->layers = tp_asprintf("--layers=%s", layer);
    free(layer);
}

static int need_qemu(struct tp_error *e)
{
    if (tp_have_program(QEMU))
        return 0;
    return tp_fail(e, TP_STATUS_MISSING, -ENOENT, QEMU, "apt-get install qemu-user-static",
                   "an arm64 driver runs under it here, and it is not there");
}

static int init_bionic(struct tp_runner *r, const char *root, struct tp_error *e)
{
    if (need_qemu(e))
        return -ENOENT;
    r->how = TP_RUNS_BIONIC;
    r->root = tp_absolute(root);
    r->client = tp_part_path("src/factory/prove/bionic/prove-client-bionic", e);
    r->simulator = tp_part_path("src/factory/prove/bionic/libturnpike-kgsl-bionic.so", e);
    r->stub = tp_part_path("src/factory/prove/bionic/libturnpike-android-stub-bionic.so", e);
    return r->client && r->simulator && r->stub ? 0 : -ENOENT;
}

int tp_runner_init(struct tp_runner *r, const struct tp_elf *elf, const char *bionic_root,
                   struct tp_error *e)
{
    *r = (struct tp_runner){.how = TP_RUNS_NOT};
    int bad = bionic_root ? tp_bionic_root_check(bionic_root, e) : 0;
    if (bad)
        return bad;
    struct utsname u;
    bool on_arm64 = !uname(&u) && !strcmp(u.machine, "aarch64");
    bool arm64 = elf->machine == EM_AARCH64, x86 = elf->machine == EM_X86_64;
    if (elf->class_bits != 64 || (!arm64 && !x86)) {
        r->why = tp_strdup("it is for another machine than x86-64 and arm64");
        return 0;
    }
    if (needs(elf, "libc.so")) { /* bionic's; glibc's is libc.so.6 */
        if (arm64 && bionic_root)
            return init_bionic(r, bionic_root, e);
        r->why = tp_strdup(arm64 ? "it needs bionic, Android's C library: only the file itself is "
                                   "looked at; with --bionic-root DIR it is run" :
                                   "it is for Android on x86-64: only the file itself is looked at");
        return 0;
    }
    if (x86 && on_arm64) {
        r->why = tp_strdup("it is for x86-64, and this machine is arm64");
        return 0;
    }
    bool native = arm64 == on_arm64;
    if (native)
        r->layers = tp_strdup("--layers=auto");
    r->how = native ? TP_RUNS_NATIVE : TP_RUNS_QEMU;
    if (native) {
        r->client = tp_part_path("src/factory/prove/client/prove-client", e);
        r->simulator = tp_part_path("src/factory/kgsl/libturnpike-kgsl.so", e);
        if (needs(elf, platform[0]) &&
            !(r->stub = tp_part_path("src/factory/prove/libturnpike-android-stub.so", e)))
            return -ENOENT;
    } else {
        if (need_qemu(e))
            return -ENOENT;
        r->client = tp_part_path("src/factory/prove/client/prove-client-arm64", e);
        r->simulator = tp_part_path("src/factory/kgsl/libturnpike-kgsl-arm64.so", e);
        r->root = tp_arm64_sysroot_dir(e);
        int failed = r->root ? tp_arm64_sysroot_make(r->root, e) : -ENOENT;
        if (failed)
            return failed;
        find_arm64_layer(r);
    }
    return r->client && r->simulator ? 0 : -ENOENT;
}

void tp_runner_finish(struct tp_runner *r)
{
    free(r->client);
    free(r->simulator);
    free(r->root);
    free(r->stub);
    free(r->layers);
    free(r->why);
    *r = (struct tp_runner){0};
}

/* Where, in the folder of the log, bionic's root is. */
#define BIONIC_ROOT "bionic"

/* Beside it, the links to what a process is given by a path in LD_PRELOAD or LD_LIBRARY_PATH, which
 * spaces and colons would split. */
#define SIMULATOR "libturnpike-kgsl.so"
#define ARM64_LIBRARIES "arm64"

/* How a program of ours is started with the simulator. Owns its strings. */
struct start {
    const char *argv[MAX_ARGUMENTS + 10];
    const char **env;
    char **owned;
    int n, n_env, cap_env, n_owned, cap_owned;
};

static const char *own(struct start *s, char *text)
{
    TP_PUSH(s->owned, s->n_owned, s->cap_owned) = text;
    return text;
}

static void add_env(struct start *s, const char *text)
{
    TP_PUSH(s->env, s->n_env, s->cap_env) = text;
}

/* What the user has set for other programs must not change what a driver shows. */
static bool is_kept(const char *name, size_t n)
{
    static const char *const kept[] = {"PATH", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ"};
    static const char sanitizer[] = "SAN_OPTIONS";
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (strlen(kept[i]) == n && !memcmp(kept[i], name, n))
            return true;
    }
    size_t end = sizeof sanitizer - 1;
    return n > end && !memcmp(name + n - end, sanitizer, end);
}

static void clear_env(struct start *s)
{
    for (char **v = environ; *v; v++) {
        size_t n = (size_t)(strchrnul(*v, '=') - *v);
        if (n && !is_kept(*v, n))
            add_env(s, own(s, tp_strndup(*v, n)));
    }
}

static void start_init(const struct tp_runner *r, const char *work, struct start *s)
{
    *s = (struct start){0};
    clear_env(s);
    add_env(s, own(s, tp_asprintf("HOME=%s", work)));
    const char *preload = own(s, tp_asprintf("LD_PRELOAD=%s/" SIMULATOR, work));
    const char *libraries = own(s, tp_asprintf("LD_LIBRARY_PATH=%s%s", work,
                                               r->how == TP_RUNS_QEMU ? "/" ARM64_LIBRARIES : ""));
    if (r->how == TP_RUNS_NATIVE) {
        add_env(s, preload);
        if (r->stub)
            add_env(s, libraries);
    } else {
        s->argv[s->n++] = QEMU;
        s->argv[s->n++] = "-L"; /* the cross compiler's C library, or the user's */
        s->argv[s->n++] = r->how == TP_RUNS_QEMU ? "/usr/aarch64-linux-gnu" :
                                                   own(s, tp_join(work, BIONIC_ROOT));
        s->argv[s->n++] = "-E";
        s->argv[s->n++] = preload;
        s->argv[s->n++] = "-E";
        s->argv[s->n++] = libraries;
    }
    s->argv[s->n++] = r->client;
}

static void start_finish(struct start *s)
{
    for (int i = 0; i < s->n_owned; i++)
        free(s->owned[i]);
    free(s->owned);
    free(s->env);
    *s = (struct start){0};
}

/* Nothing that keeps the client from even listing its checks is a fault of the driver's. */
static int judge_try(const struct tp_runner *r, int status, const char *said,
                     const struct tp_error *ran, struct tp_error *e)
{
    const char *what = *said ? said : status == -ETIMEDOUT ? "it does not end" : "it ends at once";
    if (status == -EINTR || status == -ENOENT)
        return tp_fail(e, ran->status, status, ran->where, ran->todo, "%s", ran->what);
    if (status < 0 && status != -ETIMEDOUT)
        return tp_fail(e, TP_STATUS_MISSING, status, ran->where,
                       r->how == TP_RUNS_NATIVE ? NULL : "apt-get install --reinstall qemu-user-static",
                       "%s", ran->what);
    if (!status && strstr(said, "always: ") && !strstr(said, "cannot be preloaded"))
        return 0;
    if (r->how == TP_RUNS_BIONIC)
        return tp_fail(e, TP_STATUS_INPUT, -ENOEXEC, r->root,
                       "take all five files from one phone (docs/proving.md)",
                       "no program starts with this runtime: %.1500s", what);
    return tp_fail(e, TP_STATUS_MISSING, -ENOEXEC, r->client,
                   r->how == TP_RUNS_QEMU ?
                       "apt-get install --reinstall qemu-user-static; lift limits (ulimit -a)" :
                       "run turnpike where it was built or installed; lift limits (ulimit -a)",
                   "turnpike's own client does not start here%s: %.1200s",
                   r->how == TP_RUNS_QEMU ? " under " QEMU : "", what);
}

static int try_client(const struct tp_runner *r, const char *work, struct tp_error *e)
{
    struct start start;
    struct tp_buf both = {0};
    struct tp_error ran = {0};
    start_init(r, work, &start);
    start.argv[start.n++] = "--list";
    add_env(&start, NULL);
    struct tp_cmd cmd = {.argv = start.argv,
                         .env = start.env,
                         .timeout_ms = TRY_MS,
                         .out = &both,
                         .err = &both,
                         .log_fd = -1};
    int status = tp_run(&cmd, &ran);
    int failed = judge_try(r, status, tp_buf_str(&both), &ran, e);
    start_finish(&start);
    tp_buf_finish(&both);
    return failed;
}

/* The simulator reserves the GPU's memory, and the client makes threads and buffers beside it. */
static int check_limits(struct tp_error *e)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_AS, &most) || most.rlim_cur == RLIM_INFINITY || most.rlim_cur >= LEAST_AS)
        return 0;
    return tp_fail(e, TP_STATUS_MISSING, -ENOMEM, "ulimit -v", "lift it (ulimit -v unlimited)",
                   "a process may have %llu MiB of addresses here: the simulated device needs %llu",
                   (unsigned long long)most.rlim_cur >> 20, (unsigned long long)LEAST_AS >> 20);
}

static int link_to(const char *target, const char *work, const char *name, struct tp_error *e)
{
    char *link = tp_join(work, name);
    int failed = symlink(target, link) < 0 ? tp_fail_errno(e, errno, link, "cannot be made") : 0;
    free(link);
    return failed;
}

int tp_runner_prepare(const struct tp_runner *r, const char *work, struct tp_error *e)
{
    if (r->how == TP_RUNS_NOT)
        return 0;
    int failed = check_limits(e);
    if (!failed)
        failed = link_to(r->simulator, work, SIMULATOR, e);
    if (!failed && r->how == TP_RUNS_QEMU) {
        char *libraries = tp_join(r->root, "usr/lib/aarch64-linux-gnu");
        failed = link_to(libraries, work, ARM64_LIBRARIES, e);
        free(libraries);
    }
    for (size_t i = 0; r->stub && !failed && i < sizeof platform / sizeof *platform; i++)
        failed = link_to(r->stub, work, platform[i], e);
    if (!failed && r->how == TP_RUNS_BIONIC) {
        char *root = tp_join(work, BIONIC_ROOT);
        failed = tp_bionic_root_merge(r->root, root, e);
        free(root);
    }
    return failed ? failed : try_client(r, work, e);
}

static void take_line(struct tp_run_result *out, const char *line)
{
    json_t *j = json_loads(line, 0, NULL);
    const char *fact = json_string_value(json_object_get(j, "fact"));
    const char *check = json_string_value(json_object_get(j, "check"));
    if (fact) {
        json_object_set(out->facts, fact, json_object_get(j, "value"));
    } else if (check && !json_is_true(json_object_get(j, "skipped"))) {
        const char *detail = json_string_value(json_object_get(j, "detail"));
        json_array_append_new(out->checks,
                              json_pack("{s:s, s:b, s:s}", "id", check, "ok",
                                        json_is_true(json_object_get(j, "ok")), "detail",
                                        detail ? detail : ""));
    } else if (json_is_true(json_object_get(j, "done"))) {
        out->done = true;
    }
    json_decref(j);
}

static void on_line(void *data, const char *line)
{
    take_line(data, line);
}

static int read_log(const char *path, json_t *calls, struct tp_error *e)
{
    struct tp_buf text = {0};
    int r = tp_exists(path) ? tp_read_file(path, MAX_LOG, &text, e) : 0;
    for (const char *s = tp_buf_str(&text); !r && *s;) {
        const char *end = strchrnul(s, '\n');
        json_t *line = json_loadb(s, (size_t)(end - s), 0, NULL);
        if (line)
            json_array_append_new(calls, line);
        s = *end ? end + 1 : end;
    }
    tp_buf_finish(&text);
    return r;
}

int tp_runner_run(const struct tp_runner *r, const char *driver, const char *chip,
                  const char *const *arguments, const char *const *env, const char *work,
                  struct tp_run_result *out, struct tp_error *e)
{
    *out = (struct tp_run_result){
        .facts = json_object(), .checks = json_array(), .calls = json_array()};
    static atomic_uint runs; /* several at once have a log each */
    char *log = tp_asprintf("%s/calls-%u.jsonl", work, atomic_fetch_add(&runs, 1));
    struct start start;
    start_init(r, work, &start);
    for (int i = 0; arguments && arguments[i] && i < MAX_ARGUMENTS; i++)
        start.argv[start.n++] = arguments[i];
    start.argv[start.n++] = driver;
    start.argv[start.n] = NULL;
    add_env(&start, own(&start, tp_asprintf("TURNPIKE_KGSL_CHIP=%s", chip)));
    add_env(&start, own(&start, tp_asprintf("TURNPIKE_KGSL_LOG=%s", log)));
    for (int i = 0; env && env[i]; i++)
        add_env(&start, env[i]);
    add_env(&start, NULL);
    struct tp_buf err = {0};
    struct tp_error ran = {0};
    int usual_ms = r->how == TP_RUNS_NATIVE ? RUN_MS : EMULATED_MS;
    struct tp_cmd cmd = {.argv = start.argv,
                         .env = start.env,
                         .timeout_ms = r->run_ms ? r->run_ms : usual_ms,
                         .err = &err,
                         .log_fd = -1,
                         .on_line = on_line,
                         .data = out};
    out->status = tp_run(&cmd, &ran);
    int result = 0;
    if (out->status < 0 && out->status != -ETIMEDOUT) /* not started: not the driver's doing */
        result = tp_fail(e, ran.status, out->status, ran.where, ran.todo, "%s", ran.what);
    if (!result)
        result = read_log(log, out->calls, e);
    if (!result && strstr(tp_buf_str(&err), TP_KGSL_LOG_LOST))
        result = tp_fail(e, TP_STATUS_INPUT, -EIO, work, "make room there, or name another place (TMPDIR)",
                         "the simulator's log cannot be written");
    tp_remove_tree(log, NULL);
    size_t skip = err.len > MAX_SAID ? err.len - MAX_SAID : 0;
    out->said = tp_strdup(tp_buf_str(&err) + skip);
    tp_buf_finish(&err);
    start_finish(&start);
    free(log);
    return result;
}

char *tp_run_result_how(const struct tp_run_result *r)
{
    if (r->status == -ETIMEDOUT)
        return tp_strdup("not at its end in time");
    const char *said = r->said ? r->said : "";
    size_t n = strlen(said);
    said += n > MAX_TOLD ? n - MAX_TOLD : 0;
    const char *between = *said ? ": " : "";
    if (r->status > 128)
        return tp_asprintf("%s before its end%s%s", strsignal(r->status - 128), between, said);
    return tp_asprintf("exit status %d before its end%s%s", r->status, between, said);
}

void tp_run_result_finish(struct tp_run_result *r)
{
    json_decref(r->facts);
    json_decref(r->checks);
    json_decref(r->calls);
    free(r->said);
    *r = (struct tp_run_result){0};
}
