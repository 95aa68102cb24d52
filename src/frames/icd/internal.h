/*
 * What the ICD's files share. Ours are surfaces, swapchains and displays; instances, devices,
 * queues and command buffers are the driver's own objects, and what we know of them is found by
 * their handle (map.h), in the functions that we intercept and nowhere else.
 */
#ifndef TP_FRAMES_ICD_INTERNAL_H
#define TP_FRAMES_ICD_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "frames/icd/clock.h"
#include "frames/icd/extension.h"
#include "frames/icd/target.h"
#include "frames/icd/vk.h"

/* The driver's functions that we call, of each level. The first ones must be there; those of the
 * second list may be NULL. */
#define TP_ICD_INSTANCE_FUNCTIONS(F)                                                               \
    F(DestroyInstance)                                                                             \
    F(EnumeratePhysicalDevices)                                                                    \
    F(GetPhysicalDeviceProperties)                                                                 \
    F(GetPhysicalDeviceFeatures)                                                                   \
    F(GetPhysicalDeviceMemoryProperties)                                                           \
    F(GetPhysicalDeviceQueueFamilyProperties)                                                      \
    F(GetPhysicalDeviceFormatProperties)                                                           \
    F(EnumerateDeviceExtensionProperties)                                                          \
    F(GetDeviceProcAddr)                                                                           \
    F(CreateDevice)
#define TP_ICD_INSTANCE_FUNCTIONS_MAYBE(F)                                                         \
    F(EnumeratePhysicalDeviceGroups)                                                               \
    F(GetPhysicalDeviceProperties2)                                                                \
    F(GetPhysicalDeviceFeatures2)                                                                  \
    F(GetPhysicalDeviceFormatProperties2)                                                          \
    F(GetPhysicalDeviceImageFormatProperties2)                                                     \
    F(GetPhysicalDeviceExternalBufferProperties)                                                   \
    F(GetPhysicalDeviceExternalSemaphoreProperties)                                                \
    F(GetPhysicalDeviceExternalFenceProperties)

#define TP_ICD_DEVICE_FUNCTIONS(F)                                                                 \
    F(DestroyDevice)                                                                               \
    F(GetDeviceQueue)                                                                              \
    F(QueueSubmit)                                                                                 \
    F(QueueBindSparse)                                                                             \
    F(QueueWaitIdle)                                                                               \
    F(DeviceWaitIdle)                                                                              \
    F(CreateImage)                                                                                 \
    F(DestroyImage)                                                                                \
    F(GetImageMemoryRequirements)                                                                  \
    F(GetImageSubresourceLayout)                                                                   \
    F(BindImageMemory)                                                                             \
    F(AllocateMemory)                                                                              \
    F(FreeMemory)                                                                                  \
    F(MapMemory)                                                                                   \
    F(UnmapMemory)                                                                                 \
    F(InvalidateMappedMemoryRanges)                                                                \
    F(CreateBuffer)                                                                                \
    F(DestroyBuffer)                                                                               \
    F(GetBufferMemoryRequirements)                                                                 \
    F(BindBufferMemory)                                                                            \
    F(CreateFence)                                                                                 \
    F(DestroyFence)                                                                                \
    F(ResetFences)                                                                                 \
    F(WaitForFences)                                                                               \
    F(GetFenceStatus)                                                                              \
    F(CreateSemaphore)                                                                             \
    F(DestroySemaphore)                                                                            \
    F(CreateCommandPool)                                                                           \
    F(DestroyCommandPool)                                                                          \
    F(AllocateCommandBuffers)                                                                      \
    F(BeginCommandBuffer)                                                                          \
    F(EndCommandBuffer)                                                                            \
    F(CmdPipelineBarrier)                                                                          \
    F(CmdCopyImageToBuffer)                                                                        \
    F(CmdCopyBufferToImage)
#define TP_ICD_DEVICE_FUNCTIONS_MAYBE(F)                                                           \
    F(GetDeviceQueue2)                                                                             \
    F(QueueSubmit2)                                                                                \
    F(BindImageMemory2)                                                                            \
    F(GetMemoryFdKHR)                                                                              \
    F(GetMemoryFdPropertiesKHR)                                                                    \
    F(GetMemoryHostPointerPropertiesEXT)                                                           \
    F(GetImageDrmFormatModifierPropertiesEXT)                                                      \
    F(GetSemaphoreFdKHR)                                                                           \
    F(ImportSemaphoreFdKHR)                                                                        \
    F(ImportFenceFdKHR)                                                                            \
    F(SetDebugUtilsObjectNameEXT)                                                                  \
    F(SetDebugUtilsObjectTagEXT)                                                                   \
    F(DebugMarkerSetObjectNameEXT)                                                                 \
    F(DebugMarkerSetObjectTagEXT)                                                                  \
    F(SetPrivateData)                                                                              \
    F(GetPrivateData)                                                                              \
    F(DestroyPrivateDataSlot)

