/* Release notes, each behaviour by itself: what is written, sent and closed, in which order. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frames/server/notes.h"

#define FULL (TP_CAP_TIMELINE | TP_CAP_BOARD | TP_CAP_RELEASE_FENCE | TP_CAP_STATE | TP_CAP_CONTROL)
#define MS INT64_C(1000000)

static const struct tp_identity X = {1, 10}, Y = {1, 11}, Z = {1, 12}, NOTHING;

/* Everything that was asked for, a line each. */
static char story[1 << 16];
static size_t story_bytes;
static bool blank_fails, tell_implicit;

static void say(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    story_bytes += (size_t)vsnprintf(story + story_bytes, sizeof story - story_bytes, fmt, args);
    va_end(args);
    assert_true(story_bytes < sizeof story);
}

/* The story since the last look. */
static void expect_at(int line, const char *expected)
{
    story[story_bytes] = 0;
    if (strcmp(story, expected) != 0)
        fail_msg("line %d: expected\n%sbut was\n%s", line, expected, story);
    story_bytes = 0;
    story[0] = 0;
}
#define expect(expected) expect_at(__LINE__, expected)

struct peer {
    const char *name;
    int room; /* frames that its socket takes; -1: any number */
    bool no_fds, broken;
    struct tp_notes_peer *peer;
};

static const char *state_name(uint32_t low)
{
    static const char *const names[] = {"free", "replaced", "fenced", "shown"};
    return names[tp_board_state_of(low)];
}

static const char *fence_name(const struct tp_scanout_frame *f, enum tp_fence_kind kind)
{
    static char out[32];
    if (kind == TP_FENCE_LOST)
        return ", fence lost";
    assert_int_equal(kind != TP_FENCE_NONE, f->fd >= 0);
    snprintf(out, sizeof out, ", fence %d", f->fd);
    return f->fd < 0 ? "" : out;
}

static int on_send(void *data, void *arg, const struct tp_scanout_frame *f)
{
    struct peer *p = arg;
    (void)data;
    if (p->broken)
        return -EPIPE;
    if (p->room == 0)
        return -EAGAIN;
    if (p->no_fds && f->fd >= 0)
        return -ETOOMANYREFS;
    p->room -= p->room > 0;
    say("%s: %s", p->name, f->flags & TP_SCANOUT_RESYNC ? "resync " : "");
    switch (f->fourcc) {
    case TP_FRAME_REGISTER:
        say("#%u ", f->sequence);
        if (f->u.reg.result < 0)
            say("refused %d\n", f->u.reg.result);
        else
            say("registered %u, %s\n", f->u.reg.buffer.index, state_name(f->u.reg.low));
        break;
    case TP_FRAME_STATE:
        say("#%u ", f->sequence);
        if (!f->u.state.known)
            say("unknown\n");
        else
            say("state of %u, %s%s\n", f->u.state.buffer.index, state_name(f->u.state.low),
                fence_name(f, f->u.state.kind));
        break;
    case TP_FRAME_NOTE:
        say("%s %u/%u.%u, %s%s\n", f->u.note.what == TP_NOTE_PENDING ? "pending" : "final",
            f->u.note.buffer.index, (unsigned)f->u.note.serial, f->u.note.layer,
            state_name(f->u.note.low), fence_name(f, f->u.note.kind));
        break;
    case TP_FRAME_TIMELINE:
        say("refresh %u\n", (unsigned)f->u.timeline.sequence);
        break;
    case TP_FRAME_SETTING:
        say("setting %d is %d\n", (int)f->u.setting.setting, (int)f->u.setting.value);
        break;
    default:
        fail();
    }
    return 0;
}

static void on_board(void *data, void *arg, unsigned index, uint64_t word)
{
    struct peer *p = arg;
    (void)data;
    say("%s: board %u is %u %s\n", p->name, index, (unsigned)(word >> 32),
        state_name((uint32_t)word));
}

static void on_watch(void *data, int fence)
{
    (void)data;
    say("watch %d\n", fence);
}

