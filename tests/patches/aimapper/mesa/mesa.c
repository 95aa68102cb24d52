/* What the backend calls of Mesa.
 * SPDX-License-Identifier: MIT */
#include <drm_fourcc.h>
#include <stdarg.h>
#include <stdio.h>

#include "u_gralloc_internal.h"
#include "util/log.h"

void (*standin_log)(const char *line);

void standin_logf(const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (standin_log)
        standin_log(line);
}

/* android.hardware.graphics.common.PixelFormat's numbers, bytes a pixel, and DRM's format. */
static const struct {
    int hal, bytes, fourcc;
} formats[] = {
    {1, 4, DRM_FORMAT_ABGR8888},
    {2, 4, DRM_FORMAT_XBGR8888},
    {4, 2, DRM_FORMAT_RGB565},
    {5, 4, DRM_FORMAT_ARGB8888},
    {0x16, 8, DRM_FORMAT_ABGR16161616F},
    {0x22, 4, DRM_FORMAT_XBGR8888},
    {0x2b, 4, DRM_FORMAT_ABGR2101010},
};

bool is_hal_format_yuv(int native)
{
    return native == 0x23 || native == 0x32315659 || native == 0x22;
}

int get_hal_format_bpp(int native)
{
    for (unsigned i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        if (formats[i].hal == native)
            return formats[i].bytes;
    }
    return 0;
}

int get_fourcc_from_hal_format(int native)
{
    for (unsigned i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        if (formats[i].hal == native)
            return formats[i].fourcc;
    }
    return -1;
}
