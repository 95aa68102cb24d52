/*
 * What becomes one record, of what a guest says and what the server says. A screen of 60 Hz, with
 * a latch 2 ms before each refresh and one refresh from the latch to the first line; refresh n is
 * at n periods.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames/census/join.h"

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)
#define PERIOD INT64_C(16666667)
#define LEAD (2 * MS)
#define SCREEN_ID 1u
#define GAME 2u
#define OTHER 3u

#define KEPT 4096u

struct heard {
    struct tp_frame_record frames[KEPT];
    struct tp_refresh_record refreshes[KEPT];
    unsigned n_frames, n_refreshes, n_settings, n_guests, n_gone;
    uint64_t lost;
    char name[256];
    struct tp_ring_setting setting;
};

static struct heard heard;

static void on_guest(void *data, unsigned guest, const char *name, uint32_t pid)
{
    (void)data;
    (void)guest;
    (void)pid;
    heard.n_guests++;
    snprintf(heard.name, sizeof heard.name, "%s", name);
}

static void on_gone(void *data, unsigned guest)
{
    (void)data;
    (void)guest;
    heard.n_gone++;
}

static void on_frame(void *data, const struct tp_frame_record *f)
{
    (void)data;
    heard.frames[heard.n_frames++ % KEPT] = *f;
}

static void on_refresh(void *data, const struct tp_refresh_record *r)
{
    (void)data;
    heard.refreshes[heard.n_refreshes++ % KEPT] = *r;
}

static void on_setting(void *data, unsigned guest, const struct tp_ring_setting *s)
{
    (void)data;
    (void)guest;
    heard.n_settings++;
    heard.setting = *s;
}

static void on_lost(void *data, unsigned guest, uint64_t entries)
{
    (void)data;
    (void)guest;
    heard.lost += entries;
}

static const struct tp_join_sink sink = {.guest = on_guest,
    .gone = on_gone,
    .frame = on_frame,
    .refresh = on_refresh,
    .setting = on_setting,
    .lost = on_lost};

/* --- what rings say --- */

static struct tp_join *join;
static int64_t period;   /* of the screen's refreshes, */
static int64_t base_ns;  /* the first of which at that rate is at this instant, */
static uint64_t base;    /* and has this number */
static int64_t now_ns;

static int64_t refresh_ns(uint64_t n)
{
    return base_ns + (int64_t)(n - base) * period;
}

