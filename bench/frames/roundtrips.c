#include "roundtrips.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

void bench(const char *name, int n, int (*it)(void *data), void *data)
{
    int64_t *took = calloc((size_t)n, sizeof *took);

    for (int i = -n / 10; took && i < n; i++) {
        int64_t start = now_ns();

        if (it(data) != 0) {
            perror(name);
            exit(1);
        }
        if (i >= 0)
            took[i] = now_ns() - start;
    }
    if (!took)
        exit(1);
    qsort(took, (size_t)n, sizeof *took, by_value);
    printf("%-52s p50 %7.2f  p99 %7.2f  least %7.2f us\n", name, (double)took[n / 2] / 1e3,
        (double)took[n * 99 / 100] / 1e3, (double)took[0] / 1e3);
    free(took);
}

int start_echo(void)
{
    char bytes[64];
    int ends[2];
    ssize_t n;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        exit(1);
    if (fork() == 0) {
        close(ends[0]);
        while ((n = recv(ends[1], bytes, sizeof bytes, 0)) > 0)
            send(ends[1], bytes, (size_t)n, MSG_NOSIGNAL);
        _exit(0);
    }
    close(ends[1]);
    return ends[0];
}

int raw_round_trip(void *data)
{
    char bytes[64] = {0};
    int sock = *(int *)data;

    return send(sock, bytes, sizeof bytes, MSG_NOSIGNAL) == sizeof bytes &&
            recv(sock, bytes, sizeof bytes, 0) == sizeof bytes
        ? 0
        : -1;
}
