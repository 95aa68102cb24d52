/* mapper.qti.so, the double: a vendor's IMapper 5 that behaves as TURNPIKE_MAPPER says, or, for
 * copies of the file under other names (mapper.NAME.so), as TURNPIKE_MAPPER_NAME does; and for each
 * buffer as its handle says (buffer.h). */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "buffer.h"
#include "replies.h"

#define PUBLIC __attribute__((visibility("default")))

/* Qualcomm's exports the second alone; others both, the first alone, or neither. */
#ifndef DOUBLE_SYMBOLS
#define DOUBLE_SYMBOLS 2
#endif
#if DOUBLE_SYMBOLS & 1
PUBLIC
#endif
uint32_t ANDROID_HAL_STABLEC_VERSION = 5;
#if DOUBLE_SYMBOLS & 2
PUBLIC
#endif
uint32_t ANDROID_HAL_MAPPER_VERSION = 5;

static int library_kind;
static unsigned calls;

/* The last part of a path, "mapper.NAME.so", as an environment variable's name. */
static const char *setting(void)
{
    Dl_info info;
    char variable[64] = "TURNPIKE_MAPPER_";
    const char *file =
        dladdr(&library_kind, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    size_t used = strlen(variable);
    int length = 0;
    if (file && sscanf(file, "/mapper.%40[^.].so%n", variable + used, &length) == 1 && length > 0 &&
        getenv(variable))
        return getenv(variable);
    return getenv("TURNPIKE_MAPPER");
}

__attribute__((constructor)) static void begin(void)
{
    library_kind = double_kind_named(setting());
    if (library_kind == DOUBLE_LIB_VERSION_4 || library_kind == DOUBLE_LIB_STABLEC_4)
        ANDROID_HAL_STABLEC_VERSION = 4;
    if (library_kind == DOUBLE_LIB_VERSION_4 || library_kind == DOUBLE_LIB_MAPPER_4)
        ANDROID_HAL_MAPPER_VERSION = 4;
    if (library_kind == DOUBLE_LIB_VERSION_6)
        ANDROID_HAL_STABLEC_VERSION = ANDROID_HAL_MAPPER_VERSION = 6;
}

static bool is_ours(const struct abi_handle *handle)
{
    return handle && handle->fd_count >= 0 && handle->int_count >= DOUBLE_INTS &&
        handle->data[handle->fd_count + DOUBLE_MAGIC] == DOUBLE_GMSM;
}

static int32_t get_standard_metadata(
    const struct abi_handle *handle, int64_t type, void *out, size_t size)
{
    unsigned call = __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    if (!is_ours(handle) || library_kind == DOUBLE_LIB_STRANGER)
        return -ABI_BAD_BUFFER;
    const int32_t *ints = handle->data + handle->fd_count;
    int kind = ints[DOUBLE_KIND];
    if (kind == DOUBLE_DEFAULT)
        kind = library_kind;
    if (kind == DOUBLE_DEFAULT || kind >= DOUBLE_LIB_MISSING)
        kind = DOUBLE_QTI_840;
    return double_reply(ints, kind, call, type, out, out ? size : 0);
}

static int32_t get_metadata(
    const struct abi_handle *handle, struct abi_metadata_type type, void *out, size_t size)
{
    if (!type.name ||
        strcmp(type.name, "android.hardware.graphics.common.StandardMetadataType") != 0)
        return -ABI_UNSUPPORTED;
    return get_standard_metadata(handle, type.value, out, size);
}

static void not_for_drivers(void)
{
    fprintf(stderr, "mapper double: a function was called that a driver must not call\n");
    abort();
}

PUBLIC int32_t AIMapper_loadIMapper(struct abi_mapper **out)
{
    static struct abi_mapper mapper = {
        .version = 5,
        .v5 =
            {
                .import_buffer = not_for_drivers,
                .free_buffer = not_for_drivers,
                .get_transport_size = not_for_drivers,
                .lock = not_for_drivers,
                .unlock = not_for_drivers,
                .flush_locked_buffer = not_for_drivers,
                .reread_locked_buffer = not_for_drivers,
                .get_metadata = get_metadata,
                .get_standard_metadata = get_standard_metadata,
                .set_metadata = not_for_drivers,
                .set_standard_metadata = not_for_drivers,
                .list_supported_metadata_types = not_for_drivers,
                .dump_buffer = not_for_drivers,
                .dump_all_buffers = not_for_drivers,
                .get_reserved_region = not_for_drivers,
            },
    };
    *out = library_kind == DOUBLE_LIB_NULL ? NULL : &mapper;
    if (library_kind == DOUBLE_LIB_TABLE_4)
        mapper.version = 4;
    else if (library_kind == DOUBLE_LIB_TABLE_6)
        mapper.version = 6;
    else if (library_kind == DOUBLE_LIB_HOLE)
        mapper.v5.get_standard_metadata = NULL;
    return library_kind == DOUBLE_LIB_ERROR ? ABI_NO_RESOURCES : 0;
}
