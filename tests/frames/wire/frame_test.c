#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "frames/wire/frame.h"
#include "frames/wire/hello.h"

#define PING TP_FOURCC('P', 'I', 'N', 'G')

static int ends[2];
static uint8_t *buffer;

static int open_pair(void **state)
{
    (void)state;
    buffer = malloc(TP_FRAME_BYTES);
    return !buffer || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0;
}

static int close_pair(void **state)
{
    (void)state;
    free(buffer);
    close(ends[0]);
    return close(ends[1]);
}

static unsigned count_fds(void)
{
    unsigned n = 0;

    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void a_frame_arrives_as_it_was_sent(void **state)
{
    struct iovec parts[] = {{"one ", 4}, {"", 0}, {"two", 3}};
    struct tp_frame f;

    (void)state;
    assert_int_equal(tp_frame_send(ends[0], PING, 7, 99, parts, 3, NULL, 0), 0);
    assert_int_equal(tp_frame_recv(ends[1], buffer, &f), 0);
    assert_int_equal(f.fourcc, PING);
    assert_int_equal(f.flags, 7);
    assert_int_equal(f.sequence, 99);
    assert_int_equal(f.payload_bytes, 7);
    assert_memory_equal(f.payload, "one two", 7);
    assert_int_equal(f.n_fds, 0);
    tp_frame_finish(&f);
}

static void the_header_is_four_little_endian_words(void **state)
{
    static const uint8_t expected[] = {'P', 'I', 'N', 'G', 18,   0,    0,    0,    4, 3,
                                       2,   1,   0xd, 0xc, 0xb, 0xa, 'h', 'i'};
    uint8_t raw[64];
    struct iovec part = {"hi", 2};

    (void)state;
    assert_int_equal(tp_frame_send(ends[0], PING, 0x01020304, 0x0a0b0c0d, &part, 1, NULL, 0), 0);
    assert_int_equal(recv(ends[1], raw, sizeof raw, 0), sizeof expected);
    assert_memory_equal(raw, expected, sizeof expected);
}

static void descriptors_come_along_close_on_exec_and_are_closed_unless_taken(void **state)
{
    int pipes[2], fd, fds[TP_FRAME_FDS];
    unsigned before;
    struct tp_frame f;
    char c;

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    before = count_fds();
    for (unsigned i = 0; i < TP_FRAME_FDS; i++)
        fds[i] = pipes[1];
    assert_int_equal(tp_frame_send(ends[0], PING, 0, 0, NULL, 0, fds, TP_FRAME_FDS), 0);
    assert_int_equal(tp_frame_recv(ends[1], buffer, &f), 0);
    assert_int_equal(f.n_fds, TP_FRAME_FDS);
    fd = tp_frame_take_fd(&f, 3);
    assert_true(fd >= 0);
    assert_int_equal(tp_frame_take_fd(&f, 3), -1);
    assert_int_equal(tp_frame_take_fd(&f, TP_FRAME_FDS), -1);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    tp_frame_finish(&f);
    assert_int_equal(count_fds(), before + 1);
    assert_int_equal(write(fd, "x", 1), 1);
    assert_int_equal(read(pipes[0], &c, 1), 1);
    close(fd);
    close(pipes[0]);
    close(pipes[1]);
}

static void more_descriptors_than_a_frame_has_are_refused_and_closed(void **state)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(20 * sizeof(int))];
    } control = {0};
    uint8_t header[16] = {'P', 'I', 'N', 'G', 16};
    struct iovec iov = {header, sizeof header};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
                         .msg_controllen = sizeof control};
    unsigned before = count_fds();
    struct tp_frame f;
    int fds[20] = {0};

    (void)state;
    assert_int_equal(tp_frame_send(ends[0], PING, 0, 0, NULL, 0, fds, TP_FRAME_FDS + 1), -EMSGSIZE);
    control.align.cmsg_level = SOL_SOCKET;
    control.align.cmsg_type = SCM_RIGHTS;
    control.align.cmsg_len = CMSG_LEN(sizeof fds);
    memcpy(CMSG_DATA(&control.align), fds, sizeof fds);
    assert_int_equal(sendmsg(ends[0], &msg, 0), sizeof header);
    assert_int_equal(tp_frame_recv(ends[1], buffer, &f), -EBADMSG);
    assert_int_equal(count_fds(), before);
}

