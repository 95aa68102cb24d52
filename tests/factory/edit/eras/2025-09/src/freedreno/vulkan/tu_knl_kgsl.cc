/* Fixture: queues by number, commands and binds in the two branches of one function. */
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
kgsl_submitqueue_new(struct tu_device *dev,
                     int priority,
                     uint32_t *queue_id)
{
   struct kgsl_drawctxt_create req = {
      .flags = KGSL_CONTEXT_SAVE_GMEM |
              KGSL_CONTEXT_NO_GMEM_ALLOC |
              KGSL_CONTEXT_PREAMBLE,
   };

   int ret = safe_ioctl(dev->physical_device->local_fd, IOCTL_KGSL_DRAWCTXT_CREATE, &req);
   if (ret)
      return ret;

   *queue_id = req.drawctxt_id;

   return 0;
}

static void
kgsl_submitqueue_close(struct tu_device *dev, uint32_t queue_id)
{
   struct kgsl_drawctxt_destroy req = {
      .drawctxt_id = queue_id,
   };

   safe_ioctl(dev->physical_device->local_fd, IOCTL_KGSL_DRAWCTXT_DESTROY, &req);
}

static VkResult
kgsl_queue_submit(struct tu_queue *queue, void *_submit)
{
   struct tu_kgsl_queue_submit *submit =
      (struct tu_kgsl_queue_submit *)_submit;
   uint32_t timestamp = 0;
   int ret;

   if (submit->bind_cmds.size == 0) {
      struct kgsl_gpu_command req = {
         .flags = KGSL_CMDBATCH_SUBMIT_IB_LIST,
         .cmdlist = (uintptr_t) submit->commands.data,
         .cmdsize = sizeof(struct kgsl_command_object),
         .context_id = queue->msm_queue_id,
      };

      ret = safe_ioctl(queue->device->physical_device->local_fd,
                       IOCTL_KGSL_GPU_COMMAND, &req);

      timestamp = req.timestamp;
   } else {
      struct kgsl_gpu_aux_command req = {
         .flags = KGSL_GPU_AUX_COMMAND_BIND,
         .context_id = queue->msm_queue_id,
      };

      ret = safe_ioctl(queue->device->physical_device->local_fd,
                       IOCTL_KGSL_GPU_AUX_COMMAND, &req);

      timestamp = req.timestamp;
   }

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
