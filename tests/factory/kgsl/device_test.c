#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "factory/kgsl/device.h"

#include <errno.h>
#include <string.h>

#define RETIRE 20000
#define HANG 1000000

/* What the hooks were asked for. */
static struct {
    enum tp_gpu_state state; /* what execute answers */
    int executed, signalled, dropped, released, lost;
    int last_signalled, last_error;
} seen;

static struct tp_kgsl_device *dev;
static uint32_t file;

static enum tp_gpu_state execute(void *user, struct tp_kgsl_job *job, int64_t now)
{
    (void)user, (void)job, (void)now;
    seen.executed++;
    return seen.state;
}

static void signal_fence(void *user, int fd, int error)
{
    (void)user;
    seen.signalled++;
    seen.last_signalled = fd;
    seen.last_error = error;
}

static void drop(void *user, int fd)
{
    (void)user, (void)fd;
    seen.dropped++;
}

static void release(void *user, const struct tp_kgsl_buffer *buffer)
{
    (void)user, (void)buffer;
    seen.released++;
}

static void lost(void *user, uint32_t context, uint32_t timestamp, const char *why)
{
    (void)user, (void)context, (void)timestamp, (void)why;
    seen.lost++;
}

static int create(bool old)
{
    struct tp_kgsl_config config = {
        .old_kernel = old, .retire_ns = RETIRE, .hang_ns = HANG, .memory_bytes = 16 << 20};
    const struct tp_kgsl_hooks hooks = {NULL, execute, signal_fence, drop, release, lost};
    memset(&seen, 0, sizeof seen);
    tp_kgsl_chip_find("FD650", &config.chip);
    dev = tp_kgsl_device_create(&config, &hooks);
    file = dev ? tp_kgsl_file_open(dev) : 0;
    return !dev;
}

static int setup(void **state)
{
    (void)state;
    return create(false);
}

static int setup_old(void **state)
{
    (void)state;
    return create(true);
}

static int teardown(void **state)
{
    (void)state;
    tp_kgsl_device_destroy(dev);
    return 0;
}

static struct tp_kgsl_buffer *allocate(uint64_t size, uint64_t flags)
{
    struct tp_kgsl_buffer *buffer = NULL;
    assert_int_equal(tp_kgsl_alloc(dev, size, flags, &buffer), 0);
    return buffer;
}

static uint32_t context(void)
{
    struct tp_kgsl_context *c = NULL;
    assert_int_equal(tp_kgsl_context_create(dev, file, 0x13, &c), 0);
    return c->id;
}

static struct tp_kgsl_job *job_of(size_t commands)
{
    struct tp_kgsl_job *job = tp_kgsl_job_new(commands, 4, 4, 4);
    assert_non_null(job);
    job->command_count = commands;
    return job;
}

static uint32_t submit(uint32_t ctx)
{
    uint32_t timestamp;
    assert_int_equal(tp_kgsl_submit(dev, ctx, job_of(1), 0, &timestamp), 0);
    return timestamp;
}

static void a_buffers_id_is_its_page_and_its_size_whole_pages(void **state)
{
    struct tp_kgsl_buffer *a = allocate(5000, 0), *b = allocate(1, 0);
    (void)state;
    assert_int_equal(a->id, 1);
    assert_int_equal(a->size, 8192);
    assert_int_equal(b->id, 3);
    assert_int_equal(b->gpuaddr % TP_KGSL_PAGE, 0);
    /* One page behind each is free. */
    assert_true(b->gpuaddr >= a->gpuaddr + a->size + TP_KGSL_PAGE);
    assert_ptr_equal(tp_kgsl_find(dev, 3), b);
    assert_null(tp_kgsl_find(dev, 2));
    assert_ptr_equal(tp_kgsl_find_address(dev, a->gpuaddr + 8191), a);
    assert_null(tp_kgsl_find_address(dev, a->gpuaddr + 8192));
}

