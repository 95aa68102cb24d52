/* Properties: their names, kinds and ranges, as the kernel's core has them (drm_mode_config.c,
 * drm_connector.c, drm_blend.c), and what values they take (drm_property.c). */
#include "frames/kms/internal.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "frames/kms/property.h"

#define RANGE   DRM_MODE_PROP_RANGE
#define SIGNED  DRM_MODE_PROP_SIGNED_RANGE
#define ENUM    DRM_MODE_PROP_ENUM
#define BITMASK DRM_MODE_PROP_BITMASK
#define BLOB    DRM_MODE_PROP_BLOB
#define OBJECT  DRM_MODE_PROP_OBJECT
#define ATOMIC  DRM_MODE_PROP_ATOMIC
#define FIXED   DRM_MODE_PROP_IMMUTABLE
#define S64(v)  ((uint64_t)(int64_t)(v))

/* drm_plane_create_zpos_immutable_property: nothing but the plane's own level. */
#define ZPOS(level) [TP_PROP_ZPOS + (level)] = {"zpos", RANGE | FIXED, 2, {level, level}, {0}}

struct definition {
    const char *name;
    uint32_t flags, n;
    uint64_t values[TP_SNAPSHOT_VALUES];
    const char *names[TP_SNAPSHOT_VALUES];
};

/* A signed range's ends are 64 bits wide; IN_FENCE_FD, CRTC_ID and so on are for atomic clients
 * only. */
static const struct definition DEFINITIONS[TP_PROP_COUNT] = {
    [TP_PROP_TYPE] = {"type", ENUM | FIXED, 3, {0, 1, 2}, {"Overlay", "Primary", "Cursor"}},
    [TP_PROP_FB_ID] = {"FB_ID", OBJECT | ATOMIC, 1, {DRM_MODE_OBJECT_FB}, {0}},
    [TP_PROP_IN_FENCE_FD] = {"IN_FENCE_FD", SIGNED | ATOMIC, 2, {S64(-1), INT_MAX}, {0}},
    [TP_PROP_CRTC_ID] = {"CRTC_ID", OBJECT | ATOMIC, 1, {DRM_MODE_OBJECT_CRTC}, {0}},
    [TP_PROP_CRTC_X] = {"CRTC_X", SIGNED | ATOMIC, 2, {S64(INT_MIN), INT_MAX}, {0}},
    [TP_PROP_CRTC_Y] = {"CRTC_Y", SIGNED | ATOMIC, 2, {S64(INT_MIN), INT_MAX}, {0}},
    [TP_PROP_CRTC_W] = {"CRTC_W", RANGE | ATOMIC, 2, {0, INT_MAX}, {0}},
    [TP_PROP_CRTC_H] = {"CRTC_H", RANGE | ATOMIC, 2, {0, INT_MAX}, {0}},
    [TP_PROP_SRC_X] = {"SRC_X", RANGE | ATOMIC, 2, {0, UINT_MAX}, {0}},
    [TP_PROP_SRC_Y] = {"SRC_Y", RANGE | ATOMIC, 2, {0, UINT_MAX}, {0}},
    [TP_PROP_SRC_W] = {"SRC_W", RANGE | ATOMIC, 2, {0, UINT_MAX}, {0}},
    [TP_PROP_SRC_H] = {"SRC_H", RANGE | ATOMIC, 2, {0, UINT_MAX}, {0}},
    [TP_PROP_IN_FORMATS] = {"IN_FORMATS", BLOB | FIXED, 0, {0}, {0}},
    [TP_PROP_ALPHA] = {"alpha", RANGE, 2, {0, 0xffff}, {0}},
    [TP_PROP_BLEND] = {"pixel blend mode", ENUM, 2, {0, 1}, {"Pre-multiplied", "Coverage"}},
    [TP_PROP_ROTATION] = {"rotation",
                          BITMASK,
                          6,
                          {0, 1, 2, 3, 4, 5},
                          {"rotate-0", "rotate-90", "rotate-180", "rotate-270", "reflect-x",
                           "reflect-y"}},
    ZPOS(0),
    ZPOS(1),
    ZPOS(2),
    ZPOS(3),
    ZPOS(4),
    ZPOS(5),
    ZPOS(6),
    ZPOS(7),
    [TP_PROP_DAMAGE] = {"FB_DAMAGE_CLIPS", BLOB | ATOMIC, 0, {0}, {0}},
    [TP_PROP_ACTIVE] = {"ACTIVE", RANGE | ATOMIC, 2, {0, 1}, {0}},
    [TP_PROP_MODE_ID] = {"MODE_ID", BLOB | ATOMIC, 0, {0}, {0}},
    [TP_PROP_OUT_FENCE_PTR] = {"OUT_FENCE_PTR", RANGE | ATOMIC, 2, {0, UINT64_MAX}, {0}},
    [TP_PROP_VRR_ENABLED] = {"VRR_ENABLED", RANGE, 2, {0, 1}, {0}},
    [TP_PROP_GAMMA_LUT] = {"GAMMA_LUT", BLOB, 0, {0}, {0}},
    [TP_PROP_GAMMA_LUT_SIZE] = {"GAMMA_LUT_SIZE", RANGE | FIXED, 2, {0, UINT_MAX}, {0}},
    [TP_PROP_EDID] = {"EDID", BLOB | FIXED, 0, {0}, {0}},
    [TP_PROP_DPMS] = {"DPMS", ENUM, 4, {0, 1, 2, 3}, {"On", "Standby", "Suspend", "Off"}},
    [TP_PROP_LINK_STATUS] = {"link-status", ENUM, 2, {0, 1}, {"Good", "Bad"}},
    [TP_PROP_NON_DESKTOP] = {"non-desktop", RANGE | FIXED, 2, {0, 1}, {0}},
    [TP_PROP_TILE] = {"TILE", BLOB | FIXED, 0, {0}, {0}},
    [TP_PROP_VRR_CAPABLE] = {"vrr_capable", RANGE | FIXED, 2, {0, 1}, {0}},
    [TP_PROP_MAX_BPC] = {"max bpc", RANGE, 2, {8, 10}, {0}},
    [TP_PROP_COLORSPACE] =
        {"Colorspace",
         ENUM,
         4,
         {0, 9, 11, 12},
         {"Default", "BT2020_RGB", "DCI-P3_RGB_D65", "DCI-P3_RGB_Theater"}},
    [TP_PROP_HDR] = {"HDR_OUTPUT_METADATA", BLOB, 0, {0}, {0}},
    [TP_PROP_CONTENT_TYPE] =
        {"content type",
         ENUM,
         5,
         {0, 1, 2, 3, 4},
         {"No Data", "Graphics", "Photo", "Cinema", "Game"}},
    [TP_PROP_PANEL_ORIENTATION] = {"panel orientation",
                                   ENUM | FIXED,
                                   4,
                                   {0, 1, 2, 3},
                                   {"Normal", "Upside Down", "Left Side Up", "Right Side Up"}},
};
_Static_assert(TP_KMS_LAYERS == 8, "a property for each level");
_Static_assert((int)TP_PROP_COUNT <= TP_SNAPSHOT_PROPERTIES, "a snapshot holds the properties");

