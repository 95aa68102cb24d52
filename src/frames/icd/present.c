/*
 * vkQueuePresentKHR. The submit that waits for the guest's semaphores gives a sync file, which goes
 * to the target with the picture; or, where driver or target have no such thing, a fence, for which
 * a thread of the swapchain waits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frames/icd/fence.h"
#include "frames/icd/loop.h"
#include "frames/icd/swapchain.h"

/* What the chain of a present says of one of its swapchains. */
struct asked {
    uint64_t id;
    const VkPresentTimeGOOGLE *time;
    const VkPresentRegionKHR *region;
    VkFence fence;
    VkPresentModeKHR mode;
};

static struct asked ask(const VkPresentInfoKHR *info, uint32_t i, const struct tp_icd_swapchain *c)
{
    const VkPresentIdKHR *ids = tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_PRESENT_ID_KHR);
    const VkPresentTimesInfoGOOGLE *times =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_PRESENT_TIMES_INFO_GOOGLE);
    const VkPresentRegionsKHR *regions =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_PRESENT_REGIONS_KHR);
    const VkSwapchainPresentFenceInfoEXT *fences =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_FENCE_INFO_EXT);
    const VkSwapchainPresentModeInfoEXT *modes =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_MODE_INFO_EXT);

    return (struct asked){
        .id = ids && ids->pPresentIds ? ids->pPresentIds[i] : 0,
        .time = times && times->pTimes ? &times->pTimes[i] : NULL,
        .region = regions && regions->pRegions ? &regions->pRegions[i] : NULL,
        .fence = fences ? fences->pFences[i] : VK_NULL_HANDLE,
        .mode = modes && c->mode_may_change ? modes->pPresentModes[i] : c->mode,
    };
}

/* --- the submit --- */

static bool direct(const struct tp_icd_swapchain *c)
{
    return c->device->can_export_sync_fd && c->takes_fences && c->pool.kind != TP_BUFFER_COPY;
}

/* The image's fence, not signalled and not in use. */
static VkResult prepare_fence(struct tp_icd_device *d, struct tp_icd_image *image)
{
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};

    if (!image->fence)
        return d->vk.CreateFence(d->handle, &info, NULL, &image->fence);
    if (!image->fence_in_use)
        return VK_SUCCESS;
    VkResult r = d->vk.WaitForFences(d->handle, 1, &image->fence, VK_TRUE, UINT64_MAX);
    if (r == VK_SUCCESS)
        r = d->vk.ResetFences(d->handle, 1, &image->fence);
    image->fence_in_use = r != VK_SUCCESS;
    return r;
}

static VkResult prepare_semaphore(
    struct tp_icd_device *d, struct tp_icd_image *image, bool exports)
{
    VkExportSemaphoreCreateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = exports ? &export : NULL};

    return image->semaphore ? VK_SUCCESS
                            : d->vk.CreateSemaphore(d->handle, &info, NULL, &image->semaphore);
}

/* The image's copy, for queues of this family. */
static VkResult prepare_copy(
    struct tp_icd_swapchain *c, struct tp_icd_image *image, uint32_t family)
{
    struct tp_icd_device *d = c->device;
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = family};
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandBufferCount = 1};
    VkResult r = VK_SUCCESS;

    if (image->commands && image->family == family)
        return VK_SUCCESS;
    if (family >= sizeof c->pools / sizeof *c->pools)
        return VK_ERROR_INITIALIZATION_FAILED;
    if (!c->pools[family])
        r = d->vk.CreateCommandPool(d->handle, &pool, NULL, &c->pools[family]);
    info.commandPool = c->pools[family];
    if (r == VK_SUCCESS)
        r = d->vk.AllocateCommandBuffers(d->handle, &info, &image->commands);
    image->family = family;
    return r != VK_SUCCESS ? r : tp_icd_buffer_record(&c->pool, &image->buffer, image->commands);
}

/* The guest's semaphores, waited for once: by the first submit. */
struct waits {
    uint32_t n;
    const VkSemaphore *semaphores;
};

static VkResult submit_waits(
    struct tp_icd_queue *q, struct waits *waits, VkSubmitInfo *info, VkFence fence)
{
    VkPipelineStageFlags few[16], *stages = few;

    if (waits->n > 16)
        stages = malloc(waits->n * sizeof *stages);
    if (!stages)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < waits->n; i++)
        stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    info->sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info->waitSemaphoreCount = waits->n;
    info->pWaitSemaphores = waits->semaphores;
    info->pWaitDstStageMask = stages;
    tp_icd_queue_lock(q);
    VkResult r = q->device->vk.QueueSubmit(q->handle, 1, info, fence);
    tp_icd_queue_unlock(q);
    if (stages != few)
        free(stages);
    if (r == VK_SUCCESS)
        waits->n = 0;
    return r;
}

