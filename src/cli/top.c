/* turnpike top: how a running server and its guests do, in a terminal, as one picture, or as JSON.
 */
#include <errno.h>
#include <glob.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "cli/cli.h"
#include "cli/parse.h"
#include "top/draw.h"
#include "top/json.h"
#include "top/source.h"
#include "top/terminal.h"

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define WINDOW_NS (10 * SECOND)
#define UPDATE_NS (250 * MS)
#define TURN_MS 50             /* between looks at the slots */
#define ANSWER_NS (3 * SECOND) /* that a server has for its first answer */

struct top {
    char *socket;
    const char *json; /* NULL: none */
    bool once;
    unsigned long seconds; /* 0: without an end */
    bool colours, utf8;
    struct tp_top_model *model;
    struct tp_top_source *source;
    struct tp_top_ui ui;
    const struct tp_top_snapshot *snapshot;
    bool watched; /* there was a server, and it told what it has */
    json_t *kept; /* of the last look that saw a guest: a server's guests may go before it does */
};

/* --- what is shown --- */

static void update(struct top *t, int64_t now_ns)
{
    if (!t->ui.paused || !t->snapshot)
        t->snapshot = tp_top_update(t->model, now_ns);
    t->ui.link = tp_top_source_link(t->source);
    t->ui.server = tp_top_source_pid(t->source);
    tp_top_passed(&t->ui, t->snapshot);
}

/* Until something came, or for so long. */
static int await(const struct top *t, int stdin_fd, int timeout_ms)
{
    struct pollfd fds[2] = {
        {.fd = tp_top_source_fd(t->source), .events = POLLIN}, {.fd = stdin_fd, .events = POLLIN}};
    if (poll(fds, 2, timeout_ms) < 0)
        return 0;
    return fds[1].revents & (POLLHUP | POLLERR | POLLNVAL) ? -EPIPE : 0;
}

static void keep(struct top *t)
{
    update(t, tp_now_ns());
    if (t->snapshot->n_guests == 0)
        return;
    json_decref(t->kept);
    t->kept = tp_top_json(t->snapshot, &t->ui);
}

/* Watches until then. The server has to be there, and to stay. */
static int watch(struct top *t, int64_t for_ns, struct tp_error *e)
{
    int64_t begin = tp_now_ns(), end = begin + ANSWER_NS, due = 0;
    for (int64_t now = begin; now < end && !tp_interrupted(); now = tp_now_ns()) {
        tp_top_source_turn(t->source, now);
        int r = tp_top_source_fails(t->source, e);
        if (r < 0) {
            update(t, now);
            return r;
        }
        if (!t->watched && tp_top_source_link(t->source) == TP_TOP_LIVE) {
            end = now + for_ns;
            t->watched = true;
        }
        if (t->watched && t->json && now >= due) {
            keep(t);
            due = now + UPDATE_NS;
        }
        await(t, -1, TURN_MS);
    }
    update(t, tp_now_ns());
    return t->watched || tp_interrupted()
        ? 0
        : tp_fail(e, TP_STATUS_FAILED, -ETIMEDOUT, t->socket, NULL, "the server does not answer");
}

static unsigned columns(void)
{
    const char *said = getenv("COLUMNS");
    struct winsize size;
    unsigned long n;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return said && tp_parse_number(&said, TP_CANVAS_MOST, &n) && n > 0 && !*said ? (unsigned)n : 80;
}

static int print_picture(struct top *t, struct tp_error *e)
{
    struct tp_canvas c;
    struct tp_buf out = {0};
    bool escapes = isatty(STDOUT_FILENO);
    unsigned width = columns();
    t->ui.once = true;
    tp_canvas_init(&c, width, tp_top_lines(t->snapshot, &t->ui, width), t->utf8);
    tp_top_draw(&c, t->snapshot, &t->ui);
    tp_canvas_write(&c,
        escapes && t->colours ? TP_CANVAS_ANSI
            : escapes         ? TP_CANVAS_PLAIN
                              : TP_CANVAS_TEXT,
        &out);
    fputs(tp_buf_str(&out), stdout);
    tp_buf_finish(&out);
    tp_canvas_finish(&c);
    return tp_cli_flush(e);
}

static int write_json(struct top *t, struct tp_error *e)
{
    bool gone = t->snapshot->n_guests == 0 && t->kept;
    json_t *j = gone ? json_incref(t->kept) : tp_top_json(t->snapshot, &t->ui);
    int r = tp_cli_write_json(j, t->json, e);
    json_decref(j);
    return r;
}

