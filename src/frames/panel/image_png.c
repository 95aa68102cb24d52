#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "frames/panel/image.h"

#define LEVEL 3      /* of compression: pictures are looked at once */
#define STEP 65536u  /* bytes of output at a time */
#define FILTER_SUB 1 /* a line's bytes are differences from the pixel before */

static void put_u32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

/* A chunk: its length, type, data, and the checksum of the latter two. */
static void add_chunk(struct tp_buf *out, const char type[5], const void *data, size_t n)
{
    uint8_t word[4];
    put_u32(word, (uint32_t)n);
    tp_buf_add(out, word, sizeof word);
    tp_buf_add(out, type, 4);
    tp_buf_add(out, data, n);
    uLong sum = crc32(0, (const Bytef *)type, 4);
    if (n > 0)
        sum = crc32(sum, data, (uInt)n);
    put_u32(word, (uint32_t)sum);
    tp_buf_add(out, word, sizeof word);
}

/* A line as it is compressed: the filter, then the pixels. */
static void fill_line(const struct tp_image *image, uint32_t y, uint8_t *line)
{
    const uint32_t *from = image->pixels + (size_t)y * image->width;
    uint32_t before = 0;
    *line++ = FILTER_SUB;
    for (uint32_t x = 0; x < image->width; x++) {
        *line++ = (uint8_t)((from[x] >> 16) - (before >> 16));
        *line++ = (uint8_t)((from[x] >> 8) - (before >> 8));
        *line++ = (uint8_t)(from[x] - before);
        before = from[x];
    }
}

/* Compresses the lines; each STEP bytes become a chunk. */
static int add_lines(struct tp_buf *out, const struct tp_image *image, uint8_t *line, uint8_t *step)
{
    z_stream z = {.next_out = step, .avail_out = STEP};
    int r = Z_OK;
    if (deflateInit(&z, LEVEL) != Z_OK)
        return -ENOMEM;
    for (uint32_t y = 0; r == Z_OK && y <= image->height; y++) {
        bool end = y == image->height;
        z.next_in = line;
        z.avail_in = end ? 0 : 1 + 3 * image->width;
        if (!end)
            fill_line(image, y, line);
        while (r == Z_OK && (z.avail_in > 0 || end)) {
            r = deflate(&z, end ? Z_FINISH : Z_NO_FLUSH);
            if (z.avail_out == 0 || r == Z_STREAM_END) {
                add_chunk(out, "IDAT", step, STEP - z.avail_out);
                z.next_out = step;
                z.avail_out = STEP;
            }
        }
    }
    deflateEnd(&z);
    return r == Z_STREAM_END ? 0 : -EIO;
}

/* The format is that of the PNG specification (W3C), with 8 bits of red, green and blue. */
int tp_image_to_png(const struct tp_image *image, struct tp_buf *out, struct tp_error *e)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    uint8_t header[13] = {[8] = 8, [9] = 2}; /* depth; RGB */
    if (image->width == 0 || image->height == 0)
        return tp_fail_errno(e, -EINVAL, NULL, "a picture without pixels is no PNG");
    put_u32(header, image->width);
    put_u32(header + 4, image->height);
    tp_buf_add(out, signature, sizeof signature);
    add_chunk(out, "IHDR", header, sizeof header);
    uint8_t *line = tp_calloc((size_t)image->width * 3 + 1, 1), *step = tp_calloc(STEP, 1);
    int r = add_lines(out, image, line, step);
    free(line);
    free(step);
    if (r < 0)
        return tp_fail_errno(e, r, NULL, "the picture cannot be written as PNG");
    add_chunk(out, "IEND", NULL, 0);
    return 0;
}
