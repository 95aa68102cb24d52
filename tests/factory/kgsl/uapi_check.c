/* Holds src/factory/kgsl/uapi.h against Mesa's msm_kgsl.h: compiled, not run, by uapi.test.sh. */
#define __user
#include "msm_kgsl.h"

#include "factory/kgsl/uapi.h"

#include <linux/dma-heap.h>
#include <linux/sync_file.h>
#include <stddef.h>

#define VALUE(ours, theirs) _Static_assert((ours) == (theirs), #ours)
#define SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(struct theirs), #ours)
#define FIELD(ours, f, theirs, g)                                                                  \
    _Static_assert(offsetof(struct ours, f) == offsetof(struct theirs, g) &&                       \
                       sizeof(((struct ours *)0)->f) == sizeof(((struct theirs *)0)->g),           \
                   #ours "." #f)
/* Where both name a field alike. */
#define SAME(ours, theirs, f) FIELD(ours, f, theirs, f)

/* Requests: number, direction and size in one. */
VALUE(TP_KGSL_GETPROPERTY, IOCTL_KGSL_DEVICE_GETPROPERTY);
VALUE(TP_KGSL_SETPROPERTY, IOCTL_KGSL_SETPROPERTY);
VALUE(TP_KGSL_WAITTIMESTAMP_CTXTID, IOCTL_KGSL_DEVICE_WAITTIMESTAMP_CTXTID);
VALUE(TP_KGSL_READTIMESTAMP_CTXTID, IOCTL_KGSL_CMDSTREAM_READTIMESTAMP_CTXTID);
VALUE(TP_KGSL_DRAWCTXT_CREATE, IOCTL_KGSL_DRAWCTXT_CREATE);
VALUE(TP_KGSL_DRAWCTXT_DESTROY, IOCTL_KGSL_DRAWCTXT_DESTROY);
VALUE(TP_KGSL_TIMESTAMP_EVENT, IOCTL_KGSL_TIMESTAMP_EVENT);
VALUE(TP_KGSL_GPUMEM_ALLOC_ID, IOCTL_KGSL_GPUMEM_ALLOC_ID);
VALUE(TP_KGSL_GPUMEM_FREE_ID, IOCTL_KGSL_GPUMEM_FREE_ID);
VALUE(TP_KGSL_GPUMEM_GET_INFO, IOCTL_KGSL_GPUMEM_GET_INFO);
VALUE(TP_KGSL_GPUMEM_SYNC_CACHE, IOCTL_KGSL_GPUMEM_SYNC_CACHE);
VALUE(TP_KGSL_PERFCOUNTER_GET, IOCTL_KGSL_PERFCOUNTER_GET);
VALUE(TP_KGSL_PERFCOUNTER_PUT, IOCTL_KGSL_PERFCOUNTER_PUT);
VALUE(TP_KGSL_PERFCOUNTER_READ, IOCTL_KGSL_PERFCOUNTER_READ);
VALUE(TP_KGSL_GPUOBJ_ALLOC, IOCTL_KGSL_GPUOBJ_ALLOC);
VALUE(TP_KGSL_GPUOBJ_FREE, IOCTL_KGSL_GPUOBJ_FREE);
VALUE(TP_KGSL_GPUOBJ_INFO, IOCTL_KGSL_GPUOBJ_INFO);
VALUE(TP_KGSL_GPUOBJ_IMPORT, IOCTL_KGSL_GPUOBJ_IMPORT);
VALUE(TP_KGSL_GPUOBJ_SYNC, IOCTL_KGSL_GPUOBJ_SYNC);
VALUE(TP_KGSL_GPUOBJ_SET_INFO, IOCTL_KGSL_GPUOBJ_SET_INFO);
VALUE(TP_KGSL_GPU_COMMAND, IOCTL_KGSL_GPU_COMMAND);
VALUE(TP_KGSL_GPUMEM_BIND_RANGES, IOCTL_KGSL_GPUMEM_BIND_RANGES);
VALUE(TP_KGSL_GPU_AUX_COMMAND, IOCTL_KGSL_GPU_AUX_COMMAND);
VALUE(TP_KGSL_TIMELINE_CREATE, IOCTL_KGSL_TIMELINE_CREATE);
VALUE(TP_KGSL_TIMELINE_WAIT, IOCTL_KGSL_TIMELINE_WAIT);
VALUE(TP_KGSL_TIMELINE_QUERY, IOCTL_KGSL_TIMELINE_QUERY);
VALUE(TP_KGSL_TIMELINE_SIGNAL, IOCTL_KGSL_TIMELINE_SIGNAL);
VALUE(TP_KGSL_TIMELINE_FENCE_GET, IOCTL_KGSL_TIMELINE_FENCE_GET);
VALUE(TP_KGSL_TIMELINE_DESTROY, IOCTL_KGSL_TIMELINE_DESTROY);
VALUE(TP_DMA_HEAP_ALLOC, DMA_HEAP_IOCTL_ALLOC);
VALUE(TP_SYNC_IOC_MERGE, SYNC_IOC_MERGE);
VALUE(TP_SYNC_IOC_FILE_INFO, SYNC_IOC_FILE_INFO);

/* Numbers. */
VALUE(TP_KGSL_CONTEXT_NO_GMEM_ALLOC, KGSL_CONTEXT_NO_GMEM_ALLOC);
VALUE(TP_KGSL_CONTEXT_PREAMBLE, KGSL_CONTEXT_PREAMBLE);
VALUE(TP_KGSL_CONTEXT_PER_CONTEXT_TS, KGSL_CONTEXT_PER_CONTEXT_TS);
VALUE(TP_KGSL_CONTEXT_USER_GENERATED_TS, KGSL_CONTEXT_USER_GENERATED_TS);
VALUE(TP_KGSL_CONTEXT_PWR_CONSTRAINT, KGSL_CONTEXT_PWR_CONSTRAINT);
VALUE(TP_KGSL_CMDBATCH_MARKER, KGSL_CMDBATCH_MARKER);
VALUE(TP_KGSL_CMDBATCH_SUBMIT_IB_LIST, KGSL_CMDBATCH_SUBMIT_IB_LIST);
VALUE(TP_KGSL_CMDBATCH_PROFILING, KGSL_CMDBATCH_PROFILING);
VALUE(TP_KGSL_CMDBATCH_SYNC, KGSL_CMDBATCH_SYNC);
VALUE(TP_KGSL_CMDBATCH_PWR_CONSTRAINT, KGSL_CMDBATCH_PWR_CONSTRAINT);
VALUE(TP_KGSL_CMDLIST_IB, KGSL_CMDLIST_IB);
VALUE(TP_KGSL_CMDLIST_CTXTSWITCH_PREAMBLE, KGSL_CMDLIST_CTXTSWITCH_PREAMBLE);
VALUE(TP_KGSL_CMDLIST_IB_PREAMBLE, KGSL_CMDLIST_IB_PREAMBLE);
VALUE(TP_KGSL_OBJLIST_MEMOBJ, KGSL_OBJLIST_MEMOBJ);
VALUE(TP_KGSL_OBJLIST_PROFILE, KGSL_OBJLIST_PROFILE);
VALUE(TP_KGSL_SYNCPOINT_TIMESTAMP, KGSL_CMD_SYNCPOINT_TYPE_TIMESTAMP);
VALUE(TP_KGSL_SYNCPOINT_FENCE, KGSL_CMD_SYNCPOINT_TYPE_FENCE);
VALUE(TP_KGSL_SYNCPOINT_TIMELINE, KGSL_CMD_SYNCPOINT_TYPE_TIMELINE);
VALUE(TP_KGSL_MEMFLAGS_SECURE, KGSL_MEMFLAGS_SECURE);
VALUE(TP_KGSL_MEMFLAGS_GPUREADONLY, KGSL_MEMFLAGS_GPUREADONLY);
VALUE(TP_KGSL_MEMFLAGS_USE_CPU_MAP, KGSL_MEMFLAGS_USE_CPU_MAP);
VALUE(TP_KGSL_MEMFLAGS_SPARSE_PHYS, KGSL_MEMFLAGS_SPARSE_PHYS);
VALUE(TP_KGSL_MEMFLAGS_SPARSE_VIRT, KGSL_MEMFLAGS_SPARSE_VIRT);
VALUE(TP_KGSL_MEMFLAGS_IOCOHERENT, KGSL_MEMFLAGS_IOCOHERENT);
VALUE(TP_KGSL_MEMFLAGS_FORCE_32BIT, KGSL_MEMFLAGS_FORCE_32BIT);
VALUE(TP_KGSL_MEMFLAGS_VBO, KGSL_MEMFLAGS_VBO);
VALUE(TP_KGSL_MEMFLAGS_VBO_NO_MAP_ZERO, KGSL_MEMFLAGS_VBO_NO_MAP_ZERO);
VALUE(TP_KGSL_MEMALIGN_MASK, KGSL_MEMALIGN_MASK);
VALUE(TP_KGSL_MEMALIGN_SHIFT, KGSL_MEMALIGN_SHIFT);
VALUE(TP_KGSL_USER_MEM_TYPE_DMABUF, (unsigned)KGSL_USER_MEM_TYPE_DMABUF);
VALUE(TP_KGSL_PROP_DEVICE_INFO, KGSL_PROP_DEVICE_INFO);
VALUE(TP_KGSL_PROP_VERSION, KGSL_PROP_VERSION);
VALUE(TP_KGSL_PROP_GPU_RESET_STAT, KGSL_PROP_GPU_RESET_STAT);
VALUE(TP_KGSL_PROP_PWRCTRL, KGSL_PROP_PWRCTRL);
VALUE(TP_KGSL_PROP_PWR_CONSTRAINT, KGSL_PROP_PWR_CONSTRAINT);
VALUE(TP_KGSL_PROP_UCHE_GMEM_VADDR, KGSL_PROP_UCHE_GMEM_VADDR);
VALUE(TP_KGSL_PROP_HIGHEST_BANK_BIT, KGSL_PROP_HIGHEST_BANK_BIT);
VALUE(TP_KGSL_PROP_DEVICE_BITNESS, KGSL_PROP_DEVICE_BITNESS);
VALUE(TP_KGSL_PROP_MIN_ACCESS_LENGTH, KGSL_PROP_MIN_ACCESS_LENGTH);
VALUE(TP_KGSL_PROP_UBWC_MODE, KGSL_PROP_UBWC_MODE);
VALUE(TP_KGSL_PROP_SPEED_BIN, KGSL_PROP_SPEED_BIN);
VALUE(TP_KGSL_PROP_GPU_MODEL, KGSL_PROP_GPU_MODEL);
VALUE(TP_KGSL_PROP_GPU_VA64_SIZE, KGSL_PROP_GPU_VA64_SIZE);
VALUE(TP_KGSL_PROP_IS_RAYTRACING_ENABLED, KGSL_PROP_IS_RAYTRACING_ENABLED);
VALUE(TP_KGSL_PROP_UCHE_TRAP_BASE, KGSL_PROP_UCHE_TRAP_BASE);
VALUE(TP_KGSL_CTX_STAT_GUILTY, (unsigned)KGSL_CTX_STAT_GUILTY_CONTEXT_RESET_EXT);
VALUE(TP_KGSL_CTX_STAT_INNOCENT, (unsigned)KGSL_CTX_STAT_INNOCENT_CONTEXT_RESET_EXT);
VALUE(TP_KGSL_CONSTRAINT_NONE, KGSL_CONSTRAINT_NONE);
VALUE(TP_KGSL_CONSTRAINT_PWRLEVEL, KGSL_CONSTRAINT_PWRLEVEL);
VALUE(TP_KGSL_CONSTRAINT_PWR_MIN, KGSL_CONSTRAINT_PWR_MIN);
VALUE(TP_KGSL_CONSTRAINT_PWR_MAX, KGSL_CONSTRAINT_PWR_MAX);
VALUE(TP_KGSL_TIMESTAMP_CONSUMED, (unsigned)KGSL_TIMESTAMP_CONSUMED);
VALUE(TP_KGSL_TIMESTAMP_RETIRED, (unsigned)KGSL_TIMESTAMP_RETIRED);
VALUE(TP_KGSL_TIMESTAMP_QUEUED, (unsigned)KGSL_TIMESTAMP_QUEUED);
VALUE(TP_KGSL_TIMESTAMP_EVENT_FENCE, KGSL_TIMESTAMP_EVENT_FENCE);
VALUE(TP_KGSL_GPUOBJ_FREE_ON_EVENT, KGSL_GPUOBJ_FREE_ON_EVENT);
VALUE(TP_KGSL_GPU_EVENT_TIMESTAMP, KGSL_GPU_EVENT_TIMESTAMP);
VALUE(TP_KGSL_GPU_EVENT_FENCE, KGSL_GPU_EVENT_FENCE);
VALUE(TP_KGSL_PERFCOUNTER_GROUP_ALWAYSON, KGSL_PERFCOUNTER_GROUP_ALWAYSON);
VALUE(TP_KGSL_GPUMEM_RANGE_OP_BIND, KGSL_GPUMEM_RANGE_OP_BIND);
VALUE(TP_KGSL_GPUMEM_RANGE_OP_UNBIND, KGSL_GPUMEM_RANGE_OP_UNBIND);
VALUE(TP_KGSL_GPUMEM_BIND_ASYNC, KGSL_GPUMEM_BIND_ASYNC);
VALUE(TP_KGSL_GPUMEM_BIND_FENCE_OUT, KGSL_GPUMEM_BIND_FENCE_OUT);
VALUE(TP_KGSL_GPU_AUX_COMMAND_BIND, KGSL_GPU_AUX_COMMAND_BIND);
VALUE(TP_KGSL_GPU_AUX_COMMAND_TIMELINE, KGSL_GPU_AUX_COMMAND_TIMELINE);
VALUE(TP_KGSL_GPU_AUX_COMMAND_SYNC, KGSL_GPU_AUX_COMMAND_SYNC);
VALUE(TP_KGSL_TIMELINE_WAIT_ALL, KGSL_TIMELINE_WAIT_ALL);
VALUE(TP_KGSL_TIMELINE_WAIT_ANY, KGSL_TIMELINE_WAIT_ANY);

/* Structures that no request's size tells. */
SIZE(tp_kgsl_devinfo, kgsl_devinfo);
SIZE(tp_kgsl_version, kgsl_version);
SIZE(tp_kgsl_gpu_model, kgsl_gpu_model);
SIZE(tp_kgsl_perfcounter_read_group, kgsl_perfcounter_read_group);
SIZE(tp_kgsl_syncpoint_timestamp, kgsl_cmd_syncpoint_timestamp);
SIZE(tp_kgsl_syncpoint_fence, kgsl_cmd_syncpoint_fence);
SIZE(tp_kgsl_syncpoint_timeline, kgsl_cmd_syncpoint_timeline);
SIZE(tp_kgsl_constraint, kgsl_device_constraint);
SIZE(tp_kgsl_gpuobj_import_dma_buf, kgsl_gpuobj_import_dma_buf);
SIZE(tp_kgsl_command_object, kgsl_command_object);
SIZE(tp_kgsl_command_syncpoint, kgsl_command_syncpoint);
SIZE(tp_kgsl_profiling_buffer, kgsl_cmdbatch_profiling_buffer);
SIZE(tp_kgsl_gpumem_bind_range, kgsl_gpumem_bind_range);
SIZE(tp_kgsl_aux_bind, kgsl_gpu_aux_command_bind);
SIZE(tp_kgsl_aux_timeline, kgsl_gpu_aux_command_timeline);
SIZE(tp_kgsl_aux_generic, kgsl_gpu_aux_command_generic);
SIZE(tp_sync_fence_info, sync_fence_info);

/* Fields: those that the device reads or writes. */
SAME(tp_kgsl_devinfo, kgsl_devinfo, chip_id);
SAME(tp_kgsl_devinfo, kgsl_devinfo, gmem_gpubaseaddr);
SAME(tp_kgsl_devinfo, kgsl_devinfo, gpu_id);
SAME(tp_kgsl_devinfo, kgsl_devinfo, gmem_sizebytes);
SAME(tp_kgsl_property, kgsl_device_getproperty, type);
SAME(tp_kgsl_property, kgsl_device_getproperty, value);
SAME(tp_kgsl_property, kgsl_device_getproperty, sizebytes);
SAME(tp_kgsl_waittimestamp_ctxtid, kgsl_device_waittimestamp_ctxtid, context_id);
SAME(tp_kgsl_waittimestamp_ctxtid, kgsl_device_waittimestamp_ctxtid, timestamp);
FIELD(tp_kgsl_waittimestamp_ctxtid, timeout_ms, kgsl_device_waittimestamp_ctxtid, timeout);
SAME(tp_kgsl_drawctxt_create, kgsl_drawctxt_create, flags);
SAME(tp_kgsl_drawctxt_create, kgsl_drawctxt_create, drawctxt_id);
SAME(tp_kgsl_readtimestamp_ctxtid, kgsl_cmdstream_readtimestamp_ctxtid, context_id);
SAME(tp_kgsl_readtimestamp_ctxtid, kgsl_cmdstream_readtimestamp_ctxtid, type);
SAME(tp_kgsl_readtimestamp_ctxtid, kgsl_cmdstream_readtimestamp_ctxtid, timestamp);
SAME(tp_kgsl_timestamp_event, kgsl_timestamp_event, timestamp);
SAME(tp_kgsl_timestamp_event, kgsl_timestamp_event, context_id);
SAME(tp_kgsl_timestamp_event, kgsl_timestamp_event, priv);
SAME(tp_kgsl_timestamp_event, kgsl_timestamp_event, len);
SAME(tp_kgsl_gpumem_alloc_id, kgsl_gpumem_alloc_id, id);
SAME(tp_kgsl_gpumem_alloc_id, kgsl_gpumem_alloc_id, flags);
SAME(tp_kgsl_gpumem_alloc_id, kgsl_gpumem_alloc_id, size);
SAME(tp_kgsl_gpumem_alloc_id, kgsl_gpumem_alloc_id, mmapsize);
SAME(tp_kgsl_gpumem_alloc_id, kgsl_gpumem_alloc_id, gpuaddr);
SAME(tp_kgsl_gpumem_get_info, kgsl_gpumem_get_info, gpuaddr);
SAME(tp_kgsl_gpumem_get_info, kgsl_gpumem_get_info, id);
SAME(tp_kgsl_gpumem_get_info, kgsl_gpumem_get_info, mmapsize);
SAME(tp_kgsl_gpumem_get_info, kgsl_gpumem_get_info, useraddr);
SAME(tp_kgsl_gpumem_sync_cache, kgsl_gpumem_sync_cache, id);
SAME(tp_kgsl_perfcounter_get, kgsl_perfcounter_get, offset_hi);
SAME(tp_kgsl_perfcounter_read, kgsl_perfcounter_read, reads);
SAME(tp_kgsl_perfcounter_read, kgsl_perfcounter_read, count);
SAME(tp_kgsl_perfcounter_read_group, kgsl_perfcounter_read_group, value);
SAME(tp_kgsl_constraint, kgsl_device_constraint, type);
SAME(tp_kgsl_constraint, kgsl_device_constraint, context_id);
SAME(tp_kgsl_constraint, kgsl_device_constraint, data);
SAME(tp_kgsl_constraint, kgsl_device_constraint, size);
SAME(tp_kgsl_gpuobj_alloc, kgsl_gpuobj_alloc, size);
SAME(tp_kgsl_gpuobj_alloc, kgsl_gpuobj_alloc, flags);
SAME(tp_kgsl_gpuobj_alloc, kgsl_gpuobj_alloc, mmapsize);
SAME(tp_kgsl_gpuobj_alloc, kgsl_gpuobj_alloc, id);
SAME(tp_kgsl_gpuobj_free, kgsl_gpuobj_free, priv);
SAME(tp_kgsl_gpuobj_free, kgsl_gpuobj_free, id);
SAME(tp_kgsl_gpuobj_free, kgsl_gpuobj_free, type);
SAME(tp_kgsl_gpuobj_free, kgsl_gpuobj_free, len);
SAME(tp_kgsl_gpuobj_info, kgsl_gpuobj_info, gpuaddr);
SAME(tp_kgsl_gpuobj_info, kgsl_gpuobj_info, size);
SAME(tp_kgsl_gpuobj_info, kgsl_gpuobj_info, va_addr);
SAME(tp_kgsl_gpuobj_info, kgsl_gpuobj_info, id);
SAME(tp_kgsl_gpuobj_import, kgsl_gpuobj_import, priv);
SAME(tp_kgsl_gpuobj_import, kgsl_gpuobj_import, flags);
SAME(tp_kgsl_gpuobj_import, kgsl_gpuobj_import, type);
SAME(tp_kgsl_gpuobj_import, kgsl_gpuobj_import, id);
SAME(tp_kgsl_command_object, kgsl_command_object, gpuaddr);
SAME(tp_kgsl_command_object, kgsl_command_object, size);
SAME(tp_kgsl_command_object, kgsl_command_object, flags);
SAME(tp_kgsl_command_object, kgsl_command_object, id);
SAME(tp_kgsl_command_syncpoint, kgsl_command_syncpoint, priv);
SAME(tp_kgsl_command_syncpoint, kgsl_command_syncpoint, type);
SAME(tp_kgsl_gpu_command, kgsl_gpu_command, flags);
SAME(tp_kgsl_gpu_command, kgsl_gpu_command, cmdlist);
SAME(tp_kgsl_gpu_command, kgsl_gpu_command, numcmds);
SAME(tp_kgsl_gpu_command, kgsl_gpu_command, objlist);
SAME(tp_kgsl_gpu_command, kgsl_gpu_command, synclist);
SAME(tp_kgsl_gpu_command, kgsl_gpu_command, numsyncs);
SAME(tp_kgsl_gpu_command, kgsl_gpu_command, context_id);
SAME(tp_kgsl_gpu_command, kgsl_gpu_command, timestamp);
SAME(tp_kgsl_gpumem_bind_range, kgsl_gpumem_bind_range, target_offset);
SAME(tp_kgsl_gpumem_bind_range, kgsl_gpumem_bind_range, child_id);
SAME(tp_kgsl_gpumem_bind_range, kgsl_gpumem_bind_range, op);
SAME(tp_kgsl_gpumem_bind_ranges, kgsl_gpumem_bind_ranges, id);
SAME(tp_kgsl_gpumem_bind_ranges, kgsl_gpumem_bind_ranges, fence_id);
SAME(tp_kgsl_aux_bind, kgsl_gpu_aux_command_bind, target);
SAME(tp_kgsl_aux_generic, kgsl_gpu_aux_command_generic, type);
SAME(tp_kgsl_gpu_aux_command, kgsl_gpu_aux_command, synclist);
SAME(tp_kgsl_gpu_aux_command, kgsl_gpu_aux_command, context_id);
SAME(tp_kgsl_gpu_aux_command, kgsl_gpu_aux_command, timestamp);
SAME(tp_kgsl_timeline_create, kgsl_timeline_create, id);
SAME(tp_kgsl_timeline_val, kgsl_timeline_val, timeline);
SAME(tp_kgsl_timeline_wait, kgsl_timeline_wait, timelines);
SAME(tp_kgsl_timeline_wait, kgsl_timeline_wait, flags);
SAME(tp_kgsl_timeline_fence_get, kgsl_timeline_fence_get, handle);
SAME(tp_dma_heap_alloc, dma_heap_allocation_data, fd);
SAME(tp_dma_heap_alloc, dma_heap_allocation_data, heap_flags);
SAME(tp_sync_merge, sync_merge_data, fd2);
SAME(tp_sync_merge, sync_merge_data, fence);
SAME(tp_sync_file_info, sync_file_info, num_fences);
SAME(tp_sync_file_info, sync_file_info, sync_fence_info);
