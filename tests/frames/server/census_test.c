/* Live records by the sockets: guests bring their rings, tools are lent all of them. */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frames/server/control.h"

static struct guest guest, second;
static struct peer compositor, tool;
static uint32_t control_sequence;

static struct tp_ring *new_ring(const char *name)
{
    struct tp_ring *r;
    assert_int_equal(tp_ring_create(TP_RING_SWAPCHAIN, name, &r), 0);
    return r;
}

static void bring(struct guest *g, uint32_t number, int fd)
{
    struct tp_scanout_frame f = {
        .fourcc = TP_FRAME_CENSUS, .fd = fd, .u.census = {.number = number, .ended = fd < 0}};
    guest_send(g, &f);
}

static bool is_here(struct guest *g)
{
    guest_drain(g);
    return !hung_up(g->sock);
}

static ino_t inode(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return st.st_ino;
}

/* How many there are; the descriptors are closed. */
static unsigned list(struct tp_census_ring *out)
{
    unsigned n = tp_server_census(server, out, TP_SERVER_RINGS);
    for (unsigned i = 0; i < n; i++)
        close(out[i].fd);
    return n;
}

static unsigned count(void)
{
    struct tp_census_ring out[TP_SERVER_RINGS];
    return list(out);
}

/* --- guests --- */

static void a_guests_ring_is_listed_until_it_has_ended(void **state)
{
    struct tp_census_ring out[TP_SERVER_RINGS];
    struct tp_ring *ring = new_ring("game");
    struct tp_ring_view *v;
    (void)state;
    guest_join(&guest, ALL_CAPS);
    assert_true(guest.capabilities & TP_CAP_CENSUS);
    assert_int_equal(count(), 1);
    bring(&guest, 7, tp_ring_fd(ring));
    unsigned n = tp_server_census(server, out, TP_SERVER_RINGS);
    assert_int_equal(n, 2);
    assert_int_equal(out[0].pid, 0); /* the screen's */
    assert_int_equal(out[1].pid, getpid());
    assert_true(out[1].id > out[0].id);
    assert_int_equal(inode(out[1].fd), inode(tp_ring_fd(ring)));
    assert_int_equal(tp_ring_open(out[1].fd, &v), 0);
    assert_string_equal(tp_ring_name(v), "game");
    tp_ring_close(v);
    for (unsigned i = 0; i < n; i++)
        close(out[i].fd);
    bring(&guest, 8, -1); /* nobody's */
    assert_int_equal(count(), 2);
    bring(&guest, 7, -1);
    assert_int_equal(count(), 1);
    assert_true(is_here(&guest));
    guest_leave(&guest);
    tp_ring_destroy(ring);
}

static void the_same_number_again_takes_its_place(void **state)
{
    struct tp_census_ring before[TP_SERVER_RINGS], after[TP_SERVER_RINGS];
    struct tp_ring *one = new_ring("one"), *two = new_ring("two");
    (void)state;
    guest_join(&guest, ALL_CAPS);
    bring(&guest, 0, tp_ring_fd(one));
    assert_int_equal(list(before), 2);
    bring(&guest, 0, tp_ring_fd(two));
    assert_int_equal(list(after), 2);
    assert_true(after[1].id > before[1].id);
    guest_leave(&guest);
    tp_ring_destroy(one);
    tp_ring_destroy(two);
}

static void with_a_guest_its_rings_go(void **state)
{
    struct tp_ring *ring = new_ring("game");
    (void)state;
    guest_join(&guest, ALL_CAPS);
    guest_join(&second, ALL_CAPS);
    for (uint32_t i = 0; i < 4; i++) {
        bring(&guest, i, tp_ring_fd(ring));
        bring(&second, i, tp_ring_fd(ring));
    }
    assert_int_equal(count(), 9);
    guest_leave(&guest);
    assert_int_equal(count(), 5);
    guest_leave(&second);
    assert_int_equal(count(), 1);
    tp_ring_destroy(ring);
}

static void a_guest_that_has_not_said_census_may_not_bring_any(void **state)
{
    struct tp_ring *ring = new_ring("game");
    (void)state;
    guest_join(&guest, ALL_CAPS & ~TP_CAP_CENSUS);
    bring(&guest, 0, tp_ring_fd(ring));
    assert_false(is_here(&guest));
    assert_int_equal(count(), 1);
    guest_leave(&guest);
    tp_ring_destroy(ring);
}

