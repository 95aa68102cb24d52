#include "frames/wire/drm_table.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include <drm.h>
#include <drm_mode.h>

/* Requests of kernels that are newer than the headers; the numbers are drm.h's. */
struct syncobj_eventfd {
    uint32_t handle, flags;
    uint64_t point;
    int32_t fd;
    uint32_t pad;
};

struct mode_closefb {
    uint32_t fb_id, pad;
};

struct set_client_name {
    uint64_t name_len, name;
};

#ifndef DRM_IOCTL_SYNCOBJ_EVENTFD
#define DRM_IOCTL_SYNCOBJ_EVENTFD DRM_IOWR(0xCF, struct syncobj_eventfd)
#endif
#ifndef DRM_IOCTL_MODE_CLOSEFB
#define DRM_IOCTL_MODE_CLOSEFB DRM_IOWR(0xD0, struct mode_closefb)
#endif
#ifndef DRM_IOCTL_SET_CLIENT_NAME
#define DRM_IOCTL_SET_CLIENT_NAME DRM_IOWR(0xD1, struct set_client_name)
#endif

/* The structs with words of the machine's size in them, as 64-bit Linux has them. */
struct wire_version {
    int32_t major, minor, patchlevel;
    uint32_t pad;
    uint64_t name_len, name, date_len, date, desc_len, desc;
};

struct wire_unique {
    uint64_t unique_len, unique;
};

struct wire_client {
    int32_t idx, auth;
    uint64_t pid, uid, magic, iocs;
};

struct wire_vblank {
    uint32_t type, sequence;
    uint64_t first, second; /* signal; or the time's two words */
};

/* On i386 a u64 is aligned to 4, so the modifiers lie elsewhere. */
struct wire_fb2 {
    uint32_t words[17]; /* all before the modifiers */
    uint32_t pad;
    uint64_t modifier[4];
};

static void version_to_wire(const uint64_t *native, uint64_t *wire)
{
    struct drm_version n;
    struct wire_version w = {0};

    memcpy(&n, native, sizeof n);
    w.major = n.version_major;
    w.minor = n.version_minor;
    w.patchlevel = n.version_patchlevel;
    w.name_len = n.name_len;
    w.name = (uintptr_t)n.name;
    w.date_len = n.date_len;
    w.date = (uintptr_t)n.date;
    w.desc_len = n.desc_len;
    w.desc = (uintptr_t)n.desc;
    memcpy(wire, &w, sizeof w);
}

static void version_from_wire(const uint64_t *wire, uint64_t *native)
{
    struct drm_version n = {0};
    struct wire_version w;

    memcpy(&w, wire, sizeof w);
    n.version_major = w.major;
    n.version_minor = w.minor;
    n.version_patchlevel = w.patchlevel;
    n.name_len = (size_t)w.name_len;
    n.name = (char *)(uintptr_t)w.name;
    n.date_len = (size_t)w.date_len;
    n.date = (char *)(uintptr_t)w.date;
    n.desc_len = (size_t)w.desc_len;
    n.desc = (char *)(uintptr_t)w.desc;
    memcpy(native, &n, sizeof n);
}

static void unique_to_wire(const uint64_t *native, uint64_t *wire)
{
    struct drm_unique n;
    struct wire_unique w;

    memcpy(&n, native, sizeof n);
    w.unique_len = n.unique_len;
    w.unique = (uintptr_t)n.unique;
    memcpy(wire, &w, sizeof w);
}

static void unique_from_wire(const uint64_t *wire, uint64_t *native)
{
    struct drm_unique n;
    struct wire_unique w;

    memcpy(&w, wire, sizeof w);
    n.unique_len = (size_t)w.unique_len;
    n.unique = (char *)(uintptr_t)w.unique;
    memcpy(native, &n, sizeof n);
}

static void client_to_wire(const uint64_t *native, uint64_t *wire)
{
    struct drm_client n;
    struct wire_client w;

    memcpy(&n, native, sizeof n);
    w.idx = n.idx;
    w.auth = n.auth;
    w.pid = n.pid;
    w.uid = n.uid;
    w.magic = n.magic;
    w.iocs = n.iocs;
    memcpy(wire, &w, sizeof w);
}

