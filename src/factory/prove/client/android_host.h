/*
 * The buffers of Android's graphics memory that a driver meets in the client (android_host.c). With a
 * stand-in for a vendor beside the client (../vendor.h) they are laid out as that says, in dma-bufs
 * of /dev/dma_heap/system. Without one, and of a format that the vendor does not know, they hold their
 * description alone.
 */
#ifndef TP_FACTORY_PROVE_CLIENT_ANDROID_HOST_H
#define TP_FACTORY_PROVE_CLIENT_ANDROID_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "../vendor.h"

/* NDK: android/hardware_buffer.h. */
struct AHardwareBuffer_Desc {
    uint32_t width, height, layers, format;
    uint64_t usage;
    uint32_t stride, rfu0;
    uint64_t rfu1;
};
struct AHardwareBuffer;

int AHardwareBuffer_isSupported(const struct AHardwareBuffer_Desc *desc);
int AHardwareBuffer_allocate(const struct AHardwareBuffer_Desc *desc, struct AHardwareBuffer **out);
void AHardwareBuffer_acquire(struct AHardwareBuffer *buffer);
void AHardwareBuffer_release(struct AHardwareBuffer *buffer);
void AHardwareBuffer_describe(const struct AHardwareBuffer *buffer,
                              struct AHardwareBuffer_Desc *out);

/* libcutils' native_handle_t. */
struct tp_native_handle {
    int version; /* the size of this, without data */
    int fd_count, int_count;
    int data[]; /* the fds, then the ints */
};
/* NULL where a buffer is its description alone; a driver must not be given such a one. */
const struct tp_native_handle *AHardwareBuffer_getNativeHandle(const struct AHardwareBuffer *buffer);

/* Describes the vendor's buffer number N. False behind the last, or where there is no vendor. */
bool tp_vendor_buffer(unsigned n, struct tp_vendor_buffer *out);
/* A buffer like that, with one reference. NULL: no memory, or no heap of dma-bufs. */
struct AHardwareBuffer *tp_buffer_make(const struct tp_vendor_buffer *like);
unsigned tp_buffer_references(const struct AHardwareBuffer *buffer);
/* All usage bits that AHardwareBuffer_isSupported and _allocate were asked for since the last call. */
uint64_t tp_buffers_asked(void);
/* How many buffers there are. */
unsigned tp_buffers_alive(void);

#endif
