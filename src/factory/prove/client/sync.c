/*
 * Fences, semaphores, timelines, events, and waits that must not come to an end too soon.
 */
#include <setjmp.h>
#include <signal.h>

#include "client.h"

#define ONCE VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT
#define MS INT64_C(1000000)

/* Recorded commands that take next to no time. */
static VkCommandBuffer make_small(struct tp_run *r, VkCommandBufferUsageFlags usage)
{
    struct tp_buffer b = tp_make_buffer(r, 4096, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    VkCommandBuffer commands = tp_begin(r, usage);
    r->vk->CmdFillBuffer(commands, b.buffer, 0, VK_WHOLE_SIZE, 1);
    tp_end(r, commands);
    return commands;
}

static void check_fence(struct tp_run *r)
{
    VkFence fence = tp_make_fence(r, VK_FENCE_CREATE_SIGNALED_BIT);
    TP_CALL_FOR(r, VK_SUCCESS, GetFenceStatus, r->device, fence);
    TP_CALL_FOR(r, VK_SUCCESS, WaitForFences, r->device, 1, &fence, VK_TRUE, 0);
    TP_CALL(r, ResetFences, r->device, 1, &fence);
    TP_CALL_FOR(r, VK_NOT_READY, GetFenceStatus, r->device, fence);
    for (unsigned i = 0; i < 3; i++) {
        tp_submit(r, i == 1 ? VK_NULL_HANDLE : make_small(r, ONCE), fence);
        tp_wait(r, fence);
        TP_CALL_FOR(r, VK_SUCCESS, GetFenceStatus, r->device, fence);
        TP_CALL(r, ResetFences, r->device, 1, &fence);
        TP_CALL_FOR(r, VK_NOT_READY, GetFenceStatus, r->device, fence);
    }
}

/* A fence that nobody signals: waits end when their time is up, and not before. */
static void check_fence_timeout(struct tp_run *r)
{
    VkFence both[] = {tp_make_fence(r, 0), tp_make_fence(r, VK_FENCE_CREATE_SIGNALED_BIT)};
    TP_CALL_FOR(r, VK_TIMEOUT, WaitForFences, r->device, 1, both, VK_TRUE, 0);
    int64_t start = tp_now_ns();
    TP_CALL_FOR(r, VK_TIMEOUT, WaitForFences, r->device, 1, both, VK_TRUE, 5 * MS);
    int64_t took = tp_now_ns() - start;
    if (took < 5 * MS)
        tp_failed(r, "vkWaitForFences: VK_TIMEOUT after %lld us of 5000",
                  (long long)(took / 1000));
    TP_CALL_FOR(r, VK_TIMEOUT, WaitForFences, r->device, 2, both, VK_TRUE, 0);
    TP_CALL_FOR(r, VK_TIMEOUT, WaitForFences, r->device, 2, both, VK_TRUE, MS);
    TP_CALL_FOR(r, VK_SUCCESS, WaitForFences, r->device, 2, both, VK_FALSE, 0);
    TP_CALL_FOR(r, VK_SUCCESS, WaitForFences, r->device, 2, both, VK_FALSE, MS);
    TP_CALL_FOR(r, VK_NOT_READY, GetFenceStatus, r->device, both[0]);
}

/* A submit that is known to take long is not done while it is under way. */
static void check_fence_pending(struct tp_run *r)
{
    unsigned slow_ms = r->client->options.slow_ms;
    if (!slow_ms)
        tp_skipped(r, "submits are not known to be slow (--slow-ms)");
    VkFence fence = tp_make_fence(r, 0);
    VkCommandBuffer commands = make_small(r, ONCE);
    int64_t start = tp_now_ns();
    tp_submit(r, commands, fence);
    VkResult status = r->vk->GetFenceStatus(r->device, fence);
    VkResult at_once = r->vk->WaitForFences(r->device, 1, &fence, VK_TRUE, 0);
    VkResult soon = r->vk->WaitForFences(r->device, 1, &fence, VK_TRUE, slow_ms * MS / 4);
    /* A machine that was busy elsewhere for so long proves nothing. */
    if (tp_now_ns() - start > slow_ms * MS)
        tp_note(r, "this machine is slower than the submit");
    else {
        tp_called_for(r, "vkGetFenceStatus", status, VK_NOT_READY);
        tp_called_for(r, "vkWaitForFences", at_once, VK_TIMEOUT);
        tp_called_for(r, "vkWaitForFences", soon, VK_TIMEOUT);
    }
    tp_wait(r, fence);
    if (tp_now_ns() - start < slow_ms * MS)
        tp_failed(r, "the fence came after %lld us, the submit takes %u ms",
                  (long long)((tp_now_ns() - start) / 1000), slow_ms);
}

#define FENCES 32

/* A submit with a fence, FENCES times. */
static void submit_fences(struct tp_run *r, VkFence *all)
{
    VkCommandBuffer commands = make_small(r, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    for (unsigned i = 0; i < FENCES; i++) {
        all[i] = tp_make_fence(r, 0);
        tp_submit(r, commands, all[i]);
    }
}

/* Fences of many submits, waited for all at once and one by one. */
static void check_fence_many(struct tp_run *r)
{
    VkFence all[FENCES];
    uint64_t ns = r->client->options.timeout_ms * (uint64_t)MS;
    submit_fences(r, all);
    TP_CALL_FOR(r, VK_SUCCESS, WaitForFences, r->device, FENCES, all, VK_TRUE, ns);
    for (unsigned i = 0; i < FENCES; i++)
        TP_CALL_FOR(r, VK_SUCCESS, GetFenceStatus, r->device, all[i]);
}

static sigjmp_buf divided;

static void leave_division(int number)
{
    (void)number;
    siglongjmp(divided, 1);
}

/* How long the wait below may take: all that it waits for has come before. */
#define ANY_MS 300

/*
 * Any of them, when all have come. Mesa's kgsl_syncobj_wait_any (tu_knl_kgsl.cc, 25.0.7 to 26.3)
 * takes the length of a vector that it did not make, 0 / 0: on x86-64 that is a trap, on arm64 it goes
 * on to poll nothing until the time is up, and then says VK_SUCCESS. The fact wait_any says which; the
 * check fails only where the result is wrong too.
 */
static void check_fence_any(struct tp_run *r)
{
    VkFence all[FENCES];
    struct sigaction trap = {.sa_handler = leave_division}, before;
    submit_fences(r, all);
    TP_CALL(r, QueueWaitIdle, r->queue);
    sigaction(SIGFPE, &trap, &before);
    int64_t start = tp_now_ns();
    volatile VkResult result = VK_SUCCESS;
    volatile bool trapped = true;
    if (!sigsetjmp(divided, 1)) {
        result = r->vk->WaitForFences(r->device, FENCES, all, VK_FALSE, ANY_MS * MS);
        trapped = false;
    }
    sigaction(SIGFPE, &before, NULL);
    bool slept = tp_now_ns() - start >= ANY_MS * MS / 2;
    tp_print_string("wait_any", trapped ? "traps" : slept ? "sleeps" : "works");
    if (trapped)
        tp_skipped(r, "vkWaitForFences for any of several divides by zero");
    tp_called_for(r, "vkWaitForFences", result, VK_SUCCESS);
    if (slept)
        tp_skipped(r, "vkWaitForFences for any of several sleeps until its time is up");
}

static VkSemaphore make_semaphore(struct tp_run *r)
{
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore semaphore;
    TP_MAKE(r, Semaphore, &info, &semaphore);
    return semaphore;
}

static const VkPipelineStageFlags everything = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;

/* FIRST signals, SECOND waits and signals a fence; several rounds with one semaphore. */
static void hand_over(struct tp_run *r, VkQueue first, VkQueue second)
{
    VkSemaphore semaphore = make_semaphore(r);
    VkFence fence = tp_make_fence(r, 0);
    VkCommandBuffer commands = make_small(r, 0);
    VkSubmitInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &semaphore,
    };
    VkSubmitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &semaphore,
        .pWaitDstStageMask = &everything,
    };
    for (unsigned i = 0; i < 4; i++) {
        TP_CALL(r, QueueSubmit, first, 1, &signal, VK_NULL_HANDLE);
        TP_CALL(r, QueueSubmit, second, 1, &wait, fence);
        tp_wait(r, fence);
        TP_CALL(r, ResetFences, r->device, 1, &fence);
    }
}

