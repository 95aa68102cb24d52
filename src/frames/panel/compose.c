#include "frames/panel/compose.h"

#include <drm_fourcc.h>
#include <drm_mode.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* Where in a pixel each channel lies; bits 0: there is none (then it is opaque). */
struct layout {
    uint32_t fourcc;
    uint8_t bytes;
    struct {
        uint8_t shift, bits;
    } r, g, b, a;
};

static const struct layout LAYOUTS[] = {
    {DRM_FORMAT_XRGB8888, 4, {16, 8}, {8, 8}, {0, 8}, {0, 0}},
    {DRM_FORMAT_ARGB8888, 4, {16, 8}, {8, 8}, {0, 8}, {24, 8}},
    {DRM_FORMAT_XBGR8888, 4, {0, 8}, {8, 8}, {16, 8}, {0, 0}},
    {DRM_FORMAT_ABGR8888, 4, {0, 8}, {8, 8}, {16, 8}, {24, 8}},
    {DRM_FORMAT_RGBX8888, 4, {24, 8}, {16, 8}, {8, 8}, {0, 0}},
    {DRM_FORMAT_RGBA8888, 4, {24, 8}, {16, 8}, {8, 8}, {0, 8}},
    {DRM_FORMAT_BGRX8888, 4, {8, 8}, {16, 8}, {24, 8}, {0, 0}},
    {DRM_FORMAT_BGRA8888, 4, {8, 8}, {16, 8}, {24, 8}, {0, 8}},
    {DRM_FORMAT_XRGB2101010, 4, {20, 10}, {10, 10}, {0, 10}, {0, 0}},
    {DRM_FORMAT_ARGB2101010, 4, {20, 10}, {10, 10}, {0, 10}, {30, 2}},
    {DRM_FORMAT_XBGR2101010, 4, {0, 10}, {10, 10}, {20, 10}, {0, 0}},
    {DRM_FORMAT_ABGR2101010, 4, {0, 10}, {10, 10}, {20, 10}, {30, 2}},
    {DRM_FORMAT_RGB565, 2, {11, 5}, {5, 6}, {0, 5}, {0, 0}},
    {DRM_FORMAT_BGR565, 2, {0, 5}, {5, 6}, {11, 5}, {0, 0}},
    {DRM_FORMAT_XRGB1555, 2, {10, 5}, {5, 5}, {0, 5}, {0, 0}},
    {DRM_FORMAT_ARGB1555, 2, {10, 5}, {5, 5}, {0, 5}, {15, 1}},
    {DRM_FORMAT_RGB888, 3, {16, 8}, {8, 8}, {0, 8}, {0, 0}},
    {DRM_FORMAT_BGR888, 3, {0, 8}, {8, 8}, {16, 8}, {0, 0}},
};

static const struct layout *find_layout(const struct tp_kms_fb_info *fb)
{
    if (fb->modifier != DRM_FORMAT_MOD_LINEAR && fb->modifier != DRM_FORMAT_MOD_INVALID)
        return NULL;
    for (size_t i = 0; i < sizeof LAYOUTS / sizeof *LAYOUTS; i++)
        if (LAYOUTS[i].fourcc == fb->fourcc)
            return &LAYOUTS[i];
    return NULL;
}

/* A channel's eight highest bits, the lower ones repeated from the upper where it has fewer. */
static uint32_t channel(uint64_t pixel, unsigned shift, unsigned bits)
{
    uint32_t v = (uint32_t)(pixel >> shift) & ((1u << bits) - 1);
    if (bits >= 8)
        return v >> (bits - 8);
    if (bits == 1)
        return v ? 255 : 0;
    if (bits == 2)
        return v * 85;
    return v << (8 - bits) | v >> (2 * bits - 8);
}

/* A layer while it is composed, and the source row that is at hand. */
struct source {
    const struct tp_kms_layer *layer;
    struct tp_kms_fb_info fb;
    const struct layout *layout;
    const struct tp_memory_map *map;    /* NULL: it is read from: */
    const struct tp_compose_copy *copy; /* NULL: none */
    uint8_t *scratch;                   /* owned; of a row's size */
    const uint8_t *row;                 /* the framebuffer's row row_y */
    int64_t row_y;
};

