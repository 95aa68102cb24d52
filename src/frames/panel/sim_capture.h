/*
 * Records what the simulated screen shows as a video: YUV4MPEG2, uncompressed, a frame each refresh
 * (mjpegtools: yuv4mpeg(5); 4:2:0, full range). One thread takes pictures off the screen, another
 * writes; memory is bounded, and what finds no room is dropped and counted.
 */
#ifndef TP_FRAMES_PANEL_SIM_CAPTURE_H
#define TP_FRAMES_PANEL_SIM_CAPTURE_H

#include "frames/panel/sim_lit.h"

struct tp_capture;

struct tp_capture_config {
    const char *path; /* a file, or a pipe that somebody reads */
    /* Of the video; a picture of another size is cut off or has black beside it. */
    uint32_t width_px, height_px;
    uint32_t refresh_mhz;
    /* A line for a person when it cannot be written any more: once. On any thread; may be NULL. */
    void (*log)(void *data, const char *line);
    void *log_data;
};

/* Makes the file, with its header, beside its place; a pipe or a device is written into. A named
 * pipe has some seconds to get its reader (-ENXIO). The path is borrowed. */
int tp_capture_create(
    const struct tp_capture_config *config, struct tp_capture **out, struct tp_error *e);
/* Puts the file in its place, where there may be another: once all that may fail
 * has started. One that is not kept is removed by destroy. */
int tp_capture_keep(struct tp_capture *c, struct tp_error *e);
/* Begins to record; the lit is to last until stop. */
int tp_capture_start(struct tp_capture *c, struct tp_lit *lit, struct tp_error *e);
/* After tp_lit_stop: writes what it has, and is done. */
void tp_capture_stop(struct tp_capture *c);
/* NULL is fine. */
void tp_capture_destroy(struct tp_capture *c);

struct tp_capture_counts {
    uint64_t frames;  /* written */
    uint64_t dropped; /* refreshes that are not in it: the disk was too slow, or full, or the
                         picture was gone before it was copied */
};
/* Any thread. */
void tp_capture_count(struct tp_capture *c, struct tp_capture_counts *out);

#endif
