/* Pictures to transactions of SurfaceFlinger's. */
#include <drm_fourcc.h>
#include <drm_mode.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/proc.h"
#include "frames/panel/android_internal.h"

#define SILENCE_MS 1000

_Thread_local bool tp_android_handing_over;

/* What a slot gets in this transaction. */
struct plan {
    AHardwareBuffer *buffer;          /* borrowed; NULL: the slot stays as it is */
    const struct tp_kms_layer *layer; /* NULL: a blank */
    uint64_t tag;                     /* the ledger's; 0: a blank */
    bool copied;                      /* the tag is the copy's */
    int z, fence;                     /* fence: owned */
};

bool tp_android_is_sync_file(int fence)
{
    struct sync_file_info info = {.num_fences = 0};
    return ioctl(fence, SYNC_IOC_FILE_INFO, &info) == 0;
}

bool tp_android_wait_fence(int fence)
{
    struct pollfd p = {.fd = fence, .events = POLLIN};
    int64_t until = tp_now_ns() + SILENCE_MS * INT64_C(1000000);
    int r;
    do
        r = poll(&p, 1, (int)((until - tp_now_ns()) / 1000000));
    while (r < 0 && errno == EINTR && tp_now_ns() < until);
    return r > 0;
}

/* The primary plane's slot is the first, the cursor's the last. */
static int slot_of(const struct tp_kms_layer *layer, unsigned *overlays)
{
    switch (layer->kind) {
    case TP_KMS_PRIMARY:
        return 0;
    case TP_KMS_CURSOR:
        return TP_KMS_LAYERS - 1;
    default:
        return *overlays < TP_KMS_OVERLAYS ? (int)++*overlays : -1;
    }
}

static bool import(struct tp_android *a, const struct tp_kms_fb_info *fb, struct plan *p)
{
    const char *why;
    if (!a->direct)
        return false;
    p->buffer = tp_android_import(&a->buffers, fb, &why);
    if (why)
        tp_android_say(a, SAID_IMPORT,
            "a guest's buffer of %ux%u pixels (%.4s) is copied for each frame: %s", fb->width,
            fb->height, (const char *)&fb->fourcc, why);
    return p->buffer != NULL;
}

/* Its own fence is through already, or is waited for here. */
static bool copy(
    struct tp_android *a, unsigned slot, const struct tp_kms_fb_info *fb, int fence, struct plan *p)
{
    if (fence >= 0 && !tp_android_wait_fence(fence))
        return false;
    int i = tp_android_copy(&a->buffers, slot, fb, &p->buffer);
    if (i == -EAGAIN)
        a->repaint = true;
    else if (i < 0)
        tp_android_say(a, SAID_COPY, "a guest's buffer (%.4s) cannot be shown: %s",
            (const char *)&fb->fourcc, strerror(-i));
    if (i < 0) {
        p->buffer = NULL;
        return false;
    }
    p->copied = true;
    p->tag = UINT64_C(1) << 63 | slot << 8 | (unsigned)i;
    return true;
}

static bool make_control(struct tp_android *a, unsigned slot)
{
    struct tp_android_layer *l = &a->layers[slot];
    char name[32] = "turnpike";
    if (l->control)
        return true;
    if (slot > 0) {
        const char *kind = slot == TP_KMS_LAYERS - 1 ? "turnpike cursor" : "turnpike overlay";
        memcpy(name, kind, strlen(kind) + 1);
    }
    l->control = a->api.ASurfaceControl_createFromWindow(a->window, name);
    l->looked = false;
    if (!l->control)
        tp_android_say(a, SAID_LAYER, "SurfaceFlinger makes no layer for this window");
    return l->control != NULL;
}

static void plan_layer(struct tp_android *a, unsigned i, unsigned slot, struct plan *p)
{
    struct tp_kms_layer *layer = &a->picture.layers[i];
    struct tp_kms_fb_info fb;
    tp_kms_fb_info(layer->fb, &fb);
    if (!make_control(a, slot))
        return;
    p->layer = layer;
    p->z = (int)i;
    p->tag = a->picture.serial << 4 | (i + 1);
    if (!import(a, &fb, p)) {
        copy(a, slot, &fb, layer->in_fence, p);
        return;
    }
    if (layer->in_fence < 0)
        return;
    p->fence = fcntl(layer->in_fence, F_DUPFD_CLOEXEC, 0);
    if (p->fence < 0 && !tp_android_wait_fence(layer->in_fence))
        p->buffer = NULL;
}

