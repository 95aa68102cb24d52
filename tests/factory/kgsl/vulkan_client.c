/*
 * Takes a driver from its file to a submit and back, and checks what it reads: fences, events,
 * queries, copied query results, a timeline semaphore. Prints one JSON object; status 0 when all
 * holds, 1 when not, 3 when the driver names no device.
 *   vulkan_client DRIVER.so [SUBMITS]
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan_core.h>

struct hw_module {
    uint32_t tag;
    uint16_t module_api_version, hal_api_version;
    const char *id, *name, *author;
    struct {
        int (*open)(const struct hw_module *module, const char *id, void **device);
    } *methods;
};

/* AOSP's hwvulkan_device_t after its hw_device_t of 64 bits. */
struct hw_vulkan {
    uint32_t tag, version;
    void *module;
    uint64_t reserved[12];
    int (*close)(void *device);
    PFN_vkEnumerateInstanceExtensionProperties enumerate_extensions;
    PFN_vkCreateInstance create_instance;
    PFN_vkGetInstanceProcAddr get_proc;
};

/* There is no gralloc here: the driver must hear so. */
int hw_get_module(const char *id, const void **module);
int hw_get_module(const char *id, const void **module)
{
    (void)id;
    *module = NULL;
    return -ENOENT;
}

static PFN_vkGetInstanceProcAddr get_proc;
static PFN_vkCreateInstance create_instance;
static PFN_vkGetDeviceProcAddr get_device_proc;
static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;

#define DEVICE_CALL(name) PFN_##name name = (PFN_##name)get_device_proc(device, #name)
#define INSTANCE_CALL(name) PFN_##name name = (PFN_##name)get_proc(instance, #name)
#define MUST(call)                                                                                 \
    do {                                                                                           \
        VkResult result_ = (call);                                                                 \
        if (result_ != VK_SUCCESS) {                                                               \
            printf("{\"failed\": \"%s\", \"result\": %d}\n", #call, result_);                       \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static int load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&get_proc = dlsym(library, "vk_icdGetInstanceProcAddr");
    if (get_proc) {
        VkResult (*negotiate)(uint32_t *);
        uint32_t version = 5;
        *(void **)&negotiate = dlsym(library, "vk_icdNegotiateLoaderICDInterfaceVersion");
        if (negotiate)
            negotiate(&version);
        create_instance = (PFN_vkCreateInstance)get_proc(NULL, "vkCreateInstance");
        return 0;
    }
    struct hw_module *hmi = dlsym(library, "HMI");
    struct hw_vulkan *vulkan = NULL;
    if (!hmi || hmi->methods->open(hmi, "vk0", (void **)&vulkan))
        return 1;
    create_instance = vulkan->create_instance;
    get_proc = vulkan->get_proc;
    return 0;
}

static int create_device(char *name)
{
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                             .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &app};
    VkResult r = create_instance(&info, NULL, &instance);
    if (r == VK_ERROR_INCOMPATIBLE_DRIVER)
        return 3;
    MUST(r);
    INSTANCE_CALL(vkEnumeratePhysicalDevices);
    INSTANCE_CALL(vkGetPhysicalDeviceProperties);
    INSTANCE_CALL(vkCreateDevice);
    get_device_proc = (PFN_vkGetDeviceProcAddr)get_proc(instance, "vkGetDeviceProcAddr");
    uint32_t count = 1;
    r = vkEnumeratePhysicalDevices(instance, &count, &physical);
    if (r == VK_ERROR_INCOMPATIBLE_DRIVER || !count) {
        printf("{\"devices\": 0, \"result\": %d}\n", r);
        return 3;
    }
    MUST(r);
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    strcpy(name, properties.deviceName);
    float priority = 1;
    VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                      .queueCount = 1,
                                      .pQueuePriorities = &priority};
    VkPhysicalDeviceFeatures features = {.pipelineStatisticsQuery = VK_TRUE};
    VkPhysicalDeviceVulkan12Features twelve = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .timelineSemaphore = VK_TRUE};
    VkDeviceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                 .pNext = &twelve,
                                 .queueCreateInfoCount = 1,
                                 .pQueueCreateInfos = &queues,
                                 .pEnabledFeatures = &features};
    MUST(vkCreateDevice(physical, &create, NULL, &device));
    DEVICE_CALL(vkGetDeviceQueue);
    vkGetDeviceQueue(device, 0, 0, &queue);
    return 0;
}

struct work {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint64_t *mapped;
    VkQueryPool timestamps, occlusion, statistics;
    VkEvent event, host_event;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkSemaphore timeline;
};

#define BUFFER_BYTES 65536u

