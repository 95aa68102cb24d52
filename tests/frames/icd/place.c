#include "place.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], socket_path[96];
static pid_t server;
static const struct place_kind *here;

const char *place_folder(void)
{
    return folder;
}

const struct place_kind *place(void)
{
    return here;
}

pid_t place_spawn(const char *const argv[], int out)
{
    pid_t parent = getpid(), child = fork();

    if (child != 0)
        return child;
    int log = open("log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    dup2(out >= 0 ? out : log, 1);
    dup2(log, 2);
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

bool place_await(bool (*there)(void *data), void *data)
{
    for (unsigned i = 0; i < 6000; i++) {
        if (there(data))
            return true;
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    return false;
}

/* --- the server --- */

static bool listens(void *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    bool does = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return does;
}

void place_serve(void)
{
    const char *program = getenv("TURNPIKE_PROGRAM");
    const char *argv[] = {program, "serve", "--panel", "sim", "--socket", socket_path, "--size",
        "320x200", "--refresh", "240", NULL};

    if (server > 0)
        return;
    assert_non_null(program);
    unlink(socket_path); /* a killed one leaves it */
    server = place_spawn(argv, -1);
    assert_true(server > 0);
    assert_true(place_await(listens, socket_path));
}

void place_kill_server(void)
{
    if (server <= 0)
        return;
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    server = 0;
}

/* --- surfaces that need nobody's window --- */

static void do_nothing(void)
{
}

static VkSurfaceKHR headless_surface(struct client *c, unsigned window)
{
    (void)window;
    return client_headless(c);
}

static void begin_display(void)
{
    place_serve();
}

static VkSurfaceKHR display_surface(struct client *c, unsigned window)
{
    VkDisplayPropertiesKHR display;
    VkDisplayModePropertiesKHR mode;
    VkSurfaceKHR surface;
    uint32_t n = 1;
    CLIENT_GET_INSTANCE(c, vkGetPhysicalDeviceDisplayPropertiesKHR);
    CLIENT_GET_INSTANCE(c, vkGetDisplayModePropertiesKHR);
    CLIENT_GET_INSTANCE(c, vkCreateDisplayPlaneSurfaceKHR);

    assert_int_equal(window, 0);
    assert_int_equal(vkGetPhysicalDeviceDisplayPropertiesKHR(c->physical, &n, &display), 0);
    assert_int_equal(n, 1);
    assert_int_equal(vkGetDisplayModePropertiesKHR(c->physical, display.display, &n, &mode), 0);
    VkDisplaySurfaceCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_DISPLAY_SURFACE_CREATE_INFO_KHR,
        .displayMode = mode.displayMode,
        .transform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .alphaMode = VK_DISPLAY_PLANE_ALPHA_OPAQUE_BIT_KHR,
        .imageExtent = {PLACE_WIDTH, PLACE_HEIGHT}};
    assert_int_equal(vkCreateDisplayPlaneSurfaceKHR(c->instance, &info, NULL, &surface), 0);
    return surface;
}

static const struct place_kind headless = {.name = "headless",
    .begin = do_nothing,
    .surface = headless_surface,
    .kill = do_nothing,
    .end = do_nothing};
static const struct place_kind display = {.name = "display",
    .has_size = true,
    .begin = begin_display,
    .surface = display_surface,
    .kill = place_kill_server,
    .end = do_nothing};

/* --- all of them --- */

static const struct place_kind *const kinds[] = {&headless, &display,
#ifdef TP_ICD_WAYLAND
    &place_double, &place_weston,
#endif
#ifdef TP_ICD_X11
    &place_x11,
#endif
};

static void remove_folder(void)
{
    char command[96];

    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (chdir("/") < 0 || system(command) != 0)
        fprintf(stderr, "%s is left behind\n", folder);
}

/* Where a process finds its server is asked once. */
static void make_folder(void)
{
    if (folder[0])
        return;
    strcpy(folder, "/tmp/turnpike-place-XXXXXX");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    atexit(remove_folder);
    snprintf(socket_path, sizeof socket_path, "%s/server", folder);
    setenv("TURNPIKE_SOCKET", socket_path, 1);
}

void place_begin(const char *name)
{
    here = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i]->name, name) == 0)
            here = kinds[i];
    }
    assert_non_null(here);
    make_folder();
    client_extension = here->extension;
    here->begin();
}

VkSurfaceKHR place_surface(struct client *c, unsigned window)
{
    VkSurfaceKHR surface = here->surface(c, window);
    VkBool32 can;

    assert_int_equal(
        vkGetPhysicalDeviceSurfaceSupportKHR(c->physical, c->family, surface, &can), VK_SUCCESS);
    assert_true(can);
    return surface;
}

VkSurfaceKHR place_again(struct client *c, unsigned window)
{
    return here->again(c, window);
}

void place_close(struct client *c, VkSurfaceKHR surface, unsigned window)
{
    vkDestroySurfaceKHR(c->instance, surface, NULL);
    if (here->close)
        here->close(window);
}

void place_resize(unsigned window, uint32_t width, uint32_t height)
{
    if (here->resize)
        here->resize(window, width, height);
}

void place_kill(void)
{
    here->kill();
}

void place_end(void)
{
    here->end();
    place_kill_server();
}
