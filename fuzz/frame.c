/* A frame and its hello, from bytes and through a socket: the first byte says how many descriptors come
 * along, and none of them stays open. */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "frames/wire/hello.h"

static uint8_t buffer[TP_FRAME_BYTES];

static void through_a_socket(const uint8_t *data, size_t size, unsigned n_fds)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(20 * sizeof(int))];
    } control = {0};
    struct iovec iov = {(void *)(uintptr_t)data, size};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    struct tp_frame f;
    int ends[2], next;

    assert(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    next = dup(ends[0]);
    close(next);
    if (n_fds > 0) {
        int fds[20];

        for (unsigned i = 0; i < n_fds; i++)
            fds[i] = ends[0];
        msg.msg_control = &control;
        msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        control.align.cmsg_level = SOL_SOCKET;
        control.align.cmsg_type = SCM_RIGHTS;
        control.align.cmsg_len = CMSG_LEN(n_fds * sizeof(int));
        memcpy(CMSG_DATA(&control.align), fds, n_fds * sizeof(int));
    }
    if (sendmsg(ends[0], &msg, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
        int r = tp_frame_recv(ends[1], buffer, &f);

        assert(r == 0 ? f.n_fds == n_fds : f.n_fds == 0);
        tp_frame_finish(&f);
    }
    assert(dup(ends[0]) == next);
    close(next);
    close(ends[0]);
    close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tp_frame f = {0};
    struct tp_hello hello;
    uint32_t version;

    if (size < 1)
        return 0;
    if (tp_frame_parse(data + 1, size - 1, &f) == 0) {
        assert(f.payload == data + 1 + sizeof(struct tp_frame_header));
        assert(f.payload_bytes == size - 1 - sizeof(struct tp_frame_header));
        if (tp_hello_parse(&f, &hello, &version) == 0)
            assert(version >= TP_WIRE_OLDEST && version <= TP_WIRE_VERSION &&
                   version <= hello.version);
    }
    through_a_socket(data + 1, size - 1, data[0] % 21);
    return 0;
}
