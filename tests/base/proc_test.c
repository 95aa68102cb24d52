#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "support.h"

static int shell(const char *script, struct tp_cmd cmd, struct tp_error *e)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    cmd.argv = argv;
    cmd.log_fd = cmd.log_fd ? cmd.log_fd : -1;
    return tp_run(&cmd, e);
}

static double seconds_since(int64_t start)
{
    return (double)(tp_now_ns() - start) / 1e9;
}

static void the_exit_status_is_returned(void **state)
{
    (void)state;
    assert_int_equal(shell("exit 0", (struct tp_cmd){0}, NULL), 0);
    assert_int_equal(shell("exit 7", (struct tp_cmd){0}, NULL), 7);
    assert_int_equal(shell("exit 255", (struct tp_cmd){0}, NULL), 255);
    assert_int_equal(shell("kill -9 $$", (struct tp_cmd){0}, NULL), 128 + SIGKILL);
    assert_int_equal(shell("kill -15 $$", (struct tp_cmd){0}, NULL), 128 + SIGTERM);
}

static void a_program_that_is_not_there_is_named(void **state)
{
    const char *argv[] = {"no-such-program-here", NULL};
    struct tp_cmd cmd = {.argv = argv, .log_fd = -1};
    struct tp_error e = {0};
    assert_int_equal(tp_run(&cmd, &e), -ENOENT);
    assert_int_equal(e.status, TP_STATUS_MISSING);
    assert_string_equal(e.where, "no-such-program-here");
    assert_false(tp_have_program("no-such-program-here"));
    assert_true(tp_have_program("sh"));
    assert_true(tp_have_program("/bin/sh"));
    assert_false(tp_have_program(*state)); /* a folder, though it may be entered */
}

static void what_cannot_be_executed_says_so(void **state)
{
    char *path = tp_join(*state, "garbage");
    assert_int_equal(tp_write_file(path, "\x7f" "ELFgarbage", 11, 0755, NULL), 0);
    const char *argv[] = {path, NULL};
    struct tp_cmd cmd = {.argv = argv, .log_fd = -1};
    struct tp_error e = {0};
    assert_int_equal(tp_run(&cmd, &e), -ENOEXEC);
    assert_string_equal(e.where, path);
    const char *in_no_folder[] = {"sh", "-c", "true", NULL};
    struct tp_cmd lost = {.argv = in_no_folder, .cwd = "/no/such/folder", .log_fd = -1};
    assert_int_equal(tp_run(&lost, NULL), -ENOENT);
    free(path);
}

static void both_outputs_are_captured(void **state)
{
    (void)state;
    struct tp_buf out = {0}, err = {0};
    assert_int_equal(shell("echo a; echo b >&2; echo c",
                           (struct tp_cmd){.out = &out, .err = &err}, NULL), 0);
    assert_string_equal(tp_buf_str(&out), "a\nc\n");
    assert_string_equal(tp_buf_str(&err), "b\n");
    tp_buf_clear(&out);
    assert_int_equal(shell("echo a; echo b >&2", (struct tp_cmd){.out = &out, .err = &out}, NULL), 0);
    assert_int_equal(out.len, 4);
    tp_buf_finish(&out);
    tp_buf_finish(&err);
}

static void much_output_is_cut_at_the_limit_and_does_not_block(void **state)
{
    (void)state;
    struct tp_buf out = {0};
    assert_int_equal(shell("head -c 3000000 /dev/zero | tr '\\0' x; exit 3",
                           (struct tp_cmd){.out = &out, .max_output_bytes = 1000}, NULL), 3);
    assert_int_equal(out.len, 1000);
    tp_buf_clear(&out);
    assert_int_equal(shell("head -c 3000000 /dev/zero | tr '\\0' x",
                           (struct tp_cmd){.out = &out}, NULL), 0);
    assert_int_equal(out.len, 3000000);
    tp_buf_finish(&out);
}

static void the_log_receives_both_outputs(void **state)
{
    char *path = tp_join(*state, "log");
    int fd = open(path, O_CREAT | O_RDWR, 0600);
    assert_true(fd > 0);
    assert_int_equal(shell("echo out; echo err >&2", (struct tp_cmd){.log_fd = fd}, NULL), 0);
    close(fd);
    struct tp_buf b = {0};
    assert_int_equal(tp_read_file(path, 0, &b, NULL), 0);
    assert_non_null(strstr(b.data, "out\n"));
    assert_non_null(strstr(b.data, "err\n"));
    tp_buf_finish(&b);
    free(path);
}

