/*
 * The core's own structures, and who owns what. All of it lives on the caller's one thread, but for
 * the counts of framebuffers and buffers that say `any thread`.
 */
#ifndef TP_FRAMES_KMS_INTERNAL_H
#define TP_FRAMES_KMS_INTERNAL_H

#include <stdatomic.h>

#include "frames/kms/eventfd.h"
#include "frames/kms/kms.h"
#include "frames/kms/mode.h"
#include "frames/kms/snapshot_layout.h"

#define TP_KMS_PLANES       TP_SNAPSHOT_PLANES
#define TP_KMS_NONE         (-1)
#define TP_KMS_MAX_SIZE     16384 /* pixels, of a framebuffer and of a mode */
#define TP_KMS_GAMMA        256   /* entries */
#define TP_KMS_BUFFER_SLOTS 256u
#define TP_KMS_SLOTS        4 /* pictures of a CRTC that are shown or under way */

/* --- table.c: numbers for things, the lowest free one first, as the kernel's idr gives them --- */

struct tp_table {
    struct tp_entry {
        void *p; /* NULL: free */
        uintptr_t tag;
    } * entries; /* owned; what they point at is not */
    unsigned n, cap, used, lowest;
};
/* The number, from 1 on. */
uint32_t tp_table_add(struct tp_table *t, void *p, uintptr_t tag);
struct tp_entry *tp_table_get(const struct tp_table *t, uint64_t id);
void *tp_table_remove(struct tp_table *t, uint64_t id);
void tp_table_finish(struct tp_table *t);

/* --- property.c --- */

enum tp_property {
    TP_PROP_TYPE,
    TP_PROP_FB_ID,
    TP_PROP_IN_FENCE_FD,
    TP_PROP_CRTC_ID,
    TP_PROP_CRTC_X,
    TP_PROP_CRTC_Y,
    TP_PROP_CRTC_W,
    TP_PROP_CRTC_H,
    TP_PROP_SRC_X,
    TP_PROP_SRC_Y,
    TP_PROP_SRC_W,
    TP_PROP_SRC_H,
    TP_PROP_IN_FORMATS,
    TP_PROP_ALPHA,
    TP_PROP_BLEND,
    TP_PROP_ROTATION,
    TP_PROP_ZPOS, /* of the plane at the bottom: one property a level, as in the kernel */
    TP_PROP_ZPOS_TOP = TP_PROP_ZPOS + TP_KMS_LAYERS - 1,
    TP_PROP_DAMAGE,
    TP_PROP_ACTIVE,
    TP_PROP_MODE_ID,
    TP_PROP_OUT_FENCE_PTR,
    TP_PROP_VRR_ENABLED,
    TP_PROP_GAMMA_LUT,
    TP_PROP_GAMMA_LUT_SIZE,
    TP_PROP_EDID,
    TP_PROP_DPMS,
    TP_PROP_LINK_STATUS,
    TP_PROP_NON_DESKTOP,
    TP_PROP_TILE,
    TP_PROP_VRR_CAPABLE,
    TP_PROP_MAX_BPC,
    TP_PROP_COLORSPACE,
    TP_PROP_HDR,
    TP_PROP_CONTENT_TYPE,
    TP_PROP_PANEL_ORIENTATION,
    TP_PROP_COUNT
};

/* --- blob.c --- */

struct tp_blob {
    uint32_t id, length;
    unsigned refs;               /* each pointer to it holds one; its file too */
    struct tp_kms_file *owner;   /* who may destroy it; NULL: nobody, or no longer */
    struct tp_blob *prev, *next; /* the owner's list */
    uint8_t data[];
};
/* NULL: no memory. One reference, the caller's. */
struct tp_blob *tp_blob_create(struct tp_kms *kms, const void *data, size_t length);
struct tp_blob *tp_blob_find(struct tp_kms *kms, uint64_t id); /* borrowed */
void tp_blob_put(struct tp_kms *kms, struct tp_blob *b);       /* NULL is fine */
void tp_blob_assign(struct tp_kms *kms, struct tp_blob **to, struct tp_blob *b);
void tp_blobs_release(struct tp_kms_file *file);

