/*
 * What swapchains tell of their frames, read as a server reads it: a peer in this process, to which
 * the driver sends its rings.
 *   census_test PLACE
 */
#include "peer.h"
#include "place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "frames/census/ring.h"
#include "frames/icd/slots.h"

#define ALL                                                                                        \
    (TP_CAP_TIMELINE | TP_CAP_BOARD | TP_CAP_RELEASE_FENCE | TP_CAP_STATE | TP_CAP_CONTROL |       \
        TP_CAP_CENSUS)
enum { FRAMES = 60, MANY = 20, MOST = 400 };

static const char *where;
static char name[64];
static struct client client;
static struct peer peer;
static struct tp_ring_view *view;
static struct tp_ring_entry entries[MOST];
static unsigned n_entries;
static uint64_t lost;

static int begin(void **state)
{
    char address[80];

    (void)state;
    place_begin(where);
    snprintf(address, sizeof address, "@%s", name);
    setenv("TURNPIKE_SOCKET", address, 1); /* the peer's, whatever the place has */
    client_open_lawless(&client);
    return 0;
}

static int end(void **state)
{
    (void)state;
    client_close(&client);
    place_end();
    return 0;
}

/* --- reading --- */

static void look_at(unsigned number)
{
    pthread_mutex_lock(&peer.lock);
    assert_true(peer.rings[number] >= 0);
    assert_int_equal(tp_ring_open(peer.rings[number], &view), 0);
    pthread_mutex_unlock(&peer.lock);
    n_entries = 0;
    lost = 0;
}

static void read_all(void)
{
    while (n_entries < MOST && tp_ring_next(view, &entries[n_entries], &lost))
        n_entries++;
    assert_true(n_entries < MOST);
    assert_int_equal(lost, 0);
}

static uint64_t gauge(unsigned which)
{
    return tp_ring_look(view, which);
}

/* The frame with this number among what was read; NULL: there is none. */
static const struct tp_ring_frame *frame(uint64_t number)
{
    for (unsigned i = 0; i < n_entries; i++) {
        if (entries[i].kind == TP_RING_FRAME && entries[i].frame.record.number == number)
            return &entries[i].frame;
    }
    return NULL;
}

/* How often a setting was told; *last: its last value. */
static unsigned settings(enum tp_setting what, int64_t *last)
{
    unsigned n = 0;

    for (unsigned i = 0; i < n_entries; i++) {
        if (entries[i].kind != TP_RING_SETTING || entries[i].setting.what != what)
            continue;
        assert_true(entries[i].setting.at_ns > 0);
        *last = entries[i].setting.value;
        n++;
    }
    return n;
}

static bool is_of_the_peer(const struct tp_buffer_name *b)
{
    bool is = false;

    pthread_mutex_lock(&peer.lock);
    for (unsigned i = 0; i < peer.n_buffers; i++) {
        struct tp_buffer_name n = peer.buffers[i].name;
        if (b->index == TP_BUFFER_NO_INDEX) /* the answer has not come yet */
            n.index = b->index;
        is |= tp_buffer_name_equal(&n, b);
    }
    pthread_mutex_unlock(&peer.lock);
    return is;
}