static void client_from_wire(const uint64_t *wire, uint64_t *native)
{
    struct drm_client n = {0};
    struct wire_client w;

    memcpy(&w, wire, sizeof w);
    n.idx = w.idx;
    n.auth = w.auth;
    n.pid = (unsigned long)w.pid;
    n.uid = (unsigned long)w.uid;
    n.magic = (unsigned long)w.magic;
    n.iocs = (unsigned long)w.iocs;
    memcpy(native, &n, sizeof n);
}

static void vblank_to_wire(const uint64_t *native, uint64_t *wire)
{
    union drm_wait_vblank n;
    struct wire_vblank w;

    memcpy(&n, native, sizeof n);
    w.type = (uint32_t)n.reply.type;
    w.sequence = n.reply.sequence;
    w.first = n.request.signal;
    w.second = (unsigned long)n.reply.tval_usec;
    memcpy(wire, &w, sizeof w);
}

static void vblank_from_wire(const uint64_t *wire, uint64_t *native)
{
    struct wire_vblank w;
    unsigned long words[2];

    memcpy(&w, wire, sizeof w);
    words[0] = (unsigned long)w.first;
    words[1] = (unsigned long)w.second;
    memcpy(native, &w, offsetof(struct wire_vblank, first));
    memcpy((char *)native + offsetof(struct drm_wait_vblank_reply, tval_sec), words, sizeof words);
}

static void fb2_to_wire(const uint64_t *native, uint64_t *wire)
{
    struct drm_mode_fb_cmd2 n;
    struct wire_fb2 w = {0};

    memcpy(&n, native, sizeof n);
    memcpy(w.words, &n, sizeof w.words);
    memcpy(w.modifier, n.modifier, sizeof w.modifier);
    memcpy(wire, &w, sizeof w);
}

static void fb2_from_wire(const uint64_t *wire, uint64_t *native)
{
    struct drm_mode_fb_cmd2 n;
    struct wire_fb2 w;

    memcpy(&w, wire, sizeof w);
    memset(&n, 0, sizeof n);
    memcpy(&n, w.words, sizeof w.words);
    memcpy(n.modifier, w.modifier, sizeof n.modifier);
    memcpy(native, &n, sizeof n);
}

/* Most elements of arrays that come out: all of one answer fit into a frame. */
#define IDS 2048u
#define MODES 1024u
#define ENUMS 1024u
#define TEXT 4096u
#define BLOB (120u << 10)

#define ROW(ioctl, wire_bytes)                                                                     \
    .request = (ioctl), .bytes = (wire_bytes), .native_bytes = (uint8_t)_IOC_SIZE(ioctl),          \
    .in_fd = TP_DRM_NO_FD, .out_fd = TP_DRM_NO_FD, .bad_fd = -EBADF, .too_many = -E2BIG,           \
    .no_array = -EFAULT
#define FLAT(ioctl, wire_bytes) [_IOC_NR(ioctl)] = {ROW(ioctl, wire_bytes)}
#define COUNT(type, member) offsetof(type, member), sizeof ((type *)0)->member
#define ARRAY(type, pointer, count, element, flags, most)                                          \
    {offsetof(type, pointer), COUNT(type, count), element, flags, most}

#pragma GCC diagnostic push
/* A row's errors come from ROW, and some rows have others. */
#pragma GCC diagnostic ignored "-Woverride-init"

