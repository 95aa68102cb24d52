/* Asks the backend for one buffer, in one shape of Mesa's interface (compiled once for each, with
 * the backend), and stops the program where Mesa could not use the answer. */
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "u_gralloc_internal.h"

int aimapper_ask(struct u_gralloc *gr, const struct u_gralloc_buffer_handle *hnd);

static void check(int holds)
{
    if (!holds)
        abort();
}

static void check_basic(
    const struct u_gralloc_buffer_basic_info *info, const native_handle_t *handle)
{
    check(info->num_planes >= 1 && info->num_planes <= 4);
    check(info->drm_fourcc != 0);
    check(info->modifier != DRM_FORMAT_MOD_QCOM_COMPRESSED || info->num_planes == 1);
    check(info->modifier != DRM_FORMAT_MOD_QCOM_COMPRESSED || info->offsets[0] == 0);
    for (int i = 0; i < info->num_planes; i++) {
        int is_handles = 0;
        for (int fd = 0; fd < handle->numFds; fd++)
            is_handles |= info->fds[i] == handle->data[fd];
        check(is_handles);
        check(info->offsets[i] >= 0);
        check(info->strides[i] > 0);
    }
}

static void check_color(const struct u_gralloc_buffer_color_info *info)
{
    check(!info->yuv_color_space ||
        (info->yuv_color_space >= __DRI_YUV_COLOR_SPACE_ITU_REC601 &&
            info->yuv_color_space <= __DRI_YUV_COLOR_SPACE_ITU_REC2020));
    check(!info->sample_range || info->sample_range == __DRI_YUV_FULL_RANGE ||
        info->sample_range == __DRI_YUV_NARROW_RANGE);
    check(!info->horizontal_siting == !info->vertical_siting);
}

int aimapper_ask(struct u_gralloc *gr, const struct u_gralloc_buffer_handle *hnd)
{
    struct u_gralloc_buffer_handle copy = *hnd;
    struct u_gralloc_buffer_basic_info basic = {0};
    struct u_gralloc_buffer_color_info color = {0};
    int result = gr->ops.get_buffer_basic_info(gr, &copy, &basic);
    check(result == 0 || result == -EINVAL);
    if (!result)
        check_basic(&basic, hnd->handle);
    int colored = gr->ops.get_buffer_color_info(gr, &copy, &color);
    check(colored == 0 || colored == -EINVAL);
    if (!colored)
        check_color(&color);
    return result;
}
