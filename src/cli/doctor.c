/* turnpike doctor: what a device's log shows of the road from driver to panel. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/proc.h"
#include "cli/cli.h"
#include "report/doctor/doctor.h"
#include "report/doctor/recording.h"

static const struct tp_command *const self = &tp_command_doctor;

/* A log that comes through a pipe ends where it is interrupted: so ends `adb logcat | turnpike
 * doctor`, and what came until then is told. */
static int read_log(struct tp_lines *lines, bool is_pipe, struct tp_doctor *d, struct tp_error *e)
{
    struct tp_line line;
    int r;

    while ((r = tp_lines_next(lines, &line, e)) > 0)
        tp_doctor_line(d, &line);
    if (r == -EINTR && is_pipe) {
        *e = (struct tp_error){0};
        return 0;
    }
    return r;
}

/* --- for a person --- */

/* Indented, broken at blanks before the line is full. */
static void print_wrapped(const char *label, const char *text)
{
    const int indent = 4, width = 98;
    int at = indent + printf("%*s%s", indent, "", label) - indent;

    while (*text) {
        int n = (int)strcspn(text, " ");
        if (at + 1 + n > width && at > indent) {
            printf("\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            putchar(' ');
            at++;
        }
        printf("%.*s", n, text);
        at += n;
        text += n + strspn(text + n, " ");
    }
    putchar('\n');
}

static void print_finding(const struct tp_doctor_finding *f)
{
    printf("\n  %s %s: %s\n", tp_doctor_severities[f->severity], f->id, f->title);
    if (f->line) {
        printf("    line %" PRIu64, f->line);
        if (f->count > 1)
            printf(" and %" PRIu64 " more", f->count - 1);
        if (f->others)
            printf(" (and %" PRIu64 " in other processes)", f->others);
        printf(": %s\n", f->quote);
    }
    if (f->severity == TP_DOCTOR_NOTE)
        return;
    print_wrapped("", f->text);
    if (*f->matters)
        print_wrapped("where it matters:", f->matters);
    print_wrapped("what to do:", f->fix);
}

static void print_all(const char *name, const struct tp_diagnosis *d)
{
    char *shown = tp_printable_line(name);

    printf("%s: %s\n", shown, d->verdict);
    for (size_t i = 0; i < d->n; i++)
        print_finding(&d->list[i]);
    free(shown);
}

/* What of the log was not read as it should be. */
static void print_reading(const struct tp_lines_found *found)
{
    if (found->damaged)
        fputs("turnpike doctor: the compressed log is cut off or damaged: what is before that was "
              "read\n",
            stderr);
    if (found->cut)
        fprintf(stderr,
            "turnpike doctor: of %" PRIu64 " lines only the first %u KiB were looked at\n",
            found->cut, TP_LINE_BYTES / 1024);
}

/* --- for programs --- */

static json_t *finding_json(const struct tp_doctor_finding *f)
{
    json_t *j = json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:s, s:s, s:I, s:s}", "id", f->id,
        "severity", tp_doctor_severities[f->severity], "line", (json_int_t)f->line, "title",
        f->title, "text", f->text, "fix", f->fix, "quote", f->quote, "stage",
        tp_doctor_stages[f->stage], "count", (json_int_t)f->count, "source", f->source);

    json_object_set_new(j, "pid", f->pid >= 0 ? json_integer(f->pid) : json_null());
    json_object_set_new(j, "process", *f->process ? json_string(f->process) : json_null());
    if (*f->matters)
        json_object_set_new(j, "matters", json_string(f->matters));
    if (f->others)
        json_object_set_new(j, "others", json_integer((json_int_t)f->others));
    return j;
}

static json_t *report(
    const char *name, const struct tp_diagnosis *d, const struct tp_lines_found *found)
{
    char *shown = tp_printable_line(name);
    json_t *list = json_array();

    for (size_t i = 0; i < d->n; i++)
        json_array_append_new(list, finding_json(&d->list[i]));
    json_t *j = json_pack("{s:s, s:i, s:s, s:s, s:s, s:o}", "turnpike", TP_VERSION, "schema", 1,
        "log", shown, "kind", found->is_capture ? "capture" : "log", "verdict", d->verdict,
        "findings", list);
    if (!found->is_capture)
        json_object_update_new(j,
            json_pack("{s:I, s:I, s:b}", "lines", (json_int_t)found->lines, "bytes",
                (json_int_t)found->bytes, "damaged", found->damaged));
    free(shown);
    return j;
}

/* --- the command --- */

static int read_all(const char *path, const char *name, struct tp_lines *lines,
    struct tp_diagnosis *found, struct tp_error *e)
{
    struct tp_rules rules;
    struct tp_line line;
    int r = tp_rules_builtin(&rules, e);
    struct tp_doctor *d = tp_doctor_create(&rules);

