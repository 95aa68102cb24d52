#include "target_guest.h"

#include <dirent.h>
#include <drm_fourcc.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static void told(struct guest *g, atomic_ullong *count)
{
    pthread_mutex_lock(&g->lock);
    atomic_fetch_add(count, 1);
    pthread_cond_broadcast(&g->told);
    pthread_mutex_unlock(&g->lock);
}

static void committed(void *data, uint32_t index, uint64_t serial)
{
    struct guest *g = data;

    (void)index;
    (void)serial;
    told(g, &g->n_committed);
}

static void released(void *data, uint32_t index, int fence)
{
    struct guest *g = data;

    if (fence >= 0)
        close(fence);
    told(g, &g->released[index]);
}

static void shown(void *data, const struct tp_shown *s)
{
    struct guest *g = data;

    if (g->n_shown + 1 < GUEST_SERIALS)
        g->shown[g->n_shown + 1] = *s;
    told(g, &g->n_shown);
}

static void discarded(void *data, uint64_t serial)
{
    struct guest *g = data;

    (void)serial;
    told(g, &g->n_discarded);
}

static void changed(void *data, enum tp_target_change what)
{
    struct guest *g = data;

    told(g,
        what == TP_TARGET_LOST             ? &g->n_lost
            : what == TP_TARGET_SUBOPTIMAL ? &g->n_suboptimal
                                           : &g->n_out_of_date);
}

const struct tp_stream_events guest_events = {committed, released, shown, discarded, changed};

static void add_image(struct guest *g, uint32_t index)
{
    size_t bytes = (size_t)g->row * g->info.height * 4;
    struct tp_stream_image image = {.memory = TP_MEMORY_SHARED,
        .bytes = bytes,
        .width = g->info.width,
        .height = g->info.height,
        .fourcc = g->info.fourcc,
        .modifier = DRM_FORMAT_MOD_LINEAR,
        .n_planes = 1,
        .pitches = {g->row * 4}};

    g->memory[index] = image.fd = memfd_create("image", MFD_CLOEXEC);
    assert_true(image.fd >= 0);
    assert_int_equal(ftruncate(image.fd, (off_t)bytes), 0);
    g->pixels[index] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, image.fd, 0);
    assert_ptr_not_equal(g->pixels[index], MAP_FAILED);
    assert_int_equal(g->target->ops->add(g->stream, index, &image), 0);
}

void guest_open_in(struct guest *g, struct tp_target *t, uint32_t n_images, VkPresentModeKHR mode,
    VkColorSpaceKHR space)
{
    struct tp_target_caps caps;

    assert_int_equal(t->ops->query(t, &caps), 0);
    memset(g, 0, sizeof *g);
    g->target = t;
    g->info = (struct tp_stream_info){.width = caps.width,
        .height = caps.height,
        .fourcc = DRM_FORMAT_XRGB8888,
        .n_images = n_images,
        .mode = mode,
        .space = space};
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->told, NULL);
    assert_int_equal(t->ops->open(t, &g->info, &guest_events, g, &g->stream), 0);
    g->row = (caps.width + 63) & ~UINT32_C(63); /* as drivers like it */
    for (uint32_t i = 0; i < n_images; i++)
        add_image(g, i);
}

void guest_open(struct guest *g, struct tp_target *t, uint32_t n_images, VkPresentModeKHR mode)
{
    guest_open_in(g, t, n_images, mode, VK_COLOR_SPACE_SRGB_NONLINEAR_KHR);
}

void guest_present(struct guest *g, uint32_t index, uint64_t serial, VkPresentModeKHR mode)
{
    struct tp_picture p = {.index = index, .serial = serial, .fence = -1, .mode = mode};

    assert_int_equal(g->target->ops->present(g->stream, &p), 0);
}

bool wait_until(struct guest *g, atomic_ullong *count, uint64_t n, int64_t ns)
{
    struct timespec end;
    int r = 0;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += ns / 1000000000;
    end.tv_nsec += ns % 1000000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&g->lock);
    while (*count < n && r == 0)
        r = pthread_cond_timedwait(&g->told, &g->lock, &end);
    pthread_mutex_unlock(&g->lock);
    return r == 0;
}

void wait_for(struct guest *g, atomic_ullong *count, uint64_t n)
{
    if (!wait_until(g, count, n, INT64_C(10000000000)))
        fail_msg("%llu came, not %llu", *count, (unsigned long long)n);
}

void guest_close_stream(struct guest *g)
{
    g->target->ops->close(g->stream);
    for (uint32_t i = 0; i < g->info.n_images; i++) {
        munmap(g->pixels[i], (size_t)g->row * g->info.height * 4);
        close(g->memory[i]);
    }
    pthread_cond_destroy(&g->told);
    pthread_mutex_destroy(&g->lock);
}

void guest_close(struct guest *g)
{
    guest_close_stream(g);
    g->target->ops->destroy(g->target);
}

unsigned n_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 3; /* ".", ".." and the folder itself */
}