#define TP_ICD_MEMBER(name) PFN_vk##name name;

struct tp_icd_instance {
    VkInstance handle;
    uint32_t api_version; /* the lower of the application's and the driver's */
    uint64_t enabled;     /* TP_BIT(TP_EXT_…) that the application asked for */
    bool is_gamescope;    /* it says so */
    struct {
        TP_ICD_INSTANCE_FUNCTIONS(TP_ICD_MEMBER)
        TP_ICD_INSTANCE_FUNCTIONS_MAYBE(TP_ICD_MEMBER)
    } vk;
    struct tp_icd_physical *physicals; /* a list, owned */
    struct tp_scanout *scanout; /* the scan-out connection (release.h); owned, once asked for */
    struct tp_icd_displays *displays; /* display.h; owned, once asked for */
    pthread_mutex_t lock;             /* for the three above */
};

struct tp_icd_physical {
    VkPhysicalDevice handle;
    struct tp_icd_instance *instance;
    struct tp_icd_physical *next;
    uint64_t driver_has; /* TP_BIT(TP_NEED_…) of the driver's extensions that we use */
    uint64_t offers;     /* TP_BIT(TP_EXT_…) of ours that this device has */
    uint32_t api_version;
    VkDeviceSize host_alignment; /* of memory that is imported from the host; 0: cannot */
    bool import_semaphore_sync_fd, export_semaphore_sync_fd, import_fence_sync_fd;
};

/* A queue that the application has, and how we share it. */
struct tp_icd_queue {
    VkQueue handle;
    struct tp_icd_device *device;
    uint32_t family, index;
    /* Held around each use of one of ours, and of others' where device->share_queues. */
    pthread_mutex_t lock;
};

struct tp_icd_device {
    VkDevice handle;
    struct tp_icd_physical *physical;
    struct tp_icd_instance *instance;
    uint64_t enabled; /* TP_BIT(TP_EXT_…) that the application asked for */
    uint64_t needs;   /* TP_BIT(TP_NEED_…) that the driver has on now */
    struct {
        TP_ICD_DEVICE_FUNCTIONS(TP_ICD_MEMBER)
        TP_ICD_DEVICE_FUNCTIONS_MAYBE(TP_ICD_MEMBER)
    } vk;
    struct tp_icd_queue *queues; /* those of the application, and ours behind them */
    uint32_t n_queues;
    struct tp_icd_queue *own; /* to signal acquires with; one of queues, or NULL */
    /* Copies pictures (buffer_copy.c) beside what the GPU renders; its lock is held around each use
     * of it. One of queues, or NULL: the queue that presents does it. */
    struct tp_icd_queue *copier;
    /* Acquires are signalled by a submit on a queue of the application's: its functions are
     * intercepted. */
    bool share_queues;
    bool can_import_sync_fd; /* into semaphores and fences: acquires need no queue */
    bool can_export_sync_fd; /* out of semaphores: presents give fences */
    VkPhysicalDeviceMemoryProperties memory;
    _Atomic bool lost;
    struct tp_icd_dmabuf *dmabuf; /* memory in place of the driver's (dmabuf.h); owned, or NULL */
    struct tp_icd_private *privates; /* what is attached to our objects (object.c); owned */
    pthread_mutex_t private_lock;
};

/* A window of the application's, as it names it: two surfaces may be of the same one. */
struct tp_icd_window {
    const void *connection; /* NULL: there is no window, or one that knows its users itself */
    uint64_t id;
};

/* A surface of ours; the handle is its address. */
struct tp_icd_surface {
    struct tp_icd_instance *instance;
    struct tp_icd_window window;
    struct tp_icd_surface *next_claim; /* of those whose window has a swapchain (surface.c) */
    struct tp_target *target;         /* owned */
    pthread_mutex_t lock;             /* for what follows, and for open and close of streams */
    struct tp_icd_swapchain *current; /* the one that is not retired; NULL: none */
    _Atomic int lost;                 /* 0, or the VkResult that everything answers now */
};

static inline struct tp_icd_surface *tp_icd_surface_of(VkSurfaceKHR handle)
{
    return (struct tp_icd_surface *)(uintptr_t)handle;
}

/* Wraps a target: moved, also where it fails. */
VkResult tp_icd_surface_create(struct tp_icd_instance *instance,
    const VkAllocationCallbacks *allocator, struct tp_icd_window window, struct tp_target *target,
    VkSurfaceKHR *out);
/* Its window has a swapchain that is not retired from now on, and has none. false: another
 * surface's has it. Again, or without a claim, is nothing. */
