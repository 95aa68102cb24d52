/* Buffers: their ids, GPU addresses, bindings; from an address to a buffer. */
#include "device_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGES(bytes) ((bytes) / TP_KGSL_PAGE)
#define ARENA_PAGES PAGES(TP_KGSL_ARENA_BYTES)
/* GPU addresses: some below 4 GiB for those that ask for it; the rest where no process maps
 * anything, so that they cannot meet USE_CPU_MAP's addresses. */
#define LOW_FIRST UINT64_C(0x10000000)
#define LOW_LIMIT UINT64_C(0xf0000000)
#define HIGH_FIRST UINT64_C(0x500000000)
#define HIGH_LIMIT UINT64_C(0x4000000000)

void tp_kgsl_memory_init(struct tp_kgsl_device *dev)
{
    tp_ranges_init(&dev->pages, 1, ARENA_PAGES - TP_KGSL_OTHER_PAGES);
    tp_ranges_init(&dev->others, ARENA_PAGES - TP_KGSL_OTHER_PAGES, ARENA_PAGES);
    tp_ranges_init(&dev->low, LOW_FIRST, LOW_LIMIT);
    tp_ranges_init(&dev->high, HIGH_FIRST, HIGH_LIMIT);
}

static bool in_arena(const struct tp_kgsl_buffer *buffer)
{
    return buffer->kind == TP_KGSL_PAGES;
}