static void memory_has_an_end_and_comes_back(void **state)
{
    struct tp_kgsl_buffer *all = allocate(16 << 20, 0), *more;
    (void)state;
    assert_int_equal(tp_kgsl_alloc(dev, 1, 0, &more), -ENOMEM);
    assert_int_equal(tp_kgsl_free(dev, all->id), 0);
    assert_int_equal(seen.released, 1);
    assert_int_equal(tp_kgsl_alloc(dev, 1, 0, &more), 0);
    assert_int_equal(tp_kgsl_alloc(dev, 0, 0, &more), -EINVAL);
    assert_int_equal(tp_kgsl_free(dev, 12345), -EINVAL);
}

static void ids_stay_below_what_a_shift_in_32_bits_keeps(void **state)
{
    struct tp_kgsl_buffer *b;
    (void)state;
    assert_int_equal(tp_kgsl_import(dev, 0, 4096, 0, &b), 0);
    assert_true(b->id < 1u << 20);
    b = allocate(UINT64_C(1) << 36, TP_KGSL_MEMFLAGS_VBO); /* 64 GiB of addresses */
    assert_true(b->id < 1u << 20);
}

static void alignment_and_32_bits_are_granted(void **state)
{
    struct tp_kgsl_buffer *a = allocate(4096, UINT64_C(20) << TP_KGSL_MEMALIGN_SHIFT);
    struct tp_kgsl_buffer *b = allocate(4096, TP_KGSL_MEMFLAGS_FORCE_32BIT);
    (void)state;
    assert_int_equal(a->gpuaddr % (1 << 20), 0);
    assert_true(b->gpuaddr + b->size <= UINT64_C(1) << 32);
}

static void use_cpu_map_gets_its_address_from_the_mapping(void **state)
{
    struct tp_kgsl_buffer *b = allocate(8192, TP_KGSL_MEMFLAGS_USE_CPU_MAP);
    struct tp_kgsl_span span;
    (void)state;
    assert_int_equal(b->gpuaddr, 0);
    tp_kgsl_mapped(dev, b->id, UINT64_C(0x7f0000001000));
    assert_int_equal(b->gpuaddr, UINT64_C(0x7f0000001000));
    assert_int_equal(tp_kgsl_resolve(dev, UINT64_C(0x7f0000002010), &span), 0);
    assert_ptr_equal(span.buffer, b);
    assert_int_equal(span.offset, 4096 + 16);
    /* Another buffer is mapped where this one was: the address is the other's. */
    struct tp_kgsl_buffer *c = allocate(4096, TP_KGSL_MEMFLAGS_USE_CPU_MAP);
    tp_kgsl_mapped(dev, c->id, UINT64_C(0x7f0000002000));
    assert_int_equal(tp_kgsl_resolve(dev, UINT64_C(0x7f0000002010), &span), 0);
    assert_ptr_equal(span.buffer, c);
    assert_int_equal(b->gpuaddr, 0);
}

static int bind(uint32_t target, uint32_t child, uint64_t at, uint64_t from, uint64_t length,
                uint32_t op)
{
    struct tp_kgsl_gpumem_bind_range range = {from, at, length, child, op};
    return tp_kgsl_bind(dev, target, &range);
}