/* --- edid.c --- */

#define TP_EDID_BYTES 640
/* Describes an output; modes are those of its connector. Answers the length, a multiple of 128. */
size_t tp_edid_make(const struct tp_kms_output *o, const struct drm_mode_modeinfo *modes,
                    unsigned n_modes, uint32_t width_mm, uint32_t height_mm, unsigned index,
                    uint8_t out[TP_EDID_BYTES]);

/* --- format.c --- */

struct tp_format {
    uint32_t fourcc;
    uint8_t depth, n_planes, bytes[3], hsub, vsub;
};
const struct tp_format *tp_format_find(uint32_t fourcc); /* NULL: unknown */
uint32_t tp_format_legacy(uint32_t bpp, uint32_t depth); /* 0: none */
/* Pairs that a device takes; sorted so that each fourcc's modifiers are together. */
struct tp_formats {
    uint32_t fourcc[TP_SNAPSHOT_FORMATS];
    uint64_t modifiers[64];
    uint64_t takes[TP_SNAPSHOT_FORMATS]; /* bit: index of modifiers */
    unsigned n, n_modifiers;
};
int tp_formats_init(struct tp_formats *f, const struct tp_kms_format *list, size_t n,
                    struct tp_error *e);
bool tp_formats_take(const struct tp_formats *f, uint32_t fourcc, uint64_t modifier);
/* The IN_FORMATS blob. */
struct tp_blob *tp_formats_blob(struct tp_kms *kms, const struct tp_formats *f);

/* --- buffer.c --- */

struct tp_buffer {
    atomic_uint refs; /* of the memory; any thread. One is of `uses` as long as that is not 0 */
    unsigned uses;    /* handles, and framebuffers that have an id */
    int fd;           /* owned */
    uint64_t bytes, device, inode, map_offset;
    bool imported;
    uint32_t name;                 /* of GEM_FLINK; 0: none */
    struct tp_buffer *prev, *next; /* the device's list of its inode's slot, while uses */
};
#define TP_HANDLE_PRIME 1u /* tag of a handle: known to PRIME in its file */
struct tp_buffer *tp_buffer_find(struct tp_kms_file *file, uint32_t handle); /* borrowed */
/* A new handle; -ENOSPC for one too many, -ENOMEM for too many bytes. */
int tp_buffer_handle(struct tp_kms_file *file, struct tp_buffer *b, uintptr_t tag,
                     uint32_t *handle);
/* A file pays for a buffer once, as long as it has a handle or a framebuffer of it: to be called
 * before the first comes, and after the last has gone. */
void tp_buffer_charge(struct tp_kms_file *file, const struct tp_buffer *b);
void tp_buffer_discharge(struct tp_kms_file *file, const struct tp_buffer *b);
void tp_buffer_use(struct tp_buffer *b);
void tp_buffer_unuse(struct tp_kms *kms, struct tp_buffer *b);
void tp_buffer_unref(struct tp_buffer *b);           /* any thread */
uint64_t tp_buffer_bytes(const struct tp_buffer *b); /* as it is now: a memfd may have shrunk */
int tp_buffer_close(struct tp_kms_file *file, uint32_t handle);
void tp_buffers_release(struct tp_kms_file *file);

/* --- framebuffer.c --- */

struct tp_kms_fb {
    atomic_uint refs; /* of the memory; any thread. One is of `uses` as long as that is not 0 */
    unsigned uses;    /* its file's list, plane states: as long as there are any it has its id */
    uint32_t id, width, height, flags;
    const struct tp_format *format;
    uint64_t modifier;
    uint32_t pitches[4], offsets[4];
    struct tp_buffer *buffers[4]; /* a use (while `uses`) and a reference each */
    struct tp_kms_file *owner;    /* in whose list it is; NULL: in none */
    struct tp_kms_fb *prev, *next;
};
int tp_fb_create(struct tp_kms_file *file, const struct drm_mode_fb_cmd2 *r,
                 struct tp_kms_fb **out);
