#include "factory/prove/prove.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/driver_file.h"
#include "base/fs.h"
#include "base/proc.h"
#include "factory/kgsl/chips.h"
#include "factory/package/elf_note.h"
#include "factory/prove/promises.h"
#include "factory/prove/runner.h"

struct proof {
    const struct tp_prove_request *req;
    struct tp_buf bytes;
    struct tp_elf *elf;
    json_t *note; /* NULL: a driver that turnpike did not build */
    struct tp_promises promises;
    struct tp_runner runner;
    char *work, *driver;
    json_t *chips, *fixed;
    bool ok;
};

/* ---- chips ---- */

/* Does the driver's own table have this name? Without a note everything may be there. */
static bool in_table(const struct proof *p, const char *name)
{
    const json_t *table = json_object_get(p->note, "chips");
    size_t i;
    json_t *chip;
    json_array_foreach(table, i, chip)
    {
        const char *one = json_string_value(json_object_get(chip, "name"));
        if (one && !strcmp(one, name))
            return true;
    }
    return !table;
}

static bool knows_a8xx(const struct proof *p)
{
    size_t i;
    json_t *chip;
    json_array_foreach(json_object_get(p->note, "chips"), i, chip)
    {
        const char *generation = json_string_value(json_object_get(chip, "generation"));
        if (generation && !strcmp(generation, "A8XX"))
            return true;
    }
    return false;
}

static void add_chip(struct proof *p, const char *name, json_t *id, const char *status,
                     const json_t *facts, bool boots, json_t *checks)
{
    const char *device = json_string_value(json_object_get(facts, "device_name"));
    const char *api = json_string_value(json_object_get(facts, "api"));
    json_array_append_new(p->chips, json_pack("{s:s, s:o, s:s, s:b, s:s, s:s, s:o}", "name", name,
                                              "chip_id", id, "status", status, "boots", boots,
                                              "device_name", device ? device : "", "api",
                                              api ? api : "", "checks", checks));
    if (p->req->on_chip)
        p->req->on_chip(p->req->data, name, status);
}

static json_t *one_check(const char *id, bool ok, const char *detail)
{
    return json_pack("{s:s, s:b, s:s}", "id", id, "ok", ok, "detail", detail);
}

/* Mesa (25.0.7, tu_pipeline.cc: tess_bo) makes one buffer for tessellation a device and never frees
 * it: TU_TESS_BO_SIZE. */
enum { TESS_BUFFER_BYTES = 139264 };

/* What the simulator's books say was left behind when the driver had closed its device. */
static json_t *leak_check(const json_t *calls)
{
    static const char *const books[] = {"leaked_contexts", "leaked_buffers", "leaked_timelines"};
    size_t i;
    json_t *line;
    bool closed = false, tess = false;
    struct tp_buf left = {0};
    json_array_foreach(calls, i, line)
    {
        const char *call = json_string_value(json_object_get(line, "call"));
        if (!call || (strcmp(call, "close") != 0 && strcmp(call, "exit") != 0))
            continue;
        closed = true;
        bool known = json_integer_value(json_object_get(line, "leaked_buffers")) == 1 &&
                     json_integer_value(json_object_get(line, "leaked_bytes")) == TESS_BUFFER_BYTES;
        tess = tess || known;
        for (size_t k = 0; k < sizeof books / sizeof *books; k++) {
            json_int_t n = json_integer_value(json_object_get(line, books[k]));
            if (n > 0 && !(known && k == 1))
                tp_buf_addf(&left, "%s%s %lld", left.len ? ", " : "", books[k], (long long)n);
        }
    }
    const char *detail = !closed  ? "the device was never closed" :
                         left.len ? tp_buf_str(&left) :
                         tess     ? "nothing but the tessellation buffer that Mesa itself never frees" :
                                    "nothing is left in the simulator's books";
    json_t *check = one_check("no-leak", closed && !left.len, detail);
    tp_buf_finish(&left);
    return check;
}

static int run_chip(struct proof *p, const struct tp_kgsl_chip *chip, struct tp_error *e)
{
    struct tp_run_result run;
    int r = tp_runner_run(&p->runner, p->driver, chip->name, NULL, NULL, p->work, &run, e);
    if (r) {
        tp_run_result_finish(&run);
        return r;
    }
    json_t *id = json_sprintf("0x%08x", chip->chip_id);
    bool boots = false, good = run.done;
    size_t i;
    json_t *check;
    json_array_foreach(run.checks, i, check)
    {
        bool ok = json_is_true(json_object_get(check, "ok"));
        const char *name = json_string_value(json_object_get(check, "id"));
        boots = boots || (ok && name && !strcmp(name, "device"));
        good = good && ok;
    }
    if (!run.done)
        json_array_append_new(run.checks, one_check("ends", false, run.said));
    struct tp_seen seen = {.facts = run.facts, .calls = run.calls, .elf = p->elf, .note = p->note};
    good = good && boots;
    if (boots) {
        check = leak_check(run.calls);
        good = good && json_is_true(json_object_get(check, "ok"));
        json_array_append_new(run.checks, check);
        good = tp_promises_keep(&p->promises, &seen, true, run.checks) && good;
    }
    add_chip(p, chip->name, id, good ? "proved" : "failed", run.facts, boots,
             json_incref(run.checks));
    p->ok = p->ok && good;
    tp_run_result_finish(&run);
    return 0;
}