/* A rectangle on the mode's screen to where the window has it: as large as fits, in the middle. */
static struct tp_a_rect place(const struct tp_android *a, const struct tp_kms_layer *l)
{
    int64_t width = a->width, height = a->height;
    int64_t mode_w = a->picture.mode.width_px, mode_h = a->picture.mode.height_px;
    if (width <= 0 || height <= 0 || mode_w == 0 || mode_h == 0)
        width = mode_w = height = mode_h = 1;
    int64_t w = width, h = height;
    if (width * mode_h <= height * mode_w)
        h = width * mode_h / mode_w;
    else
        w = height * mode_w / mode_h;
    int64_t x = (width - w) / 2, y = (height - h) / 2;
    return (struct tp_a_rect){
        .left = (int32_t)(x + l->x * w / mode_w),
        .top = (int32_t)(y + l->y * h / mode_h),
        .right = (int32_t)(x + (l->x + (int64_t)l->width) * w / mode_w),
        .bottom = (int32_t)(y + (l->y + (int64_t)l->height) * h / mode_h),
    };
}

/* DRM turns counter-clockwise, Android clockwise; both reflect first. */
static int32_t transform_of(uint32_t rotation)
{
    int32_t t = 0;
    if (rotation & DRM_MODE_ROTATE_90)
        t = TP_A_ROTATE_90 | TP_A_MIRROR_HORIZONTAL | TP_A_MIRROR_VERTICAL;
    else if (rotation & DRM_MODE_ROTATE_180)
        t = TP_A_MIRROR_HORIZONTAL | TP_A_MIRROR_VERTICAL;
    else if (rotation & DRM_MODE_ROTATE_270)
        t = TP_A_ROTATE_90;
    if (rotation & DRM_MODE_REFLECT_X)
        t ^= TP_A_MIRROR_HORIZONTAL;
    if (rotation & DRM_MODE_REFLECT_Y)
        t ^= TP_A_MIRROR_VERTICAL;
    return t;
}

static bool is_opaque(const struct tp_kms_layer *l, const struct tp_kms_fb_info *fb)
{
    switch (fb->fourcc) {
    case DRM_FORMAT_ABGR8888:
    case DRM_FORMAT_ARGB8888:
    case DRM_FORMAT_ABGR2101010:
    case DRM_FORMAT_ABGR16161616F:
        return l->kind == TP_KMS_PRIMARY;
    default:
        return true;
    }
}

static struct tp_android_look look_of(
    const struct tp_android *a, const struct tp_kms_layer *l, int z)
{
    struct tp_kms_fb_info fb;
    tp_kms_fb_info(l->fb, &fb);
    bool hdr = a->hdr && a->picture.hdr_metadata && l->kind != TP_KMS_CURSOR;
    return (struct tp_android_look){
        .source = {(int32_t)(l->src_x >> 16), (int32_t)(l->src_y >> 16),
            (int32_t)((l->src_x + l->src_w) >> 16), (int32_t)((l->src_y + l->src_h) >> 16)},
        .destination = place(a, l),
        .transform = transform_of(l->rotation),
        .data_space = hdr ? TP_A_BT2020_PQ : TP_A_SRGB,
        .z = z,
        .alpha = l->alpha,
        .opaque = is_opaque(l, &fb),
        .visible = true,
        .back_pressure = !a->picture.async,
    };
}

/* hdr_output_metadata counts chromaticities in 0.00002, min_luminance in 0.0001 cd/m2. */
static void send_hdr(struct tp_android *a, ASurfaceTransaction *t, ASurfaceControl *control)
{
    const struct hdr_metadata_infoframe *f = &a->hdr_metadata.hdmi_metadata_type1;
    unsigned red = 0, green = 0; /* in whichever order: CTA-861 tells them by their coordinates */
    for (unsigned i = 1; i < 3; i++) {
        if (f->display_primaries[i].x > f->display_primaries[red].x)
            red = i;
        if (f->display_primaries[i].y > f->display_primaries[green].y)
            green = i;
    }
    unsigned blue = red != green ? 3 - red - green : 2;
#define POINT(p)                                                                                   \
    {                                                                                              \
        (float)(p).x * 0.00002f, (float)(p).y * 0.00002f                                           \
    }
    struct tp_a_smpte2086 mastering = {
        .red = POINT(f->display_primaries[red]),
        .green = POINT(f->display_primaries[green]),
        .blue = POINT(f->display_primaries[blue]),
        .white = POINT(f->white_point),
        .max_luminance = (float)f->max_display_mastering_luminance,
        .min_luminance = (float)f->min_display_mastering_luminance * 0.0001f,
    };
#undef POINT
    struct tp_a_cta861_3 light = {(float)f->max_cll, (float)f->max_fall};
    a->api.ASurfaceTransaction_setHdrMetadata_smpte2086(t, control, &mastering);
    a->api.ASurfaceTransaction_setHdrMetadata_cta861_3(t, control, &light);
}

