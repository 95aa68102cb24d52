/*
 * Queries, answered from a snapshot: in the client from shared memory, in the server from the
 * image. What is read of the block is held to the room that there is, whatever the block says, and
 * is read again when the block changed meanwhile; each word is read once. drm_mode_config.c,
 * drm_connector.c, drm_plane.c, drm_property.c, drm_mode_object.c, drm_ioctl.c.
 */
#include "frames/kms/snapshot_layout.h"

#include <errno.h>
#include <string.h>

#define TRIES 64 /* a writer that died half way must not hold readers */

#define ARRAY(type, u64) ((type *)(uintptr_t)(u64))

/* Another process may be writing: nothing of the block is read but by these two. */
#define LOAD(member) __atomic_load_n(&(member), __ATOMIC_RELAXED)

static void copy(void *to, const void *from, size_t bytes)
{
    uint8_t *out = to;
    const uint8_t *in = from;
    size_t i = 0;
    for (; (uintptr_t)in % 4 == 0 && i + 4 <= bytes; i += 4) {
        uint32_t word = LOAD(*(const tp_snapshot_word *)(in + i));
        memcpy(out + i, &word, 4);
    }
    for (; i < bytes; i++)
        out[i] = LOAD(in[i]);
}

struct reader {
    const struct tp_snapshot *s;
    const struct tp_snapshot_view *view;
};

/* A count that is read once, and held to its room. */
static uint32_t count(const uint32_t *n, uint32_t room)
{
    uint32_t v = LOAD(*n);
    return v < room ? v : room;
}

/* All CRTCs, connectors, encoders and planes are in the block. */
static int find(const struct reader *r, uint32_t id, enum tp_place_kind kind)
{
    if (id >= TP_SNAPSHOT_IDS || LOAD(r->s->fixed.ids[id].kind) != kind)
        return -ENOENT;
    unsigned i = LOAD(r->s->fixed.ids[id].index);
    return i < (kind == TP_PLACE_PLANE ? TP_SNAPSHOT_PLANES : TP_KMS_OUTPUTS) ? (int)i : -ENOENT;
}

/* As many ids as there is room for; *n: how many there are. */
static int put_ids(uint64_t to, uint32_t *n, const uint32_t *ids, uint32_t have)
{
    uint32_t room = *n;
    *n = have;
    if (!room || !have)
        return 0;
    if (!to)
        return -EFAULT;
    copy(ARRAY(void, to), ids, (room < have ? room : have) * sizeof *ids);
    return 0;
}

static int get_resources(const struct reader *r, struct drm_mode_card_res *a)
{
    const struct tp_snapshot_fixed *f = &r->s->fixed;
    if (r->view->framebuffers)
        return -ENOSYS;
    uint32_t n = count(&f->n_outputs, TP_KMS_OUTPUTS);
    a->count_fbs = 0;
    a->min_width = LOAD(f->min_width);
    a->max_width = LOAD(f->max_width);
    a->min_height = LOAD(f->min_height);
    a->max_height = LOAD(f->max_height);
    int e = put_ids(a->crtc_id_ptr, &a->count_crtcs, f->crtc_ids, n);
    if (!e)
        e = put_ids(a->encoder_id_ptr, &a->count_encoders, f->encoder_ids, n);
    if (!e)
        e = put_ids(a->connector_id_ptr, &a->count_connectors, f->connector_ids, n);
    return e;
}

static int get_crtc(const struct reader *r, struct drm_mode_crtc *a)
{
    int i = find(r, a->crtc_id, TP_PLACE_CRTC);
    if (i < 0)
        return i;
    const struct tp_snapshot_crtc *c = &r->s->state.crtcs[i];
    a->gamma_size = LOAD(r->s->fixed.gamma_size);
    a->fb_id = LOAD(c->fb_id);
    a->x = LOAD(c->x);
    a->y = LOAD(c->y);
    a->mode_valid = LOAD(c->enable);
    if (a->mode_valid)
        copy(&a->mode, &c->mode, sizeof a->mode);
    if (!r->view->aspect_ratio)
        a->mode.flags &= ~(uint32_t)DRM_MODE_FLAG_PIC_AR_MASK;
    return 0;
}

