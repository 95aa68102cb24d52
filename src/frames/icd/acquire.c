/* vkAcquireNextImageKHR: the slot, its release, the gate, and the semaphore and fence that say so.
 */
#include <errno.h>

#include "frames/icd/fence.h"
#include "frames/icd/log.h"
#include "frames/icd/slots_acquire.h"
#include "frames/icd/swapchain.h"

/* --- telling the guest that the image is its own --- */

static VkResult import(struct tp_icd_device *d, int fd, VkSemaphore semaphore, VkFence fence)
{
    VkImportSemaphoreFdInfoKHR s = {.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
        .semaphore = semaphore,
        .flags = VK_SEMAPHORE_IMPORT_TEMPORARY_BIT,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT,
        .fd = fd};
    VkImportFenceFdInfoKHR f = {.sType = VK_STRUCTURE_TYPE_IMPORT_FENCE_FD_INFO_KHR,
        .fence = fence,
        .flags = VK_FENCE_IMPORT_TEMPORARY_BIT,
        .handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT,
        .fd = fd};
    VkResult r = VK_SUCCESS;

    if (semaphore) {
        s.fd = fd >= 0 ? tp_fence_copy(fd) : -1;
        r = d->vk.ImportSemaphoreFdKHR(d->handle, &s);
        if (r != VK_SUCCESS)
            tp_fence_close(s.fd);
    }
    if (fence && r == VK_SUCCESS) {
        f.fd = fd >= 0 ? tp_fence_copy(fd) : -1;
        r = d->vk.ImportFenceFdKHR(d->handle, &f);
        if (r != VK_SUCCESS)
            tp_fence_close(f.fd);
    }
    return r;
}

static VkResult submit(struct tp_icd_device *d, VkSemaphore semaphore, VkFence fence)
{
    struct tp_icd_queue *q = d->own ? d->own : &d->queues[0];
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .signalSemaphoreCount = semaphore ? 1 : 0,
        .pSignalSemaphores = &semaphore};

    if (!semaphore && !fence)
        return VK_SUCCESS;
    pthread_mutex_lock(&q->lock);
    VkResult r = d->vk.QueueSubmit(q->handle, semaphore ? 1 : 0, &info, fence);
    pthread_mutex_unlock(&q->lock);
    return r;
}

/* What the GPU is to wait for, as one sync file, the caller's; -1: nothing. */
static int gather(struct tp_icd_swapchain *c, struct tp_slots_taken *image)
{
    int all = -1;

    if (image->implicit) {
        all = tp_fence_export(c->images[image->slot].buffer.stream.fd);
        if (all < 0)
            tp_icd_log_once("the kernel does not tell who reads an image; going on without");
    }
    for (unsigned i = 0; i < image->n_fences; i++) {
        int merged =
            all < 0 ? tp_fence_copy(image->fences[i]) : tp_fence_merge(all, image->fences[i]);
        if (merged < 0) {
            tp_fence_wait(image->fences[i]); /* on the CPU then */
        } else {
            tp_fence_close(all);
            all = merged;
        }
        tp_fence_close(image->fences[i]);
    }
    return all;
}

static VkResult signal(
    struct tp_icd_swapchain *c, struct tp_slots_taken *image, VkSemaphore semaphore, VkFence fence)
{
    struct tp_icd_device *d = c->device;
    int waits = gather(c, image);
    VkResult r;

    if (d->can_import_sync_fd) {
        r = import(d, waits, semaphore, fence);
    } else {
        tp_fence_wait(waits);
        r = submit(d, semaphore, fence);
    }
    /* The image goes back without what it waits for. */
    if (r != VK_SUCCESS)
        tp_fence_wait(waits);
    tp_fence_close(waits);
    if (r == VK_ERROR_DEVICE_LOST)
        tp_icd_swapchains_lost(d);
    return r;
}

/* --- getting one --- */

/* False: what the connection has to say comes first. */
static bool is_assured(struct tp_icd_swapchain *c)
{
    if (!c->hears || !tp_slots_doubtful(c->slots))
        return true;
    if (tp_scanout_look(c->watch))
        return false;
    tp_slots_assured(c->slots);
    return true;
}

/* Takes what the connection has to say. The lock is given up meanwhile. True: nothing else was
 * heard since, so that all of it counts. */
static bool drain(struct tp_icd_swapchain *c)
{
    uint32_t count = atomic_load(&c->waker.count);

    pthread_mutex_unlock(&c->lock);
    tp_scanout_drain(c->scanout);
    pthread_mutex_lock(&c->lock);
    if (count != atomic_load(&c->waker.count))
        return false;
    if (tp_scanout_look(c->watch) == -ENOTCONN)
        tp_slots_assured(c->slots); /* no server was to be found */
    return true;
}

