/*
 * TURNPIKE_CAPTURE: what the driver writes by itself, read as `report` reads it. The guests are
 * this program, started anew: the variable is looked at once in a process.
 *
 *   capture_test PLACE
 *   capture_test PLACE guest SWAPCHAINS FRAMES ENDS    ENDS: exit, or wait: for a signal
 */
#include "place.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "frames/census/figures.h"
#include "report/capture_read.h"

static const char *where;
static struct tp_figures *figures;

/* --- a guest --- */

static bool has_writer(void)
{
    DIR *tasks = opendir("/proc/self/task");
    char path[300], name[32];
    bool has = false;

    assert_non_null(tasks);
    for (struct dirent *e; (e = readdir(tasks));) {
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
        FILE *f = fopen(path, "r");
        has |= f && fgets(name, sizeof name, f) && strcmp(name, "tp-capture\n") == 0;
        if (f)
            fclose(f);
    }
    closedir(tasks);
    return has;
}

static bool has_no_more_fds(void *data)
{
    return client_count_fds() <= *(unsigned *)data;
}

static int guest(unsigned swapchains, unsigned frames, const char *ends)
{
    static struct client client;
    struct chain ch;
    unsigned fds = 0;

    place_begin(where);
    client_open_lawless(&client);
    VkSurfaceKHR surface = place_surface(&client, 0);
    VkSwapchainCreateInfoKHR info = chain_info(surface, PLACE_WIDTH, PLACE_HEIGHT);
    for (unsigned i = 0; i < swapchains; i++) {
        chain_open(&ch, &client, &info);
        for (unsigned k = 0; k < frames; k++)
            assert_true(chain_round(&ch, NULL) >= 0);
        if (strcmp(ends, "wait") == 0) {
            if (write(STDOUT_FILENO, "!", 1) == 1)
                pause();
        }
        chain_close(&ch);
        if (i == 0)
            fds = client_count_fds();
    }
    if (swapchains > 1) /* its own thread closes them */
        assert_true(place_await(has_no_more_fds, &fds));
    bool writes = has_writer();
    for (unsigned i = 0; i < 40 && !writes; i++) { /* it may not have run yet */
        nanosleep(&(struct timespec){0, 5000000}, NULL);
        writes = has_writer();
    }
    place_close(&client, surface, 0);
    client_close(&client);
    place_end();
    return writes ? 42 : 0;
}

/* With these variables; NULL: without. out: its standard output. */
static pid_t start(unsigned swapchains, unsigned frames, const char *ends, const char *capture,
    const char *log, int out)
{
    char n[2][16];
    const char *argv[] = {"/proc/self/exe", where, "guest", n[0], n[1], ends, NULL};

    snprintf(n[0], sizeof n[0], "%u", swapchains);
    snprintf(n[1], sizeof n[1], "%u", frames);
    if (capture)
        setenv("TURNPIKE_CAPTURE", capture, 1);
    else
        unsetenv("TURNPIKE_CAPTURE");
    setenv("TURNPIKE_LOG", log ? log : "0", 1);
    pid_t child = place_spawn(argv, out);
    assert_true(child > 0);
    return child;
}

static int end_of(pid_t child)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* --- its capture --- */

struct capture {
    struct tp_capture_found found;
    struct tp_summary figures; /* as report says them */
    unsigned frames, shown, guests, counts, settings;
    uint32_t refresh_mhz; /* of the last frame */
    char name[32], gate[32], images[32], made_by[64], fence[32];
};

static void on_setting(void *data, int64_t at_ns, const char *name, const char *value)
{
    struct capture *c = data;

    (void)at_ns;
    tp_figures_setting(figures, name, value);
    c->settings++;
    if (strcmp(name, "gate") == 0)
        snprintf(c->gate, sizeof c->gate, "%s", value);
    if (strcmp(name, "images") == 0)
        snprintf(c->images, sizeof c->images, "%s", value);
    if (strcmp(name, "made-by") == 0)
        snprintf(c->made_by, sizeof c->made_by, "%s", value);
    if (strcmp(name, "release-fence") == 0)
        snprintf(c->fence, sizeof c->fence, "%s", value);
}

