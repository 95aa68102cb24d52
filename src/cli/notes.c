/* turnpike notes: what a release says of itself. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/fs.h"
#include "base/json.h"
#include "cli/cli.h"
#include "factory/notes/notes.h"
#include "factory/notes/versions.h"
#include "factory/origin/receipt.h"
#include "factory/source/source.h"

struct arguments {
    const char *from, *to, *previous, *mesa, *summary, *version, *repo, *since, *next, *out;
};

/* What is gathered for the notes, and what could not be had. */
struct gathering {
    const struct arguments *a;
    json_t *summary;
    struct tp_marker marker; /* of the previous release */
    char *toolchain, *previous;
    char *source; /* as --mesa spells it */
    struct tp_history ours, mesa;
    struct tp_relnotes relnotes;
    char *version; /* of the tree whose release notes were read */
    bool has_ours, has_mesa, has_relnotes;
    struct tp_cli_list missing; /* of strings that are owned */
    struct tp_notes notes;
};

static const struct tp_command *const self = &tp_command_notes;

static void miss(struct gathering *g, char *sentence)
{
    char *shown = tp_printable(sentence);
    fprintf(stderr, "turnpike notes: missing: %s\n", shown);
    free(shown);
    tp_cli_list_add(&g->missing, sentence);
}

static void miss_error(struct gathering *g, const char *what, const struct tp_error *e)
{
    miss(g, tp_asprintf("%s: %s%s%s", what, e->where, *e->where ? ": " : "", e->what));
}

static void say(void *data, const char *text)
{
    (void)data;
    char *shown = tp_printable(text);
    fprintf(stderr, "turnpike notes: %s\n", shown);
    free(shown);
}

static int read_summary(struct gathering *g, struct tp_error *e)
{
    const char *file = g->a->summary;
    struct tp_buf b = {0};
    if (!file)
        return 0;
    int r = tp_read_file(file, 64 << 20, &b, e);
    json_error_t why;
    if (!r && !(g->summary = json_loadb(tp_buf_str(&b), b.len, 0, &why)))
        r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, file,
            "give the summary.json that turnpike build wrote", "is no JSON (line %d: %s)", why.line,
            why.text);
    else if (!r &&
        (!json_is_object(json_object_get(g->summary, "mesa")) ||
            !json_is_array(json_object_get(g->summary, "archives"))))
        r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, file,
            "give the summary.json that turnpike build wrote", "is not the summary of a build");
    tp_buf_finish(&b);
    return r;
}

/* The compiler, from the receipt beside the first archive. */
static void read_toolchain(struct gathering *g)
{
    const json_t *first = json_array_get(json_object_get(g->summary, "archives"), 0);
    const char *path = tp_json_text(first, "path"), *slash = strrchr(g->a->summary, '/');
    char *dir =
        slash ? tp_strndup(g->a->summary, (size_t)(slash - g->a->summary) + 1) : tp_strdup("");
    char *file = tp_asprintf("%s%s.receipt.json", dir, path);
    json_t *receipt = NULL;
    if (tp_is_below(path))
        tp_receipt_read(file, &receipt, NULL);
    const char *compiler = tp_json_text(json_object_get(receipt, "toolchain"), "compiler");
    if (*compiler)
        g->toolchain = tp_strdup(compiler);
    else
        miss(g, tp_asprintf("The toolchain: there is no %s.receipt.json that names it", path));
    json_decref(receipt);
    free(file);
    free(dir);
}

static void read_previous(struct gathering *g)
{
    struct tp_buf b = {0};
    struct tp_error e = {0};
    int r = tp_read_file(g->a->previous, 4 << 20, &b, &e);
    if (!r)
        r = tp_marker_read(tp_buf_str(&b), b.len, &g->marker, &e);
    if (r && !g->a->from)
        miss_error(g, "The beginning of Mesa's range", &e);
    tp_buf_finish(&b);
}

static enum tp_release_line line_of(const struct gathering *g)
{
    const char *target = tp_json_text(g->summary, "target");
    if (*target)
        return strstr(target, "android") ? TP_RELEASES_ANDROID : TP_RELEASES_LINUX;
    return g->a->version && !strncmp(g->a->version, "linux", 5) ? TP_RELEASES_LINUX
                                                                : TP_RELEASES_ANDROID;
}

