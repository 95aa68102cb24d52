/*
 * How the snapshot's block is laid out. Everything has a fixed place and a fixed room; a count
 * never says more than the room, and readers hold it to that. Native byte order, and the same
 * layout for 32- and 64-bit programs: what has 64 bits says its alignment (uapi_sizes.c asserts
 * it).
 */
#ifndef TP_FRAMES_KMS_SNAPSHOT_LAYOUT_H
#define TP_FRAMES_KMS_SNAPSHOT_LAYOUT_H

#include "frames/kms/kms.h"
#include "frames/kms/snapshot.h"
#include "frames/kms/uapi.h"

#define TP_SNAPSHOT_MAGIC 0x54504b4du /* "MKPT" */

#define TP_SNAPSHOT_PLANES     (TP_KMS_OUTPUTS * TP_KMS_LAYERS)
#define TP_SNAPSHOT_OBJECTS    (3 * TP_KMS_OUTPUTS + TP_SNAPSHOT_PLANES)
#define TP_SNAPSHOT_PROPERTIES 56 /* kinds of properties */
#define TP_SNAPSHOT_ATTACHED   28 /* properties of one object */
#define TP_SNAPSHOT_VALUES     16 /* of one property: an enum's, a range's two */
#define TP_SNAPSHOT_FORMATS    64
#define TP_SNAPSHOT_BLOBS      16
#define TP_SNAPSHOT_BLOB_BYTES (24u << 10)
#define TP_SNAPSHOT_IDS        256 /* objects that are there from the beginning have ids below */

/* CRTCs, connectors, encoders and planes, in this order; what a place among them is. */
enum tp_place_kind {
    TP_PLACE_NONE,
    TP_PLACE_CRTC,
    TP_PLACE_CONNECTOR,
    TP_PLACE_ENCODER,
    TP_PLACE_PLANE
};
#define TP_PLACE_OF_CRTC(i)      (i)
#define TP_PLACE_OF_CONNECTOR(i) (TP_KMS_OUTPUTS + (i))
#define TP_PLACE_OF_ENCODER(i)   (2 * TP_KMS_OUTPUTS + (i))
#define TP_PLACE_OF_PLANE(i)     (3 * TP_KMS_OUTPUTS + (i))

/* What commits change. */
struct tp_snapshot_state {
    struct tp_snapshot_crtc {
        uint32_t enable, fb_id, x, y;
        struct drm_mode_modeinfo mode;
    } crtcs[TP_KMS_OUTPUTS];
    struct tp_snapshot_plane_state {
        uint32_t crtc_id, fb_id;
    } planes[TP_SNAPSHOT_PLANES];
    uint32_t connector_encoder[TP_KMS_OUTPUTS]; /* the id of the encoder in use, or 0 */
    uint32_t encoder_crtc[TP_KMS_OUTPUTS];
    _Alignas(8) uint64_t values[TP_SNAPSHOT_OBJECTS][TP_SNAPSHOT_ATTACHED];
};

/* What is as it is from the beginning, or changes when an output comes or goes. */
struct tp_snapshot_fixed {
    uint32_t n_outputs, n_planes, n_properties, n_blobs, n_formats, n_cursor_formats;
    uint32_t min_width, max_width, min_height, max_height, cursor_width, cursor_height, gamma_size;
    uint32_t first_property; /* its id; the others follow */
    uint32_t in_fence_fd, out_fence_ptr;
    struct {
        uint16_t kind, index; /* enum tp_place_kind */
    } ids[TP_SNAPSHOT_IDS];
    uint32_t crtc_ids[TP_KMS_OUTPUTS], connector_ids[TP_KMS_OUTPUTS], encoder_ids[TP_KMS_OUTPUTS];
    struct {
        uint32_t id, type, possible_crtcs; /* type: DRM_PLANE_TYPE_* */
    } planes[TP_SNAPSHOT_PLANES];
    struct {
        uint32_t type, type_id, connection, width_mm, height_mm, encoder_type, n_modes;
        struct drm_mode_modeinfo modes[TP_KMS_MODES];
    } connectors[TP_KMS_OUTPUTS];
    uint32_t formats[TP_SNAPSHOT_FORMATS], cursor_formats[TP_SNAPSHOT_FORMATS];
    struct {
        uint32_t n;
        uint8_t property[TP_SNAPSHOT_ATTACHED];
    } attached[TP_SNAPSHOT_OBJECTS];
    struct tp_snapshot_property {
        char name[DRM_PROP_NAME_LEN];
        uint32_t flags, n_values, n_enums;
        _Alignas(8) uint64_t values[TP_SNAPSHOT_VALUES];
        struct drm_mode_property_enum enums[TP_SNAPSHOT_VALUES];
    } properties[TP_SNAPSHOT_PROPERTIES];
    struct {
        uint32_t id, offset, length;
    } blobs[TP_SNAPSHOT_BLOBS];
    _Alignas(8) uint8_t blob_data[TP_SNAPSHOT_BLOB_BYTES];
};

/* The block is written and read by words of it, one atomic access each. */
typedef uint32_t __attribute__((may_alias)) tp_snapshot_word;

struct tp_snapshot {
    uint32_t magic, version, bytes;
    uint32_t sequence;               /* odd while it is being written */
    _Alignas(8) uint64_t generation; /* of the fixed part */
    _Alignas(8) struct tp_snapshot_state state;
    _Alignas(8) struct tp_snapshot_fixed fixed;
};

_Static_assert(sizeof(struct tp_snapshot) <= TP_SNAPSHOT_BYTES, "the block holds a snapshot");

#endif