struct tp_kms_fb *tp_fb_find(struct tp_kms *kms, uint64_t id); /* borrowed */
void tp_fb_unuse(struct tp_kms *kms, struct tp_kms_fb *fb);    /* NULL is fine */
void tp_fb_assign(struct tp_kms *kms, struct tp_kms_fb **to, struct tp_kms_fb *fb);
void tp_fbs_release(struct tp_kms_file *file);

/* --- event.c --- */

struct tp_event {
    struct tp_event *next;
    struct tp_kms_file *file; /* NULL: it went, nobody gets it */
    unsigned crtc;
    uint64_t sequence; /* when a vblank's is due */
    union {
        struct drm_event base;
        struct drm_event_vblank vblank;
        struct drm_event_crtc_sequence sequence;
    } e;
};
/* Takes an event's room of the file. NULL: none left (-ENOMEM). */
struct tp_event *tp_event_reserve(struct tp_kms_file *file, unsigned crtc, uint32_t type,
                                  uint64_t user_data);
void tp_event_cancel(struct tp_kms *kms, struct tp_event *e); /* NULL is fine */
void tp_event_send(struct tp_kms *kms, struct tp_event *e, uint64_t sequence, int64_t time_ns);

/* --- the state of objects; pointers hold a use or a reference each --- */

#define TP_FENCE_SHOWN (-2)
struct tp_plane_state {
    int crtc; /* index or TP_KMS_NONE */
    struct tp_kms_fb *fb;
    uint32_t src_x, src_y, src_w, src_h;
    int32_t crtc_x, crtc_y;
    uint32_t crtc_w, crtc_h;
    uint32_t rotation;
    uint16_t alpha;
    uint8_t blend;
    struct tp_blob *damage;
    int fence; /* of a commit that is not yet shown: index of the call's in_fds; -1: it has none */
    bool visible;
};

struct tp_crtc_state {
    bool active, enable, vrr;
    struct drm_mode_modeinfo mode;
    struct tp_blob *mode_blob, *gamma;
    uint32_t plane_mask;
    uint32_t connector_mask;
    /* of this commit */
    bool mode_changed, active_changed, connectors_changed;
};

struct tp_connector_state {
    int crtc;
    uint32_t link_status, content_type, colorspace, max_bpc;
    struct tp_blob *hdr;
};

/* --- state.c: a commit that is being put together; one of a device is enough --- */

struct tp_state {
    uint32_t planes, crtcs, connectors; /* masks: which are in it */
    struct tp_plane_state plane[TP_KMS_PLANES];
    struct tp_crtc_state crtc[TP_KMS_OUTPUTS];
    struct tp_connector_state connector[TP_KMS_OUTPUTS];
    bool allow_modeset, async, cursor;
    struct tp_kms_file *file;
    struct tp_drm_call *call;
    struct tp_event *events[TP_KMS_OUTPUTS]; /* owned until the commit */
    uint64_t *out_fence[TP_KMS_OUTPUTS];     /* the property's value in the call */
};
void tp_state_begin(struct tp_kms *kms, struct tp_kms_file *file, struct tp_drm_call *call);
void tp_state_clear(struct tp_kms *kms);
struct tp_plane_state *tp_state_plane(struct tp_kms *kms, unsigned i);
struct tp_crtc_state *tp_state_crtc(struct tp_kms *kms, unsigned i);
struct tp_connector_state *tp_state_connector(struct tp_kms *kms, unsigned i);
void tp_state_plane_crtc(struct tp_kms *kms, unsigned plane, int crtc);
void tp_state_connector_crtc(struct tp_kms *kms, unsigned connector, int crtc);
/* NULL: no mode. -EINVAL for a blob that is no mode. */
int tp_state_mode_blob(struct tp_kms *kms, struct tp_crtc_state *s, struct tp_blob *blob);
/* -ENOMEM. */
int tp_state_mode(struct tp_kms *kms, struct tp_crtc_state *s,
                  const struct drm_mode_modeinfo *mode);
/* Makes the commit's states the current ones; the old ones are let go. */
void tp_state_swap(struct tp_kms *kms);

/* --- atomic.c --- */

