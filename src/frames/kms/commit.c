/*
 * Carrying a commit out: the state becomes the current one, and each CRTC that is or was on gets a
 * picture (a slot), which is under way until the caller says that it was flipped. A CRTC has at
 * most one picture that others must wait for; changes that nobody waits for (a moved cursor, a
 * removed framebuffer) mark it dirty, and are shown with the next picture.
 */
#include "frames/kms/internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool tp_commit_busy(const struct tp_kms *kms, unsigned crtc)
{
    for (unsigned i = 0; i < TP_KMS_SLOTS; i++) {
        const struct tp_slot *s = &kms->crtcs[crtc].slots[i];
        if (s->used && !s->shown && !s->cursor)
            return true;
    }
    return false;
}

static bool under_way(const struct tp_crtc *c)
{
    for (unsigned i = 0; i < TP_KMS_SLOTS; i++)
        if (c->slots[i].used && !c->slots[i].shown)
            return true;
    return false;
}

/* Lets go what a picture holds. */
static void release(struct tp_kms *kms, struct tp_slot *s)
{
    for (unsigned i = 0; i < s->scanout.n_layers; i++) {
        tp_kms_fb_unref(s->scanout.layers[i].fb);
        if (s->scanout.layers[i].in_fence >= 0)
            close(s->scanout.layers[i].in_fence);
    }
    tp_blob_put(kms, s->hdr);
    tp_blob_put(kms, s->gamma);
    tp_event_cancel(kms, s->event);
    if (s->out_fence >= 0)
        close(s->out_fence);
    s->used = false;
}

static struct tp_kms_mode mode_of(const struct tp_kms *kms, unsigned crtc)
{
    const struct drm_mode_modeinfo *m = &kms->crtcs[crtc].state.mode;
    struct tp_kms_mode out = {m->hdisplay, m->vdisplay, tp_mode_refresh_mhz(m)};
    /* Clients hand back a clock in kHz: the connector's own figure is the exact one. */
    const struct tp_kms_output *o = &kms->connectors[crtc].output;
    uint32_t best = UINT32_MAX;
    uint32_t refresh = out.refresh_mhz;
    for (unsigned i = 0; i < o->n_modes; i++) {
        const struct tp_kms_mode *k = &o->modes[i];
        uint32_t off =
            k->refresh_mhz > refresh ? k->refresh_mhz - refresh : refresh - k->refresh_mhz;
        if (k->width_px == out.width_px && k->height_px == out.height_px && off < best &&
            off < 1000) {
            best = off;
            out.refresh_mhz = k->refresh_mhz;
        }
    }
    return out;
}

static void fill_layers(struct tp_kms *kms, unsigned crtc, struct tp_kms_scanout *out)
{
    struct tp_drm_call *call = kms->state.call;
    for (unsigned i = 0; i < kms->n_planes; i++) {
        struct tp_plane *p = &kms->planes[i];
        struct tp_plane_state *s = &p->state;
        int fence = s->fence;
        if (p->crtc != crtc)
            continue;
        s->fence = TP_FENCE_SHOWN;
        if (s->crtc != (int)crtc || !s->fb || !s->visible)
            continue;
        /* A fence of the commit's takes the place of those in the memory. */
        if (fence >= 0 && call)
            fence = tp_call_take_fd(call, fence);
        else
            fence = fence == TP_FENCE_SHOWN ? -1 : tp_fence_of_writers(s->fb);
        out->layers[out->n_layers++] = (struct tp_kms_layer){
            .kind = p->kind,
            .fb = tp_kms_fb_ref(s->fb),
            .src_x = s->src_x,
            .src_y = s->src_y,
            .src_w = s->src_w,
            .src_h = s->src_h,
            .x = s->crtc_x,
            .y = s->crtc_y,
            .width = s->crtc_w,
            .height = s->crtc_h,
            .rotation = s->rotation,
            .alpha = s->alpha,
            .coverage = s->blend == 1,
            .in_fence = fence,
        };
    }
}

/* The current state of a CRTC as a picture, and on its way. */
static struct tp_slot *show(struct tp_kms *kms, unsigned crtc, bool cursor, bool modeset,
                            bool async)
{
    struct tp_crtc *c = &kms->crtcs[crtc];
    struct tp_slot *s = c->slots;
    while (s->used)
        s++; /* one is shown, one may be a cursor's, one is waited for: there is a fourth */
    s->used = true;
    s->shown = false;
    s->cursor = cursor;
    s->event = NULL;
    s->out_fence = -1;
    s->hdr = s->gamma = NULL;
    struct tp_kms_scanout *o = &s->scanout;
    memset(o, 0, sizeof *o);
    o->crtc = crtc;
    o->serial = ++kms->serial;
    o->active = c->state.active;
    o->async = async;
    o->vrr = c->state.vrr && kms->connectors[crtc].output.vrr_max_mhz;
    o->modeset = modeset;
    o->mode = mode_of(kms, crtc);
    const struct tp_connector_state *k = &kms->connectors[crtc].state;
    o->colorspace = k->colorspace;
    tp_blob_assign(kms, &s->hdr, k->hdr);
    tp_blob_assign(kms, &s->gamma, c->state.gamma);
    if (s->hdr) {
        o->hdr_metadata = s->hdr->data;
        o->hdr_metadata_bytes = s->hdr->length;
    }
    if (s->gamma) {
        o->gamma = s->gamma->data;
        o->gamma_entries = s->gamma->length / sizeof(struct drm_color_lut);
    }
    if (o->active)
        fill_layers(kms, crtc, o);
    c->dirty = false;
    return s;
}

