/* turnpike inspect: what is wrong with an archive or a driver, and which apps take it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "cli/cli.h"
#include "cli/inspection.h"
#include "cli/parse.h"
#include "factory/inspect/bionic.h"

struct arguments {
    const char *json;
    bool all;
    const struct tp_importer *importer; /* NULL: every one that applies */
    int api;
};

/* "adrenotools, gamenative, …". */
static char *importer_names(void)
{
    struct tp_buf b = {0};
    for (const struct tp_importer *i = tp_importers; i->name; i++)
        tp_buf_addf(&b, "%s%s", i == tp_importers ? "" : ", ", i->name);
    return tp_buf_take(&b);
}

static int parse_importer(const char *name, struct arguments *a)
{
    a->all = !strcmp(name, "all");
    a->importer = a->all ? NULL : tp_importer_find(name);
    if (a->all || a->importer)
        return 0;
    char *names = importer_names();
    tp_cli_usage(&tp_command_inspect, "there is no importer '%s': all, %s", name, names);
    free(names);
    return TP_STATUS_INPUT;
}

static int parse(int argc, char **argv, struct arguments *a)
{
    const struct tp_command *cmd = &tp_command_inspect;
    for (int c; (c = tp_cli_option(cmd, argc, argv)) != -1;) {
        unsigned long api = 0;
        const char *at = optarg;
        if (c == 'i' && parse_importer(optarg, a))
            return TP_STATUS_INPUT;
        if (c == 'a' && (!tp_parse_number(&at, TP_API_LAST, &api) || *at || api < TP_API_FIRST))
            return tp_cli_usage(cmd,
                "--api is Android's API level, %d to %d (29 is Android 10), not '%s'", TP_API_FIRST,
                TP_API_LAST, optarg);
        if (c == 'a')
            a->api = (int)api;
        else if (c == 'j')
            a->json = optarg;
        else if (c != 'i')
            return TP_STATUS_INPUT;
    }
    if (argc == optind)
        return tp_cli_usage(cmd, "name one archive or driver, or several");
    return tp_cli_operands(cmd, argc, argv);
}

static void ask(const struct arguments *a, struct tp_cli_inspection *i)
{
    size_t n = 0;
    while (tp_importers[n].name)
        n++;
    i->answers = tp_calloc(n, sizeof *i->answers);
    bool taken = true, some = false;
    for (size_t k = 0; k < n; k++) {
        const struct tp_importer *importer = &tp_importers[k];
        if (a->importer ? a->importer != importer
                        : !tp_importer_applies(importer, &i->found.contents))
            continue;
        struct tp_cli_answer *answer = &i->answers[i->n_answers++];
        answer->importer = importer;
        answer->outcome =
            tp_importer_ask(importer, &i->found.contents, &i->found.findings, a->api, &answer->why);
        taken = taken && answer->outcome == TP_OUTCOME_TAKES;
        some = some || answer->outcome == TP_OUTCOME_TAKES;
    }
    /* A library alone is for nobody's importer. */
    i->taken = some || i->found.contents.kind == TP_KIND_DRIVER;
    i->ok = !tp_findings_count(&i->found.findings, TP_SEVERITY_ERROR) && i->taken &&
        (taken || !(a->all || a->importer));
}

static void finish(struct tp_cli_inspection *i)
{
    for (size_t k = 0; k < i->n_answers; k++)
        free(i->answers[k].why);
    free(i->answers);
    tp_inspection_finish(&i->found);
}

static bool wants_colours(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

/* Each file; what cannot be read is told, and the others are inspected all the same. */
static int inspect_all(const struct arguments *a, char **files, int n, json_t *list)
{
    bool print = !a->json || strcmp(a->json, "-") != 0;
    int status = TP_STATUS_OK;
    for (int k = 0; k < n; k++) {
        struct tp_cli_inspection i = {.file = files[k]};
        struct tp_error e = {0};
        if (tp_inspect_file(files[k], a->api, &i.found, &e)) {
            status = tp_cli_fail(&tp_command_inspect, &e);
        } else {
            ask(a, &i);
            if (!i.ok && status == TP_STATUS_OK)
                status = TP_STATUS_FAILED;
            json_array_append_new(list, tp_cli_inspection_json(&i));
            if (print && k)
                putchar('\n');
            if (print)
                tp_cli_inspection_print(&i, wants_colours());
        }
        finish(&i);
    }
    return status;
}

/* One file: its own object; several: "files". Each is told as of which version it is. */
static json_t *report(json_t *list, int n)
{
    json_t *head = json_pack("{s:s, s:i}", "turnpike", TP_VERSION, "schema", 1);
    if (n == 1 && json_array_size(list) == 1)
        json_object_update(head, json_array_get(list, 0));
    else
        json_object_set(head, "files", list);
    return head;
}

static int check_json(const struct arguments *a, char **files, int n, struct tp_error *e)
{
    if (!a->json || !strcmp(a->json, "-"))
        return 0;
    for (int k = 0; k < n; k++) {
        if (tp_is_same_file(a->json, files[k]))
            return tp_fail(e, TP_STATUS_INPUT, -EINVAL, a->json, "name another file",
                "--json would write over what is inspected");
    }
    return tp_try_write(a->json, e);
}

static int run(int argc, char **argv)
{
    const struct tp_command *cmd = &tp_command_inspect;
    struct arguments a = {0};
    struct tp_error e = {0};
    if (parse(argc, argv, &a))
        return TP_STATUS_INPUT;
    char **files = argv + optind;
    int n = argc - optind;
    if (check_json(&a, files, n, &e))
        return tp_cli_fail(cmd, &e);
    json_t *list = json_array();
    int status = inspect_all(&a, files, n, list);
    int r = tp_cli_flush(&e);
    if (!r && a.json && (n > 1 || json_array_size(list))) {
        json_t *j = report(list, n);
        r = tp_cli_write_json(j, a.json, &e);
        json_decref(j);
    }
    json_decref(list);
    return r ? tp_cli_fail(cmd, &e) : status;
}

static const struct option options[] = {
    {"importer", required_argument, NULL, 'i'},
    {"api", required_argument, NULL, 'a'},
    {"json", required_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

const struct tp_command tp_command_inspect = {
    .name = "inspect",
    .summary = "say what is wrong with an archive or a driver, and which apps take it",
    .help =
        "usage: turnpike inspect FILE.zip|FILE.so ... [OPTIONS]\n\n"
        "Looks at any driver archive or library, turnpike's or not: the zip, its meta.json, the\n"
        "library's ELF rules, on which Android it loads, and what each app's importer makes of "
        "it.\n"
        "Each finding has a name, what is wrong, why it matters where, and what to do. Nothing of\n"
        "the file is run or unpacked to disk.\n\n"
        "  --importer NAME  answer as this app does: exit status 1 where it does not take it. "
        "all,\n"
        "                   adrenotools, gamenative, winlator, winnative, strato, rpcsx, dolphin,\n"
        "                   yuzu, citra, ppsspp, vita3k, micewine, or a relative (eden, azahar, "
        "…)\n"
        "  --api N          for a phone with this API level (29 is Android 10)\n"
        "  --json FILE      the report as JSON; - for standard output\n\n"
        "docs/archives.md lists every finding, and what each importer wants.\n\n"
        "Exit status: 0 nothing is wrong, 1 something is, no app takes it, or one asked for does "
        "not,\n"
        "2 wrong usage, or a file cannot be read.\n",
    .options = options,
    .run = run,
};
