/* Scan-out connections on the server's sockets: who is told what of his buffers, and who is not. */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"
#include "frames/server/control.h"

static struct peer compositor;
static struct guest guest, other;
static struct image x, y, z;

static void begin(void)
{
    peer_open(&compositor);
    light_up(&compositor);
    image_make(&x, &compositor, 5);
    image_make(&y, &compositor, 6);
    image_make(&z, &compositor, 7);
}

static void end(void)
{
    image_finish(&x);
    image_finish(&y);
    image_finish(&z);
    peer_close(&compositor);
}

/* A guest that has x and y. */
static void join_with(struct guest *g, uint64_t capabilities)
{
    guest_join(g, capabilities);
    assert_int_equal(guest_register(g, &x), 0);
    assert_int_equal(guest_register(g, &y), 0);
    guest_drain(g);
}

/* A fence that signals when the other end is closed. */
static int make_fence(int *signal)
{
    int ends[2];
    assert_int_equal(tp_fence_pair(ends), 0);
    *signal = ends[0];
    return ends[1];
}

static bool has_signalled(int fence)
{
    struct pollfd p = {.fd = fence, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

static struct tp_server_counts counts(void)
{
    struct tp_server_counts c;
    tp_server_count(server, &c);
    return c;
}

static struct tp_server_notes notes(void)
{
    struct tp_server_notes n;
    tp_server_notes(server, &n);
    return n;
}

/* --- what is told --- */

static void a_guest_gets_a_board_and_the_last_refresh(void **state)
{
    struct tp_frame frame;
    struct tp_scanout_frame f;
    (void)state;
    tick();
    guest_join(&guest, ALL_CAPS);
    assert_true(guest.has_board);
    assert_true(guest.capabilities == ALL_CAPS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tp_frame_recv(guest.sock, guest.in, &frame), 0);
        assert_int_equal(tp_scanout_decode(&frame, true, &f), 0);
        assert_int_equal(f.fourcc, TP_FRAME_TIMELINE);
        assert_true(f.u.timeline.sequence == last_sequence());
        assert_int_equal(f.u.timeline.period_ns, 16666666);
        assert_int_equal(f.u.timeline.lead_ns, 1000000);
        assert_int_equal(f.u.timeline.pipeline, 1);
        assert_false(f.u.timeline.stopped);
        tick();
    }
    guest_leave(&guest);
}

static void a_buffers_life_is_on_the_board_and_in_notes(void **state)
{
    int signal, fence;
    (void)state;
    begin();
    join_with(&guest, ALL_CAPS);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_FREE);
    uint64_t first = show(&compositor, &x);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_SHOWN);
    expect_nothing(&guest);
    show(&compositor, &y);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_REPLACED);
    assert_int_equal(state_of(&guest, &y), TP_BOARD_SHOWN);
    struct tp_note note = expect_note(&guest, &x, TP_NOTE_PENDING, NULL);
    assert_true(note.serial == first && note.layer == 0);
    assert_int_equal(tp_board_state_of(note.low), TP_BOARD_REPLACED);
    panel_released(first, 0, make_fence(&signal));
    assert_int_equal(state_of(&guest, &x), TP_BOARD_FENCED);
    note = expect_note(&guest, &x, TP_NOTE_FINAL, &fence);
    assert_int_equal(note.kind, TP_FENCE_POLL);
    assert_false(has_signalled(fence));
    close(signal);
    pump();
    assert_true(has_signalled(fence));
    assert_int_equal(state_of(&guest, &x), TP_BOARD_FREE);
    expect_nothing(&guest);
    assert_true(notes().pending == 1 && notes().final == 1 && notes().lost == 0);
    assert_int_equal(counts().release_fences, 0);
    close(fence);
    guest_leave(&guest);
    end();
}

static void a_fence_that_has_signalled_is_none(void **state)
{
    int signal;
    (void)state;
    begin();
    join_with(&guest, ALL_CAPS);
    uint64_t first = show(&compositor, &x);
    show(&compositor, &y);
    int fence = make_fence(&signal);
    close(signal);
    panel_released(first, 0, fence);
    expect_note(&guest, &x, TP_NOTE_PENDING, NULL);
    assert_int_equal(expect_note(&guest, &x, TP_NOTE_FINAL, NULL).kind, TP_FENCE_NONE);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_FREE);
    guest_leave(&guest);
    end();
}

