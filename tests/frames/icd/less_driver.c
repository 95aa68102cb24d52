/*
 * A driver that is less than it was: lavapipe (LESS_OF names its library) without the extensions
 * whose names contain a word of LESS_EXTENSIONS, and whose device is lost after LESS_SUBMITS
 * submits, or when less_lose says so. With LESS_QUEUES it seems to have so many queues, all of which
 * are lavapipe's one (for vkQueueSubmit and waits alone). A queue that two threads use at a time ends
 * the process; waiting for the device is a use of all of them. With LESS_COPIERS, beside
 * LESS_QUEUES, there is a family more, of so many queues that can only copy; where nothing was
 * copied on them, the process ends with status 1.
 */
#include <pthread.h>
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vk_icd.h>
#include <vulkan/vulkan.h>

enum { LESS_MAX_QUEUES = 16 };

#define EXPORT __attribute__((visibility("default"))) VKAPI_ATTR

static PFN_vkGetInstanceProcAddr real;
static PFN_vkNegotiateLoaderICDInterfaceVersion real_negotiate;
static PFN_vkEnumerateDeviceExtensionProperties real_enumerate;
static PFN_vkGetDeviceProcAddr real_get_device;
static PFN_vkQueueSubmit real_submit;
static PFN_vkCreateDevice real_create_device;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties real_families;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties2 real_families2;
static PFN_vkGetDeviceQueue real_get_queue;
static PFN_vkCreateCommandPool real_create_pool;
static PFN_vkQueueWaitIdle real_wait_idle;
static PFN_vkDeviceWaitIdle real_wait_device;
static PFN_vkWaitForFences real_wait;
static atomic_long submits;
static long lost_after;
static atomic_bool lost;

/* Of which the first is lavapipe's own where there are no others. The loader's word comes first. */
static struct queue {
    VK_LOADER_DATA loader;
    atomic_bool busy;
} queues[LESS_MAX_QUEUES];
static uint32_t n_queues; /* LESS_QUEUES; 0: not set */
static uint32_t n_copiers; /* behind those; LESS_COPIERS */
static atomic_bool copied;
static VkQueue real_queue;
static pthread_mutex_t real_lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void load(void)
{
    const char *path = getenv("LESS_OF"), *n = getenv("LESS_SUBMITS"), *q = getenv("LESS_QUEUES");
    const char *copiers = getenv("LESS_COPIERS");
    void *library = dlopen(path ? path : "", RTLD_NOW | RTLD_LOCAL);

    lost_after = n ? atol(n) : 0;
    n_queues = q ? (uint32_t)atol(q) : 0;
    n_copiers = copiers ? (uint32_t)atol(copiers) : 0;
    if (n_queues + n_copiers > LESS_MAX_QUEUES)
        abort();
    if (!library)
        abort();
    *(void **)&real = dlsym(library, "vk_icdGetInstanceProcAddr");
    *(void **)&real_negotiate = dlsym(library, "vk_icdNegotiateLoaderICDInterfaceVersion");
}

static bool is_away(const char *name)
{
    char words[256];
    const char *all = getenv("LESS_EXTENSIONS");

    strncpy(words, all ? all : "", sizeof words - 1);
    words[sizeof words - 1] = 0;
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        if (strstr(name, word))
            return true;
    }
    return false;
}

static VKAPI_ATTR VkResult VKAPI_CALL enumerate(
    VkPhysicalDevice physical, const char *layer, uint32_t *count, VkExtensionProperties *out)
{
    VkExtensionProperties all[512];
    uint32_t n = 512, kept = 0;
    VkResult r = real_enumerate(physical, layer, &n, all);

    for (uint32_t i = 0; i < n; i++) {
        if (is_away(all[i].extensionName))
            continue;
        if (out && kept < *count)
            out[kept] = all[i];
        kept++;
    }
    if (out && kept > *count)
        r = VK_INCOMPLETE;
    else
        *count = kept;
    return r;
}

/* --- queues --- */

/* lavapipe has one family. */
static uint32_t n_families(void)
{
    return n_copiers > 0 ? 2 : 1;
}

static void describe(uint32_t family, VkQueueFamilyProperties *p)
{
    p->queueCount = family == 0 ? n_queues : n_copiers;
    if (family > 0)
        p->queueFlags = VK_QUEUE_TRANSFER_BIT;
}

static VKAPI_ATTR void VKAPI_CALL families(
    VkPhysicalDevice physical, uint32_t *count, VkQueueFamilyProperties *out)
{
    uint32_t n = out && *count < n_families() ? *count : n_families(), one = 1;

    for (uint32_t i = 0; out && i < n; i++) {
        real_families(physical, &one, &out[i]);
        describe(i, &out[i]);
    }
    *count = n;
}

static VKAPI_ATTR void VKAPI_CALL families2(
    VkPhysicalDevice physical, uint32_t *count, VkQueueFamilyProperties2 *out)
{
    uint32_t n = out && *count < n_families() ? *count : n_families(), one = 1;

    for (uint32_t i = 0; out && i < n; i++) {
        real_families2(physical, &one, &out[i]);
        describe(i, &out[i].queueFamilyProperties);
    }
    *count = n;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
    const VkDeviceCreateInfo *info, const VkAllocationCallbacks *allocator, VkDevice *out)
{
    float priority = 1;
    VkDeviceQueueCreateInfo queue = info->pQueueCreateInfos[0];
    VkDeviceCreateInfo one = *info;

    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    one.queueCreateInfoCount = 1;
    one.pQueueCreateInfos = &queue;
    return real_create_device(physical, &one, allocator, out);
}

