/*
 * Per-game profiles: a small file that says what a program runs with, where its environment does
 * not.
 *
 *     # a comment
 *     [hades*.exe]       the program's file name, with * and ? and [a-z], case aside
 *     gate = latency     off, vsync, cap or latency
 *     cap = 59.94        frames a second, at most three digits behind the point; none
 *     images = 4         2 to 64
 *
 * All sections whose pattern matches hold, in the order in which they come; what comes later wins.
 */
#ifndef TP_FRAMES_PACE_PROFILE_H
#define TP_FRAMES_PACE_PROFILE_H

#include <stddef.h>

#include "base/error.h"
#include "frames/pace/pace.h"

struct tp_profile {
    bool has_mode, has_cap, has_images;
    struct tp_gate_settings gate;
    unsigned images;
};

/* Reads the text of a file (where: its name, for errors) for the program of this name; it may hold
 * any bytes. What the file says to it is set in out. -EINVAL (INPUT) with the line. */
int tp_profile_read(const char *text, size_t bytes, const char *program, const char *where,
    struct tp_profile *out, struct tp_error *e);

/* "off", "vsync", "cap", "latency". -EINVAL. */
int tp_gate_mode_read(const char *name, enum tp_gate_mode *out);
/* One of these; static. */
const char *tp_gate_mode_name(enum tp_gate_mode mode);
/* Frames a second, as above; 0 for "none" and "0". -EINVAL: what no cap can be. */
int tp_cap_read(const char *text, uint32_t *out_mhz);

#endif
