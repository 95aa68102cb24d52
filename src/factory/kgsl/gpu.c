/* The loop over packets, and those that steer it: buffers, conditions, registers, waits. What
 * packets write to memory: gpu_memory.c. */
#include "gpu.h"

#include "gpu_internal.h"
#include "pm4.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int tp_gpu_init(struct tp_gpu *gpu, unsigned generation)
{
    memset(gpu, 0, sizeof *gpu);
    gpu->generation = generation;
    gpu->depth = -1;
    gpu->registers = calloc(TP_GPU_REGISTERS, sizeof *gpu->registers);
    if (!gpu->registers)
        return -ENOMEM;
    /* Nothing is binned: every tile counts as visible in every pipe. */
    memset(&gpu->registers[REG_VSC_STATE], 0xff, 32 * sizeof *gpu->registers);
    return 0;
}

void tp_gpu_finish(struct tp_gpu *gpu)
{
    free(gpu->registers);
    gpu->registers = NULL;
}

int tp_gpu_watch(struct tp_gpu_record *record, uint32_t reg)
{
    if (record->watch_count == TP_GPU_WATCHES)
        return -ENOSPC;
    record->watches[record->watch_count].reg = reg;
    record->watches[record->watch_count].always = UINT32_MAX;
    record->watch_count++;
    return 0;
}

void tp_gpu_begin_submit(struct tp_gpu *gpu)
{
    gpu->budget = TP_GPU_BUDGET;
    gpu->mode = 0;
}

static bool push(struct tp_gpu *gpu, uint64_t addr, uint64_t bytes)
{
    if (gpu->depth + 1 >= TP_GPU_DEPTH || bytes > UINT64_MAX - addr)
        return false;
    gpu->depth++;
    gpu->stack[gpu->depth].at = addr;
    gpu->stack[gpu->depth].end = addr + (bytes & ~UINT64_C(3));
    gpu->stack[gpu->depth].part = 0;
    return true;
}

void tp_gpu_start(struct tp_gpu *gpu, uint64_t addr, uint64_t bytes)
{
    gpu->depth = -1;
    gpu->window_words = 0;
    push(gpu, addr, bytes);
}

uint32_t tp_gpu_register(struct tp_gpu *gpu, uint32_t reg)
{
    if (reg == REG_CP_ALWAYS_ON_COUNTER)
        return (uint32_t)gpu->ticks++;
    if (reg == REG_CP_ALWAYS_ON_COUNTER + 1)
        return (uint32_t)(gpu->ticks >> 32);
    return reg < TP_GPU_REGISTERS ? gpu->registers[reg] : 0;
}

static void set_register(struct run *run, uint32_t reg, uint32_t value)
{
    struct tp_gpu_record *record = run->record;
    bool fixed = reg >= REG_VSC_STATE && reg < REG_VSC_STATE + 32;
    if (reg < TP_GPU_REGISTERS && !fixed)
        run->gpu->registers[reg] = value;
    for (size_t i = 0; i < record->watch_count; i++) {
        if (record->watches[i].reg != reg)
            continue;
        record->watches[i].writes++;
        record->watches[i].last = value;
        record->watches[i].ever |= value;
        record->watches[i].always &= value;
    }
}

/* The dword at ADDR of the stream: false at the end of its buffer or where no memory is. */
static bool fetch(struct run *run, uint64_t addr, uint32_t *out)
{
    struct tp_gpu *gpu = run->gpu;
    uint64_t index = (addr - gpu->window_at) / 4;
    if (addr >= gpu->stack[gpu->depth].end)
        return false;
    if (addr < gpu->window_at || index >= gpu->window_words) {
        uint64_t left = gpu->stack[gpu->depth].end - addr;
        uint32_t words = left < sizeof gpu->window ? (uint32_t)(left / 4) : 256;
        gpu->window_words = 0;
        if (run->memory->read(run->memory->user, addr, gpu->window, words * 4)) {
            words = 1;
            if (run->memory->read(run->memory->user, addr, gpu->window, 4)) {
                run->record->faults++;
                return false;
            }
        }
        gpu->window_at = addr;
        gpu->window_words = words;
        index = 0;
    }
    *out = gpu->window[index];
    return true;
}