void tp_image_properties(struct tp_snapshot_fixed *f)
{
    f->n_properties = TP_PROP_COUNT;
    for (unsigned i = 0; i < TP_PROP_COUNT; i++) {
        const struct definition *d = &DEFINITIONS[i];
        struct tp_snapshot_property *p = &f->properties[i];
        memset(p, 0, sizeof *p);
        strncpy(p->name, d->name, sizeof p->name - 1);
        p->flags = d->flags;
        p->n_values = d->n;
        memcpy(p->values, d->values, sizeof p->values);
        if (!(d->flags & (ENUM | BITMASK)))
            continue;
        p->n_enums = d->n;
        for (unsigned k = 0; k < d->n; k++) {
            p->enums[k].value = d->values[k];
            strncpy(p->enums[k].name, d->names[k], sizeof p->enums[k].name - 1);
        }
    }
}

bool tp_property_takes(struct tp_kms *kms, enum tp_property p, uint64_t value)
{
    const struct definition *d = &DEFINITIONS[p];
    if (d->flags & FIXED)
        return false;
    if (d->flags & RANGE)
        return value >= d->values[0] && value <= d->values[1];
    switch (d->flags & DRM_MODE_PROP_EXTENDED_TYPE) {
    case SIGNED:
        return (int64_t)value >= (int64_t)d->values[0] && (int64_t)value <= (int64_t)d->values[1];
    case OBJECT: {
        const struct tp_entry *e = tp_table_get(&kms->objects, value);
        return !value || (e && e->tag == d->values[0]);
    }
    }
    if (d->flags & BLOB)
        return !value || tp_blob_find(kms, value);
    if (d->flags & BITMASK)
        return !(value >> d->n);
    for (unsigned i = 0; i < d->n; i++)
        if (d->values[i] == value)
            return true;
    return false;
}

