/* Captures: what is written is read, wherever the file is cut and whatever is in it. */
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
#include <zlib.h>

#include "base/buf.h"
#include "base/fs.h"
#include "cli/recording.h"
#include "report/capture.h"
#include "report/capture_read.h"
#include "report/summary.h"

#define BOUND (INT64_C(1) << 60)

static struct tp_world_result result;
static char path[] = "/tmp/capture_test.XXXXXX";

/* --- what a reader hears --- */

#define KEPT 4096u

struct heard {
    struct tp_frame_record frames[KEPT];
    struct tp_refresh_record refreshes[KEPT];
    unsigned n_frames, n_refreshes, n_settings, n_guests, n_counts;
    char setting[TP_CAPTURE_NAME + TP_CAPTURE_VALUE + 8], guest[TP_CAPTURE_VALUE + 1],
        count[TP_CAPTURE_NAME + 1];
    int64_t setting_ns;
    uint64_t value;
    uint64_t digest;          /* of everything, in order */
    uint64_t after[4 * KEPT]; /* the digest after each */
    unsigned n;
};

static struct heard heard;

static void mix(struct heard *h, const void *bytes, size_t n)
{
    h->digest = h->digest * 31 + crc32(0, bytes, (uInt)n);
}

static void note(struct heard *h)
{
    assert_true(h->n < sizeof h->after / sizeof *h->after);
    h->after[h->n++] = h->digest;
}

static void on_setting(void *data, int64_t at_ns, const char *name, const char *value)
{
    struct heard *h = data;
    snprintf(h->setting, sizeof h->setting, "%s=%s", name, value);
    h->setting_ns = at_ns;
    h->n_settings++;
    mix(h, h->setting, strlen(h->setting));
    note(h);
}

static void on_guest(void *data, unsigned guest, const char *name)
{
    struct heard *h = data;
    snprintf(h->guest, sizeof h->guest, "%s", name);
    h->n_guests++;
    mix(h, &guest, sizeof guest);
    note(h);
}

static void on_frame(void *data, const struct tp_frame_record *f)
{
    struct heard *h = data;
    h->frames[h->n_frames++ % KEPT] = *f;
    mix(h, &f->line_ns, sizeof f->line_ns);
    mix(h, &f->number, sizeof f->number);
    note(h);
}

static void on_refresh(void *data, const struct tp_refresh_record *r)
{
    struct heard *h = data;
    h->refreshes[h->n_refreshes++ % KEPT] = *r;
    mix(h, &r->from_ns, sizeof r->from_ns);
    note(h);
}

static void on_count(void *data, const char *name, uint64_t value)
{
    struct heard *h = data;
    snprintf(h->count, sizeof h->count, "%s", name);
    h->value = value;
    h->n_counts++;
    mix(h, name, strlen(name));
    note(h);
}

static const struct tp_capture_sink sink = {.setting = on_setting,
    .guest = on_guest,
    .frame = on_frame,
    .refresh = on_refresh,
    .count = on_count,
    .data = &heard};

/* Reads these bytes, some at a time. */
static int hear(
    const void *bytes, size_t n, size_t step, struct tp_capture_found *found, struct tp_error *e)
{
    struct tp_capture_reader *r = tp_capture_reader_create(&sink);
    int err = 0;
    heard.n = heard.n_frames = heard.n_refreshes = heard.n_settings = heard.n_guests =
        heard.n_counts = 0;
    heard.digest = 0;
    for (size_t at = 0; at < n && err >= 0; at += step)
        err = tp_capture_push(
            r, (const uint8_t *)bytes + at, n - at < step ? n - at : step, "here", e);
    tp_capture_end(r, found);
    tp_capture_reader_destroy(r);
    return err;
}

/* A file of one block. */
struct one {
    uint8_t bytes[TP_CAPTURE_HEADER + TP_CAPTURE_ROOM];
    size_t n;
};

