/*
 * Many threads of an application on one connection: four render into windows of their own, and make
 * their swapchains anew all the time; others read the connection, and ask what surfaces can do.
 */
#include <drm_fourcc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <wayland-client.h>

#include "frames/icd/target.h"
#include "wayland_double.h"
#include "wayland_guest.h"

enum { WINDOWS = 4, STREAMS = 250, PICTURES = 6 };

static struct wl_display *display;
static struct wl_compositor *compositor;
static struct tp_target *targets[WINDOWS];
static struct guest guests[WINDOWS];
static _Atomic bool ends;
static _Atomic unsigned bad;

static void on_global(
    void *data, struct wl_registry *r, uint32_t name, const char *interface, uint32_t version)
{
    (void)data;
    if (strcmp(interface, "wl_compositor") == 0)
        compositor = wl_registry_bind(r, name, &wl_compositor_interface, version);
}

static void on_global_remove(void *data, struct wl_registry *r, uint32_t name)
{
    (void)data;
    (void)r;
    (void)name;
}

/* The compositor refreshes a thousand times a second, and keeps nothing longer. */
static void *refresh(void *data)
{
    unsigned done = 0;

    while (!ends) {
        double_lock();
        double_refresh();
        for (; done < double_n_commits; done++) {
            if (double_commits[done].release)
                double_release(done, -1);
            if (double_commits[done].feedback && done % 5)
                double_shown(done, 1, 1, done, true);
            else if (double_commits[done].feedback)
                double_discarded(done);
        }
        double_unlock();
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return data;
}

static void *render(void *data)
{
    unsigned window = (unsigned)(uintptr_t)data;
    struct guest *g = &guests[window];
    const struct tp_stream_info info = guest_info(16, 8);

    for (unsigned i = 0; i < STREAMS; i++) {
        uint32_t memory = i % 2 ? TP_MEMORY_SHARED : TP_MEMORY_DMABUF;
        unsigned pictures = memory == TP_MEMORY_DMABUF ? PICTURES : GUEST_IMAGES;
        bad += guest_open(g, targets[window], &info, memory, DRM_FORMAT_MOD_LINEAR) != 0;
        for (unsigned k = 0; k < pictures; k++) {
            int image = guest_free_image(g);
            bad += image < 0;
            if (image >= 0)
                bad +=
                    guest_present(g, (uint32_t)image,
                        (i + k) % 3 ? VK_PRESENT_MODE_FIFO_KHR : VK_PRESENT_MODE_MAILBOX_KHR) != 0;
        }
        /* Sometimes it ends in the midst of it. */
        if (i % 4 == 0)
            bad += !guest_await(g, GUEST_COMMITTED, pictures - guest_count(g, GUEST_DISCARDED));
        guest_close(g);
    }
    return NULL;
}

static void *ask(void *data)
{
    while (!ends) {
        struct tp_target *t = targets[rand() % WINDOWS];
        struct tp_target_caps caps;
        struct tp_target_format *formats = NULL;
        uint32_t n;
        bad += t->ops->query(t, &caps) != 0 || t->ops->formats(t, &formats, &n) != 0;
        free(formats);
        bad += !tp_target_wayland_supports(display);
    }
    return data;
}

static void *read_connection(void *data)
{
    while (!ends)
        bad += wl_display_roundtrip(display) < 0;
    return data;
}

static void *read_in_its_own_queue(void *data)
{
    struct wl_event_queue *queue = wl_display_create_queue(display);

    while (!ends)
        bad += wl_display_roundtrip_queue(display, queue) < 0;
    wl_event_queue_destroy(queue);
    return data;
}

static void threads_share_a_connection(void **state)
{
    static const struct wl_registry_listener listener = {on_global, on_global_remove};
    struct wl_surface *surfaces[WINDOWS];
    pthread_t renders[WINDOWS], others[5];

    (void)state;
    int fd = double_start(&(struct double_options){
        .dmabuf = 4, .sync = true, .presentation = true, .clock = CLOCK_MONOTONIC});
    assert_true(fd >= 0);
    display = wl_display_connect_to_fd(fd);
    struct wl_registry *registry = wl_display_get_registry(display);
    wl_registry_add_listener(registry, &listener, NULL);
    assert_true(wl_display_roundtrip(display) >= 0);
    wl_registry_destroy(registry);
    for (unsigned i = 0; i < WINDOWS; i++) {
        surfaces[i] = wl_compositor_create_surface(compositor);
        assert_int_equal(tp_target_wayland_create(display, surfaces[i], &targets[i]), 0);
    }
    pthread_create(&others[0], NULL, refresh, NULL);
    pthread_create(&others[1], NULL, ask, NULL);
    pthread_create(&others[2], NULL, ask, NULL);
    pthread_create(&others[3], NULL, read_connection, NULL);
    pthread_create(&others[4], NULL, read_in_its_own_queue, NULL);
    for (unsigned i = 0; i < WINDOWS; i++)
        pthread_create(&renders[i], NULL, render, (void *)(uintptr_t)i);
    for (unsigned i = 0; i < WINDOWS; i++)
        pthread_join(renders[i], NULL);
    ends = true;
    for (unsigned i = 0; i < 5; i++)
        pthread_join(others[i], NULL);
    assert_int_equal(bad, 0);
    assert_int_equal(wl_display_get_error(display), 0);
    for (unsigned i = 0; i < WINDOWS; i++) {
        targets[i]->ops->destroy(targets[i]);
        wl_surface_destroy(surfaces[i]);
    }
    assert_true(wl_display_roundtrip(display) >= 0);
    double_lock();
    assert_int_equal(double_n_errors, 0);
    assert_int_equal(double_n_buffers, 0);
    double_unlock();
    wl_compositor_destroy(compositor);
    wl_display_disconnect(display);
    double_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_share_a_connection)};

    unsetenv("TURNPIKE_SOCKET");
    unsetenv("XDG_RUNTIME_DIR"); /* nobody's server */
    return cmocka_run_group_tests_name("wayland threads", tests, NULL, NULL);
}
