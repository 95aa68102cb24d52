#include "frames/server/vote.h"

#include <stdlib.h>

#define LOCK_MHZ 500

static bool divides(uint32_t cap_mhz, uint32_t refresh_mhz)
{
    int64_t n = ((int64_t)refresh_mhz + cap_mhz / 2) / cap_mhz;
    return n > 0 && llabs((int64_t)refresh_mhz / n - cap_mhz) <= LOCK_MHZ;
}

static uint32_t nearest(const struct tp_kms_output *o, uint32_t wanted_mhz)
{
    uint32_t best = o->modes[0].refresh_mhz;
    for (unsigned i = 0; i < o->n_modes; i++) {
        const struct tp_kms_mode *m = &o->modes[i];
        if (m->width_px == o->modes[0].width_px && m->height_px == o->modes[0].height_px &&
            llabs((int64_t)m->refresh_mhz - wanted_mhz) < llabs((int64_t)best - wanted_mhz))
            best = m->refresh_mhz;
    }
    return best;
}

static size_t count_divided(const struct tp_vote_wish *wishes, size_t n, uint32_t refresh_mhz)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += wishes[i].cap_mhz > 0 && divides(wishes[i].cap_mhz, refresh_mhz);
    return found;
}

uint32_t tp_vote(const struct tp_kms_output *o, const struct tp_vote_wish *wishes, size_t n)
{
    uint32_t wanted = 0, fastest = 0;
    size_t caps = 0;
    for (size_t i = 0; i < n; i++) {
        caps += wishes[i].cap_mhz > 0;
        if (wishes[i].refresh_mhz > wanted)
            wanted = wishes[i].refresh_mhz;
    }
    if (o->n_modes == 0 || (caps == 0 && wanted == 0))
        return 0;
    if (wanted > 0)
        return nearest(o, wanted);
    uint32_t best = o->modes[0].refresh_mhz;
    size_t divided = count_divided(wishes, n, best), preferred = divided;
    for (unsigned i = 0; i < o->n_modes; i++) {
        const struct tp_kms_mode *m = &o->modes[i];
        if (m->width_px != o->modes[0].width_px || m->height_px != o->modes[0].height_px)
            continue;
        if (m->refresh_mhz > fastest)
            fastest = m->refresh_mhz;
        size_t here = count_divided(wishes, n, m->refresh_mhz);
        if (here > divided || (here == divided && here > preferred && m->refresh_mhz < best)) {
            divided = here;
            best = m->refresh_mhz;
        }
    }
    return divided > 0 ? best : fastest;
}
