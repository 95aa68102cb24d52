/* Who is heard, and what is let in: entries may be anything. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "frames/census/join_internal.h"

#define COUNT_MOST (UINT64_C(1) << 40) /* a counter beyond it is none */

struct tp_join *tp_join_create(const struct tp_join_sink *sink)
{
    struct tp_join *j = tp_calloc(1, sizeof *j);
    j->sink = *sink;
    return j;
}

void tp_join_destroy(struct tp_join *j)
{
    if (!j)
        return;
    for (unsigned i = 0; i < TP_JOIN_RINGS; i++)
        free(j->sources[i].room);
    free(j);
}

void join_lose(const struct tp_join *j, unsigned guest, uint64_t entries)
{
    if (entries > 0 && j->sink.lost)
        j->sink.lost(j->sink.data, guest, entries);
}

bool join_has_buffer(const struct tp_buffer_name *name, const struct tp_ring_picture *p)
{
    for (unsigned i = 0; i < p->n_layers; i++)
        if (p->layers[i].generation != 0 && p->layers[i].generation == name->generation &&
            tp_identity_equal(&p->layers[i].identity, &name->identity))
            return true;
    return false;
}

/* --- who is heard --- */

static bool is_screen(const struct join_source *s)
{
    return s->guest == TP_JOIN_SCREEN;
}

static struct join_source *find(struct tp_join *j, uint32_t id)
{
    for (unsigned i = 0; i < TP_JOIN_RINGS; i++)
        if (j->sources[i].used && !j->sources[i].gone && j->sources[i].id == id)
            return &j->sources[i];
    return NULL;
}

static struct join_source *find_free(struct tp_join *j)
{
    for (unsigned i = 0; i < TP_JOIN_RINGS; i++)
        if (!j->sources[i].used)
            return &j->sources[i];
    return NULL;
}

static void hear_screen(struct tp_join *j, uint32_t id)
{
    j->screen = (struct join_screen){.heard = true, .id = id};
}

int tp_join_add(struct tp_join *j, uint32_t id, enum tp_ring_producer producer, uint32_t pid,
    const char *name)
{
    struct join_source *s = find_free(j);
    bool screen = producer == TP_RING_SCREEN;
    if (find(j, id))
        return -EEXIST;
    if (!s || (!screen && j->next_guest == TP_JOIN_SCREEN))
        return -ENOSPC;
    *s = (struct join_source){.used = true,
        .id = id,
        .guest = screen ? TP_JOIN_SCREEN : j->next_guest++,
        .last_ready_ns = TP_NEVER};
    j->had_screen |= screen;
    if (screen && !j->screen.heard)
        hear_screen(j, id);
    char *label = tp_printable_line(name);
    if (j->sink.guest)
        j->sink.guest(j->sink.data, s->guest, label, pid);
    free(label);
    return (int)s->guest;
}

static void drop_source(struct tp_join *j, struct join_source *s)
{
    for (unsigned i = 0; i < TP_COUNTERS; i++)
        j->gone_counts[is_screen(s)][i] += s->counts[i];
    free(s->room);
    if (!is_screen(s) && j->sink.gone)
        j->sink.gone(j->sink.data, s->guest);
    *s = (struct join_source){0};
}

/* The panel's side ends here, whatever still waited for it. */
static void end_screen(struct tp_join *j)
{
    for (unsigned i = 0; i < TP_JOIN_RINGS; i++)
        if (j->sources[i].used)
            join_tell_frames(j, &j->sources[i], true);
    join_tell_screen(j, true);
    j->screen.heard = false;
    for (unsigned i = 0; i < TP_JOIN_RINGS && !j->screen.heard; i++)
        if (j->sources[i].used && !j->sources[i].gone && is_screen(&j->sources[i]))
            hear_screen(j, j->sources[i].id);
}

void tp_join_gone(struct tp_join *j, uint32_t id)
{
    struct join_source *s = find(j, id);
    if (!s)
        return;
    s->gone = true;
    if (!is_screen(s))
        return; /* what waits of it is told in its time */
    if (j->screen.heard && j->screen.id == id)
        end_screen(j);
    drop_source(j, s);
}

/* --- what is let in --- */

static void check_frame(struct tp_frame_record *f)
{
    int64_t *const instants[] = {&f->begin_ns, &f->asked_ns, &f->gate_ns, &f->acquired_ns,
        &f->cpu_ns, &f->cpu_to_ns, &f->presented_ns, &f->returned_ns, &f->elsewhere_ns,
        &f->elsewhere_to_ns, &f->write_ns, &f->ready_ns, &f->booked_ns, &f->committed_ns,
        &f->composed_ns, &f->published_ns, &f->latched_ns, &f->line_ns, &f->released_ns,
        &f->told_ns};
    int64_t *const waits[] = {&f->slot_wait_ns, &f->release_wait_ns, &f->gate_wait_ns};
    for (unsigned i = 0; i < sizeof instants / sizeof *instants; i++)
        join_check_instant(instants[i]);
    for (unsigned i = 0; i < sizeof waits / sizeof *waits; i++)
        if (*waits[i] < 0 || *waits[i] > JOIN_BOUND)
            *waits[i] = 0;
    if (f->sequence > (uint64_t)JOIN_BOUND || f->dropped)
        f->line_ns = TP_NEVER;
    if (f->image > UINT16_MAX)
        f->image = UINT16_MAX;
    f->torn = false;
    f->repeats = 0;
    f->permitted = 0;
}

