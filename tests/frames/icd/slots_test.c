/* Which image an acquire gets, and what it waits for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frames/icd/slots_acquire.h"
#include "frames/wire/hello.h"

#define MS INT64_C(1000000)
#define T INT64_C(16666667)
#define QUARANTINE (5 * T) /* (pipeline + 2) refreshes, and 2 while nothing was seen to go */
#define FULL (TP_CAP_TIMELINE | TP_CAP_BOARD | TP_CAP_RELEASE_FENCE | TP_CAP_STATE)
#define FENCES 64

/* A swapchain, its server's board, and fences by number. */
static struct world {
    struct tp_slots *s;
    struct tp_board board;
    struct tp_board_view view;
    uint32_t sequences[TP_SLOTS_MAX];
    bool signalled[FENCES], closed[FENCES];
    unsigned looks;
    bool has_board;
    int64_t now;
} w;

static bool on_signalled(void *data, int fence)
{
    (void)data;
    assert_false(w.closed[fence]);
    w.looks++;
    return w.signalled[fence];
}

static void on_close(void *data, int fence)
{
    (void)data;
    assert_false(w.closed[fence]); /* once */
    w.closed[fence] = true;
}

static struct tp_buffer_name name_of(unsigned slot)
{
    return (struct tp_buffer_name){
        .identity = {7, 100 + slot}, .generation = slot + 1, .index = slot};
}

static void connect_server(uint64_t capabilities)
{
    memset(&w.board, 0, sizeof w.board);
    tp_board_init(&w.board);
    assert_int_equal(tp_board_look(&w.board, sizeof w.board, &w.view), 0);
    w.has_board = capabilities & TP_CAP_BOARD;
    tp_slots_connected(w.s, capabilities, w.has_board ? &w.view : NULL, w.now);
}

static uint32_t write_word(unsigned slot, enum tp_board_state state)
{
    uint32_t low = tp_board_low(++w.sequences[slot], state);
    tp_board_store(&w.board, slot, tp_board_word(slot + 1, low));
    return low;
}

static void register_slot(unsigned slot, enum tp_board_state state)
{
    struct tp_buffer_name name = name_of(slot);
    tp_slots_register(w.s, slot, &name, w.now);
    struct tp_register_frame answer = {.buffer = name, .low = write_word(slot, state)};
    assert_true(tp_slots_registered(w.s, &answer, w.now));
}

static const struct tp_slots_ops ops = {on_signalled, on_close};

static void begin(unsigned images, uint64_t capabilities, enum tp_release_wait wait)
{
    w = (struct world){.now = 1000 * MS};
    struct tp_slots_config c = {
        .images = images, .release = true, .wait = wait, .period_ns = T, .pipeline = 1};
    assert_int_equal(tp_slots_create(&c, &ops, NULL, &w.s), 0);
    if (capabilities == 0)
        return;
    connect_server(capabilities);
    for (unsigned i = 0; i < images; i++)
        register_slot(i, TP_BOARD_FREE);
}

/* All fences that were handed in are closed in the end. */
static void end(int n_fences)
{
    tp_slots_destroy(w.s);
    for (int i = 1; i <= n_fences; i++)
        assert_true(w.closed[i]);
}

static struct tp_slots_choice choose(void)
{
    struct tp_slots_choice c;
    tp_slots_choose(w.s, w.now, w.now, &c);
    return c;
}

static struct tp_slots_taken take(void)
{
    struct tp_slots_choice c = choose();
    struct tp_slots_taken t;
    assert_true(c.slot >= 0);
    tp_slots_take(w.s, &c, w.now, &t);
    return t;
}

/* Acquires, presents and commits the next image, which must be this one. */
static void show(unsigned slot)
{
    assert_int_equal(take().slot, slot);
    assert_int_equal(tp_slots_presented(w.s, slot, w.now), 0);
    tp_slots_committed(w.s, slot, w.now);
    w.now += MS;
}

static void publish(unsigned slot)
{
    write_word(slot, TP_BOARD_SHOWN);
}

static void note(unsigned slot, enum tp_note_what what, uint32_t low, int fence)
{
    struct tp_note n = {.buffer = name_of(slot), .serial = 1, .what = what, .low = low};
    if (fence > 0)
        n.kind = TP_FENCE_SYNC_FILE;
    assert_true(tp_slots_note(w.s, &n, false, fence > 0 ? fence : -1, w.now));
}

/* As the server does it: the board, then a pending note. */
static void replace(unsigned slot)
{
    note(slot, TP_NOTE_PENDING, write_word(slot, TP_BOARD_REPLACED), 0);
}

static void fence(unsigned slot, int number)
{
    note(slot, TP_NOTE_FINAL, write_word(slot, TP_BOARD_FENCED), number);
}

static void give_back(unsigned slot)
{
    tp_slots_released(w.s, slot, -1, TP_FENCE_NONE, w.now);
    w.now += MS;
}

/* It is on the panel. */
static void shown(unsigned slot)
{
    show(slot);
    publish(slot);
}

/* It was there, its fence is known, and the compositor has given it back. */
static void pass(unsigned slot, int number)
{
    shown(slot);
    replace(slot);
    fence(slot, number);
    give_back(slot);
}

static enum tp_slot_state state(unsigned slot)
{
    enum tp_slot_state looked = tp_slots_look(w.s, slot, w.now);
    assert_int_equal(tp_slots_glance(w.s, slot, w.now), looked);
    return looked;
}

/* --- settled at the start --- */

static void fifo_has_three_images_and_one_for_each_stage_of_the_pipeline(void **data)
{
    (void)data;
    assert_int_equal(tp_slots_image_count(2, 0, 0), 3);
    assert_int_equal(tp_slots_image_count(2, 1, 0), 4);
    assert_int_equal(tp_slots_image_count(2, 2, 0), 5);
    assert_int_equal(tp_slots_image_count(8, 1, 0), 8);
    assert_int_equal(tp_slots_image_count(8, 1, 2), 2);
    assert_int_equal(tp_slots_image_count(1000, 1, 0), TP_SLOTS_MAX);
}

