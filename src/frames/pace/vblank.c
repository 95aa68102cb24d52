#include "frames/pace/vblank.h"

#define STRANGE 3u       /* samples that agree with each other and not with us are right */
#define COUNTED 64u      /* samples by which a new one's weight has sunk to its least */
#define PERIOD_SHARE 200 /* another rate is one that differs by more than 1/200 */

/* The index of the last instant of the grid that is at first + k * period and not after t. */
static int64_t steps(tp_fine since, tp_fine period)
{
    /* The quotient of doubles is right to one; both are exact enough for a century. */
    int64_t n = (int64_t)((double)since / (double)period);
    while ((tp_fine)n * period > since)
        n--;
    while ((tp_fine)(n + 1) * period <= since)
        n++;
    return n;
}

static void start_anew(struct tp_vblank *v, int64_t time_ns, int64_t index)
{
    v->ref = tp_fine_of(time_ns);
    v->ref_index = index;
    v->period = tp_fine_of(v->nominal_ns);
    v->samples = 1;
    v->strange = 0;
}

/* Of the refresh nearest to t, as far as is known until now. */
static int64_t index_near(const struct tp_vblank *v, int64_t t_ns)
{
    if (!v->known)
        return 0;
    return v->ref_index + steps(tp_fine_of(t_ns) - v->ref + v->period / 2, v->period);
}

/* A sample that is off from the refresh of that index. Early ones weigh as in a line through all of
 * them; the least weights keep the grid steady under jitter and still follow a clock that drifts.
 */
static void follow(struct tp_vblank *v, int64_t index, tp_fine off)
{
    int64_t n = v->samples < COUNTED ? ++v->samples : COUNTED;
    int64_t since = index - v->ref_index;
    v->ref += (tp_fine)since * v->period + off * 2 * (2 * n - 1) / (n * (n + 1));
    v->ref_index = index;
    if (since > 0)
        v->period += off * 6 / (n * (n + 1) * since);
    /* The rate that the timeline names is right to half a percent. */
    tp_fine nominal = tp_fine_of(v->nominal_ns), share = nominal / PERIOD_SHARE;
    if (v->period > nominal + share)
        v->period = nominal + share;
    if (v->period < nominal - share)
        v->period = nominal - share;
}

void tp_vblank_sample(struct tp_vblank *v, const struct tp_timeline_frame *t)
{
    int64_t was_ns = v->nominal_ns, index = index_near(v, t->time_ns);
    int64_t change = was_ns > t->period_ns ? was_ns - t->period_ns : t->period_ns - was_ns;
    bool another = !v->known || v->samples == 0 || v->stopped != t->stopped ||
        v->variable != t->variable || change > t->period_ns / PERIOD_SHARE;
    v->stopped = t->stopped;
    v->variable = t->variable;
    v->pipeline = t->pipeline;
    v->lead_ns = t->lead_ns;
    v->nominal_ns = t->period_ns;
    v->sequence = t->sequence;
    v->known = true;
    v->grids += another;
    if (another || t->stopped || t->variable) {
        start_anew(v, t->time_ns, index);
        return;
    }
    tp_fine off = tp_fine_of(t->time_ns) - (v->ref + (tp_fine)(index - v->ref_index) * v->period);
    if (index < v->ref_index)
        return; /* older than what is known */
    tp_fine far = v->period / 8;
    if (off > far || off < -far) {
        bool agrees = v->strange > 0 && off - v->strange_off < far && v->strange_off - off < far;
        v->strange = agrees ? v->strange + 1 : 1;
        v->strange_off = off;
        if (v->strange >= STRANGE) {
            start_anew(v, t->time_ns, index);
            v->grids++;
        }
        return;
    }
    v->strange = 0;
    follow(v, index, off);
}

void tp_vblank_assume(struct tp_vblank *v, int64_t time_ns, int64_t period_ns)
{
    *v = (struct tp_vblank){.known = true, .nominal_ns = period_ns};
    start_anew(v, time_ns, 0);
    v->samples = 0; /* the first real one is right */
}

int64_t tp_vblank_latch_ns(const struct tp_vblank *v, int64_t index)
{
    return tp_fine_ns(v->ref + (tp_fine)(index - v->ref_index) * v->period) - v->lead_ns;
}

int64_t tp_vblank_index(const struct tp_vblank *v, int64_t t_ns)
{
    /* tp_vblank_latch_ns rounds: an instant that it answered has the index that it was asked for.
     */
    tp_fine since = tp_fine_of(t_ns) + tp_fine_of(v->lead_ns) - v->ref + ((tp_fine)1 << 31);
    return v->ref_index + steps(since, v->period);
}

int64_t tp_vblank_nearest(const struct tp_vblank *v, int64_t t_ns)
{
    return index_near(v, t_ns + v->lead_ns);
}

int64_t tp_vblank_first_line_ns(const struct tp_vblank *v, int64_t t_ns)
{
    if (!tp_vblank_ticks(v))
        return t_ns;
    int64_t index = tp_vblank_index(v, t_ns);
    if (tp_vblank_latch_ns(v, index) < t_ns)
        index++;
    return tp_vblank_latch_ns(v, index + v->pipeline) + v->lead_ns;
}
