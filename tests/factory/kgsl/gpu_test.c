#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "factory/kgsl/gpu.h"
#include "factory/kgsl/pm4.h"

#include <errno.h>
#include <string.h>

/* 64 KiB of GPU memory at BASE; streams are written from its start, data lies from DATA on. */
#define BASE UINT64_C(0x500000000)
#define BYTES 0x10000u
#define DATA (BASE + 0x8000)

static uint8_t bytes[BYTES];
static uint32_t *stream;
static size_t words;
static struct tp_gpu gpu;
static struct tp_gpu_record record;

static bool inside(uint64_t addr, size_t n)
{
    return addr >= BASE && addr - BASE <= BYTES && n <= BYTES - (addr - BASE);
}

static int read_memory(void *user, uint64_t addr, void *out, size_t n)
{
    (void)user;
    if (!inside(addr, n))
        return -EFAULT;
    memcpy(out, bytes + (addr - BASE), n);
    return 0;
}

static int write_memory(void *user, uint64_t addr, const void *data, size_t n)
{
    (void)user;
    if (!inside(addr, n))
        return -EFAULT;
    memcpy(bytes + (addr - BASE), data, n);
    return 0;
}

static const struct tp_gpu_memory memory = {NULL, read_memory, write_memory};

static int setup_generation(unsigned generation)
{
    memset(bytes, 0, sizeof bytes);
    memset(&record, 0, sizeof record);
    stream = (uint32_t *)(void *)bytes;
    words = 0;
    return tp_gpu_init(&gpu, generation);
}

static int setup(void **state)
{
    (void)state;
    return setup_generation(6);
}

static int setup_a7xx(void **state)
{
    (void)state;
    return setup_generation(7);
}

static int teardown(void **state)
{
    (void)state;
    tp_gpu_finish(&gpu);
    return 0;
}

/* Mesa's pm4_odd_parity_bit, in its own words. */
static uint32_t parity(uint32_t n)
{
    n ^= n >> 16;
    n ^= n >> 8;
    n ^= n >> 4;
    return ~0x6996u >> (n & 15) & 1;
}

static void packet(uint32_t opcode, size_t count, ...)
{
    va_list list;
    stream[words++] = 7u << 28 | (uint32_t)count | parity((uint32_t)count) << 15 | opcode << 16 |
                      parity(opcode) << 23;
    va_start(list, count);
    for (size_t i = 0; i < count; i++)
        stream[words++] = va_arg(list, uint32_t);
    va_end(list);
}

static void set_register(uint32_t reg, uint32_t value)
{
    stream[words++] = 4u << 28 | 1 | parity(1) << 7 | reg << 8 | parity(reg) << 27;
    stream[words++] = value;
}

#define LO(addr) (uint32_t)(addr)
#define HI(addr) (uint32_t)((uint64_t)(addr) >> 32)
#define ADDRESS(addr) LO(addr), HI(addr)

static enum tp_gpu_state run_bytes(uint64_t addr, uint64_t n)
{
    tp_gpu_begin_submit(&gpu);
    tp_gpu_start(&gpu, addr, n);
    return tp_gpu_run(&gpu, &memory, 1000, &record);
}

static void run(void)
{
    assert_int_equal(run_bytes(BASE, 4 * words), TP_GPU_DONE);
}

static uint64_t wide(uint64_t addr)
{
    uint64_t value;
    memcpy(&value, bytes + (addr - BASE), sizeof value);
    return value;
}

static uint32_t word(uint64_t addr)
{
    return (uint32_t)wide(addr);
}

static void put(uint64_t addr, uint64_t value)
{
    memcpy(bytes + (addr - BASE), &value, sizeof value);
}

