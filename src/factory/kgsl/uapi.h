/*
 * KGSL's interface as the simulated device answers it: requests, structures, flags, properties, for
 * 64-bit processes. Written from the interface's facts (numbers, sizes, order of fields); the test
 * tests/factory/kgsl/uapi_test.c compares each with Mesa's msm_kgsl.h.
 */
#ifndef TP_FACTORY_KGSL_UAPI_H
#define TP_FACTORY_KGSL_UAPI_H

#include <stdint.h>
#include <sys/ioctl.h>

#define TP_KGSL_PATH "/dev/kgsl-3d0"
#define TP_KGSL_IOC_TYPE 0x09

/* Contexts and batches. A bit that both know has one value. */
#define TP_KGSL_CONTEXT_NO_GMEM_ALLOC 0x00000002u
#define TP_KGSL_CONTEXT_PREAMBLE 0x00000010u
#define TP_KGSL_CONTEXT_PER_CONTEXT_TS 0x00000040u
#define TP_KGSL_CONTEXT_USER_GENERATED_TS 0x00000080u
#define TP_KGSL_CONTEXT_PWR_CONSTRAINT 0x00000800u
#define TP_KGSL_CMDBATCH_MARKER 0x00000002u
#define TP_KGSL_CMDBATCH_SUBMIT_IB_LIST 0x00000004u
#define TP_KGSL_CMDBATCH_PROFILING 0x00000010u
#define TP_KGSL_CMDBATCH_SYNC 0x00000400u
#define TP_KGSL_CMDBATCH_PWR_CONSTRAINT 0x00000800u

#define TP_KGSL_CMDLIST_IB 0x00000001u
#define TP_KGSL_CMDLIST_CTXTSWITCH_PREAMBLE 0x00000002u
#define TP_KGSL_CMDLIST_IB_PREAMBLE 0x00000004u
#define TP_KGSL_OBJLIST_MEMOBJ 0x00000008u
#define TP_KGSL_OBJLIST_PROFILE 0x00000010u

#define TP_KGSL_SYNCPOINT_TIMESTAMP 0u
#define TP_KGSL_SYNCPOINT_FENCE 1u
#define TP_KGSL_SYNCPOINT_TIMELINE 2u

/* Memory. */
#define TP_KGSL_MEMFLAGS_SECURE (UINT64_C(1) << 3)
#define TP_KGSL_MEMFLAGS_GPUREADONLY (UINT64_C(1) << 24)
#define TP_KGSL_MEMFLAGS_USE_CPU_MAP (UINT64_C(1) << 28)
#define TP_KGSL_MEMFLAGS_SPARSE_PHYS (UINT64_C(1) << 29)
#define TP_KGSL_MEMFLAGS_SPARSE_VIRT (UINT64_C(1) << 30)
#define TP_KGSL_MEMFLAGS_IOCOHERENT (UINT64_C(1) << 31)
#define TP_KGSL_MEMFLAGS_FORCE_32BIT (UINT64_C(1) << 32)
#define TP_KGSL_MEMFLAGS_VBO (UINT64_C(1) << 34)
#define TP_KGSL_MEMFLAGS_VBO_NO_MAP_ZERO (UINT64_C(1) << 35)
#define TP_KGSL_MEMALIGN_MASK 0x00ff0000u
#define TP_KGSL_MEMALIGN_SHIFT 16
#define TP_KGSL_USER_MEM_TYPE_DMABUF 3u

/* Properties. */
#define TP_KGSL_PROP_DEVICE_INFO 0x1u
#define TP_KGSL_PROP_VERSION 0x8u
#define TP_KGSL_PROP_GPU_RESET_STAT 0x9u
#define TP_KGSL_PROP_PWRCTRL 0xeu
#define TP_KGSL_PROP_PWR_CONSTRAINT 0x12u
#define TP_KGSL_PROP_UCHE_GMEM_VADDR 0x13u
#define TP_KGSL_PROP_HIGHEST_BANK_BIT 0x17u
#define TP_KGSL_PROP_DEVICE_BITNESS 0x18u
#define TP_KGSL_PROP_MIN_ACCESS_LENGTH 0x1au
#define TP_KGSL_PROP_UBWC_MODE 0x1bu
#define TP_KGSL_PROP_SPEED_BIN 0x25u
#define TP_KGSL_PROP_GPU_MODEL 0x29u
#define TP_KGSL_PROP_GPU_VA64_SIZE 0x2cu
#define TP_KGSL_PROP_IS_RAYTRACING_ENABLED 0x2du
#define TP_KGSL_PROP_UCHE_TRAP_BASE 0x2fu

