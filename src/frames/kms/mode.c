/* Modes: CVT with reduced blanking, version 2 (VESA CVT 1.2), and the checks of drm_modes.c. */
#include "frames/kms/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* CVT 1.2, section 3.3.2: reduced blanking version 2. */
#define RB2_H_BLANK     80
#define RB2_H_SYNC      32
#define RB2_H_FRONT     8
#define RB2_V_MIN_NS    460000
#define RB2_V_SYNC      8
#define RB2_V_BACK      6
#define RB2_V_FRONT_MIN 1
#define V_FRONT_MAX     63u /* of a detailed timing in an EDID */
#define EXACT_TRIES     48u

static uint64_t clock_khz(uint64_t pixels, uint32_t refresh_mhz, uint64_t step)
{
    uint64_t per = 1000000 * step;
    return (pixels * refresh_mhz + per / 2) / per * step;
}

static bool exact(uint64_t pixels, uint32_t refresh_mhz, uint64_t step)
{
    return (clock_khz(pixels, refresh_mhz, step) * 1000000 + pixels / 2) / pixels == refresh_mhz;
}

void tp_mode_make(struct drm_mode_modeinfo *out, uint32_t width, uint32_t height,
                  uint32_t refresh_mhz, bool preferred)
{
    /* Lines of blanking that last 460 µs: the line's time is (T - 460 µs) / active lines. */
    uint64_t period_ns = UINT64_C(1000000000000) / refresh_mhz;
    uint64_t blank = RB2_V_FRONT_MIN + RB2_V_SYNC + RB2_V_BACK;
    if (period_ns > 2 * RB2_V_MIN_NS) {
        uint64_t lines = RB2_V_MIN_NS * (uint64_t)height / (period_ns - RB2_V_MIN_NS) + 1;
        if (lines > blank)
            blank = lines;
    }
    uint64_t h_total = width + RB2_H_BLANK, v_total = height + blank;
    memset(out, 0, sizeof *out);
    /* An EDID has the clock in 10 kHz, and clients divide it by the totals: some lines more of
     * blanking, until that comes out right to the mHz; or else in kHz. */
    uint64_t step = 10, more = 0;
    while (!exact(h_total * (v_total + more), refresh_mhz, step) &&
           (++more < EXACT_TRIES || step == 10))
        if (more == EXACT_TRIES) {
            more = 0;
            step = 1;
        }
    v_total += more < EXACT_TRIES ? more : 0;
    out->clock = (uint32_t)clock_khz(h_total * v_total, refresh_mhz, step);
    out->hdisplay = (uint16_t)width;
    out->hsync_start = (uint16_t)(width + RB2_H_FRONT);
    out->hsync_end = out->hsync_start + RB2_H_SYNC;
    out->htotal = (uint16_t)h_total;
    out->vdisplay = (uint16_t)height;
    /* The front porch takes what is left over, as far as an EDID can say it. */
    uint64_t front = v_total - height - RB2_V_SYNC - RB2_V_BACK;
    out->vsync_start = (uint16_t)(height + (front < V_FRONT_MAX ? front : V_FRONT_MAX));
    out->vsync_end = out->vsync_start + RB2_V_SYNC;
    out->vtotal = (uint16_t)v_total;
    out->vrefresh = (refresh_mhz + 500) / 1000;
    out->flags = DRM_MODE_FLAG_PHSYNC | DRM_MODE_FLAG_NVSYNC;
    out->type = DRM_MODE_TYPE_DRIVER | (preferred ? DRM_MODE_TYPE_PREFERRED : 0);
    snprintf(out->name, sizeof out->name, "%ux%u", width, height);
}

bool tp_mode_equal(const struct drm_mode_modeinfo *a, const struct drm_mode_modeinfo *b)
{
    return a->clock == b->clock && a->hdisplay == b->hdisplay && a->hsync_start == b->hsync_start &&
           a->hsync_end == b->hsync_end && a->htotal == b->htotal && a->hskew == b->hskew &&
           a->vdisplay == b->vdisplay && a->vsync_start == b->vsync_start &&
           a->vsync_end == b->vsync_end && a->vtotal == b->vtotal && a->vscan == b->vscan &&
           a->flags == b->flags;
}

uint32_t tp_mode_refresh_mhz(const struct drm_mode_modeinfo *m)
{
    uint64_t pixels = (uint64_t)m->htotal * m->vtotal;
    if (!pixels)
        return 0;
    return (uint32_t)(((uint64_t)m->clock * 1000000 + pixels / 2) / pixels);
}

/* drm_mode_vrefresh */
static uint32_t refresh_hz(const struct drm_mode_modeinfo *m)
{
    uint64_t num = m->clock, den = (uint64_t)m->htotal * m->vtotal;
    if (!den)
        return 0;
    if (m->flags & DRM_MODE_FLAG_INTERLACE)
        num *= 2;
    if (m->flags & DRM_MODE_FLAG_DBLSCAN)
        den *= 2;
    if (m->vscan > 1)
        den *= m->vscan;
    return (uint32_t)((num * 1000 + den / 2) / den);
}

int tp_mode_convert(struct drm_mode_modeinfo *out, const struct drm_mode_modeinfo *in)
{
    if (in->clock > INT_MAX || in->vrefresh > INT_MAX)
        return -ERANGE;
    *out = *in;
    out->type &= DRM_MODE_TYPE_ALL;
    out->name[sizeof out->name - 1] = '\0';
    if ((in->flags & DRM_MODE_FLAG_PIC_AR_MASK) > DRM_MODE_FLAG_PIC_AR_256_135)
        return -EINVAL;
    if (in->flags & ~(uint32_t)(DRM_MODE_FLAG_ALL | DRM_MODE_FLAG_PIC_AR_MASK) ||
        (in->flags & DRM_MODE_FLAG_3D_MASK) > DRM_MODE_FLAG_3D_SIDE_BY_SIDE_HALF)
        return -EINVAL;
    if (!in->clock || !in->hdisplay || in->hsync_start < in->hdisplay ||
        in->hsync_end < in->hsync_start || in->htotal < in->hsync_end || !in->vdisplay ||
        in->vsync_start < in->vdisplay || in->vsync_end < in->vsync_start ||
        in->vtotal < in->vsync_end)
        return -EINVAL;
    out->vrefresh = refresh_hz(in);
    return 0;
}