static VKAPI_ATTR void VKAPI_CALL get_queue(
    VkDevice device, uint32_t family, uint32_t index, VkQueue *out)
{
    struct queue *q = &queues[family == 0 ? index : n_queues + index];

    real_get_queue(device, 0, 0, &real_queue);
    if (q->loader.loaderMagic == 0)
        set_loader_magic_value(q);
    *out = (VkQueue)q;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pool(VkDevice device,
    const VkCommandPoolCreateInfo *info, const VkAllocationCallbacks *allocator, VkCommandPool *out)
{
    VkCommandPoolCreateInfo theirs = *info;

    theirs.queueFamilyIndex = 0;
    return real_create_pool(device, &theirs, allocator, out);
}

__attribute__((destructor)) static void end(void)
{
    if (n_copiers > 0 && !copied)
        _exit(1);
}

static struct queue *queue_of(VkQueue handle)
{
    return n_queues ? (struct queue *)handle : &queues[0];
}

static void enter(struct queue *q)
{
    if (atomic_exchange(&q->busy, true))
        abort();
    sched_yield();
    pthread_mutex_lock(&real_lock);
}

static void leave(struct queue *q)
{
    pthread_mutex_unlock(&real_lock);
    atomic_store(&q->busy, false);
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(
    VkQueue queue, uint32_t n, const VkSubmitInfo *infos, VkFence fence)
{
    if (lost || (lost_after > 0 && atomic_fetch_add(&submits, 1) >= lost_after))
        return VK_ERROR_DEVICE_LOST;
    if (n_copiers > 0 && queue_of(queue) >= &queues[n_queues] && n > 0 &&
        infos->commandBufferCount > 0)
        copied = true;
    enter(queue_of(queue));
    VkResult r = real_submit(n_queues ? real_queue : queue, n, infos, fence);
    leave(queue_of(queue));
    return r;
}

/* The queue is its user's for as long as it waits; lavapipe's is not. */
static VKAPI_ATTR VkResult VKAPI_CALL wait_idle(VkQueue queue)
{
    VkResult r = real_wait_idle(n_queues ? real_queue : queue);

    return lost ? VK_ERROR_DEVICE_LOST : r;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_device(VkDevice device)
{
    uint32_t n = n_queues + n_copiers > 0 ? n_queues + n_copiers : 1;

    for (uint32_t i = 0; i < n; i++) {
        if (atomic_exchange(&queues[i].busy, true))
            abort();
    }
    VkResult r = real_wait_device(device);
    for (uint32_t i = 0; i < n; i++)
        atomic_store(&queues[i].busy, false);
    return lost ? VK_ERROR_DEVICE_LOST : r;
}

/* What was under way is over all the same when it returns. */
static VKAPI_ATTR VkResult VKAPI_CALL wait(
    VkDevice device, uint32_t n, const VkFence *fences, VkBool32 all, uint64_t timeout)
{
    VkResult r = real_wait(device, n, fences, all, timeout);

    return lost ? VK_ERROR_DEVICE_LOST : r;
}

/* --- how it is found --- */

#define F(name, ours, needs_queues)                                                                \
    {                                                                                              \
        "vk" #name, (PFN_vkVoidFunction)(ours), (PFN_vkVoidFunction *)&real_##ours, needs_queues   \
    }
struct function {
    const char *name;
    PFN_vkVoidFunction ours, *real;
    bool needs_queues; /* LESS_QUEUES */
};
static const struct function of_device[] = {
    F(QueueSubmit, submit, false),
    F(QueueWaitIdle, wait_idle, false),
    F(DeviceWaitIdle, wait_device, false),
    F(WaitForFences, wait, false),
    F(GetDeviceQueue, get_queue, true),
    F(CreateCommandPool, create_pool, true),
    {0},
};

static PFN_vkVoidFunction choose(
    const struct function *f, const char *name, PFN_vkVoidFunction theirs)
{
    for (; f->name; f++) {
        if (theirs && strcmp(f->name, name) == 0 && (n_queues || !f->needs_queues)) {
            *f->real = theirs;
            return f->ours;
        }
    }
    return theirs;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char *name)
{
    return choose(of_device, name, real_get_device(device, name));
}

static const struct function of_instance[] = {
    F(EnumerateDeviceExtensionProperties, enumerate, false),
    F(GetDeviceProcAddr, get_device, false),
    F(CreateDevice, create_device, true),
    F(GetPhysicalDeviceQueueFamilyProperties, families, true),
    F(GetPhysicalDeviceQueueFamilyProperties2, families2, true),
    {0},
};

EXPORT void less_lose(bool is_lost);
EXPORT VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);
EXPORT PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(
    VkInstance instance, const char *name);

EXPORT void less_lose(bool is_lost)
{
    lost = is_lost;
}

EXPORT VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    return real_negotiate(version);
}

EXPORT PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(
    VkInstance instance, const char *name)
{
    return choose(of_instance, name, real(instance, name));
}
