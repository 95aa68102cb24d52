/*
 * A picture of some refreshes of a run, as SVG: what game, GPU, images and panel do with each
 * frame, what a frame waits for, and where it tears or comes late. Pure: equal runs give equal
 * bytes.
 */
#ifndef TP_FRAMES_WORLD_CHART_H
#define TP_FRAMES_WORLD_CHART_H

#include "base/buf.h"
#include "frames/world/world.h"

#define TP_CHART_FROM 150u /* by then a gate knows what frames cost */

struct tp_chart;

/* from: the first frame in the picture; where the run ends before, its last ones are in it. */
struct tp_chart *tp_chart_create(uint64_t from);
void tp_chart_destroy(struct tp_chart *c);

/* For one run's configuration; the chart's. */
const struct tp_world_watch *tp_chart_watch(const struct tp_chart *c);

/* Of the run that it watched. c, r: as that had them. svg: is added to. */
void tp_chart_draw(const struct tp_chart *chart, const struct tp_world_config *c,
    const struct tp_world_result *r, struct tp_buf *svg);

#endif
