#include "frames/server/screen_ring.h"

#include <string.h>

#define MHZ_NS INT64_C(1000000000000) /* the period of a mHz */

void tp_screen_ring_init(
    struct tp_screen_ring *s, const char *name, unsigned output, const struct tp_panel *panel)
{
    *s = (struct tp_screen_ring){
        .output = output, .lead_ns = panel->lead_ns, .pipeline = panel->pipeline};
    if (tp_ring_create(TP_RING_SCREEN, name, &s->ring) < 0)
        return;
    tp_ring_gauge(s->ring, TP_GAUGE_PIPELINE, panel->pipeline);
    tp_ring_gauge(s->ring, TP_GAUGE_LEAD_NS, (uint64_t)panel->lead_ns);
    tp_ring_gauge(s->ring, TP_GAUGE_WATCHED, panel->watches);
}

void tp_screen_ring_finish(struct tp_screen_ring *s)
{
    tp_ring_destroy(s->ring);
    *s = (struct tp_screen_ring){0};
}

int tp_screen_ring_fd(const struct tp_screen_ring *s)
{
    return s->ring ? tp_ring_fd(s->ring) : -1;
}

void tp_screen_ring_mode(struct tp_screen_ring *s, const struct tp_kms_mode *mode)
{
    s->mode = *mode;
    if (!s->ring)
        return;
    tp_ring_gauge(s->ring, TP_GAUGE_WIDTH, mode->width_px);
    tp_ring_gauge(s->ring, TP_GAUGE_HEIGHT, mode->height_px);
}

/* --- pictures --- */

static struct tp_screen_picture *find(struct tp_screen_ring *s, uint64_t serial)
{
    for (unsigned i = s->n; i-- > 0;)
        if (s->pictures[i].picture.serial == serial)
            return &s->pictures[i];
    return NULL;
}

/* What the screen had when that refresh began; NULL: nothing. */
static const struct tp_screen_picture *shown_by(
    const struct tp_screen_ring *s, const struct tp_refresh_record *r)
{
    const struct tp_screen_picture *last = NULL;
    for (unsigned i = 0; i < s->n; i++) {
        const struct tp_screen_picture *p = &s->pictures[i];
        if (p->shown &&
            (p->async ? p->picture.line_ns <= r->from_ns : p->picture.sequence <= r->sequence))
            last = p;
    }
    return last && last->picture.n_layers > 0 ? last : NULL;
}

/* The first that is shown after this one; NULL: none is. */
static const struct tp_screen_picture *successor(
    const struct tp_screen_ring *s, const struct tp_screen_picture *p)
{
    for (p++; p < s->pictures + s->n; p++)
        if (p->shown)
            return p;
    return NULL;
}

static void put_picture(struct tp_screen_ring *s, const struct tp_ring_picture *p)
{
    const struct tp_ring_entry e = {.kind = TP_RING_PICTURE, .picture = *p};
    if (p->n_layers > 0)
        tp_ring_put(s->ring, &e);
}

static void forget(struct tp_screen_ring *s, unsigned i)
{
    s->n--;
    memmove(s->pictures + i, s->pictures + i + 1, (s->n - i) * sizeof *s->pictures);
}

static void drop(struct tp_screen_ring *s, unsigned i)
{
    s->pictures[i].picture.dropped = true;
    put_picture(s, &s->pictures[i].picture);
    forget(s, i);
}

/* When the panel stopped reading it: as the next one's first line came, or sooner. */
static int64_t released_ns(
    const struct tp_screen_picture *p, const struct tp_screen_picture *next)
{
    if (next && (!p->told_now || p->released_ns > next->picture.line_ns))
        return next->picture.line_ns;
    return p->told_now ? p->released_ns : TP_NEVER;
}

/* Those that the panel has done with; but for the last that it shows, which refreshes still name. */
static void end_pictures(struct tp_screen_ring *s)
{
    for (unsigned i = 0; i < s->n;) {
        struct tp_screen_picture *p = &s->pictures[i];
        const struct tp_screen_picture *next = successor(s, p);
        if (p->shown && p->left == 0 && p->picture.released_ns == TP_NEVER &&
            (next || p->told_now) && p->picture.n_layers > 0) {
            p->picture.released_ns = released_ns(p, next);
            put_picture(s, &p->picture);
        }
        bool named = s->n_refreshes > 0 && next &&
            s->refreshes[0].record.sequence <= next->picture.sequence;
        if (p->shown && p->left == 0 && next && !named)
            forget(s, i);
        else
            i++;
    }
}

/* The panel has said nothing of the oldest for so long; or there are many in a refresh. */
static void make_room(struct tp_screen_ring *s)
{
    for (unsigned i = 0; i < s->n_refreshes; i++) {
        struct tp_screen_refresh *r = &s->refreshes[i];
        if (shown_by(s, &r->record) == &s->pictures[0])
            r->serial = s->pictures[0].picture.serial;
    }
    if (s->pictures[0].shown)
        forget(s, 0);
    else
        drop(s, 0);
}

