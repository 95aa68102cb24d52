/* What queries are answered from: the core keeps an image of it, and copies what changed into the
 * block that clients see. */
#include "frames/kms/internal.h"

#include <string.h>

static void set_values(struct tp_kms *kms, enum tp_object_kind kind, unsigned i, unsigned place)
{
    const struct tp_snapshot_fixed *f = &kms->image->fixed;
    for (unsigned k = 0; k < f->attached[place].n; k++)
        kms->image->state.values[place][k] =
            tp_atomic_get(kms, kind, i, f->attached[place].property[k]);
}

void tp_image_attach(struct tp_kms *kms, unsigned place, enum tp_property p)
{
    struct tp_snapshot_fixed *f = &kms->image->fixed;
    f->attached[place].property[f->attached[place].n++] = (uint8_t)p;
}

bool tp_image_attached(const struct tp_kms *kms, unsigned place, enum tp_property p)
{
    const struct tp_snapshot_fixed *f = &kms->image->fixed;
    for (unsigned k = 0; k < f->attached[place].n; k++)
        if (f->attached[place].property[k] == p)
            return true;
    return false;
}

void tp_image_plane(struct tp_kms *kms, unsigned i)
{
    const struct tp_plane_state *s = &kms->planes[i].state;
    struct tp_snapshot_state *out = &kms->image->state;
    out->planes[i].crtc_id = s->crtc == TP_KMS_NONE ? 0 : kms->crtcs[s->crtc].id;
    out->planes[i].fb_id = s->fb ? s->fb->id : 0;
    set_values(kms, TP_ON_PLANE, i, TP_PLACE_OF_PLANE(i));
    const struct tp_plane *p = &kms->planes[i];
    if (p->kind != TP_KMS_PRIMARY)
        return;
    struct tp_snapshot_crtc *c = &out->crtcs[p->crtc];
    c->fb_id = out->planes[i].fb_id;
    c->x = s->src_x >> 16;
    c->y = s->src_y >> 16;
}

void tp_image_crtc(struct tp_kms *kms, unsigned i)
{
    struct tp_snapshot_crtc *out = &kms->image->state.crtcs[i];
    const struct tp_crtc_state *s = &kms->crtcs[i].state;
    out->enable = s->enable;
    out->mode = s->mode;
    set_values(kms, TP_ON_CRTC, i, TP_PLACE_OF_CRTC(i));
}

void tp_image_connector(struct tp_kms *kms, unsigned i)
{
    const struct tp_connector *c = &kms->connectors[i];
    struct tp_snapshot_state *out = &kms->image->state;
    bool on = c->state.crtc != TP_KMS_NONE;
    out->connector_encoder[i] = on ? c->encoder_id : 0;
    out->encoder_crtc[i] = on ? kms->crtcs[c->state.crtc].id : 0;
    set_values(kms, TP_ON_CONNECTOR, i, TP_PLACE_OF_CONNECTOR(i));
}

static void add_blob(struct tp_snapshot_fixed *f, const struct tp_blob *b)
{
    uint32_t at =
        f->n_blobs ? f->blobs[f->n_blobs - 1].offset + f->blobs[f->n_blobs - 1].length : 0;
    if (!b || f->n_blobs == TP_SNAPSHOT_BLOBS || b->length > TP_SNAPSHOT_BLOB_BYTES - at)
        return; /* it is asked for at the server then */
    f->blobs[f->n_blobs].id = b->id;
    f->blobs[f->n_blobs].offset = at;
    f->blobs[f->n_blobs++].length = b->length;
    memcpy(f->blob_data + at, b->data, b->length);
}

static uint32_t encoder_type(uint32_t connector_type)
{
    switch (connector_type) {
    case DRM_MODE_CONNECTOR_HDMIA:
    case DRM_MODE_CONNECTOR_HDMIB:
    case DRM_MODE_CONNECTOR_DisplayPort:
    case DRM_MODE_CONNECTOR_eDP:
    case DRM_MODE_CONNECTOR_DVID:
        return DRM_MODE_ENCODER_TMDS;
    case DRM_MODE_CONNECTOR_DSI:
        return DRM_MODE_ENCODER_DSI;
    case DRM_MODE_CONNECTOR_LVDS:
        return DRM_MODE_ENCODER_LVDS;
    default:
        return DRM_MODE_ENCODER_VIRTUAL;
    }
}

