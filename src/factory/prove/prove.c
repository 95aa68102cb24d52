#include "factory/prove/prove.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/driver_file.h"
#include "base/fs.h"
#include "base/json.h"
#include "factory/package/elf_note.h"
#include "factory/prove/batch.h"
#include "factory/prove/books.h"
#include "factory/prove/faults.h"
#include "factory/prove/file.h"
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
    json_t *chips, *fixed, *notes, *faults; /* faults: NULL: none asked for */
    const char *not_started; /* why not; NULL: it was */
    unsigned proved, failed, hangs; /* chips; runs in a row that did not end in time */
    bool ok;
};

/* So many runs in a row that hang, and no other is started: each costs the whole of its time. */
enum { MOST_HANGS = 2 };

/* ---- chips ---- */

/* facts: NULL where the driver was not started; checks: taken over. */
static void add_chip(struct proof *p, const struct tp_lineup_chip *chip, const char *status,
                     const json_t *facts, bool boots, json_t *checks)
{
    json_t *id = chip->chip_id ? json_sprintf("0x%08x", chip->chip_id) : json_null();
    json_t *one = json_pack("{s:s, s:o, s:s, s:b, s:s, s:s, s:o}", "name", chip->name, "chip_id", id,
                            "status", status, "boots", boots, "device_name",
                            tp_json_text(facts, "device_name"), "api", tp_json_text(facts, "api"), "checks",
                            checks);
    if (chip->same_as)
        json_object_set_new(one, "same_as", json_string(chip->same_as));
    json_array_append_new(p->chips, one);
    p->proved += !strcmp(status, "proved");
    p->failed += !strcmp(status, "failed");
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
                              !closed ? TP_BOOKS_NOT_WHOLE :
                              left    ? left :
                                        "nothing is left in the simulator's books");
    free(left);
    return check;
}

/* A check that fails because the client did not come to its end. */
static void add_end(json_t *checks, const char *id, const struct tp_run_result *run)
{
    char *how = tp_run_result_how(run), *clean = tp_printable(how);
    json_array_append_new(checks, one_check(id, false, clean));
    free(clean);
    free(how);
}

static void count_hangs(struct proof *p, const struct tp_run_result *run)
{
    p->hangs = !run->done && run->status == -ETIMEDOUT ? p->hangs + 1 : 0;
}

static bool gave_up(const struct proof *p)
{
    return p->hangs >= MOST_HANGS;
}

