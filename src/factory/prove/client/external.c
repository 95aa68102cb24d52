/*
 * Memory, fences and semaphores that go from one owner to another as file descriptors.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "client.h"

#define BYTES 65536u
#define MS INT64_C(1000000)

/* An export's fd, owned by the run until an import takes it. */
static int own_fd(struct tp_run *r, const char *name, int fd)
{
    if (fd < 0)
        tp_failed(r, "%s: the fd is %d", name, fd);
    tp_own(r, TP_KIND_Fd, (uint64_t)fd);
    return fd;
}

static VkExternalMemoryFeatureFlags memory_features(struct tp_run *r,
                                                    VkExternalMemoryHandleTypeFlagBits type)
{
    VkPhysicalDeviceExternalBufferInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
        .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .handleType = type,
    };
    VkExternalBufferProperties p = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    r->vk->GetPhysicalDeviceExternalBufferProperties(r->client->physical, &info, &p);
    return p.externalMemoryProperties.externalMemoryFeatures;
}

static VkBuffer make_shared_buffer(struct tp_run *r, VkExternalMemoryHandleTypeFlagBits type,
                                   VkMemoryRequirements *needs)
{
    VkExternalMemoryBufferCreateInfo shared = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = type,
    };
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = &shared,
        .size = BYTES,
        .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    VkBuffer buffer;
    TP_MAKE(r, Buffer, &info, &buffer);
    r->vk->GetBufferMemoryRequirements(r->device, buffer, needs);
    return buffer;
}

static VkMemoryPropertyFlags host_flags(void)
{
    return VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
}

/* The types that a dma-buf may be imported as. */
static uint32_t dma_buf_types(struct tp_run *r, int fd)
{
    VkMemoryFdPropertiesKHR p = {.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
    TP_CALL(r, GetMemoryFdPropertiesKHR, r->device,
            VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT, fd, &p);
    if (!p.memoryTypeBits)
        tp_failed(r, "vkGetMemoryFdPropertiesKHR: no memory type for a dma-buf of the driver's own");
    return p.memoryTypeBits;
}

static VkDeviceMemory import_memory(struct tp_run *r, VkExternalMemoryHandleTypeFlagBits type,
                                    VkMemoryRequirements needs, VkBuffer buffer, int fd)
{
    VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
        .buffer = buffer,
    };
    VkImportMemoryFdInfoKHR import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
        .pNext = buffer ? &dedicated : NULL,
        .handleType = type,
        .fd = fd,
    };
    if (type == VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT)
        needs.memoryTypeBits &= dma_buf_types(r, fd);
    VkDeviceMemory memory = tp_make_memory(r, &needs, host_flags(), &import);
    tp_disown(r, TP_KIND_Fd, (uint64_t)fd); /* the driver's now */
    return memory;
}

/* What is written into the exported memory is there in the imported one, and the other way. */
static void expect_same(struct tp_run *r, VkDeviceMemory exported, VkDeviceMemory imported)
{
    uint32_t *out, *in;
    TP_CALL(r, MapMemory, r->device, exported, 0, VK_WHOLE_SIZE, 0, (void **)&out);
    TP_CALL(r, MapMemory, r->device, imported, 0, VK_WHOLE_SIZE, 0, (void **)&in);
    for (uint32_t i = 0; i < BYTES / 4; i++)
        out[i] = i * 9 + 1;
    for (uint32_t i = 0; i < BYTES / 4; i++) {
        if (in[i] != i * 9 + 1)
            tp_failed(r, "imported memory: word %u is %u, where %u is right", i, in[i], i * 9 + 1);
    }
    in[BYTES / 4 - 1] = 12345;
    if (out[BYTES / 4 - 1] != 12345)
        tp_failed(r, "exported memory does not show what was written to the imported one");
}

/*
 * Whether memory that may be exported leaves an fd open when it is freed. Mesa's bo_init_new_dmaheap
 * (tu_knl_kgsl.cc, 25.0.7 to 26.3) does not close what the heap gave: known, so that it is told apart
 * from what else a driver may leave open.
 */
static bool keeps_fd(struct tp_run *r, const VkMemoryRequirements *needs, const void *export)
{
    unsigned before = tp_open_fds();
    TP_DESTROY(r, DeviceMemory, tp_make_memory(r, needs, host_flags(), export));
    bool kept = tp_open_fds() == before + 1;
    tp_print_bool("export_keeps_fd", kept);
    return kept;
}

