#include "frames/pace/cap.h"

#define MHZ_NS INT64_C(1000000000000)

tp_fine tp_cap_period(uint32_t mhz)
{
    return tp_fine_of(MHZ_NS) / mhz;
}

unsigned tp_cap_lock(uint32_t mhz, int64_t period_ns)
{
    int64_t refresh_mhz = (MHZ_NS + period_ns / 2) / period_ns;
    if (mhz >= refresh_mhz)
        return 1;
    int64_t n = (refresh_mhz + mhz / 2) / mhz;
    int64_t off = refresh_mhz - n * (int64_t)mhz; /* n times as far as the rates are apart */
    if (off < 0)
        off = -off;
    return off <= n * TP_CAP_LOCK_MHZ ? (unsigned)n : 0;
}

int64_t tp_cap_steps(tp_fine from, tp_fine at, tp_fine period)
{
    tp_fine since = at - from;
    if (since <= period)
        return 1;
    tp_fine n = since / period;
    if (since - n * period > period / 2 + period / 16)
        n++;
    return (int64_t)n;
}