/* Our commits since the release before this one. */
static void gather_ours(struct gathering *g)
{
    const char *dir = g->a->repo ? g->a->repo : ".";
    struct tp_error e = {0};
    char *tags = NULL;
    int r = 0;
    if (!g->a->since && !(r = tp_history_tags(dir, "HEAD", &tags, &e)))
        g->previous = tp_release_latest(line_of(g), tags, g->a->version);
    free(tags);
    struct tp_history_request req = {
        .from = g->a->since ? g->a->since : g->previous, .to = "HEAD", .max = TP_NOTES_MOST};
    if (!r)
        r = tp_history_of(dir, &req, &g->ours, &e);
    g->has_ours = !r;
    if (r)
        miss_error(g, "Our changes", &e);
    g->notes.since = g->has_ours ? req.from : NULL;
    g->notes.previous = g->a->since ? g->a->since : g->previous;
}

/* The release notes of Mesa's own in the tree of a folder, a tarball or a source package. */
static int gather_relnotes(
    struct gathering *g, const char *spec, const char *from, const char *to, struct tp_error *e)
{
    char *cache = NULL, *store = NULL, *temp = NULL, *dest = NULL, *dir = NULL;
    struct tp_source source = {0};
    int r = 0;
    if (tp_is_dir(spec)) {
        dir = tp_join(spec, "docs/relnotes");
    } else {
        cache = tp_cache_dir(e);
        store = cache ? tp_join(cache, "mesa") : NULL;
        r = store ? tp_mkdirs(store, e) : e->err;
        if (!r && !(temp = tp_temp_dir(store, e)))
            r = e->err;
        if (!r) {
            dest = tp_join(temp, "mesa");
            struct tp_source_request req = {.spec = spec, .dest = dest, .note = say};
            r = tp_source_get(&req, &source, e);
        }
        dir = r ? NULL : tp_join(source.tree, "docs/relnotes");
    }
    if (!r)
        r = tp_relnotes_read(dir, from, to ? to : source.version, &g->relnotes, e);
    g->has_relnotes = !r;
    if (!r && !g->relnotes.reaches && g->relnotes.n_releases)
        miss(g,
            tp_asprintf("The notes of Mesa %s itself: this source has them up to %s", to,
                g->relnotes.releases[g->relnotes.n_releases - 1]));
    if (!r && !to && source.version)
        g->version = tp_strdup(source.version);
    if (!r && !g->summary && source.kind && !strcmp(source.kind, "debian")) {
        free(g->source);
        g->source = tp_strdup(source.spec);
    }
    if (temp)
        tp_remove_tree(temp, NULL);
    tp_source_finish(&source);
    free(dir);
    free(dest);
    free(temp);
    free(store);
    free(cache);
    return r;
}

static const char *as_version(const char *text)
{
    struct tp_mesa_release unused;
    if (!text || !tp_mesa_release_parse(text, &unused))
        return NULL;
    return strncmp(text, "mesa-", 5) ? text : text + 5;
}

static const char *first_of(const char *a, const char *b)
{
    return a && *a ? a : b && *b ? b : NULL;
}

/* Release notes in place of commits, where both ends are known as versions. A wrong range is the
 * caller's mistake where it was asked for in so many words, and missing where it comes from an
 * earlier release. */
static int use_relnotes(struct gathering *g, const char *spec, struct tp_error *e)
{
    const struct arguments *a = g->a;
    const char *from = a->from ? as_version(a->from) : as_version(g->marker.version);
    const char *to = a->to
        ? as_version(a->to)
        : as_version(tp_json_text(json_object_get(g->summary, "mesa"), "version"));
    bool debian = !strcmp(spec, "debian") || !strncmp(spec, "debian:", 7) || !strcmp(spec, "auto");
    if (!from || (!to && a->to)) {
        miss(g,
            tp_asprintf("Mesa's changes: its release notes go by versions, and '%s' is none",
                from          ? a->to
                    : a->from ? a->from
                              : g->marker.revision));
        return 0;
    }
    char *exact = to && (!strcmp(spec, "debian") || !strcmp(spec, "auto"))
        ? tp_asprintf("debian:%s", to)
        : tp_strdup(spec);
    struct tp_error own = {0};
    int r = gather_relnotes(g, exact, from, to, &own);
    free(exact);
    bool mistake = own.status == TP_STATUS_INPUT && (a->from || !g->marker.version[0]) &&
        (!debian || own.err == -EINVAL);
    if (r == -EINTR || (r && mistake)) {
        *e = own;
        return r;
    }
    if (r)
        miss_error(g, "Mesa's changes", &own);
    return 0;
}

