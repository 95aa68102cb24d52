/* Swapchains: made, retired, destroyed. */
#include "frames/icd/swapchain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frames/icd/capture.h"
#include "frames/icd/fence.h"
#include "frames/icd/format.h"
#include "frames/icd/log.h"
#include "frames/icd/memory.h"
#include "frames/icd/settings.h"

/* Windows smaller than this are not the game's picture: launchers' and tests' are not paced. */
enum { SMALL_PIXELS = 320 * 200 };

/* Taken before a swapchain's own. */
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tp_icd_swapchain *all;

VkResult tp_icd_swapchain_state(struct tp_icd_swapchain *c)
{
    int lost = atomic_load(&c->surface->lost);

    if (atomic_load(&c->device->lost))
        return VK_ERROR_DEVICE_LOST;
    if (lost)
        return (VkResult)lost;
    return c->retired || c->out_of_date ? VK_ERROR_OUT_OF_DATE_KHR : VK_SUCCESS;
}

VkResult tp_icd_swapchain_failed(struct tp_icd_swapchain *c, int err)
{
    VkResult r = err == -ENODEV ? VK_ERROR_SURFACE_LOST_KHR : VK_ERROR_OUT_OF_DATE_KHR;

    pthread_mutex_lock(&c->lock);
    if (r == VK_ERROR_SURFACE_LOST_KHR)
        atomic_store(&c->surface->lost, r);
    else
        c->out_of_date = true; /* whatever it was, another swapchain may do better */
    tp_icd_swapchain_wake(c);
    pthread_mutex_unlock(&c->lock);
    return r;
}

void tp_icd_swapchains_lost(struct tp_icd_device *d)
{
    atomic_store(&d->lost, true);
    pthread_mutex_lock(&all_lock);
    for (struct tp_icd_swapchain *c = all; c; c = c->next) {
        if (c->device != d)
            continue;
        pthread_mutex_lock(&c->lock);
        tp_icd_swapchain_wake(c);
        pthread_mutex_unlock(&c->lock);
    }
    pthread_mutex_unlock(&all_lock);
}

static void list(struct tp_icd_swapchain *c)
{
    pthread_mutex_lock(&all_lock);
    c->next = all;
    all = c;
    pthread_mutex_unlock(&all_lock);
}

static void unlist(struct tp_icd_swapchain *c)
{
    pthread_mutex_lock(&all_lock);
    for (struct tp_icd_swapchain **at = &all; *at; at = &(*at)->next) {
        if (*at == c) {
            *at = c->next;
            break;
        }
    }
    pthread_mutex_unlock(&all_lock);
}

/* A guest that asks for no vertical sync is not given one, unless people say so; a cap holds. */
void tp_icd_swapchain_pace(struct tp_icd_swapchain *c)
{
    struct tp_gate_settings s = c->settings;

    if (!c->gate)
        return;
    if (!c->settings_said &&
        (c->mode == VK_PRESENT_MODE_IMMEDIATE_KHR || c->mode == VK_PRESENT_MODE_MAILBOX_KHR))
        s.mode = s.cap_mhz > 0 ? TP_GATE_CAP : TP_GATE_OFF;
    if (s.mode == TP_GATE_CAP && s.cap_mhz == 0)
        s.mode = TP_GATE_VSYNC;
    tp_gate_set(c->gate, &s);
    tp_icd_census_paced(c->census, &s);
}

static VkResult make_gate(struct tp_icd_swapchain *c, const VkSwapchainCreateInfoKHR *info)
{
    const struct tp_icd_settings *s = tp_icd_settings();

    c->settings = s->gate;
    c->settings_said = s->gate_set;
    if (info->imageExtent.width * info->imageExtent.height < SMALL_PIXELS)
        return VK_SUCCESS;
    if (tp_gate_create(&s->gate, &c->gate))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    tp_icd_swapchain_pace(c);
    return VK_SUCCESS;
}

static unsigned count_images(
    const VkSwapchainCreateInfoKHR *info, const struct tp_target_caps *caps)
{
    bool fifo = info->presentMode == VK_PRESENT_MODE_FIFO_KHR ||
        info->presentMode == VK_PRESENT_MODE_FIFO_RELAXED_KHR ||
        info->presentMode == TP_VK_FIFO_LATEST_READY;
    unsigned asked =
        info->minImageCount > caps->min_images ? info->minImageCount : caps->min_images;
    unsigned override = tp_icd_settings()->min_images;
    unsigned n = fifo || override ? tp_slots_image_count(asked, 1, override) : asked;

    if (info->presentMode == VK_PRESENT_MODE_MAILBOX_KHR && n < 3)
        n = 3; /* one shown, one waiting, one rendered into */
    if (n < info->minImageCount)
        n = info->minImageCount;
    return caps->max_images > 0 && n > caps->max_images ? caps->max_images : n;
}