static void on_implicit(void *data, int memory, int fence)
{
    (void)data;
    if (tell_implicit)
        say("fence %d into memory %d\n", fence, memory);
}

static void on_close_fence(void *data, int fence)
{
    (void)data;
    say("close fence %d\n", fence);
}

static void on_close_memory(void *data, int memory)
{
    (void)data;
    say("close memory %d\n", memory);
}

static int on_blank(void *data, unsigned output)
{
    (void)data;
    say("blank %u\n", output);
    return blank_fails ? -ENODEV : 0;
}

static struct tp_notes *n;

static int begin(void **state)
{
    static const struct tp_notes_ops ops = {
        .send = on_send,
        .board = on_board,
        .watch = on_watch,
        .implicit = on_implicit,
        .close_fence = on_close_fence,
        .close_memory = on_close_memory,
        .blank = on_blank};
    const struct tp_notes_limits limits = {.peers = 4, .buffers = 3, .uses = 16};
    (void)state;
    story_bytes = 0;
    blank_fails = tell_implicit = false;
    tp_notes_create(&limits, &ops, NULL, &n);
    return 0;
}

static int end(void **state)
{
    (void)state;
    tp_notes_destroy(n);
    return 0;
}

static void join(struct peer *p, const char *name, uint64_t capabilities)
{
    *p = (struct peer){.name = name, .room = -1};
    assert_int_equal(tp_notes_connect(n, capabilities, p, &p->peer), 0);
}

static void enrol(struct peer *p, struct tp_identity id, uint32_t generation, int memory)
{
    const struct tp_buffer_name name = {id, generation, TP_BUFFER_NO_INDEX};
    tp_notes_register(n, p->peer, &name, memory, 77);
}

/* Publishes a picture of one layer; the apply succeeds. */
static void show(uint64_t serial, struct tp_identity id, int64_t now_ns)
{
    tp_notes_before_apply(n, 0, serial, &id, 1, now_ns);
    say("apply %u\n", (unsigned)serial);
    tp_notes_after_apply(n, 0, serial, 0);
}

static void forget_story(void)
{
    story_bytes = 0;
}

/* --- --- */

static void the_board_and_the_pending_note_come_before_the_apply(void **state)
{
    static struct peer a;
    (void)state;
    join(&a, "a", FULL);
    enrol(&a, X, 5, 100);
    enrol(&a, Y, 6, 101);
    expect("a: board 0 is 5 free\na: #77 registered 0, free\n"
           "a: board 1 is 6 free\na: #77 registered 1, free\n");
    show(1, X, 0);
    expect("a: board 0 is 5 shown\napply 1\n");
    show(2, Y, 0);
    expect("a: board 1 is 6 shown\na: board 0 is 5 replaced\na: pending 0/1.0, replaced\n"
           "apply 2\n");
}

static void a_fence_goes_to_the_guest_and_free_is_written_when_it_has_signalled(void **state)
{
    static struct peer a;
    (void)state;
    join(&a, "a", FULL);
    enrol(&a, X, 5, 100);
    show(1, X, 0);
    show(2, Y, 0);
    forget_story();
    tp_notes_released(n, 0, 1, 0, 200, TP_FENCE_SYNC_FILE, 0);
    expect("watch 200\na: board 0 is 5 fenced\na: final 0/1.0, fenced, fence 200\n");
    tp_notes_signalled(n, 200);
    expect("close fence 200\na: board 0 is 5 free\n");
    tp_notes_signalled(n, 200); /* nobody's now */
    expect("");
}

static void no_fence_means_that_it_is_free_already(void **state)
{
    static struct peer a;
    (void)state;
    join(&a, "a", FULL);
    enrol(&a, X, 5, 100);
    show(1, X, 0);
    show(2, Y, 0);
    forget_story();
    tp_notes_released(n, 0, 1, 0, -1, TP_FENCE_NONE, 0);
    expect("a: board 0 is 5 free\na: final 0/1.0, free\n");
    tp_notes_released(n, 0, 1, 0, 201, TP_FENCE_POLL, 0); /* told twice */
    expect("close fence 201\n");
}

