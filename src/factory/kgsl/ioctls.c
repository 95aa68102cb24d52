/* From a request's number to its handler, with its faults and its line in the log. */
#include "ioctls.h"

#include "fence.h"
#include "process.h"
#include "real.h"
#include "uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1u
#define MFD_ALLOW_SEALING 2u
#endif
#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#define F_SEAL_SHRINK 2
#define F_SEAL_GROW 4
#endif

static const struct tp_kgsl_request *find(unsigned long number)
{
    for (size_t i = 0; i < tp_kgsl_submit_request_count; i++) {
        if (tp_kgsl_submit_requests[i].number == number)
            return &tp_kgsl_submit_requests[i];
    }
    for (size_t i = 0; i < tp_kgsl_memory_request_count; i++) {
        if (tp_kgsl_memory_requests[i].number == number)
            return &tp_kgsl_memory_requests[i];
    }
    return NULL;
}

/* The verdict on a call, noted in its line. */
static struct tp_kgsl_verdict judge(enum tp_kgsl_site site, struct tp_kgsl_line *line)
{
    struct tp_kgsl_verdict verdict = tp_kgsl_faults_next(tp_process_faults(), site);
    if (verdict.error || verdict.lost || verdict.hang)
        tp_kgsl_line_number(line, "fault", 1);
    return verdict;
}

int tp_kgsl_ioctl(uint32_t file, int fd, unsigned long request, void *argument)
{
    struct tp_kgsl_line line;
    struct tp_kgsl_call call = {.file = file, .argument = argument, .line = &line};
    /* Bionic's ioctl takes an int: the upper half is what sign extension made of it. */
    const struct tp_kgsl_request *r = find(request & 0xffffffffu);
    int result;
    tp_kgsl_line_begin(&line, r ? r->name : "unknown");
    tp_kgsl_line_signed(&line, "fd", fd);
    if (!r)
        tp_kgsl_line_hex(&line, "request", request & 0xffffffffu);
    tp_process_lock();
    if (!tp_process_device()) {
        result = -ENODEV;
    } else if (!r || (r->new_only && tp_kgsl_device_config(tp_process_device())->old_kernel)) {
        result = -ENOTTY;
    } else if (!argument) {
        result = -EFAULT;
    } else {
        call.verdict = judge(r->site, &line);
        result = call.verdict.error ? call.verdict.error : r->handle(&call);
    }
    tp_process_unlock();
    tp_kgsl_line_result(&line, result);
    return result;
}

static int heap_alloc(struct tp_dma_heap_alloc *alloc)
{
    if (alloc->fd || alloc->heap_flags || alloc->fd_flags & ~(uint32_t)(O_CLOEXEC | O_ACCMODE) ||
        !alloc->len || alloc->len > UINT64_C(1) << 40)
        return -EINVAL;
    uint64_t size = (alloc->len + TP_KGSL_PAGE - 1) & ~(uint64_t)(TP_KGSL_PAGE - 1);
    unsigned flags = MFD_ALLOW_SEALING | (alloc->fd_flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
    int fd = (int)syscall(SYS_memfd_create, "dmabuf", flags);
    if (fd < 0)
        return -errno;
    if (ftruncate(fd, (off_t)size)) {
        int r = -errno;
        tp_real_close(fd);
        return r;
    }
    /* As a dma-buf it keeps its size, whoever has it. */
    tp_real_fcntl(fd, F_ADD_SEALS, (void *)(intptr_t)(F_SEAL_SHRINK | F_SEAL_GROW));
    alloc->fd = (uint32_t)fd;
    return 0;
}

int tp_kgsl_heap_ioctl(int fd, unsigned long request, void *argument)
{
    struct tp_dma_heap_alloc *alloc = argument;
    struct tp_kgsl_line line;
    int result = -ENOTTY;
    tp_kgsl_line_begin(&line, "DMA_HEAP_ALLOC");
    tp_kgsl_line_signed(&line, "fd", fd);
    if ((request & 0xffffffffu) == TP_DMA_HEAP_ALLOC) {
        tp_process_lock();
        struct tp_kgsl_verdict verdict = judge(TP_KGSL_SITE_HEAP, &line);
        tp_process_unlock();
        result = !alloc ? -EFAULT : verdict.error ? verdict.error : heap_alloc(alloc);
    }
    if (alloc && result != -ENOTTY) {
        tp_kgsl_line_number(&line, "size", alloc->len);
        tp_kgsl_line_signed(&line, "dmabuf", result ? -1 : (int)alloc->fd);
    }
    tp_kgsl_line_result(&line, result);
    return result;
}

static int merge(int fd, struct tp_sync_merge *merge)
{
    if (merge->flags || merge->pad)
        return -EINVAL;
    if (!tp_kgsl_fence_is(merge->fd2))
        return -ENOENT;
    tp_process_lock();
    int r = tp_process_device() ? tp_process_merge(fd, merge->fd2) : -ENODEV;
    tp_process_unlock();
    if (r < 0)
        return r;
    merge->fence = r;
    return 0;
}

int tp_kgsl_sync_ioctl(int fd, unsigned long request, void *argument)
{
    bool is_merge = (request & 0xffffffffu) == TP_SYNC_IOC_MERGE;
    bool is_info = (request & 0xffffffffu) == TP_SYNC_IOC_FILE_INFO;
    struct tp_kgsl_line line;
    int result;
    if (!is_merge && !is_info)
        return -ENOTTY;
    tp_kgsl_line_begin(&line, is_merge ? "SYNC_MERGE" : "SYNC_FILE_INFO");
    tp_kgsl_line_signed(&line, "fd", fd);
    if (!argument) {
        result = -EFAULT;
    } else if (is_merge) {
        struct tp_sync_merge *m = argument;
        tp_kgsl_line_signed(&line, "fd2", m->fd2);
        result = merge(fd, m);
        tp_kgsl_line_signed(&line, "fence", result ? -1 : m->fence);
    } else {
        result = tp_kgsl_fence_info(fd, argument);
    }
    tp_kgsl_line_result(&line, result);
    return result;
}