static void take_line(void *data, const char *line)
{
    tp_buf_addf(data, "[%s]", line);
}

static void lines_come_one_by_one_and_the_last_needs_no_newline(void **state)
{
    (void)state;
    struct tp_buf lines = {0};
    assert_int_equal(shell("printf 'one\\n\\ntwo\\nthree'; echo no >&2",
                           (struct tp_cmd){.on_line = take_line, .data = &lines}, NULL), 0);
    assert_string_equal(tp_buf_str(&lines), "[one][][two][three]");
    tp_buf_finish(&lines);
}

static int refuse_bytes(void *data, const char *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)data += n;
    return -EBADMSG;
}

static void a_reader_that_refuses_ends_the_program(void **state)
{
    (void)state;
    size_t got = 0;
    int64_t start = tp_now_ns();
    assert_int_equal(shell("echo x; exec sleep 60",
                           (struct tp_cmd){.on_bytes = refuse_bytes, .data = &got}, NULL), -EBADMSG);
    assert_int_equal(got, 2);
    assert_true(seconds_since(start) < 30);
}

static void the_environment_is_added_to_and_taken_from(void **state)
{
    (void)state;
    setenv("TP_TEST_GONE", "x", 1);
    setenv("TP_TEST_KEPT", "kept", 1);
    setenv("TP_TEST_NEW", "old", 1);
    static const char *const env[] = {"TP_TEST_NEW=new", "TP_TEST_GONE", "TP_TEST_EMPTY=", NULL};
    struct tp_buf out = {0};
    assert_int_equal(shell("echo $TP_TEST_NEW ${TP_TEST_GONE-gone} $TP_TEST_KEPT ${TP_TEST_EMPTY-unset}.",
                           (struct tp_cmd){.out = &out, .env = env}, NULL), 0);
    assert_string_equal(tp_buf_str(&out), "new gone kept .\n");
    assert_string_equal(getenv("TP_TEST_NEW"), "old");
    tp_buf_finish(&out);
}

static void standard_input_is_empty_and_the_folder_is_the_one_asked_for(void **state)
{
    struct tp_buf out = {0};
    assert_int_equal(shell("cat; pwd -P", (struct tp_cmd){.out = &out, .cwd = *state}, NULL), 0);
    char *real = realpath(*state, NULL);
    assert_int_equal(strncmp(tp_buf_str(&out), real, strlen(real)), 0);
    free(real);
    tp_buf_finish(&out);
}

static bool is_gone(pid_t pid)
{
    for (int i = 0; i < 500; i++) {
        if (kill(pid, 0) < 0 && errno == ESRCH)
            return true;
        char path[64], state = 0; /* without an init that reaps, an ended orphan stays a zombie */
        snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
        FILE *f = fopen(path, "r");
        if (!f)
            return true;
        int n = fscanf(f, "%*d (%*[^)]) %c", &state);
        fclose(f);
        if (n == 1 && (state == 'Z' || state == 'X'))
            return true;
        usleep(10000);
    }
    return false;
}

static void past_its_time_the_whole_group_is_ended(void **state)
{
    (void)state;
    struct tp_buf out = {0};
    struct tp_error e = {0};
    int64_t start = tp_now_ns();
    assert_int_equal(shell("sleep 60 & echo $!; wait",
                           (struct tp_cmd){.out = &out, .timeout_ms = 300}, &e), -ETIMEDOUT);
    assert_true(seconds_since(start) < 30);
    assert_non_null(strstr(e.what, "0.3 s"));
    assert_true(is_gone((pid_t)atol(tp_buf_str(&out))));
    tp_buf_finish(&out);
}

static void a_program_that_closed_its_outputs_has_a_time_limit_too(void **state)
{
    (void)state;
    int64_t start = tp_now_ns();
    assert_int_equal(shell("exec >&- 2>&-; sleep 60", (struct tp_cmd){.timeout_ms = 300}, NULL),
                     -ETIMEDOUT);
    assert_true(seconds_since(start) < 30);
}

static void one_that_ignores_the_request_is_killed(void **state)
{
    (void)state;
    int64_t start = tp_now_ns();
    assert_int_equal(shell("trap '' TERM; while :; do sleep 1; done",
                           (struct tp_cmd){.timeout_ms = 200}, NULL), -ETIMEDOUT);
    assert_true(seconds_since(start) < 30);
}

