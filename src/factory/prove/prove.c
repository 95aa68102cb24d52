#include "factory/prove/prove.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/driver_file.h"
#include "base/fs.h"
#include "factory/kgsl/chips.h"
#include "factory/package/elf_note.h"
#include "factory/prove/batch.h"
#include "factory/prove/books.h"
#include "factory/prove/faults.h"
#include "factory/prove/lineup.h"
#include "factory/prove/promises.h"
#include "factory/prove/runner.h"
#include "factory/prove/validation.h"

struct proof {
    const struct tp_prove_request *req;
    struct tp_buf bytes;
    struct tp_elf *elf;
    json_t *note; /* NULL: a driver that turnpike did not build */
    struct tp_promises promises;
    struct tp_lineup lineup; /* borrows from note */
    struct tp_runner runner;
    struct tp_validation validation;
    const char *layers[2]; /* the client's options for a chip's run */
    char *work, *driver;
    json_t *chips, *fixed, *faults; /* faults: NULL: none asked for */
    bool ok;
};

/* ---- chips ---- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

/* facts: NULL where the driver was not started; checks: taken over. */
static void add_chip(struct proof *p, const struct tp_lineup_chip *chip, const char *status,
                     const json_t *facts, bool boots, json_t *checks)
{
    json_t *id = chip->chip_id ? json_sprintf("0x%08x", chip->chip_id) : json_null();
    json_t *one = json_pack("{s:s, s:o, s:s, s:b, s:s, s:s, s:o}", "name", chip->name, "chip_id", id,
                            "status", status, "boots", boots, "device_name",
                            text_of(facts, "device_name"), "api", text_of(facts, "api"), "checks",
                            checks);
    if (chip->same_as)
        json_object_set_new(one, "same_as", json_string(chip->same_as));
    json_array_append_new(p->chips, one);
    if (p->req->on_chip)
        p->req->on_chip(p->req->data, chip->name, status);
}

static json_t *one_check(const char *id, bool ok, const char *detail)
{
    return json_pack("{s:s, s:b, s:s}", "id", id, "ok", ok, "detail", detail);
}

/* What the simulator's books say was left behind when the driver had closed its device. */
static json_t *leak_check(const json_t *calls)
{
    bool closed;
    char *left = tp_books_left(calls, &closed);
    json_t *check = one_check("no-leak", closed && !left,
                              !closed ? "the device was never closed" :
                              left    ? left :
                                        "nothing is left in the simulator's books");
    free(left);
    return check;
}

/* A check that fails because the client did not come to its end. */
static void add_end(json_t *checks, const char *id, const struct tp_run_result *run)
{
    char *how = tp_run_result_how(run);
    json_array_append_new(checks, one_check(id, false, how));
    free(how);
}

/* A driver without a note says only by having no device that it does not know a chip. */
static bool is_unknown(const struct proof *p, const struct tp_run_result *run, bool boots)
{
    return !p->note && !boots && run->done &&
           json_integer_value(json_object_get(run->facts, "device_count")) == 0;
}

/* Judges what a chip's run showed; takes the run. */
static void judge_chip(struct proof *p, const struct tp_lineup_chip *chip, struct tp_run_result *run)
{
    bool boots = false, good = run->done;
    size_t i;
    json_t *check;
    json_array_foreach(run->checks, i, check)
    {
        bool ok = json_is_true(json_object_get(check, "ok"));
        boots = boots || (ok && !strcmp(text_of(check, "id"), "device"));
        good = good && ok;
    }
    if (!run->done)
        add_end(run->checks, "ends", run);
    tp_validation_add(&p->validation, run);
    struct tp_seen seen = {.chip = chip->name, .facts = run->facts, .calls = run->calls,
                           .said = run->said, .elf = p->elf, .note = p->note};
    good = good && boots;
    if (boots) {
        check = leak_check(run->calls);
        good = good && json_is_true(json_object_get(check, "ok"));
        json_array_append_new(run->checks, check);
        good = tp_promises_keep(&p->promises, &seen, true, run->checks) && good;
    }
    bool unknown = is_unknown(p, run, boots);
    add_chip(p, chip, good ? "proved" : unknown ? "no-support" : "failed", run->facts, boots,
             json_incref(run->checks));
    p->ok = p->ok && (good || unknown);
    tp_run_result_finish(run);
}