static void one_that_is_dropped_unshown_does_not_release_what_it_replaced(void **state)
{
    (void)state;
    begin();
    join_with(&guest, ALL_CAPS);
    uint64_t first = show(&compositor, &x), second = show(&compositor, &y);
    show(&compositor, &z);
    panel_released(second, 0, -1); /* never shown */
    assert_int_equal(state_of(&guest, &y), TP_BOARD_FREE);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_REPLACED);
    panel_released(first, 0, -1);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_FREE);
    guest_leave(&guest);
    end();
}

static void a_picture_that_is_refused_changes_nothing(void **state)
{
    struct drm_event_vblank e;
    (void)state;
    begin();
    join_with(&guest, ALL_CAPS);
    show(&compositor, &x);
    publish_answers = -EAGAIN;
    tick();
    assert_int_equal(page_flip(&compositor, y.fb, 0), 0);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_SHOWN);
    assert_int_equal(state_of(&guest, &y), TP_BOARD_FREE);
    assert_int_equal(peer_event(&compositor, &e), -EAGAIN);
    publish_answers = 0;
    tick();
    assert_int_equal(peer_event(&compositor, &e), sizeof e);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_REPLACED);
    assert_int_equal(state_of(&guest, &y), TP_BOARD_SHOWN);
    guest_leave(&guest);
    end();
}

static void flips_keep_their_timing_whatever_the_release_does(void **state)
{
    struct image *images[3] = {&x, &y, &z};
    int signals[2] = {-1, -1}; /* of fences that are one and two refreshes old */
    uint64_t shown = 0;
    int64_t last_us = 0;
    (void)state;
    begin();
    join_with(&guest, ALL_CAPS);
    assert_int_equal(guest_register(&guest, &z), 0);
    uint32_t last = 0;
    for (int i = 0; i < 120; i++) {
        struct drm_event_vblank e;
        assert_int_equal(page_flip(&compositor, images[i % 3]->fb, 0), 0);
        assert_int_equal(peer_event(&compositor, &e), sizeof e); /* with no release at all */
        int64_t us = (int64_t)e.tv_sec * 1000000 + e.tv_usec;
        if (i > 0) {
            assert_int_equal(e.sequence, last + 1);
            assert_in_range(us - last_us, 16666, 16667);
            assert_int_equal(state_of(&guest, images[(i + 2) % 3]), TP_BOARD_REPLACED);
        }
        last = e.sequence;
        last_us = us;
        if (signals[1] >= 0)
            close(signals[1]);
        signals[1] = signals[0];
        signals[0] = -1;
        if (i > 0) {
            panel_released(shown, 0, make_fence(&signals[0]));
            assert_int_equal(state_of(&guest, images[(i + 2) % 3]), TP_BOARD_FENCED);
        }
        shown = published.serial;
        tick();
        guest_drain(&guest);
    }
    for (int i = 0; i < 2; i++)
        close(signals[i]);
    guest_leave(&guest);
    end();
}

/* --- who is told --- */

static void an_old_peer_gets_answers_and_nothing_else(void **state)
{
    (void)state;
    begin();
    join_with(&guest, 0);
    assert_false(guest.has_board);
    uint64_t first = show(&compositor, &x);
    show(&compositor, &y);
    panel_released(first, 0, -1);
    assert_int_equal(guest_drain(&guest), 0);
    assert_true(notes().pending == 0 && notes().final == 0);
    guest_leave(&guest);
    end();
}