enum tp_object_kind { TP_ON_CRTC, TP_ON_CONNECTOR, TP_ON_PLANE };
int tp_atomic_set(struct tp_kms *kms, enum tp_object_kind kind, unsigned i, enum tp_property p,
                  uint64_t *value, bool async);
uint64_t tp_atomic_get(const struct tp_kms *kms, enum tp_object_kind kind, unsigned i,
                       enum tp_property p);

/* --- check.c --- */
int tp_atomic_check(struct tp_kms *kms);

/* --- commit.c --- */

/* A picture that is shown or under way. */
struct tp_slot {
    bool used, shown, cursor;      /* cursor: it is no commit that others wait for */
    struct tp_kms_scanout scanout; /* holds a reference of each framebuffer, and the in-fences */
    struct tp_blob *hdr, *gamma;   /* a reference each */
    struct tp_event *event;        /* owned until it is sent */
    int out_fence;                 /* owned; -1: none */
};

enum tp_commit_how { TP_COMMIT_BLOCKING, TP_COMMIT_NONBLOCK, TP_COMMIT_NOW };
/* Checks and carries out the state of the device, which it clears. NOW: changes the state at once
 * and shows it as soon as what is under way is done; nobody waits. 0, TP_KMS_WAITS or a negative
 * errno. */
int tp_atomic_commit(struct tp_kms *kms, enum tp_commit_how how, void *waiter);
bool tp_commit_busy(const struct tp_kms *kms, unsigned crtc);
void tp_commits_forget(struct tp_kms_file *file); /* events of it */
void tp_commits_finish(struct tp_kms *kms);

/* --- waiter.c --- */

struct tp_waiter {
    struct tp_waiter *next;
    enum tp_wait { TP_WAIT_COMMIT, TP_WAIT_AGAIN, TP_WAIT_VBLANK, TP_WAIT_SYNCOBJ } kind;
    struct tp_kms_file *file;
    struct tp_drm_call *call; /* borrowed from the caller until finish, cancel or the file's end */
    void *cookie;
    int64_t deadline_ns;
    uint64_t serials[TP_KMS_OUTPUTS]; /* COMMIT: still to be flipped; 0: not waited for */
    int error;
    unsigned crtc; /* VBLANK */
    uint64_t sequence;
    struct tp_sync_wait *sync; /* SYNCOBJ: owned */
};
struct tp_waiter *tp_waiter_add(struct tp_kms_file *file, enum tp_wait kind,
                                struct tp_drm_call *call, void *cookie);
/* Takes it out and tells its caller. */
void tp_waiter_end(struct tp_kms *kms, struct tp_waiter *w, int result);
/* Takes it out and makes its call again. */
void tp_waiter_again(struct tp_kms *kms, struct tp_waiter *w);
/* Calls that could not begin while a commit was under way: tries again. */
void tp_waiters_again(struct tp_kms *kms);
void tp_waiters_release(struct tp_kms_file *file);

/* --- vblank.c --- */
void tp_vblank_off(struct tp_kms *kms, unsigned crtc);
void tp_vblanks_release(struct tp_kms_file *file);

/* --- fence.c --- */

/* Can a client's descriptor be waited for: a sync file, an eventfd, a pipe's end to read, or a fence
 * that was given out here? No other kind: looking at some may wait for the client. */
bool tp_is_fence(int fd);
/* Who draws into a framebuffer's memory and has not come to its end, as a sync file that the caller
 * owns (drm_gem_plane_helper_prepare_fb); -1: nobody, or nobody tells. */
int tp_fence_of_writers(const struct tp_kms_fb *fb);
bool tp_is_eventfd(int fd);

/* --- syncobj.c --- */

/* Descriptors that syncobjs keep open for a file; they may outlive it. */
struct tp_account {
    unsigned refs; /* the file, and each of those descriptors */
    unsigned fds, limit;
};
struct tp_account *tp_account_create(unsigned limit);
bool tp_account_take(struct tp_account *a); /* false: the limit is reached */
void tp_account_give_back(struct tp_account *a);
void tp_account_put(struct tp_account *a);
void tp_syncobjs_release(struct tp_kms_file *file);
void tp_syncobjs_finish(struct tp_kms *kms);
unsigned tp_syncobjs_count(const struct tp_kms *kms);
/* Something may have been signalled: ends what waited for it. */
void tp_sync_look(struct tp_kms *kms);
void tp_sync_wait_free(struct tp_kms *kms, struct tp_sync_wait *w);

