/* What a run's records show of its causes: sums, one record at a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/advice.h"

#define WAIT_NS 33000000  /* a longer wait for a release is none of a healthy run */
#define STOP_PERIODS 4    /* and STOP_NS without a refresh: the panel stopped */
#define STOP_NS 64000000
#define SILENT_NS 500000000
#define STALL_NS 1000000000 /* no new frame for so long, */
#define STALL_FRAMES 30     /* or for so many that were wanted */
#define BIN_FIRST_NS 1000 /* bins begin at a microsecond */
#define BIN_OCTAVE 8

/* --- how the run was set up --- */

static uint32_t number_of(const char *value)
{
    char *end;
    unsigned long long n = strtoull(value, &end, 10);
    return *end == 0 && *value >= '0' && *value <= '9' && n <= UINT32_MAX ? (uint32_t)n : 0;
}

static enum tp_known known_of(const char *value)
{
    return strcmp(value, "on") == 0 ? TP_ON : strcmp(value, "off") == 0 ? TP_OFF : TP_UNKNOWN;
}

void tp_setup_set(struct tp_setup *s, const char *name, const char *value)
{
    if (strcmp(name, "refresh-mhz") == 0)
        s->refresh_mhz = number_of(value);
    else if (strcmp(name, "slowest-mhz") == 0)
        s->slowest_mhz = number_of(value);
    else if (strcmp(name, "cap-mhz") == 0)
        s->cap_mhz = number_of(value);
    else if (strcmp(name, "images") == 0)
        s->images = number_of(value);
    else if (strcmp(name, "lead-ns") == 0)
        s->lead_ns = number_of(value);
    else if (strcmp(name, "release-fence") == 0)
        s->release_fence = known_of(value);
    else if (strcmp(name, "board") == 0)
        s->board = known_of(value);
    else if (strcmp(name, "pipeline") == 0 && *value >= '0' && *value <= '9' && value[1] == 0) {
        s->pipeline = (unsigned)(*value - '0');
        s->has_pipeline = true;
    } else if (strcmp(name, "gate") == 0 && strlen(value) < sizeof s->gate)
        strcpy(s->gate, value);
}

/* --- sums --- */

/* From one instant to a later one; what is not known, or runs backwards, is -1. */
static int64_t between(int64_t from_ns, int64_t to_ns)
{
    return from_ns == TP_NEVER || to_ns == TP_NEVER || to_ns < from_ns ? -1 : to_ns - from_ns;
}

static void add(struct tp_sign *s, int64_t ns)
{
    if (ns < 0)
        return;
    s->n++;
    s->sum += (double)ns;
    if (ns > s->most)
        s->most = ns;
}

static void add_work(struct tp_signs *s, int64_t ns)
{
    double octaves = ns > BIN_FIRST_NS ? log2((double)ns / BIN_FIRST_NS) : 0;
    unsigned bin = (unsigned)(octaves * BIN_OCTAVE);
    add(&s->work, ns);
    s->work_bins[bin < TP_SIGNS_BINS ? bin : TP_SIGNS_BINS - 1]++;
}

static int64_t period_of(const struct tp_setup *setup, uint32_t refresh_mhz)
{
    uint32_t mhz = refresh_mhz > 0 ? refresh_mhz : setup->refresh_mhz;
    return tp_mhz_period_ns(mhz);
}

/* From one frame to the next, as the cap and the panel want it. */
static int64_t spacing_of(const struct tp_setup *setup, const struct tp_frame_record *f)
{
    int64_t period = period_of(setup, f->refresh_mhz);
    int64_t cap = tp_mhz_period_ns(f->cap_mhz);
    return cap > period ? cap : period;
}

/* --- a frame --- */

static int64_t cpu_of(const struct tp_frame_record *f)
{
    int64_t own = between(f->cpu_ns, f->cpu_to_ns);
    return own >= 0 ? own : between(f->acquired_ns, f->presented_ns);
}

static int64_t gpu_of(const struct tp_frame_record *f)
{
    int64_t writes = between(f->write_ns, f->ready_ns);
    int64_t elsewhere = between(f->elsewhere_ns, f->elsewhere_to_ns);
    if (writes < 0)
        return between(f->presented_ns, f->ready_ns);
    return writes + (elsewhere > 0 ? elsewhere : 0);
}