/* What is told of a chip on which the driver is not started. */
static void tell_chip(struct proof *p, const struct tp_lineup_chip *chip)
{
    static const char *const statuses[] = {
        [TP_LINEUP_SAME_AS] = "same-as",
        [TP_LINEUP_NO_KGSL_ID] = "no-kgsl-id",
        [TP_LINEUP_NO_SUPPORT] = "no-support",
    };
    json_t *checks = json_array();
    if (chip->why)
        json_array_append_new(checks, one_check("support", false, chip->why));
    add_chip(p, chip, statuses[chip->what], NULL, false, checks);
}

static bool is_all(const struct proof *p)
{
    return !p->req->chip || !strcmp(p->req->chip, "all");
}

/* Is it the chip that was asked for, by its name or as the simulator's table has it? */
static bool is_asked_for(const struct proof *p, const struct tp_lineup_chip *chip)
{
    struct tp_kgsl_chip one;
    return is_all(p) || !strcasecmp(p->req->chip, chip->name) ||
           (!tp_kgsl_chip_find(p->req->chip, &one) && one.chip_id == chip->chip_id);
}

static int run_chips(struct proof *p, const struct tp_lineup_chip *const *chips, size_t n,
                     struct tp_error *e)
{
    struct tp_batch_job *jobs = tp_calloc(n ? n : 1, sizeof *jobs);
    size_t n_jobs = 0;
    for (size_t i = 0; i < n; i++) {
        if (chips[i]->what == TP_LINEUP_RUNS)
            jobs[n_jobs++] = (struct tp_batch_job){chips[i]->simulated, p->layers, NULL};
    }
    struct tp_batch *batch = tp_batch_begin(&p->runner, p->driver, p->work, jobs, n_jobs);
    int r = 0;
    for (size_t i = 0, job = 0; i < n && !r; i++) {
        struct tp_run_result run;
        if (chips[i]->what != TP_LINEUP_RUNS)
            tell_chip(p, chips[i]);
        else if (!(r = tp_batch_take(batch, job++, &run, e)))
            judge_chip(p, chips[i], &run);
        else
            tp_run_result_finish(&run);
    }
    tp_batch_end(batch);
    free(jobs);
    return r;
}

static int prove_chips(struct proof *p, struct tp_error *e)
{
    const struct tp_lineup_chip **asked = tp_calloc(p->lineup.n + 1, sizeof *asked);
    size_t n = 0;
    for (size_t i = 0; i < p->lineup.n; i++) {
        if (is_asked_for(p, &p->lineup.at[i]))
            asked[n++] = &p->lineup.at[i];
    }
    int r = n ? run_chips(p, asked, n, e) :
                tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--chip", "`turnpike chips` lists them",
                        "there is no chip '%s'", p->req->chip);
    free(asked);
    return r;
}

/* What came of the run that promise i asked for; takes the run. */
static void judge_run(struct proof *p, int i, struct tp_run_result *run)
{
    struct tp_seen seen = {.facts = run->facts, .calls = run->calls, .checks = run->checks,
                           .said = run->said, .note = p->note};
    if (!run->done) {
        add_end(p->fixed, p->promises.at[i].patch, run);
        p->ok = false;
    } else {
        p->ok = tp_promises_keep_run(&p->promises, i, &seen, p->fixed) && p->ok;
    }
    tp_run_result_finish(run);
}

/* Promises that ask for a run of their own, each on the chip that it names or on the usual one. */
static int prove_runs(struct proof *p, const char *chip, struct tp_error *e)
{
    size_t most = (size_t)p->promises.n + 1, n = 0;
    struct tp_client_words *words = tp_calloc(most, sizeof *words);
    struct tp_batch_job *jobs = tp_calloc(most, sizeof *jobs);
    int *whose = tp_calloc(most, sizeof *whose);
    for (int i = 0; i < p->promises.n; i++) {
        const struct tp_promise *promise = &p->promises.at[i];
        if (!tp_promises_is_run(&p->promises, i))
            continue;
        tp_expect_split_run(&promise->expect, &words[n]);
        jobs[n] = (struct tp_batch_job){.chip = promise->chip ? promise->chip : chip,
                                        .arguments = words[n].arguments,
                                        .env = words[n].env};
        whose[n++] = i;
    }
    struct tp_batch *batch = tp_batch_begin(&p->runner, p->driver, p->work, jobs, n);
    int r = 0;
    for (size_t k = 0; k < n && !r; k++) {
        struct tp_run_result run;
        r = tp_batch_take(batch, k, &run, e);
        if (!r)
            judge_run(p, whose[k], &run);
        else
            tp_run_result_finish(&run);
    }
    tp_batch_end(batch);
    for (size_t k = 0; k < n; k++)
        tp_client_words_finish(&words[k]);
    free(whose);
    free(jobs);
    free(words);
    return r;
}

