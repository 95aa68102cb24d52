#include "real.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/sync_file.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

int real_udmabuf(size_t bytes)
{
    int memfd = memfd_create("picture", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd = -1;
    struct udmabuf_create c = {
        .memfd = (uint32_t)memfd, .flags = UDMABUF_FLAGS_CLOEXEC, .size = bytes};
    if (memfd >= 0 && device >= 0 && ftruncate(memfd, (off_t)bytes) == 0 &&
        fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK) == 0)
        fd = ioctl(device, UDMABUF_CREATE, &c);
    close(memfd);
    close(device);
    return fd;
}

int real_heap_buffer(size_t bytes)
{
    int heap = open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC);
    struct dma_heap_allocation_data a = {.len = bytes, .fd_flags = O_RDWR | O_CLOEXEC};
    int r = ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &a);
    close(heap);
    return r == 0 ? (int)a.fd : -1;
}

/* drivers/dma-buf/sw_sync.c, which has no header. */
struct sw_sync_fence {
    uint32_t value;
    char name[32];
    int32_t fence;
};
#define SW_SYNC_CREATE_FENCE _IOWR('W', 0, struct sw_sync_fence)
#define SW_SYNC_INC _IOW('W', 1, uint32_t)

int real_sync_file(int *timeline)
{
    struct sw_sync_fence s = {.value = 1, .name = "test"};
    *timeline = open("/sys/kernel/debug/sync/sw_sync", O_RDWR | O_CLOEXEC);
    return ioctl(*timeline, SW_SYNC_CREATE_FENCE, &s) == 0 ? s.fence : -1;
}

void real_move_on(int timeline)
{
    uint32_t by = 1;
    ioctl(timeline, SW_SYNC_INC, &by);
}

int real_status(int sync_file)
{
    struct sync_file_info info = {.num_fences = 0};
    return ioctl(sync_file, SYNC_IOC_FILE_INFO, &info) == 0 ? info.status : -errno;
}

int real_put_fence(int dma_buf, int fence, uint64_t flags)
{
    struct dma_buf_import_sync_file in = {.flags = (uint32_t)flags, .fd = fence};
    return ioctl(dma_buf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &in);
}

int real_take_fence(int dma_buf, uint64_t flags)
{
    struct dma_buf_export_sync_file out = {.flags = (uint32_t)flags};
    return ioctl(dma_buf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &out) == 0 ? out.fd : -1;
}