static int gather_mesa(struct gathering *g, struct tp_error *e)
{
    const struct arguments *a = g->a;
    const json_t *built = json_object_get(g->summary, "mesa");
    const char *spec = a->mesa ? a->mesa : "auto";
    const char *from = first_of(a->from, first_of(g->marker.revision, g->marker.version));
    const char *to =
        first_of(a->to, first_of(tp_json_text(built, "revision"), tp_json_text(built, "version")));
    bool possible;
    int r = tp_history_possible(spec, &possible, e);
    if (r || !from)
        return r;
    g->notes.range_from = from;
    g->notes.range_to = to ? to : "the newest";
    bool is_auto = !strcmp(spec, "auto");
    if (possible && to) {
        struct tp_history_request req = {
            .spec = spec, .from = from, .to = to, .paths = tp_notes_paths, .max = TP_NOTES_MOST};
        struct tp_error own = {0};
        r = tp_history_get(&req, &g->mesa, &own);
        g->has_mesa = !r;
        if (r == -EINTR || (r && own.status == TP_STATUS_INPUT && a->from && !is_auto)) {
            *e = own;
            return r;
        }
        if (r)
            miss_error(g, "Mesa's commits", &own);
        if (!r || !is_auto)
            return 0;
    } else if (possible && !is_auto) {
        miss(g,
            tp_strdup("Mesa's commits: neither --to nor the summary names the end of the range"));
        return 0;
    }
    return use_relnotes(g, spec, e);
}

static int gather(struct gathering *g, struct tp_error *e)
{
    const struct arguments *a = g->a;
    int r = read_summary(g, e);
    if (r)
        return r;
    if (g->summary)
        read_toolchain(g);
    if (a->previous)
        read_previous(g);
    const json_t *built = json_object_get(g->summary, "mesa");
    g->source = tp_strdup(tp_json_text(built, "source"));
    gather_ours(g);
    if ((r = gather_mesa(g, e)))
        return r;
    const char *version = first_of(tp_json_text(built, "version"),
        first_of(g->mesa.version, first_of(g->version, as_version(a->to))));
    const char *revision = first_of(tp_json_text(built, "revision"), g->mesa.to);
    struct tp_notes *n = &g->notes;
    n->version = a->version;
    n->mesa_version = version;
    n->mesa_revision = revision;
    /* A folder of this machine says nothing elsewhere. */
    n->mesa_source =
        first_of(g->source, g->mesa.place && strstr(g->mesa.place, "://") ? g->mesa.place : NULL);
    n->toolchain = g->toolchain;
    n->summary = g->summary;
    n->ours = g->has_ours ? &g->ours : NULL;
    n->mesa = g->has_mesa ? &g->mesa : NULL;
    n->relnotes = g->has_relnotes ? &g->relnotes : NULL;
    n->missing = g->missing.at;
    return 0;
}

static void gathering_finish(struct gathering *g)
{
    for (int i = 0; i < g->missing.n; i++)
        free((char *)g->missing.at[i]);
    tp_cli_list_finish(&g->missing);
    json_decref(g->summary);
    tp_history_finish(&g->ours);
    tp_history_finish(&g->mesa);
    tp_relnotes_finish(&g->relnotes);
    free(g->toolchain);
    free(g->previous);
    free(g->source);
    free(g->version);
}

static int write_notes(const struct arguments *a, const struct tp_notes *n, struct tp_error *e)
{
    struct tp_buf text = {0};
    int r = 0;
    tp_notes_add(&text, n);
    if (a->out && strcmp(a->out, "-") != 0) {
        r = tp_write_file(a->out, text.data, text.len, 0644, e);
    } else {
        fwrite(text.data, 1, text.len, stdout);
        r = tp_cli_flush(e);
    }
    tp_buf_finish(&text);
    return r;
}

