/* What the prove client asks a vendor's stand-in for (factory/prove/vendor.h): every kind of buffer
 * that the double has, some in more formats; and an allocator that compresses where it is asked to and
 * the CPU stays away. */
#include <stdbool.h>

#include "buffer.h"

#include "../../../../src/factory/prove/vendor.h"

#define PUBLIC __attribute__((visibility("default")))

enum { WIDTH = 1216, HEIGHT = 2688, WANTS_UBWC = 1 << 28, CPU_USAGES = 0xff };

struct shown {
    const char *name;
    int kind;
    int format; /* 0: the kind's own */
    uint32_t width, height;
    bool is_bare; /* the handle's flags say nothing of UBWC */
};

static const struct shown shown[] = {
#define X(id, number, text) {text, number, 0, WIDTH, HEIGHT, false},
    DOUBLE_KINDS(X)
#undef X
    {"qti-840-bare", DOUBLE_QTI_840, 0, WIDTH, HEIGHT, true},
    {"qti-bare", DOUBLE_QTI, 0, WIDTH, HEIGHT, true},
    {"qti-840-rgbx", DOUBLE_QTI_840, DOUBLE_RGBX_8888, WIDTH, HEIGHT, false},
    {"qti-840-565", DOUBLE_QTI_840, DOUBLE_RGB_565, 1280, HEIGHT, false}, /* UBWC takes the pitch */
    {"qti-840-1010102", DOUBLE_QTI_840, DOUBLE_RGBA_1010102, WIDTH, HEIGHT, false},
    {"qti-840-fp16", DOUBLE_QTI_840, DOUBLE_RGBA_FP16, WIDTH, HEIGHT, false},
    {"qti-840-small", DOUBLE_QTI_840, 0, 64, 64, false},
    {"qti-840-odd", DOUBLE_QTI_840, 0, 1279, 719, false},
    {"linear-cpu-fp16", DOUBLE_LINEAR_CPU, DOUBLE_RGBA_FP16, WIDTH, HEIGHT, false},
    {"linear-cpu-565", DOUBLE_LINEAR_CPU, DOUBLE_RGB_565, WIDTH, HEIGHT, false},
    {"linear-cpu-odd", DOUBLE_LINEAR_CPU, 0, 1279, 719, false},
};

static void describe(struct tp_vendor_buffer *b, int kind)
{
    struct double_layout l =
        double_layout(kind, (int32_t)b->width, (int32_t)b->height, (int)b->format);
    b->stride_px = (uint32_t)l.stride_px;
    b->bytes = (uint64_t)l.size;
    b->int_count = DOUBLE_INTS;
    double_fill(
        b->ints, kind, (int32_t)b->width, (int32_t)b->height, (int)b->format, b->usage);
}

PUBLIC int turnpike_vendor_show(unsigned n, struct tp_vendor_buffer *out);
PUBLIC int turnpike_vendor_allocate(struct tp_vendor_buffer *buffer);

int turnpike_vendor_show(unsigned n, struct tp_vendor_buffer *out)
{
    unsigned at = 0;
    while (at < sizeof(shown) / sizeof(*shown)) {
        bool is_buffer = shown[at].kind < DOUBLE_LIB_MISSING;
        if (is_buffer && n-- == 0)
            break;
        at++;
    }
    if (at == sizeof(shown) / sizeof(*shown))
        return -1;
    const struct shown *s = &shown[at];
    *out = (struct tp_vendor_buffer){.width = s->width,
        .height = s->height,
        .format = (uint32_t)(s->format ? s->format : double_format_of(s->kind)),
        .usage = DOUBLE_GPU_USAGE | (s->kind == DOUBLE_LINEAR_CPU ? DOUBLE_CPU_USAGE : 0)};
    strncpy(out->kind, s->name, sizeof(out->kind) - 1);
    describe(out, s->kind);
    if (s->is_bare)
        out->ints[DOUBLE_FLAGS] = 0;
    return 0;
}

int turnpike_vendor_allocate(struct tp_vendor_buffer *buffer)
{
    int compressed = (buffer->usage & WANTS_UBWC) && !(buffer->usage & CPU_USAGES);
    if (buffer->format != DOUBLE_RGBA_8888)
        return -1;
    describe(buffer, compressed ? DOUBLE_QTI_840 : DOUBLE_LINEAR_UNSAID);
    buffer->ints[DOUBLE_FLAGS] = 0; /* as newer phones' */
    return 0;
}