bool tp_icd_surface_claim(struct tp_icd_surface *s);
void tp_icd_surface_unclaim(struct tp_icd_surface *s);

/* What its target says; VkResults, of which "lost" stays. *out of formats: the caller's to free. */
VkResult tp_icd_surface_query(struct tp_icd_surface *s, struct tp_target_caps *out);
VkResult tp_icd_surface_formats(
    struct tp_icd_surface *s, struct tp_target_format **out, uint32_t *n);

/* An intercepted function. */
struct tp_icd_entry {
    const char *name;
    PFN_vkVoidFunction function;
    enum tp_icd_level {
        TP_LEVEL_GLOBAL,
        TP_LEVEL_INSTANCE,
        TP_LEVEL_PHYSICAL,
        TP_LEVEL_DEVICE
    } level;
    /* TP_BIT(TP_EXT_…) of which one must be on; 0: always, TP_WHEN_…: the device's state. */
    uint64_t when;
};
#define TP_WHEN_SHARED (UINT64_C(1) << 63) /* device->share_queues */
/* Only where the driver has that function itself. */
#define TP_WHEN_DRIVER (UINT64_C(1) << 62)
/* Where none of the extensions is on: the driver's own. */
#define TP_ELSE_DRIVER (UINT64_C(1) << 61)
/* Where one is on: ours, although the driver has no such function. */
#define TP_WITHOUT_DRIVER (UINT64_C(1) << 60)
/* Only where we use a queue of the device. */
#define TP_WHEN_SUBMITTING (UINT64_C(1) << 59)
#define TP_ENTRY(name, function, level, when)                                                      \
    {                                                                                              \
        "vk" name, (PFN_vkVoidFunction)(function), level, when                                     \
    }

/* Each file's, ended by a NULL name. */
extern const struct tp_icd_entry tp_icd_instance_entries[], tp_icd_physical_entries[],
    tp_icd_device_entries[], tp_icd_queue_entries[], tp_icd_object_entries[],
    tp_icd_surface_entries[], tp_icd_platform_entries[], tp_icd_display_entries[],
    tp_icd_display_control_entries[],
    tp_icd_swapchain_entries[], tp_icd_acquire_entries[], tp_icd_present_entries[],
    tp_icd_timing_entries[], tp_icd_image_entries[], tp_icd_dmabuf_memory_entries[],
    tp_icd_dmabuf_image_entries[], tp_icd_gamescope_entries[];

/* Ours by handle; NULL: not one of ours. */
struct tp_icd_instance *tp_icd_instance_get(VkInstance handle);
struct tp_icd_physical *tp_icd_physical_get(VkPhysicalDevice handle);
struct tp_icd_device *tp_icd_device_get(VkDevice handle);
struct tp_icd_queue *tp_icd_queue_get(VkQueue handle);

/* Frees what the instance knows of its physical devices, and ends its scan-out connection. */
void tp_icd_instance_finish(struct tp_icd_instance *i);

/* Frees what is attached to our objects. */
void tp_icd_private_finish(struct tp_icd_device *d);
/* The object is gone. */
void tp_icd_private_forget(struct tp_icd_device *d, uint64_t object);

/* Round a use of the queue: other threads use it too, where acquires are signalled on it. */
static inline void tp_icd_queue_lock(struct tp_icd_queue *q)
{
    if (q->device->share_queues)
        pthread_mutex_lock(&q->lock);
}
static inline void tp_icd_queue_unlock(struct tp_icd_queue *q)
{
    if (q->device->share_queues)
        pthread_mutex_unlock(&q->lock);
}

/* The driver's device extensions, the caller's to free. */
VkResult tp_icd_driver_device_extensions(
    struct tp_icd_instance *i, VkPhysicalDevice handle, VkExtensionProperties **out, uint32_t *n);

/* Vulkan's answer to a negative errno of a target. */
VkResult tp_icd_result(int err);

/* The errors that a command may answer, besides memory that ran out (vk.xml has its list). */
enum tp_icd_may {
    TP_MAY_LOSE_SURFACE = 1,
    TP_MAY_LOSE_DEVICE = 2,
    TP_MAY_BE_OUT_OF_DATE = 4,
    TP_MAY_BE_IN_USE = 8,
    TP_MAY_FAIL = 16, /* VK_ERROR_INITIALIZATION_FAILED */
};
/* The same where it may be answered; else what stands for any other. */
VkResult tp_icd_answer(VkResult r, unsigned may);

/* The struct of this type in a chain; NULL: none. */
static inline void *tp_icd_find(const void *chain, VkStructureType type)
{
    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        if (s->sType == type)
            return (void *)(uintptr_t)s;
    }
    return NULL;
}

#endif