/* The version that comes after the tags on standard input. */
static int next_version(const char *name, struct tp_error *e)
{
    enum tp_release_line line;
    if (!tp_release_line_find(name, &line))
        return tp_cli_usage(self, "--next-version is android or linux, not '%s'", name);
    struct tp_buf tags = {0};
    char chunk[4096];
    ssize_t n;
    while ((n = read(STDIN_FILENO, chunk, sizeof chunk)) > 0 && tags.len < (4u << 20))
        tp_buf_add(&tags, chunk, (size_t)n);
    int status = TP_STATUS_OK;
    if (n < 0) {
        tp_fail_errno(e, errno, "standard input", "the tags cannot be read");
        status = tp_cli_fail(self, e);
    } else {
        char *next = tp_release_next(line, tp_buf_str(&tags));
        puts(next);
        free(next);
        status = tp_cli_flush(e) ? tp_cli_fail(self, e) : TP_STATUS_OK;
    }
    tp_buf_finish(&tags);
    return status;
}

static int parse(int argc, char **argv, struct arguments *a)
{
    const struct {
        int letter;
        const char **field;
    } fields[] = {{'f', &a->from}, {'t', &a->to}, {'p', &a->previous}, {'m', &a->mesa},
        {'s', &a->summary}, {'V', &a->version}, {'r', &a->repo}, {'S', &a->since}, {'n', &a->next},
        {'o', &a->out}};
    for (int c; (c = tp_cli_option(self, argc, argv)) != -1;) {
        if (c == '?')
            return TP_STATUS_INPUT;
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            if (fields[i].letter == c)
                *fields[i].field = optarg;
        }
    }
    if (optind < argc)
        return tp_cli_usage(self, "one argument too many: '%s'", argv[optind]);
    if (a->next)
        return argc > 3 ? tp_cli_usage(self, "--next-version goes alone") : 0;
    if (a->from && !a->to && !a->summary)
        return tp_cli_usage(self, "give the end of the range with --to, or the build's --summary");
    if (!a->to && !a->summary && !a->previous)
        return tp_cli_usage(self, "give a range with --from and --to, or the build's --summary");
    return 0;
}

static int run(int argc, char **argv)
{
    struct arguments a = {0};
    struct tp_error e = {0};
    int status = parse(argc, argv, &a);
    if (status)
        return status;
    if (a.next)
        return next_version(a.next, &e);
    struct gathering g = {.a = &a};
    int r = a.out && strcmp(a.out, "-") != 0 ? tp_try_write(a.out, &e) : 0;
    if (!r)
        r = gather(&g, &e);
    if (!r)
        r = write_notes(&a, &g.notes, &e);
    gathering_finish(&g);
    return r ? tp_cli_fail(self, &e) : TP_STATUS_OK;
}

static const struct option options[] = {
    {"from", required_argument, NULL, 'f'},
    {"to", required_argument, NULL, 't'},
    {"previous", required_argument, NULL, 'p'},
    {"mesa", required_argument, NULL, 'm'},
    {"summary", required_argument, NULL, 's'},
    {"version", required_argument, NULL, 'V'},
    {"repo", required_argument, NULL, 'r'},
    {"since", required_argument, NULL, 'S'},
    {"next-version", required_argument, NULL, 'n'},
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

const struct tp_command tp_command_notes = {
    .name = "notes",
    .summary = "write a release's notes: what was built, and what changed",
    .help = "usage: turnpike notes --from REV --to REV [OPTIONS]\n"
            "       turnpike notes --summary out/summary.json [--previous TEXT] [OPTIONS]\n"
            "       turnpike notes --next-version android|linux < TAGS\n\n"
            "Markdown: a table, the variants, our commits, Mesa's that touch the driver. What "
            "cannot be had,\n"
            "for want of a network or otherwise, is named in them, and is no failure.\n\n"
            "  --from REV       Mesa's range: after this commit, tag or version ...\n"
            "  --to REV         ... up to and with this one (default: what the summary names)\n"
            "  --previous FILE  the text of the release before, which says where the range begins\n"
            "  --mesa SPEC      where Mesa's history is: git[:URL], a folder; or its release "
            "notes: a folder,\n"
            "                   a tarball, debian[:VERSION] (default auto: git, else debian)\n"
            "  --summary FILE   build's summary.json: archives, states of patches, toolchain\n"
            "  --version V      the release's own version, as its title\n"
            "  --repo DIR       the checkout that our commits are in (default: this folder's)\n"
            "  --since TAG      ... after this tag (default: the newest release of this platform)\n"
            "  -o, --output F   write there; - for standard output, the default\n"
            "  --next-version P the version after the tags on standard input, one a line\n\n"
            "Exit status: 0 written, 1 it could not be, 2 wrong usage or bad input.\n",
    .options = options,
    .run = run,
};