static int get_encoder(const struct reader *r, struct drm_mode_get_encoder *a)
{
    int i = find(r, a->encoder_id, TP_PLACE_ENCODER);
    if (i < 0)
        return i;
    a->crtc_id = LOAD(r->s->state.encoder_crtc[i]);
    a->encoder_type = LOAD(r->s->fixed.connectors[i].encoder_type);
    a->possible_crtcs = 1u << i;
    a->possible_clones = 1u << i;
    return 0;
}

static int get_plane_resources(const struct reader *r, struct drm_mode_get_plane_res *a)
{
    const struct tp_snapshot_fixed *f = &r->s->fixed;
    uint32_t ids[TP_SNAPSHOT_PLANES], n = 0;
    uint32_t have = count(&f->n_planes, TP_SNAPSHOT_PLANES);
    for (uint32_t i = 0; i < have; i++)
        if (r->view->universal_planes || LOAD(f->planes[i].type) == 0)
            ids[n++] = LOAD(f->planes[i].id);
    return put_ids(a->plane_id_ptr, &a->count_planes, ids, n);
}

static int get_plane(const struct reader *r, struct drm_mode_get_plane *a)
{
    const struct tp_snapshot_fixed *f = &r->s->fixed;
    int i = find(r, a->plane_id, TP_PLACE_PLANE);
    if (i < 0)
        return i;
    bool cursor = LOAD(f->planes[i].type) == 2;
    uint32_t n = count(cursor ? &f->n_cursor_formats : &f->n_formats, TP_SNAPSHOT_FORMATS);
    a->crtc_id = LOAD(r->s->state.planes[i].crtc_id);
    a->fb_id = LOAD(r->s->state.planes[i].fb_id);
    a->possible_crtcs = LOAD(f->planes[i].possible_crtcs);
    a->gamma_size = 0;
    if (n && a->count_format_types >= n) {
        if (!a->format_type_ptr)
            return -EFAULT;
        copy(ARRAY(void, a->format_type_ptr), cursor ? f->cursor_formats : f->formats,
             n * sizeof(uint32_t));
    }
    a->count_format_types = n;
    return 0;
}

static int put_properties(const struct reader *r, unsigned place, uint64_t ids, uint64_t values,
                          uint32_t *n)
{
    const struct tp_snapshot_fixed *f = &r->s->fixed;
    uint32_t have = count(&f->attached[place].n, TP_SNAPSHOT_ATTACHED), room = *n, done = 0;
    for (uint32_t i = 0; i < have; i++) {
        unsigned p = LOAD(f->attached[place].property[i]);
        if (p >= TP_SNAPSHOT_PROPERTIES ||
            (LOAD(f->properties[p].flags) & DRM_MODE_PROP_ATOMIC && !r->view->atomic))
            continue;
        if (done < room) {
            if (!ids || !values)
                return -EFAULT;
            ARRAY(uint32_t, ids)[done] = LOAD(f->first_property) + p;
            copy(&ARRAY(uint64_t, values)[done], &r->s->state.values[place][i], sizeof(uint64_t));
        }
        done++;
    }
    *n = done;
    return 0;
}

