/* Host memory of objects that are ours: by the application's callbacks where it brings some. */
#ifndef TP_FRAMES_ICD_MEMORY_H
#define TP_FRAMES_ICD_MEMORY_H

#include <stddef.h>

#include "frames/icd/vk.h"

/* Zeroed, for an object; NULL: there is none. a: NULL for the C library's. */
void *tp_icd_memory_get(const VkAllocationCallbacks *a, size_t bytes);
/* With callbacks compatible with those of its get. NULL is nothing. */
void tp_icd_memory_put(const VkAllocationCallbacks *a, void *memory);

#endif
