/* vkCreateDevice: what the driver gets to see, the queues, and how acquires are signalled. */
#include <stdlib.h>
#include <string.h>

#include "frames/icd/chain.h"
#include "frames/icd/display.h"
#include "frames/icd/dmabuf.h"
#include "frames/icd/enumerate.h"
#include "frames/icd/internal.h"
#include "frames/icd/log.h"
#include "frames/icd/map.h"

static struct tp_map devices = TP_MAP_INIT, queues = TP_MAP_INIT;

struct tp_icd_device *tp_icd_device_get(VkDevice handle)
{
    return tp_map_get(&devices, handle);
}

struct tp_icd_queue *tp_icd_queue_get(VkQueue handle)
{
    return tp_map_get(&queues, handle);
}

/* A driver that knows one of these and lacks the feature would refuse the device. */
static bool is_our_feature(VkStructureType type)
{
    return type == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_ID_FEATURES_KHR ||
        type == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PRESENT_WAIT_FEATURES_KHR ||
        type == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SWAPCHAIN_MAINTENANCE_1_FEATURES_EXT ||
        type == TP_VK_FIFO_LATEST_READY_FEATURES;
}

/* The queues of the application, and ours where a family has one left. */
struct queue_plan {
    VkDeviceQueueCreateInfo *infos;
    uint32_t n_infos;
    float *priorities; /* of the family with our queue */
    uint32_t own_family, own_index;
    uint32_t copier_family;
    bool own, copier;
    uint32_t n_queues; /* without ours */
};

static uint32_t asked_of(const VkDeviceCreateInfo *info, uint32_t family)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++) {
        if (info->pQueueCreateInfos[i].queueFamilyIndex == family)
            n += info->pQueueCreateInfos[i].queueCount;
    }
    return n;
}

static bool plan_own(struct tp_icd_physical *p, struct queue_plan *plan, uint32_t n)
{
    VkQueueFamilyProperties families[32];
    uint32_t n_families = 32;
    VkDeviceCreateInfo as_asked = {.queueCreateInfoCount = n, .pQueueCreateInfos = plan->infos};

    p->instance->vk.GetPhysicalDeviceQueueFamilyProperties(p->handle, &n_families, families);
    for (uint32_t i = 0; i < n && !plan->own; i++) {
        VkDeviceQueueCreateInfo *info = &plan->infos[i];
        uint32_t family = info->queueFamilyIndex;
        if (info->flags || family >= n_families ||
            asked_of(&as_asked, family) >= families[family].queueCount)
            continue;
        plan->priorities = calloc(info->queueCount + 1, sizeof *plan->priorities);
        if (!plan->priorities)
            return false;
        memcpy(
            plan->priorities, info->pQueuePriorities, info->queueCount * sizeof *plan->priorities);
        info->pQueuePriorities = plan->priorities;
        plan->own = true;
        plan->own_family = family;
        plan->own_index = info->queueCount++;
    }
    return true;
}

/* What can do nothing but copy is an engine of its own: it waits for nothing that the application
 * has the GPU do, while two queues that render take turns. */
static void plan_copier(struct tp_icd_physical *p, bool want_own, struct queue_plan *plan)
{
    static const float priorities[2] = {1, 1};
    const VkQueueFlags idle =
        VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
    VkQueueFamilyProperties families[32];
    uint32_t n = 32;
    VkDeviceCreateInfo as_asked = {
        .queueCreateInfoCount = plan->n_infos, .pQueueCreateInfos = plan->infos};

    p->instance->vk.GetPhysicalDeviceQueueFamilyProperties(p->handle, &n, families);
    for (uint32_t i = 0; i < n && !plan->copier; i++) {
        if (!(families[i].queueFlags & VK_QUEUE_TRANSFER_BIT) || families[i].queueFlags & ~idle ||
            asked_of(&as_asked, i) > 0)
            continue;
        plan->infos[plan->n_infos++] =
            (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                .queueFamilyIndex = i,
                .queueCount = want_own && families[i].queueCount > 1 ? 2 : 1,
                .pQueuePriorities = priorities};
        plan->copier_family = i;
        plan->copier = true;
        plan->own = plan->infos[plan->n_infos - 1].queueCount == 2;
        plan->own_family = i;
        plan->own_index = 1;
    }
}