static bool signalled(void *data, int fence)
{
    (void)data;
    return tp_fence_signalled(fence);
}

static void close_fence(void *data, int fence)
{
    (void)data;
    tp_fence_close(fence);
}

static VkResult make_slots(struct tp_icd_swapchain *c)
{
    static const struct tp_slots_ops ops = {signalled, close_fence};
    const struct tp_icd_settings *s = tp_icd_settings();
    struct tp_slots_config config = {
        .images = c->n_images,
        .release = s->release,
        .wait = tp_release_wait_choose(s->wait, c->device->can_import_sync_fd,
            c->pool.kind == TP_BUFFER_DMABUF && tp_fence_can_export()),
        .pipeline = 1,
    };

    return tp_slots_create(&config, &ops, c, &c->slots) ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

/* The stream, and the images in it. */
static VkResult make_images(struct tp_icd_swapchain *c, const VkSwapchainCreateInfoKHR *info,
    const struct tp_target_caps *caps)
{
    const VkSwapchainPresentScalingCreateInfoEXT *scaling =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_SCALING_CREATE_INFO_EXT);
    const struct tp_icd_format *format = tp_icd_format_find(info->imageFormat);
    struct tp_target *target = c->surface->target;
    struct tp_target_format *formats = NULL;
    uint32_t n = 0;
    VkResult r = tp_icd_surface_formats(c->surface, &formats, &n);

    if (r != VK_SUCCESS)
        return r;
    struct tp_stream_info stream = {
        .width = info->imageExtent.width,
        .height = info->imageExtent.height,
        .n_images = count_images(info, caps),
        .mode = info->presentMode,
        .space = info->imageColorSpace,
        .transform = info->preTransform,
        .alpha = info->compositeAlpha,
        .scaling = scaling ? scaling->scalingBehavior : 0,
        .gravity_x = scaling ? scaling->presentGravityX : 0,
        .gravity_y = scaling ? scaling->presentGravityY : 0,
        .clipped = info->clipped,
    };
    if (format)
        stream.fourcc = tp_icd_format_fourcc(
            format, info->compositeAlpha == VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR, formats, n);
    r = stream.fourcc ? tp_icd_pool_init(&c->pool, c->device, info, c->allocator, stream.fourcc,
                            tp_icd_format_bytes(format), formats, n, &c->images[0].buffer)
                      : VK_ERROR_INITIALIZATION_FAILED;
    free(formats);
    if (r != VK_SUCCESS)
        return r;
    for (c->n_images = 1; c->n_images < stream.n_images && r == VK_SUCCESS;) {
        r = tp_icd_buffer_init(&c->pool, &c->images[c->n_images].buffer);
        c->n_images += r == VK_SUCCESS;
    }
    if (r == VK_SUCCESS)
        r = make_slots(c);
    if (r == VK_SUCCESS)
        r = tp_icd_result(target->ops->open(target, &stream, &tp_icd_stream_events, c, &c->stream));
    for (uint32_t i = 0; i < c->n_images && r == VK_SUCCESS; i++)
        r = tp_icd_result(target->ops->add(c->stream, i, &c->images[i].buffer.stream));
    return r;
}

/* Without one nothing is told, and that is all. */
static void make_census(struct tp_icd_swapchain *c, const VkSwapchainCreateInfoKHR *info)
{
    const struct tp_icd_census_info how = {.slots = c->slots,
        .gate = c->gate,
        .images = c->n_images,
        .width = info->imageExtent.width,
        .height = info->imageExtent.height,
        .release = tp_icd_settings()->release};
    const struct tp_gate_settings none = {.mode = TP_GATE_OFF};
    int r = tp_icd_census_create(&how, &c->census);

    if (r) {
        tp_icd_log_once("what becomes of frames is not told: %s", strerror(-r));
        return;
    }
    if (c->gate)
        tp_icd_swapchain_pace(c);
    else
        tp_icd_census_paced(c->census, &none);
    c->captured = tp_icd_capture_add(tp_icd_census_fd(c->census));
}

static struct tp_scanout *connection(struct tp_icd_instance *i)
{
    const struct tp_icd_settings *s = tp_icd_settings();

    if (s->server_bytes == 0)
        return NULL;
    pthread_mutex_lock(&i->lock);
    if (!i->scanout && tp_scanout_create(&s->server, s->server_bytes, &i->scanout))
        i->scanout = NULL;
    struct tp_scanout *c = i->scanout;
    pthread_mutex_unlock(&i->lock);
    return c;
}

