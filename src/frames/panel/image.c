#include "frames/panel/image.h"

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
