/*
 * The core by itself, with ops of its own: what a steady commit allocates, what a query costs,
 * readers beside a writer, framebuffers that another thread lets go, calls made of noise, and the
 * layout of the kernel's structs with every compiler at hand.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "frames/kms/kms.h"
#include "frames/kms/mode.h"
#include "frames/kms/snapshot_layout.h"

#define PTR(p)   ((uint64_t)(uintptr_t)(p))
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* --- an allocator that counts: --wrap of the linker --- */

static bool counting;
static unsigned n_allocations;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

void *__wrap_malloc(size_t n)
{
    n_allocations += counting;
    return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    n_allocations += counting;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    n_allocations += counting;
    return __real_realloc(p, n);
}

/* --- a device --- */

static struct {
    struct tp_kms *kms;
    struct tp_kms_file *file;
    const struct tp_kms_scanout *latest;
    unsigned n_commits, n_events, n_finished;
    uint64_t sequence;
    int result;
} dev;

static int create_memory(void *data, uint64_t bytes)
{
    (void)data;
    int fd = memfd_create("dumb", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)bytes)) {
        close(fd);
        return -ENOMEM;
    }
    return fd < 0 ? -errno : fd;
}

static void send_event(void *data, struct tp_kms_file *file, const void *e, size_t bytes)
{
    (void)data;
    (void)file;
    (void)e;
    assert_in_range(bytes, sizeof(struct drm_event), 64);
    dev.n_events++;
}

static void take_commit(void *data, const struct tp_kms_scanout *s)
{
    (void)data;
    dev.latest = s;
    dev.n_commits++;
}

static void finish(void *data, void *waiter, struct tp_drm_call *call, int result)
{
    (void)data;
    (void)waiter;
    (void)call;
    dev.n_finished++;
    dev.result = result;
}

static bool no_fences;

static int fence_make(void *data, int ends[2])
{
    (void)data;
    return no_fences ? -EMFILE : tp_fence_pair(ends);
}

static struct tp_kms_config usual(void)
{
    return (struct tp_kms_config){
        .outputs = {{.connected = true,
                     .modes = {{1920, 1080, 60000}, {1920, 1080, 120000}, {1280, 720, 60000}},
                     .n_modes = 3,
                     .vrr_min_mhz = 48000,
                     .vrr_max_mhz = 120000,
                     .hdr = true}},
        .n_outputs = 1,
        .n_overlays = 1,
    };
}

