/*
 * Where pictures go, by name, each with another side that can be killed: what tests of swapchains
 * do on every kind of surface.
 *
 *     headless   nobody's
 *     double     a Wayland compositor of the test's (wayland_double.h), which refreshes every 2 ms
 *     weston     weston without a screen
 *     x11        Xvfb
 *     display    a screen of `turnpike serve`, whose program TURNPIKE_PROGRAM names
 */
#ifndef TP_TESTS_ICD_PLACE_H
#define TP_TESTS_ICD_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client.h"

enum { PLACE_WINDOWS = 4, PLACE_WIDTH = 320, PLACE_HEIGHT = 200 };

struct place_kind {
    const char *name;
    const char *extension; /* of the instance; NULL: none */
    bool has_size;         /* its windows have a size that is not the swapchain's to choose */
    void (*begin)(void);
    VkSurfaceKHR (*surface)(struct client *c, unsigned window);
    VkSurfaceKHR (*again)(struct client *c, unsigned window); /* NULL: it has no windows */
    void (*close)(unsigned window); /* after its surface; NULL: nothing is left */
    /* NULL: its windows are as large as their pictures, or as ever. */
    void (*resize)(unsigned window, uint32_t width, uint32_t height);
    void (*kill)(void); /* its other side */
    void (*end)(void);
};
extern const struct place_kind place_double, place_weston, place_x11;

/* Before the client's instance. Asserts that there is such a place. */
void place_begin(const char *name);
const struct place_kind *place(void);
/* A window's surface. Windows are those below PLACE_WINDOWS; a display has one. */
VkSurfaceKHR place_surface(struct client *c, unsigned window);
/* Another one of the same window. */
VkSurfaceKHR place_again(struct client *c, unsigned window);
void place_close(struct client *c, VkSurfaceKHR surface, unsigned window);
void place_resize(unsigned window, uint32_t width, uint32_t height);
/* SIGKILL, where it is a program. */
void place_kill(void);
void place_end(void);

/* A server beside the place, or of its screen, which it has already: TURNPIKE_SOCKET is its. It can
 * be started again after it was killed. */
void place_serve(void);
void place_kill_server(void);

/* A program as it is called; out: its standard output's, -1: the log's. It ends with the test. */
pid_t place_spawn(const char *const argv[], int out);
/* Waits for what another thread or process does; false: not within half a minute. */
bool place_await(bool (*there)(void *data), void *data);
/* The folder of this test's sockets. */
const char *place_folder(void);

#endif
