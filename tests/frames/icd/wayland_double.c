#include "wayland_double.h"

#include <drm_fourcc.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <wayland-server.h>

#include "linux-dmabuf-server.h"
#include "linux-explicit-synchronization-server.h"
#include "presentation-time-server.h"
#include "tearing-control-server.h"

#define MAX_COMMITS 200000u

struct double_commit double_commits[MAX_COMMITS];
unsigned double_n_commits, double_n_frames, double_n_buffers, double_n_errors;

static struct double_options options;
static struct wl_display *display;
static struct wl_client *client;
static struct wl_protocol_logger *logger;
static pthread_t thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came;
static bool ends;
static int wake = -1;

/* One surface at a time has pending state: commits are the unit, and clients send them whole. */
struct surface {
    struct double_commit pending;
    bool attached;
    struct wl_resource *feedback; /* of linux-dmabuf */
};
static struct wl_resource *last_feedback;
static struct wl_list frames;

/* --- objects without a life of their own --- */

static void on_destroy(struct wl_client *c, struct wl_resource *r)
{
    (void)c;
    wl_resource_destroy(r);
}

static struct wl_resource *make(struct wl_client *c, const struct wl_interface *interface,
    uint32_t version, uint32_t id, const void *implementation, void *data)
{
    struct wl_resource *r = wl_resource_create(c, interface, (int)version, id);

    wl_resource_set_implementation(r, implementation, data, NULL);
    return r;
}

static struct surface *surface_of(struct wl_resource *r)
{
    return wl_resource_get_user_data(r);
}

/* --- regions --- */

static void region_change(
    struct wl_client *c, struct wl_resource *r, int32_t x, int32_t y, int32_t width, int32_t height)
{
    (void)c;
    (void)r;
    (void)x;
    (void)y;
    (void)width;
    (void)height;
}
static const struct wl_region_interface region = {on_destroy, region_change, region_change};

/* --- buffers that are dma-bufs --- */

static const struct wl_buffer_interface buffer = {on_destroy};

static void buffer_gone(struct wl_resource *r)
{
    for (unsigned i = double_n_commits; i-- > 0 && double_n_commits - i < 1000;)
        if (double_commits[i].buffer == r)
            double_commits[i].buffer = NULL;
    double_n_buffers--;
}

struct params {
    ino_t memory;
};

static void params_add(struct wl_client *c, struct wl_resource *r, int32_t fd, uint32_t plane,
    uint32_t offset, uint32_t stride, uint32_t high, uint32_t low)
{
    struct params *p = wl_resource_get_user_data(r);
    struct stat st;

    (void)c;
    (void)plane;
    (void)offset;
    (void)stride;
    (void)high;
    (void)low;
    if (fstat(fd, &st) == 0)
        p->memory = st.st_ino;
    close(fd);
}

static void params_create(struct wl_client *c, struct wl_resource *r, int32_t width, int32_t height,
    uint32_t format, uint32_t flags)
{
    struct params *p = wl_resource_get_user_data(r);

    (void)width;
    (void)height;
    (void)format;
    (void)flags;
    if (options.refuse) {
        zwp_linux_buffer_params_v1_send_failed(r);
        return;
    }
    struct wl_resource *b = wl_resource_create(c, &wl_buffer_interface, 1, 0);
    wl_resource_set_implementation(b, &buffer, (void *)(uintptr_t)p->memory, buffer_gone);
    double_n_buffers++;
    zwp_linux_buffer_params_v1_send_created(r, b);
}

static void params_create_immed(struct wl_client *c, struct wl_resource *r, uint32_t id,
    int32_t width, int32_t height, uint32_t format, uint32_t flags)
{
    (void)c;
    (void)id;
    (void)width;
    (void)height;
    (void)format;
    (void)flags;
    wl_resource_post_error(r, 0, "not asked");
}
static const struct zwp_linux_buffer_params_v1_interface params = {
    on_destroy, params_add, params_create, params_create_immed};

static void params_gone(struct wl_resource *r)
{
    free(wl_resource_get_user_data(r));
}

static void dmabuf_create_params(struct wl_client *c, struct wl_resource *r, uint32_t id)
{
    struct params *p = calloc(1, sizeof *p);
    struct wl_resource *made = wl_resource_create(
        c, &zwp_linux_buffer_params_v1_interface, wl_resource_get_version(r), id);

    wl_resource_set_implementation(made, &params, p, params_gone);
}