static void on_guest(void *data, unsigned number, const char *name)
{
    struct capture *c = data;

    assert_int_equal(number, c->guests++);
    snprintf(c->name, sizeof c->name, "%s", name);
}

static void on_frame(void *data, const struct tp_frame_record *f)
{
    struct capture *c = data;
    const int64_t instants[] = {f->asked_ns, f->gate_ns, f->acquired_ns, f->presented_ns};

    for (unsigned i = 0; i < 4; i++)
        assert_true(instants[i] != TP_NEVER && (i == 0 || instants[i] >= instants[i - 1]));
    if (f->line_ns != TP_NEVER) /* a thread may hear of its own commit late */
        assert_true(f->line_ns >= f->presented_ns);
    tp_figures_frame(figures, f);
    c->frames++;
    c->shown += f->line_ns != TP_NEVER;
    c->refresh_mhz = f->refresh_mhz;
}

static void on_count(void *data, const char *name, uint64_t value)
{
    struct capture *c = data;

    tp_figures_count(figures, name, value);
    c->counts++;
}

static bool read_capture(const char *path, struct capture *c)
{
    const struct tp_capture_sink sink = {
        .setting = on_setting, .guest = on_guest, .frame = on_frame, .count = on_count, .data = c};
    struct tp_error e = {0};

    *c = (struct capture){0};
    figures = tp_figures_create();
    int r = tp_capture_read(path, &sink, &c->found, &e);
    tp_figures_get(figures, TP_FIGURES_MAIN, &c->figures);
    tp_figures_destroy(figures);
    return r == 0;
}

static const char *in_folder(const char *name)
{
    static char path[4][160];
    static unsigned next;
    char *p = path[next++ % 4];

    snprintf(p, sizeof path[0], "%s/%s", place_folder(), name);
    return p;
}

/* --- what is written --- */

static void a_run_is_read_back(void **state)
{
    const char *path = in_folder("run.cap");
    struct capture c;

    (void)state;
    assert_int_equal(end_of(start(1, 100, "exit", path, NULL, -1)), 42);
    assert_true(read_capture(path, &c));
    assert_true(c.found.ended);
    assert_int_equal(c.found.damaged, 0);
    assert_int_equal(c.frames, 100);
    assert_in_range(c.shown, 90, 100);
    assert_int_equal(c.guests, 1);
    assert_string_equal(c.name, "exe"); /* as it was called: /proc/self/exe */
    assert_string_equal(c.gate, "vsync");
    assert_string_equal(c.fence, "on");
    assert_in_range(atoi(c.images), 2, 64);
    assert_memory_equal(c.made_by, "turnpike ", 9);
    assert_true(c.counts >= TP_COUNTERS);
    assert_true(c.figures.has_guest && c.figures.has_counts && !c.figures.has_tears);
    assert_int_equal(c.figures.measures.frames, c.shown);
    assert_true(c.figures.measures.span_ns > 0);
    assert_int_equal(c.refresh_mhz, strcmp(where, "display") == 0 ? 240000 : c.refresh_mhz);
}

static void each_swapchain_is_a_guest_and_none_is_left_behind(void **state)
{
    const char *path = in_folder("many.cap");
    struct capture c;

    (void)state;
    assert_int_equal(end_of(start(60, 3, "exit", path, NULL, -1)), 42);
    assert_true(read_capture(path, &c));
    assert_true(c.found.ended);
    assert_int_equal(c.guests, 60);
    assert_int_equal(c.frames, 180);
}

struct growing {
    const char *path;
    unsigned frames;
};

static bool has_grown(void *data)
{
    const struct growing *g = data;
    struct capture c;

    return read_capture(g->path, &c) && c.frames >= g->frames;
}

static void what_a_killed_one_wrote_is_whole(void **state)
{
    struct growing g = {in_folder("killed.cap"), 90};
    struct capture c;

    (void)state;
    pid_t child = start(1, 100, "wait", g.path, NULL, -1);
    assert_true(place_await(has_grown, &g));
    kill(child, SIGKILL);
    assert_int_equal(end_of(child), -SIGKILL);
    assert_true(read_capture(g.path, &c));
    assert_false(c.found.ended);
    assert_int_equal(c.found.damaged, 0);
    assert_in_range(c.frames, 90, 100);
}

