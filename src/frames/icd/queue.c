/*
 * The application's queues, where acquires are signalled on one of them: the specification lets the
 * application use a queue on one thread at a time, and knows nothing of ours. These are intercepted
 * only then; waiting for the device, where a queue of our own is all that we use, too.
 */
#include "frames/icd/internal.h"

static VKAPI_ATTR VkResult VKAPI_CALL submit(
    VkQueue handle, uint32_t n, const VkSubmitInfo *infos, VkFence fence)
{
    struct tp_icd_queue *q = tp_icd_queue_get(handle);

    tp_icd_queue_lock(q);
    VkResult r = q->device->vk.QueueSubmit(handle, n, infos, fence);
    tp_icd_queue_unlock(q);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL submit2(
    VkQueue handle, uint32_t n, const VkSubmitInfo2 *infos, VkFence fence)
{
    struct tp_icd_queue *q = tp_icd_queue_get(handle);

    tp_icd_queue_lock(q);
    VkResult r = q->device->vk.QueueSubmit2(handle, n, infos, fence);
    tp_icd_queue_unlock(q);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL bind_sparse(
    VkQueue handle, uint32_t n, const VkBindSparseInfo *infos, VkFence fence)
{
    struct tp_icd_queue *q = tp_icd_queue_get(handle);

    tp_icd_queue_lock(q);
    VkResult r = q->device->vk.QueueBindSparse(handle, n, infos, fence);
    tp_icd_queue_unlock(q);
    return r;
}

/* Not under the lock: what it waits for may itself wait for an acquire on another thread. */
static VkResult wait_idle(struct tp_icd_queue *q)
{
    struct tp_icd_device *d = q->device;
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;
    VkResult r = d->vk.CreateFence(d->handle, &info, NULL, &fence);

    if (r != VK_SUCCESS)
        return r;
    pthread_mutex_lock(&q->lock);
    r = d->vk.QueueSubmit(q->handle, 0, NULL, fence);
    pthread_mutex_unlock(&q->lock);
    if (r == VK_SUCCESS)
        r = d->vk.WaitForFences(d->handle, 1, &fence, VK_TRUE, UINT64_MAX);
    d->vk.DestroyFence(d->handle, fence, NULL);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_wait_idle(VkQueue handle)
{
    struct tp_icd_queue *q = tp_icd_queue_get(handle);

    return q->device->share_queues ? wait_idle(q) : q->device->vk.QueueWaitIdle(handle);
}

/* The driver's own uses all queues, ours among them, of which the application knows nothing: its
 * other threads may acquire meanwhile. */
static VKAPI_ATTR VkResult VKAPI_CALL device_wait_idle(VkDevice handle)
{
    struct tp_icd_device *d = tp_icd_device_get(handle);
    VkResult r = VK_SUCCESS;

    if (!d->share_queues && !d->own && !d->copier)
        return d->vk.DeviceWaitIdle(handle);
    for (uint32_t i = 0; i < d->n_queues && r == VK_SUCCESS; i++)
        r = queue_wait_idle(d->queues[i].handle);
    if (r == VK_SUCCESS && d->own)
        r = wait_idle(d->own);
    if (r == VK_SUCCESS && d->copier)
        r = wait_idle(d->copier);
    return r;
}

const struct tp_icd_entry tp_icd_queue_entries[] = {
    TP_ENTRY("QueueSubmit", submit, TP_LEVEL_DEVICE, TP_WHEN_SHARED),
    TP_ENTRY("QueueSubmit2", submit2, TP_LEVEL_DEVICE, TP_WHEN_SHARED | TP_WHEN_DRIVER),
    TP_ENTRY("QueueSubmit2KHR", submit2, TP_LEVEL_DEVICE, TP_WHEN_SHARED | TP_WHEN_DRIVER),
    TP_ENTRY("QueueBindSparse", bind_sparse, TP_LEVEL_DEVICE, TP_WHEN_SHARED),
    TP_ENTRY("QueueWaitIdle", queue_wait_idle, TP_LEVEL_DEVICE, TP_WHEN_SHARED),
    TP_ENTRY("DeviceWaitIdle", device_wait_idle, TP_LEVEL_DEVICE, TP_WHEN_SUBMITTING),
    {0},
};
