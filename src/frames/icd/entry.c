/*
 * The three functions that the library exports, and the way from a name to a function: ours where
 * we intercept it, else the driver's own pointer, so that what we do not intercept costs nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "frames/icd/driver.h"
#include "frames/icd/internal.h"

#define EXPORT __attribute__((visibility("default"))) VKAPI_ATTR

/* What lies between loader and driver (vk_icd.h): the oldest with surfaces that are ours... */
#define OLDEST_INTERFACE 2u
#define NEWEST_INTERFACE 7u

EXPORT VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);
EXPORT PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance handle, const char *name);
EXPORT PFN_vkVoidFunction VKAPI_CALL vk_icdGetPhysicalDeviceProcAddr(
    VkInstance handle, const char *name);

static const struct tp_icd_entry *const tables[] = {tp_icd_instance_entries,
    tp_icd_physical_entries, tp_icd_device_entries, tp_icd_queue_entries, tp_icd_object_entries,
    tp_icd_surface_entries, tp_icd_platform_entries, tp_icd_swapchain_entries,
    tp_icd_acquire_entries, tp_icd_present_entries, tp_icd_timing_entries, tp_icd_image_entries,
    tp_icd_dmabuf_memory_entries, tp_icd_dmabuf_image_entries, tp_icd_gamescope_entries,
#ifdef TP_ICD_DISPLAY
    tp_icd_display_entries, tp_icd_display_control_entries,
#endif
    NULL};

enum { MAX_ENTRIES = 256 };
static const struct tp_icd_entry *entries[MAX_ENTRIES];
static size_t n_entries;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice handle, const char *name);
static PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance handle, const char *name);

static const struct tp_icd_entry own_entries[] = {
    TP_ENTRY("GetDeviceProcAddr", get_device_proc, TP_LEVEL_DEVICE, 0),
    TP_ENTRY("GetInstanceProcAddr", get_instance_proc, TP_LEVEL_GLOBAL, 0),
    {0},
};

static int by_name(const void *a, const void *b)
{
    const struct tp_icd_entry *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

static int name_to_entry(const void *name, const void *b)
{
    const struct tp_icd_entry *const *y = b;

    return strcmp(name, (*y)->name);
}

static void add(const struct tp_icd_entry *table)
{
    for (; table->name; table++) {
        if (n_entries == MAX_ENTRIES)
            abort();
        entries[n_entries++] = table;
    }
}

static void sort(void)
{
    add(own_entries);
    for (size_t i = 0; tables[i]; i++)
        add(tables[i]);
    qsort(entries, n_entries, sizeof *entries, by_name);
}

static const struct tp_icd_entry *find(const char *name)
{
    const struct tp_icd_entry **e;

    pthread_once(&once, sort);
    e = bsearch(name, entries, n_entries, sizeof *entries, name_to_entry);
    return e ? *e : NULL;
}

/* Of an instance, or of none: devices are not known here, and their functions find theirs. */
static PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance handle, const char *name)
{
    const struct tp_icd_driver *d = tp_icd_driver_get();
    const struct tp_icd_entry *e = find(name);

    if (!d || (!handle && (!e || e->level != TP_LEVEL_GLOBAL)))
        return NULL;
    if (e && !(e->when & TP_WHEN_DRIVER && !d->get(handle, name)))
        return e->function;
    return d->get(handle, name);
}

static PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice handle, const char *name)
{
    struct tp_icd_device *d = tp_icd_device_get(handle);
    const struct tp_icd_entry *e = find(name);

    if (!d)
        return NULL;
    PFN_vkVoidFunction theirs = d->instance->vk.GetDeviceProcAddr(handle, name);
    if (!e)
        return theirs;
    if (e->level != TP_LEVEL_DEVICE || (e->when & TP_WHEN_DRIVER && !theirs))
        return NULL;
    if (e->when & TP_WHEN_SHARED && !d->share_queues)
        return theirs;
    if (e->when & TP_WHEN_SUBMITTING && !d->share_queues && !d->own && !d->copier)
        return theirs;
    uint64_t extensions = e->when &
        ~(TP_WHEN_SHARED | TP_WHEN_DRIVER | TP_ELSE_DRIVER | TP_WITHOUT_DRIVER |
            TP_WHEN_SUBMITTING);
    if (extensions && !(extensions & (d->enabled | d->instance->enabled)))
        return e->when & TP_ELSE_DRIVER ? theirs : NULL;
    if (e->when & TP_ELSE_DRIVER && !theirs && !(e->when & TP_WITHOUT_DRIVER))
        return NULL;
    return e->function;
}

EXPORT VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    if (*version < OLDEST_INTERFACE || !tp_icd_driver_get())
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    if (*version > NEWEST_INTERFACE)
        *version = NEWEST_INTERFACE;
    return VK_SUCCESS;
}

EXPORT PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance handle, const char *name)
{
    /* From interface 7 on these are asked for here. */
    if (!strcmp(name, "vk_icdNegotiateLoaderICDInterfaceVersion"))
        return (PFN_vkVoidFunction)vk_icdNegotiateLoaderICDInterfaceVersion;
    if (!strcmp(name, "vk_icdGetPhysicalDeviceProcAddr"))
        return (PFN_vkVoidFunction)vk_icdGetPhysicalDeviceProcAddr;
    return get_instance_proc(handle, name);
}

/* NULL for what takes no physical device: by that the loader knows. */
EXPORT PFN_vkVoidFunction VKAPI_CALL vk_icdGetPhysicalDeviceProcAddr(
    VkInstance handle, const char *name)
{
    const struct tp_icd_driver *d = tp_icd_driver_get();
    const struct tp_icd_entry *e = find(name);

    if (!d)
        return NULL;
    if (e)
        return e->level == TP_LEVEL_PHYSICAL ? get_instance_proc(handle, name) : NULL;
    if (d->get_physical)
        return d->get_physical(handle, name);
    /* Older drivers, and Android's, do not say: what is called so takes one. */
    return strncmp(name, "vkGetPhysicalDevice", 19) ? NULL : d->get(handle, name);
}
