/*
 * What top knows of a server and its guests: takes records, counts and settings as they come, and
 * says how the last seconds were. Pure: knows no socket, no clock and no terminal; memory is
 * bounded whatever comes.
 *
 * A guest is known by a number: its ring's, or a capture's.
 */
#ifndef TP_TOP_MODEL_H
#define TP_TOP_MODEL_H

#include "top/snapshot.h"

struct tp_top_model;

/* The seconds that figures are of. The caller destroys it. */
struct tp_top_model *tp_top_model_create(int64_t window_ns);
/* NULL is fine. */
void tp_top_model_destroy(struct tp_top_model *m);

/* A guest, by its name; pid 0: not known. Frames of one that is not known are left alone. */
void tp_top_guest(struct tp_top_model *m, unsigned guest, const char *name, pid_t pid);
/* It has ended, and is shown no more. */
void tp_top_gone(struct tp_top_model *m, unsigned guest);
/* All have: the server has. */
void tp_top_forget(struct tp_top_model *m);

/* A frame, and a scan-out, in the order in which a capture has them. */
void tp_top_frame(struct tp_top_model *m, const struct tp_frame_record *f);
void tp_top_refresh(struct tp_top_model *m, const struct tp_refresh_record *r);
/* The numbers that stand in its ring, at this instant; also how its slots stand. */
void tp_top_gauges(struct tp_top_model *m, unsigned guest, const uint64_t gauges[TP_GAUGES]);
void tp_top_screen_gauges(
    struct tp_top_model *m, unsigned screen, const char *name, const uint64_t gauges[TP_GAUGES]);
/* So many entries of its ring were lost on top's way. */
void tp_top_unheard(struct tp_top_model *m, unsigned guest, uint64_t lost);
/* A capture's: a setting of the run's, and a count of all so far. */
void tp_top_setting(struct tp_top_model *m, const char *name, const char *value);
void tp_top_count(struct tp_top_model *m, unsigned guest, enum tp_counter counter, uint64_t value);

/* Works out how it stands at this instant of the records' clock. Lent until the next call. */
const struct tp_top_snapshot *tp_top_update(struct tp_top_model *m, int64_t now_ns);

#endif
