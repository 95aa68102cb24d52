/* Frames of the scan-out channel as a hostile peer sends them: the first byte says from which side
 * and with how many descriptors. What is accepted says the same again when it is written and read
 * once more, and no descriptor stays open. */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "frames/wire/board.h"
#include "frames/wire/scanout.h"

static void give_fds(struct tp_frame *f, unsigned n)
{
    while (f->n_fds < n)
        f->fds[f->n_fds++] = dup(STDERR_FILENO);
}

static void again(const struct tp_scanout_frame *f, bool from_server)
{
    uint8_t bytes[TP_SCANOUT_BYTES], second[TP_SCANOUT_BYTES];
    struct tp_scanout_frame g;
    struct tp_frame frame = {.fourcc = f->fourcc,
        .flags = f->flags,
        .sequence = f->sequence,
        .payload = bytes,
        .payload_bytes = tp_scanout_encode(f, bytes)};
    assert(frame.payload_bytes > 0 && frame.payload_bytes <= TP_SCANOUT_BYTES);
    give_fds(&frame, f->fd >= 0);
    assert(tp_scanout_decode(&frame, from_server, &g) == 0);
    assert((g.fd >= 0) == (f->fd >= 0));
    assert(tp_scanout_encode(&g, second) == frame.payload_bytes);
    assert(memcmp(bytes, second, frame.payload_bytes) == 0);
    tp_frame_finish(&frame);
    tp_scanout_finish(&g);
}

static void hello(struct tp_frame *frame, bool from_server)
{
    struct tp_hello h;
    uint32_t version;
    int board;
    if (tp_scanout_hello(frame, from_server, &h, &version, &board) == 0)
        assert(h.kind == TP_HELLO_SCANOUT && version <= TP_WIRE_VERSION);
    else
        assert(board == -1);
    if (board >= 0)
        close(board);
}

static void board(const uint8_t *data, size_t size)
{
    static _Alignas(8) uint8_t page[2 * TP_BOARD_BYTES];
    struct tp_board_view v;
    if (size > sizeof page)
        return;
    memcpy(page, data, size);
    if (tp_board_look(page, size, &v) < 0)
        return;
    for (unsigned i = 0; i < v.n_words; i++)
        assert(tp_board_read(&v, i, 1, NULL) <= TP_BOARD_SHOWN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tp_frame frame = {0};
    struct tp_scanout_frame f;
    int next = dup(STDERR_FILENO);
    close(next);
    if (size < 1)
        return 0;
    bool from_server = data[0] & 1;
    board(data + 1, size - 1);
    if (tp_frame_parse(data + 1, size - 1, &frame) == 0) {
        give_fds(&frame, (data[0] >> 1) % (TP_FRAME_FDS + 1));
        if (frame.fourcc == TP_FRAME_HELLO) {
            hello(&frame, from_server);
        } else if (tp_scanout_decode(&frame, from_server, &f) == 0) {
            again(&f, from_server);
            tp_scanout_finish(&f);
        } else {
            assert(f.fd == -1);
        }
        tp_frame_finish(&frame);
    }
    assert(dup(STDERR_FILENO) == next);
    close(next);
    return 0;
}
