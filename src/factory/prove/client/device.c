/*
 * Devices and their queues.
 */
#include <string.h>

#include "client.h"

#define QUEUES_MAX 16

static const float priorities[QUEUES_MAX] = {0.5f};

/* One create info a family, all its queues. */
static uint32_t describe_queues(const struct tp_client *client, VkDeviceQueueCreateInfo *infos)
{
    for (uint32_t i = 0; i < client->family_count; i++) {
        uint32_t count = client->families[i].queueCount;
        infos[i] = (VkDeviceQueueCreateInfo){
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
            .queueFamilyIndex = i,
            .queueCount = count < QUEUES_MAX ? count : QUEUES_MAX,
            .pQueuePriorities = priorities,
        };
    }
    return client->family_count;
}

/* The extensions that the checks use, those that the driver offers with what they require. */
static uint32_t used_extensions(const struct tp_client *client, const char **names)
{
    static const struct {
        const char *name;
        uint32_t core; /* where it became core; 0: never */
        bool multiview; /* is required */
    } used[] = {
        /* Which the others need on a device of Vulkan 1.0. */
        {"VK_KHR_maintenance2", VK_API_VERSION_1_1},
        {"VK_KHR_multiview", VK_API_VERSION_1_1},
        {"VK_KHR_external_memory", VK_API_VERSION_1_1},
        {"VK_KHR_external_fence", VK_API_VERSION_1_1},
        {"VK_KHR_external_semaphore", VK_API_VERSION_1_1},
        {"VK_KHR_get_memory_requirements2", VK_API_VERSION_1_1},
        {"VK_KHR_dedicated_allocation", VK_API_VERSION_1_1},
        {"VK_KHR_timeline_semaphore", VK_API_VERSION_1_2},
        {"VK_EXT_host_query_reset", VK_API_VERSION_1_2},
        {"VK_KHR_shader_atomic_int64", VK_API_VERSION_1_2},
        {"VK_KHR_driver_properties", VK_API_VERSION_1_2},
        {"VK_KHR_depth_stencil_resolve", VK_API_VERSION_1_2, true},
        {"VK_KHR_create_renderpass2", VK_API_VERSION_1_2, true},
        {"VK_KHR_dynamic_rendering", VK_API_VERSION_1_3, true},
        {"VK_KHR_synchronization2", VK_API_VERSION_1_3},
        {"VK_EXT_shader_image_atomic_int64", 0},
        {"VK_EXT_calibrated_timestamps", 0},
        {"VK_KHR_calibrated_timestamps", 0},
        {"VK_KHR_external_memory_fd", 0},
        {"VK_EXT_external_memory_dma_buf", 0},
        {"VK_KHR_external_fence_fd", 0},
        {"VK_KHR_external_semaphore_fd", 0},
    };
    bool multiview = client->caps.api >= VK_API_VERSION_1_1 ||
                     tp_has_extension(client, "VK_KHR_multiview");
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        bool is_core = used[i].core && client->caps.api >= used[i].core;
        bool is_whole = multiview || !used[i].multiview;
        if (!is_core && is_whole && tp_has_extension(client, used[i].name))
            names[count++] = used[i].name;
    }
    return count;
}
#define USED_MAX 24

struct feature_chain {
    VkPhysicalDeviceFeatures2 all;
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
    VkPhysicalDeviceHostQueryResetFeatures host_reset;
    VkPhysicalDeviceShaderAtomicInt64Features buffers;
    VkPhysicalDeviceDynamicRenderingFeatures dynamic;
    VkPhysicalDeviceSynchronization2Features sync2;
    VkPhysicalDeviceShaderImageAtomicInt64FeaturesEXT images;
};

static void link_feature(struct feature_chain *chain, bool offered, void *feature)
{
    VkBaseOutStructure *structure = feature;
    if (!offered)
        return;
    structure->pNext = chain->all.pNext;
    chain->all.pNext = structure;
}

