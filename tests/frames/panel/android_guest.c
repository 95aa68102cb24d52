#include "android_guest.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cmocka.h>
#include <drm_fourcc.h>
#include <drm_mode.h>

#include "base/proc.h"
#include "double/double.h"

#define START_NS INT64_C(1000000000)

bool guest_plain_memory;
uint64_t guest_bad_closes;
const char *guest_lacks;

/* --- in the place of what the panel would link --- */

int64_t tp_now_ns(void)
{
    return double_now();
}

int fstatfs(int fd, struct statfs *out)
{
    (void)fd;
    memset(out, 0, sizeof *out);
    out->f_type = guest_plain_memory ? 0x01021994 : 0x444d4142; /* tmpfs, dma-buf */
    return 0;
}

void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name)
{
    bool lacks = guest_lacks && strcmp(name, guest_lacks) == 0;
    return double_has(name) && !lacks ? __real_dlsym(library, name) : NULL;
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    int r = __real_close(fd);
    if (r < 0)
        __atomic_add_fetch(&guest_bad_closes, 1, __ATOMIC_RELAXED);
    return r;
}

struct tp_kms_fb *tp_kms_fb_ref(struct tp_kms_fb *fb)
{
    __atomic_add_fetch(&fb->refs, 1, __ATOMIC_RELAXED);
    return fb;
}

void tp_kms_fb_unref(struct tp_kms_fb *fb)
{
    __atomic_sub_fetch(&fb->refs, 1, __ATOMIC_RELAXED);
}

void tp_kms_fb_info(const struct tp_kms_fb *fb, struct tp_kms_fb_info *out)
{
    *out = fb->info;
}

unsigned guest_open_descriptors(void)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* --- what the panel tells --- */

static struct given *find(struct guest *g, uint64_t serial, unsigned layer)
{
    struct given *v = layer < 2 ? &g->given[serial % GUEST_RING][layer] : NULL;
    return v && v->serial == serial ? v : NULL;
}

/* The panel does not read it any more, so it says. */
static void is_free(struct guest *g, struct given *v)
{
    if (--g->uses[v->buffer] == 0) {
        g->freed[v->buffer] = g->released;
        g->torn += !g->lenient && double_reads(g->buffers[v->buffer].info.inode);
    }
}

static void on_released(void *data, uint64_t serial, unsigned layer, int fence)
{
    struct guest *g = data;
    struct given *v = find(g, serial, layer);
    if (!v || v->out) {
        g->unknown += !v;
        g->twice += v != NULL;
        if (fence >= 0)
            close(fence);
        return;
    }
    v->out = true;
    v->fence = fence;
    g->released++;
    g->early += serial >= g->serial; /* the newest picture is never let go */
    g->out_of_order += !g->lenient && serial < g->last_released[layer];
    if (serial > g->last_released[layer])
        g->last_released[layer] = serial;
    if (fence < 0) {
        is_free(g, v);
        return;
    }
    g->fenced++;
    assert_true(g->n_waiting < GUEST_RING);
    g->waiting[g->n_waiting].serial = serial;
    g->waiting[g->n_waiting++].layer = layer;
}

static void on_tick(void *data, const struct tp_panel_tick *t)
{
    struct guest *g = data;
    g->backwards +=
        g->ticks > 0 && (t->sequence <= g->tick.sequence || t->time_ns <= g->tick.time_ns);
    g->tick = *t;
    g->ticks++;
}

static void on_shown(void *data, uint64_t serial, int64_t first_line_ns)
{
    struct guest *g = data;
    (void)first_line_ns;
    g->backwards += serial <= g->last_shown;
    g->last_shown = serial;
    g->shown++;
}

static void on_away(void *data, bool away)
{
    struct guest *g = data;
    g->is_away = away;
    g->away += away;
    g->back += !away;
    struct double_counts c;
    double_count(&c);
    if (!away)
        g->back_after = c.transactions;
}

static void on_line(void *data, const char *line)
{
    struct guest *g = data;
    g->lines++;
    snprintf(g->last_line, sizeof g->last_line, "%s", line);
}

/* --- the guest --- */

static struct tp_kms_fb make(uint32_t width, uint32_t height, uint32_t fourcc)
{
    struct tp_kms_fb fb = {
        {.width = width, .height = height, .fourcc = fourcc, .n_planes = 1}, .refs = 0};
    struct stat st;
    fb.info.fds[0] = memfd_create("guest", MFD_CLOEXEC);
    fb.info.pitches[0] = width * 4;
    assert_int_equal(ftruncate(fb.info.fds[0], (off_t)width * height * 4), 0);
    assert_int_equal(fstat(fb.info.fds[0], &st), 0);
    fb.info.device = st.st_dev;
    fb.info.inode = st.st_ino;
    return fb;
}

