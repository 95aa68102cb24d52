#include <string.h>

#include "vk.h"

static PFN_vkVoidFunction find(PFN_vkGetInstanceProcAddr get_proc, VkInstance instance,
                               const char *name, const char *other)
{
    PFN_vkVoidFunction f = get_proc(instance, name);
    return f || !other ? f : get_proc(instance, other);
}

const char *tp_vk_load(struct tp_vk *vk, PFN_vkGetInstanceProcAddr get_proc, VkInstance instance)
{
    const char *missing = NULL;
    memset(vk, 0, sizeof *vk);
#define LOAD_AS(name, as)                                                                          \
    vk->name = (PFN_vk##name)get_proc(instance, as);                                               \
    if (!vk->name)                                                                                 \
        missing = as;
#define LOAD(name) LOAD_AS(name, "vk" #name)
#define LOAD_KHR(name) LOAD_AS(name, "vk" #name "KHR")
#define LOAD_OPTIONAL(name, other)                                                                 \
    vk->name = (PFN_vk##name)find(get_proc, instance, "vk" #name, other);
    TP_VK_INSTANCE(LOAD)
    TP_VK_INSTANCE_KHR(LOAD_KHR)
    TP_VK_DEVICE(LOAD)
    TP_VK_OPTIONAL(LOAD_OPTIONAL)
#undef LOAD_AS
#undef LOAD
#undef LOAD_KHR
#undef LOAD_OPTIONAL
    return missing;
}

void tp_vk_limit(struct tp_vk *vk, const struct tp_vk *below)
{
#define LIMIT(name, other)                                                                         \
    if (!below->name)                                                                              \
        vk->name = NULL;
    TP_VK_OPTIONAL(LIMIT)
#undef LIMIT
}

const char *tp_vk_device_lacks(const struct tp_vk *vk, VkDevice device)
{
#define LOOK(name)                                                                                 \
    if (!vk->GetDeviceProcAddr(device, "vk" #name))                                                \
        return "vk" #name;
    TP_VK_DEVICE(LOOK)
#undef LOOK
    return NULL;
}

const char *tp_vk_result(VkResult result)
{
    switch (result) {
#define NAME(code)                                                                                 \
    case code:                                                                                     \
        return #code;
        NAME(VK_SUCCESS)
        NAME(VK_NOT_READY)
        NAME(VK_TIMEOUT)
        NAME(VK_EVENT_SET)
        NAME(VK_EVENT_RESET)
        NAME(VK_INCOMPLETE)
        NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
        NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
        NAME(VK_ERROR_INITIALIZATION_FAILED)
        NAME(VK_ERROR_DEVICE_LOST)
        NAME(VK_ERROR_MEMORY_MAP_FAILED)
        NAME(VK_ERROR_LAYER_NOT_PRESENT)
        NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
        NAME(VK_ERROR_FEATURE_NOT_PRESENT)
        NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
        NAME(VK_ERROR_TOO_MANY_OBJECTS)
        NAME(VK_ERROR_FORMAT_NOT_SUPPORTED)
        NAME(VK_ERROR_FRAGMENTED_POOL)
        NAME(VK_ERROR_UNKNOWN)
        NAME(VK_ERROR_OUT_OF_POOL_MEMORY)
        NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE)
        NAME(VK_ERROR_FRAGMENTATION)
        NAME(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)
        NAME(VK_ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT)
#undef NAME
    default:
        return "another VkResult";
    }
}