static void mem_write_writes_its_dwords(void **state)
{
    (void)state;
    packet(CP_MEM_WRITE, 4, ADDRESS(DATA), 0x11111111, 0x22222222);
    packet(CP_MEM_WRITE, 5, ADDRESS(DATA + 16), 1, 2, 3);
    run();
    assert_int_equal(wide(DATA), UINT64_C(0x2222222211111111));
    assert_int_equal(wide(DATA + 16), UINT64_C(0x0000000200000001));
    assert_int_equal(word(DATA + 24), 3);
    assert_int_equal(record.faults + record.bad_packets, 0);
}

/* Turnip's occlusion query: result = result + end - begin. */
static void mem_to_mem_adds_and_negates(void **state)
{
    (void)state;
    put(DATA, 100);
    put(DATA + 8, 50);
    put(DATA + 16, UINT64_C(0x100000000) + 7);
    packet(CP_MEM_TO_MEM, 9, 1u << 29 | 1u << 2, ADDRESS(DATA), ADDRESS(DATA), ADDRESS(DATA + 16),
           ADDRESS(DATA + 8));
    packet(CP_MEM_TO_MEM, 5, 0, ADDRESS(DATA + 24), ADDRESS(DATA + 16));
    run();
    assert_int_equal(wide(DATA), UINT64_C(0x100000000) + 57);
    assert_int_equal(wide(DATA + 24), 7);
}

static void an_event_writes_its_value_at_its_address(void **state)
{
    (void)state;
    packet(CP_EVENT_WRITE, 4, 22, ADDRESS(DATA), 0xabcd);
    packet(CP_EVENT_WRITE, 4, 4u | 1u << 30, ADDRESS(DATA + 8), 0);
    packet(CP_EVENT_WRITE, 1, 5);
    run();
    assert_int_equal(word(DATA), 0xabcd);
    assert_int_equal(wide(DATA + 8), 1000);
    assert_int_equal(record.events, 3);
}

static void an_a7xx_event_writes_what_its_source_says(void **state)
{
    const uint32_t enabled = 1u << 27;
    (void)state;
    packet(CP_EVENT_WRITE, 4, 22 | enabled, ADDRESS(DATA), 5);
    packet(CP_EVENT_WRITE, 5, 22 | enabled | 1u << 20, ADDRESS(DATA + 8), 6, 7);
    packet(CP_EVENT_WRITE, 3, 22 | enabled | 3u << 20, ADDRESS(DATA + 16));
    packet(CP_EVENT_WRITE, 4, 22, ADDRESS(DATA + 24), 9);                     /* not enabled */
    packet(CP_EVENT_WRITE, 4, 22 | enabled | 1u << 24, ADDRESS(0x10), 9);     /* on the chip */
    run();
    assert_int_equal(word(DATA), 5);
    assert_int_equal(wide(DATA + 8), UINT64_C(0x700000006));
    assert_int_equal(wide(DATA + 16), 1000);
    assert_int_equal(word(DATA + 24), 0);
    assert_int_equal(record.faults, 0);
}

static void an_a6xx_occlusion_query_ends_at_zero(void **state)
{
    (void)state;
    put(DATA, 0x55);
    set_register(REG_RB_SAMPLE_COUNT_ADDR, LO(DATA));
    set_register(REG_RB_SAMPLE_COUNT_ADDR + 1, HI(DATA));
    packet(CP_EVENT_WRITE, 1, EVENT_ZPASS_DONE);
    packet(CP_MEM_WRITE, 4, ADDRESS(DATA + 16), 0xffffffff, 0xffffffff);
    set_register(REG_RB_SAMPLE_COUNT_ADDR, LO(DATA + 16));
    packet(CP_EVENT_WRITE, 1, EVENT_ZPASS_DONE);
    packet(CP_WAIT_REG_MEM, 6, 4u | 1u << 4, ADDRESS(DATA + 16), 0xffffffff, 0xffffffff, 16);
    run();
    assert_int_equal(wide(DATA), 0);
    assert_int_equal(wide(DATA + 16), 0);
}