#define TP_KGSL_CTX_STAT_NO_ERROR 0u
#define TP_KGSL_CTX_STAT_GUILTY 1u
#define TP_KGSL_CTX_STAT_INNOCENT 2u

#define TP_KGSL_CONSTRAINT_NONE 0u
#define TP_KGSL_CONSTRAINT_PWRLEVEL 1u
#define TP_KGSL_CONSTRAINT_PWR_MIN 0u
#define TP_KGSL_CONSTRAINT_PWR_MAX 1u

#define TP_KGSL_TIMESTAMP_CONSUMED 1u
#define TP_KGSL_TIMESTAMP_RETIRED 2u
#define TP_KGSL_TIMESTAMP_QUEUED 3u
#define TP_KGSL_TIMESTAMP_EVENT_FENCE 2
#define TP_KGSL_GPUOBJ_FREE_ON_EVENT 1u
#define TP_KGSL_GPU_EVENT_TIMESTAMP 1u
#define TP_KGSL_GPU_EVENT_FENCE 2u
#define TP_KGSL_PERFCOUNTER_GROUP_ALWAYSON 0x1bu
#define TP_KGSL_GPUMEM_RANGE_OP_BIND 1u
#define TP_KGSL_GPUMEM_RANGE_OP_UNBIND 2u
#define TP_KGSL_GPUMEM_BIND_ASYNC 1u
#define TP_KGSL_GPUMEM_BIND_FENCE_OUT 2u
#define TP_KGSL_GPU_AUX_COMMAND_BIND 1u
#define TP_KGSL_GPU_AUX_COMMAND_TIMELINE 2u
#define TP_KGSL_GPU_AUX_COMMAND_SYNC TP_KGSL_CMDBATCH_SYNC
#define TP_KGSL_TIMELINE_WAIT_ALL 1u
#define TP_KGSL_TIMELINE_WAIT_ANY 2u
/* What the kernel lets one list hold. */
#define TP_KGSL_MAX_LIST 100000u
#define TP_KGSL_MAX_SYNCPOINTS 32u

struct tp_kgsl_devinfo {
    uint32_t device_id, chip_id, mmu_enabled;
    uint64_t gmem_gpubaseaddr;
    uint32_t gpu_id;
    uint64_t gmem_sizebytes;
};

struct tp_kgsl_version {
    uint32_t drv_major, drv_minor, dev_major, dev_minor;
};

struct tp_kgsl_gpu_model {
    char gpu_model[32];
};

/* The argument of GETPROPERTY and SETPROPERTY. */
struct tp_kgsl_property {
    uint32_t type;
    void *value;
    uint64_t sizebytes;
};

struct tp_kgsl_waittimestamp_ctxtid {
    uint32_t context_id, timestamp, timeout_ms;
};

struct tp_kgsl_drawctxt_create {
    uint32_t flags, drawctxt_id;
};

struct tp_kgsl_drawctxt_destroy {
    uint32_t drawctxt_id;
};

struct tp_kgsl_readtimestamp_ctxtid {
    uint32_t context_id, type, timestamp;
};

struct tp_kgsl_timestamp_event {
    int32_t type;
    uint32_t timestamp, context_id;
    void *priv;
    uint64_t len;
};

struct tp_kgsl_gpumem_alloc_id {
    uint32_t id, flags;
    uint64_t size, mmapsize, gpuaddr, pad[2];
};

struct tp_kgsl_gpumem_free_id {
    uint32_t id, pad;
};

struct tp_kgsl_gpumem_get_info {
    uint64_t gpuaddr;
    uint32_t id, flags;
    uint64_t size, mmapsize, useraddr, pad[4];
};

struct tp_kgsl_gpumem_sync_cache {
    uint64_t gpuaddr;
    uint32_t id, op;
    uint64_t offset, length;
};

struct tp_kgsl_perfcounter_get {
    uint32_t groupid, countable, offset, offset_hi, pad;
};

struct tp_kgsl_perfcounter_put {
    uint32_t groupid, countable, pad[2];
};

struct tp_kgsl_perfcounter_read_group {
    uint32_t groupid, countable;
    uint64_t value;
};

struct tp_kgsl_perfcounter_read {
    struct tp_kgsl_perfcounter_read_group *reads;
    uint32_t count, pad[2];
};

struct tp_kgsl_syncpoint_timestamp {
    uint32_t context_id, timestamp;
};

struct tp_kgsl_syncpoint_fence {
    int32_t fd;
};

