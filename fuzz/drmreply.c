/* Answers as a hostile server sends them: never a write outside of the caller's arrays, which lie here in
 * blocks of just their size. The first bytes choose the request and the room. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "frames/wire/drm_call.h"
#include "frames/wire/drm_table.h"

#define HEAD 5 /* number, room, answers with the right request, descriptors, null arrays */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct tp_drm_fences fences = {1, 2};
    struct tp_frame f = {.fourcc = TP_FRAME_REPLY};
    const struct tp_drm_row *row;
    uint64_t wire[TP_DRM_STRUCT_WORDS] = {0}, native[TP_DRM_STRUCT_WORDS], now[TP_DRM_STRUCT_WORDS];
    void *arrays[TP_DRM_ARRAYS] = {0};
    int32_t fence = 0;
    uint8_t *payload, *arg;
    unsigned n_fds, room;
    int r;

    if (size < HEAD || size > TP_FRAME_BYTES || !(row = tp_drm_row(_IOC(0, 'd', data[0], 0))))
        return 0;
    room = data[1];
    n_fds = data[3] % (TP_FRAME_FDS + 1);
    payload = malloc(size - HEAD + 1);
    arg = malloc(row->native_bytes + 1u);
    assert(payload && arg);
    memcpy(payload, data + HEAD, size - HEAD);
    if (data[2] % 2 && size - HEAD >= 8)
        memcpy(payload + 4, &(uint32_t){tp_drm_wire_request(row)}, 4);
    for (unsigned i = 0; i < TP_DRM_ARRAYS && row->arrays[i].count_bytes > 0; i++) {
        const struct tp_drm_array *a = &row->arrays[i];

        tp_drm_set(wire, a->count, a->count_bytes, room);
        arrays[i] = data[4] >> i & 1 ? NULL : calloc(room + 1u, a->element_bytes);
        if (row->atomic && arrays[i]) {
            for (unsigned k = 0; k < room; k++) {
                if (i == 1)
                    ((uint32_t *)arrays[i])[k] = 1;
                else if (i == 2)
                    ((uint32_t *)arrays[i])[k] = k % 3;
                else if (i == 3)
                    ((uint64_t *)arrays[i])[k] = (uintptr_t)&fence;
            }
        }
        tp_drm_set(wire, a->pointer, 8, (uintptr_t)arrays[i]);
    }
    tp_drm_from_wire(row, wire, native);
    memcpy(arg, native, row->native_bytes);
    for (unsigned i = 0; i < n_fds; i++)
        f.fds[f.n_fds++] = dup(STDERR_FILENO);
    f.payload = payload;
    f.payload_bytes = size - HEAD;
    r = tp_drm_reply_decode(row->request, arg, &fences, &f);
    assert(r >= -4095);
    tp_frame_finish(&f);
    memset(native, 0, sizeof native);
    memcpy(native, arg, row->native_bytes);
    tp_drm_to_wire(row, native, now);
    for (unsigned i = 0; i < TP_DRM_ARRAYS && row->arrays[i].count_bytes > 0; i++) {
        assert(tp_drm_get(now, row->arrays[i].pointer, 8) == (uintptr_t)arrays[i]);
        free(arrays[i]);
    }
    /* What the caller got is the caller's; nothing else is open. */
    if (row->out_fd != TP_DRM_NO_FD && r >= 0)
        assert(close((int)tp_drm_get(now, row->out_fd, 4)) == 0);
    if (row->atomic) {
        for (int fd = 3; fd < 64; fd++)
            close(fd);
    } else {
        int next = dup(STDERR_FILENO);

        assert(next >= 0 && next < 16);
        close(next);
    }
    free(payload);
    free(arg);
    return 0;
}