/* The A740's form: begin at 0, end at 16, the sum at 8. */
static void an_a7xx_occlusion_query_accumulates_zero(void **state)
{
    (void)state;
    put(DATA, 1);
    put(DATA + 8, 77);
    put(DATA + 16, 2);
    packet(CP_EVENT_WRITE, 3, EVENT_ZPASS_DONE | 1u << 12, ADDRESS(DATA));
    packet(CP_EVENT_WRITE, 3, EVENT_ZPASS_DONE | 7u << 12, ADDRESS(DATA));
    run();
    assert_int_equal(wide(DATA), 0);
    assert_int_equal(wide(DATA + 8), 77);
    assert_int_equal(wide(DATA + 16), 0);
}

static void registers_go_to_memory_and_the_counter_goes_on(void **state)
{
    (void)state;
    set_register(0x9305, 0x1234);
    packet(CP_REG_TO_MEM, 3, 0x9305u, ADDRESS(DATA));
    packet(CP_REG_TO_MEM, 3, REG_CP_ALWAYS_ON_COUNTER | 2u << 18 | 1u << 30, ADDRESS(DATA + 8));
    packet(CP_REG_TO_MEM, 3, REG_CP_ALWAYS_ON_COUNTER | 2u << 18 | 1u << 30, ADDRESS(DATA + 16));
    packet(CP_REG_TO_MEM, 3, 0x9305u | 1u << 31, ADDRESS(DATA));
    run();
    assert_int_equal(word(DATA), 0x2468);
    assert_int_equal(wide(DATA + 8), 1000);
    assert_true(wide(DATA + 16) > wide(DATA + 8));
}

static void memory_goes_to_registers(void **state)
{
    (void)state;
    put(DATA, UINT64_C(0x2200000011));
    packet(CP_MEM_TO_REG, 3, 0x9300u | 2u << 19, ADDRESS(DATA));
    packet(CP_REG_TO_MEM, 3, 0x9300u | 2u << 18, ADDRESS(DATA + 8));
    run();
    assert_int_equal(wide(DATA + 8), UINT64_C(0x2200000011));
}

static void memcpy_copies(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 100; i++)
        put(DATA + 4 * i, i);
    packet(CP_MEMCPY, 5, 100u, ADDRESS(DATA), ADDRESS(DATA + 0x1000));
    run();
    assert_memory_equal(bytes + (DATA - BASE), bytes + (DATA - BASE) + 0x1000, 400);
}

/* The buffer at BASE + 0x1000 writes, and calls another. */
static void buffers_nest_and_come_back(void **state)
{
    (void)state;
    packet(CP_INDIRECT_BUFFER, 3, ADDRESS(BASE + 0x1000), 4u);
    packet(CP_MEM_WRITE, 3, ADDRESS(DATA + 4), 2u);
    size_t first = words;
    words = 0x1000 / 4;
    packet(CP_MEM_WRITE, 3, ADDRESS(DATA), 1u);
    words = first;
    run();
    assert_int_equal(wide(DATA), UINT64_C(0x200000001));
    assert_int_equal(record.buffers, 1);
}

static void a_chain_does_not_come_back(void **state)
{
    (void)state;
    packet(CP_INDIRECT_BUFFER_CHAIN, 3, ADDRESS(BASE + 0x1000), 4u);
    packet(CP_MEM_WRITE, 3, ADDRESS(DATA + 4), 2u);
    size_t first = words;
    words = 0x1000 / 4;
    packet(CP_MEM_WRITE, 3, ADDRESS(DATA), 1u);
    words = first;
    run();
    assert_int_equal(wide(DATA), 1);
}

static void a_loop_of_chains_is_an_endless_submit(void **state)
{
    (void)state;
    packet(CP_INDIRECT_BUFFER_CHAIN, 3, ADDRESS(BASE), 4u);
    tp_gpu_begin_submit(&gpu);
    gpu.budget = 10000;
    tp_gpu_start(&gpu, BASE, 16);
    assert_int_equal(tp_gpu_run(&gpu, &memory, 0, &record), TP_GPU_STUCK);
}