static struct one file_of(struct tp_capture_block *b)
{
    struct one f;
    tp_recorder_header(f.bytes);
    tp_block_seal(b, 0);
    memcpy(f.bytes + TP_CAPTURE_HEADER, b->bytes, b->n);
    f.n = TP_CAPTURE_HEADER + b->n;
    return f;
}

static void hear_block(struct tp_capture_block *b, struct tp_capture_found *found)
{
    struct one f = file_of(b);
    assert_int_equal(hear(f.bytes, f.n, f.n, found, NULL), 0);
}

/* --- runs of the world --- */

static const struct tp_world_cost costs[] = {
    {4000000, 6000000}, {9000000, 12000000}, {3000000, 4000000}};

static struct tp_world_config config(uint64_t frames)
{
    struct tp_world_config c;
    tp_world_defaults(&c);
    c.costs = costs;
    c.n_costs = sizeof costs / sizeof *costs;
    c.frames = frames;
    c.images = 4;
    return c;
}

/* Runs it with a recording; the file's bytes. The caller finishes them. */
static struct tp_buf record(struct tp_world_config *c)
{
    struct tp_recording *r;
    struct tp_buf bytes = {0};
    assert_int_equal(tp_recording_begin(path, c, &r, NULL), 0);
    assert_int_equal(tp_world_run(c, &result, NULL), 0);
    assert_int_equal(tp_recording_end(r, &result, NULL), 0);
    assert_null(c->watch);
    assert_int_equal(tp_read_file(path, 0, &bytes, NULL), 0);
    return bytes;
}

/* --- what is written is read --- */

static bool same_frame(const struct tp_frame_record *a, const struct tp_frame_record *b)
{
    return a->number == b->number && a->guest == b->guest && a->image == b->image &&
        a->dropped == b->dropped && a->late == b->late && a->torn == b->torn &&
        a->variable == b->variable && a->repeats == b->repeats && a->sequence == b->sequence &&
        a->permitted == b->permitted && a->refresh_mhz == b->refresh_mhz &&
        a->cap_mhz == b->cap_mhz &&
        memcmp(&a->begin_ns, &b->begin_ns,
            sizeof *a - offsetof(struct tp_frame_record, begin_ns)) == 0;
}

/* A frame whose instants are all this far from 0. */
static struct tp_frame_record frame_at(uint64_t number, int64_t ns)
{
    struct tp_frame_record f = {.number = number, .sequence = 7, .permitted = -3};
    for (int64_t *at = &f.begin_ns; at <= &f.told_ns; at++)
        *at = ns;
    return f;
}

static void numbers_of_any_size_come_back(void **state)
{
    (void)state;
    struct tp_capture_block b;
    struct tp_capture_found found;
    struct tp_frame_record f[4] = {
        frame_at(0, 0), frame_at(UINT64_MAX, BOUND), frame_at(1, -BOUND), frame_at(2, TP_NEVER)};
    f[1].guest = f[1].image = UINT16_MAX;
    f[1].dropped = f[1].late = f[1].torn = f[1].variable = true;
    f[1].repeats = UINT64_MAX;
    f[1].sequence = (uint64_t)BOUND;
    f[1].permitted = -BOUND;
    f[1].refresh_mhz = f[1].cap_mhz = UINT32_MAX;
    f[3].slot_wait_ns = f[3].release_wait_ns = f[3].gate_wait_ns = 5;
    f[3].sequence = 0; /* it was never shown: these are not told */
    f[3].permitted = 0;
    tp_block_begin(&b);
    assert_true(tp_block_is_empty(&b));
    for (unsigned i = 0; i < 4; i++)
        assert_true(tp_block_frame(&b, &f[i]));
    hear_block(&b, &found);
    assert_int_equal(found.records, 4);
    assert_int_equal(found.damaged, 0);
    for (unsigned i = 0; i < 4; i++)
        assert_true(same_frame(&heard.frames[i], &f[i]));
}

