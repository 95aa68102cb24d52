/*
 * The least that is a Vulkan 1.0 driver: it needs no library but the C library's, has none of the
 * extensions, and draws nothing; what is submitted has happened. For machines without a driver, and
 * other processors' programs under an emulator.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vk_icd.h>
#include <vulkan/vulkan_core.h>

/* Objects are allocations: dispatchable ones begin with what the loader wants. */
struct object {
    VK_LOADER_DATA loader;
    VkDeviceSize bytes;
    void *memory;
    VkBool32 signaled;
};

static struct object physical = {.loader = {ICD_LOADER_MAGIC}},
                     queue = {.loader = {ICD_LOADER_MAGIC}};

static VkResult make(void *out, VkDeviceSize bytes)
{
    struct object *o = calloc(1, sizeof *o);

    if (!o)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    o->loader.loaderMagic = ICD_LOADER_MAGIC;
    o->bytes = bytes;
    memcpy(out, &o, sizeof o);
    return VK_SUCCESS;
}

static struct object *of(const void *handle)
{
    struct object *o;

    memcpy(&o, handle, sizeof o);
    return o;
}

#define DO(type, name, ...) static VKAPI_ATTR type VKAPI_CALL name(__VA_ARGS__)
#define OWNER void *owner __attribute__((unused))
#define REST const VkAllocationCallbacks *rest __attribute__((unused))