static void bindings_are_split_and_keep_their_memory(void **state)
{
    struct tp_kgsl_buffer *v = allocate(8 * 4096, TP_KGSL_MEMFLAGS_VBO);
    struct tp_kgsl_buffer *a = allocate(8 * 4096, 0), *b = allocate(4096, 0);
    struct tp_kgsl_span span;
    uint32_t a_id = a->id;
    (void)state;
    assert_int_equal(bind(v->id, a->id, 0, 0, 8 * 4096, TP_KGSL_GPUMEM_RANGE_OP_BIND), 0);
    assert_int_equal(bind(v->id, b->id, 3 * 4096, 0, 4096, TP_KGSL_GPUMEM_RANGE_OP_BIND), 0);
    assert_int_equal(tp_kgsl_resolve(dev, v->gpuaddr + 4096, &span), 0);
    assert_ptr_equal(span.buffer, a);
    assert_int_equal(span.bytes, 2 * 4096);
    assert_int_equal(tp_kgsl_resolve(dev, v->gpuaddr + 3 * 4096 + 8, &span), 0);
    assert_ptr_equal(span.buffer, b);
    assert_int_equal(span.offset, 8);
    assert_int_equal(tp_kgsl_resolve(dev, v->gpuaddr + 5 * 4096, &span), 0);
    assert_ptr_equal(span.buffer, a);
    assert_int_equal(span.offset, 5 * 4096);
    /* Freed, but still bound. */
    assert_int_equal(tp_kgsl_free(dev, a_id), 0);
    assert_int_equal(seen.released, 0);
    assert_int_equal(tp_kgsl_resolve(dev, v->gpuaddr, &span), 0);
    assert_int_equal(bind(v->id, 0, 0, 0, 8 * 4096, TP_KGSL_GPUMEM_RANGE_OP_UNBIND), 0);
    assert_int_equal(seen.released, 1);
    assert_int_equal(tp_kgsl_resolve(dev, v->gpuaddr, &span), 0);
    assert_int_equal(span.buffer->kind, TP_KGSL_VIRTUAL);
}

static void what_does_not_fit_is_not_bound(void **state)
{
    struct tp_kgsl_buffer *v = allocate(2 * 4096, TP_KGSL_MEMFLAGS_VBO), *a = allocate(4096, 0);
    const uint32_t op = TP_KGSL_GPUMEM_RANGE_OP_BIND;
    (void)state;
    assert_int_equal(bind(v->id, a->id, 0, 0, 2 * 4096, op), -EINVAL);
    assert_int_equal(bind(v->id, a->id, 2 * 4096, 0, 4096, op), -EINVAL);
    assert_int_equal(bind(v->id, a->id, 1, 0, 4096, op), -EINVAL);
    assert_int_equal(bind(a->id, a->id, 0, 0, 4096, op), -EINVAL);
    assert_int_equal(bind(v->id, 777, 0, 0, 4096, op), -EINVAL);
    assert_int_equal(bind(v->id, a->id, 0, 0, 4096, 3), -EINVAL);
}

static void properties_are_the_chips(void **state)
{
    struct tp_kgsl_devinfo info;
    struct tp_kgsl_gpu_model model;
    uint64_t wide;
    uint32_t word;
    (void)state;
    assert_int_equal(tp_kgsl_get_property(dev, TP_KGSL_PROP_DEVICE_INFO, &info, sizeof info), 0);
    assert_int_equal(info.chip_id, 0x06050002);
    assert_int_equal(info.gpu_id, 650);
    assert_int_equal(info.gmem_sizebytes, (1 << 20) + (128 << 10));
    assert_int_equal(tp_kgsl_get_property(dev, TP_KGSL_PROP_DEVICE_INFO, &info, 4), -EINVAL);
    assert_int_equal(tp_kgsl_get_property(dev, TP_KGSL_PROP_UCHE_GMEM_VADDR, &wide, 8), 0);
    assert_int_equal(wide, 0);
    assert_int_equal(tp_kgsl_get_property(dev, TP_KGSL_PROP_UBWC_MODE, &word, 4), 0);
    assert_int_equal(word, 4);
    assert_int_equal(tp_kgsl_get_property(dev, TP_KGSL_PROP_GPU_MODEL, &model, sizeof model), 0);
    assert_string_equal(model.gpu_model, "Adreno650v2");
    assert_int_equal(tp_kgsl_get_property(dev, TP_KGSL_PROP_UCHE_TRAP_BASE, &wide, 8), 0);
    assert_int_equal(tp_kgsl_get_property(dev, 0x77, &word, 4), -EINVAL);
}

