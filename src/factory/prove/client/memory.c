/*
 * Device memory.
 */
#include <string.h>

#include "client.h"

#define BYTES (256u * 1024u)

static void fill(uint8_t *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 7 + seed + (i >> 8));
}

static bool is_filled(const uint8_t *bytes, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != (uint8_t)(i * 7 + seed + (i >> 8)))
            return false;
    }
    return true;
}

/* What is written through one mapping is there in the next. */
static void map_twice(struct tp_run *r, VkDeviceMemory memory, uint32_t type)
{
    void *map = NULL;
    VkMappedMemoryRange range = {
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
        .memory = memory,
        .size = VK_WHOLE_SIZE,
    };
    TP_CALL(r, MapMemory, r->device, memory, 0, VK_WHOLE_SIZE, 0, &map);
    if ((uintptr_t)map % r->client->caps.limits.minMemoryMapAlignment)
        tp_failed(r, "vkMapMemory: %p of type %u is not aligned to minMemoryMapAlignment", map,
                  type);
    fill(map, BYTES, type);
    TP_CALL(r, FlushMappedMemoryRanges, r->device, 1, &range);
    r->vk->UnmapMemory(r->device, memory);
    TP_CALL(r, MapMemory, r->device, memory, 0, VK_WHOLE_SIZE, 0, &map);
    TP_CALL(r, InvalidateMappedMemoryRanges, r->device, 1, &range);
    if (!is_filled(map, BYTES, type))
        tp_failed(r, "memory of type %u does not hold what was written to it", type);
    r->vk->UnmapMemory(r->device, memory);
}

static void check_memory_types(struct tp_run *r)
{
    const VkPhysicalDeviceMemoryProperties *m = &r->client->caps.memory;
    unsigned mapped = 0;
    for (uint32_t i = 0; i < m->memoryTypeCount; i++) {
        VkMemoryPropertyFlags flags = m->memoryTypes[i].propertyFlags;
        if (flags & (VK_MEMORY_PROPERTY_PROTECTED_BIT |
                     VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD))
            continue;
        VkMemoryRequirements needs = {.size = BYTES, .memoryTypeBits = 1u << i};
        VkDeviceMemory memory = tp_make_memory(r, &needs, 0, NULL);
        if (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) {
            map_twice(r, memory, i);
            mapped++;
        }
        TP_DESTROY(r, DeviceMemory, memory);
    }
    if (!mapped)
        tp_failed(r, "no memory type is visible to the host");
    tp_note(r, "%u types, %u mapped", m->memoryTypeCount, mapped);
}

/* Many allocations at once, of odd sizes, freed in another order. */
static void check_memory_many(struct tp_run *r)
{
    enum { COUNT = 200 };
    VkDeviceMemory *all = tp_heap(r, COUNT, sizeof *all);
    for (uint32_t i = 0; i < COUNT; i++) {
        VkMemoryRequirements needs = {.size = 1 + i * 977, .memoryTypeBits = UINT32_MAX};
        all[i] = tp_make_memory(
            r, &needs,
            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, NULL);
        uint8_t *map;
        TP_CALL(r, MapMemory, r->device, all[i], 0, VK_WHOLE_SIZE, 0, (void **)&map);
        memset(map, (int)i, needs.size);
    }
    for (uint32_t i = 0; i < COUNT; i += 2)
        TP_DESTROY(r, DeviceMemory, all[i]);
    for (uint32_t i = 1; i < COUNT; i += 2) {
        uint8_t *map;
        r->vk->UnmapMemory(r->device, all[i]);
        TP_CALL(r, MapMemory, r->device, all[i], 0, VK_WHOLE_SIZE, 0, (void **)&map);
        if (map[0] != (uint8_t)i || map[i * 977] != (uint8_t)i)
            tp_failed(r, "allocation %u does not hold what was written to it", i);
    }
    tp_note(r, "%d", COUNT);
}

/* A part of an allocation, mapped by its offset. */
static void check_memory_offset(struct tp_run *r)
{
    VkMemoryRequirements needs = {.size = BYTES, .memoryTypeBits = UINT32_MAX};
    VkDeviceMemory memory = tp_make_memory(
        r, &needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        NULL);
    uint8_t *map, *part;
    TP_CALL(r, MapMemory, r->device, memory, 0, VK_WHOLE_SIZE, 0, (void **)&map);
    fill(map, BYTES, 3);
    r->vk->UnmapMemory(r->device, memory);
    TP_CALL(r, MapMemory, r->device, memory, 3 * 4096 + 256, 4096, 0, (void **)&part);
    for (size_t i = 0; i < 4096; i++) {
        size_t at = 3 * 4096 + 256 + i;
        if (part[i] != (uint8_t)(at * 7 + 3 + (at >> 8)))
            tp_failed(r, "byte %zu of a mapping at an offset is not that of the allocation", i);
    }
}

const struct tp_check tp_memory_checks[] = {
    {"memory_types", "each type: allocate, map, write, flush, map again, free",
     check_memory_types},
    {"memory_many", "many allocations, freed in another order", check_memory_many},
    {"memory_offset", "a mapping at an offset", check_memory_offset},
    {0},
};
