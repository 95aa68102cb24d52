#include "frames/panel/android_buffer.h"

#include <drm_fourcc.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "frames/panel/android_import.h"
#include "frames/panel/android_pixels.h"

#define IDLE_CALLS 512u /* an import that so many frames did not need goes */
#define BLANK_PX 16u

void tp_android_buffers_init(struct tp_android_buffers *b, const struct tp_android_api *api)
{
    memset(b, 0, sizeof *b);
    b->api = api;
    for (unsigned s = 0; s < TP_KMS_LAYERS; s++)
        for (unsigned i = 0; i < TP_ANDROID_COPIES; i++)
            b->copies[s][i].fence = -1;
}

static void drop_import(struct tp_android_buffers *b, struct tp_android_import *i)
{
    if (i->buffer)
        b->api->AHardwareBuffer_release(i->buffer);
    memset(i, 0, sizeof *i);
}

void tp_android_buffers_forget(struct tp_android_buffers *b)
{
    for (unsigned i = 0; i < TP_ANDROID_IMPORTS; i++)
        drop_import(b, &b->imports[i]);
}

static void drop_copy(struct tp_android_buffers *b, struct tp_android_copy *c)
{
    if (c->buffer)
        b->api->AHardwareBuffer_release(c->buffer);
    if (c->fence >= 0)
        close(c->fence);
    c->buffer = NULL;
    c->fence = -1;
}

void tp_android_buffers_finish(struct tp_android_buffers *b)
{
    tp_android_buffers_forget(b);
    for (unsigned s = 0; s < TP_KMS_LAYERS; s++)
        for (unsigned i = 0; i < TP_ANDROID_COPIES; i++)
            drop_copy(b, &b->copies[s][i]);
    if (b->blank)
        b->api->AHardwareBuffer_release(b->blank);
    free(b->row);
    b->blank = NULL;
    b->row = NULL;
    b->row_bytes = 0;
}

uint32_t tp_android_format(uint32_t fourcc, uint32_t *bytes)
{
    *bytes = 4;
    switch (fourcc) {
    case DRM_FORMAT_ABGR8888:
        return TP_A_RGBA_8888;
    case DRM_FORMAT_XBGR8888:
        return TP_A_RGBX_8888;
    case DRM_FORMAT_ARGB8888:
    case DRM_FORMAT_XRGB8888:
        return TP_A_BGRA_8888;
    case DRM_FORMAT_ABGR2101010:
    case DRM_FORMAT_XBGR2101010:
        return TP_A_RGBA_1010102;
    case DRM_FORMAT_RGB565:
        *bytes = 2;
        return TP_A_RGB_565;
    case DRM_FORMAT_ABGR16161616F:
        *bytes = 8;
        return TP_A_RGBA_FP16;
    default:
        return 0;
    }
}

static bool same(const struct tp_kms_fb_info *a, const struct tp_kms_fb_info *b)
{
    return a->width == b->width && a->height == b->height && a->device == b->device &&
        a->inode == b->inode && a->fourcc == b->fourcc && a->modifier == b->modifier &&
        a->pitches[0] == b->pitches[0] && a->offsets[0] == b->offsets[0];
}

/* The place of a new import: a free one, or the one that was not needed for the longest time. */
static struct tp_android_import *place_for(struct tp_android_buffers *b)
{
    struct tp_android_import *place = &b->imports[0];
    for (unsigned i = 0; i < TP_ANDROID_IMPORTS; i++) {
        struct tp_android_import *m = &b->imports[i];
        if (m->key.width && b->calls - m->used > IDLE_CALLS)
            drop_import(b, m);
        if (!m->key.width || (place->key.width && m->used < place->used))
            place = m;
    }
    drop_import(b, place);
    return place;
}

AHardwareBuffer *tp_android_import(
    struct tp_android_buffers *b, const struct tp_kms_fb_info *fb, const char **why)
{
    *why = NULL;
    b->calls++;
    for (unsigned i = 0; i < TP_ANDROID_IMPORTS; i++) {
        struct tp_android_import *m = &b->imports[i];
        if (m->key.width && same(&m->key, fb)) {
            m->used = b->calls;
            return m->buffer;
        }
    }
    struct tp_android_import *m = place_for(b);
    m->key = *fb;
    m->used = b->calls;
    *why = tp_android_import_fb(b->api, fb, &m->buffer);
    return m->buffer;
}