static void an_old_kernel_lacks_the_newest(void **state)
{
    struct tp_kgsl_buffer *b;
    uint64_t wide;
    (void)state;
    assert_int_equal(tp_kgsl_get_property(dev, TP_KGSL_PROP_UCHE_TRAP_BASE, &wide, 8), -EINVAL);
    assert_int_equal(tp_kgsl_get_property(dev, TP_KGSL_PROP_GPU_VA64_SIZE, &wide, 8), -EINVAL);
    assert_int_equal(tp_kgsl_alloc(dev, 8192, TP_KGSL_MEMFLAGS_VBO, &b), -EOPNOTSUPP);
}

static void a_context_needs_its_two_flags_and_there_are_200(void **state)
{
    struct tp_kgsl_context *c;
    (void)state;
    assert_int_equal(tp_kgsl_context_create(dev, file, 0x1, &c), -EINVAL);
    for (int i = 0; i < 200; i++)
        context();
    assert_int_equal(tp_kgsl_context_create(dev, file, 0x13, &c), -ENOSPC);
    assert_int_equal(tp_kgsl_context_destroy(dev, 7), 0);
    assert_int_equal(tp_kgsl_context_destroy(dev, 7), -EINVAL);
    assert_int_equal(tp_kgsl_context_create(dev, file, 0x13, &c), 0);
}

static void a_submit_retires_after_its_time_and_in_order(void **state)
{
    uint32_t c = context();
    (void)state;
    assert_int_equal(submit(c), 1);
    assert_int_equal(submit(c), 2);
    assert_int_equal(tp_kgsl_step(dev, 1000), 1000 + RETIRE);
    assert_int_equal(tp_kgsl_timestamp(dev, c, 1), -EAGAIN);
    assert_int_equal(tp_kgsl_timestamp(dev, c, 3), -EINVAL); /* never submitted */
    assert_int_equal(tp_kgsl_step(dev, 1000 + RETIRE), 1000 + 2 * RETIRE);
    assert_int_equal(tp_kgsl_timestamp(dev, c, 1), 0);
    assert_int_equal(tp_kgsl_timestamp(dev, c, 2), -EAGAIN);
    assert_int_equal(tp_kgsl_step(dev, 1000 + 2 * RETIRE), INT64_MAX);
    assert_int_equal(tp_kgsl_timestamp(dev, c, 2), 0);
    assert_int_equal(seen.executed, 2);
}

static void timestamps_wrap(void **state)
{
    uint32_t c = context(), timestamp;
    (void)state;
    tp_kgsl_context_find(dev, c)->queued = tp_kgsl_context_find(dev, c)->retired = UINT32_MAX - 1;
    assert_int_equal(submit(c), UINT32_MAX);
    assert_int_equal(tp_kgsl_submit(dev, c, job_of(0), 0, &timestamp), 0);
    assert_int_equal(timestamp, 0);
    assert_int_equal(tp_kgsl_timestamp(dev, c, 0), -EAGAIN);
    tp_kgsl_step(dev, 0);
    tp_kgsl_step(dev, RETIRE);
    assert_int_equal(tp_kgsl_timestamp(dev, c, 0), 0);
    assert_int_equal(tp_kgsl_timestamp(dev, c, UINT32_MAX - 5), 0);
}

static void a_submit_waits_for_anothers_timestamp(void **state)
{
    uint32_t a = context(), b = context(), timestamp;
    struct tp_kgsl_job *job = job_of(1);
    (void)state;
    submit(a);
    job->waits[job->wait_count++] =
        (struct tp_kgsl_wait){.type = TP_KGSL_SYNCPOINT_TIMESTAMP, .id = a, .value = 1, .fd = -1};
    assert_int_equal(tp_kgsl_submit(dev, b, job, 0, &timestamp), 0);
    tp_kgsl_step(dev, 0);
    assert_int_equal(tp_kgsl_step(dev, RETIRE), 2 * RETIRE); /* b began when a was over */
    assert_int_equal(tp_kgsl_timestamp(dev, b, 1), -EAGAIN);
    tp_kgsl_step(dev, 2 * RETIRE);
    assert_int_equal(tp_kgsl_timestamp(dev, b, 1), 0);
}

