#include "frames/icd/census.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames/icd/clock.h"

#define FRAMES 128u /* under way at most, as there are records of presents; a power of two */
#define PATIENCE 2u /* frames more than there are images: so long is waited for a note */
#define NOBODY UINT64_MAX

/* A frame that was presented. */
struct way {
    struct tp_frame_record record;
    bool ended;  /* shown or dropped */
    bool closed; /* its image is somebody else's */
};

/* An image, and its acquire while the guest has it. */
struct hand {
    bool held;
    uint64_t frame; /* the gate's */
    int64_t asked_ns, acquired_ns, slot_ns, release_ns, gate_ns;
    uint64_t shows; /* the number of the frame that was presented in it last; NOBODY */
    struct tp_buffer_name name;
    uint64_t told; /* as its gauge is */
};

struct tp_icd_census {
    struct tp_ring *ring;
    struct tp_icd_census_info info;
    struct way frames[FRAMES]; /* by number */
    uint64_t first, next;      /* the first that was not put yet, and the next number */
    struct tp_gate_settings settings;
    uint32_t refresh_mhz, pipeline;
    bool paced, variable, connected;
    struct hand images[TP_SLOTS_MAX];
};

/* --- making it --- */

/* The program, as `ps` calls it: in wine the Windows program, and not what runs it. */
static void name_program(char *out, size_t room)
{
    FILE *f = fopen("/proc/self/comm", "re");

    snprintf(out, room, "%s", program_invocation_short_name);
    if (!f)
        return;
    if (fgets(out, (int)room, f))
        out[strcspn(out, "\n")] = 0;
    fclose(f);
}

int tp_icd_census_create(const struct tp_icd_census_info *info, struct tp_icd_census **out)
{
    char name[TP_RING_NAME];
    struct tp_icd_census *c = calloc(1, sizeof *c);

    *out = NULL;
    if (!c)
        return -ENOMEM;
    c->info = *info;
    name_program(name, sizeof name);
    int r = tp_ring_create(TP_RING_SWAPCHAIN, name, &c->ring);
    if (r) {
        free(c);
        return r;
    }
    for (unsigned i = 0; i < TP_SLOTS_MAX; i++)
        c->images[i].shows = NOBODY;
    tp_ring_gauge(c->ring, TP_GAUGE_IMAGES, info->images);
    tp_ring_gauge(c->ring, TP_GAUGE_WIDTH, info->width);
    tp_ring_gauge(c->ring, TP_GAUGE_HEIGHT, info->height);
    tp_ring_gauge(c->ring, TP_GAUGE_RELEASE_FENCE, info->release);
    *out = c;
    return 0;
}

int tp_icd_census_fd(const struct tp_icd_census *c)
{
    return c ? tp_ring_fd(c->ring) : -1;
}

/* --- gauges --- */

static void tell_counts(struct tp_icd_census *c)
{
    struct tp_slots_counts n;

    tp_slots_counts(c->info.slots, &n);
    const uint64_t counts[TP_COUNTERS] = {[TP_COUNT_UNSAFE] = n.unsafe,
        [TP_COUNT_RELEASE_WAITS] = n.release_waits,
        [TP_COUNT_RELEASE_TIMEOUTS] = n.release_timeouts,
        [TP_COUNT_SLOT_WAITS] = n.slot_waits,
        [TP_COUNT_NOTES_PENDING] = n.pending,
        [TP_COUNT_NOTES_FINAL] = n.final,
        [TP_COUNT_NOTES_LOST] = n.lost,
        [TP_COUNT_NOTES_RESYNCED] = n.resynced};
    for (unsigned i = 0; i < TP_COUNTERS; i++)
        tp_ring_gauge(c->ring, TP_GAUGE_COUNTS + i, counts[i]);
}

