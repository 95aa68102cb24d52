/* wire [N]: a DRM ioctl's way over a channel to another process and back, without anything that
 * carries it out, beside a raw round trip of 64 bytes between two processes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <drm.h>
#include <drm_mode.h>

#include "frames/wire/drm_call.h"
#include "roundtrips.h"

#define PROPS 24 /* of a commit of two planes, a CRTC and a connector */

static const struct tp_drm_fences none;
static uint8_t out[TP_FRAME_BYTES], in[TP_FRAME_BYTES];
static int channel;

static int call(unsigned long request, void *arg)
{
    int fds[TP_FRAME_FDS], r;
    unsigned n_fds;
    ssize_t n = tp_drm_call_encode(request, arg, &none, out, sizeof out - 16, fds, &n_fds);
    struct iovec part = {out, (size_t)n};
    struct tp_frame reply;

    if (n < 0 || tp_frame_send(channel, TP_FRAME_CALL, 0, 1, &part, 1, fds, n_fds) < 0 ||
        tp_frame_recv(channel, in, &reply) < 0)
        return -1;
    r = tp_drm_reply_decode(request, arg, &none, &reply);
    tp_frame_finish(&reply);
    return r;
}

/* Answers 0 to everything. */
static void serve(int sock)
{
    struct tp_drm_call c = {0};
    struct tp_frame f;
    struct iovec part = {out, 0};

    while (tp_frame_recv(sock, in, &f) == 0 && tp_drm_call_decode(&f, &c) == 0) {
        part.iov_len = (size_t)tp_drm_reply_encode(&c, 0, out, sizeof out - 16);
        tp_frame_send(sock, TP_FRAME_REPLY, 0, f.sequence, &part, 1, c.out_fds, c.n_out_fds);
        tp_frame_finish(&f);
    }
    tp_drm_call_finish(&c);
}

static int get_magic(void *data)
{
    struct drm_auth auth = {0};

    (void)data;
    return call(DRM_IOCTL_GET_MAGIC, &auth);
}

static int commit(void *data)
{
    static uint32_t objs[4], counts[4] = {10, 10, 2, 2}, props[PROPS];
    static uint64_t values[PROPS];
    struct drm_mode_atomic a = {.count_objs = 4,
        .objs_ptr = (uintptr_t)objs,
        .count_props_ptr = (uintptr_t)counts,
        .props_ptr = (uintptr_t)props,
        .prop_values_ptr = (uintptr_t)values};

    (void)data;
    return call(DRM_IOCTL_MODE_ATOMIC, &a);
}

static int get_connector(void *data)
{
    static struct drm_mode_modeinfo modes[8];
    static uint32_t props[32];
    static uint64_t values[32];
    struct drm_mode_get_connector c = {.modes_ptr = (uintptr_t)modes,
        .count_modes = 8,
        .props_ptr = (uintptr_t)props,
        .prop_values_ptr = (uintptr_t)values,
        .count_props = 32};

    (void)data;
    return call(DRM_IOCTL_MODE_GETCONNECTOR, &c);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 20000, ends[2], raw = start_echo();

    if (n < 100 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return 2;
    if (fork() == 0) {
        close(ends[0]);
        close(raw);
        serve(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    channel = ends[0];
    bench("raw SOCK_SEQPACKET round trip, 64 bytes", n, raw_round_trip, &raw);
    bench("GET_MAGIC over a channel", n, get_magic, NULL);
    bench("ATOMIC, 24 properties, over a channel", n, commit, NULL);
    bench("GETCONNECTOR, 8 modes, over a channel", n, get_connector, NULL);
    bench("raw SOCK_SEQPACKET round trip, again", n, raw_round_trip, &raw);
    return 0;
}
