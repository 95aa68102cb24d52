#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "frames/wire/board.h"

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void a_reader_sees_state_and_generation(void **state)
{
    struct tp_board *b;
    struct tp_board_view v;
    uint32_t low;
    int fd;
    (void)state;
    assert_int_equal(tp_board_create(&b, &fd), 0);
    assert_int_equal(tp_board_open(fd, &v), 0);
    close(fd); /* the mapping stays */
    assert_int_equal(v.n_words, 504);
    tp_board_store(b, 7, tp_board_word(3, tp_board_low(5, TP_BOARD_FENCED)));
    assert_int_equal(tp_board_read(&v, 7, 3, &low), TP_BOARD_FENCED);
    assert_int_equal(low, 5 << 2 | 2);
    tp_board_store(b, 503, tp_board_word(UINT32_MAX, tp_board_low(0x3fffffff, TP_BOARD_SHOWN)));
    assert_int_equal(tp_board_read(&v, 503, UINT32_MAX, &low), TP_BOARD_SHOWN);
    assert_int_equal(low, UINT32_MAX);
    tp_board_close(&v);
    tp_board_destroy(b);
}

static void another_generation_and_another_index_are_not_the_buffer(void **state)
{
    struct tp_board *b;
    struct tp_board_view v;
    int fd;
    (void)state;
    assert_int_equal(tp_board_create(&b, &fd), 0);
    assert_int_equal(tp_board_open(fd, &v), 0);
    tp_board_store(b, 0, tp_board_word(3, tp_board_low(1, TP_BOARD_FREE)));
    assert_int_equal(tp_board_read(&v, 0, 4, NULL), -ESTALE);
    assert_int_equal(tp_board_read(&v, 1, 3, NULL), -ESTALE);
    assert_int_equal(tp_board_read(&v, 1, 0, NULL), -ESTALE); /* not in use */
    assert_int_equal(tp_board_read(&v, 504, 3, NULL), -EINVAL);
    assert_int_equal(tp_board_read(&v, UINT32_MAX, 3, NULL), -EINVAL);
    assert_int_equal(tp_board_wait(&v, 504, 0, 0), -EINVAL);
    tp_board_close(&v);
    tp_board_destroy(b);
    close(fd);
}

static void the_page_is_laid_out_as_the_protocol_says(void **state)
{
    static const uint8_t header[] = {
        'T', 'P', 'B', 'D', 1, 0, 0, 0, 1, 0, 0, 0, 64, 0, 0, 0, 0xf8, 1, 0, 0};
    static const uint8_t word[] = {0x15, 0, 0, 0, 9, 0, 0, 0};
    static struct tp_board b;
    (void)state;
    tp_board_init(&b);
    tp_board_store(&b, 2, tp_board_word(9, tp_board_low(5, TP_BOARD_REPLACED)));
    assert_memory_equal(&b, header, sizeof header);
    assert_memory_equal((uint8_t *)&b + 64 + 16, word, sizeof word);
}

static void a_guest_cannot_write_it(void **state)
{
    struct tp_board *b;
    int fd;
    (void)state;
    assert_int_equal(tp_board_create(&b, &fd), 0);
    assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    assert_int_equal(write(fd, "x", 1), -1);
    assert_int_equal(ftruncate(fd, 0), -1);
    tp_board_store(b, 0, 1); /* the server still can */
    tp_board_destroy(b);
    close(fd);
}

