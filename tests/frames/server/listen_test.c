/* The socket's place: whose it is, and that only what a dead server left is removed. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"
#include "frames/server/listen.h"

static char folder[] = "/tmp/tp-listen-XXXXXX", path[64], lock[72];

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tp-listen-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/s", folder);
    snprintf(lock, sizeof lock, "%s.lock", path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return tp_remove_tree(folder, NULL);
}

static int try_connect(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    strcpy(a.sun_path, path);
    int r = connect(fd, (struct sockaddr *)&a, sizeof a) < 0 ? -errno : 0;
    close(fd);
    return r;
}

static void a_new_socket_is_this_users_alone(void **state)
{
    struct tp_listener l;
    struct tp_error e = {0};
    struct stat st;
    (void)state;
    assert_int_equal(tp_listen(path, false, &l, &e), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(try_connect(), 0);
    tp_listener_finish(&l);
    assert_false(tp_exists(path));
    assert_false(tp_exists(lock));
}

static void a_second_server_is_told_of_the_first(void **state)
{
    struct tp_listener l, m;
    struct tp_error e = {0};
    (void)state;
    assert_int_equal(tp_listen(path, false, &l, &e), 0);
    assert_int_equal(tp_listen(path, false, &m, &e), -EADDRINUSE);
    assert_non_null(strstr(e.todo, "--socket"));
    assert_int_equal(try_connect(), 0);
    tp_listener_finish(&l);
}

static void an_abstract_name_that_is_taken_is_named(void **state)
{
    struct tp_listener l, m;
    struct tp_error e = {0};
    char name[64];
    (void)state;
    snprintf(name, sizeof name, "@tp-listen-%d", (int)getpid());
    assert_int_equal(tp_listen(name, false, &l, &e), 0);
    assert_int_equal(tp_listen(name, false, &m, &e), -EADDRINUSE);
    assert_string_equal(e.where, name);
    assert_non_null(strstr(e.todo, "--socket"));
    tp_listener_finish(&l);
}

static void what_a_killed_server_left_is_no_obstacle(void **state)
{
    struct tp_listener l;
    struct tp_error e = {0};
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        _exit(tp_listen(path, false, &l, &e) == 0 ? 0 : 1); /* its files stay */
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_true(tp_exists(path));
    assert_int_equal(try_connect(), -ECONNREFUSED);
    assert_int_equal(tp_listen(path, false, &l, &e), 0);
    assert_int_equal(try_connect(), 0);
    tp_listener_finish(&l);
}

static void another_programs_socket_is_left_alone(void **state)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct tp_listener l;
    struct tp_error e = {0};
    (void)state;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    strcpy(a.sun_path, path);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(tp_listen(path, false, &l, &e), -EADDRINUSE);
    assert_int_equal(try_connect(), 0);
    close(fd);
}

static void a_file_that_is_no_socket_is_left_alone(void **state)
{
    struct tp_listener l;
    struct tp_error e = {0};
    (void)state;
    assert_int_equal(tp_write_file(path, "x", 1, 0600, &e), 0);
    assert_int_equal(tp_listen(path, false, &l, &e), -EINVAL);
    assert_true(tp_is_file(path));
    assert_false(tp_exists(lock));
}

static void names_that_no_socket_can_have_are_refused(void **state)
{
    struct tp_listener l;
    char longer[200];
    (void)state;
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    const char *const names[] = {"", "@", longer};
    for (unsigned i = 0; i < 3; i++) {
        struct tp_error e = {0};
        assert_int_equal(tp_listen(names[i], false, &l, &e), -EINVAL);
        assert_int_equal(e.status, TP_STATUS_INPUT);
    }
}

static void an_abstract_name_needs_no_file(void **state)
{
    struct tp_listener l, m;
    struct tp_error e = {0}, f = {0};
    char name[64];
    (void)state;
    snprintf(name, sizeof name, "@tp-listen-%d", (int)getpid());
    assert_int_equal(tp_listen(name, false, &l, &e), 0);
    assert_int_equal(tp_listen(name, false, &m, &f), -EADDRINUSE);
    tp_listener_finish(&l);
}

static void a_socket_that_is_no_longer_ours_stays(void **state)
{
    struct tp_listener l;
    struct tp_error e = {0};
    (void)state;
    assert_int_equal(tp_listen(path, false, &l, &e), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(tp_write_file(path, "x", 1, 0600, &e), 0);
    tp_listener_finish(&l);
    assert_true(tp_is_file(path));
}

#define t(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        t(a_new_socket_is_this_users_alone),
        t(a_second_server_is_told_of_the_first),
        t(an_abstract_name_that_is_taken_is_named),
        t(what_a_killed_server_left_is_no_obstacle),
        t(another_programs_socket_is_left_alone),
        t(a_file_that_is_no_socket_is_left_alone),
        t(names_that_no_socket_can_have_are_refused),
        t(an_abstract_name_needs_no_file),
        t(a_socket_that_is_no_longer_ours_stays),
    };
    return cmocka_run_group_tests_name("listen", tests, NULL, NULL);
}