static void look_at_work(
    struct tp_signs *s, const struct tp_setup *setup, const struct tp_frame_record *f)
{
    int64_t cpu = cpu_of(f), gpu = gpu_of(f), spacing = spacing_of(setup, f);
    bool known = cpu >= 0 && gpu >= 0;
    add(&s->cpu, cpu);
    add(&s->gpu, gpu);
    if (known)
        add_work(s, cpu + gpu);
    s->last.over = s->over_now;
    s->over_now = known && spacing > 0 && cpu + gpu > spacing;
    s->over += s->over_now;
    int64_t since = s->last.frame ? between(s->last.gpu_end_ns, f->ready_ns) : -1;
    if (gpu >= 0 && since > 0) {
        double share = (double)gpu / (double)since;
        s->busy_share += ((share < 1 ? share : 1) - s->busy_share) / 8;
        add(s->busy_share < 0.6 ? &s->gpu_idle : &s->gpu_busy, gpu);
    }
    s->last.gpu_end_ns = f->ready_ns;
}

/* The last frame's image is free when this one's first line comes: how many refreshes later was it
 * told? */
static void look_at_release(
    struct tp_signs *s, const struct tp_setup *setup, const struct tp_frame_record *f)
{
    int64_t period = period_of(setup, f->refresh_mhz);
    s->late_by = 0;
    bool known = s->last.frame && s->last.released_ns != TP_NEVER && f->line_ns != TP_NEVER;
    if (!known || f->variable || period <= 0)
        return;
    int64_t late = s->last.released_ns - f->line_ns + period / 4;
    uint64_t k = late > 0 ? (uint64_t)(late / period) : 0;
    s->late_by = k < TP_SIGNS_LATE ? (unsigned)k : TP_SIGNS_LATE;
    s->released_late[s->late_by]++;
}

bool tp_waited_long(const struct tp_setup *setup, const struct tp_frame_record *f)
{
    int64_t bound = (setup->pipeline + 2) * period_of(setup, f->refresh_mhz);
    return f->release_wait_ns != TP_NEVER && f->release_wait_ns > (bound > WAIT_NS ? bound : WAIT_NS);
}

static void look_at_wait(
    struct tp_signs *s, const struct tp_setup *setup, const struct tp_frame_record *f)
{
    s->long_waits += tp_waited_long(setup, f);
    if (f->release_wait_ns != TP_NEVER && f->release_wait_ns > s->longest_wait_ns)
        s->longest_wait_ns = f->release_wait_ns;
}

/* On its way from the game to the panel, but for its turn behind the frame before it. */
static int64_t held(const struct tp_signs *s, const struct tp_frame_record *f, int64_t period)
{
    if (f->ready_ns == TP_NEVER || f->published_ns == TP_NEVER)
        return 0;
    int64_t turn = s->last.published_ns != TP_NEVER ? s->last.published_ns + period : f->ready_ns;
    return f->published_ns - (s->last.frame && turn > f->ready_ns ? turn : f->ready_ns);
}

/* Ready and handed over in time, and taken for a later refresh. */
static bool left_lying(const struct tp_frame_record *f, int64_t period)
{
    return f->booked_ns != TP_NEVER && f->latched_ns != TP_NEVER && f->published_ns != TP_NEVER &&
        f->published_ns < f->booked_ns && f->latched_ns > f->booked_ns + period / 2;
}

static void look_for_cause(
    struct tp_signs *s, const struct tp_setup *setup, const struct tp_frame_record *f)
{
    int64_t period = period_of(setup, f->refresh_mhz), way = held(s, f, period);
    int64_t waited = (f->release_wait_ns != TP_NEVER ? f->release_wait_ns : 0) +
        (f->slot_wait_ns != TP_NEVER ? f->slot_wait_ns : 0);
    if (!f->late && (f->line_ns == TP_NEVER || f->repeats == 0))
        return;
    s->late++;
    if (period > 0 && way > period / 2) {
        s->late_held++;
        s->longest_held_ns = way > s->longest_held_ns ? way : s->longest_held_ns;
    } else if (period > 0 && left_lying(f, period))
        s->late_panel++;
    else if (waited > spacing_of(setup, f) / 4)
        s->late_wait++;
    else
        s->late_work += s->over_now || s->last.over;
}

/* --- a picture that stands still --- */

static int64_t known_or_0(int64_t ns)
{
    return ns != TP_NEVER && ns > 0 ? ns : 0;
}

/* In its acquire, after all it waited for. */
static int64_t asleep(const struct tp_frame_record *f)
{
    int64_t all = between(f->asked_ns, f->acquired_ns);
    int64_t waits = known_or_0(f->slot_wait_ns) + known_or_0(f->release_wait_ns) +
        known_or_0(tp_frame_gate_wait(f));
    return all - waits > TP_OVERSLEPT_NS ? all - waits : 0;
}

