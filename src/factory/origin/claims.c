/* What a receipt says, held against the receipt that the rebuild wrote. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "factory/origin/rebuild.h"

/* Fields told by name; of more, how many. */
#define MOST_TOLD 24u
/* Nothing that a build writes is deeper. */
#define MOST_DEEP 16

struct claims {
    const json_t *is; /* the whole of the rebuild's receipt */
    const struct tp_rebuild_known *known;
    struct tp_differences *out;
    size_t told[2], more[2]; /* by whether they decide */
};

/* What becomes of a field that differs. */
enum rule { FALSE_CLAIM, NOT_KNOWN_HERE, NO_MATTER };

static bool is_below(const char *path, const char *object)
{
    size_t n = strlen(object);
    return !strncmp(path, object, n) && (!path[n] || path[n] == '.' || path[n] == '[');
}

static bool ends_in(const char *path, const char *key)
{
    size_t n = strlen(path), m = strlen(key);
    return n > m && path[n - m - 1] == '.' && !strcmp(path + n - m, key);
}

/* What the tools and the source are is the machine's and the user's to say; what an equal source or an
 * equal turnpike must give again is not. */
static enum rule rule_of(const struct claims *c, const char *path)
{
    const struct tp_rebuild_known *k = c->known;
    const char *built_by = tp_json_text(json_object_get(c->is, "meta"), "buildCommit");
    if (!strcmp(path, "toolchain.launcher")) /* how a compiler is started is none of what it makes */
        return NO_MATTER;
    if (is_below(path, "toolchain") || !strcmp(path, "mesa.spec") || !strcmp(path, "mesa.source") ||
        !strcmp(path, "mesa.sha256"))
        return NOT_KNOWN_HERE;
    if (!strcmp(path, "mesa.revision"))
        return k->same_tarball ? FALSE_CLAIM : NOT_KNOWN_HERE;
    if (!strcmp(path, "source_date_epoch"))
        return k->epoch_known ? FALSE_CLAIM : NOT_KNOWN_HERE;
    if (!strcmp(path, "build_commit")) /* a Linux archive holds it */
        return *built_by ? FALSE_CLAIM : NOT_KNOWN_HERE;
    if (!k->same_turnpike && (!strcmp(path, "turnpike") || !strcmp(path, "patch_receipt.turnpike") ||
                              ends_in(path, "reason")))
        return NOT_KNOWN_HERE;
    return FALSE_CLAIM;
}

static char *shown(const json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT), *copy;
    bool whole = text && strlen(text) <= 120;
    copy = tp_asprintf("%.*s%s", 120, text ? text : "?", whole ? "" : "...");
    free(text);
    return copy;
}

/* was or is: NULL where that receipt is silent. */
static void add(struct claims *c, const char *path, const json_t *was, const json_t *is)
{
    enum rule rule = rule_of(c, path);
    /* Receipts grow: one of another revision may have more or fewer fields. */
    if (rule == FALSE_CLAIM && !c->known->same_turnpike && !is)
        rule = NOT_KNOWN_HERE;
    if (!was && (rule == NOT_KNOWN_HERE || !c->known->same_turnpike))
        rule = NO_MATTER;
    if (rule == NO_MATTER)
        return;
    bool decides = rule == FALSE_CLAIM;
    if (c->told[decides] >= MOST_TOLD) {
        c->more[decides]++;
        return;
    }
    c->told[decides]++;
    char *a = was ? shown(was) : NULL, *b = is ? shown(is) : NULL;
    if (!was)
        tp_differences_add(c->out, decides, path, "is left out; it is %s", b);
    else if (!decides)
        tp_differences_add(c->out, false, path, "%s", a);
    else
        tp_differences_add(c->out, true, path, "is said to be %s; it is %s", a,
                           is ? b : "nothing that a build tells");
    free(b);
    free(a);
}

static void compare(struct claims *c, const char *path, const json_t *was, const json_t *is, int depth)
{
    was = json_is_null(was) ? NULL : was;
    is = json_is_null(is) ? NULL : is;
    if ((!was && !is) || (was && is && json_equal(was, is)))
        return;
    const char *key, *dot = *path ? "." : "";
    json_t *value;
    if (depth < MOST_DEEP && json_is_object(was) && json_is_object(is)) {
        json_object_foreach((json_t *)was, key, value)
        {
            char *at = tp_asprintf("%s%s%s", path, dot, key);
            compare(c, at, value, json_object_get(is, key), depth + 1);
            free(at);
        }
        json_object_foreach((json_t *)is, key, value)
        {
            char *at = tp_asprintf("%s%s%s", path, dot, key);
            if (!json_object_get(was, key))
                compare(c, at, NULL, value, depth + 1);
            free(at);
        }
    } else if (depth < MOST_DEEP && json_is_array(was) && json_is_array(is) &&
               json_array_size(was) == json_array_size(is)) {
        for (size_t i = 0; i < json_array_size(was); i++) {
            char *at = tp_asprintf("%s[%zu]", path, i);
            compare(c, at, json_array_get(was, i), json_array_get(is, i), depth + 1);
            free(at);
        }
    } else {
        add(c, path, was, is);
    }
}

void tp_rebuild_compare_receipts(const json_t *was, const json_t *is, const struct tp_rebuild_known *known,
                                 struct tp_differences *out)
{
    struct claims c = {.is = is, .known = known, .out = out};
    compare(&c, "", was, is, 0);
    for (int decides = 0; decides < 2; decides++) {
        if (c.more[decides])
            tp_differences_add(out, decides, "the receipt", "%zu more fields", c.more[decides]);
    }
}
