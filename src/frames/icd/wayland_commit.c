/*
 * Pictures of a Wayland target on their way: commits, each in its turn, and releases.
 *
 * A turn is a frame callback: the compositor has begun a refresh with what was committed last. It
 * has none for a window that nobody sees, and FIFO must not hang there: after HIDDEN_FIRST_NS
 * without one the next picture goes out all the same, then one each HIDDEN_NS.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "frames/icd/clock.h"
#include "frames/icd/fence.h"
#include "frames/icd/log.h"
#include "frames/icd/wayland.h"

#define HIDDEN_FIRST_NS INT64_C(500000000)
#define HIDDEN_NS INT64_C(100000000)
/* Fences on which nobody but us can wait are looked at this often: there are hardly any, see
 * caps.takes_fences. */
#define FENCE_NS INT64_C(1000000)
/* More than these are all of it: a commit has to fit into libwayland's buffer. */
#define MAX_DAMAGE 64u

static bool keeps_turns(VkPresentModeKHR mode)
{
    return mode != VK_PRESENT_MODE_MAILBOX_KHR && mode != VK_PRESENT_MODE_IMMEDIATE_KHR;
}

/* --- releases --- */

static void released(struct tp_wayland_image *image, int fence)
{
    struct tp_wayland_stream *s = image->stream;

    image->held = false;
    s->events->released(s->data, (uint32_t)(image - s->images), fence);
}

/* data: the image; NULL: it lingers. */
static void on_buffer_release(void *data, struct wl_buffer *buffer)
{
    struct tp_wayland_image *image = data;

    (void)buffer;
    if (image && image->held && !image->release)
        released(image, -1);
}

static void on_fenced_release(
    void *data, struct zwp_linux_buffer_release_v1 *release, int32_t fence)
{
    struct tp_wayland_image *image = data;

    zwp_linux_buffer_release_v1_destroy(release);
    image->release = NULL;
    released(image, fence);
}

static void on_immediate_release(void *data, struct zwp_linux_buffer_release_v1 *release)
{
    on_fenced_release(data, release, -1);
}

void tp_wayland_listen_release(struct tp_wayland_image *image)
{
    static const struct wl_buffer_listener listener = {on_buffer_release};

    wl_buffer_add_listener(image->buffer, &listener, image);
}

/* --- turns --- */

static void on_frame(void *data, struct wl_callback *callback, uint32_t time_ms)
{
    struct tp_wayland *w = data;

    (void)time_ms;
    wl_callback_destroy(callback);
    w->frame = NULL;
    w->hidden = false;
    w->refreshed_ns = tp_icd_now_ns();
    tp_wayland_refreshed(w, w->refreshed_ns);
}

static int64_t patience_ends(const struct tp_wayland *w)
{
    return w->asked_ns + (w->hidden ? HIDDEN_NS : HIDDEN_FIRST_NS);
}

/* An old callback may already be on its way, for the picture before: each picture that keeps turns
 * has its own. Nobody answers for a hidden window: there the old one stays, so that they do not
 * heap up with the compositor. */
static void ask_for_turn(struct tp_wayland *w, VkPresentModeKHR mode, int64_t now)
{
    static const struct wl_callback_listener listener = {on_frame};

    if (w->frame && now >= patience_ends(w))
        w->hidden = true;
    w->asked_ns = now;
    if (w->frame && (w->hidden || !keeps_turns(mode)))
        return;
    if (w->frame)
        wl_callback_destroy(w->frame);
    w->frame = wl_surface_frame(w->surface);
    wl_callback_add_listener(w->frame, &listener, w);
}

/* --- a commit --- */

static bool opaque_by_itself(uint32_t fourcc)
{
    return (fourcc & 0xff) == 'X' || (fourcc & 0xff) == 'R'; /* X…, RG16 */
}

