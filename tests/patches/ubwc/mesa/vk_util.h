/* A stand-in for the runtime's walk along a chain of structures. */
#ifndef STAND_IN_VK_UTIL_H
#define STAND_IN_VK_UTIL_H

#include <stddef.h>
#include <vulkan/vulkan_core.h>

static inline void *stand_in_find(const void *chain, VkStructureType type)
{
    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        if (s->sType == type)
            return (void *)s;
    }
    return NULL;
}

#define vk_find_struct(chain, name) stand_in_find(chain, VK_STRUCTURE_TYPE_##name)
#define vk_find_struct_const(chain, name) ((const void *)stand_in_find(chain, VK_STRUCTURE_TYPE_##name))

#endif
