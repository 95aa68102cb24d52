/* turnpike patch: the patch set on a tree of Mesa. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "factory/chips/chips.h"
#include "factory/edit/edit.h"
#include "factory/prove/promises.h"
#include "factory/recipe/recipe.h"

struct arguments {
    const char *tree, *target, *patches, *json;
    char variant;
    bool check, revert, diff;
    struct tp_cli_list with, without;
};

static int parse(int argc, char **argv, struct arguments *a)
{
    const struct tp_command *cmd = &tp_command_patch;
    for (int c; (c = tp_cli_option(cmd, argc, argv)) != -1;) {
        switch (c) {
        case 't':
            a->target = optarg;
            break;
        case 'v':
            if (strcmp(optarg, "b") != 0 && strcmp(optarg, "p") != 0)
                return tp_cli_usage(cmd, "--variant is b or p, not '%s'", optarg);
            a->variant = optarg[0];
            break;
        case 'c':
            a->check = true;
            break;
        case 'r':
            a->revert = true;
            break;
        case 'd':
            a->diff = true;
            break;
        case 'w':
            tp_cli_list_add(&a->with, optarg);
            break;
        case 'o':
            tp_cli_list_add(&a->without, optarg);
            break;
        case 'p':
            a->patches = optarg;
            break;
        case 'j':
            a->json = optarg;
            break;
        default:
            return TP_STATUS_INPUT;
        }
    }
    if (argc - optind != 1)
        return tp_cli_usage(cmd, argc == optind ? "which tree? name its folder" :
                                                  "one tree at a time");
    a->tree = argv[optind];
    if (tp_cli_operands(cmd, argc, argv) || tp_cli_contradiction(cmd, &a->with, &a->without))
        return TP_STATUS_INPUT;
    if (a->revert && (a->check || a->diff || a->with.n || a->without.n))
        return tp_cli_usage(cmd, "--revert goes alone");
    return 0;
}

static int count(const struct tp_editing *s, enum tp_state state)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        n += s->patches[i].state == state;
    return n;
}

static void print_summary(const struct tp_editing *s, bool written)
{
    if (!s->clean) {
        printf("\nNot clean: %d drifted, %d failed. The tree is untouched.\n",
               count(s, TP_DRIFTED), count(s, TP_FAILED));
        return;
    }
    printf("\nClean: %d applied, %d already there, %d absorbed upstream, %d not applicable.%s\n",
           count(s, TP_APPLIED), count(s, TP_ALREADY), count(s, TP_ABSORBED),
           count(s, TP_NOT_APPLICABLE), written ? "" : " Nothing was written (--check).");
}

static int apply(const struct arguments *a, struct tp_error *e)
{
    char *patches = a->patches ? tp_strdup(a->patches) : tp_data_path("patches", e);
    if (!patches)
        return e->status;
    struct tp_selection sel = {
        .target = a->target ? a->target : tp_target_default(NULL, NULL),
        .variant = a->variant ? a->variant : 'b',
        .with = a->with.at,
        .without = a->without.at,
        .add_to_note = tp_chips_add_to_note,
    };
    if (tp_promises_check(patches, e)) {
        free(patches);
        return e->status;
    }
    struct tp_editing s;
    int r = tp_editing_run(&s, a->tree, patches, &sel, !a->check, e);
    bool quiet = a->json && !strcmp(a->json, "-");
    struct tp_buf text = {0};
    if (!r && a->diff)
        r = tp_editing_diff(&s, &text, e);
    /* The report goes out first: when it cannot, the tree stays as it is. */
    if (!r && a->json) {
        json_t *j = tp_editing_json(&s);
        r = tp_cli_write_json(j, a->json, e);
        json_decref(j);
    }
    if (!r && !quiet) {
        if (!a->diff || !s.clean)
            tp_editing_table(&s, &text);
        fputs(tp_buf_str(&text), stdout);
        r = tp_cli_flush(e);
    } else if (!r && quiet && !s.clean) {
        /* the JSON has it all; a person at the terminal wants a word, too */
        fprintf(stderr, "turnpike patch: %s: not clean, nothing was written\n", a->tree);
    }
    if (!r && !a->check && s.clean && (r = tp_editing_write(&s, e)) && a->json && !quiet)
        unlink(a->json); /* it tells of what was not done */
    if (!r && !quiet && (!a->diff || !s.clean)) {
        print_summary(&s, !a->check);
        r = tp_cli_flush(e);
    }
    int status = r ? (int)e->status : s.clean ? TP_STATUS_OK : TP_STATUS_FAILED;
    tp_buf_finish(&text);
    tp_editing_finish(&s);
    free(patches);
    return status;
}

static int run(int argc, char **argv)
{
    struct arguments a = {0};
    struct tp_error e = {0};
    int status = parse(argc, argv, &a);
    if (!status && a.revert) {
        if (tp_editing_revert(a.tree, &e) == 0)
            printf("%s is as it was before it was patched.\n", a.tree);
    } else if (!status) {
        status = apply(&a, &e);
    }
    if (e.err)
        status = tp_cli_fail(&tp_command_patch, &e);
    tp_cli_list_finish(&a.with);
    tp_cli_list_finish(&a.without);
    return status;
}

static const struct option options[] = {
    {"target", required_argument, NULL, 't'},  {"variant", required_argument, NULL, 'v'},
    {"check", no_argument, NULL, 'c'},         {"revert", no_argument, NULL, 'r'},
    {"diff", no_argument, NULL, 'd'},          {"with", required_argument, NULL, 'w'},
    {"without", required_argument, NULL, 'o'}, {"patches", required_argument, NULL, 'p'},
    {"json", required_argument, NULL, 'j'},    {"help", no_argument, NULL, 'h'},
    {0},
};

const struct tp_command tp_command_patch = {
    .name = "patch",
    .summary = "make, check or take back the patch set on a tree of Mesa",
    .help =
        "usage: turnpike patch TREE [OPTIONS]\n\n"
        "Makes every patch of the set on TREE, a folder of Mesa's source, or changes nothing: each\n"
        "place is found on the syntax tree, exactly once, and looked up again after the change.\n\n"
        "  --target T      host, linux-arm64, host-android or android-arm64\n"
        "                  (default android-arm64 where an NDK is found, else linux-arm64)\n"
        "  --variant b|p   balanced (default) or performance\n"
        "  --check         decide and report, write nothing\n"
        "  --diff          print the change as a unified diff\n"
        "  --revert        put the tree back, byte for byte\n"
        "  --with ID       switch on a patch that is off; may be repeated\n"
        "  --without ID    leave a patch out; may be repeated\n"
        "  --patches DIR   the folder of patches (default: turnpike's own)\n"
        "  --json FILE     the report as JSON; - for standard output\n\n"
        "Exit status: 0 clean, 1 a patch drifted or failed (nothing is written), 2 wrong usage or\n"
        "bad input, 3 something is missing on this machine.\n",
    .options = options,
    .run = run,
};