static void a_buffer_that_is_shown_again_was_not_replaced(void **state)
{
    static struct peer a;
    (void)state;
    join(&a, "a", FULL);
    enrol(&a, X, 5, 100);
    show(1, X, 0);
    show(2, X, 0);
    show(3, Y, 0);
    forget_story();
    /* The panel lets both pictures go; the buffer is free when the last fence has signalled. */
    tp_notes_released(n, 0, 2, 0, 200, TP_FENCE_POLL, 0);
    expect("watch 200\na: final 0/2.0, replaced, fence 200\n");
    tp_notes_released(n, 0, 1, 0, 201, TP_FENCE_POLL, 0);
    tp_notes_signalled(n, 200);
    expect("watch 201\nclose fence 200\n");
    tp_notes_signalled(n, 201);
    expect("close fence 201\na: board 0 is 5 free\na: resync final 0/1.0, free\n");
}

static void a_buffer_on_two_screens_is_free_of_both(void **state)
{
    static struct peer a;
    (void)state;
    join(&a, "a", FULL);
    enrol(&a, X, 5, 100);
    show(1, X, 0);
    tp_notes_before_apply(n, 1, 2, &X, 1, 0);
    show(3, Y, 0);
    forget_story();
    tp_notes_released(n, 0, 1, 0, -1, TP_FENCE_NONE, 0);
    expect("a: final 0/1.0, shown\n");
    tp_notes_before_apply(n, 1, 4, &Y, 1, 0);
    tp_notes_released(n, 1, 2, 0, -1, TP_FENCE_NONE, 0);
    expect("a: board 0 is 5 replaced\na: pending 0/2.0, replaced\n"
           "a: board 0 is 5 free\na: final 0/2.0, free\n");
}

static void a_picture_that_was_refused_replaced_nothing(void **state)
{
    static struct peer a;
    (void)state;
    join(&a, "a", FULL);
    enrol(&a, X, 5, 100);
    enrol(&a, Y, 6, 101);
    show(1, X, 0);
    tp_notes_before_apply(n, 0, 2, &Y, 1, 0);
    forget_story();
    tp_notes_after_apply(n, 0, 2, -EAGAIN);
    expect("a: board 0 is 5 shown\na: board 1 is 6 free\na: resync final 1/0.0, free\n");
    assert_true(tp_notes_deadline(n) == INT64_MAX); /* and no release is waited for */
    /* It comes again: one pending note is enough. */
    show(2, Y, 0);
    expect("a: board 1 is 6 shown\na: board 0 is 5 replaced\napply 2\n");
    tp_notes_released(n, 0, 1, 0, -1, TP_FENCE_NONE, 0);
    expect("a: board 0 is 5 free\na: final 0/1.0, free\n");
}

static void a_screen_that_goes_away_frees_all_it_had(void **state)
{
    static struct peer a;
    (void)state;
    join(&a, "a", FULL);
    enrol(&a, X, 5, 100);
    enrol(&a, Y, 6, 101);
    enrol(&a, Z, 7, 102);
    show(1, X, 0);
    show(2, Y, 0);
    tp_notes_released(n, 0, 1, 0, 200, TP_FENCE_POLL, 0);
    show(3, Z, 0);
    forget_story();
    tp_notes_away(n, 0, true);
    expect("close fence 200\na: board 0 is 5 free\na: resync final 0/1.0, free\n"
           "a: board 1 is 6 free\na: final 1/2.0, free\n"
           "a: board 2 is 7 replaced\na: pending 2/3.0, replaced\n"
           "a: board 2 is 7 free\na: final 2/3.0, free\n");
    show(4, X, 0); /* goes nowhere */
    expect("apply 4\n");
    tp_notes_released(n, 0, 2, 0, 201, TP_FENCE_POLL, 0);
    expect("close fence 201\n");
    tp_notes_away(n, 0, false);
    show(5, X, 0);
    expect("a: board 0 is 5 shown\napply 5\n");
    tp_notes_before_apply(n, 0, 6, &Y, 1, 0);
    forget_story();
    tp_notes_after_apply(n, 0, 6, -ENODEV); /* gone, and nobody has said so yet */
    expect("a: board 0 is 5 free\na: final 0/5.0, free\n"
           "a: board 1 is 6 replaced\na: pending 1/6.0, replaced\n"
           "a: board 1 is 6 free\na: final 1/6.0, free\n");
}