static const struct tp_drm_row rows[256] = {
    [0x00] = {ROW(DRM_IOCTL_VERSION, 64),
              .arrays = {ARRAY(struct wire_version, name, name_len, 1, TP_DRM_OUT | TP_DRM_NULLABLE,
                               TEXT),
                         ARRAY(struct wire_version, date, date_len, 1, TP_DRM_OUT | TP_DRM_NULLABLE,
                               TEXT),
                         ARRAY(struct wire_version, desc, desc_len, 1, TP_DRM_OUT | TP_DRM_NULLABLE,
                               TEXT)},
              .to_wire = version_to_wire, .from_wire = version_from_wire},
    [0x01] = {ROW(DRM_IOCTL_GET_UNIQUE, 16),
              .arrays = {ARRAY(struct wire_unique, unique, unique_len, 1, TP_DRM_OUT | TP_DRM_WHOLE,
                               TEXT)},
              .to_wire = unique_to_wire, .from_wire = unique_from_wire},
    FLAT(DRM_IOCTL_GET_MAGIC, 4),
    [0x05] = {ROW(DRM_IOCTL_GET_CLIENT, 40), .to_wire = client_to_wire,
              .from_wire = client_from_wire},
    FLAT(DRM_IOCTL_SET_VERSION, 16),
    FLAT(DRM_IOCTL_MODESET_CTL, 8),
    FLAT(DRM_IOCTL_GEM_CLOSE, 8),
    FLAT(DRM_IOCTL_GEM_FLINK, 8),
    FLAT(DRM_IOCTL_GEM_OPEN, 16),
    FLAT(DRM_IOCTL_GET_CAP, 16),
    FLAT(DRM_IOCTL_SET_CLIENT_CAP, 16),
    FLAT(DRM_IOCTL_AUTH_MAGIC, 4),
    FLAT(DRM_IOCTL_SET_MASTER, 0),
    FLAT(DRM_IOCTL_DROP_MASTER, 0),
    [0x2d] = {ROW(DRM_IOCTL_PRIME_HANDLE_TO_FD, 12),
              .out_fd = offsetof(struct drm_prime_handle, fd)},
    [0x2e] = {ROW(DRM_IOCTL_PRIME_FD_TO_HANDLE, 12),
              .in_fd = offsetof(struct drm_prime_handle, fd)},
    [0x3a] = {ROW(DRM_IOCTL_WAIT_VBLANK, 24), .to_wire = vblank_to_wire,
              .from_wire = vblank_from_wire},
    FLAT(DRM_IOCTL_CRTC_GET_SEQUENCE, 24),
    FLAT(DRM_IOCTL_CRTC_QUEUE_SEQUENCE, 24),
    [0xa0] = {ROW(DRM_IOCTL_MODE_GETRESOURCES, 64),
              .arrays = {ARRAY(struct drm_mode_card_res, fb_id_ptr, count_fbs, 4, TP_DRM_OUT, IDS),
                         ARRAY(struct drm_mode_card_res, crtc_id_ptr, count_crtcs, 4, TP_DRM_OUT,
                               IDS),
                         ARRAY(struct drm_mode_card_res, connector_id_ptr, count_connectors, 4,
                               TP_DRM_OUT, IDS),
                         ARRAY(struct drm_mode_card_res, encoder_id_ptr, count_encoders, 4,
                               TP_DRM_OUT, IDS)}},
    FLAT(DRM_IOCTL_MODE_GETCRTC, 104),
    [0xa2] = {ROW(DRM_IOCTL_MODE_SETCRTC, 104),
              .too_many = -EINVAL,
              .arrays = {ARRAY(struct drm_mode_crtc, set_connectors_ptr, count_connectors, 4,
                               TP_DRM_IN, 0)}},
    FLAT(DRM_IOCTL_MODE_CURSOR, 28),
    [0xa4] = {ROW(DRM_IOCTL_MODE_GETGAMMA, 32),
              .too_many = -EINVAL,
              .arrays = {ARRAY(struct drm_mode_crtc_lut, red, gamma_size, 2,
                               TP_DRM_OUT | TP_DRM_FIXED, 1u << 14),
                         ARRAY(struct drm_mode_crtc_lut, green, gamma_size, 2,
                               TP_DRM_OUT | TP_DRM_FIXED, 1u << 14),
                         ARRAY(struct drm_mode_crtc_lut, blue, gamma_size, 2,
                               TP_DRM_OUT | TP_DRM_FIXED, 1u << 14)}},
    [0xa5] = {ROW(DRM_IOCTL_MODE_SETGAMMA, 32),
              .too_many = -EINVAL,
              .arrays = {ARRAY(struct drm_mode_crtc_lut, red, gamma_size, 2, TP_DRM_IN, 0),
                         ARRAY(struct drm_mode_crtc_lut, green, gamma_size, 2, TP_DRM_IN, 0),
                         ARRAY(struct drm_mode_crtc_lut, blue, gamma_size, 2, TP_DRM_IN, 0)}},
    FLAT(DRM_IOCTL_MODE_GETENCODER, 20),
    [0xa7] = {ROW(DRM_IOCTL_MODE_GETCONNECTOR, 80),
              .arrays = {ARRAY(struct drm_mode_get_connector, encoders_ptr, count_encoders, 4,
                               TP_DRM_OUT | TP_DRM_WHOLE, IDS),
                         ARRAY(struct drm_mode_get_connector, modes_ptr, count_modes,
                               sizeof(struct drm_mode_modeinfo), TP_DRM_OUT | TP_DRM_WHOLE, MODES),
                         ARRAY(struct drm_mode_get_connector, props_ptr, count_props, 4, TP_DRM_OUT,
                               IDS),
                         ARRAY(struct drm_mode_get_connector, prop_values_ptr, count_props, 8,
                               TP_DRM_OUT, IDS)}},
    [0xaa] = {ROW(DRM_IOCTL_MODE_GETPROPERTY, 64),
              .arrays = {ARRAY(struct drm_mode_get_property, values_ptr, count_values, 8, TP_DRM_OUT,
                               IDS),
                         ARRAY(struct drm_mode_get_property, enum_blob_ptr, count_enum_blobs,
                               sizeof(struct drm_mode_property_enum), TP_DRM_OUT, ENUMS)}},
    FLAT(DRM_IOCTL_MODE_SETPROPERTY, 16),
    [0xac] = {ROW(DRM_IOCTL_MODE_GETPROPBLOB, 16),
              .arrays = {ARRAY(struct drm_mode_get_blob, data, length, 1, TP_DRM_OUT | TP_DRM_EXACT,
                               BLOB)}},
    FLAT(DRM_IOCTL_MODE_GETFB, 28),
    FLAT(DRM_IOCTL_MODE_ADDFB, 28),
    FLAT(DRM_IOCTL_MODE_RMFB, 4),
    FLAT(DRM_IOCTL_MODE_PAGE_FLIP, 24),
    [0xb1] = {ROW(DRM_IOCTL_MODE_DIRTYFB, 24),
              .too_many = -EINVAL, .no_array = -EINVAL,
              .arrays = {ARRAY(struct drm_mode_fb_dirty_cmd, clips_ptr, num_clips, 8, TP_DRM_IN,
                               0)}},
    FLAT(DRM_IOCTL_MODE_CREATE_DUMB, 32),
    FLAT(DRM_IOCTL_MODE_MAP_DUMB, 16),
    FLAT(DRM_IOCTL_MODE_DESTROY_DUMB, 4),
    [0xb5] = {ROW(DRM_IOCTL_MODE_GETPLANERESOURCES, 16),
              .arrays = {ARRAY(struct drm_mode_get_plane_res, plane_id_ptr, count_planes, 4,
                               TP_DRM_OUT, IDS)}},
    [0xb6] = {ROW(DRM_IOCTL_MODE_GETPLANE, 32),
              .arrays = {ARRAY(struct drm_mode_get_plane, format_type_ptr, count_format_types, 4,
                               TP_DRM_OUT | TP_DRM_WHOLE, IDS)}},
    FLAT(DRM_IOCTL_MODE_SETPLANE, 48),
    [0xb8] = {ROW(DRM_IOCTL_MODE_ADDFB2, 104), .to_wire = fb2_to_wire, .from_wire = fb2_from_wire},
    [0xb9] = {ROW(DRM_IOCTL_MODE_OBJ_GETPROPERTIES, 32),
              .arrays = {ARRAY(struct drm_mode_obj_get_properties, props_ptr, count_props, 4,
                               TP_DRM_OUT, IDS),
                         ARRAY(struct drm_mode_obj_get_properties, prop_values_ptr, count_props, 8,
                               TP_DRM_OUT, IDS)}},
    FLAT(DRM_IOCTL_MODE_OBJ_SETPROPERTY, 24),
    FLAT(DRM_IOCTL_MODE_CURSOR2, 36),
    [0xbc] = {ROW(DRM_IOCTL_MODE_ATOMIC, 56),
              .atomic = true, .bad_fd = -EINVAL,
              .arrays = {ARRAY(struct drm_mode_atomic, objs_ptr, count_objs, 4, TP_DRM_IN, 0),
                         ARRAY(struct drm_mode_atomic, count_props_ptr, count_objs, 4, TP_DRM_IN, 0),
                         ARRAY(struct drm_mode_atomic, props_ptr, count_objs, 4,
                               TP_DRM_IN | TP_DRM_SUM, 0),
                         ARRAY(struct drm_mode_atomic, prop_values_ptr, count_objs, 8,
                               TP_DRM_IN | TP_DRM_SUM, 0)}},
    [0xbd] = {ROW(DRM_IOCTL_MODE_CREATEPROPBLOB, 16),
              .arrays = {ARRAY(struct drm_mode_create_blob, data, length, 1, TP_DRM_IN, 0)}},
    FLAT(DRM_IOCTL_MODE_DESTROYPROPBLOB, 4),
    FLAT(DRM_IOCTL_SYNCOBJ_CREATE, 8),
    FLAT(DRM_IOCTL_SYNCOBJ_DESTROY, 8),
    [0xc1] = {ROW(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, 24),
              .out_fd = offsetof(struct drm_syncobj_handle, fd)},
    [0xc2] = {ROW(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, 24),
              .in_fd = offsetof(struct drm_syncobj_handle, fd), .bad_fd = -EINVAL},
    [0xc3] = {ROW(DRM_IOCTL_SYNCOBJ_WAIT, 40),
              .arrays = {ARRAY(struct drm_syncobj_wait, handles, count_handles, 4, TP_DRM_IN, 0)}},
    [0xc4] = {ROW(DRM_IOCTL_SYNCOBJ_RESET, 16),
              .arrays = {ARRAY(struct drm_syncobj_array, handles, count_handles, 4, TP_DRM_IN, 0)}},
    [0xc5] = {ROW(DRM_IOCTL_SYNCOBJ_SIGNAL, 16),
              .arrays = {ARRAY(struct drm_syncobj_array, handles, count_handles, 4, TP_DRM_IN, 0)}},
    [0xc6] = {ROW(DRM_IOCTL_MODE_CREATE_LEASE, 24),
              .out_fd = offsetof(struct drm_mode_create_lease, fd),
              .arrays = {ARRAY(struct drm_mode_create_lease, object_ids, object_count, 4, TP_DRM_IN,
                               0)}},
    [0xc7] = {ROW(DRM_IOCTL_MODE_LIST_LESSEES, 16),
              .arrays = {ARRAY(struct drm_mode_list_lessees, lessees_ptr, count_lessees, 4,
                               TP_DRM_OUT, IDS)}},
    [0xc8] = {ROW(DRM_IOCTL_MODE_GET_LEASE, 16),
              .arrays = {ARRAY(struct drm_mode_get_lease, objects_ptr, count_objects, 4, TP_DRM_OUT,
                               IDS)}},
    FLAT(DRM_IOCTL_MODE_REVOKE_LEASE, 4),
    [0xca] = {ROW(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, 48),
              .arrays = {ARRAY(struct drm_syncobj_timeline_wait, handles, count_handles, 4,
                               TP_DRM_IN, 0),
                         ARRAY(struct drm_syncobj_timeline_wait, points, count_handles, 8,
                               TP_DRM_IN | TP_DRM_NULLABLE, 0)}},
    [0xcb] = {ROW(DRM_IOCTL_SYNCOBJ_QUERY, 24),
              .arrays = {ARRAY(struct drm_syncobj_timeline_array, handles, count_handles, 4,
                               TP_DRM_IN, 0),
                         ARRAY(struct drm_syncobj_timeline_array, points, count_handles, 8,
                               TP_DRM_OUT | TP_DRM_FIXED, 8192)}},
    FLAT(DRM_IOCTL_SYNCOBJ_TRANSFER, 32),
    [0xcd] = {ROW(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, 24),
              .arrays = {ARRAY(struct drm_syncobj_timeline_array, handles, count_handles, 4,
                               TP_DRM_IN, 0),
                         ARRAY(struct drm_syncobj_timeline_array, points, count_handles, 8,
                               TP_DRM_IN | TP_DRM_NULLABLE, 0)}},
    [0xce] = {ROW(DRM_IOCTL_MODE_GETFB2, 104), .to_wire = fb2_to_wire, .from_wire = fb2_from_wire},
    [0xcf] = {ROW(DRM_IOCTL_SYNCOBJ_EVENTFD, 24), .in_fd = offsetof(struct syncobj_eventfd, fd)},
    FLAT(DRM_IOCTL_MODE_CLOSEFB, 8),
    [0xd1] = {ROW(DRM_IOCTL_SET_CLIENT_NAME, 16),
              .arrays = {ARRAY(struct set_client_name, name, name_len, 1, TP_DRM_IN, 0)}},
};