static int get_connector(const struct reader *r, struct drm_mode_get_connector *a)
{
    const struct tp_snapshot_fixed *f = &r->s->fixed;
    int i = find(r, a->connector_id, TP_PLACE_CONNECTOR);
    if (i < 0)
        return i;
    uint32_t n = count(&f->connectors[i].n_modes, TP_KMS_MODES);
    if (a->count_encoders >= 1) {
        if (!a->encoders_ptr)
            return -EFAULT;
        *ARRAY(uint32_t, a->encoders_ptr) = LOAD(f->encoder_ids[i]);
    }
    a->count_encoders = 1;
    a->connector_type = LOAD(f->connectors[i].type);
    a->connector_type_id = LOAD(f->connectors[i].type_id);
    a->mm_width = LOAD(f->connectors[i].width_mm);
    a->mm_height = LOAD(f->connectors[i].height_mm);
    a->subpixel = 0; /* SubPixelUnknown */
    a->connection = LOAD(f->connectors[i].connection);
    if (n && a->count_modes >= n) {
        if (!a->modes_ptr)
            return -EFAULT;
        copy(ARRAY(void, a->modes_ptr), f->connectors[i].modes,
             n * sizeof(struct drm_mode_modeinfo));
    }
    a->count_modes = n;
    a->encoder_id = LOAD(r->s->state.connector_encoder[i]);
    return put_properties(r, TP_PLACE_OF_CONNECTOR((unsigned)i), a->props_ptr, a->prop_values_ptr,
                          &a->count_props);
}

static int get_object_properties(const struct reader *r, struct drm_mode_obj_get_properties *a)
{
    static const struct {
        enum tp_place_kind kind;
        uint32_t type;
        unsigned place;
    } kinds[] = {
        {TP_PLACE_CRTC, DRM_MODE_OBJECT_CRTC, TP_PLACE_OF_CRTC(0)},
        {TP_PLACE_CONNECTOR, DRM_MODE_OBJECT_CONNECTOR, TP_PLACE_OF_CONNECTOR(0)},
        {TP_PLACE_PLANE, DRM_MODE_OBJECT_PLANE, TP_PLACE_OF_PLANE(0)},
    };
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int i = find(r, a->obj_id, kinds[k].kind);
        if (i < 0 || (a->obj_type != DRM_MODE_OBJECT_ANY && a->obj_type != kinds[k].type))
            continue;
        return put_properties(r, kinds[k].place + (unsigned)i, a->props_ptr, a->prop_values_ptr,
                              &a->count_props);
    }
    return -ENOSYS; /* it may be a framebuffer, or a blob */
}

static int get_property(const struct reader *r, struct drm_mode_get_property *a)
{
    const struct tp_snapshot_fixed *f = &r->s->fixed;
    uint32_t first = LOAD(f->first_property), n = count(&f->n_properties, TP_SNAPSHOT_PROPERTIES);
    if (a->prop_id < first || a->prop_id - first >= n)
        return -ENOENT;
    const struct tp_snapshot_property *p = &f->properties[a->prop_id - first];
    uint32_t values = count(&p->n_values, TP_SNAPSHOT_VALUES),
             enums = count(&p->n_enums, TP_SNAPSHOT_VALUES);
    copy(a->name, p->name, sizeof a->name);
    a->flags = LOAD(p->flags);
    uint32_t room = a->count_values < values ? a->count_values : values;
    if (room && !a->values_ptr)
        return -EFAULT;
    if (room)
        copy(ARRAY(void, a->values_ptr), p->values, room * sizeof *p->values);
    a->count_values = values;
    if (a->flags & (DRM_MODE_PROP_ENUM | DRM_MODE_PROP_BITMASK)) {
        room = a->count_enum_blobs < enums ? a->count_enum_blobs : enums;
        if (room && !a->enum_blob_ptr)
            return -EFAULT;
        if (room)
            copy(ARRAY(void, a->enum_blob_ptr), p->enums, room * sizeof *p->enums);
        a->count_enum_blobs = enums;
    }
    if (a->flags & DRM_MODE_PROP_BLOB)
        a->count_enum_blobs = 0;
    return 0;
}

