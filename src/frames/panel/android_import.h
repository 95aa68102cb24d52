/* A guest's dma-buf as an AHardwareBuffer. */
#ifndef TP_FRAMES_PANEL_ANDROID_IMPORT_H
#define TP_FRAMES_PANEL_ANDROID_IMPORT_H

#include "frames/kms/kms.h"
#include "frames/panel/android_api.h"

/* See android_buffer.h. NULL and the buffer, which the caller releases; or why not. */
const char *tp_android_import_fb(
    const struct tp_android_api *api, const struct tp_kms_fb_info *fb, AHardwareBuffer **out);

/* Whether the descriptor is a dma-buf. */
bool tp_android_is_dmabuf(int fd);

#endif