static void memory_that_is_no_board_is_refused(void **state)
{
    static struct tp_board b;
    struct tp_board_view v;
    int pipes[2], fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    (void)state;
    assert_int_equal(tp_board_look(&b, sizeof b, &v), -EBADMSG); /* no magic */
    tp_board_init(&b);
    assert_int_equal(tp_board_look(&b, 63, &v), -EBADMSG);
    assert_int_equal(tp_board_look(&b, sizeof b - 1, &v), -EBADMSG); /* a word too few */
    assert_int_equal(tp_board_look(&b, sizeof b, &v), 0);
    b.words_offset = 68; /* not aligned */
    assert_int_equal(tp_board_look(&b, sizeof b, &v), -EBADMSG);
    b.words_offset = 0; /* in the header */
    assert_int_equal(tp_board_look(&b, sizeof b, &v), -EBADMSG);
    b.words_offset = UINT32_MAX - 7;
    assert_int_equal(tp_board_look(&b, sizeof b, &v), -EBADMSG);
    b.words_offset = 64;
    b.n_words = UINT32_MAX;
    assert_int_equal(tp_board_look(&b, sizeof b, &v), -EBADMSG);
    assert_int_equal(v.n_words, 0);

    tp_board_init(&b);
    assert_int_equal(tp_board_open(fd, &v), -EBADMSG); /* empty */
    assert_int_equal(write(fd, &b, sizeof b), sizeof b);
    assert_int_equal(tp_board_open(fd, &v), -EPERM); /* may shrink under the mapping */
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    assert_int_equal(tp_board_open(fd, &v), 0);
    tp_board_close(&v);
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    assert_int_equal(tp_board_open(pipes[0], &v), -EBADMSG);
    assert_int_equal(tp_board_open(-1, &v), -EBADF);
    close(pipes[0]);
    close(pipes[1]);
    close(fd);
}

static void versions_get_along_by_the_oldest(void **state)
{
    static struct {
        struct tp_board b;
        uint64_t more[8];
    } later;
    struct tp_board_view v;
    (void)state;
    tp_board_init(&later.b);
    later.b.version = 7; /* but readable by ours; and it has a longer header */
    later.b.words_offset = 128;
    assert_int_equal(tp_board_look(&later, sizeof later, &v), 0);
    *(uint64_t *)(void *)((char *)&later + 128) = tp_board_word(2, TP_BOARD_REPLACED);
    assert_int_equal(tp_board_read(&v, 0, 2, NULL), TP_BOARD_REPLACED);
    later.b.oldest = 2;
    assert_int_equal(tp_board_look(&later, sizeof later, &v), -EPROTO);
    later.b.oldest = later.b.version = 0;
    assert_int_equal(tp_board_look(&later, sizeof later, &v), -EPROTO);
}

static void a_wait_ends_at_its_deadline_or_at_once(void **state)
{
    struct tp_board *b;
    struct tp_board_view v;
    int fd;
    (void)state;
    assert_int_equal(tp_board_create(&b, &fd), 0);
    assert_int_equal(tp_board_open(fd, &v), 0);
    int64_t deadline = now_ns() + 2000000;
    assert_int_equal(tp_board_wait(&v, 3, 0, deadline), -ETIMEDOUT);
    assert_true(now_ns() >= deadline);
    assert_int_equal(tp_board_wait(&v, 3, 0, -5), -ETIMEDOUT); /* long ago */
    tp_board_store(b, 3, 4);
    assert_int_equal(tp_board_wait(&v, 3, 0, INT64_MAX), 0); /* it is another already */
    tp_board_close(&v);
    tp_board_destroy(b);
    close(fd);
}

/* --- beside one another --- */

#define ROUNDS 20000u
#define READERS 3

struct readers {
    struct tp_board_view view;
    uint32_t data[504]; /* written before the word, read after it */
    atomic_uint acknowledged[READERS];
};

struct reader {
    struct readers *all;
    unsigned number;
};

/* The writer does not wait for it any more. */
static void *stop(struct reader *r, const char *why)
{
    atomic_store(&r->all->acknowledged[r->number], UINT32_MAX);
    return (void *)(uintptr_t)why;
}

/* Follows word 0, whose generation and sequence count together, to the end. */
static void *follow(void *arg)
{
    struct reader *r = arg;
    const struct tp_board_view *v = &r->all->view;
    uint32_t seen = 0, low = 0;
    while (seen < ROUNDS) {
        if (tp_board_wait(v, 0, low, INT64_MAX) != 0)
            return stop(r, "a wait that ended badly");
        tp_board_read(v, 0, 1, &low);
        uint32_t now = low >> 2;
        if (now < seen)
            return stop(r, "it went backwards");
        /* The same word again, if it still is; its halves belong together. */
        uint32_t again;
        int state = tp_board_read(v, 0, now, &again);
        if (again == low ? state != (int)(now % 4) : state != -ESTALE)
            return stop(r, "a word of two halves");
        if (r->all->data[now % 504] != now)
            return stop(r, "what was before the word came after it");
        seen = now;
        atomic_store(&r->all->acknowledged[r->number], seen);
    }
    return NULL;
}

