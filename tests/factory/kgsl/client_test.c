/* A client of the preload library: it opens the device as any program would. Built twice: run with
 * the library preloaded, and together with the library's sources under ThreadSanitizer. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "factory/kgsl/pm4.h"
#include "factory/kgsl/uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int device;

static int setup(void **state)
{
    (void)state;
    device = open(TP_KGSL_PATH, O_RDWR | O_CLOEXEC);
    return device < 0;
}

static int teardown(void **state)
{
    (void)state;
    return close(device);
}

struct buffer {
    uint32_t id;
    uint64_t gpuaddr, size;
    uint32_t *map;
};

static struct buffer allocate_on(int fd, uint64_t size)
{
    struct tp_kgsl_gpumem_alloc_id a = {.size = size};
    assert_int_equal(ioctl(fd, TP_KGSL_GPUMEM_ALLOC_ID, &a), 0);
    struct buffer b = {a.id, a.gpuaddr, a.mmapsize, NULL};
    b.map = mmap(NULL, b.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)b.id << 12);
    assert_ptr_not_equal(b.map, MAP_FAILED);
    return b;
}

static struct buffer allocate(uint64_t size)
{
    return allocate_on(device, size);
}

static void give_back(struct buffer *b)
{
    struct tp_kgsl_gpumem_free_id f = {.id = b->id};
    munmap(b->map, b->size);
    assert_int_equal(ioctl(device, TP_KGSL_GPUMEM_FREE_ID, &f), 0);
}

static uint32_t create_context(int fd)
{
    struct tp_kgsl_drawctxt_create c = {.flags = 0x13};
    assert_int_equal(ioctl(fd, TP_KGSL_DRAWCTXT_CREATE, &c), 0);
    return c.drawctxt_id;
}

static uint32_t parity(uint32_t n)
{
    return !(__builtin_popcount(n) & 1);
}

static uint32_t *packet(uint32_t *at, uint32_t opcode, uint32_t count)
{
    *at = 7u << 28 | count | parity(count) << 15 | opcode << 16 | parity(opcode) << 23;
    return at + 1;
}

/* A stream that writes VALUE to ADDR, after waiting for WAIT (0: none) to be 1. Its dwords. */
static uint32_t stream(struct buffer *commands, uint64_t wait, uint64_t addr, uint32_t value)
{
    uint32_t *at = commands->map;
    if (wait) {
        const uint32_t words[] = {3u | 1u << 4, (uint32_t)wait, (uint32_t)(wait >> 32),
                                  1,            0xffffffff,     16};
        at = packet(at, CP_WAIT_REG_MEM, 6);
        memcpy(at, words, sizeof words);
        at += 6;
    }
    at = packet(at, CP_MEM_WRITE, 3);
    *at++ = (uint32_t)addr;
    *at++ = (uint32_t)(addr >> 32);
    *at++ = value;
    return (uint32_t)(at - commands->map);
}

static int try_submit(uint32_t context, const struct buffer *commands, uint32_t words,
                      struct tp_kgsl_command_syncpoint *sync, uint32_t *timestamp)
{
    struct tp_kgsl_command_object object = {.gpuaddr = commands->gpuaddr,
                                            .size = 4 * (uint64_t)words,
                                            .flags = TP_KGSL_CMDLIST_IB,
                                            .id = commands->id};
    struct tp_kgsl_gpu_command g = {.flags = TP_KGSL_CMDBATCH_SUBMIT_IB_LIST,
                                    .cmdlist = (uintptr_t)&object,
                                    .cmdsize = sizeof object,
                                    .numcmds = 1,
                                    .synclist = (uintptr_t)sync,
                                    .syncsize = sizeof *sync,
                                    .numsyncs = sync != NULL,
                                    .context_id = context};
    int r = ioctl(device, TP_KGSL_GPU_COMMAND, &g);
    *timestamp = g.timestamp;
    return r;
}

