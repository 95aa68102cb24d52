/*
 * What a command stream does to memory, as far as waits and queries see it. A command processor
 * without the units behind it: it follows buffers, writes what events, memory and register packets
 * write, and counts draws; nothing is drawn. Pure: no system calls, no time; memory is the
 * caller's. Packets: Mesa's adreno_pm4.xml; registers: a6xx.xml.
 */
#ifndef TP_FACTORY_KGSL_GPU_H
#define TP_FACTORY_KGSL_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* GPU memory. Each answers 0, or -EFAULT when not all BYTES at ADDR are there (nothing is then
 * written). */
struct tp_gpu_memory {
    void *user;
    int (*read)(void *user, uint64_t addr, void *out, size_t bytes);
    int (*write)(void *user, uint64_t addr, const void *data, size_t bytes);
};

#define TP_GPU_WATCHES 16
#define TP_GPU_MARKERS 16

/* What a run did, added up over runs until the owner clears it. */
struct tp_gpu_record {
    uint64_t packets, buffers, draws, dispatches, blits, events, memory_writes;
    /* Render passes: those drawn straight to system memory, GMEM tiles, and binning passes. */
    uint64_t sysmem_passes, gmem_tiles, binning_passes;
    uint64_t markers[TP_GPU_MARKERS]; /* CP_SET_MARKER, by mode */
    uint64_t faults;                  /* memory accesses that hit nothing */
    uint64_t bad_packets;             /* streams that were left at a header that is none */
    struct {
        uint32_t reg;
        uint64_t writes;
        uint32_t last, ever; /* the last value; all values OR-ed */
        uint32_t always;     /* all values AND-ed */
    } watches[TP_GPU_WATCHES];
    size_t watch_count;
};

enum tp_gpu_state {
    TP_GPU_DONE,
    TP_GPU_WAITING, /* a wait packet's condition does not hold yet: run again later */
    TP_GPU_STUCK,   /* too many packets for one submit: an endless loop */
};

#define TP_GPU_DEPTH 8
#define TP_GPU_REGISTERS 0x10000u
/* Dwords that one submit may run through. */
#define TP_GPU_BUDGET (UINT64_C(1) << 25)

/* A command processor between packets. Owned by the caller; tp_gpu_init before use, tp_gpu_finish
 * after. Its fields are its own. */
struct tp_gpu {
    unsigned generation;
    uint32_t *registers;
    struct {
        uint64_t at, end; /* byte addresses; at == end: finished */
        uint32_t part;    /* how far the packet at AT has got, where it runs other buffers */
    } stack[TP_GPU_DEPTH];
    int depth; /* -1: idle */
    uint64_t budget;
    uint32_t predicates;
    uint32_t scratch_memory[64];
    unsigned mode; /* the last render marker */
    uint64_t ticks; /* what the always-on counter shows next */
    uint64_t window_at; /* what WINDOW holds of the buffer that is being run */
    uint32_t window_words, window[256];
};

/* GENERATION: 6, 7 or 8. -ENOMEM. */
int tp_gpu_init(struct tp_gpu *gpu, unsigned generation);
void tp_gpu_finish(struct tp_gpu *gpu);

/* Watches writes of REG in RECORD. -ENOSPC when TP_GPU_WATCHES are watched. */
int tp_gpu_watch(struct tp_gpu_record *record, uint32_t reg);

/* Makes the buffer of BYTES at ADDR the next to be run. The one before must be done. */
void tp_gpu_start(struct tp_gpu *gpu, uint64_t addr, uint64_t bytes);

/* Allows one more submit its TP_GPU_BUDGET. */
void tp_gpu_begin_submit(struct tp_gpu *gpu);

/*
 * Runs until the buffer is done or must wait. TICKS: the always-on counter (19.2 MHz); within a
 * run it goes up by one a reading. Effects of packets before a wait are there when it answers
 * TP_GPU_WAITING; the wait is tried again by the next run.
 */
enum tp_gpu_state tp_gpu_run(struct tp_gpu *gpu, const struct tp_gpu_memory *memory, uint64_t ticks,
                             struct tp_gpu_record *record);

#endif
