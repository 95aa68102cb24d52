/*
 * The real driver: chosen and loaded once, when the loader first speaks to us.
 *
 * TURNPIKE_DRIVER names it: a library, an Adrenotools archive (.zip) that holds one, or the
 * manifest of another ICD. Without it: the manifests of VK_DRIVER_FILES (VK_ICD_FILENAMES,
 * VK_ADD_DRIVER_FILES), then those in the loader's folders, ourselves left out; of several the
 * first with the best kind of device.
 */
#ifndef TP_FRAMES_ICD_DRIVER_H
#define TP_FRAMES_ICD_DRIVER_H

#include "frames/icd/vk.h"

/* As its instances show it, before there is one. */
struct tp_icd_driver {
    void *library;
    void *hmi; /* Android's kind: what its open gave */
    PFN_vkGetInstanceProcAddr get;
    PFN_vkGetInstanceProcAddr get_physical; /* vk_icdGetPhysicalDeviceProcAddr; NULL: it has none */
    PFN_vkCreateInstance create_instance;
    PFN_vkEnumerateInstanceExtensionProperties enumerate_extensions;
    PFN_vkEnumerateInstanceVersion enumerate_version; /* NULL: Vulkan 1.0 */
};

/* NULL: there is none; why has been logged. */
const struct tp_icd_driver *tp_icd_driver_get(void);

#endif
