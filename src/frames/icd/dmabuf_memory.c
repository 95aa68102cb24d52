/* Memory of dmabuf.h: made, imported and given away. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "frames/icd/dmabuf.h"

#ifndef DMA_BUF_MAGIC
#define DMA_BUF_MAGIC 0x444d4142
#endif

#define DMA_BUF VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
#define HOST    VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT

struct memory {
    struct memory *next;
    VkDeviceMemory handle;
    int fd;      /* owned */
    void *pages; /* what the driver has imported */
    size_t bytes;
};

struct tp_icd_dmabuf {
    pthread_mutex_t lock;
    struct memory *memories; /* owned */
};

static void free_memory(struct memory *m)
{
    if (m->pages)
        munmap(m->pages, m->bytes);
    if (m->fd >= 0)
        close(m->fd);
    free(m);
}

VkResult tp_icd_dmabuf_start(struct tp_icd_device *d)
{
    d->dmabuf = calloc(1, sizeof *d->dmabuf);
    if (!d->dmabuf)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    pthread_mutex_init(&d->dmabuf->lock, NULL);
    return VK_SUCCESS;
}

void tp_icd_dmabuf_finish(struct tp_icd_device *d)
{
    struct tp_icd_dmabuf *all = d->dmabuf;

    if (!all)
        return;
    for (struct memory *m = all->memories, *next; m; m = next) {
        next = m->next;
        free_memory(m);
    }
    pthread_mutex_destroy(&all->lock);
    free(all);
    d->dmabuf = NULL;
}

static size_t round_up(VkDeviceSize n, VkDeviceSize to)
{
    return (size_t)((n + to - 1) / to * to);
}

