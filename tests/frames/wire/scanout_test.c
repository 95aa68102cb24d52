#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "frames/wire/board.h"
#include "frames/wire/scanout.h"

#define ANSWER TP_SCANOUT_ANSWER
#define GUEST false
#define SERVER true

/* --- stored frames: what version 1 sends, byte by byte, without the header --- */

#define NAME                                                                                       \
    0x11, 0x22, 0, 0, 0, 0, 0, 0x80,  /* device */                                                 \
        0x33, 0, 0, 0x44, 0, 0, 0, 0, /* inode */                                                  \
        0xfe, 0xff, 0xff, 0xff,       /* generation */                                             \
        7, 0, 0, 0                    /* index */
#define NAMED                                                                                      \
    {                                                                                              \
        {UINT64_C(0x8000000000002211), UINT64_C(0x44000033)}, UINT32_C(0xfffffffe), 7              \
    }

static const struct stored {
    const char *what;
    bool from_server;
    unsigned n_fds;
    struct tp_scanout_frame frame;
    size_t bytes;
    uint8_t payload[TP_SCANOUT_BYTES];
} stored[] = {
    {"a registration", GUEST, 1, {TP_FRAME_REGISTER, 0, 1, .u.reg = {.buffer = NAMED}}, 24, {NAME}},
    {"its answer", SERVER, 0,
        {TP_FRAME_REGISTER, ANSWER, 1, .u.reg = {.buffer = NAMED, .low = 0x07}}, 32,
        {NAME, 0, 0, 0, 0, 7, 0, 0, 0}},
    {"a refusal", SERVER, 0,
        {TP_FRAME_REGISTER, ANSWER, 2, .u.reg = {.buffer = NAMED, .result = -28}}, 32,
        {NAME, 0xe4, 0xff, 0xff, 0xff, 0, 0, 0, 0}},
    {"the end of a registration", GUEST, 0, {TP_FRAME_UNREGISTER, 0, 3, .u.unregister = NAMED}, 24,
        {NAME}},
    {"a question", GUEST, 0, {TP_FRAME_STATE, 0, 4, .u.state = {.buffer = NAMED}}, 24, {NAME}},
    {"its answer, with a fence", SERVER, 1,
        {TP_FRAME_STATE, ANSWER, 4, .u.state = {NAMED, 0x0102, true, TP_FENCE_SYNC_FILE}}, 40,
        {NAME, 2, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}},
    {"its answer, unknown", SERVER, 0, {TP_FRAME_STATE, ANSWER, 4, .u.state = {.buffer = NAMED}},
        40, {NAME}},
    {"a pending note", SERVER, 0,
        {TP_FRAME_NOTE, 0, 5,
            .u.note = {NAMED, 0x0807060504030201, 2, TP_NOTE_PENDING, TP_FENCE_NONE, 0x31}},
        48, {NAME, 1, 2, 3, 4, 5, 6, 7, 8, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x31, 0, 0, 0}},
    {"a final note with a sync file", SERVER, 1,
        {TP_FRAME_NOTE, 0, 6, .u.note = {NAMED, 9, 0, TP_NOTE_FINAL, TP_FENCE_SYNC_FILE, 0x36}}, 48,
        {NAME, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0x36, 0, 0, 0}},
    {"a final note with another fence", SERVER, 1,
        {TP_FRAME_NOTE, TP_SCANOUT_RESYNC, 6,
            .u.note = {NAMED, 9, 0, TP_NOTE_FINAL, TP_FENCE_POLL, 0x36}},
        48, {NAME, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0x36, 0, 0, 0}},
    {"a final note without", SERVER, 0,
        {TP_FRAME_NOTE, 0, 6, .u.note = {NAMED, 9, 0, TP_NOTE_FINAL, TP_FENCE_NONE, 0x34}}, 48,
        {NAME, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0x34, 0, 0, 0}},
    {"a final note whose fence was lost", SERVER, 0,
        {TP_FRAME_NOTE, 0, 6, .u.note = {NAMED, 9, 0, TP_NOTE_FINAL, TP_FENCE_LOST, 0x35}}, 48,
        {NAME, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0x35, 0, 0, 0}},
    {"a refresh", SERVER, 0,
        {TP_FRAME_TIMELINE, 0, 0,
            .u.timeline = {1, false, true, 2, 0x0a, 0x0102030405, 16666667, 1000000}},
        48,
        {1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0x0a, 0, 0, 0, 0, 0, 0, 0, 5, 4, 3, 2, 1,
            0, 0, 0, 0x2b, 0x50, 0xfe, 0, 0, 0, 0, 0, 0x40, 0x42, 0x0f, 0, 0, 0, 0, 0}},
    {"a cap", SERVER, 0, {TP_FRAME_SETTING, 0, 0, .u.setting = {TP_SETTING_CAP, 0, 45000}}, 16,
        {1, 0, 0, 0, 0, 0, 0, 0, 0xc8, 0xaf, 0, 0, 0, 0, 0, 0}},
    {"a gate", GUEST, 0,
        {TP_FRAME_SETTING, 0, 0, .u.setting = {TP_SETTING_GATE, 0, TP_GATE_LATENCY}}, 16,
        {2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0}},
    {"a refresh rate", SERVER, 0,
        {TP_FRAME_SETTING, 0, 0, .u.setting = {TP_SETTING_REFRESH, 1, 59950}}, 16,
        {3, 0, 0, 0, 1, 0, 0, 0, 0x2e, 0xea, 0, 0, 0, 0, 0, 0}},
    {"live records", GUEST, 1, {TP_FRAME_CENSUS, 0, 7, .u.census = {0x0102, false}}, 8,
        {2, 1, 0, 0, 0, 0, 0, 0}},
    {"their end", GUEST, 0, {TP_FRAME_CENSUS, 0, 8, .u.census = {0x0102, true}}, 8,
        {2, 1, 0, 0, 1, 0, 0, 0}},
};
#define N_STORED (sizeof stored / sizeof *stored)

