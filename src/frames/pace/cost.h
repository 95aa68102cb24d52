/* What frames cost: quantiles over the last ones. Pure, in memory of a fixed size. */
#ifndef TP_FRAMES_PACE_COST_H
#define TP_FRAMES_PACE_COST_H

#include <stdint.h>

#define TP_COST_SAMPLES                                                                            \
    128u /* about two seconds: a scene's cost is what it was in the last ones                      \
          */

/* {0} to begin with. */
struct tp_cost {
    int64_t ring[TP_COST_SAMPLES];   /* in the order in which they came */
    int64_t sorted[TP_COST_SAMPLES]; /* from the least */
    unsigned n, next;
};

void tp_cost_add(struct tp_cost *c, int64_t ns);
/* The value that per_mille of the samples are not above; 0 without any. */
int64_t tp_cost_quantile(const struct tp_cost *c, unsigned per_mille);

/* The dearest two of the last frames: of this many, and of up to as many before them. Beyond what
 * tp_cost remembers. Zeroed is empty. */
#define TP_PEAKS_FRAMES 512u
struct tp_peaks {
    int64_t now[2], before[2]; /* the dearest first */
    unsigned n;                /* of now */
};

void tp_peaks_add(struct tp_peaks *p, int64_t ns);
/* The dearest but one: what stands alone does not count. 0: there was none. */
int64_t tp_peaks_second(const struct tp_peaks *p);

#endif