static void readers_see_whole_words_in_order_and_wake_from_each(void **state)
{
    static struct tp_board memory, *b = &memory;
    static struct readers all;
    struct reader readers[READERS];
    pthread_t threads[READERS];
    (void)state;
    /* The same mapping: a sanitizer of threads knows nothing of two of the same memory. */
    tp_board_init(b);
    assert_int_equal(tp_board_look(b, sizeof *b, &all.view), 0);
    for (unsigned i = 0; i < READERS; i++) {
        readers[i] = (struct reader){&all, i};
        assert_int_equal(pthread_create(&threads[i], NULL, follow, &readers[i]), 0);
    }
    for (uint32_t n = 1; n <= ROUNDS; n++) {
        for (unsigned i = 0; n > 400 && i < READERS; i++) /* their part of data is not reused yet */
            while (atomic_load(&all.acknowledged[i]) < n - 400)
                sched_yield();
        all.data[n % 504] = n; /* plain: the word orders it */
        tp_board_store(b, 0, tp_board_word(n, tp_board_low(n, n % 4)));
        tp_board_wake(b, 0);
    }
    for (unsigned i = 0; i < READERS; i++) {
        void *why = NULL;
        pthread_join(threads[i], &why);
        if (why)
            fail_msg("reader %u: %s", i, (const char *)why);
    }
}

static void *wait_for_free(void *view)
{
    uint32_t low;
    int state = tp_board_read(view, 9, 4, &low);
    while (state != TP_BOARD_FREE) {
        if (tp_board_wait(view, 9, low, INT64_MAX) != 0)
            return "a wait that ended badly";
        state = tp_board_read(view, 9, 4, &low);
    }
    return NULL;
}

static void a_sleeper_on_a_mapping_that_only_reads_is_woken(void **state)
{
    struct tp_board *b;
    struct tp_board_view v;
    pthread_t thread;
    void *why = NULL;
    int fd;
    (void)state;
    assert_int_equal(tp_board_create(&b, &fd), 0);
    assert_int_equal(tp_board_open(fd, &v), 0);
    tp_board_store(b, 9, tp_board_word(4, tp_board_low(1, TP_BOARD_SHOWN)));
    assert_int_equal(pthread_create(&thread, NULL, wait_for_free, &v), 0);
    for (uint32_t n = 2; n <= 50; n++) { /* now and then it sleeps, now and then it does not yet */
        tp_board_store(b, 9, tp_board_word(4, tp_board_low(n, TP_BOARD_REPLACED)));
        tp_board_wake(b, 9);
        usleep(n % 2 ? 200 : 0);
    }
    tp_board_store(b, 9, tp_board_word(4, tp_board_low(51, TP_BOARD_FREE)));
    tp_board_wake(b, 9);
    pthread_join(thread, &why);
    assert_null(why);
    tp_board_close(&v);
    tp_board_destroy(b);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_sees_state_and_generation),
        cmocka_unit_test(another_generation_and_another_index_are_not_the_buffer),
        cmocka_unit_test(the_page_is_laid_out_as_the_protocol_says),
        cmocka_unit_test(a_guest_cannot_write_it),
        cmocka_unit_test(memory_that_is_no_board_is_refused),
        cmocka_unit_test(versions_get_along_by_the_oldest),
        cmocka_unit_test(a_wait_ends_at_its_deadline_or_at_once),
        cmocka_unit_test(readers_see_whole_words_in_order_and_wake_from_each),
        cmocka_unit_test(a_sleeper_on_a_mapping_that_only_reads_is_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
