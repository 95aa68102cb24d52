#include "replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/recording.h"

struct reader {
    struct tp_top_model *model;
    int64_t last_ns;
};

static void on_setting(void *data, int64_t at_ns, const char *name, const char *value)
{
    (void)at_ns;
    tp_top_setting(((struct reader *)data)->model, name, value);
}

static void on_guest(void *data, unsigned guest, const char *name)
{
    tp_top_guest(((struct reader *)data)->model, guest, name, 0);
}

static void on_frame(void *data, const struct tp_frame_record *f)
{
    tp_top_frame(((struct reader *)data)->model, f);
}

static void on_refresh(void *data, const struct tp_refresh_record *r)
{
    struct reader *to = data;
    tp_top_refresh(to->model, r);
    to->last_ns = r->from_ns;
}

static void on_count(void *data, const char *name, uint64_t value)
{
    for (unsigned i = 0; i < TP_COUNTERS; i++)
        if (strcmp(name, tp_counter_names[i]) == 0)
            tp_top_count(((struct reader *)data)->model, 0, (enum tp_counter)i, value);
}

struct tp_world_config replay_config(uint64_t frames)
{
    static const struct tp_world_cost costs[] = {{4000000, 6000000}};
    struct tp_world_config c;
    tp_world_defaults(&c);
    c.costs = costs;
    c.n_costs = 1;
    c.frames = frames;
    c.images = 4;
    return c;
}

int64_t replay(struct tp_world_config *c, struct tp_top_model *m, struct tp_summary *summary)
{
    char path[] = "/tmp/top_replay.XXXXXX";
    struct tp_recording *recording;
    struct tp_world_result *result = calloc(1, sizeof *result);
    struct tp_capture_found found;
    struct reader to = {.model = m};
    struct tp_capture_sink sink = {on_setting, on_guest, on_frame, on_refresh, on_count, &to};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(tp_recording_begin(path, c, &recording, NULL), 0);
    assert_int_equal(tp_world_run(c, result, NULL), 0);
    assert_int_equal(tp_recording_end(recording, result, NULL), 0);
    assert_int_equal(tp_capture_read(path, &sink, &found, NULL), 0);
    assert_true(found.ended);
    if (summary)
        assert_int_equal(tp_summary_read(path, 0, summary, &found, NULL), 0);
    unlink(path);
    free(result);
    return to.last_ns;
}
