#include "frames/server/shown.h"

#include <math.h>
#include <string.h>

#define BIN_NS 10000

static void forget_first(struct tp_shown_record *r)
{
    r->n_published--;
    memmove(r->published, r->published + 1, r->n_published * sizeof *r->published);
}

void tp_shown_published(struct tp_shown_record *r, uint64_t serial)
{
    if (r->n_published == TP_SHOWN_AHEAD) {
        forget_first(r);
        r->sums.drops++;
    }
    r->published[r->n_published++] = serial;
}

void tp_shown_withdraw(struct tp_shown_record *r, uint64_t serial)
{
    if (r->n_published > 0 && r->published[r->n_published - 1] == serial)
        r->n_published--;
}

static void count_interval(struct tp_shown_record *r, int64_t ns, int64_t period_ns)
{
    struct tp_server_shown *s = &r->sums;
    int64_t bin = (ns + BIN_NS / 2) / BIN_NS, stayed = period_ns > 0 ? ns / period_ns : 1;
    /* Refreshes lie on whole nanoseconds: a period more or less. */
    if (period_ns > 0 && ns % period_ns > period_ns / 2)
        stayed++;
    stayed = stayed < 1 ? 1 : stayed;
    double from_mean = (double)ns - s->mean_ns;
    r->intervals++;
    s->mean_ns += from_mean / (double)r->intervals;
    r->squares += from_mean * ((double)ns - s->mean_ns);
    if (ns > s->max_ns)
        s->max_ns = ns;
    r->bins[bin < 0 ? 0 : bin < TP_SHOWN_BINS ? bin : TP_SHOWN_BINS - 1]++;
    r->late += r->intervals > TP_SHOWN_SETTLING && ns > period_ns + period_ns / 5;
    s->repeats += (uint64_t)stayed - 1;
    s->cadence[stayed < TP_SHOWN_CADENCE ? stayed : TP_SHOWN_CADENCE]++;
}

void tp_shown_first_line(
    struct tp_shown_record *r, uint64_t serial, int64_t time_ns, int64_t period_ns)
{
    struct tp_server_shown *s = &r->sums;
    while (r->n_published > 0 && r->published[0] <= serial) {
        s->drops += r->published[0] < serial;
        forget_first(r);
    }
    if (s->frames++ == 0)
        s->first_ns = time_ns;
    else
        count_interval(r, time_ns - s->last_ns, period_ns);
    s->last_ns = time_ns;
}

/* The interval that this share of them is not longer than. */
static int64_t percentile(const struct tp_shown_record *r, unsigned percent)
{
    uint64_t want = (r->intervals * percent + 99) / 100, have = 0;
    for (unsigned i = 0; i + 1 < TP_SHOWN_BINS; i++) {
        have += r->bins[i];
        if (have >= want)
            return (int64_t)i * BIN_NS;
    }
    return r->sums.max_ns;
}

void tp_shown_get(const struct tp_shown_record *r, struct tp_server_shown *out)
{
    *out = r->sums;
    if (r->intervals == 0)
        return;
    out->stddev_ns = sqrt(r->squares / (double)r->intervals);
    if (r->intervals > TP_SHOWN_SETTLING)
        out->spacing_tail = (double)r->late / (double)(r->intervals - TP_SHOWN_SETTLING);
    out->p50_ns = percentile(r, 50);
    out->p99_ns = percentile(r, 99);
}