static void set_id(struct tp_snapshot_fixed *f, uint32_t id, enum tp_place_kind kind,
                   unsigned index)
{
    if (id >= TP_SNAPSHOT_IDS)
        return;
    f->ids[id].kind = (uint16_t)kind;
    f->ids[id].index = (uint16_t)index;
}

void tp_image_fixed(struct tp_kms *kms)
{
    struct tp_snapshot *s = kms->image;
    struct tp_snapshot_fixed *f = &s->fixed;
    s->magic = TP_SNAPSHOT_MAGIC;
    s->version = TP_SNAPSHOT_VERSION;
    s->bytes = sizeof *s;
    s->generation++;
    f->n_outputs = kms->n_outputs;
    f->n_planes = kms->n_planes;
    f->min_width = f->min_height = 1;
    f->max_width = f->max_height = TP_KMS_MAX_SIZE;
    f->cursor_width = kms->cursor_width;
    f->cursor_height = kms->cursor_height;
    f->gamma_size = TP_KMS_GAMMA;
    f->in_fence_fd = f->first_property + TP_PROP_IN_FENCE_FD;
    f->out_fence_ptr = f->first_property + TP_PROP_OUT_FENCE_PTR;
    f->n_formats = kms->formats.n;
    memcpy(f->formats, kms->formats.fourcc, sizeof f->formats);
    f->n_cursor_formats = kms->cursor_formats.n;
    memcpy(f->cursor_formats, kms->cursor_formats.fourcc, sizeof f->cursor_formats);
    f->n_blobs = 0;
    add_blob(f, kms->in_formats);
    add_blob(f, kms->cursor_in_formats);
    for (unsigned i = 0; i < kms->n_outputs; i++) {
        const struct tp_connector *c = &kms->connectors[i];
        f->crtc_ids[i] = kms->crtcs[i].id;
        f->connector_ids[i] = c->id;
        f->encoder_ids[i] = c->encoder_id;
        set_id(f, kms->crtcs[i].id, TP_PLACE_CRTC, i);
        set_id(f, c->id, TP_PLACE_CONNECTOR, i);
        set_id(f, c->encoder_id, TP_PLACE_ENCODER, i);
        f->connectors[i].type = c->output.connector_type;
        f->connectors[i].type_id = c->type_id;
        f->connectors[i].encoder_type = encoder_type(c->output.connector_type);
        f->connectors[i].connection = c->output.connected ? 1 : 2; /* connector_status_* */
        f->connectors[i].width_mm = c->width_mm;
        f->connectors[i].height_mm = c->height_mm;
        f->connectors[i].n_modes = c->output.connected ? c->output.n_modes : 0;
        memcpy(f->connectors[i].modes, c->modes, sizeof c->modes);
        add_blob(f, c->edid);
    }
    for (unsigned i = 0; i < kms->n_planes; i++) {
        const struct tp_plane *p = &kms->planes[i];
        f->planes[i].id = p->id;
        f->planes[i].type = p->kind == TP_KMS_PRIMARY ? 1 : p->kind == TP_KMS_CURSOR ? 2 : 0;
        f->planes[i].possible_crtcs = 1u << p->crtc;
        set_id(f, p->id, TP_PLACE_PLANE, i);
        tp_image_plane(kms, i);
    }
    for (unsigned i = 0; i < kms->n_outputs; i++) {
        tp_image_crtc(kms, i);
        tp_image_connector(kms, i);
    }
}

/* What readers see while it is written; words that stay are left alone. */
static void publish(void *to, const void *from, size_t bytes)
{
    tp_snapshot_word *out = to;
    const tp_snapshot_word *in = from;
    for (size_t i = 0; i < bytes / sizeof *in; i++)
        if (out[i] != in[i])
            __atomic_store_n(&out[i], in[i], __ATOMIC_RELAXED);
}

void tp_snapshot_write(struct tp_snapshot *s, const struct tp_kms *kms)
{
    const struct tp_snapshot *image = kms->image;
    uint32_t sequence = s->sequence | 1;
    __atomic_store_n(&s->sequence, sequence, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    if (s->magic != TP_SNAPSHOT_MAGIC || s->generation != image->generation) {
        publish(&s->version, &image->version, sizeof s->version);
        publish(&s->bytes, &image->bytes, sizeof s->bytes);
        publish(&s->generation, &image->generation, sizeof s->generation);
        publish(&s->fixed, &image->fixed, sizeof s->fixed);
        publish(&s->magic, &image->magic, sizeof s->magic);
    }
    publish(&s->state, &image->state, sizeof s->state);
    __atomic_store_n(&s->sequence, sequence + 1, __ATOMIC_RELEASE);
}
