/* Surfaces, and what a physical device is told about them. */
#include <drm_fourcc.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frames/icd/format.h"
#include "frames/icd/internal.h"
#include "frames/icd/memory.h"
#include "frames/icd/slots.h"

VkResult tp_icd_result(int err)
{
    switch (err) {
    case 0:
        return VK_SUCCESS;
    case -ESTALE:
        return VK_ERROR_OUT_OF_DATE_KHR;
    case -ENODEV:
        return VK_ERROR_SURFACE_LOST_KHR;
    case -EBUSY:
        return VK_ERROR_NATIVE_WINDOW_IN_USE_KHR;
    case -ENOMEM:
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    default:
        return VK_ERROR_INITIALIZATION_FAILED;
    }
}

VkResult tp_icd_answer(VkResult r, unsigned may)
{
    unsigned needs = 0;

    switch (r) {
    case VK_ERROR_SURFACE_LOST_KHR:
        needs = TP_MAY_LOSE_SURFACE;
        break;
    case VK_ERROR_DEVICE_LOST:
        needs = TP_MAY_LOSE_DEVICE;
        break;
    case VK_ERROR_OUT_OF_DATE_KHR:
        needs = TP_MAY_BE_OUT_OF_DATE;
        break;
    case VK_ERROR_NATIVE_WINDOW_IN_USE_KHR:
        needs = TP_MAY_BE_IN_USE;
        break;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        break;
    default:
        needs = r < 0 ? ~0u : 0;
    }
    if ((may & needs) == needs)
        return r;
    return may & TP_MAY_FAIL ? VK_ERROR_INITIALIZATION_FAILED : VK_ERROR_UNKNOWN;
}

/* --- windows --- */

static pthread_mutex_t claims_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tp_icd_surface *claims;

bool tp_icd_surface_claim(struct tp_icd_surface *s)
{
    bool free = true;

    if (!s->window.connection)
        return true;
    pthread_mutex_lock(&claims_lock);
    struct tp_icd_surface *other = claims;
    for (; other && other != s && free; other = other->next_claim)
        free = other->window.connection != s->window.connection || other->window.id != s->window.id;
    if (free && other != s) {
        s->next_claim = claims;
        claims = s;
    }
    pthread_mutex_unlock(&claims_lock);
    return free;
}

void tp_icd_surface_unclaim(struct tp_icd_surface *s)
{
    pthread_mutex_lock(&claims_lock);
    struct tp_icd_surface **at = &claims;
    while (*at && *at != s)
        at = &(*at)->next_claim;
    if (*at)
        *at = s->next_claim;
    pthread_mutex_unlock(&claims_lock);
}

/* --- surfaces --- */

