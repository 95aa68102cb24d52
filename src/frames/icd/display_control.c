/*
 * VK_EXT_display_control: screens switched off and on, and fences that are signalled when a screen
 * begins a refresh, or comes or goes. Such a fence is the driver's own, and is signalled by an
 * empty submit: on our queue, or one of the application's.
 */
#include <errno.h>
#include <stdlib.h>

#include "frames/icd/display.h"
#include "frames/icd/display_card.h"
#include "frames/icd/internal.h"
#include "frames/icd/swapchain.h"
#include "frames/icd/target_display.h"

struct event {
    struct tp_display_user user;
    struct event *next;
    struct tp_icd_device *device;
    struct tp_display_card *card; /* held; its lock guards what follows */
    uint32_t connector;           /* whose next refresh is waited for; 0: any that comes or goes */
    VkFence fence;
    bool signalled;
};

static pthread_mutex_t events_lock = PTHREAD_MUTEX_INITIALIZER;
static struct event *events; /* of all devices, until their fences are gone */

#define RETRY_NS INT64_C(4000000) /* where the screen cannot say it yet */

static struct event *event_of(struct tp_display_user *u)
{
    return (struct event *)((char *)u - offsetof(struct event, user));
}

static void signal(struct event *e)
{
    struct tp_icd_device *d = e->device;
    struct tp_icd_queue *q = d->own ? d->own : &d->queues[0];

    if (e->signalled)
        return;
    e->signalled = true;
    pthread_mutex_lock(&q->lock);
    d->vk.QueueSubmit(q->handle, 0, NULL, e->fence);
    pthread_mutex_unlock(&q->lock);
}

/* --- on the card's thread, with its lock --- */

/* A screen that is dark has no refresh yet; it is asked again when it is lit. */
static int64_t work(struct tp_display_user *u)
{
    struct event *e = event_of(u);

    if (e->signalled || !e->connector || u->cookie)
        return INT64_MAX;
    u->cookie = ++e->card->last_cookie;
    int r = tp_target_display_next(e->card, e->connector, u->cookie);
    if (r == 0)
        return INT64_MAX;
    u->cookie = 0;
    return r == -ENOENT ? INT64_MAX : tp_icd_now_ns() + RETRY_NS;
}

static void refreshed(struct tp_display_user *u)
{
    signal(event_of(u));
}

static void flipped(struct tp_display_user *u, const struct drm_event_vblank *e)
{
    (void)e;
    refreshed(u);
}

static void screens_changed(struct tp_display_user *u)
{
    if (!event_of(u)->connector)
        refreshed(u);
}

/* Nobody is left who would tell. */
static void gone(struct tp_display_user *u)
{
    refreshed(u);
}

static const struct tp_display_user_ops ops = {work, flipped, screens_changed, gone};

/* --- the application's --- */

static void end(struct event *e)
{
    struct tp_display_user **at = &e->card->users;

    pthread_mutex_lock(&e->card->lock);
    while (*at != &e->user)
        at = &(*at)->next;
    *at = e->user.next;
    pthread_mutex_unlock(&e->card->lock);
    tp_display_card_put(e->card);
    free(e);
}

/* Those of a fence; of all fences where there is none. */
static void forget(struct tp_icd_device *d, VkFence fence)
{
    struct event *old = NULL;

    pthread_mutex_lock(&events_lock);
    for (struct event **at = &events; *at;) {
        struct event *e = *at;
        if (e->device != d || (fence && e->fence != fence)) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        e->next = old;
        old = e;
    }
    pthread_mutex_unlock(&events_lock);
    for (struct event *next; old; old = next) {
        next = old->next;
        end(old);
    }
}

void tp_icd_display_events_finish(struct tp_icd_device *d)
{
    forget(d, VK_NULL_HANDLE);
}

/* The card is held by the event from here on. */
static int begin(
    struct tp_icd_device *d, struct tp_display_card *card, uint32_t connector, VkFence fence)
{
    struct event *e = calloc(1, sizeof *e);

