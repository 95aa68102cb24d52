#include "replies.h"

#include "buffer.h"
#include "wire.h"

#define MOD_LINEAR UINT64_C(0)
#define MOD_QCOM_COMPRESSED UINT64_C(0x0500000000000001)

#define FOURCC(a, b, c, d)                                                                         \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/* PlaneLayoutComponentType */
enum {
    COMPONENT_Y = 1 << 0,
    COMPONENT_CB = 1 << 1,
    COMPONENT_CR = 1 << 2,
    COMPONENT_R = 1 << 10,
    COMPONENT_G = 1 << 11,
    COMPONENT_B = 1 << 12,
    COMPONENT_A = 1 << 30,
};

static void put_component(struct wire_out *w, int64_t which, int64_t at, int64_t bits)
{
    wire_extendable(w, WIRE_COMPONENT, which);
    wire_i64(w, at);
    wire_i64(w, bits);
}

static void put_rgba(struct wire_out *w, const struct double_plane *plane)
{
    static const int64_t which[] = {COMPONENT_R, COMPONENT_G, COMPONENT_B, COMPONENT_A};
    if (!plane->bits) { /* no component is said of the other formats */
        wire_i64(w, 0);
        return;
    }
    wire_i64(w, 4);
    for (int i = 0; i < 4; i++)
        put_component(w, which[i], i * plane->bits, plane->bits);
}

static void put_components(struct wire_out *w, const struct double_plane *plane)
{
    int shift = plane->bits == 10 ? 6 : 0; /* P010 has its bits on top */
    int half = plane->step / 2;
    switch (plane->content) {
    case DOUBLE_RGBA:
        put_rgba(w, plane);
        break;
    case DOUBLE_FLAGS_ONLY:
        wire_i64(w, 1);
        wire_extendable(w, "QTI", 1);
        wire_i64(w, 0);
        wire_i64(w, 8);
        break;
    case DOUBLE_Y:
        wire_i64(w, 1);
        put_component(w, COMPONENT_Y, shift, plane->bits);
        break;
    case DOUBLE_CBCR:
        wire_i64(w, 2);
        put_component(w, COMPONENT_CB, shift, plane->bits);
        put_component(w, COMPONENT_CR, half + shift, plane->bits);
        break;
    case DOUBLE_CB:
    case DOUBLE_CR:
        wire_i64(w, 1);
        put_component(w, plane->content == DOUBLE_CB ? COMPONENT_CB : COMPONENT_CR, 0, plane->bits);
        break;
    }
}

static void break_plane(struct double_plane *plane, int kind)
{
    switch (kind) {
    case DOUBLE_OFFSET_64:
    case DOUBLE_OFFSET_64_QTI:
        if (plane->content == DOUBLE_RGBA)
            plane->offset = INT64_C(1) << 32;
        break;
    case DOUBLE_OFFSET_NEGATIVE:
        plane->offset = -4096;
        break;
    case DOUBLE_STRIDE_ZERO:
        plane->stride = 0;
        break;
    case DOUBLE_STRIDE_NEGATIVE:
        plane->stride = -plane->stride;
        break;
    case DOUBLE_STRIDE_64:
        plane->stride += INT64_C(1) << 32;
        break;
    }
}

static void put_plane(struct wire_out *w, struct double_plane plane, int kind)
{
    break_plane(&plane, kind);
    if (kind == DOUBLE_MANY_COMPONENTS) {
        wire_i64(w, INT64_MAX);
    } else if (kind == DOUBLE_NEGATIVE_COMPONENTS) {
        wire_i64(w, -1);
    } else if (kind == DOUBLE_NV12_UBWC_BARE) {
        wire_i64(w, 0);
    } else if (kind == DOUBLE_LONG || kind == DOUBLE_OUTGROWING) {
        wire_i64(w, 16);
        for (int i = 0; i < 16; i++)
            put_component(w, i < 4 ? COMPONENT_R : COMPONENT_A, 0, 8);
    } else if (kind == DOUBLE_LONG_NAME) {
        wire_i64(w, 1);
        wire_i64(w, INT64_MAX);
    } else {
        put_components(w, &plane);
    }
    wire_i64(w, plane.offset);
    wire_i64(w, plane.step);
    wire_i64(w, plane.stride);
    wire_i64(w, plane.width);
    wire_i64(w, plane.height);
    wire_i64(w, plane.size);
    wire_i64(w, plane.subsampling);
    wire_i64(w, plane.subsampling);
}