static void share_memory(struct tp_run *r, VkExternalMemoryHandleTypeFlagBits type)
{
    VkExternalMemoryFeatureFlags features = memory_features(r, type);
    VkMemoryRequirements needs;
    if (!(features & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT))
        tp_skipped(r, "a buffer's memory cannot be exported like this");
    bool alone = features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT;
    VkBuffer buffer = make_shared_buffer(r, type, &needs);
    VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
        .buffer = buffer,
    };
    VkExportMemoryAllocateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .pNext = alone ? &dedicated : NULL,
        .handleTypes = type,
    };
    /* That of the question, and that of the memory below. */
    if (!alone && keeps_fd(r, &needs, &export))
        r->client->fds_known += 2;
    VkDeviceMemory exported = tp_make_memory(r, &needs, host_flags(), &export);
    TP_CALL(r, BindBufferMemory, r->device, buffer, exported, 0);
    VkMemoryGetFdInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
        .memory = exported,
        .handleType = type,
    };
    int fd = -1, again = -1;
    TP_CALL(r, GetMemoryFdKHR, r->device, &get, &fd);
    own_fd(r, "vkGetMemoryFdKHR", fd);
    /* Each export is an fd of its own. */
    TP_CALL(r, GetMemoryFdKHR, r->device, &get, &again);
    own_fd(r, "vkGetMemoryFdKHR", again);
    if (fd == again)
        tp_failed(r, "vkGetMemoryFdKHR: the same fd twice");
    if (!(features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT)) {
        tp_note(r, "exported; a buffer's memory cannot be imported like this");
        return;
    }
    VkBuffer second = make_shared_buffer(r, type, &needs);
    VkDeviceMemory imported =
        import_memory(r, type, needs, alone ? second : VK_NULL_HANDLE, fd);
    TP_CALL(r, BindBufferMemory, r->device, second, imported, 0);
    expect_same(r, exported, imported);
}

static void check_memory_fd(struct tp_run *r)
{
    if (!r->client->caps.memory_fd)
        tp_skipped(r, "VK_KHR_external_memory_fd is not offered");
    share_memory(r, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT);
}

static void check_dma_buf(struct tp_run *r)
{
    if (!r->client->caps.memory_dma_buf)
        tp_skipped(r, "VK_EXT_external_memory_dma_buf is not offered");
    share_memory(r, VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT);
}

/* Recorded commands for a submit whose end is exported. */
static VkCommandBuffer make_small(struct tp_run *r)
{
    struct tp_buffer b = tp_make_buffer(r, 4096, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    VkCommandBuffer commands = tp_begin(r, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    r->vk->CmdFillBuffer(commands, b.buffer, 0, VK_WHOLE_SIZE, 1);
    tp_end(r, commands);
    return commands;
}

/* A sync file polls as readable when its submit is done. -1 stands for one that is done already. */
static void poll_fd(struct tp_run *r, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int n;
    do
        n = poll(&p, 1, (int)r->client->options.timeout_ms);
    while (n < 0 && errno == EINTR);
    if (n != 1 || !(p.revents & POLLIN))
        tp_failed(r, "the sync fd does not become readable within %u ms (poll: %d, 0x%x)",
                  r->client->options.timeout_ms, n, (unsigned)p.revents);
}

#define BOTH_WAYS                                                                                  \
    (VK_EXTERNAL_FENCE_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_FENCE_FEATURE_IMPORTABLE_BIT)

static void check_fence_fd(struct tp_run *r)
{
    if (!r->client->caps.fence_fd)
        tp_skipped(r, "VK_KHR_external_fence_fd is not offered");
    VkPhysicalDeviceExternalFenceInfo ask = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_FENCE_INFO,
        .handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT,
    };
    VkExternalFenceProperties p = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_FENCE_PROPERTIES};
    r->vk->GetPhysicalDeviceExternalFenceProperties(r->client->physical, &ask, &p);
    if ((p.externalFenceFeatures & BOTH_WAYS) != BOTH_WAYS)
        tp_skipped(r, "fences are not exported and imported as sync fds");
    VkExportFenceCreateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_FENCE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT,
    };
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .pNext = &export};
    VkFence fence, other = tp_make_fence(r, 0);
    TP_MAKE(r, Fence, &info, &fence);
    VkFenceGetFdInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_FENCE_GET_FD_INFO_KHR,
        .fence = fence,
        .handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT,
    };
    int fd = -1;
    tp_submit(r, make_small(r), fence);
    TP_CALL(r, GetFenceFdKHR, r->device, &get, &fd);
    /* The export took the fence's payload: it is as after a reset. */
    TP_CALL_FOR(r, VK_NOT_READY, GetFenceStatus, r->device, fence);
    if (fd >= 0)
        own_fd(r, "vkGetFenceFdKHR", fd);
    VkImportFenceFdInfoKHR import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_FENCE_FD_INFO_KHR,
        .fence = other,
        .flags = VK_FENCE_IMPORT_TEMPORARY_BIT,
        .handleType = VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT,
        .fd = fd,
    };
    if (fd >= 0)
        poll_fd(r, fd);
    TP_CALL(r, ImportFenceFdKHR, r->device, &import);
    tp_disown(r, TP_KIND_Fd, (uint64_t)fd);
    tp_wait(r, other);
    TP_CALL(r, QueueWaitIdle, r->queue);
    tp_note(r, fd < 0 ? "signalled already: -1" : "a sync fd");
}