static int begin(void **state)
{
    (void)state;
    memset(&heard, 0, sizeof heard);
    join = tp_join_create(&sink);
    period = PERIOD;
    base = 0;
    base_ns = now_ns = 0;
    assert_int_equal(tp_join_add(join, SCREEN_ID, TP_RING_SCREEN, 0, "screen"), TP_JOIN_SCREEN);
    tp_join_gauge(join, SCREEN_ID, TP_GAUGE_PIPELINE, 1);
    assert_int_equal(tp_join_add(join, GAME, TP_RING_SWAPCHAIN, 77, "game"), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    tp_join_destroy(join);
    return 0;
}

static void pass(int64_t ns)
{
    now_ns = ns > now_ns ? ns : now_ns;
    tp_join_pass(join, now_ns);
}

static struct tp_buffer_name buffer(unsigned which, unsigned generation)
{
    return (struct tp_buffer_name){{5, 100 + which}, generation, which};
}

/* A frame that was asked for so long before it was presented, ready then, and goes to a compositor
 * at once. */
static struct tp_ring_frame frame_of(uint64_t number, int64_t presented_ns, struct tp_buffer_name b)
{
    struct tp_ring_frame f = {.buffer = b, .record = {.number = number, .image = b.index}};
    struct tp_frame_record *r = &f.record;
    for (int64_t *at = &r->begin_ns; at <= &r->told_ns; at++)
        *at = TP_NEVER;
    r->slot_wait_ns = r->release_wait_ns = r->gate_wait_ns = 0;
    r->begin_ns = r->asked_ns = presented_ns - 5 * MS;
    r->gate_ns = r->acquired_ns = presented_ns - 5 * MS;
    r->presented_ns = r->ready_ns = presented_ns;
    r->committed_ns = presented_ns + MS / 10;
    return f;
}

static void put_frame(uint32_t id, const struct tp_ring_frame *f)
{
    struct tp_ring_entry e = {.kind = TP_RING_FRAME, .frame = *f};
    tp_join_put(join, id, &e);
}

/* What goes to the panel at committed_ns, and is shown from this refresh on. */
static struct tp_ring_picture picture_of(
    uint64_t serial, int64_t committed_ns, uint64_t refresh, const struct tp_buffer_name *b)
{
    struct tp_ring_picture p = {.serial = serial,
        .sequence = refresh,
        .committed_ns = committed_ns,
        .published_ns = committed_ns + MS / 5,
        .latched_ns = refresh_ns(refresh) - period - LEAD,
        .line_ns = refresh_ns(refresh),
        .released_ns = TP_NEVER,
        .n_layers = 1};
    if (b)
        p.layers[0] = *b;
    return p;
}

static void put_picture(const struct tp_ring_picture *p)
{
    struct tp_ring_entry e = {.kind = TP_RING_PICTURE, .picture = *p};
    tp_join_put(join, SCREEN_ID, &e);
}

/* serial 0: it shows nothing. */
static struct tp_ring_entry refresh_of(uint64_t n, uint64_t serial)
{
    struct tp_ring_entry e = {.kind = TP_RING_REFRESH, .refresh.serial = serial};
    e.refresh.record = (struct tp_refresh_record){.sequence = n,
        .refresh_mhz = (uint32_t)(SECOND * 1000 / period),
        .latch_ns = refresh_ns(n) - LEAD,
        .from_ns = refresh_ns(n),
        .to_ns = refresh_ns(n) + period * 9 / 10,
        .shows = serial != 0,
        .torn_ns = TP_NEVER};
    return e;
}

static void put_refresh(uint64_t n, uint64_t serial)
{
    struct tp_ring_entry e = refresh_of(n, serial);
    tp_join_put(join, SCREEN_ID, &e);
}

/* The picture is shown, and released when the next one is: at that refresh. */
static void put_shown(struct tp_ring_picture *p, uint64_t until_refresh)
{
    put_picture(p);
    p->released_ns = refresh_ns(until_refresh);
    put_picture(p);
}

/* A game that is scanned out: frame n, in buffer n % 3, is presented in the midst of refresh n,
 * shown by picture n + 1 from refresh n + 2 on, for one refresh. */
static void play(uint64_t from, uint64_t to)
{
    for (uint64_t n = from; n < to; n++) {
        struct tp_buffer_name b = buffer(n % 3, 1 + n % 3);
        struct tp_ring_frame f = frame_of(n, refresh_ns(n) + period / 2, b);
        struct tp_ring_picture p = picture_of(n + 1, f.record.committed_ns + MS, n + 2, &b);
        put_shown(&p, n + 3);
        put_refresh(n + 2, n + 1);
        put_frame(GAME, &f);
        pass(refresh_ns(n + 3));
    }
    pass(refresh_ns(to + 3));
}

/* --- direct scan-out --- */

static void a_frame_that_is_scanned_out_has_the_panels_instants(void **state)
{
    (void)state;
    play(0, 30);
    tp_join_end(join);
    assert_int_equal(heard.n_frames, 30);
    for (unsigned n = 0; n < 30; n++) {
        const struct tp_frame_record *f = &heard.frames[n];
        int64_t presented = refresh_ns(n) + period / 2;
        assert_int_equal(f->number, n);
        assert_int_equal(f->guest, 0);
        assert_int_equal(f->presented_ns, presented);
        assert_int_equal(f->composed_ns, presented + MS / 10 + MS);
        assert_int_equal(f->published_ns, presented + MS / 10 + MS + MS / 5);
        assert_int_equal(f->latched_ns, refresh_ns(n + 1) - LEAD);
        assert_int_equal(f->line_ns, refresh_ns(n + 2));
        assert_int_equal(f->sequence, n + 2);
        assert_int_equal(f->released_ns, refresh_ns(n + 3));
        assert_int_equal(f->refresh_mhz, 59999);
        assert_false(f->dropped || f->torn || f->variable);
        assert_int_equal(f->repeats, 0);
    }
    assert_int_equal(heard.n_refreshes, 30);
    for (unsigned i = 0; i < 30; i++) {
        assert_true(heard.refreshes[i].shows);
        assert_int_equal(heard.refreshes[i].guest, 0);
        assert_int_equal(heard.refreshes[i].frame, i);
        assert_int_equal(heard.refreshes[i].sequence, i + 2);
    }
    assert_int_equal(heard.lost, 0);
}

/* Ready 1 ms before the latch of refresh n + 1: it can be shown from n + 2 on, and no sooner; asked
 * for 22 ms before it was acquired, of which the release took 5: 17 ms sooner, a refresh. */
static void what_was_permitted_leaves_out_waits_that_need_not_have_been(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 12; n++)
        put_refresh(n, 0);
    struct tp_buffer_name b = buffer(0, 1);
    struct tp_ring_frame f = frame_of(0, refresh_ns(5) - LEAD - MS, b);
    put_frame(GAME, &f);
    struct tp_ring_picture p = picture_of(1, f.record.committed_ns + MS / 10, 6, &b);
    put_shown(&p, 7);
    f = frame_of(1, refresh_ns(8) - LEAD - MS, buffer(1, 2));
    f.record.asked_ns -= 22 * MS;
    f.record.release_wait_ns = 5 * MS;
    f.record.gate_wait_ns = 17 * MS;
    put_frame(GAME, &f);
    p = picture_of(2, f.record.committed_ns + MS / 10, 9, &f.buffer);
    put_shown(&p, 10);
    tp_join_end(join);
    assert_int_equal(heard.n_frames, 2);
    assert_int_equal(heard.frames[0].sequence, 6);
    assert_int_equal(heard.frames[0].permitted, 6);
    assert_int_equal(heard.frames[1].sequence, 9);
    assert_int_equal(heard.frames[1].permitted, 8);
}

static void a_frame_whose_picture_comes_late_waits_for_it(void **state)
{
    (void)state;
    struct tp_buffer_name b = buffer(0, 1);
    struct tp_ring_frame f = frame_of(0, refresh_ns(1), b);
    put_frame(GAME, &f);
    for (unsigned i = 1; i < 20; i++) {
        pass(refresh_ns(1) + i * 50 * MS);
        assert_int_equal(heard.n_frames, 0);
    }
    struct tp_ring_picture p = picture_of(1, f.record.committed_ns + MS, 3, &b);
    put_shown(&p, 4);
    put_refresh(3, 1);
    put_refresh(4, 2);
    pass(now_ns + MS);
    assert_int_equal(heard.n_frames, 1);
    assert_int_equal(heard.frames[0].line_ns, refresh_ns(3));
}

