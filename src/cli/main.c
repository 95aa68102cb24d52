/* turnpike: the command line. Each command is a file of its own. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/proc.h"
#include "cli/cli.h"

static const struct tp_command *const commands[] = {&tp_command_build, &tp_command_chips,
                                                   &tp_command_doctor, &tp_command_inspect,
                                                   &tp_command_notes, &tp_command_patch, &tp_command_play,
                                                   &tp_command_prove, &tp_command_rebuild, &tp_command_report, &tp_command_serve,
                                                   &tp_command_sign, &tp_command_simulate,
                                                   &tp_command_top, &tp_command_verify};

static void print_help(FILE *out)
{
    fputs("turnpike: the road of a desktop game on an Adreno Android phone, from driver to panel\n\n"
          "usage: turnpike COMMAND [OPTIONS]\n\n",
          out);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(out, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n`turnpike COMMAND --help` shows a command's options; `turnpike --version` the version.\n"
          "Exit status: 0 done, 1 a check failed, 2 wrong usage or bad input, 3 something is missing "
          "here.\n",
          out);
}

static void print_error(const char *command, const struct tp_error *e)
{
    char *where = tp_printable_line(e->where), *what = tp_printable(e->what);
    fprintf(stderr, "turnpike %s: %s%s%s\n", command, where, *where ? ": " : "", what);
    free(where);
    free(what);
    if (*e->todo)
        fprintf(stderr, "  what to do: %s\n", e->todo);
}

int tp_cli_fail(const struct tp_command *cmd, const struct tp_error *e)
{
    print_error(cmd->name, e);
    return e->status ? (int)e->status : TP_STATUS_FAILED;
}

int tp_cli_usage(const struct tp_command *cmd, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "turnpike %s: ", cmd->name);
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "\n  what to do: see `turnpike %s --help`\n", cmd->name);
    va_end(ap);
    return TP_STATUS_INPUT;
}

static const char *option_name(const struct tp_command *cmd, int val)
{
    const struct option *o = cmd->options;
    while (o->name && o->val != val)
        o++;
    return o->name ? o->name : "?";
}

static bool takes_value(const struct tp_command *cmd, int val)
{
    for (const struct option *o = cmd->options; o->name; o++) {
        if (o->val == val)
            return o->has_arg == required_argument;
    }
    return false;
}

/* -h, and -o where --output is an option. */
static const char *short_options(const struct tp_command *cmd)
{
    for (const struct option *o = cmd->options; o->name; o++) {
        if (!strcmp(o->name, "output"))
            return ":ho:";
    }
    return ":h";
}

/* Of a word of letters, -abc, getopt names the place behind only once it has read them all. */
static void no_option(const struct tp_command *cmd, int argc, char **argv)
{
    const char *word = argv[optind - 1];
    if (optopt && optind < argc && argv[optind][0] == '-' && strchr(argv[optind], optopt))
        word = argv[optind];
    bool file = word[0] == '-' && word[1] != '-' && word[1] && word[2];
    char *shown = tp_printable_line(word);
    tp_cli_usage(cmd, "there is no option '%s'%s%s", shown,
                 file ? "; a file of that name is ./" : "", file ? shown : "");
    free(shown);
}

int tp_cli_option(const struct tp_command *cmd, int argc, char **argv)
{
    opterr = 0;
    int val = getopt_long(argc, argv, short_options(cmd), cmd->options, NULL);
    if (val == 'h') {
        struct tp_error e = {0};
        fputs(cmd->help, stdout);
        exit(tp_cli_flush(&e) ? tp_cli_fail(cmd, &e) : TP_STATUS_OK);
    }
    if (val == ':') {
        tp_cli_usage(cmd, "--%s needs a value", option_name(cmd, optopt));
        return '?';
    }
    if (val == '?')
        no_option(cmd, argc, argv);
    if (val != -1 && val != '?' && takes_value(cmd, val) && optarg == argv[optind - 1] &&
        !strncmp(optarg, "--", 2)) {
        /* as in --json -- true: --json=--x is the way to mean it */
        tp_cli_usage(cmd, "--%s needs a value, and '%s' is an option", option_name(cmd, val), optarg);
        return '?';
    }
    if (val != -1 && val != '?' && takes_value(cmd, val) && !*optarg) {
        /* as in --ndk "$UNSET": not the same as leaving it out */
        tp_cli_usage(cmd, "--%s has an empty value", option_name(cmd, val));
        return '?';
    }
    return val;
}