/* Makes room for one more behind the last. */
static void make_room(struct join_source *s)
{
    if (s->n > 0 && s->frames + s->n < s->room + s->n_room)
        return;
    if (s->n == s->n_room) {
        struct join_frame *room = tp_calloc(s->n_room ? 2 * s->n_room : 8, sizeof *room);
        if (s->n > 0)
            memcpy(room, s->frames, s->n * sizeof *room);
        free(s->room);
        s->room = room;
        s->n_room = s->n_room ? 2 * s->n_room : 8;
    } else {
        memmove(s->room, s->frames, s->n * sizeof *s->room);
    }
    s->frames = s->room;
}

static void put_frame(struct tp_join *j, struct join_source *s, const struct tp_ring_frame *f)
{
    uint64_t number = f->record.number;
    if (s->n == JOIN_FRAMES)
        join_tell_first(j, s);
    unsigned at = s->n;
    while (at > 0 && s->frames[at - 1].f.record.number > number)
        at--;
    bool twice = at > 0 && s->frames[at - 1].f.record.number == number;
    if (twice || number > (uint64_t)JOIN_BOUND || (s->told && number <= s->last_number)) {
        join_lose(j, s->guest, 1);
        return;
    }
    make_room(s);
    memmove(s->frames + at + 1, s->frames + at, (s->n - at) * sizeof *s->frames);
    s->frames[at] = (struct join_frame){.f = *f, .came_ns = j->now_ns, .pass = j->pass};
    s->frames[at].f.record.guest = s->guest;
    check_frame(&s->frames[at].f.record);
    s->n++;
}

static void put_setting(const struct tp_join *j, unsigned guest, const struct tp_ring_setting *s)
{
    bool known = s->what == TP_SETTING_CAP || s->what == TP_SETTING_GATE ||
        s->what == TP_SETTING_REFRESH;
    if (!known || !join_is_instant(s->at_ns) || s->value < 0 || s->value > UINT32_MAX)
        join_lose(j, guest, 1);
    else if (j->sink.setting)
        j->sink.setting(j->sink.data, guest, s);
}

void tp_join_put(struct tp_join *j, uint32_t id, const struct tp_ring_entry *e)
{
    struct join_source *s = find(j, id);
    if (!s)
        return;
    bool screen = is_screen(s);
    if (screen && j->screen.id != id)
        return; /* another one is heard */
    if (e->kind == TP_RING_SETTING)
        put_setting(j, s->guest, &e->setting);
    else if (e->kind == TP_RING_FRAME && !screen)
        put_frame(j, s, &e->frame);
    else if (e->kind == TP_RING_PICTURE && screen)
        join_put_picture(j, &e->picture);
    else if (e->kind == TP_RING_REFRESH && screen)
        join_put_refresh(j, &e->refresh);
    else
        join_lose(j, s->guest, 1);
}

void tp_join_lost(struct tp_join *j, uint32_t id, uint64_t entries)
{
    const struct join_source *s = find(j, id);
    if (s)
        join_lose(j, s->guest, entries);
}

void tp_join_gauge(struct tp_join *j, uint32_t id, unsigned gauge, uint64_t value)
{
    struct join_source *s = find(j, id);
    if (!s)
        return;
    if (gauge >= TP_GAUGE_COUNTS && gauge < TP_GAUGE_COUNTS + TP_COUNTERS && value <= COUNT_MOST)
        s->counts[gauge - TP_GAUGE_COUNTS] = value;
    if (!is_screen(s) || j->screen.id != id)
        return;
    if (gauge == TP_GAUGE_PIPELINE && value <= 16)
        j->screen.pipeline = value;
    else if (gauge == TP_GAUGE_SLOWEST_MHZ)
        j->screen.slowest_mhz = value;
}

/* Notes are counted by the one who sends them, where that one is heard. */
static bool counts_it(const struct tp_join *j, bool screen, unsigned counter)
{
    bool is_note = counter >= TP_COUNT_NOTES_PENDING;
    return screen ? is_note : !is_note || !j->had_screen;
}

void tp_join_counts(const struct tp_join *j, uint64_t counts[TP_COUNTERS])
{
    for (unsigned k = 0; k < TP_COUNTERS; k++) {
        counts[k] = 0;
        for (unsigned screen = 0; screen < 2; screen++)
            counts[k] += counts_it(j, screen, k) ? j->gone_counts[screen][k] : 0;
        for (unsigned i = 0; i < TP_JOIN_RINGS; i++) {
            const struct join_source *s = &j->sources[i];
            counts[k] += s->used && counts_it(j, is_screen(s), k) ? s->counts[k] : 0;
        }
    }
}

/* --- what is told --- */

static void tell(struct tp_join *j, bool all)
{
    join_note_passed(j);
    for (unsigned i = 0; i < TP_JOIN_RINGS; i++)
        if (j->sources[i].used)
            join_tell_frames(j, &j->sources[i], all);
    join_tell_screen(j, all);
    for (unsigned i = 0; i < TP_JOIN_RINGS; i++)
        if (j->sources[i].used && j->sources[i].gone && j->sources[i].n == 0)
            drop_source(j, &j->sources[i]);
}

void tp_join_pass(struct tp_join *j, int64_t now_ns)
{
    if (now_ns > j->now_ns)
        j->now_ns = now_ns;
    j->pass++;
    tell(j, false);
}

void tp_join_end(struct tp_join *j)
{
    tell(j, true);
}