static void watch(struct tp_icd_swapchain *c)
{
    c->scanout = connection(c->device->instance);
    if (!c->scanout)
        return;
    c->hears = tp_icd_settings()->release; /* before the first event */
    int r = tp_scanout_watch(c->scanout, c->n_images, &tp_icd_scanout_events, c, &c->watch);
    for (uint32_t i = 0; i < c->n_images && !r; i++)
        r = tp_scanout_add(c->watch, i, c->images[i].buffer.stream.fd);
    if (!c->watch) { /* then nothing is heard; else the connection's thread has begun to ask */
        pthread_mutex_lock(&c->lock);
        c->hears = false;
        pthread_mutex_unlock(&c->lock);
    }
    if (r)
        tp_icd_log_once("images are not watched by the server: %s", strerror(-r));
    else if (c->census)
        tp_scanout_census(c->watch, tp_icd_census_fd(c->census));
}

static void destroy(struct tp_icd_swapchain *c, const VkAllocationCallbacks *allocator)
{
    struct tp_icd_device *d = c->device;

    tp_icd_swapchain_stop(c);
    unlist(c);
    tp_scanout_unwatch(c->watch);
    if (c->stream)
        c->surface->target->ops->close(c->stream);
    for (uint32_t i = 0; i < c->n_images; i++) {
        struct tp_icd_image *image = &c->images[i];
        if (image->fence_in_use)
            d->vk.WaitForFences(d->handle, 1, &image->fence, VK_TRUE, UINT64_MAX);
        if (image->fence)
            d->vk.DestroyFence(d->handle, image->fence, NULL);
        if (image->semaphore)
            d->vk.DestroySemaphore(d->handle, image->semaphore, NULL);
        tp_fence_close(image->ready);
        tp_icd_buffer_finish(&c->pool, &image->buffer);
    }
    for (size_t i = 0; i < sizeof c->pools / sizeof *c->pools; i++) {
        if (c->pools[i])
            d->vk.DestroyCommandPool(d->handle, c->pools[i], NULL);
    }
    tp_icd_pool_finish(&c->pool);
    tp_icd_census_destroy(c->census);
    tp_icd_capture_end(c->captured);
    tp_slots_destroy(c->slots);
    tp_gate_destroy(c->gate);
    tp_waker_finish(&c->waker);
    pthread_cond_destroy(&c->told);
    pthread_cond_destroy(&c->work);
    pthread_mutex_destroy(&c->lock);
    tp_icd_memory_put(allocator, c);
}

/* It is held for less than sleeping on it would take. */
static void init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t kind;

    pthread_mutexattr_init(&kind);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
    pthread_mutex_init(lock, &kind);
    pthread_mutexattr_destroy(&kind);
}

static struct tp_icd_swapchain *make(
    struct tp_icd_device *d, struct tp_icd_surface *s, const VkAllocationCallbacks *allocator)
{
    struct tp_icd_swapchain *c = tp_icd_memory_get(allocator, sizeof *c);
    pthread_condattr_t clock;

    if (!c)
        return NULL;
    c->device = d;
    c->surface = s;
    if (allocator) {
        c->callbacks = *allocator;
        c->allocator = &c->callbacks;
    }
    for (size_t i = 0; i < sizeof c->images / sizeof *c->images; i++)
        c->images[i].ready = -1;
    init_lock(&c->lock);
    tp_waker_init(&c->waker);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&c->told, &clock);
    pthread_cond_init(&c->work, NULL);
    pthread_condattr_destroy(&clock);
    return c;
}

