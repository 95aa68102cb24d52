#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/fs.h"
#include "entry_header_text.h"
#include "entry_text.h"
#include "factory/recipe/internal.h"
#include "smoke_client_text.h"

#define QEMU "qemu-aarch64-static"
/* Emulated and on a busy machine, a run takes seconds at most. */
#define CLIENT_MS 60000

/* The arm64 C library that comes with the cross compiler. */
#define ARM64_ROOT "/usr/aarch64-linux-gnu"

static bool is_arm64_machine(void)
{
    struct utsname u;
    return !uname(&u) && !strcmp(u.machine, "aarch64");
}

/* The client's files, written into the build's folder. The header is found beside the others. */
static int write_client(char *sources[3], struct tp_error *e)
{
    int r = tp_mkdirs_for(sources[0], e);
    if (!r)
        r = tp_write_file(sources[0], smoke_client_text, sizeof smoke_client_text - 1, 0644, e);
    if (!r)
        r = tp_write_file(sources[1], entry_text, sizeof entry_text - 1, 0644, e);
    if (!r)
        r = tp_write_file(sources[2], entry_header_text, sizeof entry_header_text - 1, 0644, e);
    return r;
}

/* Compiles the client for the target with the driver's own compiler and Mesa's Vulkan headers. */
static int build_client(const struct tp_build_request *req, const struct tp_tools *tools,
                        const char *client, struct tp_error *e)
{
    char *sources[] = {tp_recipe_file(req, "smoke_client.c"), tp_recipe_file(req, "entry.c"),
                       tp_recipe_file(req, "entry.h")};
    char *headers = tp_asprintf("-I%s/include", req->tree);
    struct tp_buf said = {0};
    int r = write_client(sources, e);
    if (r)
        goto out;
    struct tp_cmd cmd = {
        .argv = (const char *const[]){tools->cc, "-std=gnu11", "-O1", "-rdynamic", headers,
                                      sources[0], sources[1], "-o", client, "-ldl", NULL},
        .timeout_ms = CLIENT_MS,
        .out = &said,
        .err = &said,
        .log_fd = -1,
    };
    r = tp_run(&cmd, e);
    if (r > 0)
        r = tp_fail(e, TP_STATUS_FAILED, -EIO, sources[0], NULL,
                    "does not compile with %s: %.800s", tools->cc, tp_buf_str(&said));
out:
    tp_buf_finish(&said);
    free(headers);
    for (size_t i = 0; i < 3; i++)
        free(sources[i]);
    return r;
}

static void copy_field(char *to, size_t size, json_t *device, const char *key)
{
    const char *s = json_string_value(json_object_get(device, key));
    snprintf(to, size, "%s", s ? s : "");
}

static int read_answer(const char *so_path, const char *text, struct tp_smoke *out,
                       struct tp_error *e)
{
    json_error_t je;
    json_t *root = json_loads(text, 0, &je);
    json_t *devices = json_object_get(root, "devices");
    if (!json_is_array(devices)) {
        json_decref(root);
        return tp_fail(e, TP_STATUS_FAILED, -EIO, so_path, NULL, "the client said: %.500s", text);
    }
    out->devices = (unsigned)json_array_size(devices);
    json_t *first = json_array_get(devices, 0);
    copy_field(out->device_name, sizeof out->device_name, first, "name");
    copy_field(out->driver_name, sizeof out->driver_name, first, "driver_name");
    copy_field(out->driver_info, sizeof out->driver_info, first, "driver_info");
    out->api_version = (uint32_t)json_integer_value(json_object_get(first, "api"));
    json_decref(root);
    return 0;
}

/* The command and its environment: straight, or under qemu with the variables for the guest alone
 * (the shim is arm64 code: qemu itself cannot preload it). */
