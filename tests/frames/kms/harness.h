/*
 * One set of test bodies for three devices: the core alone behind the wire's encoder and decoder
 * (the usual), a kernel's own card, or our shim's. The environment says which:
 *
 *   TURNPIKE_TEST_CARD=/dev/dri/card0  open it and call ioctl(); nothing of the core is used
 *   TURNPIKE_TEST_VIA=snapshot         answer queries from the shared block where it can, as the
 *                                      shim does; else every call goes over the wire
 *
 * Calls answer 0 or more, or a negative errno. Time is virtual with the core: tick() is a refresh.
 */
#ifndef TP_TESTS_FRAMES_KMS_HARNESS_H
#define TP_TESTS_FRAMES_KMS_HARNESS_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <drm.h>
#include <drm_fourcc.h>
#include <drm_mode.h>

#include "frames/kms/kms.h"
#include "frames/kms/snapshot.h"
#include "frames/kms/uapi.h"

#define PTR(p) ((uint64_t)(uintptr_t)(p))
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* Expects the call to answer so. */
#define assert_errno(call, err) assert_int_equal((call), -(err))
#define assert_ok(call) assert_int_equal((call), 0)

/* An open of the card. */
struct file;

/* The first open of the device under test, master, with the atomic capability. setup_card opens it.
 * */
extern struct file *card;

/* For cmocka: a device with two screens, one overlay each. teardown_card closes what is open, and
 * checks that the device holds nothing more and that no descriptor is left. */
int setup_card(void **state);
int teardown_card(void **state);
/* As setup_card, with this configuration. */
int setup_config(const struct tp_kms_config *config);
/* What setup_card takes, for tests that change something of it. */
struct tp_kms_config usual_config(void);

/* A kernel's card or the shim's, of which only ioctls are known. */
bool is_real(void);
/* The former only. */
bool is_kernels(void);
/* Skips the test with a real card: it looks inside, or drives what only our device lets it. */
#define only_ours()                                                                                \
    do {                                                                                           \
        if (is_real())                                                                             \
            skip();                                                                                \
    } while (0)

/* Opens the card once more; as root and as a user without CAP_SYS_ADMIN. */
struct file *card_open(void);
struct file *card_open_user(void);
int card_try_open(bool privileged, struct file **out);
void card_close(struct file *f);

/* An ioctl, waited for: refreshes happen until it has come to its end. */
int drm(struct file *f, unsigned long request, void *arg);

/* An ioctl that may wait. arg lives until the end. */
struct pending;
struct pending *drm_start(struct file *f, unsigned long request, void *arg);
bool drm_done(struct pending *p);
/* Lets refreshes pass until it ends; frees p. */
int drm_wait(struct pending *p);
/* The caller has gone; frees p. Only ours. */
void drm_abandon(struct pending *p);

/* One refresh of that CRTC (index). */
void tick(unsigned crtc);
/* CLOCK_MONOTONIC as the device has it. */
int64_t now_ns(void);
/* Lets time pass, with no refresh. */
void advance_ns(int64_t ns);

/* Reads one event into e, at most n bytes: its length, or -EAGAIN when there is none (a real card
 * gets half a second). */
int read_event(struct file *f, void *e, size_t n);
bool has_event(struct file *f);

/* A fence as a client has one: an unsignalled one (borrowed until close()), and its end. Skips the
 * test where the kernel has none. */
int make_fence(void);
void signal_fence(int fd);
bool fence_signalled(int fd);

/* Inside our device. */
struct tp_kms *own_kms(void);
struct tp_kms_file *own_file(struct file *f);
struct tp_snapshot *own_snapshot(void);
const struct tp_snapshot_view *own_view(struct file *f);
/* The latest commit, and what the screen shows; NULL before the first. */
const struct tp_kms_scanout *committed(unsigned crtc);
const struct tp_kms_scanout *shown(unsigned crtc);
unsigned n_commits(void), n_hotplugs(void);
/* create_memory, fence_make fail from now on: ENOMEM, EMFILE. */
void break_memory(bool broken);
void break_fences(bool broken);
/* A commit of this CRTC cannot be shown: its flip gets this error (negative errno). */
void break_screen(unsigned crtc, int err);
/* The snapshot is up to date after it: for tests that call the core themselves. */
void settle(void);
/* The same call as drm(), answered by the server whatever TURNPIKE_TEST_VIA says. */
int drm_server(struct file *f, unsigned long request, void *arg);
/* Open descriptors of this process. */
unsigned n_descriptors(void);