static void set_opaque(struct tp_wayland *w, bool opaque)
{
    struct wl_region *region = NULL;

    if (opaque == w->opaque || !w->compositor)
        return;
    w->opaque = opaque;
    if (opaque) {
        region = wl_compositor_create_region(w->compositor);
        wl_region_add(region, 0, 0, INT32_MAX, INT32_MAX);
    }
    wl_surface_set_opaque_region(w->surface, region);
    if (region)
        wl_region_destroy(region);
}

/* Vulkan turns clockwise, Wayland does not; both mirror first. */
static int32_t transform_of(VkSurfaceTransformFlagBitsKHR transform)
{
    switch (transform) {
    case VK_SURFACE_TRANSFORM_ROTATE_90_BIT_KHR:
        return WL_OUTPUT_TRANSFORM_270;
    case VK_SURFACE_TRANSFORM_ROTATE_180_BIT_KHR:
        return WL_OUTPUT_TRANSFORM_180;
    case VK_SURFACE_TRANSFORM_ROTATE_270_BIT_KHR:
        return WL_OUTPUT_TRANSFORM_90;
    case VK_SURFACE_TRANSFORM_HORIZONTAL_MIRROR_BIT_KHR:
        return WL_OUTPUT_TRANSFORM_FLIPPED;
    case VK_SURFACE_TRANSFORM_HORIZONTAL_MIRROR_ROTATE_90_BIT_KHR:
        return WL_OUTPUT_TRANSFORM_FLIPPED_270;
    case VK_SURFACE_TRANSFORM_HORIZONTAL_MIRROR_ROTATE_180_BIT_KHR:
        return WL_OUTPUT_TRANSFORM_FLIPPED_180;
    case VK_SURFACE_TRANSFORM_HORIZONTAL_MIRROR_ROTATE_270_BIT_KHR:
        return WL_OUTPUT_TRANSFORM_FLIPPED_90;
    default:
        return WL_OUTPUT_TRANSFORM_NORMAL;
    }
}

/* What differs from picture to picture of a stream's is set with each; this is not. What the
 * application sets itself stays as long as nobody asks for something else. */
static void begin(struct tp_wayland *w, struct tp_wayland_stream *s)
{
    int32_t transform = transform_of(s->info.transform);

    set_opaque(
        w, s->info.alpha == VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR && !opaque_by_itself(s->info.fourcc));
    if (transform != w->transform)
        wl_surface_set_buffer_transform(w->surface, transform);
    w->transform = transform;
}

static void damage(
    struct tp_wayland *w, const struct tp_wayland_stream *s, const struct tp_picture *p)
{
    if (wl_surface_get_version(w->surface) < WL_SURFACE_DAMAGE_BUFFER_SINCE_VERSION) {
        wl_surface_damage(w->surface, 0, 0, INT32_MAX, INT32_MAX);
        return;
    }
    /* What was on the surface before a stream's first picture is not known. */
    bool all = !s->begun || p->n_damage == 0 || p->n_damage > MAX_DAMAGE;
    if (all)
        wl_surface_damage_buffer(w->surface, 0, 0, INT32_MAX, INT32_MAX);
    for (uint32_t i = 0; !all && i < p->n_damage; i++)
        wl_surface_damage_buffer(w->surface, p->damage[i].offset.x, p->damage[i].offset.y,
            (int32_t)p->damage[i].extent.width, (int32_t)p->damage[i].extent.height);
}

/* IMMEDIATE, and FIFO_RELAXED where a refresh went by without a picture. */
static void allow_tearing(struct tp_wayland *w, VkPresentModeKHR mode, int64_t now)
{
    bool late = !w->frame && w->period_ns > 0 && now - w->refreshed_ns > w->period_ns;
    bool async =
        mode == VK_PRESENT_MODE_IMMEDIATE_KHR || (mode == VK_PRESENT_MODE_FIFO_RELAXED_KHR && late);

    if (async == w->async || !w->tearing)
        return;
    if (!w->tearing_control)
        w->tearing_control =
            wp_tearing_control_manager_v1_get_tearing_control(w->tearing, w->surface);
    wp_tearing_control_v1_set_presentation_hint(w->tearing_control,
        async ? WP_TEARING_CONTROL_V1_PRESENTATION_HINT_ASYNC
              : WP_TEARING_CONTROL_V1_PRESENTATION_HINT_VSYNC);
    w->async = async;
}