/* Which part of the frame that came at last was the longest. */
static enum tp_stall_part part_of(
    const struct tp_signs *s, const struct tp_frame_record *f, int64_t *longest)
{
    int64_t done = f->ready_ns != TP_NEVER ? f->ready_ns : f->presented_ns;
    const int64_t parts[] = {[TP_STALL_UNKNOWN] = 0,
        [TP_STALL_ELSEWHERE] = between(s->last.given_ns, f->asked_ns),
        [TP_STALL_SLOT] = known_or_0(f->slot_wait_ns),
        [TP_STALL_RELEASE] = known_or_0(f->release_wait_ns),
        [TP_STALL_GATE] = known_or_0(tp_frame_gate_wait(f)),
        [TP_STALL_ASLEEP] = asleep(f),
        [TP_STALL_CPU] = between(f->acquired_ns, f->presented_ns),
        [TP_STALL_GPU] = between(f->presented_ns, done),
        [TP_STALL_WAY] = between(done, f->line_ns)};
    enum tp_stall_part most = TP_STALL_UNKNOWN;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts && f->asked_ns != TP_NEVER; i++)
        most = parts[i] > parts[most] ? (enum tp_stall_part)i : most;
    *longest = parts[most];
    return most;
}

static void look_at_interval(
    struct tp_signs *s, const struct tp_setup *setup, const struct tp_frame_record *f)
{
    int64_t interval = s->last.frame ? between(s->last.line_ns, f->line_ns) : -1;
    int64_t spacing = spacing_of(setup, f);
    double usual = s->last.usual_ns, now = (double)interval;
    if (interval <= 0)
        return;
    bool is_long = interval > STALL_NS || (spacing > 0 && interval / spacing > STALL_FRAMES);
    if (usual > 0 && is_long && now > 5 * usual) {
        s->stalls.n++;
        if (interval > s->stalls.longest_ns) {
            s->stalls.longest_ns = interval;
            s->stalls.from_ns = s->last.line_ns;
            s->stalls.frame = f->number;
            s->stalls.part = part_of(s, f, &s->stalls.part_ns);
        }
    }
    now = usual > 0 && now > 4 * usual ? 4 * usual : now;
    s->last.usual_ns = usual > 0 ? usual + (now - usual) / 8 : now;
}

void tp_signs_frame(
    struct tp_signs *s, const struct tp_setup *setup, const struct tp_frame_record *f)
{
    if (f->image >= s->most_image && f->image < UINT16_MAX)
        s->most_image = f->image + 1;
    if (f->line_ns != TP_NEVER) {
        s->shown++;
        s->shown_ns = f->line_ns;
    }
    if (f->number < TP_LEFT_OUT)
        return;
    s->frames++;
    look_at_interval(s, setup, f);
    s->asleep_ns += (double)asleep(f);
    look_at_work(s, setup, f);
    look_at_wait(s, setup, f);
    look_at_release(s, setup, f);
    look_for_cause(s, setup, f);
    int64_t way = between(f->ready_ns, f->composed_ns != TP_NEVER ? f->composed_ns : f->committed_ns);
    s->slow_way += way > period_of(setup, f->refresh_mhz) / 5;
    add(&s->to_commit, between(f->ready_ns, f->committed_ns));
    add(&s->composing, between(f->committed_ns, f->composed_ns));
    add(&s->to_latch, between(f->ready_ns, f->latched_ns));
    add(&s->to_show, between(f->ready_ns, f->line_ns));
    add(&s->to_line, between(f->latched_ns, f->line_ns));
    add(&s->away, between(f->acquired_ns, f->released_ns));
    int64_t told = between(f->line_ns, f->told_ns), gone = between(f->line_ns, f->released_ns);
    s->silent += told > SILENT_NS && told - gone > SILENT_NS;
    if (f->line_ns != TP_NEVER) {
        s->last.line_ns = f->line_ns;
        s->last.released_ns = f->released_ns;
        s->last.published_ns = f->published_ns;
        s->last.given_ns = f->returned_ns != TP_NEVER ? f->returned_ns : f->presented_ns;
        s->last.frame = true;
    }
}

/* --- a refresh --- */

void tp_signs_refresh(struct tp_signs *s, const struct tp_refresh_record *r)
{
    int64_t gap = s->last.refresh ? between(s->last.refresh_ns, r->from_ns) : -1;
    int64_t period = tp_mhz_period_ns(r->refresh_mhz);
    if (period > 0 && gap > STOP_PERIODS * period && gap > STOP_NS) {
        s->stops++;
        if (gap > s->longest_stop_ns)
            s->longest_stop_ns = gap;
    }
    s->rate_changes += s->last.refresh && s->last.refresh_mhz != r->refresh_mhz;
    s->last.refresh = true;
    s->last.refresh_ns = r->from_ns;
    s->last.refresh_mhz = r->refresh_mhz;
}