struct tp_kgsl_syncpoint_timeline {
    uint64_t timelines;
    uint32_t count, timelines_size;
};

struct tp_kgsl_constraint {
    uint32_t type, context_id;
    void *data;
    uint64_t size;
};

struct tp_kgsl_gpuobj_alloc {
    uint64_t size, flags, va_len, mmapsize;
    uint32_t id, metadata_len;
    uint64_t metadata;
};

struct tp_kgsl_gpuobj_free {
    uint64_t flags, priv;
    uint32_t id, type, len;
};

struct tp_kgsl_gpuobj_info {
    uint64_t gpuaddr, flags, size, va_len, va_addr;
    uint32_t id;
};

struct tp_kgsl_gpuobj_import {
    uint64_t priv, priv_len, flags;
    uint32_t type, id;
};

struct tp_kgsl_gpuobj_import_dma_buf {
    int32_t fd;
};

struct tp_kgsl_gpuobj_sync {
    uint64_t objs;
    uint32_t obj_len, count;
};

struct tp_kgsl_gpuobj_set_info {
    uint64_t flags, metadata;
    uint32_t id, metadata_len, type;
};

struct tp_kgsl_command_object {
    uint64_t offset, gpuaddr, size;
    uint32_t flags, id;
};

struct tp_kgsl_command_syncpoint {
    uint64_t priv, size;
    uint32_t type;
};

struct tp_kgsl_gpu_command {
    uint64_t flags, cmdlist;
    uint32_t cmdsize, numcmds;
    uint64_t objlist;
    uint32_t objsize, numobjs;
    uint64_t synclist;
    uint32_t syncsize, numsyncs, context_id, timestamp;
};

struct tp_kgsl_profiling_buffer {
    uint64_t wall_clock_s, wall_clock_ns, gpu_ticks_queued, gpu_ticks_submitted, gpu_ticks_retired;
};

struct tp_kgsl_gpumem_bind_range {
    uint64_t child_offset, target_offset, length;
    uint32_t child_id, op;
};

struct tp_kgsl_gpumem_bind_ranges {
    uint64_t ranges;
    uint32_t ranges_nents, ranges_size, id, flags;
    int32_t fence_id;
    uint32_t pad;
};

struct tp_kgsl_aux_bind {
    uint64_t rangeslist, numranges, rangesize;
    uint32_t target, pad;
};

struct tp_kgsl_aux_timeline {
    uint64_t timelines;
    uint32_t count, timelines_size;
};

struct tp_kgsl_aux_generic {
    uint64_t priv, size;
    uint32_t type, pad;
};

struct tp_kgsl_gpu_aux_command {
    uint64_t flags, cmdlist;
    uint32_t cmdsize, numcmds;
    uint64_t synclist;
    uint32_t syncsize, numsyncs, context_id, timestamp;
};

struct tp_kgsl_timeline_create {
    uint64_t seqno;
    uint32_t id, pad;
};

struct tp_kgsl_timeline_val {
    uint64_t seqno;
    uint32_t timeline, pad;
};

struct tp_kgsl_timeline_wait {
    int64_t tv_sec, tv_nsec;
    uint64_t timelines;
    uint32_t count, timelines_size, flags, pad;
};

struct tp_kgsl_timeline_signal {
    uint64_t timelines;
    uint32_t count, timelines_size;
};

struct tp_kgsl_timeline_fence_get {
    uint64_t seqno;
    uint32_t timeline;
    int32_t handle;
};

#define TP_KGSL_IOW(nr, type) _IOW(TP_KGSL_IOC_TYPE, nr, type)
#define TP_KGSL_IOWR(nr, type) _IOWR(TP_KGSL_IOC_TYPE, nr, type)

