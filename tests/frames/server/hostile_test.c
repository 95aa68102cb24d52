/* Clients that are not good ones: they neither stop the others nor leave anything. */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frames/server/control.h"

static struct peer a, b;

/* Is this client still served? */
static void assert_served(struct peer *p)
{
    struct drm_mode_create_dumb d = {.width = 8, .height = 8, .bpp = 32};
    assert_int_equal(peer_ioctl(p, DRM_IOCTL_MODE_CREATE_DUMB, &d), 0);
    struct drm_gem_close c = {.handle = d.handle};
    assert_int_equal(peer_ioctl(p, DRM_IOCTL_GEM_CLOSE, &c), 0);
}

static void a_client_that_says_nothing_makes_room_for_others(void **state)
{
    static struct peer silent[64];
    struct tp_server_counts c;
    (void)state;
    tp_server_destroy(server);
    start_server(&(struct tp_server_config){.limits = {.connections = 4}});
    for (unsigned i = 0; i < 8; i++)
        peer_connect(&silent[i]);
    pump();
    peer_open(&a);
    assert_served(&a);
    tp_server_count(server, &c);
    assert_int_equal(c.connections, 4);
    for (unsigned i = 0; i < 8; i++)
        peer_close(&silent[i]);
    assert_served(&a);
    peer_close(&a);
}

