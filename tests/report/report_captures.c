/* Captures that simulate does not make: names that would act in a page, two guests at once, instants
 * at the ends of what there may be, a picture that stands still at the end.
 * report_captures HOSTILE.cap GUESTS.cap EXTREMES.cap STILL.cap */
#include <stdio.h>
#include <stdlib.h>

#include "report/capture.h"

#define MS INT64_C(1000000)
#define PERIOD INT64_C(16666667)

static struct tp_recorder *begin(const char *path)
{
    struct tp_recorder *c;
    struct tp_error e = {0};
    if (tp_recorder_create(path, &c, &e) < 0) {
        fprintf(stderr, "%s: %s\n", e.where, e.what);
        exit(1);
    }
    tp_recorder_setting(c, 0, "refresh-mhz", "60000");
    return c;
}

/* A frame every second refresh, so that two guests can take turns. */
static void put_frame(struct tp_recorder *c, unsigned guest, uint64_t number, bool late)
{
    int64_t at = 1000 * MS + (int64_t)(2 * number + guest) * PERIOD;
    struct tp_frame_record f = {.number = number,
        .guest = guest,
        .image = number % 3,
        .late = late,
        .sequence = 2 * number + guest,
        .refresh_mhz = 60000,
        .cap_mhz = 30000,
        .begin_ns = at,
        .asked_ns = at,
        .gate_ns = at,
        .acquired_ns = at,
        .cpu_ns = at,
        .cpu_to_ns = at + 3 * MS,
        .presented_ns = at + 3 * MS,
        .returned_ns = at + 3 * MS,
        .elsewhere_ns = TP_NEVER,
        .elsewhere_to_ns = TP_NEVER,
        .write_ns = at + 3 * MS,
        .ready_ns = at + 9 * MS + (late ? 10 * MS : 0),
        .booked_ns = at + 15 * MS,
        .committed_ns = TP_NEVER,
        .composed_ns = TP_NEVER,
        .published_ns = TP_NEVER,
        .latched_ns = at + 2 * PERIOD - MS,
        .line_ns = at + 2 * PERIOD,
        .released_ns = at + 4 * PERIOD,
        .told_ns = at + 4 * PERIOD + MS};
    struct tp_refresh_record r = {.sequence = f.sequence,
        .refresh_mhz = 60000,
        .latch_ns = f.latched_ns,
        .from_ns = f.line_ns,
        .to_ns = f.line_ns + 16 * MS,
        .shows = true,
        .guest = guest,
        .frame = number,
        .torn_ns = TP_NEVER};
    tp_recorder_refresh(c, &r);
    tp_recorder_frame(c, &f);
}

static void put_extremes(struct tp_recorder *c)
{
    const int64_t bound = INT64_C(1) << 60, ends[] = {-bound, bound, 0, 1000 * MS};
    for (unsigned i = 0; i < 400; i++) {
        struct tp_frame_record f = {.number = i % 5 ? i : (uint64_t)bound,
            .guest = i % 3,
            .image = i % 9 ? i % 70 : UINT16_MAX,
            .late = true,
            .torn = true,
            .dropped = true,
            .repeats = i % 3 ? (uint64_t)bound : 0,
            .sequence = i % 2 ? (uint64_t)bound : i,
            .refresh_mhz = i % 4 ? UINT32_MAX : 0,
            .cap_mhz = i % 7 ? 1 : UINT32_MAX,
            .release_wait_ns = ends[i % 4],
            .slot_wait_ns = ends[i / 4 % 4],
            .elsewhere_ns = TP_NEVER,
            .elsewhere_to_ns = TP_NEVER};
        int64_t *instants[] = {&f.begin_ns, &f.asked_ns, &f.gate_ns, &f.acquired_ns, &f.cpu_ns, &f.cpu_to_ns,
            &f.presented_ns, &f.write_ns, &f.ready_ns, &f.booked_ns, &f.published_ns, &f.latched_ns,
            &f.line_ns, &f.released_ns, &f.told_ns};
        for (unsigned k = 0; k < sizeof instants / sizeof *instants; k++)
            *instants[k] = ends[(i * 7 + k * 5 + i / 6) % 4];
        struct tp_refresh_record r = {.sequence = i,
            .refresh_mhz = i % 2 ? 1 : UINT32_MAX,
            .latch_ns = ends[i % 4],
            .from_ns = ends[(i + 1) % 4],
            .to_ns = ends[(i + 2) % 4],
            .shows = i % 3,
            .guest = i % 3,
            .frame = i,
            .torn_ns = ends[i % 3],
            .torn_line = UINT32_MAX};
        tp_recorder_refresh(c, &r);
        tp_recorder_frame(c, &f);
    }
}

/* The panel goes on without a new frame. */
static void put_still(struct tp_recorder *c, uint64_t sequence, uint64_t frame)
{
    int64_t from = 1000 * MS + ((int64_t)sequence + 2) * PERIOD;
    struct tp_refresh_record r = {.sequence = sequence,
        .refresh_mhz = 60000,
        .latch_ns = from - MS,
        .from_ns = from,
        .to_ns = from + 16 * MS,
        .shows = true,
        .frame = frame,
        .torn_ns = TP_NEVER};
    tp_recorder_refresh(c, &r);
}

int main(int argc, char **argv)
{
    static const char bad[] =
        "</script><script>hacked=1</script><img src=x onerror=hacked=1><b><i>\xe2\x80\xae\"'&amp;";
    if (argc != 5)
        return 2;
    struct tp_recorder *c = begin(argv[1]);
    tp_recorder_guest(c, 0, bad);
    tp_recorder_guest(c, 1, bad);
    tp_recorder_setting(c, 0, "gate", "%s", bad);
    tp_recorder_setting(c, 0, bad, "%s", bad);
    tp_recorder_setting(c, 1500 * MS, bad, "and %s", bad);
    for (unsigned i = 0; i < 200; i++)
        put_frame(c, i % 2, i / 2, i % 20 == 0);
    int err = tp_recorder_finish(c, NULL);
    c = begin(argv[2]);
    tp_recorder_guest(c, 0, "one game");
    tp_recorder_guest(c, 1, "another game");
    for (unsigned i = 0; i < 800; i++)
        put_frame(c, i % 2, i / 2, i % 50 == 0);
    err = err < 0 ? err : tp_recorder_finish(c, NULL);
    c = begin(argv[3]);
    put_extremes(c);
    err = err < 0 ? err : tp_recorder_finish(c, NULL);
    c = begin(argv[4]);
    for (unsigned i = 0; i < 100; i++)
        put_frame(c, 0, i, false);
    for (unsigned i = 199; i < 500; i++)
        put_still(c, i, 99);
    return err < 0 || tp_recorder_finish(c, NULL) < 0;
}
