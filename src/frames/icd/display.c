/*
 * VK_KHR_display: a connector is a display, with one plane, its CRTC's primary one. Which there are
 * is read from the card at each question; handles last as long as their instance.
 */
#include "frames/icd/display.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frames/icd/internal.h"
#include "frames/icd/target_display.h"

#define SAME_MHZ 10u /* clients round a mode's refresh */

struct mode {
    struct display *display;
    struct mode *next;
    struct drm_mode_modeinfo info;
    bool there; /* the screen has it now */
};

struct display {
    struct display *next;
    uint32_t connector;
    char name[32];
    bool connected;
    uint32_t width_mm, height_mm;
    struct mode *modes;           /* a list, owned; the preferred one first */
    struct tp_display_card *card; /* acquired by the application; held; NULL: the ICD's own */
};

struct tp_icd_displays {
    struct display *first; /* in the card's order; owned */
};

static struct display *display_of(VkDisplayKHR handle)
{
    return (struct display *)(uintptr_t)handle;
}

static VkDisplayKHR handle_of(struct display *d)
{
    return (VkDisplayKHR)(uintptr_t)d;
}

static struct mode *mode_of(VkDisplayModeKHR handle)
{
    return (struct mode *)(uintptr_t)handle;
}

void tp_icd_displays_finish(struct tp_icd_displays *all)
{
    if (!all)
        return;
    for (struct display *d = all->first, *next; d; d = next) {
        for (struct mode *m = d->modes, *after; m; m = after) {
            after = m->next;
            free(m);
        }
        next = d->next;
        tp_display_card_put(d->card);
        free(d);
    }
    free(all);
}

/* --- what the card says --- */

static bool looks_same(const struct drm_mode_modeinfo *a, const struct drm_mode_modeinfo *b)
{
    return a->hdisplay == b->hdisplay && a->vdisplay == b->vdisplay &&
        tp_display_mode_mhz(a) == tp_display_mode_mhz(b);
}

/* Modes that look the same to Vulkan are one: the first. */
static int take_mode(struct display *d, const struct drm_mode_modeinfo *info)
{
    struct mode **at = &d->modes;

    for (; *at; at = &(*at)->next) {
        if ((*at)->there && looks_same(&(*at)->info, info))
            return 0;
        if (tp_display_mode_same(&(*at)->info, info)) {
            (*at)->there = true;
            return 0;
        }
    }
    *at = calloc(1, sizeof **at);
    if (!*at)
        return -ENOMEM;
    (*at)->display = d;
    (*at)->info = *info;
    (*at)->there = true;
    return 0;
}

static int take_connector(struct display *d, const struct tp_display_connector *c)
{
    int r = 0;

    memcpy(d->name, c->name, sizeof d->name);
    d->connected = c->connected && c->n_modes > 0;
    d->width_mm = c->width_mm;
    d->height_mm = c->height_mm;
    for (struct mode *m = d->modes; m; m = m->next)
        m->there = false;
    for (unsigned i = 0; d->connected && r == 0 && i < c->n_modes; i++)
        r = take_mode(d, &c->modes[i]);
    return r;
}

/* The display of a connector, made where there is none; NULL: no memory. */
static struct display *get_display(struct tp_icd_displays *all, uint32_t connector)
{
    struct display **at = &all->first;

    while (*at && (*at)->connector != connector)
        at = &(*at)->next;
    if (!*at && (*at = calloc(1, sizeof **at)))
        (*at)->connector = connector;
    return *at;
}

static int take_connectors(
    struct tp_icd_displays *all, const struct tp_display_connector *connectors, int n)
{
    for (struct display *d = all->first; d; d = d->next)
        d->connected = false;
    for (int i = 0; i < n; i++) {
        struct display *d = get_display(all, connectors[i].id);
        if (!d || take_connector(d, &connectors[i]))
            return -ENOMEM;
    }
    return 0;
}

/* Asks the card; without one there are no displays. */
static int read_all(struct tp_icd_displays *all)
{
    struct tp_display_connector *connectors = calloc(TP_DISPLAY_CONNECTORS, sizeof *connectors);
    struct tp_display_card *card;
    int r, n = 0;

    if (!connectors)
        return -ENOMEM;
    r = tp_display_card_get(&card);
    if (r == 0) {
        n = tp_display_connectors(&card->link, connectors);
        tp_display_card_put(card);
    }
    r = r == -ENOMEM ? r : take_connectors(all, connectors, n > 0 ? n : 0);
    free(connectors);
    return r;
}

