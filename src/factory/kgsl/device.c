/* Files, contexts, properties, books. */
#include "device_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What KGSL allows a process. */
#define CONTEXTS_MAX 200u
/* The highest GPU address, and where a trap that UCHE takes is said to lie. */
#define VA64_SIZE UINT64_C(0x1000000000000)
#define UCHE_TRAP_BASE UINT64_C(0x1fffffffff000)

bool tp_kgsl_grow(void **array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    size_t wanted = *capacity ? 2 * *capacity : 32;
    void *grown = realloc(*array, wanted * size);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

struct tp_kgsl_device *tp_kgsl_device_create(const struct tp_kgsl_config *config,
                                             const struct tp_kgsl_hooks *hooks)
{
    struct tp_kgsl_device *dev = calloc(1, sizeof *dev);
    if (!dev)
        return NULL;
    dev->config = *config;
    if (!dev->config.memory_bytes || dev->config.memory_bytes > TP_KGSL_MEMORY_MAX)
        dev->config.memory_bytes = TP_KGSL_MEMORY_MAX;
    dev->hooks = *hooks;
    tp_kgsl_memory_init(dev);
    return dev;
}

static void free_context(struct tp_kgsl_device *dev, struct tp_kgsl_context *context)
{
    struct tp_kgsl_context **at = &dev->contexts;
    while (*at != context)
        at = &(*at)->next;
    *at = context->next;
    /* Whoever waits for one of its timestamps goes on: find sees it no more. */
    tp_kgsl_context_abandon(dev, context, -ENOENT);
    tp_gpu_finish(&context->gpu);
    free(context);
    dev->books.contexts--;
}

static void finish(struct tp_kgsl_device *dev)
{
    while (dev->contexts)
        free_context(dev, dev->contexts);
    tp_kgsl_timelines_finish(dev);
    tp_kgsl_memory_finish(dev);
}

void tp_kgsl_device_destroy(struct tp_kgsl_device *dev)
{
    if (!dev)
        return;
    finish(dev);
    free(dev->timelines);
    free(dev->events);
    free(dev);
}

const struct tp_kgsl_config *tp_kgsl_device_config(const struct tp_kgsl_device *dev)
{
    return &dev->config;
}

const struct tp_kgsl_books *tp_kgsl_device_books(const struct tp_kgsl_device *dev)
{
    return &dev->books;
}

uint32_t tp_kgsl_file_open(struct tp_kgsl_device *dev)
{
    dev->books.files++;
    return ++dev->next_file;
}

void tp_kgsl_file_close(struct tp_kgsl_device *dev, uint32_t file, struct tp_kgsl_books *leaks)
{
    struct tp_kgsl_books before = dev->books;
    dev->books.files--;
    for (struct tp_kgsl_context *c = dev->contexts, *next; c; c = next) {
        next = c->next;
        if (c->file == file)
            free_context(dev, c);
    }
    if (!dev->books.files) {
        finish(dev);
        tp_kgsl_memory_init(dev);
    }
    if (leaks) {
        *leaks = before;
        leaks->files = dev->books.files;
        leaks->contexts = before.contexts - dev->books.contexts;
        leaks->buffers = before.buffers - dev->books.buffers;
        leaks->bytes = before.bytes - dev->books.bytes;
        leaks->timelines = before.timelines - dev->books.timelines;
        leaks->jobs = before.jobs - dev->books.jobs;
        leaks->fences = before.fences - dev->books.fences;
    }
}

int tp_kgsl_context_create(struct tp_kgsl_device *dev, uint32_t file, uint32_t flags,
                           struct tp_kgsl_context **out)
{
    const uint32_t needed = TP_KGSL_CONTEXT_PREAMBLE | TP_KGSL_CONTEXT_NO_GMEM_ALLOC;
    if ((flags & needed) != needed)
        return -EINVAL;
    if (dev->books.contexts >= CONTEXTS_MAX)
        return -ENOSPC;
    struct tp_kgsl_context *context = calloc(1, sizeof *context);
    if (!context)
        return -ENOMEM;
    if (tp_gpu_init(&context->gpu, dev->config.chip.generation)) {
        free(context);
        return -ENOMEM;
    }
    context->id = ++dev->next_context;
    context->file = file;
    context->flags = flags | TP_KGSL_CONTEXT_PER_CONTEXT_TS;
    context->next = dev->contexts;
    dev->contexts = context;
    dev->books.contexts++;
    dev->books.contexts_created++;
    *out = context;
    return 0;
}

struct tp_kgsl_context *tp_kgsl_context_find(struct tp_kgsl_device *dev, uint32_t id)
{
    for (struct tp_kgsl_context *c = dev->contexts; c; c = c->next) {
        if (c->id == id)
            return c;
    }
    return NULL;
}

int tp_kgsl_context_destroy(struct tp_kgsl_device *dev, uint32_t id)
{
    struct tp_kgsl_context *context = tp_kgsl_context_find(dev, id);
    if (!context)
        return -EINVAL;
    free_context(dev, context);
    return 0;
}

/* Copies a property of BYTES if that is what the caller has room for. */
static int answer(void *value, uint64_t room, const void *property, size_t bytes)
{
    if (room != bytes)
        return -EINVAL;
    memcpy(value, property, bytes);
    return 0;
}

static int reset_status(struct tp_kgsl_device *dev, void *value, uint64_t bytes)
{
    uint32_t id;
    if (bytes != sizeof id)
        return -EINVAL;
    memcpy(&id, value, sizeof id);
    struct tp_kgsl_context *context = tp_kgsl_context_find(dev, id);
    if (!context)
        return -EINVAL;
    memcpy(value, &context->reset_status, sizeof context->reset_status);
    context->reset_status = TP_KGSL_CTX_STAT_NO_ERROR;
    return 0;
}

static int device_info(const struct tp_kgsl_chip *chip, void *value, uint64_t bytes)
{
    struct tp_kgsl_devinfo info = {
        .device_id = 1,
        .chip_id = chip->chip_id,
        .mmu_enabled = 1,
        .gmem_gpubaseaddr = chip->gmem_base,
        .gpu_id = (uint32_t)(chip->chip_id >> 24) * 100 + (chip->chip_id >> 16 & 0xff) * 10 +
                  (chip->chip_id >> 8 & 0xff),
        .gmem_sizebytes = chip->gmem_bytes,
    };
    return answer(value, bytes, &info, sizeof info);
}

int tp_kgsl_get_property(struct tp_kgsl_device *dev, uint32_t type, void *value, uint64_t bytes)
{
    const struct tp_kgsl_chip *chip = &dev->config.chip;
    struct tp_kgsl_version version = {3, 14, 3, 1};
    struct tp_kgsl_gpu_model model = {{0}};
    uint64_t wide = 0;
    uint32_t word = 0;
    switch (type) {
    case TP_KGSL_PROP_DEVICE_INFO:
        return device_info(chip, value, bytes);
    case TP_KGSL_PROP_GPU_RESET_STAT:
        return reset_status(dev, value, bytes);
    case TP_KGSL_PROP_VERSION:
        return answer(value, bytes, &version, sizeof version);
    case TP_KGSL_PROP_GPU_MODEL:
        strncpy(model.gpu_model, chip->model, sizeof model.gpu_model - 1);
        return answer(value, bytes, &model, sizeof model);
    case TP_KGSL_PROP_UCHE_TRAP_BASE:
        wide = UCHE_TRAP_BASE;
        return dev->config.old_kernel ? -EINVAL : answer(value, bytes, &wide, sizeof wide);
    case TP_KGSL_PROP_GPU_VA64_SIZE:
        wide = VA64_SIZE;
        return dev->config.old_kernel ? -EINVAL : answer(value, bytes, &wide, sizeof wide);
    case TP_KGSL_PROP_UCHE_GMEM_VADDR:
        return answer(value, bytes, &chip->gmem_base, sizeof chip->gmem_base);
    case TP_KGSL_PROP_HIGHEST_BANK_BIT:
        word = chip->highest_bank_bit;
        break;
    case TP_KGSL_PROP_UBWC_MODE:
        /* An old kernel has no number for what came after 4.0. */
        word = dev->config.old_kernel && chip->ubwc_mode > 4 ? 4 : chip->ubwc_mode;
        break;
    case TP_KGSL_PROP_IS_RAYTRACING_ENABLED:
        word = chip->ray_tracing;
        break;
    case TP_KGSL_PROP_DEVICE_BITNESS:
        word = 48;
        break;
    case TP_KGSL_PROP_MIN_ACCESS_LENGTH:
        word = chip->generation == 6 && chip->ubwc_mode < 4 ? 32 : 64;
        break;
    case TP_KGSL_PROP_SPEED_BIN:
        break;
    default:
        return -EINVAL;
    }
    return answer(value, bytes, &word, sizeof word);
}

static int set_constraint(struct tp_kgsl_device *dev, const void *value, uint64_t bytes)
{
    struct tp_kgsl_constraint c;
    uint32_t level = 0;
    if (bytes != sizeof c)
        return -EINVAL;
    memcpy(&c, value, sizeof c);
    struct tp_kgsl_context *context = tp_kgsl_context_find(dev, c.context_id);
    if (!context || (c.type != TP_KGSL_CONSTRAINT_NONE && c.type != TP_KGSL_CONSTRAINT_PWRLEVEL))
        return -EINVAL;
    if (c.type == TP_KGSL_CONSTRAINT_PWRLEVEL) {
        if (!c.data || c.size != sizeof level)
            return -EINVAL;
        memcpy(&level, c.data, sizeof level);
        if (level > TP_KGSL_CONSTRAINT_PWR_MAX)
            return -EINVAL;
        context->power_max += level == TP_KGSL_CONSTRAINT_PWR_MAX;
        dev->books.constraints++;
    }
    context->constraint_type = c.type;
    context->constraint_level = level;
    return 0;
}

int tp_kgsl_set_property(struct tp_kgsl_device *dev, uint32_t type, const void *value,
                         uint64_t bytes)
{
    uint32_t on;
    switch (type) {
    case TP_KGSL_PROP_PWR_CONSTRAINT:
        return set_constraint(dev, value, bytes);
    case TP_KGSL_PROP_PWRCTRL:
        if (bytes != sizeof on)
            return -EINVAL;
        memcpy(&on, value, sizeof on);
        dev->power_control_off = !on;
        return 0;
    default:
        return -EINVAL;
    }
}
