/* What packets write to memory: values, copies, sums, registers, events. */
#include "gpu_internal.h"

#include "pm4.h"

#include <string.h>

/* Dwords that one CP_MEMCPY may copy. */
#define COPY_MAX (1u << 22)

static void read_bytes(struct run *run, uint64_t addr, void *out, size_t bytes)
{
    memset(out, 0, bytes);
    if (run->memory->read(run->memory->user, addr, out, bytes)) {
        memset(out, 0, bytes);
        run->record->faults++;
    }
}

static void write_bytes(struct run *run, uint64_t addr, const void *data, size_t bytes)
{
    struct tp_gpu *gpu = run->gpu;
    run->record->memory_writes++;
    if (run->memory->write(run->memory->user, addr, data, bytes))
        run->record->faults++;
    /* A stream may write what it runs later. */
    uint64_t window_end = gpu->window_at + 4 * (uint64_t)gpu->window_words;
    if (addr < window_end && addr + bytes > gpu->window_at)
        gpu->window_words = 0;
}

uint32_t tp_gpu_read32(struct run *run, uint64_t addr)
{
    uint32_t value;
    read_bytes(run, addr, &value, sizeof value);
    return value;
}

uint64_t tp_gpu_read64(struct run *run, uint64_t addr)
{
    uint64_t value;
    read_bytes(run, addr, &value, sizeof value);
    return value;
}

static void write32(struct run *run, uint64_t addr, uint32_t value)
{
    write_bytes(run, addr, &value, sizeof value);
}

static void write64(struct run *run, uint64_t addr, uint64_t value)
{
    write_bytes(run, addr, &value, sizeof value);
}

void tp_gpu_conditional_write(struct run *run)
{
    if (tp_gpu_word(run, 0) >> 8 & 1)
        write32(run, tp_gpu_address(run, 5), tp_gpu_word(run, 7));
}

static void mem_write(struct run *run)
{
    uint64_t addr = tp_gpu_address(run, 0);
    if (run->count == 4) { /* most are 64-bit values: they appear at once */
        write64(run, addr, tp_gpu_address(run, 2));
        return;
    }
    for (uint32_t i = 2; i < run->count; i++)
        write32(run, addr + 4 * (uint64_t)(i - 2), tp_gpu_word(run, i));
}

static void mem_to_mem(struct run *run)
{
    uint32_t flags = tp_gpu_word(run, 0);
    bool wide = flags >> 29 & 1;
    uint64_t sum = 0;
    if (run->count < 5)
        return;
    for (uint32_t i = 3, n = 0; i + 1 < run->count && n < 3; i += 2, n++) {
        uint64_t from = tp_gpu_address(run, i);
        uint64_t value = wide ? tp_gpu_read64(run, from) : tp_gpu_read32(run, from);
        sum += flags >> n & 1 ? -value : value;
    }
    uint64_t to = tp_gpu_address(run, 1);
    if (wide)
        write64(run, to, sum);
    else
        write32(run, to, (uint32_t)sum);
}

/* COUNT registers from REG to ADDR, by pairs where WIDE. */
static void store_registers(struct run *run, uint32_t reg, uint32_t count, bool wide, bool add,
                            uint64_t addr)
{
    for (uint32_t i = 0; i < count; i += wide ? 2 : 1) {
        uint64_t at = addr + 4 * (uint64_t)i;
        if (wide) {
            uint64_t value = tp_gpu_register(run->gpu, reg + i);
            value |= (uint64_t)tp_gpu_register(run->gpu, reg + i + 1) << 32;
            write64(run, at, add ? tp_gpu_read64(run, at) + value : value);
        } else {
            uint32_t value = tp_gpu_register(run->gpu, reg + i);
            write32(run, at, add ? tp_gpu_read32(run, at) + value : value);
        }
    }
}

static void reg_to_mem(struct run *run)
{
    uint32_t flags = tp_gpu_word(run, 0), count = flags >> 18 & 0xfff;
    uint64_t addr = tp_gpu_address(run, 1);
    if (run->opcode == CP_REG_TO_MEM_OFFSET_MEM)
        addr += tp_gpu_read32(run, tp_gpu_address(run, 3));
    for (uint32_t i = 3; run->opcode == CP_REG_TO_MEM_OFFSET_REG && i < run->count && i < 5; i++) {
        uint32_t from = tp_gpu_word(run, i);
        uint32_t reg = from & 0x3ffff;
        addr += tp_gpu_register(run->gpu, from >> 19 & 1 ? REG_CP_SCRATCH + (reg & 7) : reg);
    }
    store_registers(run, flags & 0x3ffff, count ? count : 1, flags >> 30 & 1, flags >> 31, addr);
}

