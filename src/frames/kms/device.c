/* The device: what it is made of, who has it open, and screens that come and go. */
#include "frames/kms/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define DEFAULT_CURSOR  256u
#define MAX_REFRESH_MHZ 1000000u
#define MAX_CLOCK_KHZ   (1u << 24) /* of a DisplayID timing */
#define DEFAULT_DPI     300u

static uint32_t new_object(struct tp_kms *kms, uint32_t type, unsigned index)
{
    return tp_table_add(&kms->objects, (void *)(uintptr_t)(index + 1), type);
}

int tp_object_find(const struct tp_kms *kms, uint64_t id, uint32_t type)
{
    const struct tp_entry *e = tp_table_get(&kms->objects, id);
    return e && e->tag == type ? (int)(uintptr_t)e->p - 1 : TP_KMS_NONE;
}

void tp_kms_changed(struct tp_kms *kms)
{
    kms->changed = true;
}

void tp_kms_tell(struct tp_kms *kms)
{
    if (!kms->changed)
        return;
    kms->changed = false;
    if (kms->ops.changed)
        kms->ops.changed(kms->data);
}

static int check_output(const struct tp_kms_output *o, unsigned i, struct tp_error *e)
{
    char where[16];
    snprintf(where, sizeof where, "output %u", i);
    if (o->n_modes > TP_KMS_MODES || (o->connected && !o->n_modes))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, "give it between one and sixteen modes",
                       "it has %u modes", o->n_modes);
    for (unsigned k = 0; k < o->n_modes; k++) {
        const struct tp_kms_mode *m = &o->modes[k];
        if (!m->width_px || m->width_px > TP_KMS_MAX_SIZE || !m->height_px ||
            m->height_px > TP_KMS_MAX_SIZE || m->refresh_mhz < 1000 ||
            m->refresh_mhz > MAX_REFRESH_MHZ)
            return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where,
                           "sizes go to 16384 pixels, refresh rates from 1 Hz to 1000 Hz",
                           "mode %ux%u at %u.%03u Hz cannot be", m->width_px, m->height_px,
                           m->refresh_mhz / 1000, m->refresh_mhz % 1000);
        struct drm_mode_modeinfo made;
        tp_mode_make(&made, m->width_px, m->height_px, m->refresh_mhz, false);
        if (made.clock > MAX_CLOCK_KHZ)
            return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, "make it smaller or slower",
                           "mode %ux%u at %u.%03u Hz has more pixels a second than an EDID can say",
                           m->width_px, m->height_px, m->refresh_mhz / 1000, m->refresh_mhz % 1000);
    }
    if (o->vrr_min_mhz > o->vrr_max_mhz)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, "give the lower rate first",
                       "its variable refresh goes from %u mHz down to %u mHz", o->vrr_min_mhz,
                       o->vrr_max_mhz);
    return 0;
}

/* What the connector says of its output. -ENOMEM. */
static int describe(struct tp_kms *kms, unsigned i, const struct tp_kms_output *o)
{
    struct tp_connector *c = &kms->connectors[i];
    struct tp_blob *edid = NULL;
    struct drm_mode_modeinfo modes[TP_KMS_MODES] = {{0}};
    uint32_t width_mm = 0, height_mm = 0;
    for (unsigned k = 0; k < o->n_modes; k++)
        tp_mode_make(&modes[k], o->modes[k].width_px, o->modes[k].height_px,
                     o->modes[k].refresh_mhz, k == 0);
    if (o->connected) {
        /* 25.4 mm an inch, in tenths */
        width_mm = o->width_mm ? o->width_mm : (o->modes[0].width_px * 254 / DEFAULT_DPI + 5) / 10;
        height_mm =
            o->height_mm ? o->height_mm : (o->modes[0].height_px * 254 / DEFAULT_DPI + 5) / 10;
        uint8_t data[TP_EDID_BYTES];
        size_t n = tp_edid_make(o, modes, o->n_modes, width_mm, height_mm, i, data);
        edid = tp_blob_create(kms, data, n);
        if (!edid)
            return -ENOMEM;
    }
    tp_blob_put(kms, c->edid);
    c->edid = edid;
    c->output = *o;
    if (!c->output.connector_type)
        c->output.connector_type = DRM_MODE_CONNECTOR_eDP;
    memcpy(c->modes, modes, sizeof modes);
    c->width_mm = width_mm;
    c->height_mm = height_mm;
    return 0;
}

static void attach(struct tp_kms *kms, unsigned place, const uint8_t *properties, size_t n)
{
    for (size_t i = 0; i < n; i++)
        tp_image_attach(kms, place, properties[i]);
}