/* Of a slot's two halves the frame is that which is, or was last, in it. */
static void tell_slot(struct tp_icd_census *c, unsigned image, int64_t now_ns)
{
    struct hand *i = &c->images[image];
    uint64_t frame = i->held ? c->next : i->shows == NOBODY ? 0 : i->shows;
    uint64_t value = (uint64_t)tp_slots_glance(c->info.slots, image, now_ns) | frame << 8;

    if (value == i->told)
        return;
    i->told = value;
    tp_ring_gauge(c->ring, TP_GAUGE_SLOTS + image, value);
}

static void tell_slots(struct tp_icd_census *c, int64_t now_ns)
{
    for (unsigned i = 0; i < c->info.images; i++)
        tell_slot(c, i, now_ns);
}

/* --- frames that are over --- */

static struct way *way_of(struct tp_icd_census *c, uint64_t number)
{
    return number >= c->first && number < c->next ? &c->frames[number % FRAMES] : NULL;
}

/* Serials count from 1. */
static struct way *way_of_serial(struct tp_icd_census *c, uint64_t serial)
{
    return c ? way_of(c, serial - 1) : NULL;
}

static void put(struct tp_icd_census *c, struct way *w)
{
    struct tp_ring_entry e = {.kind = TP_RING_FRAME};
    struct tp_frame_record *r = &w->record;

    r->late = r->ready_ns != TP_NEVER && r->booked_ns != TP_NEVER && r->ready_ns > r->booked_ns;
    e.frame.record = *r;
    e.frame.buffer = c->images[r->image].name;
    e.frame.fed_back = r->line_ns != TP_NEVER;
    tp_ring_put(c->ring, &e);
    c->first++;
}

/* Nothing more is to be heard of it; or that would come too late for who looks on. */
static bool is_over(const struct tp_icd_census *c, const struct way *w)
{
    const struct tp_frame_record *r = &w->record;
    bool told = r->told_ns != TP_NEVER || !c->connected;

    if (!w->ended)
        return false;
    return r->dropped || (w->closed && told && r->released_ns != TP_NEVER) ||
        c->next - c->first > c->info.images + PATIENCE;
}

static void advance(struct tp_icd_census *c)
{
    while (c->first < c->next && is_over(c, &c->frames[c->first % FRAMES]))
        put(c, &c->frames[c->first % FRAMES]);
}

void tp_icd_census_destroy(struct tp_icd_census *c)
{
    if (!c)
        return;
    tell_counts(c);
    while (c->first < c->next)
        put(c, &c->frames[c->first % FRAMES]);
    tp_ring_destroy(c->ring);
    free(c);
}

/* --- a frame's way --- */

void tp_icd_census_acquired(
    struct tp_icd_census *c, const struct tp_acquired *a, int64_t asked_ns, int64_t now_ns)
{
    if (!c)
        return;
    struct hand *i = &c->images[a->image.slot];
    struct way *before = i->shows == NOBODY ? NULL : way_of(c, i->shows);
    if (before) {
        before->closed = true;
        if (before->record.released_ns == TP_NEVER)
            before->record.released_ns = a->image.ready_ns;
    }
    i->held = true;
    i->frame = a->frame;
    i->asked_ns = asked_ns;
    i->acquired_ns = now_ns;
    i->slot_ns = a->slot_ns;
    i->release_ns = a->release_ns;
    i->gate_ns = a->gate_ns;
    if (a->slot_ns || a->release_ns || a->image.unsafe)
        tell_counts(c);
    tell_slot(c, a->image.slot, now_ns);
    advance(c);
}

void tp_icd_census_counted(struct tp_icd_census *c)
{
    if (c)
        tell_counts(c);
}

void tp_icd_census_returned(struct tp_icd_census *c, unsigned image, int64_t now_ns)
{
    if (!c)
        return;
    c->images[image].held = false;
    tell_slot(c, image, now_ns);
}

/* Of an acquired image all is known that comes before its present. A late guest began its frame
 * before it asked. */
static void begin(const struct tp_icd_census *c, const struct hand *i, int64_t entry_ns,
    struct tp_frame_record *out)
{
    struct tp_gate_frame f;

