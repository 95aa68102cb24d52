#include "wayland_guest.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static void hear(struct guest *g, struct guest_event e)
{
    pthread_mutex_lock(&g->lock);
    g->n_of[e.type]++;
    if (e.type == GUEST_RELEASED)
        g->held[e.index] = false;
    if (g->n < GUEST_MAX_EVENTS)
        g->events[g->n++] = e;
    else if (e.type == GUEST_RELEASED && e.fence >= 0)
        close(e.fence);
    pthread_cond_broadcast(&g->came);
    pthread_mutex_unlock(&g->lock);
}

static void on_committed(void *data, uint32_t index, uint64_t serial)
{
    hear(data, (struct guest_event){.type = GUEST_COMMITTED, .index = index, .serial = serial});
}

static void on_released(void *data, uint32_t index, int fence)
{
    hear(data, (struct guest_event){.type = GUEST_RELEASED, .index = index, .fence = fence});
}

static void on_shown(void *data, const struct tp_shown *s)
{
    hear(data, (struct guest_event){.type = GUEST_SHOWN, .serial = s->serial, .shown = *s});
}

static void on_discarded(void *data, uint64_t serial)
{
    hear(data, (struct guest_event){.type = GUEST_DISCARDED, .serial = serial});
}

static void on_changed(void *data, enum tp_target_change what)
{
    hear(data, (struct guest_event){.type = GUEST_CHANGED, .change = what});
}

static const struct tp_stream_events events = {
    on_committed, on_released, on_shown, on_discarded, on_changed};

struct tp_stream_info guest_info(uint32_t width, uint32_t height)
{
    return (struct tp_stream_info){.width = width,
        .height = height,
        .fourcc = DRM_FORMAT_XRGB8888,
        .n_images = GUEST_IMAGES,
        .mode = VK_PRESENT_MODE_FIFO_KHR,
        .space = VK_COLOR_SPACE_SRGB_NONLINEAR_KHR,
        .transform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .alpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR};
}

static size_t bytes(const struct guest *g)
{
    return (size_t)g->width * g->height * 4;
}

static void make_image(struct guest *g, unsigned i)
{
    g->fds[i] = memfd_create("image", MFD_CLOEXEC);
    if (g->fds[i] < 0 || ftruncate(g->fds[i], (off_t)bytes(g)) < 0)
        abort();
    g->pixels[i] = mmap(NULL, bytes(g), PROT_READ | PROT_WRITE, MAP_SHARED, g->fds[i], 0);
    if (g->pixels[i] == MAP_FAILED)
        abort();
    memset(g->pixels[i], (int)i + 1, bytes(g));
}

int guest_open(struct guest *g, struct tp_target *target, const struct tp_stream_info *info,
    uint32_t memory, uint64_t modifier)
{
    pthread_condattr_t monotonic;

    memset(g, 0, sizeof *g);
    g->target = target;
    g->width = info->width;
    g->height = info->height;
    pthread_mutex_init(&g->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&g->came, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int r = target->ops->open(target, info, &events, g, &g->stream);
    for (unsigned i = 0; i < GUEST_IMAGES; i++) {
        make_image(g, i);
        struct tp_stream_image image = {.memory = memory,
            .fd = g->fds[i],
            .bytes = bytes(g),
            .width = g->width,
            .height = g->height,
            .fourcc = info->fourcc,
            .modifier = modifier,
            .n_planes = 1,
            .pitches = {g->width * 4}};
        if (!r && i < info->n_images)
            r = target->ops->add(g->stream, i, &image);
    }
    return r;
}

void guest_close(struct guest *g)
{
    if (g->stream)
        g->target->ops->close(g->stream);
    for (unsigned i = 0; i < GUEST_IMAGES; i++) {
        munmap(g->pixels[i], bytes(g));
        close(g->fds[i]);
    }
    for (unsigned i = 0; i < g->n; i++) {
        if (g->events[i].type == GUEST_RELEASED && g->events[i].fence >= 0)
            close(g->events[i].fence);
    }
    pthread_cond_destroy(&g->came);
    pthread_mutex_destroy(&g->lock);
}

int guest_present_more(struct guest *g, struct tp_picture p)
{
    pthread_mutex_lock(&g->lock);
    p.serial = ++g->serial;
    g->held[p.index] = true;
    pthread_mutex_unlock(&g->lock);
    return g->target->ops->present(g->stream, &p);
}

int guest_present(struct guest *g, uint32_t index, VkPresentModeKHR mode)
{
    return guest_present_more(g, (struct tp_picture){.index = index, .fence = -1, .mode = mode});
}

void guest_paint(struct guest *g, uint32_t index, const uint32_t colours[4])
{
    for (uint32_t y = 0; y < g->height; y++) {
        for (uint32_t x = 0; x < g->width; x++)
            g->pixels[index][y * g->width + x] =
                colours[(y >= g->height / 2) * 2 + (x >= g->width / 2)] | 0xff000000;
    }
}

static struct timespec in_a_long_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += 30;
    return t;
}

bool guest_await(struct guest *g, enum guest_event_type type, unsigned n)
{
    struct timespec until = in_a_long_time();

    pthread_mutex_lock(&g->lock);
    while (g->n_of[type] < n && pthread_cond_timedwait(&g->came, &g->lock, &until) == 0)
        ;
    bool there = g->n_of[type] >= n;
    pthread_mutex_unlock(&g->lock);
    return there;
}

int guest_free_image(struct guest *g)
{
    struct timespec until = in_a_long_time();
    int found = -1, r = 0;

    pthread_mutex_lock(&g->lock);
    while (found < 0 && !r) {
        for (int i = 0; i < GUEST_IMAGES && found < 0; i++)
            found = g->held[i] ? -1 : i;
        if (found < 0)
            r = pthread_cond_timedwait(&g->came, &g->lock, &until);
    }
    pthread_mutex_unlock(&g->lock);
    return found;
}

unsigned guest_count(struct guest *g, enum guest_event_type type)
{
    pthread_mutex_lock(&g->lock);
    unsigned n = g->n_of[type];
    pthread_mutex_unlock(&g->lock);
    return n;
}

struct guest_event guest_event(struct guest *g, enum guest_event_type type, unsigned n)
{
    struct guest_event found = {.serial = UINT64_MAX};

    pthread_mutex_lock(&g->lock);
    for (unsigned i = 0; i < g->n && found.serial == UINT64_MAX; i++) {
        if (g->events[i].type == type && n-- == 0)
            found = g->events[i];
    }
    pthread_mutex_unlock(&g->lock);
    return found;
}
