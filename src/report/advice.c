/* From a run's numbers to what is wrong with it, and what to try. */
#include <assert.h>
#include <math.h>
#include <stdarg.h>

#include "report/advice_internal.h"

const char *tp_finding_severity(enum tp_severity s)
{
    static const char *const names[] = {"note", "warning", "error"};
    return names[s];
}

void advice_add(char *to, size_t size, const char *fmt, ...)
{
    size_t n = strlen(to);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(to + n, size - n, fmt, ap);
    va_end(ap);
}

/* --- numbers --- */

/* Of the work of frames: not above it, and right to 9 %. */
static double work_quantile(const struct tp_signs *s, double q)
{
    uint64_t rank = (uint64_t)((double)s->work.n * q), seen = 0;
    for (unsigned i = 0; i < TP_SIGNS_BINS; i++) {
        seen += s->work_bins[i];
        if (seen > rank)
            return 1000 * exp2((double)i / 8);
    }
    return (double)s->work.most;
}

static unsigned pipeline_of(const struct tp_setup *setup, const struct tp_signs *s, double period)
{
    if (setup->has_pipeline)
        return setup->pipeline;
    double refreshes = floor(mean(&s->to_line) / period);
    return refreshes > 0 && refreshes < 8 ? (unsigned)refreshes : 0;
}

unsigned tp_advise_images(const struct tp_setup *setup, const struct tp_signs *s)
{
    double period = setup->refresh_mhz > 0 ? 1e12 / setup->refresh_mhz : 0;
    if (period <= 0 || s->work.n == 0)
        return 0;
    double work = work_quantile(s, 0.99) + mean(&s->to_commit) + mean(&s->composing);
    double needed = ceil(work / period) + pipeline_of(setup, s, period) + 2;
    return needed < 64 ? (unsigned)needed : 64;
}

/* --- findings --- */

static void sort(struct tp_finding *f, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        for (unsigned k = i; k > 0 && f[k].severity > f[k - 1].severity; k--) {
            struct tp_finding one = f[k];
            f[k] = f[k - 1];
            f[k - 1] = one;
        }
}

static struct advice begin(const struct tp_summary *summary, const struct tp_setup *setup,
    const struct tp_signs *signs, struct tp_finding *out)
{
    struct advice a = {.sum = summary,
        .m = &summary->measures,
        .setup = setup,
        .signs = signs,
        .counted = summary->has_guest && summary->has_counts,
        .out = out};
    a.period_ns = tp_mhz_period_ns(setup->refresh_mhz);
    int64_t cap = has_gate(&a, "off") ? 0 : tp_mhz_period_ns(setup->cap_mhz);
    a.spacing_ns = cap > a.period_ns ? cap : a.period_ns;
    return a;
}

unsigned tp_advise(const struct tp_summary *summary, const struct tp_setup *setup,
    const struct tp_signs *signs, struct tp_finding out[TP_FINDINGS])
{
    /* The order within a severity is that of what to look at first. */
    static void (*const causes[])(struct advice *) = {advice_nothing, advice_stands_still,
        advice_tears, advice_timeouts, advice_unsafe, advice_stood_still, advice_late_fences,
        advice_silent_fences, advice_few_images,
        advice_over_budget, advice_stops, advice_composition, advice_held, advice_left_lying,
        advice_cap_beats, advice_lost_notes, advice_gate_off, advice_clocks, advice_rates,
        advice_drops, advice_async_tears, advice_uneven, advice_one_side};
    static_assert(sizeof causes / sizeof *causes <= TP_FINDINGS, "one finding a cause");
    struct advice a = begin(summary, setup, signs, out);
    for (unsigned i = 0; i < sizeof causes / sizeof *causes; i++)
        causes[i](&a);
    sort(out, a.n);
    return a.n;
}

/* --- the verdict --- */

#define more(v, ...) advice_add((v)->text, sizeof(v)->text, __VA_ARGS__)

void tp_advise_verdict(const struct tp_summary *summary, const struct tp_setup *setup,
    const struct tp_signs *signs, const struct tp_finding *findings, unsigned n,
    struct tp_verdict *out)
{
    struct advice a = begin(summary, setup, signs, NULL);
    unsigned grave = 0;
    for (unsigned i = 0; i < n; i++)
        grave += findings[i].severity >= TP_FINDING_WARNING;
    *out = (struct tp_verdict){.severity = n > 0 ? findings[0].severity : TP_FINDING_NOTE};
    int64_t still = advice_still_ns(&a);
    bool judged = advice_is_judged(&a);
    more(out, "%s",
        grave > 0 ? findings[0].title
            : judged || a.m->frames == 0 ? "Healthy"
            : still > 0                  ? "A still picture"
                                         : "Too short to judge");
    if (a.m->frames == 0) {
        more(out, ".");
        return;
    }
    if (judged)
        more(out, ": %.2f frames a second", tp_measures_fps(a.m));
    else
        more(out, ": %llu frame%s", (unsigned long long)a.m->frames, s_of(a.m->frames));
    if (setup->slowest_mhz > 0)
        more(out, " on %.4g to %.4g Hz", setup->slowest_mhz / 1000.0, setup->refresh_mhz / 1000.0);
    else if (setup->refresh_mhz > 0)
        more(out, " on %.4g Hz", setup->refresh_mhz / 1000.0);
    if (judged && still > 0)
        more(out, " until then");
    if (summary->has_tears && a.m->tears == 0)
        more(out, ", no tear");
    else if (summary->has_tears)
        more(out, ", %llu tear%s", (unsigned long long)a.m->tears, s_of(a.m->tears));
    if (!judged && still > 0)
        more(out, ", the last one %.1f s before the end", (double)still / 1e9);
    if (judged && summary->has_guest && setup->slowest_mhz == 0 && !(summary->has_tears && a.m->tears > 0))
        more(out, a.m->on_vblank >= 1 ? ", every frame on its refresh"
                                      : ", %.2f %% of frames on their refresh",
            100 * a.m->on_vblank);
    more(out, ".");
    if (grave > 1)
        more(out, " %u more finding%s.", grave - 1, s_of(grave - 1));
}