/* All that the client knows of and the driver offers, switched on. */
static void switch_on(const struct tp_caps *caps, struct feature_chain *chain)
{
    *chain = (struct feature_chain){
        .all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .features = caps->features},
        .timeline = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
                     .timelineSemaphore = VK_TRUE},
        .host_reset = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES,
                       .hostQueryReset = VK_TRUE},
        .buffers = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES,
                    .shaderBufferInt64Atomics = VK_TRUE},
        .dynamic = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES,
                    .dynamicRendering = VK_TRUE},
        .sync2 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
                  .synchronization2 = VK_TRUE},
        .images = {.sType =
                       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_IMAGE_ATOMIC_INT64_FEATURES_EXT,
                   .shaderImageInt64Atomics = VK_TRUE},
    };
    /* Where this is on, each access is checked: not what the checks are about. */
    chain->all.features.robustBufferAccess = VK_FALSE;
    link_feature(chain, caps->timeline, &chain->timeline);
    link_feature(chain, caps->host_query_reset, &chain->host_reset);
    link_feature(chain, caps->buffer_int64_atomics, &chain->buffers);
    link_feature(chain, caps->dynamic_rendering, &chain->dynamic);
    link_feature(chain, caps->synchronization2, &chain->sync2);
    link_feature(chain, caps->image_int64_atomics, &chain->images);
}

static VkResult create(const struct tp_client *client, const struct tp_vk *vk,
                       const char *const *extensions, uint32_t count,
                       VkDevice *out)
{
    VkDeviceQueueCreateInfo queues[TP_FAMILIES_MAX];
    struct feature_chain chain;
    switch_on(&client->caps, &chain);
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &chain.all,
        .queueCreateInfoCount = describe_queues(client, queues),
        .pQueueCreateInfos = queues,
        .enabledExtensionCount = count,
        .ppEnabledExtensionNames = extensions,
    };
    VkResult result = vk->CreateDevice(client->physical, &info, NULL, out);
    if (result != VK_SUCCESS)
        *out = VK_NULL_HANDLE;
    return result;
}

VkResult tp_device_create(struct tp_client *client, VkDevice *out)
{
    const char *extensions[USED_MAX];
    return create(client, &client->vk, extensions, used_extensions(client, extensions), out);
}

static void check_device(struct tp_run *r)
{
    struct tp_client *client = r->client;
    tp_called(r, "vkCreateDevice", tp_device_create(client, &client->device));
    const char *missing = tp_vk_device_lacks(r->vk, client->device);
    if (missing)
        tp_failed(r, "vkGetDeviceProcAddr: no %s", missing);
    r->vk->GetDeviceQueue(client->device, client->family, 0, &client->queue);
    if (!client->queue)
        tp_failed(r, "vkGetDeviceQueue: no queue 0 of family %u", client->family);
    tp_note(r, "Vulkan %u.%u", VK_API_VERSION_MAJOR(client->caps.api),
            VK_API_VERSION_MINOR(client->caps.api));
}

/* Every queue of every family takes an empty submit and comes to rest. */
static void check_queues(struct tp_run *r)
{
    const struct tp_client *client = r->client;
    unsigned all = 0;
    for (uint32_t family = 0; family < client->family_count; family++) {
        uint32_t count = client->families[family].queueCount;
        for (uint32_t i = 0; i < count && i < QUEUES_MAX; i++) {
            VkQueue queue = VK_NULL_HANDLE;
            r->vk->GetDeviceQueue(r->device, family, i, &queue);
            if (!queue)
                tp_failed(r, "vkGetDeviceQueue: no queue %u of family %u", i, family);
            VkFence fence = tp_make_fence(r, 0);
            TP_CALL(r, QueueSubmit, queue, 0, NULL, fence);
            tp_wait(r, fence);
            TP_CALL(r, QueueWaitIdle, queue);
            all++;
        }
    }
    tp_note(r, "%u in %u families", all, client->family_count);
}