static void make_plane(struct tp_kms *kms, unsigned crtc, int kind, unsigned zpos)
{
    static const uint8_t all[] = {
        TP_PROP_TYPE,     TP_PROP_FB_ID,  TP_PROP_IN_FENCE_FD, TP_PROP_CRTC_ID, TP_PROP_CRTC_X,
        TP_PROP_CRTC_Y,   TP_PROP_CRTC_W, TP_PROP_CRTC_H,      TP_PROP_SRC_X,   TP_PROP_SRC_Y,
        TP_PROP_SRC_W,    TP_PROP_SRC_H,  TP_PROP_IN_FORMATS,  TP_PROP_ALPHA,   TP_PROP_BLEND,
        TP_PROP_ROTATION, TP_PROP_DAMAGE,
    };
    unsigned i = kms->n_planes++;
    struct tp_plane *p = &kms->planes[i];
    p->id = new_object(kms, DRM_MODE_OBJECT_PLANE, i);
    p->crtc = crtc;
    p->kind = kind;
    p->zpos = zpos;
    p->state.crtc = TP_KMS_NONE;
    p->state.rotation = DRM_MODE_ROTATE_0;
    p->state.alpha = 0xffff;
    p->state.fence = -1;
    attach(kms, TP_PLACE_OF_PLANE(i), all, sizeof all);
    tp_image_attach(kms, TP_PLACE_OF_PLANE(i), (enum tp_property)(TP_PROP_ZPOS + zpos));
    if (kind == TP_KMS_PRIMARY)
        kms->crtcs[crtc].primary = i;
    if (kind == TP_KMS_CURSOR)
        kms->crtcs[crtc].cursor = i;
}

static int make_output(struct tp_kms *kms, unsigned i, const struct tp_kms_output *o,
                       unsigned n_overlays)
{
    static const uint8_t on_crtc[] = {TP_PROP_ACTIVE,        TP_PROP_MODE_ID,
                                      TP_PROP_OUT_FENCE_PTR, TP_PROP_VRR_ENABLED,
                                      TP_PROP_GAMMA_LUT,     TP_PROP_GAMMA_LUT_SIZE};
    static const uint8_t on_connector[] = {
        TP_PROP_EDID,        TP_PROP_DPMS,         TP_PROP_LINK_STATUS,
        TP_PROP_NON_DESKTOP, TP_PROP_TILE,         TP_PROP_CRTC_ID,
        TP_PROP_MAX_BPC,     TP_PROP_CONTENT_TYPE, TP_PROP_PANEL_ORIENTATION,
        TP_PROP_VRR_CAPABLE,
    };
    static const uint8_t hdr[] = {TP_PROP_COLORSPACE, TP_PROP_HDR};
    struct tp_connector *c = &kms->connectors[i];
    struct tp_crtc *crtc = &kms->crtcs[i];
    make_plane(kms, i, TP_KMS_PRIMARY, 0);
    for (unsigned k = 0; k < n_overlays; k++)
        make_plane(kms, i, TP_KMS_OVERLAY, k + 1);
    make_plane(kms, i, TP_KMS_CURSOR, n_overlays + 1);
    crtc->id = new_object(kms, DRM_MODE_OBJECT_CRTC, i);
    for (unsigned k = 0; k < TP_KMS_GAMMA; k++)
        for (int channel = 0; channel < 3; channel++)
            crtc->gamma_store[channel][k] = (uint16_t)(k << 8 | k);
    c->encoder_id = new_object(kms, DRM_MODE_OBJECT_ENCODER, i);
    c->id = new_object(kms, DRM_MODE_OBJECT_CONNECTOR, i);
    c->state.crtc = TP_KMS_NONE;
    c->state.max_bpc = 10;
    c->type_id = 1;
    for (unsigned k = 0; k < i; k++) {
        uint32_t type = o->connector_type ? o->connector_type : DRM_MODE_CONNECTOR_eDP;
        c->type_id += kms->connectors[k].output.connector_type == type;
    }
    attach(kms, TP_PLACE_OF_CRTC(i), on_crtc, sizeof on_crtc);
    attach(kms, TP_PLACE_OF_CONNECTOR(i), on_connector, sizeof on_connector);
    if (o->hdr)
        attach(kms, TP_PLACE_OF_CONNECTOR(i), hdr, sizeof hdr);
    return describe(kms, i, o);
}