static void waits_that_cannot_be_become_the_cpus(void **data)
{
    (void)data;
    assert_int_equal(tp_release_wait_choose(TP_RELEASE_WAIT_AUTO, true, true), TP_RELEASE_WAIT_GPU);
    assert_int_equal(
        tp_release_wait_choose(TP_RELEASE_WAIT_AUTO, false, true), TP_RELEASE_WAIT_CPU);
    assert_int_equal(tp_release_wait_choose(TP_RELEASE_WAIT_GPU, false, true), TP_RELEASE_WAIT_CPU);
    assert_int_equal(
        tp_release_wait_choose(TP_RELEASE_WAIT_IMPLICIT, true, false), TP_RELEASE_WAIT_CPU);
    assert_int_equal(
        tp_release_wait_choose(TP_RELEASE_WAIT_IMPLICIT, false, true), TP_RELEASE_WAIT_IMPLICIT);
    assert_int_equal(tp_release_wait_choose(TP_RELEASE_WAIT_CPU, true, true), TP_RELEASE_WAIT_CPU);
}

static void as_many_images_as_there_can_be(void **data)
{
    (void)data;
    struct tp_slots *s;
    struct tp_slots_config c = {.images = 0};
    assert_int_equal(tp_slots_create(&c, &ops, NULL, &s), -EINVAL);
    c.images = TP_SLOTS_MAX + 1;
    assert_int_equal(tp_slots_create(&c, &ops, NULL, &s), -EINVAL);
    tp_slots_destroy(NULL);
}

/* --- the order of preference --- */

static void acquire_prefers_the_image_that_is_idle_longest(void **data)
{
    (void)data;
    begin(3, FULL, TP_RELEASE_WAIT_CPU);
    show(0);
    show(1);
    show(2);
    give_back(1); /* MAILBOX: a later one came back first */
    give_back(0);
    assert_int_equal(choose().slot, 1);
    show(1);
    assert_int_equal(choose().slot, 0);
    end(0);
}

static void acquire_prefers_an_image_the_panel_has_left(void **data)
{
    (void)data;
    begin(3, FULL, TP_RELEASE_WAIT_CPU);
    show(0);
    show(1);
    publish(0);
    replace(0);
    give_back(0);
    assert_int_equal(state(0), TP_SLOT_REPLACED);
    assert_int_equal(choose().slot, 2);
    show(2);
    assert_int_equal(choose().slot, -1);
    write_word(0, TP_BOARD_FREE);
    assert_int_equal(choose().slot, 0);
    end(0);
}

static void a_ready_image_costs_no_look_at_a_fence(void **data)
{
    (void)data;
    begin(3, FULL, TP_RELEASE_WAIT_CPU);
    pass(0, 1);
    assert_int_equal(choose().slot, 1);
    assert_int_equal(w.looks, 0);
    end(1);
}

static void a_signalled_fence_comes_before_an_unsignalled_one(void **data)
{
    (void)data;
    begin(2, FULL, TP_RELEASE_WAIT_GPU);
    for (unsigned i = 0; i < 2; i++) {
        shown(i);
    }
    for (unsigned i = 0; i < 2; i++) {
        replace(i);
        fence(i, (int)i + 1);
        give_back(i);
    }
    assert_int_equal(choose().slot, 0); /* predicted to be free first; the GPU waits */
    w.signalled[2] = true;
    struct tp_slots_taken t = take();
    assert_int_equal(t.slot, 1);
    assert_int_equal(t.n_fences, 0);
    assert_true(w.closed[2]);
    end(2);
}

/* --- the panel may still read it --- */

static void what_the_board_shows_is_not_handed_out_whoever_gave_it_back(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_CPU);
    shown(0);
    give_back(0);
    struct tp_slots_choice c = choose();
    assert_int_equal(c.slot, -1);
    assert_true(c.for_release);
    assert_int_equal(c.wait.board_index, 0);
    assert_int_equal(tp_board_state_of(c.wait.board_low), TP_BOARD_SHOWN);
    assert_true(c.wait.channel);
    end(0);
}

/* So does a server's last word, before it goes: it has forgotten the buffer, and its panel has not.
 */
static void a_word_of_another_generation_frees_nothing(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_CPU);
    shown(0);
    tp_board_store(&w.board, 0, tp_board_word(0, tp_board_low(9, TP_BOARD_FREE)));
    give_back(0);
    assert_int_equal(choose().slot, -1);
    tp_slots_disconnected(w.s, w.now);
    assert_int_equal(state(0), TP_SLOT_QUARANTINED);
    end(0);
}

static void a_fenced_image_is_waited_for_by_its_fence(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_CPU);
    pass(0, 1);
    assert_int_equal(state(0), TP_SLOT_FENCED);
    struct tp_slots_choice c = choose();
    assert_int_equal(c.slot, -1);
    assert_int_equal(c.wait.fence, 1);
    assert_int_equal(c.wait.board_index, 0);
    w.signalled[1] = true;
    assert_int_equal(choose().slot, 0);
    assert_true(w.closed[1]);
    end(1);
}

static void free_on_the_board_voids_the_fence(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_CPU);
    pass(0, 1);
    write_word(0, TP_BOARD_FREE);
    assert_int_equal(choose().slot, 0);
    assert_true(w.closed[1]);
    end(1);
}

static void a_lost_final_note_is_waited_for_on_the_board(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_GPU);
    shown(0);
    replace(0);
    write_word(0, TP_BOARD_FENCED);
    give_back(0);
    struct tp_slots_choice c = choose();
    assert_int_equal(c.slot, -1);
    assert_int_equal(c.wait.board_index, 0);
    assert_int_equal(c.wait.fence, -1);
    write_word(0, TP_BOARD_FREE);
    assert_int_equal(choose().slot, 0);
    end(0);
}