static int set_up(void **state)
{
    (void)state;
    static const struct tp_kms_ops ops = {
        .create_memory = create_memory,
        .send_event = send_event,
        .commit = take_commit,
        .finish = finish,
        .fence_make = fence_make,
    };
    struct tp_kms_config config = usual();
    struct tp_error e = {0};
    memset(&dev, 0, sizeof dev);
    assert_int_equal(tp_kms_create(&config, &ops, NULL, &dev.kms, &e), 0);
    assert_int_equal(tp_kms_open(dev.kms, true, 1, NULL, &dev.file), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tp_kms_destroy(dev.kms);
    return 0;
}

static void refresh(void)
{
    int64_t now = (int64_t)++dev.sequence * 16666667;
    tp_kms_vblank(dev.kms, 0, dev.sequence, now);
    if (dev.latest)
        tp_kms_flipped(dev.kms, 0, dev.latest->serial, dev.sequence, now, 0);
}

static int drm(unsigned long request, void *arg)
{
    struct tp_drm_call call = {.request = request, .arg = arg, .arg_bytes = _IOC_SIZE(request)};
    int r = tp_kms_ioctl(dev.file, &call, &call);
    if (r == TP_KMS_WAITS) {
        unsigned before = dev.n_finished;
        for (int i = 0; i < 4 && dev.n_finished == before; i++)
            refresh();
        assert_int_equal(dev.n_finished, before + 1);
        r = dev.result;
    }
    while (call.n_out_fds)
        close(call.out_fds[--call.n_out_fds]);
    return r;
}

static struct {
    uint32_t crtc, connector, primary;
    struct drm_mode_modeinfo modes[TP_KMS_MODES];
} ids;

static void look_around(void)
{
    uint32_t planes[8];
    struct drm_set_client_cap cap = {DRM_CLIENT_CAP_ATOMIC, 1};
    assert_int_equal(drm(DRM_IOCTL_SET_CLIENT_CAP, &cap), 0);
    struct drm_mode_card_res res = {.crtc_id_ptr = PTR(&ids.crtc),
                                    .count_crtcs = 1,
                                    .connector_id_ptr = PTR(&ids.connector),
                                    .count_connectors = 1};
    assert_int_equal(drm(DRM_IOCTL_MODE_GETRESOURCES, &res), 0);
    struct drm_mode_get_plane_res pr = {.plane_id_ptr = PTR(planes), .count_planes = 8};
    assert_int_equal(drm(DRM_IOCTL_MODE_GETPLANERESOURCES, &pr), 0);
    assert_int_equal(pr.count_planes, 3);
    ids.primary = planes[0];
    struct drm_mode_get_connector c = {
        .connector_id = ids.connector, .modes_ptr = PTR(ids.modes), .count_modes = TP_KMS_MODES};
    assert_int_equal(drm(DRM_IOCTL_MODE_GETCONNECTOR, &c), 0);
    assert_int_equal(c.count_modes, 3);
}

static uint32_t new_fb(void)
{
    struct drm_mode_create_dumb d = {.width = 1920, .height = 1080, .bpp = 32};
    assert_int_equal(drm(DRM_IOCTL_MODE_CREATE_DUMB, &d), 0);
    struct drm_mode_fb_cmd2 f = {.width = 1920,
                                 .height = 1080,
                                 .pixel_format = DRM_FORMAT_XRGB8888,
                                 .handles = {d.handle},
                                 .pitches = {d.pitch}};
    assert_int_equal(drm(DRM_IOCTL_MODE_ADDFB2, &f), 0);
    struct drm_mode_destroy_dumb gone = {d.handle};
    assert_int_equal(drm(DRM_IOCTL_MODE_DESTROY_DUMB, &gone), 0);
    return f.fb_id;
}

static uint32_t property(uint32_t object, uint32_t type, const char *name)
{
    uint32_t props[64];
    uint64_t values[64];
    struct drm_mode_obj_get_properties o = {.props_ptr = PTR(props),
                                            .prop_values_ptr = PTR(values),
                                            .count_props = 64,
                                            .obj_id = object,
                                            .obj_type = type};
    assert_int_equal(drm(DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &o), 0);
    for (unsigned i = 0; i < o.count_props; i++) {
        struct drm_mode_get_property p = {.prop_id = props[i]};
        assert_int_equal(drm(DRM_IOCTL_MODE_GETPROPERTY, &p), 0);
        if (!strcmp(p.name, name))
            return props[i];
    }
    fail_msg("no property %s", name);
    return 0;
}

static void light_up(uint32_t fb)
{
    struct drm_mode_crtc c = {.set_connectors_ptr = PTR(&ids.connector),
                              .count_connectors = 1,
                              .crtc_id = ids.crtc,
                              .fb_id = fb,
                              .mode_valid = 1,
                              .mode = ids.modes[0]};
    assert_int_equal(drm(DRM_IOCTL_MODE_SETCRTC, &c), 0);
}

/* --- --- */

static void a_steady_commit_allocates_nothing(void **state)
{
    (void)state;
    look_around();
    uint32_t fbs[2] = {new_fb(), new_fb()};
    light_up(fbs[0]);
    uint32_t fb_id = property(ids.primary, DRM_MODE_OBJECT_PLANE, "FB_ID");
    uint32_t out_fence = property(ids.crtc, DRM_MODE_OBJECT_CRTC, "OUT_FENCE_PTR");
    uint32_t objects[2] = {ids.primary, ids.crtc}, counts[2] = {1, 1},
             props[2] = {fb_id, out_fence};
    struct tp_snapshot *block = calloc(1, TP_SNAPSHOT_BYTES);
    tp_snapshot_write(block, dev.kms);
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t values[2] = {fbs[i & 1], 1};
        struct drm_mode_atomic a = {
            .flags = DRM_MODE_PAGE_FLIP_EVENT | (i % 3 ? DRM_MODE_ATOMIC_NONBLOCK : 0),
            .count_objs = i % 5 ? 1 : 2, /* at times with a fence */
            .objs_ptr = PTR(objects),
            .count_props_ptr = PTR(counts),
            .props_ptr = PTR(props),
            .prop_values_ptr = PTR(values),
        };
        counting =
            i == 0 || i >= 16; /* the first ones fill the pools: the counter is seen to count */
        assert_int_equal(drm(DRM_IOCTL_MODE_ATOMIC, &a), 0);
        union drm_wait_vblank w = {
            .request = {.type = _DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT, .sequence = 1}};
        assert_int_equal(drm(DRM_IOCTL_WAIT_VBLANK, &w), 0);
        refresh();
        tp_snapshot_write(block, dev.kms);
        counting = false;
        if (i == 0) {
            assert_true(n_allocations > 0);
            n_allocations = 0;
        }
    }
    assert_int_equal(n_allocations, 0);
    assert_int_equal(dev.n_events, 2000);
    free(block);
}