static int prove_chips(struct proof *p, struct tp_error *e)
{
    size_t n;
    const struct tp_kgsl_chip *chips = tp_kgsl_chips(&n);
    struct tp_kgsl_chip one;
    bool all = !p->req->chip || !strcmp(p->req->chip, "all");
    if (!all && tp_kgsl_chip_find(p->req->chip, &one))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--chip", "`turnpike chips` lists them",
                       "there is no chip '%s'", p->req->chip);
    int r = 0;
    for (size_t i = 0; i < n && !r; i++) {
        if (!all && chips[i].chip_id != one.chip_id)
            continue;
        if (tp_interrupted())
            return tp_fail(e, TP_STATUS_FAILED, -EINTR, p->req->file, NULL, "interrupted");
        if (in_table(p, chips[i].name)) {
            r = run_chip(p, &chips[i], e);
        } else {
            const char *why = chips[i].generation == 8 && !knows_a8xx(p) ?
                                  "this Mesa has no A8xx" : "this Mesa does not know it";
            add_chip(p, chips[i].name, json_sprintf("0x%08x", chips[i].chip_id), "no-support", NULL,
                     false, json_pack("[o]", one_check("support", false, why)));
        }
    }
    return r;
}

/* Promises that ask for a run of their own, each on the newest chip that the driver knows. */
static int prove_runs(struct proof *p, const char *chip, struct tp_error *e)
{
    for (int i = 0; i < p->promises.n; i++) {
        const struct tp_promise *promise = &p->promises.at[i];
        struct tp_client_words words;
        if (!promise->expect.run)
            continue;
        tp_expect_split_run(&promise->expect, &words);
        struct tp_run_result run;
        int r = tp_runner_run(&p->runner, p->driver, chip, words.arguments, words.env, p->work, &run,
                              e);
        struct tp_seen seen = {.facts = run.facts, .calls = run.calls, .note = p->note};
        if (!r && !run.done) {
            json_array_append_new(p->fixed, one_check(promise->patch, false, run.said));
            p->ok = false;
        } else if (!r) {
            p->ok = tp_promise_keep(promise, &seen, p->fixed) && p->ok;
        }
        tp_run_result_finish(&run);
        tp_client_words_finish(&words);
        if (r)
            return r;
    }
    return 0;
}

/* A table entry that no 32-bit id reaches cannot be met on KGSL. */
static void list_unreachable(struct proof *p)
{
    size_t i, k, n;
    json_t *chip;
    const struct tp_kgsl_chip *known = tp_kgsl_chips(&n);
    json_array_foreach(json_object_get(p->note, "chips"), i, chip)
    {
        const char *name = json_string_value(json_object_get(chip, "name"));
        const char *generation = json_string_value(json_object_get(chip, "generation"));
        bool met = !name || !generation || strcmp(generation, "A6XX") < 0;
        for (k = 0; k < n && !met; k++)
            met = !strcmp(known[k].name, name);
        for (k = 0; k < json_array_size(p->chips) && !met; k++) {
            const char *other =
                json_string_value(json_object_get(json_array_get(p->chips, k), "name"));
            met = other && !strcmp(other, name);
        }
        if (!met)
            add_chip(p, name, json_null(), "no-kgsl-id", NULL, false, json_array());
    }
}

static int prepare(struct proof *p, struct tp_error *e)
{
    int r = tp_driver_read(p->req->file, &p->bytes, NULL, e);
    if (!r)
        r = tp_elf_open_memory(p->bytes.data, p->bytes.len, p->req->file, &p->elf, e);
    if (r)
        return r;
    struct tp_error none = {0}; /* a driver of somebody else has no note */
    tp_note_from_elf(p->elf, &p->note, &none);
    r = tp_promises_read(p->req->patches_dir, p->note, &p->promises, e);
    if (!r)
        r = tp_runner_init(&p->runner, p->elf, e);
    if (r)
        return r;
    const char *tmp = getenv("TMPDIR");
    p->work = tp_temp_dir(tmp && *tmp ? tmp : "/tmp", e);
    if (!p->work)
        return -EIO;
    p->driver = tp_join(p->work, "libvulkan_freedreno.so");
    r = tp_runner_prepare(&p->runner, p->work, e);
    return r ? r : tp_write_file(p->driver, p->bytes.data, p->bytes.len, 0755, e);
}

static int prove(struct proof *p, struct tp_error *e)
{
    int r = prepare(p, e);
    if (r)
        return r;
    struct tp_seen seen = {
        .elf = p->elf, .file = p->bytes.data, .file_len = p->bytes.len, .note = p->note};
    p->ok = tp_promises_keep(&p->promises, &seen, false, p->fixed);
    if (p->runner.how == TP_RUNS_NOT) {
        json_array_append_new(p->fixed, one_check("runs", true, p->runner.why));
        return 0;
    }
    r = prove_chips(p, e);
    if (!r)
        r = prove_runs(p, in_table(p, "FD750") ? "FD750" : "FD650", e);
    if (!r && (!p->req->chip || !strcmp(p->req->chip, "all")))
        list_unreachable(p);
    return r;
}

int tp_prove(const struct tp_prove_request *req, json_t **report, struct tp_error *e)
{
    struct proof p = {.req = req, .chips = json_array(), .fixed = json_array()};
    *report = NULL;
    int r = prove(&p, e);
    if (!r)
        *report = json_pack("{s:s, s:i, s:s, s:O, s:O, s:b}", "turnpike", TP_VERSION, "schema", 1,
                            "file", req->file, "chips", p.chips, "static", p.fixed, "ok", p.ok);
    tp_promises_finish(&p.promises);
    tp_runner_finish(&p.runner);
    tp_elf_close(p.elf);
    if (p.work)
        tp_remove_tree(p.work, NULL);
    free(p.work);
    free(p.driver);
    json_decref(p.note);
    json_decref(p.chips);
    json_decref(p.fixed);
    tp_buf_finish(&p.bytes);
    return r;
}