static int get_blob(const struct reader *r, struct drm_mode_get_blob *a)
{
    const struct tp_snapshot_fixed *f = &r->s->fixed;
    uint32_t n = count(&f->n_blobs, TP_SNAPSHOT_BLOBS);
    for (uint32_t i = 0; i < n; i++) {
        if (LOAD(f->blobs[i].id) != a->blob_id || !a->blob_id)
            continue;
        uint32_t at = count(&f->blobs[i].offset, TP_SNAPSHOT_BLOB_BYTES);
        uint32_t length = count(&f->blobs[i].length, TP_SNAPSHOT_BLOB_BYTES - at);
        if (a->length == length && length) {
            if (!a->data)
                return -EFAULT;
            copy(ARRAY(void, a->data), f->blob_data + at, length);
        }
        a->length = length;
        return 0;
    }
    return -ENOSYS; /* it may be a client's own */
}

static int get_cap(const struct reader *r, struct drm_get_cap *a)
{
    a->value = 0;
    switch (a->capability) {
    case DRM_CAP_PRIME:
        a->value = DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT;
        return 0;
    case DRM_CAP_DUMB_PREFERRED_DEPTH:
        a->value = 24;
        return 0;
    case DRM_CAP_CURSOR_WIDTH:
        a->value = LOAD(r->s->fixed.cursor_width);
        return 0;
    case DRM_CAP_CURSOR_HEIGHT:
        a->value = LOAD(r->s->fixed.cursor_height);
        return 0;
    case DRM_CAP_DUMB_PREFER_SHADOW: /* dumb buffers are cached memory */
    case DRM_CAP_PAGE_FLIP_TARGET:
        return 0;
    case DRM_CAP_TIMESTAMP_MONOTONIC:
    case DRM_CAP_SYNCOBJ:
    case DRM_CAP_SYNCOBJ_TIMELINE:
    case DRM_CAP_DUMB_BUFFER:
    case DRM_CAP_VBLANK_HIGH_CRTC:
    case DRM_CAP_ASYNC_PAGE_FLIP:
    case DRM_CAP_ADDFB2_MODIFIERS:
    case DRM_CAP_CRTC_IN_VBLANK_EVENT:
    case DRM_CAP_ATOMIC_ASYNC_PAGE_FLIP:
        a->value = 1;
        return 0;
    }
    return -EINVAL;
}

static int put_string(char *to, __kernel_size_t *n, const char *s)
{
    size_t length = strlen(s), room = *n < length ? *n : length;
    *n = length;
    if (room && to)
        memcpy(to, s, room);
    return 0;
}

static int get_version(struct drm_version *a)
{
    a->version_major = 1;
    a->version_minor = 0;
    a->version_patchlevel = 0;
    put_string(a->name, &a->name_len, TP_KMS_DRIVER);
    put_string(a->date, &a->date_len, "0");
    put_string(a->desc, &a->desc_len, "Turnpike's display");
    return 0;
}

union argument {
    struct drm_version version;
    struct drm_get_cap cap;
    struct drm_mode_card_res resources;
    struct drm_mode_crtc crtc;
    struct drm_mode_get_encoder encoder;
    struct drm_mode_get_connector connector;
    struct drm_mode_get_property property;
    struct drm_mode_get_blob blob;
    struct drm_mode_get_plane_res plane_resources;
    struct drm_mode_get_plane plane;
    struct drm_mode_obj_get_properties properties;
};

