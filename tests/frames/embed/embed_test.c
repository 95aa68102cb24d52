/*
 * The server as an app has it, through its C functions and through Java's, on the phone's double by
 * the clock; a client of a real card (arguments: the preload library and the flips program) shows
 * its pictures on the app's surface while that is paused, turned, destroyed and made anew.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../panel/double/double.h"
#include "frames/server/jni_table.h"
#include "turnpike/server.h"

static const char *shim, *flips;
static char folder[] = "/tmp/turnpike-embed-XXXXXX", path[64];

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static int setup(void **state)
{
    struct timespec t;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/card", folder);
    clock_gettime(CLOCK_MONOTONIC, &t);
    double_reset(36, 1, 60000, t.tv_sec * INT64_C(1000000000) + t.tv_nsec);
    double_live(true);
    return 0;
}

/* All that is SurfaceFlinger's goes. */
static int teardown(void **state)
{
    struct double_counts c;
    (void)state;
    sleep_ms(300);
    double_live(false);
    double_run_until(double_now() + 500000000);
    double_count(&c);
    assert_int_equal(c.layers, 0);
    assert_int_equal(c.buffers, 0);
    assert_int_equal(c.windows, 0);
    assert_int_equal(access(path, F_OK), -1);
    unlink(strcat(path, ".lock"));
    assert_int_equal(rmdir(folder), 0);
    strcpy(strrchr(folder, '-') + 1, "XXXXXX");
    return 0;
}

static char last_line[256];

static void on_line(void *data, const char *line)
{
    (void)data;
    snprintf(last_line, sizeof last_line, "%s", line);
}

static struct turnpike_server *start(void)
{
    struct turnpike_server_config config = {.size = sizeof config,
        .socket_path = path,
        .width_px = 64,
        .height_px = 32,
        .refresh_mhz = 60000,
        .log = on_line};
    struct turnpike_server *server;
    char error[256];
    if (turnpike_server_create(&config, &server, error, sizeof error) < 0)
        fail_msg("%s", error);
    return server;
}

