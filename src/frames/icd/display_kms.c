#include "frames/icd/display_kms.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef DRM_CAP_ATOMIC_ASYNC_PAGE_FLIP
#define DRM_CAP_ATOMIC_ASYNC_PAGE_FLIP 0x15
#endif

#define IDS 64u /* of a kind, at most */
#define PTR(p) ((uint64_t)(uintptr_t)(p))

struct resources {
    uint32_t connectors[IDS], crtcs[IDS];
    unsigned n_connectors, n_crtcs;
};

static unsigned at_most(uint32_t n)
{
    return n < IDS ? n : IDS;
}

static int get_resources(struct tp_display_link *l, struct resources *out)
{
    struct drm_mode_card_res res = {.connector_id_ptr = PTR(out->connectors),
        .crtc_id_ptr = PTR(out->crtcs),
        .count_connectors = IDS,
        .count_crtcs = IDS};
    int r = tp_display_ioctl(l, DRM_IOCTL_MODE_GETRESOURCES, &res);

    out->n_connectors = at_most(res.count_connectors);
    out->n_crtcs = at_most(res.count_crtcs);
    return r;
}

uint32_t tp_display_mode_mhz(const struct drm_mode_modeinfo *m)
{
    uint64_t lines = (uint64_t)m->htotal * m->vtotal;

    if (lines == 0)
        return 0;
    if (m->vscan > 1)
        lines *= m->vscan;
    if (m->flags & DRM_MODE_FLAG_DBLSCAN)
        lines *= 2;
    uint64_t clock = (uint64_t)m->clock * 1000000;
    if (m->flags & DRM_MODE_FLAG_INTERLACE)
        clock *= 2;
    return (uint32_t)((clock + lines / 2) / lines);
}

bool tp_display_mode_same(const struct drm_mode_modeinfo *a, const struct drm_mode_modeinfo *b)
{
    return a->clock == b->clock && a->hdisplay == b->hdisplay && a->hsync_start == b->hsync_start &&
        a->hsync_end == b->hsync_end && a->htotal == b->htotal && a->vdisplay == b->vdisplay &&
        a->vsync_start == b->vsync_start && a->vsync_end == b->vsync_end &&
        a->vtotal == b->vtotal && a->vscan == b->vscan && a->flags == b->flags;
}

bool tp_display_has_mode(const struct tp_display_connector *c, const struct drm_mode_modeinfo *m)
{
    for (unsigned i = 0; i < c->n_modes; i++) {
        if (tp_display_mode_same(&c->modes[i], m))
            return true;
    }
    return false;
}

static void put_preferred_first(struct tp_display_connector *c)
{
    for (unsigned i = 1; i < c->n_modes; i++) {
        if (c->modes[0].type & DRM_MODE_TYPE_PREFERRED)
            return;
        if (c->modes[i].type & DRM_MODE_TYPE_PREFERRED) {
            struct drm_mode_modeinfo m = c->modes[i];
            c->modes[i] = c->modes[0];
            c->modes[0] = m;
        }
    }
}

static void name_connector(struct tp_display_connector *c, uint32_t type, uint32_t number)
{
    static const char *const names[] = {"Unknown", "VGA", "DVI-I", "DVI-D", "DVI-A", "Composite",
        "SVIDEO", "LVDS", "Component", "DIN", "DP", "HDMI-A", "HDMI-B", "TV", "eDP", "Virtual",
        "DSI", "DPI", "Writeback", "SPI", "USB"};

    snprintf(c->name, sizeof c->name, "%s-%u",
        names[type < sizeof names / sizeof *names ? type : 0], number);
}

