/* A DRM client that knows nothing of the shim which is preloaded into it; with_server.sh runs it. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <drm.h>
#include <drm_mode.h>
#include <linux/vt.h>

#include "screen.h"

#define NODE "/dev/dri/card0"
#define SYSFS "/sys/devices/platform/turnpike/drm/card0"

static char *self; /* this program */

static int open_card(void)
{
    int fd = open(NODE, O_RDWR | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

/* Goes to the server, and says what it was given. */
static void ask_server(int fd)
{
    struct drm_auth auth = {0};

    assert_int_equal(ioctl(fd, DRM_IOCTL_GET_MAGIC, &auth), 0);
    assert_true(auth.magic > 0);
}

static void assert_card(const struct stat *st)
{
    assert_true(S_ISCHR(st->st_mode));
    assert_int_equal(major(st->st_rdev), 226);
    assert_int_equal(minor(st->st_rdev), 0);
}

static unsigned count_fds(void)
{
    unsigned n = 0;

    for (int fd = 0; fd < 1024; fd++)
        n += syscall(SYS_fcntl, fd, F_GETFD) >= 0;
    return n;
}

static void the_node_is_a_character_device(void **state)
{
    struct stat st, open_st;
    struct statx x;
    int fd = open_card();

    (void)state;
    assert_int_equal(stat(NODE, &st), 0);
    assert_card(&st);
    assert_int_equal(lstat("/dev//dri/./card0", &st), 0);
    assert_card(&st);
    assert_int_equal(fstat(fd, &open_st), 0);
    assert_card(&open_st);
    assert_true(st.st_ino == open_st.st_ino && st.st_dev == open_st.st_dev);
    assert_int_equal(fstatat(fd, "", &open_st, AT_EMPTY_PATH), 0);
    assert_card(&open_st);
    assert_int_equal(statx(AT_FDCWD, NODE, 0, STATX_ALL, &x), 0);
    assert_int_equal(x.stx_rdev_major, 226);
    assert_int_equal(statx(fd, "", AT_EMPTY_PATH, STATX_ALL, &x), 0);
    assert_int_equal(x.stx_rdev_major, 226);
    assert_int_equal(access(NODE, R_OK | W_OK), 0);
    assert_int_equal(open(NODE, O_RDONLY | O_DIRECTORY), -1);
    assert_int_equal(errno, ENOTDIR);
    assert_int_equal(stat("/dev/dri/card7", &st), -1);
    assert_int_equal(errno, ENOENT);
    close(fd);
}

static void everybody_elses_files_are_as_they_were(void **state)
{
    struct stat st;
    char line[64];
    int fd = open("/proc/self/comm", O_RDONLY), pair[2];

    (void)state;
    assert_true(fd >= 0);
    assert_true(read(fd, line, sizeof line) > 0);
    assert_int_equal(ioctl(fd, DRM_IOCTL_GET_MAGIC, line), -1);
    assert_int_equal(errno, ENOTTY);
    close(fd);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_int_equal(major(st.st_rdev), 1);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    assert_int_equal(fstat(pair[0], &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_ptr_equal(mmap(NULL, 4096, PROT_READ, MAP_SHARED, pair[0], 0), MAP_FAILED);
    assert_int_equal(errno, ENODEV);
    close(pair[0]);
    close(pair[1]);
}

static bool lists(const char *folder, const char *name)
{
    DIR *d = opendir(folder);
    struct dirent *e;
    bool found = false;

    assert_non_null(d);
    while ((e = readdir(d)))
        found |= !strcmp(e->d_name, name);
    closedir(d);
    return found;
}

static void folders_and_links_lead_to_the_card(void **state)
{
    struct dirent **entries;
    glob_t found;
    char out[PATH_MAX], line[64] = "";
    ssize_t n;
    FILE *f;
    int fd;

    (void)state;
    assert_true(lists("/dev/dri", "card0"));
    assert_true(lists("/sys/class", "drm"));
    assert_true(lists("/sys/class", "net"));
    assert_true(lists("/sys/class/drm", "card0"));
    assert_true(lists("/sys/dev/char/226:0/device/drm", "card0"));
    n = scandir("/dev/dri", &entries, NULL, alphasort);
    assert_int_equal(n, 3);
    while (n > 0)
        free(entries[--n]);
    free(entries);
    assert_int_equal(glob("/dev/dri/card[0-9]", 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    assert_string_equal(found.gl_pathv[0], NODE);
    globfree(&found);
    assert_int_equal(glob("/proc/self/com[m]", 0, NULL, &found), 0);
    globfree(&found);
    assert_string_equal(realpath("/sys/dev/char/226:0", out), SYSFS);
    assert_string_equal(realpath("/sys/class/drm/../drm/card0", out), SYSFS);
    assert_string_equal(realpath("/dev/dri/..", out), "/dev");
    assert_string_equal(realpath("/sys/class/drm/card0/../..", out),
                        "/sys/devices/platform/turnpike");
    n = readlink("/sys/dev/char/226:0/subsystem", out, sizeof out);
    assert_true(n > 9);
    assert_memory_equal(out + n - 9, "class/drm", 9);
    f = fopen("/sys/dev/char/226:0/uevent", "re");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(line, "MAJOR=226\n");
    fclose(f);
    fd = open_card();
    snprintf(line, sizeof line, "/proc/self/fd/%d", fd);
    n = readlink(line, out, sizeof out);
    assert_int_equal(n, strlen(NODE));
    assert_memory_equal(out, NODE, strlen(NODE));
    close(fd);
}

/* As systemd's libraries go about it; the machine itself may lack some of these folders. */
static void a_walk_from_folder_to_folder_arrives_too(void **state)
{
    static const char *const ways[][8] = {
        {"sys", "class", "drm", "card0", "uevent"},
        {"sys", "devices", "platform", "turnpike", "drm", "card0", "uevent"},
        {"sys", "class", "drm", "..", "drm", "card0", "dev"},
        {"run", "udev", "data", "c226:0"},
    };
    static const char *const node[] = {"dev", "dri", "card0"};
    struct stat st;
    int at;

    (void)state;
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        at = open("/", O_PATH | O_CLOEXEC | O_DIRECTORY);
        for (size_t i = 0; ways[way][i]; i++) {
            int next = openat(at, ways[way][i], (ways[way][i + 1] ? O_PATH : O_RDONLY) | O_CLOEXEC);

            assert_true(next >= 0);
            close(at);
            at = next;
        }
        assert_int_equal(fstat(at, &st), 0);
        assert_true(S_ISREG(st.st_mode));
        close(at);
    }
    at = open("/", O_PATH | O_CLOEXEC | O_DIRECTORY);
    for (size_t i = 0; i < 3; i++) {
        int next = openat(at, node[i], (i < 2 ? O_PATH : O_RDWR) | O_CLOEXEC);

        assert_true(next >= 0);
        close(at);
        at = next;
    }
    assert_int_equal(fstat(at, &st), 0);
    assert_card(&st);
    ask_server(at);
    close(at);
}

/* How compositors name it that run without the library too. */
int turnpike_drm_fd(void) __attribute__((weak));

static void the_library_itself_gives_a_card_to_who_asks(void **state)
{
    int fd;

    (void)state;
    assert_true(turnpike_drm_fd != NULL);
    fd = turnpike_drm_fd();
    assert_true(fd >= 0);
    ask_server(fd);
    close(fd);
}

static void libdrm_finds_the_device(void **state)
{
    void *lib = dlopen("libdrm.so.2", RTLD_NOW);
    char *(*name_from_fd)(int), *name;
    int (*get_devices)(uint32_t, void **, int), (*set_cap)(int, uint64_t, uint64_t);
    void (*free_devices)(void **, int);
    void *devices[4] = {0};
    int fd, n;

    (void)state;
    if (!lib)
        skip();
    *(void **)&name_from_fd = dlsym(lib, "drmGetDeviceNameFromFd2");
    *(void **)&get_devices = dlsym(lib, "drmGetDevices2");
    *(void **)&free_devices = dlsym(lib, "drmFreeDevices");
    *(void **)&set_cap = dlsym(lib, "drmSetClientCap");
    fd = open_card();
    name = name_from_fd(fd);
    assert_string_equal(name, NODE);
    free(name);
    n = get_devices(0, devices, 4);
    assert_true(n >= 1);
    free_devices(devices, n);
    assert_int_equal(set_cap(fd, DRM_CLIENT_CAP_ATOMIC, 1), 0);
    assert_int_equal(set_cap(fd, 77, 1), -1);
    close(fd);
    dlclose(lib);
}

static void libudev_finds_the_device(void **state)
{
    void *lib = dlopen("libudev.so.1", RTLD_NOW);
    void *(*udev_new)(void), *(*enumerate_new)(void *), *(*list)(void *), *(*from_syspath)(void *, const char *);
    int (*match)(void *, const char *), (*scan)(void *), (*initialized)(void *);
    const char *(*entry_name)(void *), *(*devnode)(void *), *(*property)(void *, const char *);
    void *(*unref_udev)(void *), *(*unref_enumerate)(void *), *(*unref_device)(void *);
    void *udev, *enumerate, *device;
    dev_t (*devnum)(void *);

    (void)state;
    if (!lib)
        skip();
    *(void **)&udev_new = dlsym(lib, "udev_new");
    *(void **)&enumerate_new = dlsym(lib, "udev_enumerate_new");
    *(void **)&match = dlsym(lib, "udev_enumerate_add_match_subsystem");
    *(void **)&scan = dlsym(lib, "udev_enumerate_scan_devices");
    *(void **)&list = dlsym(lib, "udev_enumerate_get_list_entry");
    *(void **)&entry_name = dlsym(lib, "udev_list_entry_get_name");
    *(void **)&from_syspath = dlsym(lib, "udev_device_new_from_syspath");
    *(void **)&devnode = dlsym(lib, "udev_device_get_devnode");
    *(void **)&devnum = dlsym(lib, "udev_device_get_devnum");
    *(void **)&property = dlsym(lib, "udev_device_get_property_value");
    *(void **)&initialized = dlsym(lib, "udev_device_get_is_initialized");
    *(void **)&unref_udev = dlsym(lib, "udev_unref");
    *(void **)&unref_enumerate = dlsym(lib, "udev_enumerate_unref");
    *(void **)&unref_device = dlsym(lib, "udev_device_unref");
    udev = udev_new();
    enumerate = enumerate_new(udev);
    assert_int_equal(match(enumerate, "drm"), 0);
    assert_int_equal(scan(enumerate), 0);
    assert_non_null(list(enumerate));
    assert_string_equal(entry_name(list(enumerate)), SYSFS);
    device = from_syspath(udev, SYSFS);
    assert_non_null(device);
    assert_string_equal(devnode(device), NODE);
    assert_int_equal(major(devnum(device)), 226);
    assert_string_equal(property(device, "ID_SEAT"), "seat0");
    assert_int_equal(initialized(device), 1);
    unref_device(device);
    unref_enumerate(enumerate);
    unref_udev(udev);
    dlclose(lib);
}

static void libudev_hears_of_an_output_that_came(void **state)
{
    void *lib = dlopen("libudev.so.1", RTLD_NOW), *udev, *monitor, *device;
    void *(*udev_new)(void), *(*monitor_new)(void *, const char *), *(*receive)(void *);
    int (*filter)(void *, const char *, const char *), (*enable)(void *), (*get_fd)(void *);
    const char *(*action)(void *), *(*sysname)(void *), *(*property)(void *, const char *);
    void *(*unref_udev)(void *), *(*unref_monitor)(void *), *(*unref_device)(void *);
    uint32_t connectors[4];
    struct pollfd p = {.events = POLLIN};
    int fd = open_card(), loopback = atoi(getenv("LOOPBACK_PID"));

    (void)state;
    if (!lib || syscall(SYS_faccessat, AT_FDCWD, "/run/udev/control", F_OK) == 0)
        skip(); /* where udev runs, its news are what counts */
    *(void **)&udev_new = dlsym(lib, "udev_new");
    *(void **)&monitor_new = dlsym(lib, "udev_monitor_new_from_netlink");
    *(void **)&filter = dlsym(lib, "udev_monitor_filter_add_match_subsystem_devtype");
    *(void **)&enable = dlsym(lib, "udev_monitor_enable_receiving");
    *(void **)&get_fd = dlsym(lib, "udev_monitor_get_fd");
    *(void **)&receive = dlsym(lib, "udev_monitor_receive_device");
    *(void **)&action = dlsym(lib, "udev_device_get_action");
    *(void **)&sysname = dlsym(lib, "udev_device_get_sysname");
    *(void **)&property = dlsym(lib, "udev_device_get_property_value");
    *(void **)&unref_udev = dlsym(lib, "udev_unref");
    *(void **)&unref_monitor = dlsym(lib, "udev_monitor_unref");
    *(void **)&unref_device = dlsym(lib, "udev_device_unref");
    udev = udev_new();
    monitor = monitor_new(udev, "udev");
    assert_non_null(monitor);
    assert_true(filter(monitor, "drm", NULL) >= 0);
    assert_true(enable(monitor) >= 0);
    p.fd = get_fd(monitor);
    ask_server(fd); /* by then it has the monitor's connection too */
    assert_int_equal(poll(&p, 1, 0), 0);
    for (int i = 0; i < 2; i++) {
        struct drm_mode_get_connector connector = {0};
        struct drm_mode_card_res res = {.connector_id_ptr = (uintptr_t)connectors,
                                        .count_connectors = 4};

        assert_int_equal(kill(loopback, SIGUSR1), 0);
        assert_int_equal(poll(&p, 1, 5000), 1);
        device = receive(monitor);
        assert_non_null(device);
        assert_string_equal(action(device), "change");
        assert_string_equal(sysname(device), "card0");
        assert_string_equal(property(device, "HOTPLUG"), "1");
        unref_device(device);
        assert_null(receive(monitor));
        assert_int_equal(ioctl(fd, DRM_IOCTL_MODE_GETRESOURCES, &res), 0);
        connector.connector_id = connectors[1];
        assert_int_equal(ioctl(fd, DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
        assert_int_equal(connector.connection, i == 0 ? 1 : 2);
    }
    unref_monitor(monitor);
    unref_udev(udev);
    dlclose(lib);
    close(fd);
}

static void a_dumb_buffer_is_mapped_in_the_cards_place(void **state)
{
    struct drm_mode_create_dumb create = {.width = 64, .height = 64, .bpp = 32};
    struct drm_mode_map_dumb map = {0};
    uint32_t *a, *b;
    int fd = open_card();

    (void)state;
    assert_int_equal(ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
    map.handle = create.handle;
    assert_int_equal(ioctl(fd, DRM_IOCTL_MODE_MAP_DUMB, &map), 0);
    a = mmap(NULL, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)map.offset);
    b = mmap64(NULL, create.size, PROT_READ, MAP_SHARED, fd, (off64_t)map.offset);
    assert_true(a != MAP_FAILED && b != MAP_FAILED);
    a[1000] = 0xabcdef;
    assert_int_equal(b[1000], 0xabcdef);
    munmap(a, create.size);
    munmap(b, create.size);
    assert_ptr_equal(mmap(NULL, create.size + 65536, PROT_READ, MAP_SHARED, fd, (off_t)map.offset),
                     MAP_FAILED);
    assert_int_equal(errno, EINVAL);
    assert_ptr_equal(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0), MAP_FAILED);
    close(fd);
}

static void a_buffer_leaves_and_comes_back_as_a_descriptor(void **state)
{
    struct drm_mode_create_dumb create = {.width = 64, .height = 64, .bpp = 32};
    struct drm_prime_handle prime = {.flags = DRM_CLOEXEC | DRM_RDWR};
    int fd = open_card(), other = open_card();
    uint32_t handle;

    (void)state;
    assert_int_equal(ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
    prime.handle = handle = create.handle;
    assert_int_equal(ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
    assert_int_equal(fcntl(prime.fd, F_GETFD), FD_CLOEXEC);
    prime.handle = 0;
    assert_int_equal(ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0);
    assert_int_equal(prime.handle, handle);
    assert_int_equal(ioctl(other, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0);
    close(prime.fd);
    prime.fd = 1000;
    assert_int_equal(ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), -1);
    assert_int_equal(errno, EBADF);
    close(fd);
    close(other);
}

static int wait_vblanks(int fd, unsigned n)
{
    union drm_wait_vblank v = {.request = {.type = _DRM_VBLANK_RELATIVE, .sequence = n}};

    return ioctl(fd, DRM_IOCTL_WAIT_VBLANK, &v);
}

static void events_are_read_from_the_card(void **state)
{
    union drm_wait_vblank v = {.request = {.type = _DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT,
                                           .sequence = 1, .signal = 77}};
    struct drm_event_vblank e;
    int fd = open(NODE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    struct pollfd p = {.fd = fd, .events = POLLIN};

    (void)state;
    light_up(fd);
    assert_int_equal(read(fd, &e, sizeof e), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(ioctl(fd, DRM_IOCTL_WAIT_VBLANK, &v), 0);
    assert_int_equal(poll(&p, 1, 5000), 1);
    assert_int_equal(read(fd, &e, sizeof e), sizeof e);
    assert_int_equal(e.base.type, DRM_EVENT_VBLANK);
    assert_int_equal(e.user_data, 77);
    close(fd);
}

struct worker {
    pthread_t thread;
    int fd;
    unsigned calls;
    int result;
};

static void *work(void *data)
{
    struct worker *w = data;

    for (unsigned i = 0; i < w->calls && w->result == 0; i++) {
        struct drm_mode_create_blob blob = {.data = (uintptr_t)&w, .length = sizeof w};
        struct drm_mode_destroy_blob destroy;

        w->result = ioctl(w->fd, DRM_IOCTL_MODE_CREATEPROPBLOB, &blob);
        destroy.blob_id = blob.blob_id;
        if (w->result == 0)
            w->result = ioctl(w->fd, DRM_IOCTL_MODE_DESTROYPROPBLOB, &destroy);
    }
    return NULL;
}

static void *wait_long(void *data)
{
    struct worker *w = data;

    w->result = wait_vblanks(w->fd, w->calls);
    __atomic_store_n(&w->calls, 0, __ATOMIC_SEQ_CST);
    return NULL;
}

static void a_call_that_waits_holds_nobody_up(void **state)
{
    struct worker workers[8], waiter = {.calls = 150};
    int fd = open_card();

    (void)state;
    light_up(fd);
    waiter.fd = fd;
    assert_int_equal(pthread_create(&waiter.thread, NULL, wait_long, &waiter), 0);
    for (int i = 0; i < 8; i++) {
        workers[i] = (struct worker){.fd = fd, .calls = 200};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].result, 0);
    }
    assert_int_equal(__atomic_load_n(&waiter.calls, __ATOMIC_SEQ_CST), 150); /* it still waits */
    pthread_join(waiter.thread, NULL);
    assert_int_equal(waiter.result, 0);
    close(fd);
}

static void more_calls_wait_at_once_than_channels_are_kept(void **state)
{
    struct worker waiters[24];
    int fd = open_card();

    (void)state;
    light_up(fd);
    for (int i = 0; i < 24; i++) {
        waiters[i] = (struct worker){.fd = fd, .calls = 20};
        assert_int_equal(pthread_create(&waiters[i].thread, NULL, wait_long, &waiters[i]), 0);
    }
    for (int i = 0; i < 24; i++) {
        pthread_join(waiters[i].thread, NULL);
        assert_int_equal(waiters[i].result, 0);
    }
    close(fd);
}

static int signal_fd;
static volatile sig_atomic_t signals, failures;

static void on_signal(int number)
{
    struct drm_auth auth = {0};
    int kept = errno;

    (void)number;
    signals++;
    if (signal_fd >= 0 && ioctl(signal_fd, DRM_IOCTL_GET_MAGIC, &auth) < 0)
        failures++;
    errno = kept;
}

static void a_signal_ends_a_wait(void **state)
{
    struct sigaction a = {.sa_handler = on_signal}, old;
    struct itimerval soon = {.it_value = {.tv_usec = 50000}};
    int fd = open_card();

    (void)state;
    light_up(fd);
    signal_fd = -1;
    sigaction(SIGALRM, &a, &old);
    setitimer(ITIMER_REAL, &soon, NULL);
    assert_int_equal(wait_vblanks(fd, 6000), -1);
    assert_int_equal(errno, EINTR);
    assert_int_equal(wait_vblanks(fd, 1), 0);
    sigaction(SIGALRM, &old, NULL);
    close(fd);
}

static void signal_handlers_may_call_too(void **state)
{
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
    struct itimerval often = {.it_value = {.tv_usec = 500}, .it_interval = {.tv_usec = 500}};
    struct itimerval never = {0};
    struct worker w = {.calls = 3000};

    (void)state;
    w.fd = signal_fd = open_card();
    signals = failures = 0;
    sigaction(SIGALRM, &a, &old);
    setitimer(ITIMER_REAL, &often, NULL);
    work(&w);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old, NULL);
    assert_int_equal(w.result, 0);
    assert_int_equal(failures, 0);
    assert_true(signals > 10);
    close(w.fd);
}

static void a_forked_child_and_its_parent_call_side_by_side(void **state)
{
    struct worker w = {.calls = 300};
    int status, fd = w.fd = open_card();
    pid_t child;

    (void)state;
    ask_server(fd);
    child = fork();
    if (child == 0) {
        work(&w);
        close(fd);
        _exit(w.result ? 1 : 0);
    }
    work(&w);
    assert_int_equal(w.result, 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    ask_server(fd);
    close(fd);
}

static int run_self(const char *mode, int fd, bool preloaded)
{
    char number[16];
    int status;
    pid_t child;

    snprintf(number, sizeof number, "%d", fd);
    child = fork();
    if (child == 0) {
        if (!preloaded)
            unsetenv("LD_PRELOAD");
        execl(self, self, mode, number, (char *)NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void an_open_card_survives_exec(void **state)
{
    int fd = open(NODE, O_RDWR), shut = open_card();

    (void)state;
    ask_server(fd);
    assert_int_equal(run_self("--inherited", fd, true), 0);
    assert_int_equal(run_self("--closed", shut, true), 0);
    ask_server(fd);
    close(fd);
    close(shut);
}

static void send_fd(int sock, int fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec iov = {"x", 1};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
                         .msg_controllen = sizeof control};

    control.align.cmsg_level = SOL_SOCKET;
    control.align.cmsg_type = SCM_RIGHTS;
    control.align.cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(&control.align), &fd, sizeof fd);
    if (sendmsg(sock, &msg, 0) != 1)
        abort();
}

static int receive_fd(int sock)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    char byte;
    struct iovec iov = {&byte, 1};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
                         .msg_controllen = sizeof control};
    int fd;

    if (recvmsg(sock, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
        abort();
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof fd);
    return fd;
}

static void a_card_that_came_in_a_message_is_one(void **state)
{
    struct drm_mode_create_dumb create = {.width = 64, .height = 64, .bpp = 32};
    struct drm_mode_map_dumb map = {0};
    struct stat st;
    int pair[2], fd = open_card(), got;
    void *p;

    (void)state;
    assert_int_equal(ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
    map.handle = create.handle;
    assert_int_equal(ioctl(fd, DRM_IOCTL_MODE_MAP_DUMB, &map), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    send_fd(pair[0], fd);
    close(fd);
    assert_int_equal(run_self("--relay", pair[1], false), 0); /* it knows nothing of cards */
    got = receive_fd(pair[0]);
    assert_int_equal(fstat(got, &st), 0);
    assert_card(&st);
    ask_server(got);
    p = mmap(NULL, create.size, PROT_READ, MAP_SHARED, got, (off_t)map.offset);
    assert_true(p != MAP_FAILED);
    munmap(p, create.size);
    send_fd(pair[0], got);
    close(got);
    got = receive_fd(pair[1]); /* and now a mapping is the first that is asked of it */
    p = mmap(NULL, create.size, PROT_READ, MAP_SHARED, got, (off_t)map.offset);
    assert_true(p != MAP_FAILED);
    munmap(p, create.size);
    close(got);
    close(pair[0]);
    close(pair[1]);
}

static void a_card_lives_as_long_as_any_of_its_descriptors(void **state)
{
    unsigned before = count_fds();
    int a = open_card(), b = dup(a), c = fcntl(a, F_DUPFD_CLOEXEC, 100), d = 200;

    (void)state;
    assert_true(c >= 100);
    assert_int_equal(dup2(a, d), d);
    assert_int_equal(dup3(a, 201, O_CLOEXEC), 201);
    close(a);
    ask_server(b);
    close(b);
    ask_server(c);
    close(c);
    ask_server(d);
    assert_int_equal(dup2(STDERR_FILENO, d), d);
    assert_int_equal(ioctl(d, DRM_IOCTL_SET_MASTER, 0), -1);
    close(d);
    ask_server(201);
    assert_int_equal(close_range(200, 201, 0), 0);
    assert_int_equal(fcntl(201, F_GETFD), -1);
    assert_int_equal(count_fds(), before);
    for (int i = 0; i < 300; i++) {
        a = open_card();
        ask_server(a);
        close(a);
    }
    assert_int_equal(count_fds(), before);
}

static void a_client_that_closes_what_it_does_not_know_keeps_its_card(void **state)
{
    int fd = open_card();
    void *p;

    (void)state;
    ask_server(fd);
    for (int i = fd + 1; i < 1024; i++)
        close(i);
    ask_server(fd);
    assert_int_equal(close_range((unsigned)fd + 1, ~0u, 0), 0);
    ask_server(fd);
    syscall(SYS_close_range, fd + 1, ~0u, 0); /* behind the shim's back */
    ask_server(fd);
    syscall(SYS_close, fd);
    assert_int_equal(syscall(SYS_memfd_create, "other", 0), fd);
    assert_int_equal(ftruncate(fd, 4096), 0);
    p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(p != MAP_FAILED);
    munmap(p, 4096);
    close(fd);
}

/* Starts what a program that starts others does with descriptors; answers its status. */
static __attribute__((noinline)) int run_in_vfork(int fd)
{
    int status = -1;
    pid_t child = vfork();

    if (child == 0) {
        dup2(fd, STDERR_FILENO);
        close(fd);
        close_range(3, ~0u, 0);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status;
}

static void a_child_of_vfork_does_not_disturb_its_parent(void **state)
{
    unsigned before = count_fds();
    int fd = open_card();

    (void)state;
    ask_server(fd);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(run_in_vfork(fd), 0);
        ask_server(fd);
    }
    assert_int_equal(ioctl(STDERR_FILENO, DRM_IOCTL_SET_MASTER, 0), -1);
    close(fd);
    assert_int_equal(count_fds(), before);
}

static void calls_leave_the_heap_as_it_was(void **state)
{
    struct drm_get_cap cap = {.capability = DRM_CAP_DUMB_BUFFER};
    struct worker w = {.calls = 100};
    struct mallinfo2 before, after;
    int fd = w.fd = open_card();

    (void)state;
    before = mallinfo2();
    work(&w);
    assert_int_equal(w.result, 0);
    assert_int_equal(ioctl(fd, DRM_IOCTL_GET_CAP, &cap), 0);
    assert_int_equal(cap.value, 1);
    after = mallinfo2();
    assert_int_equal(before.uordblks, after.uordblks);
    assert_int_equal(before.hblks, after.hblks);
    close(fd);
}

static void a_console_answers_where_one_is_asked_for(void **state)
{
    struct vt_stat vt = {0};
    struct stat st;
    int fd = open("/dev/tty7", O_RDWR | O_NOCTTY | O_CLOEXEC);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(major(st.st_rdev), 4);
    assert_int_equal(minor(st.st_rdev), 7);
    assert_int_equal(stat("/dev/tty7", &st), 0);
    assert_int_equal(major(st.st_rdev), 4);
    assert_int_equal(ioctl(fd, VT_GETSTATE, &vt), 0);
    assert_int_equal(vt.v_active, 7);
    assert_true(isatty(fd));
    close(fd);
}

static int other_modes(const char *mode, int fd)
{
    struct drm_auth auth = {0};
    struct stat st;

    if (!strcmp(mode, "--inherited"))
        return fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode) ||
               ioctl(fd, DRM_IOCTL_GET_MAGIC, &auth) < 0;
    if (!strcmp(mode, "--closed"))
        return fcntl(fd, F_GETFD) >= 0;
    if (!strcmp(mode, "--relay")) {
        send_fd(fd, receive_fd(fd));
        return 0;
    }
    return 2;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_node_is_a_character_device),
        cmocka_unit_test(everybody_elses_files_are_as_they_were),
        cmocka_unit_test(folders_and_links_lead_to_the_card),
        cmocka_unit_test(a_walk_from_folder_to_folder_arrives_too),
        cmocka_unit_test(the_library_itself_gives_a_card_to_who_asks),
        cmocka_unit_test(libdrm_finds_the_device),
        cmocka_unit_test(libudev_finds_the_device),
        cmocka_unit_test(libudev_hears_of_an_output_that_came),
        cmocka_unit_test(a_dumb_buffer_is_mapped_in_the_cards_place),
        cmocka_unit_test(a_buffer_leaves_and_comes_back_as_a_descriptor),
        cmocka_unit_test(events_are_read_from_the_card),
        cmocka_unit_test(a_call_that_waits_holds_nobody_up),
        cmocka_unit_test(more_calls_wait_at_once_than_channels_are_kept),
        cmocka_unit_test(a_signal_ends_a_wait),
        cmocka_unit_test(signal_handlers_may_call_too),
        cmocka_unit_test(a_forked_child_and_its_parent_call_side_by_side),
        cmocka_unit_test(an_open_card_survives_exec),
        cmocka_unit_test(a_card_that_came_in_a_message_is_one),
        cmocka_unit_test(a_card_lives_as_long_as_any_of_its_descriptors),
        cmocka_unit_test(a_client_that_closes_what_it_does_not_know_keeps_its_card),
        cmocka_unit_test(a_child_of_vfork_does_not_disturb_its_parent),
        cmocka_unit_test(calls_leave_the_heap_as_it_was),
        cmocka_unit_test(a_console_answers_where_one_is_asked_for),
    };

    if (argc == 3)
        return other_modes(argv[1], atoi(argv[2]));
    self = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