/* An object that can have properties, by its id. */
int tp_property_object(const struct tp_kms *kms, uint64_t id, enum tp_object_kind *kind,
                       unsigned *place)
{
    const struct tp_entry *e = tp_table_get(&kms->objects, id);
    if (!e)
        return -ENOENT;
    unsigned i = (unsigned)(uintptr_t)e->p - 1;
    switch (e->tag) {
    case DRM_MODE_OBJECT_CRTC:
        *kind = TP_ON_CRTC;
        *place = TP_PLACE_OF_CRTC(i);
        return (int)i;
    case DRM_MODE_OBJECT_CONNECTOR:
        *kind = TP_ON_CONNECTOR;
        *place = TP_PLACE_OF_CONNECTOR(i);
        return (int)i;
    case DRM_MODE_OBJECT_PLANE:
        *kind = TP_ON_PLANE;
        *place = TP_PLACE_OF_PLANE(i);
        return (int)i;
    }
    return -EINVAL;
}

int tp_property_find(const struct tp_kms *kms, unsigned place, uint32_t id)
{
    uint32_t first = kms->image->fixed.first_property;
    if (id < first || id >= first + TP_PROP_COUNT)
        return -ENOENT;
    return tp_image_attached(kms, place, (enum tp_property)(id - first)) ? (int)(id - first)
                                                                         : -ENOENT;
}

/* drm_atomic_connector_commit_dpms */
static int set_dpms(struct tp_ioctl_call *c, unsigned connector, uint64_t mode)
{
    struct tp_kms *kms = c->kms;
    struct tp_connector *k = &kms->connectors[connector];
    uint32_t old = k->dpms, to = mode == DRM_MODE_DPMS_ON ? DRM_MODE_DPMS_ON : DRM_MODE_DPMS_OFF;
    if (k->dpms == to)
        return 0;
    k->dpms = to;
    tp_image_connector(kms, connector);
    tp_kms_changed(kms);
    if (k->state.crtc == TP_KMS_NONE)
        return 0;
    tp_state_connector(kms, connector);
    tp_state_crtc(kms, (unsigned)k->state.crtc)->active = to == DRM_MODE_DPMS_ON;
    int r = tp_atomic_commit(kms, TP_COMMIT_BLOCKING, c->waiter);
    if (r < 0 || kms->again) {
        k->dpms = old;
        tp_image_connector(kms, connector);
    }
    return r;
}

int tp_ioctl_set_property(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_mode_obj_set_property *a = arg;
    struct tp_kms *kms = c->kms;
    enum tp_object_kind kind;
    unsigned place;
    const struct tp_entry *e = tp_table_get(&kms->objects, a->obj_id);
    if (!e || (a->obj_type != DRM_MODE_OBJECT_ANY && e->tag != a->obj_type))
        return -ENOENT;
    int i = tp_property_object(kms, a->obj_id, &kind, &place);
    if (i < 0)
        return -EINVAL;
    int p = tp_property_find(kms, place, a->prop_id);
    if (p < 0)
        return -EINVAL;
    tp_state_begin(kms, c->file, c->call);
    if (p == TP_PROP_DPMS)
        return set_dpms(c, (unsigned)i, a->value);
    uint64_t value = a->value;
    int r = tp_atomic_set(kms, kind, (unsigned)i, (enum tp_property)p, &value, false);
    if (r < 0) {
        tp_state_clear(kms);
        return r;
    }
    memset(kms->state.out_fence, 0, sizeof kms->state.out_fence);
    return tp_atomic_commit(kms, TP_COMMIT_BLOCKING, c->waiter);
}

int tp_ioctl_connector_property(struct tp_ioctl_call *c, void *arg)
{
    const struct drm_mode_connector_set_property *a = arg;
    struct drm_mode_obj_set_property set = {
        .value = a->value,
        .prop_id = a->prop_id,
        .obj_id = a->connector_id,
        .obj_type = DRM_MODE_OBJECT_CONNECTOR,
    };
    return tp_ioctl_set_property(c, &set);
}
