/* The whole server on threads of its own: the loop, the publisher and a screen that really
 * refreshes. */
#include "peer.h"

#include "frames/wire/board.h"
#include "frames/wire/scanout.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frames/panel/sim.h"

static struct tp_server *live;
static pthread_t loop;
static atomic_bool stop;

static void *run_loop(void *data)
{
    (void)data;
    while (!atomic_load(&stop))
        if (tp_server_dispatch(live, 100) < 0)
            abort();
    return NULL;
}

static void start_live(struct tp_panel *panel)
{
    struct tp_server_config c = {
        .kms = {.n_outputs = 1,
            .outputs = {{.connected = true, .modes = {{64, 48, 500000}}, .n_modes = 1}}},
        .panels = {panel},
    };
    struct tp_error e = {0};
    assert_int_equal(tp_server_create(&c, &live, &e), 0);
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&loop, NULL, run_loop, NULL), 0);
}

static void stop_live(void)
{
    atomic_store(&stop, true);
    pthread_join(loop, NULL);
    tp_server_destroy(live);
}

/* A client with blocking sockets; no cmocka here, which is not for threads. */
struct user {
    pthread_t thread;
    int card, channel;
    uint32_t sequence;
    uint8_t *in, *out;
    int flips; /* that got their event; negative errno */
};

static int call(struct user *u, unsigned long request, void *arg)
{
    static const struct tp_drm_fences none;
    int fds[TP_FRAME_FDS];
    unsigned n_fds;
    struct tp_frame f;
    ssize_t n = tp_drm_call_encode(request, arg, &none, u->out, TP_FRAME_BYTES - 16, fds, &n_fds);
    if (n < 0)
        return (int)n;
    const struct iovec part = {u->out, (size_t)n};
    int r = tp_frame_send(u->channel, TP_FRAME_CALL, 0, ++u->sequence, &part, 1, fds, n_fds);
    if (r == 0)
        r = tp_frame_recv(u->channel, u->in, &f);
    if (r < 0)
        return r;
    r = tp_drm_reply_decode(request, arg, &none, &f);
    tp_frame_finish(&f);
    return r;
}