    if (!e) {
        tp_display_card_put(card);
        return -ENOMEM;
    }
    *e = (struct event){
        .user.ops = &ops, .device = d, .card = card, .connector = connector, .fence = fence};
    pthread_mutex_lock(&events_lock);
    e->next = events;
    events = e;
    pthread_mutex_unlock(&events_lock);
    pthread_mutex_lock(&card->lock);
    e->user.next = card->users;
    card->users = &e->user;
    if (card->gone || tp_display_card_listen(card))
        gone(&e->user);
    tp_display_card_wake(card);
    pthread_mutex_unlock(&card->lock);
    return 0;
}

static VkResult make(struct tp_icd_device *d, struct tp_display_card *card, uint32_t connector,
    const VkAllocationCallbacks *allocator, VkFence *out)
{
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkResult r = d->vk.CreateFence(d->handle, &info, allocator, out);

    if (r != VK_SUCCESS) {
        tp_display_card_put(card);
        return r;
    }
    if (begin(d, card, connector, *out) == 0)
        return VK_SUCCESS;
    d->vk.DestroyFence(d->handle, *out, allocator);
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VKAPI_ATTR VkResult VKAPI_CALL register_device_event(VkDevice handle,
    const VkDeviceEventInfoEXT *info, const VkAllocationCallbacks *allocator, VkFence *out)
{
    struct tp_display_card *card;

    (void)info; /* there is one kind */
    if (tp_display_card_get(&card))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    return make(tp_icd_device_get(handle), card, 0, allocator, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL register_display_event(VkDevice handle, VkDisplayKHR display,
    const VkDisplayEventInfoEXT *info, const VkAllocationCallbacks *allocator, VkFence *out)
{
    struct tp_icd_device *d = tp_icd_device_get(handle);
    struct tp_display_card *card;
    uint32_t connector;

    (void)info; /* there is one kind */
    if (tp_icd_display_card(d->instance, display, &card, &connector))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    return make(d, card, connector, allocator, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL power_control(
    VkDevice handle, VkDisplayKHR display, const VkDisplayPowerInfoEXT *info)
{
    struct tp_display_card *card;
    uint32_t connector;

    if (tp_icd_display_card(tp_icd_device_get(handle)->instance, display, &card, &connector))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    tp_target_display_power(card, connector, info->powerState == VK_DISPLAY_POWER_STATE_ON_EXT);
    tp_display_card_put(card);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_counter(
    VkDevice handle, VkSwapchainKHR swapchain, VkSurfaceCounterFlagBitsEXT counter, uint64_t *out)
{
    struct tp_icd_swapchain *c = tp_icd_swapchain_of(swapchain);

    (void)handle;
    (void)counter; /* there is one */
    return tp_target_display_count(c->surface->target, out) ? VK_ERROR_OUT_OF_DATE_KHR : VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_fence(
    VkDevice handle, VkFence fence, const VkAllocationCallbacks *allocator)
{
    struct tp_icd_device *d = tp_icd_device_get(handle);

    if (fence && d->enabled & TP_BIT(TP_EXT_DISPLAY_CONTROL))
        forget(d, fence);
    d->vk.DestroyFence(handle, fence, allocator);
}

#define CONTROL TP_BIT(TP_EXT_DISPLAY_CONTROL)
const struct tp_icd_entry tp_icd_display_control_entries[] = {
    TP_ENTRY("DisplayPowerControlEXT", power_control, TP_LEVEL_DEVICE, CONTROL),
    TP_ENTRY("RegisterDeviceEventEXT", register_device_event, TP_LEVEL_DEVICE, CONTROL),
    TP_ENTRY("RegisterDisplayEventEXT", register_display_event, TP_LEVEL_DEVICE, CONTROL),
    TP_ENTRY("GetSwapchainCounterEXT", get_counter, TP_LEVEL_DEVICE, CONTROL),
    TP_ENTRY("DestroyFence", destroy_fence, TP_LEVEL_DEVICE, CONTROL | TP_ELSE_DRIVER),
    {0},
};
