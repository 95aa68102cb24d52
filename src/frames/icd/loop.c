#include "frames/icd/loop.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "frames/icd/clock.h"

struct tp_loop {
    const struct tp_loop_ops *ops;
    void *data;
    int fd, wake;
    _Atomic bool ends;
    pthread_t thread;
    char name[16];
};

static void *run(void *arg)
{
    struct tp_loop *l = arg;

    pthread_setname_np(pthread_self(), l->name);
    while (!l->ends) {
        struct pollfd fds[2] = {{.fd = l->wake, .events = POLLIN}};
        int64_t until = l->ops->before(l->data, &fds[1].events);
        fds[1].fd = l->fd;
        int64_t left = until == INT64_MAX ? 0 : until - tp_icd_now_ns();
        uint64_t woken;

        if (left < 0)
            left = 0;
        struct timespec t = {left / 1000000000, left % 1000000000};
        int n = ppoll(fds, 2, until == INT64_MAX ? NULL : &t, NULL);
        if (n > 0 && fds[0].revents) {
            while (read(l->wake, &woken, sizeof woken) < 0 && errno == EINTR)
                ;
        }
        l->ops->after(l->data, n > 0 ? fds[1].revents : 0);
    }
    return NULL;
}

int tp_thread_start(pthread_t *out, void *(*start)(void *), void *data)
{
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int r = -pthread_create(out, NULL, start, data);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return r;
}

int tp_loop_create(
    const char *name, int fd, const struct tp_loop_ops *ops, void *data, struct tp_loop **out)
{
    struct tp_loop *l = calloc(1, sizeof *l);
    int r;

    if (!l)
        return -ENOMEM;
    *l = (struct tp_loop){.ops = ops, .data = data, .fd = fd};
    strncpy(l->name, name, sizeof l->name - 1);
    l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l->wake < 0) {
        r = -errno;
        free(l);
        return r;
    }
    *out = l; /* before its thread may ask for it */
    r = tp_thread_start(&l->thread, run, l);
    if (r) {
        *out = NULL;
        close(l->wake);
        free(l);
    }
    return r;
}

void tp_loop_wake(struct tp_loop *l)
{
    uint64_t one = 1;

    while (write(l->wake, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

void tp_loop_set_fd(struct tp_loop *l, int fd)
{
    l->fd = fd;
}

void tp_loop_destroy(struct tp_loop *l)
{
    if (!l)
        return;
    l->ends = true;
    tp_loop_wake(l);
    pthread_join(l->thread, NULL);
    close(l->wake);
    free(l);
}
