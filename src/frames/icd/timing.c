/* When pictures were shown: VK_KHR_present_wait and VK_GOOGLE_display_timing. */
#include <errno.h>

#include "frames/icd/swapchain.h"

#define DEFAULT_PERIOD_NS INT64_C(16666667)

struct tp_icd_record *tp_icd_record_begin(struct tp_icd_swapchain *c)
{
    struct tp_icd_record *r = &c->records[++c->serial % TP_PRESENT_RECORDS];

    *r = (struct tp_icd_record){.serial = c->serial};
    return r;
}

struct tp_icd_record *tp_icd_record_find(struct tp_icd_swapchain *c, uint64_t serial)
{
    struct tp_icd_record *r = &c->records[serial % TP_PRESENT_RECORDS];

    return r->serial == serial ? r : NULL;
}

/* Is a present of a later id than this one still under way, which will end the wait for both? */
static bool later_underway(struct tp_icd_swapchain *c, const struct tp_icd_record *r)
{
    for (uint64_t s = r->serial + 1; s <= c->serial; s++) {
        struct tp_icd_record *later = tp_icd_record_find(c, s);
        if (later && later->end == TP_PRESENT_UNDERWAY && later->id > r->id)
            return true;
    }
    return false;
}

void tp_icd_record_end(struct tp_icd_swapchain *c, uint64_t serial, const struct tp_shown *shown)
{
    struct tp_icd_record *r = tp_icd_record_find(c, serial);

    if (!r || r->end != TP_PRESENT_UNDERWAY)
        return;
    r->end = shown ? TP_PRESENT_SHOWN : TP_PRESENT_DISCARDED;
    r->shown_ns = shown ? shown->time_ns : 0;
    if (shown)
        tp_icd_census_shown(c->census, serial, shown->time_ns, shown->sequence, r->line_ns);
    else
        tp_icd_census_dropped(c->census, serial);
    if (r->id > c->done_id && (shown || !later_underway(c, r)))
        c->done_id = r->id;
    pthread_cond_broadcast(&c->told);
}