static void notes_go_without_a_board_and_a_board_without_notes(void **state)
{
    (void)state;
    begin();
    join_with(&guest, TP_CAP_RELEASE_FENCE);
    join_with(&other, TP_CAP_BOARD);
    assert_false(guest.has_board);
    assert_true(other.has_board);
    uint64_t first = show(&compositor, &x);
    show(&compositor, &y);
    panel_released(first, 0, -1);
    assert_int_equal(expect_note(&guest, &x, TP_NOTE_PENDING, NULL).kind, TP_FENCE_NONE);
    assert_int_equal(
        tp_board_state_of(expect_note(&guest, &x, TP_NOTE_FINAL, NULL).low), TP_BOARD_FREE);
    assert_int_equal(guest_drain(&other), 0);
    assert_int_equal(state_of(&other, &x), TP_BOARD_FREE);
    assert_int_equal(state_of(&other, &y), TP_BOARD_SHOWN);
    guest_leave(&other);
    guest_leave(&guest);
    end();
}

static void a_state_is_told_on_request(void **state)
{
    struct tp_scanout_frame f = {.fourcc = TP_FRAME_STATE, .fd = -1};
    int signal;
    (void)state;
    begin();
    join_with(&guest, TP_CAP_STATE);
    uint64_t first = show(&compositor, &x);
    show(&compositor, &y);
    panel_released(first, 0, make_fence(&signal));
    f.u.state.buffer = x.name;
    guest_send(&guest, &f);
    assert_true(guest_next(&guest, &f));
    assert_int_equal(f.sequence, guest.sequence);
    assert_true(f.u.state.known && f.u.state.kind == TP_FENCE_POLL && f.fd >= 0);
    tp_scanout_finish(&f);
    f = (struct tp_scanout_frame){.fourcc = TP_FRAME_STATE, .fd = -1};
    f.u.state.buffer.index = TP_BUFFER_NO_INDEX;
    guest_send(&guest, &f);
    assert_int_equal(guest_drain(&guest), 2);
    f = (struct tp_scanout_frame){.fourcc = TP_FRAME_STATE, .fd = -1};
    f.u.state.buffer = x.name;
    f.u.state.buffer.generation++;
    guest_send(&guest, &f);
    assert_true(guest_next(&guest, &f));
    assert_false(f.u.state.known);
    close(signal);
    guest_leave(&guest);
    end();
}

static void a_slow_guest_holds_up_nobody_and_hears_how_things_stand(void **state)
{
    struct tp_scanout_frame f;
    uint64_t shown = 0;
    uint32_t low[2] = {0};
    bool resynced = false;
    (void)state;
    begin();
    join_with(&guest, ALL_CAPS);
    join_with(&other, ALL_CAPS);
    for (int i = 0; i < 1000; i++) {
        uint64_t serial = show(&compositor, i % 2 ? &y : &x);
        if (shown)
            panel_released(shown, 0, -1);
        shown = serial;
        guest_drain(&other);
        assert_int_equal(state_of(&guest, i % 2 ? &y : &x), TP_BOARD_SHOWN); /* it is told so */
        assert_int_equal(state_of(&guest, i % 2 ? &x : &y), TP_BOARD_FREE);
    }
    assert_true(notes().lost > 0);
    unsigned unread = 0;
    for (int turns = 0; turns < 10; turns++, pump()) {
        while (guest_next(&guest, &f)) {
            unread++;
            assert_int_equal(f.fourcc, TP_FRAME_NOTE);
            resynced |= (f.flags & TP_SCANOUT_RESYNC) != 0;
            low[f.u.note.buffer.index] = f.u.note.low;
            tp_scanout_finish(&f);
        }
    }
    assert_in_range(unread, 10, 150); /* of 2000 */
    assert_true(resynced && notes().resynced > 0);
    assert_int_equal(tp_board_state_of(low[x.name.index]), TP_BOARD_FREE);
    show(&compositor, &x); /* and again as before */
    expect_note(&guest, &y, TP_NOTE_PENDING, NULL);
    guest_leave(&other);
    guest_leave(&guest);
    end();
}

static void a_dead_guests_buffers_and_fences_are_let_go(void **state)
{
    int signal;
    (void)state;
    begin();
    unsigned before = n_descriptors();
    join_with(&guest, ALL_CAPS);
    uint64_t first = show(&compositor, &x);
    show(&compositor, &y);
    panel_released(first, 0, make_fence(&signal));
    assert_int_equal(counts().registered, 2);
    guest_leave(&guest);
    assert_int_equal(counts().guests, 0);
    assert_int_equal(counts().registered, 0);
    assert_int_equal(n_descriptors(), before + 2); /* the fence's ends: the panel still reads */
    close(signal);
    show(&compositor, &x); /* nobody listens for it now, and still it goes */
    assert_int_equal(counts().release_fences, 0);
    assert_int_equal(n_descriptors(), before);
    end();
}