static unsigned count_fds(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* A frame of these bytes, as if it had come, with so many descriptors. */
static struct tp_frame received(
    const struct stored *s, const uint8_t *payload, size_t bytes, unsigned n_fds)
{
    struct tp_frame f = {.fourcc = s->frame.fourcc,
        .flags = s->frame.flags,
        .sequence = s->frame.sequence,
        .payload = payload,
        .payload_bytes = bytes};
    while (f.n_fds < n_fds)
        f.fds[f.n_fds++] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    return f;
}

static int decode(const struct stored *s, const uint8_t *payload, size_t bytes, unsigned n_fds,
    bool from_server, struct tp_scanout_frame *out)
{
    struct tp_frame f = received(s, payload, bytes, n_fds);
    int r = tp_scanout_decode(&f, from_server, out);
    tp_frame_finish(&f);
    return r;
}

static void every_frame_is_written_as_it_is_stored(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_STORED; i++) {
        uint8_t out[TP_SCANOUT_BYTES] = {0};
        assert_int_equal(tp_scanout_encode(&stored[i].frame, out), stored[i].bytes);
        if (memcmp(out, stored[i].payload, stored[i].bytes) != 0)
            fail_msg("%s", stored[i].what);
    }
}

static void every_stored_frame_is_understood(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_STORED; i++) {
        const struct stored *s = &stored[i];
        struct tp_scanout_frame f;
        uint8_t again[TP_SCANOUT_BYTES] = {0};
        if (decode(s, s->payload, s->bytes, s->n_fds, s->from_server, &f) != 0)
            fail_msg("%s", s->what);
        assert_int_equal(f.fourcc, s->frame.fourcc);
        assert_int_equal(f.flags, s->frame.flags);
        assert_int_equal(f.sequence, s->frame.sequence);
        assert_int_equal(f.fd >= 0, s->n_fds);
        assert_int_equal(tp_scanout_encode(&f, again), s->bytes);
        assert_memory_equal(again, s->payload, s->bytes);
        tp_scanout_finish(&f);
    }
}

