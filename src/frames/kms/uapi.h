/* The kernel's DRM interface, and those parts of it that libdrm 2.4.114's headers lack (Linux 6.12,
 * include/uapi/drm/). */
#ifndef TP_FRAMES_KMS_UAPI_H
#define TP_FRAMES_KMS_UAPI_H

#include <drm.h>
#include <drm_fourcc.h>
#include <drm_mode.h>

#ifndef DRM_CAP_ATOMIC_ASYNC_PAGE_FLIP
#define DRM_CAP_ATOMIC_ASYNC_PAGE_FLIP 0x15
#endif
#ifndef DRM_CLIENT_CAP_CURSOR_PLANE_HOTSPOT
#define DRM_CLIENT_CAP_CURSOR_PLANE_HOTSPOT 6
#endif

#ifndef DRM_IOCTL_SYNCOBJ_EVENTFD
struct drm_syncobj_eventfd {
    __u32 handle;
    __u32 flags;
    __u64 point;
    __s32 fd;
    __u32 pad;
};
#define DRM_IOCTL_SYNCOBJ_EVENTFD DRM_IOWR(0xCF, struct drm_syncobj_eventfd)
#endif

#ifndef DRM_IOCTL_MODE_CLOSEFB
struct drm_mode_closefb {
    __u32 fb_id;
    __u32 pad;
};
#define DRM_IOCTL_MODE_CLOSEFB DRM_IOWR(0xD0, struct drm_mode_closefb)
#endif

#ifndef DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE
#define DRM_SYNCOBJ_WAIT_FLAGS_WAIT_DEADLINE (1 << 3)
/* The waits as they are since Linux 6.6, eight bytes longer; the request's number says which one it
 * is. */
struct tp_drm_syncobj_wait_deadline {
    struct drm_syncobj_wait wait;
    __u64 deadline_nsec;
};
struct tp_drm_syncobj_timeline_wait_deadline {
    struct drm_syncobj_timeline_wait wait;
    __u64 deadline_nsec;
};
#endif

#endif
