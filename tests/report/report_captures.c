/* Captures that simulate does not make: names that would act in a page, and two guests at once.
 * report_captures HOSTILE.cap GUESTS.cap */
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

int main(int argc, char **argv)
{
    static const char bad[] =
        "</script><script>hacked=1</script><img src=x onerror=hacked=1><b><i>\xe2\x80\xae\"'&amp;";
    if (argc != 3)
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
    return err < 0 || tp_recorder_finish(c, NULL) < 0;
}