static void a_later_versions_longer_payload_is_fine_and_a_shorter_one_is_not(void **state)
{
    unsigned before = count_fds();
    (void)state;
    for (size_t i = 0; i < N_STORED; i++) {
        const struct stored *s = &stored[i];
        struct tp_scanout_frame f;
        uint8_t longer[TP_SCANOUT_BYTES + 64];
        memset(longer, 0xee, sizeof longer);
        memcpy(longer, s->payload, s->bytes);
        assert_int_equal(decode(s, longer, s->bytes + 40, s->n_fds, s->from_server, &f), 0);
        tp_scanout_finish(&f);
        for (size_t n = 0; n < s->bytes; n++) {
            uint8_t *exact = malloc(n + 1); /* a sanitizer sees who reads on */
            memcpy(exact, s->payload, n);
            uint8_t *end = realloc(exact, n ? n : 1);
            assert_int_equal(decode(s, end, n, s->n_fds, s->from_server, &f), -EBADMSG);
            assert_int_equal(f.fd, -1);
            free(end);
        }
    }
    assert_int_equal(count_fds(), before);
}

static void descriptors_are_counted_and_closed_where_they_do_not_belong(void **state)
{
    unsigned before = count_fds();
    (void)state;
    for (size_t i = 0; i < N_STORED; i++) {
        const struct stored *s = &stored[i];
        bool may_bring = s->frame.fourcc == TP_FRAME_NOTE && s->frame.u.note.kind == TP_FENCE_LOST;
        for (unsigned n = 0; n <= TP_FRAME_FDS; n++) {
            struct tp_scanout_frame f;
            int r = decode(s, s->payload, s->bytes, n, s->from_server, &f);
            assert_int_equal(r, n == s->n_fds || (may_bring && n == 1) ? 0 : -EBADMSG);
            if (r == 0)
                tp_scanout_finish(&f);
            assert_int_equal(count_fds(), before);
        }
    }
}

static void a_frame_from_the_wrong_side_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_STORED; i++) {
        const struct stored *s = &stored[i];
        struct tp_scanout_frame f;
        int r = decode(s, s->payload, s->bytes, s->n_fds, !s->from_server, &f);
        assert_int_equal(r, s->frame.fourcc == TP_FRAME_SETTING ? 0 : -EBADMSG);
    }
}

/* A stored frame with 32 bits of its payload changed. */
static int changed(size_t i, size_t at, uint32_t value, unsigned n_fds, struct tp_scanout_frame *f)
{
    uint8_t bytes[TP_SCANOUT_BYTES];
    memcpy(bytes, stored[i].payload, sizeof bytes);
    for (unsigned k = 0; k < 4; k++)
        bytes[at + k] = (uint8_t)(value >> 8 * k);
    return decode(&stored[i], bytes, stored[i].bytes, n_fds, stored[i].from_server, f);
}

static size_t index_of(const char *what)
{
    size_t i = 0;
    while (strcmp(stored[i].what, what) != 0)
        i++;
    return i;
}

