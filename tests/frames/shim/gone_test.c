/* What a client sees when the server dies; with_server.sh runs it with the shim preloaded. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <drm.h>
#include <drm_mode.h>
#include <linux/netlink.h>

#include "screen.h"

static int fd, monitor = -1;

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void *wait_long(void *data)
{
    union drm_wait_vblank v = {.request = {.type = _DRM_VBLANK_RELATIVE, .sequence = 6000}};
    int *error = data;

    *error = ioctl(fd, DRM_IOCTL_WAIT_VBLANK, &v) < 0 ? errno : 0;
    return NULL;
}

static void everything_ends_when_the_server_dies(void **state)
{
    struct drm_mode_create_dumb create = {.width = 64, .height = 64, .bpp = 32};
    struct drm_get_cap cap = {.capability = DRM_CAP_DUMB_BUFFER};
    struct pollfd p = {.events = POLLIN};
    struct drm_auth auth = {0};
    pthread_t waiter;
    struct stat st;
    int error = -1;
    char event[64];

    (void)state;
    fd = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
    light_up(fd);
    assert_int_equal(pthread_create(&waiter, NULL, wait_long, &error), 0);
    usleep(100000);
    assert_int_equal(kill(atoi(getenv("LOOPBACK_PID")), SIGKILL), 0);
    pthread_join(waiter, NULL);
    assert_int_equal(error, ENODEV);
    p.fd = fd;
    assert_int_equal(poll(&p, 1, 5000), 1);
    assert_true(p.revents & POLLHUP);
    int64_t before = now_ns();
    for (int i = 0; i < 20; i++) { /* as a loop that does not mind errors */
        errno = 0;
        assert_int_equal(read(fd, event, sizeof event), -1);
        assert_int_equal(errno, ENODEV);
    }
    assert_true(now_ns() - before >= 100000000); /* it does not take the whole processor */
    assert_int_equal(read(fd, event, 0), 0);
    assert_int_equal(ioctl(fd, DRM_IOCTL_GET_MAGIC, &auth), -1);
    assert_int_equal(errno, ENODEV);
    assert_int_equal(ioctl(fd, DRM_IOCTL_GET_CAP, &cap), -1);
    assert_int_equal(errno, ENODEV);
    assert_int_equal(fstat(fd, &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(open("/dev/dri/card0", O_RDWR), -1);
    assert_int_equal(errno, ENODEV);
    /* A file that has taken its number past the shim ends as files do. */
    int null = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY);
    assert_int_equal(syscall(SYS_dup3, null, fd, 0), fd);
    assert_int_equal(read(fd, event, sizeof event), 0);
    assert_int_equal(close(null), 0);
    assert_int_equal(close(fd), 0);
}

/* Whoever waits for udev's news sleeps on: its socket is one that never ends. */
static void the_monitors_socket_falls_silent(void **state)
{
    struct pollfd p = {.events = POLLIN};
    char byte;

    (void)state;
    if (monitor < 0)
        skip();
    p.fd = monitor;
    assert_int_equal(poll(&p, 1, 5000), 1);
    assert_int_equal(recv(monitor, &byte, 1, 0), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(poll(&p, 1, 50), 0);
    close(monitor);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_ends_when_the_server_dies),
        cmocka_unit_test(the_monitors_socket_falls_silent),
    };

    if (syscall(SYS_faccessat, AT_FDCWD, "/run/udev/control", F_OK) < 0)
        monitor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