uint32_t tp_gpu_word(struct run *run, uint32_t index)
{
    uint32_t value = 0;
    if (index < run->count)
        fetch(run, run->payload + 4 * (uint64_t)index, &value);
    return value;
}

uint64_t tp_gpu_address(struct run *run, uint32_t index)
{
    uint64_t low = tp_gpu_word(run, index);
    return low | (uint64_t)tp_gpu_word(run, index + 1) << 32;
}

/* Odd parity over N's bits, as packet headers carry it. */
static uint32_t odd_parity(uint32_t n)
{
    return !(__builtin_popcount(n) & 1);
}

/* Leaves out the next DWORDS dwords after this packet. */
static void skip(struct run *run, uint32_t dwords)
{
    uint64_t left = (run->gpu->stack[run->level].end - run->next) / 4;
    run->next += 4 * (dwords < left ? dwords : left);
}

static bool holds(uint32_t function, bool is_signed, uint32_t a, uint32_t b)
{
    int64_t x = is_signed ? (int64_t)(int32_t)a : (int64_t)a;
    int64_t y = is_signed ? (int64_t)(int32_t)b : (int64_t)b;
    switch (function) {
    case 1:
        return x < y;
    case 2:
        return x <= y;
    case 3:
        return x == y;
    case 4:
        return x != y;
    case 5:
        return x >= y;
    case 6:
        return x > y;
    default:
        return true;
    }
}

/* The comparison of CP_WAIT_REG_MEM and CP_COND_WRITE5. What another of the processor's threads
 * keeps on the chip counts as having arrived: the threads run one after the other here. */
static bool compare(struct run *run)
{
    uint32_t flags = tp_gpu_word(run, 0), poll = (flags >> 4) & 3, value = 0;
    uint64_t addr = tp_gpu_address(run, 1);
    if (poll == 0)
        value = tp_gpu_register(run->gpu, (uint32_t)addr & 0x3ffff);
    else if (poll == 1)
        value = tp_gpu_read32(run, addr);
    else
        return true;
    return holds(flags & 7, flags >> 3 & 1, value & tp_gpu_word(run, 4), tp_gpu_word(run, 3));
}

static enum tp_gpu_state wait_memory(struct run *run)
{
    uint32_t flags = tp_gpu_word(run, 0);
    uint64_t addr = tp_gpu_address(run, 1);
    bool arrived;
    if (run->gpu->generation < 7)
        arrived = (int32_t)tp_gpu_read32(run, addr) >= (int32_t)tp_gpu_word(run, 3);
    else if (flags & 0x10 || (flags & 3) > 1)
        arrived = true;
    else if ((flags & 3) == 1)
        arrived = tp_gpu_read64(run, addr) >= tp_gpu_address(run, 3);
    else
        arrived = (int32_t)tp_gpu_read32(run, addr) >= (int32_t)tp_gpu_word(run, 3);
    return arrived ? TP_GPU_DONE : TP_GPU_WAITING;
}

/* The bit of a render mode in CP_COND_REG_EXEC (from bit 25) and CP_SET_DRAW_STATE (from 20). */
static uint32_t mode_bit(const struct tp_gpu *gpu)
{
    return gpu->mode == RM6_BIN_VISIBILITY ? 1 : gpu->mode == RM6_DIRECT_RENDER ? 4 : 2;
}