static void values_that_cannot_be_are_refused(void **state)
{
    struct tp_scanout_frame f;
    size_t tick = index_of("a refresh"), cap = index_of("a cap"), gate = index_of("a gate");
    (void)state;
    assert_int_equal(changed(index_of("a registration"), 16, 0, 1, &f), -EBADMSG);
    assert_int_equal(changed(index_of("its answer"), 24, 1, 0, &f), -EBADMSG);
    assert_int_equal(changed(index_of("a pending note"), 36, 0, 0, &f), -EBADMSG);
    assert_int_equal(changed(index_of("a pending note"), 40, 1, 1, &f), -EBADMSG);
    assert_int_equal(changed(tick, 32, 0, 0, &f), -EBADMSG);          /* no period */
    assert_int_equal(changed(tick, 36, 0x80000000, 0, &f), -EBADMSG); /* negative */
    assert_int_equal(changed(tick, 28, 0x80000000, 0, &f), -EBADMSG); /* before the clock began */
    assert_int_equal(changed(tick, 40, 16666668, 0, &f), -EBADMSG);   /* a lead over the period */
    assert_int_equal(changed(tick, 8, 17, 0, &f), -EBADMSG);          /* a pipeline like no other */
    assert_int_equal(changed(cap, 0, 0, 0, &f), -EBADMSG);
    assert_int_equal(changed(cap, 12, 0x80000000, 0, &f), -EBADMSG);
    assert_int_equal(changed(cap, 12, 1, 0, &f), -EBADMSG);
    assert_int_equal(changed(gate, 12, 0xffffffff, 0, &f), -EBADMSG);
    /* Records without their memory; an end with some. */
    assert_int_equal(changed(index_of("their end"), 4, 2, 0, &f), -EBADMSG);
    assert_int_equal(changed(index_of("live records"), 4, 1, 1, &f), -EBADMSG);
}

static void what_only_a_later_version_says_is_told_apart(void **state)
{
    struct tp_scanout_frame f;
    struct tp_frame other = {.fourcc = TP_FOURCC('T', 'N', 'E', 'W')};
    size_t final = index_of("a final note with a sync file");
    (void)state;
    assert_int_equal(tp_scanout_decode(&other, SERVER, &f), -ENOTSUP);
    assert_int_equal(changed(index_of("a cap"), 0, 4, 0, &f), -ENOTSUP);
    assert_int_equal(changed(index_of("a gate"), 8, 4, 0, &f), -ENOTSUP);
    assert_int_equal(changed(final, 36, 3, 1, &f), -ENOTSUP);
    /* A kind of fence that is not known costs the fence, not the note. */
    assert_int_equal(changed(final, 40, 77, 1, &f), 0);
    assert_int_equal(f.u.note.kind, TP_FENCE_LOST);
    assert_int_equal(f.fd, -1);
}

/* --- the hello, stored --- */

