#include "report/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/buf.h"

/* --- tracks --- */

enum stage { ACQUIRE, CPU, PRESENT, GPU, COMPOSITOR, QUEUE, PANEL, STAGES };
static const char *const stage_names[STAGES] = {
    "1 acquire", "2 CPU", "3 present", "4 GPU", "5 compositor", "6 to the panel", "7 on the panel"};

/* Slices of a track are one in the other or apart: what overlaps goes to the next lane. */
#define LANES 8u
#define SCREEN 1u /* process of the refreshes; guests follow */
#define GUESTS 65536u

struct guest {
    int64_t ends_ns[STAGES][LANES]; /* of the lane's last slice */
    uint8_t lanes[STAGES];          /* that have a name */
    bool named;
    int64_t line_ns; /* of the last frame that was shown */
};

struct trace {
    FILE *out;
    const char *separator;
    struct guest *guests[GUESTS];
    bool screen_named;
    int64_t refresh_from_ns;
    /* Of the frame that is being told: */
    uint64_t flow; /* frames so far: each has its arrows */
    struct place { /* where a stage of it is drawn */
        unsigned pid, tid;
        int64_t from_ns, to_ns;
    } places[STAGES + 1];
    unsigned n_places;
};

/* --- events --- */

/* Opens an event; what is its own follows, then close_event. */
static void open_event(struct trace *t, const char *phase, unsigned pid, unsigned tid)
{
    fprintf(t->out, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u", t->separator, phase, pid, tid);
    t->separator = ",\n";
}

static void close_event(struct trace *t)
{
    fputc('}', t->out);
}

/* Microseconds with their thousandths, exact. */
static void us(struct trace *t, const char *key, int64_t ns)
{
    uint64_t n = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    fprintf(t->out, ",\"%s\":%s%" PRIu64 ".%03u", key, ns < 0 ? "-" : "", n / 1000,
        (unsigned)(n % 1000));
}

static void text(struct trace *t, const char *key, const char *value)
{
    char *clean = tp_printable_line(value);
    json_t *j = json_string(clean);
    char *quoted = j ? json_dumps(j, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;
    fprintf(t->out, ",\"%s\":%s", key, quoted ? quoted : "\"\"");
    free(quoted);
    json_decref(j);
    free(clean);
}

static void meta(struct trace *t, unsigned pid, unsigned tid, const char *what, const char *name)
{
    open_event(t, "M", pid, tid);
    text(t, "name", what);
    fputs(",\"args\":{\"_\":0", t->out); /* so that each further one begins with a comma */
    text(t, "name", name);
    fputc('}', t->out);
    close_event(t);
}

static void order(struct trace *t, unsigned pid, unsigned tid, const char *what, unsigned index)
{
    open_event(t, "M", pid, tid);
    text(t, "name", what);
    fprintf(t->out, ",\"args\":{\"sort_index\":%u}", index);
    close_event(t);
}

static void instant(struct trace *t, unsigned pid, unsigned tid, const char *name, int64_t at_ns)
{
    open_event(t, "i", pid, tid);
    text(t, "name", name);
    us(t, "ts", at_ns);
    fputs(",\"s\":\"t\"", t->out);
    close_event(t);
}

static void counter(struct trace *t, unsigned pid, const char *name, int64_t at_ns, int64_t ns)
{
    open_event(t, "C", pid, 0);
    text(t, "name", name);
    us(t, "ts", at_ns);
    fputs(",\"args\":{\"_\":0", t->out);
    us(t, "us", ns);
    fputc('}', t->out);
    close_event(t);
}

/* --- a frame --- */

static struct guest *guest_of(struct trace *t, unsigned number)
{
    if (!t->guests[number]) {
        struct guest *g = t->guests[number] = tp_calloc(1, sizeof *g);
        g->line_ns = TP_NEVER;
        for (unsigned s = 0; s < STAGES; s++)
            for (unsigned i = 0; i < LANES; i++)
                g->ends_ns[s][i] = INT64_MIN;
    }
    return t->guests[number];
}

static unsigned process_of(unsigned guest)
{
    return SCREEN + 1 + guest;
}

static void name_guest(struct trace *t, unsigned number, const char *name)
{
    guest_of(t, number)->named = true;
    meta(t, process_of(number), 0, "process_name", name);
    order(t, process_of(number), 0, "process_sort_index", number);
}

/* The first lane of the stage that is free at this instant; with none, the one that is free first,
 * and *from_ns moves there. */
static unsigned lane_of(struct guest *g, enum stage s, int64_t *from_ns)
{
    unsigned best = 0;

    for (unsigned i = 0; i < LANES; i++) {
        if (g->ends_ns[s][i] <= *from_ns)
            return i;
        if (g->ends_ns[s][i] < g->ends_ns[s][best])
            best = i;
    }
    *from_ns = g->ends_ns[s][best];
    return best;
}

static unsigned track_of(struct trace *t, unsigned guest, enum stage s, unsigned lane)
{
    struct guest *g = guest_of(t, guest);
    unsigned tid = 1 + s * LANES + lane;

    for (; g->lanes[s] <= lane; g->lanes[s]++) {
        unsigned one = 1 + s * LANES + g->lanes[s];
        meta(t, process_of(guest), one, "thread_name", stage_names[s]);
        order(t, process_of(guest), one, "thread_sort_index", one);
    }
    return tid;
}

static void slice(
    struct trace *t, unsigned pid, unsigned tid, const char *name, int64_t from_ns, int64_t to_ns)
{
    open_event(t, "X", pid, tid);
    text(t, "name", name);
    us(t, "ts", from_ns);
    us(t, "dur", to_ns - from_ns);
}

static int earlier(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Arrows lead from stage to stage, forward in time whatever the order of a guest's work is. */
static void flow(struct trace *t)
{
    if (t->n_places < 2)
        return;
    qsort(t->places, t->n_places, sizeof *t->places, earlier);
    for (unsigned i = 0; i < t->n_places; i++) {
        const struct place *p = &t->places[i];
        open_event(t, i == 0 ? "s" : i + 1 < t->n_places ? "t" : "f", p->pid, p->tid);
        fputs(",\"cat\":\"frame\",\"name\":\"frame\",\"bp\":\"e\"", t->out);
        fprintf(t->out, ",\"id\":%" PRIu64, t->flow);
        us(t, "ts", p->from_ns);
        close_event(t);
    }
}

/* False: it was not, or its instants are no order. Its event stays open for arguments. */
static bool stage(struct trace *t, const struct tp_frame_record *f, enum stage s, const char *what,
    int64_t from_ns, int64_t to_ns, struct place *out)
{
    char name[64];
    struct guest *g = guest_of(t, f->guest);

    if (from_ns == TP_NEVER || to_ns == TP_NEVER || to_ns < from_ns)
        return false;
    unsigned lane = lane_of(g, s, &from_ns);
    /* What takes no time is drawn as long as the shortest that can be told. */
    to_ns = to_ns > from_ns ? to_ns : from_ns + 1;
    g->ends_ns[s][lane] = to_ns;
    *out = (struct place){process_of(f->guest), track_of(t, f->guest, s, lane), from_ns, to_ns};
    t->places[t->n_places++] = *out;
    snprintf(name, sizeof name, "%s%s%" PRIu64, what, *what ? " " : "", f->number);
    slice(t, out->pid, out->tid, name, out->from_ns, out->to_ns);
    return true;
}

static void plain_stage(struct trace *t, const struct tp_frame_record *f, enum stage s,
    const char *what, int64_t from_ns, int64_t to_ns)
{
    struct place p;

    if (!stage(t, f, s, what, from_ns, to_ns, &p))
        return;
    close_event(t);
}

/* A part of the stage's slice, in it. Answers where the next one begins. */
static int64_t part(
    struct trace *t, const struct place *p, const char *name, int64_t from_ns, int64_t wait_ns)
{
    if (wait_ns == TP_NEVER || wait_ns <= 0 || from_ns >= p->to_ns)
        return from_ns;
    int64_t to_ns = wait_ns < p->to_ns - from_ns ? from_ns + wait_ns : p->to_ns;
    slice(t, p->pid, p->tid, name, from_ns, to_ns);
    close_event(t);
    return to_ns;
}

static void acquire(struct trace *t, const struct tp_frame_record *f)
{
    struct place p;

    if (!stage(t, f, ACQUIRE, "", f->asked_ns, f->acquired_ns, &p))
        return;
    fprintf(t->out, ",\"args\":{\"image\":%u}", f->image);
    close_event(t);
    int64_t at = part(t, &p, "wait for an image", p.from_ns, f->slot_wait_ns);
    at = part(t, &p, "wait for the release", at, f->release_wait_ns);
    part(t, &p, "gate", at, tp_frame_gate_wait(f));
}

/* From its first line to when the panel has let go of it, as far as that is known. */
static void panel(struct trace *t, const struct tp_frame_record *f)
{
    struct guest *g = guest_of(t, f->guest);
    int64_t refresh_ns = tp_mhz_period_ns(f->refresh_mhz > 0 ? f->refresh_mhz : 60000);
    int64_t to_ns =
        f->released_ns != TP_NEVER && f->line_ns != TP_NEVER && f->released_ns > f->line_ns
        ? f->released_ns
        : f->line_ns != TP_NEVER ? f->line_ns + refresh_ns
                                 : TP_NEVER;
    struct place p;

    if (!stage(t, f, PANEL, f->torn ? "TORN" : f->late ? "late" : "", f->line_ns, to_ns, &p))
        return;
    fprintf(t->out,
        ",\"args\":{\"image\":%u,\"refresh\":%" PRIu64 ",\"repeats\":%" PRIu64
        ",\"torn\":%s,\"late\":%s}",
        f->image, f->sequence, f->repeats, f->torn ? "true" : "false", f->late ? "true" : "false");
    close_event(t);
    if (g->line_ns != TP_NEVER && f->line_ns > g->line_ns)
        counter(t, p.pid, "interval", f->line_ns, f->line_ns - g->line_ns);
    g->line_ns = f->line_ns;
}

static void on_frame(void *data, const struct tp_frame_record *f)
{
    struct trace *t = data;

    if (!guest_of(t, f->guest)->named) {
        char name[32];
        snprintf(name, sizeof name, "guest %u", f->guest);
        name_guest(t, f->guest, name);
    }
    t->flow++;
    t->n_places = 0;
    acquire(t, f);
    plain_stage(t, f, CPU, "", f->cpu_ns, f->cpu_to_ns);
    plain_stage(t, f, GPU, "elsewhere", f->elsewhere_ns, f->elsewhere_to_ns);
    plain_stage(t, f, PRESENT, "", f->presented_ns, f->returned_ns);
    plain_stage(t, f, GPU, f->write_ns != TP_NEVER ? "" : "until ready",
        f->write_ns != TP_NEVER ? f->write_ns : f->presented_ns, f->ready_ns);
    plain_stage(t, f, COMPOSITOR, "", f->committed_ns,
        f->composed_ns != TP_NEVER ? f->composed_ns : f->published_ns);
    plain_stage(t, f, QUEUE, "", f->published_ns, f->latched_ns);
    panel(t, f);
    flow(t);
    if (f->dropped && f->presented_ns != TP_NEVER)
        instant(t, process_of(f->guest), track_of(t, f->guest, PANEL, 0), "dropped: never shown",
            f->presented_ns);
    if (f->late && f->booked_ns != TP_NEVER)
        instant(t, process_of(f->guest), track_of(t, f->guest, GPU, 0), "latch that was missed",
            f->booked_ns);
}

/* --- the rest of a capture --- */

static void on_refresh(void *data, const struct tp_refresh_record *r)
{
    struct trace *t = data;
    char name[64] = "nothing new";

    if (!t->screen_named) {
        meta(t, SCREEN, 0, "process_name", "panel");
        meta(t, SCREEN, 1, "thread_name", "refreshes");
        order(t, SCREEN, 0, "process_sort_index", GUESTS);
        t->screen_named = true;
        t->refresh_from_ns = INT64_MIN;
    }
    /* One after the other, whatever is in the file. */
    int64_t from_ns = r->from_ns > t->refresh_from_ns ? r->from_ns : t->refresh_from_ns;
    if (r->from_ns == TP_NEVER || r->to_ns == TP_NEVER || r->to_ns <= from_ns)
        return;
    t->refresh_from_ns = r->to_ns;
    if (r->shows)
        snprintf(name, sizeof name, "%s%" PRIu64, r->torn_ns != TP_NEVER ? "TORN " : "", r->frame);
    slice(t, SCREEN, 1, name, from_ns, r->to_ns);
    fprintf(t->out, ",\"args\":{\"refresh\":%" PRIu64 ",\"guest\":%u", r->sequence, r->guest);
    if (r->torn_ns != TP_NEVER)
        fprintf(t->out, ",\"line read while it was written\":%" PRIu32, r->torn_line);
    fputc('}', t->out);
    close_event(t);
    if (r->torn_ns != TP_NEVER)
        instant(t, SCREEN, 1, "tear",
            r->torn_ns < from_ns        ? from_ns
                : r->torn_ns > r->to_ns ? r->to_ns
                                        : r->torn_ns);
}

static void on_guest(void *data, unsigned guest, const char *name)
{
    name_guest(data, guest, name);
}

static void on_setting(void *data, int64_t at_ns, const char *name, const char *value)
{
    struct trace *t = data;
    char *both = tp_asprintf("%s = %s", name, value);

    open_event(t, "i", SCREEN, 1);
    text(t, "name", both);
    us(t, "ts", at_ns == TP_NEVER ? 0 : at_ns);
    fputs(",\"s\":\"g\"", t->out);
    close_event(t);
    free(both);
}

int tp_trace_write(
    const char *capture, FILE *out, struct tp_capture_found *found, struct tp_error *e)
{
    struct trace *t = tp_calloc(1, sizeof *t);
    const struct tp_capture_sink sink = {.setting = on_setting,
        .guest = on_guest,
        .frame = on_frame,
        .refresh = on_refresh,
        .data = t};

    t->out = out;
    t->separator = "\n";
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
    int r = tp_capture_read(capture, &sink, found, e);
    fprintf(out, "\n],\"otherData\":{\"made-by\":\"turnpike\",\"complete\":%s}}\n",
        found->ended && found->damaged == 0 ? "true" : "false");
    for (unsigned i = 0; i < GUESTS; i++)
        free(t->guests[i]);
    free(t);
    return r;
}