static void a_guest_that_comes_back_to_another_server_is_told_all(void **state)
{
    (void)state;
    begin();
    join_with(&guest, ALL_CAPS);
    show(&compositor, &x);
    tp_server_destroy(server);
    start_server(NULL);
    guest_drain(&guest);
    assert_true(hung_up(guest.sock));
    guest_leave(&guest);
    end();
    begin();
    uint64_t first = show(&compositor, &x);
    show(&compositor, &y);
    guest_join(&guest, ALL_CAPS);
    x.name.index = y.name.index = TP_BUFFER_NO_INDEX;
    assert_int_equal(guest_register(&guest, &x), 0);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_REPLACED);
    struct tp_note note = expect_note(&guest, &x, TP_NOTE_PENDING, NULL);
    assert_true(note.serial == first);
    assert_int_equal(guest_register(&guest, &y), 0);
    assert_int_equal(state_of(&guest, &y), TP_BOARD_SHOWN);
    guest_leave(&guest);
    end();
}

/* --- what ends --- */

static void a_screen_that_is_away_frees_all_and_one_that_is_back_shows_again(void **state)
{
    struct tp_frame frame;
    struct tp_scanout_frame f = {.fourcc = 0};
    (void)state;
    begin();
    join_with(&guest, ALL_CAPS);
    show(&compositor, &x);
    show(&compositor, &y);
    guest_drain(&guest);
    panel_away(true);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_FREE);
    assert_int_equal(state_of(&guest, &y), TP_BOARD_FREE);
    while (f.fourcc != TP_FRAME_TIMELINE) {
        assert_int_equal(tp_frame_recv(guest.sock, guest.in, &frame), 0);
        assert_int_equal(tp_scanout_decode(&frame, true, &f), 0);
    }
    assert_true(f.u.timeline.stopped);
    show(&compositor, &x); /* the client goes on */
    assert_int_equal(state_of(&guest, &x), TP_BOARD_FREE);
    panel_away(false);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_SHOWN);
    assert_int_equal(state_of(&guest, &y), TP_BOARD_FREE);
    publish_answers = -ENODEV; /* gone, and nobody has said so */
    struct drm_event_vblank e;
    assert_int_equal(page_flip(&compositor, y.fb, 0), 0);
    tick();
    assert_int_equal(peer_event(&compositor, &e), sizeof e);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_FREE);
    assert_int_equal(state_of(&guest, &y), TP_BOARD_FREE);
    panel_away(true);
    panel_away(false); /* and has nothing to show */
    assert_int_equal(state_of(&guest, &x), TP_BOARD_FREE);
    guest_leave(&guest);
    end();
}

/* Comes back while the picture is on its way. */
static void come_back(const struct tp_kms_scanout *s)
{
    (void)s;
    panel_away(false);
    on_publish = NULL;
}

static void a_screen_that_comes_back_under_a_picture_has_it_on_the_board(void **state)
{
    struct drm_event_vblank e;
    (void)state;
    begin();
    join_with(&guest, ALL_CAPS);
    panel_away(true);
    on_publish = come_back;
    tick();
    assert_int_equal(page_flip(&compositor, x.fb, 0), 0);
    assert_int_equal(peer_event(&compositor, &e), sizeof e);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_SHOWN);
    guest_leave(&guest);
    end();
}

static sem_t blanked;
static struct tp_kms_scanout blank;

static void on_blank(const struct tp_kms_scanout *s)
{
    blank = *s;
    sem_post(&blanked);
}

/* Turns of the loop until its publisher has been given a picture of nothing; no longer than 20 s.
 */
