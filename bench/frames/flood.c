/*
 * flood SECONDS: a client that only asks, on 32 channels, as fast as it can. Run it beside `card` to
 * see what it costs the others.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <drm.h>

#include "frames/wire/drm_call.h"
#include "frames/wire/hello.h"

#define CHANNELS 32
#define BURST 64 /* calls on a channel before its answers are read: as many as its socket holds */

static int connect_card(void)
{
    const char *path = getenv("TURNPIKE_SOCKET");
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct tp_hello hello = {TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_CARD, 0, 0};
    const struct iovec part = {&hello, sizeof hello};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (!path || strlen(path) >= sizeof a.sun_path || fd < 0)
        return -1;
    strcpy(a.sun_path, path);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
        tp_frame_send(fd, TP_FRAME_HELLO, 0, 0, &part, 1, NULL, 0) < 0)
        return -1;
    return fd;
}

int main(int argc, char **argv)
{
    static uint8_t buffer[TP_FRAME_BYTES];
    const uint32_t call[2] = {(uint32_t)DRM_IOCTL_DROP_MASTER, 0};
    const struct iovec part = {(void *)(uintptr_t)call, sizeof call};
    int channels[CHANNELS], card = connect_card();
    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5);
    unsigned long sent = 0;
    if (card < 0) {
        perror("flood");
        return 1;
    }
    for (int i = 0; i < CHANNELS; i++) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0 ||
            tp_frame_send(card, TP_FRAME_CHANNEL, 0, 0, NULL, 0, &ends[1], 1) < 0)
            return 1;
        close(ends[1]);
        channels[i] = ends[0];
    }
    while (time(NULL) < end) {
        for (int i = 0; i < CHANNELS; i++) {
            struct tp_frame f;
            for (int k = 0; k < BURST; k++)
                sent += tp_frame_send(channels[i], TP_FRAME_CALL, 0, 1, &part, 1, NULL, 0) == 0;
            while (tp_frame_recv(channels[i], buffer, &f) == 0)
                tp_frame_finish(&f);
        }
    }
    fprintf(stderr, "flood: %lu calls\n", sent);
    return 0;
}
