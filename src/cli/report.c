/* turnpike report: what a capture says, as a page, as text and as JSON. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/output.h"
#include "cli/cli.h"
#include "report/html.h"
#include "report/trace.h"

enum {
    OPT_JSON = 1,
    OPT_TRACE,
};

struct options {
    const char *capture, *page, *json, *trace;
};

/* --- where it goes --- */

/* CAPTURE with .html instead of .cap, or behind it; without its folder where it is no file, as a
 * pipe is not. Caller frees. */
static char *page_beside(const char *capture)
{
    const char *dot = strrchr(capture, '.');
    int stem = dot && strcmp(dot, ".cap") == 0 ? (int)(dot - capture) : (int)strlen(capture);
    if (tp_is_file(capture))
        return tp_asprintf("%.*s.html", stem, capture);
    return tp_strdup("report.html");
}

/* What is wrong with the names, or NULL. */
static const char *check_files(const struct options *o)
{
    const char *files[] = {o->capture, o->page, o->json, o->trace};
    if (strcmp(o->page, "-") == 0 || (o->trace && strcmp(o->trace, "-") == 0))
        return "the page and the trace are files; only --json has '-'";
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = i + 1; k < 4; k++)
            if (files[i] && files[k] && strcmp(files[k], "-") != 0 &&
                (strcmp(files[i], files[k]) == 0 || tp_is_same_file(files[i], files[k])))
                return "the capture, -o, --trace and --json are files of their own";
    return NULL;
}

/* Said before the capture is read, which may take a while. */
static int try_files(const struct options *o, struct tp_error *e)
{
    int err = tp_try_write(o->page, e);
    if (err >= 0)
        err = tp_cli_try_json(o->json, e);
    if (err >= 0 && o->trace && !tp_is_file(o->capture) && tp_exists(o->capture))
        return tp_fail(e, TP_STATUS_INPUT, -ESPIPE, o->capture, "put it into a file first",
            "is no file, and --trace reads it once more");
    return err >= 0 && o->trace ? tp_try_write(o->trace, e) : err;
}

/* --- what is made of it --- */

static int write_page(const struct options *o, const struct tp_report *r, struct tp_error *e)
{
    struct tp_buf page = {0};
    tp_report_html(r, tp_base_name(o->capture), &page);
    int err = tp_write_file(o->page, tp_buf_str(&page), page.len, 0644, e);
    tp_buf_finish(&page);
    return err;
}

static void say_missing(const struct tp_command *cmd, const struct tp_report *r)
{
    struct tp_buf missing = {0};
    tp_report_missing(r, &missing);
    char *text = tp_buf_take(&missing), *rest = text;
    for (char *line; *rest && (line = strsep(&rest, "\n"));)
        fprintf(stderr, "turnpike %s: note: %s\n", cmd->name, line);
    free(text);
}

static int say(const struct options *o, const struct tp_report *r, struct tp_error *e)
{
    struct tp_buf text = {0};
    char *page = tp_printable_line(o->page);
    tp_report_text(r, &text);
    printf("%s\npage: %s\n", tp_buf_str(&text), page);
    free(page);
    tp_buf_finish(&text);
    return tp_cli_flush(e);
}

static int write_json(const struct options *o, const struct tp_report *r, struct tp_error *e)
{
    json_t *j = tp_report_json(r);
    int err = tp_cli_write_json(j, o->json, e);
    json_decref(j);
    return err;
}

static int write_trace(const struct options *o, struct tp_error *e)
{
    struct tp_capture_found found;
    struct tp_output out;
    int err = tp_output_open(o->trace, &out, e);
    if (err < 0)
        return err;
    err = tp_trace_write(o->capture, out.file, &found, e);
    int closed = tp_output_close(&out, err >= 0, err < 0 ? NULL : e);
    return err < 0 ? err : closed;
}

static int report(const struct tp_command *cmd, const struct options *o, struct tp_error *e)
{
    struct tp_report *r = NULL;
    int err = try_files(o, e);
    if (err >= 0)
        err = tp_report_read(o->capture, &r, e);
    if (err < 0)
        return err;
    say_missing(cmd, r);
    err = write_page(o, r, e);
    if (err >= 0 && o->json)
        err = write_json(o, r, e);
    if (err >= 0 && o->trace)
        err = write_trace(o, e);
    if (err >= 0 && (!o->json || strcmp(o->json, "-") != 0))
        err = say(o, r, e);
    tp_report_destroy(r);
    return err;
}

/* --- the command --- */

static int run(int argc, char **argv)
{
    const struct tp_command *cmd = &tp_command_report;
    struct options o = {0};
    for (int c; (c = tp_cli_option(cmd, argc, argv)) != -1;) {
        if (c == 'o')
            o.page = optarg;
        else if (c == OPT_JSON)
            o.json = optarg;
        else if (c == OPT_TRACE)
            o.trace = optarg;
        else
            return TP_STATUS_INPUT;
    }
    if (argc - optind != 1)
        return tp_cli_usage(cmd, "name one capture");
    if (tp_cli_operands(cmd, argc, argv))
        return TP_STATUS_INPUT;
    o.capture = argv[optind];
    char *beside = page_beside(o.capture);
    o.page = o.page ? o.page : beside;
    const char *wrong = check_files(&o);
    struct tp_error e = {0};
    int status = TP_STATUS_OK;
    if (wrong)
        status = tp_cli_usage(cmd, "%s", wrong);
    else if (report(cmd, &o, &e) < 0)
        status = tp_cli_fail(cmd, &e);
    free(beside);
    return status;
}

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"json", required_argument, NULL, OPT_JSON},
    {"trace", required_argument, NULL, OPT_TRACE},
    {"help", no_argument, NULL, 'h'},
    {0},
};

const struct tp_command tp_command_report = {
    .name = "report",
    .summary = "say what a capture shows, on a page of its own",
    .help = "usage: turnpike report CAPTURE [OPTIONS]\n\n"
            "Reads a capture (of simulate, play or serve) and says whether frames were on time, what was\n"
            "wrong and what to try. The page is one file of HTML that needs nothing else: a timeline of\n"
            "each frame from the game to the panel, events, figures. A capture that is cut or damaged is\n"
            "read as far as it goes, and standard error says what is missing.\n\n"
            "  -o, --output F.html   the page (default: CAPTURE with .html)\n"
            "  --trace F.json        a track for each stage, for Perfetto's UI and Chrome's tracing\n"
            "  --json FILE           the figures and findings as JSON; - for standard output\n\n"
            "Exit status: 0 reported, 1 not to be written, 2 wrong usage or no capture.\n",
    .options = options,
    .run = run,
};
