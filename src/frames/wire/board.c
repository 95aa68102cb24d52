#include "frames/wire/board.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010 /* Linux 5.1 */
#endif

/* --- the server's side --- */

void tp_board_init(struct tp_board *b)
{
    b->magic = TP_BOARD_MAGIC;
    b->version = TP_BOARD_VERSION;
    b->oldest = TP_BOARD_OLDEST;
    b->words_offset = offsetof(struct tp_board, words);
    b->n_words = TP_BOARD_WORDS;
}

void tp_board_store(struct tp_board *b, unsigned index, uint64_t word)
{
    atomic_store_explicit(&b->words[index], word, memory_order_release);
}

void tp_board_wake(struct tp_board *b, unsigned index)
{
    /* Not private: the waiters are another process's. */
    syscall(SYS_futex, (uint32_t *)(void *)&b->words[index], FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Seals it, and opens it a second time in a way that cannot be written, for kernels that know no
 * seal for that. Answers the descriptor that goes to the guest; takes fd. */
static int only_readable(int fd)
{
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    char self[40];
    if (fcntl(fd, F_ADD_SEALS, seals | F_SEAL_FUTURE_WRITE) < 0)
        fcntl(fd, F_ADD_SEALS, seals);
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    int again = open(self, O_RDONLY | O_CLOEXEC);
    if (again < 0)
        return fd;
    close(fd);
    return again;
}

int tp_board_create(struct tp_board **out, int *fd)
{
    int memory = memfd_create("turnpike-board", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *map = MAP_FAILED;
    *out = NULL;
    *fd = -1;
    if (memory >= 0 && ftruncate(memory, TP_BOARD_BYTES) == 0)
        map = mmap(NULL, TP_BOARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (map == MAP_FAILED) {
        int err = errno;
        if (memory >= 0)
            close(memory);
        return -err;
    }
    tp_board_init(map);
    *out = map;
    *fd = only_readable(memory);
    return 0;
}

void tp_board_destroy(struct tp_board *b)
{
    if (b)
        munmap(b, TP_BOARD_BYTES);
}

/* --- the guest's side --- */

int tp_board_look(const void *memory, size_t bytes, struct tp_board_view *out)
{
    const struct tp_board *b = memory;
    *out = (struct tp_board_view){0};
    if (bytes < offsetof(struct tp_board, words) || b->magic != TP_BOARD_MAGIC)
        return -EBADMSG;
    if (b->version < TP_BOARD_OLDEST || b->oldest > TP_BOARD_VERSION)
        return -EPROTO;
    /* Read once: what is checked is what is used. */
    const volatile struct tp_board *now = b;
    uint32_t offset = now->words_offset, n = now->n_words;
    if (offset % 8 != 0 || offset < offsetof(struct tp_board, words) || offset > bytes ||
        n > (bytes - offset) / 8)
        return -EBADMSG;
    out->halves = (const void *)((const char *)memory + offset);
    out->n_words = n;
    return 0;
}

int tp_board_open(int fd, struct tp_board_view *out)
{
    struct stat st;
    *out = (struct tp_board_view){0};
    if (fstat(fd, &st) < 0)
        return -errno;
    if (st.st_size < (off_t)offsetof(struct tp_board, words) || st.st_size > 1 << 20)
        return -EBADMSG;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK))
        return -EPERM;
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return -errno;
    int r = tp_board_look(map, (size_t)st.st_size, out);
    if (r < 0) {
        munmap(map, (size_t)st.st_size);
        return r;
    }
    out->map = map;
    out->map_bytes = (size_t)st.st_size;
    return 0;
}

void tp_board_close(struct tp_board_view *v)
{
    if (v->map)
        munmap((void *)(uintptr_t)v->map, v->map_bytes);
    *v = (struct tp_board_view){0};
}

#if UINTPTR_MAX > UINT32_MAX
static uint64_t load(const struct tp_board_view *v, unsigned index)
{
    const _Atomic uint64_t *word = (const void *)(v->halves + 2 * (size_t)index);
    return atomic_load_explicit(word, memory_order_acquire);
}
#else
/* A load of 64 bits may be a write to some 32-bit processors, which the mapping does not allow. The
 * low half differs with each write, so that the high half between two equal ones belongs to it. */
static uint64_t load(const struct tp_board_view *v, unsigned index)
{
    const _Atomic uint32_t *at = v->halves + 2 * (size_t)index;
    uint32_t low, high;
    do {
        low = atomic_load(at);
        high = atomic_load(at + 1);
    } while (low != atomic_load(at));
    return (uint64_t)high << 32 | low;
}
#endif

int tp_board_read(const struct tp_board_view *v, unsigned index, uint32_t generation, uint32_t *low)
{
    if (index >= v->n_words)
        return -EINVAL;
    uint64_t word = load(v, index);
    if (low)
        *low = (uint32_t)word;
    if (generation == 0 || word >> 32 != generation)
        return -ESTALE;
    return (int)tp_board_state_of((uint32_t)word);
}

int tp_board_wait(const struct tp_board_view *v, unsigned index, uint32_t low, int64_t deadline_ns)
{
    if (index >= v->n_words)
        return -EINVAL;
    const _Atomic uint32_t *at = v->halves + 2 * (size_t)index;
    int64_t ns = deadline_ns > 0 ? deadline_ns : 0;
    const struct timespec until = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    while (atomic_load_explicit(at, memory_order_acquire) == low) {
        if (syscall(SYS_futex, at, FUTEX_WAIT_BITSET, low, deadline_ns == INT64_MAX ? NULL : &until,
                NULL, FUTEX_BITSET_MATCH_ANY) == 0)
            continue;
        if (errno == ETIMEDOUT)
            return -ETIMEDOUT;
        if (errno != EINTR && errno != EAGAIN)
            return -errno;
    }
    return 0;
}