#pragma GCC diagnostic pop

/* What offsetof says here is what the wire has. On i386 only the tails differ, and what is translated. */
_Static_assert(sizeof(struct wire_version) == 64 && sizeof(struct wire_client) == 40 &&
                   sizeof(struct wire_vblank) == 24 && sizeof(struct wire_fb2) == 104,
               "translated structs are as on 64-bit Linux");
_Static_assert(sizeof(struct drm_mode_modeinfo) == 68 && sizeof(struct drm_mode_property_enum) == 40,
               "elements of arrays are the same everywhere");
_Static_assert(sizeof(struct drm_mode_card_res) == 64 && sizeof(struct drm_mode_crtc) == 104 &&
                   sizeof(struct drm_mode_get_connector) == 80 &&
                   sizeof(struct drm_mode_atomic) == 56 &&
                   sizeof(struct drm_mode_get_property) == 64 &&
                   sizeof(struct drm_mode_get_plane) == 32,
               "structs with arrays are the same everywhere");
#if UINTPTR_MAX > UINT32_MAX
_Static_assert(sizeof(struct drm_version) == sizeof(struct wire_version) &&
                   sizeof(struct drm_client) == sizeof(struct wire_client) &&
                   sizeof(union drm_wait_vblank) == sizeof(struct wire_vblank) &&
                   sizeof(struct drm_mode_fb_cmd2) == sizeof(struct wire_fb2) &&
                   offsetof(struct drm_mode_fb_cmd2, modifier) == offsetof(struct wire_fb2, modifier),
               "the wire is 64-bit Linux");
