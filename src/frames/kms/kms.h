/*
 * The object model of a DRM device with display: what the kernel does behind /dev/dri/card0,
 * without a kernel. It knows no socket and no clock: the caller hands in ioctls, vblanks and what
 * became of a commit, all from one thread, and gets events, answers and pictures to show. Every
 * error is the errno that the kernel's DRM core answers with (drivers/gpu/drm/drm_*.c, 6.1
 * to 6.12).
 */
#ifndef TP_FRAMES_KMS_KMS_H
#define TP_FRAMES_KMS_KMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "frames/wire/drm_call.h"

#define TP_KMS_DRIVER   "turnpike" /* drm_version's name */
#define TP_KMS_OUTPUTS  4
#define TP_KMS_MODES    16
#define TP_KMS_OVERLAYS 6
#define TP_KMS_LAYERS   (TP_KMS_OVERLAYS + 2)

struct tp_kms;      /* a device */
struct tp_kms_file; /* an open of it */
struct tp_kms_fb;   /* a framebuffer; counted */

/* One connector with its CRTC and encoder. */
struct tp_kms_output {
    uint32_t connector_type; /* DRM_MODE_CONNECTOR_*; 0: eDP */
    char name[13];           /* EDID's monitor name; "": "Turnpike" */
    bool connected;
    uint32_t width_mm, height_mm; /* 0: from 300 dpi */
    struct tp_kms_mode {
        uint32_t width_px, height_px, refresh_mhz;
    } modes[TP_KMS_MODES]; /* the first is the preferred one */
    unsigned n_modes;
    uint32_t vrr_min_mhz, vrr_max_mhz; /* 0: no variable refresh */
    bool hdr; /* HDR_OUTPUT_METADATA and Colorspace, and the EDID says so */
};

struct tp_kms_limits {                      /* 0: the usual ones of tp_kms_create */
    unsigned files;                         /* opens at once */
    unsigned fbs, buffers, blobs, syncobjs; /* each, of one file */
    uint64_t buffer_bytes, blob_bytes;      /* of one file */
    unsigned sync_fds;    /* that fences, passed on syncobjs and eventfds of one file keep open */
    unsigned event_bytes; /* unread, of one file: the kernel's 4096 */
};

struct tp_kms_config {
    struct tp_kms_output outputs[TP_KMS_OUTPUTS];
    unsigned n_outputs;  /* at least 1 */
    unsigned n_overlays; /* a CRTC, beside its primary and its cursor plane */
    /* What planes take: pairs of fourcc and modifier; NULL: the usual RGB ones, linear. */
    const struct tp_kms_format {
        uint32_t fourcc;
        uint64_t modifier;
    } *formats;
    size_t n_formats;
    uint32_t cursor_width_px, cursor_height_px; /* 0: 256 */
    struct tp_kms_limits limits;
};

/* One plane's part of a picture. */
struct tp_kms_layer {
    enum { TP_KMS_PRIMARY, TP_KMS_OVERLAY, TP_KMS_CURSOR } kind;
    struct tp_kms_fb *fb;
    uint32_t src_x, src_y, src_w, src_h; /* 16.16 fixed point, in the framebuffer */
    int32_t x, y;                        /* on the screen */
    uint32_t width, height;
    uint32_t rotation; /* DRM_MODE_ROTATE_* | DRM_MODE_REFLECT_* */
    uint16_t alpha;    /* 0xffff: opaque */
    bool coverage;     /* pixel blend mode: coverage, not pre-multiplied */
    int in_fence;      /* -1: none; owned by the commit */
};

/* What a CRTC is to show from its next refresh on. */
struct tp_kms_scanout {
    unsigned crtc;   /* index */
    uint64_t serial; /* of this device, counts up */
    bool active;     /* false: the screen is off, and there are no layers */
    bool async;      /* as soon as may be, not at the vblank */
    bool vrr;
    bool modeset; /* mode or active changed */
    struct tp_kms_mode mode;
    int64_t colorspace;       /* the connector's property */
    const void *hdr_metadata; /* struct hdr_output_metadata, or NULL; lasts as fbs do */
    size_t hdr_metadata_bytes;
    const void *gamma; /* gamma_entries times struct drm_color_lut, or NULL; lasts as fbs do */
    size_t gamma_entries;
    struct tp_kms_layer layers[TP_KMS_LAYERS]; /* bottom first */
    unsigned n_layers;
};

/* What the device asks of its surroundings. Called from inside the functions below, which they must
 * not call themselves: they take note, and act when the function has returned. */
struct tp_kms_ops {
    /* Anonymous memory of so many bytes as a descriptor (memfd, udmabuf): moved; or a negative
     * errno. */
    int (*create_memory)(void *data, uint64_t bytes);
    /* An event for a file that asked for it: struct drm_event and what follows, e->length. */
    void (*send_event)(void *data, struct tp_kms_file *file, const void *e, size_t bytes);
    /* A commit that passed all checks. The scanout and the framebuffers in it stay until
     * tp_kms_flipped of a later one of this CRTC. Its in_fences are to be waited for before it is
     * shown. Several may be under way; the latest of a CRTC is what counts. */
    void (*commit)(void *data, const struct tp_kms_scanout *scanout);
    /* A call that tp_kms_ioctl left waiting has come to its end; it may have out_fds to send. */
    void (*finish)(void *data, void *waiter, struct tp_drm_call *call, int result);
    /* What a fence of a sync file is to userspace: ends[1], for clients, polls readable once
     * ends[0] is closed, as those of tp_fence_pair do. 0, or a negative errno. */
    int (*fence_make)(void *data, int ends[2]);
    /* Something changed that a snapshot tells (tp_snapshot_write). */
    void (*changed)(void *data);
    /* A connector came or went, or its modes changed: udev's HOTPLUG event. */
    void (*hotplug)(void *data);
    /* How many bytes of events were sent to this file and not read by it yet; NULL: none. They
     * count towards limits.event_bytes, as unread events do in the kernel. */
    size_t (*events_unread)(void *data, struct tp_kms_file *file);
};

