#include "factory/prove/runner.h"

#include <elf.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/fs.h"
#include "base/parts.h"
#include "base/proc.h"
#include "factory/prove/bionic_root.h"

enum { RUN_MS = 120000, TRY_MS = 20000, MAX_LOG = 64 << 20, MAX_ARGUMENTS = 24 };
/* The end of what a run wrote to standard error that is kept, and that is told of one that failed. */
enum { MAX_SAID = 16 << 10, MAX_TOLD = 600 };

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
    if (!needs(elf, "libc.so.6")) {
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

/* A runtime that does not even list the checks is no fault of the driver's. */
static int try_bionic(const struct tp_runner *r, const char *root, struct tp_error *e)
{
    const char *argv[] = {QEMU, "-L", root, r->client, "--list", NULL};
    struct tp_buf both = {0};
    struct tp_error ran = {0};
    struct tp_cmd cmd = {
        .argv = argv, .timeout_ms = TRY_MS, .out = &both, .err = &both, .log_fd = -1};
    int status = tp_run(&cmd, &ran);
    const char *said = tp_buf_str(&both);
    int result = 0;
    if (status == -EINTR || status == -ENOENT)
        result = tp_fail(e, ran.status, status, ran.where, ran.todo, "%s", ran.what);
    else if (status || !strstr(said, "always: "))
        result = tp_fail(e, TP_STATUS_INPUT, -ENOEXEC, r->root,
                         "take all five files from one phone (docs/proving.md)",
                         "no program starts with this runtime: %.300s",
                         *said ? said : "it ends at once");
    tp_buf_finish(&both);
    return result;
}

static int prepare_bionic(const struct tp_runner *r, const char *work, struct tp_error *e)
{
    char *root = tp_join(work, BIONIC_ROOT);
    int failed = tp_bionic_root_merge(r->root, root, e);
    if (!failed)
        failed = try_bionic(r, root, e);
    free(root);
    return failed;
}

int tp_runner_prepare(const struct tp_runner *r, const char *work, struct tp_error *e)
{
    if (r->how == TP_RUNS_BIONIC) {
        int failed = prepare_bionic(r, work, e);
        if (failed)
            return failed;
    }
    for (size_t i = 0; r->stub && i < sizeof platform / sizeof *platform; i++) {
        char *link = tp_join(work, platform[i]);
        int failed = symlink(r->stub, link) < 0 ? tp_fail_errno(e, errno, link, "cannot be made") : 0;
        free(link);
        if (failed)
            return failed;
    }
    return 0;
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
    char *chip_env = tp_asprintf("TURNPIKE_KGSL_CHIP=%s", chip);
    char *log_env = tp_asprintf("TURNPIKE_KGSL_LOG=%s", log);
    char *preload = tp_asprintf("LD_PRELOAD=%s", r->simulator);
    char *bionic = tp_join(work, BIONIC_ROOT);
    char *libraries = r->how == TP_RUNS_QEMU ?
                          tp_asprintf("LD_LIBRARY_PATH=%s/usr/lib/aarch64-linux-gnu", r->root) :
                          tp_asprintf("LD_LIBRARY_PATH=%s", work);
    const char *argv[MAX_ARGUMENTS + 8];
    const char *environment[MAX_ARGUMENTS + 4];
    int n = 0, m = 0;
    if (r->how == TP_RUNS_QEMU || r->how == TP_RUNS_BIONIC) {
        argv[n++] = QEMU;
        argv[n++] = "-L"; /* the cross compiler's C library, or the user's */
        argv[n++] = r->how == TP_RUNS_QEMU ? "/usr/aarch64-linux-gnu" : bionic;
        argv[n++] = "-E";
        argv[n++] = preload;
        argv[n++] = "-E";
        argv[n++] = libraries;
    } else {
        environment[m++] = preload;
        if (r->stub)
            environment[m++] = libraries;
    }
    argv[n++] = r->client;
    for (int i = 0; arguments && arguments[i] && i < MAX_ARGUMENTS; i++)
        argv[n++] = arguments[i];
    argv[n++] = driver;
    argv[n] = NULL;
    environment[m++] = chip_env;
    environment[m++] = log_env;
    for (int i = 0; env && env[i] && i < MAX_ARGUMENTS; i++)
        environment[m++] = env[i];
    environment[m] = NULL;
    struct tp_buf err = {0};
    struct tp_error ran = {0};
    struct tp_cmd cmd = {.argv = argv,
                         .env = environment,
                         .timeout_ms = r->run_ms ? r->run_ms : RUN_MS,
                         .err = &err,
                         .log_fd = -1,
                         .on_line = on_line,
                         .data = out};
    out->status = tp_run(&cmd, &ran);
    int result = 0;
    if (out->status == -EINTR || out->status == -ENOENT)
        result = tp_fail(e, ran.status, out->status, ran.where, ran.todo, "%s", ran.what);
    if (!result)
        result = read_log(log, out->calls, e);
    tp_remove_tree(log, NULL);
    size_t skip = err.len > MAX_SAID ? err.len - MAX_SAID : 0;
    out->said = tp_strdup(tp_buf_str(&err) + skip);
    tp_buf_finish(&err);
    free(preload);
    free(libraries);
    free(bionic);
    free(log_env);
    free(chip_env);
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