/* Signalled by a submit, exported, imported into another, waited for by a submit. */
static void share_semaphore(struct tp_run *r, VkExternalSemaphoreHandleTypeFlagBits type)
{
    VkPhysicalDeviceExternalSemaphoreInfo ask = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
        .handleType = type,
    };
    VkExternalSemaphoreProperties p = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    r->vk->GetPhysicalDeviceExternalSemaphoreProperties(r->client->physical, &ask, &p);
    if ((p.externalSemaphoreFeatures & BOTH_WAYS) != BOTH_WAYS)
        tp_skipped(r, "semaphores are not exported and imported like this");
    bool sync_fd = type == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT;
    VkExportSemaphoreCreateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .handleTypes = type,
    };
    VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &export,
    };
    VkSemaphore first, second;
    TP_MAKE(r, Semaphore, &info, &first);
    info.pNext = NULL;
    TP_MAKE(r, Semaphore, &info, &second);
    VkCommandBuffer commands = make_small(r);
    VkSubmitInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &first,
    };
    TP_CALL(r, QueueSubmit, r->queue, 1, &signal, VK_NULL_HANDLE);
    VkSemaphoreGetFdInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
        .semaphore = first,
        .handleType = type,
    };
    int fd = -1;
    TP_CALL(r, GetSemaphoreFdKHR, r->device, &get, &fd);
    if (fd >= 0 || !sync_fd)
        own_fd(r, "vkGetSemaphoreFdKHR", fd);
    VkImportSemaphoreFdInfoKHR import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
        .semaphore = second,
        .flags = VK_SEMAPHORE_IMPORT_TEMPORARY_BIT,
        .handleType = type,
        .fd = fd,
    };
    TP_CALL(r, ImportSemaphoreFdKHR, r->device, &import);
    tp_disown(r, TP_KIND_Fd, (uint64_t)fd);
    VkPipelineStageFlags everything = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkSubmitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &second,
        .pWaitDstStageMask = &everything,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    VkFence fence = tp_make_fence(r, 0);
    TP_CALL(r, QueueSubmit, r->queue, 1, &wait, fence);
    tp_wait(r, fence);
}

static void need_semaphore_fd(struct tp_run *r)
{
    if (!r->client->caps.semaphore_fd)
        tp_skipped(r, "VK_KHR_external_semaphore_fd is not offered");
}

static void check_semaphore_sync_fd(struct tp_run *r)
{
    need_semaphore_fd(r);
    share_semaphore(r, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT);
}

static void check_semaphore_opaque(struct tp_run *r)
{
    need_semaphore_fd(r);
    share_semaphore(r, VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT);
}

const struct tp_check tp_external_checks[] = {
    {"external_memory", "an opaque fd: export, import, the same bytes", check_memory_fd},
    {"external_dma_buf", "a dma-buf: export, import, the same bytes", check_dma_buf},
    {"external_fence", "a fence as a sync fd, polled and imported", check_fence_fd},
    {"external_semaphore", "a semaphore as a sync fd", check_semaphore_sync_fd},
    {"external_semaphore_opaque", "a semaphore as an opaque fd", check_semaphore_opaque},
    {0},
};