#define TP_KGSL_GETPROPERTY TP_KGSL_IOWR(0x02, struct tp_kgsl_property)
#define TP_KGSL_WAITTIMESTAMP_CTXTID TP_KGSL_IOW(0x07, struct tp_kgsl_waittimestamp_ctxtid)
#define TP_KGSL_DRAWCTXT_CREATE TP_KGSL_IOWR(0x13, struct tp_kgsl_drawctxt_create)
#define TP_KGSL_DRAWCTXT_DESTROY TP_KGSL_IOW(0x14, struct tp_kgsl_drawctxt_destroy)
#define TP_KGSL_READTIMESTAMP_CTXTID TP_KGSL_IOWR(0x16, struct tp_kgsl_readtimestamp_ctxtid)
#define TP_KGSL_SETPROPERTY TP_KGSL_IOW(0x32, struct tp_kgsl_property)
#define TP_KGSL_TIMESTAMP_EVENT TP_KGSL_IOWR(0x33, struct tp_kgsl_timestamp_event)
#define TP_KGSL_GPUMEM_ALLOC_ID TP_KGSL_IOWR(0x34, struct tp_kgsl_gpumem_alloc_id)
#define TP_KGSL_GPUMEM_FREE_ID TP_KGSL_IOWR(0x35, struct tp_kgsl_gpumem_free_id)
#define TP_KGSL_GPUMEM_GET_INFO TP_KGSL_IOWR(0x36, struct tp_kgsl_gpumem_get_info)
#define TP_KGSL_GPUMEM_SYNC_CACHE TP_KGSL_IOW(0x37, struct tp_kgsl_gpumem_sync_cache)
#define TP_KGSL_PERFCOUNTER_GET TP_KGSL_IOWR(0x38, struct tp_kgsl_perfcounter_get)
#define TP_KGSL_PERFCOUNTER_PUT TP_KGSL_IOW(0x39, struct tp_kgsl_perfcounter_put)
#define TP_KGSL_PERFCOUNTER_READ TP_KGSL_IOWR(0x3b, struct tp_kgsl_perfcounter_read)
#define TP_KGSL_GPUOBJ_ALLOC TP_KGSL_IOWR(0x45, struct tp_kgsl_gpuobj_alloc)
#define TP_KGSL_GPUOBJ_FREE TP_KGSL_IOW(0x46, struct tp_kgsl_gpuobj_free)
#define TP_KGSL_GPUOBJ_INFO TP_KGSL_IOWR(0x47, struct tp_kgsl_gpuobj_info)
#define TP_KGSL_GPUOBJ_IMPORT TP_KGSL_IOWR(0x48, struct tp_kgsl_gpuobj_import)
#define TP_KGSL_GPUOBJ_SYNC TP_KGSL_IOW(0x49, struct tp_kgsl_gpuobj_sync)
#define TP_KGSL_GPU_COMMAND TP_KGSL_IOWR(0x4a, struct tp_kgsl_gpu_command)
#define TP_KGSL_GPUOBJ_SET_INFO TP_KGSL_IOW(0x4c, struct tp_kgsl_gpuobj_set_info)
#define TP_KGSL_GPUMEM_BIND_RANGES TP_KGSL_IOWR(0x56, struct tp_kgsl_gpumem_bind_ranges)
#define TP_KGSL_GPU_AUX_COMMAND TP_KGSL_IOWR(0x57, struct tp_kgsl_gpu_aux_command)
#define TP_KGSL_TIMELINE_CREATE TP_KGSL_IOWR(0x58, struct tp_kgsl_timeline_create)
#define TP_KGSL_TIMELINE_WAIT TP_KGSL_IOW(0x59, struct tp_kgsl_timeline_wait)
#define TP_KGSL_TIMELINE_QUERY TP_KGSL_IOWR(0x5a, struct tp_kgsl_timeline_val)
#define TP_KGSL_TIMELINE_SIGNAL TP_KGSL_IOW(0x5b, struct tp_kgsl_timeline_signal)
#define TP_KGSL_TIMELINE_FENCE_GET TP_KGSL_IOWR(0x5c, struct tp_kgsl_timeline_fence_get)
#define TP_KGSL_TIMELINE_DESTROY TP_KGSL_IOW(0x5d, uint32_t)

/* linux/dma-heap.h */
#define TP_DMA_HEAP_PATH "/dev/dma_heap/system"
struct tp_dma_heap_alloc {
    uint64_t len;
    uint32_t fd, fd_flags;
    uint64_t heap_flags;
};
#define TP_DMA_HEAP_ALLOC _IOWR('H', 0x0, struct tp_dma_heap_alloc)

/* linux/dma-buf.h: only its type is needed. */
#define TP_DMA_BUF_IOC_TYPE 'b'

/* linux/sync_file.h */
struct tp_sync_merge {
    char name[32];
    int32_t fd2, fence;
    uint32_t flags, pad;
};

struct tp_sync_fence_info {
    char obj_name[32], driver_name[32];
    int32_t status;
    uint32_t flags;
    uint64_t timestamp_ns;
};

struct tp_sync_file_info {
    char name[32];
    int32_t status;
    uint32_t flags, num_fences, pad;
    uint64_t sync_fence_info;
};
#define TP_SYNC_IOC_MERGE _IOWR('>', 3, struct tp_sync_merge)
#define TP_SYNC_IOC_FILE_INFO _IOWR('>', 4, struct tp_sync_file_info)

#endif