static int32_t put_planes(struct wire_out *w, int kind, const struct double_layout *layout)
{
    if (kind == DOUBLE_OUTGROWING && w->room > 1024) {
        wire_i64(w, 4);
        for (unsigned i = 0; i < 4; i++)
            put_plane(w, layout->planes[i % 2], kind);
        return 0;
    }
    if (kind == DOUBLE_QTI_NO_PLANES || kind == DOUBLE_LINEAR_NO_MODIFIER)
        return -ABI_UNSUPPORTED;
    if (kind == DOUBLE_MANY_PLANES)
        wire_i64(w, INT64_C(1) << 40);
    else if (kind == DOUBLE_NEGATIVE_PLANES)
        wire_i64(w, -2);
    else
        wire_i64(w, layout->count);
    for (unsigned i = 0; i < layout->count; i++)
        put_plane(w, layout->planes[i], kind);
    return 0;
}

static int32_t put_compression(struct wire_out *w, int kind)
{
    switch (kind) {
    case DOUBLE_QTI:
    case DOUBLE_QTI_ONE_PLANE:
    case DOUBLE_QTI_NO_PLANES:
    case DOUBLE_QTI_SECOND_FD:
    case DOUBLE_QTI_SWAPPED:
    case DOUBLE_NV12_UBWC:
    case DOUBLE_NV12_UBWC_2:
    case DOUBLE_NV12_UBWC_UNSAID:
    case DOUBLE_NV12_UBWC_BARE:
    case DOUBLE_OFFSET_64_QTI:
    case DOUBLE_QTI_3_PLANES:
    case DOUBLE_QTI_FOURCC:
        wire_extendable(w, "QTI", 10);
        return 0;
    case DOUBLE_LINEAR:
    case DOUBLE_LINEAR_NO_MODIFIER:
    case DOUBLE_CONTRADICTION:
        wire_extendable(w, WIRE_COMPRESSION, 0);
        return 0;
    case DOUBLE_DSC:
        wire_extendable(w, WIRE_COMPRESSION, 1);
        return 0;
    case DOUBLE_FOREIGN:
        wire_extendable(w, "VND", 10);
        return 0;
    case DOUBLE_FOREIGN_NONE:
        wire_extendable(w, "VND", 0);
        return 0;
    case DOUBLE_QTI_LOSSY:
        wire_extendable(w, "QTI", 11);
        return 0;
    case DOUBLE_QTI_LOSSY_2:
        wire_extendable(w, "QTI", 12);
        return 0;
    case DOUBLE_QTI_OTHER:
        wire_extendable(w, "QTI", 13);
        return 0;
    default:
        return -ABI_UNSUPPORTED;
    }
}

static uint32_t fourcc_of(int kind)
{
    switch (kind) {
    case DOUBLE_NV12:
    case DOUBLE_NV12_DISJOINT:
    case DOUBLE_NV12_UBWC:
    case DOUBLE_NV12_UBWC_2:
    case DOUBLE_NV12_UBWC_BARE:
    case DOUBLE_NV12_UBWC_HIDDEN:
        return FOURCC('N', 'V', '1', '2');
    case DOUBLE_QTI_FOURCC:
        return FOURCC('A', 'B', '3', '0');
    case DOUBLE_P010:
        return FOURCC('P', '0', '1', '0');
    case DOUBLE_YV12:
        return FOURCC('Y', 'V', '1', '2');
    default:
        return 0; /* as measured: the HAL format says it */
    }
}

