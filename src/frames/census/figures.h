/*
 * The figures of a run from the records of all its guests: what play, report and top say. They are
 * those of one guest: of the swapchain that has most frames shown; the screen's, where none has
 * shown any. In memory of a bounded size: of many guests that come and go, those that are
 * followed are the first ones and those with most frames.
 */
#ifndef TP_FRAMES_CENSUS_FIGURES_H
#define TP_FRAMES_CENSUS_FIGURES_H

#include "frames/census/join.h"
#include "frames/census/metrics.h"

#define TP_FIGURES_GUESTS 16u      /* that are followed at the same time */
#define TP_SETTING_WATCHED "watched" /* "off": nobody looked for tears */
#define TP_FIGURES_MAIN UINT32_MAX /* in a guest's place: the one that has the figures */

/* A count by its name in captures: one of tp_counter_names, or a fault. Others are passed over. */
void tp_summary_count(struct tp_summary *s, const char *name, uint64_t value);

struct tp_figures;

struct tp_figures *tp_figures_create(void);
/* NULL is fine. */
void tp_figures_destroy(struct tp_figures *f);

/* Records, in the order in which a capture has them. */
void tp_figures_frame(struct tp_figures *f, const struct tp_frame_record *r);
void tp_figures_refresh(struct tp_figures *f, const struct tp_refresh_record *r);
/* As captures name settings, and what is counted. */
void tp_figures_setting(struct tp_figures *f, const char *name, const char *value);
void tp_figures_count(struct tp_figures *f, const char *name, uint64_t value);

/* The guest that has the figures now. */
unsigned tp_figures_guest(const struct tp_figures *f);
/* A guest's, or TP_FIGURES_MAIN's; of one that is not followed: no frames. Tears and counts are
 * those of all. */
void tp_figures_get(const struct tp_figures *f, unsigned guest, struct tp_summary *out);

#endif
