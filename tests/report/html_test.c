/* The page: what is in a capture cannot act in it, nothing of it grows without bound, and it says what
 * is missing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"
#include "report/capture.h"
#include "report/html_model.h"
#include "report/html_text.h"
#include "report/summary.h"
#include "report/trace.h"

#define MS INT64_C(1000000)
#define PERIOD INT64_C(16666667)
#define BOUND (INT64_C(1) << 60)

static char path[] = "/tmp/html_test.XXXXXX";

/* --- captures --- */

static struct tp_frame_record frame_at(uint64_t number, int64_t begin)
{
    return (struct tp_frame_record){.number = number,
        .image = (unsigned)(number % 4),
        .sequence = number + 2,
        .permitted = (int64_t)number + 2,
        .refresh_mhz = 60000,
        .begin_ns = begin,
        .asked_ns = begin - MS,
        .gate_ns = begin,
        .acquired_ns = begin,
        .gate_wait_ns = MS,
        .cpu_ns = begin,
        .cpu_to_ns = begin + 3 * MS,
        .presented_ns = begin + 3 * MS,
        .returned_ns = begin + 3 * MS,
        .elsewhere_ns = TP_NEVER,
        .elsewhere_to_ns = TP_NEVER,
        .write_ns = begin + 3 * MS,
        .ready_ns = begin + 9 * MS,
        .booked_ns = begin + 15 * MS,
        .committed_ns = begin + 9 * MS,
        .composed_ns = begin + 9 * MS,
        .published_ns = begin + 9 * MS,
        .latched_ns = begin + 15 * MS,
        .line_ns = begin + 2 * PERIOD,
        .released_ns = begin + 3 * PERIOD,
        .told_ns = begin + 3 * PERIOD + MS};
}

static struct tp_refresh_record refresh_at(uint64_t sequence, int64_t from)
{
    return (struct tp_refresh_record){.sequence = sequence,
        .refresh_mhz = 60000,
        .latch_ns = from - MS,
        .from_ns = from,
        .to_ns = from + 16 * MS,
        .shows = true,
        .frame = sequence,
        .torn_ns = TP_NEVER};
}

static struct tp_recorder *begin_capture(void)
{
    struct tp_recorder *c;
    assert_int_equal(tp_recorder_create(path, &c, NULL), 0);
    return c;
}

/* A healthy run of so many frames, with its end; each torn-th one is torn, but for the first. */
static void write_run(uint64_t frames, uint64_t torn)
{
    struct tp_recorder *c = begin_capture();
    tp_recorder_setting(c, 0, "refresh-mhz", "60000");
    tp_recorder_setting(c, 0, "gate", "vsync");
    tp_recorder_guest(c, 0, "a game");
    for (uint64_t i = 0; i < frames; i++) {
        struct tp_frame_record f = frame_at(i, 1000 * MS + (int64_t)i * PERIOD);
        struct tp_refresh_record r = refresh_at(i, f.line_ns);
        if (i > 0 && i % torn == 0) {
            f.torn = true;
            r.torn_ns = r.from_ns + 4 * MS;
            r.torn_line = 270;
        }
        tp_recorder_refresh(c, &r);
        tp_recorder_frame(c, &f);
    }
    assert_int_equal(tp_recorder_finish(c, NULL), 0);
}

static struct tp_report *read_it(void)
{
    struct tp_report *r = NULL;
    struct tp_error e = {0};
    if (tp_report_read(path, &r, &e) < 0)
        fail_msg("%s", e.what);
    return r;
}

static char *page_of(const struct tp_report *r)
{
    struct tp_buf page = {0};
    tp_report_html(r, "x.cap", &page);
    return tp_buf_take(&page);
}

