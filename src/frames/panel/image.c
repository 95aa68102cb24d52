#include "frames/panel/image.h"

#include <errno.h>
#include <png.h>
#include <stdlib.h>

void tp_image_init(struct tp_image *image, uint32_t width, uint32_t height)
{
    image->width = width;
    image->height = height;
    image->pixels = tp_calloc((size_t)width * height + 1, sizeof *image->pixels);
}

void tp_image_finish(struct tp_image *image)
{
    free(image->pixels);
    *image = (struct tp_image){0};
}

static void on_bytes(png_structp png, png_bytep bytes, size_t n)
{
    tp_buf_add(png_get_io_ptr(png), bytes, n);
}

static void on_flush(png_structp png)
{
    (void)png;
}

/* libpng leaves by longjmp: what it may change lies with the caller. */
static int write_png(const struct tp_image *image, png_structp png, png_infop info, uint8_t *row)
{
    if (setjmp(png_jmpbuf(png)))
        return -EIO;
    png_set_compression_level(png, 3);
    png_set_IHDR(png, info, image->width, image->height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
        PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (uint32_t y = 0; y < image->height; y++) {
        const uint32_t *from = image->pixels + (size_t)y * image->width;
        for (uint32_t x = 0; x < image->width; x++) {
            row[3 * x] = (uint8_t)(from[x] >> 16);
            row[3 * x + 1] = (uint8_t)(from[x] >> 8);
            row[3 * x + 2] = (uint8_t)from[x];
        }
        png_write_row(png, row);
    }
    png_write_end(png, info);
    return 0;
}

int tp_image_to_png(const struct tp_image *image, struct tp_buf *out, struct tp_error *e)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    uint8_t *row = tp_calloc((size_t)image->width + 1, 3);
    int r = -EIO;
    if (info) {
        png_set_write_fn(png, out, on_bytes, on_flush);
        r = write_png(image, png, info, row);
    }
    png_destroy_write_struct(&png, &info);
    free(row);
    return r < 0 ? tp_fail_errno(e, r, NULL, "the picture cannot be written as PNG") : 0;
}
