/* The interface of Android's IMapper 5 ("stable C") and of libvndksupport, as a vendor's library
 * sees it: names, sizes and places after AOSP's hardware/interfaces/graphics/mapper/stable-c and
 * system/core/libvndksupport. Written apart from the driver's own declarations, so that the two can
 * disagree. */
#ifndef DOUBLE_ABI_H
#define DOUBLE_ABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* libcutils' native_handle_t. */
struct abi_handle {
    int32_t version; /* the size of this, without data */
    int32_t fd_count;
    int32_t int_count;
    int32_t data[]; /* the fds, then the ints */
};

enum abi_error {
    ABI_BAD_DESCRIPTOR = 1,
    ABI_BAD_BUFFER = 2,
    ABI_BAD_VALUE = 3,
    ABI_NO_RESOURCES = 5,
    ABI_UNSUPPORTED = 7,
};

/* android.hardware.graphics.common.StandardMetadataType */
enum abi_type {
    ABI_BUFFER_ID = 1,
    ABI_NAME = 2,
    ABI_WIDTH = 3,
    ABI_HEIGHT = 4,
    ABI_LAYER_COUNT = 5,
    ABI_PIXEL_FORMAT_REQUESTED = 6,
    ABI_PIXEL_FORMAT_FOURCC = 7,
    ABI_PIXEL_FORMAT_MODIFIER = 8,
    ABI_USAGE = 9,
    ABI_ALLOCATION_SIZE = 10,
    ABI_PROTECTED_CONTENT = 11,
    ABI_COMPRESSION = 12,
    ABI_INTERLACED = 13,
    ABI_CHROMA_SITING = 14,
    ABI_PLANE_LAYOUTS = 15,
    ABI_CROP = 16,
    ABI_DATASPACE = 17,
    ABI_BLEND_MODE = 18,
    ABI_STRIDE = 23,
};

struct abi_metadata_type {
    const char *name;
    int64_t value;
};

typedef void (*abi_function)(void);

/* Getters return the size of the answer, whether or not it fitted, or a negated abi_error. Only the
 * asked function has a body here; the others keep their places. */
struct abi_mapper_v5 {
    abi_function import_buffer;
    abi_function free_buffer;
    abi_function get_transport_size;
    abi_function lock;
    abi_function unlock;
    abi_function flush_locked_buffer;
    abi_function reread_locked_buffer;
    int32_t (*get_metadata)(
        const struct abi_handle *, struct abi_metadata_type type, void *out, size_t size);
    int32_t (*get_standard_metadata)(
        const struct abi_handle *, int64_t type, void *out, size_t size);
    abi_function set_metadata;
    abi_function set_standard_metadata;
    abi_function list_supported_metadata_types;
    abi_function dump_buffer;
    abi_function dump_all_buffers;
    abi_function get_reserved_region;
};

struct abi_mapper {
    uint32_t version;
    struct abi_mapper_v5 v5;
} __attribute__((aligned(16)));

static_assert(sizeof(struct abi_handle) == 12, "the fds follow three ints");
static_assert(offsetof(struct abi_handle, data) == 12, "the fds follow three ints");
#if UINTPTR_MAX > UINT32_MAX
static_assert(sizeof(struct abi_metadata_type) == 16, "a pointer and a number");
static_assert(sizeof(struct abi_mapper_v5) == 15 * 8, "fifteen functions");
static_assert(offsetof(struct abi_mapper_v5, get_metadata) == 56, "the eighth");
static_assert(offsetof(struct abi_mapper_v5, get_standard_metadata) == 64, "the ninth");
static_assert(offsetof(struct abi_mapper_v5, get_reserved_region) == 112, "the last");
static_assert(offsetof(struct abi_mapper, v5) == 8, "the table follows the version");
static_assert(sizeof(struct abi_mapper) == 128, "rounded up to 16");
static_assert(_Alignof(struct abi_mapper) == 16, "aligned to 16");
#endif

/* What a mapper.*.so exports: one of the numbers, or both. */
extern uint32_t ANDROID_HAL_STABLEC_VERSION;
extern uint32_t ANDROID_HAL_MAPPER_VERSION;
int32_t AIMapper_loadIMapper(struct abi_mapper **out);

/* What libvndksupport.so exports. */
void *android_load_sphal_library(const char *name, int flags);
int android_unload_sphal_library(void *library);

#endif