static void check_semaphore(struct tp_run *r)
{
    hand_over(r, r->queue, r->queue);
}

static void check_semaphore_queues(struct tp_run *r)
{
    const struct tp_client *client = r->client;
    VkQueue other = VK_NULL_HANDLE;
    if (client->families[r->family].queueCount > 1)
        r->vk->GetDeviceQueue(r->device, r->family, 1, &other);
    else if (client->family_count > 1)
        r->vk->GetDeviceQueue(r->device, r->family ? 0 : 1, 0, &other);
    else
        tp_skipped(r, "the device has one queue");
    hand_over(r, r->queue, other);
}

static void need_timeline(struct tp_run *r)
{
    if (!r->client->caps.timeline)
        tp_skipped(r, "timeline semaphores are not offered");
    TP_IS_THERE(r, SignalSemaphore);
}

static VkSemaphore make_timeline(struct tp_run *r, uint64_t value)
{
    VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
        .initialValue = value,
    };
    VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    VkSemaphore semaphore;
    TP_MAKE(r, Semaphore, &info, &semaphore);
    return semaphore;
}

static void expect_value(struct tp_run *r, VkSemaphore timeline, uint64_t wanted)
{
    uint64_t value = 0;
    TP_CALL(r, GetSemaphoreCounterValue, r->device, timeline, &value);
    if (value != wanted)
        tp_failed(r, "vkGetSemaphoreCounterValue: %llu, where %llu is right",
                  (unsigned long long)value, (unsigned long long)wanted);
}