static void set_limits(struct tp_kms_limits *l)
{
    const struct tp_kms_limits usual = {
        .files = 256,
        .fbs = 1024,
        .buffers = 4096,
        .blobs = 4096,
        .syncobjs = 16384,
        .buffer_bytes = UINT64_C(8) << 30,
        .blob_bytes = UINT64_C(64) << 20,
        .sync_fds = 1024,
        .event_bytes = 4096,
    };
    l->files = l->files ? l->files : usual.files;
    l->fbs = l->fbs ? l->fbs : usual.fbs;
    l->buffers = l->buffers ? l->buffers : usual.buffers;
    l->blobs = l->blobs ? l->blobs : usual.blobs;
    l->syncobjs = l->syncobjs ? l->syncobjs : usual.syncobjs;
    l->buffer_bytes = l->buffer_bytes ? l->buffer_bytes : usual.buffer_bytes;
    l->blob_bytes = l->blob_bytes ? l->blob_bytes : usual.blob_bytes;
    l->sync_fds = l->sync_fds ? l->sync_fds : usual.sync_fds;
    l->event_bytes = l->event_bytes ? l->event_bytes : usual.event_bytes;
}

static int make(struct tp_kms *kms, const struct tp_kms_config *config, struct tp_error *e)
{
    static const struct tp_kms_format cursor[] = {{DRM_FORMAT_ARGB8888, DRM_FORMAT_MOD_LINEAR}};
    int r = tp_formats_init(&kms->formats, config->formats, config->n_formats, e);
    if (r == 0)
        r = tp_formats_init(&kms->cursor_formats, cursor, 1, e);
    if (r < 0)
        return r;
    kms->image->fixed.first_property = new_object(kms, DRM_MODE_OBJECT_PROPERTY, 0);
    for (unsigned i = 1; i < TP_PROP_COUNT; i++)
        new_object(kms, DRM_MODE_OBJECT_PROPERTY, i);
    tp_image_properties(&kms->image->fixed);
    kms->in_formats = tp_formats_blob(kms, &kms->formats);
    kms->cursor_in_formats = tp_formats_blob(kms, &kms->cursor_formats);
    if (!kms->in_formats || !kms->cursor_in_formats)
        return tp_fail_errno(e, ENOMEM, NULL, "the pixel formats");
    for (kms->n_outputs = 0; kms->n_outputs < config->n_outputs; kms->n_outputs++) {
        r = make_output(kms, kms->n_outputs, &config->outputs[kms->n_outputs], config->n_overlays);
        if (r < 0)
            return tp_fail_errno(e, r, NULL, "an output");
    }
    tp_image_fixed(kms);
    return 0;
}

int tp_kms_create(const struct tp_kms_config *config, const struct tp_kms_ops *ops, void *data,
                  struct tp_kms **out, struct tp_error *e)
{
    *out = NULL;
    if (config->n_outputs < 1 || config->n_outputs > TP_KMS_OUTPUTS)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL, "one to four can be",
                       "a device with %u outputs", config->n_outputs);
    if (config->n_overlays > TP_KMS_OVERLAYS)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL, "up to six can be",
                       "a device with %u overlay planes", config->n_overlays);
    for (unsigned i = 0; i < config->n_outputs; i++) {
        int r = check_output(&config->outputs[i], i, e);
        if (r < 0)
            return r;
    }
    struct tp_kms *kms = tp_calloc(1, sizeof *kms);
    kms->image = tp_calloc(1, sizeof *kms->image);
    kms->eventfds.file = -1;
    kms->ops = *ops;
    kms->data = data;
    kms->limits = config->limits;
    set_limits(&kms->limits);
    kms->cursor_width = config->cursor_width_px ? config->cursor_width_px : DEFAULT_CURSOR;
    kms->cursor_height = config->cursor_height_px ? config->cursor_height_px : DEFAULT_CURSOR;
    int r = make(kms, config, e);
    if (r < 0) {
        tp_kms_destroy(kms);
        return r;
    }
    kms->changed = false;
    *out = kms;
    return 0;
}

void tp_kms_destroy(struct tp_kms *kms)
{
    if (!kms)
        return;
    while (kms->files)
        tp_kms_close(kms->files);
    tp_commits_finish(kms);
    tp_syncobjs_finish(kms);
    tp_eventfds_finish(&kms->eventfds);
    for (unsigned i = 0; i < kms->n_planes; i++) {
        tp_fb_assign(kms, &kms->planes[i].state.fb, NULL);
        tp_blob_assign(kms, &kms->planes[i].state.damage, NULL);
    }
    for (unsigned i = 0; i < TP_KMS_OUTPUTS; i++) {
        tp_blob_put(kms, kms->crtcs[i].state.mode_blob);
        tp_blob_put(kms, kms->crtcs[i].state.gamma);
        tp_blob_put(kms, kms->connectors[i].state.hdr);
        tp_blob_put(kms, kms->connectors[i].edid);
    }
    tp_blob_put(kms, kms->in_formats);
    tp_blob_put(kms, kms->cursor_in_formats);
    for (struct tp_waiter *w; (w = kms->free_waiters);) {
        kms->free_waiters = w->next;
        free(w);
    }
    for (struct tp_event *v; (v = kms->free_events);) {
        kms->free_events = v->next;
        free(v);
    }
    tp_table_finish(&kms->objects);
    free(kms->image);
    free(kms);
}

