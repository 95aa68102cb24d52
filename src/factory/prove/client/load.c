/*
 * Many submits, and many threads.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "client.h"

#define QUEUES_MAX 16
/* After so many submits the client waits for them. */
#define IN_FLIGHT 128

/* Submits COUNT times; empty submits have a fence alone. */
static void submit_many(struct tp_run *r, unsigned count, bool empty)
{
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkFence fence = tp_make_fence(r, 0);
    if (!empty) {
        struct tp_buffer b = tp_make_buffer(r, 256, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
        commands = tp_begin(r, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
        r->vk->CmdFillBuffer(commands, b.buffer, 0, VK_WHOLE_SIZE, 1);
        tp_end(r, commands);
    }
    for (unsigned i = 1; i <= count; i++) {
        bool last = i == count || i % IN_FLIGHT == 0;
        tp_submit(r, commands, last ? fence : VK_NULL_HANDLE);
        if (!last)
            continue;
        tp_wait(r, fence);
        TP_CALL(r, ResetFences, r->device, 1, &fence);
    }
    tp_note(r, "%u", count);
}

static void check_submits(struct tp_run *r)
{
    if (!r->client->options.submits)
        tp_skipped(r, "not asked for (--submits)");
    submit_many(r, r->client->options.submits, false);
}

static void check_empty_submits(struct tp_run *r)
{
    if (!r->client->options.empty_submits)
        tp_skipped(r, "not asked for (--empty-submits)");
    submit_many(r, r->client->options.empty_submits, true);
}

struct worker {
    pthread_t thread;
    bool started;
    struct tp_run run;
};

/* A thread's work: pools, buffers, pipelines, dispatches and submits of its own. */
static void work(struct tp_run *r)
{
    unsigned submits = r->client->options.submits ? r->client->options.submits : 50;
    for (unsigned i = 0; i < 4; i++) {
        struct tp_buffer b = tp_make_buffer(r, 16384, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
        struct tp_binding data = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .buffer = b.buffer};
        struct tp_compute fill = tp_make_compute(r, "fill.comp", &data, 1);
        VkCommandBuffer commands = tp_begin(r, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        tp_bind_compute(r, commands, &fill, i);
        r->vk->CmdDispatch(commands, 64, 1, 1);
        tp_host_barrier(r, commands);
        tp_finish(r, commands);
        const uint32_t *word = b.map;
        if (r->client->options.effects == TP_EFFECTS_ALL && word[4095] != 4095 * 3 + i)
            tp_failed(r, "the shader's output: %u, where %u is right", word[4095], 4095 * 3 + i);
    }
    submit_many(r, submits, false);
    TP_CALL(r, QueueWaitIdle, r->queue);
}

static void *run_worker(void *worker)
{
    tp_run_execute(&((struct worker *)worker)->run, work);
    return NULL;
}

struct devices {
    VkDevice *all; /* beside the client's */
    unsigned count;
};

/* A queue for each worker: the client's device's first, then those of further devices. */
static void give_queues(struct tp_run *r, struct worker *workers, unsigned count,
                        struct devices *devices)
{
    struct tp_client *client = r->client;
    uint32_t each = client->families[client->family].queueCount;
    VkDevice device = r->device;
    each = each < QUEUES_MAX ? each : QUEUES_MAX;
    for (unsigned i = 0; i < count; i++) {
        if (i && i % each == 0) {
            VkResult result = tp_device_create(client, &device);
            if (result != VK_SUCCESS) {
                snprintf(r->detail, sizeof r->detail, "vkCreateDevice: %s",
                         tp_vk_result(result));
                r->failed = true;
                return;
            }
            devices->all[devices->count++] = device;
        }
        struct tp_run *run = &workers[i].run;
        *run = (struct tp_run){
            .client = client, .vk = r->vk, .device = device, .family = client->family};
        r->vk->GetDeviceQueue(device, client->family, i % each, &run->queue);
        int error = pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]);
        workers[i].started = !error;
        if (error) {
            snprintf(r->detail, sizeof r->detail, "pthread_create: %s", strerror(error));
            r->failed = true;
            return;
        }
    }
}

static void check_threads(struct tp_run *r)
{
    unsigned count = r->client->options.threads;
    if (!count)
        tp_skipped(r, "not asked for (--threads)");
    struct worker *workers = tp_heap(r, count, sizeof *workers);
    struct devices devices = {.all = tp_heap(r, count, sizeof *devices.all)};
    give_queues(r, workers, count, &devices);
    for (unsigned i = 0; i < count && workers[i].started; i++) {
        pthread_join(workers[i].thread, NULL);
        if (!workers[i].run.failed || r->failed)
            continue;
        r->failed = true;
        snprintf(r->detail, sizeof r->detail, "thread %u: %.350s", i, workers[i].run.detail);
    }
    for (unsigned i = 0; i < devices.count; i++)
        r->vk->DestroyDevice(devices.all[i], NULL);
    if (!r->failed)
        tp_note(r, "%u threads, %u devices", count, devices.count + 1);
}

const struct tp_check tp_load_checks[] = {
    {"submits", "many submits with a small command buffer (--submits)", check_submits},
    {"empty_submits", "many submits without commands (--empty-submits)", check_empty_submits},
    {"threads", "threads with a queue each (--threads)", check_threads},
    {0},
};
