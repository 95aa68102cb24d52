#include <drm_fourcc.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frames/icd/x11.h"

static int check(struct tp_x11_link *l, xcb_void_cookie_t asked)
{
    xcb_generic_error_t *e = xcb_request_check(l->c, asked);

    if (!e)
        return xcb_connection_has_error(l->c) ? -ENODEV : 0;
    free(e);
    return -EOPNOTSUPP;
}

/* The request of DRI3 1.0, which says nothing of the layout: for a server that knows no modifier,
 * to which linear is what driver and server agree on. */
static bool goes_without_modifier(const struct tp_x11_link *l, uint64_t modifier)
{
    return modifier == DRM_FORMAT_MOD_INVALID || l->dri3 <= 2 ||
        (l->names_none && modifier == DRM_FORMAT_MOD_LINEAR);
}

static int add_dmabuf(struct tp_x11_link *l, const struct tp_x11_window *w,
    const struct tp_stream_image *from, struct tp_x11_image *out)
{
    const uint32_t *o = from->offsets, *p = from->pitches;
    int fds[TP_TARGET_PLANES];
    uint8_t n = (uint8_t)from->n_planes;
    xcb_void_cookie_t asked;

    bool without = goes_without_modifier(l, from->modifier);

    /* That request has neither an offset nor room for long rows. */
    if (without && (n != 1 || o[0] != 0 || p[0] > UINT16_MAX || from->bytes > UINT32_MAX))
        return -EOPNOTSUPP;
    for (uint32_t i = 0; i < n; i++) {
        fds[i] = fcntl(from->fd, F_DUPFD_CLOEXEC, 0); /* xcb closes them */
        if (fds[i] < 0) {
            int r = -errno;
            while (i > 0)
                close(fds[--i]);
            return r;
        }
    }
    out->pixmap = xcb_generate_id(l->c);
    if (without)
        asked = xcb_dri3_pixmap_from_buffer_checked(l->c, out->pixmap, w->id, (uint32_t)from->bytes,
            (uint16_t)from->width, (uint16_t)from->height, (uint16_t)p[0], w->depth, w->bits,
            fds[0]);
    else
        asked = xcb_dri3_pixmap_from_buffers_checked(l->c, out->pixmap, w->id, n,
            (uint16_t)from->width, (uint16_t)from->height, p[0], o[0], p[1], o[1], p[2], o[2], p[3],
            o[3], w->depth, w->bits, from->modifier, fds);
    int r = check(l, asked);
    if (r < 0)
        out->pixmap = 0;
    return r;
}

static int attach(
    struct tp_x11_link *l, const struct tp_stream_image *from, struct tp_x11_image *out)
{
    int fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 0); /* xcb closes it */

    if (fd < 0)
        return -errno;
    out->segment = xcb_generate_id(l->c);
    int r = check(l, xcb_shm_attach_fd_checked(l->c, out->segment, fd, 1));
    if (r < 0)
        out->segment = 0;
    return r;
}

/* A pixmap's rows follow each other without a gap: it is as wide as the memory's rows are long, and
 * what is past the picture lies outside of the window. */
static int add_pixmap(struct tp_x11_link *l, const struct tp_x11_window *w,
    const struct tp_stream_image *from, struct tp_x11_image *out)
{
    uint32_t width = from->pitches[0] / (w->bits / 8);

    if (width > INT16_MAX || from->pitches[0] % 4)
        return -EOPNOTSUPP;
    out->pixmap = xcb_generate_id(l->c);
    int r = check(l,
        xcb_shm_create_pixmap_checked(l->c, out->pixmap, w->id, (uint16_t)width,
            (uint16_t)from->height, w->depth, out->segment, from->offsets[0]));
    if (r < 0)
        out->pixmap = 0;
    return r;
}

static void add_copy(struct tp_x11_link *l, const struct tp_x11_window *w, struct tp_x11_image *out)
{
    out->pixmap = xcb_generate_id(l->c);
    xcb_create_pixmap(
        l->c, w->depth, out->pixmap, w->id, (uint16_t)out->width, (uint16_t)out->height);
    out->copied = true;
}

static int map(const struct tp_stream_image *from, struct tp_x11_image *out)
{
    void *p = mmap(NULL, from->bytes, PROT_READ, MAP_SHARED, from->fd, 0);

    if (p == MAP_FAILED)
        return -errno;
    out->pixels = p;
    out->bytes = from->bytes;
    return 0;
}

int tp_x11_image_add(struct tp_x11_link *l, const struct tp_x11_window *w,
    const struct tp_stream_image *from, struct tp_x11_image *out)
{
    *out = (struct tp_x11_image){.width = from->width,
        .height = from->height,
        .pitch = from->pitches[0],
        .offset = from->offsets[0]};
    if (from->width > INT16_MAX || from->height > INT16_MAX)
        return -EOPNOTSUPP;
    if (from->memory == TP_MEMORY_DMABUF)
        return add_dmabuf(l, w, from, out);
    if (!l->shm_event || attach(l, from, out) < 0) {
        int r = map(from, out);
        if (r < 0)
            return r;
    }
    /* The server's own memory where it shares no pixmaps: what Present shows comes whole. */
    if (l->present && (!out->segment || !l->shm_pixmaps || add_pixmap(l, w, from, out) < 0))
        add_copy(l, w, out);
    return 0;
}

void tp_x11_image_remove(struct tp_x11_link *l, struct tp_x11_image *image)
{
    if (image->pixmap)
        xcb_free_pixmap(l->c, image->pixmap);
    if (image->segment)
        xcb_shm_detach(l->c, image->segment);
    if (image->pixels)
        munmap((void *)(uintptr_t)image->pixels, image->bytes);
    *image = (struct tp_x11_image){0};
}

/* As many rows in a request as the server takes. */
static void send_pixels(struct tp_x11_link *l, const struct tp_x11_window *w, uint32_t drawable,
    xcb_gcontext_t gc, const struct tp_x11_image *image)
{
    size_t row = ((size_t)image->width * (w->bits / 8) + 3) & ~(size_t)3;
    size_t most = ((size_t)xcb_get_maximum_request_length(l->c) * 4 - 64) / row;
    uint32_t rows = most < image->height ? (uint32_t)most : image->height;
    uint8_t *packed = rows ? malloc(rows * row) : NULL;

    for (uint32_t y = 0; packed && y < image->height; y += rows) {
        uint32_t n = image->height - y < rows ? image->height - y : rows;
        for (uint32_t i = 0; i < n; i++)
            memcpy(packed + i * row, image->pixels + image->offset + (size_t)(y + i) * image->pitch,
                (size_t)image->width * (w->bits / 8));
        xcb_put_image(l->c, XCB_IMAGE_FORMAT_Z_PIXMAP, drawable, gc, (uint16_t)image->width,
            (uint16_t)n, 0, (int16_t)y, 0, w->depth, (uint32_t)(n * row), packed);
    }
    free(packed);
}

bool tp_x11_image_put(struct tp_x11_link *l, const struct tp_x11_window *w, uint32_t drawable,
    xcb_gcontext_t gc, const struct tp_x11_image *image, bool event)
{
    uint16_t width = (uint16_t)image->width, height = (uint16_t)image->height;

    if (!image->segment) {
        send_pixels(l, w, drawable, gc, image);
        return false;
    }
    xcb_shm_put_image(l->c, drawable, gc, (uint16_t)(image->pitch / (w->bits / 8)), height, 0, 0,
        width, height, 0, 0, w->depth, XCB_IMAGE_FORMAT_Z_PIXMAP, event, image->segment,
        image->offset);
    return true;
}
