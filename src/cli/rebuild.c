/* turnpike rebuild: an archive built again from its receipt, and compared. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "cli/build.h"
#include "cli/toolchain.h"
#include "factory/origin/rebuild.h"
#include "factory/recipe/recipe.h"
#include "revision.h"

struct rebuild {
    const char *archive, *receipt_path, *mesa, *json;
    struct tp_build_arguments build;
    json_t *receipt;
    struct tp_plan plan;
    struct tp_differences before, after, claims;
    struct tp_rebuild_known known;
    json_t *source; /* Mesa as it came in here, in the receipt's form */
    int64_t epoch;  /* and its date, seconds */
    char *made;     /* the archive that was built */
    char *commit;   /* what the archive has for buildCommit, where all else is the same */
    bool equal, quiet;
};

/* One line, whatever a receipt or a file's name has in it. */
static void say(const struct rebuild *b, const char *text)
{
    char *clean = tp_printable_line(text);
    fprintf(b->quiet ? stderr : stdout, "%s\n", clean);
    fflush(stdout);
    free(clean);
}

/* Those that decide, the others, or both. */
enum which { OTHERS, DECIDING, ALL };

static size_t count(const struct tp_differences *d, enum which which)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        n += which == ALL || d->at[i].decides == (which == DECIDING);
    return n;
}

static void say_differences(
    const struct rebuild *b, const struct tp_differences *d, enum which which)
{
    for (size_t i = 0; i < d->n; i++) {
        if (which != ALL && d->at[i].decides != (which == DECIDING))
            continue;
        char *line = tp_asprintf("  %s: %s", d->at[i].where, d->at[i].text);
        say(b, line);
        free(line);
    }
}

/* ---- before ---- */

static int read_receipt(struct rebuild *b, struct tp_error *e)
{
    char *beside = tp_asprintf("%s.receipt.json", b->archive), sum[TP_SHA256_HEX];
    const char *path = b->receipt_path ? b->receipt_path : beside;
    static const char tail[] = ".receipt.json";
    size_t n = strlen(b->archive), m = sizeof tail - 1;
    int fd = tp_open_regular(b->archive, NULL, e), r = fd < 0 ? fd : close(fd);
    if (!r && n > m && !strcmp(b->archive + n - m, tail))
        r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, b->archive,
            "name the archive, and the receipt with --receipt where it lies elsewhere",
            "is a receipt, not an archive");
    if (!r && !b->receipt_path && !tp_exists(beside))
        r = tp_fail(e, TP_STATUS_INPUT, -ENOENT, beside, "put it there, or name it with --receipt",
            "there is no receipt beside the archive");
    if (!r)
        r = tp_receipt_read(path, &b->receipt, e);
    if (!r)
        r = tp_plan_read(b->receipt, path, &b->plan, e);
    if (!r)
        r = tp_sha256_file(b->archive, sum, e);
    if (!r && strcmp(sum, b->plan.archive_sha256))
        r = tp_fail(e, TP_STATUS_FAILED, -EINVAL, b->archive,
            "get both once more from their maker, and verify the archive's signature",
            "is not the archive of this receipt: its SHA-256 is %s, the receipt says %s", sum,
            b->plan.archive_sha256);
    free(beside);
    return r;
}

static int look_at_patches(struct rebuild *b, struct tp_error *e)
{
    char *dir = b->build.patches ? tp_strdup(b->build.patches) : tp_data_path("patches", e);
    struct tp_patch_set set = {0};
    int r = dir ? tp_patch_set_read(dir, &set, e) : -ENOENT;
    if (!r)
        tp_rebuild_compare_patches(b->receipt, &b->plan, &set, &b->before);
    tp_patch_set_finish(&set);
    free(dir);
    return r;
}

static int look_at_tools(struct rebuild *b, const struct tp_target *target, struct tp_error *e)
{
    const struct tp_build_arguments *a = &b->build;
    struct tp_build_request req = {
        .target = target,
        .build_dir = a->out,
        .tools = {a->ndk, a->sysroot, NULL, 0},
    };
    json_t *here = NULL;
    int r = tp_cli_toolchain(&req, &here, e);
    if (!r)
        tp_rebuild_compare_tools(b->receipt, here, &b->before);
    json_decref(here);
    return r;
}