/* The fence of the use before comes when the next one's has been lost: it says nothing of that. */
static void a_late_fence_of_an_earlier_use_is_kept_and_proves_nothing(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_GPU);
    shown(0);
    replace(0);
    uint32_t low = write_word(0, TP_BOARD_FENCED);
    give_back(0);
    write_word(0, TP_BOARD_FREE);
    shown(0);
    replace(0);
    w.signalled[1] = true;
    note(0, TP_NOTE_FINAL, low, 1); /* of the first use */
    assert_false(w.closed[1]);
    write_word(0, TP_BOARD_FENCED); /* of the second; its note is lost */
    give_back(0);
    assert_int_equal(choose().slot, -1);
    write_word(0, TP_BOARD_FREE);
    assert_int_equal(choose().slot, 0);
    end(1);
}

/* All that the first use had was in hand; of the second nothing is. */
static void what_came_for_one_use_says_nothing_of_the_next(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_GPU);
    w.signalled[1] = true;
    for (int use = 0; use < 2; use++) {
        shown(0);
        write_word(0, TP_BOARD_REPLACED);
        if (use == 0)
            fence(0, 1);
        else
            write_word(0, TP_BOARD_FENCED);
        give_back(0);
        assert_int_equal(choose().slot, use == 0 ? 0 : -1);
    }
    end(1);
}

static void all_fences_of_a_buffer_on_two_screens_are_waited_for(void **data)
{
    (void)data;
    struct tp_note n = {.buffer = name_of(0), .what = TP_NOTE_PENDING};
    begin(1, FULL, TP_RELEASE_WAIT_CPU);
    shown(0);
    give_back(0);
    n.low = write_word(0, TP_BOARD_REPLACED);
    n.serial = 5;
    tp_slots_note(w.s, &n, false, -1, w.now);
    n.serial = 6;
    tp_slots_note(w.s, &n, false, -1, w.now);
    n.low = write_word(0, TP_BOARD_FENCED);
    n.what = TP_NOTE_FINAL;
    n.kind = TP_FENCE_SYNC_FILE;
    w.signalled[1] = true;
    tp_slots_note(w.s, &n, false, 1, w.now); /* of serial 6; that of 5 does not come */
    assert_int_equal(choose().slot, -1);
    n.serial = 5;
    tp_slots_note(w.s, &n, false, 2, w.now);
    assert_int_equal(choose().slot, -1);
    w.signalled[2] = true;
    assert_int_equal(choose().slot, 0);
    end(2);
}

static void a_note_twice_or_late_changes_nothing(void **data)
{
    (void)data;
    begin(1, FULL & ~TP_CAP_BOARD, TP_RELEASE_WAIT_CPU);
    shown(0);
    uint32_t pending = write_word(0, TP_BOARD_REPLACED);
    fence(0, 1); /* overtakes the pending one */
    note(0, TP_NOTE_PENDING, pending, 0);
    give_back(0);
    w.signalled[1] = true;
    show(0);
    note(0, TP_NOTE_PENDING, pending, 0);
    note(0, TP_NOTE_FINAL, tp_board_low(w.sequences[0], TP_BOARD_FENCED), 0);
    give_back(0);
    assert_int_equal(choose().slot, 0);
    end(1);
}

static void notes_for_others_are_left_to_the_caller(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_CPU);
    struct tp_note n = {.buffer = name_of(0), .what = TP_NOTE_FINAL, .kind = TP_FENCE_SYNC_FILE};
    n.buffer.generation = 99;
    assert_false(tp_slots_note(w.s, &n, false, 1, w.now));
    n.buffer = name_of(0);
    n.buffer.identity.inode++;
    assert_false(tp_slots_note(w.s, &n, false, 1, w.now));
    assert_false(w.closed[1]);
    end(0);
}

/* --- the GPU waits --- */

static void the_gpu_gets_the_fences_of_the_image(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_GPU);
    shown(0);
    replace(0);
    fence(0, 1);
    tp_slots_released(w.s, 0, 2, TP_FENCE_SYNC_FILE, w.now); /* the compositor reads it, too */
    struct tp_slots_taken t = take();
    assert_int_equal(t.n_fences, 2);
    assert_int_equal(t.fences[0] + t.fences[1], 3);
    assert_false(w.closed[1] || w.closed[2]); /* moved */
    tp_slots_destroy(w.s);
    assert_false(w.closed[1] || w.closed[2]);
}

static void a_fence_that_polls_is_waited_for_by_the_cpu(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_GPU);
    show(0);
    tp_slots_released(w.s, 0, 1, TP_FENCE_POLL, w.now);
    struct tp_slots_choice c = choose();
    assert_int_equal(c.slot, -1);
    assert_int_equal(c.wait.fence, 1);
    end(1);
}

/* The GPU can wait for one of the two, whichever came first. */
static void one_fence_that_polls_among_others_keeps_the_image_from_the_gpu(void **data)
{
    (void)data;
    for (int polls_first = 0; polls_first < 2; polls_first++) {
        begin(1, FULL, TP_RELEASE_WAIT_GPU);
        shown(0);
        replace(0);
        if (!polls_first)
            fence(0, 1);
        tp_slots_released(w.s, 0, 2, TP_FENCE_POLL, w.now);
        if (polls_first)
            fence(0, 1);
        assert_int_equal(choose().slot, -1);
        w.signalled[2] = true; /* what is left is for the GPU */
        struct tp_slots_taken t = take();
        assert_int_equal(t.n_fences, 1);
        assert_int_equal(t.fences[0], 1);
        on_close(NULL, 1);
        end(2);
    }
}

static void an_implicit_wait_needs_no_fence_in_hand(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_IMPLICIT);
    shown(0);
    replace(0);
    give_back(0);
    assert_int_equal(choose().slot, -1); /* nor has the dma-buf it yet */
    write_word(0, TP_BOARD_FENCED);
    assert_true(take().implicit);
    tp_slots_presented(w.s, 0, w.now);
    tp_slots_committed(w.s, 0, w.now);
    write_word(0, TP_BOARD_FREE);
    give_back(0);
    assert_false(take().implicit);
    end(0);
}