static void memcpy_packet(struct run *run)
{
    uint32_t dwords = tp_gpu_word(run, 0), part[64];
    uint64_t from = tp_gpu_address(run, 1), to = tp_gpu_address(run, 3);
    if (dwords > COPY_MAX)
        dwords = COPY_MAX;
    run->gpu->budget -= dwords < run->gpu->budget ? dwords : run->gpu->budget;
    while (dwords) {
        uint32_t n = dwords < 64 ? dwords : 64;
        read_bytes(run, from, part, 4 * n);
        write_bytes(run, to, part, 4 * n);
        from += 4 * n;
        to += 4 * n;
        dwords -= n;
    }
}

static uint64_t register_pair(struct run *run, uint32_t reg)
{
    uint64_t low = tp_gpu_register(run->gpu, reg);
    return low | (uint64_t)tp_gpu_register(run->gpu, reg + 1) << 32;
}

/* The counters behind these events stand still: nothing is drawn. Addresses lie in registers. */
static void count_event(struct run *run, uint32_t event)
{
    if (event == EVENT_ZPASS_DONE) {
        uint64_t addr = register_pair(run, REG_RB_SAMPLE_COUNT_ADDR);
        if (addr)
            write64(run, addr, 0);
    } else if (event == EVENT_WRITE_PRIMITIVE_COUNTS) {
        uint64_t addr = register_pair(run, REG_VPC_SO_STREAM_COUNTS);
        for (int i = 0; addr && i < 8; i++) /* written and generated, for 4 streams */
            write64(run, addr + 8 * (uint64_t)i, 0);
    } else if (event >= EVENT_FLUSH_SO_0 && event < EVENT_FLUSH_SO_0 + 4) {
        uint32_t so = REG_VPC_SO + 7 * (event - EVENT_FLUSH_SO_0);
        uint64_t addr = register_pair(run, so + 5);
        if (addr)
            write32(run, addr, tp_gpu_register(run->gpu, so + 4));
    }
}

static void event_a6xx(struct run *run)
{
    uint32_t flags = tp_gpu_word(run, 0);
    count_event(run, flags & 0xff);
    if (run->count < 4)
        return;
    uint64_t addr = tp_gpu_address(run, 1);
    if (flags >> 30 & 1)
        store_registers(run, REG_CP_ALWAYS_ON_COUNTER, 2, true, false, addr);
    else
        write32(run, addr, tp_gpu_word(run, 3));
}

/* The sample count, 0, at ADDR or 16 bytes on; and the difference, 0, added at 8. */
static void sample_count(struct run *run, uint32_t flags, uint64_t addr)
{
    write64(run, addr + (flags >> 13 & 1 ? 16 : 0), 0);
    if (flags >> 14 & 1) {
        uint64_t delta = tp_gpu_read64(run, addr + 16) - tp_gpu_read64(run, addr);
        write64(run, addr + 8, tp_gpu_read64(run, addr + 8) + delta);
    }
}

static void event_a7xx(struct run *run)
{
    uint32_t flags = tp_gpu_word(run, 0);
    uint64_t addr = tp_gpu_address(run, 1);
    if (flags >> 12 & 1 && run->count >= 3)
        sample_count(run, flags, addr);
    else
        count_event(run, flags & 0xff);
    if (!(flags >> 27 & 1) || run->count < 3 || flags >> 24 & 1)
        return;
    switch (flags >> 20 & 7) {
    case 0:
        write32(run, addr, tp_gpu_word(run, 3));
        break;
    case 1:
        write64(run, addr, tp_gpu_address(run, 3));
        break;
    case 2: /* a sum of counters that only order the processor's threads */
        write64(run, addr, 0);
        break;
    case 3:
        store_registers(run, REG_CP_ALWAYS_ON_COUNTER, 2, true, false, addr);
        break;
    case 4:
        store_registers(run, tp_gpu_word(run, 3) & 0x3ffff, tp_gpu_word(run, 4) & 0xfff, false,
                        false, addr);
        break;
    default:
        break;
    }
}

void tp_gpu_memory_packet(struct run *run)
{
    switch (run->opcode) {
    case CP_MEM_WRITE:
        mem_write(run);
        break;
    case CP_MEM_TO_MEM:
        mem_to_mem(run);
        break;
    case CP_REG_TO_MEM:
    case CP_REG_TO_MEM_OFFSET_REG:
    case CP_REG_TO_MEM_OFFSET_MEM:
        reg_to_mem(run);
        break;
    case CP_MEMCPY:
        memcpy_packet(run);
        break;
    case CP_EVENT_WRITE:
        run->record->events++;
        if (run->gpu->generation >= 7)
            event_a7xx(run);
        else
            event_a6xx(run);
        break;
    default:
        break;
    }
}