static VkResult wait_for(struct tp_run *r, VkSemaphore timeline, uint64_t value, uint64_t ns)
{
    VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &timeline,
        .pValues = &value,
    };
    return TP_CALL(r, WaitSemaphores, r->device, &info, ns);
}

static void signal_from_host(struct tp_run *r, VkSemaphore timeline, uint64_t value)
{
    VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
        .semaphore = timeline,
        .value = value,
    };
    TP_CALL(r, SignalSemaphore, r->device, &info);
}

/* A submit that waits for WAIT (0: does not) and signals SIGNAL. */
static void submit_timeline(struct tp_run *r, VkCommandBuffer commands, VkSemaphore timeline,
                            uint64_t wait, uint64_t signal, VkFence fence)
{
    VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait ? 1 : 0,
        .pWaitSemaphoreValues = &wait,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &signal,
    };
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = wait ? 1 : 0,
        .pWaitSemaphores = &timeline,
        .pWaitDstStageMask = &everything,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &timeline,
    };
    TP_CALL(r, QueueSubmit, r->queue, 1, &info, fence);
}

static void check_timeline(struct tp_run *r)
{
    need_timeline(r);
    uint64_t ns = r->client->options.timeout_ms * (uint64_t)MS;
    VkSemaphore timeline = make_timeline(r, 5);
    VkCommandBuffer commands = make_small(r, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    expect_value(r, timeline, 5);
    submit_timeline(r, commands, timeline, 0, 6, VK_NULL_HANDLE);
    submit_timeline(r, commands, timeline, 6, 9, VK_NULL_HANDLE);
    tp_called_for(r, "vkWaitSemaphores", wait_for(r, timeline, 9, ns), VK_SUCCESS);
    expect_value(r, timeline, 9);
    tp_called_for(r, "vkWaitSemaphores", wait_for(r, timeline, 7, 0), VK_SUCCESS);
}

/* Signals and waits by the host alone. */
static void check_timeline_host(struct tp_run *r)
{
    need_timeline(r);
    VkSemaphore both[] = {make_timeline(r, 0), make_timeline(r, 0)};
    uint64_t values[] = {1, 1};
    tp_called_for(r, "vkWaitSemaphores", wait_for(r, both[0], 1, 0), VK_TIMEOUT);
    int64_t start = tp_now_ns();
    tp_called_for(r, "vkWaitSemaphores", wait_for(r, both[0], 1, 5 * MS), VK_TIMEOUT);
    if (tp_now_ns() - start < 5 * MS)
        tp_failed(r, "vkWaitSemaphores: VK_TIMEOUT after %lld us of 5000",
                  (long long)((tp_now_ns() - start) / 1000));
    signal_from_host(r, both[0], 1);
    expect_value(r, both[0], 1);
    tp_called_for(r, "vkWaitSemaphores", wait_for(r, both[0], 1, 0), VK_SUCCESS);
    VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .flags = VK_SEMAPHORE_WAIT_ANY_BIT,
        .semaphoreCount = 2,
        .pSemaphores = both,
        .pValues = values,
    };
    TP_CALL_FOR(r, VK_SUCCESS, WaitSemaphores, r->device, &info, MS);
    info.flags = 0;
    TP_CALL_FOR(r, VK_TIMEOUT, WaitSemaphores, r->device, &info, MS);
}