static void a_frame_without_a_picture_waits_a_second_and_no_longer(void **state)
{
    (void)state;
    struct tp_ring_frame f = frame_of(0, refresh_ns(1), buffer(0, 1));
    pass(0);
    put_frame(GAME, &f);
    pass(TP_JOIN_WAIT_NS - 1);
    assert_int_equal(heard.n_frames, 0);
    pass(TP_JOIN_WAIT_NS);
    assert_int_equal(heard.n_frames, 1);
    assert_true(heard.frames[0].line_ns == TP_NEVER && !heard.frames[0].dropped);
}

static void pictures_that_show_a_buffer_again_are_its_frames(void **state)
{
    (void)state;
    struct tp_buffer_name b = buffer(0, 1);
    struct tp_ring_frame f = frame_of(0, refresh_ns(0), b);
    struct tp_ring_picture p1 = picture_of(1, refresh_ns(0) + MS, 2, &b),
                           p2 = picture_of(2, refresh_ns(1) + MS, 3, &b);
    put_shown(&p1, 3);
    put_shown(&p2, 5);
    put_refresh(2, 1);
    put_refresh(3, 2);
    put_refresh(4, 2);
    put_frame(GAME, &f);
    pass(refresh_ns(5));
    tp_join_end(join);
    assert_int_equal(heard.n_frames, 1);
    assert_int_equal(heard.frames[0].line_ns, refresh_ns(2));
    assert_int_equal(heard.frames[0].released_ns, refresh_ns(5));
    for (unsigned i = 0; i < 3; i++)
        assert_true(heard.refreshes[i].shows && heard.refreshes[i].frame == 0);
}

/* The same memory under another generation is another buffer. */
static void a_buffer_of_another_generation_is_not_its_frames(void **state)
{
    (void)state;
    struct tp_buffer_name old = buffer(0, 1), b = buffer(0, 2);
    struct tp_ring_frame f = frame_of(0, refresh_ns(0), b);
    struct tp_ring_picture p = picture_of(1, refresh_ns(0) + MS, 2, &old);
    put_shown(&p, 3);
    put_frame(GAME, &f);
    pass(refresh_ns(3));
    pass(refresh_ns(3) + TP_JOIN_WAIT_NS);
    tp_join_end(join);
    assert_int_equal(heard.n_frames, 2);
    assert_true(heard.frames[0].guest == 0 && heard.frames[0].line_ns == TP_NEVER);
    assert_int_equal(heard.frames[1].guest, TP_JOIN_SCREEN);
}

/* A picture from before the frame was presented is of the buffer's frame before it. */
static void an_older_picture_of_the_buffer_is_not_its_frames(void **state)
{
    (void)state;
    struct tp_buffer_name b = buffer(0, 1);
    struct tp_ring_frame first = frame_of(0, refresh_ns(0), b),
                         second = frame_of(3, refresh_ns(6), b);
    struct tp_ring_picture p1 = picture_of(1, refresh_ns(0) + MS, 2, &b),
                           p2 = picture_of(2, refresh_ns(6) + MS, 8, &b);
    put_shown(&p1, 3);
    put_shown(&p2, 9);
    put_refresh(2, 1);
    put_refresh(8, 2);
    put_frame(GAME, &first);
    put_frame(GAME, &second);
    tp_join_end(join);
    assert_int_equal(heard.n_frames, 2);
    assert_int_equal(heard.frames[0].sequence, 2);
    assert_int_equal(heard.frames[0].released_ns, refresh_ns(3));
    assert_int_equal(heard.frames[1].sequence, 8);
    assert_int_equal(heard.refreshes[1].frame, 3);
}

/* Released before the picture was committed: it was given back unshown. */
static void a_picture_from_after_its_release_is_not_its_frames(void **state)
{
    (void)state;
    struct tp_buffer_name b = buffer(0, 1);
    struct tp_ring_frame f = frame_of(0, refresh_ns(0), b);
    struct tp_ring_picture p = picture_of(1, refresh_ns(3), 5, &b);
    f.record.released_ns = refresh_ns(1);
    put_shown(&p, 6);
    put_frame(GAME, &f);
    tp_join_end(join);
    assert_true(heard.n_frames == 1 && heard.frames[0].line_ns == TP_NEVER);
}

/* Two swapchains' buffers and a compositor's, in one picture: both frames are shown by it. */
static void several_layers_show_several_frames(void **state)
{
    (void)state;
    assert_int_equal(tp_join_add(join, OTHER, TP_RING_SWAPCHAIN, 78, "other"), 1);
    struct tp_buffer_name a = buffer(0, 1), b = buffer(7, 1);
    struct tp_ring_frame f = frame_of(0, refresh_ns(0), a), g = frame_of(4, refresh_ns(0), b);
    struct tp_ring_picture p = picture_of(1, refresh_ns(0) + MS, 2, &a);
    p.n_layers = 3;
    p.layers[1] = (struct tp_buffer_name){{9, 9}, 0, 0};
    p.layers[2] = b;
    put_shown(&p, 3);
    put_refresh(2, 1);
    put_frame(OTHER, &g);
    put_frame(GAME, &f);
    tp_join_end(join);
    assert_int_equal(heard.n_frames, 2);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(heard.frames[i].line_ns, refresh_ns(2));
    assert_int_equal(heard.frames[0].guest + heard.frames[1].guest, 1);
    assert_true(heard.refreshes[0].shows && heard.refreshes[0].guest == 0);
}