static void calls_that_nest_too_deep_are_left_out(void **state)
{
    (void)state;
    packet(CP_INDIRECT_BUFFER, 3, ADDRESS(BASE), 8u);
    packet(CP_MEM_WRITE, 3, ADDRESS(DATA), 1u);
    run();
    assert_int_equal(word(DATA), 1);
    assert_true(record.bad_packets > 0);
}

/* Turnip's copy of a query result that may not be available: ADDR0 != 0 and ADDR1 < 2. */
static void conditional_execution_follows_memory(void **state)
{
    (void)state;
    put(DATA, 0);
    put(DATA + 8, 1);
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t available = DATA + 8 * i;
        packet(CP_COND_EXEC, 6, ADDRESS(available), ADDRESS(available), 2u, 4u);
        packet(CP_MEM_WRITE, 3, ADDRESS(DATA + 16 + 4 * i), 9u);
    }
    run();
    assert_int_equal(word(DATA + 16), 0);
    assert_int_equal(word(DATA + 20), 9);
}

static void conditional_execution_follows_the_render_mode(void **state)
{
    const uint32_t modes[] = {RM6_DIRECT_RENDER, RM6_BIN_VISIBILITY, RM6_BIN_RENDER_START};
    const uint32_t bits[] = {1u << 27, 1u << 25, 1u << 26};
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        packet(CP_SET_MARKER, 1, modes[i]);
        for (uint32_t k = 0; k < 3; k++) {
            packet(CP_COND_REG_EXEC, 2, 3u << 28 | bits[k], 4u);
            packet(CP_MEM_WRITE, 3, ADDRESS(DATA + 4 * (3 * i + k)), 1u);
        }
    }
    run();
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(word(DATA + 4 * i), i / 3 == i % 3);
    assert_int_equal(record.sysmem_passes, 1);
    assert_int_equal(record.binning_passes, 1);
    assert_int_equal(record.gmem_tiles, 1);
}

static void every_tile_counts_as_visible(void **state)
{
    (void)state;
    set_register(REG_VSC_STATE + 3, 0); /* as a binning pass's restore would */
    packet(CP_REG_TEST, 1, (REG_VSC_STATE + 3) | 5u << 20);
    packet(CP_COND_REG_EXEC, 2, 1u << 28, 4u);
    packet(CP_MEM_WRITE, 3, ADDRESS(DATA), 1u);
    packet(CP_REG_TEST, 1, 0x9300u | 5u << 20);
    packet(CP_COND_REG_EXEC, 2, 1u << 28, 4u);
    packet(CP_MEM_WRITE, 3, ADDRESS(DATA + 4), 1u);
    run();
    assert_int_equal(word(DATA), 1);
    assert_int_equal(word(DATA + 4), 0);
}

static void draw_states_run_where_their_mode_is(void **state)
{
    (void)state;
    assert_int_equal(tp_gpu_watch(&record, REG_SP_FS_CTRL_REG0), 0);
    words = 0x1000 / 4;
    set_register(REG_SP_FS_CTRL_REG0, 1u << 28);
    words = 0x1100 / 4;
    set_register(REG_SP_FS_CTRL_REG0, 0x80);
    words = 0;
    packet(CP_SET_MARKER, 1, RM6_DIRECT_RENDER);
    packet(CP_SET_DRAW_STATE, 9, 2u | 4u << 20, ADDRESS(BASE + 0x1000),     /* sysmem */
           2u | 2u << 20 | 1u << 24, ADDRESS(BASE + 0x1100),                /* GMEM */
           2u | 7u << 20 | 2u << 24 | 1u << 17, ADDRESS(BASE + 0x1100));    /* disabled */
    packet(CP_SET_DRAW_STATE, 3, 1u << 18, 0u, 0u);
    packet(CP_MEM_WRITE, 3, ADDRESS(DATA), 1u);
    run();
    assert_int_equal(record.watches[0].writes, 1);
    assert_int_equal(record.watches[0].last, 1u << 28);
    assert_int_equal(word(DATA), 1);
}