static void a_silent_fence_brings_a_blank_whose_showing_ends_the_wait(void **state)
{
    static struct peer a;
    (void)state;
    join(&a, "a", FULL);
    enrol(&a, X, 5, 100);
    enrol(&a, Y, 6, 101);
    show(1, X, 0);
    show(2, Y, 10 * MS);
    tp_notes_released(n, 0, 1, 0, 200, TP_FENCE_POLL, 30 * MS);
    forget_story();
    assert_int_equal(tp_notes_deadline(n), 1030 * MS);
    tp_notes_expire(n, 1030 * MS - 1);
    expect("");
    tp_notes_expire(n, 1030 * MS);
    expect("blank 0\n");
    tp_notes_before_apply(n, 0, 3, NULL, 0, 1040 * MS);
    expect("a: board 1 is 6 replaced\na: pending 1/2.0, replaced\n");
    tp_notes_blanked(n, 0, 3);
    expect("close fence 200\na: board 0 is 5 free\na: resync final 0/1.0, free\n"
           "a: board 1 is 6 free\na: final 1/2.0, free\n");
    assert_true(tp_notes_deadline(n) == INT64_MAX);
}

static void a_panel_that_shows_no_blank_either_is_not_waited_for(void **state)
{
    static struct peer a;
    (void)state;
    join(&a, "a", FULL);
    enrol(&a, X, 5, 100);
    show(1, X, 0);
    show(2, Y, 10 * MS);
    forget_story();
    tp_notes_expire(n, 1010 * MS); /* it has not even said what the fence is */
    expect("blank 0\n");
    assert_int_equal(tp_notes_deadline(n), 2010 * MS);
    tp_notes_expire(n, 2010 * MS);
    expect("a: board 0 is 5 free\na: final 0/1.0, free\n");
    blank_fails = true;
    show(3, X, 3000 * MS);
    show(4, Y, 3000 * MS);
    forget_story();
    tp_notes_expire(n, 4000 * MS);
    expect("blank 0\na: board 0 is 5 free\na: final 0/3.0, free\n");
}

static void nobodys_screen_goes_blank_for_a_buffer_that_nobody_has(void **state)
{
    static struct peer a;
    (void)state;
    join(&a, "a", FULL);
    show(1, X, 0);
    show(2, Y, 10 * MS);
    tp_notes_released(n, 0, 1, 0, 200, TP_FENCE_POLL, 30 * MS);
    forget_story();
    tp_notes_expire(n, 1030 * MS);
    expect("close fence 200\n");
    assert_true(tp_notes_deadline(n) == INT64_MAX);
}

static void a_sync_file_goes_into_the_memory_before_anybody_hears_of_it(void **state)
{
    static struct peer a;
    (void)state;
    join(&a, "a", FULL);
    enrol(&a, X, 5, 100);
    show(1, X, 0);
    show(2, Y, 10 * MS);
    forget_story();
    tell_implicit = true;
    tp_notes_released(n, 0, 1, 0, 200, TP_FENCE_SYNC_FILE, 30 * MS);
    assert_non_null(strstr(story, "fence 200 into memory 100\nwatch 200\na: board 0 is 5 fenced\n"));
    tp_notes_released(n, 0, 2, 0, 201, TP_FENCE_SYNC_FILE, 30 * MS);
    assert_null(strstr(story, "fence 201 into")); /* nobody's memory */
    show(3, X, 40 * MS);
    show(4, Y, 50 * MS);
    tp_notes_released(n, 0, 3, 0, 202, TP_FENCE_POLL, 60 * MS);
    assert_null(strstr(story, "fence 202 into"));
}

