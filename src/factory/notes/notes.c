#include "factory/notes/notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "factory/notes/markdown.h"

const char *const tp_notes_paths[] = {
    "src/freedreno", "src/util/u_gralloc", "src/vulkan/runtime", NULL};

static const char upstream_commits[] = "https://gitlab.freedesktop.org/mesa/mesa/-/commit/";
static const char upstream_place[] = "https://gitlab.freedesktop.org/mesa/mesa";

static bool known(const char *s)
{
    return s && *s;
}

static const char *plural(size_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

static void add_row(struct tp_buf *out, const char *name, const char *value)
{
    if (!known(value))
        return;
    tp_buf_addf(out, "| %s | ", name);
    struct tp_buf cell = {0};
    tp_md_code(&cell, value, 0);
    /* A table is split before its code is read. */
    for (const char *s = tp_buf_str(&cell); *s; s++)
        tp_buf_addf(out, "%s%c", *s == '|' ? "\\" : "", *s);
    tp_buf_adds(out, " |\n");
    tp_buf_finish(&cell);
}

static void add_table(struct tp_buf *out, const struct tp_notes *n)
{
    tp_buf_adds(out, "| | |\n|---|---|\n");
    add_row(out, "Mesa", known(n->mesa_version) ? n->mesa_version : "not known");
    add_row(out, "Mesa's revision", n->mesa_revision);
    add_row(out, "Mesa's source", n->mesa_source);
    add_row(
        out, "SHA-256 of its tarball", tp_json_text(json_object_get(n->summary, "mesa"), "sha256"));
    add_row(out, "Target", tp_json_text(n->summary, "target"));
    add_row(out, "Toolchain", known(n->toolchain) ? n->toolchain : "not known");
    add_row(out, "Previous release", known(n->previous) ? n->previous : "none");
}

static const char *variant_name(const char *variant)
{
    return !strcmp(variant, "b") ? "balanced" : !strcmp(variant, "p") ? "performance" : "?";
}

/* What a variant made of one patch, as a text to compare: its state and the forms of its edits. */
static char *made(const json_t *patch)
{
    struct tp_buf b = {0};
    size_t i;
    json_t *edit;
    tp_buf_adds(&b, tp_json_text(patch, "state"));
    json_array_foreach(json_object_get(patch, "edits"), i, edit)
    {
        if (!strcmp(tp_json_text(edit, "state"), "applied") ||
            !strcmp(tp_json_text(edit, "state"), "already"))
            tp_buf_addf(&b, "\n%s\t%s", tp_json_text(edit, "file"), tp_json_text(edit, "form"));
    }
    return tp_buf_take(&b);
}

static const json_t *patches_of(const json_t *summary, const char *variant)
{
    const json_t *one = tp_json_find(json_object_get(summary, "patches"), "variant", variant);
    return json_object_get(one, "patches");
}

/* Adds the ids in `from` that the other variant has not, or (also_changed) has otherwise. */
static void add_different(
    struct tp_buf *out, const json_t *from, const json_t *other, bool also_changed)
{
    size_t i;
    json_t *one;
    json_array_foreach(from, i, one)
    {
        const json_t *twin = tp_json_find(other, "id", tp_json_text(one, "id"));
        char *a = made(one), *b = twin ? made(twin) : NULL;
        /* A patch that one variant lacks differs only where the other one really has it. */
        bool here = !strcmp(tp_json_text(one, "state"), "applied") ||
            !strcmp(tp_json_text(one, "state"), "already");
        if (twin ? also_changed && strcmp(a, b) != 0 : here)
            tp_buf_addf(out, "%s%s", out->len ? "\n" : "", tp_json_text(one, "id"));
        free(a);
        free(b);
    }
}

char *tp_notes_difference(const json_t *summary)
{
    const json_t *b = patches_of(summary, "b"), *p = patches_of(summary, "p");
    if (!b || !p)
        return NULL;
    struct tp_buf out = {0};
    add_different(&out, b, p, true);
    add_different(&out, p, b, false);
    return tp_buf_take(&out);
}

static void add_difference(struct tp_buf *out, const json_t *summary)
{
    char *ids = tp_notes_difference(summary);
    if (!ids)
        return;
    tp_buf_adds(out, "\n");
    if (!*ids)
        tp_buf_adds(out, "`b` and `p` are the same but for their label.\n");
    else if (!strcmp(ids, "power-max"))
        tp_buf_adds(out,
            "`b` and `p` differ only by power: `p` asks KGSL for the highest level while a "
            "game runs (`power-max`).\n");
    else {
        tp_buf_adds(out, "`b` and `p` differ by these patches: ");
        char *save = NULL;
        const char *sep = "";
        for (char *id = strtok_r(ids, "\n", &save); id; id = strtok_r(NULL, "\n", &save)) {
            tp_buf_adds(out, sep);
            tp_md_code(out, id, 0);
            sep = ", ";
        }
        tp_buf_adds(out, ".\n");
    }
    free(ids);
}

static void add_drivers(struct tp_buf *out, const json_t *summary)
{
    const json_t *archives = json_object_get(summary, "archives");
    if (!json_array_size(archives))
        return;
    tp_buf_adds(out, "\n## Variants\n\n");
    size_t i;
    json_t *one;
    json_array_foreach(archives, i, one)
    {
        tp_buf_adds(out, "- ");
        tp_md_code(out, tp_json_text(one, "variant"), 0);
        tp_buf_addf(out, ", %s: ", variant_name(tp_json_text(one, "variant")));
        tp_md_code(out, tp_json_text(one, "path"), 0);
        tp_buf_adds(out, ", loads as ");
        tp_md_code(out, tp_json_text(one, "driver_version"), 0);
        tp_buf_adds(out, ", SHA-256 ");
        tp_md_code(out, tp_json_text(one, "sha256"), 0);
        tp_buf_adds(out, "\n");
    }
    add_difference(out, summary);
}

static void add_more(struct tp_buf *out, size_t listed, size_t all)
{
    if (all > listed)
        tp_buf_addf(out, "\nand %zu more.\n", all - listed);
}

static void add_commits(struct tp_buf *out, const struct tp_history *h, bool links)
{
    for (size_t i = 0; i < h->n && i < TP_NOTES_MOST; i++) {
        const struct tp_commit *c = &h->commits[i];
        if (links)
            tp_buf_addf(out, "- [`%.12s`](%s%s) ", c->hash, upstream_commits, c->hash);
        else
            tp_buf_addf(out, "- `%.12s` ", c->hash);
        tp_md_code(out, c->subject, 0);
        tp_buf_adds(out, "\n");
    }
    add_more(out, h->n < TP_NOTES_MOST ? h->n : TP_NOTES_MOST, h->touching);
}

static void add_ours(struct tp_buf *out, const struct tp_notes *n)
{
    if (!n->ours)
        return;
    tp_buf_adds(out, "\n## Our changes");
    if (known(n->since)) {
        tp_buf_adds(out, " since ");
        tp_md_code(out, n->since, 0);
    }
    tp_buf_adds(out, "\n\n");
    if (n->ours->all)
        add_commits(out, n->ours, false);
    else
        tp_buf_adds(out, "None: the same patches on another Mesa.\n");
}

static void add_mesa_commits(struct tp_buf *out, const struct tp_history *h)
{
    if (!h->all) {
        tp_buf_adds(out, "None: the end of the range has no commit that its beginning lacks.\n");
        return;
    }
    if (h->touching)
        tp_buf_addf(out, "%zu of %zu %s touch%s ", h->touching, h->all,
            plural(h->all, "commit", "commits"), plural(h->touching, "es", ""));
    else if (h->all > 1)
        tp_buf_addf(out, "None of the %zu commits touches ", h->all);
    else
        tp_buf_adds(out, "The one commit does not touch ");
    for (size_t i = 0; tp_notes_paths[i]; i++)
        tp_buf_addf(out, "%s`%s`",
            i == 0                      ? ""
                : tp_notes_paths[i + 1] ? ", "
                                        : " or ",
            tp_notes_paths[i]);
    tp_buf_adds(out, ".\n");
    if (!h->straight)
        tp_buf_adds(out,
            "The end of the range does not descend from its beginning: these are the commits "
            "that only the end has.\n");
    tp_buf_adds(out, h->touching ? "\n" : "");
    add_commits(out, h, !strncmp(h->place, upstream_place, strlen(upstream_place)));
}

/* How many entries each series of releases has: "25.0 (25.0.0 to 25.0.7): 12". */
static void add_series(struct tp_buf *out, const struct tp_relnotes *r)
{
    for (size_t end = r->n_releases; end;) {
        struct tp_mesa_release last, one;
        tp_mesa_release_parse(r->releases[end - 1], &last);
        size_t first = end, entries = 0;
        while (first && tp_mesa_release_parse(r->releases[first - 1], &one) &&
            one.part[0] == last.part[0] && one.part[1] == last.part[1])
            first--;
        for (size_t i = 0; i < r->n; i++) {
            for (size_t k = first; k < end; k++)
                entries += r->at[i].version == r->releases[k];
        }
        tp_buf_addf(out, "| %u.%u | %s", last.part[0], last.part[1], r->releases[first]);
        if (end - first > 1)
            tp_buf_addf(out, " to %s", r->releases[end - 1]);
        tp_buf_addf(out, " | %zu |\n", entries);
        end = first;
    }
}

static void add_relnotes(struct tp_buf *out, const struct tp_relnotes *r)
{
    static const char *const titles[] = {"New", "Fixed", "Changes"};
    tp_buf_addf(out,
        "From the notes of %zu %s of Mesa's: what names Turnip, Freedreno, ir3, KGSL or the Vulkan "
        "runtime "
        "(%zu of %zu changes). What several releases list counts for the first.\n\n"
        "| Series | Releases | Entries |\n|---|---|---|\n",
        r->n_releases, plural(r->n_releases, "release", "releases"), r->of_kind[TP_RELNOTE_CHANGE],
        r->all);
    add_series(out, r);
    for (int kind = 0; kind < TP_RELNOTE_KINDS; kind++) {
        size_t listed = 0;
        if (r->of_kind[kind])
            tp_buf_addf(out, "\n### %s\n\n", titles[kind]);
        for (size_t i = 0; i < r->n && listed < TP_NOTES_MOST; i++) {
            if ((int)r->at[i].kind != kind)
                continue;
            tp_buf_addf(out, "- %s: ", r->at[i].version);
            tp_md_code(out, r->at[i].text, 0);
            tp_buf_adds(out, "\n");
            listed++;
        }
        add_more(out, listed, r->of_kind[kind]);
    }
}

static void add_mesa(struct tp_buf *out, const struct tp_notes *n)
{
    if (!n->range_from)
        return;
    tp_buf_adds(out, "\n## Mesa's changes, ");
    tp_md_code(out, n->range_from, 0);
    tp_buf_adds(out, " to ");
    tp_md_code(out, n->range_to, 0);
    tp_buf_adds(out, "\n\n");
    if (n->mesa)
        add_mesa_commits(out, n->mesa);
    else if (n->relnotes && n->relnotes->n_releases)
        add_relnotes(out, n->relnotes);
    else if (n->relnotes)
        tp_buf_adds(out, "None: it is the same release.\n");
    else
        tp_buf_adds(out, "Not known; see below.\n");
}

void tp_notes_add(struct tp_buf *out, const struct tp_notes *n)
{
    if (known(n->version)) {
        tp_buf_adds(out, "# ");
        tp_md_code(out, n->version, 0);
        tp_buf_adds(out, "\n\n");
    }
    add_table(out, n);
    add_drivers(out, n->summary);
    add_ours(out, n);
    add_mesa(out, n);
    if (n->missing && *n->missing) {
        tp_buf_adds(out, "\n## Missing from these notes\n\n");
        for (const char *const *s = n->missing; *s; s++) {
            tp_buf_adds(out, "- ");
            tp_md_code(out, *s, 400);
            tp_buf_adds(out, "\n");
        }
    }
    struct tp_marker marker = {0};
    if (known(n->mesa_revision))
        snprintf(marker.revision, sizeof marker.revision, "%s", n->mesa_revision);
    if (known(n->mesa_version))
        snprintf(marker.version, sizeof marker.version, "%s", n->mesa_version);
    tp_buf_adds(out, "\n");
    tp_marker_add(out, &marker);
}
