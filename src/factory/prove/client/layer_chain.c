/*
 * What Vulkan's loader does for a layer (its LoaderLayerInterface.md): functions go from the client
 * to the layer and from there to the driver, whose ends are here.
 *
 * A layer knows what an object belongs to by the first word of its handle, which a driver sets to a
 * magic number and leaves to the loader: here it becomes the instance for an instance and its
 * physical devices, and the device for a device, its queues and its command buffers.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <vulkan/vk_layer.h>

#include "layer_chain.h"

#define DRIVER_MAGIC 0x01CDC0DEu /* vk_icd.h: ICD_LOADER_MAGIC; Android's is the same */
#define EXTENSIONS_MAX 16u

static struct {
    struct tp_entry driver;
    void *library;
    PFN_vkGetInstanceProcAddr layer;
    PFN_vkCreateDevice layer_create_device;
    struct tp_vk vk; /* the driver's */
    const char *missing;
    void (*object)(const char *what);
} chain;

static void give_key(void *handle, void *key, const char *what)
{
    void **word = handle;
    char text[200];
    if (!handle)
        return;
    if ((uintptr_t)*word != DRIVER_MAGIC && *word != key) {
        snprintf(text, sizeof text, "%s: the handle begins with %p, where a driver writes 0x%x", what,
                 *word, DRIVER_MAGIC);
        chain.object(text);
    }
    *word = key;
}

/* A layer's own objects belong where their parent does. */
static VkResult VKAPI_CALL set_instance_data(VkInstance instance, void *object)
{
    *(void **)object = *(void **)instance;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL set_device_data(VkDevice device, void *object)
{
    *(void **)object = *(void **)device;
    return VK_SUCCESS;
}

/* --- ends: what the layer calls --- */

/* VK_EXT_debug_utils is the layer's, whether or not the driver has one of its own. */
static VkResult VKAPI_CALL end_create_instance(const VkInstanceCreateInfo *info,
                                               const VkAllocationCallbacks *allocator,
                                               VkInstance *out)
{
    const char *extensions[EXTENSIONS_MAX];
    VkInstanceCreateInfo own = *info;
    own.pNext = NULL;
    own.enabledLayerCount = own.enabledExtensionCount = 0;
    own.ppEnabledLayerNames = NULL;
    own.ppEnabledExtensionNames = extensions;
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        if (!strcmp(info->ppEnabledExtensionNames[i], "VK_EXT_debug_utils"))
            continue;
        if (own.enabledExtensionCount == EXTENSIONS_MAX)
            return VK_ERROR_EXTENSION_NOT_PRESENT;
        extensions[own.enabledExtensionCount++] = info->ppEnabledExtensionNames[i];
    }
    VkResult result = chain.driver.create_instance(&own, allocator, out);
    if (result != VK_SUCCESS)
        return result;
    chain.missing = tp_vk_load(&chain.vk, chain.driver.get_proc, *out);
    give_key(*out, *out, "vkCreateInstance");
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL end_enumerate_physical(VkInstance instance, uint32_t *count,
                                                  VkPhysicalDevice *devices)
{
    VkResult result = chain.vk.EnumeratePhysicalDevices(instance, count, devices);
    for (uint32_t i = 0; devices && result >= 0 && i < *count; i++)
        give_key(devices[i], instance, "vkEnumeratePhysicalDevices");
    return result;
}

static VkResult VKAPI_CALL end_create_device(VkPhysicalDevice physical,
                                             const VkDeviceCreateInfo *info,
                                             const VkAllocationCallbacks *allocator, VkDevice *out)
{
    VkResult result = chain.vk.CreateDevice(physical, info, allocator, out);
    if (result == VK_SUCCESS)
        give_key(*out, *out, "vkCreateDevice");
    return result;
}

static void VKAPI_CALL end_get_queue(VkDevice device, uint32_t family, uint32_t index, VkQueue *out)
{
    chain.vk.GetDeviceQueue(device, family, index, out);
    give_key(*out, device, "vkGetDeviceQueue");
}

static void VKAPI_CALL end_get_queue2(VkDevice device, const VkDeviceQueueInfo2 *info, VkQueue *out)
{
    PFN_vkGetDeviceQueue2 get =
        (PFN_vkGetDeviceQueue2)chain.vk.GetDeviceProcAddr(device, "vkGetDeviceQueue2");
    get(device, info, out);
    give_key(*out, device, "vkGetDeviceQueue2");
}

static VkResult VKAPI_CALL end_allocate_commands(VkDevice device,
                                                 const VkCommandBufferAllocateInfo *info,
                                                 VkCommandBuffer *out)
{
    VkResult result = chain.vk.AllocateCommandBuffers(device, info, out);
    for (uint32_t i = 0; result == VK_SUCCESS && i < info->commandBufferCount; i++)
        give_key(out[i], device, "vkAllocateCommandBuffers");
    return result;
}

static PFN_vkVoidFunction VKAPI_CALL end_get_device_proc(VkDevice device, const char *name);
static PFN_vkVoidFunction VKAPI_CALL end_get_proc(VkInstance instance, const char *name);

struct end {
    const char *name;
    PFN_vkVoidFunction function;
};

static const struct end instance_ends[] = {
    {"vkCreateDevice", (PFN_vkVoidFunction)end_create_device},
    {"vkCreateInstance", (PFN_vkVoidFunction)end_create_instance},
    {"vkEnumeratePhysicalDevices", (PFN_vkVoidFunction)end_enumerate_physical},
    {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)end_get_device_proc},
    {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)end_get_proc},
    {0},
};
static const struct end device_ends[] = {
    {"vkAllocateCommandBuffers", (PFN_vkVoidFunction)end_allocate_commands},
    {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)end_get_device_proc},
    {"vkGetDeviceQueue", (PFN_vkVoidFunction)end_get_queue},
    {"vkGetDeviceQueue2", (PFN_vkVoidFunction)end_get_queue2},
    {0},
};