static void refreshes_come_back(void **state)
{
    (void)state;
    struct tp_capture_block b;
    struct tp_capture_found found;
    const struct tp_refresh_record r[3] = {{.sequence = 5,
                                               .refresh_mhz = 60000,
                                               .latch_ns = 98,
                                               .from_ns = 100,
                                               .to_ns = 110,
                                               .torn_ns = TP_NEVER},
        {.sequence = (uint64_t)BOUND,
            .refresh_mhz = UINT32_MAX,
            .latch_ns = -BOUND,
            .from_ns = BOUND,
            .to_ns = BOUND,
            .shows = true,
            .async_torn = true,
            .guest = 3,
            .frame = UINT64_MAX,
            .torn_ns = -BOUND,
            .torn_line = UINT32_MAX},
        {.sequence = 6,
            .latch_ns = 1,
            .from_ns = 2,
            .to_ns = 3,
            .shows = true,
            .frame = 4,
            .torn_ns = 2}};
    tp_block_begin(&b);
    for (unsigned i = 0; i < 3; i++)
        assert_true(tp_block_refresh(&b, &r[i]));
    hear_block(&b, &found);
    assert_int_equal(heard.n_refreshes, 3);
    for (unsigned i = 0; i < 3; i++) {
        const struct tp_refresh_record *h = &heard.refreshes[i];
        assert_true(h->sequence == r[i].sequence && h->refresh_mhz == r[i].refresh_mhz);
        assert_true(h->latch_ns == r[i].latch_ns && h->from_ns == r[i].from_ns);
        assert_true(h->to_ns == r[i].to_ns && h->shows == r[i].shows);
        assert_true(h->async_torn == r[i].async_torn && h->guest == r[i].guest);
        assert_true(h->frame == r[i].frame && h->torn_ns == r[i].torn_ns);
        assert_int_equal(h->torn_line, r[i].torn_line);
    }
}

static void texts_come_back_and_long_ones_are_cut(void **state)
{
    (void)state;
    struct tp_capture_block b;
    struct tp_capture_found found;
    char is_long[400];
    memset(is_long, 'x', sizeof is_long - 1);
    is_long[sizeof is_long - 1] = 0;
    tp_block_begin(&b);
    assert_true(tp_block_setting(&b, 42, "gate", "latency"));
    assert_true(tp_block_guest(&b, 2, "vkcube"));
    assert_true(tp_block_count(&b, "unsafe", UINT64_MAX));
    hear_block(&b, &found);
    assert_string_equal(heard.setting, "gate=latency");
    assert_int_equal(heard.setting_ns, 42);
    assert_string_equal(heard.guest, "vkcube");
    assert_string_equal(heard.count, "unsafe");
    assert_true(heard.value == UINT64_MAX);
    tp_block_begin(&b);
    assert_true(tp_block_setting(&b, 0, is_long, is_long));
    assert_true(tp_block_guest(&b, 0, is_long));
    hear_block(&b, &found);
    assert_int_equal(found.damaged, 0);
    assert_int_equal(strlen(heard.setting), TP_CAPTURE_NAME + 1 + TP_CAPTURE_VALUE);
    assert_int_equal(strlen(heard.guest), TP_CAPTURE_VALUE);
}

static void a_full_block_takes_no_more_and_stays_whole(void **state)
{
    (void)state;
    struct tp_capture_block b;
    struct tp_capture_found found;
    unsigned n = 0;
    tp_block_begin(&b);
    for (struct tp_frame_record f = frame_at(0, BOUND); tp_block_frame(&b, &f); n++)
        f = frame_at(n * UINT64_C(0x9e3779b97f4a7c15), n % 2 ? BOUND : -BOUND);
    assert_true(n > 50);
    hear_block(&b, &found);
    assert_int_equal(found.records, n);
    assert_int_equal(found.damaged, 0);
}

/* --- files that end, or are spoilt --- */

static size_t varint(const uint8_t *at, uint64_t *out)
{
    size_t n = 0;
    *out = 0;
    do
        *out |= (uint64_t)(at[n] & 127) << 7 * n;
    while (at[n++] & 128);
    return n;
}