/* A submit that waits for what is signalled after it: its fence does not come before. */
static void check_timeline_ahead(struct tp_run *r)
{
    need_timeline(r);
    VkSemaphore timeline = make_timeline(r, 0);
    VkFence fence = tp_make_fence(r, 0);
    VkCommandBuffer commands = make_small(r, ONCE);
    r->timeline = timeline;
    submit_timeline(r, commands, timeline, 1, 2, fence);
    TP_CALL_FOR(r, VK_NOT_READY, GetFenceStatus, r->device, fence);
    TP_CALL_FOR(r, VK_TIMEOUT, WaitForFences, r->device, 1, &fence, VK_TRUE, 0);
    TP_CALL_FOR(r, VK_TIMEOUT, WaitForFences, r->device, 1, &fence, VK_TRUE, 10 * MS);
    expect_value(r, timeline, 0);
    signal_from_host(r, timeline, 1);
    tp_wait(r, fence);
    tp_called_for(r, "vkWaitSemaphores",
                  wait_for(r, timeline, 2, r->client->options.timeout_ms * (uint64_t)MS),
                  VK_SUCCESS);
    expect_value(r, timeline, 2);
    TP_CALL(r, QueueWaitIdle, r->queue);
}

static VkEvent make_event(struct tp_run *r)
{
    VkEventCreateInfo info = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    VkEvent event;
    TP_MAKE(r, Event, &info, &event);
    return event;
}

static void check_event_host(struct tp_run *r)
{
    VkEvent event = make_event(r);
    for (unsigned i = 0; i < 2; i++) {
        TP_CALL_FOR(r, VK_EVENT_RESET, GetEventStatus, r->device, event);
        TP_CALL(r, SetEvent, r->device, event);
        TP_CALL_FOR(r, VK_EVENT_SET, GetEventStatus, r->device, event);
        TP_CALL(r, ResetEvent, r->device, event);
    }
}

/* Set by one submit, waited for and reset by others. */
static void check_event(struct tp_run *r)
{
    bool written = r->client->options.effects >= TP_EFFECTS_EVENTS;
    VkEvent event = make_event(r);
    VkCommandBuffer commands = tp_begin(r, ONCE);
    r->vk->CmdSetEvent(commands, event, VK_PIPELINE_STAGE_TRANSFER_BIT);
    tp_finish(r, commands);
    if (written)
        TP_CALL_FOR(r, VK_EVENT_SET, GetEventStatus, r->device, event);
    commands = tp_begin(r, ONCE);
    r->vk->CmdWaitEvents(commands, 1, &event, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0, NULL, 0, NULL, 0, NULL);
    tp_finish(r, commands);
    commands = tp_begin(r, ONCE);
    r->vk->CmdResetEvent(commands, event, VK_PIPELINE_STAGE_TRANSFER_BIT);
    tp_finish(r, commands);
    if (written)
        TP_CALL_FOR(r, VK_EVENT_RESET, GetEventStatus, r->device, event);
}

const struct tp_check tp_sync_checks[] = {
    {"fence", "made, submitted, waited for, reset", check_fence},
    {"fence_timeout", "waits for a fence that does not come", check_fence_timeout},
    {"fence_pending", "a slow submit's fence (--slow-ms)", check_fence_pending},
    {"fence_many", "32 submits, 32 fences, all waited for", check_fence_many},
    {"fence_any", "32 submits, 32 fences, any waited for", check_fence_any},
    {"semaphore", "from one submit to the next", check_semaphore},
    {"semaphore_queues", "from one queue to another", check_semaphore_queues},
    {"timeline", "signalled and waited for by submits", check_timeline},
    {"timeline_host", "signalled and waited for by the host", check_timeline_host},
    {"timeline_ahead", "a submit before its signal", check_timeline_ahead},
    {"event_host", "set and reset by the host", check_event_host},
    {"event", "set, waited for, reset by submits", check_event},
    {0},
};