/* Is there a present under way that will end a wait for this id? */
static bool underway(struct tp_icd_swapchain *c, uint64_t id)
{
    for (size_t i = 0; i < TP_PRESENT_RECORDS; i++) {
        const struct tp_icd_record *r = &c->records[i];
        if (r->serial && r->end == TP_PRESENT_UNDERWAY && r->id >= id)
            return true;
    }
    return false;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_for_present(
    VkDevice handle, VkSwapchainKHR swapchain, uint64_t id, uint64_t timeout)
{
    struct tp_icd_swapchain *c = tp_icd_swapchain_of(swapchain);
    int64_t now = tp_icd_now_ns();
    bool endless = timeout > (uint64_t)(INT64_MAX - now);
    int64_t until = endless ? 0 : now + (int64_t)timeout;
    struct timespec t = {until / 1000000000, until % 1000000000};
    VkResult r = VK_SUCCESS;

    (void)handle;
    pthread_mutex_lock(&c->lock);
    while (c->done_id < id && r == VK_SUCCESS) {
        VkResult state = tp_icd_swapchain_state(c);
        /* A retired swapchain's pictures are still shown. */
        if (state != VK_SUCCESS &&
            (state != VK_ERROR_OUT_OF_DATE_KHR || c->out_of_date || !underway(c, id)))
            r = state;
        else if (endless)
            pthread_cond_wait(&c->told, &c->lock);
        else if (pthread_cond_timedwait(&c->told, &c->lock, &t) == ETIMEDOUT && c->done_id < id)
            r = VK_TIMEOUT;
    }
    pthread_mutex_unlock(&c->lock);
    return r;
}

static int64_t period(struct tp_icd_swapchain *c)
{
    int64_t p = c->gate ? tp_vblank_period_ns(tp_gate_vblank(c->gate)) : 0;

    return p > 0 ? p : DEFAULT_PERIOD_NS;
}

static VKAPI_ATTR VkResult VKAPI_CALL refresh_duration(
    VkDevice handle, VkSwapchainKHR swapchain, VkRefreshCycleDurationGOOGLE *out)
{
    struct tp_icd_swapchain *c = tp_icd_swapchain_of(swapchain);
    struct tp_target_caps caps;

    (void)handle;
    pthread_mutex_lock(&c->lock);
    out->refreshDuration = (uint64_t)period(c);
    bool known = c->gate && tp_vblank_period_ns(tp_gate_vblank(c->gate)) > 0;
    pthread_mutex_unlock(&c->lock);
    if (known)
        return VK_SUCCESS;
    VkResult r = tp_icd_surface_query(c->surface, &caps);
    if (r == VK_SUCCESS && caps.period_ns > 0)
        out->refreshDuration = (uint64_t)caps.period_ns;
    return r;
}

static VkPastPresentationTimingGOOGLE timing_of(
    struct tp_icd_swapchain *c, const struct tp_icd_record *r)
{
    uint64_t shown = (uint64_t)r->shown_ns, ready = (uint64_t)r->ready_ns;
    uint64_t line = shown + (uint64_t)r->line_ns;
    /* It could have been shown at the first refresh after it was ready. */
    uint64_t cycle = (uint64_t)period(c), spare = ready > 0 && ready < shown ? shown - ready : 0;

    return (VkPastPresentationTimingGOOGLE){
        .presentID = r->timing_id,
        .desiredPresentTime = (uint64_t)r->desired_ns,
        .actualPresentTime = line,
        .earliestPresentTime = line - spare / cycle * cycle,
        .presentMargin = spare % cycle,
    };
}

static bool tells(struct tp_icd_swapchain *c, uint64_t serial)
{
    struct tp_icd_record *r = tp_icd_record_find(c, serial);

    return r && r->timed && r->end == TP_PRESENT_SHOWN;
}

/* Each is told once. What is not shown yet holds up what came after it. */
static VKAPI_ATTR VkResult VKAPI_CALL past_timing(
    VkDevice handle, VkSwapchainKHR swapchain, uint32_t *count, VkPastPresentationTimingGOOGLE *out)
{
    struct tp_icd_swapchain *c = tp_icd_swapchain_of(swapchain);
    uint32_t n = 0;
    bool more = false;

    (void)handle;
    pthread_mutex_lock(&c->lock);
    uint64_t serial = c->told_serial;
    if (c->serial > TP_PRESENT_RECORDS && serial < c->serial - TP_PRESENT_RECORDS)
        serial = c->serial - TP_PRESENT_RECORDS;
    while (serial < c->serial) {
        struct tp_icd_record *r = tp_icd_record_find(c, serial + 1);
        if (r && r->end == TP_PRESENT_UNDERWAY)
            break;
        if (tells(c, serial + 1)) {
            if (out && n == *count) {
                more = true;
                break;
            }
            if (out)
                out[n] = timing_of(c, r);
            n++;
        }
        serial++;
    }
    if (out)
        c->told_serial = serial;
    *count = n;
    pthread_mutex_unlock(&c->lock);
    return more ? VK_INCOMPLETE : VK_SUCCESS;
}

const struct tp_icd_entry tp_icd_timing_entries[] = {
    TP_ENTRY("WaitForPresentKHR", wait_for_present, TP_LEVEL_DEVICE, TP_BIT(TP_EXT_PRESENT_WAIT)),
    TP_ENTRY("GetRefreshCycleDurationGOOGLE", refresh_duration, TP_LEVEL_DEVICE,
        TP_BIT(TP_EXT_DISPLAY_TIMING)),
    TP_ENTRY("GetPastPresentationTimingGOOGLE", past_timing, TP_LEVEL_DEVICE,
        TP_BIT(TP_EXT_DISPLAY_TIMING)),
    {0},
};
