/* Which formats the compositor of a Wayland target takes: linux-dmabuf's and wl_shm's. */
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frames/icd/wayland.h"

/* An entry of linux-dmabuf's format table. */
struct entry {
    uint32_t fourcc, padding;
    uint64_t modifier;
};

static void put(struct tp_wayland_formats *f, uint32_t fourcc, uint64_t modifier, uint32_t memory)
{
    if (f->n == f->room) {
        uint32_t room = f->room ? 2 * f->room : 64;
        struct tp_target_format *more = realloc(f->formats, room * sizeof *more);
        if (!more) {
            f->failed = true;
            return;
        }
        f->formats = more;
        f->room = room;
    }
    memset(&f->formats[f->n], 0, sizeof *f->formats); /* also what is between: they are compared */
    f->formats[f->n].fourcc = fourcc;
    f->formats[f->n].modifier = modifier;
    f->formats[f->n++].memory = memory;
}

static bool among(
    const struct tp_target_format *formats, uint32_t n, uint32_t fourcc, uint64_t modifier)
{
    for (uint32_t i = 0; i < n; i++) {
        if (formats[i].fourcc == fourcc && formats[i].modifier == modifier)
            return true;
    }
    return false;
}

bool tp_wayland_takes(const struct tp_wayland_formats *f, uint32_t fourcc, uint64_t modifier)
{
    return among(f->formats, f->n, fourcc, modifier);
}

static void forget(struct tp_wayland_formats *f)
{
    free(f->formats);
    *f = (struct tp_wayland_formats){0};
}

/* --- wl_shm --- */

static void on_shm_format(void *data, struct wl_shm *shm, uint32_t format)
{
    struct tp_wayland *w = data;
    uint32_t fourcc = format == WL_SHM_FORMAT_ARGB8888 ? DRM_FORMAT_ARGB8888
        : format == WL_SHM_FORMAT_XRGB8888             ? DRM_FORMAT_XRGB8888
                                                       : format;

    (void)shm;
    put(&w->shm_formats, fourcc, DRM_FORMAT_MOD_LINEAR, TP_MEMORY_SHARED);
}

/* --- linux-dmabuf before version 4 --- */

static void on_format(void *data, struct zwp_linux_dmabuf_v1 *dmabuf, uint32_t fourcc)
{
    struct tp_wayland *w = data;

    if (zwp_linux_dmabuf_v1_get_version(dmabuf) < ZWP_LINUX_DMABUF_V1_MODIFIER_SINCE_VERSION)
        put(&w->dmabuf_formats, fourcc, DRM_FORMAT_MOD_INVALID, TP_MEMORY_DMABUF);
}

static void on_modifier(
    void *data, struct zwp_linux_dmabuf_v1 *dmabuf, uint32_t fourcc, uint32_t high, uint32_t low)
{
    struct tp_wayland *w = data;

    (void)dmabuf;
    put(&w->dmabuf_formats, fourcc, (uint64_t)high << 32 | low, TP_MEMORY_DMABUF);
}

/* --- version 4: tranches, better ones first --- */

static void forget_table(struct tp_wayland_feedback *f)
{
    if (f->table)
        munmap(f->table, f->table_bytes);
    f->table = NULL;
}

static void on_table(
    void *data, struct zwp_linux_dmabuf_feedback_v1 *object, int32_t fd, uint32_t bytes)
{
    struct tp_wayland *w = data;
    struct tp_wayland_feedback *f = &w->feedback;
    void *table = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);

    (void)object;
    close(fd);
    forget_table(f);
    f->table = table == MAP_FAILED ? NULL : table;
    f->table_bytes = bytes;
}

/* A dev_t of the compositor's, in an array. */
static void on_device(
    void *data, struct zwp_linux_dmabuf_feedback_v1 *object, struct wl_array *device)
{
    struct tp_wayland *w = data;
    dev_t number;

    (void)object;
    if (device->size != sizeof number)
        return;
    memcpy(&number, device->data, sizeof number);
    w->feedback.device = number;
}

static void on_tranche_device(
    void *data, struct zwp_linux_dmabuf_feedback_v1 *object, struct wl_array *device)
{
    (void)data;
    (void)object;
    (void)device;
}

static void on_tranche_flags(
    void *data, struct zwp_linux_dmabuf_feedback_v1 *object, uint32_t flags)
{
    (void)data;
    (void)object;
    (void)flags;
}