static int get_connector(struct tp_display_link *l, uint32_t id, struct drm_mode_get_connector *out,
    struct drm_mode_modeinfo *modes, uint32_t *encoders)
{
    /* With room for modes the kernel does not ask the screen anew, which takes its time. */
    *out = (struct drm_mode_get_connector){.connector_id = id,
        .modes_ptr = PTR(modes),
        .count_modes = TP_DISPLAY_MODES,
        .encoders_ptr = PTR(encoders),
        .count_encoders = IDS};
    return tp_display_ioctl(l, DRM_IOCTL_MODE_GETCONNECTOR, out);
}

int tp_display_connector(struct tp_display_link *l, uint32_t id, struct tp_display_connector *out)
{
    struct drm_mode_modeinfo some[TP_DISPLAY_MODES];
    struct drm_mode_get_connector c;
    uint32_t encoders[IDS];
    int r = get_connector(l, id, &c, some, encoders);

    if (r < 0)
        return r;
    *out = (struct tp_display_connector){.id = id,
        .connected = c.connection == 1, /* connector_status_connected */
        .width_mm = c.mm_width,
        .height_mm = c.mm_height};
    name_connector(out, c.connector_type, c.connector_type_id);
    /* More than there was room for: the kernel gives none of them. */
    if (c.count_modes <= TP_DISPLAY_MODES)
        out->n_modes = c.count_modes;
    memcpy(out->modes, some, out->n_modes * sizeof *some);
    put_preferred_first(out);
    return 0;
}

int tp_display_connectors(struct tp_display_link *l, struct tp_display_connector *out)
{
    struct resources res;
    unsigned n = 0;
    int r = get_resources(l, &res);

    for (unsigned i = 0; r == 0 && i < res.n_connectors && n < TP_DISPLAY_CONNECTORS; i++) {
        r = tp_display_connector(l, res.connectors[i], &out[n]);
        if (r == 0)
            n++;
        else if (r == -ENOENT) /* it has just gone */
            r = 0;
    }
    return r < 0 ? r : (int)n;
}

/* A property that is looked for: where its number goes, and its value where that counts. */
struct wanted {
    const char *name;
    uint32_t *id;
    uint64_t *value;
    const char *word; /* of an enum: value is this one's, not the property's */
};

static void take_word(struct tp_display_link *l, uint32_t id, const struct wanted *w)
{
    struct drm_mode_property_enum enums[IDS];
    uint64_t values[IDS];
    struct drm_mode_get_property p = {.prop_id = id,
        .values_ptr = PTR(values),
        .count_values = IDS,
        .enum_blob_ptr = PTR(enums),
        .count_enum_blobs = IDS};

    if (tp_display_ioctl(l, DRM_IOCTL_MODE_GETPROPERTY, &p) < 0)
        return;
    for (unsigned i = 0; i < at_most(p.count_enum_blobs); i++) {
        if (!strcmp(enums[i].name, w->word)) {
            *w->value = enums[i].value;
            *w->id = id;
        }
    }
}

/* wanted: ended by a NULL name. */
static int find_properties(
    struct tp_display_link *l, uint32_t object, uint32_t type, const struct wanted *wanted)
{
    uint32_t ids[IDS];
    uint64_t values[IDS];
    struct drm_mode_obj_get_properties all = {.obj_id = object,
        .obj_type = type,
        .props_ptr = PTR(ids),
        .prop_values_ptr = PTR(values),
        .count_props = IDS};
    int r = tp_display_ioctl(l, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &all);

    for (unsigned i = 0; r == 0 && i < at_most(all.count_props); i++) {
        struct drm_mode_get_property p = {.prop_id = ids[i]};

        r = tp_display_ioctl(l, DRM_IOCTL_MODE_GETPROPERTY, &p);
        for (const struct wanted *w = wanted; r == 0 && w->name; w++) {
            if (strcmp(p.name, w->name) != 0)
                continue;
            if (w->word) {
                take_word(l, ids[i], w);
                continue;
            }
            *w->id = ids[i];
            if (w->value)
                *w->value = values[i];
        }
    }
    return r;
}

