#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "frames/panel/window_view.h"

/* Screenshots of some compositors take the unused byte for alpha. */
#define OPAQUE 0xff000000u

/* Where the picture lies in the window. */
struct place {
    uint32_t x, y, width, height;
};

static struct place fit(const struct tp_image *i, uint32_t width, uint32_t height)
{
    struct place p = {.width = width, .height = height};
    if ((uint64_t)width * i->height <= (uint64_t)height * i->width)
        p.height = (uint32_t)((uint64_t)width * i->height / i->width);
    else
        p.width = (uint32_t)((uint64_t)height * i->width / i->height);
    p.width += p.width == 0;
    p.height += p.height == 0;
    p.x = (width - p.width) / 2;
    p.y = (height - p.height) / 2;
    return p;
}

/* The middle of place `at` of `out` places, on `in` ones. */
static uint32_t source(uint32_t at, uint32_t out, uint32_t in)
{
    return (uint32_t)(((uint64_t)at * 2 + 1) * in / ((uint64_t)out * 2));
}

static void blacken(uint32_t *pixels, uint32_t n)
{
    for (uint32_t x = 0; x < n; x++)
        pixels[x] = OPAQUE;
}

void tp_window_draw(const struct tp_image *image, uint32_t *pixels, size_t pitch_px, uint32_t width,
    uint32_t height)
{
    if (image->width == 0 || image->height == 0) {
        for (uint32_t y = 0; y < height; y++)
            blacken(pixels + y * pitch_px, width);
        return;
    }
    const struct place p = fit(image, width, height);
    uint32_t *columns = tp_calloc(p.width, sizeof *columns), last = UINT32_MAX;
    for (uint32_t x = 0; x < p.width; x++)
        columns[x] = source(x, p.width, image->width);
    for (uint32_t y = 0; y < height; y++) {
        uint32_t *row = pixels + y * pitch_px;
        if (y < p.y || y >= p.y + p.height) {
            blacken(row, width);
            continue;
        }
        uint32_t from = source(y - p.y, p.height, image->height);
        if (from == last) { /* the same line once more */
            memcpy(row, row - pitch_px, width * sizeof *row);
            continue;
        }
        const uint32_t *line = image->pixels + (size_t)from * image->width;
        blacken(row, p.x);
        for (uint32_t x = 0; x < p.width; x++)
            row[p.x + x] = line[columns[x]] | OPAQUE;
        blacken(row + p.x + p.width, width - p.x - p.width);
        last = from;
    }
    free(columns);
}