static pid_t run_client(const char *n)
{
    pid_t pid = fork();
    if (pid == 0) {
        setenv("LD_PRELOAD", shim, 1);
        setenv("TURNPIKE_SOCKET", path, 1);
        execl(flips, flips, "60", n, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static void a_clients_pictures_reach_the_apps_surface(void **state)
{
    struct turnpike_server *server = start();
    void *window = double_window_create(128, 64);
    struct double_counts before, after;
    int status;
    (void)state;
    turnpike_server_set_window(server, window);
    double_count(&before);
    pid_t pid = run_client("150"); /* 2.5 s */
    sleep_ms(700);
    turnpike_server_pause(server);
    sleep_ms(300);
    turnpike_server_resume(server);
    sleep_ms(200);
    turnpike_server_repaint(server);
    double_window_resize(window, 64, 128);
    turnpike_server_resize(server);
    turnpike_server_set_window(server, NULL);
    double_window_destroy(window);
    sleep_ms(200);
    window = double_window_create(128, 64);
    turnpike_server_set_window(server, window);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    double_count(&after);
    assert_true(after.latched >= before.latched + 20);
    assert_non_null(strstr(last_line, "it is not a dma-buf"));
    turnpike_server_destroy(server);
    double_window_destroy(window);
}

/* A client that comes again whenever its server has gone. It leads a group of its own. */
static pid_t run_stubborn_client(void)
{
    pid_t pid = fork();
    if (pid > 0)
        return pid;
    setpgid(0, 0);
    for (;;) {
        pid_t one = run_client("100000");
        waitpid(one, NULL, 0);
        sleep_ms(5);
    }
}

static unsigned open_descriptors(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static uint64_t latched(void)
{
    struct double_counts c;
    double_count(&c);
    return c.latched;
}

/*
 * Servers that are ended in the midst of a client's pictures, at any place of a refresh, and made
 * again on the same path and surface: the client finds each, its pictures are shown, and in the end
 * SurfaceFlinger has no layer and no buffer of any of them, and no descriptor is left.
 */
static void a_server_that_is_made_again_under_load_leaves_nothing_behind(void **state)
{
    void *window = double_window_create(128, 64);
    struct double_counts c;
    unsigned before = open_descriptors();
    int status = 0;
    (void)state;
    pid_t client = run_stubborn_client();
    for (unsigned i = 0; i < 12; i++) {
        uint64_t latches = latched();
        struct turnpike_server *server = start();
        turnpike_server_set_window(server, window);
        for (unsigned wait = 0; wait < 2000 && latched() < latches + 5; wait++)
            sleep_ms(5);
        assert_true(latched() >= latches + 5);
        sleep_ms(i * 7 % 23);
        if (i % 3 == 1)
            turnpike_server_pause(server);
        if (i % 3 == 2)
            turnpike_server_set_window(server, NULL);
        turnpike_server_destroy(server);
    }
    kill(-client, SIGKILL);
    assert_int_equal(waitpid(client, &status, 0), client);
    sleep_ms(300); /* SurfaceFlinger's last words */
    double_count(&c);
    assert_int_equal(c.layers, 0);
    assert_int_equal(c.buffers, 0);
    assert_int_equal(c.windows, 1);
    assert_int_equal(open_descriptors(), before);
    double_window_destroy(window);
}

static void a_client_may_come_as_a_descriptor(void **state)
{
    struct turnpike_server *server = start();
    int ends[2];
    char byte;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    assert_int_equal(turnpike_server_adopt(server, ends[0]), 0);
    turnpike_server_destroy(server);
    assert_int_equal(read(ends[1], &byte, 1), 0); /* it had it, and closed it */
    close(ends[1]);
}

static void what_cannot_be_is_said(void **state)
{
    struct turnpike_server *server = start(), *other;
    struct turnpike_server_config config = {.size = sizeof config,
        .socket_path = path,
        .width_px = 64,
        .height_px = 32,
        .refresh_mhz = 60000};
    char error[256];
    (void)state;
    assert_int_equal(turnpike_server_create(&config, &other, error, sizeof error), -EADDRINUSE);
    assert_null(other);
    assert_non_null(strstr(error, path));
    config.refresh_mhz = 0;
    assert_int_equal(turnpike_server_create(&config, &other, error, sizeof error), -EINVAL);
    config.size--;
    assert_int_equal(turnpike_server_create(&config, &other, NULL, 0), -EINVAL);
    turnpike_server_destroy(server);
}

/* --- Java --- */

int64_t Java_org_turnpike_DisplayServer_create(
    tp_jni_env *, void *, void *, int32_t, int32_t, int32_t, uint8_t);
void Java_org_turnpike_DisplayServer_setSurface(tp_jni_env *, void *, int64_t, void *);
void Java_org_turnpike_DisplayServer_resize(tp_jni_env *, void *, int64_t);
void Java_org_turnpike_DisplayServer_pause(tp_jni_env *, void *, int64_t);
void Java_org_turnpike_DisplayServer_resume(tp_jni_env *, void *, int64_t);
void Java_org_turnpike_DisplayServer_repaint(tp_jni_env *, void *, int64_t);
void Java_org_turnpike_DisplayServer_setHdr(tp_jni_env *, void *, int64_t, uint8_t);
int32_t Java_org_turnpike_DisplayServer_adopt(tp_jni_env *, void *, int64_t, int32_t);
void Java_org_turnpike_DisplayServer_destroy(tp_jni_env *, void *, int64_t);

static char thrown[512];
static unsigned strings;

static void *find_class(tp_jni_env *env, const char *name)
{
    (void)env;
    assert_string_equal(name, "java/lang/IllegalStateException");
    return thrown;
}

static int32_t throw_new(tp_jni_env *env, void *class, const char *what)
{
    (void)env;
    (void)class;
    snprintf(thrown, sizeof thrown, "%s", what);
    return 0;
}

static const char *get_chars(tp_jni_env *env, void *string, uint8_t *copied)
{
    (void)env;
    (void)copied;
    strings++;
    return string;
}

static void release_chars(tp_jni_env *env, void *string, const char *chars)
{
    (void)env;
    assert_ptr_equal(string, chars);
    strings--;
}

static void java_has_the_same(void **state)
{
    static const tp_jni_function table[256] = {[TP_JNI_FIND_CLASS] = (tp_jni_function)find_class,
        [TP_JNI_THROW_NEW] = (tp_jni_function)throw_new,
        [TP_JNI_GET_STRING_UTF_CHARS] = (tp_jni_function)get_chars,
        [TP_JNI_RELEASE_STRING_UTF_CHARS] = (tp_jni_function)release_chars};
    tp_jni_env env = table;
    void *window = double_window_create(128, 64);
    int ends[2], status;
    (void)state;
    assert_int_equal(Java_org_turnpike_DisplayServer_create(&env, NULL, path, 64, 32, 0, 0), 0);
    assert_non_null(strstr(thrown, "refresh rate"));
    int64_t server = Java_org_turnpike_DisplayServer_create(&env, NULL, path, 64, 32, 60000, 0);
    assert_true(server != 0);
    assert_int_equal(strings, 0);
    Java_org_turnpike_DisplayServer_setSurface(&env, NULL, server, window);
    pid_t pid = run_client("30");
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    Java_org_turnpike_DisplayServer_resize(&env, NULL, server);
    Java_org_turnpike_DisplayServer_repaint(&env, NULL, server);
    Java_org_turnpike_DisplayServer_setHdr(&env, NULL, server, 1);
    Java_org_turnpike_DisplayServer_pause(&env, NULL, server);
    Java_org_turnpike_DisplayServer_resume(&env, NULL, server);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    assert_int_equal(Java_org_turnpike_DisplayServer_adopt(&env, NULL, server, ends[0]), 0);
    close(ends[1]);
    Java_org_turnpike_DisplayServer_setSurface(&env, NULL, server, NULL);
    Java_org_turnpike_DisplayServer_destroy(&env, NULL, server);
    double_window_destroy(window);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 77;
    shim = argv[1];
    flips = argv[2];
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_clients_pictures_reach_the_apps_surface),
        TEST(a_server_that_is_made_again_under_load_leaves_nothing_behind),
        TEST(a_client_may_come_as_a_descriptor),
        TEST(what_cannot_be_is_said),
        TEST(java_has_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
