/*
 * A phone vendor's part of Android's graphics memory, as far as a proof needs it: a libvndksupport.so
 * whose SP-HAL loader knows one library, an IMapper 5 (which is in this very file), and the allocator
 * whose buffers that mapper describes. It is nobody's code: written after AOSP's stable-c mapper and
 * the layout that was measured on one Adreno 840. It answers rightly and always; what a driver does
 * with wrong answers is for tests. TURNPIKE_MAPPER=missing: the vendor has no IMapper 5.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "vendor.h"

#define EXPORT __attribute__((visibility("default")))

/* The handle's ints: two where older grallocs of Qualcomm have a mark and flags; this one has no mark
 * that Mesa knows. */
enum { MARK = 0x74706b76, FLAG_UBWC = 0x08000000 };
enum { INT_MARK, INT_FLAGS, INT_KIND, INT_WIDTH, INT_HEIGHT, INT_FORMAT, INT_COUNT };

enum kind {
    COMPRESSED, /* as measured: two planes, flags first in memory; nothing else says UBWC */
    FLAGGED,    /* the same, and COMPRESSION and the handle's flags say so too */
    PLAIN,      /* linear */
    NV12,       /* linear: Y, then CbCr */
};

enum {
    RGBA_8888 = 1,
    YCBCR_420_888 = 0x23,
    CPU_USAGE = 0xff,      /* masks of CPU_READ and CPU_WRITE */
    GPU_USAGE = 0x300,     /* GPU_SAMPLED_IMAGE, GPU_FRAMEBUFFER */
    WANTS_UBWC = 1 << 28,  /* Qualcomm's among the vendor's bits */
};

struct plane {
    int64_t offset, stride, width, height, bytes; /* bytes, and samples */
    int64_t subsampling;
};

struct layout {
    struct plane planes[2];
    unsigned count;
    uint64_t bytes;
};

