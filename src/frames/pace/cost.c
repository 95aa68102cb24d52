#include "frames/pace/cost.h"

#include <string.h>

/* The first of n sorted values that is not less than ns. */
static unsigned find(const int64_t *sorted, unsigned n, int64_t ns)
{
    unsigned low = 0;
    while (low < n) {
        unsigned mid = (low + n) / 2;
        if (sorted[mid] < ns)
            low = mid + 1;
        else
            n = mid;
    }
    return low;
}

void tp_cost_add(struct tp_cost *c, int64_t ns)
{
    if (c->n == TP_COST_SAMPLES) {
        unsigned at = find(c->sorted, c->n, c->ring[c->next]);
        c->n--;
        memmove(&c->sorted[at], &c->sorted[at + 1], (c->n - at) * sizeof *c->sorted);
    }
    unsigned at = find(c->sorted, c->n, ns);
    memmove(&c->sorted[at + 1], &c->sorted[at], (c->n - at) * sizeof *c->sorted);
    c->sorted[at] = ns;
    c->n++;
    c->ring[c->next] = ns;
    c->next = (c->next + 1) % TP_COST_SAMPLES;
}

int64_t tp_cost_quantile(const struct tp_cost *c, unsigned per_mille)
{
    if (c->n == 0)
        return 0;
    unsigned rank = (c->n * per_mille + 999) / 1000; /* from 1 */
    return c->sorted[rank > 0 ? rank - 1 : 0];
}

static void keep(int64_t *two, int64_t ns)
{
    if (ns > two[0]) {
        two[1] = two[0];
        two[0] = ns;
    } else if (ns > two[1]) {
        two[1] = ns;
    }
}

void tp_peaks_add(struct tp_peaks *p, int64_t ns)
{
    if (p->n == TP_PEAKS_FRAMES) {
        memcpy(p->before, p->now, sizeof p->before);
        memset(p->now, 0, sizeof p->now);
        p->n = 0;
    }
    keep(p->now, ns);
    p->n++;
}

int64_t tp_peaks_second(const struct tp_peaks *p)
{
    int64_t two[2] = {p->now[0], p->now[1]};
    keep(two, p->before[0]);
    keep(two, p->before[1]);
    return two[1];
}