static int create_buffer(struct work *w)
{
    INSTANCE_CALL(vkGetPhysicalDeviceMemoryProperties);
    DEVICE_CALL(vkCreateBuffer);
    DEVICE_CALL(vkGetBufferMemoryRequirements);
    DEVICE_CALL(vkAllocateMemory);
    DEVICE_CALL(vkBindBufferMemory);
    DEVICE_CALL(vkMapMemory);
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = BUFFER_BYTES,
                               .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    MUST(vkCreateBuffer(device, &info, NULL, &w->buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, w->buffer, &needs);
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(physical, &types);
    uint32_t type = 0;
    while (!(needs.memoryTypeBits >> type & 1) ||
           !(types.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT))
        type++;
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                     .allocationSize = needs.size,
                                     .memoryTypeIndex = type};
    MUST(vkAllocateMemory(device, &allocate, NULL, &w->memory));
    MUST(vkBindBufferMemory(device, w->buffer, w->memory, 0));
    MUST(vkMapMemory(device, w->memory, 0, VK_WHOLE_SIZE, 0, (void **)&w->mapped));
    memset(w->mapped, 0x55, BUFFER_BYTES);
    return 0;
}

static int create_objects(struct work *w)
{
    DEVICE_CALL(vkCreateQueryPool);
    DEVICE_CALL(vkCreateEvent);
    DEVICE_CALL(vkCreateFence);
    DEVICE_CALL(vkCreateSemaphore);
    DEVICE_CALL(vkCreateCommandPool);
    DEVICE_CALL(vkAllocateCommandBuffers);
    VkQueryPoolCreateInfo query = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                   .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                   .queryCount = 2};
    MUST(vkCreateQueryPool(device, &query, NULL, &w->timestamps));
    query.queryType = VK_QUERY_TYPE_OCCLUSION;
    MUST(vkCreateQueryPool(device, &query, NULL, &w->occlusion));
    query.queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS;
    query.pipelineStatistics = VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT |
                               VK_QUERY_PIPELINE_STATISTIC_VERTEX_SHADER_INVOCATIONS_BIT;
    MUST(vkCreateQueryPool(device, &query, NULL, &w->statistics));
    VkEventCreateInfo event = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    MUST(vkCreateEvent(device, &event, NULL, &w->event));
    MUST(vkCreateEvent(device, &event, NULL, &w->host_event));
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    MUST(vkCreateFence(device, &fence, NULL, &w->fence));
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                       .pNext = &type};
    MUST(vkCreateSemaphore(device, &semaphore, NULL, &w->timeline));
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    MUST(vkCreateCommandPool(device, &pool, NULL, &w->pool));
    VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = w->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1};
    MUST(vkAllocateCommandBuffers(device, &allocate, &w->commands));
    return 0;
}

static int record(struct work *w)
{
    DEVICE_CALL(vkBeginCommandBuffer);
    DEVICE_CALL(vkEndCommandBuffer);
    DEVICE_CALL(vkCmdResetQueryPool);
    DEVICE_CALL(vkCmdWriteTimestamp);
    DEVICE_CALL(vkCmdBeginQuery);
    DEVICE_CALL(vkCmdEndQuery);
    DEVICE_CALL(vkCmdFillBuffer);
    DEVICE_CALL(vkCmdSetEvent);
    DEVICE_CALL(vkCmdWaitEvents);
    DEVICE_CALL(vkCmdCopyQueryPoolResults);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    MUST(vkBeginCommandBuffer(w->commands, &begin));
    vkCmdResetQueryPool(w->commands, w->timestamps, 0, 2);
    vkCmdResetQueryPool(w->commands, w->occlusion, 0, 2);
    vkCmdResetQueryPool(w->commands, w->statistics, 0, 2);
    vkCmdWriteTimestamp(w->commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, w->timestamps, 0);
    vkCmdWaitEvents(w->commands, 1, &w->host_event, VK_PIPELINE_STAGE_HOST_BIT,
                    VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, NULL, 0, NULL, 0, NULL);
    vkCmdBeginQuery(w->commands, w->occlusion, 0, 0);
    vkCmdEndQuery(w->commands, w->occlusion, 0);
    vkCmdBeginQuery(w->commands, w->statistics, 0, 0);
    vkCmdFillBuffer(w->commands, w->buffer, 4096, 4096, 7);
    vkCmdEndQuery(w->commands, w->statistics, 0);
    vkCmdSetEvent(w->commands, w->event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    vkCmdWriteTimestamp(w->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, w->timestamps, 1);
    vkCmdCopyQueryPoolResults(w->commands, w->timestamps, 0, 2, w->buffer, 0, 16,
                              VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT |
                                  VK_QUERY_RESULT_WAIT_BIT);
    MUST(vkEndCommandBuffer(w->commands));
    return 0;
}

static int submit_and_wait(struct work *w, uint64_t value)
{
    DEVICE_CALL(vkQueueSubmit);
    DEVICE_CALL(vkWaitForFences);
    DEVICE_CALL(vkResetFences);
    DEVICE_CALL(vkSetEvent);
    DEVICE_CALL(vkResetEvent);
    DEVICE_CALL(vkWaitSemaphores);
    VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value};
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .pNext = &timeline,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &w->commands,
                           .signalSemaphoreCount = 1,
                           .pSignalSemaphores = &w->timeline};
    MUST(vkQueueSubmit(queue, 1, &submit, w->fence));
    /* The GPU waits for the host here. */
    VkResult early = vkWaitForFences(device, 1, &w->fence, VK_TRUE, 5000000);
    if (early != VK_TIMEOUT) {
        printf("{\"failed\": \"the GPU did not wait for the event\", \"result\": %d}\n", early);
        return 1;
    }
    MUST(vkSetEvent(device, w->host_event));
    MUST(vkWaitForFences(device, 1, &w->fence, VK_TRUE, UINT64_C(5000000000)));
    VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &w->timeline,
                                .pValues = &value};
    MUST(vkWaitSemaphores(device, &wait, UINT64_C(5000000000)));
    MUST(vkResetFences(device, 1, &w->fence));
    MUST(vkResetEvent(device, w->host_event));
    return 0;
}