static void conditional(struct run *run)
{
    struct tp_gpu *gpu = run->gpu;
    uint32_t flags = tp_gpu_word(run, 0), one = tp_gpu_word(run, 1), two = tp_gpu_word(run, 2);
    bool pass;
    switch (flags >> 28) {
    case 1:
        if (!(gpu->predicates >> ((flags >> 18) & 31) & 1))
            skip(run, one & 0xffffff);
        return;
    case 2:
        pass = (flags | one) >> 24 & 1 || tp_gpu_register(gpu, flags & 0x3ffff) ==
                                              tp_gpu_register(gpu, one & 0x3ffff);
        if (!pass)
            skip(run, two & 0xffffff);
        return;
    case 3:
        if (!((flags >> 25 & 7) & mode_bit(gpu)))
            skip(run, one & 0xffffff);
        return;
    case 4:
        pass = flags >> 24 & 1 || tp_gpu_register(gpu, flags & 0x3ffff) == one;
        if (!pass)
            skip(run, two & 0xffffff);
        return;
    case 5: /* threads: what either of the two renders is run */
        if (!(flags >> 25 & 3))
            skip(run, one & 0xffffff);
        return;
    default:
        return;
    }
}

static void test_register(struct run *run)
{
    struct tp_gpu *gpu = run->gpu;
    uint32_t flags = tp_gpu_word(run, 0), bit = flags >> 20 & 31, where = flags >> 26 & 31;
    if (flags >> 31) {
        uint32_t mask = tp_gpu_word(run, 1);
        gpu->predicates = (gpu->predicates & ~mask) | (tp_gpu_word(run, 2) & mask);
        return;
    }
    uint32_t value = flags >> 18 & 1 ? gpu->scratch_memory[flags & 63]
                                     : tp_gpu_register(gpu, flags & 0x3ffff);
    gpu->predicates = (gpu->predicates & ~(1u << where)) | (value >> bit & 1) << where;
}

/* Runs a draw state's next group that counts in this mode, or ends the packet. Groups are run where
 * they are set, not at the draw: they hold registers and constants, whose order against draws
 * nothing here depends on. */
static void draw_state(struct run *run)
{
    struct tp_gpu *gpu = run->gpu;
    for (uint32_t i = gpu->stack[run->level].part; i < run->count / 3; i++) {
        uint32_t flags = tp_gpu_word(run, 3 * i), words = flags & 0xffff;
        bool disabled = flags >> 17 & 3, counts = (flags >> 20 & 7) & mode_bit(gpu);
        if (disabled || !words || (!counts && !(flags >> 19 & 1)))
            continue;
        uint64_t addr = tp_gpu_address(run, 3 * i + 1);
        gpu->stack[run->level].part = i + 1;
        run->next = gpu->stack[run->level].at; /* once more, for the groups after it */
        if (!push(gpu, addr, 4 * (uint64_t)words))
            run->record->bad_packets++;
        return;
    }
    gpu->stack[run->level].part = 0;
}

static void indirect(struct run *run)
{
    uint64_t addr = tp_gpu_address(run, 0), bytes = 4 * (uint64_t)(tp_gpu_word(run, 2) & 0xfffff);
    run->record->buffers++;
    if (run->opcode == CP_INDIRECT_BUFFER_CHAIN) {
        run->next = run->gpu->stack[run->level].end; /* goes on there, and comes not back */
        run->gpu->stack[run->level].at = run->next;
        run->gpu->depth--;
    }
    if (!push(run->gpu, addr, bytes))
        run->record->bad_packets++;
}

static void marker(struct run *run)
{
    uint32_t flags = tp_gpu_word(run, 0), mode = flags & 15;
    if (flags >> 8 & 1 || (flags & ~0x1fu))
        return;
    run->gpu->mode = mode;
    run->record->markers[mode]++;
    run->record->sysmem_passes += mode == RM6_DIRECT_RENDER;
    run->record->gmem_tiles += mode == RM6_BIN_RENDER_START;
    run->record->binning_passes += mode == RM6_BIN_VISIBILITY;
}