/* Where each record ends, by docs/capture.md. */
static unsigned ends_of(const uint8_t *bytes, size_t n, size_t *ends, unsigned most)
{
    unsigned found = 0;
    for (size_t at = 16; at < n;) {
        size_t end = at + 16 + (bytes[at + 4] | (size_t)bytes[at + 5] << 8);
        for (at += 16; at < end;) {
            uint64_t type, length;
            at += varint(bytes + at, &type);
            at += varint(bytes + at, &length);
            at += length;
            assert_true(found < most);
            ends[found++] = at;
        }
        assert_int_equal(at, end);
    }
    return found;
}

static void a_capture_cut_at_any_byte_opens_up_to_the_cut(void **state)
{
    (void)state;
    static size_t ends[4 * KEPT];
    static uint64_t after[4 * KEPT];
    struct tp_world_config c = config(400);
    struct tp_buf file = record(&c);
    struct tp_capture_found found;
    unsigned n = ends_of((const uint8_t *)file.data, file.len, ends, 4 * KEPT);
    assert_int_equal(hear(file.data, file.len, file.len, &found, NULL), 0);
    assert_true(found.ended);
    assert_true(found.blocks > 1);
    assert_int_equal(found.records, n);
    assert_int_equal(heard.n, n - 1); /* the end's own is told by found */
    memcpy(after, heard.after, n * sizeof *after);
    unsigned whole = 0;
    for (size_t cut = 0; cut < file.len; cut++) {
        while (ends[whole] <= cut)
            whole++;
        assert_int_equal(hear(file.data, cut, cut, &found, NULL), 0);
        assert_int_equal(found.records, whole);
        assert_int_equal(found.damaged, 0);
        assert_false(found.ended);
        assert_true(whole == 0 || heard.digest == after[whole - 1]);
    }
    tp_buf_finish(&file);
}

static void bytes_may_come_one_by_one(void **state)
{
    (void)state;
    struct tp_world_config c = config(100);
    struct tp_buf file = record(&c);
    struct tp_capture_found found;
    hear(file.data, file.len, file.len, &found, NULL);
    uint64_t digest = heard.digest;
    for (size_t step = 1; step < 40; step += 6) {
        assert_int_equal(hear(file.data, file.len, step, &found, NULL), 0);
        assert_true(heard.digest == digest && found.ended);
    }
    tp_buf_finish(&file);
}

static void a_spoilt_block_does_not_spoil_the_next(void **state)
{
    (void)state;
    struct tp_world_config c = config(800);
    struct tp_buf file = record(&c);
    struct tp_capture_found found;
    hear(file.data, file.len, file.len, &found, NULL);
    uint64_t blocks = found.blocks, records = found.records;
    assert_true(blocks >= 3);
    for (size_t at = 32; at < 16384; at += 97) {
        file.data[at] = (char)(file.data[at] ^ 0x10);
        assert_int_equal(hear(file.data, file.len, 4096, &found, NULL), 0);
        assert_int_equal(found.damaged, 1);
        assert_int_equal(found.blocks, blocks - 1);
        assert_true(found.records < records && found.ended && !found.lost);
        file.data[at] = (char)(file.data[at] ^ 0x10);
    }
    file.data[16] = 'X'; /* where a block should begin */
    hear(file.data, file.len, 4096, &found, NULL);
    assert_true(found.lost && found.records == 0 && found.damaged == 1);
    tp_buf_finish(&file);
}

static void records_of_later_versions_are_passed_over(void **state)
{
    (void)state;
    static const uint8_t later[] = {99, 3, 1, 2, 3};
    struct tp_capture_block b;
    struct tp_capture_found found;
    struct tp_frame_record f = frame_at(1, 1000);
    tp_block_begin(&b);
    tp_block_frame(&b, &f);
    memcpy(b.bytes + b.n, later, sizeof later);
    b.n += sizeof later;
    f = frame_at(2, 3000);
    tp_block_frame(&b, &f);
    hear_block(&b, &found);
    assert_int_equal(found.unknown, 1);
    assert_int_equal(found.records, 3);
    assert_true(same_frame(&heard.frames[1], &f));
}