void guest_init(struct guest *g, int level, uint64_t seed, uint32_t refresh_mhz)
{
    static const struct tp_panel_events events = {on_tick, on_released, on_shown, on_away, NULL};
    struct tp_panel_android_config config = {
        .mode = {64, 32, refresh_mhz}, .log = on_line, .log_data = g};
    struct tp_error e = {.err = 0};
    memset(g, 0, sizeof *g);
    guest_plain_memory = false;
    guest_bad_closes = 0;
    double_reset(level, seed, refresh_mhz, START_NS);
    for (unsigned i = 0; i < GUEST_BUFFERS; i++)
        g->buffers[i] = make(64, 32, DRM_FORMAT_XRGB8888);
    for (unsigned i = GUEST_BUFFERS; i < GUEST_BUFFERS + GUEST_CURSORS; i++)
        g->buffers[i] = make(16, 16, DRM_FORMAT_ARGB8888);
    if (tp_panel_android_create(&config, &g->panel, &e) < 0)
        fail_msg("%s: %s", e.where, e.what);
    g->window = double_window_create(128, 64);
    tp_panel_android_set_window(g->panel, g->window);
    assert_int_equal(g->panel->ops->start(g->panel, &events, g, &e), 0);
}

void guest_finish(struct guest *g)
{
    double_screen(true);
    double_habits(&(struct double_habits){.foreign = TAKES});
    g->panel->ops->destroy(g->panel);
    double_run_until(double_now() + 500000000);
    for (unsigned i = 0; i < g->n_waiting; i++)
        close(find(g, g->waiting[i].serial, g->waiting[i].layer)->fence);
    g->n_waiting = 0;
    if (g->window)
        double_window_destroy(g->window);
    for (unsigned i = 0; i < GUEST_BUFFERS + GUEST_CURSORS; i++) {
        assert_int_equal(g->buffers[i].refs, 0);
        close(g->buffers[i].info.fds[0]);
    }
}

int guest_free_buffer(const struct guest *g)
{
    int best = -1;
    for (unsigned i = 0; i < GUEST_BUFFERS; i++)
        if (g->uses[i] == 0 && (best < 0 || g->freed[i] < g->freed[best]))
            best = (int)i;
    return best;
}

static struct tp_kms_layer layer_of(struct tp_kms_fb *fb)
{
    return (struct tp_kms_layer){.fb = fb,
        .src_w = fb->info.width << 16,
        .src_h = fb->info.height << 16,
        .width = fb->info.width,
        .height = fb->info.height,
        .rotation = DRM_MODE_ROTATE_0,
        .alpha = 0xffff,
        .in_fence = -1};
}

int guest_publish(struct guest *g, int buffer, int cursor, bool async)
{
    struct tp_kms_scanout s = {
        .serial = g->serial + 1, .active = true, .async = async, .mode = {64, 32, 60000}};
    const int used[2] = {buffer, cursor};
    struct given before[2];
    s.layers[s.n_layers] = layer_of(&g->buffers[buffer]);
    s.layers[s.n_layers++].kind = TP_KMS_PRIMARY;
    if (cursor >= 0) {
        s.layers[s.n_layers] = layer_of(&g->buffers[cursor]);
        s.layers[s.n_layers++].kind = TP_KMS_CURSOR;
    }
    s.hdr_metadata = g->hdr;
    s.hdr_metadata_bytes = g->hdr ? sizeof(struct hdr_output_metadata) : 0;
    if (s.serial % 5 == 0)
        s.layers[0].in_fence = eventfd(1, EFD_CLOEXEC);
    memcpy(before, g->given[s.serial % GUEST_RING], sizeof before);
    g->serial++;
    for (unsigned i = 0; i < s.n_layers; i++) {
        assert_true(before[i].serial == 0 || before[i].out);
        g->given[s.serial % GUEST_RING][i] = (struct given){
            .serial = s.serial, .layer = i, .buffer = (unsigned)used[i], .fence = -1};
        g->uses[used[i]]++;
    }
    int r = g->panel->ops->publish(g->panel, &s);
    if (s.layers[0].in_fence >= 0)
        close(s.layers[0].in_fence);
    if (r == 0) {
        g->published++;
        g->given_layers += s.n_layers;
        return 0;
    }
    g->refused++;
    g->serial--;
    for (unsigned i = 0; i < s.n_layers; i++)
        g->uses[used[i]]--;
    memcpy(g->given[s.serial % GUEST_RING], before, sizeof before);
    return r;
}

void guest_look_at_fences(struct guest *g)
{
    unsigned left = 0;
    for (unsigned i = 0; i < g->n_waiting; i++) {
        struct given *v = find(g, g->waiting[i].serial, g->waiting[i].layer);
        struct pollfd p = {.fd = v->fence, .events = POLLIN};
        if (poll(&p, 1, 0) == 0) {
            g->waiting[left++] = g->waiting[i];
            continue;
        }
        close(v->fence);
        v->fence = -1;
        is_free(g, v);
    }
    g->n_waiting = left;
}

void guest_step(struct guest *g)
{
    /* Past the refresh, and past the Choreographer's wake-up. */
    double_run_until(double_next_refresh() + 3000000);
    guest_look_at_fences(g);
}

unsigned guest_outstanding(const struct guest *g)
{
    unsigned n = 0;
    for (unsigned i = 0; i < GUEST_BUFFERS + GUEST_CURSORS; i++)
        n += g->uses[i];
    return n;
}
