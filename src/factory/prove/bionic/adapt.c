/*
 * What differs between glibc, whose headers are compiled against, and bionic on arm64, for that
 * part of them that the client, the simulator and the stub use. Bionic's side is that of its public
 * headers (bits/signal_types.h, bits/pthread_types.h, setjmp.h, dlfcn.h, getopt.h, dirent.h) since
 * API 21 for 64 bits, where it is frozen.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* ---- the same in both, or with room enough for bionic's ---- */

#define SAME(what) _Static_assert(what, "glibc's differs from bionic's")
/* One that nobody made is all zeros in both. */
SAME(sizeof(pthread_mutex_t) >= 40 && _Alignof(pthread_mutex_t) >= 4);
SAME(sizeof(pthread_cond_t) >= 48 && _Alignof(pthread_cond_t) >= 4);
SAME(sizeof(pthread_once_t) == 4 && PTHREAD_ONCE_INIT == 0);
SAME(sizeof(pthread_t) == 8);
SAME(sizeof(pthread_attr_t) >= 56);
SAME(sizeof(pthread_condattr_t) >= 8 && sizeof(pthread_mutexattr_t) >= 8);
SAME(PTHREAD_MUTEX_NORMAL == 0 && PTHREAD_MUTEX_RECURSIVE == 1 && PTHREAD_MUTEX_ERRORCHECK == 2);
SAME(sizeof(jmp_buf) >= 32 * sizeof(long) && sizeof(sigjmp_buf) >= 33 * sizeof(long));
SAME(_Alignof(jmp_buf) >= 8);
/* A set of signals is 8 bytes there: its functions leave the rest of this one alone. */
SAME(sizeof(sigset_t) >= 8 && SIG_BLOCK == 0 && SIG_SETMASK == 2);
SAME(sizeof(struct timespec) == 16 && CLOCK_MONOTONIC == 1);
SAME(sizeof(struct pollfd) == 8 && POLLIN == 1 && POLLERR == 8 && POLLNVAL == 32);
SAME(EFD_CLOEXEC == 02000000 && EFD_NONBLOCK == 04000);
SAME(RTLD_NOW == 2 && RTLD_LOCAL == 0 && RTLD_NOLOAD == 4);
/* The kernel's structure. */
SAME(sizeof(struct stat) == 128 && offsetof(struct stat, st_mode) == 16 &&
     offsetof(struct stat, st_rdev) == 32 && offsetof(struct stat, st_size) == 48 &&
     offsetof(struct stat, st_blocks) == 64);
SAME(offsetof(struct dirent, d_reclen) == 16 && offsetof(struct dirent, d_type) == 18 &&
     offsetof(struct dirent, d_name) == 19);
SAME(sizeof(struct option) == 32 && offsetof(struct option, flag) == 16 &&
     offsetof(struct option, val) == 24);

/* ---- other ---- */

/* The order of the members is bionic's own for 64 bits. */
struct bionic_sigaction {
    int flags;
    void (*handler)(int);
    uint64_t mask;
    void (*restorer)(void);
};

int bionic_sigaction(int number, const struct bionic_sigaction *now,
                     struct bionic_sigaction *before) __asm__("sigaction");
int tp_bionic_sigaction(int number, const struct sigaction *now, struct sigaction *before);
HIDDEN int tp_bionic_sigaction(int number, const struct sigaction *now, struct sigaction *before)
{
    struct bionic_sigaction set, got = {0};
    if (now) {
        set = (struct bionic_sigaction){.flags = now->sa_flags, .handler = now->sa_handler};
        __builtin_memcpy(&set.mask, &now->sa_mask, sizeof set.mask);
    }
    int r = bionic_sigaction(number, now ? &set : NULL, before ? &got : NULL);
    if (!r && before) {
        *before = (struct sigaction){.sa_flags = got.flags, .sa_handler = got.handler};
        __builtin_memcpy(&before->sa_mask, &got.mask, sizeof got.mask);
    }
    return r;
}

/* The kernel's (linux/kdev_t.h, new_encode_dev, widened by both libraries alike). */
uint64_t tp_bionic_makedev(unsigned major, unsigned minor);
HIDDEN uint64_t tp_bionic_makedev(unsigned major, unsigned minor)
{
    return ((uint64_t)(major & 0xfffff000u) << 32) | ((uint64_t)(major & 0xfffu) << 8) |
           ((uint64_t)(minor & 0xffffff00u) << 12) | (minor & 0xffu);
}

void *__dso_handle HIDDEN = &__dso_handle;

/* Every object has a pthread_atfork of its own there. */
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                      void *object);
int tp_bionic_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
HIDDEN int tp_bionic_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    return __register_atfork(prepare, parent, child, &__dso_handle);
}
