#include "frames/icd/extension.h"

#include <string.h>

#include "frames/icd/window_library.h"

/* VK_EXT_surface_maintenance1 and the like have a KHR name in newer headers, with the same structs.
 */
const struct tp_icd_extension_info tp_icd_extensions[] = {
    {VK_KHR_SURFACE_EXTENSION_NAME, 25, TP_EXT_SURFACE},
    {VK_KHR_GET_SURFACE_CAPABILITIES_2_EXTENSION_NAME, 1, TP_EXT_SURFACE_CAPABILITIES2},
    {VK_EXT_SURFACE_MAINTENANCE_1_EXTENSION_NAME, 1, TP_EXT_SURFACE_MAINTENANCE1},
    {VK_KHR_SURFACE_MAINTENANCE_1_EXTENSION_NAME, 1, TP_EXT_SURFACE_MAINTENANCE1},
    {VK_KHR_SURFACE_PROTECTED_CAPABILITIES_EXTENSION_NAME, 1, TP_EXT_SURFACE_PROTECTED},
    {VK_EXT_SWAPCHAIN_COLOR_SPACE_EXTENSION_NAME, 4, TP_EXT_COLORSPACE},
    {VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME, 1, TP_EXT_HEADLESS},
    {VK_KHR_WAYLAND_SURFACE_EXTENSION_NAME, 6, TP_EXT_WAYLAND},
    {VK_KHR_XCB_SURFACE_EXTENSION_NAME, 6, TP_EXT_XCB},
    {VK_KHR_XLIB_SURFACE_EXTENSION_NAME, 6, TP_EXT_XLIB},
    {VK_KHR_DISPLAY_EXTENSION_NAME, 23, TP_EXT_DISPLAY},
    {VK_KHR_GET_DISPLAY_PROPERTIES_2_EXTENSION_NAME, 1, TP_EXT_DISPLAY2},
    {VK_EXT_DIRECT_MODE_DISPLAY_EXTENSION_NAME, 1, TP_EXT_DIRECT_MODE},
    {VK_EXT_ACQUIRE_DRM_DISPLAY_EXTENSION_NAME, 1, TP_EXT_ACQUIRE_DRM},
    {VK_EXT_DISPLAY_SURFACE_COUNTER_EXTENSION_NAME, 1, TP_EXT_SURFACE_COUNTER},
    {VK_KHR_SWAPCHAIN_EXTENSION_NAME, 70, TP_EXT_SWAPCHAIN},
    {VK_KHR_SWAPCHAIN_MUTABLE_FORMAT_EXTENSION_NAME, 1, TP_EXT_MUTABLE_FORMAT},
    {VK_EXT_SWAPCHAIN_MAINTENANCE_1_EXTENSION_NAME, 1, TP_EXT_SWAPCHAIN_MAINTENANCE1},
    {VK_KHR_SWAPCHAIN_MAINTENANCE_1_EXTENSION_NAME, 1, TP_EXT_SWAPCHAIN_MAINTENANCE1},
    {VK_KHR_PRESENT_ID_EXTENSION_NAME, 1, TP_EXT_PRESENT_ID},
    {VK_KHR_PRESENT_WAIT_EXTENSION_NAME, 1, TP_EXT_PRESENT_WAIT},
    {VK_KHR_INCREMENTAL_PRESENT_EXTENSION_NAME, 2, TP_EXT_INCREMENTAL_PRESENT},
    {VK_GOOGLE_DISPLAY_TIMING_EXTENSION_NAME, 1, TP_EXT_DISPLAY_TIMING},
    {VK_EXT_HDR_METADATA_EXTENSION_NAME, 2, TP_EXT_HDR_METADATA},
    {"VK_EXT_present_mode_fifo_latest_ready", 1, TP_EXT_LATEST_READY},
    {"VK_KHR_present_mode_fifo_latest_ready", 1, TP_EXT_LATEST_READY},
    {VK_EXT_DISPLAY_CONTROL_EXTENSION_NAME, 1, TP_EXT_DISPLAY_CONTROL},
    {VK_EXT_PHYSICAL_DEVICE_DRM_EXTENSION_NAME, 1, TP_EXT_DRM},
    {VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME, 1, TP_EXT_DMABUF},
    {VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME, 2, TP_EXT_MODIFIER},
    {VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME, 1, TP_EXT_FOREIGN},
    {NULL, 0, TP_EXT_N},
};