static int64_t align(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

static struct layout lay_out(enum kind kind, int64_t width, int64_t height)
{
    int pixel = kind == NV12 ? 1 : 4;
    struct layout l = {.count = 1};
    struct plane first = {.stride = align(width, 64) * pixel, .width = width, .height = height,
                          .subsampling = 1};
    struct plane second = {.subsampling = 2};
    first.bytes = align(first.stride * align(height, 16), 4096);
    if (kind == NV12) {
        second = (struct plane){first.bytes, first.stride, (width + 1) / 2, (height + 1) / 2,
                                align(first.stride * align((height + 1) / 2, 16), 4096), 2};
        l.count = 2;
    } else if (kind != PLAIN) {
        /* A byte of flags for each tile of 16 by 4 pixels. */
        int64_t lines = (height + 3) / 4;
        second = (struct plane){0, align((width + 15) / 16, 64), (width + 15) / 16, lines, 0, 1};
        second.bytes = align(second.stride * align(lines, 16), 4096);
        first.offset = second.bytes;
        l.count = 2;
    }
    l.planes[0] = first;
    l.planes[1] = second;
    l.bytes = (uint64_t)(first.bytes + second.bytes);
    return l;
}

static void describe(struct tp_vendor_buffer *b, enum kind kind)
{
    struct layout l = lay_out(kind, b->width, b->height);
    b->stride_px = (uint32_t)align(b->width, 64);
    b->bytes = l.bytes;
    b->int_count = INT_COUNT;
    b->ints[INT_MARK] = MARK;
    b->ints[INT_FLAGS] = kind == FLAGGED ? FLAG_UBWC : 0;
    b->ints[INT_KIND] = kind;
    b->ints[INT_WIDTH] = (int32_t)b->width;
    b->ints[INT_HEIGHT] = (int32_t)b->height;
    b->ints[INT_FORMAT] = (int32_t)b->format;
}

EXPORT int turnpike_vendor_show(unsigned n, struct tp_vendor_buffer *out);
EXPORT int turnpike_vendor_allocate(struct tp_vendor_buffer *buffer);

int turnpike_vendor_show(unsigned n, struct tp_vendor_buffer *out)
{
    static const struct {
        const char *name;
        enum kind kind;
        uint32_t width, height, format;
        uint64_t usage;
    } all[] = {
        {"compressed", COMPRESSED, 1216, 2688, RGBA_8888, GPU_USAGE | WANTS_UBWC},
        {"flagged", FLAGGED, 1216, 2688, RGBA_8888, GPU_USAGE | WANTS_UBWC},
        {"plain", PLAIN, 1200, 100, RGBA_8888, GPU_USAGE | 0x33 /* the CPU's, often */},
        {"nv12", NV12, 640, 360, YCBCR_420_888, 0x100},
    };
    if (n >= sizeof all / sizeof *all)
        return -1;
    *out = (struct tp_vendor_buffer){.width = all[n].width, .height = all[n].height,
                                     .format = all[n].format, .usage = all[n].usage};
    memcpy(out->kind, all[n].name, strlen(all[n].name));
    describe(out, all[n].kind);
    return 0;
}

/* Compressed only where it is asked for and the CPU stays away: what the whole matter is about. */
int turnpike_vendor_allocate(struct tp_vendor_buffer *buffer)
{
    bool compressed = (buffer->usage & WANTS_UBWC) && !(buffer->usage & CPU_USAGE);
    if (buffer->format != RGBA_8888 || !buffer->width || !buffer->height)
        return -1;
    describe(buffer, compressed ? COMPRESSED : PLAIN);
    return 0;
}

/* --- metadata on the wire: little-endian, unpadded --- */

struct handle {
    int version, fd_count, int_count;
    int data[];
};

struct wire {
    uint8_t *out;
    size_t room, size;
};

static void put(struct wire *w, const void *bytes, size_t count)
{
    if (w->size + count <= w->room)
        memcpy(w->out + w->size, bytes, count);
    w->size += count;
}

static void put_number(struct wire *w, int64_t value, size_t bytes)
{
    put(w, &value, bytes); /* arm64 and x86-64 are little-endian */
}

static void put_name(struct wire *w, const char *name)
{
    put_number(w, (int64_t)strlen(name), 8);
    put(w, name, strlen(name));
}

static void put_component(struct wire *w, int64_t which, int64_t at)
{
    put_name(w, "android.hardware.graphics.common.PlaneLayoutComponentType");
    put_number(w, which, 8);
    put_number(w, at, 8);
    put_number(w, 8, 8); /* bits */
}

enum { Y = 1 << 0, CB = 1 << 1, CR = 1 << 2, R = 1 << 10, G = 1 << 11, B = 1 << 12, A = 1 << 30 };

static int put_components(struct wire *w, enum kind kind, bool is_first)
{
    if (kind == NV12 && is_first) {
        put_number(w, 1, 8);
        put_component(w, Y, 0);
        return 8;
    }
    if (kind == NV12) {
        put_number(w, 2, 8);
        put_component(w, CB, 0);
        put_component(w, CR, 8);
        return 16;
    }
    if (!is_first) { /* flags are no component that AOSP knows */
        put_number(w, 0, 8);
        return 8;
    }
    put_number(w, 4, 8);
    put_component(w, R, 0);
    put_component(w, G, 8);
    put_component(w, B, 16);
    put_component(w, A, 24);
    return 32;
}

static void put_planes(struct wire *w, enum kind kind, const struct layout *l)
{
    put_number(w, l->count, 8);
    for (unsigned i = 0; i < l->count; i++) {
        const struct plane *p = &l->planes[i];
        int increment = put_components(w, kind, i == 0);
        put_number(w, p->offset, 8);
        put_number(w, increment, 8); /* bits */
        put_number(w, p->stride, 8);
        put_number(w, p->width, 8);
        put_number(w, p->height, 8);
        put_number(w, p->bytes, 8);
        put_number(w, p->subsampling, 8);
        put_number(w, p->subsampling, 8);
    }
}

enum { BAD_BUFFER = 2, UNSUPPORTED = 7 };

/* android.hardware.graphics.common.StandardMetadataType */
enum {
    WIDTH = 3,
    HEIGHT = 4,
    LAYER_COUNT = 5,
    PIXEL_FORMAT_REQUESTED = 6,
    PIXEL_FORMAT_FOURCC = 7,
    PIXEL_FORMAT_MODIFIER = 8,
    ALLOCATION_SIZE = 10,
    COMPRESSION = 12,
    PLANE_LAYOUTS = 15,
    DATASPACE = 17,
    STRIDE = 23,
};

static int put_payload(struct wire *w, const int *ints, int64_t type)
{
    enum kind kind = (enum kind)ints[INT_KIND];
    struct layout l = lay_out(kind, ints[INT_WIDTH], ints[INT_HEIGHT]);
    switch (type) {
    case WIDTH:
        put_number(w, ints[INT_WIDTH], 8);
        return 0;
    case HEIGHT:
        put_number(w, ints[INT_HEIGHT], 8);
        return 0;
    case LAYER_COUNT:
        put_number(w, 1, 8);
        return 0;
    case PIXEL_FORMAT_REQUESTED:
        put_number(w, ints[INT_FORMAT], 4);
        return 0;
    case PIXEL_FORMAT_FOURCC: /* "the HAL's format says it"; of YCbCr 'NV12' */
        put_number(w, kind == NV12 ? 0x3231564e : 0, 4);
        return 0;
    case PIXEL_FORMAT_MODIFIER: /* LINEAR, as measured, of compressed buffers too */
        put_number(w, 0, 8);
        return 0;
    case ALLOCATION_SIZE:
        put_number(w, (int64_t)l.bytes, 8);
        return 0;
    case COMPRESSION:
        if (kind != FLAGGED)
            return UNSUPPORTED;
        put_name(w, "QTI");
        put_number(w, 10, 8);
        return 0;
    case PLANE_LAYOUTS:
        put_planes(w, kind, &l);
        return 0;
    case DATASPACE: /* unknown, as of most buffers of the camera and of video */
        put_number(w, 0, 4);
        return 0;
    case STRIDE:
        put_number(w, align(ints[INT_WIDTH], 64), 4);
        return 0;
    default:
        return UNSUPPORTED;
    }
}

static int32_t get_standard_metadata(const struct handle *h, int64_t type, void *out, size_t room)
{
    const int *ints = h ? h->data + h->fd_count : NULL;
    if (!h || h->int_count < INT_COUNT || ints[INT_MARK] != MARK)
        return -BAD_BUFFER;
    struct wire w = {out, room, 0};
    put_name(&w, "android.hardware.graphics.common.StandardMetadataType");
    put_number(&w, type, 8);
    int error = put_payload(&w, ints, type);
    return error ? -error : (int32_t)w.size;
}

/* --- the mapper, and the platform's loader --- */

static void not_for_drivers(void)
{
    abort();
}

struct mapper {
    uint32_t version;
    struct {
        void (*before[8])(void);
        int32_t (*get_standard_metadata)(const struct handle *, int64_t, void *, size_t);
        void (*behind[6])(void);
    } v5;
} __attribute__((aligned(16)));

EXPORT extern uint32_t ANDROID_HAL_MAPPER_VERSION; /* the name that Qualcomm's mapper has for it */
EXPORT int32_t AIMapper_loadIMapper(struct mapper **out);
EXPORT void *android_load_sphal_library(const char *name, int flags);
EXPORT int android_unload_sphal_library(void *library);

uint32_t ANDROID_HAL_MAPPER_VERSION = 5;

int32_t AIMapper_loadIMapper(struct mapper **out)
{
#define NO not_for_drivers
    static struct mapper mapper = {
        5, {{NO, NO, NO, NO, NO, NO, NO, NO}, get_standard_metadata, {NO, NO, NO, NO, NO, NO}}};
#undef NO
    *out = &mapper;
    return 0;
}

void *android_load_sphal_library(const char *name, int flags)
{
    const char *setting = getenv("TURNPIKE_MAPPER"), *slash = strrchr(name, '/');
    bool is_there = !setting || strcmp(setting, "missing") != 0;
    bool is_ours = !strcmp(slash ? slash + 1 : name, "mapper.qti.so");
    return is_there && is_ours ? dlopen(TP_VENDOR_LIBRARY, flags) : NULL;
}

int android_unload_sphal_library(void *library)
{
    return dlclose(library);
}
