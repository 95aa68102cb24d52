#include "peer.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void send_frame(
    struct peer *p, struct tp_scanout_frame *f, uint32_t flags, uint32_t sequence)
{
    uint8_t payload[TP_SCANOUT_BYTES];

    f->flags = flags;
    struct iovec part = {payload, tp_scanout_encode(f, payload)};
    if (p->sock >= 0)
        tp_frame_send(p->sock, f->fourcc, flags, sequence, &part, 1, &f->fd, f->fd >= 0);
}

static void hello(struct peer *p, struct tp_frame *f)
{
    struct tp_hello theirs,
        ours = {.version = TP_WIRE_VERSION,
            .oldest = TP_WIRE_OLDEST,
            .kind = TP_HELLO_SCANOUT,
            .capabilities = p->capabilities};
    struct iovec part = {&ours, sizeof ours};
    uint32_t version;
    int board;

    assert_int_equal(tp_scanout_hello(f, false, &theirs, &version, &board), 0);
    p->theirs = theirs.capabilities;
    bool with_board = ours.capabilities & theirs.capabilities & TP_CAP_BOARD;
    tp_frame_send(p->sock, TP_FRAME_HELLO, 0, 0, &part, 1, &p->board_fd, with_board);
    p->connections++;
    pthread_cond_broadcast(&p->changed);
}

static uint32_t low(struct peer *p, unsigned i)
{
    return tp_board_low(p->buffers[i].sequence, p->buffers[i].state);
}

static void write_word(struct peer *p, unsigned i)
{
    if (!p->board)
        return;
    tp_board_store(p->board, i,
        tp_board_word(p->buffers[i].gone ? 0 : p->buffers[i].name.generation, low(p, i)));
    tp_board_wake(p->board, i);
}

static int find(struct peer *p, const struct tp_buffer_name *name)
{
    for (unsigned i = 0; i < p->n_buffers; i++) {
        if (!p->buffers[i].gone && p->buffers[i].name.generation == name->generation)
            return (int)i;
    }
    return -1;
}

/* A place that is free again. */
static unsigned gone(const struct peer *p)
{
    unsigned i = 0;

    while (i < PEER_BUFFERS && !p->buffers[i].gone)
        i++;
    return i;
}

static void take_ring(struct peer *p, struct tp_scanout_frame *f)
{
    uint32_t number = f->u.census.number;

    assert_true(p->capabilities & TP_CAP_CENSUS);
    assert_true(number < TP_CENSUS_RINGS);
    assert_int_equal(p->rings[number] >= 0, f->u.census.ended);
    if (f->u.census.ended)
        close(p->rings[number]);
    p->rings[number] = f->fd;
    f->fd = -1;
    p->n_rings += f->u.census.ended ? -1u : 1u;
    if (p->n_rings > p->most_rings)
        p->most_rings = p->n_rings;
    p->ringed++;
}

static void take(struct peer *p, struct tp_scanout_frame *f)
{
    struct tp_scanout_frame answer = {.fourcc = f->fourcc, .fd = -1};

    if (f->fourcc == TP_FRAME_REGISTER) {
        unsigned i = p->n_buffers < PEER_BUFFERS ? p->n_buffers++ : gone(p);
        assert_true(i < PEER_BUFFERS);
        memset(&p->buffers[i], 0, sizeof p->buffers[i]);
        p->buffers[i].memory = f->fd;
        f->fd = -1;
        p->buffers[i].name = f->u.reg.buffer;
        p->buffers[i].name.index = i;
        p->n_live++;
        write_word(p, i);
        answer.u.reg.buffer = p->buffers[i].name;
        answer.u.reg.low = low(p, i);
        send_frame(p, &answer, TP_SCANOUT_ANSWER, f->sequence);
    } else if (f->fourcc == TP_FRAME_UNREGISTER) {
        int i = find(p, &f->u.unregister);
        assert_true(i >= 0);
        close(p->buffers[i].memory);
        p->buffers[i].memory = -1;
        p->buffers[i].gone = true;
        p->n_live--;
        write_word(p, (unsigned)i);
    } else if (f->fourcc == TP_FRAME_STATE) {
        int i = find(p, &f->u.state.buffer);
        answer.u.state.buffer = f->u.state.buffer;
        if (i >= 0) {
            p->buffers[i].asked++;
            answer.u.state.known = true;
            answer.u.state.low = low(p, (unsigned)i);
        }
        send_frame(p, &answer, TP_SCANOUT_ANSWER, f->sequence);
    } else if (f->fourcc == TP_FRAME_CENSUS) {
        take_ring(p, f);
    }
    pthread_cond_broadcast(&p->changed);
}

static void hang_up(struct peer *p)
{
    for (unsigned i = 0; i < p->n_buffers; i++) {
        if (p->buffers[i].memory >= 0)
            close(p->buffers[i].memory);
        p->buffers[i].memory = -1;
    }
    for (unsigned i = 0; i < TP_CENSUS_RINGS; i++) {
        if (p->rings[i] >= 0)
            close(p->rings[i]);
        p->rings[i] = -1;
    }
    p->n_rings = 0;
    if (p->sock >= 0)
        close(p->sock);
    p->sock = -1;
}