/* On the queue that copies, behind what has given its semaphore. */
static VkResult submit_copy(struct tp_icd_queue *copier, struct tp_icd_image *image)
{
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &image->semaphore,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &image->commands};

    pthread_mutex_lock(&copier->lock);
    VkResult r = copier->device->vk.QueueSubmit(copier->handle, 1, &info, image->fence);
    pthread_mutex_unlock(&copier->lock);
    /* The guest's semaphores have been waited for: there is no way back. */
    return r == VK_SUCCESS ? r : VK_ERROR_DEVICE_LOST;
}

static VkResult submit(struct tp_icd_swapchain *c, struct tp_icd_queue *q,
    struct tp_icd_image *image, struct waits *waits)
{
    struct tp_icd_queue *copier = c->pool.copier;
    VkSubmitInfo info = {0};
    VkResult r = prepare_fence(c->device, image);

    if (r == VK_SUCCESS && (direct(c) || copier)) {
        r = prepare_semaphore(c->device, image, direct(c));
        info.signalSemaphoreCount = 1;
        info.pSignalSemaphores = &image->semaphore;
    }
    if (r == VK_SUCCESS && c->pool.kind == TP_BUFFER_COPY)
        r = prepare_copy(c, image, copier ? copier->family : q->family);
    if (c->pool.kind == TP_BUFFER_COPY && !copier) {
        info.commandBufferCount = 1;
        info.pCommandBuffers = &image->commands;
    }
    if (r == VK_SUCCESS)
        r = submit_waits(q, waits, &info, copier ? VK_NULL_HANDLE : image->fence);
    if (r == VK_SUCCESS && copier)
        r = submit_copy(copier, image);
    image->fence_in_use = image->fence_in_use || r == VK_SUCCESS;
    return r;
}

/* Of the picture's rendering; -1: it is done. */
static int sync_file(struct tp_icd_device *d, struct tp_icd_image *image, VkResult *r)
{
    VkSemaphoreGetFdInfoKHR get = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
        .semaphore = image->semaphore,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT};
    int fd = -1;

    *r = d->vk.GetSemaphoreFdKHR(d->handle, &get, &fd);
    if (*r == VK_SUCCESS)
        return fd;
    /* There is no descriptor to be had. The guest's semaphores have been waited for: the picture
     * must go out, after a wait on the processor. The semaphore keeps its signal. */
    d->vk.DestroySemaphore(d->handle, image->semaphore, NULL);
    image->semaphore = VK_NULL_HANDLE;
    *r = d->vk.WaitForFences(d->handle, 1, &image->fence, VK_TRUE, UINT64_MAX);
    return -1;
}

/* --- to the target --- */

/* It will not be shown: its image is free again. */
static void give_up(struct tp_icd_swapchain *c, const struct tp_picture *p)
{
    pthread_mutex_lock(&c->lock);
    if (!c->images[p->index].committed)
        tp_slots_returned(c->slots, p->index, tp_icd_now_ns());
    tp_icd_record_end(c, p->serial, NULL);
    tp_icd_swapchain_wake(c);
    pthread_mutex_unlock(&c->lock);
}

static VkResult hand_over(struct tp_icd_swapchain *c, const struct tp_picture *p)
{
    int err = c->surface->target->ops->present(c->stream, p);

    if (!err)
        return VK_SUCCESS;
    give_up(c, p);
    return tp_icd_swapchain_failed(c, err);
}

static void ready(struct tp_icd_swapchain *c, uint64_t serial, int64_t ready_ns)
{
    struct tp_icd_record *record = tp_icd_record_find(c, serial);

    if (!record)
        return;
    record->ready_ns = ready_ns;
    tp_icd_census_ready(c->census, serial, ready_ns);
    if (c->gate && record->frame)
        tp_gate_ready(c->gate, record->frame, ready_ns);
}

void tp_icd_swapchain_look(struct tp_icd_swapchain *c)
{
    for (uint32_t i = 0; i < c->n_images; i++) {
        struct tp_icd_image *image = &c->images[i];
        int64_t time = image->ready >= 0 ? tp_fence_time_ns(image->ready) : INT64_MIN;
        if (time == INT64_MIN)
            continue;
        ready(c, image->ready_serial, time);
        tp_fence_close(image->ready);
        image->ready = -1;
    }
}