static void memory_that_is_not_what_its_name_says_is_refused(void **state)
{
    static struct peer a;
    const struct tp_buffer_name name = {X, 5, TP_BUFFER_NO_INDEX};
    struct tp_notes_counts counts;
    (void)state;
    join(&a, "a", FULL);
    tp_notes_refuse(n, a.peer, &name, 77);
    tp_notes_counts(n, &counts);
    assert_int_equal(counts.registrations, 0);
    expect("a: #77 refused -22\n");
}

static void a_slow_peer_gets_the_outcome_of_many(void **state)
{
    static struct peer a, b;
    struct tp_notes_counts counts;
    (void)state;
    join(&a, "a", FULL & ~TP_CAP_BOARD);
    enrol(&a, X, 5, 100);
    enrol(&a, Y, 6, 101);
    a.room = 0;
    for (unsigned i = 1; i < 1000; i++) {
        show(i, i % 2 ? X : Y, i);
        tp_notes_released(n, 0, i - 1, 0, -1, TP_FENCE_NONE, i);
    }
    show(1000, Z, 1000);
    tp_notes_released(n, 0, 999, 0, 200, TP_FENCE_POLL, 1000);
    assert_false(tp_notes_may_read(a.peer));
    tp_notes_counts(n, &counts);
    assert_int_equal(counts.uses, 2);
    assert_int_equal(counts.fences, 1);
    forget_story();
    a.room = 1;
    tp_notes_drained(n, a.peer);
    expect("a: resync final 0/999.0, fenced, fence 200\n");
    assert_false(tp_notes_may_read(a.peer));
    a.room = -1;
    tp_notes_drained(n, a.peer);
    expect("a: resync final 1/998.0, free\n");
    assert_true(tp_notes_may_read(a.peer));
    tp_notes_signalled(n, 200);
    expect("close fence 200\n");
    /* The others were not held up. */
    join(&b, "b", FULL & ~TP_CAP_BOARD);
    enrol(&b, X, 1, 103);
    a.room = 0;
    show(1001, X, 0);
    show(1002, Z, 0);
    expect("b: #77 registered 0, free\napply 1001\nb: pending 0/1001.0, replaced\napply 1002\n");
}

static void an_answer_and_the_last_of_each_setting_wait_for_room(void **state)
{
    static struct peer a;
    struct tp_timeline_frame tick = {.sequence = 1};
    struct tp_setting_frame cap = {TP_SETTING_CAP, 0, 30000};
    (void)state;
    join(&a, "a", FULL & ~TP_CAP_BOARD);
    a.room = 0;
    enrol(&a, X, 5, 100);
    assert_false(tp_notes_may_read(a.peer));
    for (tick.sequence = 1; tick.sequence < 50; tick.sequence++)
        tp_notes_timeline(n, &tick);
    tp_notes_setting(n, a.peer, &cap);
    cap.value = 45000;
    tp_notes_setting(n, NULL, &cap);
    expect("");
    a.room = -1;
    tp_notes_drained(n, a.peer);
    expect("a: #77 registered 0, free\na: setting 1 is 45000\na: refresh 49\n");
    static struct peer b;
    join(&b, "b", TP_CAP_TIMELINE);
    expect("b: refresh 49\n");
    tp_notes_setting(n, NULL, &cap);
    expect("a: setting 1 is 45000\n"); /* b has no such capability */
}

