/* turnpike build: the job. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "cli/build.h"
#include "cli/password.h"
#include "cli/proof.h"
#include "cli/toolchain.h"
#include "revision.h"
#include "factory/chips/chips.h"
#include "factory/edit/edit.h"
#include "factory/origin/minisign.h"
#include "factory/origin/spdx.h"
#include "factory/package/package.h"
#include "factory/prove/promises.h"
#include "factory/prove/prove.h"
#include "factory/recipe/recipe.h"
#include "factory/source/source.h"

/* One driver of the two. Owns everything in it. */
struct driver {
    char variant;
    char *version;      /* "WN-25.0.7-b" */
    char *path;         /* of the stripped .so */
    double seconds;     /* configure (the first one) to link */
    json_t *patches, *receipt, *proof;
    struct tp_package_result package;
    char *spdx, *signature; /* beside the archive; no signature without a key */
};

struct job {
    const struct tp_build_arguments *a;
    const struct tp_target *target;
    char *patches_dir, *out, *work, *build_dir, *packed, *log, *version;
    json_t *toolchain; /* as receipts tell it; known once the build is configured */
    struct tp_minisign_secret *key;
    struct tp_source source;
    struct tp_build_request req;
    struct driver drivers[2];
    int n;
    bool quiet, terminal, line_open;
    int lock_fd;
};

/* ---- what a person sees meanwhile ---- */

static void say(struct job *j, const char *text)
{
    if (j->line_open)
        fputs("\r\033[K", stderr);
    j->line_open = false;
    fprintf(j->quiet ? stderr : stdout, "%s\n", text);
    fflush(stdout);
}

static void on_note(void *data, const char *text)
{
    say(data, text);
}

static void on_progress(void *data, const struct tp_progress *p)
{
    struct job *j = data;
    if (!j->terminal)
        return;
    fprintf(stderr, "\r\033[K%s", p->phase);
    if (p->total)
        fprintf(stderr, " %u of %u", p->done, p->total);
    if (p->eta_ms >= 0)
        fprintf(stderr, ", about %lld min %02lld s left", (long long)p->eta_ms / 60000,
                (long long)p->eta_ms / 1000 % 60);
    if (p->text)
        fprintf(stderr, "  %.48s", p->text);
    fflush(stderr);
    j->line_open = true;
}

/* ---- the steps ---- */