/* --mesa, or what the receipt names where that can be trusted. *spec: the caller's. */
static int choose_source(struct rebuild *b, char **spec, struct tp_error *e)
{
    const struct tp_plan *p = &b->plan;
    *spec = b->mesa ? tp_strdup(b->mesa) : tp_plan_source(p, TP_SOURCE_GIT_URL);
    if (*spec)
        return 0;
    return tp_fail(e, TP_STATUS_MISSING, -ENOENT, "Mesa",
        "get that source, and name it with --mesa: building runs what it says, so it is "
        "taken from no other place unasked",
        "the archive was built from Mesa %s (%s%s%s%s%s%s%s)", p->mesa.version, p->mesa.kind,
        *p->mesa.spec ? ", " : "", p->mesa.spec, *p->mesa.revision ? ", revision " : "",
        p->mesa.revision, *p->mesa.sha256 ? ", SHA-256 " : "", p->mesa.sha256);
}

static int look(struct rebuild *b, const struct tp_target *target, struct tp_error *e)
{
    int r = look_at_patches(b, e);
    if (!r)
        r = look_at_tools(b, target, e);
    if (r)
        return r;
    const char *turnpike = b->plan.build_commit;
    if (strcmp(turnpike, TP_REVISION))
        tp_differences_add(&b->before, false, "turnpike", "its revision was %s; this is %s",
            *turnpike ? turnpike : "not told", TP_REVISION);
    if (b->before.n) {
        say(b, "What is otherwise here than it was then:");
        say_differences(b, &b->before, ALL);
    }
    if (!tp_differences_decide(&b->before))
        return 0;
    char *todo = tp_asprintf(
        "use the turnpike that built it: revision %s", *turnpike ? turnpike : "unknown");
    r = tp_fail(e, TP_STATUS_MISSING, -ENOENT, b->archive, todo,
        "cannot be built again with other patches than its own");
    free(todo);
    return r;
}

/* ---- the build ---- */

/* What came in, before the receipt's word is taken for what it does not say of itself. */
static void note_source(struct rebuild *b, const struct tp_source *s)
{
    const struct tp_plan *p = &b->plan;
    char *notes = tp_asprintf("%s/docs/relnotes/%s.rst", s->tree, s->version);
    b->source = json_pack("{s:s, s:s, s:s*, s:s*}", "version", s->version, "source", s->kind,
        "revision", *s->revision ? s->revision : NULL, "sha256", *s->sha256 ? s->sha256 : NULL);
    b->epoch = s->epoch;
    b->known.same_turnpike = *p->build_commit && strcmp(TP_REVISION, "unknown") != 0 &&
        !strcmp(p->build_commit, TP_REVISION);
    b->known.same_tarball = *s->sha256 && !strcmp(s->sha256, p->mesa.sha256);
    bool same_commit = *s->revision && !strcmp(s->revision, p->mesa.revision);
    b->known.epoch_known = b->known.same_tarball || same_commit || tp_exists(notes);
    free(notes);
}

/* What the user gives need not say of itself what the receipt says of it: an unpacked tarball has
 * neither hash nor commit. It is taken for that; the bytes decide whether it is. */
static int on_source(void *data, struct tp_source *s, struct tp_error *e)
{
    struct rebuild *b = data;
    const struct tp_plan *p = &b->plan;
    struct tp_differences d = {0};
    tp_rebuild_compare_mesa(p, s->version, s->revision, s->sha256, &d);
    int r = 0;
    if (d.n)
        r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, s->spec,
            "name the source that the receipt tells of", "is another Mesa: %s", d.at[0].text);
    tp_differences_finish(&d);
    if (r)
        return r;
    note_source(b, s);
    free(s->kind);
    free(s->revision);
    s->kind = tp_strdup(p->mesa.kind);
    s->revision = tp_strdup(p->mesa.revision);
    s->epoch = p->epoch;
    return 0;
}

static int build(struct rebuild *b, const char *spec, struct tp_error *e)
{
    struct tp_build_arguments *a = &b->build;
    const char variant[] = {b->plan.variant, 0};
    a->mesa = spec;
    a->target = b->plan.target;
    a->version = b->plan.version;
    memcpy(a->variants, variant, sizeof variant);
    a->no_prove = true; /* equal bytes need no second proof */
    a->password_fd = -1;
    a->on_source = on_source;
    a->data = b;
    for (const char **id = b->plan.with; *id; id++)
        tp_cli_list_add(&a->with, *id);
    for (const char **id = b->plan.without; *id; id++)
        tp_cli_list_add(&a->without, *id);
    a->quiet = b->quiet;
    return tp_build_job(a, e) ? (e->err ? e->err : -EIO) : 0;
}

/* ---- after ---- */