static const uint8_t old_icd[] = {/* version 1, no capabilities */
    'T', 'H', 'L', 'O', 40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
static const uint8_t later_server[] = {/* version 3, still speaks 1; a longer payload */
    'T', 'H', 'L', 'O', 48, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0,
    0, 0, 0, 0x3e, 0, 0, 0, 0, 0, 0, 0x80, 1, 2, 3, 4, 5, 6, 7, 8};

static int hello(const uint8_t *bytes, size_t n, unsigned n_fds, bool from_server,
    struct tp_hello *out, uint32_t *version, int *board)
{
    struct tp_frame f = {0};
    assert_int_equal(tp_frame_parse(bytes, n, &f), 0);
    while (f.n_fds < n_fds)
        f.fds[f.n_fds++] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    int r = tp_scanout_hello(&f, from_server, out, version, board);
    tp_frame_finish(&f);
    return r;
}

static void peers_of_other_versions_say_hello(void **state)
{
    struct tp_hello h;
    uint32_t version;
    int board;
    unsigned before = count_fds();
    (void)state;
    assert_int_equal(hello(old_icd, sizeof old_icd, 0, GUEST, &h, &version, &board), 0);
    assert_int_equal(version, 1);
    assert_int_equal(h.capabilities, 0);
    assert_int_equal(board, -1);
    assert_int_equal(hello(later_server, sizeof later_server, 1, SERVER, &h, &version, &board), 0);
    assert_int_equal(version, 1);
    assert_int_equal(h.capabilities & 0xff,
        TP_CAP_TIMELINE | TP_CAP_BOARD | TP_CAP_RELEASE_FENCE | TP_CAP_STATE | TP_CAP_CONTROL);
    assert_true(board >= 0);
    close(board);
    /* An old server, and one that has none for this guest. */
    assert_int_equal(hello(old_icd, sizeof old_icd, 0, SERVER, &h, &version, &board), 0);
    assert_int_equal(h.capabilities, 0);
    assert_int_equal(board, -1);
    assert_int_equal(hello(later_server, sizeof later_server, 0, SERVER, &h, &version, &board), 0);
    assert_int_equal(board, -1);
    /* A board that was not announced, two, one from a guest, another kind of connection. */
    assert_int_equal(hello(old_icd, sizeof old_icd, 1, SERVER, &h, &version, &board), -EBADMSG);
    assert_int_equal(
        hello(later_server, sizeof later_server, 2, SERVER, &h, &version, &board), -EBADMSG);
    assert_int_equal(
        hello(later_server, sizeof later_server, 1, GUEST, &h, &version, &board), -EBADMSG);
    uint8_t card[sizeof old_icd];
    memcpy(card, old_icd, sizeof card);
    card[24] = 1;
    assert_int_equal(hello(card, sizeof card, 0, GUEST, &h, &version, &board), -EBADMSG);
    assert_int_equal(count_fds(), before);
}

static void a_fence_goes_through_a_socket(void **state)
{
    static uint8_t buffer[TP_FRAME_BYTES];
    const struct stored *s = &stored[index_of("a final note with a sync file")];
    struct iovec part = {(void *)(uintptr_t)s->payload, s->bytes};
    struct tp_scanout_frame f;
    struct tp_frame frame;
    int ends[2], pipes[2];
    char c = 0;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    assert_int_equal(tp_frame_send(ends[0], TP_FRAME_NOTE, 0, 6, &part, 1, &pipes[1], 1), 0);
    assert_int_equal(tp_frame_recv(ends[1], buffer, &frame), 0);
    assert_int_equal(tp_scanout_decode(&frame, SERVER, &f), 0);
    tp_frame_finish(&frame);
    assert_int_equal(write(f.fd, "!", 1), 1);
    assert_int_equal(read(pipes[0], &c, 1), 1);
    assert_int_equal(c, '!');
    tp_scanout_finish(&f);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(pipes[i]);
    }
}

static void random_bytes_are_refused_or_say_what_they_are(void **state)
{
    uint64_t seed = 12345;
    unsigned before = count_fds(), fine = 0;
    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        const struct stored *s = &stored[i % N_STORED];
        struct tp_scanout_frame f;
        uint8_t bytes[TP_SCANOUT_BYTES], again[TP_SCANOUT_BYTES] = {0};
        memcpy(bytes, s->payload, sizeof bytes);
        for (unsigned k = 0; k < 3; k++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            bytes[seed >> 58] = (uint8_t)(seed >> 32);
        }
        if (decode(s, bytes, s->bytes, seed >> 40 & 1, s->from_server, &f) < 0)
            continue;
        fine++;
        size_t n = tp_scanout_encode(&f, again);
        struct tp_scanout_frame g;
        assert_int_equal(decode(s, again, n, f.fd >= 0, s->from_server, &g), 0);
        tp_scanout_finish(&f);
        tp_scanout_finish(&g);
    }
    assert_true(fine > 10000);
    assert_int_equal(count_fds(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_frame_is_written_as_it_is_stored),
        cmocka_unit_test(every_stored_frame_is_understood),
        cmocka_unit_test(a_later_versions_longer_payload_is_fine_and_a_shorter_one_is_not),
        cmocka_unit_test(descriptors_are_counted_and_closed_where_they_do_not_belong),
        cmocka_unit_test(a_frame_from_the_wrong_side_is_refused),
        cmocka_unit_test(values_that_cannot_be_are_refused),
        cmocka_unit_test(what_only_a_later_version_says_is_told_apart),
        cmocka_unit_test(peers_of_other_versions_say_hello),
        cmocka_unit_test(a_fence_goes_through_a_socket),
        cmocka_unit_test(random_bytes_are_refused_or_say_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