/* The instance's, brought up to date, with its lock held; let go by unlock. NULL: no memory. */
static struct tp_icd_displays *lock(VkPhysicalDevice handle, bool fresh)
{
    struct tp_icd_instance *i = tp_icd_physical_get(handle)->instance;

    pthread_mutex_lock(&i->lock);
    if (!i->displays) {
        i->displays = calloc(1, sizeof *i->displays);
        fresh = true;
    }
    if (i->displays && (!fresh || read_all(i->displays) == 0))
        return i->displays;
    pthread_mutex_unlock(&i->lock);
    return NULL;
}

static void unlock(VkPhysicalDevice handle)
{
    pthread_mutex_unlock(&tp_icd_physical_get(handle)->instance->lock);
}

/* --- displays --- */

static void fill_display(struct display *d, VkDisplayPropertiesKHR *out)
{
    const struct mode *best = d->modes;

    while (!best->there)
        best = best->next;
    *out = (VkDisplayPropertiesKHR){
        .display = handle_of(d),
        .displayName = d->name,
        .physicalDimensions = {d->width_mm, d->height_mm},
        .physicalResolution = {best->info.hdisplay, best->info.vdisplay},
        .supportedTransforms = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
    };
}

/* Vulkan's way to give a list: how many there are, or as many as there is room for. */
struct list {
    uint32_t room, n; /* n: given, or counted */
    bool cut;
};

static bool has_room(struct list *l, const void *out)
{
    if (out && l->n >= l->room) {
        l->cut = true;
        return false;
    }
    l->n++;
    return out != NULL;
}

static VkResult end_list(const struct list *l, uint32_t *count)
{
    *count = l->n;
    return l->cut ? VK_INCOMPLETE : VK_SUCCESS;
}

