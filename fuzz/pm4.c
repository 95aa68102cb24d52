/* Command streams from anyone: the simulated command processor must neither crash nor run for ever.
 * The first byte is the generation; the rest is GPU memory, run from its start; every read and
 * write is checked against it. */
#include "factory/kgsl/gpu.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BASE UINT64_C(0x500000000)

struct area {
    uint8_t *bytes;
    size_t size;
};

static int inside(const struct area *area, uint64_t addr, size_t n)
{
    return addr >= BASE && addr - BASE <= area->size && n <= area->size - (addr - BASE);
}

static int read_area(void *user, uint64_t addr, void *out, size_t n)
{
    struct area *area = user;
    if (!inside(area, addr, n))
        return -EFAULT;
    memcpy(out, area->bytes + (addr - BASE), n);
    return 0;
}

static int write_area(void *user, uint64_t addr, const void *data, size_t n)
{
    struct area *area = user;
    if (!inside(area, addr, n))
        return -EFAULT;
    memcpy(area->bytes + (addr - BASE), data, n);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tp_gpu gpus[3];
    struct tp_gpu_record record = {0};
    if (size < 2)
        return 0;
    struct tp_gpu *gpu = &gpus[data[0] % 3];
    if (!gpu->registers && tp_gpu_init(gpu, 6 + data[0] % 3))
        return 0;
    struct area area = {malloc(size - 1), size - 1};
    if (!area.bytes)
        return 0;
    memcpy(area.bytes, data + 1, size - 1);
    const struct tp_gpu_memory memory = {&area, read_area, write_area};
    for (uint32_t reg = 0xb600; reg < 0xb610; reg++)
        tp_gpu_watch(&record, reg);
    tp_gpu_begin_submit(gpu);
    gpu->budget = 1 << 16; /* a second's worth would be too much for one input */
    tp_gpu_start(gpu, BASE, area.size);
    for (int tries = 0; tries < 3; tries++) {
        if (tp_gpu_run(gpu, &memory, 0, &record) != TP_GPU_WAITING)
            break;
    }
    free(area.bytes);
    return 0;
}