static void a_gpu_wait_is_predicted_by_the_first_line_of_the_successor(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_GPU);
    int64_t refresh = w.now;
    struct tp_timeline_frame t = {
        .pipeline = 1, .time_ns = refresh, .period_ns = T, .lead_ns = 2 * MS};
    tp_slots_timeline(w.s, &t);
    shown(0);
    replace(0); /* 1 ms after the refresh: latched for the next, shown by the one after */
    fence(0, 1);
    give_back(0);
    struct tp_slots_choice c = choose();
    assert_true(c.gpu);
    assert_int_equal(c.release_ns, refresh + 2 * T);
    end(1);
}

/* --- incidents --- */

static struct tp_slots_choice choose_since(int64_t since, int64_t now)
{
    struct tp_slots_choice c;
    tp_slots_choose(w.s, since, now, &c);
    return c;
}

static void begin_silence(uint64_t capabilities)
{
    begin(1, capabilities, TP_RELEASE_WAIT_CPU);
    shown(0);
    replace(0);
    give_back(0);
}

static void past_the_bound_the_server_is_asked_and_nothing_is_handed_out(void **data)
{
    (void)data;
    struct tp_slots_counts n;
    begin_silence(FULL);
    int64_t since = w.now, bound = 3 * T;
    struct tp_slots_choice c = choose_since(since, since);
    assert_int_equal(c.wait.until_ns, since + bound);
    c = choose_since(since, since + bound - 1);
    assert_false(c.wait.ask);
    c = choose_since(since, since + bound);
    assert_int_equal(c.slot, -1);
    assert_true(c.wait.ask);
    assert_int_equal(c.wait.ask_name.generation, 1);
    assert_int_equal(c.wait.until_ns, since + 2 * bound);
    assert_false(choose_since(since, since + bound + 1).wait.ask);
    assert_true(choose_since(since, since + 2 * bound).wait.ask);
    assert_int_equal(choose_since(since, since + 1000 * bound).slot, -1);
    tp_slots_counts(w.s, &n);
    assert_int_equal(n.release_timeouts, 1); /* one wait */
    assert_int_equal(n.unsafe, 0);
    assert_true(tp_slots_incident(w.s));
    assert_false(tp_slots_incident(w.s));
    struct tp_state_frame answer = {
        .buffer = name_of(0), .known = true, .low = write_word(0, TP_BOARD_FREE)};
    assert_true(tp_slots_state(w.s, &answer, -1, w.now));
    assert_int_equal(choose().slot, 0);
    end(0);
}

static void the_bound_is_at_least_33_ms(void **data)
{
    (void)data;
    begin_silence(FULL);
    struct tp_timeline_frame t = {.pipeline = 1, .time_ns = w.now, .period_ns = T / 4};
    tp_slots_timeline(w.s, &t);
    assert_int_equal(choose_since(w.now, w.now).wait.until_ns, w.now + 33 * MS);
    end(0);
}

static void without_board_and_query_it_is_handed_out_at_the_bound(void **data)
{
    (void)data;
    struct tp_slots_counts n;
    begin_silence(TP_CAP_RELEASE_FENCE);
    int64_t since = w.now;
    assert_int_equal(choose_since(since, since + 3 * T - 1).slot, -1);
    struct tp_slots_choice c = choose_since(since, since + 3 * T);
    assert_int_equal(c.slot, 0);
    assert_true(c.unsafe);
    struct tp_slots_taken t;
    tp_slots_take(w.s, &c, w.now, &t);
    tp_slots_counts(w.s, &n);
    assert_int_equal(n.unsafe, 1);
    /* The fence comes in the end, and is used. */
    fence(0, 1);
    tp_slots_presented(w.s, 0, w.now);
    tp_slots_committed(w.s, 0, w.now);
    give_back(0);
    assert_int_equal(choose().slot, -1);
    assert_int_equal(choose().wait.fence, 1);
    w.signalled[1] = true;
    assert_int_equal(choose().slot, 0);
    end(1);
}

static void a_query_without_a_board_lets_nothing_unsafe_out(void **data)
{
    (void)data;
    begin_silence(TP_CAP_RELEASE_FENCE | TP_CAP_STATE);
    assert_int_equal(choose_since(w.now, w.now + 100 * T).slot, -1);
    struct tp_state_frame answer = {.buffer = name_of(0),
        .known = true,
        .kind = TP_FENCE_SYNC_FILE,
        .low = write_word(0, TP_BOARD_FENCED)};
    assert_true(tp_slots_state(w.s, &answer, 1, w.now));
    assert_int_equal(choose().wait.fence, 1);
    w.signalled[1] = true;
    assert_int_equal(choose().slot, 0);
    end(1);
}

/* --- without a server, and with old ones --- */

static void without_a_server_what_the_compositor_gives_back_is_ready(void **data)
{
    (void)data;
    begin(1, 0, TP_RELEASE_WAIT_CPU);
    show(0);
    struct tp_slots_choice c = choose();
    assert_int_equal(c.slot, -1);
    assert_true(c.wait.compositor);
    assert_false(c.for_release);
    give_back(0);
    assert_int_equal(choose().slot, 0);
    end(0);
}

static void release_fences_can_be_switched_off(void **data)
{
    (void)data;
    w = (struct world){.now = 1000 * MS};
    struct tp_slots_config c = {.images = 1, .release = false, .period_ns = T};
    assert_int_equal(tp_slots_create(&c, &ops, NULL, &w.s), 0);
    connect_server(FULL);
    register_slot(0, TP_BOARD_FREE);
    shown(0);
    give_back(0);
    assert_int_equal(choose().slot, 0);
    end(0);
}

static void a_refused_registration_leaves_it_to_the_compositor(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_CPU);
    struct tp_buffer_name name = name_of(0);
    name.generation = 50;
    tp_slots_register(w.s, 0, &name, w.now);
    struct tp_register_frame answer = {.buffer = name, .result = -ENOSPC};
    answer.buffer.index = TP_BUFFER_NO_INDEX;
    assert_true(tp_slots_registered(w.s, &answer, w.now));
    show(0);
    give_back(0);
    assert_int_equal(choose().slot, 0);
    end(0);
}

