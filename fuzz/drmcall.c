/* Calls as a hostile client sends them: whatever is accepted points into the call's own memory, and says
 * the same again when it is encoded and decoded once more. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "frames/wire/drm_call.h"
#include "frames/wire/drm_table.h"

static struct tp_drm_call first, second; /* kept, as a server keeps them */
static uint8_t again[TP_FRAME_BYTES], answer[TP_FRAME_BYTES];

static uint64_t elements(const struct tp_drm_row *row, const uint64_t *wire, unsigned i)
{
    const struct tp_drm_array *a = &row->arrays[i];
    uint64_t n = tp_drm_get(wire, a->count, a->count_bytes), sum = 0;
    const uint32_t *counts = (const void *)(uintptr_t)tp_drm_get(wire, row->arrays[1].pointer, 8);

    if (!(a->flags & TP_DRM_SUM))
        return n;
    for (uint64_t k = 0; counts && k < n; k++)
        sum += counts[k];
    return sum;
}

static void check_arrays(const struct tp_drm_row *row, const struct tp_drm_call *call,
                         uint64_t *wire)
{
    tp_drm_to_wire(row, call->arg, wire);
    for (unsigned i = 0; i < TP_DRM_ARRAYS && row->arrays[i].count_bytes > 0; i++) {
        const uint8_t *p = (const void *)(uintptr_t)tp_drm_get(wire, row->arrays[i].pointer, 8);
        uint64_t n = elements(row, wire, i), bytes = n * row->arrays[i].element_bytes;

        if (!p) {
            assert(n == 0 || (row->arrays[i].flags & TP_DRM_NULLABLE));
            continue;
        }
        assert(p >= call->memory && bytes <= call->memory_bytes);
        assert(p + bytes <= call->memory + call->memory_bytes);
        /* The core may write what comes out. */
        if (row->arrays[i].flags & TP_DRM_OUT)
            memset((void *)(uintptr_t)p, 0x5a, (size_t)bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct tp_drm_fences none;
    struct tp_frame f = {.fourcc = TP_FRAME_CALL};
    const struct tp_drm_row *row;
    uint64_t wire[TP_DRM_STRUCT_WORDS], wire2[TP_DRM_STRUCT_WORDS];
    int fds[TP_FRAME_FDS], r;
    unsigned n_fds;
    ssize_t n;

    if (size < 1 || size > TP_FRAME_BYTES)
        return 0;
    for (unsigned i = 0; i < data[0] % 3u; i++)
        f.fds[f.n_fds++] = dup(STDERR_FILENO);
    f.payload = data + 1;
    f.payload_bytes = size - 1;
    r = tp_drm_call_decode(&f, &first);
    tp_frame_finish(&f);
    n = tp_drm_reply_encode(&first, r < 0 ? r : 0, answer, sizeof answer);
    assert(n >= 8);
    if (r < 0)
        return 0;
    row = tp_drm_row(first.request);
    assert(row && first.request == row->request);
    check_arrays(row, &first, wire);
    n = tp_drm_reply_encode(&first, 0, answer, sizeof answer - sizeof(struct tp_frame_header));
    assert(n >= 8);
    if (row->in_fd != TP_DRM_NO_FD) { /* an index here, a descriptor there */
        tp_drm_set(wire, row->in_fd, 4, STDERR_FILENO);
        tp_drm_from_wire(row, wire, first.arg);
    }
    if (!(_IOC_DIR(row->request) & _IOC_WRITE))
        return 0;
    n = tp_drm_call_encode(first.request, first.arg, &none, again, sizeof again, fds, &n_fds);
    assert(n > 0);
    f = (struct tp_frame){.fourcc = TP_FRAME_CALL, .payload = again, .payload_bytes = (size_t)n};
    for (unsigned i = 0; i < n_fds; i++)
        f.fds[f.n_fds++] = dup(fds[i]);
    assert(tp_drm_call_decode(&f, &second) == 0);
    check_arrays(row, &second, wire2);
    for (unsigned i = 0; i < TP_DRM_ARRAYS && row->arrays[i].count_bytes > 0; i++) {
        const struct tp_drm_array *a = &row->arrays[i];
        const void *p = (const void *)(uintptr_t)tp_drm_get(wire, a->pointer, 8);
        const void *q = (const void *)(uintptr_t)tp_drm_get(wire2, a->pointer, 8);

        assert(!p == !q);
        if (p)
            assert(memcmp(p, q, (size_t)elements(row, wire, i) * a->element_bytes) == 0);
        tp_drm_set(wire, a->pointer, 8, 0);
        tp_drm_set(wire2, a->pointer, 8, 0);
    }
    if (row->in_fd != TP_DRM_NO_FD)
        tp_drm_set(wire2, row->in_fd, 4, STDERR_FILENO);
    assert(memcmp(wire, wire2, row->native_bytes < row->bytes ? row->native_bytes : row->bytes) == 0);
    return 0;
}
