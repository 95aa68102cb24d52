/* The device's inside, for device.c, memory.c and jobs.c. */
#ifndef TP_FACTORY_KGSL_DEVICE_INTERNAL_H
#define TP_FACTORY_KGSL_DEVICE_INTERNAL_H

#include "device.h"
#include "ranges.h"

struct timeline {
    uint32_t id;
    uint64_t value;
};

/* What happens when a timestamp or a timeline has come that far. */
struct event {
    bool of_timeline;
    uint32_t id; /* context or timeline */
    uint64_t value;
    int fd;          /* to signal, or -1 */
    uint32_t buffer; /* to free, or 0 */
};

struct tp_kgsl_device {
    struct tp_kgsl_config config;
    struct tp_kgsl_hooks hooks;
    struct tp_kgsl_books books;
    uint32_t next_file, next_context, next_timeline;
    struct tp_kgsl_context *contexts;
    struct timeline *timelines;
    size_t timeline_capacity;
    struct event *events;
    size_t event_count, event_capacity;
    struct tp_ranges pages, others, low, high; /* page indexes; GPU addresses below 4 GiB, above */
    struct tp_kgsl_buffer **by_id, **by_address;
    size_t by_id_count, by_id_capacity, by_address_count, by_address_capacity;
    bool power_control_off; /* KGSL_PROP_PWRCTRL */
};

/* Makes room for one more element of SIZE bytes. false: out of memory. */
bool tp_kgsl_grow(void **array, size_t count, size_t *capacity, size_t size);

/* Frees every buffer and what belongs to memory. */
void tp_kgsl_memory_finish(struct tp_kgsl_device *dev);
void tp_kgsl_memory_init(struct tp_kgsl_device *dev);

/* Drops the context's jobs and lets its timestamps count as retired. */
void tp_kgsl_context_abandon(struct tp_kgsl_device *dev, struct tp_kgsl_context *context,
                             int error);
void tp_kgsl_timelines_finish(struct tp_kgsl_device *dev);

/* a is b or later; timestamps wrap. */
static inline bool tp_kgsl_reached(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) >= 0;
}

#endif