/* The work folder is one build's at a time. */
static int lock_out(struct job *j, struct tp_error *e)
{
    int r = tp_mkdirs(j->out, e);
    if (r)
        return r;
    j->lock_fd = open(j->out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (j->lock_fd < 0)
        return tp_fail_errno(e, errno, j->out, "cannot be opened");
    if (flock(j->lock_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return tp_fail(e, TP_STATUS_INPUT, -EBUSY, j->out, "wait for it, or name another --out",
                       "another build is at work in this folder");
    return 0;
}

/* The work folder is emptied by the next build, so it must be one that a build made, and not hold what
 * the user asked to build from. */
static int claim_work(struct job *j, struct tp_error *e)
{
    static const char name[] = ".turnpike-work";
    char *mark = tp_join(j->work, name);
    char *mesa = j->a->mesa ? realpath(j->a->mesa, NULL) : NULL;
    char *work = realpath(j->work, NULL);
    size_t n = work ? strlen(work) : 0;
    int r = 0;
    if (mesa && work && !strncmp(mesa, work, n) && (mesa[n] == '/' || !mesa[n]))
        r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, j->a->mesa, "copy it elsewhere, or name another --out",
                    "it lies in the work folder of this --out, which a build empties");
    else if (work && !tp_exists(mark) && rmdir(j->work) < 0)
        r = tp_fail(e, TP_STATUS_INPUT, -EEXIST, j->work, "move it away, or name another --out",
                    "it holds something that no build of turnpike put there");
    if (!r)
        r = tp_mkdirs(j->work, e);
    if (!r)
        r = tp_write_file(mark, "", 0, 0644, e);
    free(work);
    free(mesa);
    free(mark);
    return r;
}

static int get_source(struct job *j, struct tp_error *e)
{
    char *tree = tp_join(j->work, "mesa");
    struct tp_source_request req = {
        .spec = j->a->mesa, .dest = tree, .note = on_note, .data = j};
    int r = tp_remove_tree(tree, e);
    if (!r)
        r = tp_source_get(&req, &j->source, e);
    free(tree);
    if (r)
        return r;
    char *text = tp_asprintf("Mesa %s from %s%s%s", j->source.version, j->source.spec,
                             *j->source.revision ? ", revision " : "", j->source.revision);
    say(j, text);
    free(text);
    j->version = tp_strdup(j->a->version ? j->a->version : j->source.version);
    r = tp_version_check(j->version, e);
    return !r && j->a->on_source ? j->a->on_source(j->a->data, &j->source, e) : r;
}

/* Makes the patch set for one variant. Drift is told here, and is exit status 1. */
static int patch(struct job *j, struct driver *d, bool check_only, struct tp_error *e)
{
    struct tp_selection sel = {.target = j->target->name,
                               .variant = d->variant,
                               .with = j->a->with.at,
                               .without = j->a->without.at,
                               .driver_version = d->version,
                               .add_to_note = tp_chips_add_to_note};
    struct tp_editing s;
    int r = tp_editing_run(&s, j->source.tree, j->patches_dir, &sel, true, e);
    if (!r && !s.clean) {
        struct tp_buf table = {0};
        tp_editing_table(&s, &table);
        say(j, tp_buf_str(&table));
        tp_buf_finish(&table);
        r = tp_fail(e, TP_STATUS_FAILED, -EINVAL, j->patches_dir,
                    "carry the patch on (docs/patching.md), or leave it out (--without)",
                    "a patch does not fit Mesa %s", s.tree.version);
    }
    if (!r && !check_only) {
        json_decref(d->patches);
        json_decref(d->receipt);
        d->patches = tp_editing_json(&s);
        /* our work folder is of no use to a reader */
        json_object_set_new(d->patches, "tree", json_string("mesa"));
        d->receipt = tp_editing_receipt(&s);
        r = tp_editing_write(&s, e);
    }
    tp_editing_finish(&s);
    return r;
}

/* What --mesa takes to get the source once more, or NULL: a path means nothing on another machine. */
static const char *travelling_spec(const struct tp_source *s)
{
    bool remote = !strncmp(s->spec, "git:", 4) && strstr(s->spec, "://") && !strstr(s->spec, "file://");
    return remote || !strncmp(s->spec, "debian:", 7) ? s->spec : NULL;
}

static json_t *ids(const struct tp_cli_list *l)
{
    json_t *all = json_array();
    for (int i = 0; i < l->n; i++)
        json_array_append_new(all, json_string(l->at[i]));
    return all;
}

/* Beside the archive: what it is made of, and the signature. */
static int attest(struct job *j, struct driver *d, struct tp_error *e)
{
    d->spdx = tp_asprintf("%s.spdx.json", d->package.path);
    int r = tp_spdx_write(d->package.path, tp_brand.author, e);
    if (!r && j->key) {
        d->signature = tp_asprintf("%s.minisig", d->package.path);
        r = tp_minisign_sign_file(j->key, d->package.path, (int64_t)time(NULL), e);
    }
    return r;
}

/* Into the work folder: what is not proved does not go out. */
static int package(struct job *j, struct driver *d, struct tp_error *e)
{
    bool android = !strcmp(j->target->system, "android");
    char *archive = tp_archive_name(j->target, j->version, d->variant);
    char *name = tp_driver_name(j->target, j->version, d->variant);
    char *description = tp_asprintf(
        "Turnip from Mesa %s, %s", j->source.version,
        d->variant == 'b' ? "balanced: the GPU's clocks are left to the system" :
                            "performance: the GPU is held at its highest level while a game runs");
    json_t *options = json_pack("{s:o, s:o}", "with", ids(&j->a->with), "without", ids(&j->a->without));
    struct tp_package_request req = {
        .driver = d->path,
        .out_dir = j->packed,
        .archive_name = archive,
        .system = j->target->system,
        .machine = j->target->arch,
        .target = j->target->name,
        .variant = d->variant,
        .version = j->version,
        .driver_version = d->version,
        .name = name,
        .description = description,
        .author = tp_brand.author,
        .vendor = tp_brand.vendor,
        .min_api = android ? 29 : 0,
        .mesa = {j->source.version, *j->source.revision ? j->source.revision : NULL,
                 j->source.kind, travelling_spec(&j->source),
                 *j->source.sha256 ? j->source.sha256 : NULL},
        .build_commit = TP_REVISION,
        .receipt = d->receipt,
        .patches = json_object_get(d->patches, "patches"),
        .toolchain = j->toolchain,
        .options = options,
        .epoch = j->source.epoch,
    };
    int r = tp_package_write(&req, &d->package, e);
    if (!r)
        r = attest(j, d, e);
    json_decref(options);
    free(description);
    free(name);
    free(archive);
    return r;
}

/* The driver on Mesa's own no-op DRM shim: the kernel interface that simulated chips do not have. */
static int try_drm(struct job *j, const struct driver *d, json_t *proof, struct tp_error *e)
{
    struct tp_smoke smoke;
    int r = tp_recipe_smoke(&j->req, d->path, 0, &smoke, e);
    if (r)
        return r;
    bool ok = smoke.devices > 0;
    json_t *check = json_pack("{s:s, s:b, s:s}", "id", "drm", "ok", ok, "detail",
                              ok ? smoke.device_name : "no device on Mesa's no-op DRM shim");
    json_array_append_new(json_object_get(proof, "static"), check);
    if (!ok)
        json_object_set_new(proof, "ok", json_false());
    return 0;
}

static void on_chip(void *data, const char *name, const char *status)
{
    struct job *j = data;
    if (!j->terminal)
        return;
    fprintf(stderr, "\r\033[Kproving on %s: %s", name, status);
    fflush(stderr);
    j->line_open = true;
}

/* The whole of a proof that failed goes where the rest of the build's story is. */
static void log_proof(const struct job *j, const struct driver *d)
{
    struct tp_buf text = {0};
    tp_buf_addf(&text, "\n== proof of variant %c\n", d->variant);
    tp_cli_proof_text(d->proof, &text);
    FILE *log = fopen(j->log, "ae");
    if (log) {
        fputs(tp_buf_str(&text), log);
        fclose(log);
    }
    tp_buf_finish(&text);
}

static int prove(struct job *j, struct driver *d, struct tp_error *e)
{
    if (j->a->no_prove)
        return 0;
    char *start = tp_asprintf("Proving variant %c on simulated chips", d->variant);
    say(j, start);
    free(start);
    struct tp_prove_request req = {.file = d->package.path,
                                   .patches_dir = j->patches_dir,
                                   .excused = j->a->without.at,
                                   .bionic_root = j->a->bionic_root,
                                   .on_chip = on_chip,
                                   .data = j};
    int r = tp_prove(&req, &d->proof, e);
    if (!r && j->target->has_shim)
        r = try_drm(j, d, d->proof, e);
    if (r)
        return r;
    struct tp_buf text = {0};
    bool ok = json_is_true(json_object_get(d->proof, "ok"));
    tp_cli_proof_summary(d->proof, d->variant, &text);
    say(j, tp_buf_str(&text));
    tp_buf_finish(&text);
    /* the place of our work folder is of no use to a reader */
    json_object_set_new(d->proof, "file", json_string(tp_base_name(d->package.path)));
    if (ok)
        return 0;
    log_proof(j, d);
    char *again = tp_asprintf("`turnpike prove%s%s%s%s` shows it again on this file; --no-prove packages "
                              "without", j->a->patches ? " --patches " : "",
                              j->a->patches ? j->patches_dir : "",
                              j->a->bionic_root ? " --bionic-root " : "",
                              j->a->bionic_root ? j->a->bionic_root : "");
    r = tp_fail(e, TP_STATUS_FAILED, -EINVAL, d->package.path, again,
                "the driver does not do what its patches promise");
    free(again);
    return r;
}

static int build(struct job *j, int i, struct tp_error *e)
{
    struct driver *d = &j->drivers[i];
    char *text = tp_asprintf("Building variant %c (%s) for %s", d->variant,
                             d->variant == 'b' ? "balanced" : "performance", j->target->name);
    say(j, text);
    free(text);
    int64_t start = tp_now_ns();
    int r = patch(j, d, false, e);
    if (!r && i == 0)
        r = tp_recipe_configure(&j->req, NULL, e);
    if (!r && i == 0)
        r = tp_cli_toolchain(&j->req, &j->toolchain, e);
    if (!r)
        r = tp_recipe_compile(&j->req, d->path, NULL, e);
    d->seconds = (double)(tp_now_ns() - start) / 1e9;
    if (!r)
        r = package(j, d, e);
    if (!r)
        r = prove(j, d, e);
    return r;
}

static json_t *summary_json(const struct job *j, bool published)
{
    json_t *archives = json_array(), *patches = json_array(), *proof = json_array();
    double others = 0;
    for (int i = 0; i < j->n; i++) {
        const struct driver *d = &j->drivers[i];
        char variant[2] = {d->variant, 0};
        if (published)
            json_array_append_new(
                archives, json_pack("{s:s, s:s, s:s, s:s, s:s}", "path",
                                    tp_base_name(d->package.path), "variant", variant,
                                    "sha256", d->package.sha256, "driver_sha256",
                                    d->package.driver_sha256, "driver_version", d->version));
        if (d->patches)
            json_array_append(patches, d->patches);
        if (d->proof)
            json_array_append(proof, d->proof);
        others += i ? d->seconds : 0;
    }
    json_t *mesa = json_pack("{s:s, s:s, s:s, s:s}", "version", j->source.version, "source",
                             j->source.kind, "revision", j->source.revision, "sha256",
                             j->source.sha256);
    json_t *seconds = json_pack("{s:f, s:f}", "first_variant", j->drivers[0].seconds,
                                "other_variants", others);
    return json_pack("{s:s, s:i, s:o, s:s, s:s, s:o, s:o, s:o, s:o}", "turnpike", TP_VERSION,
                     "schema", 1, "mesa", mesa, "target", j->target->name, "version", j->version,
                     "archives", archives, "patches", patches, "proof", proof, "seconds", seconds);
}

/* Where a proof failed, --json is told what was proved and what not; there are no archives then. */
static void tell_failed_proof(const struct job *j)
{
    bool failed = false;
    for (int i = 0; i < j->n; i++)
        failed = failed || json_is_false(json_object_get(j->drivers[i].proof, "ok"));
    if (!failed || !j->a->json)
        return;
    struct tp_error second = {0}; /* the proof is what is reported */
    json_t *summary = summary_json(j, false);
    if (tp_cli_write_json(summary, j->a->json, &second))
        fprintf(stderr, "turnpike build: %s: %s\n", second.where, second.what);
    json_decref(summary);
}

/* From the work folder to where the user wants it. */
static int publish(const struct job *j, char **path, struct tp_error *e)
{
    char *to = tp_join(j->out, tp_base_name(*path));
    int r = rename(*path, to) < 0 ? tp_fail_errno(e, errno, to, "cannot be put in place") : 0;
    if (r) {
        free(to);
    } else {
        free(*path);
        *path = to;
    }
    return r;
}

/* An earlier build's: it is none of the archive that takes its place. */
static void forget_signature(const struct job *j, const struct driver *d)
{
    char *old = tp_asprintf("%s/%s.minisig", j->out, tp_base_name(d->package.path));
    unlink(old);
    free(old);
}

static int finish(struct job *j, struct tp_error *e)
{
    char *path = tp_join(j->out, "summary.json");
    int r = 0;
    unlink(path); /* from here on, what an earlier build said holds no longer */
    for (int i = 0; i < j->n && !r; i++) {
        struct driver *d = &j->drivers[i];
        forget_signature(j, d);
        r = publish(j, &d->package.receipt_path, e);
        if (!r)
            r = publish(j, &d->spdx, e);
        if (!r && d->signature)
            r = publish(j, &d->signature, e);
        if (!r)
            r = publish(j, &d->package.path, e);
    }
    if (r) { /* both archives or none */
        for (int i = 0; i < j->n; i++) {
            const struct driver *d = &j->drivers[i];
            const char *const files[] = {d->package.path, d->package.receipt_path, d->spdx, d->signature};
            for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
                if (files[k])
                    unlink(files[k]);
            }
        }
        free(path);
        return r;
    }
    json_t *summary = summary_json(j, true);
    r = tp_cli_write_json(summary, path, e);
    if (!r && j->a->json)
        r = tp_cli_write_json(summary, j->a->json, e);
    free(path);
    json_decref(summary);
    for (int i = 0; i < j->n && !r; i++) {
        char *text = tp_asprintf("%s\n  sha256 %s", j->drivers[i].package.path,
                                 j->drivers[i].package.sha256);
        say(j, text);
        free(text);
    }
    if (!r && j->n == 2) {
        char *text = tp_asprintf("The first variant took %.0f s, the second %.1f s (%.1f %%).",
                                 j->drivers[0].seconds, j->drivers[1].seconds,
                                 100 * j->drivers[1].seconds / j->drivers[0].seconds);
        say(j, text);
        free(text);
    }
    return r;
}

static int prepare(struct job *j, struct tp_error *e)
{
    const struct tp_build_arguments *a = j->a;
    const char *name = a->target ? a->target : tp_target_default(a->ndk, a->sysroot);
    j->target = tp_target_find(name);
    if (!j->target)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--target", tp_target_names(),
                       "there is no target '%s'", name);
    int r = a->version ? tp_version_check(a->version, e) : 0;
    if (r)
        return r;
    j->patches_dir = a->patches ? tp_strdup(a->patches) : tp_data_path("patches", e);
    if (!j->patches_dir)
        return -ENOENT;
    r = tp_promises_check(j->patches_dir, e);
    if (r)
        return r;
    j->out = tp_absolute(a->out);
    char *all = tp_join(j->out, "work");
    j->work = tp_join(all, j->target->name);
    free(all);
    j->log = tp_join(j->work, "build.log");
    j->build_dir = tp_join(j->work, "build");
    j->packed = tp_join(j->work, "packed");
    j->req = (struct tp_build_request){
        .target = j->target,
        .build_dir = j->build_dir,
        .tools = {a->ndk, a->sysroot, a->launcher, a->jobs},
        .log_path = j->log,
        .on_progress = on_progress,
        .data = j,
    };
    r = tp_recipe_check(&j->req, NULL, e);
    /* A wrong password shows now, not after the build. */
    if (!r && a->key)
        r = tp_cli_key_load(a->key, a->password_fd, &j->key, e);
    return r;
}