static void a_submit_waits_for_a_fence_and_gives_it_up(void **state)
{
    uint32_t c = context(), timestamp;
    struct tp_kgsl_job *job = job_of(1);
    int fds[4];
    (void)state;
    job->waits[job->wait_count++] =
        (struct tp_kgsl_wait){.type = TP_KGSL_SYNCPOINT_FENCE, .fd = 33};
    assert_int_equal(tp_kgsl_submit(dev, c, job, 0, &timestamp), 0);
    assert_int_equal(tp_kgsl_step(dev, 0), INT64_MAX);
    assert_int_equal(tp_kgsl_awaited(dev, fds, 4), 1);
    assert_int_equal(fds[0], 33);
    tp_kgsl_arrived(dev, 33);
    assert_int_equal(seen.dropped, 1);
    assert_int_equal(tp_kgsl_awaited(dev, fds, 4), 0);
    assert_int_equal(tp_kgsl_step(dev, 5), 5 + RETIRE);
}

static void a_fence_is_signalled_when_its_timestamp_retires(void **state)
{
    uint32_t c = context();
    (void)state;
    submit(c);
    assert_int_equal(tp_kgsl_timestamp_fence(dev, c, 1, 40), 0);
    assert_int_equal(tp_kgsl_timestamp_fence(dev, c, 2, 41), -EINVAL);
    assert_int_equal(seen.dropped, 1);
    tp_kgsl_step(dev, 0);
    assert_int_equal(seen.signalled, 0);
    assert_int_equal(tp_kgsl_device_books(dev)->fences, 1);
    tp_kgsl_step(dev, RETIRE);
    assert_int_equal(seen.last_signalled, 40);
    assert_int_equal(tp_kgsl_timestamp_fence(dev, c, 1, 42), 0); /* at once */
    assert_int_equal(seen.last_signalled, 42);
    assert_int_equal(tp_kgsl_device_books(dev)->fences, 0);
}

static void a_buffer_may_go_with_a_timestamp(void **state)
{
    uint32_t c = context(), id = allocate(4096, 0)->id;
    (void)state;
    submit(c);
    assert_int_equal(tp_kgsl_free_after(dev, id, c, 1), 0);
    assert_non_null(tp_kgsl_find(dev, id));
    tp_kgsl_step(dev, 0);
    tp_kgsl_step(dev, RETIRE);
    assert_null(tp_kgsl_find(dev, id));
}

static void timelines_hold_submits_up_and_submits_move_timelines(void **state)
{
    uint32_t c = context(), t, timestamp;
    uint64_t value;
    struct tp_kgsl_job *waits = job_of(1), *moves = job_of(0);
    (void)state;
    assert_int_equal(tp_kgsl_timeline_create(dev, 3, &t), 0);
    waits->waits[waits->wait_count++] =
        (struct tp_kgsl_wait){.type = TP_KGSL_SYNCPOINT_TIMELINE, .id = t, .value = 5, .fd = -1};
    moves->signals[moves->signal_count++] = (struct tp_kgsl_timeline_val){9, t, 0};
    assert_int_equal(tp_kgsl_submit(dev, c, waits, 0, &timestamp), 0);
    assert_int_equal(tp_kgsl_submit(dev, c, moves, 0, &timestamp), 0);
    assert_int_equal(tp_kgsl_timeline_fence(dev, t, 9, 50), 0);
    assert_int_equal(tp_kgsl_step(dev, 0), INT64_MAX);
    assert_int_equal(tp_kgsl_timeline_signal(dev, t, 4), 0);
    assert_int_equal(tp_kgsl_step(dev, 0), INT64_MAX);
    assert_int_equal(tp_kgsl_timeline_signal(dev, t, 5), 0);
    tp_kgsl_step(dev, 0);
    tp_kgsl_step(dev, RETIRE);
    assert_int_equal(tp_kgsl_timeline_query(dev, t, &value), 0);
    assert_int_equal(value, 9);
    assert_int_equal(seen.last_signalled, 50);
    assert_int_equal(tp_kgsl_timeline_signal(dev, t, 2), 0); /* does not go back */
    tp_kgsl_timeline_query(dev, t, &value);
    assert_int_equal(value, 9);
    assert_int_equal(tp_kgsl_timeline_destroy(dev, t), 0);
    assert_int_equal(tp_kgsl_timeline_query(dev, t, &value), -ENODEV);
}