/* A number of the peer's. */
static unsigned peers(const unsigned *number)
{
    pthread_mutex_lock(&peer.lock);
    unsigned n = *number;
    pthread_mutex_unlock(&peer.lock);
    return n;
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Each instant that is known is no earlier than the one before. */
static void check_order(const int64_t *instants, unsigned n)
{
    int64_t last = TP_NEVER;

    for (unsigned i = 0; i < n; i++) {
        if (instants[i] == TP_NEVER)
            continue;
        if (instants[i] < last)
            fail_msg("instant %u is %lld ns before another", i, (long long)(last - instants[i]));
        last = instants[i];
    }
}

static void check_frame(const struct tp_ring_frame *f, uint32_t images, int64_t from, int64_t to)
{
    const struct tp_frame_record *r = &f->record;
    const int64_t guest[] = {
        from, r->asked_ns, r->gate_ns, r->acquired_ns, r->presented_ns, r->returned_ns, to};
    const int64_t picture[] = {
        r->presented_ns, r->ready_ns, r->committed_ns, r->released_ns, r->told_ns};
    /* Of a commit to another process the thread may hear after the screen has. */
    const bool here = strcmp(where, "headless") == 0;
    const int64_t shown[] = {here ? r->committed_ns : r->presented_ns, r->line_ns};

    assert_true(r->image < images);
    assert_true(is_of_the_peer(&f->buffer));
    assert_true(r->begin_ns <= r->acquired_ns);
    assert_true(r->acquired_ns != TP_NEVER && r->returned_ns != TP_NEVER);
    check_order(guest, sizeof guest / sizeof *guest);
    check_order(picture, sizeof picture / sizeof *picture);
    check_order(shown, sizeof shown / sizeof *shown);
    assert_true(r->slot_wait_ns >= 0 && r->release_wait_ns >= 0 && r->gate_wait_ns >= 0);
    assert_true(
        r->slot_wait_ns + r->release_wait_ns + r->gate_wait_ns <= r->acquired_ns - r->asked_ns);
    assert_true(r->cpu_ns <= r->cpu_to_ns);
    assert_int_equal(r->late, r->booked_ns != TP_NEVER && r->ready_ns > r->booked_ns);
    assert_int_equal(f->fed_back, r->line_ns != TP_NEVER);
    assert_false(r->dropped && r->line_ns != TP_NEVER);
}

/* --- what is told --- */

static void open_chain(struct chain *ch, VkSurfaceKHR surface, VkPresentModeKHR mode)
{
    VkSwapchainCreateInfoKHR info = chain_info(surface, PLACE_WIDTH, PLACE_HEIGHT);

    info.presentMode = mode;
    chain_open(ch, &client, &info);
}

static void each_frame_tells_what_became_of_it(void **state)
{
    VkSurfaceKHR surface = place_surface(&client, 0);
    struct chain ch;
    int64_t value = -1, from = now_ns();

    (void)state;
    peer_start(&peer, name, ALL);
    open_chain(&ch, surface, VK_PRESENT_MODE_FIFO_KHR);
    peer_wait_rings(&peer, 1);
    peer_wait(&peer, ch.n_images);
    look_at(0);
    for (unsigned i = 0; i < FRAMES; i++)
        assert_true(chain_round(&ch, NULL) >= 0);
    chain_close(&ch);
    peer_wait_rings(&peer, 0);
    read_all();
    assert_int_equal(gauge(TP_GAUGE_ENDED), 1);
    assert_int_equal(gauge(TP_GAUGE_PRODUCER), TP_RING_SWAPCHAIN);
    assert_int_equal(gauge(TP_GAUGE_PID), getpid());
    assert_int_equal(gauge(TP_GAUGE_PRESENTED), FRAMES);
    assert_int_equal(gauge(TP_GAUGE_IMAGES), ch.n_images);
    assert_int_equal(gauge(TP_GAUGE_WIDTH), PLACE_WIDTH);
    assert_int_equal(gauge(TP_GAUGE_HEIGHT), PLACE_HEIGHT);
    assert_int_equal(gauge(TP_GAUGE_RELEASE_FENCE), 1);
    assert_int_equal(gauge(TP_GAUGE_CONNECTED), 2);
    assert_int_equal(gauge(TP_GAUGE_GATE), TP_GATE_VSYNC);
    assert_string_equal(tp_ring_name(view), "icd_census_test");
    assert_int_equal(settings(TP_SETTING_GATE, &value), 1);
    assert_int_equal(value, TP_GATE_VSYNC);
    assert_int_equal(settings(TP_SETTING_CAP, &value), 1);
    assert_int_equal(value, 0);
    uint64_t next = 0;
    unsigned shown = 0;
    for (unsigned i = 0; i < n_entries; i++) {
        if (entries[i].kind != TP_RING_FRAME)
            continue;
        assert_int_equal(entries[i].frame.record.number, next++);
        assert_false(entries[i].frame.record.dropped && next + ch.n_images < FRAMES);
        shown += entries[i].frame.record.line_ns != TP_NEVER;
        check_frame(&entries[i].frame, ch.n_images, from, now_ns());
    }
    assert_int_equal(next, FRAMES);
    assert_in_range(shown, FRAMES - ch.n_images - 2, FRAMES);
    tp_ring_close(view);
    place_close(&client, surface, 0);
    peer_stop(&peer);
}

/* Of frames that take each other's place each is shown or dropped, once; but for the last. */
static void drops_are_told(void **state)
{
    VkSurfaceKHR surface = place_surface(&client, 0);
    struct chain ch;
    unsigned dropped = 0, shown = 0;
    int64_t from = now_ns();

    (void)state;
    peer_start(&peer, name, ALL);
    open_chain(&ch, surface, VK_PRESENT_MODE_MAILBOX_KHR);
    peer_wait_rings(&peer, 1);
    peer_wait(&peer, ch.n_images);
    look_at(0);
    for (unsigned i = 0; i < 300; i++) {
        assert_true(chain_round(&ch, NULL) >= 0);
        if (i % 10 == 0) /* some refreshes pass */
            nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    chain_close(&ch);
    peer_wait_rings(&peer, 0);
    read_all();
    assert_int_equal(gauge(TP_GAUGE_GATE), TP_GATE_OFF);
    for (uint64_t i = 0; i < 300; i++) {
        const struct tp_ring_frame *f = frame(i);
        assert_non_null(f);
        check_frame(f, ch.n_images, from, now_ns());
        dropped += f->record.dropped;
        shown += f->record.line_ns != TP_NEVER;
    }
    assert_in_range(dropped + shown, 300 - ch.n_images, 300);
    assert_true(shown > 0);
    if (strcmp(where, "weston") == 0)
        assert_true(dropped > shown);
    tp_ring_close(view);
    place_close(&client, surface, 0);
    peer_stop(&peer);
}

static unsigned slot_state(uint32_t index)
{
    return gauge(TP_GAUGE_SLOTS + index) & 0xff;
}

/* Two images on a surface of nobody's; the first has been replaced by the second. */
static uint32_t show_two(struct chain *ch)
{
    uint32_t a, b;

    assert_int_equal(chain_acquire(ch, UINT64_MAX, &a), VK_SUCCESS);
    assert_int_equal(chain_acquire(ch, UINT64_MAX, &b), VK_SUCCESS);
    peer_set(&peer, a, TP_BOARD_SHOWN);
    assert_int_equal(chain_present(ch, a, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    vkQueueWaitIdle(client.queue);
    peer_set(&peer, a, TP_BOARD_REPLACED);
    peer_set(&peer, b, TP_BOARD_SHOWN);
    assert_int_equal(chain_present(ch, b, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    vkQueueWaitIdle(client.queue);
    return a;
}

static bool is_told(void *data)
{
    (void)data;
    return gauge(TP_GAUGE_COUNTS + TP_COUNT_NOTES_FINAL) == 1;
}

static bool is_held(void *data)
{
    return slot_state(*(uint32_t *)data) == TP_SLOT_REPLACED;
}

static void waits_and_notes_are_counted_and_slots_told(void **state)
{
    VkSurfaceKHR surface = client_headless(&client);
    VkSwapchainCreateInfoKHR info = chain_info(surface, 64, 48);
    struct chain ch;
    uint32_t index;

    (void)state;
    peer_start(&peer, name, ALL);
    info.presentMode = VK_PRESENT_MODE_IMMEDIATE_KHR;
    chain_open(&ch, &client, &info);
    assert_int_equal(ch.n_images, 2);
    peer_wait(&peer, 2);
    peer_wait_rings(&peer, 1);
    look_at(0);
    uint32_t a = show_two(&ch);
    assert_true(place_await(is_held, &a)); /* the thread that presents has its time */
    assert_int_equal(slot_state(!a), TP_SLOT_HELD);
    assert_int_equal(gauge(TP_GAUGE_COUNTS + TP_COUNT_RELEASE_WAITS), 0);
    assert_int_equal(chain_acquire(&ch, 2000000, &index), VK_TIMEOUT);
    assert_int_equal(gauge(TP_GAUGE_COUNTS + TP_COUNT_RELEASE_WAITS), 1);
    assert_int_equal(gauge(TP_GAUGE_COUNTS + TP_COUNT_SLOT_WAITS), 0);
    peer_note(&peer, a, TP_NOTE_PENDING, TP_FENCE_NONE, -1);
    peer_set(&peer, a, TP_BOARD_FREE);
    int64_t before = now_ns();
    peer_note(&peer, a, TP_NOTE_FINAL, TP_FENCE_NONE, -1);
    assert_true(place_await(is_told, NULL));
    assert_int_equal(gauge(TP_GAUGE_COUNTS + TP_COUNT_NOTES_PENDING), 1);
    assert_int_equal(slot_state(a), TP_SLOT_READY);
    assert_int_equal(chain_acquire(&ch, UINT64_MAX, &index), VK_SUCCESS);
    assert_int_equal(index, a);
    assert_int_equal(slot_state(a), TP_SLOT_ACQUIRED);
    /* An image that the guest has is waited for from the guest. */
    assert_int_equal(chain_acquire(&ch, 2000000, &index), VK_TIMEOUT);
    assert_int_equal(gauge(TP_GAUGE_COUNTS + TP_COUNT_SLOT_WAITS), 1);
    assert_int_equal(gauge(TP_GAUGE_COUNTS + TP_COUNT_RELEASE_WAITS), 1);
    read_all();
    const struct tp_ring_frame *f = frame(0);
    assert_non_null(f); /* shown, told and taken anew: over */
    assert_true(f->record.told_ns >= before && f->record.released_ns > f->record.line_ns);
    assert_int_equal(f->record.image, a);
    assert_null(frame(1));
    /* Of the other one's release the board alone tells. */
    peer_set(&peer, a, TP_BOARD_SHOWN);
    peer_set(&peer, !a, TP_BOARD_REPLACED);
    assert_int_equal(chain_present(&ch, a, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    before = now_ns();
    peer_set(&peer, !a, TP_BOARD_FREE);
    assert_int_equal(chain_acquire(&ch, UINT64_MAX, &index), VK_SUCCESS);
    assert_int_equal(index, !a);
    chain_close(&ch);
    read_all();
    assert_non_null(frame(1));
    assert_int_equal(frame(1)->record.told_ns, TP_NEVER);
    assert_true(frame(1)->record.released_ns >= before);
    assert_int_equal(frame(2)->record.released_ns, TP_NEVER);
    assert_null(frame(3)); /* it was not presented */
    tp_ring_close(view);
    vkDestroySurfaceKHR(client.instance, surface, NULL);
    peer_stop(&peer);
}

static bool is_timed(void *data)
{
    (void)data;
    return gauge(TP_GAUGE_REFRESH_MHZ) == 59950 && gauge(TP_GAUGE_CAP_MHZ) == 40000 &&
        gauge(TP_GAUGE_GATE) == TP_GATE_LATENCY;
}

static void *release_later(void *held)
{
    nanosleep(&(struct timespec){0, 100000000}, NULL);
    client_release_queue(&client, *(VkSemaphore *)held);
    return NULL;
}

static void what_holds_is_told_when_it_changes(void **state)
{
    struct tp_timeline_frame t = {.pipeline = 2,
        .sequence = 1000,
        .time_ns = now_ns(),
        .period_ns = 16680567,
        .lead_ns = 700000};
    VkSurfaceKHR surface = client_headless(&client);
    struct chain ch;
    pthread_t releaser;
    int64_t value = -1;
    uint32_t index;

    (void)state;
    peer_start(&peer, name, ALL);
    open_chain(&ch, surface, VK_PRESENT_MODE_FIFO_KHR);
    peer_wait_rings(&peer, 1);
    look_at(0);
    for (unsigned i = 0; i < 3; i++) { /* the same again is no change */
        peer_timeline(&peer, &t);
        t.sequence++;
        t.time_ns += t.period_ns;
    }
    peer_setting(&peer, TP_SETTING_CAP, 40000);
    peer_setting(&peer, TP_SETTING_GATE, TP_GATE_LATENCY);
    assert_true(place_await(is_timed, NULL));
    assert_int_equal(gauge(TP_GAUGE_PIPELINE), 2);
    assert_int_equal(gauge(TP_GAUGE_LEAD_NS), 700000);
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    assert_int_equal(chain_acquire(&ch, UINT64_MAX, &index), VK_SUCCESS);
    VkSemaphore held = client_hold_queue(&client);
    assert_int_equal(pthread_create(&releaser, NULL, release_later, &held), 0);
    assert_int_equal(chain_present(&ch, index, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    pthread_join(releaser, NULL);
    chain_close(&ch);
    vkDestroySemaphore(client.device, held, NULL);
    read_all();
    assert_true(frame(10)->record.late); /* it was booked for a latch within these */
    assert_true(frame(10)->record.ready_ns - frame(10)->record.presented_ns >= 90000000);
    assert_int_equal(settings(TP_SETTING_CAP, &value), 2);
    assert_int_equal(value, 40000);
    assert_int_equal(settings(TP_SETTING_GATE, &value), 2);
    assert_int_equal(value, TP_GATE_LATENCY);
    assert_int_equal(settings(TP_SETTING_REFRESH, &value), 1);
    assert_int_equal(value, 59950);
    assert_int_equal(frame(9)->record.refresh_mhz, 59950);
    assert_int_equal(frame(9)->record.cap_mhz, 40000);
    assert_true(frame(9)->record.booked_ns > frame(9)->record.acquired_ns);
    tp_ring_close(view);
    vkDestroySurfaceKHR(client.instance, surface, NULL);
    peer_stop(&peer);
}

/* --- to whom --- */

static void a_server_that_comes_back_is_told_again(void **state)
{
    VkSurfaceKHR surface = client_headless(&client);
    struct chain ch;

    (void)state;
    peer_start(&peer, name, ALL);
    open_chain(&ch, surface, VK_PRESENT_MODE_MAILBOX_KHR);
    peer_wait_rings(&peer, 1);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    peer_stop(&peer);
    peer_start(&peer, name, ALL);
    peer_wait_rings(&peer, 1);
    look_at(0);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    chain_close(&ch);
    read_all();
    assert_non_null(frame(0)); /* what the other one missed is there as well */
    assert_non_null(frame(9));
    tp_ring_close(view);
    vkDestroySurfaceKHR(client.instance, surface, NULL);
    peer_stop(&peer);
}

static void a_server_that_knows_none_is_told_nothing(void **state)
{
    VkSurfaceKHR surface = client_headless(&client);
    struct chain ch;

    (void)state;
    peer_start(&peer, name, ALL & ~TP_CAP_CENSUS); /* it asserts */
    open_chain(&ch, surface, VK_PRESENT_MODE_MAILBOX_KHR);
    peer_wait(&peer, ch.n_images);
    assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    chain_close(&ch);
    peer_wait_live(&peer, 0);
    assert_int_equal(peers(&peer.ringed), 0);
    vkDestroySurfaceKHR(client.instance, surface, NULL);
    peer_stop(&peer);
}

/* No more than a connection may have; and what was told does not end the connection. */
static void of_many_swapchains_the_first_are_told(void **state)
{
    VkSurfaceKHR surfaces[MANY];
    struct chain ch[MANY];

    (void)state;
    peer_start(&peer, name, ALL);
    for (unsigned i = 0; i < MANY; i++) {
        VkSwapchainCreateInfoKHR info = chain_info(surfaces[i] = client_headless(&client), 32, 16);
        info.presentMode = VK_PRESENT_MODE_IMMEDIATE_KHR;
        chain_open(&ch[i], &client, &info);
    }
    peer_wait_live(&peer, 2 * MANY);
    assert_int_equal(peers(&peer.n_rings), TP_CENSUS_RINGS);
    for (unsigned i = 0; i < MANY; i++) {
        chain_close(&ch[i]);
        vkDestroySurfaceKHR(client.instance, surfaces[i], NULL);
    }
    peer_wait_live(&peer, 0);
    peer_wait_rings(&peer, 0);
    assert_int_equal(peers(&peer.connections), 1);
    peer_stop(&peer);
}

static void re_creations_leave_no_ring_and_no_descriptor(void **state)
{
    VkSurfaceKHR surface = client_headless(&client);
    VkSwapchainCreateInfoKHR info = chain_info(surface, 16, 16);
    struct chain ch;
    unsigned fds = 0;

    (void)state;
    peer_start(&peer, name, ALL);
    info.presentMode = VK_PRESENT_MODE_IMMEDIATE_KHR;
    for (unsigned i = 0; i < 1000; i++) {
        chain_open(&ch, &client, &info);
        peer_wait_rings(&peer, 1);
        if (i % 4 == 0)
            assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
        chain_close(&ch);
        peer_wait_rings(&peer, 0);
        if (i == 10)
            fds = client_count_fds();
    }
    assert_int_equal(client_count_fds(), fds);
    assert_int_equal(peers(&peer.ringed), 2000);
    assert_int_equal(peers(&peer.most_rings), 1);
    vkDestroySurfaceKHR(client.instance, surface, NULL);
    peer_stop(&peer);
}

static bool is_ticked(void *data)
{
    (void)data;
    return gauge(TP_GAUGE_REFRESH_MHZ) == 50000 && gauge(TP_GAUGE_PIPELINE) == 2;
}

/* TURNPIKE_RELEASE_FENCE=0: the server's word does not count, and it is told all the same. */
static void who_hears_nothing_tells_of_its_frames(void **state)
{
    const struct tp_timeline_frame t = {
        .pipeline = 2, .sequence = 1, .time_ns = now_ns(), .period_ns = 20000000};
    VkSurfaceKHR surface = client_headless(&client);
    struct chain ch;
    uint32_t index;

    (void)state;
    peer_start(&peer, name, ALL);
    open_chain(&ch, surface, VK_PRESENT_MODE_IMMEDIATE_KHR);
    assert_int_equal(ch.n_images, 2);
    peer_wait(&peer, 2);
    peer_wait_rings(&peer, 1);
    look_at(0);
    pthread_mutex_lock(&peer.lock);
    assert_int_equal(peer.theirs, TP_CAP_CENSUS | TP_CAP_TIMELINE);
    pthread_mutex_unlock(&peer.lock);
    peer_timeline(&peer, &t);
    assert_true(place_await(is_ticked, NULL));
    uint32_t a = show_two(&ch);
    assert_int_equal(chain_acquire(&ch, 1000000000, &index), VK_SUCCESS);
    assert_int_equal(index, a); /* which the panel has */
    assert_int_equal(gauge(TP_GAUGE_RELEASE_FENCE), 0);
    assert_int_equal(gauge(TP_GAUGE_CONNECTED), 1);
    read_all();
    const struct tp_ring_frame *f = frame(0);
    assert_non_null(f);
    check_frame(f, 2, 0, now_ns());
    assert_true(f->record.released_ns >= f->record.line_ns);
    assert_int_equal(f->record.told_ns, TP_NEVER);
    chain_close(&ch);
    peer_wait_rings(&peer, 0);
    tp_ring_close(view);
    vkDestroySurfaceKHR(client.instance, surface, NULL);
    peer_stop(&peer);
}

static int run(const struct CMUnitTest *tests, size_t n)
{
    return _cmocka_run_group_tests(where, tests, n, begin, end);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest deaf[] = {cmocka_unit_test(who_hears_nothing_tells_of_its_frames)};
    const struct CMUnitTest everywhere[] = {
        cmocka_unit_test(each_frame_tells_what_became_of_it),
        cmocka_unit_test(drops_are_told),
    };
    const struct CMUnitTest once[] = {
        cmocka_unit_test(each_frame_tells_what_became_of_it),
        cmocka_unit_test(drops_are_told),
        cmocka_unit_test(waits_and_notes_are_counted_and_slots_told),
        cmocka_unit_test(what_holds_is_told_when_it_changes),
        cmocka_unit_test(a_server_that_comes_back_is_told_again),
        cmocka_unit_test(a_server_that_knows_none_is_told_nothing),
        cmocka_unit_test(of_many_swapchains_the_first_are_told),
        cmocka_unit_test(re_creations_leave_no_ring_and_no_descriptor),
    };

    if (argc != 2)
        return 2;
    where = argv[1];
    snprintf(name, sizeof name, "turnpike-census-%d", (int)getpid());
    const char *fences = getenv("TURNPIKE_RELEASE_FENCE");
    if (fences && strcmp(fences, "0") == 0)
        return run(deaf, sizeof deaf / sizeof *deaf);
    return strcmp(where, "headless") == 0 ? run(once, sizeof once / sizeof *once)
                                          : run(everywhere, sizeof everywhere / sizeof *everywhere);
}