/* Where there are not as many bytes, they are zeros. */
static void read_row(struct source *s, uint32_t y)
{
    size_t bytes = (size_t)s->fb.width * s->layout->bytes;
    uint64_t at = s->fb.offsets[0] + (uint64_t)y * s->fb.pitches[0];
    s->row_y = y;
    if (s->copy) {
        bool there = y >= s->copy->top && y - s->copy->top < s->copy->n;
        s->row = there ? s->copy->rows + (y - s->copy->top) * s->copy->pitch : s->scratch;
        return;
    }
    s->row = tp_memory_at(s->map, s->fb.fds[0], at, bytes, s->scratch);
    if (s->row)
        return;
    memset(s->scratch, 0, bytes);
    s->row = s->scratch;
    if (at < s->map->size)
        tp_memory_at(s->map, s->fb.fds[0], at, s->map->size - at, s->scratch);
}

static void blend(uint32_t *under, const struct source *s, const uint8_t *at)
{
    const struct layout *l = s->layout;
    uint64_t pixel = 0;
    memcpy(&pixel, at, l->bytes);
    uint32_t rgb[3] = {channel(pixel, l->r.shift, l->r.bits), channel(pixel, l->g.shift, l->g.bits),
        channel(pixel, l->b.shift, l->b.bits)};
    uint32_t own = l->a.bits ? channel(pixel, l->a.shift, l->a.bits) : 255;
    uint32_t plane = s->layer->alpha >> 8, out = 0;
    uint32_t cover = own * plane / 255;
    if (cover == 255) {
        *under = rgb[0] << 16 | rgb[1] << 8 | rgb[2];
        return;
    }
    for (int i = 0; i < 3; i++) {
        uint32_t below = *under >> (16 - 8 * i) & 255;
        uint32_t above = rgb[i] * (s->layer->coverage ? cover : plane) / 255;
        uint32_t v = above + (below * (255 - cover) + 127) / 255;
        out = out << 8 | (v > 255 ? 255 : v);
    }
    *under = out;
}

/* Which source pixel is shown at this place of the layer on the screen, (0, 0) at its top left. */
static void source_of(
    const struct tp_kms_layer *l, uint32_t x, uint32_t y, uint32_t *sx, uint32_t *sy)
{
    /* Places as 16.16 parts of the layer's size: as if it were 1 × 1. */
    uint64_t u = ((uint64_t)x * 2 + 1) * 0x8000 / l->width,
             v = ((uint64_t)y * 2 + 1) * 0x8000 / l->height;
    uint64_t turned_u = u, turned_v = v;
    switch (l->rotation & DRM_MODE_ROTATE_MASK) { /* counter-clockwise */
    case DRM_MODE_ROTATE_90:
        turned_u = 0xffff - v;
        turned_v = u;
        break;
    case DRM_MODE_ROTATE_180:
        turned_u = 0xffff - u;
        turned_v = 0xffff - v;
        break;
    case DRM_MODE_ROTATE_270:
        turned_u = v;
        turned_v = 0xffff - u;
        break;
    default:
        break;
    }
    if (l->rotation & DRM_MODE_REFLECT_X)
        turned_u = 0xffff - turned_u;
    if (l->rotation & DRM_MODE_REFLECT_Y)
        turned_v = 0xffff - turned_v;
    *sx = (uint32_t)((l->src_x + turned_u * l->src_w / 0x10000) >> 16);
    *sy = (uint32_t)((l->src_y + turned_v * l->src_h / 0x10000) >> 16);
}

/* Pixel by pixel, eight bits a channel, and nothing to be seen of what is below? */
static bool is_plain(const struct source *s)
{
    const struct tp_kms_layer *l = s->layer;
    return s->layout->bytes == 4 && s->layout->r.bits == 8 && s->layout->a.bits == 0 &&
        l->alpha == 0xffff && l->src_w == (uint64_t)l->width << 16 &&
        l->src_h == (uint64_t)l->height << 16 && ((l->src_x | l->src_y) & 0xffff) == 0 &&
        !(l->rotation & ~(uint32_t)DRM_MODE_ROTATE_0);
}