/* Shows what is dirty, where nothing is under way. */
static void show_dirty(struct tp_kms *kms)
{
    for (unsigned i = 0; i < kms->n_outputs; i++) {
        struct tp_crtc *c = &kms->crtcs[i];
        if (!c->dirty || under_way(c))
            continue;
        if (c->state.active)
            kms->ops.commit(kms->data, &show(kms, i, true, false, false)->scanout);
        c->dirty = false;
    }
}

/* For each CRTC in it that asks for one: a fence for the caller, and ours into fences. */
static int make_fences(struct tp_kms *kms, int fences[TP_KMS_OUTPUTS])
{
    struct tp_state *st = &kms->state;
    int r = 0;
    unsigned given = st->call ? st->call->n_out_fds : 0;
    for (unsigned i = 0; i < TP_KMS_OUTPUTS; i++)
        fences[i] = -1;
    for (unsigned i = 0; i < kms->n_outputs && r == 0; i++) {
        if (!st->out_fence[i])
            continue;
        int ends[2];
        r = kms->ops.fence_make(kms->data, ends);
        if (r < 0)
            break;
        fences[i] = ends[0];
        r = tp_call_give_fd(st->call, ends[1]);
        if (r < 0)
            break;
        *st->out_fence[i] = (uint64_t)r;
        r = 0;
    }
    if (r == 0)
        return 0;
    for (unsigned i = 0; i < TP_KMS_OUTPUTS; i++)
        if (fences[i] >= 0)
            close(fences[i]);
    while (st->call && st->call->n_out_fds > given)
        close(st->call->out_fds[--st->call->n_out_fds]);
    return r;
}

/* What changes at once, and shows when there is room. */
static int commit_now(struct tp_kms *kms)
{
    uint32_t crtcs = kms->state.crtcs;
    tp_state_swap(kms);
    for (unsigned i = 0; i < kms->n_outputs; i++)
        if (crtcs >> i & 1)
            kms->crtcs[i].dirty = true;
    tp_state_clear(kms);
    show_dirty(kms);
    return 0;
}

/* The CRTCs that show something other afterwards, or nothing any more; of those, which have another
 * mode, and which go off. */
static uint32_t affected(const struct tp_kms *kms, uint32_t *modesets, uint32_t *off)
{
    const struct tp_state *st = &kms->state;
    uint32_t crtcs = 0;
    *modesets = *off = 0;
    for (unsigned i = 0; i < TP_KMS_OUTPUTS; i++) {
        const struct tp_crtc_state *s = &st->crtc[i];
        if (!(st->crtcs >> i & 1))
            continue;
        bool was = kms->crtcs[i].state.active;
        crtcs |= (uint32_t)(was || s->active) << i;
        *modesets |= (uint32_t)(s->mode_changed || s->active_changed) << i;
        *off |= (uint32_t)(was && !s->active) << i;
    }
    return crtcs;
}

int tp_atomic_commit(struct tp_kms *kms, enum tp_commit_how how, void *waiter)
{
    struct tp_state *st = &kms->state;
    int fences[TP_KMS_OUTPUTS];
    kms->again = false;
    int r = tp_atomic_check(kms);
    if (r == 0 && how == TP_COMMIT_NOW)
        return commit_now(kms);
    bool busy = false;
    for (unsigned i = 0; i < kms->n_outputs; i++)
        busy |= st->crtcs >> i & 1 && tp_commit_busy(kms, i);
    if (r == 0 && busy && how == TP_COMMIT_NONBLOCK)
        r = -EBUSY;
    if (r == 0 && busy && how == TP_COMMIT_BLOCKING) {
        tp_waiter_add(st->file, TP_WAIT_AGAIN, st->call, waiter);
        kms->again = true;
        r = TP_KMS_WAITS;
    }
    if (r == 0)
        r = make_fences(kms, fences);
    if (r != 0) {
        tp_state_clear(kms);
        return r;
    }

    uint32_t modesets, off, crtcs = affected(kms, &modesets, &off);
    tp_state_swap(kms);

    struct tp_waiter *w = NULL;
    const struct tp_kms_scanout *pictures[TP_KMS_OUTPUTS];
    unsigned n = 0;
    if (crtcs && how == TP_COMMIT_BLOCKING)
        w = tp_waiter_add(st->file, TP_WAIT_COMMIT, st->call, waiter);
    for (unsigned i = 0; i < kms->n_outputs; i++) {
        if (!(crtcs >> i & 1))
            continue;
        struct tp_slot *s = show(kms, i, false, modesets >> i & 1, st->async);
        s->event = st->events[i];
        st->events[i] = NULL;
        s->out_fence = fences[i];
        if (w)
            w->serials[i] = s->scanout.serial;
        pictures[n++] = &s->scanout;
    }
    tp_state_clear(kms);
    for (unsigned i = 0; i < kms->n_outputs; i++)
        if (off >> i & 1)
            tp_vblank_off(kms, i);
    for (unsigned i = 0; i < n; i++)
        kms->ops.commit(kms->data, pictures[i]);
    return w ? TP_KMS_WAITS : 0;
}