AHardwareBuffer *tp_android_blank(struct tp_android_buffers *b)
{
    const struct tp_a_buffer_desc desc = {.width = BLANK_PX,
        .height = BLANK_PX,
        .layers = 1,
        .format = TP_A_RGBA_8888,
        .usage = TP_A_CPU_WRITE_RARELY | TP_A_GPU_SAMPLED_IMAGE | TP_A_COMPOSER_OVERLAY};
    void *pixels;
    if (b->blank || b->api->AHardwareBuffer_allocate(&desc, &b->blank) != 0)
        return b->blank;
    struct tp_a_buffer_desc got;
    b->api->AHardwareBuffer_describe(b->blank, &got);
    if (b->api->AHardwareBuffer_lock(b->blank, TP_A_CPU_WRITE_RARELY, -1, NULL, &pixels) == 0) {
        for (uint32_t i = 0; i < got.stride * BLANK_PX; i++)
            ((uint32_t *)pixels)[i] = htole32(0xff000000); /* opaque black */
        b->api->AHardwareBuffer_unlock(b->blank, NULL);
    }
    return b->blank;
}

/* A copy's own buffer, in the framebuffer's size. */
static int prepare(struct tp_android_buffers *b, struct tp_android_copy *c,
    const struct tp_kms_fb_info *fb, uint32_t format)
{
    if (c->buffer && c->width == fb->width && c->height == fb->height && c->format == format)
        return 0;
    drop_copy(b, c);
    struct tp_a_buffer_desc desc = {.width = fb->width,
        .height = fb->height,
        .layers = 1,
        .format = format,
        .usage = TP_A_CPU_WRITE_OFTEN | TP_A_GPU_SAMPLED_IMAGE | TP_A_COMPOSER_OVERLAY};
    if (b->api->AHardwareBuffer_allocate(&desc, &c->buffer) != 0) {
        c->buffer = NULL;
        return -ENOMEM;
    }
    b->api->AHardwareBuffer_describe(c->buffer, &desc);
    c->width = fb->width;
    c->height = fb->height;
    c->format = format;
    c->stride_px = desc.stride;
    return 0;
}

/* SurfaceFlinger or the display may read it still. */
static bool is_read(struct tp_android_copy *c)
{
    if (atomic_load(&c->busy))
        return true;
    struct pollfd p = {.fd = c->fence, .events = POLLIN};
    if (c->fence >= 0 && poll(&p, 1, 0) == 0)
        return true;
    if (c->fence >= 0)
        close(c->fence);
    c->fence = -1;
    return false;
}

int tp_android_copy(struct tp_android_buffers *b, unsigned slot, const struct tp_kms_fb_info *fb,
    AHardwareBuffer **out)
{
    uint32_t bytes, format = tp_android_format(fb->fourcc, &bytes);
    int i = 0;
    if (format == TP_A_BGRA_8888) /* no format that every allocator has: swapped on the way */
        format = fb->fourcc == DRM_FORMAT_ARGB8888 ? TP_A_RGBA_8888 : TP_A_RGBX_8888;
    if (!format || (fb->modifier && fb->modifier != DRM_FORMAT_MOD_INVALID))
        return -EINVAL;
    while (i < (int)TP_ANDROID_COPIES && is_read(&b->copies[slot][i]))
        i++;
    if (i == (int)TP_ANDROID_COPIES)
        return -EAGAIN;
    struct tp_android_copy *c = &b->copies[slot][i];
    int r = prepare(b, c, fb, format);
    void *pixels;
    if (r < 0)
        return r;
    if (b->api->AHardwareBuffer_lock(c->buffer, TP_A_CPU_WRITE_OFTEN, -1, NULL, &pixels) != 0)
        return -EIO;
    if (b->row_bytes < (size_t)fb->width * bytes) {
        b->row_bytes = (size_t)fb->width * bytes;
        b->row = tp_realloc(b->row, b->row_bytes, 1);
    }
    r = tp_android_copy_pixels(fb, bytes, b->row, pixels, (size_t)c->stride_px * bytes);
    b->api->AHardwareBuffer_unlock(c->buffer, NULL);
    *out = c->buffer;
    return r < 0 ? r : i;
}
