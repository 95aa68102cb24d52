/* Lists of extensions: the driver's and ours as one, and the application's as the driver gets it.
 */
#ifndef TP_FRAMES_ICD_ENUMERATE_H
#define TP_FRAMES_ICD_ENUMERATE_H

#include <stdint.h>

#include "frames/icd/vk.h"

/*
 * An answer to vkEnumerate…ExtensionProperties: theirs without their window system's, and those of
 * ours whose bits are set. count, out: as in Vulkan; VK_INCOMPLETE where it does not fit.
 */
VkResult tp_icd_merge_extensions(const VkExtensionProperties *theirs, uint32_t n_theirs,
    uint64_t offers, uint32_t *count, VkExtensionProperties *out);

/*
 * A list of enabled extensions as the driver gets it: without ours, with those that we need
 * (need_first up to need_end, without the latter) of those that the driver has. *out: the caller's
 * to free. *enabled: the bits of ours that were in it. VK_ERROR_EXTENSION_NOT_PRESENT: one of ours
 * that is not offered, or a hidden one of the driver's.
 */
VkResult tp_icd_translate_extensions(const char *const *names, uint32_t n,
    const VkExtensionProperties *theirs, uint32_t n_theirs, uint64_t offers, unsigned need_first,
    unsigned need_end, const char ***out, uint32_t *n_out, uint64_t *enabled);

#endif