static void a_destroyed_timeline_lets_everyone_go(void **state)
{
    uint32_t t;
    (void)state;
    tp_kgsl_timeline_create(dev, 0, &t);
    tp_kgsl_timeline_fence(dev, t, 9, 50);
    assert_int_equal(tp_kgsl_timeline_destroy(dev, t), 0);
    assert_int_equal(seen.signalled, 1);
    assert_int_equal(seen.last_error, -ENOENT);
}

static uint32_t reset_status(uint32_t ctx)
{
    uint32_t value = ctx;
    assert_int_equal(tp_kgsl_get_property(dev, TP_KGSL_PROP_GPU_RESET_STAT, &value, 4), 0);
    return value;
}

static void a_hang_costs_its_context_and_tells_the_others(void **state)
{
    uint32_t a = context(), b = context(), timestamp;
    struct tp_kgsl_job *job = job_of(1);
    (void)state;
    job->hang = true;
    assert_int_equal(tp_kgsl_submit(dev, a, job, 0, &timestamp), 0);
    assert_int_equal(tp_kgsl_timestamp_fence(dev, a, 1, 60), 0);
    tp_kgsl_step(dev, 0);
    assert_int_equal(tp_kgsl_step(dev, RETIRE), HANG);
    assert_int_equal(seen.lost, 0);
    assert_int_equal(tp_kgsl_step(dev, HANG), INT64_MAX);
    assert_int_equal(seen.lost, 1);
    assert_int_equal(seen.last_signalled, 60);
    assert_int_equal(seen.last_error, -EPROTO);
    assert_int_equal(tp_kgsl_timestamp(dev, a, 1), -EDEADLK);
    assert_int_equal(tp_kgsl_submit(dev, a, job_of(1), 0, &timestamp), -EDEADLK);
    assert_int_equal(reset_status(a), TP_KGSL_CTX_STAT_GUILTY);
    assert_int_equal(reset_status(a), TP_KGSL_CTX_STAT_NO_ERROR);
    assert_int_equal(reset_status(b), TP_KGSL_CTX_STAT_INNOCENT);
    assert_int_equal(tp_kgsl_submit(dev, b, job_of(1), 0, &timestamp), 0);
}

static void a_stream_that_waits_too_long_is_a_hang(void **state)
{
    uint32_t c = context();
    int64_t now = 0;
    (void)state;
    seen.state = TP_GPU_WAITING;
    submit(c);
    for (int i = 0; i < 100 && !seen.lost; i++) {
        int64_t again = tp_kgsl_step(dev, now);
        assert_true(again > now);
        now = again == INT64_MAX ? now : again;
    }
    assert_int_equal(seen.lost, 1);
    assert_in_range(now, HANG, 2 * HANG);
}

static void an_endless_stream_is_lost_at_once(void **state)
{
    (void)state;
    seen.state = TP_GPU_STUCK;
    submit(context());
    tp_kgsl_step(dev, 0);
    tp_kgsl_step(dev, RETIRE);
    assert_int_equal(seen.lost, 1);
}