static void modify_register(struct run *run)
{
    struct tp_gpu *gpu = run->gpu;
    uint32_t flags = tp_gpu_word(run, 0), a = tp_gpu_word(run, 1), b = tp_gpu_word(run, 2);
    uint32_t rotate = flags >> 24 & 31, reg = flags & 0x3ffff;
    if (flags >> 31)
        a = tp_gpu_register(gpu, a & 0x3ffff);
    if (flags >> 30 & 1)
        b = tp_gpu_register(gpu, b & 0x3ffff);
    uint32_t value = tp_gpu_register(gpu, reg) & a;
    value = value << rotate | (rotate ? value >> (32 - rotate) : 0);
    set_register(run, reg, flags >> 29 & 1 ? value + b : value | b);
}

static void registers_from_memory(struct run *run)
{
    uint32_t flags = tp_gpu_word(run, 0), count = flags >> 19 & 0x7ff;
    uint64_t addr = tp_gpu_address(run, 1);
    for (uint32_t i = 0; i < (count ? count : 1); i++) {
        uint32_t value = tp_gpu_read32(run, addr + 4 * i);
        set_register(run, (flags & 0x3ffff) + i, flags >> 30 & 1 ? value << 2 : value);
    }
}

static void scratch(struct run *run)
{
    struct tp_gpu *gpu = run->gpu;
    uint32_t flags = tp_gpu_word(run, 0), at = flags >> 20 & 7, count = (flags >> 24 & 7) + 1;
    if (run->opcode == CP_SCRATCH_WRITE) {
        for (uint32_t i = 1; i < run->count && at + i - 1 < 8; i++)
            set_register(run, REG_CP_SCRATCH + at + i - 1, tp_gpu_word(run, i));
        return;
    }
    for (uint32_t i = 0; i < count && at + i < 8; i++) {
        uint32_t reg = (flags & 0x3ffff) + i, kept = REG_CP_SCRATCH + at + i;
        if (run->opcode == CP_REG_TO_SCRATCH)
            set_register(run, kept, tp_gpu_register(gpu, reg));
        else
            set_register(run, reg, tp_gpu_register(gpu, kept));
    }
}

static void memory_to_scratch(struct run *run)
{
    uint32_t count = tp_gpu_word(run, 0) & 63, offset = tp_gpu_word(run, 1) & 63;
    uint64_t addr = tp_gpu_address(run, 2);
    for (uint32_t i = 0; i < count && offset + i < 64; i++)
        run->gpu->scratch_memory[offset + i] = tp_gpu_read32(run, addr + 4 * i);
}

static void register_pairs(struct run *run, uint32_t from)
{
    for (uint32_t i = from; i + 1 < run->count; i += 2)
        set_register(run, tp_gpu_word(run, i) & 0x3ffff, tp_gpu_word(run, i + 1));
}

static enum tp_gpu_state packet7(struct run *run)
{
    struct tp_gpu *gpu = run->gpu;
    switch (run->opcode) {
    case CP_INDIRECT_BUFFER:
    case CP_INDIRECT_BUFFER_PFD:
    case CP_INDIRECT_BUFFER_CHAIN:
        indirect(run);
        break;
    case CP_SET_DRAW_STATE:
        draw_state(run);
        break;
    case CP_SET_MARKER:
        marker(run);
        break;
    case CP_COND_EXEC:
        if (!tp_gpu_read32(run, tp_gpu_address(run, 0)) ||
            (int32_t)tp_gpu_read32(run, tp_gpu_address(run, 2)) >= (int32_t)tp_gpu_word(run, 4))
            skip(run, tp_gpu_word(run, 5));
        break;
    case CP_COND_REG_EXEC:
        conditional(run);
        break;
    case CP_REG_TEST:
        test_register(run);
        break;
    case CP_WAIT_REG_MEM:
        return compare(run) ? TP_GPU_DONE : TP_GPU_WAITING;
    case CP_WAIT_MEM_GTE:
        return wait_memory(run);
    case CP_WAIT_TWO_REGS: /* both belong to units that are always idle here */
        break;
    case CP_COND_WRITE5:
        if (compare(run))
            tp_gpu_conditional_write(run);
        break;
    case CP_REG_RMW:
        modify_register(run);
        break;
    case CP_REG_WRITE:
        set_register(run, tp_gpu_word(run, 1) & 0x3ffff, tp_gpu_word(run, 2));
        break;
    case CP_REG_WR_NO_CTXT:
        register_pairs(run, 0);
        break;
    case CP_CONTEXT_REG_BUNCH:
        register_pairs(run, 0);
        break;
    case CP_CONTEXT_REG_BUNCH2:
        register_pairs(run, 2);
        break;
    case CP_MEM_TO_REG:
        registers_from_memory(run);
        break;
    case CP_SCRATCH_WRITE:
    case CP_REG_TO_SCRATCH:
    case CP_SCRATCH_TO_REG:
        scratch(run);
        break;
    case CP_MEM_TO_SCRATCH_MEM:
        if (gpu->generation >= 7)
            memory_to_scratch(run);
        break;
    case CP_DRAW_INDX:
    case CP_DRAW_AUTO:
    case CP_DRAW_INDIRECT:
    case CP_DRAW_INDX_INDIRECT:
    case CP_DRAW_INDIRECT_MULTI:
    case CP_DRAW_INDX_OFFSET:
        run->record->draws++;
        break;
    case CP_EXEC_CS:
    case CP_EXEC_CS_INDIRECT:
    case CP_RUN_OPENCL:
        run->record->dispatches++;
        break;
    case CP_BLIT:
        run->record->blits++;
        break;
    default:
        tp_gpu_memory_packet(run);
        break;
    }
    return TP_GPU_DONE;
}