static void fields_of_later_versions_are_passed_over(void **state)
{
    (void)state;
    static const uint8_t longer[] = {5, 5, 1, 'n', 7, 200, 1}, /* a count, and 200 behind it */
        next[] = {5, 3, 1, 'm', 8};
    struct tp_capture_block b;
    struct tp_capture_found found;
    tp_block_begin(&b);
    memcpy(b.bytes + b.n, longer, sizeof longer);
    memcpy(b.bytes + b.n + sizeof longer, next, sizeof next);
    b.n += sizeof longer + sizeof next;
    hear_block(&b, &found);
    assert_int_equal(heard.n_counts, 2);
    assert_string_equal(heard.count, "m");
    assert_int_equal(heard.value, 8);
}

static void another_version_is_named(void **state)
{
    (void)state;
    uint8_t bytes[TP_CAPTURE_HEADER];
    struct tp_capture_found found;
    struct tp_error e = {0};
    tp_recorder_header(bytes);
    bytes[8] = 2;
    assert_int_equal(hear(bytes, sizeof bytes, 3, &found, &e), -EPROTONOSUPPORT);
    assert_int_equal(e.status, TP_STATUS_INPUT);
    assert_string_equal(e.where, "here");
    assert_non_null(strstr(e.what, "version 2"));
    assert_non_null(strstr(e.what, "version 1"));
}

static void what_is_no_capture_is_refused_at_once(void **state)
{
    (void)state;
    struct tp_capture_found found;
    struct tp_error e = {0};
    assert_int_equal(hear("T\n", 2, 2, &found, &e), -EPROTO);
    assert_non_null(strstr(e.what, "no capture"));
    uint8_t spoilt[TP_CAPTURE_HEADER];
    tp_recorder_header(spoilt);
    spoilt[5] = '\n'; /* sent as text */
    assert_int_equal(hear(spoilt, sizeof spoilt, 1, &found, NULL), -EPROTO);
    assert_int_equal(hear("", 0, 1, &found, NULL), 0); /* one that was cut before its first byte */
    assert_false(found.ended);
}

/* Each is the inside of a block, with a checksum that is right. */
static void hostile_records_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
    } of[] = {
        {"\0\0\0\0", 4},                                      /* zeros */
        {"\x05\x7f\x01n", 4},                                 /* longer than its block */
        {"\x05\x03\x14nn", 5},                                /* a text longer than its record */
        {"\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11}, /* a length of 2^64 - 1 */
        {"\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11}, /* a number of 65 bits */
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11}, /* one that does not end */
        {"\x05\x01", 2}, {"\x03\x01\x00", 3},                 /* half a frame */
        {"\x01\x0c\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01n\x00", 14}, /* an instant too far */
        {"\x02\x04\xff\xff\x7f\x00", 6},                               /* no such guest */
    };
    for (unsigned i = 0; i < sizeof of / sizeof *of; i++) {
        struct tp_capture_block b;
        struct tp_capture_found found;
        tp_block_begin(&b);
        tp_block_count(&b, "before", 1);
        memcpy(b.bytes + b.n, of[i].bytes, of[i].n);
        b.n += of[i].n;
        hear_block(&b, &found);
        assert_int_equal(found.damaged, 1);
        assert_int_equal(heard.n, 1); /* what was before it is told */
        assert_string_equal(heard.count, "before");
    }
}

static void a_length_beyond_all_bounds_takes_no_memory(void **state)
{
    (void)state;
    uint8_t bytes[2 * TP_CAPTURE_HEADER] = {0};
    struct tp_capture_found found;
    tp_recorder_header(bytes);
    memcpy(bytes + 16, "TBLK\xff\xff\xff\xff", 8);
    assert_int_equal(hear(bytes, sizeof bytes, 5, &found, NULL), 0);
    assert_true(found.lost && found.damaged == 1);
    memcpy(bytes + 16, "TBLK\x01\x00\x01\x00", 8); /* one above what a block may have */
    assert_int_equal(hear(bytes, sizeof bytes, 5, &found, NULL), 0);
    assert_true(found.lost && found.damaged == 1);
}