    if (!r && (r = tp_lines_next(lines, &line, e)) == 0)
        r = tp_fail(e, TP_STATUS_INPUT, -ENODATA, name,
            "record one with `adb logcat -b all -v threadtime > log.txt`, with the device plugged "
            "in",
            "the log is empty");
    if (r > 0 && tp_lines_found(lines)->is_capture) {
        struct tp_capture_found whole = {.ended = true};
        r = path ? tp_doctor_recording(path, found, &whole, e)
                 : tp_fail(e, TP_STATUS_INPUT, -ESPIPE, name, "give the file's name",
                       "is a capture, which is read from a file only");
        if (!whole.ended || whole.damaged)
            fputs("turnpike doctor: the capture is cut off or damaged: what is whole of it was "
                  "read\n",
                stderr);
    } else if (r > 0) {
        tp_doctor_line(d, &line);
        r = read_log(lines, !path, d, e);
        if (!r)
            tp_doctor_conclude(d, found);
    }
    tp_doctor_destroy(d);
    tp_rules_finish(&rules);
    return r;
}

static int diagnose(const char *path, const char *json, struct tp_error *e)
{
    struct tp_lines *lines = NULL;
    struct tp_diagnosis found = {0};
    const char *file = path && strcmp(path, "-") != 0 ? path : NULL;
    const char *name = file ? file : "standard input";
    int r = tp_lines_open(file, &lines, e);

    if (!r)
        r = read_all(file, name, lines, &found, e);
    if (!r) {
        print_reading(tp_lines_found(lines));
        if (!json || strcmp(json, "-") != 0)
            print_all(name, &found);
        r = tp_cli_flush(e);
    }
    if (!r && json) {
        json_t *j = report(name, &found, tp_lines_found(lines));
        r = tp_cli_write_json(j, json, e);
        json_decref(j);
    }
    int status = tp_diagnosis_count(&found, TP_DOCTOR_ERROR) ? TP_STATUS_FAILED : TP_STATUS_OK;
    tp_diagnosis_finish(&found);
    tp_lines_close(lines);
    return r ? tp_cli_fail(self, e) : status;
}

static int run(int argc, char **argv)
{
    const char *json = NULL;
    struct tp_error e = {0};

    for (int c; (c = tp_cli_option(self, argc, argv)) != -1;) {
        if (c != 'j')
            return TP_STATUS_INPUT;
        json = optarg;
    }
    if (argc - optind > 1)
        return tp_cli_usage(self, "one log at a time, not '%s' as well", argv[optind + 1]);
    if (tp_cli_operands(self, argc, argv))
        return TP_STATUS_INPUT;
    const char *path = argc > optind ? argv[optind] : NULL;
    if (!path && isatty(STDIN_FILENO))
        return tp_cli_usage(
            self, "name a log, or send one to standard input: adb logcat -d | turnpike doctor");
    if (json && path && strcmp(json, "-") != 0 && tp_is_same_file(json, path))
        tp_fail(&e, TP_STATUS_INPUT, -EINVAL, json, "name another file",
            "--json would write over the log");
    else
        tp_cli_try_json(json, &e);
    if (e.err)
        return tp_cli_fail(self, &e);
    return diagnose(path, json, &e);
}

static const struct option options[] = {
    {"json", required_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

const struct tp_command tp_command_doctor = {
    .name = "doctor",
    .summary = "say what a device's log shows: which driver ran, and what went wrong",
    .help = "usage: turnpike doctor [LOG|CAPTURE] [OPTIONS]\n"
            "       adb logcat -d -b all | turnpike doctor\n\n"
            "Reads logcat text in any of its formats, bug reports, the kernel's log, what a\n"
            "game, DXVK or turnpike's own ICD print, or all of them in one; gzip and UTF-16\n"
            "too, and gigabytes. Says, in the road's order:\n\n"
            "  driver    which one was really loaded, and why not another\n"
            "  mapper    whether the IMapper backend loaded and compressed buffers came\n"
            "  buffers   what failed in allocation and import\n"
            "  gpu       faults, hangs and refusals of the kernel's driver\n"
            "  display   what SurfaceFlinger and the queues of buffers refused\n"
            "  frames    release time-outs and more of turnpike's ICD and display server\n\n"
            "Each finding quotes its line, tells the cause, and what to do.\n\n"
            "  LOG          a file; without one, or as -, standard input\n"
            "  CAPTURE      of serve, play or simulate: judged by its numbers, as report does\n"
            "  --json FILE  the findings as JSON; - for standard output\n\n"
            "docs/doctor.md lists every finding, and how to record a log.\n\n"
            "Exit status: 0 no error is found (warnings and notes may be), 1 one is, or the\n"
            "log says nothing at all, 2 wrong usage, or the log cannot be read.\n",
    .options = options,
    .run = run,
};