/* --- linux-dmabuf's feedback --- */

static const struct zwp_linux_dmabuf_feedback_v1_interface feedback = {on_destroy};

struct entry {
    uint32_t fourcc, padding;
    uint64_t modifier;
};
static const struct entry table[] = {
    {DRM_FORMAT_XRGB8888, 0, DRM_FORMAT_MOD_LINEAR},
    {DRM_FORMAT_ARGB8888, 0, DRM_FORMAT_MOD_LINEAR},
    {DRM_FORMAT_XRGB8888, 0, DOUBLE_MODIFIER},
    {DRM_FORMAT_ARGB8888, 0, DOUBLE_MODIFIER},
};

static void send_tranche(struct wl_resource *r, const uint16_t *indices, size_t n)
{
    dev_t device = DOUBLE_DEVICE;
    struct wl_array target = {sizeof device, sizeof device, &device};
    struct wl_array formats = {n * sizeof *indices, 0, (void *)(uintptr_t)indices};

    zwp_linux_dmabuf_feedback_v1_send_tranche_target_device(r, &target);
    zwp_linux_dmabuf_feedback_v1_send_tranche_flags(r, 0);
    zwp_linux_dmabuf_feedback_v1_send_tranche_formats(r, &formats);
    zwp_linux_dmabuf_feedback_v1_send_tranche_done(r);
}

static void send_feedback(struct wl_resource *r, bool vendor)
{
    static const uint16_t linear[] = {0, 1}, vendors[] = {2, 3}, beyond[] = {0, 999};
    dev_t device = DOUBLE_DEVICE;
    struct wl_array main = {sizeof device, sizeof device, &device};
    int fd = memfd_create("table", MFD_CLOEXEC);

    if (write(fd, table, sizeof table) == (ssize_t)sizeof table)
        zwp_linux_dmabuf_feedback_v1_send_format_table(r, fd, sizeof table);
    close(fd);
    zwp_linux_dmabuf_feedback_v1_send_main_device(r, &main);
    if (vendor)
        send_tranche(r, vendors, 2);
    send_tranche(r, linear, 2);
    send_tranche(r, beyond, 2); /* again, and one that is not in the table */
    zwp_linux_dmabuf_feedback_v1_send_done(r);
}

void double_feedback(bool vendor)
{
    send_feedback(last_feedback, vendor);
}

static void feedback_gone(struct wl_resource *r)
{
    if (last_feedback == r)
        last_feedback = NULL;
}

static void dmabuf_surface_feedback(
    struct wl_client *c, struct wl_resource *r, uint32_t id, struct wl_resource *surface)
{
    (void)surface;
    last_feedback = wl_resource_create(
        c, &zwp_linux_dmabuf_feedback_v1_interface, wl_resource_get_version(r), id);
    wl_resource_set_implementation(last_feedback, &feedback, NULL, feedback_gone);
    send_feedback(last_feedback, true);
}

static void dmabuf_default_feedback(struct wl_client *c, struct wl_resource *r, uint32_t id)
{
    dmabuf_surface_feedback(c, r, id, NULL);
}
static const struct zwp_linux_dmabuf_v1_interface dmabuf = {
    on_destroy, dmabuf_create_params, dmabuf_default_feedback, dmabuf_surface_feedback};

/* --- explicit synchronization --- */

static const struct {
    int nothing;
} release_implementation;

static void release_gone(struct wl_resource *r)
{
    struct double_commit *commit = wl_resource_get_user_data(r);

    if (commit && commit->release == r)
        commit->release = NULL;
}

static void sync_fence(struct wl_client *c, struct wl_resource *r, int32_t fd)
{
    (void)c;
    surface_of(r)->pending.fence = fd;
}

static void sync_release(struct wl_client *c, struct wl_resource *r, uint32_t id)
{
    struct wl_resource *made = wl_resource_create(c, &zwp_linux_buffer_release_v1_interface, 1, id);

    wl_resource_set_implementation(made, &release_implementation, NULL, release_gone);
    surface_of(r)->pending.release = made;
}
static const struct zwp_linux_surface_synchronization_v1_interface surface_sync = {
    on_destroy, sync_fence, sync_release};

static void sync_get(
    struct wl_client *c, struct wl_resource *r, uint32_t id, struct wl_resource *surface)
{
    make(c, &zwp_linux_surface_synchronization_v1_interface, wl_resource_get_version(r), id,
        &surface_sync, surface_of(surface));
}
static const struct zwp_linux_explicit_synchronization_v1_interface sync_factory = {
    on_destroy, sync_get};