static void what_was_presented_before_the_answer_waits_for_the_answer(void **data)
{
    (void)data;
    begin(1, 0, TP_RELEASE_WAIT_CPU);
    connect_server(FULL);
    struct tp_buffer_name name = name_of(0);
    tp_slots_register(w.s, 0, &name, w.now);
    assert_int_equal(choose().slot, 0); /* it never was with anybody */
    show(0);
    give_back(0);
    assert_int_equal(choose().slot, -1);
    struct tp_register_frame answer = {.buffer = name, .low = write_word(0, TP_BOARD_FREE)};
    assert_true(tp_slots_registered(w.s, &answer, w.now));
    assert_int_equal(choose().slot, 0);
    end(0);
}

/* --- the server's end closes --- */

static void what_was_on_the_panel_is_quarantined_when_the_server_goes(void **data)
{
    (void)data;
    begin(3, FULL, TP_RELEASE_WAIT_CPU);
    shown(0);
    replace(0);
    fence(0, 1);
    give_back(0); /* the panel reads it */
    show(1);      /* the compositor has it */
    tp_slots_disconnected(w.s, w.now);
    int64_t until = w.now + QUARANTINE;
    w.signalled[1] = true;
    assert_int_equal(state(0), TP_SLOT_QUARANTINED);
    assert_int_equal(state(1), TP_SLOT_HELD);
    assert_int_equal(state(2), TP_SLOT_READY);
    show(2);
    struct tp_slots_choice c = choose();
    assert_int_equal(c.slot, -1);
    assert_int_equal(c.wait.until_ns, until);
    w.now = until;
    assert_int_equal(choose().slot, 0);
    /* Nobody can say who shows it now. */
    give_back(1);
    assert_int_equal(state(1), TP_SLOT_QUARANTINED);
    end(1);
}

/* What is replaced 1 ms after a refresh is due with the second one after it. */
static void a_quarantine_is_longer_by_what_the_panel_was_late(void **data)
{
    (void)data;
    for (unsigned late = 0; late < 4; late++) {
        begin(1, FULL, TP_RELEASE_WAIT_CPU);
        int64_t refresh = w.now;
        struct tp_timeline_frame t = {
            .pipeline = 1, .time_ns = refresh, .period_ns = T, .lead_ns = 2 * MS};
        tp_slots_timeline(w.s, &t);
        shown(0);
        replace(0);
        fence(0, 1);
        give_back(0);
        for (unsigned i = 1; i <= 2 + late; i++) {
            w.now = refresh + i * T - MS; /* the game looks each refresh */
            assert_int_equal(choose().slot, -1);
        }
        w.now += MS + MS / 2;
        write_word(0, TP_BOARD_FREE);
        show(0);
        tp_slots_disconnected(w.s, w.now);
        int64_t from = w.now;
        give_back(0);
        assert_int_equal(choose().wait.until_ns, from + (3 + late) * T);
        end(1);
    }
}

/* Of a slower screen it is heard only when a quarantine has begun. */
static void a_quarantine_lasts_as_long_as_on_the_slowest_screen(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_CPU);
    show(0);
    tp_slots_disconnected(w.s, w.now);
    int64_t from = w.now;
    give_back(0);
    struct tp_timeline_frame t = {.pipeline = 2, .time_ns = from, .period_ns = 3 * T};
    tp_slots_screen(w.s, &t);
    assert_int_equal(choose().wait.until_ns, from + 3 * (4 + 2) * T);
    t = (struct tp_timeline_frame){.pipeline = 0, .time_ns = from, .period_ns = T / 2};
    tp_slots_screen(w.s, &t);
    assert_int_equal(choose().wait.until_ns, from + 3 * (4 + 2) * T);
    end(0);
}

/* A panel that lets go later than a quarantine is long. The fence says when; no other server can
 * say it is free before; and where it never signals it is given up after a second. */
static void a_fence_in_hand_outlives_its_server(void **data)
{
    (void)data;
    for (int i = 0; i < 4; i++) {
        bool silent = i % 2, again = i / 2;
        begin(2, FULL, (enum tp_release_wait)(TP_RELEASE_WAIT_CPU + i % 3));
        shown(0);
        replace(0);
        fence(0, 1);
        give_back(0);
        show(1);
        tp_slots_disconnected(w.s, w.now);
        int64_t end_ns = w.now + 1000 * MS;
        if (again) {
            connect_server(FULL);
            register_slot(0, TP_BOARD_FREE);
        }
        for (w.now += QUARANTINE; w.now < end_ns; w.now += 20 * MS) {
            struct tp_slots_choice c;
            tp_slots_choose(w.s, end_ns - 1000 * MS, w.now, &c);
            assert_int_equal(c.slot, -1);
            assert_int_equal(c.wait.fence, 1);
            assert_true(c.wait.until_ns <= end_ns);
        }
        w.now = silent ? end_ns : end_ns - 100 * MS;
        w.signalled[1] = !silent;
        assert_int_equal(take().slot, 0);
        end(1);
    }
}

static void a_server_that_comes_back_says_how_things_stand(void **data)
{
    (void)data;
    begin(2, FULL, TP_RELEASE_WAIT_CPU);
    shown(0);
    show(1);
    tp_slots_disconnected(w.s, w.now);
    int64_t until = w.now + QUARANTINE;
    give_back(0);
    connect_server(FULL);
    struct tp_buffer_name name = name_of(0);
    tp_slots_register(w.s, 0, &name, w.now);
    w.now = until + MS;
    assert_int_equal(choose().slot, -1); /* not before its answer */
    struct tp_register_frame answer = {.buffer = name, .low = write_word(0, TP_BOARD_SHOWN)};
    assert_true(tp_slots_registered(w.s, &answer, w.now));
    assert_int_equal(choose().slot, -1);
    write_word(0, TP_BOARD_FREE);
    assert_int_equal(choose().slot, 0);
    end(0);
}

