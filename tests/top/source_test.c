/* A server's control connection, as top sees it. The server is played here, by hand, with real
 * rings. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "frames/census/join.h"
#include "frames/census/ring.h"
#include "top/source.h"

#define SECOND INT64_C(1000000000)
#define T INT64_C(16666667)

static struct {
    int listener, fd;
    char address[64];
    struct tp_ring *rings[40];
    uint32_t pids[40]; /* 0: the server's own */
    unsigned n_rings;
    struct tp_top_model *model;
    struct tp_top_source *source;
    int64_t now_ns;
    int result;                     /* that a change is answered with */
    struct tp_setting_frame change; /* the last one that was asked for */
    unsigned questions;
    bool old; /* one that has no live records to lend */
} x;

static void listen_here(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t n = strlen(x.address);
    memcpy(a.sun_path, x.address, n);
    a.sun_path[0] = '\0';
    x.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(x.listener, (struct sockaddr *)&a,
                         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)),
        0);
    assert_int_equal(listen(x.listener, 4), 0);
}

static int begin(void **state)
{
    (void)state;
    memset(&x, 0, sizeof x);
    x.fd = x.listener = -1;
    x.now_ns = 100 * SECOND;
    snprintf(x.address, sizeof x.address, "@top-source-test-%d", (int)getpid());
    x.model = tp_top_model_create(10 * SECOND);
    assert_int_equal(tp_top_source_create(x.address, x.model, &x.source, NULL), 0);
    return 0;
}

static void end_server(void)
{
    if (x.fd >= 0)
        close(x.fd);
    if (x.listener >= 0)
        close(x.listener);
    x.fd = x.listener = -1;
    for (unsigned i = 0; i < x.n_rings; i++)
        tp_ring_destroy(x.rings[i]);
    x.n_rings = 0;
}

static int end(void **state)
{
    (void)state;
    end_server();
    tp_top_source_destroy(x.source);
    tp_top_model_destroy(x.model);
    return 0;
}

/* --- the server's side --- */

static void answer(
    uint32_t fourcc, uint32_t sequence, const void *bytes, size_t n, const int *fds, unsigned n_fds)
{
    const struct iovec part = {(void *)(uintptr_t)bytes, n};
    assert_int_equal(tp_frame_send_now(x.fd, fourcc, 0, sequence, &part, 1, fds, n_fds), 0);
}

static void answer_rings(const struct tp_frame *f)
{
    uint32_t first, words[2 + 2 * 15] = {0, x.n_rings};
    int fds[15];
    unsigned n = 0;
    memcpy(&first, f->payload, sizeof first);
    for (unsigned i = first; i < x.n_rings && n < 15; i++, n++) {
        words[2 + 2 * n] = i + 1;
        words[3 + 2 * n] = x.pids[i];
        fds[n] = tp_ring_fd(x.rings[i]);
    }
    x.questions++;
    answer(f->fourcc, f->sequence, words, (2 + 2 * n) * sizeof *words, fds, n);
}

static void serve_frame(struct tp_frame *f)
{
    const struct tp_hello hello = {.version = TP_WIRE_VERSION,
        .oldest = TP_WIRE_OLDEST,
        .kind = TP_HELLO_CONTROL,
        .capabilities = x.old ? 0 : TP_CAP_CENSUS};
    struct tp_scanout_frame setting;
    int32_t words[2] = {x.result, 0};
    if (f->fourcc == TP_FRAME_HELLO) {
        answer(TP_FRAME_HELLO, 0, &hello, sizeof hello, NULL, 0);
    } else if (f->fourcc == TP_FRAME_CENSUS) {
        answer_rings(f);
    } else if (f->fourcc == TP_FRAME_SETTING) {
        assert_int_equal(tp_scanout_decode(f, true, &setting), 0);
        x.change = setting.u.setting;
        answer(TP_FRAME_SETTING, f->sequence, words, sizeof words, NULL, 0);
    }
}