static void await_blank(void)
{
    int64_t until = tp_now_ns() + INT64_C(20000000000);
    sem_init(&blanked, 0, 0);
    on_publish = on_blank;
    while (sem_trywait(&blanked) < 0 && tp_now_ns() < until)
        assert_int_equal(tp_server_dispatch(server, 20), 0);
    on_publish = NULL;
    sem_destroy(&blanked);
    assert_int_equal(blank.n_layers, 0);
    assert_true(blank.active);
}

static void a_silent_fence_brings_a_blank_and_then_all_is_free(void **state)
{
    int signal;
    (void)state;
    begin();
    join_with(&guest, ALL_CAPS);
    uint64_t first = show(&compositor, &x), second = show(&compositor, &y);
    panel_released(first, 0, make_fence(&signal));
    assert_int_equal(state_of(&guest, &x), TP_BOARD_FENCED);
    await_blank();
    assert_true(blank.serial > second);
    assert_int_equal(state_of(&guest, &y), TP_BOARD_REPLACED);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_FENCED);
    panel_shown(blank.serial);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_FREE);
    assert_int_equal(state_of(&guest, &y), TP_BOARD_FREE);
    assert_int_equal(counts().release_fences, 0);
    close(signal);
    struct tp_server_shown shown;
    tp_server_shown(server, 0, &shown);
    assert_true(shown.frames == 0); /* of a client's */
    show(&compositor, &z);          /* and clients go on */
    guest_leave(&guest);
    end();
}

static void a_panel_that_shows_no_blank_either_keeps_nothing(void **state)
{
    int64_t until = tp_now_ns() + INT64_C(20000000000);
    (void)state;
    begin();
    join_with(&guest, ALL_CAPS);
    show(&compositor, &x);
    show(&compositor, &y);
    publish_answers = -EIO;
    while (state_of(&guest, &x) != TP_BOARD_FREE && tp_now_ns() < until)
        assert_int_equal(tp_server_dispatch(server, 20), 0);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_FREE);
    assert_int_equal(state_of(&guest, &y), TP_BOARD_SHOWN); /* it still is */
    publish_answers = 0;
    guest_leave(&guest);
    end();
}

/* --- wrong things --- */

static void memory_that_is_not_what_it_is_called_is_refused(void **state)
{
    int pipes[2];
    (void)state;
    begin();
    guest_join(&guest, ALL_CAPS);
    unsigned before = n_descriptors();
    struct image lie = x;
    lie.memory = y.memory;
    assert_int_equal(guest_register(&guest, &lie), -EINVAL);
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    struct stat st;
    assert_int_equal(fstat(pipes[0], &st), 0);
    lie.memory = pipes[0]; /* by its own name */
    lie.name.identity = (struct tp_identity){st.st_dev, st.st_ino};
    assert_int_equal(guest_register(&guest, &lie), -EINVAL);
    lie.name = x.name;
    lie.memory = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_int_equal(guest_register(&guest, &lie), -EINVAL);
    close(lie.memory);
    close(pipes[0]);
    close(pipes[1]);
    assert_int_equal(n_descriptors(), before);
    assert_int_equal(guest_register(&guest, &x), 0); /* it goes on */
    assert_int_equal(counts().registered, 1);
    guest_leave(&guest);
    end();
}

static void what_a_later_version_says_is_left_alone(void **state)
{
    uint8_t payload[64] = {0};
    int fds[2];
    (void)state;
    begin();
    guest_join(&guest, ALL_CAPS);
    unsigned before = n_descriptors();
    fds[0] = fds[1] = x.memory;
    guest_say(&guest, TP_FOURCC('T', 'N', 'E', 'W'), 0, payload, 20, fds, 2);
    payload[0] = 77; /* a setting */
    guest_say(&guest, TP_FRAME_SETTING, 0, payload, 16, NULL, 0);
    struct tp_scanout_frame f = {.fourcc = TP_FRAME_REGISTER, .u.reg.buffer = x.name};
    tp_scanout_encode(&f, payload);
    guest_say(&guest, TP_FRAME_REGISTER, 0, payload, sizeof payload, &x.memory, 1);
    assert_true(guest_next(&guest, &f));
    assert_int_equal(f.u.reg.result, 0);
    assert_int_equal(n_logged, 0);
    assert_int_equal(n_descriptors(), before + 1); /* its memory */
    guest_leave(&guest);
    end();
}