static VkResult make_memfd(struct memory *m)
{
    m->fd = memfd_create("turnpike-dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (m->fd < 0)
        return errno == EMFILE || errno == ENFILE ? VK_ERROR_TOO_MANY_OBJECTS
                                                  : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (ftruncate(m->fd, (off_t)m->bytes))
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK);
    m->pages = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
    if (m->pages == MAP_FAILED)
        m->pages = NULL;
    return m->pages ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* Whoever could make the file shorter could end the process that reads it. */
static bool keeps_its_size(int fd)
{
    struct statfs fs;
    int seals = fcntl(fd, F_GET_SEALS);

    if (seals >= 0 && !(seals & F_SEAL_SHRINK))
        seals = fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0 ? F_SEAL_SHRINK : 0;
    if (seals >= 0)
        return seals & F_SEAL_SHRINK;
    return fstatfs(fd, &fs) == 0 && fs.f_type == DMA_BUF_MAGIC;
}

/*
 * Somebody's file, at most as long as it is: the driver may think an image longer than its maker
 * did, by rows that nobody sees, and gets pages of its own for them.
 */
static VkResult map_file(struct memory *m)
{
    long page = sysconf(_SC_PAGESIZE);
    off_t end = lseek(m->fd, 0, SEEK_END);

    if (end <= 0 || !keeps_its_size(m->fd))
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    size_t there = round_up((VkDeviceSize)end, (VkDeviceSize)page);
    if (there > m->bytes)
        there = m->bytes;
    m->pages = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m->pages == MAP_FAILED) {
        m->pages = NULL;
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    return mmap(m->pages, there, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, m->fd, 0) ==
            MAP_FAILED
        ? VK_ERROR_INVALID_EXTERNAL_HANDLE
        : VK_SUCCESS;
}

static VkResult ask_types(struct tp_icd_device *d, const void *pages, uint32_t *types)
{
    VkMemoryHostPointerPropertiesEXT can = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    VkResult r = d->vk.GetMemoryHostPointerPropertiesEXT(d->handle, HOST, pages, &can);

    *types = can.memoryTypeBits;
    return r;
}

/* Gives the driver the pages. What else the application's chain says of the memory is left out but
 * for what it may be used for. */
static VkResult import_pages(struct tp_icd_device *d, struct memory *m,
    const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *allocator)
{
    const VkMemoryAllocateFlagsInfo *flags =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
    VkMemoryAllocateFlagsInfo own = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
    VkImportMemoryHostPointerInfoEXT import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = HOST,
        .pHostPointer = m->pages};
    VkMemoryAllocateInfo changed = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &import,
        .allocationSize = m->bytes,
        .memoryTypeIndex = info->memoryTypeIndex};
    uint32_t types = 0;

    if (flags) {
        own.flags = flags->flags;
        own.deviceMask = flags->deviceMask;
        import.pNext = &own;
    }
    VkResult r = ask_types(d, m->pages, &types);
    if (r == VK_SUCCESS && !(types & UINT32_C(1) << info->memoryTypeIndex))
        r = VK_ERROR_INVALID_EXTERNAL_HANDLE;
    return r != VK_SUCCESS ? r : d->vk.AllocateMemory(d->handle, &changed, allocator, &m->handle);
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice handle, const VkMemoryAllocateInfo *info,
    const VkAllocationCallbacks *allocator, VkDeviceMemory *out)
{
    struct tp_icd_device *d = tp_icd_device_get(handle);
    const VkExportMemoryAllocateInfo *export =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
    const VkImportMemoryFdInfoKHR *import =
        tp_icd_find(info->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR);
    bool comes = import && import->handleType == DMA_BUF;

    if (!tp_icd_dmabuf_on(d) || (!comes && !(export && export->handleTypes & DMA_BUF)))
        return d->vk.AllocateMemory(handle, info, allocator, out);
    struct memory *m = calloc(1, sizeof *m);
    if (!m)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkDeviceSize page = (VkDeviceSize)sysconf(_SC_PAGESIZE);
    m->bytes = round_up(info->allocationSize,
        d->physical->host_alignment > page ? d->physical->host_alignment : page);
    m->fd = comes ? import->fd : -1;
    VkResult r = comes ? map_file(m) : make_memfd(m);
    if (r == VK_SUCCESS)
        r = import_pages(d, m, info, allocator);
    if (r != VK_SUCCESS) {
        if (comes) /* it stays the caller's */
            m->fd = -1;
        free_memory(m);
        return r;
    }
    pthread_mutex_lock(&d->dmabuf->lock);
    m->next = d->dmabuf->memories;
    d->dmabuf->memories = m;
    pthread_mutex_unlock(&d->dmabuf->lock);
    *out = m->handle;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL release(
    VkDevice handle, VkDeviceMemory memory, const VkAllocationCallbacks *allocator)
{
    struct tp_icd_device *d = tp_icd_device_get(handle);
    struct memory *gone = NULL;

    if (tp_icd_dmabuf_on(d)) {
        pthread_mutex_lock(&d->dmabuf->lock);
        for (struct memory **at = &d->dmabuf->memories; *at; at = &(*at)->next) {
            if ((*at)->handle != memory)
                continue;
            gone = *at;
            *at = gone->next;
            break;
        }
        pthread_mutex_unlock(&d->dmabuf->lock);
    }
    d->vk.FreeMemory(handle, memory, allocator);
    if (gone)
        free_memory(gone);
}

/*
 * Memory that was not made to be shared gives a file all the same, an empty one: gamescope 3.11.49
 * asks any texture's memory for a dma-buf, only to poll it until the upload is over.
 */
static VKAPI_ATTR VkResult VKAPI_CALL get_fd(
    VkDevice handle, const VkMemoryGetFdInfoKHR *info, int *out)
{
    struct tp_icd_device *d = tp_icd_device_get(handle);
    int fd = -1;

    if (!tp_icd_dmabuf_on(d) || info->handleType != DMA_BUF)
        return d->vk.GetMemoryFdKHR(handle, info, out);
    pthread_mutex_lock(&d->dmabuf->lock);
    struct memory *m = d->dmabuf->memories;
    while (m && m->handle != info->memory)
        m = m->next;
    if (m)
        fd = fcntl(m->fd, F_DUPFD_CLOEXEC, 0);
    pthread_mutex_unlock(&d->dmabuf->lock);
    if (!m)
        fd = memfd_create("turnpike-fence", MFD_CLOEXEC);
    if (fd < 0)
        return VK_ERROR_TOO_MANY_OBJECTS;
    *out = fd;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_fd_properties(VkDevice handle,
    VkExternalMemoryHandleTypeFlagBits type, int fd, VkMemoryFdPropertiesKHR *out)
{
    struct tp_icd_device *d = tp_icd_device_get(handle);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (!tp_icd_dmabuf_on(d) || type != DMA_BUF)
        return d->vk.GetMemoryFdPropertiesKHR(handle, type, fd, out);
    void *pages = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (pages == MAP_FAILED)
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    VkResult r = ask_types(d, pages, &out->memoryTypeBits);
    munmap(pages, page);
    return r;
}

#define SHARED (TP_BIT(TP_EXT_DMABUF) | TP_BIT(TP_EXT_MODIFIER) | TP_ELSE_DRIVER)
const struct tp_icd_entry tp_icd_dmabuf_memory_entries[] = {
    TP_ENTRY("AllocateMemory", allocate, TP_LEVEL_DEVICE, SHARED),
    TP_ENTRY("FreeMemory", release, TP_LEVEL_DEVICE, SHARED),
    TP_ENTRY("GetMemoryFdKHR", get_fd, TP_LEVEL_DEVICE, SHARED),
    TP_ENTRY("GetMemoryFdPropertiesKHR", get_fd_properties, TP_LEVEL_DEVICE, SHARED),
    {0},
};