static void copy_row(const struct source *s, uint32_t *to, uint32_t x, uint32_t n)
{
    const struct layout *l = s->layout;
    const uint8_t *at = s->row + (size_t)x * 4;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t pixel;
        memcpy(&pixel, at + (size_t)i * 4, 4);
        to[i] = (pixel >> l->r.shift & 255) << 16 | (pixel >> l->g.shift & 255) << 8 |
            (pixel >> l->b.shift & 255);
    }
}

static void lay_over(
    struct source *s, struct tp_image *image, uint32_t first_line, uint32_t end_line)
{
    const struct tp_kms_layer *l = s->layer;
    int64_t y0 = l->y > (int64_t)first_line ? l->y : (int64_t)first_line;
    int64_t y1 = (int64_t)l->y + l->height < end_line ? (int64_t)l->y + l->height : end_line;
    int64_t x0 = l->x > 0 ? l->x : 0;
    int64_t x1 = (int64_t)l->x + l->width < image->width ? (int64_t)l->x + l->width : image->width;
    bool plain = is_plain(s);
    for (int64_t y = y0; y < y1; y++) {
        uint32_t *line = image->pixels + (size_t)y * image->width;
        int64_t row = (l->src_y >> 16) + y - l->y, column = (l->src_x >> 16) + x0 - l->x;
        if (plain && x0 < x1 && row < s->fb.height && column + x1 - x0 <= s->fb.width) {
            read_row(s, (uint32_t)row);
            copy_row(s, line + x0, (uint32_t)column, (uint32_t)(x1 - x0));
            continue;
        }
        for (int64_t x = x0; x < x1; x++) {
            uint32_t sx, sy;
            source_of(l, (uint32_t)(x - l->x), (uint32_t)(y - l->y), &sx, &sy);
            if (sx >= s->fb.width || sy >= s->fb.height)
                continue;
            if (s->row_y != sy)
                read_row(s, sy);
            blend(&line[x], s, s->row + (size_t)sx * s->layout->bytes);
        }
    }
}

unsigned tp_compose_pixel_bytes(const struct tp_kms_fb_info *fb)
{
    const struct layout *l = find_layout(fb);
    return l ? l->bytes : 0;
}

unsigned tp_compose(const struct tp_kms_scanout *scanout, struct tp_image *image,
    uint32_t first_line, uint32_t end_line, struct tp_memory *memory)
{
    return tp_compose_copied(scanout, NULL, image, first_line, end_line, memory);
}

unsigned tp_compose_copied(const struct tp_kms_scanout *scanout,
    const struct tp_compose_copy *copies, struct tp_image *image, uint32_t first_line,
    uint32_t end_line, struct tp_memory *memory)
{
    struct tp_memory own = {.uses = 0}, *from = memory ? memory : &own;
    unsigned unread = 0;
    if (end_line > image->height)
        end_line = image->height;
    for (uint32_t y = first_line; y < end_line; y++)
        memset(image->pixels + (size_t)y * image->width, 0, image->width * sizeof *image->pixels);
    for (unsigned i = 0; i < scanout->n_layers && scanout->active; i++) {
        struct source s = {.layer = &scanout->layers[i], .row_y = -1};
        if (s.layer->width == 0 || s.layer->height == 0)
            continue;
        tp_kms_fb_info(s.layer->fb, &s.fb);
        s.layout = find_layout(&s.fb);
        s.copy = s.layout && copies && copies[i].rows ? &copies[i] : NULL;
        s.map = s.layout && !s.copy ? tp_memory_open(from, &s.fb) : NULL;
        if (!s.map && !s.copy) {
            unread++;
            continue;
        }
        s.scratch = tp_calloc((size_t)s.fb.width + 1, s.layout->bytes);
        if (s.map)
            tp_memory_begin(s.map, s.fb.fds[0]);
        lay_over(&s, image, first_line, end_line);
        if (s.map)
            tp_memory_end(s.map, s.fb.fds[0]);
        free(s.scratch);
    }
    tp_memory_finish(&own);
    return unread;
}