static uint32_t submit(uint32_t context, const struct buffer *commands, uint32_t words)
{
    uint32_t timestamp;
    assert_int_equal(try_submit(context, commands, words, NULL, &timestamp), 0);
    return timestamp;
}

static int wait_for(uint32_t context, uint32_t timestamp, uint32_t ms)
{
    struct tp_kgsl_waittimestamp_ctxtid w = {context, timestamp, ms};
    return ioctl(device, TP_KGSL_WAITTIMESTAMP_CTXTID, &w) ? -errno : 0;
}

static int fence_of(uint32_t context, uint32_t timestamp)
{
    int fd = -1;
    struct tp_kgsl_timestamp_event e = {.type = TP_KGSL_TIMESTAMP_EVENT_FENCE,
                                        .timestamp = timestamp,
                                        .context_id = context,
                                        .priv = &fd,
                                        .len = sizeof fd};
    assert_int_equal(ioctl(device, TP_KGSL_TIMESTAMP_EVENT, &e), 0);
    assert_true(fd >= 0);
    return fd;
}

static bool signalled(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, ms) == 1 && p.revents == POLLIN;
}

static void the_nodes_look_like_devices(void **state)
{
    struct stat st, by_path;
    int heap = open(TP_DMA_HEAP_PATH, O_RDONLY);
    (void)state;
    assert_true(heap >= 0);
    assert_int_equal(fstat(device, &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_true(major(st.st_rdev) != 0);
    assert_int_equal(stat(TP_KGSL_PATH, &by_path), 0);
    assert_int_equal(by_path.st_rdev, st.st_rdev);
    assert_int_equal(fstat(heap, &by_path), 0);
    assert_true(S_ISCHR(by_path.st_mode) && by_path.st_rdev != st.st_rdev);
    assert_int_equal(access(TP_KGSL_PATH, R_OK | W_OK), 0);
    assert_int_equal(open("/dev/ion", O_RDONLY), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(fcntl(device, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(heap, F_GETFD), 0);
    assert_int_equal(close(heap), 0);
    int null = open("/dev/null", O_RDONLY);
    assert_int_equal(fstat(null, &st), 0);
    assert_int_equal(major(st.st_rdev), 1);
    assert_int_equal(ioctl(null, TP_KGSL_GPUMEM_FREE_ID, NULL), -1);
    assert_int_equal(errno, ENOTTY);
    close(null);
}

static void memory_is_mapped_at_its_id_and_comes_zeroed(void **state)
{
    struct buffer a = allocate(8192), b = allocate(4096);
    (void)state;
    assert_int_equal(a.map[0] | a.map[2047] | b.map[0], 0);
    a.map[2047] = 1;
    b.map[0] = 2;
    assert_int_equal(a.map[2047], 1);
    give_back(&a);
    for (int i = 0; i < 4; i++) {
        a = allocate(8192);
        for (int k = 0; k < 2048; k++)
            assert_int_equal(a.map[k], 0);
        memset(a.map, 0xff, 8192);
        give_back(&a);
    }
    assert_int_equal(b.map[0], 2);
    give_back(&b);
}

static void a_submit_writes_memory_before_its_timestamp_retires(void **state)
{
    struct buffer commands = allocate(4096), data = allocate(4096);
    uint32_t context = create_context(device);
    (void)state;
    for (uint32_t i = 1; i <= 50; i++) {
        uint32_t timestamp = submit(context, &commands, stream(&commands, 0, data.gpuaddr, i));
        assert_int_equal(timestamp, i);
        assert_int_equal(wait_for(context, timestamp, UINT32_MAX), 0);
        assert_int_equal(data.map[0], i);
    }
    assert_int_equal(wait_for(context, 51, 1), -EINVAL);
    give_back(&commands);
    give_back(&data);
}

static void a_wait_times_out_and_comes_through_when_memory_changes(void **state)
{
    struct buffer commands = allocate(4096), data = allocate(4096);
    uint32_t context = create_context(device);
    uint32_t words = stream(&commands, data.gpuaddr + 8, data.gpuaddr, 7);
    (void)state;
    uint32_t timestamp = submit(context, &commands, words);
    assert_int_equal(wait_for(context, timestamp, 0), -ETIMEDOUT);
    assert_int_equal(wait_for(context, timestamp, 10), -ETIMEDOUT);
    assert_int_equal(data.map[0], 0);
    __atomic_store_n(&data.map[2], 1, __ATOMIC_RELEASE);
    assert_int_equal(wait_for(context, timestamp, 5000), 0);
    assert_int_equal(data.map[0], 7);
    give_back(&commands);
    give_back(&data);
}

static void fences_poll_merge_and_duplicate(void **state)
{
    struct buffer commands = allocate(4096), data = allocate(4096);
    uint32_t context = create_context(device), other = create_context(device);
    struct buffer more = allocate(4096);
    (void)state;
    uint32_t held = submit(context, &commands,
                           stream(&commands, data.gpuaddr + 8, data.gpuaddr, 7));
    uint32_t free_ts = submit(other, &more, stream(&more, 0, data.gpuaddr + 16, 1));
    int a = fence_of(context, held), b = fence_of(other, free_ts);
    assert_true(signalled(b, 5000));
    assert_false(signalled(a, 0));
    struct tp_sync_merge merge = {.name = "both", .fd2 = b};
    assert_int_equal(ioctl(a, TP_SYNC_IOC_MERGE, &merge), 0);
    int twin = dup(merge.fence);
    struct tp_sync_file_info info = {.flags = 0};
    assert_int_equal(ioctl(twin, TP_SYNC_IOC_FILE_INFO, &info), 0);
    assert_int_equal(info.status, 0);
    assert_int_equal(info.num_fences, 1);
    assert_false(signalled(merge.fence, 10));
    close(a); /* the merged one goes on without it */
    __atomic_store_n(&data.map[2], 1, __ATOMIC_RELEASE);
    assert_true(signalled(merge.fence, 5000));
    assert_true(signalled(twin, 0));
    info.num_fences = 0;
    assert_int_equal(ioctl(twin, TP_SYNC_IOC_FILE_INFO, &info), 0);
    assert_int_equal(info.status, 1);
    merge.fd2 = device;
    assert_int_equal(ioctl(twin, TP_SYNC_IOC_MERGE, &merge), -1);
    close(b);
    close(twin);
    close(merge.fence);
    give_back(&commands);
    give_back(&more);
    give_back(&data);
}

static void a_submit_waits_for_anothers_fence(void **state)
{
    struct buffer first = allocate(4096), second = allocate(4096), data = allocate(4096);
    uint32_t a = create_context(device), b = create_context(device), timestamp;
    (void)state;
    uint32_t held = submit(a, &first, stream(&first, data.gpuaddr + 8, data.gpuaddr, 7));
    struct tp_kgsl_syncpoint_fence fence = {fence_of(a, held)};
    struct tp_kgsl_command_syncpoint sync = {(uintptr_t)&fence, sizeof fence,
                                             TP_KGSL_SYNCPOINT_FENCE};
    uint32_t words = stream(&second, 0, data.gpuaddr + 16, 8);
    assert_int_equal(try_submit(b, &second, words, &sync, &timestamp), 0);
    close(fence.fd); /* the submit keeps it */
    assert_int_equal(wait_for(b, timestamp, 10), -ETIMEDOUT);
    assert_int_equal(data.map[4], 0);
    __atomic_store_n(&data.map[2], 1, __ATOMIC_RELEASE);
    assert_int_equal(wait_for(b, timestamp, 5000), 0);
    assert_int_equal(data.map[0], 7);
    assert_int_equal(data.map[4], 8);
    fence.fd = device;
    assert_int_equal(try_submit(b, &second, words, &sync, &timestamp), -1);
    assert_int_equal(errno, EINVAL);
    give_back(&first);
    give_back(&second);
    give_back(&data);
}

static void timelines_are_waited_for_and_signalled(void **state)
{
    struct tp_kgsl_timeline_create t = {.seqno = 4};
    (void)state;
    assert_int_equal(ioctl(device, TP_KGSL_TIMELINE_CREATE, &t), 0);
    struct tp_kgsl_timeline_val val = {.seqno = 6, .timeline = t.id};
    struct tp_kgsl_timeline_wait w = {.timelines = (uintptr_t)&val,
                                      .count = 1,
                                      .timelines_size = sizeof val,
                                      .flags = TP_KGSL_TIMELINE_WAIT_ALL};
    assert_int_equal(ioctl(device, TP_KGSL_TIMELINE_WAIT, &w), -1);
    assert_int_equal(errno, EBUSY);
    w.tv_nsec = 5000000;
    assert_int_equal(ioctl(device, TP_KGSL_TIMELINE_WAIT, &w), -1);
    assert_int_equal(errno, ETIMEDOUT);
    struct tp_kgsl_timeline_fence_get f = {.seqno = 6, .timeline = t.id};
    assert_int_equal(ioctl(device, TP_KGSL_TIMELINE_FENCE_GET, &f), 0);
    assert_false(signalled(f.handle, 0));
    struct tp_kgsl_timeline_signal s = {(uintptr_t)&val, 1, sizeof val};
    assert_int_equal(ioctl(device, TP_KGSL_TIMELINE_SIGNAL, &s), 0);
    assert_int_equal(ioctl(device, TP_KGSL_TIMELINE_WAIT, &w), 0);
    assert_true(signalled(f.handle, 0));
    assert_int_equal(ioctl(device, TP_KGSL_TIMELINE_QUERY, &val), 0);
    assert_int_equal(val.seqno, 6);
    assert_int_equal(ioctl(device, TP_KGSL_TIMELINE_DESTROY, &t.id), 0);
    close(f.handle);
}

static void an_auxiliary_command_binds_in_its_turn(void **state)
{
    struct tp_kgsl_gpuobj_alloc v = {.size = 8192, .flags = TP_KGSL_MEMFLAGS_VBO};
    struct buffer child = allocate(8192), commands = allocate(4096);
    uint32_t context = create_context(device);
    (void)state;
    assert_int_equal(ioctl(device, TP_KGSL_GPUOBJ_ALLOC, &v), 0);
    struct tp_kgsl_gpumem_get_info info = {.id = v.id};
    assert_int_equal(ioctl(device, TP_KGSL_GPUMEM_GET_INFO, &info), 0);
    struct tp_kgsl_gpumem_bind_range range = {4096, 0, 4096, child.id,
                                              TP_KGSL_GPUMEM_RANGE_OP_BIND};
    struct tp_kgsl_aux_bind bind = {(uintptr_t)&range, 1, sizeof range, v.id, 0};
    struct tp_kgsl_aux_generic aux = {(uintptr_t)&bind, sizeof bind, TP_KGSL_GPU_AUX_COMMAND_BIND,
                                      0};
    struct tp_kgsl_gpu_aux_command a = {.flags = TP_KGSL_GPU_AUX_COMMAND_BIND,
                                        .cmdlist = (uintptr_t)&aux,
                                        .cmdsize = sizeof aux,
                                        .numcmds = 1,
                                        .context_id = context};
    assert_int_equal(ioctl(device, TP_KGSL_GPU_AUX_COMMAND, &a), 0);
    uint32_t timestamp = submit(context, &commands, stream(&commands, 0, info.gpuaddr + 4, 0x77));
    assert_int_equal(timestamp, a.timestamp + 1);
    assert_int_equal(wait_for(context, timestamp, 5000), 0);
    assert_int_equal(child.map[1024 + 1], 0x77);
    struct tp_kgsl_gpuobj_free f = {.id = v.id};
    assert_int_equal(ioctl(device, TP_KGSL_GPUOBJ_FREE, &f), 0);
    give_back(&child);
    give_back(&commands);
}

static void a_dma_buf_is_one_memory_for_two_processes_and_the_gpu(void **state)
{
    int heap = open(TP_DMA_HEAP_PATH, O_RDONLY), status;
    struct tp_dma_heap_alloc alloc = {.len = 5000, .fd_flags = O_RDWR | O_CLOEXEC};
    struct buffer commands = allocate(4096);
    uint32_t context = create_context(device);
    (void)state;
    assert_int_equal(ioctl(heap, TP_DMA_HEAP_ALLOC, &alloc), 0);
    int fd = (int)alloc.fd;
    assert_int_equal(lseek(fd, 0, SEEK_END), 8192);
    assert_int_equal(ftruncate(fd, 0), -1);
    struct tp_kgsl_gpuobj_import_dma_buf dma_buf = {fd};
    struct tp_kgsl_gpuobj_import import = {.priv = (uintptr_t)&dma_buf,
                                           .priv_len = sizeof dma_buf,
                                           .type = TP_KGSL_USER_MEM_TYPE_DMABUF};
    assert_int_equal(ioctl(device, TP_KGSL_GPUOBJ_IMPORT, &import), 0);
    struct tp_kgsl_gpuobj_info info = {.id = import.id};
    assert_int_equal(ioctl(device, TP_KGSL_GPUOBJ_INFO, &info), 0);
    assert_int_equal(info.size, 8192);
    uint32_t timestamp =
        submit(context, &commands, stream(&commands, 0, info.gpuaddr + 4096, 0x1234));
    assert_int_equal(wait_for(context, timestamp, 5000), 0);
    pid_t child = fork();
    if (!child) {
        uint32_t *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        int own = open(TP_KGSL_PATH, O_RDWR | O_CLOEXEC);
        /* A device of its own, with nothing of the parent's in it. */
        struct tp_kgsl_gpumem_free_id f = {.id = import.id};
        bool ok = map != MAP_FAILED && map[1024] == 0x1234 && own >= 0;
        ok &= ioctl(device, TP_KGSL_GPUMEM_FREE_ID, &f) && errno == ENODEV;
        ok &= ioctl(own, TP_KGSL_GPUMEM_FREE_ID, &f) && errno == EINVAL;
        ok &= !ioctl(own, TP_KGSL_GPUOBJ_IMPORT, &import);
        map[0] = 0x4321;
        _exit(ok ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    uint32_t *map = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
    assert_int_equal(map[0], 0x4321);
    munmap(map, 8192);
    struct tp_kgsl_gpumem_free_id f = {.id = import.id};
    assert_int_equal(ioctl(device, TP_KGSL_GPUMEM_FREE_ID, &f), 0);
    give_back(&commands);
    close(fd);
    close(heap);
}

static void contexts_go_with_the_last_descriptor_of_their_file(void **state)
{
    int second = open(TP_KGSL_PATH, O_RDWR | O_CLOEXEC);
    uint32_t context = create_context(second), stat = context;
    struct tp_kgsl_property p = {TP_KGSL_PROP_GPU_RESET_STAT, &stat, sizeof stat};
    (void)state;
    int twin = fcntl(second, F_DUPFD_CLOEXEC, 3);
    int third = dup2(second, 77);
    assert_int_equal(close(second), 0);
    assert_int_equal(close(third), 0);
    assert_int_equal(ioctl(twin, TP_KGSL_GETPROPERTY, &p), 0);
    assert_int_equal(close(twin), 0);
    stat = context;
    assert_int_equal(ioctl(device, TP_KGSL_GETPROPERTY, &p), -1);
    assert_int_equal(errno, EINVAL);
}

static void the_simulators_own_descriptors_cannot_be_closed(void **state)
{
    struct buffer a = allocate(4096);
    (void)state;
    for (int fd = 190; fd < 300; fd++)
        close(fd);
    struct buffer b = allocate(4096);
    assert_int_equal(b.map[0], 0);
    give_back(&a);
    give_back(&b);
}

static void wrong_requests_are_refused(void **state)
{
    struct buffer b = allocate(4096);
    uint32_t context = create_context(device), timestamp;
    (void)state;
    assert_int_equal(ioctl(device, TP_KGSL_GPUMEM_ALLOC_ID, NULL), -1);
    assert_int_equal(errno, EFAULT);
    assert_int_equal(ioctl(device, _IO(TP_KGSL_IOC_TYPE, 0x7f), NULL), -1);
    assert_int_equal(errno, ENOTTY);
    assert_int_equal(try_submit(context, &b, 1025, NULL, &timestamp), -1); /* past its end */
    assert_int_equal(errno, EINVAL);
    assert_int_equal(try_submit(context + 1000, &b, 1, NULL, &timestamp), -1);
    assert_int_equal(errno, EINVAL);
    give_back(&b);
}

/* Each: its own context, buffers that come and go, submits, waits, fences. */
static void *hammer(void *failed)
{
    uint32_t context = create_context(device);
    struct buffer commands = allocate(4096), data = allocate(4096);
    for (uint32_t i = 1; i <= 100; i++) {
        uint32_t timestamp = submit(context, &commands, stream(&commands, 0, data.gpuaddr, i));
        int fence = fence_of(context, timestamp);
        struct buffer more = allocate(4096 * (1 + i % 7));
        bool ok = i % 3 ? !wait_for(context, timestamp, 10000) : signalled(fence, 10000);
        if (!ok || __atomic_load_n(data.map, __ATOMIC_ACQUIRE) != i)
            __atomic_add_fetch((int *)failed, 1, __ATOMIC_RELAXED);
        give_back(&more);
        close(fence);
    }
    give_back(&commands);
    give_back(&data);
    struct tp_kgsl_drawctxt_destroy d = {context};
    if (ioctl(device, TP_KGSL_DRAWCTXT_DESTROY, &d))
        __atomic_add_fetch((int *)failed, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void eight_threads_do_not_disturb_each_other(void **state)
{
    pthread_t threads[8];
    int failed = 0;
    (void)state;
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, &failed), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(failed, 0);
}

static void *wait_long(void *result)
{
    uint32_t *context = result;
    *context = (uint32_t)-wait_for(*context, 1, 20000);
    return NULL;
}

static void a_context_that_is_destroyed_wakes_who_waits_for_it(void **state)
{
    struct buffer commands = allocate(4096), data = allocate(4096);
    uint32_t context = create_context(device), result = context;
    pthread_t thread;
    (void)state;
    submit(context, &commands, stream(&commands, data.gpuaddr + 8, data.gpuaddr, 7));
    int fence = fence_of(context, 1);
    assert_int_equal(pthread_create(&thread, NULL, wait_long, &result), 0);
    struct tp_kgsl_drawctxt_destroy d = {context};
    assert_int_equal(ioctl(device, TP_KGSL_DRAWCTXT_DESTROY, &d), 0);
    pthread_join(thread, NULL);
    assert_int_equal(result, EINVAL);
    assert_true(signalled(fence, 5000));
    close(fence);
    give_back(&commands);
    give_back(&data);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(the_nodes_look_like_devices),
        T(memory_is_mapped_at_its_id_and_comes_zeroed),
        T(a_submit_writes_memory_before_its_timestamp_retires),
        T(a_wait_times_out_and_comes_through_when_memory_changes),
        T(fences_poll_merge_and_duplicate),
        T(a_submit_waits_for_anothers_fence),
        T(timelines_are_waited_for_and_signalled),
        T(an_auxiliary_command_binds_in_its_turn),
        T(a_dma_buf_is_one_memory_for_two_processes_and_the_gpu),
        T(contexts_go_with_the_last_descriptor_of_their_file),
        T(the_simulators_own_descriptors_cannot_be_closed),
        T(wrong_requests_are_refused),
        T(eight_threads_do_not_disturb_each_other),
        T(a_context_that_is_destroyed_wakes_who_waits_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