static void a_fenced_answer_waits_for_the_note_with_the_fence(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_CPU);
    show(0);
    tp_slots_disconnected(w.s, w.now);
    give_back(0);
    w.now += QUARANTINE;
    connect_server(FULL);
    register_slot(0, TP_BOARD_FENCED);
    assert_int_equal(choose().slot, -1);
    struct tp_note note = {.buffer = name_of(0),
        .what = TP_NOTE_FINAL,
        .kind = TP_FENCE_SYNC_FILE,
        .low = tp_board_low(w.sequences[0], TP_BOARD_FENCED)};
    assert_true(tp_slots_note(w.s, &note, true, 1, w.now));
    assert_int_equal(choose().slot, -1);
    w.signalled[1] = true;
    assert_int_equal(choose().slot, 0);
    end(1);
}

static void a_free_answer_ends_no_quarantine(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_CPU);
    shown(0);
    tp_slots_disconnected(w.s, w.now);
    int64_t until = w.now + QUARANTINE;
    connect_server(FULL);
    register_slot(0, TP_BOARD_FREE);
    give_back(0);
    assert_int_equal(choose().slot, -1);
    w.now = until;
    assert_int_equal(choose().slot, 0);
    end(0);
}

/* The words of a server that was killed stay as they were. */
static void what_came_back_before_anybody_looked_is_quarantined_with_the_server(void **data)
{
    (void)data;
    begin(2, FULL, TP_RELEASE_WAIT_CPU);
    for (unsigned i = 0; i < 2; i++) {
        shown(i);
        write_word(i, TP_BOARD_FREE);
    }
    assert_false(tp_slots_doubtful(w.s));
    give_back(0);
    assert_true(tp_slots_doubtful(w.s));
    tp_slots_assured(w.s);
    assert_false(tp_slots_doubtful(w.s));
    give_back(1);
    tp_slots_disconnected(w.s, w.now);
    assert_false(tp_slots_doubtful(w.s));
    assert_int_equal(state(0), TP_SLOT_READY);
    assert_int_equal(state(1), TP_SLOT_QUARANTINED);
    w.now += QUARANTINE;
    assert_int_equal(state(1), TP_SLOT_READY);
    end(0);
}

/* One that came and went before this one was met may have shown it. */
static void what_the_compositor_has_when_a_server_is_met_is_quarantined(void **data)
{
    (void)data;
    begin(2, FULL, TP_RELEASE_WAIT_CPU);
    show(0);
    tp_slots_disconnected(w.s, w.now);
    w.now += 20 * T;
    connect_server(FULL);
    register_slot(0, TP_BOARD_FREE);
    register_slot(1, TP_BOARD_FREE);
    give_back(0);
    assert_int_equal(state(0), TP_SLOT_QUARANTINED);
    assert_int_equal(state(1), TP_SLOT_READY);
    w.now += QUARANTINE;
    assert_int_equal(state(0), TP_SLOT_READY);
    end(0);
}

static void what_came_back_when_none_was_known_is_quarantined_once_one_comes(void **data)
{
    (void)data;
    begin(3, 0, TP_RELEASE_WAIT_CPU);
    show(0);
    give_back(0);
    assert_true(tp_slots_doubtful(w.s));
    assert_int_equal(take().slot, 1); /* it never was with anybody */
    tp_slots_returned(w.s, 1, w.now);
    tp_slots_disconnected(w.s, w.now);
    assert_int_equal(state(0), TP_SLOT_QUARANTINED);
    assert_int_equal(state(1), TP_SLOT_READY);
    w.now += QUARANTINE;
    /* None came after all. */
    tp_slots_alone(w.s, w.now);
    assert_int_equal(state(0), TP_SLOT_READY);
    end(0);
}

static void a_compositor_that_goes_gives_back_all_that_it_holds(void **data)
{
    (void)data;
    begin(2, FULL, TP_RELEASE_WAIT_CPU);
    shown(0);
    assert_int_equal(take().slot, 1);
    tp_slots_presented(w.s, 1, w.now);
    tp_slots_compositor_gone(w.s, w.now);
    assert_int_equal(choose().slot, -1); /* its commits may still be on their way */
    w.now += QUARANTINE;
    assert_int_equal(choose().slot, 1);
    assert_int_equal(state(0), TP_SLOT_REPLACED); /* the panel still has it */
    end(0);
}

static void an_image_that_comes_back_unused_is_ready(void **data)
{
    (void)data;
    begin(1, FULL, TP_RELEASE_WAIT_CPU);
    assert_int_equal(tp_slots_presented(w.s, 0, w.now), -EINVAL);
    take();
    assert_int_equal(tp_slots_acquired(w.s), 1);
    tp_slots_returned(w.s, 0, w.now);
    assert_int_equal(tp_slots_acquired(w.s), 0);
    assert_int_equal(choose().slot, 0);
    end(0);
}

/* --- an acquire as a whole --- */

static enum tp_acquire_end step(struct tp_acquire *a, int64_t now, struct tp_slots_wait *wait)
{
    struct tp_acquired got;
    return tp_acquire_step(a, now, wait, &got);
}

static void a_timeout_of_0_never_waits(void **data)
{
    (void)data;
    struct tp_acquire a;
    struct tp_slots_wait wait;
    struct tp_slots_counts n;
    begin_silence(FULL);
    tp_acquire_begin(&a, w.s, NULL, w.now, 0);
    assert_int_equal(step(&a, w.now, &wait), TP_ACQUIRE_NOT_READY);
    tp_slots_counts(w.s, &n);
    assert_int_equal(n.release_waits, 0);
    write_word(0, TP_BOARD_FREE);
    tp_acquire_begin(&a, w.s, NULL, w.now, 0);
    assert_int_equal(step(&a, w.now, &wait), TP_ACQUIRE_TAKEN);
    end(0);
}