static void wrong_frames_cost_the_connection_and_one_line(void **state)
{
    static const struct {
        uint32_t fourcc, flags;
        size_t bytes;
        unsigned n_fds;
    } wrong[] = {
        {TP_FRAME_REGISTER, 0, 24, 0}, {TP_FRAME_REGISTER, 0, 24, 2}, {TP_FRAME_REGISTER, 0, 23, 1},
        {TP_FRAME_REGISTER, TP_SCANOUT_ANSWER, 32, 0}, {TP_FRAME_UNREGISTER, 0, 24, 1},
        {TP_FRAME_UNREGISTER, 0, 0, 0}, {TP_FRAME_STATE, 0, 24, 1},
        {TP_FRAME_STATE, TP_SCANOUT_ANSWER, 40, 0}, {TP_FRAME_NOTE, 0, 48, 0},
        {TP_FRAME_TIMELINE, 0, 48, 0}, {TP_FRAME_SETTING, 0, 15, 0}, {TP_FRAME_SETTING, 0, 16, 1},
        {TP_FRAME_HELLO, 0, 24, 16}, /* a second hello is nothing that is known: left alone */
    };
    uint8_t payload[64];
    int fds[TP_FRAME_FDS];
    (void)state;
    begin();
    for (unsigned i = 0; i < TP_FRAME_FDS; i++)
        fds[i] = x.memory;
    unsigned before = n_descriptors();
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        guest_join(&guest, ALL_CAPS);
        n_logged = 0;
        memset(payload, wrong[i].fourcc != TP_FRAME_SETTING, sizeof payload);
        payload[0] = 1;
        guest_say(
            &guest, wrong[i].fourcc, wrong[i].flags, payload, wrong[i].bytes, fds, wrong[i].n_fds);
        guest_drain(&guest);
        bool left_alone = wrong[i].fourcc == TP_FRAME_HELLO;
        if (hung_up(guest.sock) == left_alone || n_logged != !left_alone)
            fail_msg("frame %u", i);
        guest_leave(&guest);
        assert_int_equal(n_descriptors(), before);
    }
    end();
}

static void only_what_was_said_in_the_hello_may_be_asked(void **state)
{
    struct tp_scanout_frame ask = {.fourcc = TP_FRAME_STATE, .fd = -1};
    struct tp_scanout_frame set = {
        .fourcc = TP_FRAME_SETTING, .fd = -1, .u.setting = {TP_SETTING_CAP, 0, 30000}};
    (void)state;
    guest_join(&guest, ALL_CAPS & ~TP_CAP_STATE);
    guest_send(&guest, &ask);
    guest_drain(&guest);
    assert_true(hung_up(guest.sock));
    guest_leave(&guest);
    guest_join(&guest, ALL_CAPS & ~TP_CAP_CONTROL);
    guest_send(&guest, &set);
    guest_drain(&guest);
    assert_true(hung_up(guest.sock));
    guest_leave(&guest);
}

static void hellos_that_cannot_be_are_refused(void **state)
{
    struct tp_hello hello = {
        TP_WIRE_VERSION + 1, TP_WIRE_VERSION + 1, TP_HELLO_SCANOUT, 0, ALL_CAPS};
    const struct iovec part = {&hello, sizeof hello};
    struct peer p;
    int fd = eventfd(0, EFD_CLOEXEC);
    (void)state;
    peer_connect(&p);
    tp_frame_send(p.card, TP_FRAME_HELLO, 0, 0, &part, 1, NULL, 0);
    pump();
    assert_true(hung_up(p.card));
    peer_close(&p);
    hello.version = hello.oldest = TP_WIRE_VERSION;
    peer_connect(&p);
    tp_frame_send(p.card, TP_FRAME_HELLO, 0, 0, &part, 1, &fd, 1);
    pump();
    assert_true(hung_up(p.card));
    assert_int_equal(n_logged, 2);
    peer_close(&p);
    close(fd);
}