static unsigned times(const char *text, const char *part)
{
    unsigned n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

static char *missing_of(const struct tp_report *r)
{
    struct tp_buf b = {0};
    tp_report_missing(r, &b);
    return tp_buf_take(&b);
}

/* --- text --- */

static void what_acts_on_its_neighbours_is_made_visible(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"plain <b>", "plain <b>"}, {"Spiel für Ωμέγα 世界 🎮", "Spiel für Ωμέγα 世界 🎮"},
        {"a\xe2\x80\xae" "b", "a\\u{202e}b"}, {"\xe2\x81\xa6x\xe2\x81\xa9", "\\u{2066}x\\u{2069}"},
        {"\xe2\x80\x8f", "\\u{200f}"}, {"\xd8\x9c", "\\u{61c}"}, {"a\nb\tc\x1b[31m", "a\\u{a}b\\u{9}c\\u{1b}[31m"},
        {"\x7f", "\\u{7f}"}, {"\xc2\x85", "\\u{85}"}, {"\xef\xbb\xbf", "\\u{feff}"},
        {"\xff\xfe", "\\x{ff}\\x{fe}"}, {"\xe2\x80", "\\x{e2}\\x{80}"}, /* cut off */
        {"\xc0\x80", "\\x{c0}\\x{80}"}, {"\xed\xa0\x80", "\\x{ed}\\x{a0}\\x{80}"}, /* not so in UTF-8 */
        {"\xf4\x90\x80\x80", "\\x{f4}\\x{90}\\x{80}\\x{80}"}, {"\xef\xbf\xbe", "\\u{fffe}"}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *shown = html_visible(cases[i][0]);
        assert_string_equal(shown, cases[i][1]);
        free(shown);
    }
}

static void html_and_json_are_escaped(void **state)
{
    (void)state;
    struct tp_buf b = {0};
    html_escape(&b, "a<b>&\"c'");
    assert_string_equal(tp_buf_str(&b), "a&#60;b&#62;&#38;&#34;c&#39;");
    tp_buf_clear(&b);
    json_t *j = json_pack("{s:s}", "k", "</script><!--\xe2\x80\xa8");
    html_json(&b, j);
    assert_string_equal(tp_buf_str(&b), "{\"k\":\"\\u003c/script>\\u003c!--\\u2028\"}");
    json_decref(j);
    tp_buf_finish(&b);
}