static void a_torn_refresh_tears_its_frame(void **state)
{
    (void)state;
    struct tp_buffer_name b = buffer(0, 1);
    struct tp_ring_frame f = frame_of(0, refresh_ns(0), b);
    struct tp_ring_picture p = picture_of(1, refresh_ns(0) + MS, 2, &b);
    struct tp_ring_entry torn = refresh_of(2, 1);
    torn.refresh.record.torn_ns = refresh_ns(2) + 3 * MS;
    torn.refresh.record.torn_line = 200;
    put_shown(&p, 3);
    put_frame(GAME, &f);
    tp_join_put(join, SCREEN_ID, &torn);
    put_refresh(3, 2);
    play(1, 2);
    tp_join_end(join);
    assert_true(heard.frames[0].torn);
    assert_false(heard.frames[1].torn);
    assert_int_equal(heard.refreshes[0].torn_line, 200);
    assert_int_equal(heard.refreshes[0].torn_ns, refresh_ns(2) + 3 * MS);
}

/* --- frames that are not shown --- */

static void a_frame_that_its_guest_gave_up_is_told_at_once(void **state)
{
    (void)state;
    struct tp_ring_frame f = frame_of(0, refresh_ns(0), buffer(0, 1));
    f.record.dropped = true;
    f.record.line_ns = 5; /* it cannot be both */
    put_frame(GAME, &f);
    pass(refresh_ns(1));
    assert_int_equal(heard.n_frames, 1);
    assert_true(heard.frames[0].dropped && heard.frames[0].line_ns == TP_NEVER);
}

/* Of mailbox frames the panel is handed, the last before the latch is shown. */
static void a_picture_that_the_panel_dropped_drops_its_frame(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 3; n++) {
        struct tp_buffer_name b = buffer(n, 1);
        struct tp_ring_frame f = frame_of(n, refresh_ns(0) + n * MS, b);
        struct tp_ring_picture p = picture_of(n + 1, f.record.committed_ns + MS / 5, 2, &b);
        put_frame(GAME, &f);
        if (n < 2) {
            p.dropped = true;
            p.line_ns = p.latched_ns = TP_NEVER;
            put_picture(&p);
        } else {
            put_shown(&p, 3);
        }
    }
    put_refresh(2, 3);
    put_refresh(3, 4);
    pass(refresh_ns(3));
    pass(refresh_ns(4));
    assert_int_equal(heard.n_frames, 3);
    assert_true(heard.frames[0].dropped && heard.frames[0].published_ns != TP_NEVER);
    assert_true(heard.frames[1].dropped && heard.frames[1].line_ns == TP_NEVER);
    assert_true(!heard.frames[2].dropped && heard.frames[2].line_ns == refresh_ns(2));
}

/* --- composition --- */

/* A compositor says that it was shown by refresh 5, by a count of its own. */
static void a_composed_frame_keeps_what_the_compositor_told(void **state)
{
    (void)state;
    struct tp_ring_frame f = frame_of(0, refresh_ns(3), buffer(0, 1));
    struct tp_ring_picture p = picture_of(9, refresh_ns(4), 5, NULL);
    for (uint64_t n = 0; n < 8; n++)
        put_refresh(n, n < 5 ? 0 : 9);
    put_shown(&p, 8);
    f.fed_back = true;
    f.record.line_ns = refresh_ns(5) + MS / 100;
    f.record.sequence = 1000;
    f.record.refresh_mhz = 1;
    pass(refresh_ns(8));
    put_frame(GAME, &f);
    tp_join_end(join);
    const struct tp_frame_record *guest = NULL, *screen = NULL;
    for (unsigned i = 0; i < heard.n_frames; i++)
        *(heard.frames[i].guest == 0 ? &guest : &screen) = &heard.frames[i];
    assert_non_null(guest);
    assert_non_null(screen);
    assert_int_equal(heard.n_frames, 2);
    assert_int_equal(guest->line_ns, refresh_ns(5) + MS / 100);
    assert_int_equal(guest->sequence, 5);
    assert_int_equal(guest->refresh_mhz, 59999);
    assert_int_equal(screen->line_ns, refresh_ns(5));
    assert_int_equal(screen->released_ns, refresh_ns(8));
    assert_true(screen->acquired_ns == TP_NEVER && screen->number == 0);
    assert_true(heard.refreshes[5].shows && heard.refreshes[5].guest == TP_JOIN_SCREEN);
}

/* Its feedback comes with the flip, before the panel's first line is told. */
static void the_panels_word_is_better_than_a_compositors(void **state)
{
    (void)state;
    struct tp_buffer_name b = buffer(0, 1);
    struct tp_ring_frame f = frame_of(0, refresh_ns(0), b);
    struct tp_ring_picture p = picture_of(1, refresh_ns(0) + MS, 2, &b);
    f.fed_back = true;
    f.record.line_ns = refresh_ns(1);
    put_frame(GAME, &f);
    pass(refresh_ns(1));
    pass(refresh_ns(1) + 50 * MS);
    put_shown(&p, 3);
    put_refresh(2, 1);
    put_refresh(3, 2);
    pass(refresh_ns(1) + 100 * MS);
    assert_int_equal(heard.n_frames, 1);
    assert_int_equal(heard.frames[0].line_ns, refresh_ns(2));
}