/* --- master.c --- */

struct tp_master {
    unsigned refs; /* files, and the device where it is the current one */
    char *unique;  /* owned; NULL before SET_VERSION */
};
void tp_master_open(struct tp_kms_file *file);
void tp_master_release(struct tp_kms_file *file);
bool tp_master_is(const struct tp_kms_file *file);

/* --- snapshot.c --- */
void tp_image_fixed(struct tp_kms *kms); /* all of it */
void tp_image_crtc(struct tp_kms *kms, unsigned i);
void tp_image_plane(struct tp_kms *kms, unsigned i);
void tp_image_connector(struct tp_kms *kms, unsigned i);
void tp_image_properties(struct tp_snapshot_fixed *f); /* property.c */
void tp_image_attach(struct tp_kms *kms, unsigned place, enum tp_property p);
bool tp_image_attached(const struct tp_kms *kms, unsigned place, enum tp_property p);

/* --- device.c --- */

struct tp_plane {
    uint32_t id;
    unsigned crtc; /* the one that it can be on */
    int kind;      /* TP_KMS_PRIMARY, … */
    unsigned zpos;
    struct tp_plane_state state;
};

struct tp_crtc {
    uint32_t id;
    unsigned primary, cursor; /* planes */
    struct tp_crtc_state state;
    struct tp_slot slots[TP_KMS_SLOTS];
    bool dirty; /* the state has changed since the last picture was handed out */
    int32_t cursor_x, cursor_y;
    uint16_t gamma_store[3][TP_KMS_GAMMA];
    uint64_t sequence; /* of the last vblank */
    int64_t time_ns;
};

struct tp_connector {
    uint32_t id, encoder_id;
    struct tp_kms_output output;
    struct drm_mode_modeinfo modes[TP_KMS_MODES];
    uint32_t width_mm, height_mm, type_id, dpms;
    struct tp_blob *edid; /* NULL: nothing is plugged in */
    struct tp_connector_state state;
};

struct tp_kms_file {
    struct tp_kms *kms;
    struct tp_kms_file *prev, *next;
    void *data;
    int32_t pid;
    bool privileged, authenticated, is_master, was_master;
    bool render;                    /* by the render node */
    struct tp_master *master;       /* holds one of its references; NULL: by the render node */
    struct tp_master *magic_master; /* whose magic it is; not held, compared only */
    uint32_t magic;
    bool magic_used;
    struct tp_snapshot_view view;
    struct tp_table handles;    /* struct tp_buffer, a use each; tag: TP_HANDLE_* */
    struct tp_table syncobjs;   /* struct tp_syncobj, a reference each */
    struct tp_account *account; /* holds a reference */
    struct tp_kms_fb *fbs;      /* a use each; the latest first */
    struct tp_blob *blobs;      /* a reference each */
    unsigned n_fbs, n_blobs;
    uint64_t buffer_bytes, blob_bytes;
    size_t events_pending; /* bytes reserved */
};

struct tp_kms {
    struct tp_kms_ops ops;
    void *data;
    struct tp_kms_limits limits;
    struct tp_formats formats, cursor_formats;
    struct tp_blob *in_formats, *cursor_in_formats;
    uint32_t cursor_width, cursor_height;
    /* tag: DRM_MODE_OBJECT_*; framebuffers and blobs are pointers, the rest index + 1 */
    struct tp_table objects;
    unsigned n_outputs, n_planes;
    struct tp_crtc crtcs[TP_KMS_OUTPUTS];
    struct tp_connector connectors[TP_KMS_OUTPUTS];
    struct tp_plane planes[TP_KMS_PLANES];
    struct tp_state state;
    struct tp_kms_file *files; /* owned */
    unsigned n_files;
    struct tp_master *master;                       /* the current one; holds a reference */
    struct tp_buffer *buffers[TP_KMS_BUFFER_SLOTS]; /* by inode */
    uint64_t next_map;                              /* offset of the next buffer's mapping */
    uint32_t next_name;
    struct tp_syncobj *syncobjs;
    unsigned n_exports, collect_at; /* descriptors of theirs; when to look for closed ones */
    struct tp_sync_event *sync_events;
    struct tp_eventfds eventfds;
    struct tp_waiter *waiters, *free_waiters; /* in the order in which they came; owned */
    struct tp_event *vblank_events, *free_events;
    uint64_t serial;
    int64_t now_ns;            /* the latest instant that was told */
    struct tp_snapshot *image; /* owned: what queries are answered from */
    bool changed;
    bool sync_changed; /* a syncobj has, since those who wait for one were looked at */
    bool again; /* the last tp_atomic_commit could not begin yet: the whole call is made again later
                 */
};