/* --- what clients do --- */

struct output {
    unsigned index; /* of its CRTC */
    uint32_t connector, encoder, crtc, primary, cursor, overlay; /* 0: none */
    struct drm_mode_modeinfo modes[TP_KMS_MODES];
    unsigned n_modes;
};
/* The n-th connected screen; false: there is none. */
bool find_output(struct file *f, unsigned n, struct output *o);

/* Ids, at most TP_KMS_OUTPUTS or 64 of them; answer how many. */
struct lineup {
    uint32_t crtcs[8], connectors[8], encoders[8], planes[64];
    unsigned n_crtcs, n_connectors, n_encoders, n_planes;
};
void get_lineup(struct file *f, struct lineup *l);

int set_client_cap(struct file *f, uint64_t cap, uint64_t value);
int get_cap(struct file *f, uint64_t cap, uint64_t *value);

/* Properties by name. get_property: false where the object has none of that name. */
bool get_property(struct file *f, uint32_t object, uint32_t type, const char *name, uint32_t *id,
                  uint64_t *value);
uint32_t property_id(struct file *f, uint32_t object, const char *name);
uint64_t property_value(struct file *f, uint32_t object, const char *name);
int set_property(struct file *f, uint32_t object, uint32_t type, const char *name, uint64_t value);
/* Reads a blob whole, into a buffer of its length, which is freed with test_free. */
void *read_blob(struct file *f, uint32_t id, uint32_t *length);
uint32_t create_blob(struct file *f, const void *data, uint32_t length);
int destroy_blob(struct file *f, uint32_t id);

/* Dumb buffers and framebuffers. fb_of: of a new buffer, whose handle is closed again. */
struct drm_mode_create_dumb create_dumb(struct file *f, uint32_t width, uint32_t height,
                                        uint32_t bpp);
int close_handle(struct file *f, uint32_t handle);
uint32_t fb_of(struct file *f, uint32_t width, uint32_t height, uint32_t fourcc);
int remove_fb(struct file *f, uint32_t id);

/* An atomic request; properties by name. */
struct request {
    uint32_t objects[64], counts[64], properties[64];
    uint64_t values[64];
    unsigned n;
};
void add(struct request *r, struct file *f, uint32_t object, const char *property, uint64_t value);
void add_plane(struct request *r, struct file *f, uint32_t plane, uint32_t crtc, uint32_t fb,
               int32_t x, int32_t y, uint32_t width, uint32_t height);
struct drm_mode_atomic atomic_arg(struct request *r, uint32_t flags, uint64_t user_data);
int commit(struct file *f, struct request *r, uint32_t flags, uint64_t user_data);
/* Shows a new framebuffer as large as the mode: atomic, blocking. Answers its id. */
uint32_t light_up(struct file *f, const struct output *o, unsigned mode);
int switch_off(struct file *f, const struct output *o);

int page_flip(struct file *f, uint32_t crtc, uint32_t fb, uint32_t flags, uint64_t user_data);
int set_crtc(struct file *f, uint32_t crtc, uint32_t fb, uint32_t x, uint32_t y,
             const uint32_t *connectors, uint32_t n, const struct drm_mode_modeinfo *mode);
int get_crtc(struct file *f, uint32_t crtc, struct drm_mode_crtc *out);
int get_plane(struct file *f, uint32_t plane, struct drm_mode_get_plane *out);
/* Refreshes in mHz, as clients compute them from a mode's clock and totals. */
uint32_t refresh_mhz(const struct drm_mode_modeinfo *m);

#define test(name) cmocka_unit_test_setup_teardown(name, setup_card, teardown_card)
#define test_with(name, setup) cmocka_unit_test_setup_teardown(name, setup, teardown_card)

#endif