static void client_command(const struct tp_target *target, const struct tp_tools *tools,
                           const char *client, const char *so, unsigned gpu_id, bool emulated,
                           char **words, char **env)
{
    size_t w = 0, n = 0;
    char *vars[4];
    /* Relative to the build directory, where the client runs: a name in these lists cannot hold a
     * space or a colon, a folder of the user's can. */
    if (target->has_shim)
        vars[n++] = tp_strdup("LD_PRELOAD=./" TP_SHIM_TARGET);
    if (gpu_id)
        vars[n++] = tp_asprintf("FD_GPU_ID=%u", gpu_id);
    if (!strcmp(target->name, "linux-arm64"))
        vars[n++] = tp_asprintf("LD_LIBRARY_PATH=%s/usr/lib/aarch64-linux-gnu:%s/lib",
                                tools->sysroot ? tools->sysroot : "", ARM64_ROOT);
    else if (!strcmp(target->name, "host-android"))
        vars[n++] = tp_strdup("LD_LIBRARY_PATH=./src/android_stub");
    if (emulated) {
        words[w++] = tp_strdup(QEMU);
        words[w++] = tp_strdup("-L");
        words[w++] = tp_strdup(ARM64_ROOT);
        for (size_t i = 0; i < n; i++) {
            words[w++] = tp_strdup("-E");
            words[w++] = vars[i];
        }
        n = 0;
    }
    memcpy(env, vars, n * sizeof *vars);
    words[w++] = tp_strdup(client);
    words[w++] = tp_strdup(so);
}

static int run_client(const struct tp_build_request *req, const struct tp_tools *tools,
                      const char *client, const char *so_path, unsigned gpu_id,
                      struct tp_smoke *out, struct tp_error *e)
{
    bool emulated = !strcmp(req->target->name, "linux-arm64") && !is_arm64_machine();
    if (emulated && !tp_have_program(QEMU))
        return tp_fail(e, TP_STATUS_MISSING, -ENOENT, QEMU,
                       "run ./setup, or: apt-get install qemu-user-static",
                       "is needed to run an arm64 driver here");
    char *words[16] = {0}, *env[5] = {0};
    char *so = tp_absolute(so_path);
    client_command(req->target, tools, client, so, gpu_id, emulated, words, env);
    struct tp_buf answer = {0}, said = {0};
    struct tp_cmd cmd = {
        .argv = (const char *const *)words,
        .cwd = req->build_dir,
        .env = (const char *const *)env,
        .timeout_ms = CLIENT_MS,
        .out = &answer,
        .err = &said,
        .log_fd = -1,
    };
    int r = tp_run(&cmd, e);
    if (r > 128)
        r = tp_fail(e, TP_STATUS_FAILED, -EIO, so_path, NULL,
                    "the driver ended its process with signal %d: %.500s", r - 128,
                    tp_buf_str(&said));
    else if (r > 0)
        r = tp_fail(e, TP_STATUS_FAILED, -EIO, so_path, NULL, "the driver does not load: %.500s",
                    tp_buf_str(&said));
    if (!r)
        r = read_answer(so_path, tp_buf_str(&answer), out, e);
    if (!r && req->target->has_shim && !out->devices)
        r = tp_fail(e, TP_STATUS_FAILED, -EIO, so_path, NULL,
                    "the driver finds no device on Mesa's noop DRM shim: %.500s", tp_buf_str(&said));
    tp_buf_finish(&answer);
    tp_buf_finish(&said);
    free(so);
    for (size_t i = 0; i < 16; i++)
        free(words[i]);
    for (size_t i = 0; i < 5; i++)
        free(env[i]);
    return r;
}

int tp_recipe_smoke(const struct tp_build_request *req, const char *so_path, unsigned gpu_id,
                    struct tp_smoke *out, struct tp_error *e)
{
    memset(out, 0, sizeof *out);
    if (!req->target->runs_here)
        return tp_fail(e, TP_STATUS_FAILED, -ENOTSUP, req->target->name, NULL,
                       "a driver for bionic does not load in a glibc process");
    struct tp_tools tools;
    int r = tp_tools_find(req, false, &tools, e);
    if (r)
        return r;
    char *relative = tp_recipe_file(req, "smoke-client"), *client = tp_absolute(relative);
    free(relative);
    r = build_client(req, &tools, client, e);
    if (!r)
        r = run_client(req, &tools, client, so_path, gpu_id, out, e);
    free(client);
    tp_tools_finish(&tools);
    return r;
}