int tp_cli_operands(const struct tp_command *cmd, int argc, char **argv)
{
    for (int i = optind; i < argc; i++) {
        if (!*argv[i])
            return tp_cli_usage(cmd, "an argument is empty");
    }
    return TP_STATUS_OK;
}

void tp_cli_list_add(struct tp_cli_list *l, const char *s)
{
    if (l->n + 2 > l->cap)
        l->at = tp_realloc(l->at, (size_t)(l->cap = l->cap ? l->cap * 2 : 8), sizeof *l->at);
    l->at[l->n++] = s;
    l->at[l->n] = NULL;
}

void tp_cli_list_finish(struct tp_cli_list *l)
{
    free(l->at);
    *l = (struct tp_cli_list){0};
}

int tp_cli_contradiction(const struct tp_command *cmd, const struct tp_cli_list *with,
                         const struct tp_cli_list *without)
{
    for (int i = 0; i < with->n; i++) {
        for (int k = 0; k < without->n; k++) {
            if (!strcmp(with->at[i], without->at[k]))
                return tp_cli_usage(cmd, "%s is both switched on and left out", with->at[i]);
        }
    }
    return TP_STATUS_OK;
}

int tp_cli_flush(struct tp_error *e)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    if (errno == EBADF)
        return tp_fail(e, TP_STATUS_FAILED, -EBADF, "standard output", "leave it open, or use /dev/null",
                       "cannot be written: it is closed");
    return tp_fail_errno(e, errno ? errno : EIO, "standard output", "cannot be written");
}

int tp_cli_try_json(const char *path, struct tp_error *e)
{
    return path && strcmp(path, "-") != 0 ? tp_try_write(path, e) : 0;
}

int tp_cli_write_json(const json_t *j, const char *path, struct tp_error *e)
{
    char *text = json_dumps(j, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    int r = 0;
    if (!text) {
        r = tp_fail(e, TP_STATUS_INPUT, -EILSEQ, path, "rename it",
                    "a file's name is not UTF-8, and JSON cannot hold it");
    } else if (!strcmp(path, "-")) {
        puts(text);
        r = tp_cli_flush(e);
    } else {
        struct tp_buf b = {0};
        tp_buf_addf(&b, "%s\n", text);
        r = tp_write_file(path, b.data, b.len, 0644, e);
        tp_buf_finish(&b);
    }
    free(text);
    return r;
}

/* A closed standard stream is an error of its writes, and never the next file that is opened. */
static void fill_streams(void)
{
    int fd;
    while ((fd = open("/dev/null", O_RDONLY)) >= 0 && fd <= STDERR_FILENO)
        ;
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    fill_streams();
    signal(SIGPIPE, SIG_IGN);
    tp_catch_interrupts();
    if (sodium_init() < 0) {
        fputs("turnpike: libsodium cannot start on this machine\n", stderr);
        return TP_STATUS_MISSING;
    }
    if (argc < 2) {
        print_help(stderr);
        return TP_STATUS_INPUT;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(stdout);
        return TP_STATUS_OK;
    }
    if (!strcmp(argv[1], "--version")) {
        puts("turnpike " TP_VERSION);
        return TP_STATUS_OK;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[1], commands[i]->name) != 0)
            continue;
        int status = commands[i]->run(argc - 1, argv + 1);
        if (tp_interrupted()) { /* all is cleaned up: end as an interrupted program ends */
            fflush(NULL);
            signal(tp_interrupt_signal(), SIG_DFL);
            raise(tp_interrupt_signal());
        }
        return status;
    }
    fprintf(stderr, "turnpike: there is no command '%s'\n  what to do: see `turnpike --help`\n",
            argv[1]);
    return TP_STATUS_INPUT;
}