static int memory(off_t bytes, unsigned seals)
{
    int fd = memfd_create("none", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(fd, bytes), 0);
    if (seals)
        assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

/* Each costs the connection, is logged once, and leaves nothing open. */
static void what_is_no_ring_is_refused(void **state)
{
    struct tp_ring *ring = new_ring("game");
    struct stat st;
    int pipe_ends[2];
    (void)state;
    assert_int_equal(fstat(tp_ring_fd(ring), &st), 0);
    assert_int_equal(pipe2(pipe_ends, O_CLOEXEC), 0);
    const int all = F_SEAL_SHRINK | F_SEAL_GROW;
    int wrong[] = {pipe_ends[0], open("/dev/null", O_RDWR | O_CLOEXEC),
        open("/proc/self/exe", O_RDONLY | O_CLOEXEC), memory(st.st_size, 0),
        memory(st.st_size, (unsigned)all), memory(4096, (unsigned)all), memory(0, (unsigned)all),
        memory(st.st_size + 4096, (unsigned)all)};
    unsigned n = sizeof wrong / sizeof *wrong;
    for (unsigned i = 0; i < n; i++) {
        guest_join(&guest, ALL_CAPS);
        bring(&guest, 0, wrong[i]);
        assert_false(is_here(&guest));
        guest_leave(&guest);
        close(wrong[i]);
    }
    close(pipe_ends[1]);
    assert_int_equal(n_logged, n);
    assert_int_equal(count(), 1);
    tp_ring_destroy(ring);
}

static void a_frame_with_other_descriptors_than_one_is_refused(void **state)
{
    struct tp_ring *ring = new_ring("game");
    const uint32_t brings[2] = {0, 0}, ends[2] = {0, 1}, cut[1] = {0};
    int two[2] = {tp_ring_fd(ring), tp_ring_fd(ring)};
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        guest_join(&guest, ALL_CAPS);
        if (i == 0)
            guest_say(&guest, TP_FRAME_CENSUS, 0, brings, sizeof brings, NULL, 0);
        else if (i == 1)
            guest_say(&guest, TP_FRAME_CENSUS, 0, brings, sizeof brings, two, 2);
        else if (i == 2)
            guest_say(&guest, TP_FRAME_CENSUS, 0, ends, sizeof ends, two, 1);
        else
            guest_say(&guest, TP_FRAME_CENSUS, 0, cut, sizeof cut, two, 1);
        assert_false(is_here(&guest));
        guest_leave(&guest);
    }
    assert_int_equal(count(), 1);
    tp_ring_destroy(ring);
}

static void a_thousand_rings_are_one_connections_sixteen(void **state)
{
    struct tp_ring *ring = new_ring("game");
    (void)state;
    guest_join(&guest, ALL_CAPS);
    for (uint32_t i = 0; i < 1000; i++)
        bring(&guest, i % 16, tp_ring_fd(ring));
    assert_true(is_here(&guest));
    assert_int_equal(count(), 17);
    for (uint32_t i = 0; i < 1000; i++)
        bring(&guest, i + 16, tp_ring_fd(ring));
    assert_false(is_here(&guest));
    assert_int_equal(count(), 1);
    guest_leave(&guest);
    tp_ring_destroy(ring);
}

static void past_the_limit_of_all_rings_guests_draw_on_unseen(void **state)
{
    struct tp_ring *ring = new_ring("game");
    (void)state;
    guest_join(&guest, ALL_CAPS);
    guest_join(&second, ALL_CAPS);
    for (uint32_t i = 0; i < 6; i++)
        bring(&guest, i, tp_ring_fd(ring));
    for (uint32_t i = 0; i < 6; i++)
        bring(&second, i, tp_ring_fd(ring));
    assert_true(is_here(&guest) && is_here(&second));
    assert_int_equal(count(), 1 + 8);
    assert_int_equal(n_logged, 1);
    guest_leave(&guest);
    assert_int_equal(count(), 1 + 2);
    bring(&second, 10, tp_ring_fd(ring));
    assert_int_equal(count(), 1 + 3);
    guest_leave(&second);
    tp_ring_destroy(ring);
}

static int few_rings(void **state)
{
    (void)state;
    start_server(&(struct tp_server_config){.limits.rings = 8});
    return 0;
}