/* The caller's to free; NULL: there is none. */
static void *read_blob(struct tp_display_link *l, uint64_t id, uint32_t *bytes)
{
    struct drm_mode_get_blob b = {.blob_id = (uint32_t)id};
    void *data = NULL;

    if (id && tp_display_ioctl(l, DRM_IOCTL_MODE_GETPROPBLOB, &b) == 0 && b.length > 0 &&
        (data = malloc(b.length))) {
        uint32_t room = b.length;
        b.data = PTR(data);
        if (tp_display_ioctl(l, DRM_IOCTL_MODE_GETPROPBLOB, &b) < 0 || b.length != room) {
            free(data);
            data = NULL;
        }
    }
    *bytes = data ? b.length : 0;
    return data;
}

/* CTA-861-H: the HDR static metadata block of a CTA extension says which curves a screen takes; bit
 * 2 is PQ. */
static bool edid_has_pq(const uint8_t *edid, uint32_t bytes)
{
    for (uint32_t at = 128; at + 128 <= bytes; at += 128) {
        const uint8_t *b = edid + at;

        if (b[0] != 0x02 || b[1] < 3 || b[2] > 127)
            continue;
        for (unsigned i = 4; i < b[2];) {
            unsigned n = b[i] & 31u;
            if (i + n >= b[2])
                break;
            if (b[i] >> 5 == 7 && n >= 2 && b[i + 1] == 6)
                return b[i + 2] & 4;
            i += n + 1;
        }
    }
    return false;
}

static int read_connector(struct tp_display_pipe *p, struct tp_display_link *l)
{
    uint32_t edid = 0, bytes;
    uint64_t blob = 0;
    const struct wanted wanted[] = {{"CRTC_ID", &p->of_connector.crtc_id, NULL, NULL},
        {"Colorspace", &p->of_connector.colorspace, &p->bt2020, "BT2020_RGB"},
        {"HDR_OUTPUT_METADATA", &p->of_connector.hdr, NULL, NULL}, {"EDID", &edid, &blob, NULL},
        {NULL, NULL, NULL, NULL}};
    int r = find_properties(l, p->connector, DRM_MODE_OBJECT_CONNECTOR, wanted);

    if (r < 0)
        return r;
    uint8_t *data = read_blob(l, blob, &bytes);
    p->takes_hdr =
        data && p->of_connector.hdr && p->of_connector.colorspace && edid_has_pq(data, bytes);
    free(data);
    return p->of_connector.crtc_id ? 0 : -ENODEV;
}

/* IN_FORMATS: struct drm_format_modifier_blob, its formats, and modifiers with a bit for each of 64
 * formats from an offset on. */
static int read_in_formats(
    struct tp_display_pipe *p, const uint8_t *blob, uint32_t bytes, uint32_t memory)
{
    struct drm_format_modifier_blob head;

    if (bytes < sizeof head)
        return -ENODEV;
    memcpy(&head, blob, sizeof head);
    if ((uint64_t)head.formats_offset + UINT64_C(4) * head.count_formats > bytes ||
        head.modifiers_offset +
                (uint64_t)head.count_modifiers * sizeof(struct drm_format_modifier) >
            bytes)
        return -ENODEV;
    p->formats = calloc((size_t)head.count_modifiers * 64, sizeof *p->formats);
    if (!p->formats)
        return -ENOMEM;
    for (uint32_t i = 0; i < head.count_modifiers; i++) {
        struct drm_format_modifier m;

        memcpy(&m, blob + head.modifiers_offset + i * sizeof m, sizeof m);
        for (unsigned bit = 0; bit < 64; bit++) {
            struct tp_target_format *f = &p->formats[p->n_formats];

            if (!(m.formats >> bit & 1) || m.offset + bit >= head.count_formats)
                continue;
            memcpy(&f->fourcc, blob + head.formats_offset + 4 * (m.offset + bit), 4);
            f->modifier = m.modifier;
            f->memory = TP_MEMORY_DMABUF | (m.modifier == DRM_FORMAT_MOD_LINEAR ? memory : 0);
            p->n_formats++;
        }
    }
    return 0;
}