static int open_file(struct tp_kms *kms, bool privileged, bool render, int32_t pid, void *data,
                     struct tp_kms_file **out)
{
    *out = NULL;
    if (kms->n_files >= kms->limits.files)
        return -EMFILE;
    struct tp_kms_file *f = tp_calloc(1, sizeof *f);
    f->kms = kms;
    f->data = data;
    f->pid = pid;
    f->privileged = f->authenticated = privileged;
    f->render = render;
    f->account = tp_account_create(kms->limits.sync_fds);
    if (!render)
        tp_master_open(f);
    f->next = kms->files;
    if (f->next)
        f->next->prev = f;
    kms->files = f;
    kms->n_files++;
    *out = f;
    return 0;
}

int tp_kms_open(struct tp_kms *kms, bool privileged, int32_t pid, void *data,
                struct tp_kms_file **out)
{
    return open_file(kms, privileged, false, pid, data, out);
}

int tp_kms_open_render(struct tp_kms *kms, int32_t pid, void *data, struct tp_kms_file **out)
{
    return open_file(kms, false, true, pid, data, out);
}

void tp_kms_close(struct tp_kms_file *file)
{
    struct tp_kms *kms = file->kms;
    tp_waiters_release(file);
    tp_vblanks_release(file);
    tp_commits_forget(file);
    tp_fbs_release(file);
    tp_blobs_release(file);
    tp_buffers_release(file);
    tp_syncobjs_release(file);
    tp_account_put(file->account);
    tp_master_release(file);
    if (file->prev)
        file->prev->next = file->next;
    else
        kms->files = file->next;
    if (file->next)
        file->next->prev = file->prev;
    kms->n_files--;
    free(file);
    tp_kms_tell(kms);
}

void *tp_kms_file_data(const struct tp_kms_file *file)
{
    return file->data;
}

static bool same_output(const struct tp_kms_output *a, const struct tp_kms_output *b)
{
    if (a->connected != b->connected || a->n_modes != b->n_modes || a->width_mm != b->width_mm ||
        a->height_mm != b->height_mm || a->vrr_min_mhz != b->vrr_min_mhz ||
        a->vrr_max_mhz != b->vrr_max_mhz || a->hdr != b->hdr ||
        strncmp(a->name, b->name, sizeof a->name))
        return false;
    for (unsigned i = 0; i < a->n_modes; i++)
        if (a->modes[i].width_px != b->modes[i].width_px ||
            a->modes[i].height_px != b->modes[i].height_px ||
            a->modes[i].refresh_mhz != b->modes[i].refresh_mhz)
            return false;
    return true;
}

int tp_kms_set_output(struct tp_kms *kms, unsigned output, const struct tp_kms_output *o,
                      struct tp_error *e)
{
    if (output >= kms->n_outputs)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL, NULL, "there is no output %u", output);
    int r = check_output(o, output, e);
    if (r < 0)
        return r;
    if (same_output(o, &kms->connectors[output].output))
        return 0;
    struct tp_kms_output same = *o; /* what the connector is does not change */
    same.connector_type = kms->connectors[output].output.connector_type;
    r = describe(kms, output, &same);
    if (r < 0)
        return tp_fail_errno(e, r, NULL, "output %u", output);
    tp_image_fixed(kms);
    tp_kms_changed(kms);
    tp_kms_tell(kms);
    if (kms->ops.hotplug)
        kms->ops.hotplug(kms->data);
    return 0;
}

int tp_kms_get_output(const struct tp_kms *kms, unsigned output, struct tp_kms_output *out)
{
    if (output >= kms->n_outputs)
        return -EINVAL;
    *out = kms->connectors[output].output;
    return 0;
}

void tp_kms_count(const struct tp_kms *kms, struct tp_kms_counts *out)
{
    *out = (struct tp_kms_counts){.files = kms->n_files};
    for (unsigned i = 0; i < kms->objects.n; i++)
        out->fbs += kms->objects.entries[i].p && kms->objects.entries[i].tag == DRM_MODE_OBJECT_FB;
    for (unsigned i = 0; i < TP_KMS_BUFFER_SLOTS; i++)
        for (const struct tp_buffer *b = kms->buffers[i]; b; b = b->next) {
            out->buffers++;
            out->buffer_bytes += b->bytes;
        }
    for (const struct tp_kms_file *f = kms->files; f; f = f->next) {
        out->blobs += f->n_blobs;
        out->events += (unsigned)(f->events_pending / sizeof(struct drm_event_vblank));
    }
    out->syncobjs = tp_syncobjs_count(kms);
    for (const struct tp_waiter *w = kms->waiters; w; w = w->next)
        out->waiters++;
}
