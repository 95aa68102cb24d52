/* Proof lines read for their own sake: what is wrong in one shows before anything is built or run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/parts.h"
#include "base/proc.h"
#include "factory/edit/patchfile.h"
#include "factory/prove/promises.h"

enum { LIST_MS = 20000, MAX_SIMULATOR = 64 << 20, MAX_EXPECT = 1 << 20 };

/* What names there are. Empty where a part of turnpike is not there: then they are not checked. */
struct names {
    struct tp_buf checks;    /* what the client lists */
    struct tp_buf simulator; /* its bytes: whatever the log names is a string in them */
};

static void learn_checks(struct names *names)
{
    struct tp_error none = {0};
    char *client = tp_part_path("src/factory/prove/client/prove-client", &none);
    const char *argv[] = {client, "--list", NULL};
    struct tp_cmd cmd = {
        .argv = argv, .timeout_ms = LIST_MS, .out = &names->checks, .log_fd = -1};
    if (client && tp_run(&cmd, &none))
        tp_buf_clear(&names->checks);
    free(client);
}

static void learn(struct names *names)
{
    struct tp_error none = {0};
    learn_checks(names);
    char *simulator = tp_part_path("src/factory/kgsl/libturnpike-kgsl.so", &none);
    if (simulator && tp_read_file(simulator, MAX_SIMULATOR, &names->simulator, &none))
        tp_buf_clear(&names->simulator);
    free(simulator);
}

/* Is it one of the words of the list? Of each line the first, or all behind "always:". */
static bool is_check(const struct names *names, const char *word, size_t len)
{
    const char *s = tp_buf_str(&names->checks);
    bool always = true;
    for (; *s; s += strcspn(s, "\n"), s += *s == '\n') {
        const char *end = s + strcspn(s, "\n");
        for (const char *w = s; w < end;) {
            w += strspn(w, " ,:");
            size_t n = strcspn(w, " ,:\n");
            if (w < end && n == len && !memcmp(w, word, len))
                return true;
            w += n;
            if (!always && n)
                break;
        }
        always = false;
    }
    return !names->checks.len;
}

static bool is_logged(const struct names *names, const char *word, size_t len)
{
    char *whole = tp_strndup(word, len);
    bool there = !names->simulator.len ||
                 memmem(names->simulator.data, names->simulator.len, whole, len + 1);
    free(whole);
    return there;
}

static bool is_number(const char *s)
{
    char *end;
    strtoull(s, &end, 0);
    return *s >= '0' && *s <= '9' && !*end;
}

/* The checks behind --only; NULL, or the one that there is not, and how long it is. */
static const char *unknown_in_run(const struct names *names, const char *run, size_t *len)
{
    const char *at = strstr(run, "--only");
    if (!at)
        return NULL;
    at += strlen("--only");
    at += strspn(at, " =");
    for (; *at && *at != ' '; at += *at == ',') {
        *len = strcspn(at, ", ");
        if (!is_check(names, at, *len))
            return at;
        at += *len;
    }
    return NULL;
}

static int no_such(const char *where, const char *kind, const char *name, size_t len,
                   const char *todo, struct tp_error *e)
{
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, todo, "there is no %s '%.*s'", kind,
                   (int)(len < 200 ? len : 200), name);
}