/* Into one of the two, or neither. */
static VkResult list_displays(VkPhysicalDevice handle, uint32_t *count,
    VkDisplayPropertiesKHR *out, VkDisplayProperties2KHR *out2)
{
    struct tp_icd_displays *all = lock(handle, true);
    struct list l = {.room = *count};

    if (!all)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (struct display *d = all->first; d; d = d->next) {
        if (d->connected && has_room(&l, out ? (void *)out : out2))
            fill_display(d, out ? &out[l.n - 1] : &out2[l.n - 1].displayProperties);
    }
    unlock(handle);
    return end_list(&l, count);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_displays(
    VkPhysicalDevice handle, uint32_t *count, VkDisplayPropertiesKHR *out)
{
    return list_displays(handle, count, out, NULL);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_displays2(
    VkPhysicalDevice handle, uint32_t *count, VkDisplayProperties2KHR *out)
{
    return list_displays(handle, count, NULL, out);
}

/* --- planes: one for each display, by its place among them --- */

static void fill_plane(struct display *d, VkDisplayPlanePropertiesKHR *out)
{
    *out = (VkDisplayPlanePropertiesKHR){
        .currentDisplay = d->connected ? handle_of(d) : VK_NULL_HANDLE};
}

static VkResult list_planes(VkPhysicalDevice handle, uint32_t *count,
    VkDisplayPlanePropertiesKHR *out, VkDisplayPlaneProperties2KHR *out2)
{
    struct tp_icd_displays *all = lock(handle, true);
    struct list l = {.room = *count};

    if (!all)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (struct display *d = all->first; d; d = d->next) {
        if (has_room(&l, out ? (void *)out : out2))
            fill_plane(d, out ? &out[l.n - 1] : &out2[l.n - 1].displayPlaneProperties);
    }
    unlock(handle);
    return end_list(&l, count);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_planes(
    VkPhysicalDevice handle, uint32_t *count, VkDisplayPlanePropertiesKHR *out)
{
    return list_planes(handle, count, out, NULL);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_planes2(
    VkPhysicalDevice handle, uint32_t *count, VkDisplayPlaneProperties2KHR *out)
{
    return list_planes(handle, count, NULL, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_plane_displays(
    VkPhysicalDevice handle, uint32_t plane, uint32_t *count, VkDisplayKHR *out)
{
    struct tp_icd_displays *all = lock(handle, false);
    struct list l = {.room = *count};

    if (!all)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    struct display *d = all->first;
    while (d && plane--)
        d = d->next;
    if (d && d->connected && has_room(&l, out))
        out[l.n - 1] = handle_of(d);
    unlock(handle);
    return end_list(&l, count);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_plane_capabilities(VkPhysicalDevice handle,
    VkDisplayModeKHR mode, uint32_t plane, VkDisplayPlaneCapabilitiesKHR *out)
{
    const struct drm_mode_modeinfo *info = &mode_of(mode)->info;
    VkExtent2D whole = {info->hdisplay, info->vdisplay};

    (void)handle;
    (void)plane;
    *out = (VkDisplayPlaneCapabilitiesKHR){
        .supportedAlpha = VK_DISPLAY_PLANE_ALPHA_OPAQUE_BIT_KHR,
        .minSrcExtent = whole,
        .maxSrcExtent = whole,
        .minDstExtent = whole,
        .maxDstExtent = whole,
    };
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_plane_capabilities2(VkPhysicalDevice handle,
    const VkDisplayPlaneInfo2KHR *info, VkDisplayPlaneCapabilities2KHR *out)
{
    return get_plane_capabilities(handle, info->mode, info->planeIndex, &out->capabilities);
}

/* --- modes --- */

static void fill_mode(struct mode *m, VkDisplayModePropertiesKHR *out)
{
    *out = (VkDisplayModePropertiesKHR){
        .displayMode = (VkDisplayModeKHR)(uintptr_t)m,
        .parameters = {{m->info.hdisplay, m->info.vdisplay}, tp_display_mode_mhz(&m->info)},
    };
}

static VkResult list_modes(VkPhysicalDevice handle, VkDisplayKHR display, uint32_t *count,
    VkDisplayModePropertiesKHR *out, VkDisplayModeProperties2KHR *out2)
{
    struct list l = {.room = *count};

    if (!lock(handle, false))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (struct mode *m = display_of(display)->modes; m; m = m->next) {
        if (m->there && has_room(&l, out ? (void *)out : out2))
            fill_mode(m, out ? &out[l.n - 1] : &out2[l.n - 1].displayModeProperties);
    }
    unlock(handle);
    return end_list(&l, count);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_modes(
    VkPhysicalDevice handle, VkDisplayKHR display, uint32_t *count, VkDisplayModePropertiesKHR *out)
{
    return list_modes(handle, display, count, out, NULL);
}

static VKAPI_ATTR VkResult VKAPI_CALL get_modes2(VkPhysicalDevice handle, VkDisplayKHR display,
    uint32_t *count, VkDisplayModeProperties2KHR *out)
{
    return list_modes(handle, display, count, NULL, out);
}

/* No other modes than those that the screen says; one of them is found by its parameters. */
static VKAPI_ATTR VkResult VKAPI_CALL create_mode(VkPhysicalDevice handle, VkDisplayKHR display,
    const VkDisplayModeCreateInfoKHR *info, const VkAllocationCallbacks *allocator,
    VkDisplayModeKHR *out)
{
    const VkDisplayModeParametersKHR *p = &info->parameters;
    VkResult r = VK_ERROR_INITIALIZATION_FAILED;

    (void)allocator;
    if (!lock(handle, false))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (struct mode *m = display_of(display)->modes; m; m = m->next) {
        uint32_t mhz = tp_display_mode_mhz(&m->info);
        uint32_t off = mhz > p->refreshRate ? mhz - p->refreshRate : p->refreshRate - mhz;
        if (m->there && m->info.hdisplay == p->visibleRegion.width &&
            m->info.vdisplay == p->visibleRegion.height && off < SAME_MHZ) {
            *out = (VkDisplayModeKHR)(uintptr_t)m;
            r = VK_SUCCESS;
            break;
        }
    }
    unlock(handle);
    return r;
}

int tp_icd_display_card(struct tp_icd_instance *i, VkDisplayKHR display,
    struct tp_display_card **card, uint32_t *connector)
{
    struct display *d = display_of(display);

    *card = NULL;
    *connector = d->connector;
    pthread_mutex_lock(&i->lock);
    if (d->card)
        *card = tp_display_card_hold(d->card);
    pthread_mutex_unlock(&i->lock);
    return *card ? 0 : tp_display_card_get(card);
}

/* --- surfaces, and displays that the application brings --- */

static VKAPI_ATTR VkResult VKAPI_CALL create_surface(VkInstance instance,
    const VkDisplaySurfaceCreateInfoKHR *info, const VkAllocationCallbacks *allocator,
    VkSurfaceKHR *out)
{
    struct tp_icd_instance *i = tp_icd_instance_get(instance);
    struct mode *mode = mode_of(info->displayMode);
    struct tp_display_card *card;
    struct tp_target *target = NULL;
    uint32_t connector;
    int r = tp_icd_display_card(i, handle_of(mode->display), &card, &connector);

    if (r == 0)
        r = tp_target_display_create(card, connector, &mode->info, info->imageExtent.width,
            info->imageExtent.height, &target);
    tp_display_card_put(card);
    if (r < 0)
        return tp_icd_answer(tp_icd_result(r), 0);
    return tp_icd_surface_create(i, allocator, (struct tp_icd_window){0}, target, out);
}

static int read_one(struct tp_icd_displays *all, int fd, uint32_t connector, struct display **out)
{
    struct tp_display_connector *c = calloc(1, sizeof *c);
    struct tp_display_link link;
    int r;

    if (!c)
        return -ENOMEM;
    r = tp_display_link_wrap(&link, fd);
    if (r == 0) {
        r = tp_display_connector(&link, connector, c);
        tp_display_link_finish(&link);
    }
    if (r == 0) {
        *out = get_display(all, connector);
        r = *out ? take_connector(*out, c) : -ENOMEM;
    }
    free(c);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_drm_display(
    VkPhysicalDevice handle, int32_t fd, uint32_t connector, VkDisplayKHR *out)
{
    struct tp_icd_displays *all = lock(handle, false);
    struct display *d = NULL;

    *out = VK_NULL_HANDLE;
    if (!all)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    int r = read_one(all, fd, connector, &d);
    unlock(handle);
    if (r < 0)
        return r == -ENOMEM ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_UNKNOWN;
    *out = handle_of(d);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL acquire_drm_display(
    VkPhysicalDevice handle, int32_t fd, VkDisplayKHR display)
{
    struct display *d = display_of(display);
    int r = -EBUSY;

    if (!lock(handle, false))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!d->card)
        r = tp_display_card_wrap(fd, &d->card);
    unlock(handle);
    return r < 0 ? VK_ERROR_INITIALIZATION_FAILED : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL release_display(VkPhysicalDevice handle, VkDisplayKHR display)
{
    struct display *d = display_of(display);

    if (!lock(handle, false))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    tp_display_card_put(d->card);
    d->card = NULL;
    unlock(handle);
    return VK_SUCCESS;
}

#define DISPLAY TP_BIT(TP_EXT_DISPLAY)
#define DISPLAY2 TP_BIT(TP_EXT_DISPLAY2)
const struct tp_icd_entry tp_icd_display_entries[] = {
    TP_ENTRY("GetPhysicalDeviceDisplayPropertiesKHR", get_displays, TP_LEVEL_PHYSICAL, DISPLAY),
    TP_ENTRY("GetPhysicalDeviceDisplayProperties2KHR", get_displays2, TP_LEVEL_PHYSICAL, DISPLAY2),
    TP_ENTRY("GetPhysicalDeviceDisplayPlanePropertiesKHR", get_planes, TP_LEVEL_PHYSICAL, DISPLAY),
    TP_ENTRY(
        "GetPhysicalDeviceDisplayPlaneProperties2KHR", get_planes2, TP_LEVEL_PHYSICAL, DISPLAY2),
    TP_ENTRY("GetDisplayPlaneSupportedDisplaysKHR", get_plane_displays, TP_LEVEL_PHYSICAL, DISPLAY),
    TP_ENTRY("GetDisplayPlaneCapabilitiesKHR", get_plane_capabilities, TP_LEVEL_PHYSICAL, DISPLAY),
    TP_ENTRY(
        "GetDisplayPlaneCapabilities2KHR", get_plane_capabilities2, TP_LEVEL_PHYSICAL, DISPLAY2),
    TP_ENTRY("GetDisplayModePropertiesKHR", get_modes, TP_LEVEL_PHYSICAL, DISPLAY),
    TP_ENTRY("GetDisplayModeProperties2KHR", get_modes2, TP_LEVEL_PHYSICAL, DISPLAY2),
    TP_ENTRY("CreateDisplayModeKHR", create_mode, TP_LEVEL_PHYSICAL, DISPLAY),
    TP_ENTRY("CreateDisplayPlaneSurfaceKHR", create_surface, TP_LEVEL_INSTANCE, DISPLAY),
    TP_ENTRY("GetDrmDisplayEXT", get_drm_display, TP_LEVEL_PHYSICAL, TP_BIT(TP_EXT_ACQUIRE_DRM)),
    TP_ENTRY(
        "AcquireDrmDisplayEXT", acquire_drm_display, TP_LEVEL_PHYSICAL, TP_BIT(TP_EXT_ACQUIRE_DRM)),
    TP_ENTRY("ReleaseDisplayEXT", release_display, TP_LEVEL_PHYSICAL, TP_BIT(TP_EXT_DIRECT_MODE)),
    {0},
};
