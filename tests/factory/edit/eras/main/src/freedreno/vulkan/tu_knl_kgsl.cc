/* Fixture: queues by device and queue, a timeline made after the number, a submission in two. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define __user
#include "msm_kgsl.h"

#include "util/libsync.h"
#include "util/os_file.h"
#include "util/u_debug.h"

#include "tu_device.h"
#include "tu_queue.h"

static int
safe_ioctl(int fd, unsigned long request, void *arg)
{
   int ret;

   do {
      ret = ioctl(fd, request, arg);
   } while (ret == -1 && (errno == EINTR || errno == EAGAIN));

   return ret;
}

static int
kgsl_submitqueue_new(struct tu_device *dev, struct tu_queue *queue)
{
   struct kgsl_drawctxt_create req = {
      .flags = KGSL_CONTEXT_SAVE_GMEM |
              KGSL_CONTEXT_NO_GMEM_ALLOC |
              KGSL_CONTEXT_PREAMBLE,
   };

   int ret = safe_ioctl(dev->physical_device->local_fd, IOCTL_KGSL_DRAWCTXT_CREATE, &req);
   if (ret)
      return ret;

   queue->msm_queue_id = req.drawctxt_id;

   struct kgsl_timeline_create timeline = {
      .seqno = 0,
   };
   ret = safe_ioctl(dev->physical_device->local_fd, IOCTL_KGSL_TIMELINE_CREATE, &timeline);
   if (!ret)
      queue->kgsl_timeline_id = timeline.id;

   return 0;
}

static void
kgsl_submitqueue_close(struct tu_device *dev, struct tu_queue *queue)
{
   struct kgsl_drawctxt_destroy req = {
      .drawctxt_id = queue->msm_queue_id,
   };

   safe_ioctl(dev->physical_device->local_fd, IOCTL_KGSL_DRAWCTXT_DESTROY, &req);
}

static int
kgsl_submit_commands(struct tu_queue *queue, struct tu_kgsl_queue_submit *submit,
                     struct kgsl_command_syncpoint *sync, bool has_sync, uint32_t *timestamp)
{
   struct kgsl_gpu_command req = {
      .flags = KGSL_CMDBATCH_SUBMIT_IB_LIST,
      .cmdlist = (uintptr_t) submit->commands.data,
      .cmdsize = sizeof(struct kgsl_command_object),
      .synclist = (uintptr_t) sync,
      .syncsize = sizeof(*sync),
      .numsyncs = has_sync ? 1u : 0u,
      .context_id = queue->msm_queue_id,
   };

   int ret = safe_ioctl(queue->device->physical_device->local_fd,
                        IOCTL_KGSL_GPU_COMMAND, &req);

   *timestamp = req.timestamp;
   return ret;
}

static int
kgsl_submit_binds(struct tu_queue *queue, struct kgsl_gpu_aux_command_generic *aux,
                  uint32_t *timestamp)
{
   struct kgsl_gpu_aux_command req = {
      .flags = KGSL_GPU_AUX_COMMAND_BIND,
      .cmdlist = (uintptr_t) aux,
      .numcmds = 1,
      .context_id = queue->msm_queue_id,
   };

   int ret = safe_ioctl(queue->device->physical_device->local_fd,
                        IOCTL_KGSL_GPU_AUX_COMMAND, &req);

   *timestamp = req.timestamp;
   return ret;
}

static VkResult
kgsl_queue_submit(struct tu_queue *queue, void *_submit)
{
   struct tu_kgsl_queue_submit *submit =
      (struct tu_kgsl_queue_submit *)_submit;
   struct kgsl_command_syncpoint sync = { 0 };
   uint32_t timestamp = 0;
   int ret = submit->bind_cmds.size == 0 ?
      kgsl_submit_commands(queue, submit, &sync, false, &timestamp) :
      kgsl_submit_binds(queue, submit->aux, &timestamp);

   if (ret)
      return vk_device_set_lost(&queue->device->vk, "submit failed: %s\n", strerror(errno));

   p_atomic_set(&queue->fence, timestamp);
   return VK_SUCCESS;
}

VkResult
tu_knl_kgsl_load(struct tu_instance *instance, int fd)
{
   struct tu_physical_device *device = (struct tu_physical_device *)
      vk_zalloc(&instance->vk.alloc, sizeof(*device), 8,
                VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE);
   if (!device) {
      close(fd);
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   }

   device->instance = instance;
   device->master_fd = -1;
   device->local_fd = fd;

   return tu_physical_device_init(device, instance);
}

static VkResult
bo_init_new_dmaheap(struct tu_device *dev, struct tu_bo **out_bo, uint64_t size)
{
   struct dma_heap_allocation_data alloc = {
      .len = size,
   };

   if (safe_ioctl(dev->physical_device->kgsl_dma_fd, DMA_HEAP_IOCTL_ALLOC, &alloc))
      return VK_ERROR_OUT_OF_DEVICE_MEMORY;

   return tu_bo_init_dmabuf(dev, out_bo, -1, TU_BO_ALLOC_NO_FLAGS, alloc.fd);
}

static VkResult
bo_init_new_ion(struct tu_device *dev, struct tu_bo **out_bo, uint64_t size)
{
   struct ion_new_allocation_data alloc = {
      .len = size,
      .fd = -1,
   };

   if (safe_ioctl(dev->physical_device->kgsl_dma_fd, ION_IOC_NEW_ALLOC, &alloc))
      return VK_ERROR_OUT_OF_DEVICE_MEMORY;

   return tu_bo_init_dmabuf(dev, out_bo, -1, TU_BO_ALLOC_NO_FLAGS, alloc.fd);
}

static VkResult
bo_init_new_ion_legacy(struct tu_device *dev, struct tu_bo **out_bo, int handle)
{
   struct ion_fd_data share = {
      .handle = handle,
      .fd = -1,
   };

   if (safe_ioctl(dev->physical_device->kgsl_dma_fd, ION_IOC_SHARE, &share))
      return VK_ERROR_OUT_OF_DEVICE_MEMORY;

   return tu_bo_init_dmabuf(dev, out_bo, -1, TU_BO_ALLOC_NO_FLAGS, share.fd);
}

static VkResult
kgsl_bo_init_dmabuf(struct tu_device *dev, struct tu_bo **out_bo, int fd)
{
   struct kgsl_gpuobj_import req = {
      .type = KGSL_USER_MEM_TYPE_DMABUF,
   };
   int ret;

   ret = safe_ioctl(dev->physical_device->local_fd,
                    IOCTL_KGSL_GPUOBJ_IMPORT, &req);
   if (ret)
      return VK_ERROR_OUT_OF_DEVICE_MEMORY;

   struct kgsl_gpuobj_info info_req = {
      .id = req.id,
   };

   ret = safe_ioctl(dev->physical_device->local_fd,
                    IOCTL_KGSL_GPUOBJ_INFO, &info_req);
   if (ret)
      return VK_ERROR_OUT_OF_DEVICE_MEMORY;

   *out_bo = tu_device_lookup_bo(dev, req.id);
   return VK_SUCCESS;
}

static VkResult
wait_timestamp_safe(int fd, unsigned timestamp, uint64_t abs_timeout_ns)
{
   struct kgsl_device_waittimestamp wait = { timestamp, get_relative_ms(abs_timeout_ns) };

   while (ioctl(fd, IOCTL_KGSL_DEVICE_WAITTIMESTAMP, &wait) == -1) {
      if (errno == EINTR || errno == EAGAIN) {
         int timeout_ms = get_relative_ms(abs_timeout_ns);

         /* so much of it is left */
         if (timeout_ms == 0)
            return VK_TIMEOUT;

         wait.timeout = timeout_ms;
      } else {
         return VK_TIMEOUT;
      }
   }

   return VK_SUCCESS;
}

static VkResult
kgsl_syncobj_wait_any(struct tu_device *device, struct kgsl_syncobj **syncobjs, uint32_t count,
                      struct u_vector poll_fds, uint32_t num_fds, bool convert_ts_to_fd)
{
   VkResult result = VK_TIMEOUT;
   uint32_t lowest_timestamp = 0;

   for (uint32_t i = 0; i < count; i++) {
      struct kgsl_syncobj *sync = syncobjs[i];
      if (i == 0 || timestamp_cmp(sync->timestamp, lowest_timestamp))
         lowest_timestamp = sync->timestamp;
   }

   if (u_vector_length(&poll_fds) == 0) {
      result = wait_timestamp_safe(device->fd, lowest_timestamp, UINT64_MAX);
   } else {
      int ret = poll((struct pollfd *) poll_fds.data, u_vector_length(&poll_fds), -1);

      if (ret != 0) {
         assert(errno == ETIME);
         result = VK_TIMEOUT;
      } else {
         result = VK_SUCCESS;
      }
   }

   return result;
}