static PFN_vkVoidFunction find_end(const struct end *ends, const char *name)
{
    for (; ends->name; ends++) {
        if (!strcmp(ends->name, name))
            return ends->function;
    }
    return NULL;
}

static PFN_vkVoidFunction VKAPI_CALL end_get_device_proc(VkDevice device, const char *name)
{
    PFN_vkVoidFunction f = chain.vk.GetDeviceProcAddr(device, name);
    PFN_vkVoidFunction end = f ? find_end(device_ends, name) : NULL;
    return end ? end : f;
}

static PFN_vkVoidFunction VKAPI_CALL end_get_proc(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction f = find_end(instance_ends, name);
    if (!f)
        f = find_end(device_ends, name);
    return f || strstr(name, "DebugUtils") ? f : chain.driver.get_proc(instance, name);
}

/* --- beginnings: what the client calls --- */

static VkResult VKAPI_CALL begin_create_device(VkPhysicalDevice physical,
                                               const VkDeviceCreateInfo *info,
                                               const VkAllocationCallbacks *allocator,
                                               VkDevice *out)
{
    VkLayerDeviceLink link = {NULL, end_get_proc, end_get_device_proc};
    VkLayerDeviceCreateInfo data = {
        .sType = VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
        .pNext = info->pNext,
        .function = VK_LOADER_DATA_CALLBACK,
        .u.pfnSetDeviceLoaderData = set_device_data,
    };
    VkLayerDeviceCreateInfo first = {
        .sType = VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
        .pNext = &data,
        .function = VK_LAYER_LINK_INFO,
        .u.pLayerInfo = &link,
    };
    VkDeviceCreateInfo linked = *info;
    linked.pNext = &first;
    return chain.layer_create_device(physical, &linked, allocator, out);
}

static VkResult VKAPI_CALL begin_create_instance(const VkInstanceCreateInfo *info,
                                                 const VkAllocationCallbacks *allocator,
                                                 VkInstance *out)
{
    VkLayerInstanceLink link = {NULL, end_get_proc, end_get_proc};
    VkLayerInstanceCreateInfo data = {
        .sType = VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO,
        .pNext = info->pNext,
        .function = VK_LOADER_DATA_CALLBACK,
        .u.pfnSetInstanceLoaderData = set_instance_data,
    };
    VkLayerInstanceCreateInfo first = {
        .sType = VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO,
        .pNext = &data,
        .function = VK_LAYER_LINK_INFO,
        .u.pLayerInfo = &link,
    };
    VkInstanceCreateInfo linked = *info;
    linked.pNext = &first;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)chain.layer(NULL, "vkCreateInstance");
    VkResult result = create(&linked, allocator, out);
    if (result == VK_SUCCESS)
        chain.layer_create_device = (PFN_vkCreateDevice)chain.layer(*out, "vkCreateDevice");
    return result;
}

static PFN_vkVoidFunction VKAPI_CALL begin_get_proc(VkInstance instance, const char *name)
{
    return strcmp(name, "vkCreateDevice") ? chain.layer(instance, name)
                                          : (PFN_vkVoidFunction)begin_create_device;
}

static int open_layer(const char *path, char *why, size_t size)
{
    chain.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!chain.library) {
        const char *said = dlerror();
        snprintf(why, size, "the validation layer: %s", said ? said : path);
        return -1;
    }
    PFN_vkNegotiateLoaderLayerInterfaceVersion negotiate;
    *(void **)&negotiate = dlsym(chain.library, "vkNegotiateLoaderLayerInterfaceVersion");
    VkNegotiateLayerInterface terms = {.sType = LAYER_NEGOTIATE_INTERFACE_STRUCT,
                                       .loaderLayerInterfaceVersion = 2};
    if (!negotiate || negotiate(&terms) != VK_SUCCESS || terms.loaderLayerInterfaceVersion != 2 ||
        !terms.pfnGetInstanceProcAddr ||
        !terms.pfnGetInstanceProcAddr(NULL, "vkCreateInstance")) {
        snprintf(why, size, "%s: is not a Vulkan layer of interface version 2", path);
        return -1;
    }
    chain.layer = terms.pfnGetInstanceProcAddr;
    return 0;
}

int tp_layer_chain(struct tp_entry *entry, const char *path, void (*object)(const char *what),
                   char *why, size_t size)
{
    if (open_layer(path, why, size)) {
        tp_layer_unchain();
        return -1;
    }
    chain.driver = *entry;
    chain.object = object;
    entry->create_instance = begin_create_instance;
    entry->get_proc = begin_get_proc;
    return 0;
}

const struct tp_vk *tp_layer_below(void)
{
    return &chain.vk;
}

const char *tp_layer_missing(void)
{
    return chain.missing;
}

void tp_layer_unchain(void)
{
    if (chain.library)
        dlclose(chain.library);
    memset(&chain, 0, sizeof chain);
}
