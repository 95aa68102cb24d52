/*
 * What a driver for Android asks of the platform's libraries, as far as a machine without a graphics
 * allocator can answer: buffers that hold their description alone. Defined in the program (linked
 * with -rdynamic), these go before a library's.
 */
#include <stdint.h>
#include <stdlib.h>

/* NDK: android/hardware_buffer.h. */
struct AHardwareBuffer_Desc {
    uint32_t width, height, layers, format;
    uint64_t usage;
    uint32_t stride, rfu0;
    uint64_t rfu1;
};

struct AHardwareBuffer {
    struct AHardwareBuffer_Desc desc;
    unsigned references; /* by __atomic */
};

int AHardwareBuffer_isSupported(const struct AHardwareBuffer_Desc *desc);
int AHardwareBuffer_allocate(const struct AHardwareBuffer_Desc *desc, struct AHardwareBuffer **out);
void AHardwareBuffer_acquire(struct AHardwareBuffer *buffer);
void AHardwareBuffer_release(struct AHardwareBuffer *buffer);
void AHardwareBuffer_describe(const struct AHardwareBuffer *buffer,
                              struct AHardwareBuffer_Desc *out);

int AHardwareBuffer_isSupported(const struct AHardwareBuffer_Desc *desc)
{
    return desc->width && desc->height && desc->layers;
}

int AHardwareBuffer_allocate(const struct AHardwareBuffer_Desc *desc, struct AHardwareBuffer **out)
{
    *out = malloc(sizeof **out);
    if (!*out)
        return -12; /* ENOMEM, as status_t has it */
    **out = (struct AHardwareBuffer){*desc, 1};
    return 0;
}

void AHardwareBuffer_acquire(struct AHardwareBuffer *buffer)
{
    __atomic_add_fetch(&buffer->references, 1, __ATOMIC_RELAXED);
}

void AHardwareBuffer_release(struct AHardwareBuffer *buffer)
{
    if (!__atomic_sub_fetch(&buffer->references, 1, __ATOMIC_ACQ_REL))
        free(buffer);
}

void AHardwareBuffer_describe(const struct AHardwareBuffer *buffer,
                              struct AHardwareBuffer_Desc *out)
{
    *out = buffer->desc;
}