static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The bound is the project's, for a query from the block: 1 µs at the median; here with room for
 * sanitizers. */
static void a_query_costs_little(void **state)
{
    (void)state;
    enum { N = 20000 };
    struct tp_snapshot *block = calloc(1, TP_SNAPSHOT_BYTES);
    const struct tp_snapshot_view view = {
        .universal_planes = true, .atomic = true, .aspect_ratio = true};
    look_around();
    tp_snapshot_write(block, dev.kms);
    uint32_t props[64];
    uint64_t values[64];
    struct drm_mode_modeinfo modes[TP_KMS_MODES];
    int64_t start = cpu_ns();
    for (int i = 0; i < N; i++) {
        struct drm_mode_crtc c = {.crtc_id = ids.crtc};
        assert_int_equal(tp_snapshot_query(block, &view, DRM_IOCTL_MODE_GETCRTC, &c), 0);
    }
    int64_t crtc = (cpu_ns() - start) / N;
    start = cpu_ns();
    for (int i = 0; i < N; i++) {
        struct drm_mode_obj_get_properties o = {.props_ptr = PTR(props),
                                                .prop_values_ptr = PTR(values),
                                                .count_props = 64,
                                                .obj_id = ids.primary,
                                                .obj_type = DRM_MODE_OBJECT_PLANE};
        assert_int_equal(tp_snapshot_query(block, &view, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &o), 0);
    }
    int64_t properties = (cpu_ns() - start) / N;
    start = cpu_ns();
    for (int i = 0; i < N; i++) {
        struct drm_mode_get_connector c = {.connector_id = ids.connector,
                                           .modes_ptr = PTR(modes),
                                           .count_modes = TP_KMS_MODES,
                                           .props_ptr = PTR(props),
                                           .prop_values_ptr = PTR(values),
                                           .count_props = 64};
        assert_int_equal(tp_snapshot_query(block, &view, DRM_IOCTL_MODE_GETCONNECTOR, &c), 0);
    }
    int64_t connector = (cpu_ns() - start) / N;
    start = cpu_ns();
    for (int i = 0; i < N; i++)
        tp_snapshot_write(block, dev.kms);
    int64_t write = (cpu_ns() - start) / N;
    print_message(
        "GETCRTC %d ns, OBJ_GETPROPERTIES %d ns, GETCONNECTOR %d ns; the block written in %d ns\n",
        (int)crtc, (int)properties, (int)connector, (int)write);
    assert_in_range(crtc, 0, 20000);
    free(block);
}

/* --- readers beside a writer --- */

static atomic_bool stop;

struct reading {
    const struct tp_snapshot *block;
    uint32_t fb_id; /* the property */
    atomic_ulong n;
    unsigned long torn;
};

/* The plane's framebuffer is told twice in the block: GETPLANE's, and the property's. */
static void *read_on(void *arg)
{
    struct reading *r = arg;
    const struct tp_snapshot_view view = {
        .universal_planes = true, .atomic = true, .aspect_ratio = true};
    while (!atomic_load(&stop)) {
        uint32_t props[64];
        uint64_t values[64];
        struct drm_mode_crtc c = {.crtc_id = ids.crtc};
        struct drm_mode_obj_get_properties o = {.props_ptr = PTR(props),
                                                .prop_values_ptr = PTR(values),
                                                .count_props = 64,
                                                .obj_id = ids.primary,
                                                .obj_type = DRM_MODE_OBJECT_PLANE};
        if (tp_snapshot_query(r->block, &view, DRM_IOCTL_MODE_GETCRTC, &c) == 0)
            r->torn += c.x != c.fb_id % 100 || c.y != c.fb_id % 100;
        if (tp_snapshot_query(r->block, &view, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &o) == 0) {
            uint64_t fb = 0, x = 0;
            for (unsigned i = 0; i < o.count_props; i++) {
                fb = props[i] == r->fb_id ? values[i] : fb;
                x = props[i] == r->fb_id + 7 ? values[i] >> 16 : x;
            }
            r->torn += x != fb % 100;
        }
        atomic_fetch_add(&r->n, 1);
    }
    return NULL;
}

