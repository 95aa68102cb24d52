/* A vendor's mapper that answers anything: the gralloc backend for IMapper 5 must neither crash nor
 * hand on what Mesa cannot use.
 *
 * Byte 0: what the handle is (bit 0: one fd instead of two; bit 1: no pixel stride; bit 2:
 * two ints behind the fds instead of one; bit 3: the second says UBWC). Byte 1: which
 * HAL format. Then answers: a byte for the kind of metadata (a type of the table below, modulo), a
 * byte that says how its size lies, two bytes of length, and so many bytes, which are the whole
 * answer with its header, or, with bit 7 of the lie, a payload that a right header is put before.
 * For the same type given twice, the second is what it answers from the second time on. */
#include <drm_fourcc.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "double/abi.h"
#include "double/wire.h"
#include "u_gralloc_internal.h"

struct u_gralloc *aimapper_first_create(void);
int aimapper_first_ask(struct u_gralloc *gr, const struct u_gralloc_buffer_handle *hnd);
struct u_gralloc *aimapper_later_create(void);
int aimapper_later_ask(struct u_gralloc *gr, const struct u_gralloc_buffer_handle *hnd);

/* What the backend's object files have instead of the loader. */
void *fuzz_dlopen(const char *name, int flags);
void *fuzz_dlsym(void *library, const char *name);
int fuzz_dlclose(void *library);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const int64_t types[] = {ABI_HEIGHT, ABI_LAYER_COUNT, ABI_PIXEL_FORMAT_REQUESTED,
    ABI_PIXEL_FORMAT_FOURCC, ABI_PIXEL_FORMAT_MODIFIER, ABI_ALLOCATION_SIZE, ABI_COMPRESSION,
    ABI_CHROMA_SITING, ABI_PLANE_LAYOUTS, ABI_DATASPACE, ABI_STRIDE};

#define TYPES (sizeof(types) / sizeof(*types))

struct answer {
    const uint8_t *bytes;
    size_t size;
    uint8_t lie;
    bool given;
};

static struct answer answers[TYPES][2];
static unsigned asked[TYPES];

static int32_t lie_about(size_t size, size_t room, uint8_t lie)
{
    switch (lie & 15) {
    case 1:
        return 0;
    case 2:
        return -ABI_UNSUPPORTED;
    case 3:
        return INT32_MIN;
    case 4:
        return INT32_MAX;
    case 5:
        return 65536;
    case 6:
        return 65537;
    case 7:
        return (int32_t)room; /* claims more than was written */
    case 8:
        return (int32_t)room + 1; /* grows */
    case 9:
        return (int32_t)size - 1;
    case 10:
        return (int32_t)size + 1;
    case 11:
        return 1024;
    case 12:
        return 1025;
    default:
        return (int32_t)size;
    }
}

static int32_t get_standard_metadata(
    const struct abi_handle *handle, int64_t type, void *out, size_t room)
{
    struct wire_out w = {out, room, 0};
    (void)handle;
    for (unsigned i = 0; i < TYPES; i++) {
        if (types[i] != type)
            continue;
        struct answer *answer = &answers[i][asked[i]++ && answers[i][1].given];
        if (!answer->given)
            break;
        if (answer->lie & 0x80)
            wire_header(&w, type);
        wire_put(&w, answer->bytes, answer->size);
        return lie_about(w.size, room, answer->lie);
    }
    return -ABI_UNSUPPORTED;
}

static int32_t load_mapper(struct abi_mapper **out)
{
    static struct abi_mapper mapper = {5, {.get_standard_metadata = get_standard_metadata}};
    *out = &mapper;
    return 0;
}

static void *load_library(const char *name, int flags)
{
    (void)name;
    (void)flags;
    return (void *)types;
}

void *fuzz_dlopen(const char *name, int flags)
{
    (void)name;
    (void)flags;
    return (void *)types;
}

void *fuzz_dlsym(void *library, const char *name)
{
    static uint32_t version = 5;
    (void)library;
    if (!strcmp(name, "ANDROID_HAL_STABLEC_VERSION"))
        return &version;
    if (!strcmp(name, "AIMapper_loadIMapper"))
        return (void *)(uintptr_t)load_mapper;
    if (!strcmp(name, "android_load_sphal_library"))
        return (void *)(uintptr_t)load_library;
    return NULL;
}

int fuzz_dlclose(void *library)
{
    (void)library;
    return 0;
}

static void read_answers(const uint8_t *data, size_t size)
{
    memset(answers, 0, sizeof(answers));
    while (size >= 4) {
        struct answer answer = {data + 4, data[2] | (size_t)data[3] << 8, data[1], true};
        struct answer *to = answers[data[0] % TYPES];
        if (answer.size > size - 4)
            answer.size = size - 4;
        to[to[0].given] = answer;
        data += 4 + answer.size;
        size -= 4 + answer.size;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int formats[] = {
        1, 2, 4, 5, 0x16, 0x22, 0x23, 0x2b, 0x36, 0x32315659, 0, 3, 0x7fa30c06, -1};
    static struct u_gralloc *first, *later;
    int32_t ints[] = {12, 2, 1, 1000, 1001, 0, 0};
    if (!first) {
        first = aimapper_first_create();
        later = aimapper_later_create();
    }
    if (!first || !later)
        abort();
    if (size < 2)
        return 0;
    ints[1] = data[0] & 1 ? 1 : 2;
    ints[2] = data[0] & 4 ? 2 : 1;
    ints[3 + ints[1] + 1] = data[0] & 8 ? 0x08000000 : 0;
    const struct u_gralloc_buffer_handle hnd = {(const native_handle_t *)ints,
        formats[data[1] % (sizeof(formats) / sizeof(*formats))], data[0] & 2 ? 0 : 1216};
    read_answers(data + 2, size - 2);
    memset(asked, 0, sizeof(asked));
    int first_result = aimapper_first_ask(first, &hnd);
    memset(asked, 0, sizeof(asked));
    int later_result = aimapper_later_ask(later, &hnd);
    if (first_result != later_result)
        abort();
    return 0;
}