static int work(struct job *j, struct tp_error *e)
{
    int r = prepare(j, e);
    if (!r)
        r = lock_out(j, e);
    if (!r)
        r = claim_work(j, e);
    if (!r) {
        unlink(j->log);
        r = tp_remove_tree(j->build_dir, e);
        if (!r)
            r = tp_remove_tree(j->packed, e);
        if (!r)
            r = tp_mkdirs(j->packed, e);
    }
    if (!r)
        r = get_source(j, e);
    for (const char *v = j->a->variants; *v && !r; v++) {
        struct driver *d = &j->drivers[j->n++];
        d->variant = *v;
        d->version = tp_driver_version(j->version, *v);
        char *name = tp_asprintf("libvulkan_freedreno-%c.so", *v);
        d->path = tp_join(j->work, name);
        free(name);
        /* drift of any variant shows before the first is compiled */
        r = patch(j, d, true, e);
    }
    j->req.tree = j->source.tree;
    j->req.revision = j->source.revision && *j->source.revision ? j->source.revision : NULL;
    j->req.source_date_epoch = j->source.epoch;
    for (int i = 0; i < j->n && !r; i++)
        r = build(j, i, e);
    if (!r)
        return finish(j, e);
    tell_failed_proof(j);
    return r;
}

int tp_build_job(const struct tp_build_arguments *a, struct tp_error *e)
{
    struct job j = {.a = a, .lock_fd = -1};
    j.quiet = a->quiet || (a->json && !strcmp(a->json, "-"));
    j.terminal = isatty(STDERR_FILENO) && !getenv("CI");
    const char *term = getenv("TERM");
    j.terminal = j.terminal && term && strcmp(term, "dumb") != 0;
    int r = work(&j, e);
    if (j.line_open)
        fputs("\r\033[K", stderr);
    if (r && j.log && tp_exists(j.log) && j.source.tree)
        fprintf(stderr, "turnpike build: the whole log is %s\n", j.log);
    for (int i = 0; i < j.n; i++) {
        struct driver *d = &j.drivers[i];
        json_decref(d->patches);
        json_decref(d->receipt);
        json_decref(d->proof);
        tp_package_result_finish(&d->package);
        free(d->spdx);
        free(d->signature);
        free(d->version);
        free(d->path);
    }
    tp_minisign_secret_free(j.key);
    json_decref(j.toolchain);
    tp_source_finish(&j.source);
    if (j.lock_fd >= 0)
        close(j.lock_fd);
    free(j.patches_dir);
    free(j.out);
    free(j.work);
    free(j.build_dir);
    free(j.packed);
    free(j.log);
    free(j.version);
    return r ? (int)e->status : TP_STATUS_OK;
}
