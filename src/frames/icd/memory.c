#include "frames/icd/memory.h"

#include <stdlib.h>
#include <string.h>

void *tp_icd_memory_get(const VkAllocationCallbacks *a, size_t bytes)
{
    if (!a)
        return calloc(1, bytes);
    void *memory = a->pfnAllocation(
        a->pUserData, bytes, _Alignof(max_align_t), VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
    return memory ? memset(memory, 0, bytes) : NULL;
}

void tp_icd_memory_put(const VkAllocationCallbacks *a, void *memory)
{
    if (!a)
        free(memory);
    else if (memory)
        a->pfnFree(a->pUserData, memory);
}