/* Retired even where the new one fails; the window is this surface's then. With its lock held. */
static VkResult retire(struct tp_icd_surface *s, VkSwapchainKHR old)
{
    if ((s->current && s->current != tp_icd_swapchain_of(old)) || !tp_icd_surface_claim(s))
        return VK_ERROR_NATIVE_WINDOW_IN_USE_KHR;
    if (!s->current)
        return VK_SUCCESS;
    pthread_mutex_lock(&s->current->lock);
    s->current->retired = true;
    tp_icd_swapchain_wake(s->current);
    pthread_mutex_unlock(&s->current->lock);
    s->current = NULL;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_swapchain(VkDevice handle,
    const VkSwapchainCreateInfoKHR *info, const VkAllocationCallbacks *allocator,
    VkSwapchainKHR *out)
{
    const VkSwapchainPresentModesCreateInfoEXT *modes =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_MODES_CREATE_INFO_EXT);
    struct tp_icd_device *d = tp_icd_device_get(handle);
    struct tp_icd_surface *s = tp_icd_surface_of(info->surface);
    struct tp_target_caps caps;

    pthread_mutex_lock(&s->lock);
    VkResult r = retire(s, info->oldSwapchain);
    if (r == VK_SUCCESS)
        r = atomic_load(&d->lost) ? VK_ERROR_DEVICE_LOST : tp_icd_surface_query(s, &caps);
    struct tp_icd_swapchain *c = r == VK_SUCCESS ? make(d, s, allocator) : NULL;
    if (r == VK_SUCCESS && !c)
        r = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (c) {
        c->mode = info->presentMode;
        c->mode_may_change = modes;
        c->takes_fences = caps.takes_fences;
        r = make_gate(c, info);
        if (r == VK_SUCCESS)
            r = make_images(c, info, &caps);
        if (r == VK_SUCCESS) {
            make_census(c, info);
            watch(c);
            list(c);
            s->current = c;
            *out = (VkSwapchainKHR)(uintptr_t)c;
        } else {
            destroy(c, allocator);
        }
    }
    if (!s->current)
        tp_icd_surface_unclaim(s);
    pthread_mutex_unlock(&s->lock);
    return tp_icd_answer(
        r, TP_MAY_LOSE_SURFACE | TP_MAY_LOSE_DEVICE | TP_MAY_BE_IN_USE | TP_MAY_FAIL);
}

static VKAPI_ATTR void VKAPI_CALL destroy_swapchain(
    VkDevice handle, VkSwapchainKHR swapchain, const VkAllocationCallbacks *allocator)
{
    struct tp_icd_swapchain *c = tp_icd_swapchain_of(swapchain);

    (void)handle;
    if (!c)
        return;
    struct tp_icd_surface *s = c->surface;
    tp_icd_private_forget(c->device, (uint64_t)(uintptr_t)c);
    pthread_mutex_lock(&s->lock);
    if (s->current == c)
        s->current = NULL;
    destroy(c, allocator);
    if (!s->current)
        tp_icd_surface_unclaim(s);
    pthread_mutex_unlock(&s->lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_images(
    VkDevice handle, VkSwapchainKHR swapchain, uint32_t *count, VkImage *out)
{
    struct tp_icd_swapchain *c = tp_icd_swapchain_of(swapchain);
    uint32_t n = out && *count < c->n_images ? *count : c->n_images;

    (void)handle;
    for (uint32_t i = 0; out && i < n; i++)
        out[i] = c->images[i].buffer.image;
    *count = n;
    return n < c->n_images ? VK_INCOMPLETE : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL group_capabilities(
    VkDevice handle, VkDeviceGroupPresentCapabilitiesKHR *out)
{
    (void)handle;
    memset(out->presentMask, 0, sizeof out->presentMask);
    out->presentMask[0] = 1;
    out->modes = VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL group_modes(
    VkDevice handle, VkSurfaceKHR surface, VkDeviceGroupPresentModeFlagsKHR *out)
{
    (void)handle;
    (void)surface;
    *out = VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL set_hdr(
    VkDevice handle, uint32_t n, const VkSwapchainKHR *swapchains, const VkHdrMetadataEXT *metadata)
{
    (void)handle;
    for (uint32_t i = 0; i < n; i++) {
        struct tp_icd_swapchain *c = tp_icd_swapchain_of(swapchains[i]);
        pthread_mutex_lock(&c->lock);
        c->hdr = metadata[i];
        c->hdr.pNext = NULL;
        c->hdr_new = true;
        pthread_mutex_unlock(&c->lock);
    }
}

#define SWAPCHAIN TP_BIT(TP_EXT_SWAPCHAIN)
const struct tp_icd_entry tp_icd_swapchain_entries[] = {
    TP_ENTRY("CreateSwapchainKHR", create_swapchain, TP_LEVEL_DEVICE, SWAPCHAIN),
    TP_ENTRY("DestroySwapchainKHR", destroy_swapchain, TP_LEVEL_DEVICE, SWAPCHAIN),
    TP_ENTRY("GetSwapchainImagesKHR", get_images, TP_LEVEL_DEVICE, SWAPCHAIN),
    TP_ENTRY(
        "GetDeviceGroupPresentCapabilitiesKHR", group_capabilities, TP_LEVEL_DEVICE, SWAPCHAIN),
    TP_ENTRY("GetDeviceGroupSurfacePresentModesKHR", group_modes, TP_LEVEL_DEVICE, SWAPCHAIN),
    TP_ENTRY("SetHdrMetadataEXT", set_hdr, TP_LEVEL_DEVICE, TP_BIT(TP_EXT_HDR_METADATA)),
    {0},
};