static const char *const needs[TP_NEED_N] = {
    [TP_NEED_MEMORY_CAPABILITIES] = VK_KHR_EXTERNAL_MEMORY_CAPABILITIES_EXTENSION_NAME,
    [TP_NEED_SEMAPHORE_CAPABILITIES] = VK_KHR_EXTERNAL_SEMAPHORE_CAPABILITIES_EXTENSION_NAME,
    [TP_NEED_FENCE_CAPABILITIES] = VK_KHR_EXTERNAL_FENCE_CAPABILITIES_EXTENSION_NAME,
    [TP_NEED_PROPERTIES2] = VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME,
    [TP_NEED_DEVICE_GROUPS] = VK_KHR_DEVICE_GROUP_CREATION_EXTENSION_NAME,
    [TP_NEED_MEMORY] = VK_KHR_EXTERNAL_MEMORY_EXTENSION_NAME,
    [TP_NEED_MEMORY_FD] = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
    [TP_NEED_DMABUF] = VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME,
    [TP_NEED_MEMORY_HOST] = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME,
    [TP_NEED_MODIFIER] = VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME,
    [TP_NEED_FOREIGN] = VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME,
    [TP_NEED_SEMAPHORE] = VK_KHR_EXTERNAL_SEMAPHORE_EXTENSION_NAME,
    [TP_NEED_SEMAPHORE_FD] = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
    [TP_NEED_FENCE] = VK_KHR_EXTERNAL_FENCE_EXTENSION_NAME,
    [TP_NEED_FENCE_FD] = VK_KHR_EXTERNAL_FENCE_FD_EXTENSION_NAME,
    [TP_NEED_BIND_MEMORY2] = VK_KHR_BIND_MEMORY_2_EXTENSION_NAME,
    [TP_NEED_MEMORY_REQUIREMENTS2] = VK_KHR_GET_MEMORY_REQUIREMENTS_2_EXTENSION_NAME,
    [TP_NEED_DEDICATED] = VK_KHR_DEDICATED_ALLOCATION_EXTENSION_NAME,
    [TP_NEED_FORMAT_LIST] = VK_KHR_IMAGE_FORMAT_LIST_EXTENSION_NAME,
    [TP_NEED_SAMPLER_YCBCR] = VK_KHR_SAMPLER_YCBCR_CONVERSION_EXTENSION_NAME,
    [TP_NEED_MAINTENANCE1] = VK_KHR_MAINTENANCE_1_EXTENSION_NAME,
};

/* The driver's own window system, past those that are ours: what needs one of its surfaces,
 * swapchains or displays. */
static const char *const hidden[] = {
    "VK_KHR_android_surface",
    "VK_KHR_display_swapchain",
    "VK_KHR_mir_surface",
    "VK_KHR_present_id2",
    "VK_KHR_present_wait2",
    "VK_KHR_shared_presentable_image",
    "VK_KHR_win32_keyed_mutex",
    "VK_KHR_win32_surface",
    "VK_AMD_display_native_hdr",
    "VK_ANDROID_native_buffer",
    "VK_EXT_acquire_xlib_display",
    "VK_EXT_directfb_surface",
    "VK_EXT_full_screen_exclusive",
    "VK_EXT_image_compression_control_swapchain",
    "VK_EXT_metal_surface",
    "VK_EXT_present_timing",
    "VK_EXT_surface_maintenance1",
    "VK_FUCHSIA_imagepipe_surface",
    "VK_GGP_frame_token",
    "VK_GGP_stream_descriptor_surface",
    "VK_GOOGLE_surfaceless_query",
    "VK_LUNARG_direct_driver_loading",
    "VK_MVK_ios_surface",
    "VK_MVK_macos_surface",
    "VK_NN_vi_surface",
    "VK_NV_acquire_winrt_display",
    "VK_NV_low_latency2",
    "VK_NV_present_barrier",
    "VK_QCOM_render_pass_transform",
    "VK_QNX_screen_surface",
};

int tp_icd_extension_find(const char *name)
{
    for (const struct tp_icd_extension_info *x = tp_icd_extensions; x->name; x++) {
        if (!strcmp(x->name, name))
            return x->bit;
    }
    return -1;
}

const char *tp_icd_need_name(enum tp_icd_need need)
{
    return needs[need];
}

int tp_icd_need_find(const char *name)
{
    for (int i = 0; i < TP_NEED_N; i++) {
        if (!strcmp(needs[i], name))
            return i;
    }
    return -1;
}

bool tp_icd_extension_hidden(const char *name)
{
    int ours = tp_icd_extension_find(name);

    if (ours >= 0)
        return ours < TP_EXT_DRM; /* the driver's own tell of a real device */
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        if (!strcmp(hidden[i], name))
            return true;
    }
    return false;
}

uint64_t tp_icd_instance_offers(void)
{
    uint64_t all = TP_BIT(TP_EXT_SURFACE) | TP_BIT(TP_EXT_SURFACE_CAPABILITIES2) |
        TP_BIT(TP_EXT_SURFACE_MAINTENANCE1) | TP_BIT(TP_EXT_SURFACE_PROTECTED) |
        TP_BIT(TP_EXT_COLORSPACE) | TP_BIT(TP_EXT_HEADLESS);

#ifdef TP_ICD_WAYLAND
    if (tp_wayland_there())
        all |= TP_BIT(TP_EXT_WAYLAND);
#endif
#ifdef TP_ICD_X11
    if (tp_xcb_there())
        all |= TP_BIT(TP_EXT_XCB) | TP_BIT(TP_EXT_XLIB);
#endif
#ifdef TP_ICD_DISPLAY
    all |= TP_BIT(TP_EXT_DISPLAY) | TP_BIT(TP_EXT_DISPLAY2) | TP_BIT(TP_EXT_DIRECT_MODE) |
        TP_BIT(TP_EXT_ACQUIRE_DRM) | TP_BIT(TP_EXT_SURFACE_COUNTER);
#endif
    return all;
}