/* Both sides have had their turns, and 100 ms pass. */
static void turn(void)
{
    static uint8_t buffer[TP_FRAME_BYTES];
    struct tp_frame f;
    for (unsigned i = 0; i < 8; i++) {
        tp_top_source_turn(x.source, x.now_ns);
        if (x.fd < 0 && x.listener >= 0)
            x.fd = accept4(x.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        while (x.fd >= 0 && tp_frame_recv_now(x.fd, buffer, &f) == 0) {
            serve_frame(&f);
            tp_frame_finish(&f);
        }
    }
    x.now_ns += SECOND / 10;
}

static void turns(unsigned n)
{
    while (n-- > 0)
        turn();
}

static struct tp_ring *add_ring(enum tp_ring_producer producer, const char *name)
{
    struct tp_ring *r;
    assert_int_equal(tp_ring_create(producer, name, &r), 0);
    x.pids[x.n_rings] = producer == TP_RING_SCREEN ? 0 : 1000 + x.n_rings;
    x.rings[x.n_rings++] = r;
    return r;
}

static void add_screen(void)
{
    struct tp_ring *r = add_ring(TP_RING_SCREEN, "Virtual-1");
    tp_ring_gauge(r, TP_GAUGE_WIDTH, 1920);
    tp_ring_gauge(r, TP_GAUGE_REFRESH_MHZ, 60000);
    tp_ring_gauge(r, TP_GAUGE_WATCHED, 1);
}

/* A frame that its guest was told of: it needs no picture of the server's. */
static void put_frame(struct tp_ring *r, uint64_t number, int64_t line_ns)
{
    struct tp_ring_entry e = {.kind = TP_RING_FRAME, .frame.fed_back = true};
    struct tp_frame_record *f = &e.frame.record;
    for (int64_t *at = &f->begin_ns; at <= &f->told_ns; at++)
        *at = TP_NEVER;
    f->slot_wait_ns = f->release_wait_ns = f->gate_wait_ns = 0;
    f->number = number;
    f->sequence = (uint64_t)(line_ns / T);
    f->refresh_mhz = 60000;
    f->begin_ns = f->asked_ns = f->gate_ns = f->acquired_ns = line_ns - 30000000;
    f->presented_ns = f->committed_ns = line_ns - 20000000;
    f->line_ns = line_ns;
    tp_ring_put(r, &e);
}

static const struct tp_top_snapshot *see(void)
{
    return tp_top_update(x.model, x.now_ns);
}

/* --- tests --- */

static void the_rings_of_a_server_become_screens_and_guests(void **state)
{
    (void)state;
    listen_here();
    add_screen();
    struct tp_ring *game = add_ring(TP_RING_SWAPCHAIN, "game");
    tp_ring_gauge(game, TP_GAUGE_CAP_MHZ, 30000);
    for (int64_t i = 0; i < 120; i++)
        put_frame(game, (uint64_t)i, 99 * SECOND + i * T);
    assert_int_equal(tp_top_source_link(x.source), TP_TOP_WAITING);
    turns(3);
    assert_int_equal(tp_top_source_link(x.source), TP_TOP_LIVE);
    assert_int_equal(tp_top_source_pid(x.source), getpid());
    assert_int_equal(tp_top_source_fails(x.source, NULL), 0);
    turns(12); /* until the join has given up on pictures for these frames */
    const struct tp_top_snapshot *s = see();
    assert_int_equal(s->n_screens, 1);
    assert_int_equal(s->screens[0].width_px, 1920);
    assert_int_equal(s->n_guests, 1);
    assert_string_equal(s->guests[0]->name, "game");
    assert_int_equal(s->guests[0]->pid, 1001);
    assert_int_equal(s->guests[0]->cap_mhz, 30000);
    assert_true(s->guests[0]->fps > 59 && s->guests[0]->fps < 61);
    tp_ring_gauge(game, TP_GAUGE_CAP_MHZ, 45000);
    turn();
    assert_int_equal(see()->guests[0]->cap_mhz, 45000);
}

static void more_rings_than_one_answer_holds_are_all_found(void **state)
{
    (void)state;
    listen_here();
    for (unsigned i = 0; i < 35; i++)
        add_ring(TP_RING_SWAPCHAIN, "game");
    turns(3);
    assert_int_equal(see()->n_guests, 35);
    assert_int_equal(x.questions, 3);
}

static void guests_come_and_go(void **state)
{
    (void)state;
    listen_here();
    add_screen();
    turns(3);
    assert_int_equal(see()->n_guests, 0);
    add_ring(TP_RING_SWAPCHAIN, "game");
    turns(12);
    assert_int_equal(see()->n_guests, 1);
    tp_ring_destroy(x.rings[--x.n_rings]);
    turns(12);
    assert_int_equal(see()->n_guests, 0);
}

static void a_change_goes_out_and_its_answer_comes_once(void **state)
{
    (void)state;
    const struct tp_setting_frame cap = {TP_SETTING_CAP, 0, 45000};
    int result;
    assert_int_equal(tp_top_source_set(x.source, &cap), -ENOTCONN);
    listen_here();
    turns(12);
    assert_int_equal(tp_top_source_set(x.source, &cap), 0);
    assert_false(tp_top_source_answer(x.source, &result));
    turn();
    assert_int_equal(x.change.setting, TP_SETTING_CAP);
    assert_int_equal(x.change.value, 45000);
    assert_true(tp_top_source_answer(x.source, &result));
    assert_int_equal(result, 0);
    assert_false(tp_top_source_answer(x.source, &result));
    x.result = -EPERM;
    tp_top_source_set(x.source, &cap);
    turn();
    assert_true(tp_top_source_answer(x.source, &result));
    assert_int_equal(result, -EPERM);
}

static void a_server_that_ends_is_looked_for_and_the_next_begins_anew(void **state)
{
    (void)state;
    listen_here();
    add_screen();
    add_ring(TP_RING_SWAPCHAIN, "first");
    turns(3);
    assert_string_equal(see()->guests[0]->name, "first");
    end_server();
    turns(12);
    assert_int_equal(tp_top_source_link(x.source), TP_TOP_LOST);
    assert_int_equal(tp_top_source_fd(x.source), -1);
    assert_true(tp_top_source_fails(x.source, NULL) < 0);
    assert_int_equal(see()->n_guests, 1); /* its last numbers */
    listen_here();
    add_ring(TP_RING_SWAPCHAIN, "second");
    turns(12);
    assert_int_equal(tp_top_source_link(x.source), TP_TOP_LIVE);
    assert_int_equal(see()->n_guests, 1);
    assert_string_equal(see()->guests[0]->name, "second");
    assert_int_equal(see()->n_screens, 0);
}

static void what_is_asked_of_a_server_that_ends_fails(void **state)
{
    (void)state;
    const struct tp_setting_frame cap = {TP_SETTING_CAP, 0, 45000};
    int result;
    listen_here();
    turns(3);
    assert_int_equal(tp_top_source_set(x.source, &cap), 0);
    end_server();
    turn();
    assert_true(tp_top_source_answer(x.source, &result));
    assert_true(result < 0);
}

static void why_there_is_no_server_is_told(void **state)
{
    (void)state;
    struct tp_error e = {0};
    turn();
    assert_true(tp_top_source_fails(x.source, &e) < 0);
    assert_string_equal(e.what, "there is no server");
    assert_int_equal(e.status, TP_STATUS_INPUT);
    assert_non_null(strstr(e.todo, "turnpike serve"));
}

static void an_older_server_is_told_apart(void **state)
{
    (void)state;
    struct tp_error e = {0};
    x.old = true;
    listen_here();
    turns(3);
    assert_int_equal(tp_top_source_fails(x.source, &e), -ENOTSUP);
    assert_non_null(strstr(e.what, "does not lend"));
}

static void a_name_that_no_socket_has_is_refused(void **state)
{
    (void)state;
    struct tp_top_source *s;
    char name[200];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(tp_top_source_create(name, x.model, &s, NULL), -EINVAL);
    assert_int_equal(tp_top_source_create("@", x.model, &s, NULL), -EINVAL);
    assert_int_equal(tp_top_source_create("", x.model, &s, NULL), -EINVAL);
    assert_null(s);
}

static void somebody_who_listens_is_seen(void **state)
{
    (void)state;
    assert_false(tp_top_source_answers(x.address));
    assert_false(tp_top_source_answers(""));
    listen_here();
    assert_true(tp_top_source_answers(x.address));
}

/* What no server of ours says. */
static void answers_that_cannot_be_end_the_connection(void **state)
{
    (void)state;
    static const struct {
        uint32_t fourcc;
        uint32_t words[4];
        size_t n;
    } bad[] = {
        {TP_FRAME_CENSUS, {0}, 4}, {TP_FRAME_CENSUS, {0, 1}, 8}, {TP_FRAME_HELLO, {1, 1}, 8}};
    listen_here();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        turns(12);
        assert_int_equal(tp_top_source_link(x.source), TP_TOP_LIVE);
        answer(bad[i].fourcc, 0, bad[i].words, bad[i].n, NULL, 0);
        tp_top_source_turn(x.source, x.now_ns);
        tp_top_source_turn(x.source, x.now_ns);
        assert_int_equal(tp_top_source_link(x.source), TP_TOP_LOST);
        close(x.fd);
        x.fd = -1;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            the_rings_of_a_server_become_screens_and_guests, begin, end),
        cmocka_unit_test_setup_teardown(more_rings_than_one_answer_holds_are_all_found, begin, end),
        cmocka_unit_test_setup_teardown(guests_come_and_go, begin, end),
        cmocka_unit_test_setup_teardown(a_change_goes_out_and_its_answer_comes_once, begin, end),
        cmocka_unit_test_setup_teardown(
            a_server_that_ends_is_looked_for_and_the_next_begins_anew, begin, end),
        cmocka_unit_test_setup_teardown(what_is_asked_of_a_server_that_ends_fails, begin, end),
        cmocka_unit_test_setup_teardown(why_there_is_no_server_is_told, begin, end),
        cmocka_unit_test_setup_teardown(an_older_server_is_told_apart, begin, end),
        cmocka_unit_test_setup_teardown(a_name_that_no_socket_has_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(somebody_who_listens_is_seen, begin, end),
        cmocka_unit_test_setup_teardown(answers_that_cannot_be_end_the_connection, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