static void guests_and_their_buffers_are_limited(void **state)
{
    const struct tp_server_config few = {
        .limits = {.guests = 2, .registered = 2, .per_process = 8}};
    (void)state;
    tp_server_destroy(server);
    start_server(&few);
    begin();
    join_with(&guest, ALL_CAPS);
    assert_int_equal(guest_register(&guest, &z), -ENOSPC);
    guest_join(&other, 0);
    struct peer third;
    peer_connect(&third);
    peer_hello(&third, TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_SCANOUT);
    assert_true(hung_up(third.card));
    peer_close(&third);
    assert_int_equal(counts().guests, 2);
    guest_leave(&other);
    guest_leave(&guest);
    end();
}

/* From now on this process gets no descriptor any more. */
static struct rlimit exhaust(void)
{
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    int next = dup(0);
    assert_true(next >= 0);
    close(next);
    none.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    return before;
}

static void without_descriptors_there_is_no_board_and_no_registration(void **state)
{
    const struct tp_hello mine = {TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_SCANOUT, 0, ALL_CAPS};
    const struct iovec part = {(void *)(uintptr_t)&mine, sizeof mine};
    struct tp_scanout_frame f = {.fourcc = TP_FRAME_REGISTER};
    struct tp_hello hello;
    struct tp_frame frame;
    struct peer p;
    uint8_t payload[TP_SCANOUT_BYTES];
    uint32_t version;
    int board;
    (void)state;
    begin();
    guest_join(&guest, ALL_CAPS);
    peer_connect(&p);
    assert_int_equal(tp_frame_send(p.card, TP_FRAME_HELLO, 0, 0, &part, 1, NULL, 0), 0);
    f.u.reg.buffer = x.name;
    const struct iovec name = {payload, tp_scanout_encode(&f, payload)};
    tp_frame_send(guest.sock, TP_FRAME_REGISTER, 0, 1, &name, 1, &x.memory, 1);
    struct rlimit before = exhaust();
    for (int i = 0; i < 10; i++)
        assert_int_equal(tp_server_dispatch(server, 0), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(tp_frame_recv(p.card, p.in, &frame), 0);
    assert_int_equal(tp_scanout_hello(&frame, true, &hello, &version, &board), 0);
    assert_int_equal(board, -1);
    assert_true(hello.capabilities == (ALL_CAPS & ~TP_CAP_BOARD)); /* it has notes alone */
    guest_drain(&guest);
    assert_true(hung_up(guest.sock)); /* what it said is lost: it is to come again */
    assert_int_equal(n_logged, 1);
    assert_int_equal(counts().guests, 1);
    peer_close(&p);
    guest_leave(&guest);
    end();
}

static void a_guest_that_asks_and_never_reads_is_not_read_either(void **state)
{
    struct tp_scanout_frame ask = {.fourcc = TP_FRAME_STATE, .fd = -1};
    uint8_t payload[TP_SCANOUT_BYTES];
    (void)state;
    begin();
    join_with(&guest, ALL_CAPS);
    ask.u.state.buffer.index = TP_BUFFER_NO_INDEX;
    const struct iovec part = {payload, tp_scanout_encode(&ask, payload)};
    int r = 0;
    for (int i = 0; i < 100000 && r == 0; i++) {
        r = tp_frame_send(guest.sock, TP_FRAME_STATE, 0, 1, &part, 1, NULL, 0);
        if (i % 16 == 0)
            assert_int_equal(tp_server_dispatch(server, 0), 0);
    }
    assert_int_equal(r, -EAGAIN); /* it is the one who waits */
    show(&compositor, &x);
    for (int i = 0; i < 100; i++, pump())
        guest_drain(&guest);
    assert_false(hung_up(guest.sock));
    guest_leave(&guest);
    end();
}

/* --- settings --- */

static uint32_t voted;
static unsigned n_votes;

static void on_vote(void *data, unsigned output, uint32_t refresh_mhz)
{
    (void)data;
    assert_int_equal(output, 0);
    voted = refresh_mhz;
    n_votes++;
}

static void settings_go_both_ways(void **state)
{
    const struct tp_server_config config = {.vote = on_vote};
    struct tp_scanout_frame f = {
        .fourcc = TP_FRAME_SETTING, .fd = -1, .u.setting = {TP_SETTING_CAP, 0, 30000}};
    struct tp_frame answer;
    struct tp_hello hello;
    struct peer top;
    uint8_t payload[TP_SCANOUT_BYTES];
    int32_t result;
    (void)state;
    tp_server_destroy(server);
    start_server(&config);
    guest_join(&guest, ALL_CAPS);
    guest_join(&other, ALL_CAPS & ~TP_CAP_CONTROL);
    n_votes = 0;
    guest_send(&guest, &f);
    assert_int_equal(voted, 60000); /* the one there is */
    guest_send(&guest, &f);
    assert_int_equal(n_votes, 1);
    peer_connect(&top);
    peer_hello(&top, TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_CONTROL);
    assert_int_equal(peer_greeting(&top, top.card, &hello), 0);
    f.u.setting.value = 45000;
    const struct iovec part = {payload, tp_scanout_encode(&f, payload)};
    tp_frame_send(top.card, TP_FRAME_SETTING, 0, 9, &part, 1, NULL, 0);
    pump();
    assert_int_equal(tp_frame_recv(top.card, top.in, &answer), 0);
    memcpy(&result, answer.payload, sizeof result);
    assert_true(answer.fourcc == TP_FRAME_SETTING && answer.sequence == 9 && result == 0);
    assert_true(guest_next(&guest, &f));
    assert_true(f.u.setting.setting == TP_SETTING_CAP && f.u.setting.value == 45000);
    expect_nothing(&other);
    tp_frame_send(top.card, TP_FRAME_SETTING, 0, 10, &(struct iovec){payload, 3}, 1, NULL, 0);
    pump();
    assert_int_equal(tp_frame_recv(top.card, top.in, &answer), 0);
    memcpy(&result, answer.payload, sizeof result);
    assert_int_equal(result, -EINVAL);
    peer_close(&top);
    guest_leave(&other);
    guest_leave(&guest);
    assert_int_equal(voted, 0); /* nobody wishes anything any more */
    assert_int_equal(n_votes, 2);
}

int main(void)
{
#define behaviour(f) cmocka_unit_test_setup_teardown(f, setup_server, teardown_server)
    const struct CMUnitTest tests[] = {
        behaviour(a_guest_gets_a_board_and_the_last_refresh),
        behaviour(a_buffers_life_is_on_the_board_and_in_notes),
        behaviour(a_fence_that_has_signalled_is_none),
        behaviour(one_that_is_dropped_unshown_does_not_release_what_it_replaced),
        behaviour(a_picture_that_is_refused_changes_nothing),
        behaviour(flips_keep_their_timing_whatever_the_release_does),
        behaviour(an_old_peer_gets_answers_and_nothing_else),
        behaviour(notes_go_without_a_board_and_a_board_without_notes),
        behaviour(a_state_is_told_on_request),
        behaviour(a_slow_guest_holds_up_nobody_and_hears_how_things_stand),
        behaviour(a_dead_guests_buffers_and_fences_are_let_go),
        behaviour(a_guest_that_comes_back_to_another_server_is_told_all),
        behaviour(a_screen_that_is_away_frees_all_and_one_that_is_back_shows_again),
        behaviour(a_screen_that_comes_back_under_a_picture_has_it_on_the_board),
        behaviour(a_silent_fence_brings_a_blank_and_then_all_is_free),
        behaviour(a_panel_that_shows_no_blank_either_keeps_nothing),
        behaviour(memory_that_is_not_what_it_is_called_is_refused),
        behaviour(what_a_later_version_says_is_left_alone),
        behaviour(wrong_frames_cost_the_connection_and_one_line),
        behaviour(only_what_was_said_in_the_hello_may_be_asked),
        behaviour(hellos_that_cannot_be_are_refused),
        behaviour(guests_and_their_buffers_are_limited),
        behaviour(without_descriptors_there_is_no_board_and_no_registration),
        behaviour(a_guest_that_asks_and_never_reads_is_not_read_either),
        behaviour(settings_go_both_ways),
    };
    return cmocka_run_group_tests_name("scanout", tests, NULL, NULL);
}