static void a_full_house_refuses_and_goes_on(void **state)
{
    static struct peer full[4];
    int ends[2];
    (void)state;
    tp_server_destroy(server);
    start_server(&(struct tp_server_config){.limits = {.connections = 4}});
    for (unsigned i = 0; i < 4; i++)
        peer_open(&full[i]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(tp_server_adopt(server, ends[1]), -EMFILE);
    int32_t said[6]; /* a frame: its header, the reason, zero */
    assert_int_equal(recv(ends[0], said, sizeof said, MSG_DONTWAIT), sizeof said);
    assert_int_equal(said[0], TP_FRAME_REPLY);
    assert_int_equal(said[4], -EMFILE);
    assert_true(hung_up(ends[0]));
    close(ends[0]);
    assert_served(&full[3]);
    peer_close(&full[0]);
    peer_open(&a);
    assert_served(&a);
    peer_close(&a);
    for (unsigned i = 1; i < 4; i++)
        peer_close(&full[i]);
}

static void one_process_gets_its_share_of_each_kind_alone(void **state)
{
    static struct peer mine[3];
    struct tp_hello hello;
    struct tp_server_counts c;
    (void)state;
    tp_server_destroy(server);
    start_server(&(struct tp_server_config){.limits = {.connections = 8, .per_process = 2}});
    peer_open(&mine[0]);
    peer_open(&mine[1]);
    peer_connect(&mine[2]);
    peer_hello(&mine[2], TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_CARD);
    int channel = peer_channel(&mine[2]);
    assert_int_equal(peer_greeting(&mine[2], channel, &hello), -EMFILE);
    close(channel);
    peer_connect(&a);
    peer_hello(&a, TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_HOTPLUG);
    pump();
    assert_false(hung_up(a.card));
    tp_server_count(server, &c);
    assert_int_equal(c.kms.files, 2);
    assert_served(&mine[0]);
    peer_close(&a);
    for (unsigned i = 0; i < 3; i++)
        peer_close(&mine[i]);
}

static void channels_past_the_limit_are_refused(void **state)
{
    struct tp_hello hello;
    int channels[6];
    (void)state;
    tp_server_destroy(server);
    start_server(&(struct tp_server_config){.limits = {.channels = 3}});
    peer_open(&a);
    for (unsigned i = 0; i < 6; i++) {
        channels[i] = peer_channel(&a);
        assert_int_equal(peer_greeting(&a, channels[i], &hello), i < 2 ? 0 : -EMFILE);
    }
    assert_served(&a);
    for (unsigned i = 0; i < 6; i++)
        close(channels[i]);
    peer_close(&a);
}

static void send_channel(struct peer *p, int fd)
{
    tp_frame_send(p->card, TP_FRAME_CHANNEL, 0, 0, NULL, 0, &fd, fd >= 0);
    pump();
}

static void channels_that_are_none_cost_the_card(void **state)
{
    int ends[2], file = memfd_create("file", MFD_CLOEXEC), event = eventfd(0, EFD_CLOEXEC);
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    const int wrong[] = {file, event, ends[1], -1};
    peer_open(&b);
    for (unsigned i = 0; i < 4; i++) {
        peer_open(&a);
        send_channel(&a, wrong[i]);
        assert_true(hung_up(a.card));
        assert_true(hung_up(a.channel));
        peer_close(&a);
        assert_served(&b);
    }
    peer_close(&b);
    close(file);
    close(event);
    close(ends[0]);
    close(ends[1]);
}

static void the_cards_own_socket_as_a_channel_does_no_harm(void **state)
{
    (void)state;
    peer_open(&b);
    peer_open(&a);
    send_channel(&a, a.card); /* its own end: what the server sends there comes back to it */
    for (unsigned i = 0; i < 10; i++)
        pump();
    assert_served(&b);
    peer_close(&a);
    assert_served(&b);
    peer_close(&b);
}

static void calls_with_descriptors_of_the_wrong_kind_get_an_errno(void **state)
{
    int pipes[2], memory = memfd_create("memory", MFD_CLOEXEC);
    (void)state;
    assert_int_equal(pipe(pipes), 0);
    peer_open(&a);
    for (unsigned i = 0; i < 3; i++) {
        struct drm_prime_handle p = {.fd = i == 0 ? pipes[0] : i == 1 ? a.card : memory};
        assert_true(peer_ioctl(&a, DRM_IOCTL_PRIME_FD_TO_HANDLE, &p) < 0);
    }
    assert_served(&a);
    peer_close(&a);
    close(pipes[0]);
    close(pipes[1]);
    close(memory);
}

static void memory_that_shrinks_is_never_touched_beyond_its_end(void **state)
{
    int memory = memfd_create("memory", MFD_CLOEXEC);
    (void)state;
    assert_int_equal(ftruncate(memory, 64 * 48 * 4), 0);
    peer_open(&a);
    light_up(&a);
    struct drm_prime_handle p = {.fd = memory};
    assert_int_equal(peer_ioctl(&a, DRM_IOCTL_PRIME_FD_TO_HANDLE, &p), 0);
    struct drm_mode_fb_cmd2 f = {.width = 64,
        .height = 48,
        .pixel_format = DRM_FORMAT_XRGB8888,
        .handles = {p.handle},
        .pitches = {64 * 4}};
    assert_int_equal(peer_ioctl(&a, DRM_IOCTL_MODE_ADDFB2, &f), 0);
    assert_int_equal(ftruncate(memory, 16), 0);
    assert_int_equal(page_flip(&a, f.fb_id, 1), 0);
    tick();
    /* A further look at it is refused, one that is kept is harmless. */
    assert_true(peer_ioctl(&a, DRM_IOCTL_MODE_ADDFB2, &f) < 0);
    assert_served(&a);
    peer_close(&a);
    close(memory);
}

static void a_second_call_on_a_waiting_channel_closes_it(void **state)
{
    union drm_wait_vblank w = {.request = {.type = _DRM_VBLANK_RELATIVE, .sequence = 100}};
    struct drm_mode_create_dumb d = {.width = 8, .height = 8, .bpp = 32};
    (void)state;
    peer_open(&b);
    peer_open(&a);
    light_up(&b);
    assert_int_equal(peer_ioctl(&b, DRM_IOCTL_WAIT_VBLANK, &w), -EAGAIN);
    assert_true(peer_ioctl(&b, DRM_IOCTL_MODE_CREATE_DUMB, &d) < 0);
    assert_true(hung_up(b.channel));
    assert_false(hung_up(b.card));
    assert_served(&a);
    peer_close(&a);
    peer_close(&b);
}

static void unread_events_are_bounded_as_in_the_kernel(void **state)
{
    struct drm_event_vblank e;
    unsigned given = 0, read = 0;
    (void)state;
    peer_open(&a);
    light_up(&a);
    int r = 0;
    for (unsigned i = 0; i < 1000 && r == 0; i++) {
        union drm_wait_vblank w = {
            .request = {.type = _DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT, .sequence = 0}};
        r = peer_ioctl(&a, DRM_IOCTL_WAIT_VBLANK, &w);
        given += r == 0;
    }
    assert_int_equal(r, -ENOMEM);
    assert_int_equal(given, 4096 / sizeof e);
    while (peer_event(&a, &e) > 0)
        read++;
    assert_int_equal(read, given);
    assert_served(&a);
    peer_close(&a);
}

/* O_NONBLOCK belongs to the open file. A client that keeps the server's end of a channel may clear
 * it and let answers lie. */
static void who_makes_the_servers_sockets_block_blocks_nobody(void **state)
{
    enum { CALLS = 3000 };
    int ends[2], card[2];
    (void)state;
    alarm(60);
    peer_open(&b);
    peer_connect(&a);
    peer_hello(&a, TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_CARD);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    send_channel(&a, ends[1]);
    fcntl(ends[1], F_SETFL, 0);
    for (unsigned i = 0; i < CALLS; i++) {
        const uint32_t call[2] = {(uint32_t)DRM_IOCTL_DROP_MASTER, 0};
        const struct iovec part = {(void *)(uintptr_t)call, sizeof call};
        tp_frame_send(ends[0], TP_FRAME_CALL, 0, i, &part, 1, NULL, 0);
        pump();
    }
    assert_int_equal(n_logged, 1); /* it does not read its answers */
    assert_served(&b);
    close(ends[0]);
    close(ends[1]);
    peer_close(&a);

    /* A card's own socket, before any word and after. */
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, card), 0);
    int kept = dup(card[1]);
    assert_int_equal(tp_server_adopt(server, card[1]), 0);
    fcntl(kept, F_SETFL, 0);
    pump();
    assert_served(&b);
    close(card[0]);
    close(kept);
    peer_close(&b);
    alarm(0);
}