    *out = (struct tp_frame_record){.number = c->next,
        .image = (unsigned)(i - c->images),
        .variable = c->variable,
        .refresh_mhz = c->refresh_mhz,
        .cap_mhz = c->settings.mode == TP_GATE_OFF ? 0 : c->settings.cap_mhz,
        .begin_ns = i->acquired_ns,
        .asked_ns = i->asked_ns,
        .gate_ns = i->acquired_ns,
        .acquired_ns = i->acquired_ns,
        .slot_wait_ns = i->slot_ns,
        .release_wait_ns = i->release_ns,
        .gate_wait_ns = i->gate_ns,
        .cpu_ns = i->acquired_ns,
        .cpu_to_ns = entry_ns,
        .presented_ns = entry_ns,
        .elsewhere_ns = TP_NEVER,
        .elsewhere_to_ns = TP_NEVER,
        .write_ns = TP_NEVER,
        .ready_ns = TP_NEVER,
        .booked_ns = TP_NEVER,
        .committed_ns = TP_NEVER,
        .composed_ns = TP_NEVER,
        .published_ns = TP_NEVER,
        .latched_ns = TP_NEVER,
        .line_ns = TP_NEVER,
        .released_ns = TP_NEVER,
        .told_ns = TP_NEVER};
    if (!c->info.gate || !tp_gate_frame(c->info.gate, i->frame, &f))
        return;
    out->begin_ns = f.begin_ns;
    out->gate_ns = f.gate_ns;
    out->booked_ns = f.latch_ns == INT64_MAX ? TP_NEVER : f.latch_ns;
    if (f.begin_ns == f.start_ns)
        return;
    out->cpu_ns = f.begin_ns;
    out->cpu_to_ns = i->asked_ns;
}

void tp_icd_census_presented(
    struct tp_icd_census *c, unsigned image, int64_t entry_ns, int64_t now_ns, int64_t held_ns)
{
    if (!c)
        return;
    if (c->next - c->first == FRAMES)
        put(c, &c->frames[c->first % FRAMES]);
    struct hand *i = &c->images[image];
    struct way *w = &c->frames[c->next % FRAMES];
    w->ended = w->closed = false;
    begin(c, i, entry_ns, &w->record);
    w->record.returned_ns = held_ns > now_ns ? held_ns : now_ns;
    i->held = false;
    i->shows = c->next++;
    tp_ring_gauge(c->ring, TP_GAUGE_PRESENTED, c->next);
    advance(c);
    tell_slots(c, now_ns); /* once a frame: what signals tells nobody */
}

void tp_icd_census_ready(struct tp_icd_census *c, uint64_t serial, int64_t ready_ns)
{
    struct way *w = way_of_serial(c, serial);

    if (w)
        w->record.ready_ns = ready_ns;
}

void tp_icd_census_committed(
    struct tp_icd_census *c, unsigned image, uint64_t serial, int64_t now_ns)
{
    struct way *w = way_of_serial(c, serial);

    if (w)
        w->record.committed_ns = now_ns;
    if (c)
        tell_slot(c, image, now_ns);
}

void tp_icd_census_shown(
    struct tp_icd_census *c, uint64_t serial, int64_t time_ns, uint64_t sequence, int64_t later_ns)
{
    struct way *w = way_of_serial(c, serial);

    if (!w || w->ended)
        return;
    w->ended = true;
    w->record.line_ns = time_ns + later_ns;
    w->record.sequence = sequence + (sequence > 0 && later_ns > 0 ? 1 + c->pipeline : 0);
    advance(c);
}

void tp_icd_census_dropped(struct tp_icd_census *c, uint64_t serial)
{
    struct way *w = way_of_serial(c, serial);

    if (!w || w->ended)
        return;
    w->ended = w->record.dropped = true;
    advance(c);
}

void tp_icd_census_released(struct tp_icd_census *c, unsigned image, int64_t now_ns)
{
    if (!c)
        return;
    struct way *w = c->images[image].shows == NOBODY ? NULL : way_of(c, c->images[image].shows);
    /* Where nobody knows the panel the window system's word is all there is. */
    if (w && !c->connected && w->record.released_ns == TP_NEVER) {
        w->record.released_ns = now_ns;
        w->closed = true;
        advance(c);
    }
    tell_slot(c, image, now_ns);
}

