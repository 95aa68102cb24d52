/*
 * What a card has: connectors with their modes, and the way from a connector to the picture: its
 * CRTC, the CRTC's primary plane, and what their properties are called by number.
 */
#ifndef TP_FRAMES_ICD_DISPLAY_KMS_H
#define TP_FRAMES_ICD_DISPLAY_KMS_H

#include "frames/icd/display_link.h"
#include "frames/icd/target.h"

#define TP_DISPLAY_CONNECTORS 16u
#define TP_DISPLAY_MODES 64u

struct tp_display_connector {
    uint32_t id;
    char name[32]; /* as the kernel says it: "eDP-1" */
    bool connected;
    uint32_t width_mm, height_mm;
    struct drm_mode_modeinfo modes[TP_DISPLAY_MODES]; /* the preferred one first */
    unsigned n_modes;
};

/* All of the card's. Answers how many, at most TP_DISPLAY_CONNECTORS; out has room for as many. */
int tp_display_connectors(struct tp_display_link *l, struct tp_display_connector *out);
/* One, as it is now. */
int tp_display_connector(struct tp_display_link *l, uint32_t id, struct tp_display_connector *out);
/* Refreshes in 1000 s, as the kernel counts a mode's. */
uint32_t tp_display_mode_mhz(const struct drm_mode_modeinfo *m);
bool tp_display_mode_same(const struct drm_mode_modeinfo *a, const struct drm_mode_modeinfo *b);
bool tp_display_has_mode(const struct tp_display_connector *c, const struct drm_mode_modeinfo *m);

/* Objects and properties by number; a property of 0 is not there. */
struct tp_display_pipe {
    uint32_t connector, crtc, plane;
    unsigned crtc_index;
    struct {
        uint32_t crtc_id, colorspace, hdr;
    } of_connector;
    struct {
        uint32_t active, mode_id, vrr, gamma;
    } of_crtc;
    struct {
        uint32_t fb_id, in_fence, crtc_id, crtc_x, crtc_y, crtc_w, crtc_h, src_x, src_y, src_w,
            src_h, rotation, alpha;
    } of_plane;
    uint64_t bt2020; /* of Colorspace's values */
    bool takes_hdr;  /* the screen says PQ in its EDID, and the card can tell it of such pictures */
    bool async;      /* flips that do not wait for the refresh */
    bool modifiers;  /* ADDFB2 takes them */
    struct tp_target_format *formats; /* the plane's; owned */
    uint32_t n_formats;
};

/* taken: CRTCs that others use, by index. -ENODEV: no CRTC is left that could drive it, or the card
 * is gone. */
int tp_display_pipe_init(
    struct tp_display_pipe *p, struct tp_display_link *l, uint32_t connector, uint32_t taken);
void tp_display_pipe_finish(struct tp_display_pipe *p);

/* A framebuffer of an image. -EINVAL, …: it cannot be scanned out. */
int tp_display_fb_add(struct tp_display_link *l, const struct tp_display_pipe *p,
    const struct tp_stream_image *image, uint32_t *out);
void tp_display_fb_remove(struct tp_display_link *l, uint32_t fb);

/* 0 bytes: no blob, 0. */
int tp_display_blob(struct tp_display_link *l, const void *data, uint32_t bytes, uint32_t *out);
void tp_display_blob_remove(struct tp_display_link *l, uint32_t blob);

struct tp_display_flip {
    uint32_t fb, width, height; /* of the image */
    int32_t x, y;               /* where it goes, in the mode */
    uint32_t to_width, to_height;
    int fence; /* a sync file, borrowed; -1 */
    bool async;
    /* A mode is set with it, which mode_blob holds. */
    bool modeset;
    uint32_t mode_blob;
    /* How the picture's colours are meant is said anew. */
    bool colours;
    uint64_t colorspace;
    uint32_t hdr_blob;
    uint64_t user_data; /* of the event that tells that it is on its way to the screen */
};
/* Without waiting for it. */
int tp_display_commit(
    struct tp_display_link *l, const struct tp_display_pipe *p, const struct tp_display_flip *f);
/* The screen that has a mode and a picture is dark for a while, or not any more. */
int tp_display_power(struct tp_display_link *l, const struct tp_display_pipe *p, bool on);
/* The screen goes dark. */
void tp_display_off(struct tp_display_link *l, const struct tp_display_pipe *p);

#endif