/* A channel whose client only sends. */
static void fill(int channel, uint32_t request, unsigned frames)
{
    uint8_t payload[64] = {0};
    memcpy(payload, &request, sizeof request);
    const struct iovec part = {payload, 8 + _IOC_SIZE(request)};
    for (unsigned i = 0; i < frames; i++)
        if (tp_frame_send(channel, TP_FRAME_CALL, 0, i, &part, 1, NULL, 0) < 0)
            break;
}

/* How many turns of the loop a good client waits beside one that floods: bounded, whatever the
 * other does; and the other gets no more than its share of a turn. */
static void a_flood_costs_the_others_a_bounded_number_of_turns(void **state)
{
    enum { CHANNELS = 40 };
    int channels[CHANNELS];
    (void)state;
    peer_open(&a);
    peer_open(&b);
    for (unsigned i = 0; i < CHANNELS; i++) {
        struct tp_hello hello;
        channels[i] = peer_channel(&b);
        assert_int_equal(peer_greeting(&b, channels[i], &hello), 0);
    }
    unsigned worst = 0;
    for (unsigned round = 0; round < 50; round++) {
        struct drm_gem_close c = {.handle = 99};
        struct tp_frame f;
        int fds[TP_FRAME_FDS], r;
        unsigned n_fds, turns = 0;
        for (unsigned i = 0; i < CHANNELS; i++)
            fill(channels[i], (uint32_t)DRM_IOCTL_DROP_MASTER, 8);
        ssize_t n = tp_drm_call_encode(
            DRM_IOCTL_GEM_CLOSE, &c, &a.fences, a.out, sizeof a.out - 16, fds, &n_fds);
        const struct iovec part = {a.out, (size_t)n};
        assert_int_equal(
            tp_frame_send(a.channel, TP_FRAME_CALL, 0, ++a.sequence, &part, 1, NULL, 0), 0);
        while ((r = tp_frame_recv(a.channel, a.in, &f)) == -EAGAIN) {
            assert_int_equal(tp_server_dispatch(server, 0), 0);
            turns++;
        }
        assert_int_equal(r, 0);
        tp_frame_finish(&f);
        worst = turns > worst ? turns : worst;
    }
    /* 32 descriptors are looked at in a turn, and there are 44 of them. */
    assert_in_range(worst, 1, 3);
    for (unsigned i = 0; i < CHANNELS; i++)
        close(channels[i]);
    peer_close(&b);
    assert_served(&a);
    peer_close(&a);
}

static uint32_t random_state = 1;
static uint32_t random_u32(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    return random_state ^= random_state << 5;
}

