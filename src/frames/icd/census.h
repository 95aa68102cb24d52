/*
 * What a swapchain tells of its frames while they are under way, for whoever looks on
 * (census/ring.h): each is put into the swapchain's ring once nothing more is expected of it, in
 * the order of its present. Nothing here allocates, waits or asks the system for anything once the
 * census is made; instants are those that the callers have.
 *
 * All of it with the swapchain's lock held. A census that is NULL, where there was no memory for
 * one, is fine everywhere.
 */
#ifndef TP_FRAMES_ICD_CENSUS_H
#define TP_FRAMES_ICD_CENSUS_H

#include "frames/census/ring.h"
#include "frames/icd/slots_acquire.h"

struct tp_icd_census;

struct tp_icd_census_info {
    const struct tp_slots *slots; /* borrowed */
    const struct tp_gate *gate;   /* borrowed; NULL: it is not paced */
    uint32_t images, width, height;
    bool release; /* it waits for the panel */
};

/* -errno: there is no memory to be had for it. */
int tp_icd_census_create(const struct tp_icd_census_info *info, struct tp_icd_census **out);
/* Tells what there is of the frames under way, and that it has ended. */
void tp_icd_census_destroy(struct tp_icd_census *c);
/* Its memory; the census's. -1: none. */
int tp_icd_census_fd(const struct tp_icd_census *c);

/* --- a frame's way --- */

void tp_icd_census_acquired(
    struct tp_icd_census *c, const struct tp_acquired *a, int64_t asked_ns, int64_t now_ns);
/* The slots' counts may have changed, without one of these calls. */
void tp_icd_census_counted(struct tp_icd_census *c);
/* The image came back without a present: it is no frame. */
void tp_icd_census_returned(struct tp_icd_census *c, unsigned image, int64_t now_ns);
/* Each present is told, in order: the first one's serial is 1. held_ns: until when the call does
 * not return; or something past. */
void tp_icd_census_presented(
    struct tp_icd_census *c, unsigned image, int64_t entry_ns, int64_t now_ns, int64_t held_ns);
void tp_icd_census_ready(struct tp_icd_census *c, uint64_t serial, int64_t ready_ns);
void tp_icd_census_committed(
    struct tp_icd_census *c, unsigned image, uint64_t serial, int64_t now_ns);
/* As the window system says. later_ns: its first line comes so long after that. */
void tp_icd_census_shown(
    struct tp_icd_census *c, uint64_t serial, int64_t time_ns, uint64_t sequence, int64_t later_ns);
void tp_icd_census_dropped(struct tp_icd_census *c, uint64_t serial);
/* The window system has given the image back. */
void tp_icd_census_released(struct tp_icd_census *c, unsigned image, int64_t now_ns);

/* --- what holds for them --- */

/* In force from now on. */
void tp_icd_census_paced(struct tp_icd_census *c, const struct tp_gate_settings *s);
/* The screen's refreshes; period_ns: 0: none are known, or it has stopped. */
void tp_icd_census_timed(struct tp_icd_census *c, const struct tp_timeline_frame *t);
/* 0: there is no server, 1: there is one, 2: with a board. */
void tp_icd_census_connected(struct tp_icd_census *c, unsigned how);
/* An image's name with the server; generation 0: it has none any more. */
void tp_icd_census_named(
    struct tp_icd_census *c, unsigned image, const struct tp_buffer_name *name);
void tp_icd_census_registered(struct tp_icd_census *c, const struct tp_register_frame *answer);
/* A note of an image's release came. */
void tp_icd_census_note(struct tp_icd_census *c, const struct tp_note *note, int64_t now_ns);

#endif