#endif

const struct tp_drm_row *tp_drm_row(unsigned long request)
{
    const struct tp_drm_row *row = &rows[_IOC_NR(request)];

    return _IOC_TYPE(request) == DRM_IOCTL_BASE && row->request != 0 ? row : NULL;
}

uint32_t tp_drm_wire_request(const struct tp_drm_row *row)
{
    return (uint32_t)_IOC(_IOC_DIR(row->request), DRM_IOCTL_BASE, _IOC_NR(row->request), row->bytes);
}

void tp_drm_to_wire(const struct tp_drm_row *row, const uint64_t *native, uint64_t *wire)
{
    memset(wire, 0, TP_DRM_STRUCT_WORDS * sizeof *wire);
    if (row->to_wire)
        row->to_wire(native, wire);
    else
        memcpy(wire, native, row->bytes < row->native_bytes ? row->bytes : row->native_bytes);
}

void tp_drm_from_wire(const struct tp_drm_row *row, const uint64_t *wire, uint64_t *native)
{
    memset(native, 0, TP_DRM_STRUCT_WORDS * sizeof *native);
    if (row->from_wire)
        row->from_wire(wire, native);
    else
        memcpy(native, wire, row->bytes);
}

uint64_t tp_drm_get(const uint64_t *wire, unsigned offset, unsigned bytes)
{
    uint64_t wide = 0;
    uint32_t narrow;

    if (bytes == 4) {
        memcpy(&narrow, (const char *)wire + offset, sizeof narrow);
        wide = narrow;
    } else {
        memcpy(&wide, (const char *)wire + offset, sizeof wide);
    }
    return wide;
}

void tp_drm_set(uint64_t *wire, unsigned offset, unsigned bytes, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;

    if (bytes == 4)
        memcpy((char *)wire + offset, &narrow, sizeof narrow);
    else
        memcpy((char *)wire + offset, &value, sizeof value);
}

uint64_t tp_drm_came_out(const struct tp_drm_array *a, uint64_t asked, uint64_t now)
{
    if (a->flags & TP_DRM_EXACT)
        return now == asked ? now : 0;
    if (a->flags & TP_DRM_WHOLE)
        return now <= asked ? now : 0;
    return now < asked ? now : asked;
}