static void receive(struct peer *p, uint8_t *buffer)
{
    struct tp_scanout_frame f;
    struct tp_frame frame;
    int r = tp_frame_recv_now(p->sock, buffer, &frame);

    if (r == -EAGAIN)
        return;
    if (r) {
        hang_up(p);
        return;
    }
    if (frame.fourcc == TP_FRAME_HELLO) {
        hello(p, &frame);
    } else if (!tp_scanout_decode(&frame, false, &f)) {
        take(p, &f);
        tp_scanout_finish(&f);
    }
    tp_frame_finish(&frame);
}

static void *run(void *data)
{
    static uint8_t buffer[TP_FRAME_BYTES];
    struct peer *p = data;

    for (;;) {
        struct pollfd fds[3] = {{.fd = p->stop, .events = POLLIN},
            {.fd = p->listener, .events = POLLIN}, {.fd = p->sock, .events = POLLIN}};
        poll(fds, 3, -1);
        if (fds[0].revents)
            return NULL;
        pthread_mutex_lock(&p->lock);
        if (p->sock >= 0 && fds[2].revents)
            receive(p, buffer);
        if (p->sock < 0 && fds[1].revents) {
            p->sock = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC);
            p->n_buffers = p->n_live = 0;
        }
        pthread_mutex_unlock(&p->lock);
    }
}

int peer_listen(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    strcpy(address.sun_path + 1, name);
    assert_int_equal(bind(fd, (struct sockaddr *)&address,
                         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))),
        0);
    assert_int_equal(listen(fd, 4), 0);
    return fd;
}

void peer_start(struct peer *p, const char *name, uint64_t capabilities)
{
    *p = (struct peer){.capabilities = capabilities, .sock = -1, .board_fd = -1};
    for (unsigned i = 0; i < TP_CENSUS_RINGS; i++)
        p->rings[i] = -1;
    p->stop = eventfd(0, EFD_CLOEXEC);
    p->listener = peer_listen(name);
    if (capabilities & TP_CAP_BOARD)
        assert_int_equal(tp_board_create(&p->board, &p->board_fd), 0);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    assert_int_equal(pthread_create(&p->thread, NULL, run, p), 0);
}

void peer_stop(struct peer *p)
{
    uint64_t one = 1;

    assert_int_equal(write(p->stop, &one, sizeof one), sizeof one);
    pthread_join(p->thread, NULL);
    hang_up(p);
    close(p->listener);
    close(p->stop);
    if (p->board_fd >= 0)
        close(p->board_fd);
    tp_board_destroy(p->board);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->changed);
}

void peer_wait(struct peer *p, unsigned buffers)
{
    pthread_mutex_lock(&p->lock);
    while (p->n_buffers < buffers)
        pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

void peer_wait_connections(struct peer *p, unsigned connections)
{
    pthread_mutex_lock(&p->lock);
    while (p->connections < connections)
        pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

void peer_wait_live(struct peer *p, unsigned live)
{
    pthread_mutex_lock(&p->lock);
    while (p->n_live != live)
        pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

void peer_wait_rings(struct peer *p, unsigned rings)
{
    pthread_mutex_lock(&p->lock);
    while (p->n_rings != rings)
        pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

void peer_set(struct peer *p, unsigned buffer, enum tp_board_state state)
{
    pthread_mutex_lock(&p->lock);
    p->buffers[buffer].state = state;
    p->buffers[buffer].sequence++;
    write_word(p, buffer);
    pthread_mutex_unlock(&p->lock);
}

void peer_note(
    struct peer *p, unsigned buffer, enum tp_note_what what, enum tp_fence_kind kind, int fence)
{
    pthread_mutex_lock(&p->lock);
    struct tp_scanout_frame f = {.fourcc = TP_FRAME_NOTE,
        .u.note = {.buffer = p->buffers[buffer].name,
            .serial = 1,
            .what = what,
            .kind = kind,
            .low = low(p, buffer)},
        .fd = fence};
    send_frame(p, &f, 0, 0);
    pthread_mutex_unlock(&p->lock);
}

void peer_timeline(struct peer *p, const struct tp_timeline_frame *t)
{
    struct tp_scanout_frame f = {.fourcc = TP_FRAME_TIMELINE, .u.timeline = *t, .fd = -1};

    pthread_mutex_lock(&p->lock);
    send_frame(p, &f, 0, 0);
    pthread_mutex_unlock(&p->lock);
}

void peer_setting(struct peer *p, enum tp_setting setting, int64_t value)
{
    struct tp_scanout_frame f = {
        .fourcc = TP_FRAME_SETTING, .u.setting = {.setting = setting, .value = value}, .fd = -1};

    pthread_mutex_lock(&p->lock);
    send_frame(p, &f, 0, 0);
    pthread_mutex_unlock(&p->lock);
}

void peer_nonsense(struct peer *p)
{
    static const uint8_t bytes[40] = {'G', 'N', 'R', 'F', 40};

    pthread_mutex_lock(&p->lock);
    if (p->sock >= 0)
        assert_int_equal(send(p->sock, bytes, sizeof bytes, MSG_NOSIGNAL), sizeof bytes);
    pthread_mutex_unlock(&p->lock);
}

unsigned peer_asked(struct peer *p, unsigned buffer)
{
    pthread_mutex_lock(&p->lock);
    unsigned asked = p->buffers[buffer].asked;
    pthread_mutex_unlock(&p->lock);
    return asked;
}

void peer_read(struct peer *p, unsigned buffer, void *out, size_t bytes)
{
    pthread_mutex_lock(&p->lock);
    void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, p->buffers[buffer].memory, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    memcpy(out, memory, bytes);
    munmap(memory, bytes);
    pthread_mutex_unlock(&p->lock);
}