/* Made without a size, and ended. */
#define MAKES(name, info, handle)                                                                  \
    DO(VkResult, create_##name, OWNER, const info *i __attribute__((unused)), REST, handle *out)   \
    {                                                                                              \
        return make(out, 0);                                                                       \
    }
#define ENDS(name, handle)                                                                         \
    DO(void, destroy_##name, OWNER, handle h, REST)                                                \
    {                                                                                              \
        free(of(&h));                                                                              \
    }
MAKES(semaphore, VkSemaphoreCreateInfo, VkSemaphore)
MAKES(pool, VkCommandPoolCreateInfo, VkCommandPool)
MAKES(device, VkDeviceCreateInfo, VkDevice)
ENDS(semaphore, VkSemaphore)
ENDS(pool, VkCommandPool)
ENDS(image, VkImage)
ENDS(buffer, VkBuffer)
ENDS(fence, VkFence)

DO(VkResult, create_instance, const VkInstanceCreateInfo *i, REST, VkInstance *out)
{
    return i ? make(out, 0) : VK_ERROR_INITIALIZATION_FAILED;
}

DO(void, destroy_dispatchable, void *handle, REST)
{
    free(handle);
}

DO(VkResult, enumerate, OWNER, uint32_t *count, VkPhysicalDevice *out)
{
    void *p = &physical;

    *count = 1;
    if (out)
        memcpy(out, &p, sizeof p);
    return VK_SUCCESS;
}

DO(void, get_properties, OWNER, VkPhysicalDeviceProperties *out)
{
    *out = (VkPhysicalDeviceProperties){.apiVersion = VK_API_VERSION_1_0,
        .deviceType = VK_PHYSICAL_DEVICE_TYPE_CPU,
        .deviceName = "bare",
        .limits = {.maxImageDimension2D = 8192,
            .nonCoherentAtomSize = 64,
            .optimalBufferCopyRowPitchAlignment = 4}};
}

DO(void, get_features, OWNER, VkPhysicalDeviceFeatures *out)
{
    *out = (VkPhysicalDeviceFeatures){0};
}

DO(void, get_memory, OWNER, VkPhysicalDeviceMemoryProperties *out)
{
    *out = (VkPhysicalDeviceMemoryProperties){.memoryTypeCount = 1,
        .memoryTypes = {{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
            0}},
        .memoryHeapCount = 1,
        .memoryHeaps = {{1 << 30, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}}};
}

DO(void, get_families, OWNER, uint32_t *count, VkQueueFamilyProperties *out)
{
    if (out && *count > 0)
        out[0] = (VkQueueFamilyProperties){
            .queueFlags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_TRANSFER_BIT, .queueCount = 1};
    *count = 1;
}

DO(void, get_format, OWNER, VkFormat format __attribute__((unused)), VkFormatProperties *out)
{
    VkFormatFeatureFlags all = VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT |
        VK_FORMAT_FEATURE_TRANSFER_SRC_BIT | VK_FORMAT_FEATURE_TRANSFER_DST_BIT;

    *out = (VkFormatProperties){all, all, all};
}

DO(VkResult, enumerate_extensions, OWNER, const char *layer __attribute__((unused)),
    uint32_t *count, VkExtensionProperties *out __attribute__((unused)))
{
    *count = 0;
    return VK_SUCCESS;
}

DO(VkResult, enumerate_instance_extensions, const char *layer, uint32_t *count,
    VkExtensionProperties *out)
{
    return enumerate_extensions(NULL, layer, count, out);
}

DO(void, get_queue, OWNER, uint32_t family __attribute__((unused)),
    uint32_t index __attribute__((unused)), VkQueue *out)
{
    void *q = &queue;

    memcpy(out, &q, sizeof q);
}

DO(VkResult, create_image, OWNER, const VkImageCreateInfo *i, REST, VkImage *out)
{
    return make(out, (VkDeviceSize)i->extent.width * i->extent.height * 4);
}

DO(VkResult, create_buffer, OWNER, const VkBufferCreateInfo *i, REST, VkBuffer *out)
{
    return make(out, i->size);
}

DO(VkResult, create_fence, OWNER, const VkFenceCreateInfo *i, REST, VkFence *out)
{
    VkResult r = make(out, 0);

    if (r == VK_SUCCESS)
        of(out)->signaled = i->flags & VK_FENCE_CREATE_SIGNALED_BIT;
    return r;
}

DO(void, image_requirements, OWNER, VkImage image, VkMemoryRequirements *out)
{
    *out = (VkMemoryRequirements){of(&image)->bytes, 64, 1};
}

DO(void, buffer_requirements, OWNER, VkBuffer buffer, VkMemoryRequirements *out)
{
    *out = (VkMemoryRequirements){of(&buffer)->bytes, 64, 1};
}

DO(void, get_layout, OWNER, VkImage image, const VkImageSubresource *s __attribute__((unused)),
    VkSubresourceLayout *out)
{
    *out = (VkSubresourceLayout){.size = of(&image)->bytes};
}

DO(VkResult, allocate, OWNER, const VkMemoryAllocateInfo *i, REST, VkDeviceMemory *out)
{
    VkResult r = make(out, i->allocationSize);

    if (r == VK_SUCCESS)
        of(out)->memory = calloc(1, i->allocationSize);
    return r;
}

DO(void, free_memory, OWNER, VkDeviceMemory memory, REST)
{
    if (of(&memory))
        free(of(&memory)->memory);
    free(of(&memory));
}

DO(VkResult, map, OWNER, VkDeviceMemory memory, VkDeviceSize at,
    VkDeviceSize bytes __attribute__((unused)), VkMemoryMapFlags flags __attribute__((unused)),
    void **out)
{
    *out = (char *)of(&memory)->memory + at;
    return VK_SUCCESS;
}

DO(VkResult, allocate_commands, OWNER, const VkCommandBufferAllocateInfo *i, VkCommandBuffer *out)
{
    VkResult r = VK_SUCCESS;

    for (uint32_t k = 0; k < i->commandBufferCount && r == VK_SUCCESS; k++)
        r = make(&out[k], 0);
    return r;
}

DO(VkResult, submit, OWNER, uint32_t n __attribute__((unused)),
    const VkSubmitInfo *infos __attribute__((unused)), VkFence fence)
{
    if (of(&fence))
        of(&fence)->signaled = VK_TRUE;
    return VK_SUCCESS;
}

DO(VkResult, reset_fences, OWNER, uint32_t n, const VkFence *fences)
{
    for (uint32_t i = 0; i < n; i++)
        of(&fences[i])->signaled = VK_FALSE;
    return VK_SUCCESS;
}

DO(VkResult, fence_status, OWNER, VkFence fence)
{
    return of(&fence)->signaled ? VK_SUCCESS : VK_NOT_READY;
}

/* What has no consequences; each convention that is used passes these arguments on alike. */
DO(VkResult, nothing, void)
{
    return VK_SUCCESS;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get(void *handle, const char *name);

static const struct {
    const char *name;
    PFN_vkVoidFunction function;
} functions[] = {
#define HAS(name, function)                                                                        \
    {                                                                                              \
        "vk" name, (PFN_vkVoidFunction)(function)                                                  \
    }
    HAS("CreateInstance", create_instance),
    HAS("DestroyInstance", destroy_dispatchable),
    HAS("EnumerateInstanceExtensionProperties", enumerate_instance_extensions),
    HAS("EnumeratePhysicalDevices", enumerate),
    HAS("GetPhysicalDeviceProperties", get_properties),
    HAS("GetPhysicalDeviceFeatures", get_features),
    HAS("GetPhysicalDeviceMemoryProperties", get_memory),
    HAS("GetPhysicalDeviceQueueFamilyProperties", get_families),
    HAS("GetPhysicalDeviceFormatProperties", get_format),
    HAS("EnumerateDeviceExtensionProperties", enumerate_extensions),
    HAS("GetInstanceProcAddr", get),
    HAS("GetDeviceProcAddr", get),
    HAS("CreateDevice", create_device),
    HAS("DestroyDevice", destroy_dispatchable),
    HAS("GetDeviceQueue", get_queue),
    HAS("QueueSubmit", submit),
    HAS("CreateImage", create_image),
    HAS("DestroyImage", destroy_image),
    HAS("GetImageMemoryRequirements", image_requirements),
    HAS("GetImageSubresourceLayout", get_layout),
    HAS("AllocateMemory", allocate),
    HAS("FreeMemory", free_memory),
    HAS("MapMemory", map),
    HAS("CreateBuffer", create_buffer),
    HAS("DestroyBuffer", destroy_buffer),
    HAS("GetBufferMemoryRequirements", buffer_requirements),
    HAS("CreateFence", create_fence),
    HAS("DestroyFence", destroy_fence),
    HAS("ResetFences", reset_fences),
    HAS("GetFenceStatus", fence_status),
    HAS("CreateSemaphore", create_semaphore),
    HAS("DestroySemaphore", destroy_semaphore),
    HAS("CreateCommandPool", create_pool),
    HAS("DestroyCommandPool", destroy_pool),
    HAS("AllocateCommandBuffers", allocate_commands),
    HAS("WaitForFences", nothing),
    HAS("QueueBindSparse", nothing),
    HAS("QueueWaitIdle", nothing),
    HAS("DeviceWaitIdle", nothing),
    HAS("BindImageMemory", nothing),
    HAS("BindBufferMemory", nothing),
    HAS("UnmapMemory", nothing),
    HAS("InvalidateMappedMemoryRanges", nothing),
    HAS("BeginCommandBuffer", nothing),
    HAS("EndCommandBuffer", nothing),
    HAS("CmdPipelineBarrier", nothing),
    HAS("CmdCopyImageToBuffer", nothing),
    HAS("CmdCopyBufferToImage", nothing),
};

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get(void *handle, const char *name)
{
    (void)handle;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (!strcmp(functions[i].name, name))
            return functions[i].function;
    }
    return NULL;
}

#define EXPORT __attribute__((visibility("default"))) VKAPI_ATTR
EXPORT VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);
EXPORT PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance handle, const char *name);

EXPORT VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    *version = *version > 5 ? 5 : *version;
    return VK_SUCCESS;
}

EXPORT PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance handle, const char *name)
{
    return get(handle, name);
}