static int open_user(struct user *u)
{
    struct tp_hello hello = {TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_CARD, 0, 0};
    const struct iovec part = {&hello, sizeof hello};
    struct tp_frame f;
    int ends[2], r;
    u->in = malloc(TP_FRAME_BYTES);
    u->out = malloc(TP_FRAME_BYTES);
    if (!u->in || !u->out || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return -ENOMEM;
    u->card = ends[0];
    r = tp_server_adopt(live, ends[1]);
    if (r < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return -EMFILE;
    u->channel = ends[0];
    tp_frame_send(u->card, TP_FRAME_HELLO, 0, 0, &part, 1, NULL, 0);
    tp_frame_send(u->card, TP_FRAME_CHANNEL, 0, 0, NULL, 0, &ends[1], 1);
    close(ends[1]);
    r = tp_frame_recv(u->channel, u->in, &f);
    if (r == 0)
        tp_frame_finish(&f);
    return r;
}

static void close_user(struct user *u)
{
    close(u->card);
    close(u->channel);
    free(u->in);
    free(u->out);
}

static int images[2] = {-1, -1}; /* memory of guests' */

/* memory: -1: of the server's. */
static int new_fb(struct user *u, int memory, uint32_t *id)
{
    struct drm_mode_create_dumb d = {.width = 64, .height = 48, .bpp = 32};
    struct drm_prime_handle h = {.fd = memory};
    int r = memory < 0 ? call(u, DRM_IOCTL_MODE_CREATE_DUMB, &d)
                       : call(u, DRM_IOCTL_PRIME_FD_TO_HANDLE, &h);
    struct drm_mode_fb_cmd f = {.width = 64,
        .height = 48,
        .pitch = 64 * 4,
        .bpp = 32,
        .depth = 24,
        .handle = memory < 0 ? d.handle : h.handle};
    if (r == 0)
        r = call(u, DRM_IOCTL_MODE_ADDFB, &f);
    *id = f.fb_id;
    return r;
}

static int set_mode(struct user *u, uint32_t fbs[2], uint32_t *crtc)
{
    uint32_t connector;
    struct drm_mode_modeinfo mode;
    struct drm_mode_card_res res = {.crtc_id_ptr = PTR(crtc),
        .count_crtcs = 1,
        .connector_id_ptr = PTR(&connector),
        .count_connectors = 1};
    int r = call(u, DRM_IOCTL_MODE_GETRESOURCES, &res);
    struct drm_mode_get_connector c = {
        .connector_id = connector, .modes_ptr = PTR(&mode), .count_modes = 1};
    if (r == 0)
        r = call(u, DRM_IOCTL_MODE_GETCONNECTOR, &c);
    for (int i = 0; i < 2 && r == 0; i++)
        r = new_fb(u, images[i], &fbs[i]);
    struct drm_mode_crtc set = {.crtc_id = *crtc,
        .fb_id = fbs[0],
        .set_connectors_ptr = PTR(&connector),
        .count_connectors = 1,
        .mode = mode,
        .mode_valid = 1};
    return r < 0 ? r : call(u, DRM_IOCTL_MODE_SETCRTC, &set);
}

/* Flips 300 times. */
static void *flip_away(void *data)
{
    struct user *u = data;
    uint32_t fbs[2], crtc, last = 0;
    int r = set_mode(u, fbs, &crtc);
    for (int i = 0; i < 300 && r == 0; i++) {
        struct drm_event_vblank e;
        struct drm_mode_crtc_page_flip f = {
            .crtc_id = crtc, .fb_id = fbs[(i + 1) % 2], .flags = DRM_MODE_PAGE_FLIP_EVENT};
        r = call(u, DRM_IOCTL_MODE_PAGE_FLIP, &f);
        if (r == 0 && recv(u->card, &e, sizeof e, 0) != sizeof e)
            r = -EIO;
        if (r == 0 && i > 1 && e.sequence <= last)
            r = -ERANGE; /* two in one refresh */
        last = e.sequence;
        u->flips++;
    }
    if (r < 0)
        u->flips = r;
    return NULL;
}

/* Comes, waits for a vblank that is far away or allocates, and goes, again and again. */
static void *come_and_go(void *data)
{
    struct user *u = data;
    for (int i = 0; i < 150; i++) {
        uint32_t id;
        *u = (struct user){.card = -1, .channel = -1};
        int r = open_user(u);
        if (r == 0)
            r = new_fb(u, -1, &id);
        close_user(u);
        if (r < 0) {
            u->flips = r;
            return NULL;
        }
    }
    u->flips = 150;
    return NULL;
}

static int send_name(struct user *u, uint32_t fourcc, const struct tp_buffer_name *name, int memory)
{
    const struct tp_scanout_frame f = {.fourcc = fourcc, .fd = memory, .u.reg.buffer = *name};
    uint8_t payload[TP_SCANOUT_BYTES];
    const struct iovec part = {payload, tp_scanout_encode(&f, payload)};
    return tp_frame_send(u->card, fourcc, 0, 1, &part, 1, &memory, memory >= 0);
}

/* Says hello, registers both images, and gets its board. */
static int join(struct user *u, struct tp_board_view *board)
{
    const struct tp_hello mine = {TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_SCANOUT, 0,
        TP_CAP_BOARD | TP_CAP_RELEASE_FENCE | TP_CAP_TIMELINE};
    const struct iovec part = {(void *)(uintptr_t)&mine, sizeof mine};
    struct tp_hello hello;
    struct tp_frame f;
    uint32_t version;
    int ends[2], fd = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return -errno;
    u->card = ends[0];
    int r = tp_server_adopt(live, ends[1]);
    if (r == 0)
        r = tp_frame_send(u->card, TP_FRAME_HELLO, 0, 0, &part, 1, NULL, 0);
    if (r == 0)
        r = tp_frame_recv(u->card, u->in, &f);
    if (r == 0) {
        r = tp_scanout_hello(&f, true, &hello, &version, &fd);
        tp_frame_finish(&f);
    }
    if (r == 0)
        r = tp_board_open(fd, board);
    if (fd >= 0)
        close(fd);
    for (uint32_t i = 0; i < 2 && r == 0; i++) {
        struct stat st;
        fstat(images[i], &st);
        const struct tp_buffer_name name = {{st.st_dev, st.st_ino}, i + 1, TP_BUFFER_NO_INDEX};
        r = send_name(u, TP_FRAME_REGISTER, &name, images[i]);
    }
    return r;
}

/* Is what a note says on the board, or has something newer taken its place? */
static bool is_on_board(const struct tp_board_view *board, const struct tp_note *n)
{
    uint32_t low;
    int state = tp_board_read(board, n->buffer.index, n->buffer.generation, &low);
    return state >= 0 && (int32_t)((low >> 2) - (n->low >> 2)) >= 0;
}

/* Comes, hears of its buffers, and goes, again and again. */
static void *listen_and_go(void *data)
{
    struct user *u = data;
    u->in = malloc(TP_FRAME_BYTES);
    for (int i = 0; (i < 20 || (u->flips == 0 && i < 2000)) && u->in && u->flips >= 0; i++) {
        struct tp_board_view board = {0};
        u->card = -1;
        int r = join(u, &board);
        for (int k = 0; k < 20 && r == 0; k++) {
            struct tp_scanout_frame f = {.fd = -1};
            struct tp_frame frame;
            r = tp_frame_recv(u->card, u->in, &frame);
            if (r == 0)
                r = tp_scanout_decode(&frame, true, &f);
            if (r == 0 && f.fourcc == TP_FRAME_NOTE) {
                u->flips++;
                if (!is_on_board(&board, &f.u.note))
                    r = -ESTALE;
            }
            tp_scanout_finish(&f);
            tp_frame_finish(&frame);
        }
        if (r < 0)
            u->flips = r;
        tp_board_close(&board);
        if (u->card >= 0)
            close(u->card);
    }
    free(u->in);
    return NULL;
}

static void make_images(void)
{
    for (int i = 0; i < 2; i++) {
        images[i] = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        assert_int_equal(ftruncate(images[i], 64 * 48 * 4), 0);
    }
}

static void threads_and_clients_get_along(void **state)
{
    const struct tp_panel_sim_config config = {
        .mode = {64, 48, 500000}, .lead_ns = 100000, .pipeline = 1};
    struct tp_panel *panel;
    struct tp_error e = {0};
    struct user flipper = {.card = -1}, guests[2], listeners[2] = {{.flips = 0}};
    struct tp_server_counts c;
    (void)state;
    assert_int_equal(tp_panel_sim_create(&config, &panel, &e), 0);
    start_live(panel);
    make_images();
    assert_int_equal(open_user(&flipper), 0);
    pthread_create(&flipper.thread, NULL, flip_away, &flipper);
    pthread_t threads[4];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, come_and_go, &guests[i]);
        pthread_create(&threads[2 + i], NULL, listen_and_go, &listeners[i]);
    }
    for (int i = 0; i < 20; i++) { /* while they are at it */
        struct tp_image image;
        assert_int_equal(tp_server_look(live, 0, &image, &e), 0);
        tp_image_finish(&image);
        tp_server_count(live, &c);
    }
    pthread_join(flipper.thread, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(flipper.flips, 300);
    assert_int_equal(guests[0].flips, 150);
    assert_int_equal(guests[1].flips, 150);
    for (int i = 0; i < 2; i++)
        assert_true(listeners[i].flips > 0); /* notes */
    struct tp_server_shown shown;
    tp_server_shown(live, 0, &shown);
    assert_true(shown.frames > 0);
    close_user(&flipper);
    stop_live();
    for (int i = 0; i < 2; i++) {
        close(images[i]);
        images[i] = -1;
    }
}

/* --- a screen whose driver takes its time --- */

static struct {
    struct tp_panel panel;
    sem_t asked, allowed;
} slow;

static int slow_start(
    struct tp_panel *p, const struct tp_panel_events *events, void *data, struct tp_error *e)
{
    const struct tp_panel_tick t = {1, 1000, 2000000, 0, 0};
    (void)p;
    (void)e;
    events->tick(data, &t);
    return 0;
}

static int slow_publish(struct tp_panel *p, const struct tp_kms_scanout *s)
{
    (void)p;
    (void)s;
    sem_post(&slow.asked);
    sem_wait(&slow.allowed);
    return 0;
}

static int slow_set_mode(struct tp_panel *p, const struct tp_kms_mode *mode, bool vrr)
{
    (void)p;
    (void)mode;
    (void)vrr;
    return 0;
}

static void slow_destroy(struct tp_panel *p)
{
    (void)p;
}

static void *only_set_mode(void *data)
{
    struct user *u = data;
    uint32_t fbs[2], crtc;
    u->flips = set_mode(u, fbs, &crtc);
    return NULL;
}

static void a_screen_that_takes_its_time_holds_up_nobody_else(void **state)
{
    static const struct tp_panel_ops ops = {
        slow_start, slow_publish, slow_set_mode, NULL, slow_destroy};
    struct user waiting = {.card = -1}, other = {.card = -1};
    uint32_t id;
    (void)state;
    sem_init(&slow.asked, 0, 0);
    sem_init(&slow.allowed, 0, 0);
    slow.panel = (struct tp_panel){.ops = &ops};
    start_live(&slow.panel);
    assert_int_equal(open_user(&waiting), 0);
    assert_int_equal(open_user(&other), 0);
    waiting.flips = 1;
    pthread_create(&waiting.thread, NULL, only_set_mode, &waiting);
    sem_wait(&slow.asked); /* the publishing thread is in the driver from here on */
    for (int i = 0; i < 100; i++)
        assert_int_equal(new_fb(&other, -1, &id), 0);
    sem_post(&slow.allowed);
    pthread_join(waiting.thread, NULL);
    assert_int_equal(waiting.flips, 0);
    close_user(&waiting);
    close_user(&other);
    sem_post(&slow.allowed); /* what is switched off as they go */
    stop_live();
    sem_destroy(&slow.asked);
    sem_destroy(&slow.allowed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_and_clients_get_along),
        cmocka_unit_test(a_screen_that_takes_its_time_holds_up_nobody_else),
    };
    return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