/* Nobody's pictures are the screen's at once, by their order, dropped ones with them. */
static void pictures_of_nobodys_are_frames_of_the_screen(void **state)
{
    (void)state;
    tp_join_gone(join, GAME);
    for (uint64_t n = 0; n < 20; n++) {
        struct tp_ring_picture p = picture_of(n + 1, refresh_ns(n) + MS, n + 2, NULL);
        p.dropped = n == 5;
        put_shown(&p, n + 3);
        put_refresh(n + 2, n == 5 ? n : n + 1);
        pass(refresh_ns(n + 3));
    }
    tp_join_end(join);
    assert_int_equal(heard.n_frames, 20);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(heard.frames[i].guest, TP_JOIN_SCREEN);
        assert_int_equal(heard.frames[i].number, i);
        assert_true(heard.frames[i].dropped == (i == 5));
        assert_true((heard.frames[i].line_ns == TP_NEVER) == (i == 5));
    }
    assert_int_equal(heard.n_refreshes, 20);
    assert_int_equal(heard.refreshes[19].frame, 19);
    assert_int_equal(heard.refreshes[5].frame, 4);
}

/* A guest whose ring is not heard has buffers all the same. */
static void a_silent_guests_pictures_become_the_screens_in_the_end(void **state)
{
    (void)state;
    struct tp_buffer_name b = buffer(0, 1);
    struct tp_ring_picture p = picture_of(1, refresh_ns(0), 2, &b);
    put_shown(&p, 3);
    put_refresh(2, 1);
    put_refresh(3, 0);
    pass(refresh_ns(3));
    assert_int_equal(heard.n_frames, 0);
    assert_int_equal(heard.n_refreshes, 0);
    pass(refresh_ns(3) + 2 * TP_JOIN_WAIT_NS);
    assert_int_equal(heard.n_frames, 1);
    assert_int_equal(heard.frames[0].guest, TP_JOIN_SCREEN);
    assert_int_equal(heard.n_refreshes, 2);
}

/* The game goes on when nobody listens any more. */
static void in_the_end_a_guests_last_pictures_are_nobodys(void **state)
{
    (void)state;
    play(0, 10);
    struct tp_buffer_name b = buffer(1, 2);
    struct tp_ring_picture p = picture_of(11, refresh_ns(10) + 9 * MS, 12, &b);
    put_picture(&p);
    put_refresh(12, 11);
    tp_join_end(join);
    assert_int_equal(heard.n_frames, 10);
    assert_int_equal(heard.n_refreshes, 11);
    assert_false(heard.refreshes[10].shows);
}

/* A picture that stays for an hour does not hold up its refreshes. */
static void a_picture_that_stays_does_not_hold_up_refreshes(void **state)
{
    (void)state;
    struct tp_ring_picture p = picture_of(1, refresh_ns(0), 2, NULL);
    put_picture(&p);
    for (uint64_t n = 2; n < 3000; n++) {
        put_refresh(n, 1);
        pass(refresh_ns(n + 1));
        assert_int_equal(heard.n_refreshes, n - 1);
        assert_true(heard.refreshes[(n - 2) % KEPT].shows);
    }
    assert_int_equal(heard.n_frames, 0);
    p.released_ns = refresh_ns(3000);
    put_picture(&p);
    put_refresh(3000, 2);
    pass(refresh_ns(3001));
    assert_int_equal(heard.n_frames, 1);
}

/* --- ends --- */

static void what_a_killed_guest_has_said_is_told(void **state)
{
    (void)state;
    play(0, 10);
    unsigned before = heard.n_frames;
    struct tp_ring_frame f = frame_of(10, refresh_ns(10), buffer(1, 2));
    put_frame(GAME, &f);
    tp_join_gone(join, GAME);
    assert_int_equal(heard.n_gone, 0);
    pass(refresh_ns(11));
    pass(refresh_ns(11) + 2 * TP_JOIN_WAIT_NS);
    assert_int_equal(heard.n_frames, before + 1 + (10 - before));
    assert_int_equal(heard.n_gone, 1);
    /* Its number is not used again, its id may be. */
    assert_int_equal(tp_join_add(join, GAME, TP_RING_SWAPCHAIN, 79, "game"), 1);
}

/* A server that comes back counts anew: serials and refreshes. */
static void after_a_restart_of_the_server_frames_are_joined_again(void **state)
{
    (void)state;
    play(0, 10);
    tp_join_gone(join, SCREEN_ID);
    assert_int_equal(heard.n_frames, 10);
    assert_int_equal(heard.n_refreshes, 10);
    assert_int_equal(tp_join_add(join, 9, TP_RING_SCREEN, 0, "screen"), TP_JOIN_SCREEN);
    tp_join_gauge(join, 9, TP_GAUGE_PIPELINE, 1);
    base = 0;
    base_ns = refresh_ns(20);
    struct tp_buffer_name b = buffer(1, 2);
    struct tp_ring_frame f = frame_of(10, refresh_ns(0), b);
    struct tp_ring_entry p = {.kind = TP_RING_PICTURE,
        .picture = picture_of(1, f.record.committed_ns + MS, 2, &b)};
    struct tp_ring_entry r = refresh_of(2, 1);
    put_frame(GAME, &f);
    tp_join_put(join, 9, &p);
    tp_join_put(join, 9, &r);
    tp_join_end(join);
    assert_int_equal(heard.n_frames, 11);
    assert_int_equal(heard.frames[10].sequence, 2);
    assert_int_equal(heard.frames[10].line_ns, refresh_ns(2));
    assert_int_equal(heard.lost, 0);
}