static enum tp_gpu_state step(struct run *run)
{
    struct tp_gpu *gpu = run->gpu;
    uint32_t header;
    run->level = gpu->depth;
    uint64_t at = gpu->stack[run->level].at;
    if (!fetch(run, at, &header)) {
        gpu->stack[run->level].at = gpu->stack[run->level].end;
        return TP_GPU_DONE;
    }
    uint32_t reg = header >> 8 & 0x3ffff;
    bool four = header >> 28 == 4, seven = header >> 28 == 7, good = false;
    run->opcode = header >> 16 & 0x7f;
    run->count = four ? header & 0x7f : header & 0x3fff;
    run->payload = at + 4;
    run->next = run->payload + 4 * (uint64_t)run->count;
    if (four)
        good = (header >> 7 & 1) == odd_parity(run->count) &&
               (header >> 27 & 1) == odd_parity(reg);
    if (seven)
        good = (header >> 15 & 1) == odd_parity(run->count) &&
               (header >> 23 & 1) == odd_parity(run->opcode);
    if (!good || run->next > gpu->stack[run->level].end) {
        run->record->bad_packets++;
        gpu->stack[run->level].at = gpu->stack[run->level].end;
        return TP_GPU_DONE;
    }
    uint64_t cost = run->count + 1;
    gpu->budget -= cost < gpu->budget ? cost : gpu->budget;
    run->record->packets++;
    if (four) {
        for (uint32_t i = 0; i < run->count; i++)
            set_register(run, reg + i, tp_gpu_word(run, i));
    } else if (packet7(run) == TP_GPU_WAITING) {
        return TP_GPU_WAITING;
    }
    if (run->opcode != CP_INDIRECT_BUFFER_CHAIN || four)
        gpu->stack[run->level].at = run->next;
    return TP_GPU_DONE;
}

enum tp_gpu_state tp_gpu_run(struct tp_gpu *gpu, const struct tp_gpu_memory *memory, uint64_t ticks,
                             struct tp_gpu_record *record)
{
    struct run run = {.gpu = gpu, .memory = memory, .record = record};
    if (gpu->ticks < ticks)
        gpu->ticks = ticks;
    gpu->window_words = 0;
    while (gpu->depth >= 0) {
        if (gpu->stack[gpu->depth].at >= gpu->stack[gpu->depth].end) {
            gpu->depth--;
            continue;
        }
        if (!gpu->budget)
            return TP_GPU_STUCK;
        if (step(&run) == TP_GPU_WAITING)
            return TP_GPU_WAITING;
    }
    return TP_GPU_DONE;
}