/* --- where it is written --- */

static void who_comes_second_has_a_file_of_its_own(void **state)
{
    struct growing g = {in_folder("both.cap"), 1};
    char longer[200];
    struct capture c;

    (void)state;
    pid_t first = start(1, 30, "wait", g.path, NULL, -1);
    assert_true(place_await(has_grown, &g));
    pid_t second = start(1, 20, "exit", g.path, NULL, -1);
    assert_int_equal(end_of(second), 42);
    kill(first, SIGTERM);
    end_of(first);
    snprintf(longer, sizeof longer, "%s.%d", g.path, (int)second);
    assert_true(read_capture(longer, &c));
    assert_int_equal(c.frames, 20);
    assert_true(read_capture(g.path, &c));
    assert_true(c.frames > 20);
    /* Nobody has it any more: the next one writes it anew. */
    assert_int_equal(end_of(start(1, 10, "exit", g.path, NULL, -1)), 42);
    assert_true(read_capture(g.path, &c));
    assert_int_equal(c.frames, 10);
}

static void a_name_may_have_the_process_in_it(void **state)
{
    const char *pattern = in_folder("%p-%p%.cap");
    char path[200];
    struct capture c;

    (void)state;
    pid_t child = start(1, 10, "exit", pattern, NULL, -1);
    assert_int_equal(end_of(child), 42);
    snprintf(path, sizeof path, "%s/%d-%d%%.cap", place_folder(), (int)child, (int)child);
    assert_true(read_capture(path, &c));
    assert_int_equal(c.frames, 10);
}

/* How many lines of the log have this in them. */
static unsigned said(const char *log, const char *text)
{
    char line[512];
    unsigned n = 0;
    FILE *f = fopen(log, "r");

    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        n += strstr(line, text) != NULL;
    fclose(f);
    return n;
}

static void what_cannot_be_written_is_said_once_and_the_game_goes_on(void **state)
{
    const char *log = in_folder("log-of-none"), *full = in_folder("log-of-full");

    (void)state;
    assert_true(end_of(start(3, 10, "exit", "/nowhere/there/is/F.cap", log, -1)) >= 0);
    assert_int_equal(said(log, "TURNPIKE_CAPTURE=/nowhere/there/is/F.cap: No such file"), 1);
    assert_int_equal(said(log, "TURNPIKE_CAPTURE"), 1);
    assert_int_equal(end_of(start(3, 10, "exit", "/dev/full", full, -1)), 42);
    assert_int_equal(said(full, "/dev/full"), 1);
}

static void without_the_variable_there_is_no_thread(void **state)
{
    (void)state;
    assert_int_equal(end_of(start(1, 10, "exit", NULL, NULL, -1)), 0);
}

static int begin(void **state)
{
    (void)state;
    place_begin("headless"); /* for the folder: the guests have places of their own */
    return 0;
}

static int end(void **state)
{
    (void)state;
    place_end();
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest once[] = {
        cmocka_unit_test(a_run_is_read_back),
        cmocka_unit_test(each_swapchain_is_a_guest_and_none_is_left_behind),
        cmocka_unit_test(what_a_killed_one_wrote_is_whole),
        cmocka_unit_test(who_comes_second_has_a_file_of_its_own),
        cmocka_unit_test(a_name_may_have_the_process_in_it),
        cmocka_unit_test(what_cannot_be_written_is_said_once_and_the_game_goes_on),
        cmocka_unit_test(without_the_variable_there_is_no_thread),
    };
    const struct CMUnitTest everywhere[] = {cmocka_unit_test(a_run_is_read_back)};

    if (argc < 2)
        return 2;
    where = argv[1];
    if (argc == 6)
        return guest((unsigned)atoi(argv[3]), (unsigned)atoi(argv[4]), argv[5]);
    return strcmp(where, "headless") == 0
        ? cmocka_run_group_tests_name(where, once, begin, end)
        : cmocka_run_group_tests_name(where, everywhere, begin, end);
}
