/*
 * Between the client and what stands in for a phone vendor's graphics allocator: a libvndksupport.so
 * that, beside what the platform's has, tells how the vendor lays buffers out. The allocator and the
 * mapper (IMapper 5, which a driver loads through that library) are the vendor's both, so they agree
 * on the handles. Ours is android_vendor.c; tests have one with many more kinds.
 */
#ifndef TP_FACTORY_PROVE_VENDOR_H
#define TP_FACTORY_PROVE_VENDOR_H

#include <stdint.h>

#define TP_VENDOR_LIBRARY "libvndksupport.so"

enum { TP_VENDOR_FDS = 2, TP_VENDOR_INTS = 16 };

/* What a vendor's buffer is. Its handle has two fds, as Qualcomm's have: the memory, and a region of
 * the vendor's own; behind them int_count ints. */
struct tp_vendor_buffer {
    char kind[32]; /* its name, for facts */
    uint32_t width, height;
    uint32_t format;    /* AHARDWAREBUFFER_FORMAT_* */
    uint32_t stride_px; /* AHardwareBuffer_Desc.stride */
    uint64_t usage;     /* AHARDWAREBUFFER_USAGE_* */
    uint64_t bytes;
    int32_t int_count;
    int32_t ints[TP_VENDOR_INTS];
};

/* What the library exports beside Android's. Each returns 0, or -1.
 * SHOW describes buffer number N of those that are worth a look; -1 behind the last.
 * ALLOCATE completes a buffer whose width, height, format and usage are set; -1: not supported. */
#define TP_VENDOR_SHOW "turnpike_vendor_show"
#define TP_VENDOR_ALLOCATE "turnpike_vendor_allocate"
typedef int (*tp_vendor_show)(unsigned n, struct tp_vendor_buffer *out);
typedef int (*tp_vendor_allocate)(struct tp_vendor_buffer *buffer);

#endif