static void a_finite_timeout_ends_in_time_and_an_infinite_one_does_not(void **data)
{
    (void)data;
    struct tp_acquire a;
    struct tp_slots_wait wait;
    begin_silence(FULL);
    tp_acquire_begin(&a, w.s, NULL, w.now, 5 * MS);
    assert_int_equal(step(&a, w.now, &wait), TP_ACQUIRE_WAIT);
    assert_int_equal(wait.until_ns, w.now + 5 * MS);
    assert_int_equal(step(&a, w.now + 5 * MS - 1, &wait), TP_ACQUIRE_WAIT);
    assert_int_equal(step(&a, w.now + 5 * MS, &wait), TP_ACQUIRE_TIMEOUT);
    assert_int_equal(state(0), TP_SLOT_REPLACED);
    static const uint64_t endless[] = {UINT64_MAX, UINT64_MAX - 1, INT64_MAX};
    for (unsigned i = 0; i < 3; i++) {
        tp_acquire_begin(&a, w.s, NULL, w.now, endless[i]);
        assert_int_equal(step(&a, w.now, &wait), TP_ACQUIRE_WAIT);
        assert_int_equal(step(&a, w.now + INT64_C(86400000) * MS, &wait), TP_ACQUIRE_WAIT);
    }
    end(0);
}

static void waits_are_counted_by_what_they_were_for(void **data)
{
    (void)data;
    struct tp_acquire a;
    struct tp_acquired got;
    struct tp_slots_wait wait;
    struct tp_slots_counts n;
    begin(1, FULL, TP_RELEASE_WAIT_CPU);
    shown(0);
    int64_t t0 = w.now;
    tp_acquire_begin(&a, w.s, NULL, t0, UINT64_MAX);
    assert_int_equal(step(&a, t0, &wait), TP_ACQUIRE_WAIT);
    assert_true(wait.compositor);
    replace(0);
    w.now = t0 + 3 * MS;
    give_back(0);
    assert_int_equal(step(&a, t0 + 3 * MS, &wait), TP_ACQUIRE_WAIT);
    assert_int_equal(wait.board_index, 0);
    write_word(0, TP_BOARD_FREE);
    assert_int_equal(tp_acquire_step(&a, t0 + 10 * MS, &wait, &got), TP_ACQUIRE_TAKEN);
    assert_int_equal(got.slot_ns, 3 * MS);
    assert_int_equal(got.release_ns, 7 * MS);
    assert_int_equal(got.gate_ns, 0);
    tp_slots_counts(w.s, &n);
    assert_int_equal(n.slot_waits, 1);
    assert_int_equal(n.release_waits, 1);
    end(0);
}

/* Waits for the compositor do not bring the panel's bound nearer. */
static void the_bound_counts_from_when_the_panel_is_waited_for(void **data)
{
    (void)data;
    struct tp_acquire a;
    struct tp_slots_wait wait;
    begin(1, FULL, TP_RELEASE_WAIT_CPU);
    shown(0);
    int64_t t0 = w.now;
    tp_acquire_begin(&a, w.s, NULL, t0, UINT64_MAX);
    assert_int_equal(step(&a, t0, &wait), TP_ACQUIRE_WAIT);
    replace(0);
    tp_slots_released(w.s, 0, -1, TP_FENCE_NONE, t0 + 500 * MS);
    assert_int_equal(step(&a, t0 + 500 * MS, &wait), TP_ACQUIRE_WAIT);
    assert_false(wait.ask);
    assert_int_equal(step(&a, t0 + 500 * MS + 3 * T, &wait), TP_ACQUIRE_WAIT);
    assert_true(wait.ask);
    end(0);
}

static struct tp_gate *make_gate(int64_t refresh)
{
    struct tp_gate *g;
    struct tp_gate_settings s = {.mode = TP_GATE_VSYNC};
    struct tp_timeline_frame t = {
        .pipeline = 1, .time_ns = refresh, .period_ns = T, .lead_ns = 2 * MS};
    assert_int_equal(tp_gate_create(&s, &g), 0);
    tp_gate_timeline(g, &t);
    return g;
}

static void a_frame_starts_at_the_later_of_grid_and_release(void **data)
{
    (void)data;
    struct tp_acquire a;
    struct tp_acquired got;
    struct tp_slots_wait wait;
    begin(2, FULL, TP_RELEASE_WAIT_CPU);
    int64_t r0 = w.now;
    struct tp_gate *g = make_gate(r0);
    pass(0, 1);
    show(1);
    int64_t t0 = r0 + 5 * MS;
    /* The release comes before the grid's instant: the grid. */
    tp_acquire_begin(&a, w.s, g, t0, UINT64_MAX);
    assert_int_equal(step(&a, t0, &wait), TP_ACQUIRE_WAIT);
    assert_int_equal(wait.fence, 1);
    w.signalled[1] = true;
    assert_int_equal(step(&a, t0 + MS, &wait), TP_ACQUIRE_WAIT);
    assert_int_equal(wait.until_ns, r0 + T - 2 * MS);
    assert_true(!wait.compositor && !wait.channel && wait.fence < 0 && wait.board_index < 0);
    assert_int_equal(tp_acquire_step(&a, r0 + T - 2 * MS, &wait, &got), TP_ACQUIRE_TAKEN);
    assert_int_equal(got.release_ns, MS);
    assert_int_equal(got.gate_ns, T - 2 * MS - 6 * MS);
    assert_true(got.frame > 0);
    w.now = r0 + T;
    tp_slots_presented(w.s, 0, w.now);
    tp_slots_committed(w.s, 0, w.now);
    publish(0);
    replace(1);
    fence(1, 2);
    give_back(1);
    /* It comes after: at once, and it is booked from there. */
    tp_acquire_begin(&a, w.s, g, r0 + T + MS, UINT64_MAX);
    assert_int_equal(step(&a, r0 + T + MS, &wait), TP_ACQUIRE_WAIT);
    w.signalled[2] = true;
    int64_t release = r0 + 2 * T + MS;
    assert_int_equal(tp_acquire_step(&a, release, &wait, &got), TP_ACQUIRE_TAKEN);
    struct tp_gate_frame f;
    assert_true(tp_gate_frame(g, got.frame, &f));
    assert_int_equal(f.start_ns, release);
    assert_true(f.latch_ns > release);
    tp_gate_destroy(g);
    end(2);
}