static void a_power_level_is_kept_and_counted(void **state)
{
    uint32_t c = context(), level = TP_KGSL_CONSTRAINT_PWR_MAX;
    struct tp_kgsl_constraint k = {TP_KGSL_CONSTRAINT_PWRLEVEL, c, &level, sizeof level};
    uint32_t type = TP_KGSL_PROP_PWR_CONSTRAINT, timestamp;
    struct tp_kgsl_job *job = job_of(1);
    (void)state;
    assert_int_equal(sizeof k, 24);
    assert_int_equal(tp_kgsl_set_property(dev, type, &k, sizeof k), 0);
    job->flags = TP_KGSL_CMDBATCH_PWR_CONSTRAINT;
    assert_int_equal(tp_kgsl_submit(dev, c, job, 0, &timestamp), 0);
    submit(c);
    struct tp_kgsl_context *context = tp_kgsl_context_find(dev, c);
    assert_int_equal(context->power_max, 1);
    assert_int_equal(context->power_submits, 1);
    assert_int_equal(context->submits, 2);
    level = 2;
    assert_int_equal(tp_kgsl_set_property(dev, type, &k, sizeof k), -EINVAL);
    k.context_id = 99;
    assert_int_equal(tp_kgsl_set_property(dev, type, &k, sizeof k), -EINVAL);
    assert_int_equal(tp_kgsl_set_property(dev, type, &k, 4), -EINVAL);
}

static void the_last_close_takes_everything_and_names_what_was_left(void **state)
{
    struct tp_kgsl_books leaks;
    uint32_t other = tp_kgsl_file_open(dev), t;
    (void)state;
    submit(context());
    allocate(4096, 0);
    allocate(100, 0);
    tp_kgsl_timeline_create(dev, 0, &t);
    tp_kgsl_file_close(dev, other, &leaks);
    assert_int_equal(leaks.buffers + leaks.contexts, 0);
    tp_kgsl_file_close(dev, file, &leaks);
    assert_int_equal(leaks.files, 0);
    assert_int_equal(leaks.buffers, 2);
    assert_int_equal(leaks.bytes, 8192);
    assert_int_equal(leaks.contexts, 1);
    assert_int_equal(leaks.timelines, 1);
    assert_int_equal(leaks.jobs, 1);
    assert_int_equal(seen.released, 2);
    /* And it can be opened again. */
    file = tp_kgsl_file_open(dev);
    assert_int_equal(allocate(4096, 0)->id, 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(a_buffers_id_is_its_page_and_its_size_whole_pages),
        T(memory_has_an_end_and_comes_back),
        T(ids_stay_below_what_a_shift_in_32_bits_keeps),
        T(alignment_and_32_bits_are_granted),
        T(use_cpu_map_gets_its_address_from_the_mapping),
        T(bindings_are_split_and_keep_their_memory),
        T(what_does_not_fit_is_not_bound),
        T(properties_are_the_chips),
        cmocka_unit_test_setup_teardown(an_old_kernel_lacks_the_newest, setup_old, teardown),
        T(a_context_needs_its_two_flags_and_there_are_200),
        T(a_submit_retires_after_its_time_and_in_order),
        T(timestamps_wrap),
        T(a_submit_waits_for_anothers_timestamp),
        T(a_submit_waits_for_a_fence_and_gives_it_up),
        T(a_fence_is_signalled_when_its_timestamp_retires),
        T(a_buffer_may_go_with_a_timestamp),
        T(timelines_hold_submits_up_and_submits_move_timelines),
        T(a_destroyed_timeline_lets_everyone_go),
        T(a_hang_costs_its_context_and_tells_the_others),
        T(a_stream_that_waits_too_long_is_a_hang),
        T(an_endless_stream_is_lost_at_once),
        T(a_power_level_is_kept_and_counted),
        T(the_last_close_takes_everything_and_names_what_was_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