static bool plan_queues(struct tp_icd_physical *p, const VkDeviceCreateInfo *info, bool want_own,
    bool want_copier, struct queue_plan *plan)
{
    *plan = (struct queue_plan){0};
    plan->infos = calloc(info->queueCreateInfoCount + 1, sizeof *plan->infos);
    if (!plan->infos)
        return false;
    memcpy(plan->infos, info->pQueueCreateInfos, info->queueCreateInfoCount * sizeof *plan->infos);
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++)
        plan->n_queues += info->pQueueCreateInfos[i].queueCount;
    plan->n_infos = info->queueCreateInfoCount;
    if (want_copier)
        plan_copier(p, want_own, plan);
    return !want_own || plan->own || plan_own(p, plan, info->queueCreateInfoCount);
}

static bool find_functions(struct tp_icd_device *d)
{
    PFN_vkGetDeviceProcAddr get = d->instance->vk.GetDeviceProcAddr;
    bool all = true;

#define FIND(name)                                                                                 \
    d->vk.name = (PFN_vk##name)get(d->handle, "vk" #name);                                         \
    all = all && d->vk.name;
#define FIND_MAYBE(name)                                                                           \
    d->vk.name = (PFN_vk##name)get(d->handle, "vk" #name);                                         \
    if (!d->vk.name)                                                                               \
        d->vk.name = (PFN_vk##name)get(d->handle, "vk" #name "KHR");                               \
    if (!d->vk.name)                                                                               \
        d->vk.name = (PFN_vk##name)get(d->handle, "vk" #name "EXT");
    TP_ICD_DEVICE_FUNCTIONS(FIND)
    TP_ICD_DEVICE_FUNCTIONS_MAYBE(FIND_MAYBE)
    return all;
}

static VkQueue get_queue(
    struct tp_icd_device *d, VkDeviceQueueCreateFlags flags, uint32_t family, uint32_t index)
{
    VkDeviceQueueInfo2 info = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2,
        .flags = flags,
        .queueFamilyIndex = family,
        .queueIndex = index};
    VkQueue queue = NULL;

    if (!flags)
        d->vk.GetDeviceQueue(d->handle, family, index, &queue);
    else if (d->vk.GetDeviceQueue2)
        d->vk.GetDeviceQueue2(d->handle, &info, &queue);
    return queue;
}

/* One of ours, behind the application's. */
static struct tp_icd_queue *know_ours(
    struct tp_icd_device *d, uint32_t place, uint32_t family, uint32_t index)
{
    struct tp_icd_queue *q = &d->queues[d->n_queues + place];

    q->family = family;
    q->index = index;
    q->device = d;
    q->handle = get_queue(d, 0, family, index);
    pthread_mutex_init(&q->lock, NULL);
    return q;
}

static VkResult know_queues(
    struct tp_icd_device *d, const VkDeviceCreateInfo *info, const struct queue_plan *plan)
{
    d->queues = calloc(plan->n_queues + 2, sizeof *d->queues);
    if (!d->queues)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++) {
        for (uint32_t k = 0; k < info->pQueueCreateInfos[i].queueCount; k++) {
            struct tp_icd_queue *q = &d->queues[d->n_queues];
            q->family = info->pQueueCreateInfos[i].queueFamilyIndex;
            q->index = k;
            q->handle = get_queue(d, info->pQueueCreateInfos[i].flags, q->family, k);
            q->device = d;
            if (!q->handle)
                continue;
            pthread_mutex_init(&q->lock, NULL);
            d->n_queues++;
            if (tp_map_put(&queues, q->handle, q))
                return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    if (plan->own)
        d->own = know_ours(d, 0, plan->own_family, plan->own_index);
    if (plan->copier)
        d->copier = know_ours(d, 1, plan->copier_family, 0);
    return VK_SUCCESS;
}

static void forget(struct tp_icd_device *d)
{
    for (uint32_t i = 0; i < d->n_queues; i++) {
        tp_map_remove(&queues, d->queues[i].handle);
        pthread_mutex_destroy(&d->queues[i].lock);
    }
    if (d->own)
        pthread_mutex_destroy(&d->own->lock);
    if (d->copier)
        pthread_mutex_destroy(&d->copier->lock);
    tp_icd_private_finish(d);
    tp_icd_dmabuf_finish(d);
    free(d->queues);
    free(d);
}

/* Whether something is signalled by a submit of ours. imports: acquires are not. */
static bool is_submitting(const struct tp_icd_device *d, bool imports)
{
    /* A fence of a screen's event is imported into by nobody: somebody may wait for it. */
    return d->enabled & TP_BIT(TP_EXT_DISPLAY_CONTROL) ||
        (d->enabled & TP_BIT(TP_EXT_SWAPCHAIN) && !imports);
}

static void choose_signals(struct tp_icd_device *d)
{
    struct tp_icd_physical *p = d->physical;

    d->can_import_sync_fd = p->import_semaphore_sync_fd && p->import_fence_sync_fd &&
        d->vk.ImportSemaphoreFdKHR && d->vk.ImportFenceFdKHR;
    d->can_export_sync_fd = p->export_semaphore_sync_fd && d->vk.GetSemaphoreFdKHR;
    d->share_queues = is_submitting(d, d->can_import_sync_fd) && !d->own;
}

/* The driver's device, with its functions found and its queues known. */
static VkResult make(
    struct tp_icd_device *d, const VkDeviceCreateInfo *info, const VkAllocationCallbacks *allocator)
{
    struct tp_icd_physical *p = d->physical;
    bool sync_fd = p->import_semaphore_sync_fd && p->import_fence_sync_fd;
    VkDeviceCreateInfo changed = *info;
    VkExtensionProperties *theirs = NULL;
    const char **names = NULL;
    struct queue_plan plan = {0};
    struct tp_chain chain = {0};
    uint32_t n = 0;

    VkResult r = tp_icd_driver_device_extensions(d->instance, p->handle, &theirs, &n);
    if (r == VK_SUCCESS)
        r = tp_icd_translate_extensions(info->ppEnabledExtensionNames, info->enabledExtensionCount,
            theirs, n, p->offers, TP_NEED_N_INSTANCE, TP_NEED_N, &names,
            &changed.enabledExtensionCount, &d->enabled);
    free(theirs);
    bool swapchains = d->enabled & TP_BIT(TP_EXT_SWAPCHAIN);
    if (r == VK_SUCCESS && !plan_queues(p, info, is_submitting(d, sync_fd), swapchains, &plan))
        r = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (r == VK_SUCCESS && tp_chain_without(info->pNext, is_our_feature, &chain))
        r = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (r == VK_SUCCESS) {
        changed.pNext = chain.first;
        changed.ppEnabledExtensionNames = names;
        changed.pQueueCreateInfos = plan.infos;
        changed.queueCreateInfoCount = plan.n_infos;
        r = d->instance->vk.CreateDevice(p->handle, &changed, allocator, &d->handle);
    }
    tp_chain_finish(&chain);
    if (r == VK_SUCCESS && !find_functions(d)) {
        tp_icd_log("the driver lacks functions of Vulkan 1.0");
        r = VK_ERROR_INITIALIZATION_FAILED;
    }
    if (r == VK_SUCCESS)
        r = know_queues(d, info, &plan);
    free(names);
    free(plan.infos);
    free(plan.priorities);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice handle,
    const VkDeviceCreateInfo *info, const VkAllocationCallbacks *allocator, VkDevice *out)
{
    struct tp_icd_physical *p = tp_icd_physical_get(handle);
    struct tp_icd_device *d = calloc(1, sizeof *d);

    if (!d)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    d->physical = p;
    d->instance = p->instance;
    pthread_mutex_init(&d->private_lock, NULL);
    VkResult r = make(d, info, allocator);
    if (r == VK_SUCCESS && d->enabled & (TP_BIT(TP_EXT_DMABUF) | TP_BIT(TP_EXT_MODIFIER)))
        r = tp_icd_dmabuf_start(d);
    if (r == VK_SUCCESS)
        tp_icd_gamescope_start(d);
    if (r == VK_SUCCESS && tp_map_put(&devices, d->handle, d))
        r = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (r != VK_SUCCESS) {
        if (d->handle && d->vk.DestroyDevice)
            d->vk.DestroyDevice(d->handle, allocator);
        forget(d);
        return r;
    }
    p->instance->vk.GetPhysicalDeviceMemoryProperties(handle, &d->memory);
    choose_signals(d);
    *out = d->handle;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(
    VkDevice handle, const VkAllocationCallbacks *allocator)
{
    struct tp_icd_device *d = tp_map_remove(&devices, handle);

    if (!d)
        return;
#ifdef TP_ICD_DISPLAY
    tp_icd_display_events_finish(d);
#endif
    d->vk.DestroyDevice(handle, allocator);
    forget(d);
}

__attribute__((destructor)) static void finish(void)
{
    tp_map_finish(&devices);
    tp_map_finish(&queues);
}

const struct tp_icd_entry tp_icd_device_entries[] = {
    TP_ENTRY("CreateDevice", create_device, TP_LEVEL_PHYSICAL, 0),
    TP_ENTRY("DestroyDevice", destroy_device, TP_LEVEL_DEVICE, 0),
    {0},
};