/* The guests' buffers matter most. */
static void take_layers(
    struct tp_ring_picture *p, const struct tp_buffer_name *layers, unsigned n_layers)
{
    unsigned guests = 0;
    for (unsigned i = 0; i < n_layers; i++)
        guests += layers[i].generation != 0;
    unsigned others = guests < TP_RING_LAYERS ? TP_RING_LAYERS - guests : 0;
    for (unsigned i = 0; i < n_layers && p->n_layers < TP_RING_LAYERS; i++) {
        bool is_guests = layers[i].generation != 0;
        if (!is_guests && others == 0)
            continue;
        others -= !is_guests;
        p->layers[p->n_layers++] = layers[i];
    }
}

void tp_screen_ring_publish(struct tp_screen_ring *s, uint64_t serial, bool async,
    int64_t committed_ns, int64_t published_ns, const struct tp_buffer_name *layers,
    unsigned n_layers)
{
    if (!s->ring)
        return;
    if (s->n == TP_SCREEN_PICTURES)
        make_room(s);
    struct tp_screen_picture *p = &s->pictures[s->n++];
    *p = (struct tp_screen_picture){.async = async,
        .left = n_layers,
        .picture = {.serial = serial,
            .committed_ns = committed_ns,
            .published_ns = published_ns,
            .latched_ns = TP_NEVER,
            .line_ns = TP_NEVER,
            .released_ns = TP_NEVER}};
    take_layers(&p->picture, layers, n_layers);
    if (n_layers > 0)
        tp_ring_gauge(s->ring, TP_GAUGE_PRESENTED, ++s->published);
}

void tp_screen_ring_withdraw(struct tp_screen_ring *s, uint64_t serial)
{
    struct tp_screen_picture *p = find(s, serial);
    if (!p)
        return;
    if (p->picture.n_layers > 0)
        tp_ring_gauge(s->ring, TP_GAUGE_PRESENTED, --s->published);
    forget(s, (unsigned)(p - s->pictures));
}

/* The refresh that the instant is of: for what is async the one that is going on then, else the
 * nearest. */
static uint64_t refresh_of(const struct tp_screen_ring *s, int64_t ns, bool async)
{
    int64_t period = s->tick.period_ns > 0 ? s->tick.period_ns : 1, half = async ? 0 : period / 2;
    for (unsigned i = s->n_refreshes; i-- > 0;)
        if (s->refreshes[i].record.from_ns - half <= ns) {
            int64_t later = (ns + half - s->refreshes[i].record.from_ns) / period;
            return s->refreshes[i].record.sequence + (async ? 0 : (uint64_t)later);
        }
    return s->tick.sequence;
}

static struct tp_screen_refresh *find_refresh(struct tp_screen_ring *s, uint64_t sequence)
{
    for (unsigned i = s->n_refreshes; i-- > 0;)
        if (s->refreshes[i].record.sequence == sequence)
            return &s->refreshes[i];
    return NULL;
}

/* It takes over in the midst of a scan-out of another one. */
static void note_async(struct tp_screen_ring *s, const struct tp_screen_picture *p)
{
    struct tp_screen_refresh *r = find_refresh(s, p->picture.sequence);
    bool before = false;
    for (const struct tp_screen_picture *q = s->pictures; q < p; q++)
        before |= q->shown;
    if (!r || !before || s->mode.height_px == 0)
        return;
    int64_t line = (r->record.to_ns - r->record.from_ns) / s->mode.height_px;
    int64_t in = p->picture.line_ns - r->record.from_ns;
    r->record.async_torn |= in > 0 && in >= line && p->picture.line_ns < r->record.to_ns;
}

void tp_screen_ring_shown(struct tp_screen_ring *s, uint64_t serial, int64_t first_line_ns)
{
    struct tp_screen_picture *p = find(s, serial);
    if (!p || p->shown || !s->ring)
        return;
    for (unsigned i = 0; s->pictures[i].picture.serial != serial;) {
        if (s->pictures[i].shown)
            i++;
        else /* what was before it and was not shown never will be */
            drop(s, i);
    }
    p = find(s, serial);
    p->shown = true;
    p->picture.line_ns = first_line_ns;
    p->picture.sequence = refresh_of(s, first_line_ns, p->async);
    p->picture.latched_ns = p->async
        ? first_line_ns
        : first_line_ns - s->lead_ns - (int64_t)s->pipeline * s->tick.period_ns;
    if (p->async)
        note_async(s, p);
    put_picture(s, &p->picture);
    end_pictures(s);
}

void tp_screen_ring_released(struct tp_screen_ring *s, uint64_t serial, bool fence, int64_t now_ns)
{
    struct tp_screen_picture *p = find(s, serial);
    if (!p || p->left == 0 || !s->ring)
        return;
    p->left--;
    p->released_ns = now_ns;
    p->told_now = !fence;
    /* One that is not shown yet was copied, or is dropped: the next one that is shown tells. */
    if (p->left == 0 && p->shown)
        end_pictures(s);
}