static void readers_never_see_half_of_a_change(void **state)
{
    (void)state;
    look_around();
    uint32_t fbs[8];
    for (unsigned i = 0; i < COUNT(fbs); i++) {
        struct drm_mode_create_dumb d = {.width = 2100, .height = 1300, .bpp = 32};
        assert_int_equal(drm(DRM_IOCTL_MODE_CREATE_DUMB, &d), 0);
        struct drm_mode_fb_cmd2 f = {.width = 2100,
                                     .height = 1300,
                                     .pixel_format = DRM_FORMAT_XRGB8888,
                                     .handles = {d.handle},
                                     .pitches = {d.pitch}};
        assert_int_equal(drm(DRM_IOCTL_MODE_ADDFB2, &f), 0);
        fbs[i] = f.fb_id;
    }
    struct tp_snapshot *block =
        mmap(NULL, TP_SNAPSHOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(block != MAP_FAILED);
    struct reading r = {.block = block,
                        .fb_id = property(ids.primary, DRM_MODE_OBJECT_PLANE, "FB_ID")};
    assert_int_equal(property(ids.primary, DRM_MODE_OBJECT_PLANE, "SRC_X"), r.fb_id + 7);
    pthread_t reader;
    atomic_store(&stop, false);
    for (unsigned i = 0; i < 3000 || atomic_load(&r.n) < 1000; i++) {
        uint32_t fb = fbs[i % COUNT(fbs)];
        struct drm_mode_crtc c = {.set_connectors_ptr = PTR(&ids.connector),
                                  .count_connectors = 1,
                                  .crtc_id = ids.crtc,
                                  .fb_id = fb,
                                  .x = fb % 100,
                                  .y = fb % 100,
                                  .mode_valid = 1,
                                  .mode = ids.modes[0]};
        assert_int_equal(drm(DRM_IOCTL_MODE_SETCRTC, &c), 0);
        tp_snapshot_write(block, dev.kms);
        if (i == 0)
            assert_int_equal(pthread_create(&reader, NULL, read_on, &r), 0);
    }
    atomic_store(&stop, true);
    pthread_join(reader, NULL);
    assert_int_equal(r.torn, 0);
    munmap(block, TP_SNAPSHOT_BYTES);
}

/* Whatever stands in the block, a reader stays within it and within the caller's arrays (seen by
 * ASan). */
static void a_block_of_noise_is_read_within_bounds(void **state)
{
    (void)state;
    static const unsigned long requests[] = {
        DRM_IOCTL_MODE_GETRESOURCES,      DRM_IOCTL_MODE_GETCRTC,
        DRM_IOCTL_MODE_GETENCODER,        DRM_IOCTL_MODE_GETCONNECTOR,
        DRM_IOCTL_MODE_GETPROPERTY,       DRM_IOCTL_MODE_GETPROPBLOB,
        DRM_IOCTL_MODE_GETPLANERESOURCES, DRM_IOCTL_MODE_GETPLANE,
        DRM_IOCTL_MODE_OBJ_GETPROPERTIES,
    };
    const struct tp_snapshot_view view = {.universal_planes = true, .atomic = true};
    look_around();
    struct tp_snapshot *block = malloc(sizeof *block);
    unsigned seed = 5;
    for (unsigned round = 0; round < 400; round++) {
        memset(block, 0, sizeof *block);
        tp_snapshot_write(block, dev.kms);
        uint8_t *bytes = (uint8_t *)&block->state;
        for (unsigned i = 0; i < 2000; i++) {
            unsigned at = (unsigned)rand_r(&seed) %
                          (unsigned)(sizeof *block - offsetof(struct tp_snapshot, state));
            bytes[at] = (uint8_t)rand_r(&seed);
        }
        for (unsigned i = 0; i < COUNT(requests); i++)
            for (uint32_t id = 0; id < 80; id += 3) {
                /* Ids stand in any of the words; arrays are null, so that a count ends in -EFAULT.
                 */
                union {
                    struct drm_mode_get_connector connector;
                    uint32_t words[32];
                } arg = {{0}};
                uint32_t property;
                uint64_t value;
                if (requests[i] == DRM_IOCTL_MODE_GETCONNECTOR) {
                    arg.connector.connector_id = id;
                    arg.connector.count_props = 1;
                    arg.connector.props_ptr = PTR(&property);
                    arg.connector.prop_values_ptr = PTR(&value);
                } else {
                    arg.words[rand_r(&seed) % 16] = id;
                }
                tp_snapshot_query(block, &view, requests[i], &arg);
            }
    }
    free(block);
}

/* --- framebuffers that another thread holds --- */

static void *let_go(void *arg)
{
    for (int i = 0; i < 2000; i++) {
        struct tp_kms_fb_info info;
        struct tp_kms_fb *fb = tp_kms_fb_ref(arg);
        tp_kms_fb_info(fb, &info);
        if (info.width != 1920 || fcntl(info.fds[0], F_GETFD) < 0)
            return arg;
        tp_kms_fb_unref(fb);
    }
    tp_kms_fb_unref(arg);
    return NULL;
}

static void a_framebuffer_outlives_its_file_where_a_panel_reads_it(void **state)
{
    (void)state;
    look_around();
    light_up(new_fb());
    struct tp_kms_fb *fb = tp_kms_fb_ref(dev.latest->layers[0].fb);
    pthread_t panel;
    assert_int_equal(pthread_create(&panel, NULL, let_go, fb), 0);
    tp_kms_close(dev.file);
    dev.latest = NULL;
    struct tp_kms_counts counts;
    tp_kms_count(dev.kms, &counts);
    assert_int_equal(counts.fbs, 0);
    assert_int_equal(counts.buffers, 0);
    void *failed;
    pthread_join(panel, &failed);
    assert_null(failed);
}

/* --- calls of noise --- */

static void calls_of_noise_leave_nothing(void **state)
{
    (void)state;
    look_around();
    light_up(new_fb());
    unsigned seed = 11;
    _Alignas(8) static uint8_t arrays[8][65536];
    bool timeline;
    for (unsigned i = 0; i < 60000; i++) {
        unsigned nr = (unsigned)rand_r(&seed) % 0xd8;
        /* Words that are small numbers, ids, addresses of arrays, or anything. */
        uint64_t arg[32];
        for (unsigned w = 0; w < COUNT(arg); w++) {
            unsigned r = (unsigned)rand_r(&seed);
            uint32_t low = r % 3 ? r >> 8 & 63 : (uint32_t)rand_r(&seed) * (r & 64 ? 1u : 0u);
            uint32_t high = r % 5 ? r >> 16 & 3 : 0;
            arg[w] = (uint64_t)high << 32 | low;
        }
        switch (nr) { /* those with arrays: what the wire makes of them is always there, or null */
        case _IOC_NR(DRM_IOCTL_MODE_ATOMIC): {
            struct drm_mode_atomic a = {.flags = (uint32_t)arg[0] & 0x703,
                                        .count_objs = arg[1] & 3,
                                        .objs_ptr = PTR(arrays[0]),
                                        .count_props_ptr = PTR(arrays[1]),
                                        .props_ptr = PTR(arrays[2]),
                                        .prop_values_ptr = PTR(arrays[3])};
            for (unsigned k = 0; k < 16; k++) {
                ((uint32_t *)arrays[0])[k] = (uint32_t)rand_r(&seed) % 60;
                ((uint32_t *)arrays[1])[k] = (uint32_t)rand_r(&seed) % 4;
                ((uint32_t *)arrays[2])[k] = (uint32_t)rand_r(&seed) % 60;
                ((uint64_t *)arrays[3])[k] = (uint64_t)rand_r(&seed) % 70
                                             << (rand_r(&seed) & 1 ? 16 : 0);
            }
            memcpy(arg, &a, sizeof a);
            break;
        }
        case _IOC_NR(DRM_IOCTL_MODE_SETCRTC):
        case _IOC_NR(DRM_IOCTL_MODE_CREATE_LEASE):
            arg[0] = 0;
            break;
        case _IOC_NR(DRM_IOCTL_MODE_CREATEPROPBLOB):
            arg[0] = PTR(arrays[4]);
            arg[1] &= 1023;
            break;
        case _IOC_NR(DRM_IOCTL_SYNCOBJ_WAIT):
        case _IOC_NR(DRM_IOCTL_SYNCOBJ_RESET):
        case _IOC_NR(DRM_IOCTL_SYNCOBJ_SIGNAL):
        case _IOC_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT):
        case _IOC_NR(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL):
        case _IOC_NR(DRM_IOCTL_SYNCOBJ_QUERY):
            timeline = nr != _IOC_NR(DRM_IOCTL_SYNCOBJ_WAIT) &&
                       nr != _IOC_NR(DRM_IOCTL_SYNCOBJ_RESET) &&
                       nr != _IOC_NR(DRM_IOCTL_SYNCOBJ_SIGNAL);
            arg[0] = PTR(arrays[5]);
            arg[1] = timeline ? PTR(arrays[6]) : arg[1] & 0x3f0000003f;
            for (unsigned k = 2; k < 5; k++)
                arg[k] &= 0x3f0000003f; /* counts, flags; timeouts */
            for (unsigned k = 0; k < 64; k++)
                ((uint32_t *)arrays[5])[k] = 1 + (uint32_t)rand_r(&seed) % 8;
            break;
        case _IOC_NR(DRM_IOCTL_VERSION):
        case _IOC_NR(DRM_IOCTL_GET_UNIQUE):
        case _IOC_NR(DRM_IOCTL_MODE_GETGAMMA):
        case _IOC_NR(DRM_IOCTL_MODE_SETGAMMA):
        case _IOC_NR(DRM_IOCTL_MODE_GETRESOURCES):
        case _IOC_NR(DRM_IOCTL_MODE_GETCONNECTOR):
        case _IOC_NR(DRM_IOCTL_MODE_GETPROPERTY):
        case _IOC_NR(DRM_IOCTL_MODE_GETPROPBLOB):
        case _IOC_NR(DRM_IOCTL_MODE_GETPLANE):
        case _IOC_NR(DRM_IOCTL_MODE_GETPLANERESOURCES):
        case _IOC_NR(DRM_IOCTL_MODE_OBJ_GETPROPERTIES):
        case _IOC_NR(DRM_IOCTL_MODE_GET_LEASE):
        case _IOC_NR(DRM_IOCTL_MODE_DIRTYFB):
        case _IOC_NR(DRM_IOCTL_DROP_MASTER):
            continue;
        }
        struct tp_drm_call *call = calloc(1, sizeof *call);
        uint64_t *own = malloc(sizeof arg);
        memcpy(own, arg, sizeof arg);
        call->request = _IOC(_IOC_READ | _IOC_WRITE, 'd', nr, sizeof arg);
        call->arg = own;
        call->arg_bytes = sizeof arg;
        int r = tp_kms_ioctl(dev.file, call, call);
        assert_true(r == TP_KMS_WAITS || (r <= 0 && r > -4096));
        if (r == TP_KMS_WAITS && rand_r(&seed) & 1)
            refresh();
        tp_kms_cancel(dev.kms, call); /* no matter whether it still waits */
        while (call->n_out_fds)
            close(call->out_fds[--call->n_out_fds]);
        free(own);
        free(call);
        if (rand_r(&seed) % 4 == 0)
            refresh();
    }
    tp_kms_close(dev.file);
    dev.file = NULL;
    struct tp_kms_counts c;
    tp_kms_count(dev.kms, &c);
    assert_int_equal(c.files + c.fbs + c.buffers + c.blobs + c.syncobjs + c.waiters + c.events, 0);
    assert_int_equal(c.buffer_bytes, 0);
}