static int32_t put_payload(struct wire_out *w, const int32_t *ints, int kind, int64_t type,
    const struct double_layout *layout)
{
    switch (type) {
    case ABI_WIDTH:
        wire_i64(w, ints[DOUBLE_WIDTH]);
        return 0;
    case ABI_HEIGHT:
        wire_i64(w, ints[DOUBLE_HEIGHT]);
        return 0;
    case ABI_LAYER_COUNT:
        wire_i64(w, ints[DOUBLE_LAYERS]);
        return 0;
    case ABI_PIXEL_FORMAT_REQUESTED:
        wire_number(w, (uint32_t)ints[DOUBLE_FORMAT], 4);
        return 0;
    case ABI_PIXEL_FORMAT_FOURCC:
        wire_number(w, fourcc_of(kind), 4);
        return 0;
    case ABI_PIXEL_FORMAT_MODIFIER:
        if (kind == DOUBLE_LINEAR_NO_MODIFIER)
            return -ABI_UNSUPPORTED;
        if (kind == DOUBLE_OTHER_MODIFIER) {
            wire_number(w, MOD_QCOM_COMPRESSED | 0x10, 8);
            return 0;
        }
        wire_number(w,
            kind == DOUBLE_QTI_MODIFIER || kind == DOUBLE_CONTRADICTION ? MOD_QCOM_COMPRESSED
                                                                        : MOD_LINEAR,
            8);
        return 0;
    case ABI_USAGE:
        wire_number(w, (uint32_t)ints[DOUBLE_USAGE_LOW], 4);
        wire_number(w, (uint32_t)ints[DOUBLE_USAGE_HIGH], 4);
        return 0;
    case ABI_ALLOCATION_SIZE:
        wire_i64(w, layout->size);
        return 0;
    case ABI_COMPRESSION:
        return put_compression(w, kind);
    case ABI_CHROMA_SITING:
        if (ints[DOUBLE_SITING] < 0)
            return -ABI_UNSUPPORTED;
        wire_extendable(w, kind == DOUBLE_FOREIGN ? "VND" : WIRE_SITING, ints[DOUBLE_SITING]);
        return 0;
    case ABI_PLANE_LAYOUTS:
        return put_planes(w, kind, layout);
    case ABI_DATASPACE:
        wire_number(w, (uint32_t)ints[DOUBLE_DATASPACE], 4);
        return 0;
    case ABI_STRIDE:
        wire_number(w, (uint64_t)layout->stride_px, 4);
        return 0;
    default:
        return -ABI_UNSUPPORTED;
    }
}

/* An answer with nothing wrong about its size. */
static int32_t reply(const int32_t *ints, int kind, int64_t type, void *out, size_t room)
{
    struct double_layout layout =
        double_layout(kind, ints[DOUBLE_WIDTH], ints[DOUBLE_HEIGHT], ints[DOUBLE_FORMAT]);
    struct wire_out w = {out, room, 0};
    if (kind == DOUBLE_WRONG_NAME)
        wire_extendable(&w, "android.hardware.graphics.common.StandardMetadataTypf", type);
    else
        wire_header(&w, kind == DOUBLE_WRONG_TYPE ? type + 1 : type);
    int32_t error = put_payload(&w, ints, kind, type, &layout);
    return error ? error : (int32_t)w.size;
}

/* Bytes that anyone can make again, and that no answer begins with. */
static void put_garbage(uint8_t *out, size_t room, uint64_t seed)
{
    for (size_t i = 0; i < room; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        out[i] = (uint8_t)(seed >> 56);
    }
}

int32_t double_reply(
    const int32_t *ints, int kind, unsigned call, int64_t type, void *out, size_t room)
{
    static const int32_t no_errors[] = {INT32_MIN, -1000, -4, INT32_MIN + 1};
    size_t filled = room < 4096 ? room : 4096;
    int32_t size;
    switch (kind) {
    case DOUBLE_SILENT:
        return -ABI_UNSUPPORTED;
    case DOUBLE_BAD_BUFFER:
    case DOUBLE_BAD_LINEAR:
        return -ABI_BAD_BUFFER;
    case DOUBLE_NEGATIVE:
        return no_errors[call % 4];
    case DOUBLE_EMPTY:
        return 0;
    case DOUBLE_SHORT_HEADER:
        reply(ints, DOUBLE_QTI, type, out, room);
        return 20;
    case DOUBLE_SHORT_PAYLOAD:
        size = reply(ints, DOUBLE_QTI, type, out, room);
        return size > 0 ? size - 3 : size;
    case DOUBLE_HUGE:
        put_garbage(out, filled, (uint64_t)type);
        return INT32_MAX;
    case DOUBLE_GARBAGE:
        put_garbage(out, filled, (uint64_t)type);
        return (int32_t)(200 * (type % 7));
    case DOUBLE_GROWING:
        put_garbage(out, filled, call);
        return (int32_t)(room + 100);
    case DOUBLE_CHANGING:
        return reply(ints, call % 2 ? DOUBLE_LINEAR : DOUBLE_QTI, type, out, room);
    case DOUBLE_MUTE:
        return reply(ints, DOUBLE_QTI, type, NULL, 0);
    default:
        return reply(ints, kind, type, out, room);
    }
}