/* Are the names in a line that can be read such as there are? */
static int check_names(const struct names *names, const struct tp_expect *x, const char *where,
                       struct tp_error *e)
{
    static const char list[] = "the client lists its checks (docs/patching.md)";
    static const char log[] = "docs/kgsl-sim.md has what the log holds";
    size_t len;
    const char *bad = x->run ? unknown_in_run(names, x->run, &len) : NULL;
    if (bad)
        return no_such(where, "check or group of checks", bad, len, list, e);
    if (x->subject == TP_EXPECT_CHECK && !is_check(names, x->name, strlen(x->name)))
        return no_such(where, "check", x->name, strlen(x->name), list, e);
    bool one = x->subject == TP_EXPECT_CALL || x->subject == TP_EXPECT_SOME;
    bool fielded = one || x->subject == TP_EXPECT_SUM;
    bool called = fielded || x->subject == TP_EXPECT_CALLS || x->subject == TP_EXPECT_PLACES;
    if (called && !is_logged(names, x->name, strlen(x->name)))
        return no_such(where, "call", x->name, strlen(x->name), log, e);
    if (x->subject == TP_EXPECT_PLACES && !is_logged(names, x->field, strlen(x->field)))
        return no_such(where, "call", x->field, strlen(x->field), log, e);
    if (fielded && !is_logged(names, x->field, strcspn(x->field, ".")))
        return no_such(where, "field", x->field, strcspn(x->field, "."), log, e);
    if (fielded && !strncmp(x->field, "registers.", 10)) {
        char *reg = tp_strndup(x->field + 10, strcspn(x->field + 10, "."));
        int err = is_number(reg) || tp_expect_knows_register(reg) ?
                      0 : no_such(where, "watched register", reg, strlen(reg), log, e);
        free(reg);
        if (err)
            return err;
    }
    bool bits = x->verb == TP_EXPECT_HAS || x->verb == TP_EXPECT_LACKS;
    if (one && bits && !is_number(x->value))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, "write them as 0x…",
                       "has and lacks of a call are about bits: '%.200s' is no number", x->value);
    return 0;
}

static int check_line(const struct names *names, const char *text, const char *file, int line,
                      struct tp_error *e)
{
    struct tp_expect x;
    char *where = tp_asprintf("%s:%d", file, line);
    int err = tp_expect_parse(text, where, &x, e);
    if (!err) {
        err = check_names(names, &x, where, e);
        tp_expect_finish(&x);
    }
    free(where);
    return err;
}

static int check_patch(const struct names *names, const struct tp_patch *patch, struct tp_error *e)
{
    int err = 0;
    for (int k = 0; k < patch->n_proofs && !err; k++)
        err = check_line(names, patch->proofs[k], patch->file, patch->proof_lines[k], e);
    for (int i = 0; i < patch->n_edits && !err; i++) {
        const struct tp_edit *edit = &patch->edits[i];
        for (int k = 0; k < edit->n_proofs && !err; k++)
            err = check_line(names, edit->proofs[k], patch->file, edit->proof_lines[k], e);
    }
    return err;
}

static int check_chips(const struct names *names, const char *dir, struct tp_error *e)
{
    static const char because[] = "because ";
    struct tp_buf text = {0};
    char *path = tp_join(dir, TP_CHIPS_FILE);
    int err = tp_exists(path) ? tp_read_file(path, MAX_EXPECT, &text, e) : 0, number = 1;
    for (const char *s = tp_buf_str(&text); *s && !err; number++) {
        const char *end = strchrnul(s, '\n');
        char *line = tp_strndup(s, (size_t)(end - s)), *proof = line;
        if (!strncmp(proof, because, sizeof because - 1)) {
            proof += sizeof because - 1;
            proof += strspn(proof, " ");
            proof += strcspn(proof, " ");
            proof += strspn(proof, " ");
        }
        if (*line && *line != '#')
            err = check_line(names, proof, TP_CHIPS_FILE, number, e);
        free(line);
        s = *end ? end + 1 : end;
    }
    free(path);
    tp_buf_finish(&text);
    return err;
}

int tp_promises_check(const char *patches_dir, struct tp_error *e)
{
    struct names names = {0};
    struct tp_patch_set set;
    learn(&names);
    int err = tp_patch_set_read(patches_dir, &set, e);
    for (int i = 0; i < set.n && !err; i++)
        err = check_patch(&names, &set.patches[i], e);
    if (!err)
        err = check_chips(&names, patches_dir, e);
    tp_patch_set_finish(&set);
    tp_buf_finish(&names.checks);
    tp_buf_finish(&names.simulator);
    return err;
}