static int check(struct work *w, const char *name)
{
    DEVICE_CALL(vkGetQueryPoolResults);
    DEVICE_CALL(vkGetEventStatus);
    DEVICE_CALL(vkGetSemaphoreCounterValue);
    const VkQueryResultFlags flags =
        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT;
    uint64_t stamps[4], occlusion[2], statistics[3], counter;
    MUST(vkGetQueryPoolResults(device, w->timestamps, 0, 2, sizeof stamps, stamps, 16, flags));
    MUST(vkGetQueryPoolResults(device, w->occlusion, 0, 1, sizeof occlusion, occlusion, 16, flags));
    MUST(vkGetQueryPoolResults(device, w->statistics, 0, 1, sizeof statistics, statistics, 24,
                               flags));
    MUST(vkGetSemaphoreCounterValue(device, w->timeline, &counter));
    VkResult event = vkGetEventStatus(device, w->event);
    bool copied = !memcmp(stamps, w->mapped, sizeof stamps);
    bool ok = event == VK_EVENT_SET && copied && stamps[1] == 1 && stamps[3] == 1 && stamps[0] &&
              stamps[2] > stamps[0] && stamps[2] - stamps[0] < UINT64_C(10) * 19200000 &&
              occlusion[0] == 0 && occlusion[1] == 1 && statistics[0] == 0 && statistics[2] == 1;
    printf("{\"device\": \"%s\", \"ok\": %s, \"event\": %d, \"timestamps\": [%llu, %llu], "
           "\"copied\": %s, \"occlusion\": [%llu, %llu], \"statistics\": %llu, \"timeline\": %llu}\n",
           name, ok ? "true" : "false", event, (unsigned long long)stamps[0],
           (unsigned long long)stamps[2], copied ? "true" : "false",
           (unsigned long long)occlusion[0], (unsigned long long)occlusion[1],
           (unsigned long long)statistics[2], (unsigned long long)counter);
    return !ok;
}

static void destroy(struct work *w)
{
    DEVICE_CALL(vkDestroyQueryPool);
    DEVICE_CALL(vkDestroyEvent);
    DEVICE_CALL(vkDestroyFence);
    DEVICE_CALL(vkDestroySemaphore);
    DEVICE_CALL(vkDestroyCommandPool);
    DEVICE_CALL(vkDestroyBuffer);
    DEVICE_CALL(vkFreeMemory);
    DEVICE_CALL(vkDeviceWaitIdle);
    DEVICE_CALL(vkDestroyDevice);
    INSTANCE_CALL(vkDestroyInstance);
    vkDeviceWaitIdle(device);
    vkDestroyQueryPool(device, w->timestamps, NULL);
    vkDestroyQueryPool(device, w->occlusion, NULL);
    vkDestroyQueryPool(device, w->statistics, NULL);
    vkDestroyEvent(device, w->event, NULL);
    vkDestroyEvent(device, w->host_event, NULL);
    vkDestroyFence(device, w->fence, NULL);
    vkDestroySemaphore(device, w->timeline, NULL);
    vkDestroyCommandPool(device, w->pool, NULL);
    vkDestroyBuffer(device, w->buffer, NULL);
    vkFreeMemory(device, w->memory, NULL);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
}

static int run(struct work *w, uint64_t submits)
{
    int r = create_buffer(w);
    if (!r)
        r = create_objects(w);
    if (!r)
        r = record(w);
    for (uint64_t i = 1; !r && i <= submits; i++)
        r = submit_and_wait(w, i);
    return r;
}

int main(int argc, char **argv)
{
    struct work w = {0};
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    if (argc < 2 || load(argv[1]))
        return 2;
    int r = create_device(name);
    if (r)
        return r;
    r = run(&w, argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    if (!r)
        r = check(&w, name);
    destroy(&w);
    return r;
}
