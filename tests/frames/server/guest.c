#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void guest_join(struct guest *g, uint64_t capabilities)
{
    const struct tp_hello mine = {
        TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_SCANOUT, 0, capabilities};
    const struct iovec part = {(void *)(uintptr_t)&mine, sizeof mine};
    struct tp_hello hello;
    struct tp_frame f;
    uint32_t version;
    int ends[2], board;
    memset(g, 0, offsetof(struct guest, in));
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    g->sock = ends[0];
    assert_int_equal(tp_server_adopt(server, ends[1]), 0);
    assert_int_equal(tp_frame_send(g->sock, TP_FRAME_HELLO, 0, 0, &part, 1, NULL, 0), 0);
    pump();
    assert_int_equal(tp_frame_recv(g->sock, g->in, &f), 0);
    assert_int_equal(tp_scanout_hello(&f, true, &hello, &version, &board), 0);
    tp_frame_finish(&f);
    g->capabilities = hello.capabilities;
    g->has_board = board >= 0;
    if (!g->has_board)
        return;
    assert_int_equal(tp_board_open(board, &g->board), 0);
    close(board);
}

void guest_leave(struct guest *g)
{
    close(g->sock);
    tp_board_close(&g->board);
    pump();
}

void guest_say(struct guest *g, uint32_t fourcc, uint32_t flags, const void *payload, size_t bytes,
    const int *fds, unsigned n_fds)
{
    const struct iovec part = {(void *)(uintptr_t)payload, bytes};
    tp_frame_send(g->sock, fourcc, flags, ++g->sequence, &part, 1, fds, n_fds);
    pump();
}

void guest_send(struct guest *g, const struct tp_scanout_frame *f)
{
    uint8_t payload[TP_SCANOUT_BYTES];
    size_t n = tp_scanout_encode(f, payload);
    guest_say(g, f->fourcc, f->flags, payload, n, &f->fd, f->fd >= 0);
}

static bool receive(struct guest *g, struct tp_scanout_frame *f)
{
    struct tp_frame frame;
    int r = tp_frame_recv(g->sock, g->in, &frame);
    if (r == -EAGAIN || r == -EPIPE || r == -ECONNRESET)
        return false;
    assert_int_equal(r, 0);
    assert_int_equal(tp_scanout_decode(&frame, true, f), 0);
    tp_frame_finish(&frame);
    return true;
}

bool guest_next(struct guest *g, struct tp_scanout_frame *f)
{
    while (receive(g, f))
        if (f->fourcc != TP_FRAME_TIMELINE)
            return true;
    return false;
}

unsigned guest_drain(struct guest *g)
{
    struct tp_scanout_frame f;
    unsigned n = 0;
    for (; receive(g, &f); n++)
        tp_scanout_finish(&f);
    return n;
}

void image_make(struct image *i, struct peer *compositor, uint32_t generation)
{
    struct stat st;
    i->memory = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(i->memory >= 0);
    assert_int_equal(ftruncate(i->memory, FB_BYTES), 0);
    assert_int_equal(fstat(i->memory, &st), 0);
    i->fb = compositor ? import_fb(compositor, i->memory) : 0;
    i->name = (struct tp_buffer_name){{st.st_dev, st.st_ino}, generation, TP_BUFFER_NO_INDEX};
}

void image_finish(struct image *i)
{
    close(i->memory);
}

int guest_register(struct guest *g, struct image *i)
{
    struct tp_scanout_frame f = {
        .fourcc = TP_FRAME_REGISTER, .fd = i->memory, .u.reg.buffer = i->name};
    guest_send(g, &f);
    while (guest_next(g, &f) && f.fourcc != TP_FRAME_REGISTER)
        tp_scanout_finish(&f);
    assert_int_equal(f.fourcc, TP_FRAME_REGISTER);
    assert_int_equal(f.flags, TP_SCANOUT_ANSWER);
    assert_int_equal(f.sequence, g->sequence);
    assert_true(tp_identity_equal(&f.u.reg.buffer.identity, &i->name.identity));
    if (f.u.reg.result == 0)
        i->name = f.u.reg.buffer;
    return f.u.reg.result;
}

int state_of(const struct guest *g, const struct image *i)
{
    return tp_board_read(&g->board, i->name.index, i->name.generation, NULL);
}

uint64_t show(struct peer *compositor, const struct image *i)
{
    struct drm_event_vblank e;
    assert_int_equal(page_flip(compositor, i->fb, 0), 0);
    tick();
    assert_int_equal(peer_event(compositor, &e), sizeof e);
    return published.serial;
}

struct tp_note expect_note(
    struct guest *g, const struct image *i, enum tp_note_what what, int *fence)
{
    struct tp_scanout_frame f;
    assert_true(guest_next(g, &f));
    assert_int_equal(f.fourcc, TP_FRAME_NOTE);
    assert_true(tp_buffer_name_equal(&f.u.note.buffer, &i->name));
    assert_int_equal(f.u.note.what, what);
    assert_int_equal(f.fd >= 0, fence != NULL);
    if (fence)
        *fence = f.fd;
    return f.u.note;
}

void expect_nothing(struct guest *g)
{
    struct tp_scanout_frame f;
    if (guest_next(g, &f))
        fail_msg("a frame %.4s", (const char *)&f.fourcc);
}
