/*
 * Android's graphics memory (android_host.h). Defined in the program (linked with -rdynamic), these
 * functions go before a library's.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "android_host.h"

struct AHardwareBuffer {
    struct AHardwareBuffer_Desc desc;
    unsigned references; /* by __atomic, as the counts below */
    struct tp_native_handle *handle; /* owned, with its fds; or NULL */
};

enum { NO_MEMORY = -12 }; /* as status_t has it */

static unsigned alive;
static uint64_t asked;

/* linux/dma-heap.h */
struct heap_allocation {
    uint64_t bytes;
    uint32_t fd, fd_flags;
    uint64_t heap_flags;
};
#define HEAP_ALLOCATE _IOWR('H', 0, struct heap_allocation)

static int make_dma_buf(uint64_t bytes)
{
    struct heap_allocation a = {.bytes = bytes, .fd_flags = O_RDWR | O_CLOEXEC};
    int heap = open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC);
    int failed = heap < 0 ? -1 : ioctl(heap, HEAP_ALLOCATE, &a);
    if (heap >= 0)
        close(heap);
    return failed ? -1 : (int)a.fd;
}

/* The vendor's region in the second fd is a page that nobody looks into. */
static struct tp_native_handle *make_handle(const struct tp_vendor_buffer *b)
{
    enum { PAGE = 4096 };
    int words = TP_VENDOR_FDS + b->int_count;
    int memory = make_dma_buf(b->bytes), region = make_dma_buf(PAGE);
    struct tp_native_handle *h = malloc(sizeof *h + (size_t)words * sizeof *h->data);
    if (memory < 0 || region < 0 || !h) {
        if (memory >= 0)
            close(memory);
        if (region >= 0)
            close(region);
        free(h);
        return NULL;
    }
    h->version = sizeof *h;
    h->fd_count = TP_VENDOR_FDS;
    h->int_count = b->int_count;
    h->data[0] = memory;
    h->data[1] = region;
    memcpy(h->data + TP_VENDOR_FDS, b->ints, (size_t)b->int_count * sizeof *b->ints);
    return h;
}

static void *vendor(const char *name)
{
    static void *library;
    if (!library)
        library = dlopen(TP_VENDOR_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, name) : NULL;
}

bool tp_vendor_buffer(unsigned n, struct tp_vendor_buffer *out)
{
    tp_vendor_show show;
    *(void **)&show = vendor(TP_VENDOR_SHOW);
    return show && show(n, out) == 0 && out->int_count >= 0 && out->int_count <= TP_VENDOR_INTS;
}

static struct AHardwareBuffer *make(const struct AHardwareBuffer_Desc *desc)
{
    struct AHardwareBuffer *buffer = malloc(sizeof *buffer);
    if (!buffer)
        return NULL;
    *buffer = (struct AHardwareBuffer){.desc = *desc, .references = 1};
    __atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
    return buffer;
}

struct AHardwareBuffer *tp_buffer_make(const struct tp_vendor_buffer *like)
{
    struct AHardwareBuffer_Desc desc = {.width = like->width, .height = like->height, .layers = 1,
                                        .format = like->format, .usage = like->usage,
                                        .stride = like->stride_px};
    struct AHardwareBuffer *buffer = make(&desc);
    if (buffer)
        buffer->handle = make_handle(like);
    if (!buffer || buffer->handle)
        return buffer;
    AHardwareBuffer_release(buffer);
    return NULL;
}

unsigned tp_buffer_references(const struct AHardwareBuffer *buffer)
{
    return __atomic_load_n(&buffer->references, __ATOMIC_ACQUIRE);
}

uint64_t tp_buffers_asked(void)
{
    return __atomic_exchange_n(&asked, 0, __ATOMIC_RELAXED);
}

unsigned tp_buffers_alive(void)
{
    return __atomic_load_n(&alive, __ATOMIC_RELAXED);
}

int AHardwareBuffer_isSupported(const struct AHardwareBuffer_Desc *desc)
{
    __atomic_or_fetch(&asked, desc->usage, __ATOMIC_RELAXED);
    return desc->width && desc->height && desc->layers;
}

int AHardwareBuffer_allocate(const struct AHardwareBuffer_Desc *desc, struct AHardwareBuffer **out)
{
    tp_vendor_allocate allocate;
    struct tp_vendor_buffer b = {.width = desc->width, .height = desc->height,
                                 .format = desc->format, .usage = desc->usage};
    *(void **)&allocate = vendor(TP_VENDOR_ALLOCATE);
    __atomic_or_fetch(&asked, desc->usage, __ATOMIC_RELAXED);
    *out = allocate && allocate(&b) == 0 ? tp_buffer_make(&b) : make(desc);
    return *out ? 0 : NO_MEMORY;
}

void AHardwareBuffer_acquire(struct AHardwareBuffer *buffer)
{
    __atomic_add_fetch(&buffer->references, 1, __ATOMIC_RELAXED);
}

void AHardwareBuffer_release(struct AHardwareBuffer *buffer)
{
    if (__atomic_sub_fetch(&buffer->references, 1, __ATOMIC_ACQ_REL))
        return;
    for (int i = 0; buffer->handle && i < buffer->handle->fd_count; i++)
        close(buffer->handle->data[i]);
    free(buffer->handle);
    free(buffer);
    __atomic_sub_fetch(&alive, 1, __ATOMIC_RELAXED);
}

void AHardwareBuffer_describe(const struct AHardwareBuffer *buffer,
                              struct AHardwareBuffer_Desc *out)
{
    *out = buffer->desc;
}

const struct tp_native_handle *AHardwareBuffer_getNativeHandle(const struct AHardwareBuffer *buffer)
{
    return buffer->handle;
}