static void on_tranche_formats(
    void *data, struct zwp_linux_dmabuf_feedback_v1 *object, struct wl_array *indices)
{
    struct tp_wayland *w = data;
    struct tp_wayland_feedback *f = &w->feedback;
    const struct entry *table = f->table;
    const uint16_t *index;

    (void)object;
    wl_array_for_each(index, indices)
    {
        if (table && (*index + 1u) * sizeof *table <= f->table_bytes &&
            !tp_wayland_takes(&f->coming, table[*index].fourcc, table[*index].modifier))
            put(&f->coming, table[*index].fourcc, table[*index].modifier, TP_MEMORY_DMABUF);
    }
}

static void on_tranche_done(void *data, struct zwp_linux_dmabuf_feedback_v1 *object)
{
    struct tp_wayland_feedback *f = &((struct tp_wayland *)data)->feedback;

    (void)object;
    if (f->coming_first == 0)
        f->coming_first = f->coming.n;
}

static bool has_fourcc(const struct tp_target_format *formats, uint32_t n, uint32_t fourcc)
{
    for (uint32_t i = 0; i < n; i++) {
        if (formats[i].fourcc == fourcc)
            return true;
    }
    return false;
}

/* The newest stream's images are not what the compositor likes best now: say so, once. */
static void tell_suboptimal(struct tp_wayland *w)
{
    if (wl_list_empty(&w->streams))
        return;
    struct tp_wayland_stream *s = wl_container_of(w->streams.prev, s, link);
    const struct tp_target_format *first = w->dmabuf_formats.formats;
    uint32_t n = w->feedback.n_first;
    if (s->told_suboptimal || s->modifier == DRM_FORMAT_MOD_INVALID ||
        !has_fourcc(first, n, s->info.fourcc) || among(first, n, s->info.fourcc, s->modifier))
        return;
    s->told_suboptimal = true;
    s->events->changed(s->data, TP_TARGET_SUBOPTIMAL);
}

static void on_done(void *data, struct zwp_linux_dmabuf_feedback_v1 *object)
{
    struct tp_wayland *w = data;
    struct tp_wayland_feedback *f = &w->feedback;
    /* Said again, it is no news: what could not be had the first time cannot be had now. */
    bool same = f->n_first == f->coming_first && f->coming.n >= f->n_first &&
        (f->n_first == 0 ||
            memcmp(f->coming.formats, w->dmabuf_formats.formats,
                f->n_first * sizeof *f->coming.formats) == 0);

    (void)object;
    forget(&w->dmabuf_formats);
    w->dmabuf_formats = f->coming;
    f->coming = (struct tp_wayland_formats){0};
    f->n_first = f->coming_first;
    f->coming_first = 0;
    if (!same)
        tell_suboptimal(w);
}

void tp_wayland_listen_shm(struct tp_wayland *w)
{
    static const struct wl_shm_listener on_shm = {on_shm_format};

    if (w->shm)
        wl_shm_add_listener(w->shm, &on_shm, w);
}

void tp_wayland_listen_dmabuf(struct tp_wayland *w)
{
    static const struct zwp_linux_dmabuf_v1_listener on_dmabuf = {on_format, on_modifier};
    static const struct zwp_linux_dmabuf_feedback_v1_listener on_feedback = {on_done, on_table,
        on_device, on_tranche_done, on_tranche_device, on_tranche_formats, on_tranche_flags};

    if (!w->dmabuf)
        return;
    zwp_linux_dmabuf_v1_add_listener(w->dmabuf, &on_dmabuf, w);
    if (!w->surface ||
        zwp_linux_dmabuf_v1_get_version(w->dmabuf) <
            ZWP_LINUX_DMABUF_V1_GET_SURFACE_FEEDBACK_SINCE_VERSION)
        return;
    w->feedback.object = zwp_linux_dmabuf_v1_get_surface_feedback(w->dmabuf, w->surface);
    zwp_linux_dmabuf_feedback_v1_add_listener(w->feedback.object, &on_feedback, w);
}

void tp_wayland_finish_formats(struct tp_wayland *w)
{
    forget(&w->dmabuf_formats);
    forget(&w->shm_formats);
    forget(&w->feedback.coming);
    forget_table(&w->feedback);
    if (w->feedback.object)
        zwp_linux_dmabuf_feedback_v1_destroy(w->feedback.object);
    w->feedback = (struct tp_wayland_feedback){0};
}
