/* What gpu.c and gpu_memory.c share. */
#ifndef TP_FACTORY_KGSL_GPU_INTERNAL_H
#define TP_FACTORY_KGSL_GPU_INTERNAL_H

#include "gpu.h"

/* One packet of a run. */
struct run {
    struct tp_gpu *gpu;
    const struct tp_gpu_memory *memory;
    struct tp_gpu_record *record;
    int level; /* of the stack, that the packet was read from */
    uint32_t opcode, count;
    uint64_t payload, next; /* addresses */
};

/* The payload's dword INDEX, and the address whose low half it is; 0 past the payload's end. */
uint32_t tp_gpu_word(struct run *run, uint32_t index);
uint64_t tp_gpu_address(struct run *run, uint32_t index);

uint32_t tp_gpu_register(struct tp_gpu *gpu, uint32_t reg);

/* Memory; where there is none, 0 is read, writes are lost, and the record counts a fault. */
uint32_t tp_gpu_read32(struct run *run, uint64_t addr);
uint64_t tp_gpu_read64(struct run *run, uint64_t addr);

/* CP_COND_WRITE5, whose condition holds. */
void tp_gpu_conditional_write(struct run *run);

/* The packets that only write memory; others do nothing. */
void tp_gpu_memory_packet(struct run *run);

#endif