static int look_once(struct top *t, struct tp_error *e)
{
    int r = tp_cli_try_json(t->json, e);
    if (r == 0)
        r = watch(t, (t->seconds ? (int64_t)t->seconds : 2) * SECOND, e);
    if (tp_interrupted() || (r < 0 && !t->watched))
        return r;
    struct tp_error other = {0};
    int written = t->json ? write_json(t, &other) : print_picture(t, &other);
    if (r == 0 && written < 0)
        *e = other;
    else if (r < 0 && written == 0)
        snprintf(e->what + strlen(e->what), sizeof e->what - strlen(e->what),
            "; what was watched until then is %s", t->json ? "written" : "printed");
    return r < 0 ? r : written;
}

/* --- in a terminal --- */

static void draw(const struct top *t, struct tp_terminal *terminal)
{
    struct tp_canvas c;
    unsigned width, height;
    tp_terminal_size(terminal, &width, &height);
    tp_canvas_init(&c, width, height, t->utf8);
    tp_top_draw(&c, t->snapshot, &t->ui);
    tp_terminal_show(terminal, &c);
    tp_canvas_finish(&c);
}

/* What was pressed. False: it is the end. */
static bool take_keys(struct top *t, struct tp_terminal *terminal, bool *changed)
{
    struct tp_setting_frame set;
    uint32_t key;
    while (tp_terminal_key(terminal, &key, changed)) {
        enum tp_top_action action = tp_top_key(&t->ui, t->snapshot, key, &set);
        if (action == TP_TOP_QUIT)
            return false;
        if (action == TP_TOP_SET) {
            int r = tp_top_source_set(t->source, &set);
            if (r < 0)
                tp_top_answered(&t->ui, r, tp_now_ns());
        }
        *changed |= action != TP_TOP_NOTHING;
    }
    return true;
}

static int live(struct top *t, struct tp_error *e)
{
    struct tp_terminal *terminal;
    int r = watch(t, 0, e); /* before the terminal is taken: what fails is said as usual */
    if (r < 0 || tp_interrupted())
        return r;
    r = tp_terminal_open(t->colours, &terminal, e);
    if (r < 0)
        return r;
    int64_t end = t->seconds ? tp_now_ns() + (int64_t)t->seconds * SECOND : INT64_MAX, due = 0;
    for (int64_t now = tp_now_ns(); now < end && !tp_interrupted(); now = tp_now_ns()) {
        bool changed = false;
        int answer;
        tp_top_source_turn(t->source, now);
        if (tp_top_source_answer(t->source, &answer)) {
            tp_top_answered(&t->ui, answer, now);
            changed = true;
        }
        if (!take_keys(t, terminal, &changed))
            break;
        if (changed || now >= due) {
            update(t, now);
            draw(t, terminal);
            due = now >= due ? now + UPDATE_NS : due;
        }
        if (await(t, STDIN_FILENO, TURN_MS) < 0)
            break; /* the terminal is gone */
    }
    tp_terminal_close(terminal);
    return 0;
}

/* --- the command --- */

static bool is_socket(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* The sockets of play, which are in folders of its own: those that somebody answers at. */
static void find_played(const char *folder, struct tp_cli_list *out)
{
    glob_t found;
    char *pattern = tp_join(folder, ".tp-*/drm");
    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (tp_top_source_answers(found.gl_pathv[i]))
                tp_cli_list_add(out, tp_strdup(found.gl_pathv[i]));
        globfree(&found);
    }
    free(pattern);
}

static char *played_socket(struct tp_error *e)
{
    const char *const places[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    struct tp_cli_list found = {0};
    char *one = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        bool again = false;
        for (size_t k = 0; k < i && places[i]; k++)
            again |= places[k] && strcmp(places[i], places[k]) == 0;
        if (places[i] && *places[i] && !again)
            find_played(places[i], &found);
    }
    if (found.n == 1)
        one = tp_strdup(found.at[0]);
    else if (found.n > 1)
        tp_fail(e, TP_STATUS_INPUT, -EEXIST, NULL, "say which with --socket PATH",
            "there is more than one server: %s and %s", found.at[0], found.at[1]);
    for (int i = 0; i < found.n; i++)
        free((char *)(uintptr_t)found.at[i]);
    tp_cli_list_finish(&found);
    return one;
}