/* Before the commit: the compositor waits for the picture's fence, and gives one back. */
static void synchronize(struct tp_wayland *w, struct tp_wayland_image *image, struct tp_picture *p)
{
    static const struct zwp_linux_buffer_release_v1_listener listener = {
        on_fenced_release, on_immediate_release};

    if (!w->sync || !image->dmabuf)
        return;
    if (!w->surface_sync)
        w->surface_sync =
            zwp_linux_explicit_synchronization_v1_get_synchronization(w->sync, w->surface);
    if (p->fence >= 0)
        zwp_linux_surface_synchronization_v1_set_acquire_fence(w->surface_sync, p->fence);
    image->release = zwp_linux_surface_synchronization_v1_get_release(w->surface_sync);
    zwp_linux_buffer_release_v1_add_listener(image->release, &listener, image);
}

static void commit(struct tp_wayland *w, struct tp_wayland_stream *s, struct tp_queued *q)
{
    struct tp_picture *p = &q->picture;
    struct tp_wayland_image *image = &s->images[p->index];
    int64_t now = tp_icd_now_ns();
    bool known = tp_wayland_await_shown(s, p->serial) == 0;

    if (!s->begun)
        begin(w, s);
    wl_surface_attach(w->surface, image->buffer, 0, 0);
    damage(w, s, p);
    allow_tearing(w, p->mode, now);
    synchronize(w, image, p);
    ask_for_turn(w, p->mode, now);
    wl_surface_commit(w->surface);
    s->begun = true;
    image->held = true;
    w->last_mode = p->mode;
    w->last = image;
    if (w->lingering)
        wl_buffer_destroy(w->lingering);
    w->lingering = NULL;
    s->events->committed(s->data, p->index, p->serial);
    if (!known)
        s->events->discarded(s->data, p->serial); /* no memory to hear of it */
}

/* --- what goes out when --- */

void tp_wayland_drop(struct tp_wayland_stream *s, bool tell)
{
    struct tp_queued *all = tp_present_queue_drain(&s->queue);

    if (s->ready) {
        s->ready->next = all;
        all = s->ready;
        s->ready = NULL;
    }
    if (tell)
        tp_queued_give_up(all, s->events, s->data);
    else
        tp_queued_free_all(all);
}

/* MAILBOX does not wait for turns, since the compositor shows the newest; but it does not take the
 * turn of a picture that has one. */
static bool has_turn(const struct tp_wayland *w, const struct tp_wayland_stream *s, int64_t now)
{
    if (!w->frame || now >= patience_ends(w))
        return true;
    return s->queue.first && s->queue.first->picture.mode == VK_PRESENT_MODE_MAILBOX_KHR &&
        !keeps_turns(w->last_mode);
}

/* The compositor does not wait for this fence. */
static bool must_wait(const struct tp_wayland *w, const struct tp_wayland_stream *s)
{
    const struct tp_picture *p = &s->ready->picture;

    return p->fence >= 0 && !(w->sync && s->images[p->index].dmabuf) &&
        !tp_fence_signalled(p->fence);
}

/* The stream's next picture, where it has its turn; older ones of MAILBOX give way in any case. */
static void choose(struct tp_wayland_stream *s, bool turn, int64_t now)
{
    struct tp_queued *dropped;
    int64_t until;

    if (s->ready)
        return;
    s->ready = tp_present_queue_take(&s->queue, turn, now, &dropped, &until);
    tp_queued_give_up(dropped, s->events, s->data);
}

static struct tp_queued *take(struct tp_wayland *w, struct tp_wayland_stream *s, int64_t now)
{
    choose(s, has_turn(w, s, now), now);
    struct tp_queued *picture = s->ready;
    if (!picture || must_wait(w, s))
        return NULL;
    s->ready = NULL;
    return picture;
}