static void two_guests_take_turns_on_the_screen(void **state)
{
    (void)state;
    assert_int_equal(tp_join_add(join, OTHER, TP_RING_SWAPCHAIN, 78, "other"), 1);
    for (uint64_t n = 0; n < 40; n++) {
        struct tp_buffer_name b = buffer(n % 2 * 3 + n / 2 % 3, 1);
        struct tp_ring_frame f = frame_of(n / 2, refresh_ns(n) + 8 * MS, b);
        struct tp_ring_picture p = picture_of(n + 1, f.record.committed_ns + MS, n + 2, &b);
        put_shown(&p, n + 3);
        put_refresh(n + 2, n + 1);
        put_frame(n % 2 ? OTHER : GAME, &f);
        pass(refresh_ns(n + 3));
    }
    tp_join_end(join);
    assert_int_equal(heard.n_frames, 40);
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(heard.frames[i].sequence,
            2 * heard.frames[i].number + 2 + heard.frames[i].guest);
    for (unsigned i = 0; i < 40; i++)
        assert_true(heard.refreshes[i].guest == i % 2 && heard.refreshes[i].frame == i / 2);
}

static void lost_entries_are_told_and_cost_no_more_than_themselves(void **state)
{
    (void)state;
    play(0, 10);
    tp_join_lost(join, GAME, 5);
    tp_join_lost(join, SCREEN_ID, 12);
    play(15, 25);
    tp_join_end(join);
    assert_int_equal(heard.lost, 17);
    assert_int_equal(heard.n_frames, 20);
    for (unsigned i = 10; i < 20; i++)
        assert_true(heard.frames[i].number == i + 5 && heard.frames[i].sequence == i + 7);
}

static void frames_that_end_out_of_their_order_are_told_in_it(void **state)
{
    (void)state;
    struct tp_ring_frame first = frame_of(0, refresh_ns(0), buffer(0, 1)),
                         second = frame_of(1, refresh_ns(1), buffer(1, 1));
    second.record.dropped = true;
    put_frame(GAME, &second);
    put_frame(GAME, &first);
    tp_join_end(join);
    assert_int_equal(heard.n_frames, 2);
    assert_int_equal(heard.frames[0].number, 0);
    assert_int_equal(heard.frames[1].number, 1);
    put_frame(GAME, &first); /* once more: it cannot be */
    assert_int_equal(heard.lost, 1);
}

/* --- rates --- */

static void a_frame_has_the_rate_that_held_for_it(void **state)
{
    (void)state;
    play(0, 12);
    base_ns = refresh_ns(14);
    base = 14;
    period = PERIOD / 2;
    play(14, 40);
    tp_join_end(join);
    assert_int_equal(heard.n_frames, 38);
    for (unsigned i = 0; i < 12; i++)
        assert_int_equal(heard.frames[i].refresh_mhz, 59999);
    for (unsigned i = 12; i < 38; i++) {
        assert_int_equal(heard.frames[i].refresh_mhz, 120000);
        assert_int_equal(heard.frames[i].permitted, heard.frames[i].sequence);
    }
}

static void with_a_variable_rate_nothing_is_judged(void **state)
{
    (void)state;
    tp_join_gauge(join, SCREEN_ID, TP_GAUGE_SLOWEST_MHZ, 48000);
    play(0, 20);
    tp_join_end(join);
    assert_int_equal(heard.n_frames, 20);
    assert_true(heard.frames[19].variable);
    assert_int_equal(heard.frames[19].permitted, 0);
}

/* Every fourth refresh shows a frame: by the cap of 30, every second should have. */
static void repeats_are_counted_by_the_cap(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 20; n++) {
        struct tp_buffer_name b = buffer(n % 3, 1 + n % 3);
        struct tp_ring_frame f = frame_of(n, refresh_ns(4 * n) + 8 * MS, b);
        struct tp_ring_picture p = picture_of(n + 1, f.record.committed_ns + MS, 4 * n + 2, &b);
        f.record.cap_mhz = 30000;
        put_shown(&p, 4 * n + 6);
        for (unsigned i = 0; i < 4; i++)
            put_refresh(4 * n + 2 + i, n + 1);
        put_frame(GAME, &f);
        pass(refresh_ns(4 * n + 6));
    }
    tp_join_end(join);
    assert_int_equal(heard.n_frames, 20);
    assert_int_equal(heard.frames[9].repeats, 0); /* the first ten are in no share */
    for (unsigned i = 10; i < 20; i++)
        assert_int_equal(heard.frames[i].repeats, 2);
}

/* --- who is heard --- */