/* --- runs --- */

static void equal_seeds_give_equal_bytes(void **state)
{
    (void)state;
    struct tp_world_config c = config(300);
    for (unsigned i = 0; i < TP_FAULTS; i++)
        c.per_mille[i] = 5;
    struct tp_buf a = record(&c), b = record(&c);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.data, b.data, a.len);
    c.seed++;
    struct tp_buf other = record(&c);
    assert_true(other.len != a.len || memcmp(other.data, a.data, a.len) != 0);
    tp_buf_finish(&a);
    tp_buf_finish(&b);
    tp_buf_finish(&other);
}

/* The world counts tears, drops and late frames by itself, the capture by its records. */
static void check_numbers(struct tp_world_config *c)
{
    struct tp_summary live, read;
    struct tp_capture_found found;
    struct tp_buf bytes = record(c);
    tp_buf_finish(&bytes);
    tp_world_summary(c, &result, &live);
    assert_int_equal(tp_summary_read(path, 0, &read, &found, NULL), 0);
    assert_true(found.ended && found.damaged == 0 && found.unknown == 0);
    json_t *a = tp_summary_json(&live), *b = tp_summary_json(&read);
    if (!json_equal(a, b)) {
        json_dumpf(a, stderr, JSON_SORT_KEYS | JSON_INDENT(1));
        json_dumpf(b, stderr, JSON_SORT_KEYS | JSON_INDENT(1));
    }
    assert_true(json_equal(a, b));
    json_decref(a);
    json_decref(b);
}

static void a_run_and_its_capture_say_the_same_numbers(void **state)
{
    (void)state;
    static const enum tp_gate_mode modes[] = {
        TP_GATE_OFF, TP_GATE_VSYNC, TP_GATE_CAP, TP_GATE_LATENCY};
    static const uint32_t caps[] = {0, 45000, 30000, 37000, 60000};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct tp_world_config c = config(700);
        c.seed = seed;
        c.gate.mode = modes[seed % 4];
        c.gate.cap_mhz = modes[seed % 4] == TP_GATE_CAP && seed % 5 == 0 ? 50000 : caps[seed % 5];
        c.late_guest = seed % 3 == 0;
        c.run_ahead = seed % 4;
        c.images = 2 + seed % 5;
        c.pipeline = seed % 3;
        c.mailbox = seed % 7 == 0;
        c.slowest_mhz = seed % 8 == 5 ? 48000 : 0;
        c.refresh_mhz = seed % 8 == 5 ? 120000 : 60000;
        for (unsigned i = 0; i < TP_FAULTS && seed % 2; i++)
            c.per_mille[i] = 1 + seed % 20;
        check_numbers(&c);
    }
}

static void a_cut_capture_knows_what_was_counted_by_then(void **state)
{
    (void)state;
    struct tp_world_config c = config(2000);
    struct tp_summary whole, cut;
    struct tp_capture_found found;
    c.images = 2;
    struct tp_buf bytes = record(&c);
    tp_summary_read(path, 0, &whole, &found, NULL);
    assert_true(found.ended && whole.counts[TP_COUNT_RELEASE_WAITS] > 1500);
    assert_int_equal(truncate(path, (off_t)bytes.len / 2), 0);
    assert_int_equal(tp_summary_read(path, 0, &cut, &found, NULL), 0);
    assert_true(!found.ended && cut.has_counts);
    assert_true(cut.measures.frames > 800 && cut.measures.frames < 1200);
    assert_true(cut.counts[TP_COUNT_RELEASE_WAITS] > 600);
    assert_true(cut.counts[TP_COUNT_RELEASE_WAITS] < 1200);
    assert_int_equal(truncate(path, 60), 0); /* before the first of them */
    assert_int_equal(tp_summary_read(path, 0, &cut, &found, NULL), 0);
    assert_false(cut.has_counts);
    json_t *j = tp_summary_json(&cut);
    assert_true(json_is_null(json_object_get(j, "unsafe")));
    assert_true(json_is_null(json_object_get(j, "tears")));
    json_decref(j);
    tp_buf_finish(&bytes);
}