static int read_formats(struct tp_display_pipe *p, struct tp_display_link *l, uint64_t in_formats)
{
    /* The server takes anybody's memory, the kernel dma-bufs. */
    uint32_t memory = l->shared ? TP_MEMORY_SHARED : 0, bytes, fourccs[IDS];
    struct drm_mode_get_plane plane = {
        .plane_id = p->plane, .format_type_ptr = PTR(fourccs), .count_format_types = IDS};
    uint8_t *blob = p->modifiers ? read_blob(l, in_formats, &bytes) : NULL;
    int r;

    if (blob) {
        r = read_in_formats(p, blob, bytes, memory);
        free(blob);
        return r;
    }
    r = tp_display_ioctl(l, DRM_IOCTL_MODE_GETPLANE, &plane);
    if (r < 0)
        return r;
    p->formats = calloc(IDS, sizeof *p->formats);
    if (!p->formats)
        return -ENOMEM;
    for (unsigned i = 0; i < at_most(plane.count_format_types); i++)
        p->formats[p->n_formats++] = (struct tp_target_format){
            fourccs[i], DRM_FORMAT_MOD_INVALID, TP_MEMORY_DMABUF | memory};
    return 0;
}

static int read_plane(struct tp_display_pipe *p, struct tp_display_link *l)
{
    uint32_t in_formats = 0;
    uint64_t blob = 0;
    const struct wanted wanted[] = {{"FB_ID", &p->of_plane.fb_id, NULL, NULL},
        {"IN_FENCE_FD", &p->of_plane.in_fence, NULL, NULL},
        {"CRTC_ID", &p->of_plane.crtc_id, NULL, NULL}, {"CRTC_X", &p->of_plane.crtc_x, NULL, NULL},
        {"CRTC_Y", &p->of_plane.crtc_y, NULL, NULL}, {"CRTC_W", &p->of_plane.crtc_w, NULL, NULL},
        {"CRTC_H", &p->of_plane.crtc_h, NULL, NULL}, {"SRC_X", &p->of_plane.src_x, NULL, NULL},
        {"SRC_Y", &p->of_plane.src_y, NULL, NULL}, {"SRC_W", &p->of_plane.src_w, NULL, NULL},
        {"SRC_H", &p->of_plane.src_h, NULL, NULL}, {"rotation", &p->of_plane.rotation, NULL, NULL},
        {"alpha", &p->of_plane.alpha, NULL, NULL}, {"IN_FORMATS", &in_formats, &blob, NULL},
        {NULL, NULL, NULL, NULL}};
    int r = find_properties(l, p->plane, DRM_MODE_OBJECT_PLANE, wanted);

    if (r == 0)
        r = read_formats(p, l, blob);
    if (r == 0 && (!p->of_plane.fb_id || !p->of_plane.crtc_id))
        r = -ENODEV;
    l->fences.in_fence_fd = p->of_plane.in_fence;
    return r;
}

static int read_crtc(struct tp_display_pipe *p, struct tp_display_link *l)
{
    const struct wanted wanted[] = {{"ACTIVE", &p->of_crtc.active, NULL, NULL},
        {"MODE_ID", &p->of_crtc.mode_id, NULL, NULL}, {"VRR_ENABLED", &p->of_crtc.vrr, NULL, NULL},
        {"GAMMA_LUT", &p->of_crtc.gamma, NULL, NULL}, {NULL, NULL, NULL, NULL}};
    int r = find_properties(l, p->crtc, DRM_MODE_OBJECT_CRTC, wanted);

    return r == 0 && (!p->of_crtc.active || !p->of_crtc.mode_id) ? -ENODEV : r;
}