/* --- clients that come and die --- */

static unsigned n_descriptors(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 512; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* A call that is left behind where it waits. */
static int begin(struct tp_kms_file *file, struct tp_drm_call *call, unsigned long request,
                 void *arg)
{
    *call = (struct tp_drm_call){.request = request, .arg = arg, .arg_bytes = _IOC_SIZE(request)};
    int r = tp_kms_ioctl(file, call, call);
    while (call->n_out_fds)
        close(call->out_fds[--call->n_out_fds]);
    return r;
}

static void ten_thousand_clients_leave_nothing(void **state)
{
    (void)state;
    unsigned seed = 3, before = n_descriptors(), waiting = 0;
    look_around();
    tp_kms_close(dev.file);
    for (unsigned i = 0; i < 10000; i++) {
        struct tp_kms_file *f;
        struct tp_drm_call call, last;
        unsigned end = (unsigned)rand_r(&seed) % 8; /* so far it gets */
        assert_int_equal(tp_kms_open(dev.kms, true, 1, NULL, &f), 0);
        struct drm_mode_create_dumb d = {.width = 1920, .height = 1080, .bpp = 32};
        if (end > 0)
            assert_int_equal(begin(f, &call, DRM_IOCTL_MODE_CREATE_DUMB, &d), 0);
        struct drm_mode_fb_cmd fb = {1, 1920, 1080, d.pitch, 32, 24, d.handle};
        if (end > 1)
            assert_int_equal(begin(f, &call, DRM_IOCTL_MODE_ADDFB, &fb), 0);
        struct drm_mode_create_blob b = {.data = PTR(&ids.modes[0]), .length = sizeof ids.modes[0]};
        if (end > 2)
            assert_int_equal(begin(f, &call, DRM_IOCTL_MODE_CREATEPROPBLOB, &b), 0);
        struct drm_syncobj_create sync = {0};
        struct drm_syncobj_handle out = {.handle = 1};
        if (end > 3) {
            assert_int_equal(begin(f, &call, DRM_IOCTL_SYNCOBJ_CREATE, &sync), 0);
            assert_int_equal(begin(f, &call, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &out), 0);
        }
        struct drm_mode_crtc c = {.set_connectors_ptr = PTR(&ids.connector),
                                  .count_connectors = 1,
                                  .crtc_id = ids.crtc,
                                  .fb_id = fb.fb_id,
                                  .mode_valid = 1,
                                  .mode = ids.modes[0]};
        if (end > 4)
            waiting += begin(f, &last, DRM_IOCTL_MODE_SETCRTC, &c) == TP_KMS_WAITS;
        /* It may have waited for the commit of one that is dead. */
        for (int k = 0; end > 5 && k < 2; k++)
            refresh();
        struct drm_mode_crtc_page_flip flip = {
            .crtc_id = ids.crtc, .fb_id = fb.fb_id, .flags = DRM_MODE_PAGE_FLIP_EVENT};
        if (end > 6)
            assert_int_equal(begin(f, &call, DRM_IOCTL_MODE_PAGE_FLIP, &flip), 0);
        tp_kms_close(f);
        if (rand_r(&seed) & 1)
            refresh();
    }
    assert_true(waiting > 1000);
    for (int i = 0; i < 4; i++)
        refresh();
    struct tp_kms_counts n;
    tp_kms_count(dev.kms, &n);
    assert_int_equal(n.files + n.fbs + n.buffers + n.blobs + n.syncobjs + n.waiters + n.events, 0);
    assert_int_equal(n_descriptors(), before);
}

/* --- what runs out --- */

static void a_commit_without_its_fence_changes_nothing(void **state)
{
    (void)state;
    look_around();
    uint32_t fbs[2] = {new_fb(), new_fb()};
    light_up(fbs[0]);
    uint32_t objects[2] = {ids.primary, ids.crtc}, counts[2] = {1, 1};
    uint32_t props[2] = {property(ids.primary, DRM_MODE_OBJECT_PLANE, "FB_ID"),
                         property(ids.crtc, DRM_MODE_OBJECT_CRTC, "OUT_FENCE_PTR")};
    uint64_t values[2] = {fbs[1], 1};
    struct drm_mode_atomic a = {.flags = DRM_MODE_PAGE_FLIP_EVENT | DRM_MODE_ATOMIC_NONBLOCK,
                                .count_objs = 2,
                                .objs_ptr = PTR(objects),
                                .count_props_ptr = PTR(counts),
                                .props_ptr = PTR(props),
                                .prop_values_ptr = PTR(values)};
    unsigned commits = dev.n_commits;
    no_fences = true;
    assert_int_equal(drm(DRM_IOCTL_MODE_ATOMIC, &a), -EMFILE);
    no_fences = false;
    assert_int_equal(dev.n_commits, commits);
    struct drm_mode_crtc c = {.crtc_id = ids.crtc};
    assert_int_equal(drm(DRM_IOCTL_MODE_GETCRTC, &c), 0);
    assert_int_equal(c.fb_id, fbs[0]);
    struct tp_kms_counts n;
    tp_kms_count(dev.kms, &n);
    assert_int_equal(n.events, 0);
    assert_int_equal(drm(DRM_IOCTL_MODE_ATOMIC, &a), 0);
}

static void descriptors_of_syncobjs_are_counted(void **state)
{
    (void)state;
    struct drm_syncobj_create sync = {0};
    assert_int_equal(drm(DRM_IOCTL_SYNCOBJ_CREATE, &sync), 0);
    struct drm_syncobj_handle out = {.handle = sync.handle};
    /* Passed on and closed again: as often as one likes. */
    for (unsigned i = 0; i < 3000; i++)
        assert_int_equal(drm(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &out), 0);
    /* Watched by eventfds that are never told: as many as limits.sync_fds. */
    unsigned n = 0;
    int r = 0;
    for (; r == 0 && n < 3000; n++) {
        struct drm_syncobj_eventfd e = {.handle = sync.handle, .point = 9};
        struct tp_drm_call call = {.request = DRM_IOCTL_SYNCOBJ_EVENTFD,
                                   .arg = &e,
                                   .arg_bytes = sizeof e,
                                   .in_fds = {eventfd(0, EFD_CLOEXEC)},
                                   .n_in_fds = 1};
        if (call.in_fds[0] < 0)
            skip(); /* this process may not have so many */
        r = tp_kms_ioctl(dev.file, &call, &call);
        if (call.in_fds[0] >= 0)
            close(call.in_fds[0]);
    }
    assert_int_equal(r, -EMFILE);
    assert_in_range(n, 100, 1025);
    struct drm_syncobj_destroy gone = {.handle = sync.handle};
    assert_int_equal(drm(DRM_IOCTL_SYNCOBJ_DESTROY, &gone), 0);
}

/* --- modes --- */

static void clients_compute_the_asked_for_refresh(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1920, 1080}, {2400, 1080}, {1080, 2400}, {3120, 1440},
                                        {3840, 2160}, {1280, 720},  {2560, 1600}, {1264, 2780}};
    static const uint32_t rates[] = {59940, 60000, 72000, 90000, 119880, 120000, 144000, 165000};
    for (unsigned s = 0; s < COUNT(sizes); s++)
        for (unsigned r = 0; r < COUNT(rates); r++) {
            struct drm_mode_modeinfo m;
            tp_mode_make(&m, sizes[s][0], sizes[s][1], rates[r], false);
            /* As wlroots has it: calculate_refresh_rate. */
            double mhz = m.clock * 1000000.0 / m.htotal / m.vtotal;
            assert_true(mhz > rates[r] - 0.5 && mhz < rates[r] + 0.5);
            assert_true(m.hsync_start > m.hdisplay && m.htotal > m.hsync_end);
            assert_true(m.vsync_start > m.vdisplay && m.vtotal > m.vsync_end);
            /* CVT's reduced blanking: at least 460 µs without pixels. */
            double blank_us = (m.vtotal - m.vdisplay) * 1e6 / (mhz / 1000 * m.vtotal);
            assert_true(blank_us >= 459.9);
        }
}