/* --- what holds for them --- */

static void put_setting(struct tp_icd_census *c, enum tp_setting what, int64_t value)
{
    const struct tp_ring_entry e = {.kind = TP_RING_SETTING,
        .setting = {.at_ns = tp_icd_now_ns(), .what = what, .value = value}};

    tp_ring_put(c->ring, &e);
}

void tp_icd_census_paced(struct tp_icd_census *c, const struct tp_gate_settings *s)
{
    if (!c)
        return;
    if (!c->paced || s->mode != c->settings.mode)
        put_setting(c, TP_SETTING_GATE, s->mode);
    if (!c->paced || s->cap_mhz != c->settings.cap_mhz)
        put_setting(c, TP_SETTING_CAP, s->cap_mhz);
    c->paced = true;
    c->settings = *s;
    tp_ring_gauge(c->ring, TP_GAUGE_GATE, s->mode);
    tp_ring_gauge(c->ring, TP_GAUGE_CAP_MHZ, s->cap_mhz);
}

/* A clock that is read from what was shown wavers. */
static bool is_other_rate(uint32_t mhz, uint32_t before)
{
    uint32_t off = mhz > before ? mhz - before : before - mhz;

    return off > before / 2048;
}

void tp_icd_census_timed(struct tp_icd_census *c, const struct tp_timeline_frame *t)
{
    if (!c)
        return;
    uint32_t mhz = 0;
    if (!t->stopped && t->period_ns > 0)
        mhz = (uint32_t)((INT64_C(1000000000000) + t->period_ns / 2) / t->period_ns);
    c->variable = t->variable;
    if (is_other_rate(mhz, c->refresh_mhz)) {
        c->refresh_mhz = mhz;
        put_setting(c, TP_SETTING_REFRESH, mhz);
        tp_ring_gauge(c->ring, TP_GAUGE_REFRESH_MHZ, mhz);
    }
    c->pipeline = t->pipeline;
    tp_ring_gauge(c->ring, TP_GAUGE_PIPELINE, t->pipeline);
    tp_ring_gauge(c->ring, TP_GAUGE_LEAD_NS, (uint64_t)t->lead_ns);
}

void tp_icd_census_connected(struct tp_icd_census *c, unsigned how)
{
    if (!c)
        return;
    c->connected = how > 0 && c->info.release; /* else there are no notes */
    tp_ring_gauge(c->ring, TP_GAUGE_CONNECTED, how);
}

void tp_icd_census_named(struct tp_icd_census *c, unsigned image, const struct tp_buffer_name *name)
{
    if (c)
        c->images[image].name = *name;
}

static struct hand *find(struct tp_icd_census *c, uint32_t generation)
{
    for (unsigned i = 0; c && i < c->info.images; i++) {
        if (c->images[i].name.generation == generation)
            return &c->images[i];
    }
    return NULL;
}

void tp_icd_census_registered(struct tp_icd_census *c, const struct tp_register_frame *answer)
{
    struct hand *i = find(c, answer->buffer.generation);

    if (!i)
        return;
    i->name.index = answer->buffer.index;
    if (answer->result < 0)
        i->name.generation = 0;
}

void tp_icd_census_note(struct tp_icd_census *c, const struct tp_note *note, int64_t now_ns)
{
    struct hand *i = find(c, note->buffer.generation);
    struct way *w = i && i->shows != NOBODY ? way_of(c, i->shows) : NULL;

    if (!i)
        return;
    if (w && note->what == TP_NOTE_FINAL) {
        w->record.told_ns = now_ns;
        if (tp_board_state_of(note->low) == TP_BOARD_FREE && w->record.released_ns == TP_NEVER)
            w->record.released_ns = now_ns;
        advance(c);
    }
    tell_counts(c);
    tell_slot(c, (unsigned)(i - c->images), now_ns);
}