/* --- presentation --- */

static void shown_gone(struct wl_resource *r)
{
    struct double_commit *commit = wl_resource_get_user_data(r);

    if (commit && commit->feedback == r)
        commit->feedback = NULL;
}

static void presentation_feedback(
    struct wl_client *c, struct wl_resource *r, struct wl_resource *surface, uint32_t id)
{
    struct wl_resource *made = wl_resource_create(c, &wp_presentation_feedback_interface, 1, id);

    (void)r;
    wl_resource_set_implementation(made, NULL, NULL, shown_gone);
    surface_of(surface)->pending.feedback = made;
}
static const struct wp_presentation_interface presentation = {on_destroy, presentation_feedback};

/* --- tearing --- */

static void tearing_hint(struct wl_client *c, struct wl_resource *r, uint32_t hint)
{
    (void)c;
    surface_of(r)->pending.hint = hint;
}
static const struct wp_tearing_control_v1_interface tearing_control = {tearing_hint, on_destroy};

static void tearing_get(
    struct wl_client *c, struct wl_resource *r, uint32_t id, struct wl_resource *surface)
{
    (void)r;
    make(c, &wp_tearing_control_v1_interface, 1, id, &tearing_control, surface_of(surface));
}
static const struct wp_tearing_control_manager_v1_interface tearing = {on_destroy, tearing_get};

/* --- surfaces --- */

static void frame_gone(struct wl_resource *r)
{
    wl_list_remove(wl_resource_get_link(r));
    double_n_frames--;
}

static void surface_attach(
    struct wl_client *c, struct wl_resource *r, struct wl_resource *b, int32_t x, int32_t y)
{
    (void)c;
    (void)x;
    (void)y;
    surface_of(r)->pending.buffer = b;
    surface_of(r)->attached = b;
}

static void damaged(struct double_commit *p, int32_t x, int32_t y, int32_t width, int32_t height)
{
    if (p->n_damage++ == 0)
        memcpy(p->damage, (int32_t[4]){x, y, width, height}, sizeof p->damage);
}

static void surface_damage(
    struct wl_client *c, struct wl_resource *r, int32_t x, int32_t y, int32_t width, int32_t height)
{
    (void)c;
    damaged(&surface_of(r)->pending, x, y, width, height);
}

static void surface_damage_buffer(
    struct wl_client *c, struct wl_resource *r, int32_t x, int32_t y, int32_t width, int32_t height)
{
    (void)c;
    surface_of(r)->pending.damage_in_buffer = true;
    damaged(&surface_of(r)->pending, x, y, width, height);
}

static void surface_frame(struct wl_client *c, struct wl_resource *r, uint32_t id)
{
    struct wl_resource *made = wl_resource_create(c, &wl_callback_interface, 1, id);

    (void)r;
    wl_resource_set_implementation(made, NULL, NULL, frame_gone);
    wl_list_insert(frames.prev, wl_resource_get_link(made));
    double_n_frames++;
}

static void surface_opaque(struct wl_client *c, struct wl_resource *r, struct wl_resource *area)
{
    (void)c;
    surface_of(r)->pending.opaque = area;
}

static void surface_input(struct wl_client *c, struct wl_resource *r, struct wl_resource *area)
{
    (void)c;
    (void)r;
    (void)area;
}

static void surface_transform(struct wl_client *c, struct wl_resource *r, int32_t transform)
{
    (void)c;
    surface_of(r)->pending.transform = transform;
}

static void surface_scale(struct wl_client *c, struct wl_resource *r, int32_t scale)
{
    (void)c;
    (void)r;
    (void)scale;
}

static void surface_commit(struct wl_client *c, struct wl_resource *r)
{
    struct surface *s = surface_of(r);

    (void)c;
    if (s->attached && double_n_commits < MAX_COMMITS) {
        struct double_commit *commit = &double_commits[double_n_commits];
        struct wl_shm_buffer *shm = wl_shm_buffer_get(s->pending.buffer);
        *commit = s->pending;
        if (shm) {
            wl_shm_buffer_begin_access(shm);
            memcpy(&commit->first_pixel, wl_shm_buffer_get_data(shm), sizeof commit->first_pixel);
            wl_shm_buffer_end_access(shm);
        } else {
            commit->memory = (ino_t)(uintptr_t)wl_resource_get_user_data(commit->buffer);
        }
        if (commit->feedback)
            wl_resource_set_user_data(commit->feedback, commit);
        if (commit->release)
            wl_resource_set_user_data(commit->release, commit);
        double_n_commits++;
        pthread_cond_broadcast(&came);
    }
    s->attached = false;
    s->pending = (struct double_commit){.fence = -1,
        .transform = s->pending.transform,
        .opaque = s->pending.opaque,
        .hint = s->pending.hint};
}