/* --- compilers --- */

#ifndef TP_SOURCE_DIR
#define TP_SOURCE_DIR "."
#endif
#ifndef TP_DRM_INCLUDE
#define TP_DRM_INCLUDE "/usr/include/libdrm"
#endif

static void structs_lie_alike_for_every_compiler(void **state)
{
    (void)state;
    /* The headers of a 32-bit libc are rarely there: those of this machine do, but for a file that
     * they ask for. */
    static const struct {
        const char *compiler, *flags;
    } with[] = {
        {"gcc", ""},
        {"gcc", "-m32 -idirafter /usr/include/x86_64-linux-gnu"},
        {"aarch64-linux-gnu-gcc", ""},
        {"clang", ""},
        {"clang", "--target=i386-linux-gnu -idirafter /usr/include/x86_64-linux-gnu"},
        {"clang", "--target=arm-linux-gnueabihf -idirafter /usr/include/x86_64-linux-gnu"},
        {"clang", "--target=aarch64-linux-gnu -idirafter /usr/include/x86_64-linux-gnu"},
    };
    char dir[] = "/tmp/uapi.XXXXXX", path[64], command[1024];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/gnu", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/gnu/stubs-32.h", dir);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    unsigned n = 0, failed = 0;
    for (unsigned i = 0; i < COUNT(with); i++) {
        snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", with[i].compiler);
        if (system(command) != 0)
            continue;
        snprintf(command, sizeof command,
                 "%s %s -std=gnu11 -D_GNU_SOURCE -fsyntax-only -I%s/src -I%s -I%s "
                 "%s/src/frames/kms/uapi_sizes.c",
                 with[i].compiler, with[i].flags, TP_SOURCE_DIR, TP_DRM_INCLUDE, dir,
                 TP_SOURCE_DIR);
        n++;
        if (system(command) != 0) {
            print_error("%s\n", command);
            failed++;
        }
    }
    unlink(path);
    snprintf(path, sizeof path, "%s/gnu", dir);
    rmdir(path);
    rmdir(dir);
    assert_true(n > 0);
    assert_int_equal(failed, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_steady_commit_allocates_nothing),
        TEST(a_query_costs_little),
        TEST(readers_never_see_half_of_a_change),
        TEST(a_block_of_noise_is_read_within_bounds),
        TEST(a_framebuffer_outlives_its_file_where_a_panel_reads_it),
        TEST(calls_of_noise_leave_nothing),
        TEST(ten_thousand_clients_leave_nothing),
        TEST(a_commit_without_its_fence_changes_nothing),
        TEST(descriptors_of_syncobjs_are_counted),
        cmocka_unit_test(clients_compute_the_asked_for_refresh),
        cmocka_unit_test(structs_lie_alike_for_every_compiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