void tp_screen_ring_away(struct tp_screen_ring *s, int64_t now_ns)
{
    if (!s->ring)
        return;
    tp_screen_ring_settle(s);
    for (unsigned i = 0; i < s->n; i++) {
        struct tp_screen_picture *p = &s->pictures[i];
        p->picture.dropped = !p->shown;
        if (p->picture.released_ns != TP_NEVER)
            continue;
        if (p->shown)
            p->picture.released_ns = now_ns;
        put_picture(s, &p->picture);
    }
    s->n = 0;
}

/* --- refreshes --- */

static void put_refresh(struct tp_screen_ring *s)
{
    struct tp_ring_entry e = {.kind = TP_RING_REFRESH};
    const struct tp_screen_picture *p = shown_by(s, &s->refreshes[0].record);
    e.refresh.record = s->refreshes[0].record;
    e.refresh.serial = p ? p->picture.serial : s->refreshes[0].serial;
    e.refresh.record.shows = e.refresh.serial != 0;
    tp_ring_put(s->ring, &e);
    s->n_refreshes--;
    memmove(s->refreshes, s->refreshes + 1, s->n_refreshes * sizeof *s->refreshes);
}

static void add_refresh(struct tp_screen_ring *s, const struct tp_panel_tick *t, unsigned before)
{
    int64_t from_ns = t->time_ns - (int64_t)before * t->period_ns;
    int64_t lasts = t->active_ns > 0 ? t->active_ns : t->period_ns;
    if (s->n_refreshes == TP_SCREEN_REFRESHES)
        put_refresh(s);
    s->refreshes[s->n_refreshes++] =
        (struct tp_screen_refresh){.record = {.sequence = t->sequence - before,
                                       .refresh_mhz = s->refresh_mhz,
                                       .latch_ns = from_ns - s->lead_ns,
                                       .from_ns = from_ns,
                                       .to_ns = from_ns + lasts,
                                       .torn_ns = TP_NEVER}};
}

static void put_rate(struct tp_screen_ring *s, const struct tp_panel_tick *t, uint32_t mhz)
{
    struct tp_ring_entry e = {.kind = TP_RING_SETTING,
        .setting = {t->time_ns, TP_SETTING_REFRESH, s->output, mhz}};
    s->refresh_mhz = mhz;
    s->slowest_mhz = t->slowest_mhz;
    tp_ring_gauge(s->ring, TP_GAUGE_REFRESH_MHZ, mhz);
    tp_ring_gauge(s->ring, TP_GAUGE_SLOWEST_MHZ, t->slowest_mhz);
    tp_ring_put(s->ring, &e);
}

/* Refreshes between the last one that was told of and this one, whose thread slept through them. */
static unsigned missed(const struct tp_screen_ring *s, const struct tp_panel_tick *t)
{
    uint64_t n = t->sequence - s->tick.sequence - 1;
    int64_t since = t->time_ns - s->tick.time_ns;
    if (!s->ticked || t->sequence <= s->tick.sequence || t->slowest_mhz > 0 ||
        n >= TP_SCREEN_REFRESHES - 4)
        return 0;
    bool even = since > (int64_t)n * t->period_ns && since < (int64_t)(n + 2) * t->period_ns;
    return even ? (unsigned)n : 0;
}

void tp_screen_ring_tick(struct tp_screen_ring *s, const struct tp_panel_tick *t)
{
    if (!s->ring || t->period_ns <= 0 || (s->ticked && t->sequence <= s->tick.sequence))
        return;
    uint32_t mhz = (uint32_t)((MHZ_NS + t->period_ns / 2) / t->period_ns);
    if (mhz != s->refresh_mhz || t->slowest_mhz != s->slowest_mhz)
        put_rate(s, t, mhz);
    /* What the last one and those before it showed is known; the last one may still tear. */
    while (s->n_refreshes > 0 && s->refreshes[0].record.sequence < s->tick.sequence)
        put_refresh(s);
    for (unsigned i = missed(s, t); i > 0; i--)
        add_refresh(s, t, i);
    add_refresh(s, t, 0);
    s->tick = *t;
    s->ticked = true;
    end_pictures(s);
}

void tp_screen_ring_torn(
    struct tp_screen_ring *s, uint64_t sequence, int64_t time_ns, uint32_t line)
{
    struct tp_screen_refresh *r = find_refresh(s, sequence);
    if (!r && s->n_refreshes > 0) /* it was told of too late to be told with it */
        r = &s->refreshes[0];
    if (!r || r->record.torn_ns != TP_NEVER)
        return;
    r->record.torn_ns = time_ns;
    r->record.torn_line = line;
}

void tp_screen_ring_settle(struct tp_screen_ring *s)
{
    while (s->n_refreshes > 0)
        put_refresh(s);
}