static void counters_of_all_rings_are_added_up_and_outlive_them(void **state)
{
    (void)state;
    uint64_t counts[TP_COUNTERS];
    assert_int_equal(tp_join_add(join, OTHER, TP_RING_SWAPCHAIN, 78, "other"), 1);
    tp_join_gauge(join, GAME, TP_GAUGE_COUNTS + TP_COUNT_RELEASE_WAITS, 3);
    tp_join_gauge(join, OTHER, TP_GAUGE_COUNTS + TP_COUNT_RELEASE_WAITS, 4);
    tp_join_gauge(join, GAME, TP_GAUGE_COUNTS + TP_COUNT_NOTES_FINAL, 1000);
    tp_join_gauge(join, SCREEN_ID, TP_GAUGE_COUNTS + TP_COUNT_NOTES_FINAL, 20);
    tp_join_gone(join, GAME);
    pass(MS);
    tp_join_counts(join, counts);
    assert_int_equal(counts[TP_COUNT_RELEASE_WAITS], 7);
    assert_int_equal(counts[TP_COUNT_NOTES_FINAL], 20);
    assert_int_equal(counts[TP_COUNT_UNSAFE], 0);
}

static void names_are_made_printable(void **state)
{
    (void)state;
    tp_join_add(join, OTHER, TP_RING_SWAPCHAIN, 78, "a\x1b[2Jb\xff\n");
    assert_null(strpbrk(heard.name, "\x1b\xff\n"));
    assert_non_null(strstr(heard.name, "[2Jb"));
}

static void there_are_only_so_many_rings_and_each_id_is_one(void **state)
{
    (void)state;
    assert_int_equal(tp_join_add(join, GAME, TP_RING_SWAPCHAIN, 1, "again"), -EEXIST);
    for (unsigned i = 2; i < TP_JOIN_RINGS; i++)
        assert_int_equal(tp_join_add(join, 100 + i, TP_RING_SWAPCHAIN, 1, "one"), (int)i - 1);
    assert_int_equal(tp_join_add(join, 1000, TP_RING_SWAPCHAIN, 1, "more"), -ENOSPC);
    tp_join_gone(join, 101);
    tp_join_gone(join, 102);
    pass(MS);
    assert_true(tp_join_add(join, 1000, TP_RING_SWAPCHAIN, 1, "more") >= 0);
}

static void what_a_ring_may_not_say_is_not_heard(void **state)
{
    (void)state;
    struct tp_ring_frame f = frame_of(0, refresh_ns(0), buffer(0, 1));
    struct tp_ring_picture p = picture_of(1, refresh_ns(0), 2, NULL);
    struct tp_ring_entry e = {.kind = TP_RING_PICTURE, .picture = p};
    tp_join_put(join, GAME, &e);
    put_frame(SCREEN_ID, &f);
    e = refresh_of(2, 1);
    tp_join_put(join, GAME, &e);
    assert_int_equal(heard.lost, 3);
    e = (struct tp_ring_entry){.kind = TP_RING_SETTING, .setting = {5, TP_SETTING_CAP, 0, 45000}};
    tp_join_put(join, GAME, &e);
    assert_int_equal(heard.n_settings, 1);
    assert_int_equal(heard.setting.value, 45000);
    e.setting.value = -1;
    tp_join_put(join, GAME, &e);
    assert_int_equal(heard.lost, 4);
    tp_join_put(join, 12345, &e); /* nobody's */
    tp_join_end(join);
    assert_int_equal(heard.n_frames + heard.n_refreshes, 0);
}

/* --- anything --- */

static uint64_t random_state = 1;