/* What guests go by; the place where serve has its own; a play's. Where there is none of these, the
 * second, to say so. */
static char *usual_socket(struct tp_error *e)
{
    const char *said = getenv("TURNPIKE_SOCKET"), *folder = getenv("XDG_RUNTIME_DIR");
    if (said && *said)
        return tp_strdup(said);
    char *served = folder && *folder ? tp_join(folder, "turnpike-0") : NULL;
    if (served && is_socket(served) && tp_top_source_answers(served))
        return served;
    char *played = played_socket(e);
    if (played || e->err) {
        free(served);
        return played;
    }
    if (!served)
        tp_fail(e, TP_STATUS_INPUT, -ENOENT, NULL,
            "start one with `turnpike serve` or `turnpike play`, or say --socket PATH",
            "there is no server");
    return served;
}

static int run_all(struct top *t, struct tp_error *e)
{
    if (!t->socket)
        t->socket = usual_socket(e);
    if (!t->socket)
        return e->err;
    int r = tp_top_source_create(t->socket, t->model, &t->source, e);
    if (r < 0)
        return r;
    t->ui.socket = t->socket;
    if (t->once || t->json || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
        return look_once(t, e);
    return live(t, e);
}

static int run(int argc, char **argv)
{
    const struct tp_command *cmd = &tp_command_top;
    const char *no_colour = getenv("NO_COLOR"), *socket = NULL;
    struct top t = {.colours = !no_colour || !*no_colour};
    struct tp_error e = {0};
    for (int c; (c = tp_cli_option(cmd, argc, argv)) != -1;) {
        const char *at = optarg;
        if (c == 'K')
            socket = optarg;
        else if (c == 'J')
            t.json = optarg;
        else if (c == 'O')
            t.once = true;
        else if (c == '?')
            return TP_STATUS_INPUT;
        else if (!tp_parse_number(&at, 1000000, &t.seconds) || *at || t.seconds == 0)
            return tp_cli_usage(cmd, "--seconds is a whole number from 1, not '%s'", optarg);
    }
    if (optind < argc)
        return tp_cli_usage(cmd, "there is nothing to do with '%s'", argv[optind]);
    setlocale(LC_CTYPE, "");
    t.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    t.socket = socket ? tp_strdup(socket) : NULL;
    t.model = tp_top_model_create(WINDOW_NS);
    int r = run_all(&t, &e);
    json_decref(t.kept);
    tp_top_source_destroy(t.source);
    tp_top_model_destroy(t.model);
    free(t.socket);
    return r < 0 ? tp_cli_fail(cmd, &e) : TP_STATUS_OK;
}

static const struct option options[] = {
    {"socket", required_argument, NULL, 'K'},
    {"once", no_argument, NULL, 'O'},
    {"seconds", required_argument, NULL, 'N'},
    {"json", required_argument, NULL, 'J'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

const struct tp_command tp_command_top = {
    .name = "top",
    .summary = "watch a running server and its guests, and change cap, gate and refresh",
    /* clang-format off */
    .help = "usage: turnpike top [OPTIONS]\n\n"
            "Shows how the frames of all guests of a server do: rate, intervals, slots,\n"
            "waits, and in words what is wrong and what to try. The server is turnpike\n"
            "serve's, turnpike play's or an app's; it lets its own user and root in.\n\n"
            "  --socket PATH  the server's; @NAME: abstract (TURNPIKE_SOCKET, turnpike-0 in\n"
            "                 XDG_RUNTIME_DIR, or that of the one play that runs)\n"
            "  --once         one picture as text, after two seconds; also where standard\n"
            "                 input or output is no terminal\n"
            "  --seconds N    how long to watch for --once and --json; in a terminal, when\n"
            "                 to end by itself\n"
            "  --json F       the same in numbers, instead; - is standard output\n"
            "\nKeys: Tab and arrows choose a guest or a screen; c C the cap (or a number and\n"
            "Enter), g the gate, r R the refresh, for all guests; p pause, ? help, q quit.\n"
            "\nExit status: 1 the server went (what was seen of it is written) or does not\n"
            "answer, 2 wrong usage or no server, 3 the terminal cannot place a cursor; SIGINT\n"
            "and SIGTERM end it with 130 and 143.\n",
    /* clang-format on */
    .options = options,
    .run = run,
};