static const struct wl_surface_interface surface_implementation = {
    .destroy = on_destroy,
    .attach = surface_attach,
    .damage = surface_damage,
    .frame = surface_frame,
    .set_opaque_region = surface_opaque,
    .set_input_region = surface_input,
    .commit = surface_commit,
    .set_buffer_transform = surface_transform,
    .set_buffer_scale = surface_scale,
    .damage_buffer = surface_damage_buffer,
};

static void surface_gone(struct wl_resource *r)
{
    free(wl_resource_get_user_data(r));
}

static void create_surface(struct wl_client *c, struct wl_resource *r, uint32_t id)
{
    struct surface *s = calloc(1, sizeof *s);
    struct wl_resource *made =
        wl_resource_create(c, &wl_surface_interface, wl_resource_get_version(r), id);

    s->pending.fence = -1;
    wl_resource_set_implementation(made, &surface_implementation, s, surface_gone);
}

static void create_region(struct wl_client *c, struct wl_resource *r, uint32_t id)
{
    (void)r;
    make(c, &wl_region_interface, 1, id, &region, NULL);
}
static const struct wl_compositor_interface compositor = {create_surface, create_region};

void double_refresh(void)
{
    struct wl_resource *r, *next;

    wl_resource_for_each_safe(r, next, &frames)
    {
        wl_callback_send_done(r, 0);
        wl_resource_destroy(r);
    }
}

void double_shown(
    unsigned commit, int64_t time_ns, uint32_t period_ns, uint64_t sequence, bool by_hardware)
{
    struct wl_resource *r = double_commits[commit].feedback;
    uint64_t s = (uint64_t)(time_ns / 1000000000);

    wp_presentation_feedback_send_presented(r, (uint32_t)(s >> 32), (uint32_t)s,
        (uint32_t)(time_ns % 1000000000), period_ns, (uint32_t)(sequence >> 32), (uint32_t)sequence,
        by_hardware ? WP_PRESENTATION_FEEDBACK_KIND_HW_CLOCK : 0);
    wl_resource_destroy(r);
}

void double_discarded(unsigned commit)
{
    struct wl_resource *r = double_commits[commit].feedback;

    wp_presentation_feedback_send_discarded(r);
    wl_resource_destroy(r);
}

void double_release_buffer(unsigned commit)
{
    wl_buffer_send_release(double_commits[commit].buffer);
}

void double_release(unsigned commit, int fence)
{
    struct wl_resource *r = double_commits[commit].release;

    if (!r) {
        double_release_buffer(commit);
        return;
    }
    if (fence >= 0)
        zwp_linux_buffer_release_v1_send_fenced_release(r, fence);
    else
        zwp_linux_buffer_release_v1_send_immediate_release(r);
    wl_resource_destroy(r);
}

/* --- globals --- */

static void bind_plain(struct wl_client *c, void *data, uint32_t version, uint32_t id)
{
    const struct wl_interface *interface = data;
    const void *implementation = interface == &wl_compositor_interface  ? (void *)&compositor
        : interface == &zwp_linux_explicit_synchronization_v1_interface ? (void *)&sync_factory
        : interface == &wp_tearing_control_manager_v1_interface         ? (void *)&tearing
        : interface == &wp_presentation_interface                       ? (void *)&presentation
                                                                        : (void *)&dmabuf;
    struct wl_resource *r = make(c, interface, version, id, implementation, NULL);

    if (interface == &wp_presentation_interface)
        wp_presentation_send_clock_id(r, (uint32_t)options.clock);
    if (interface != &zwp_linux_dmabuf_v1_interface || version >= 4)
        return;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        zwp_linux_dmabuf_v1_send_format(r, table[i].fourcc);
        if (version >= 3)
            zwp_linux_dmabuf_v1_send_modifier(r, table[i].fourcc,
                (uint32_t)(table[i].modifier >> 32), (uint32_t)table[i].modifier);
    }
}