static void send_look(struct tp_android *a, ASurfaceTransaction *t, struct tp_android_layer *l,
    const struct tp_android_look *want)
{
    const struct tp_android_api *api = &a->api;
    const struct tp_android_look *had = &l->look;
    bool all = !l->looked;
    if (all || memcmp(&had->source, &want->source, sizeof want->source) != 0 ||
        memcmp(&had->destination, &want->destination, sizeof want->destination) != 0 ||
        had->transform != want->transform)
        api->ASurfaceTransaction_setGeometry(
            t, l->control, &want->source, &want->destination, want->transform);
    if (all || had->z != want->z)
        api->ASurfaceTransaction_setZOrder(t, l->control, want->z);
    if (all || had->alpha != want->alpha)
        api->ASurfaceTransaction_setBufferAlpha(t, l->control, (float)want->alpha / 65535.0f);
    if (all || had->opaque != want->opaque)
        api->ASurfaceTransaction_setBufferTransparency(
            t, l->control, want->opaque ? TP_A_OPAQUE : TP_A_TRANSLUCENT);
    if (all || had->data_space != want->data_space)
        api->ASurfaceTransaction_setBufferDataSpace(t, l->control, want->data_space);
    if (want->data_space == TP_A_BT2020_PQ)
        send_hdr(a, t, l->control);
    if (all || had->back_pressure != want->back_pressure)
        api->ASurfaceTransaction_setEnableBackPressure(t, l->control, want->back_pressure);
    if (all || had->visible != want->visible)
        api->ASurfaceTransaction_setVisibility(t, l->control, want->visible);
    l->look = *want;
    l->looked = true;
}

/* Says what is to be set, before any call: callbacks may come from inside them. */
static struct tp_android_transaction *announce(
    struct tp_android *a, uint64_t serial, const struct plan plans[TP_KMS_LAYERS])
{
    int64_t now = tp_now_ns();
    pthread_mutex_lock(&a->mutex);
    struct tp_android_transaction *t = tp_android_transaction_get(a);
    t->serial = serial;
    t->callbacks = 1;
    for (unsigned slot = 0; slot < TP_KMS_LAYERS; slot++) {
        const struct plan *p = &plans[slot];
        if (!p->buffer)
            continue;
        bool own = a->api.ASurfaceTransaction_setBufferWithRelease && p->tag;
        t->sets[slot].layer = a->layers[slot].control;
        t->sets[slot].own = own;
        t->callbacks += own;
        if (p->copied) {
            tp_ledger_show(&a->ledger, p->tag, false);
            atomic_store(&a->buffers.copies[slot][p->tag & 0xff].busy, true);
        }
        tp_ledger_set(&a->ledger, slot, t->id, p->tag, now, own);
        a->counts.copied += p->copied;
        a->counts.imported += p->tag && !p->copied;
    }
    a->counts.transactions++;
    pthread_mutex_unlock(&a->mutex);
    return t;
}

static void vote(struct tp_android *a, ASurfaceTransaction *t)
{
    if (a->voted || !a->layers[0].control)
        return;
    for (unsigned slot = 0; slot < TP_KMS_LAYERS; slot++)
        if (a->layers[slot].control) /* what lies over the picture has no wish */
            a->api.ASurfaceTransaction_setFrameRateWithChangeStrategy(t, a->layers[slot].control,
                slot == 0 ? (float)a->mode.refresh_mhz / 1000.0f : 0.0f, 0, 0);
    a->voted = true;
}

/*
 * Which refresh a picture that waits for its turn is meant for. A system that knows frame timelines
 * has it from those. Else it is not to be shown before the refresh after the next: on a screen that
 * is faster than the Choreographer, or one that is told of late, it might be in the latch before or
 * in the one after as chance has it, and pictures would stay for unequal times. Not for async
 * pictures: a later one could not overtake.
 */
static void set_time(struct tp_android *a, ASurfaceTransaction *t)
{
    pthread_mutex_lock(&a->mutex);
    int64_t vsync_id = a->vsync_id;
    struct tp_panel_tick tick = a->clock.tick;
    pthread_mutex_unlock(&a->mutex);
    if (a->picture.async)
        return;
    if (a->api.ASurfaceTransaction_setFrameTimeline && vsync_id >= 0)
        a->api.ASurfaceTransaction_setFrameTimeline(t, vsync_id);
    else if (tick.sequence > 0) /* a quarter: what is between is not that refresh's to round */
        a->api.ASurfaceTransaction_setDesiredPresentTime(
            t, tick.time_ns + (a->panel.pipeline + 1) * tick.period_ns - tick.period_ns / 4);
}

