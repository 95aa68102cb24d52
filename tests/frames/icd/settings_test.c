/* What the environment may say, and what becomes of what it may not. Each case in a process of its
 * own: it is read once. */
#include "frames/icd/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

typedef bool check(const struct tp_icd_settings *s);

static bool in_a_process(const char *const *environment, check *holds)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        clearenv();
        setenv("TURNPIKE_LOG", "0", 1);
        for (; *environment; environment += 2)
            setenv(environment[0], environment[1], 1);
        _exit(holds(tp_icd_settings()) ? 0 : 1);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool is_default(const struct tp_icd_settings *s)
{
    return s->server_bytes == 0 && s->gate.mode == TP_GATE_VSYNC && s->gate.cap_mhz == 0 &&
        !s->gate_set && !s->cap_set && s->release && s->wait == TP_RELEASE_WAIT_AUTO &&
        s->min_images == 0;
}

static bool is_all(const struct tp_icd_settings *s)
{
    return s->server_bytes > 0 && !strcmp(s->server.sun_path + 1, "name") &&
        s->server.sun_path[0] == 0 && s->gate.mode == TP_GATE_CAP && s->gate.cap_mhz == 59940 &&
        s->gate_set && s->cap_set && !s->release && s->wait == TP_RELEASE_WAIT_GPU &&
        s->min_images == 5;
}

static bool is_path(const struct tp_icd_settings *s)
{
    return !strcmp(s->server.sun_path, "/some/where") &&
        s->server_bytes == offsetof(struct sockaddr_un, sun_path) + sizeof "/some/where";
}

static void settings_are_read(void **state)
{
    const char *const nothing[] = {NULL};
    const char *const empty[] = {
        "TURNPIKE_SOCKET", "", "TURNPIKE_GATE", "", "TURNPIKE_CAP", "", NULL};
    const char *const all[] = {"TURNPIKE_SOCKET", "@name", "TURNPIKE_GATE", "cap", "TURNPIKE_CAP",
        "59.94", "TURNPIKE_RELEASE_FENCE", "0", "TURNPIKE_RELEASE_WAIT", "gpu",
        "TURNPIKE_MIN_IMAGES", "5", NULL};
    const char *const path[] = {"TURNPIKE_SOCKET", "/some/where", "XDG_RUNTIME_DIR", "/", NULL};

    (void)state;
    assert_true(in_a_process(nothing, is_default));
    assert_true(in_a_process(empty, is_default));
    assert_true(in_a_process(all, is_all));
    assert_true(in_a_process(path, is_path));
}

static void what_cannot_be_is_left_out(void **state)
{
    static const char *const wrong[][2] = {{"TURNPIKE_GATE", "fast"}, {"TURNPIKE_GATE", "cap"},
        {"TURNPIKE_CAP", "-1"}, {"TURNPIKE_CAP", "60fps"}, {"TURNPIKE_CAP", "1e9"},
        {"TURNPIKE_CAP", "nan"}, {"TURNPIKE_RELEASE_FENCE", "maybe"},
        {"TURNPIKE_RELEASE_WAIT", "gpus"}, {"TURNPIKE_MIN_IMAGES", "0"},
        {"TURNPIKE_MIN_IMAGES", "65"}, {"TURNPIKE_MIN_IMAGES", "3x"},
        {"XDG_RUNTIME_DIR", "/nowhere"}};
    char long_path[200];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *const environment[] = {wrong[i][0], wrong[i][1], NULL};
        assert_true(in_a_process(environment, is_default));
    }
    memset(long_path, 'x', sizeof long_path);
    long_path[0] = '/';
    long_path[sizeof long_path - 1] = 0;
    const char *const environment[] = {"TURNPIKE_SOCKET", long_path, NULL};
    assert_true(in_a_process(environment, is_default));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_read),
        cmocka_unit_test(what_cannot_be_is_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