/* The chip for runs that are about the driver and not about a chip: a usual one of the newest
 * generation that every Mesa knows. */
static const char *usual_chip(const struct proof *p)
{
    for (size_t i = 0; i < p->lineup.n; i++) {
        if (p->lineup.at[i].what == TP_LINEUP_RUNS && !strcmp(p->lineup.at[i].name, "FD750"))
            return "FD750";
    }
    return "FD650";
}

/* What the user left out promises nothing. */
static void excuse(struct tp_promises *all, const char *const *ids)
{
    int kept = 0;
    for (int i = 0; i < all->n; i++) {
        bool out = false;
        for (int k = 0; ids && ids[k]; k++)
            out = out || !strcmp(ids[k], all->at[i].patch);
        if (!out) {
            all->at[kept++] = all->at[i];
            continue;
        }
        tp_promise_finish(&all->at[i]);
    }
    all->n = kept;
}

/* Fault schedules on the chips that run, in turn. */
static int prove_faults(struct proof *p, struct tp_error *e)
{
    struct tp_faults_request req = {.schedules = p->req->faults,
                                    .first_seed = p->req->first_seed,
                                    .on_schedule = p->req->on_schedule,
                                    .data = p->req->data};
    const char **chips = tp_calloc(p->lineup.n ? p->lineup.n : 1, sizeof *chips);
    for (size_t i = 0; i < p->lineup.n; i++) {
        if (p->lineup.at[i].what == TP_LINEUP_RUNS && is_asked_for(p, &p->lineup.at[i]))
            chips[req.n_chips++] = p->lineup.at[i].name;
    }
    req.chips = chips;
    int r = 0;
    if (req.n_chips)
        r = tp_prove_faults(&p->runner, p->driver, p->work, &req, &p->faults, e);
    p->ok = p->ok && (!p->faults || json_is_true(json_object_get(p->faults, "ok")));
    free(chips);
    return r;
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
    tp_lineup_make(json_object_get(p->note, "chips"), &p->lineup);
    r = tp_promises_read(p->req->patches_dir, p->note, &p->promises, e);
    excuse(&p->promises, p->req->excused);
    if (!r)
        r = tp_runner_init(&p->runner, p->elf, p->req->bionic_root, e);
    if (r)
        return r;
    p->work = tp_run_dir(e);
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
        if (p->req->faults)
            return tp_fail(e, TP_STATUS_MISSING, -ENOENT, p->req->file, "leave --faults out",
                           "fault schedules need a driver that can be started here: %s",
                           p->runner.why);
        return 0;
    }
    p->layers[0] = p->runner.layers;
    r = prove_chips(p, e);
    json_t *watched = tp_validation_check(&p->validation);
    if (watched)
        json_array_append_new(p->fixed, watched);
    if (!r)
        r = prove_runs(p, usual_chip(p), e);
    if (!r && p->req->faults)
        r = prove_faults(p, e);
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
    if (*report && p.faults)
        json_object_set(*report, "faults", p.faults);
    tp_promises_finish(&p.promises);
    tp_lineup_finish(&p.lineup);
    tp_runner_finish(&p.runner);
    tp_validation_finish(&p.validation);
    tp_elf_close(p.elf);
    if (p.work)
        tp_remove_tree(p.work, NULL);
    free(p.work);
    free(p.driver);
    json_decref(p.note);
    json_decref(p.chips);
    json_decref(p.fixed);
    json_decref(p.faults);
    tp_buf_finish(&p.bytes);
    return r;
}