static void who_comes_back_is_told_how_its_buffers_stand(void **state)
{
    static struct peer a;
    (void)state;
    show(1, X, 0);
    show(2, Y, 0);
    tp_notes_released(n, 0, 1, 0, 200, TP_FENCE_SYNC_FILE, 0);
    show(3, Z, 0);
    forget_story();
    join(&a, "a", FULL);
    enrol(&a, X, 5, 100);
    expect("a: board 0 is 5 fenced\na: #77 registered 0, fenced\n"
           "a: resync final 0/1.0, fenced, fence 200\n");
    enrol(&a, Y, 6, 101);
    expect("a: board 1 is 6 replaced\na: #77 registered 1, replaced\n"
           "a: resync pending 1/2.0, replaced\n");
    enrol(&a, Z, 7, 102);
    expect("a: board 2 is 7 shown\na: #77 registered 2, shown\n");
    tp_notes_released(n, 0, 2, 0, -1, TP_FENCE_NONE, 0);
    expect("a: board 1 is 6 free\na: final 1/2.0, free\n");
}

/* What one fence says does not hold before the others are there. */
static void of_several_fences_the_last_says_that_it_has_them_all(void **state)
{
    static struct peer guest; /* the teardown still tells it */
    (void)state;
    for (unsigned output = 0; output < 3; output++)
        tp_notes_before_apply(n, output, output + 1, &X, 1, MS);
    for (unsigned output = 0; output < 3; output++) {
        tp_notes_before_apply(n, output, output + 11, &Y, 1, 2 * MS);
        tp_notes_released(n, output, output + 1, 0, (int)output + 5, TP_FENCE_SYNC_FILE, 3 * MS);
    }
    join(&guest, "guest", FULL);
    guest.room = 3;
    forget_story();
    enrol(&guest, X, 21, 103);
    expect("guest: board 0 is 21 fenced\n"
           "guest: #77 registered 0, fenced\n"
           "guest: resync final 0/1.0, replaced, fence 5\n"
           "guest: resync final 0/2.0, replaced, fence 6\n");
    /* What was sent is sent again: there was no room for what makes it whole. */
    guest.room = -1;
    tp_notes_drained(n, guest.peer);
    expect("guest: resync final 0/1.0, replaced, fence 5\n"
           "guest: resync final 0/2.0, replaced, fence 6\n"
           "guest: resync final 0/3.0, fenced, fence 7\n");
    tp_notes_signalled(n, 7);
    tp_notes_signalled(n, 5);
    expect("close fence 7\n"
           "close fence 5\n");
    tp_notes_signalled(n, 6);
    expect("close fence 6\n"
           "guest: board 0 is 21 free\n");
}

static void states_are_told_on_request(void **state)
{
    static struct peer a;
    struct tp_buffer_name x = {X, 5, 0}, all = {.index = TP_BUFFER_NO_INDEX};
    (void)state;
    join(&a, "a", FULL & ~TP_CAP_BOARD);
    enrol(&a, X, 5, 100);
    enrol(&a, Y, 6, 101);
    show(1, X, 0);
    show(2, Y, 0);
    forget_story();
    tp_notes_ask(n, a.peer, &x, 8);
    expect("a: #8 state of 0, replaced\n");
    tp_notes_released(n, 0, 1, 0, 200, TP_FENCE_POLL, 0);
    forget_story();
    tp_notes_ask(n, a.peer, &all, 9);
    expect("a: #9 state of 0, fenced, fence 200\na: #9 state of 1, shown\n");
    /* Two fences: each comes in a note. */
    show(3, X, 0);
    show(4, Y, 0);
    tp_notes_released(n, 0, 3, 0, 201, TP_FENCE_POLL, 0);
    forget_story();
    tp_notes_ask(n, a.peer, &x, 10);
    expect("a: #10 state of 0, replaced\na: resync final 0/1.0, replaced, fence 200\n"
           "a: resync final 0/3.0, fenced, fence 201\n");
    x.generation = 4;
    tp_notes_ask(n, a.peer, &x, 11);
    expect("a: #11 unknown\n");
}

static void a_fence_that_cannot_be_sent_costs_the_fence_alone(void **state)
{
    static struct peer a;
    (void)state;
    join(&a, "a", FULL);
    a.no_fds = true;
    enrol(&a, X, 5, 100);
    show(1, X, 0);
    show(2, Y, 0);
    forget_story();
    tp_notes_released(n, 0, 1, 0, 200, TP_FENCE_POLL, 0);
    expect("watch 200\na: board 0 is 5 fenced\na: final 0/1.0, replaced, fence lost\n");
    tp_notes_signalled(n, 200);
    expect("close fence 200\na: board 0 is 5 free\na: resync final 0/1.0, free\n");
}