static void without_descriptors_fewer_are_lent(void **state)
{
    struct tp_census_ring out[TP_SERVER_RINGS];
    struct tp_ring *ring = new_ring("game");
    struct rlimit before, few;
    (void)state;
    guest_join(&guest, ALL_CAPS);
    for (uint32_t i = 0; i < 4; i++)
        bring(&guest, i, tp_ring_fd(ring));
    int next = dup(0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = (rlim_t)next + 2;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    unsigned n = tp_server_census(server, out, TP_SERVER_RINGS);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    for (unsigned i = 0; i < n; i++)
        close(out[i].fd);
    assert_int_equal(n, 2);
    assert_int_equal(count(), 5);
    guest_leave(&guest);
    tp_ring_destroy(ring);
}

/* --- tools --- */

static void join_tool(void)
{
    struct tp_frame f;
    struct tp_hello hello;
    uint32_t version;
    peer_connect(&tool);
    peer_hello(&tool, TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_CONTROL);
    assert_int_equal(tp_frame_recv(tool.card, tool.in, &f), 0);
    assert_int_equal(tp_hello_parse(&f, &hello, &version), 0);
    assert_true(hello.capabilities & TP_CAP_CENSUS);
    tp_frame_finish(&f);
}

/* Answers how many came. */
static unsigned ask(const void *payload, size_t bytes, struct tp_control_census *out, int *fds)
{
    const struct iovec part = {(void *)(uintptr_t)payload, bytes};
    struct tp_frame f;
    tp_frame_send(tool.card, TP_FRAME_CENSUS, 0, ++control_sequence, &part, 1, NULL, 0);
    pump();
    assert_int_equal(tp_frame_recv(tool.card, tool.in, &f), 0);
    assert_int_equal(f.fourcc, TP_FRAME_CENSUS);
    assert_int_equal(f.sequence, control_sequence);
    unsigned n = f.n_fds;
    assert_int_equal(f.payload_bytes, 8 + 8 * n);
    memcpy(out, f.payload, f.payload_bytes);
    for (unsigned i = 0; i < n; i++)
        fds[i] = tp_frame_take_fd(&f, i);
    tp_frame_finish(&f);
    return n;
}

static void a_tool_is_lent_all_rings_some_at_a_time(void **state)
{
    struct tp_ring *ring = new_ring("game");
    struct tp_control_census out;
    int fds[TP_FRAME_FDS];
    uint32_t last = 0, seen = 0;
    (void)state;
    join_tool();
    guest_join(&guest, ALL_CAPS);
    guest_join(&second, ALL_CAPS);
    for (uint32_t i = 0; i < 16; i++) {
        bring(&guest, i, tp_ring_fd(ring));
        bring(&second, i, tp_ring_fd(ring));
    }
    do {
        unsigned n = ask(&seen, sizeof seen, &out, fds);
        assert_int_equal(out.result, 0);
        assert_int_equal(out.total, 33);
        for (unsigned i = 0; i < n; i++) {
            assert_true(out.rings[i].id > last);
            assert_int_equal(out.rings[i].pid, seen + i == 0 ? 0 : getpid());
            last = out.rings[i].id;
            close(fds[i]);
        }
        assert_int_equal(n, seen < 30 ? 15 : 3);
        seen += n;
    } while (seen < out.total);
    assert_int_equal(ask(&seen, sizeof seen, &out, fds), 0);
    assert_int_equal(out.result, 0);
    seen = UINT32_MAX;
    assert_int_equal(ask(&seen, sizeof seen, &out, fds), 0);
    guest_leave(&guest);
    guest_leave(&second);
    peer_close(&tool);
    tp_ring_destroy(ring);
}

static void a_question_that_is_cut_is_answered_so(void **state)
{
    struct tp_control_census out;
    int fds[TP_FRAME_FDS];
    (void)state;
    join_tool();
    assert_int_equal(ask("x", 1, &out, fds), 0);
    assert_int_equal(out.result, -EINVAL);
    peer_close(&tool);
}

static void a_tool_that_never_reads_is_dropped(void **state)
{
    const uint32_t first = 0;
    const struct iovec part = {(void *)(uintptr_t)&first, sizeof first};
    struct pollfd p;
    (void)state;
    join_tool();
    p = (struct pollfd){.fd = tool.card};
    for (unsigned i = 0; i < 20000 && poll(&p, 1, 0) == 0; i++) {
        tp_frame_send_now(tool.card, TP_FRAME_CENSUS, 0, i, &part, 1, NULL, 0);
        tp_server_dispatch(server, 0);
    }
    assert_true(p.revents & POLLHUP);
    assert_int_equal(n_logged, 1);
    peer_close(&tool);
}

/* --- the screen's --- */

static void a_screens_ring_names_the_guests_buffers(void **state)
{
    struct tp_census_ring out[TP_SERVER_RINGS];
    struct tp_ring_view *v;
    struct tp_ring_entry e;
    struct image x, y;
    uint64_t lost = 0;
    (void)state;
    peer_open(&compositor);
    light_up(&compositor);
    image_make(&x, &compositor, 41);
    image_make(&y, &compositor, 0); /* a compositor's own */
    guest_join(&guest, ALL_CAPS);
    assert_int_equal(guest_register(&guest, &x), 0);
    assert_int_equal(tp_server_census(server, out, TP_SERVER_RINGS), 1);
    assert_int_equal(tp_ring_open(out[0].fd, &v), 0);
    close(out[0].fd);
    uint64_t first = show(&compositor, &x);
    tick();
    panel_shown(first);
    uint64_t next = show(&compositor, &y);
    tick();
    panel_shown(next);
    panel_released(first, 0, -1);
    tp_server_census_settle(server);
    unsigned shown = 0, refreshes = 0;
    while (tp_ring_next(v, &e, &lost)) {
        refreshes += e.kind == TP_RING_REFRESH && e.refresh.serial == first;
        if (e.kind != TP_RING_PICTURE)
            continue;
        bool is_x = e.picture.serial == first;
        if (is_x || e.picture.serial == next) {
            assert_int_equal(e.picture.n_layers, 1);
            assert_int_equal(e.picture.layers[0].generation, is_x ? 41 : 0);
            assert_true(tp_identity_equal(&e.picture.layers[0].identity,
                is_x ? &x.name.identity : &y.name.identity));
            assert_true(e.picture.committed_ns <= e.picture.published_ns);
            shown++;
        }
    }
    assert_int_equal(shown, 3);
    assert_true(refreshes > 0);
    assert_int_equal(tp_ring_look(v, TP_GAUGE_COUNTS + TP_COUNT_NOTES_PENDING), 1);
    assert_int_equal(tp_ring_look(v, TP_GAUGE_COUNTS + TP_COUNT_NOTES_FINAL), 1);
    assert_int_equal(tp_ring_look(v, TP_GAUGE_WATCHED), 0);
    tp_ring_close(v);
    guest_leave(&guest);
    image_finish(&x);
    image_finish(&y);
    peer_close(&compositor);
}

/* Who reads has the memory as long as he likes. */
static void a_reader_outlives_the_server(void **state)
{
    struct tp_census_ring out[TP_SERVER_RINGS];
    struct tp_ring_view *v;
    (void)state;
    assert_int_equal(tp_server_census(server, out, TP_SERVER_RINGS), 1);
    assert_int_equal(tp_ring_open(out[0].fd, &v), 0);
    close(out[0].fd);
    tick();
    tp_server_destroy(server);
    assert_int_equal(tp_ring_look(v, TP_GAUGE_ENDED), 1);
    tp_ring_close(v);
    start_server(&(struct tp_server_config){.path = NULL});
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_server, teardown_server)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_guests_ring_is_listed_until_it_has_ended),
        TEST(the_same_number_again_takes_its_place),
        TEST(with_a_guest_its_rings_go),
        TEST(a_guest_that_has_not_said_census_may_not_bring_any),
        TEST(what_is_no_ring_is_refused),
        TEST(a_frame_with_other_descriptors_than_one_is_refused),
        TEST(a_thousand_rings_are_one_connections_sixteen),
        cmocka_unit_test_setup_teardown(
            past_the_limit_of_all_rings_guests_draw_on_unseen, few_rings, teardown_server),
        TEST(without_descriptors_fewer_are_lent),
        TEST(a_tool_is_lent_all_rings_some_at_a_time),
        TEST(a_question_that_is_cut_is_answered_so),
        TEST(a_tool_that_never_reads_is_dropped),
        TEST(a_screens_ring_names_the_guests_buffers),
        TEST(a_reader_outlives_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