static void a_child_left_behind_in_the_group_is_ended(void **state)
{
    (void)state;
    struct tp_buf out = {0};
    int64_t start = tp_now_ns();
    assert_int_equal(shell("sleep 60 & echo $!; exit 4", (struct tp_cmd){.out = &out}, NULL), 4);
    assert_true(seconds_since(start) < 30);
    assert_true(is_gone((pid_t)atol(tp_buf_str(&out))));
    tp_buf_finish(&out);
}

static void a_daemon_that_holds_the_pipe_does_not_keep_us(void **state)
{
    (void)state;
    if (!tp_have_program("setsid"))
        skip();
    struct tp_buf out = {0};
    int64_t start = tp_now_ns();
    assert_int_equal(shell("setsid sh -c 'echo $$; exec sleep 60' & sleep 0.3",
                           (struct tp_cmd){.out = &out}, NULL), 0);
    assert_true(seconds_since(start) < 30);
    pid_t daemon = (pid_t)atol(tp_buf_str(&out));
    assert_true(daemon > 1);
    kill(daemon, SIGKILL);
    /* nor one that never stops talking */
    tp_buf_clear(&out);
    start = tp_now_ns();
    assert_int_equal(shell("setsid sh -c 'echo $$; exec yes' & sleep 0.3",
                           (struct tp_cmd){.out = &out}, NULL), 0);
    assert_true(seconds_since(start) < 30);
    daemon = (pid_t)atol(tp_buf_str(&out));
    assert_true(daemon > 1);
    kill(daemon, SIGKILL);
    tp_buf_finish(&out);
}

/* In a process of its own, since the flag stays set. Returns 0 when all was as it should be. */
static int interrupted_run(const char *script)
{
    tp_catch_interrupts();
    pid_t self = getpid(), killer = fork();
    if (killer == 0) {
        usleep(300000);
        kill(self, SIGTERM);
        _exit(0);
    }
    struct tp_error e = {0};
    int64_t start = tp_now_ns();
    int r = shell(script, (struct tp_cmd){0}, &e);
    waitpid(killer, NULL, 0);
    return r == -EINTR && tp_interrupted() && seconds_since(start) < 30 &&
                   !strcmp(e.what, "interrupted") ? 0 : 1;
}

static void an_interrupt_ends_the_program_and_is_told(void **state)
{
    (void)state;
    static const char *const scripts[] = {"sleep 60", "exec >&- 2>&-; sleep 60"};
    for (size_t i = 0; i < 2; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(interrupted_run(scripts[i]));
        int status = -1;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
    }
}

static void many_runs_leave_no_descriptor_and_no_zombie(void **state)
{
    (void)state;
    int before = dup(0);
    assert_true(before >= 0);
    close(before);
    for (int i = 0; i < 20; i++)
        assert_int_equal(shell("echo x", (struct tp_cmd){0}, NULL), 0);
    int after = dup(0);
    close(after);
    assert_int_equal(after, before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exit_status_is_returned),
        in_folder(a_program_that_is_not_there_is_named),
        in_folder(what_cannot_be_executed_says_so),
        cmocka_unit_test(both_outputs_are_captured),
        cmocka_unit_test(much_output_is_cut_at_the_limit_and_does_not_block),
        in_folder(the_log_receives_both_outputs),
        cmocka_unit_test(lines_come_one_by_one_and_the_last_needs_no_newline),
        cmocka_unit_test(a_reader_that_refuses_ends_the_program),
        cmocka_unit_test(the_environment_is_added_to_and_taken_from),
        in_folder(standard_input_is_empty_and_the_folder_is_the_one_asked_for),
        cmocka_unit_test(past_its_time_the_whole_group_is_ended),
        cmocka_unit_test(a_program_that_closed_its_outputs_has_a_time_limit_too),
        cmocka_unit_test(one_that_ignores_the_request_is_killed),
        cmocka_unit_test(a_child_left_behind_in_the_group_is_ended),
        cmocka_unit_test(a_daemon_that_holds_the_pipe_does_not_keep_us),
        cmocka_unit_test(an_interrupt_ends_the_program_and_is_told),
        cmocka_unit_test(many_runs_leave_no_descriptor_and_no_zombie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