static void offer(const struct wl_interface *interface, int version)
{
    wl_global_create(display, interface, version, (void *)(uintptr_t)interface, bind_plain);
}

/* Only its name counts. */
static const struct wl_interface gamescope = {.name = "gamescope_xwayland", .version = 1};

/* --- its life --- */

static void *run(void *data)
{
    struct wl_event_loop *loop = wl_display_get_event_loop(display);
    struct pollfd fds[2] = {
        {.fd = wl_event_loop_get_fd(loop), .events = POLLIN}, {.fd = wake, .events = POLLIN}};
    bool end = false;

    while (!end) {
        poll(fds, 2, -1);
        uint64_t n;
        if (fds[1].revents && read(wake, &n, sizeof n) < 0)
            break;
        pthread_mutex_lock(&lock);
        wl_event_loop_dispatch(loop, 0);
        wl_display_flush_clients(display);
        end = ends;
        pthread_mutex_unlock(&lock);
    }
    return data;
}

static void client_gone(struct wl_listener *listener, void *data)
{
    (void)listener;
    (void)data;
    client = NULL;
}
static struct wl_listener client_listener = {.notify = client_gone};

/* A protocol error is the client's end; tests want to know that there was none. */
static void heard(
    void *data, enum wl_protocol_logger_type direction, const struct wl_protocol_logger_message *m)
{
    (void)data;
    if (direction == WL_PROTOCOL_LOGGER_EVENT &&
        strcmp(wl_resource_get_class(m->resource), "wl_display") == 0 &&
        strcmp(m->message->name, "error") == 0)
        double_n_errors++;
}

/* What the library would print of clients that end. */
static void keep_quiet(const char *fmt, va_list args)
{
    (void)fmt;
    (void)args;
}

int double_start(const struct double_options *o)
{
    pthread_condattr_t monotonic;
    int ends_of_it[2];

    options = *o;
    double_n_commits = double_n_frames = double_n_buffers = double_n_errors = 0;
    ends = false;
    wl_list_init(&frames);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&came, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_of_it) < 0)
        return -errno;
    wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    wl_log_set_handler_server(keep_quiet);
    display = wl_display_create();
    logger = wl_display_add_protocol_logger(display, heard, NULL);
    offer(&wl_compositor_interface, o->compositor ? o->compositor : 4);
    if (!o->no_shm)
        wl_display_init_shm(display);
    if (o->dmabuf)
        offer(&zwp_linux_dmabuf_v1_interface, (int)o->dmabuf);
    if (o->sync)
        offer(&zwp_linux_explicit_synchronization_v1_interface, 2);
    if (o->presentation)
        offer(&wp_presentation_interface, 1);
    if (o->tearing)
        offer(&wp_tearing_control_manager_v1_interface, 1);
    if (o->gamescope)
        offer(&gamescope, 1);
    client = wl_client_create(display, ends_of_it[0]);
    wl_client_add_destroy_listener(client, &client_listener);
    pthread_create(&thread, NULL, run, NULL);
    return ends_of_it[1];
}

static void go_on(void)
{
    uint64_t one = 1;

    if (write(wake, &one, sizeof one) < 0)
        abort();
}

void double_stop(void)
{
    pthread_mutex_lock(&lock);
    ends = true;
    pthread_mutex_unlock(&lock);
    go_on();
    pthread_join(thread, NULL);
    wl_display_destroy_clients(display);
    wl_protocol_logger_destroy(logger);
    wl_display_destroy(display);
    for (unsigned i = 0; i < double_n_commits; i++)
        if (double_commits[i].fence >= 0)
            close(double_commits[i].fence);
    memset(double_commits, 0, double_n_commits * sizeof *double_commits);
    close(wake);
    pthread_cond_destroy(&came);
}

void double_lock(void)
{
    pthread_mutex_lock(&lock);
}

void double_unlock(void)
{
    wl_display_flush_clients(display);
    pthread_mutex_unlock(&lock);
}

bool double_await_commits(unsigned n)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 20;
    pthread_mutex_lock(&lock);
    while (double_n_commits < n && pthread_cond_timedwait(&came, &lock, &until) == 0)
        ;
    bool there = double_n_commits >= n;
    pthread_mutex_unlock(&lock);
    return there;
}

void double_hang_up(void)
{
    pthread_mutex_lock(&lock);
    if (client)
        wl_client_destroy(client);
    pthread_mutex_unlock(&lock);
}