static int answer(const struct reader *r, unsigned nr, union argument *a)
{
    switch (nr) {
    case _IOC_NR(DRM_IOCTL_VERSION):
        return get_version(&a->version);
    case _IOC_NR(DRM_IOCTL_GET_CAP):
        return get_cap(r, &a->cap);
    case _IOC_NR(DRM_IOCTL_MODE_GETRESOURCES):
        return get_resources(r, &a->resources);
    case _IOC_NR(DRM_IOCTL_MODE_GETCRTC):
        return get_crtc(r, &a->crtc);
    case _IOC_NR(DRM_IOCTL_MODE_GETENCODER):
        return get_encoder(r, &a->encoder);
    case _IOC_NR(DRM_IOCTL_MODE_GETCONNECTOR):
        return get_connector(r, &a->connector);
    case _IOC_NR(DRM_IOCTL_MODE_GETPROPERTY):
        return get_property(r, &a->property);
    case _IOC_NR(DRM_IOCTL_MODE_GETPROPBLOB):
        return get_blob(r, &a->blob);
    case _IOC_NR(DRM_IOCTL_MODE_GETPLANERESOURCES):
        return get_plane_resources(r, &a->plane_resources);
    case _IOC_NR(DRM_IOCTL_MODE_GETPLANE):
        return get_plane(r, &a->plane);
    case _IOC_NR(DRM_IOCTL_MODE_OBJ_GETPROPERTIES):
        return get_object_properties(r, &a->properties);
    }
    return -ENOSYS;
}

static size_t size_of(unsigned long request)
{
    switch (request) {
    case DRM_IOCTL_VERSION:
    case DRM_IOCTL_GET_CAP:
    case DRM_IOCTL_MODE_GETRESOURCES:
    case DRM_IOCTL_MODE_GETCRTC:
    case DRM_IOCTL_MODE_GETENCODER:
    case DRM_IOCTL_MODE_GETCONNECTOR:
    case DRM_IOCTL_MODE_GETPROPERTY:
    case DRM_IOCTL_MODE_GETPROPBLOB:
    case DRM_IOCTL_MODE_GETPLANERESOURCES:
    case DRM_IOCTL_MODE_GETPLANE:
    case DRM_IOCTL_MODE_OBJ_GETPROPERTIES:
        return _IOC_SIZE(request);
    }
    return 0;
}

int tp_snapshot_query(const struct tp_snapshot *s, const struct tp_snapshot_view *view,
                      unsigned long request, void *arg)
{
    request &= 0xffffffffu; /* musl and bionic pass an int */
    size_t bytes = size_of(request);
    if (!bytes)
        return -ENOSYS;
    if (!arg)
        return -EFAULT;
    struct reader r = {s, view};
    union argument a;
    for (int i = 0; i < TRIES; i++) {
        uint32_t before = __atomic_load_n(&s->sequence, __ATOMIC_ACQUIRE);
        if (before & 1)
            continue;
        memcpy(&a, arg, bytes);
        int e = answer(&r, _IOC_NR(request), &a);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&s->sequence, __ATOMIC_RELAXED) != before)
            continue;
        if (e != -ENOSYS)
            memcpy(arg, &a, bytes);
        return e;
    }
    return -ENOSYS;
}

bool tp_snapshot_valid(const struct tp_snapshot *s, size_t bytes)
{
    return bytes >= sizeof *s && LOAD(s->magic) == TP_SNAPSHOT_MAGIC &&
           LOAD(s->version) == TP_SNAPSHOT_VERSION && LOAD(s->bytes) == sizeof *s;
}

void tp_snapshot_fences(const struct tp_snapshot *s, struct tp_drm_fences *out)
{
    out->in_fence_fd = LOAD(s->fixed.in_fence_fd);
    out->out_fence_ptr = LOAD(s->fixed.out_fence_ptr);
}

void tp_snapshot_view_set(struct tp_snapshot_view *view, uint64_t capability, uint64_t value)
{
    switch (capability) {
    case DRM_CLIENT_CAP_STEREO_3D:
        view->stereo_3d = value;
        break;
    case DRM_CLIENT_CAP_UNIVERSAL_PLANES:
        view->universal_planes = value;
        break;
    case DRM_CLIENT_CAP_ATOMIC:
        view->atomic = view->universal_planes = view->aspect_ratio = value;
        break;
    case DRM_CLIENT_CAP_ASPECT_RATIO:
        view->aspect_ratio = value;
        break;
    case DRM_CLIENT_CAP_WRITEBACK_CONNECTORS:
        view->writeback = value;
        break;
    }
}