static void an_acquire_that_gives_up_leaves_the_schedule_as_it_was(void **data)
{
    (void)data;
    struct tp_acquire a;
    struct tp_slots_wait wait;
    begin(1, FULL, TP_RELEASE_WAIT_CPU);
    struct tp_gate *g = make_gate(w.now);
    int64_t grid = w.now + T - 2 * MS;
    tp_acquire_begin(&a, w.s, g, w.now, 0);
    assert_int_equal(step(&a, w.now, &wait), TP_ACQUIRE_NOT_READY);
    tp_acquire_begin(&a, w.s, g, w.now, MS);
    assert_int_equal(step(&a, w.now, &wait), TP_ACQUIRE_WAIT);
    assert_int_equal(wait.until_ns, w.now + MS);
    assert_int_equal(step(&a, w.now + MS, &wait), TP_ACQUIRE_TIMEOUT);
    struct tp_gate_counts n;
    tp_gate_counts(g, &n);
    assert_int_equal(n.frames, 0);
    assert_int_equal(state(0), TP_SLOT_READY);
    tp_acquire_begin(&a, w.s, g, grid, 0);
    assert_int_equal(step(&a, grid, &wait), TP_ACQUIRE_TAKEN);
    tp_gate_destroy(g);
    end(0);
}

/* With minImageCount m of N images and N - m + 1 with the guest, what is left is m - 1 on the panel
 * and on its way there: one of these comes back when its successor is shown. */
static void n_minus_m_plus_1_images_can_be_had(void **data)
{
    (void)data;
    for (unsigned n = 2; n <= 5; n++) {
        begin(n, FULL, TP_RELEASE_WAIT_CPU);
        unsigned m = 2;
        for (unsigned i = 0; i < n; i++) { /* all have been shown once */
            shown(i);
            if (i == 0)
                continue;
            replace(i - 1);
            write_word(i - 1, TP_BOARD_FREE);
            give_back(i - 1);
        }
        for (unsigned i = 0; i < n - m + 1; i++)
            take();
        assert_int_equal(tp_slots_acquired(w.s), n - m + 1);
        assert_int_equal(choose().slot, -1);
        end(0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifo_has_three_images_and_one_for_each_stage_of_the_pipeline),
        cmocka_unit_test(waits_that_cannot_be_become_the_cpus),
        cmocka_unit_test(as_many_images_as_there_can_be),
        cmocka_unit_test(acquire_prefers_the_image_that_is_idle_longest),
        cmocka_unit_test(acquire_prefers_an_image_the_panel_has_left),
        cmocka_unit_test(a_ready_image_costs_no_look_at_a_fence),
        cmocka_unit_test(a_signalled_fence_comes_before_an_unsignalled_one),
        cmocka_unit_test(what_the_board_shows_is_not_handed_out_whoever_gave_it_back),
        cmocka_unit_test(a_word_of_another_generation_frees_nothing),
        cmocka_unit_test(a_fenced_image_is_waited_for_by_its_fence),
        cmocka_unit_test(free_on_the_board_voids_the_fence),
        cmocka_unit_test(a_lost_final_note_is_waited_for_on_the_board),
        cmocka_unit_test(a_late_fence_of_an_earlier_use_is_kept_and_proves_nothing),
        cmocka_unit_test(what_came_for_one_use_says_nothing_of_the_next),
        cmocka_unit_test(all_fences_of_a_buffer_on_two_screens_are_waited_for),
        cmocka_unit_test(a_note_twice_or_late_changes_nothing),
        cmocka_unit_test(notes_for_others_are_left_to_the_caller),
        cmocka_unit_test(the_gpu_gets_the_fences_of_the_image),
        cmocka_unit_test(a_fence_that_polls_is_waited_for_by_the_cpu),
        cmocka_unit_test(one_fence_that_polls_among_others_keeps_the_image_from_the_gpu),
        cmocka_unit_test(an_implicit_wait_needs_no_fence_in_hand),
        cmocka_unit_test(a_gpu_wait_is_predicted_by_the_first_line_of_the_successor),
        cmocka_unit_test(past_the_bound_the_server_is_asked_and_nothing_is_handed_out),
        cmocka_unit_test(the_bound_is_at_least_33_ms),
        cmocka_unit_test(without_board_and_query_it_is_handed_out_at_the_bound),
        cmocka_unit_test(a_query_without_a_board_lets_nothing_unsafe_out),
        cmocka_unit_test(without_a_server_what_the_compositor_gives_back_is_ready),
        cmocka_unit_test(release_fences_can_be_switched_off),
        cmocka_unit_test(a_refused_registration_leaves_it_to_the_compositor),
        cmocka_unit_test(what_was_presented_before_the_answer_waits_for_the_answer),
        cmocka_unit_test(what_was_on_the_panel_is_quarantined_when_the_server_goes),
        cmocka_unit_test(a_quarantine_is_longer_by_what_the_panel_was_late),
        cmocka_unit_test(a_quarantine_lasts_as_long_as_on_the_slowest_screen),
        cmocka_unit_test(a_fence_in_hand_outlives_its_server),
        cmocka_unit_test(a_server_that_comes_back_says_how_things_stand),
        cmocka_unit_test(a_fenced_answer_waits_for_the_note_with_the_fence),
        cmocka_unit_test(a_free_answer_ends_no_quarantine),
        cmocka_unit_test(what_came_back_before_anybody_looked_is_quarantined_with_the_server),
        cmocka_unit_test(what_the_compositor_has_when_a_server_is_met_is_quarantined),
        cmocka_unit_test(what_came_back_when_none_was_known_is_quarantined_once_one_comes),
        cmocka_unit_test(a_compositor_that_goes_gives_back_all_that_it_holds),
        cmocka_unit_test(an_image_that_comes_back_unused_is_ready),
        cmocka_unit_test(a_timeout_of_0_never_waits),
        cmocka_unit_test(a_finite_timeout_ends_in_time_and_an_infinite_one_does_not),
        cmocka_unit_test(waits_are_counted_by_what_they_were_for),
        cmocka_unit_test(the_bound_counts_from_when_the_panel_is_waited_for),
        cmocka_unit_test(a_frame_starts_at_the_later_of_grid_and_release),
        cmocka_unit_test(an_acquire_that_gives_up_leaves_the_schedule_as_it_was),
        cmocka_unit_test(n_minus_m_plus_1_images_can_be_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