static void an_old_peer_is_sent_no_notes_and_one_without_a_board_gets_them(void **state)
{
    /* A stored hello: version 1, no capabilities. */
    static const uint8_t old_icd[] = {'T', 'H', 'L', 'O', 40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0,
        0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    struct tp_frame f = {0};
    struct tp_hello hello;
    uint32_t version;
    int board;
    static struct peer old, noted, boarded;
    (void)state;
    assert_int_equal(tp_frame_parse(old_icd, sizeof old_icd, &f), 0);
    assert_int_equal(tp_scanout_hello(&f, false, &hello, &version, &board), 0);
    join(&old, "old", hello.capabilities & FULL);
    join(&noted, "noted", TP_CAP_RELEASE_FENCE);
    join(&boarded, "boarded", TP_CAP_BOARD);
    enrol(&old, X, 1, 100);
    enrol(&noted, X, 2, 101);
    enrol(&boarded, X, 3, 102);
    forget_story();
    show(1, X, 0);
    show(2, Y, 0);
    tp_notes_released(n, 0, 1, 0, 200, TP_FENCE_POLL, 0);
    tp_notes_signalled(n, 200);
    expect("boarded: board 0 is 3 shown\napply 1\n"
           "boarded: board 0 is 3 replaced\nnoted: pending 0/1.0, replaced\napply 2\n"
           "watch 200\nboarded: board 0 is 3 fenced\nnoted: final 0/1.0, fenced, fence 200\n"
           "close fence 200\nboarded: board 0 is 3 free\n");
}

static void names_that_a_peer_does_not_have_are_ignored(void **state)
{
    static struct peer a, b;
    struct tp_notes_counts counts;
    const struct tp_buffer_name wrong[] = {
        {X, 4, 0}, {X, 6, 0}, {X, 5, 1}, {X, 5, UINT32_MAX}, {X, 5, 3}, {Y, 5, 0}, {X, 0, 0}};
    (void)state;
    join(&a, "a", FULL);
    join(&b, "b", FULL);
    enrol(&a, X, 5, 100);
    forget_story();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        tp_notes_unregister(n, a.peer, &wrong[i]);
    tp_notes_unregister(n, b.peer, &(struct tp_buffer_name){X, 5, 0});
    expect("");
    tp_notes_counts(n, &counts);
    assert_int_equal(counts.ignored, 8);
    assert_int_equal(counts.registrations, 1);
    tp_notes_unregister(n, a.peer, &(struct tp_buffer_name){X, 5, 0});
    expect("a: board 0 is 0 free\nclose memory 100\n");
    show(1, X, 0);
    show(2, Y, 0);
    expect("apply 1\napply 2\n");
}

static void registrations_are_limited_and_a_new_generation_replaces_the_old(void **state)
{
    static struct peer a;
    (void)state;
    join(&a, "a", FULL);
    enrol(&a, X, 0, 100);
    expect("close memory 100\na: #77 refused -22\n");
    enrol(&a, NOTHING, 1, 100);
    expect("close memory 100\na: #77 refused -22\n");
    enrol(&a, X, 1, 100);
    enrol(&a, Y, 2, 101);
    enrol(&a, Z, 3, 102);
    forget_story();
    enrol(&a, (struct tp_identity){1, 13}, 4, 103);
    expect("close memory 103\na: #77 refused -28\n");
    enrol(&a, Y, 2, 104);
    expect("close memory 104\na: #77 registered 1, free\n");
    show(1, Y, 0);
    forget_story();
    enrol(&a, Y, 5, 105);
    expect("a: board 1 is 0 free\nclose memory 101\na: board 1 is 5 shown\n"
           "a: #77 registered 1, shown\n");
}

static void a_dead_guests_memory_is_closed_and_its_buffers_go_when_the_panel_has_left(void **state)
{
    static struct peer a;
    struct tp_notes_counts counts;
    (void)state;
    join(&a, "a", FULL);
    enrol(&a, X, 5, 100);
    enrol(&a, Y, 6, 101);
    show(1, X, 0);
    a.broken = true;
    show(2, Z, 0);
    tp_notes_released(n, 0, 1, 0, 200, TP_FENCE_POLL, 0);
    forget_story();
    tp_notes_disconnect(n, a.peer);
    expect("a: board 0 is 0 free\nclose memory 100\na: board 1 is 0 free\nclose memory 101\n");
    tp_notes_counts(n, &counts);
    assert_int_equal(counts.peers, 0);
    assert_int_equal(counts.registrations, 0);
    assert_int_equal(counts.buffers, 2); /* X and Z */
    tp_notes_signalled(n, 200);
    expect("close fence 200\n");
    tp_notes_counts(n, &counts);
    assert_int_equal(counts.buffers, 1);
}

static void a_panel_that_lets_nothing_go_costs_bounded_memory(void **state)
{
    static struct peer a;
    struct tp_notes_counts counts;
    int fence = 200;
    (void)state;
    join(&a, "a", FULL);
    enrol(&a, X, 5, 100);
    for (unsigned i = 1; i < 1000; i++) {
        show(i, i % 2 ? X : Y, i);
        if (i % 3 == 0)
            tp_notes_released(n, 0, i - 1, 0, fence++, TP_FENCE_POLL, i);
        tp_notes_counts(n, &counts);
        assert_true(counts.uses <= 16);
        assert_true(counts.fences <= 16);
        forget_story();
    }
    assert_true(counts.forced > 900);
}

static void peers_are_limited(void **state)
{
    static struct peer p[4];
    struct tp_notes_peer *more;
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        join(&p[i], "p", 0);
    assert_int_equal(tp_notes_connect(n, 0, &p[0], &more), -EMFILE);
    assert_null(more);
    tp_notes_disconnect(n, p[2].peer);
    join(&p[2], "p", 0);
}

#define behaviour(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        behaviour(the_board_and_the_pending_note_come_before_the_apply),
        behaviour(a_fence_goes_to_the_guest_and_free_is_written_when_it_has_signalled),
        behaviour(no_fence_means_that_it_is_free_already),
        behaviour(a_buffer_that_is_shown_again_was_not_replaced),
        behaviour(a_buffer_on_two_screens_is_free_of_both),
        behaviour(a_picture_that_was_refused_replaced_nothing),
        behaviour(a_screen_that_goes_away_frees_all_it_had),
        behaviour(a_silent_fence_brings_a_blank_whose_showing_ends_the_wait),
        behaviour(a_panel_that_shows_no_blank_either_is_not_waited_for),
        behaviour(nobodys_screen_goes_blank_for_a_buffer_that_nobody_has),
        behaviour(a_sync_file_goes_into_the_memory_before_anybody_hears_of_it),
        behaviour(memory_that_is_not_what_its_name_says_is_refused),
        behaviour(a_slow_peer_gets_the_outcome_of_many),
        behaviour(an_answer_and_the_last_of_each_setting_wait_for_room),
        behaviour(who_comes_back_is_told_how_its_buffers_stand),
        behaviour(of_several_fences_the_last_says_that_it_has_them_all),
        behaviour(states_are_told_on_request),
        behaviour(a_fence_that_cannot_be_sent_costs_the_fence_alone),
        behaviour(an_old_peer_is_sent_no_notes_and_one_without_a_board_gets_them),
        behaviour(names_that_a_peer_does_not_have_are_ignored),
        behaviour(registrations_are_limited_and_a_new_generation_replaces_the_old),
        behaviour(a_dead_guests_memory_is_closed_and_its_buffers_go_when_the_panel_has_left),
        behaviour(a_panel_that_lets_nothing_go_costs_bounded_memory),
        behaviour(peers_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
