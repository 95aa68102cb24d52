/*
 * plug SOCKET out|in [WIDTHxHEIGHT@HZ]: plugs the output of a running `serve` or `play` out, or in
 * again, with another mode where one is given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "frames/server/control.h"
#include "frames/wire/hello.h"

static int greet(const char *path)
{
    static uint8_t buffer[TP_FRAME_BYTES];
    const struct tp_hello hello = {TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_CONTROL, 0, 0};
    const struct iovec part = {(void *)(uintptr_t)&hello, sizeof hello};
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct tp_frame f;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0 || strlen(path) >= sizeof a.sun_path)
        return -1;
    strcpy(a.sun_path, path);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
        tp_frame_send(fd, TP_FRAME_HELLO, 0, 0, &part, 1, NULL, 0) < 0 ||
        tp_frame_recv(fd, buffer, &f) < 0)
        return -1;
    tp_frame_finish(&f);
    return fd;
}

static int ask(int fd, const struct tp_control_plug *asked)
{
    static uint8_t buffer[TP_FRAME_BYTES];
    const struct iovec part = {(void *)(uintptr_t)asked, sizeof *asked};
    struct tp_frame f;
    int32_t result = -1;
    if (tp_frame_send(fd, TP_FRAME_PLUG, 0, 1, &part, 1, NULL, 0) < 0 ||
        tp_frame_recv(fd, buffer, &f) < 0)
        return -1;
    if (f.payload_bytes >= sizeof result)
        memcpy(&result, f.payload, sizeof result);
    tp_frame_finish(&f);
    return result;
}

int main(int argc, char **argv)
{
    struct tp_control_plug asked = {.output = 0};
    struct tp_kms_mode *m = &asked.modes[0];
    if (argc < 3 || argc > 4 || (strcmp(argv[2], "in") && strcmp(argv[2], "out")) ||
        (argc == 4 &&
            sscanf(argv[3], "%ux%u@%u", &m->width_px, &m->height_px, &m->refresh_mhz) != 3)) {
        fputs("usage: plug SOCKET out|in [WIDTHxHEIGHT@HZ]\n", stderr);
        return 2;
    }
    m->refresh_mhz *= 1000;
    asked.connected = !strcmp(argv[2], "in");
    asked.n_modes = argc == 4;
    int fd = greet(argv[1]), r = fd < 0 ? -1 : ask(fd, &asked);
    if (r < 0)
        fprintf(stderr, "plug: %s\n", fd < 0 ? "there is no server" : "refused");
    if (fd >= 0)
        close(fd);
    return r < 0;
}
