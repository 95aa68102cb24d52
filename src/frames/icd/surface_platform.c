/* vkCreate…SurfaceKHR of each window system: a target, and a surface round it. */
#include "frames/icd/internal.h"

static VkResult create(VkInstance instance, const VkAllocationCallbacks *allocator,
    struct tp_icd_window window, int r, struct tp_target *target, VkSurfaceKHR *out)
{
    return r ? tp_icd_answer(tp_icd_result(r), 0)
             : tp_icd_surface_create(tp_icd_instance_get(instance), allocator, window, target, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_headless(VkInstance instance,
    const VkHeadlessSurfaceCreateInfoEXT *info, const VkAllocationCallbacks *allocator,
    VkSurfaceKHR *out)
{
    struct tp_target *target = NULL;
    int r = tp_target_headless_create(&target);

    (void)info;
    return create(instance, allocator, (struct tp_icd_window){0}, r, target, out);
}

#ifdef TP_ICD_WAYLAND
static VKAPI_ATTR VkResult VKAPI_CALL create_wayland(VkInstance instance,
    const VkWaylandSurfaceCreateInfoKHR *info, const VkAllocationCallbacks *allocator,
    VkSurfaceKHR *out)
{
    struct tp_target *target = NULL;
    int r = tp_target_wayland_create(info->display, info->surface, &target);

    return create(instance, allocator, (struct tp_icd_window){info->surface, 0}, r, target, out);
}

static VKAPI_ATTR VkBool32 VKAPI_CALL wayland_support(
    VkPhysicalDevice handle, uint32_t family, struct wl_display *display)
{
    (void)handle;
    (void)family;
    return tp_target_wayland_supports(display);
}
#endif

#ifdef TP_ICD_X11
static VKAPI_ATTR VkResult VKAPI_CALL create_xcb(VkInstance instance,
    const VkXcbSurfaceCreateInfoKHR *info, const VkAllocationCallbacks *allocator,
    VkSurfaceKHR *out)
{
    struct tp_target *target = NULL;
    int r = tp_target_x11_create(info->connection, info->window, &target);

    return create(instance, allocator, (struct tp_icd_window){info->connection, info->window}, r,
        target, out);
}

static VKAPI_ATTR VkBool32 VKAPI_CALL xcb_support(
    VkPhysicalDevice handle, uint32_t family, xcb_connection_t *connection, xcb_visualid_t visual)
{
    (void)handle;
    (void)family;
    return tp_target_x11_supports(connection, visual);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_xlib(VkInstance instance,
    const VkXlibSurfaceCreateInfoKHR *info, const VkAllocationCallbacks *allocator,
    VkSurfaceKHR *out)
{
    xcb_connection_t *connection = tp_target_xlib_connection(info->dpy);
    struct tp_target *target = NULL;

    if (!connection)
        return VK_ERROR_UNKNOWN;
    int r = tp_target_x11_create(connection, (xcb_window_t)info->window, &target);
    return create(
        instance, allocator, (struct tp_icd_window){connection, info->window}, r, target, out);
}

static VKAPI_ATTR VkBool32 VKAPI_CALL xlib_support(
    VkPhysicalDevice handle, uint32_t family, Display *display, VisualID visual)
{
    xcb_connection_t *connection = tp_target_xlib_connection(display);

    (void)handle;
    (void)family;
    return connection && tp_target_x11_supports(connection, (xcb_visualid_t)visual);
}
#endif

const struct tp_icd_entry tp_icd_platform_entries[] = {
    TP_ENTRY(
        "CreateHeadlessSurfaceEXT", create_headless, TP_LEVEL_INSTANCE, TP_BIT(TP_EXT_HEADLESS)),
#ifdef TP_ICD_WAYLAND
    TP_ENTRY("CreateWaylandSurfaceKHR", create_wayland, TP_LEVEL_INSTANCE, TP_BIT(TP_EXT_WAYLAND)),
    TP_ENTRY("GetPhysicalDeviceWaylandPresentationSupportKHR", wayland_support, TP_LEVEL_PHYSICAL,
        TP_BIT(TP_EXT_WAYLAND)),
#endif
#ifdef TP_ICD_X11
    TP_ENTRY("CreateXcbSurfaceKHR", create_xcb, TP_LEVEL_INSTANCE, TP_BIT(TP_EXT_XCB)),
    TP_ENTRY("GetPhysicalDeviceXcbPresentationSupportKHR", xcb_support, TP_LEVEL_PHYSICAL,
        TP_BIT(TP_EXT_XCB)),
    TP_ENTRY("CreateXlibSurfaceKHR", create_xlib, TP_LEVEL_INSTANCE, TP_BIT(TP_EXT_XLIB)),
    TP_ENTRY("GetPhysicalDeviceXlibPresentationSupportKHR", xlib_support, TP_LEVEL_PHYSICAL,
        TP_BIT(TP_EXT_XLIB)),
#endif
    {0},
};
