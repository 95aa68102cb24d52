/* The live census's ring. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frames/census/ring.h"

struct pair {
    struct tp_ring *ring;
    struct tp_ring_view *view;
};

static struct pair make(void)
{
    struct pair p;
    assert_int_equal(tp_ring_create(TP_RING_SWAPCHAIN, "game", &p.ring), 0);
    assert_int_equal(tp_ring_open(tp_ring_fd(p.ring), &p.view), 0);
    return p;
}

static void end(struct pair p)
{
    tp_ring_destroy(p.ring);
    tp_ring_close(p.view);
}

static struct tp_ring_entry frame(uint64_t number)
{
    struct tp_ring_entry e = {.kind = TP_RING_FRAME};
    int64_t *first = &e.frame.record.begin_ns;

    e.frame.record.number = number;
    for (int64_t *at = first; at <= &e.frame.record.told_ns; at++)
        *at = (int64_t)number * 1000 + (at - first);
    return e;
}

/* --- what goes in comes out --- */

static void assert_same(struct pair p, const struct tp_ring_entry *e)
{
    struct tp_ring_entry out;
    uint64_t lost = 0;

    tp_ring_put(p.ring, e);
    assert_true(tp_ring_next(p.view, &out, &lost));
    assert_memory_equal(&out, e, sizeof out);
    assert_false(tp_ring_next(p.view, &out, &lost));
    assert_int_equal(lost, 0);
}

static void each_kind_comes_out_as_it_went_in(void **state)
{
    (void)state;
    struct pair p = make();
    struct tp_ring_entry e = frame(UINT64_C(1) << 50);

    e.frame.record.image = 7;
    e.frame.record.sequence = 99;
    e.frame.record.dropped = e.frame.record.variable = e.frame.fed_back = true;
    e.frame.record.refresh_mhz = 120000;
    e.frame.record.cap_mhz = UINT32_MAX;
    e.frame.record.line_ns = TP_NEVER;
    e.frame.buffer = (struct tp_buffer_name){{1, UINT64_MAX}, 3, TP_BUFFER_NO_INDEX};
    assert_same(p, &e);

    memset(&e, 0, sizeof e);
    e.kind = TP_RING_PICTURE;
    e.picture = (struct tp_ring_picture){5, 6, true, 1, 2, 3, TP_NEVER, 4, TP_RING_LAYERS, {{{0}}}};
    for (unsigned i = 0; i < TP_RING_LAYERS; i++)
        e.picture.layers[i] = (struct tp_buffer_name){{i, i + 1}, i + 2, i + 3};
    assert_same(p, &e);

    memset(&e, 0, sizeof e);
    e.kind = TP_RING_REFRESH;
    e.refresh.record.sequence = 8;
    e.refresh.record.shows = true;
    e.refresh.record.torn_line = 1080;
    e.refresh.record.torn_ns = -1;
    e.refresh.serial = 5;
    assert_same(p, &e);

    memset(&e, 0, sizeof e);
    e.kind = TP_RING_SETTING;
    e.setting = (struct tp_ring_setting){1, TP_SETTING_CAP, 2, -3};
    assert_same(p, &e);
    end(p);
}

static void a_kind_that_is_none_is_not_written(void **state)
{
    (void)state;
    struct pair p = make();
    struct tp_ring_entry e = {.kind = (enum tp_ring_kind)77}, out;
    uint64_t lost = 0;

    tp_ring_put(p.ring, &e);
    assert_false(tp_ring_next(p.view, &out, &lost));
    assert_int_equal(lost, 0);
    end(p);
}

static void numbers_names_and_the_end_are_seen(void **state)
{
    (void)state;
    struct pair p = make();

    assert_string_equal(tp_ring_name(p.view), "game");
    assert_int_equal(tp_ring_look(p.view, TP_GAUGE_PRODUCER), TP_RING_SWAPCHAIN);
    assert_int_equal(tp_ring_look(p.view, TP_GAUGE_PID), getpid());
    tp_ring_gauge(p.ring, TP_GAUGES - 1, UINT64_MAX);
    assert_true(tp_ring_look(p.view, TP_GAUGES - 1) == UINT64_MAX);
    assert_int_equal(tp_ring_look(p.view, TP_GAUGE_ENDED), 0);
    tp_ring_destroy(p.ring);
    assert_int_equal(tp_ring_look(p.view, TP_GAUGE_ENDED), 1);
    tp_ring_close(p.view);
}

/* --- who is late --- */

static void who_comes_late_has_lost_the_oldest_and_is_told_how_many(void **state)
{
    (void)state;
    struct pair p = make();
    struct tp_ring_entry out;
    uint64_t lost = 0, n = 0;

    for (uint64_t i = 0; i < TP_RING_ENTRIES + 10; i++) {
        struct tp_ring_entry e = frame(i);
        tp_ring_put(p.ring, &e);
    }
    while (tp_ring_next(p.view, &out, &lost))
        assert_int_equal(out.frame.record.number, 10 + n++);
    assert_int_equal(lost, 10);
    assert_int_equal(n, TP_RING_ENTRIES);
    end(p);
}