/* The plans' fences are moved. */
static void send(struct tp_android *a, uint64_t serial, struct plan plans[TP_KMS_LAYERS])
{
    const struct tp_android_api *api = &a->api;
    struct tp_android_transaction *context = announce(a, serial, plans);
    ASurfaceTransaction *t = api->ASurfaceTransaction_create();
    tp_android_handing_over = true;
    for (unsigned slot = 0; slot < TP_KMS_LAYERS; slot++) {
        struct plan *p = &plans[slot];
        struct tp_android_layer *l = &a->layers[slot];
        if (!p->buffer)
            continue;
        if (context->sets[slot].own)
            api->ASurfaceTransaction_setBufferWithRelease(
                t, l->control, p->buffer, p->fence, &context->sets[slot], tp_android_on_release);
        else
            api->ASurfaceTransaction_setBuffer(t, l->control, p->buffer, p->fence);
        struct tp_android_look look = l->look;
        if (p->layer)
            look = look_of(a, p->layer, p->z);
        else
            look.visible = false;
        send_look(a, t, l, &look);
    }
    vote(a, t);
    if (serial)
        set_time(a, t);
    api->ASurfaceTransaction_setOnCommit(t, context, tp_android_on_commit);
    api->ASurfaceTransaction_setOnComplete(t, context, tp_android_on_complete);
    api->ASurfaceTransaction_apply(t);
    tp_android_handing_over = false;
    api->ASurfaceTransaction_delete(t);
}

void tp_android_apply(struct tp_android *a)
{
    struct plan plans[TP_KMS_LAYERS] = {{.buffer = NULL}};
    unsigned overlays = 0, n = 0;
    a->repaint = false;
    for (unsigned slot = 0; slot < TP_KMS_LAYERS; slot++)
        plans[slot].fence = -1;
    for (unsigned i = 0; i < a->picture.n_layers; i++) {
        int slot = slot_of(&a->picture.layers[i], &overlays);
        if (slot >= 0)
            plan_layer(a, i, (unsigned)slot, &plans[slot]);
        if (slot == TP_KMS_LAYERS - 1)
            tp_android_say(a, SAID_CURSOR,
                "a cursor layer is shown: the display may compose on the GPU from now on");
    }
    for (unsigned slot = 0; slot < TP_KMS_LAYERS; slot++) {
        struct tp_android_layer *l = &a->layers[slot];
        if (!plans[slot].layer && l->control && l->looked && l->look.visible)
            plans[slot].buffer = tp_android_blank(&a->buffers);
        n += plans[slot].buffer != NULL;
    }
    if (n > 0)
        send(a, a->picture.serial, plans);
}

void tp_android_apply_blanks(struct tp_android *a)
{
    struct plan plans[TP_KMS_LAYERS] = {{.buffer = NULL}};
    unsigned n = 0;
    for (unsigned slot = 0; slot < TP_KMS_LAYERS; slot++) {
        plans[slot].fence = -1;
        if (a->layers[slot].control && a->layers[slot].looked && a->layers[slot].look.visible)
            plans[slot].buffer = tp_android_blank(&a->buffers);
        n += plans[slot].buffer != NULL;
    }
    if (n > 0)
        send(a, 0, plans);
}

void tp_android_drop_layers(struct tp_android *a)
{
    const struct tp_android_api *api = &a->api;
    ASurfaceTransaction *t = NULL;
    for (unsigned slot = 0; slot < TP_KMS_LAYERS; slot++) {
        if (!a->layers[slot].control)
            continue;
        if (!t)
            t = api->ASurfaceTransaction_create();
        api->ASurfaceTransaction_reparent(t, a->layers[slot].control, NULL);
    }
    if (t) {
        api->ASurfaceTransaction_apply(t);
        api->ASurfaceTransaction_delete(t);
    }
    for (unsigned slot = 0; slot < TP_KMS_LAYERS; slot++) {
        if (a->layers[slot].control)
            api->ASurfaceControl_release(a->layers[slot].control);
        a->layers[slot] = (struct tp_android_layer){.control = NULL};
    }
    a->voted = false;
    pthread_mutex_lock(&a->mutex);
    for (unsigned slot = 0; slot < TP_KMS_LAYERS; slot++)
        tp_ledger_clear(&a->ledger, slot);
    pthread_mutex_unlock(&a->mutex);
}