static void base64_and_hashes_are_the_known_ones(void **state)
{
    (void)state;
    struct tp_buf b = {0};
    html_base64(&b, (const uint8_t *)"Man", 3);
    html_base64(&b, (const uint8_t *)"foobar", 6); /* RFC 4648, 10 */
    assert_string_equal(tp_buf_str(&b), "TWFuZm9vYmFy");
    tp_buf_clear(&b);
    html_hash(&b, "", 0);
    assert_string_equal(tp_buf_str(&b), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    tp_buf_finish(&b);
}

/* --- names and settings out of a capture --- */

static void names_cannot_act_in_the_page(void **state)
{
    (void)state;
    write_run(20, UINT64_MAX);
    struct tp_report *r = read_it();
    char *page = page_of(r);
    unsigned scripts = times(page, "<script");
    free(page);
    tp_report_destroy(r);
    struct tp_recorder *c = begin_capture();
    static const char bad[] = "</script><script>alert(1)</script><b>\xe2\x80\xae\"'&";
    tp_recorder_setting(c, 0, "gate", "%s", bad);
    tp_recorder_setting(c, 0, bad, "%s", bad);
    tp_recorder_setting(c, 5, bad, "again %s", bad);
    tp_recorder_guest(c, 0, bad);
    tp_recorder_guest(c, 1, "<img src=x onerror=alert(1)>");
    tp_recorder_count(c, "fault.<b>x", 3);
    for (unsigned i = 0; i < 40; i++) {
        struct tp_frame_record f = frame_at(i / 2, i * PERIOD);
        f.guest = i % 2;
        f.late = true;
        tp_recorder_frame(c, &f);
    }
    tp_recorder_finish(c, NULL);
    r = read_it();
    page = page_of(r);
    assert_int_equal(times(page, "<script"), scripts);
    assert_null(strstr(page, "<b>\\u{202e}"));
    assert_null(strstr(page, "<b>x"));
    assert_null(strstr(page, "<img"));
    assert_null(strstr(page, "\xe2\x80\xae"));
    assert_non_null(strstr(page, "\\u{202e}"));
    free(page);
    struct tp_buf text = {0};
    tp_report_text(r, &text);
    assert_null(strstr(tp_buf_str(&text), "\xe2\x80\xae"));
    tp_buf_finish(&text);
    json_t *j = tp_report_json(r);
    char *dump = json_dumps(j, 0);
    assert_non_null(dump);
    free(dump);
    json_decref(j);
    tp_report_destroy(r);
}

/* --- what is kept --- */

static void a_run_beyond_all_bounds_keeps_its_ends_and_its_tears(void **state)
{
    (void)state;
    uint64_t frames = 400000, torn = 20000;
    write_run(frames, torn);
    struct tp_report *r = read_it();
    const struct report_chunks *c = &r->chunks;
    assert_true(c->n <= REPORT_CHUNKS);
    assert_true(c->frames_kept <= REPORT_CHUNKS * REPORT_ROWS);
    assert_int_equal(c->frames_all, frames);
    assert_int_equal(c->at[0].place, 0);
    assert_int_equal(c->at[c->n - 1].place, c->all - 1);
    unsigned grave = 0;
    uint64_t widest = 0;
    for (unsigned i = 0; i < c->n; i++) {
        grave += c->at[i].weight == 2;
        if (i > 0 && c->at[i].place - c->at[i - 1].place > widest)
            widest = c->at[i].place - c->at[i - 1].place;
    }
    assert_int_equal(grave, 19); /* each torn frame is in one of its own */
    assert_true(widest <= 4);    /* what is left out is spread */
    assert_int_equal(r->main.measures.frames, frames);
    assert_int_equal(r->main.measures.tears, 19);
    char *page = page_of(r);
    assert_non_null(strstr(page, "400000 frames in full, those around events first"));
    free(page);
    tp_report_destroy(r);
}

static void the_overview_has_all_frames_of_any_span(void **state)
{
    (void)state;
    write_run(30000, 20000);
    struct tp_report *r = read_it();
    uint64_t frames = 0, torn = 0;
    for (unsigned i = 0; i < REPORT_BINS; i++) {
        frames += r->bins[i].frames;
        torn += r->bins[i].kinds >> EVENT_TEAR & 1;
    }
    assert_int_equal(frames, 30000);
    assert_int_equal(torn, 1);
    /* 500 s in 1024 bins that double from 8192 us: of half a second and a bit each */
    assert_int_equal(r->bin_us, 524288);
    tp_report_destroy(r);
}

static void figures_are_those_of_the_summary(void **state)
{
    (void)state;
    write_run(3000, 700);
    struct tp_report *r = read_it();
    struct tp_summary s;
    struct tp_capture_found found;
    assert_int_equal(tp_summary_read(path, TP_FIGURES_MAIN, &s, &found, NULL), 0);
    json_t *a = tp_summary_json(&s), *b = tp_report_json(r), *value;
    const char *name;
    json_object_foreach(a, name, value)
    {
        if (!json_equal(value, json_object_get(b, name)))
            fail_msg("%s differs", name);
    }
    json_decref(a);
    json_decref(b);
    tp_report_destroy(r);
}

static void more_guests_than_are_shown_are_counted(void **state)
{
    (void)state;
    struct tp_recorder *c = begin_capture();
    for (unsigned i = 0; i < 3000; i++) {
        struct tp_frame_record f = frame_at(i / 100, i * PERIOD);
        f.guest = i % 100;
        tp_recorder_frame(c, &f);
    }
    tp_recorder_finish(c, NULL);
    struct tp_report *r = read_it();
    assert_int_equal(r->n_guests, REPORT_GUESTS);
    assert_int_equal(r->other_frames, 3000 - 30 * REPORT_GUESTS);
    char *missing = missing_of(r);
    assert_non_null(strstr(missing, "2520 frames of further guests are left out"));
    free(missing);
    free(page_of(r));
    tp_report_destroy(r);
}

static void a_window_on_its_way_and_the_screen_are_no_games(void **state)
{
    (void)state;
    struct tp_recorder *c = begin_capture();
    tp_recorder_setting(c, 0, "refresh-mhz", "60000");
    tp_recorder_setting(c, 7, "gate", "vsync"); /* of each swapchain, and no change */
    tp_recorder_setting(c, 8, "gate", "vsync");
    tp_recorder_setting(c, 9, "gate", "latency");
    tp_recorder_guest(c, 1, "a window");
    tp_recorder_guest(c, 2, "the game");
    for (unsigned i = 0; i < 600; i++) {
        struct tp_frame_record f = frame_at(i / 2, i / 2 * PERIOD);
        f.guest = i % 2 ? 2 : i < 40 ? 1 : TP_JOIN_SCREEN;
        if (f.guest == TP_JOIN_SCREEN)
            f.begin_ns = f.asked_ns = f.gate_ns = f.acquired_ns = f.presented_ns = TP_NEVER;
        tp_recorder_frame(c, &f);
    }
    tp_recorder_finish(c, NULL);
    struct tp_report *r = read_it();
    const struct report_guest *guests[REPORT_GUESTS];
    assert_int_equal(r->n_guests, 3);
    assert_int_equal(report_shown_guests(r, guests), 2);
    assert_string_equal(guests[0]->name, "the game");
    assert_int_equal(guests[1]->number, TP_JOIN_SCREEN);
    assert_int_equal(guests[1]->n_findings, 0);
    assert_int_equal(r->n_changes, 1);
    tp_report_destroy(r);
}

/* One guest for 300 frames, another for as many, and the panel alone for so long. */
static struct tp_report *two_in_turn(const char *first, const char *second, unsigned alone)
{
    struct tp_recorder *c = begin_capture();
    tp_recorder_setting(c, 0, "refresh-mhz", "60000");
    tp_recorder_guest(c, 1, first);
    tp_recorder_guest(c, 2, second);
    for (unsigned i = 0; i < 600 + alone; i++) {
        struct tp_frame_record f = frame_at(i % 300, 1000 * MS + i * PERIOD);
        struct tp_refresh_record s = refresh_at(i, f.line_ns);
        f.guest = i < 300 ? 1 : 2;
        f.sequence = i + 2;
        f.permitted = (int64_t)f.sequence;
        tp_recorder_refresh(c, &s);
        if (i < 600)
            tp_recorder_frame(c, &f);
    }
    tp_recorder_finish(c, NULL);
    return read_it();
}

static void the_end_of_a_swapchain_is_no_standstill(void **state)
{
    (void)state;
    struct tp_report *r = two_in_turn("game", "game", 30);
    assert_int_equal(r->guests[0].n_findings, 0);
    assert_int_equal(r->guests[1].n_findings, 0);
    tp_report_destroy(r);
    r = two_in_turn("game", "another", 30);
    assert_int_equal(r->guests[0].n_findings, 1);
    assert_int_equal(r->guests[0].findings[0].severity, TP_FINDING_NOTE);
    assert_non_null(strstr(r->guests[0].findings[0].text, "since 0:05.0"));
    assert_int_equal(r->guests[1].n_findings, 0);
    tp_report_destroy(r);
    r = two_in_turn("game", "game", 120);
    assert_int_equal(r->guests[0].n_findings, 0);
    assert_string_equal(r->guests[1].findings[0].id, "stands-still");
    assert_int_equal(r->guests[1].verdict.severity, TP_FINDING_WARNING);
    tp_report_destroy(r);
}

static void the_worst_events_are_in_the_text(void **state)
{
    (void)state;
    struct tp_buf text = {0};
    write_run(1000, 100);
    struct tp_report *r = read_it();
    tp_report_text(r, &text);
    assert_non_null(strstr(tp_buf_str(&text), "\nthe worst events:\n  0:01.7"));
    assert_int_equal(times(tp_buf_str(&text), "  Torn: the image of frame "), 5);
    assert_non_null(strstr(tp_buf_str(&text), "\n  … and 4 more on the page\n"));
    tp_report_destroy(r);
    tp_buf_finish(&text);
    write_run(1000, UINT64_MAX);
    r = read_it();
    tp_report_text(r, &text);
    assert_null(strstr(tp_buf_str(&text), "events"));
    tp_report_destroy(r);
    tp_buf_finish(&text);
}

static void settings_without_end_are_bounded(void **state)
{
    (void)state;
    struct tp_recorder *c = begin_capture();
    for (unsigned i = 0; i < 5000; i++) {
        char name[32];
        snprintf(name, sizeof name, "setting-%u", i % 300);
        tp_recorder_setting(c, i, name, "%u", i);
    }
    tp_recorder_finish(c, NULL);
    struct tp_report *r = read_it();
    assert_int_equal(r->n_settings, REPORT_SETTINGS);
    assert_int_equal(r->n_changes, REPORT_CHANGES);
    assert_true(r->other_settings > 0);
    free(page_of(r));
    tp_report_destroy(r);
}

/* --- events --- */

static struct report_event late_frame(uint64_t number, int64_t by)
{
    int64_t at = (int64_t)number * PERIOD;
    return (struct report_event){.kind = EVENT_LATE,
        .first = number,
        .last = number,
        .n = 1,
        .from_ns = at,
        .to_ns = at,
        .worst = by};
}

static void the_same_in_a_row_is_one_event(void **state)
{
    (void)state;
    struct report_events *e = tp_calloc(1, sizeof *e);
    const uint64_t numbers[] = {10, 11, 13, 21, 40, 41};
    for (unsigned i = 0; i < 6; i++) {
        struct report_event one = late_frame(numbers[i], (int64_t)i * MS);
        report_event_add(e, &one);
    }
    report_events_end(e);
    struct report_event *list;
    assert_int_equal(report_events_sorted(e, &list), 2);
    assert_int_equal(list[0].first, 10);
    assert_int_equal(list[0].last, 21);
    assert_int_equal(list[0].n, 4);
    assert_int_equal(list[0].worst, 3 * MS);
    assert_int_equal(list[1].first, 40);
    assert_int_equal(e->all[EVENT_LATE], 6);
    free(list);
    free(e);
}

static void of_too_many_the_worst_are_kept(void **state)
{
    (void)state;
    struct report_events *e = tp_calloc(1, sizeof *e);
    for (unsigned i = 0; i < 5000; i++) {
        struct report_event one = late_frame(100 * i, i == 3000 ? 90 * MS : (int64_t)(i % 7) * MS);
        report_event_add(e, &one);
    }
    report_events_end(e);
    struct report_event *list;
    size_t n = report_events_sorted(e, &list);
    assert_int_equal(n, REPORT_EVENTS);
    assert_int_equal(e->rows[EVENT_LATE], 5000);
    bool worst = false;
    for (size_t i = 0; i < n; i++) {
        worst |= list[i].first == 300000;
        assert_true(list[i].worst >= 6 * MS);
        assert_true(i == 0 || list[i].from_ns > list[i - 1].from_ns);
    }
    assert_true(worst);
    free(list);
    free(e);
}

static void events_say_what_happened(void **state)
{
    (void)state;
    struct tp_report *r = tp_calloc(1, sizeof *r);
    static const struct {
        struct report_event e;
        const char *words;
    } cases[] = {
        {{.kind = EVENT_TEAR, .first = 7, .last = 7, .n = 1, .worst = 104},
            "Torn: the image of frame 7 was written while the panel read line 104"},
        {{.kind = EVENT_TEAR, .first = 7, .last = 9, .n = 3},
            "Torn: frames 7 to 9, 3 refreshes: each image was written while the panel read it"},
        {{.kind = EVENT_STOP, .n = 1, .worst = 264 * MS}, "The panel stopped: no refresh for 264 ms"},
        {{.kind = EVENT_REPEAT, .first = 4, .last = 4, .n = 1, .worst = 1},
            "Shown late: before frame 4 the older picture stayed 1 refresh too long"},
        {{.kind = EVENT_LATE, .first = 4, .last = 4, .n = 1, .worst = 2500000},
            "Missed the latch: frame 4, ready 2.50 ms after the one it was booked for"},
        {{.kind = EVENT_RELEASE, .first = 4, .last = 8, .n = 2, .worst = 2},
            "Released late: the image of frames 4 to 8, up to 2 refreshes after the panel had left it"},
        {{.kind = EVENT_RATE, .n = 1, .worst = 120000}, "The panel's rate is 120 Hz from here"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = report_event_text(r, &cases[i].e);
        assert_string_equal(text, cases[i].words);
        free(text);
    }
    free(r);
}

/* --- captures that are cut, damaged, or made to hurt --- */

static void a_capture_cut_anywhere_still_makes_a_page(void **state)
{
    (void)state;
    write_run(300, 100);
    struct tp_buf whole = {0};
    assert_true(tp_read_file(path, 0, &whole, NULL) >= 0);
    uint64_t last = 0;
    for (size_t n = TP_CAPTURE_HEADER; n < whole.len; n += 97) {
        assert_true(tp_write_file(path, whole.data, n, 0600, NULL) >= 0);
        struct tp_report *r = read_it();
        char *page = page_of(r), *missing = missing_of(r);
        assert_non_null(strstr(page, "</html>"));
        assert_non_null(strstr(missing, "The capture was cut"));
        assert_non_null(strstr(page, "The capture was cut"));
        assert_true(r->main.measures.frames >= last);
        last = r->main.measures.frames;
        free(page);
        free(missing);
        tp_report_destroy(r);
    }
    assert_true(last > 250);
    tp_buf_finish(&whole);
}

static void what_ends_within_its_head_is_no_capture(void **state)
{
    (void)state;
    write_run(10, UINT64_MAX);
    struct tp_buf whole = {0};
    assert_true(tp_read_file(path, 0, &whole, NULL) >= 0);
    for (size_t n = 0; n < TP_CAPTURE_HEADER; n++) {
        struct tp_report *r;
        struct tp_error e = {0};
        assert_true(tp_write_file(path, whole.data, n, 0600, NULL) >= 0);
        assert_int_equal(tp_report_read(path, &r, &e), -EPROTO);
        assert_null(r);
        assert_int_equal(e.status, TP_STATUS_INPUT);
        assert_non_null(strstr(e.what, n > 0 ? "ends within its first" : "is empty"));
    }
    tp_buf_finish(&whole);
}

static void damage_is_told(void **state)
{
    (void)state;
    write_run(2000, UINT64_MAX);
    struct tp_buf bytes = {0};
    assert_true(tp_read_file(path, 0, &bytes, NULL) >= 0);
    bytes.data[bytes.len / 2] ^= 1;
    assert_true(tp_write_file(path, bytes.data, bytes.len, 0600, NULL) >= 0);
    struct tp_report *r = read_it();
    char *missing = missing_of(r);
    assert_string_equal(
        missing, "1 block of the capture is damaged: some of what happened then is not in here.\n");
    free(missing);
    tp_report_destroy(r);
    tp_buf_finish(&bytes);
}

static void nothing_in_it_is_told(void **state)
{
    (void)state;
    struct tp_recorder *c = begin_capture();
    tp_recorder_finish(c, NULL);
    struct tp_report *r = read_it();
    char *page = page_of(r);
    assert_non_null(strstr(page, "No frame is in this capture."));
    free(page);
    struct tp_buf text = {0};
    tp_report_text(r, &text);
    assert_string_equal(tp_buf_str(&text), "No frame is in this capture.\n");
    tp_buf_finish(&text);
    tp_report_destroy(r);
}

/* Instants at the ends of what a capture may hold, in any order; under the sanitizers. */
static void the_largest_instants_do_no_harm(void **state)
{
    (void)state;
    const int64_t ends[] = {-BOUND, BOUND, 0, TP_NEVER, BOUND - 1, -1};
    struct tp_recorder *c = begin_capture();
    for (unsigned i = 0; i < 600; i++) {
        struct tp_frame_record f = frame_at(i, 0);
        struct tp_refresh_record r = refresh_at(i, 0);
        int64_t *instants[] = {&f.begin_ns, &f.asked_ns, &f.gate_ns, &f.acquired_ns, &f.cpu_ns,
            &f.cpu_to_ns, &f.presented_ns, &f.write_ns, &f.ready_ns, &f.booked_ns, &f.published_ns,
            &f.latched_ns, &f.line_ns,  &f.released_ns, &f.told_ns};
        for (unsigned k = 0; k < sizeof instants / sizeof *instants; k++)
            *instants[k] = ends[(i * 7 + k * 5 + i / 6) % 6];
        f.committed_ns = f.composed_ns = f.returned_ns = ends[(i + 1) % 6];
        f.release_wait_ns = ends[i % 3];
        f.slot_wait_ns = f.gate_wait_ns = ends[i / 3 % 3];
        f.sequence = i % 2 ? (uint64_t)BOUND : i;
        f.number = i % 5 ? i : (uint64_t)BOUND;
        f.repeats = i % 3 ? (uint64_t)BOUND : 0;
        f.refresh_mhz = i % 4 ? UINT32_MAX : 0;
        f.cap_mhz = i % 7 ? 1 : UINT32_MAX;
        f.late = f.torn = f.dropped = true;
        r.from_ns = ends[i / 2 % 3];
        r.latch_ns = ends[(i + 1) % 3];
        r.to_ns = ends[(i + 2) % 3];
        r.torn_ns = ends[i % 3];
        r.refresh_mhz = i % 2 ? 1 : UINT32_MAX;
        r.sequence = (uint64_t)BOUND;
        tp_recorder_frame(c, &f);
        tp_recorder_refresh(c, &r);
    }
    tp_recorder_finish(c, NULL);
    struct tp_report *r = read_it();
    assert_int_equal(r->found.damaged, 0);
    assert_true(r->found.records >= 1200);
    free(page_of(r));
    struct tp_buf text = {0};
    tp_report_text(r, &text);
    tp_buf_finish(&text);
    json_decref(tp_report_json(r));
    tp_report_destroy(r);
}

/* --- all of them --- */

static int set_up(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

/* --- the trace --- */

static void a_trace_blames_the_gate_for_no_more_than_figures_do(void **state)
{
    (void)state;
    struct tp_recorder *c = begin_capture();
    struct tp_frame_record f = frame_at(20, 1000 * MS);
    struct tp_capture_found found;
    char *text = NULL;
    size_t n = 0;
    f.acquired_ns += 500 * MS; /* the process was stopped in its wait */
    f.gate_wait_ns += 500 * MS;
    tp_recorder_frame(c, &f);
    assert_int_equal(tp_recorder_finish(c, NULL), 0);
    FILE *out = open_memstream(&text, &n);
    assert_int_equal(tp_trace_write(path, out, &found, NULL), 0);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "\"name\":\"gate\",\"ts\":999000.000,\"dur\":1000.000"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_acts_on_its_neighbours_is_made_visible),
        cmocka_unit_test(html_and_json_are_escaped),
        cmocka_unit_test(base64_and_hashes_are_the_known_ones),
        cmocka_unit_test(names_cannot_act_in_the_page),
        cmocka_unit_test(a_run_beyond_all_bounds_keeps_its_ends_and_its_tears),
        cmocka_unit_test(the_overview_has_all_frames_of_any_span),
        cmocka_unit_test(figures_are_those_of_the_summary),
        cmocka_unit_test(more_guests_than_are_shown_are_counted),
        cmocka_unit_test(a_window_on_its_way_and_the_screen_are_no_games),
        cmocka_unit_test(the_end_of_a_swapchain_is_no_standstill),
        cmocka_unit_test(the_worst_events_are_in_the_text),
        cmocka_unit_test(settings_without_end_are_bounded),
        cmocka_unit_test(the_same_in_a_row_is_one_event),
        cmocka_unit_test(of_too_many_the_worst_are_kept),
        cmocka_unit_test(events_say_what_happened),
        cmocka_unit_test(a_capture_cut_anywhere_still_makes_a_page),
        cmocka_unit_test(what_ends_within_its_head_is_no_capture),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(nothing_in_it_is_told),
        cmocka_unit_test(the_largest_instants_do_no_harm),
        cmocka_unit_test(a_trace_blames_the_gate_for_no_more_than_figures_do),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