/* The receipt's claims against what was built: the archive, but for buildCommit perhaps. */
static int look_at_claims(struct rebuild *b, struct tp_error *e)
{
    char *path = tp_asprintf("%s.receipt.json", b->made);
    json_t *is = NULL;
    int r = tp_receipt_read(path, &is, e);
    free(path);
    if (r)
        return r;
    json_t *spec = json_object_get(json_object_get(is, "mesa"), "spec");
    if (spec)
        json_object_set(b->source, "spec", spec);
    json_object_set(is, "mesa", b->source);
    json_object_set_new(is, "source_date_epoch", json_integer(b->epoch));
    if (b->commit) {
        json_object_set_new(is, "build_commit", json_string(b->commit));
        json_object_set_new(json_object_get(is, "meta"), "buildCommit", json_string(b->commit));
        json_object_set_new(
            json_object_get(is, "archive"), "sha256", json_string(b->plan.archive_sha256));
    }
    tp_rebuild_compare_receipts(b->receipt, is, &b->known, &b->claims);
    json_decref(is);
    return 0;
}

static int compare(struct rebuild *b, struct tp_error *e)
{
    int r = tp_rebuild_compare(b->archive, b->made, &b->equal, &b->after, e);
    if (r)
        return r;
    if (b->equal || tp_rebuild_only_commit(b->archive, b->made, &b->commit))
        return look_at_claims(b, e);
    /* a driver may hold the date with which it was built here at the receipt's word */
    if (b->known.epoch_known && b->epoch != b->plan.epoch)
        tp_differences_add(&b->after, true, "source_date_epoch", "is said to be %lld; it is %lld",
            (long long)b->plan.epoch, (long long)b->epoch);
    return 0;
}

static void say_claims(const struct rebuild *b)
{
    size_t bad = count(&b->claims, DECIDING), open = count(&b->claims, OTHERS);
    if (bad) {
        say(b, "The receipt says what is not so:");
        say_differences(b, &b->claims, DECIDING);
    }
    if (open) {
        say(b, "What the receipt says of these can be neither proved nor disproved here:");
        say_differences(b, &b->claims, OTHERS);
    }
}

static json_t *differences_json(const struct tp_differences *d)
{
    json_t *all = json_array();
    for (size_t i = 0; i < d->n; i++) {
        char *where = tp_printable(d->at[i].where), *text = tp_printable(d->at[i].text);
        json_array_append_new(all,
            json_pack(
                "{s:s, s:b, s:s}", "where", where, "decides", d->at[i].decides, "text", text));
        free(text);
        free(where);
    }
    return all;
}

static int report(struct rebuild *b, struct tp_error *e)
{
    bool honest = !tp_differences_decide(&b->claims);
    if (b->equal) {
        say(b,
            !honest           ? "The bytes agree; the receipt does not."
                : b->claims.n ? "The bytes agree, and what can be checked of the receipt with them."
                              : "The bytes agree: this archive is what its receipt says.");
    } else {
        say(b, "The bytes differ:");
        say_differences(b, &b->after, ALL);
    }
    if (b->commit)
        say(b, "That is all: the driver and the rest of meta.json are the same.");
    say_claims(b);
    if (!b->equal && !b->commit) {
        char *hint = tp_asprintf("To look deeper: diffoscope %s %s", b->archive, b->made);
        say(b, hint);
        free(hint);
    }
    if (!b->json)
        return tp_cli_flush(e);
    char *archive = tp_printable(b->archive), *made = tp_printable(b->made);
    json_t *j = json_pack("{s:s, s:i, s:s, s:s, s:b, s:s, s:b, s:o, s:o, s:o}", "turnpike",
        TP_VERSION, "schema", 1, "archive", archive, "rebuilt", made, "equal", b->equal, "sha256",
        b->plan.archive_sha256, "only_build_commit", b->commit != NULL, "before",
        differences_json(&b->before), "differences", differences_json(&b->after), "receipt",
        differences_json(&b->claims));
    int r = tp_cli_write_json(j, b->json, e);
    json_decref(j);
    free(made);
    free(archive);
    return r;
}