static void a_run_that_tears_says_so_in_its_capture(void **state)
{
    (void)state;
    struct tp_world_config c = config(300);
    struct tp_capture_found found;
    static const struct tp_world_cost cost = {3200000, 4800000};
    c.costs = &cost;
    c.n_costs = 1;
    c.images = 2;
    c.release = false;
    c.gate.mode = TP_GATE_OFF;
    check_numbers(&c);
    assert_true(result.tears > 200);
    struct tp_buf bytes = record(&c);
    hear(bytes.data, bytes.len, bytes.len, &found, NULL);
    unsigned torn = 0, refreshes = 0;
    for (unsigned i = 0; i < heard.n_frames; i++)
        torn += heard.frames[i].torn;
    for (unsigned i = 0; i < heard.n_refreshes; i++) {
        const struct tp_refresh_record *r = &heard.refreshes[i];
        refreshes += r->torn_ns != TP_NEVER;
        if (r->torn_ns == TP_NEVER)
            continue;
        assert_true(r->shows && heard.frames[r->frame].torn);
        assert_true(r->torn_ns < r->to_ns && r->torn_line < 1080);
    }
    assert_int_equal(refreshes, result.tears);
    assert_int_equal(torn, result.tears); /* each frame is shown once */
    tp_buf_finish(&bytes);
}

static void a_change_of_the_rate_is_a_setting(void **state)
{
    (void)state;
    struct tp_world_config c = config(600);
    struct tp_capture_found found;
    c.per_mille[TP_FAULT_REFRESH_SWITCH] = 20;
    struct tp_buf bytes = record(&c);
    hear(bytes.data, bytes.len, bytes.len, &found, NULL);
    assert_true(heard.n_settings > 12);
    assert_non_null(strstr(heard.setting, "refresh-mhz="));
    assert_true(heard.setting_ns > 1000000000);
    tp_buf_finish(&bytes);
}

static void a_capture_that_cannot_be_written_says_why(void **state)
{
    (void)state;
    struct tp_recorder *r;
    struct tp_error e = {0};
    assert_int_equal(tp_recorder_create("/nowhere/at/all", &r, &e), -ENOENT);
    assert_string_equal(e.where, "/nowhere/at/all");
    e = (struct tp_error){0};
    assert_int_equal(tp_recorder_create("/dev/full", &r, &e), 0);
    tp_recorder_count(r, "unsafe", 1);
    assert_int_equal(tp_recorder_finish(r, &e), -ENOSPC);
    assert_int_equal(e.status, TP_STATUS_FAILED);
    assert_int_equal(tp_recorder_finish(NULL, &e), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_any_size_come_back),
        cmocka_unit_test(refreshes_come_back),
        cmocka_unit_test(texts_come_back_and_long_ones_are_cut),
        cmocka_unit_test(a_full_block_takes_no_more_and_stays_whole),
        cmocka_unit_test(a_capture_cut_at_any_byte_opens_up_to_the_cut),
        cmocka_unit_test(bytes_may_come_one_by_one),
        cmocka_unit_test(a_spoilt_block_does_not_spoil_the_next),
        cmocka_unit_test(records_of_later_versions_are_passed_over),
        cmocka_unit_test(fields_of_later_versions_are_passed_over),
        cmocka_unit_test(another_version_is_named),
        cmocka_unit_test(what_is_no_capture_is_refused_at_once),
        cmocka_unit_test(hostile_records_are_refused),
        cmocka_unit_test(a_length_beyond_all_bounds_takes_no_memory),
        cmocka_unit_test(equal_seeds_give_equal_bytes),
        cmocka_unit_test(a_run_and_its_capture_say_the_same_numbers),
        cmocka_unit_test(a_cut_capture_knows_what_was_counted_by_then),
        cmocka_unit_test(a_run_that_tears_says_so_in_its_capture),
        cmocka_unit_test(a_change_of_the_rate_is_a_setting),
        cmocka_unit_test(a_capture_that_cannot_be_written_says_why),
    };
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