/* For ops.fence_make. Both ends are the caller's; 0, or a negative errno. */
int tp_fence_pair(int ends[2]);

/* Errors: -EINVAL (INPUT) for a configuration that makes no device, told in e. */
int tp_kms_create(const struct tp_kms_config *config, const struct tp_kms_ops *ops, void *data,
                  struct tp_kms **out, struct tp_error *e);
void tp_kms_destroy(struct tp_kms *kms);

/* data: given back by tp_kms_file_data. privileged: may become master without having been it (the
 * kernel's CAP_SYS_ADMIN). pid: for the debugging list. The first open becomes master, as in the
 * kernel. -EMFILE past the limit. */
int tp_kms_open(struct tp_kms *kms, bool privileged, int32_t pid, void *data,
                struct tp_kms_file **out);
/* The same by the render node: it has no master, shows nothing, and is refused (-EACCES) all but
 * what shares buffers and fences. */
int tp_kms_open_render(struct tp_kms *kms, int32_t pid, void *data, struct tp_kms_file **out);
/* As the last close of the file: its buffers, blobs, framebuffers (with what they show switched
 * off) and events go. Its waiting calls are forgotten: ops.finish is not called for them, and their
 * tp_drm_call may go as soon as this has returned. */
void tp_kms_close(struct tp_kms_file *file);
void *tp_kms_file_data(const struct tp_kms_file *file);

/* Carries out one ioctl. Descriptors stand in the structs as indices (drm_call.h): the value of
 * IN_FENCE_FD is an index of call->in_fds or -1; the value of OUT_FENCE_PTR is any non-zero number,
 * and becomes an index of call->out_fds when the commit was accepted. What is kept is taken from
 * in_fds (-1). Answers 0 or more, a negative errno, or TP_KMS_WAITS: then ops.finish will tell,
 * with waiter, and call must live until then. */
#define TP_KMS_WAITS 0x40000000
int tp_kms_ioctl(struct tp_kms_file *file, struct tp_drm_call *call, void *waiter);
/* The caller of a waiting call has gone; ops.finish is not called for it. What it asked for and is
 * under way (a blocking commit that was handed to ops.commit) goes on. */
void tp_kms_cancel(struct tp_kms *kms, void *waiter);
/* The next instant at which a waiting call times out (CLOCK_MONOTONIC, ns), INT64_MAX: none; and
 * what is due at now_ns times out (-ETIME). */
int64_t tp_kms_deadline(const struct tp_kms *kms);
void tp_kms_expire(struct tp_kms *kms, int64_t now_ns);
/* A descriptor that a waiting syncobj call hangs on may have become readable: look again. The
 * caller polls those of tp_kms_poll_fds (borrowed; at most n; answers how many there are). */
unsigned tp_kms_poll_fds(const struct tp_kms *kms, int *fds, unsigned n);
void tp_kms_fds_ready(struct tp_kms *kms);

/* The memory behind an mmap offset of this file, as MAP_DUMB gave it: borrowed descriptor and its
 * size. -EINVAL, -EACCES as the kernel's mmap. */
int tp_kms_map(struct tp_kms_file *file, uint64_t offset, int *fd, uint64_t *bytes);

/* A refresh of a CRTC began: at the time, with the sequence number. Vblank and sequence events and
 * waits. */
void tp_kms_vblank(struct tp_kms *kms, unsigned crtc, uint64_t sequence, int64_t time_ns);
/* The commit of this serial, and all before it of this CRTC, are on their way to the screen since
 * this refresh (error 0), or could not be shown (then a blocking caller gets that negative errno):
 * flip events, out fences, waiting calls; the scanouts that it replaced are let go. Unknown serials
 * are ignored. */
void tp_kms_flipped(struct tp_kms *kms, unsigned crtc, uint64_t serial, uint64_t sequence,
                    int64_t time_ns, int error);

/* Plugs an output in or out, or gives it other modes; its connector's type stays. The same as
 * before is no news: ops.hotplug is not called. */
int tp_kms_set_output(struct tp_kms *kms, unsigned output, const struct tp_kms_output *o,
                      struct tp_error *e);
/* Output as it is now: a copy. -EINVAL: there is none of this number. */
int tp_kms_get_output(const struct tp_kms *kms, unsigned output, struct tp_kms_output *out);

/* A framebuffer that a scanout named. Descriptors are borrowed. identity: (device, inode) of plane
 * 0's. */
struct tp_kms_fb_info {
    uint32_t id, width, height, fourcc;
    uint64_t modifier;
    unsigned n_planes;
    int fds[4];
    uint32_t pitches[4], offsets[4];
    uint64_t device, inode;
    bool own; /* plane 0 lies in memory that this device made (CREATE_DUMB) */
};
void tp_kms_fb_info(const struct tp_kms_fb *fb, struct tp_kms_fb_info *out);
/* Keeps a framebuffer's memory past the scanout it was in (the panel still reads it). Thread-safe.
 */
struct tp_kms_fb *tp_kms_fb_ref(struct tp_kms_fb *fb);
void tp_kms_fb_unref(struct tp_kms_fb *fb);

/* How much there is, for tests and `top`. */
struct tp_kms_counts {
    unsigned files, fbs, buffers, blobs, syncobjs, waiters, events;
    uint64_t buffer_bytes;
};
void tp_kms_count(const struct tp_kms *kms, struct tp_kms_counts *out);

#endif
