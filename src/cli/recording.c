#include "cli/recording.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "frames/pace/profile.h"

struct tp_recording {
    struct tp_world_config *config;
    struct tp_world_watch watch;
    struct tp_recorder *capture;
    uint32_t refresh_mhz; /* of the last scan-out */
};

static void on_frame(void *data, const struct tp_frame_record *f)
{
    struct tp_recording *rec = data;
    tp_recorder_frame(rec->capture, f);
}

static void on_refresh(void *data, const struct tp_refresh_record *r)
{
    struct tp_recording *rec = data;
    if (r->refresh_mhz != rec->refresh_mhz)
        tp_recorder_setting(rec->capture, r->from_ns, "refresh-mhz", "%u", r->refresh_mhz);
    rec->refresh_mhz = r->refresh_mhz;
    tp_recorder_refresh(rec->capture, r);
}

static void on_counts(void *data, const struct tp_world_result *r)
{
    struct tp_recording *rec = data;
    struct tp_summary s;
    tp_world_summary(rec->config, r, &s);
    for (unsigned i = 0; i < TP_COUNTERS; i++)
        tp_recorder_count(rec->capture, tp_counter_names[i], s.counts[i]);
    for (unsigned i = 0; i < s.n_faults; i++) {
        char name[sizeof TP_COUNT_FAULT + TP_SUMMARY_NAME];
        snprintf(name, sizeof name, TP_COUNT_FAULT "%s", s.faults[i].name);
        tp_recorder_count(rec->capture, name, s.faults[i].injected);
    }
}

static void put_settings(struct tp_recorder *to, const struct tp_world_config *c)
{
    tp_recorder_setting(to, 0, "made-by", "turnpike %s simulate", TP_VERSION);
    tp_recorder_setting(to, 0, "seed", "%llu", (unsigned long long)c->seed);
    tp_recorder_setting(to, 0, "refresh-mhz", "%u", c->refresh_mhz);
    if (c->slowest_mhz > 0)
        tp_recorder_setting(to, 0, "slowest-mhz", "%u", c->slowest_mhz);
    tp_recorder_setting(to, 0, "pipeline", "%u", c->pipeline);
    tp_recorder_setting(to, 0, "lead-ns", "%lld", (long long)c->lead_ns);
    tp_recorder_setting(to, 0, "gate", "%s", tp_gate_mode_name(c->gate.mode));
    tp_recorder_setting(to, 0, "cap-mhz", "%u", c->gate.cap_mhz);
    tp_recorder_setting(to, 0, "images", "%u", c->images);
    tp_recorder_setting(to, 0, "release-fence", "%s", c->release ? "on" : "off");
    tp_recorder_setting(to, 0, "board", "%s", c->no_board ? "off" : "on");
    tp_recorder_guest(to, 0, c->late_guest ? "late guest" : "early guest");
}

int tp_recording_begin(
    const char *path, struct tp_world_config *c, struct tp_recording **out, struct tp_error *e)
{
    struct tp_recording *rec = tp_calloc(1, sizeof *rec);
    int err = tp_recorder_create(path, &rec->capture, e);
    if (err < 0) {
        free(rec);
        return err;
    }
    rec->config = c;
    rec->refresh_mhz = c->refresh_mhz;
    rec->watch = (struct tp_world_watch){
        .frame = on_frame, .scan = on_refresh, .counts = on_counts, .data = rec, .next = c->watch};
    c->watch = &rec->watch;
    put_settings(rec->capture, c);
    *out = rec;
    return 0;
}

int tp_recording_end(struct tp_recording *rec, const struct tp_world_result *r, struct tp_error *e)
{
    if (!rec)
        return 0;
    if (r)
        on_counts(rec, r);
    rec->config->watch = rec->watch.next;
    int err = tp_recorder_finish(rec->capture, e);
    free(rec);
    return err;
}