static void descriptors_that_find_no_place_are_an_error_of_their_own(void **state)
{
    struct rlimit old, low;
    struct tp_frame f;
    int fds[4] = {0, 0, 0, 0}, r;
    unsigned before = count_fds();

    (void)state;
    assert_int_equal(tp_frame_send(ends[0], PING, 0, 0, NULL, 0, fds, 4), 0);
    getrlimit(RLIMIT_NOFILE, &old);
    low = old;
    low.rlim_cur = (rlim_t)ends[1] + 2; /* one more may be opened */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    r = tp_frame_recv(ends[1], buffer, &f);
    setrlimit(RLIMIT_NOFILE, &old);
    assert_int_equal(r, -ENOBUFS);
    assert_int_equal(count_fds(), before);
}

static void wrong_lengths_are_refused(void **state)
{
    struct tp_frame f;
    uint8_t bytes[24] = {'P', 'I', 'N', 'G', 24};

    (void)state;
    assert_int_equal(tp_frame_parse(bytes, 24, &f), 0);
    assert_int_equal(tp_frame_parse(bytes, 23, &f), -EBADMSG);
    bytes[4] = 25;
    assert_int_equal(tp_frame_parse(bytes, 24, &f), -EBADMSG);
    assert_int_equal(tp_frame_parse(bytes, 15, &f), -EBADMSG);
    assert_int_equal(tp_frame_parse(bytes, 0, &f), -EBADMSG);
}

static void the_longest_frame_passes_and_a_longer_one_does_not(void **state)
{
    uint8_t *big = calloc(1, TP_FRAME_BYTES + 8);
    struct iovec part = {big, TP_FRAME_BYTES - 16};
    struct tp_frame f;

    (void)state;
    assert_non_null(big);
    assert_int_equal(tp_frame_send(ends[0], PING, 0, 0, &part, 1, NULL, 0), 0);
    assert_int_equal(tp_frame_recv(ends[1], buffer, &f), 0);
    assert_int_equal(f.payload_bytes, TP_FRAME_BYTES - 16);
    part.iov_len++;
    assert_int_equal(tp_frame_send(ends[0], PING, 0, 0, &part, 1, NULL, 0), -EMSGSIZE);
    assert_int_equal(send(ends[0], big, TP_FRAME_BYTES + 8, 0), TP_FRAME_BYTES + 8);
    assert_int_equal(tp_frame_recv(ends[1], buffer, &f), -EBADMSG);
    free(big);
}

static void a_socket_whose_other_end_is_gone_says_so_without_a_signal(void **state)
{
    struct tp_frame f;

    (void)state;
    close(ends[0]);
    assert_int_equal(tp_frame_recv(ends[1], buffer, &f), -EPIPE);
    assert_int_equal(tp_frame_send(ends[1], PING, 0, 0, NULL, 0, NULL, 0), -EPIPE);
    ends[0] = dup(ends[1]);
}

static void a_full_socket_that_does_not_block_says_again(void **state)
{
    struct iovec part = {buffer, 4096};
    int r;

    (void)state;
    memset(buffer, 0, 4096);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    do
        r = tp_frame_send(ends[0], PING, 0, 0, &part, 1, NULL, 0);
    while (r == 0);
    assert_int_equal(r, -EAGAIN);
}

static void what_is_asked_now_never_waits_on_a_socket_that_blocks(void **state)
{
    struct tp_frame f;
    int r, sent = 0;

    (void)state;
    assert_int_equal(tp_frame_recv_now(ends[1], buffer, &f), -EAGAIN);
    while ((r = tp_frame_send_now(ends[0], PING, 0, 0, NULL, 0, NULL, 0)) == 0)
        sent++;
    assert_int_equal(r, -EAGAIN);
    assert_true(sent > 0);
    for (; sent > 0; sent--)
        assert_int_equal(tp_frame_recv_now(ends[1], buffer, &f), 0);
    assert_int_equal(tp_frame_recv_now(ends[1], buffer, &f), -EAGAIN);
}