static bool is_primary(struct tp_display_link *l, uint32_t plane)
{
    uint32_t id = 0;
    uint64_t type = DRM_MODE_OBJECT_ANY;
    const struct wanted wanted[] = {{"type", &id, &type, NULL}, {NULL, NULL, NULL, NULL}};

    return find_properties(l, plane, DRM_MODE_OBJECT_PLANE, wanted) == 0 && id &&
        type == 1; /* DRM_PLANE_TYPE_PRIMARY */
}

static uint32_t find_primary(struct tp_display_link *l, unsigned crtc_index)
{
    uint32_t ids[IDS];
    struct drm_mode_get_plane_res res = {.plane_id_ptr = PTR(ids), .count_planes = IDS};

    if (tp_display_ioctl(l, DRM_IOCTL_MODE_GETPLANERESOURCES, &res) < 0)
        return 0;
    for (unsigned i = 0; i < at_most(res.count_planes); i++) {
        struct drm_mode_get_plane p = {.plane_id = ids[i]};

        if (tp_display_ioctl(l, DRM_IOCTL_MODE_GETPLANE, &p) == 0 &&
            p.possible_crtcs >> crtc_index & 1 && is_primary(l, ids[i]))
            return ids[i];
    }
    return 0;
}

/* CRTCs that can drive the connector, by index; *now: the one that does. */
static int find_crtcs(struct tp_display_link *l, uint32_t connector, uint32_t *mask, uint32_t *now)
{
    struct drm_mode_modeinfo modes[TP_DISPLAY_MODES];
    struct drm_mode_get_connector c;
    uint32_t encoders[IDS];
    int r = get_connector(l, connector, &c, modes, encoders);

    for (unsigned i = 0; r == 0 && i < at_most(c.count_encoders); i++) {
        struct drm_mode_get_encoder e = {.encoder_id = encoders[i]};

        r = tp_display_ioctl(l, DRM_IOCTL_MODE_GETENCODER, &e);
        *mask |= e.possible_crtcs;
        if (encoders[i] == c.encoder_id)
            *now = e.crtc_id;
    }
    return r;
}

static int choose(
    struct tp_display_pipe *p, struct tp_display_link *l, uint32_t connector, uint32_t taken)
{
    struct resources res;
    uint32_t mask = 0, now = 0;
    int r = get_resources(l, &res);

    if (r == 0)
        r = find_crtcs(l, connector, &mask, &now);
    if (r < 0)
        return r;
    p->connector = connector;
    for (int pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < res.n_crtcs && i < 32; i++) {
            if (!(mask >> i & 1) || taken >> i & 1 || (pass == 0 && res.crtcs[i] != now))
                continue;
            p->crtc = res.crtcs[i];
            p->crtc_index = i;
            p->plane = find_primary(l, i);
            if (p->plane)
                return 0;
        }
    }
    return -ENODEV;
}

static bool can(struct tp_display_link *l, uint64_t capability)
{
    struct drm_get_cap cap = {.capability = capability};

    return tp_display_ioctl(l, DRM_IOCTL_GET_CAP, &cap) == 0 && cap.value;
}

int tp_display_pipe_init(
    struct tp_display_pipe *p, struct tp_display_link *l, uint32_t connector, uint32_t taken)
{
    *p = (struct tp_display_pipe){0};
    int r = choose(p, l, connector, taken);
    if (r == 0) {
        p->async = can(l, DRM_CAP_ATOMIC_ASYNC_PAGE_FLIP);
        p->modifiers = can(l, DRM_CAP_ADDFB2_MODIFIERS);
        r = read_connector(p, l);
    }
    if (r == 0)
        r = read_crtc(p, l);
    if (r == 0)
        r = read_plane(p, l);
    if (r < 0)
        tp_display_pipe_finish(p);
    return r;
}

void tp_display_pipe_finish(struct tp_display_pipe *p)
{
    free(p->formats);
    *p = (struct tp_display_pipe){0};
}