static int work(struct rebuild *b, struct tp_error *e)
{
    char *spec = NULL;
    int r = read_receipt(b, e);
    const struct tp_target *target = r ? NULL : tp_target_find(b->plan.target);
    if (!r && !target)
        r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, b->archive, tp_target_names(),
            "its receipt names a target that is not known here: %s", b->plan.target);
    if (!r)
        b->made = tp_join(b->build.out, b->plan.archive);
    if (!r && tp_is_same_file(b->made, b->archive))
        r = tp_fail(e, TP_STATUS_INPUT, -EEXIST, b->build.out, "name another --out",
            "the archive itself lies there, and would be replaced");
    if (!r)
        r = choose_source(b, &spec, e);
    if (!r)
        r = look(b, target, e);
    if (!r)
        r = build(b, spec, e);
    if (!r && !tp_is_file(b->made)) /* the receipt's name is not what this version calls it */
        r = tp_fail(e, TP_STATUS_FAILED, -ENOENT, b->made, NULL,
            "was not built: the archive has another name");
    if (!r)
        r = compare(b, e);
    if (!r)
        r = report(b, e);
    free(spec);
    return r;
}

static int parse(int argc, char **argv, struct rebuild *b)
{
    const struct tp_command *cmd = &tp_command_rebuild;
    struct tp_build_arguments *a = &b->build;
    const struct {
        int letter;
        const char **field;
    } strings[] = {{'r', &b->receipt_path}, {'m', &b->mesa}, {'o', &a->out}, {'n', &a->ndk},
        {'s', &a->sysroot}, {'l', &a->launcher}, {'p', &a->patches}, {'j', &b->json}};
    for (int c; (c = tp_cli_option(cmd, argc, argv)) != -1;) {
        if (c == '?')
            return TP_STATUS_INPUT;
        for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
            if (c == strings[i].letter)
                *strings[i].field = optarg;
        }
        if (c == 'J' && tp_build_parse_jobs(cmd, optarg, &a->jobs))
            return TP_STATUS_INPUT;
    }
    if (optind + 1 != argc)
        return tp_cli_usage(cmd, "give one archive to build again");
    b->archive = argv[optind];
    b->quiet = b->json && !strcmp(b->json, "-");
    return tp_cli_operands(cmd, argc, argv);
}

static int run(int argc, char **argv)
{
    struct rebuild b = {.build = {.out = "rebuilt"}};
    struct tp_error e = {0};
    int status = parse(argc, argv, &b);
    if (!status && work(&b, &e))
        status = tp_cli_fail(&tp_command_rebuild, &e);
    else if (!status)
        status = b.equal && !tp_differences_decide(&b.claims) ? TP_STATUS_OK : TP_STATUS_FAILED;
    tp_cli_list_finish(&b.build.with);
    tp_cli_list_finish(&b.build.without);
    tp_differences_finish(&b.before);
    tp_differences_finish(&b.after);
    tp_differences_finish(&b.claims);
    tp_plan_finish(&b.plan);
    json_decref(b.receipt);
    json_decref(b.source);
    free(b.commit);
    free(b.made);
    return status;
}

static const struct option options[] = {
    {"receipt", required_argument, NULL, 'r'},
    {"mesa", required_argument, NULL, 'm'},
    {"out", required_argument, NULL, 'o'},
    {"ndk", required_argument, NULL, 'n'},
    {"sysroot", required_argument, NULL, 's'},
    {"launcher", required_argument, NULL, 'l'},
    {"jobs", required_argument, NULL, 'J'},
    {"patches", required_argument, NULL, 'p'},
    {"json", required_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

const struct tp_command tp_command_rebuild = {
    .name = "rebuild",
    .summary = "build an archive again from its receipt, and compare",
    .help =
        "usage: turnpike rebuild ARCHIVE [OPTIONS]\n\n"
        "Reads ARCHIVE.receipt.json, says what is otherwise here than it was then (patches, "
        "tools,\n"
        "turnpike itself), builds the same thing again and compares: the archive, the driver "
        "section\n"
        "by section, meta.json field by field. Where the bytes agree, each field of the receipt is "
        "held\n"
        "against what was built.\n\n"
        "  --receipt FILE  the receipt, where it is not beside the archive\n"
        "  --mesa SPEC     Mesa's source, as for build (default: what the receipt names, where "
        "that\n"
        "                  is Mesa's own git or Debian)\n"
        "  --out DIR       where it is built again (default: rebuilt)\n"
        "  --patches DIR   the folder of patches (default: turnpike's own)\n"
        "  --ndk DIR, --sysroot DIR, --launcher CMD, --jobs N\n"
        "                  as for build\n"
        "  --json FILE     the result as JSON; - for standard output\n\n"
        "Exit status: 0 the bytes agree, and the receipt says nothing that is not so; 1 they "
        "differ,\n"
        "or it does; 2 wrong usage or bad input; 3 something is missing here: Mesa's source, the\n"
        "patches, a tool.\n",
    .options = options,
    .run = run,
};