VkResult tp_icd_surface_create(struct tp_icd_instance *instance,
    const VkAllocationCallbacks *allocator, struct tp_icd_window window, struct tp_target *target,
    VkSurfaceKHR *out)
{
    struct tp_icd_surface *s = tp_icd_memory_get(allocator, sizeof *s);

    if (!s) {
        target->ops->destroy(target);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    s->instance = instance;
    s->window = window;
    s->target = target;
    pthread_mutex_init(&s->lock, NULL);
    *out = (VkSurfaceKHR)(uintptr_t)s;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_surface(
    VkInstance instance, VkSurfaceKHR handle, const VkAllocationCallbacks *allocator)
{
    struct tp_icd_surface *s = tp_icd_surface_of(handle);

    (void)instance;
    if (!s)
        return;
    tp_icd_surface_unclaim(s);
    s->target->ops->destroy(s->target);
    pthread_mutex_destroy(&s->lock);
    tp_icd_memory_put(allocator, s);
}

VkResult tp_icd_surface_query(struct tp_icd_surface *s, struct tp_target_caps *out)
{
    int lost = atomic_load(&s->lost);

    if (lost)
        return (VkResult)lost;
    VkResult r =
        tp_icd_answer(tp_icd_result(s->target->ops->query(s->target, out)), TP_MAY_LOSE_SURFACE);
    if (r == VK_ERROR_SURFACE_LOST_KHR)
        atomic_store(&s->lost, r);
    return r;
}

VkResult tp_icd_surface_formats(
    struct tp_icd_surface *s, struct tp_target_format **out, uint32_t *n)
{
    return tp_icd_answer(
        tp_icd_result(s->target->ops->formats(s->target, out, n)), TP_MAY_LOSE_SURFACE);
}

/* Every queue may present: it waits for semaphores, and what copies is a transfer. */
static VKAPI_ATTR VkResult VKAPI_CALL get_support(
    VkPhysicalDevice handle, uint32_t family, VkSurfaceKHR surface, VkBool32 *out)
{
    (void)handle;
    (void)family;
    (void)surface;
    *out = VK_TRUE;
    return VK_SUCCESS;
}

static uint32_t at_most(uint32_t a, uint32_t b)
{
    return b > 0 && b < a ? b : a;
}

static VkResult get(struct tp_icd_physical *p, struct tp_icd_surface *s,
    struct tp_target_caps *caps, VkSurfaceCapabilitiesKHR *out)
{
    VkPhysicalDeviceProperties properties;
    VkResult r = tp_icd_surface_query(s, caps);

    if (r != VK_SUCCESS)
        return r;
    p->instance->vk.GetPhysicalDeviceProperties(p->handle, &properties);
    uint32_t max = properties.limits.maxImageDimension2D;
    *out = (VkSurfaceCapabilitiesKHR){
        .minImageCount = caps->min_images,
        .maxImageCount = caps->max_images ? caps->max_images : TP_SLOTS_MAX,
        .currentExtent = {caps->width ? caps->width : UINT32_MAX,
            caps->width ? caps->height : UINT32_MAX},
        .minImageExtent = {1, 1},
        .maxImageExtent = {at_most(max, caps->max_width), at_most(max, caps->max_height)},
        .maxImageArrayLayers = 1,
        .supportedTransforms = caps->transforms,
        .currentTransform = caps->transform,
        .supportedCompositeAlpha = caps->alphas,
        .supportedUsageFlags = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
            VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT |
            VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT,
    };
    if (caps->width && !caps->scaling)
        out->minImageExtent = out->maxImageExtent = out->currentExtent;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_capabilities(
    VkPhysicalDevice handle, VkSurfaceKHR surface, VkSurfaceCapabilitiesKHR *out)
{
    struct tp_target_caps caps;

    return get(tp_icd_physical_get(handle), tp_icd_surface_of(surface), &caps, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_capabilities2_ext(
    VkPhysicalDevice handle, VkSurfaceKHR surface, VkSurfaceCapabilities2EXT *out)
{
    VkSurfaceCapabilitiesKHR now;
    struct tp_target_caps caps;
    VkResult r = get(tp_icd_physical_get(handle), tp_icd_surface_of(surface), &caps, &now);

    if (r != VK_SUCCESS)
        return r;
    out->minImageCount = now.minImageCount;
    out->maxImageCount = now.maxImageCount;
    out->currentExtent = now.currentExtent;
    out->minImageExtent = now.minImageExtent;
    out->maxImageExtent = now.maxImageExtent;
    out->maxImageArrayLayers = now.maxImageArrayLayers;
    out->supportedTransforms = now.supportedTransforms;
    out->currentTransform = now.currentTransform;
    out->supportedCompositeAlpha = now.supportedCompositeAlpha;
    out->supportedUsageFlags = now.supportedUsageFlags;
    out->supportedSurfaceCounters = caps.counts ? VK_SURFACE_COUNTER_VBLANK_BIT_EXT : 0;
    return VK_SUCCESS;
}

/* Modes between which a swapchain may change: all, since each picture bears its own. The one that
 * was asked about comes first: it must be there even where there is room for one only. */
static void fill_compatible(const struct tp_target_caps *caps, VkPresentModeKHR asked,
    VkSurfacePresentModeCompatibilityEXT *out)
{
    uint32_t room = out->presentModeCount, n = 0;

    out->presentModeCount = caps->n_modes;
    if (!out->pPresentModes)
        return;
    if (room < caps->n_modes)
        out->presentModeCount = room;
    if (room > 0)
        out->pPresentModes[n++] = asked;
    for (uint32_t i = 0; i < caps->n_modes && n < out->presentModeCount; i++) {
        if (caps->modes[i] != asked)
            out->pPresentModes[n++] = caps->modes[i];
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL get_capabilities2(VkPhysicalDevice handle,
    const VkPhysicalDeviceSurfaceInfo2KHR *info, VkSurfaceCapabilities2KHR *out)
{
    const VkSurfacePresentModeEXT *mode =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_EXT);
    VkSurfaceProtectedCapabilitiesKHR *safety =
        tp_icd_find(out->pNext, VK_STRUCTURE_TYPE_SURFACE_PROTECTED_CAPABILITIES_KHR);
    VkSurfacePresentScalingCapabilitiesEXT *scaling =
        tp_icd_find(out->pNext, VK_STRUCTURE_TYPE_SURFACE_PRESENT_SCALING_CAPABILITIES_EXT);
    VkSurfacePresentModeCompatibilityEXT *compatible =
        tp_icd_find(out->pNext, VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_COMPATIBILITY_EXT);
    struct tp_target_caps caps;
    VkResult r = get(tp_icd_physical_get(handle), tp_icd_surface_of(info->surface), &caps,
        &out->surfaceCapabilities);

    if (r != VK_SUCCESS)
        return r;
    if (safety)
        safety->supportsProtected = VK_FALSE;
    if (scaling) {
        scaling->supportedPresentScaling = caps.scaling;
        scaling->supportedPresentGravityX = caps.gravity_x;
        scaling->supportedPresentGravityY = caps.gravity_y;
        scaling->minScaledImageExtent = out->surfaceCapabilities.minImageExtent;
        scaling->maxScaledImageExtent = out->surfaceCapabilities.maxImageExtent;
    }
    if (compatible && mode)
        fill_compatible(&caps, mode->presentMode, compatible);
    return VK_SUCCESS;
}

struct found {
    uint32_t n;
    VkSurfaceFormatKHR formats[TP_TARGET_SPACES * 16];
};

static bool can_render(struct tp_icd_physical *p, VkFormat format)
{
    VkFormatProperties properties;

    p->instance->vk.GetPhysicalDeviceFormatProperties(p->handle, format, &properties);
    return properties.optimalTilingFeatures & VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT;
}

static VkResult find_formats(struct tp_icd_physical *p, struct tp_icd_surface *s, struct found *out)
{
    bool spaces = p->instance->enabled & TP_BIT(TP_EXT_COLORSPACE);
    struct tp_target_format *formats = NULL;
    struct tp_target_caps caps;
    uint32_t n = 0;
    VkResult r = tp_icd_surface_query(s, &caps);

    if (r == VK_SUCCESS)
        r = tp_icd_surface_formats(s, &formats, &n);
    if (r != VK_SUCCESS)
        return r;
    out->n = 0;
    for (uint32_t k = 0; k < caps.n_spaces && (k == 0 || spaces); k++) {
        for (const struct tp_icd_format *f = tp_icd_formats; f->format; f++) {
            if (tp_icd_format_fits(f, caps.spaces[k]) &&
                tp_icd_format_fourcc(f, true, formats, n) && can_render(p, f->format))
                out->formats[out->n++] = (VkSurfaceFormatKHR){f->format, caps.spaces[k]};
        }
    }
    free(formats);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_formats(
    VkPhysicalDevice handle, VkSurfaceKHR surface, uint32_t *count, VkSurfaceFormatKHR *out)
{
    struct found found;
    VkResult r = find_formats(tp_icd_physical_get(handle), tp_icd_surface_of(surface), &found);

    if (r != VK_SUCCESS)
        return r;
    uint32_t n = out && *count < found.n ? *count : found.n;
    if (out)
        memcpy(out, found.formats, n * sizeof *out);
    *count = n;
    return n < found.n ? VK_INCOMPLETE : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_formats2(VkPhysicalDevice handle,
    const VkPhysicalDeviceSurfaceInfo2KHR *info, uint32_t *count, VkSurfaceFormat2KHR *out)
{
    struct found found;
    VkResult r =
        find_formats(tp_icd_physical_get(handle), tp_icd_surface_of(info->surface), &found);

    if (r != VK_SUCCESS)
        return r;
    uint32_t n = out && *count < found.n ? *count : found.n;
    for (uint32_t i = 0; out && i < n; i++)
        out[i].surfaceFormat = found.formats[i];
    *count = n;
    return n < found.n ? VK_INCOMPLETE : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_modes(
    VkPhysicalDevice handle, VkSurfaceKHR surface, uint32_t *count, VkPresentModeKHR *out)
{
    struct tp_target_caps caps;
    VkResult r = tp_icd_surface_query(tp_icd_surface_of(surface), &caps);

    (void)handle;
    if (r != VK_SUCCESS)
        return r;
    uint32_t n = out && *count < caps.n_modes ? *count : caps.n_modes;
    if (out)
        memcpy(out, caps.modes, n * sizeof *out);
    *count = n;
    return n < caps.n_modes ? VK_INCOMPLETE : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_rectangles(
    VkPhysicalDevice handle, VkSurfaceKHR surface, uint32_t *count, VkRect2D *out)
{
    struct tp_target_caps caps;
    VkResult r = tp_icd_surface_query(tp_icd_surface_of(surface), &caps);

    (void)handle;
    /* This command has no word for a surface that is lost: nothing is presented on it. */
    if (r == VK_ERROR_SURFACE_LOST_KHR)
        *count = 0;
    if (r != VK_SUCCESS)
        return tp_icd_answer(r == VK_ERROR_SURFACE_LOST_KHR ? VK_SUCCESS : r, 0);
    if (out && *count == 0)
        return VK_INCOMPLETE;
    *count = 1;
    if (out)
        out[0] = (VkRect2D){.extent = {caps.width ? caps.width : UINT32_MAX,
                                caps.width ? caps.height : UINT32_MAX}};
    return VK_SUCCESS;
}

#define SURFACE TP_BIT(TP_EXT_SURFACE)
const struct tp_icd_entry tp_icd_surface_entries[] = {
    TP_ENTRY("DestroySurfaceKHR", destroy_surface, TP_LEVEL_INSTANCE, SURFACE),
    TP_ENTRY("GetPhysicalDeviceSurfaceSupportKHR", get_support, TP_LEVEL_PHYSICAL, SURFACE),
    TP_ENTRY(
        "GetPhysicalDeviceSurfaceCapabilitiesKHR", get_capabilities, TP_LEVEL_PHYSICAL, SURFACE),
    TP_ENTRY(
        "GetPhysicalDeviceSurfaceCapabilities2KHR", get_capabilities2, TP_LEVEL_PHYSICAL, SURFACE),
    TP_ENTRY("GetPhysicalDeviceSurfaceCapabilities2EXT", get_capabilities2_ext, TP_LEVEL_PHYSICAL,
        TP_BIT(TP_EXT_SURFACE_COUNTER)),
    TP_ENTRY("GetPhysicalDeviceSurfaceFormatsKHR", get_formats, TP_LEVEL_PHYSICAL, SURFACE),
    TP_ENTRY("GetPhysicalDeviceSurfaceFormats2KHR", get_formats2, TP_LEVEL_PHYSICAL, SURFACE),
    TP_ENTRY("GetPhysicalDeviceSurfacePresentModesKHR", get_modes, TP_LEVEL_PHYSICAL, SURFACE),
    TP_ENTRY("GetPhysicalDevicePresentRectanglesKHR", get_rectangles, TP_LEVEL_PHYSICAL, SURFACE),
    {0},
};