/* The index of the CRTC, connector, encoder or plane with that id, or TP_KMS_NONE. */
int tp_object_find(const struct tp_kms *kms, uint64_t id, uint32_t type);
/* Notes that the image has changed; and tells the surroundings of it, once at the end of each call
 * from there. */
void tp_kms_changed(struct tp_kms *kms);
void tp_kms_tell(struct tp_kms *kms);

/* --- ioctl.c --- */
struct tp_ioctl_call {
    struct tp_kms *kms;
    struct tp_kms_file *file;
    struct tp_drm_call *call;
    void *waiter;
};
typedef int tp_ioctl_function(struct tp_ioctl_call *c, void *arg);
tp_ioctl_function tp_ioctl_get_unique, tp_ioctl_set_version, tp_ioctl_get_client,
    tp_ioctl_get_stats, tp_ioctl_client_cap, tp_ioctl_query, tp_ioctl_get_magic,
    tp_ioctl_auth_magic, tp_ioctl_set_master, tp_ioctl_drop_master, tp_ioctl_lease,
    tp_ioctl_list_lessees, tp_ioctl_get_lease, tp_ioctl_revoke_lease, tp_ioctl_gem_close,
    tp_ioctl_gem_flink, tp_ioctl_gem_open, tp_ioctl_prime_export, tp_ioctl_prime_import,
    tp_ioctl_create_dumb, tp_ioctl_map_dumb, tp_ioctl_destroy_dumb, tp_ioctl_add_fb,
    tp_ioctl_add_fb2, tp_ioctl_remove_fb, tp_ioctl_close_fb, tp_ioctl_get_fb, tp_ioctl_get_fb2,
    tp_ioctl_dirty_fb, tp_ioctl_create_blob, tp_ioctl_destroy_blob, tp_ioctl_set_property,
    tp_ioctl_connector_property, tp_ioctl_atomic, tp_ioctl_set_crtc, tp_ioctl_set_plane,
    tp_ioctl_cursor, tp_ioctl_cursor2, tp_ioctl_page_flip, tp_ioctl_get_gamma, tp_ioctl_set_gamma,
    tp_ioctl_wait_vblank, tp_ioctl_get_sequence, tp_ioctl_queue_sequence, tp_ioctl_syncobj_create,
    tp_ioctl_syncobj_destroy, tp_ioctl_syncobj_export, tp_ioctl_syncobj_import,
    tp_ioctl_syncobj_transfer, tp_ioctl_syncobj_wait, tp_ioctl_syncobj_timeline_wait,
    tp_ioctl_syncobj_eventfd, tp_ioctl_syncobj_reset, tp_ioctl_syncobj_signal,
    tp_ioctl_syncobj_timeline_signal, tp_ioctl_syncobj_query;
int tp_ioctl_dispatch(struct tp_kms_file *file, struct tp_drm_call *call, void *waiter);
/* A descriptor of the call: borrowed, moved out of it, and one to give back (its index, or
 * -EMFILE). */
int tp_call_fd(const struct tp_drm_call *call, int64_t index);
int tp_call_take_fd(struct tp_drm_call *call, int64_t index);
int tp_call_give_fd(struct tp_drm_call *call, int fd);

#define TP_ARRAY(type, u64) ((type *)(uintptr_t)(u64))

#endif