/* A job's turn: the GPU is waited for, and the copy goes the rest of its way. */
static void work_on(struct tp_icd_swapchain *c, struct tp_queued *job)
{
    struct tp_icd_device *d = c->device;
    struct tp_icd_image *image = &c->images[job->picture.index];
    VkResult r = d->vk.WaitForFences(d->handle, 1, &image->fence, VK_TRUE, UINT64_MAX);

    if (r == VK_SUCCESS)
        r = d->vk.ResetFences(d->handle, 1, &image->fence);
    if (r != VK_SUCCESS) {
        if (r == VK_ERROR_DEVICE_LOST)
            tp_icd_swapchains_lost(d);
        give_up(c, &job->picture);
        return;
    }
    image->fence_in_use = false;
    if (c->pool.kind == TP_BUFFER_COPY)
        tp_icd_buffer_flush(&c->pool, &image->buffer);
    pthread_mutex_lock(&c->lock);
    ready(c, job->picture.serial, tp_icd_now_ns());
    pthread_mutex_unlock(&c->lock);
    hand_over(c, &job->picture);
}

static void *work(void *data)
{
    struct tp_icd_swapchain *c = data;

    pthread_setname_np(pthread_self(), "tp-present");
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (!c->jobs.first && !c->ends)
            pthread_cond_wait(&c->work, &c->lock);
        struct tp_queued *job = tp_present_queue_drain(&c->jobs);
        if (!job)
            break;
        pthread_mutex_unlock(&c->lock);
        for (struct tp_queued *next; job; job = next) {
            next = job->next;
            work_on(c, job);
            tp_queued_free(job);
        }
        pthread_mutex_lock(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

void tp_icd_swapchain_stop(struct tp_icd_swapchain *c)
{
    if (!c->working)
        return;
    pthread_mutex_lock(&c->lock);
    c->ends = true;
    pthread_cond_signal(&c->work);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->worker, NULL);
    c->working = false;
}

/* Before anything has happened, so that it may fail. */
static VkResult prepare_worker(struct tp_icd_swapchain *c)
{
    if (direct(c) || c->working)
        return VK_SUCCESS;
    pthread_mutex_lock(&c->lock);
    c->working = !tp_thread_start(&c->worker, work, c);
    pthread_mutex_unlock(&c->lock);
    return c->working ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static int give_to_worker(struct tp_icd_swapchain *c, const struct tp_picture *p)
{
    pthread_mutex_lock(&c->lock);
    int r = tp_present_queue_put(&c->jobs, p);
    pthread_mutex_unlock(&c->lock);
    if (!r)
        pthread_cond_signal(&c->work); /* who is woken finds the lock free */
    return r;
}

/* --- one swapchain's part of a present --- */

/* Not before the application wants it, nor while the picture before has its refreshes yet. */
static int64_t earliest(const struct tp_icd_swapchain *c, const struct tp_icd_record *record)
{
    struct tp_gate_frame frame;

    if (c->gate && record->frame && tp_gate_frame(c->gate, record->frame, &frame) &&
        frame.commit_ns > record->desired_ns)
        return frame.commit_ns;
    return record->desired_ns;
}

/* Books it, and describes its picture. Answers until when the present is held, or something past.
 * With the lock held. */
static int64_t book(struct tp_icd_swapchain *c, uint32_t index, const struct asked *a,
    int64_t entry_ns, struct tp_picture *p)
{
    struct tp_icd_image *image = &c->images[index];
    struct tp_icd_record *record = tp_icd_record_begin(c);
    int64_t now = tp_icd_now_ns(), held = INT64_MIN;

    if (a->mode != c->mode) {
        c->mode = a->mode;
        tp_icd_swapchain_pace(c);
    }
    tp_slots_presented(c->slots, index, now);
    if (c->gate && image->frame) {
        tp_gate_presented(c->gate, image->frame, entry_ns, now);
        held = tp_gate_hold(c->gate, image->frame, now);
    }
    tp_icd_census_presented(c->census, index, entry_ns, now, held);
    record->frame = image->frame;
    record->id = a->id;
    record->timed = a->time;
    record->timing_id = a->time ? a->time->presentID : 0;
    record->desired_ns = a->time ? (int64_t)a->time->desiredPresentTime : 0;
    *p = (struct tp_picture){
        .index = index,
        .serial = record->serial,
        .fence = -1,
        .mode = a->mode,
        .not_before_ns = earliest(c, record),
        .damage = a->region ? a->region->pRectangles : NULL,
        .n_damage = a->region && a->region->pRectangles ? a->region->rectangleCount : 0,
        .hdr = c->hdr_new ? &c->hdr : NULL,
    };
    c->hdr_new = false;
    return held;
}

/* The guest's own fence of this present. */
static VkResult signal_fence(struct tp_icd_queue *q, VkFence fence)
{
    if (!fence)
        return VK_SUCCESS;
    tp_icd_queue_lock(q);
    VkResult r = q->device->vk.QueueSubmit(q->handle, 0, NULL, fence);
    tp_icd_queue_unlock(q);
    return r;
}

/* A copy of its sync file, to learn when the picture was complete. */
static void keep(struct tp_icd_swapchain *c, struct tp_icd_image *image, const struct tp_picture *p)
{
    int copy = p->fence >= 0 ? tp_fence_copy(p->fence) : -1;

    pthread_mutex_lock(&c->lock);
    tp_fence_close(image->ready);
    image->ready = copy < 0 ? -1 : copy;
    image->ready_serial = p->serial;
    if (p->fence < 0)
        ready(c, p->serial, tp_icd_now_ns()); /* as GetSemaphoreFd says it: it has signalled */
    pthread_mutex_unlock(&c->lock);
}

static VkResult present_one(struct tp_icd_swapchain *c, struct tp_icd_queue *q, uint32_t index,
    const struct asked *a, struct waits *waits, int64_t entry_ns, int64_t *held_ns)
{
    struct tp_icd_image *image = &c->images[index];
    struct tp_picture picture;

    /* Also where nothing can be shown: the semaphores are waited for all the same. */
    VkResult r = prepare_worker(c);
    if (r == VK_SUCCESS)
        r = submit(c, q, image, waits);
    /* Running out of memory would say that nothing has happened, which is not so any more. */
    if (r == VK_SUCCESS && signal_fence(q, a->fence) != VK_SUCCESS)
        r = VK_ERROR_DEVICE_LOST;
    if (r == VK_ERROR_DEVICE_LOST)
        tp_icd_swapchains_lost(c->device);
    pthread_mutex_lock(&c->lock);
    VkResult state = tp_icd_swapchain_state(c);
    if (r == VK_SUCCESS)
        r = state;
    if (r != VK_SUCCESS) {
        /* The image is free again, but for running out of memory, where nothing has happened. */
        if (r != VK_ERROR_OUT_OF_HOST_MEMORY && r != VK_ERROR_OUT_OF_DEVICE_MEMORY) {
            int64_t now = tp_icd_now_ns();
            tp_slots_returned(c->slots, index, now);
            tp_icd_census_returned(c->census, index, now);
        }
        tp_icd_swapchain_wake(c);
        pthread_mutex_unlock(&c->lock);
        return r;
    }
    int64_t held = book(c, index, a, entry_ns, &picture);
    *held_ns = held > *held_ns ? held : *held_ns;
    bool suboptimal = c->suboptimal;
    pthread_mutex_unlock(&c->lock);
    if (direct(c)) {
        picture.fence = sync_file(c->device, image, &r);
        if (r == VK_SUCCESS) {
            keep(c, image, &picture);
            r = hand_over(c, &picture);
        } else {
            give_up(c, &picture);
        }
    } else {
        int err = give_to_worker(c, &picture);
        if (err) {
            give_up(c, &picture);
            r = tp_icd_swapchain_failed(c, err);
        }
    }
    return r == VK_SUCCESS && suboptimal ? VK_SUBOPTIMAL_KHR : r;
}

/* Which of two results the whole present has: the one that comes first in this list. */
static VkResult worse(VkResult a, VkResult b)
{
    static const VkResult order[] = {VK_ERROR_DEVICE_LOST, VK_ERROR_SURFACE_LOST_KHR,
        VK_ERROR_OUT_OF_DATE_KHR, VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY,
        VK_ERROR_UNKNOWN, VK_SUBOPTIMAL_KHR};

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (a == order[i] || b == order[i])
            return order[i];
    }
    return VK_SUCCESS;
}

/* What renders before it acquires begins its next frame when its present returns. */
static void sleep_until(int64_t at_ns)
{
    if (at_ns <= tp_icd_now_ns())
        return;
    struct timespec t = {at_ns / 1000000000, at_ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_present(VkQueue handle, const VkPresentInfoKHR *info)
{
    struct tp_icd_queue *q = tp_icd_queue_get(handle);
    struct waits waits = {info->waitSemaphoreCount, info->pWaitSemaphores};
    int64_t entry = tp_icd_now_ns(), held = INT64_MIN;
    VkResult all = VK_SUCCESS;

    for (uint32_t i = 0; i < info->swapchainCount; i++) {
        struct tp_icd_swapchain *c = tp_icd_swapchain_of(info->pSwapchains[i]);
        struct asked a = ask(info, i, c);
        VkResult r =
            tp_icd_answer(present_one(c, q, info->pImageIndices[i], &a, &waits, entry, &held),
                TP_MAY_LOSE_DEVICE | TP_MAY_LOSE_SURFACE | TP_MAY_BE_OUT_OF_DATE);
        if (info->pResults)
            info->pResults[i] = r;
        all = worse(all, r);
    }
    sleep_until(held);
    return all;
}

const struct tp_icd_entry tp_icd_present_entries[] = {
    TP_ENTRY("QueuePresentKHR", queue_present, TP_LEVEL_DEVICE, TP_BIT(TP_EXT_SWAPCHAIN)),
    {0},
};