/* A second device beside the first, destroyed before it. */
static void check_device_second(struct tp_run *r)
{
    VkDevice second;
    tp_called(r, "vkCreateDevice", tp_device_create(r->client, &second));
    VkResult result = r->vk->DeviceWaitIdle(second);
    r->vk->DestroyDevice(second, NULL);
    tp_called(r, "vkDeviceWaitIdle", result);
}

/* Those that need an extension of the instance that the client has not switched on, or exclude
 * another that is on. */
static bool is_left_out(const char *name)
{
    static const char *const left_out[] = {
        "VK_EXT_buffer_device_address",
        "VK_EXT_full_screen_exclusive",
        "VK_KHR_display_swapchain",
    };
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        if (!strcmp(name, left_out[i]))
            return true;
    }
    return false;
}

/* A driver must be able to switch on what it advertises. Those of windows need extensions of the
 * instance that are off, which a layer would object to. */
static void check_device_all_extensions(struct tp_run *r)
{
    struct tp_client *client = r->client;
    const struct tp_vk *vk = tp_layers_below(client);
    const char **names = tp_heap(r, client->extension_count, sizeof *names);
    uint32_t count = 0;
    for (uint32_t i = 0; i < client->extension_count; i++) {
        if (!is_left_out(client->extensions[i].extensionName))
            names[count++] = client->extensions[i].extensionName;
    }
    VkDevice device;
    tp_called(r, "vkCreateDevice", create(client, vk, names, count, &device));
    vk->DestroyDevice(device, NULL);
    tp_note(r, "%u extensions", count);
}

/* What is not there cannot be switched on. */
static void check_device_unknown_extension(struct tp_run *r)
{
    const struct tp_vk *vk = tp_layers_below(r->client);
    const char *name = "VK_TURNPIKE_not_there";
    VkDevice device;
    VkResult result = create(r->client, vk, &name, 1, &device);
    if (result == VK_SUCCESS)
        vk->DestroyDevice(device, NULL);
    tp_called_for(r, "vkCreateDevice", result, VK_ERROR_EXTENSION_NOT_PRESENT);
}

static void check_device_idle(struct tp_run *r)
{
    VkCommandBuffer commands = tp_begin(r, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    struct tp_buffer b = tp_make_buffer(r, 4096, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    r->vk->CmdFillBuffer(commands, b.buffer, 0, VK_WHOLE_SIZE, 7);
    VkFence fence = tp_make_fence(r, 0);
    tp_end(r, commands);
    tp_submit(r, commands, fence);
    TP_CALL(r, DeviceWaitIdle, r->device);
    TP_CALL_FOR(r, VK_SUCCESS, GetFenceStatus, r->device, fence);
}

static void check_queue_idle(struct tp_run *r)
{
    VkCommandBuffer commands = tp_begin(r, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    struct tp_buffer b = tp_make_buffer(r, 4096, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    r->vk->CmdFillBuffer(commands, b.buffer, 0, VK_WHOLE_SIZE, 7);
    VkFence fence = tp_make_fence(r, 0);
    tp_end(r, commands);
    tp_submit(r, commands, fence);
    TP_CALL(r, QueueWaitIdle, r->queue);
    TP_CALL_FOR(r, VK_SUCCESS, GetFenceStatus, r->device, fence);
}

const struct tp_check tp_check_device = {"device", "make a device with every queue", check_device};

const struct tp_check tp_device_checks[] = {
    {"queues", "an empty submit on each queue", check_queues},
    {"queue_idle", "vkQueueWaitIdle after a submit", check_queue_idle},
    {"device_idle", "vkDeviceWaitIdle after a submit", check_device_idle},
    {"device_second", "a second device beside the first", check_device_second},
    {"device_all_extensions", "a device with every extension that is advertised",
     check_device_all_extensions},
    {"device_unknown_extension", "a device with an extension that is not advertised",
     check_device_unknown_extension},
    {0},
};