static bool has_buffer(struct tp_wayland *w, struct tp_wayland_image *image)
{
    return image->buffer || tp_wayland_make_shared(w, image) == 0;
}

/* The oldest stream's come first, until a newer one's first has gone out. */
static bool send_one(struct tp_wayland *w, int64_t now)
{
    struct tp_wayland_stream *s, *older;

    wl_list_for_each(s, &w->streams, link)
    {
        struct tp_queued *picture = take(w, s, now);
        if (!picture)
            continue;
        if (!has_buffer(w, &s->images[picture->picture.index])) {
            tp_queued_give_up(picture, s->events, s->data);
            return true;
        }
        commit(w, s, picture);
        tp_queued_free(picture);
        wl_list_for_each(older, &w->streams, link)
        {
            if (older == s)
                break;
            tp_wayland_drop(older, true);
        }
        return true;
    }
    return false;
}

void tp_wayland_pump(struct tp_wayland *w)
{
    struct tp_wayland_stream *s;

    if (!w->dead)
        tp_wayland_check_shown(w, tp_icd_now_ns());
    /* What others have written goes first: then there is room for a commit. */
    if (!w->dead && !w->blocked)
        tp_wayland_flush(w);
    while (!w->dead && !w->blocked && send_one(w, tp_icd_now_ns()))
        tp_wayland_flush(w);
    if (!w->dead && w->blocked) {
        wl_list_for_each(s, &w->streams, link) choose(s, false, tp_icd_now_ns());
    }
    if (!w->dead && tp_wayland_until(w) < w->loop_until_ns)
        tp_loop_wake(w->loop);
}

/* A compositor that has gone may have said why: the read tells. */
static bool flush(struct tp_wayland *w)
{
    int r = wl_display_flush(w->display);

    if (r < 0 && errno != EAGAIN && errno != EPIPE)
        tp_wayland_lose(w);
    if (r < 0 && errno == EAGAIN && !w->blocked) {
        w->blocked = true;
        if (w->loop)
            tp_loop_wake(w->loop); /* to wait for the socket */
    }
    if (r >= 0)
        w->blocked = false;
    return r >= 0;
}

void tp_wayland_flush(struct tp_wayland *w)
{
    while (flush(w) && !wl_list_empty(&w->closed))
        tp_wayland_bury(w, false);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t tp_wayland_until(const struct tp_wayland *w)
{
    int64_t now = tp_icd_now_ns(), until = tp_wayland_shown_until(w);
    struct tp_wayland_stream *s;

    if (w->blocked)
        return until;
    wl_list_for_each(s, &w->streams, link)
    {
        const struct tp_queued *first = s->queue.first;
        if (s->ready)
            until = earlier(until, now + FENCE_NS);
        else if (first && first->picture.not_before_ns > now)
            until = earlier(until, first->picture.not_before_ns);
        else if (first && w->frame)
            until = earlier(until, patience_ends(w));
    }
    return until;
}

/* --- the end --- */

static void say_why(struct tp_wayland *w)
{
    const struct wl_interface *interface = NULL;
    uint32_t id = 0, code;
    int err = wl_display_get_error(w->display);

    if (err == EPROTO) {
        code = wl_display_get_protocol_error(w->display, &interface, &id);
        tp_icd_log("the Wayland compositor has ended the connection: error %u of %s", code,
            interface ? interface->name : "an object that is gone");
    } else {
        tp_icd_log("the Wayland compositor is gone: %s", strerror(err ? err : EPIPE));
    }
}

void tp_wayland_lose(struct tp_wayland *w)
{
    struct tp_wayland_stream *s;

    if (w->dead)
        return;
    w->dead = true;
    say_why(w);
    wl_list_for_each(s, &w->streams, link)
    {
        tp_wayland_drop(s, true);
        tp_wayland_forget_shown(s, true);
        s->events->changed(s->data, TP_TARGET_LOST);
    }
}