static void who_opens_a_full_ring_begins_with_the_oldest_that_is_there(void **state)
{
    (void)state;
    struct pair p = make();
    struct tp_ring_view *late;
    struct tp_ring_entry out;
    uint64_t lost = 0;

    for (uint64_t i = 0; i < 3 * TP_RING_ENTRIES; i++) {
        struct tp_ring_entry e = frame(i);
        tp_ring_put(p.ring, &e);
    }
    assert_int_equal(tp_ring_open(tp_ring_fd(p.ring), &late), 0);
    assert_true(tp_ring_next(late, &out, &lost));
    assert_int_equal(out.frame.record.number, 2 * TP_RING_ENTRIES);
    assert_int_equal(lost, 0);
    tp_ring_close(late);
    end(p);
}

#define MANY 400000u

static void *write_many(void *data)
{
    for (uint64_t i = 0; i < MANY; i++) {
        struct tp_ring_entry e = frame(i);
        tp_ring_put(data, &e);
    }
    return NULL;
}

static void what_is_read_while_it_is_written_is_whole_or_counted_as_lost(void **state)
{
    (void)state;
    struct pair p = make();
    struct tp_ring_entry out;
    uint64_t lost = 0, n = 0, last = 0;
    pthread_t writer;

    assert_int_equal(pthread_create(&writer, NULL, write_many, p.ring), 0);
    while (n + lost < MANY) {
        if (!tp_ring_next(p.view, &out, &lost))
            continue;
        struct tp_ring_entry wanted = frame(out.frame.record.number);
        assert_memory_equal(&out, &wanted, sizeof out);
        assert_true(n == 0 || out.frame.record.number > last);
        last = out.frame.record.number;
        n++;
    }
    pthread_join(writer, NULL);
    assert_int_equal(n + lost, MANY);
    assert_int_equal(last, MANY - 1);
    end(p);
}

/* --- whose memory it is --- */

static void who_has_the_descriptor_can_neither_write_nor_shrink_it(void **state)
{
    (void)state;
    struct pair p = make();
    int fd = tp_ring_fd(p.ring);

    assert_int_equal(ftruncate(fd, 0), -1);
    assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    assert_int_equal(pwrite(fd, "x", 1, 0), -1);
    end(p);
}

static void what_is_no_ring_is_refused(void **state)
{
    (void)state;
    struct tp_ring_view *view;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int memory = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    assert_int_equal(tp_ring_open(null, &view), -EBADMSG);
    assert_int_equal(tp_ring_open(memory, &view), -EBADMSG);
    assert_int_equal(ftruncate(memory, 1 << 20), 0);
    assert_int_equal(tp_ring_open(memory, &view), -EBADMSG); /* it could be taken away */
    assert_int_equal(fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    assert_int_equal(tp_ring_open(memory, &view), -EBADMSG);
    assert_null(view);
    close(memory);
    close(null);
}

/* A whole ring's bytes in memory that a stranger still writes. */
static int copy_of(struct pair p, void **out, size_t *size)
{
    off_t n = lseek(tp_ring_fd(p.ring), 0, SEEK_END);
    int fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *from = mmap(NULL, (size_t)n, PROT_READ, MAP_SHARED, tp_ring_fd(p.ring), 0);

    assert_int_equal(ftruncate(fd, n), 0);
    *size = (size_t)n;
    *out = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memcpy(*out, from, *size);
    munmap(from, *size);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    return fd;
}

static void bytes_of_a_stranger_end_without_harm(void **state)
{
    (void)state;
    struct pair p = make();
    struct tp_ring_entry out;
    struct tp_ring_view *view;
    uint64_t lost;
    void *bytes;
    size_t size;

    for (uint64_t i = 0; i < 100; i++) {
        struct tp_ring_entry e = frame(i);
        tp_ring_put(p.ring, &e);
    }
    int fd = copy_of(p, &bytes, &size);
    srandom(1);
    for (unsigned round = 0; round < 3000; round++) {
        uint64_t *words = bytes;
        assert_int_equal(tp_ring_open(fd, &view), 0);
        for (unsigned i = 0; i < 50; i++) /* behind what never changes: six words and the name */
            words[12 + (size_t)random() % (size / 8 - 12)] =
                random() % 2 ? (uint64_t)random() % 3000 : (uint64_t)random() << 40;
        lost = 0;
        for (unsigned i = 0; i < 2 * TP_RING_ENTRIES && tp_ring_next(view, &out, &lost); i++)
            ;
        tp_ring_close(view);
    }
    memset(bytes, 0xff, 16);
    assert_int_equal(tp_ring_open(fd, &view), -EBADMSG);
    munmap(bytes, size);
    close(fd);
    end(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_comes_out_as_it_went_in),
        cmocka_unit_test(a_kind_that_is_none_is_not_written),
        cmocka_unit_test(numbers_names_and_the_end_are_seen),
        cmocka_unit_test(who_comes_late_has_lost_the_oldest_and_is_told_how_many),
        cmocka_unit_test(who_opens_a_full_ring_begins_with_the_oldest_that_is_there),
        cmocka_unit_test(what_is_read_while_it_is_written_is_whole_or_counted_as_lost),
        cmocka_unit_test(who_has_the_descriptor_can_neither_write_nor_shrink_it),
        cmocka_unit_test(what_is_no_ring_is_refused),
        cmocka_unit_test(bytes_of_a_stranger_end_without_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