static void noise_is_closed_and_hurts_nobody(void **state)
{
    static const uint32_t fourccs[] = {TP_FRAME_HELLO, TP_FRAME_CHANNEL, TP_FRAME_CALL,
        TP_FRAME_MAP, TP_FRAME_LOOK, TP_FRAME_PLUG, TP_FRAME_TICK, TP_FRAME_REPLY, 0x12345678};
    (void)state;
    peer_open(&b);
    for (unsigned i = 0; i < 3000; i++) {
        uint32_t words[64];
        int fds[3], memory = memfd_create("noise", MFD_CLOEXEC);
        size_t n = random_u32() % sizeof words;
        peer_connect(&a);
        if (random_u32() % 4)
            peer_hello(&a, TP_WIRE_VERSION, TP_WIRE_OLDEST, 1 + random_u32() % 4);
        a.channel = random_u32() % 3 ? peer_channel(&a) : -1;
        for (unsigned k = 0; k < 64; k++)
            words[k] = random_u32() % 5 ? random_u32() % 9 : random_u32();
        if (random_u32() % 2) {
            words[0] = fourccs[random_u32() % 9];
            words[1] = (uint32_t)n;
            words[4] =
                (uint32_t)_IOWR('d', random_u32() & 0xff, uint8_t[8 * (1 + random_u32() % 16)]);
        }
        int to = a.channel >= 0 && random_u32() % 2 ? a.channel : a.card;
        for (unsigned k = 0; k < 3; k++)
            fds[k] = memory;
        const struct iovec part = {words + 4, n > 16 ? n - 16 : 0};
        if (random_u32() % 2)
            tp_frame_send(to, words[0], words[2], words[3], &part, 1, fds, random_u32() % 4);
        else
            send(to, words, n, MSG_NOSIGNAL);
        close(memory);
        peer_close(&a);
        if (i % 300 == 0)
            assert_served(&b);
    }
    assert_served(&b);
    peer_close(&b);
}

/* Clients that connect, allocate and die at some point of it, many at a time. */
static void ten_thousand_clients_leave_nothing(void **state)
{
    enum { AT_ONCE = 8, ALL = 10000 };
    static struct peer peers[AT_ONCE];
    struct tp_server_counts c;
    unsigned before = 0;
    (void)state;
    for (unsigned i = 0; i < AT_ONCE; i++)
        peers[i].card = peers[i].channel = -1;
    for (unsigned i = 0; i < ALL; i++) {
        struct peer *p = &peers[i % AT_ONCE];
        unsigned far = random_u32() % 7;
        peer_close(p);
        if (i == AT_ONCE)
            before = n_descriptors();
        peer_connect(p);
        if (far > 0)
            peer_hello(p, TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_CARD);
        if (far > 1) {
            struct tp_hello hello;
            p->channel = peer_channel(p);
            if (far > 2)
                assert_int_equal(peer_greeting(p, p->channel, &hello), 0);
        }
        if (far > 3)
            make_fb(p);
        if (far > 4) {
            struct drm_mode_create_blob blob = {.data = PTR("12345678"), .length = 8};
            struct drm_syncobj_create sync = {0};
            assert_int_equal(peer_ioctl(p, DRM_IOCTL_MODE_CREATEPROPBLOB, &blob), 0);
            assert_int_equal(peer_ioctl(p, DRM_IOCTL_SYNCOBJ_CREATE, &sync), 0);
        }
        if (far > 5) { /* in the middle of a call */
            union drm_wait_vblank w = {.request = {.type = _DRM_VBLANK_RELATIVE, .sequence = 9}};
            peer_ioctl(p, DRM_IOCTL_WAIT_VBLANK, &w);
        }
        if (i % 16 == 0)
            tick();
    }
    for (unsigned i = 0; i < AT_ONCE; i++)
        peer_close(&peers[i]);
    tick();
    tp_server_count(server, &c);
    assert_int_equal(c.connections, 0);
    assert_int_equal(c.kms.files, 0);
    assert_int_equal(c.kms.buffers, 0);
    assert_int_equal(c.kms.blobs, 0);
    assert_int_equal(c.kms.buffer_bytes, 0);
    assert_in_range(n_descriptors(), 0, before);
}

#define t(name) cmocka_unit_test_setup_teardown(name, setup_server, teardown_server)

int main(void)
{
    const struct CMUnitTest tests[] = {
        t(a_client_that_says_nothing_makes_room_for_others),
        t(a_full_house_refuses_and_goes_on),
        t(one_process_gets_its_share_of_each_kind_alone),
        t(channels_past_the_limit_are_refused),
        t(channels_that_are_none_cost_the_card),
        t(the_cards_own_socket_as_a_channel_does_no_harm),
        t(calls_with_descriptors_of_the_wrong_kind_get_an_errno),
        t(memory_that_shrinks_is_never_touched_beyond_its_end),
        t(a_second_call_on_a_waiting_channel_closes_it),
        t(who_makes_the_servers_sockets_block_blocks_nobody),
        t(unread_events_are_bounded_as_in_the_kernel),
        t(a_flood_costs_the_others_a_bounded_number_of_turns),
        t(noise_is_closed_and_hurts_nobody),
        t(ten_thousand_clients_leave_nothing),
    };
    return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