static uint64_t any(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Small numbers, so that some agree; and any. */
static uint64_t some(void)
{
    uint64_t n = any();
    return n % 4 ? any() % 40 : n % 8 ? any() : any() >> any() % 64;
}

static int64_t instant(void)
{
    return any() % 3 ? (int64_t)(any() % (2 * (uint64_t)SECOND)) : (int64_t)some();
}

static void put_anything(uint32_t id)
{
    struct tp_ring_entry e = {.kind = (enum tp_ring_kind)(any() % 5)};
    uint8_t *bytes = (uint8_t *)&e.frame;
    struct tp_frame_record *r = &e.frame.record;
    if (e.kind == TP_RING_FRAME) {
        for (int64_t *at = &r->begin_ns; at <= &r->told_ns; at++)
            *at = instant();
        r->number = some();
        r->sequence = some();
        r->image = (unsigned)some();
        r->refresh_mhz = (uint32_t)some();
        r->cap_mhz = (uint32_t)some();
        r->dropped = any() % 4 == 0;
        e.frame.fed_back = any() % 4 == 0;
        e.frame.buffer = buffer(any() % 3, any() % 3);
    } else if (e.kind == TP_RING_PICTURE) {
        e.picture = (struct tp_ring_picture){some(), some(), any() % 4 == 0, instant(), instant(),
            instant(), instant(), any() % 2 ? instant() : TP_NEVER, (unsigned)some(), {{{0, 0}, 0, 0}}};
        for (unsigned i = 0; i < TP_RING_LAYERS; i++)
            e.picture.layers[i] = buffer(any() % 3, any() % 3);
    } else if (e.kind == TP_RING_REFRESH) {
        e.refresh.record = (struct tp_refresh_record){.sequence = some(),
            .refresh_mhz = (uint32_t)some(),
            .latch_ns = instant(),
            .from_ns = instant(),
            .to_ns = instant(),
            .shows = any() % 4 > 0,
            .torn_ns = instant(),
            .torn_line = (uint32_t)some()};
        e.refresh.serial = some();
    } else {
        for (size_t i = 0; i < sizeof e.setting; i++)
            bytes[i] = (uint8_t)any();
    }
    tp_join_put(join, id, &e);
}

static bool in_bounds(int64_t ns)
{
    return ns == TP_NEVER || (ns >= -(INT64_C(1) << 60) && ns <= INT64_C(1) << 60);
}

static void assert_fit(const struct tp_frame_record *f)
{
    for (const int64_t *at = &f->begin_ns; at <= &f->told_ns; at++)
        assert_true(in_bounds(*at));
    assert_true(f->slot_wait_ns >= 0 && f->release_wait_ns >= 0 && f->gate_wait_ns >= 0);
    assert_true(f->guest <= UINT16_MAX && f->image <= UINT16_MAX);
    assert_true(in_bounds(f->permitted) && f->sequence <= UINT64_C(1) << 60);
    assert_false(f->dropped && f->line_ns != TP_NEVER);
}

/* The same guest's, by their numbers. */
static void assert_in_order(void)
{
    uint64_t next[3] = {0};
    for (unsigned i = 0; i < heard.n_frames && i < KEPT; i++) {
        const struct tp_frame_record *f = &heard.frames[i];
        unsigned g = f->guest == TP_JOIN_SCREEN ? 2 : f->guest;
        assert_true(g > 2 || f->number >= next[g]);
        if (g <= 2)
            next[g] = f->number + 1;
    }
    for (unsigned i = 1; i < heard.n_refreshes && i < KEPT; i++) {
        assert_true(heard.refreshes[i].sequence > heard.refreshes[i - 1].sequence);
        assert_true(in_bounds(heard.refreshes[i].torn_ns));
        assert_true(in_bounds(heard.refreshes[i].to_ns));
    }
}

static void whatever_comes_records_are_fit_and_in_order(void **state)
{
    (void)state;
    for (unsigned run = 0; run < 60; run++) {
        end(NULL);
        begin(NULL);
        tp_join_add(join, OTHER, TP_RING_SWAPCHAIN, 78, "other");
        for (unsigned i = 0; i < 3000; i++) {
            put_anything(SCREEN_ID + (uint32_t)(any() % 3));
            if (any() % 20 == 0)
                pass(now_ns + (int64_t)(any() % 100) * MS);
            if (any() % 100 == 0)
                tp_join_gauge(
                    join, SCREEN_ID + (uint32_t)(any() % 3), (unsigned)any() % TP_GAUGES, some());
        }
        tp_join_end(join);
        for (unsigned i = 0; i < heard.n_frames && i < KEPT; i++)
            assert_fit(&heard.frames[i]);
        assert_in_order();
        assert_true(heard.n_frames > 0);
    }
}

/* Neither side ever says what the other waits for. */
static void what_waits_is_bounded(void **state)
{
    (void)state;
    for (uint64_t n = 0; n < 5000; n++) {
        struct tp_ring_frame f = frame_of(n, refresh_ns(n), buffer(0, (unsigned)n + 1));
        struct tp_buffer_name b = buffer(1, 1);
        struct tp_ring_picture p = picture_of(n + 1, refresh_ns(n), n + 2, &b);
        put_frame(GAME, &f);
        put_picture(&p);
        put_refresh(n + 2, n + 1);
    }
    assert_true(heard.n_frames > 5000);
    put_refresh(5002, 5001);
    assert_true(heard.n_refreshes > 3500);
    pass(SECOND);
    pass(3 * SECOND);
    tp_join_end(join);
    assert_int_equal(heard.n_frames, 10000);
    assert_int_equal(heard.n_refreshes, 5001);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_frame_that_is_scanned_out_has_the_panels_instants),
        TEST(what_was_permitted_leaves_out_waits_that_need_not_have_been),
        TEST(a_frame_whose_picture_comes_late_waits_for_it),
        TEST(a_frame_without_a_picture_waits_a_second_and_no_longer),
        TEST(pictures_that_show_a_buffer_again_are_its_frames),
        TEST(a_buffer_of_another_generation_is_not_its_frames),
        TEST(an_older_picture_of_the_buffer_is_not_its_frames),
        TEST(a_picture_from_after_its_release_is_not_its_frames),
        TEST(several_layers_show_several_frames),
        TEST(a_torn_refresh_tears_its_frame),
        TEST(a_frame_that_its_guest_gave_up_is_told_at_once),
        TEST(a_picture_that_the_panel_dropped_drops_its_frame),
        TEST(a_composed_frame_keeps_what_the_compositor_told),
        TEST(the_panels_word_is_better_than_a_compositors),
        TEST(pictures_of_nobodys_are_frames_of_the_screen),
        TEST(a_silent_guests_pictures_become_the_screens_in_the_end),
        TEST(in_the_end_a_guests_last_pictures_are_nobodys),
        TEST(a_picture_that_stays_does_not_hold_up_refreshes),
        TEST(what_a_killed_guest_has_said_is_told),
        TEST(after_a_restart_of_the_server_frames_are_joined_again),
        TEST(two_guests_take_turns_on_the_screen),
        TEST(lost_entries_are_told_and_cost_no_more_than_themselves),
        TEST(frames_that_end_out_of_their_order_are_told_in_it),
        TEST(a_frame_has_the_rate_that_held_for_it),
        TEST(with_a_variable_rate_nothing_is_judged),
        TEST(repeats_are_counted_by_the_cap),
        TEST(counters_of_all_rings_are_added_up_and_outlive_them),
        TEST(names_are_made_printable),
        TEST(there_are_only_so_many_rings_and_each_id_is_one),
        TEST(what_a_ring_may_not_say_is_not_heard),
        TEST(whatever_comes_records_are_fit_and_in_order),
        TEST(what_waits_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