static void noted(int signal)
{
    (void)signal;
}

static void a_signal_ends_only_the_receive_that_asks_for_it(void **state)
{
    struct sigaction a = {.sa_handler = noted}, old;
    struct tp_frame f;

    (void)state;
    sigaction(SIGALRM, &a, &old);
    alarm(1);
    assert_int_equal(tp_frame_recv_once(ends[1], buffer, &f), -EINTR);
    sigaction(SIGALRM, &old, NULL);
}

static int parse_hello(const struct tp_hello *h, size_t bytes, uint32_t *version)
{
    struct tp_frame f = {.fourcc = TP_FRAME_HELLO, .payload = (const uint8_t *)h,
                         .payload_bytes = bytes};
    struct tp_hello out;

    return tp_hello_parse(&f, &out, version);
}

static void two_versions_meet_at_the_lower_one(void **state)
{
    struct tp_hello h = {.version = TP_WIRE_VERSION, .oldest = TP_WIRE_OLDEST};
    uint32_t version = 0;

    (void)state;
    assert_int_equal(parse_hello(&h, sizeof h, &version), 0);
    assert_int_equal(version, TP_WIRE_VERSION);
    h.version = TP_WIRE_VERSION + 5;
    version = 0;
    assert_int_equal(parse_hello(&h, sizeof h, &version), 0);
    assert_int_equal(version, TP_WIRE_VERSION);
}

static void versions_that_do_not_meet_are_told_apart_from_nonsense(void **state)
{
    struct tp_hello h = {.version = TP_WIRE_OLDEST - 1, .oldest = 0};
    uint32_t version;

    (void)state;
    assert_int_equal(parse_hello(&h, sizeof h, &version), -EPROTO);
    h.version = TP_WIRE_VERSION + 2;
    h.oldest = TP_WIRE_VERSION + 1;
    assert_int_equal(parse_hello(&h, sizeof h, &version), -EPROTO);
    h.oldest = h.version + 1;
    assert_int_equal(parse_hello(&h, sizeof h, &version), -EBADMSG);
    h.version = h.oldest = TP_WIRE_VERSION;
    assert_int_equal(parse_hello(&h, sizeof h - 1, &version), -EBADMSG);
}

static void a_longer_hello_of_a_later_version_is_understood(void **state)
{
    struct {
        struct tp_hello hello;
        uint64_t more;
    } later = {.hello = {.version = TP_WIRE_VERSION + 1, .oldest = TP_WIRE_OLDEST}};
    uint32_t version;

    (void)state;
    assert_int_equal(parse_hello(&later.hello, sizeof later, &version), 0);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, open_pair, close_pair)
    static const struct CMUnitTest tests[] = {
        CASE(a_frame_arrives_as_it_was_sent),
        CASE(the_header_is_four_little_endian_words),
        CASE(descriptors_come_along_close_on_exec_and_are_closed_unless_taken),
        CASE(more_descriptors_than_a_frame_has_are_refused_and_closed),
        CASE(descriptors_that_find_no_place_are_an_error_of_their_own),
        CASE(wrong_lengths_are_refused),
        CASE(the_longest_frame_passes_and_a_longer_one_does_not),
        CASE(a_socket_whose_other_end_is_gone_says_so_without_a_signal),
        CASE(a_full_socket_that_does_not_block_says_again),
        CASE(what_is_asked_now_never_waits_on_a_socket_that_blocks),
        CASE(a_signal_ends_only_the_receive_that_asks_for_it),
        cmocka_unit_test(two_versions_meet_at_the_lower_one),
        cmocka_unit_test(versions_that_do_not_meet_are_told_apart_from_nonsense),
        cmocka_unit_test(a_longer_hello_of_a_later_version_is_understood),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