/* With the lock held, which sleeps give up. *frame: the gate's. */
static VkResult get(struct tp_icd_swapchain *c, uint64_t timeout, struct tp_acquired *out)
{
    int64_t asked_ns = tp_icd_now_ns(), now = asked_ns;
    struct tp_slots_wait wait;
    struct tp_acquire a;
    /* The board tells the truth by itself, while its server lives; to read the socket is for those
     * that it does not satisfy. */
    bool drained = !c->hears || c->board;
    bool asked = false;

    tp_acquire_begin(&a, c->slots, c->gate, asked_ns, timeout);
    for (;;) {
        if (!drained || !is_assured(c)) {
            /* What the compositor has given back meanwhile may have a note before it. */
            drained = drain(c) || c->board;
            continue;
        }
        VkResult state = tp_icd_swapchain_state(c);
        if (state != VK_SUCCESS)
            return state;
        now = tp_icd_now_ns();
        switch (tp_acquire_step(&a, now, &wait, out)) {
        case TP_ACQUIRE_TAKEN:
            tp_icd_census_acquired(c->census, out, asked_ns, now);
            return VK_SUCCESS;
        case TP_ACQUIRE_NOT_READY:
            if (asked || !c->hears)
                return VK_NOT_READY;
            asked = true;
            drained = false;
            tp_acquire_begin(&a, c->slots, c->gate, tp_icd_now_ns(), timeout);
            continue;
        case TP_ACQUIRE_TIMEOUT:
            return VK_TIMEOUT;
        case TP_ACQUIRE_WAIT:
            break;
        }
        if (wait.channel && c->hears && !asked) {
            asked = true;
            drained = false;
            continue;
        }
        if (wait.ask && c->hears) {
            uint32_t count = atomic_load(&c->waker.count);
            pthread_mutex_unlock(&c->lock);
            tp_scanout_ask(c->watch, &wait.ask_name);
            pthread_mutex_lock(&c->lock);
            if (count != atomic_load(&c->waker.count)) {
                drained = c->board;
                continue;
            }
        }
        tp_waker_sleep(&c->waker, &c->lock, &wait, c->board);
        drained = !c->hears || c->board;
    }
}

static void log_incident(struct tp_icd_swapchain *c)
{
    if (tp_slots_incident(c->slots))
        tp_icd_log("the panel holds an image longer than it may; waiting on (release_timeouts)");
}

static VkResult acquire(struct tp_icd_swapchain *c, uint64_t timeout, VkSemaphore semaphore,
    VkFence fence, uint32_t *index)
{
    struct tp_acquired acquired;

    pthread_mutex_lock(&c->lock);
    tp_icd_swapchain_look(c);
    VkResult r = get(c, timeout, &acquired);
    log_incident(c);
    if (r == VK_SUCCESS) {
        struct tp_icd_image *image = &c->images[acquired.image.slot];
        image->frame = acquired.frame;
        image->committed = false;
    } else {
        tp_icd_census_counted(c->census);
    }
    bool suboptimal = c->suboptimal;
    pthread_mutex_unlock(&c->lock);
    if (r != VK_SUCCESS)
        return r;
    r = signal(c, &acquired.image, semaphore, fence);
    if (r != VK_SUCCESS) {
        pthread_mutex_lock(&c->lock);
        int64_t now = tp_icd_now_ns();
        tp_slots_returned(c->slots, acquired.image.slot, now);
        tp_icd_census_returned(c->census, acquired.image.slot, now);
        if (c->gate && acquired.frame)
            tp_gate_abandon(c->gate, acquired.frame);
        pthread_mutex_unlock(&c->lock);
        return tp_icd_answer(r, TP_MAY_LOSE_DEVICE);
    }
    *index = acquired.image.slot;
    return suboptimal ? VK_SUBOPTIMAL_KHR : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL acquire_next(VkDevice handle, VkSwapchainKHR swapchain,
    uint64_t timeout, VkSemaphore semaphore, VkFence fence, uint32_t *index)
{
    (void)handle;
    return acquire(tp_icd_swapchain_of(swapchain), timeout, semaphore, fence, index);
}

static VKAPI_ATTR VkResult VKAPI_CALL acquire_next2(
    VkDevice handle, const VkAcquireNextImageInfoKHR *info, uint32_t *index)
{
    (void)handle;
    return acquire(
        tp_icd_swapchain_of(info->swapchain), info->timeout, info->semaphore, info->fence, index);
}

static VKAPI_ATTR VkResult VKAPI_CALL release_images(
    VkDevice handle, const VkReleaseSwapchainImagesInfoEXT *info)
{
    struct tp_icd_swapchain *c = tp_icd_swapchain_of(info->swapchain);

    (void)handle;
    pthread_mutex_lock(&c->lock);
    int64_t now = tp_icd_now_ns();
    for (uint32_t i = 0; i < info->imageIndexCount; i++) {
        struct tp_icd_image *image = &c->images[info->pImageIndices[i]];
        tp_slots_returned(c->slots, info->pImageIndices[i], now);
        tp_icd_census_returned(c->census, info->pImageIndices[i], now);
        if (c->gate && image->frame)
            tp_gate_abandon(c->gate, image->frame);
        image->frame = 0;
    }
    tp_icd_swapchain_wake(c);
    pthread_mutex_unlock(&c->lock);
    return (VkResult)atomic_load(&c->surface->lost);
}

#define SWAPCHAIN TP_BIT(TP_EXT_SWAPCHAIN)
#define MAINTENANCE1 TP_BIT(TP_EXT_SWAPCHAIN_MAINTENANCE1)
const struct tp_icd_entry tp_icd_acquire_entries[] = {
    TP_ENTRY("AcquireNextImageKHR", acquire_next, TP_LEVEL_DEVICE, SWAPCHAIN),
    TP_ENTRY("AcquireNextImage2KHR", acquire_next2, TP_LEVEL_DEVICE, SWAPCHAIN),
    TP_ENTRY("ReleaseSwapchainImagesEXT", release_images, TP_LEVEL_DEVICE, MAINTENANCE1),
    TP_ENTRY("ReleaseSwapchainImagesKHR", release_images, TP_LEVEL_DEVICE, MAINTENANCE1),
    {0},
};