static json_t *given_up(const char *id)
{
    return one_check(id, false, "not run: the driver hung in two runs in a row");
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
    count_hangs(p, run);
    json_array_foreach(run->checks, i, check)
    {
        bool ok = json_is_true(json_object_get(check, "ok"));
        boots = boots || (ok && !strcmp(tp_json_text(check, "id"), "device"));
        good = good && ok;
    }
    if (!run->done)
        add_end(run->checks, "ends", run);
    tp_validation_add(&p->validation, run);
    struct tp_seen seen = {.chip = chip->name, .facts = run->facts, .calls = run->calls,
                           .said = run->said, .elf = p->elf, .note = p->note};
    good = good && boots;
    if (boots) {
        bool closed;
        free(tp_books_left(run->calls, &closed));
        check = leak_check(run->calls);
        good = good && json_is_true(json_object_get(check, "ok"));
        json_array_append_new(run->checks, check);
        if (closed) /* a log that was cut would blame patches */
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

static bool is_asked_for(const struct proof *p, const struct tp_lineup_chip *chip)
{
    return is_all(p) || tp_lineup_is_called(chip, p->req->chip);
}

/* How many of those that were asked for the driver is to be started on. */
static size_t count_asked(const struct proof *p, bool to_run)
{
    size_t n = 0;
    for (size_t i = 0; i < p->lineup.n; i++)
        n += is_asked_for(p, &p->lineup.at[i]) &&
             (!to_run || p->lineup.at[i].what == TP_LINEUP_RUNS);
    return n;
}

static int check_chip(const struct proof *p, struct tp_error *e)
{
    if (count_asked(p, false))
        return 0;
    char *name = tp_printable(p->req->chip);
    tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--chip",
            "FD740, 740, A740, \"Adreno X1-85\" or an id as 0x43050a01; `turnpike chips TREE` lists them",
            "there is no chip '%.100s'", name);
    free(name);
    return -EINVAL;
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
        if (chips[i]->what != TP_LINEUP_RUNS) {
            tell_chip(p, chips[i]);
            continue;
        }
        if (gave_up(p)) {
            json_t *checks = json_array();
            json_array_append_new(checks, given_up("ends"));
            add_chip(p, chips[i], "failed", NULL, false, checks);
            continue;
        }
        r = tp_batch_take(batch, job++, &run, e);
        if (!r)
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
    int r = run_chips(p, asked, n, e);
    free(asked);
    return r;
}

/* What came of the run that promise i asked for; takes the run. */
static void judge_run(struct proof *p, int i, struct tp_run_result *run)
{
    struct tp_seen seen = {.facts = run->facts, .calls = run->calls, .checks = run->checks,
                           .said = run->said, .note = p->note};
    bool closed;
    free(tp_books_left(run->calls, &closed));
    count_hangs(p, run);
    if (run->done && !closed && tp_books_were_opened(run->facts)) {
        json_array_append_new(p->fixed,
                              one_check(p->promises.at[i].patch, false, TP_BOOKS_NOT_WHOLE));
        p->ok = false;
    } else if (!run->done) {
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
        if (gave_up(p)) {
            json_array_append_new(p->fixed, given_up(p->promises.at[whose[k]].patch));
            p->ok = false;
            continue;
        }
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

static void add_note(struct proof *p, char *text)
{
    char *clean = tp_printable(text);
    json_array_append_new(p->notes, json_string(clean));
    free(clean);
    free(text);
}

/* What keeps promises from being known is told: nobody would miss them. */
static void tell_promises(struct proof *p)
{
    if (!p->note)
        add_note(p, tp_strdup("built by others (it has no note of turnpike's): no promises are known"));
    else if (!p->promises.has_chips)
        add_note(p, tp_asprintf("there is no %s in %s: nothing is promised of the chips",
                                TP_CHIPS_FILE, p->req->patches_dir));
    if (p->note && !p->promises.n)
        add_note(p, tp_strdup("no promise is about this driver"));
}

/* The note, what is promised, and the file itself. */
static int read_note(struct proof *p, bool in_archive, struct tp_error *e)
{
    struct tp_error of_note = {0};
    int r = tp_note_from_elf(p->elf, &p->note, &of_note);
    if (r && r != -ENOENT) /* a driver of somebody else has none */
        return tp_fail(e, of_note.status, r, of_note.where, of_note.todo, "%s", of_note.what);
    tp_lineup_make(json_object_get(p->note, "chips"), &p->lineup);
    struct tp_prove_file file = {p->req->file, in_archive, p->elf,
                                 p->bytes.data, p->bytes.len, p->note};
    r = tp_prove_file_check(&file, p->fixed, e);
    if (!r)
        r = check_chip(p, e);
    if (!r)
        r = tp_promises_read(p->req->patches_dir, p->note, &p->promises, e);
    tp_promises_excuse(&p->promises, p->req->excused);
    if (!r)
        tell_promises(p);
    return r;
}

static int prepare(struct proof *p, struct tp_error *e)
{
    bool in_archive;
    int r = tp_driver_read(p->req->file, &p->bytes, &in_archive, e);
    if (!r)
        r = tp_elf_open_memory(p->bytes.data, p->bytes.len, p->req->file, &p->elf, e);
    if (!r)
        r = read_note(p, in_archive, e);
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

static bool all_hold(const json_t *checks)
{
    size_t i;
    json_t *check;
    json_array_foreach(checks, i, check)
    {
        if (!json_is_true(json_object_get(check, "ok")))
            return false;
    }
    return true;
}

static int prove(struct proof *p, struct tp_error *e)
{
    int r = prepare(p, e);
    if (r)
        return r;
    struct tp_seen seen = {
        .elf = p->elf, .file = p->bytes.data, .file_len = p->bytes.len, .note = p->note};
    tp_promises_keep(&p->promises, &seen, false, p->fixed);
    p->ok = all_hold(p->fixed);
    if (p->runner.how == TP_RUNS_NOT)
        p->not_started = p->runner.why;
    else if (p->note && is_all(p) && !count_asked(p, true))
        p->not_started = "its table has no chip that KGSL can tell of";
    if (p->not_started) {
        if (p->req->faults)
            return tp_fail(e, TP_STATUS_MISSING, -ENOENT, p->req->file, "leave --faults out",
                           "fault schedules need a driver that can be started here: %s",
                           p->not_started);
        return 0;
    }
    p->layers[0] = p->runner.layers;
    r = prove_chips(p, e);
    json_t *watched = tp_validation_check(&p->validation);
    if (watched)
        json_array_append_new(p->fixed, watched);
    if (!r && (is_all(p) || count_asked(p, true)))
        r = prove_runs(p, tp_lineup_usual(&p->lineup), e);
    if (!r && p->req->faults && !gave_up(p))
        r = prove_faults(p, e);
    return r;
}

/* The last word; caller frees. What was to be started and proved nowhere does not hold. */
static char *conclude(struct proof *p)
{
    if (p->not_started)
        return tp_asprintf(p->ok ? "The file holds; it was not started: %s." :
                                   "NOT proved: the file does not hold; it was not started: %s.",
                           p->not_started);
    if (!p->proved && !p->failed) {
        p->ok = false;
        if (is_all(p))
            return tp_strdup("NOT proved: it came up on no chip. This is no Turnip with KGSL.");
        char *name = tp_printable(p->req->chip);
        char *verdict = tp_asprintf("NOT proved: on %s it was not run.", name);
        free(name);
        return verdict;
    }
    return tp_strdup(p->ok ? "Proved." : "NOT proved.");
}

static json_t *report_of(struct proof *p)
{
    char *verdict = conclude(p), *file = tp_printable(p->req->file);
    json_t *report = json_pack("{s:s, s:i, s:s, s:O, s:O, s:O, s:b, s:s}", "turnpike", TP_VERSION,
                               "schema", 1, "file", file, "chips", p->chips, "static", p->fixed,
                               "notes", p->notes, "ok", p->ok, "verdict", verdict);
    if (p->faults)
        json_object_set(report, "faults", p->faults);
    free(file);
    free(verdict);
    return report;
}

int tp_prove(const struct tp_prove_request *req, json_t **report, struct tp_error *e)
{
    struct proof p = {
        .req = req, .chips = json_array(), .fixed = json_array(), .notes = json_array()};
    *report = NULL;
    int r = prove(&p, e);
    if (!r)
        *report = report_of(&p);
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
    json_decref(p.notes);
    json_decref(p.faults);
    tp_buf_finish(&p.bytes);
    return r;
}
