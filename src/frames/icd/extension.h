/* The extensions that are ours, those of the driver's that we use, and those that we hide. */
#ifndef TP_FRAMES_ICD_EXTENSION_H
#define TP_FRAMES_ICD_EXTENSION_H

#include <stdbool.h>
#include <stdint.h>

#include "frames/icd/vk.h"

#define TP_BIT(n) (UINT64_C(1) << (n))

/* Ours: the application sees them whether the driver has them or not, and the driver never sees
 * them enabled. */
enum tp_icd_extension {
    /* of instances */
    TP_EXT_SURFACE,
    TP_EXT_SURFACE_CAPABILITIES2,
    TP_EXT_SURFACE_MAINTENANCE1,
    TP_EXT_SURFACE_PROTECTED,
    TP_EXT_COLORSPACE,
    TP_EXT_HEADLESS,
    TP_EXT_WAYLAND,
    TP_EXT_XCB,
    TP_EXT_XLIB,
    TP_EXT_DISPLAY,
    TP_EXT_DISPLAY2,
    TP_EXT_DIRECT_MODE,
    TP_EXT_ACQUIRE_DRM,
    TP_EXT_SURFACE_COUNTER,
    TP_EXT_N_INSTANCE,
    /* of devices */
    TP_EXT_SWAPCHAIN = TP_EXT_N_INSTANCE,
    TP_EXT_MUTABLE_FORMAT,
    TP_EXT_SWAPCHAIN_MAINTENANCE1,
    TP_EXT_PRESENT_ID,
    TP_EXT_PRESENT_WAIT,
    TP_EXT_INCREMENTAL_PRESENT,
    TP_EXT_DISPLAY_TIMING,
    TP_EXT_HDR_METADATA,
    TP_EXT_LATEST_READY,
    TP_EXT_DISPLAY_CONTROL,
    /* Where the driver lacks them: */
    TP_EXT_DRM,    /* VK_EXT_physical_device_drm */
    TP_EXT_DMABUF, /* with the next one (dmabuf.h) */
    TP_EXT_MODIFIER,
    TP_EXT_FOREIGN,
    TP_EXT_GAMESCOPE, /* no extension: its mistake is put right (gamescope.c) */
    TP_EXT_N,
};

/* The driver's, switched on for ourselves where it has them. */
enum tp_icd_need {
    TP_NEED_MEMORY_CAPABILITIES, /* of instances, up to here */
    TP_NEED_SEMAPHORE_CAPABILITIES,
    TP_NEED_FENCE_CAPABILITIES,
    TP_NEED_PROPERTIES2,
    TP_NEED_DEVICE_GROUPS,
    TP_NEED_N_INSTANCE,
    TP_NEED_MEMORY = TP_NEED_N_INSTANCE,
    TP_NEED_MEMORY_FD,
    TP_NEED_DMABUF,
    TP_NEED_MEMORY_HOST,
    TP_NEED_MODIFIER,
    TP_NEED_FOREIGN,
    TP_NEED_SEMAPHORE,
    TP_NEED_SEMAPHORE_FD,
    TP_NEED_FENCE,
    TP_NEED_FENCE_FD,
    TP_NEED_BIND_MEMORY2,
    TP_NEED_MEMORY_REQUIREMENTS2,
    TP_NEED_DEDICATED,
    TP_NEED_FORMAT_LIST,
    TP_NEED_SAMPLER_YCBCR,
    TP_NEED_MAINTENANCE1,
    TP_NEED_N,
};

struct tp_icd_extension_info {
    const char *name;
    uint32_t version;
    enum tp_icd_extension bit; /* two names may have one */
};

/* Ended by a NULL name. */
extern const struct tp_icd_extension_info tp_icd_extensions[];

/* The bit of one of ours; -1: it is not. */
int tp_icd_extension_find(const char *name);
/* The name of one of the driver's that we use. */
const char *tp_icd_need_name(enum tp_icd_need need);
int tp_icd_need_find(const char *name);
/* Is it the driver's own window system, which nobody is to see? Ours are among them. */
bool tp_icd_extension_hidden(const char *name);

/* Instance extensions that this build and this machine have. */
uint64_t tp_icd_instance_offers(void);

#endif