static void a_wait_goes_on_when_memory_changes(void **state)
{
    (void)state;
    packet(CP_MEM_WRITE, 3, ADDRESS(DATA + 8), 1u);
    packet(CP_WAIT_REG_MEM, 6, 3u | 1u << 4, ADDRESS(DATA), 1u, 0xffffffff, 16u);
    packet(CP_MEM_WRITE, 3, ADDRESS(DATA + 16), 1u);
    assert_int_equal(run_bytes(BASE, 4 * words), TP_GPU_WAITING);
    assert_int_equal(word(DATA + 8), 1);
    assert_int_equal(word(DATA + 16), 0);
    assert_int_equal(tp_gpu_run(&gpu, &memory, 0, &record), TP_GPU_WAITING);
    put(DATA, 1);
    assert_int_equal(tp_gpu_run(&gpu, &memory, 0, &record), TP_GPU_DONE);
    assert_int_equal(word(DATA + 16), 1);
}

static void comparisons_are_signed_where_asked(void **state)
{
    /* function, signed, value, reference, holds */
    static const uint32_t cases[][5] = {
        {0, 0, 1, 2, 1}, {1, 0, 1, 2, 1}, {2, 0, 2, 2, 1}, {3, 0, 1, 2, 0}, {4, 0, 1, 2, 1},
        {5, 0, 1, 2, 0}, {6, 0, 3, 2, 1}, {1, 0, 0xffffffff, 0, 0}, {1, 1, 0xffffffff, 0, 1},
        {5, 0, 0xffffffff, 0, 1}, {5, 1, 0xffffffff, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        words = 0;
        put(DATA, cases[i][2]);
        packet(CP_WAIT_REG_MEM, 6, cases[i][0] | cases[i][1] << 3 | 1u << 4, ADDRESS(DATA),
               cases[i][3], 0xffffffff, 16u);
        assert_int_equal(run_bytes(BASE, 4 * words),
                         cases[i][4] ? TP_GPU_DONE : TP_GPU_WAITING);
    }
}

static void a_timestamp_wait_compares_memory(void **state)
{
    (void)state;
    packet(CP_WAIT_TIMESTAMP, 5, 0u, ADDRESS(DATA), 5u, 0u);
    put(DATA, 4);
    assert_int_equal(run_bytes(BASE, 4 * words), TP_GPU_WAITING);
    put(DATA, 5);
    assert_int_equal(tp_gpu_run(&gpu, &memory, 0, &record), TP_GPU_DONE);
}

static void draws_dispatches_and_blits_are_counted(void **state)
{
    (void)state;
    packet(CP_DRAW_INDX_OFFSET, 3, 0u, 1u, 3u);
    packet(CP_DRAW_INDIRECT_MULTI, 1, 0u);
    packet(CP_EXEC_CS, 4, 0u, 1u, 1u, 1u);
    packet(CP_BLIT, 1, 3u);
    packet(CP_NOP, 0);
    run();
    assert_int_equal(record.draws, 2);
    assert_int_equal(record.dispatches, 1);
    assert_int_equal(record.blits, 1);
    assert_int_equal(record.packets, 5);
}

static void watched_registers_keep_their_values(void **state)
{
    (void)state;
    assert_int_equal(tp_gpu_watch(&record, REG_TPL1_DBG_ECO_CNTL1), 0);
    set_register(REG_TPL1_DBG_ECO_CNTL1, 0x40724);
    packet(CP_CONTEXT_REG_BUNCH, 2, (uint32_t)REG_TPL1_DBG_ECO_CNTL1, 0x700u);
    run();
    assert_int_equal(record.watches[0].writes, 2);
    assert_int_equal(record.watches[0].last, 0x700);
    assert_int_equal(record.watches[0].ever, 0x40724);
    assert_int_equal(record.watches[0].always, 0x700);
}

static void a_register_is_changed_by_parts(void **state)
{
    (void)state;
    set_register(0x9300, 0xf0);
    packet(CP_REG_RMW, 3, 0x9300u | 4u << 24, 0xf0u, 3u); /* ((r & 0xf0) rot 4) | 3 */
    packet(CP_REG_TO_MEM, 3, 0x9300u, ADDRESS(DATA));
    run();
    assert_int_equal(word(DATA), 0xf03);
}

static void a_header_that_is_none_ends_its_buffer(void **state)
{
    (void)state;
    packet(CP_MEM_WRITE, 3, ADDRESS(DATA), 1u);
    stream[words++] = 0x12345678;
    packet(CP_MEM_WRITE, 3, ADDRESS(DATA + 4), 1u);
    run();
    assert_int_equal(wide(DATA), 1);
    assert_int_equal(record.bad_packets, 1);
}

static void a_packet_that_goes_over_its_buffers_end_is_not_run(void **state)
{
    (void)state;
    packet(CP_MEM_WRITE, 3, ADDRESS(DATA), 1u);
    assert_int_equal(run_bytes(BASE, 12), TP_GPU_DONE);
    assert_int_equal(word(DATA), 0);
    assert_int_equal(record.bad_packets, 1);
}

static void memory_that_is_not_there_counts_as_a_fault(void **state)
{
    (void)state;
    packet(CP_MEM_WRITE, 3, ADDRESS(0x1000), 1u);
    packet(CP_MEM_WRITE, 4, ADDRESS(BASE + BYTES - 4), 1u, 2u);
    packet(CP_INDIRECT_BUFFER, 3, ADDRESS(0x1000), 4u);
    packet(CP_MEM_WRITE, 3, ADDRESS(DATA), 1u);
    run();
    assert_int_equal(record.faults, 3);
    assert_int_equal(word(DATA), 1);
}

int main(void)
{
#define ON(generation, name) cmocka_unit_test_setup_teardown(name, generation, teardown)
    const struct CMUnitTest tests[] = {
        ON(setup, mem_write_writes_its_dwords),
        ON(setup, mem_to_mem_adds_and_negates),
        ON(setup, an_event_writes_its_value_at_its_address),
        ON(setup_a7xx, an_a7xx_event_writes_what_its_source_says),
        ON(setup, an_a6xx_occlusion_query_ends_at_zero),
        ON(setup_a7xx, an_a7xx_occlusion_query_accumulates_zero),
        ON(setup, registers_go_to_memory_and_the_counter_goes_on),
        ON(setup, memory_goes_to_registers),
        ON(setup, memcpy_copies),
        ON(setup, buffers_nest_and_come_back),
        ON(setup, a_chain_does_not_come_back),
        ON(setup, a_loop_of_chains_is_an_endless_submit),
        ON(setup, calls_that_nest_too_deep_are_left_out),
        ON(setup, conditional_execution_follows_memory),
        ON(setup, conditional_execution_follows_the_render_mode),
        ON(setup, every_tile_counts_as_visible),
        ON(setup, draw_states_run_where_their_mode_is),
        ON(setup, a_wait_goes_on_when_memory_changes),
        ON(setup, comparisons_are_signed_where_asked),
        ON(setup_a7xx, a_timestamp_wait_compares_memory),
        ON(setup, draws_dispatches_and_blits_are_counted),
        ON(setup, watched_registers_keep_their_values),
        ON(setup, a_register_is_changed_by_parts),
        ON(setup, a_header_that_is_none_ends_its_buffer),
        ON(setup, a_packet_that_goes_over_its_buffers_end_is_not_run),
        ON(setup, memory_that_is_not_there_counts_as_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