/* A picture reached the screen, or will not: its event, its fence. */
static void complete(struct tp_kms *kms, struct tp_slot *s, uint64_t sequence, int64_t time_ns)
{
    struct tp_event *e = s->event;
    s->event = NULL;
    if (e)
        tp_event_send(kms, e, sequence, time_ns);
    if (s->out_fence >= 0) {
        close(s->out_fence); /* signals it */
        s->out_fence = -1;
    }
}

static void end_waiters(struct tp_kms *kms, unsigned crtc, uint64_t serial, int error)
{
    for (struct tp_waiter *w = kms->waiters, *next; w; w = next) {
        next = w->next;
        if (w->kind != TP_WAIT_COMMIT || !w->serials[crtc] || w->serials[crtc] > serial)
            continue;
        if (error && w->serials[crtc] == serial)
            w->error = error;
        w->serials[crtc] = 0;
        bool left = false;
        for (unsigned i = 0; i < TP_KMS_OUTPUTS; i++)
            left |= w->serials[i] != 0;
        if (!left)
            tp_waiter_end(kms, w, w->error);
    }
}

void tp_kms_flipped(struct tp_kms *kms, unsigned crtc, uint64_t serial, uint64_t sequence,
                    int64_t time_ns, int error)
{
    if (crtc >= kms->n_outputs)
        return;
    struct tp_crtc *c = &kms->crtcs[crtc];
    struct tp_slot *told = NULL, *shown = NULL;
    for (unsigned i = 0; i < TP_KMS_SLOTS; i++)
        if (c->slots[i].used && !c->slots[i].shown && c->slots[i].scanout.serial == serial)
            told = &c->slots[i];
    if (!told)
        return;
    if (time_ns > kms->now_ns)
        kms->now_ns = time_ns;
    /* In the order of their serials: at most three. */
    for (;;) {
        struct tp_slot *s = NULL;
        for (unsigned i = 0; i < TP_KMS_SLOTS; i++) {
            struct tp_slot *k = &c->slots[i];
            if (k->used && !k->shown && k->scanout.serial <= serial &&
                (!s || k->scanout.serial < s->scanout.serial))
                s = k;
        }
        if (!s)
            break;
        complete(kms, s, sequence, time_ns);
        s->shown = true;
    }
    if (error)
        release(kms, told);
    for (unsigned i = 0; i < TP_KMS_SLOTS; i++)
        if (c->slots[i].used && c->slots[i].shown &&
            (!shown || c->slots[i].scanout.serial > shown->scanout.serial))
            shown = &c->slots[i];
    for (unsigned i = 0; i < TP_KMS_SLOTS; i++)
        if (c->slots[i].used && c->slots[i].shown && &c->slots[i] != shown)
            release(kms, &c->slots[i]);
    end_waiters(kms, crtc, serial, error);
    tp_waiters_again(kms);
    show_dirty(kms);
    tp_kms_tell(kms);
}

void tp_commits_forget(struct tp_kms_file *file)
{
    struct tp_kms *kms = file->kms;
    for (unsigned i = 0; i < kms->n_outputs; i++)
        for (unsigned k = 0; k < TP_KMS_SLOTS; k++) {
            struct tp_slot *s = &kms->crtcs[i].slots[k];
            if (s->used && s->event && s->event->file == file) {
                tp_event_cancel(kms, s->event);
                s->event = NULL;
            }
        }
}

void tp_commits_finish(struct tp_kms *kms)
{
    for (unsigned i = 0; i < kms->n_outputs; i++)
        for (unsigned k = 0; k < TP_KMS_SLOTS; k++)
            if (kms->crtcs[i].slots[k].used)
                release(kms, &kms->crtcs[i].slots[k]);
}