/* Where KEY is, or would be, among buffers sorted by id or address. */
static size_t position(struct tp_kgsl_buffer **sorted, size_t count, uint64_t key, bool by_address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        uint64_t at = by_address ? sorted[middle]->gpuaddr : sorted[middle]->id;
        if (at < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int insert(struct tp_kgsl_buffer ***sorted, size_t *count, size_t *capacity,
                  struct tp_kgsl_buffer *buffer, bool by_address)
{
    if (!tp_kgsl_grow((void **)sorted, *count, capacity, sizeof **sorted))
        return -ENOMEM;
    size_t i = position(*sorted, *count, by_address ? buffer->gpuaddr : buffer->id, by_address);
    memmove(*sorted + i + 1, *sorted + i, (*count - i) * sizeof **sorted);
    (*sorted)[i] = buffer;
    (*count)++;
    return 0;
}

static void withdraw(struct tp_kgsl_buffer **sorted, size_t *count, struct tp_kgsl_buffer *buffer,
                     bool by_address)
{
    size_t i = position(sorted, *count, by_address ? buffer->gpuaddr : buffer->id, by_address);
    if (i == *count || sorted[i] != buffer)
        return;
    memmove(sorted + i, sorted + i + 1, (*count - i - 1) * sizeof *sorted);
    (*count)--;
}

static int set_address(struct tp_kgsl_device *dev, struct tp_kgsl_buffer *buffer, uint64_t address)
{
    if (buffer->gpuaddr)
        withdraw(dev->by_address, &dev->by_address_count, buffer, true);
    buffer->gpuaddr = address;
    if (!address)
        return 0;
    int r = insert(&dev->by_address, &dev->by_address_count, &dev->by_address_capacity, buffer,
                   true);
    if (r)
        buffer->gpuaddr = 0;
    return r;
}

static struct tp_ranges *addresses(struct tp_kgsl_device *dev, uint64_t flags)
{
    return flags & TP_KGSL_MEMFLAGS_FORCE_32BIT ? &dev->low : &dev->high;
}

static void give_up(struct tp_kgsl_device *dev, struct tp_kgsl_buffer *buffer)
{
    if (--buffer->references)
        return;
    dev->hooks.release(dev->hooks.user, buffer);
    if (buffer->reserved)
        tp_ranges_give(addresses(dev, buffer->flags), buffer->reserved);
    tp_ranges_give(in_arena(buffer) ? &dev->pages : &dev->others, buffer->id);
    if (in_arena(buffer))
        dev->books.bytes -= buffer->size;
    for (size_t i = 0; i < buffer->binding_count; i++)
        give_up(dev, buffer->bindings[i].child);
    free(buffer->bindings);
    free(buffer);
}

static void forget_id(struct tp_kgsl_device *dev, struct tp_kgsl_buffer *buffer)
{
    withdraw(dev->by_id, &dev->by_id_count, buffer, false);
    set_address(dev, buffer, 0);
    dev->books.buffers--;
    give_up(dev, buffer);
}

/* A buffer of KIND with an id and, but for USE_CPU_MAP, an address. */
static int create(struct tp_kgsl_device *dev, enum tp_kgsl_kind kind, uint64_t size, uint64_t flags,
                  struct tp_kgsl_buffer **out)
{
    struct tp_kgsl_buffer *buffer = calloc(1, sizeof *buffer);
    uint64_t id = 0, address = 0;
    uint32_t align = (uint32_t)(flags & TP_KGSL_MEMALIGN_MASK) >> TP_KGSL_MEMALIGN_SHIFT;
    if (!buffer)
        return -ENOMEM;
    *buffer = (struct tp_kgsl_buffer){.kind = kind, .flags = flags, .size = size, .references = 1};
    struct tp_ranges *ids = in_arena(buffer) ? &dev->pages : &dev->others;
    if (tp_ranges_take(ids, in_arena(buffer) ? PAGES(size) : 1, 1, &id))
        goto no_id;
    buffer->id = (uint32_t)id;
    if (!(flags & TP_KGSL_MEMFLAGS_USE_CPU_MAP)) {
        if (align < 12)
            align = 12;
        /* A page stays free behind each, so that running over its end shows. */
        if (align > 30 || tp_ranges_take(addresses(dev, flags), size + TP_KGSL_PAGE,
                                         UINT64_C(1) << align, &address))
            goto no_address;
        buffer->reserved = address;
    }
    if (set_address(dev, buffer, address))
        goto no_index;
    if (insert(&dev->by_id, &dev->by_id_count, &dev->by_id_capacity, buffer, false))
        goto no_index;
    dev->books.buffers++;
    if (dev->books.buffers > dev->books.buffers_peak)
        dev->books.buffers_peak = dev->books.buffers;
    *out = buffer;
    return 0;
no_index:
    set_address(dev, buffer, 0);
    if (buffer->reserved)
        tp_ranges_give(addresses(dev, flags), buffer->reserved);
no_address:
    tp_ranges_give(ids, id);
no_id:
    free(buffer);
    return -ENOMEM;
}

int tp_kgsl_alloc(struct tp_kgsl_device *dev, uint64_t size, uint64_t flags,
                  struct tp_kgsl_buffer **out)
{
    bool is_virtual = flags & TP_KGSL_MEMFLAGS_VBO;
    if (!size || size > UINT64_C(1) << 40)
        return -EINVAL;
    if (flags & TP_KGSL_MEMFLAGS_SECURE || (is_virtual && dev->config.old_kernel))
        return -EOPNOTSUPP;
    if (flags & (TP_KGSL_MEMFLAGS_SPARSE_PHYS | TP_KGSL_MEMFLAGS_SPARSE_VIRT))
        return -EOPNOTSUPP;
    size = (size + TP_KGSL_PAGE - 1) & ~(uint64_t)(TP_KGSL_PAGE - 1);
    if (!is_virtual && size > dev->config.memory_bytes - dev->books.bytes)
        return -ENOMEM;
    int r = create(dev, is_virtual ? TP_KGSL_VIRTUAL : TP_KGSL_PAGES, size, flags, out);
    if (r)
        return r;
    dev->books.allocations++;
    if (!is_virtual)
        dev->books.bytes += size;
    if (dev->books.bytes > dev->books.bytes_peak)
        dev->books.bytes_peak = dev->books.bytes;
    return 0;
}

int tp_kgsl_import(struct tp_kgsl_device *dev, uint64_t backing, uint64_t size, uint64_t flags,
                   struct tp_kgsl_buffer **out)
{
    if (!size || size > UINT64_C(1) << 40)
        return -EINVAL;
    size = (size + TP_KGSL_PAGE - 1) & ~(uint64_t)(TP_KGSL_PAGE - 1);
    int r = create(dev, TP_KGSL_IMPORTED, size, flags & ~TP_KGSL_MEMFLAGS_USE_CPU_MAP, out);
    if (r)
        return r;
    (*out)->backing = backing;
    dev->books.imports++;
    return 0;
}

struct tp_kgsl_buffer *tp_kgsl_find(struct tp_kgsl_device *dev, uint32_t id)
{
    size_t i = position(dev->by_id, dev->by_id_count, id, false);
    return i < dev->by_id_count && dev->by_id[i]->id == id ? dev->by_id[i] : NULL;
}

struct tp_kgsl_buffer *tp_kgsl_find_address(struct tp_kgsl_device *dev, uint64_t addr)
{
    size_t i = position(dev->by_address, dev->by_address_count, addr, true);
    if (i == dev->by_address_count || dev->by_address[i]->gpuaddr != addr)
        i--;
    if (i >= dev->by_address_count)
        return NULL;
    struct tp_kgsl_buffer *buffer = dev->by_address[i];
    return addr - buffer->gpuaddr < buffer->size ? buffer : NULL;
}

int tp_kgsl_free(struct tp_kgsl_device *dev, uint32_t id)
{
    struct tp_kgsl_buffer *buffer = tp_kgsl_find(dev, id);
    if (!buffer)
        return -EINVAL;
    dev->books.frees++;
    forget_id(dev, buffer);
    return 0;
}

void tp_kgsl_mapped(struct tp_kgsl_device *dev, uint32_t id, uint64_t address)
{
    struct tp_kgsl_buffer *buffer = tp_kgsl_find(dev, id), *old;
    if (!buffer || !(buffer->flags & TP_KGSL_MEMFLAGS_USE_CPU_MAP) || buffer->gpuaddr)
        return;
    /* What was mapped there before and is no more has lost its address. */
    for (size_t i = dev->by_address_count; i-- > 0;) {
        old = dev->by_address[i];
        if (old->gpuaddr < address + buffer->size && address < old->gpuaddr + old->size)
            set_address(dev, old, 0);
    }
    set_address(dev, buffer, address);
}

/* Takes [at, at + length) out of TARGET's bindings (of CHILD only, where it is not NULL); what lies
 * on either side stays. */
static int unbind(struct tp_kgsl_device *dev, struct tp_kgsl_buffer *target, uint64_t at,
                  uint64_t length, const struct tp_kgsl_buffer *child)
{
    uint64_t end = at + length;
    struct tp_kgsl_binding *kept = calloc(target->binding_count + 2, sizeof *kept);
    size_t n = 0;
    if (!kept)
        return -ENOMEM;
    for (size_t i = 0; i < target->binding_count; i++) {
        struct tp_kgsl_binding b = target->bindings[i], left = b, right = b;
        uint64_t b_end = b.at + b.length;
        if (b.at >= end || b_end <= at || (child && b.child != child)) {
            kept[n++] = b;
            continue;
        }
        if (b.at < at) {
            left.length = at - b.at;
            left.child->references++;
            kept[n++] = left;
        }
        if (b_end > end) {
            right.at = end;
            right.length = b_end - end;
            right.child_offset += end - b.at;
            right.child->references++;
            kept[n++] = right;
        }
        give_up(dev, b.child);
    }
    free(target->bindings);
    target->bindings = kept;
    target->binding_count = n;
    return 0;
}

int tp_kgsl_bind(struct tp_kgsl_device *dev, uint32_t target_id,
                 const struct tp_kgsl_gpumem_bind_range *range)
{
    struct tp_kgsl_buffer *target = tp_kgsl_find(dev, target_id);
    struct tp_kgsl_buffer *child = tp_kgsl_find(dev, range->child_id);
    uint64_t mask = TP_KGSL_PAGE - 1;
    if (!target || target->kind != TP_KGSL_VIRTUAL || !range->length ||
        ((range->target_offset | range->child_offset | range->length) & mask) ||
        range->target_offset > target->size ||
        range->length > target->size - range->target_offset)
        return -EINVAL;
    if (range->op == TP_KGSL_GPUMEM_RANGE_OP_UNBIND)
        return unbind(dev, target, range->target_offset, range->length, child);
    if (range->op != TP_KGSL_GPUMEM_RANGE_OP_BIND || !child || child->kind == TP_KGSL_VIRTUAL ||
        range->child_offset > child->size || range->length > child->size - range->child_offset)
        return -EINVAL;
    child->references++; /* before the old ones go: it may be the same */
    int r = unbind(dev, target, range->target_offset, range->length, NULL);
    if (r) {
        give_up(dev, child);
        return r;
    }
    /* unbind left room for two more than there are. */
    size_t i = target->binding_count++;
    while (i && target->bindings[i - 1].at > range->target_offset) {
        target->bindings[i] = target->bindings[i - 1];
        i--;
    }
    target->bindings[i] = (struct tp_kgsl_binding){range->target_offset, range->length,
                                                   range->child_offset, child};
    return 0;
}

int tp_kgsl_resolve(struct tp_kgsl_device *dev, uint64_t addr, struct tp_kgsl_span *out)
{
    struct tp_kgsl_buffer *buffer = tp_kgsl_find_address(dev, addr);
    if (!buffer)
        return -EFAULT;
    uint64_t offset = addr - buffer->gpuaddr;
    *out = (struct tp_kgsl_span){buffer, offset, buffer->size - offset};
    if (buffer->kind != TP_KGSL_VIRTUAL)
        return 0;
    for (size_t i = 0; i < buffer->binding_count; i++) {
        const struct tp_kgsl_binding *b = &buffer->bindings[i];
        if (offset >= b->at + b->length)
            continue;
        if (offset < b->at) {
            out->bytes = b->at - offset;
            break;
        }
        *out = (struct tp_kgsl_span){b->child, b->child_offset + (offset - b->at),
                                     b->length - (offset - b->at)};
        return 0;
    }
    return buffer->flags & TP_KGSL_MEMFLAGS_VBO_NO_MAP_ZERO ? -EFAULT : 0;
}

void tp_kgsl_memory_finish(struct tp_kgsl_device *dev)
{
    /* Virtual ones first, for the others' references; none is left by its id afterwards. */
    for (size_t i = dev->by_id_count; i-- > 0;) {
        if (i < dev->by_id_count && dev->by_id[i]->kind == TP_KGSL_VIRTUAL)
            forget_id(dev, dev->by_id[i]);
    }
    while (dev->by_id_count)
        forget_id(dev, dev->by_id[dev->by_id_count - 1]);
    tp_ranges_finish(&dev->pages);
    tp_ranges_finish(&dev->others);
    tp_ranges_finish(&dev->low);
    tp_ranges_finish(&dev->high);
    free(dev->by_id);
    free(dev->by_address);
    dev->by_id = dev->by_address = NULL;
    dev->by_id_count = dev->by_id_capacity = 0;
    dev->by_address_count = dev->by_address_capacity = 0;
}
