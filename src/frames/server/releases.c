#include "frames/server/releases.h"

#include <errno.h>
#include <linux/dma-buf.h>
#include <linux/magic.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/proc.h"

#define EVENTS 64
#define SOCKET_BYTES (32 << 10) /* of notes that a guest has not read; the rest is made one */

#ifndef DMA_BUF_MAGIC
#define DMA_BUF_MAGIC 0x444d4142 /* linux/magic.h, 5.3 */
#endif
#ifndef DMA_BUF_IOCTL_IMPORT_SYNC_FILE /* linux/dma-buf.h, 6.0 */
struct dma_buf_import_sync_file {
    uint32_t flags;
    int32_t fd;
};
#define DMA_BUF_IOCTL_IMPORT_SYNC_FILE _IOW(DMA_BUF_BASE, 3, struct dma_buf_import_sync_file)
#endif

struct tp_guest {
    int sock;               /* the connection's */
    void *source;           /* what the loop's set knows the socket by */
    bool full;              /* it is waited for: nothing is read before there is room */
    struct tp_board *board; /* owned; NULL */
    uint64_t capabilities;
    struct tp_notes_peer *peer;
};

/* What was handed to a panel, by its layers' memory. */
struct picture {
    uint64_t serial;
    unsigned n_layers;
    struct tp_identity layers[TP_KMS_LAYERS];
};

struct tp_releases {
    struct tp_releases_config config;
    void *source;
    int epoll; /* owned: fences and the timer; a set of its own, in the loop's only for guests */
    int timer; /* owned */
    atomic_uint_least64_t serial;
    pthread_mutex_t lock; /* all below */
    struct tp_notes *notes;
    unsigned n_guests;
    int64_t timer_ns; /* what it is set to */
    bool no_implicit; /* the kernel puts no fence into a dma-buf */
    struct output {
        struct picture next, newest;       /* on its way to the panel; what it took last */
        bool away, unsaid;                 /* next was not told, for the panel is away */
        uint64_t blank_serial;             /* 0: none is on its way */
        struct tp_timeline_frame timeline; /* period 0: none yet */
    } outputs[TP_KMS_OUTPUTS];
};
_Static_assert(TP_KMS_OUTPUTS <= TP_NOTES_OUTPUTS, "each has its notes");

/* --- what the notes ask for; the lock is held --- */

static void listen_to(struct tp_releases *r, struct tp_guest *g, bool full)
{
    struct epoll_event ev = {.events = full ? EPOLLOUT : EPOLLIN, .data.ptr = g->source};
    if (g->full == full)
        return;
    g->full = full;
    epoll_ctl(r->config.epoll, EPOLL_CTL_MOD, g->sock, &ev);
}

static bool is_without_fd(int err)
{
    return err == -ETOOMANYREFS || err == -EMFILE || err == -ENFILE || err == -ENOBUFS;
}

static int on_send(void *data, void *peer, const struct tp_scanout_frame *f)
{
    struct tp_guest *g = peer;
    uint8_t payload[TP_SCANOUT_BYTES];
    const struct iovec part = {payload, tp_scanout_encode(f, payload)};
    int r =
        tp_frame_send_now(g->sock, f->fourcc, f->flags, f->sequence, &part, 1, &f->fd, f->fd >= 0);
    if (r == -EAGAIN)
        listen_to(data, g, true);
    else if (r < 0 && !(f->fd >= 0 && is_without_fd(r)))
        shutdown(g->sock, SHUT_RDWR); /* the loop finds it gone */
    return r;
}

static void on_board(void *data, void *peer, unsigned index, uint64_t word)
{
    struct tp_guest *g = peer;
    (void)data;
    tp_board_store(g->board, index, word);
    tp_board_wake(g->board, index);
}

static void on_watch(void *data, int fence)
{
    struct tp_releases *r = data;
    struct epoll_event ev = {.events = EPOLLIN, .data.fd = fence};
    epoll_ctl(r->epoll, EPOLL_CTL_ADD, fence, &ev); /* else it is silent, which ends in a second */
}

/* Whoever else has the fence keeps its open file, which would stay in the set. */
static void on_close_fence(void *data, int fence)
{
    struct tp_releases *r = data;
    epoll_ctl(r->epoll, EPOLL_CTL_DEL, fence, NULL);
    close(fence);
}

static void on_close_memory(void *data, int memory)
{
    (void)data;
    close(memory);
}

static void on_implicit(void *data, int memory, int fence)
{
    struct tp_releases *r = data;
    struct dma_buf_import_sync_file import = {.flags = DMA_BUF_SYNC_READ, .fd = fence};
    struct statfs fs;
    if (r->no_implicit || ioctl(memory, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &import) == 0)
        return;
    if (errno == ENOTTY && fstatfs(memory, &fs) == 0 && (uint32_t)fs.f_type == DMA_BUF_MAGIC)
        r->no_implicit = true; /* memory of another kind has no fences on any kernel */
}

static int on_blank(void *data, unsigned output)
{
    struct tp_releases *r = data;
    return r->config.blank(r->config.data, output);
}

/* --- time --- */

/* Deadlines only ever move away but by what arms it anew: the timer may ring too soon. */
static void arm(struct tp_releases *r, int64_t at_ns)
{
    if (r->n_guests == 0 || r->timer_ns <= at_ns)
        return;
    int64_t ns = at_ns > 0 ? at_ns : 1;
    const struct itimerspec t = {.it_value = {ns / 1000000000, ns % 1000000000}};
    timerfd_settime(r->timer, TFD_TIMER_ABSTIME, &t, NULL);
    r->timer_ns = at_ns;
}

static void ring(struct tp_releases *r)
{
    uint64_t count;
    ssize_t n = read(r->timer, &count, sizeof count);
    (void)n;
    r->timer_ns = INT64_MAX;
    tp_notes_expire(r->notes, tp_now_ns());
    arm(r, tp_notes_deadline(r->notes));
}

static void look(struct tp_releases *r)
{
    struct epoll_event events[EVENTS];
    /* With the lock held, what is in the set is what the notes have: no number is of an older
     * fence. */
    int n = epoll_wait(r->epoll, events, EVENTS, 0);
    for (int i = 0; i < n; i++) {
        if (events[i].data.fd == r->timer)
            ring(r);
        else
            tp_notes_signalled(r->notes, events[i].data.fd);
    }
}

void tp_releases_ready(struct tp_releases *r)
{
    pthread_mutex_lock(&r->lock);
    look(r);
    pthread_mutex_unlock(&r->lock);
}

/* --- guests --- */

static int greet(struct tp_guest *g, int board)
{
    const struct tp_hello hello = {.version = TP_WIRE_VERSION,
        .oldest = TP_WIRE_OLDEST,
        .kind = TP_HELLO_SCANOUT,
        .capabilities = g->board ? TP_RELEASES_CAPS : TP_RELEASES_CAPS & ~(uint64_t)TP_CAP_BOARD};
    const struct iovec part = {(void *)(uintptr_t)&hello, sizeof hello};
    return tp_frame_send_now(g->sock, TP_FRAME_HELLO, 0, 0, &part, 1, &board, g->board != NULL);
}

static void drop_board(struct tp_guest *g)
{
    tp_board_destroy(g->board);
    g->board = NULL;
    g->capabilities &= ~(uint64_t)TP_CAP_BOARD;
}

/* The loop hears of fences and of time only where somebody is to be told. */
static void count_guests(struct tp_releases *r, int more)
{
    bool had = r->n_guests > 0;
    r->n_guests += (unsigned)more;
    struct epoll_event ev = {.events = r->n_guests > 0 ? EPOLLIN : 0, .data.ptr = r->source};
    if (had != (r->n_guests > 0))
        epoll_ctl(r->config.epoll, EPOLL_CTL_MOD, r->epoll, &ev);
}

int tp_releases_join(
    struct tp_releases *r, int sock, void *source, uint64_t capabilities, struct tp_guest **out)
{
    struct tp_guest *g = tp_calloc(1, sizeof *g);
    const int bytes = SOCKET_BYTES;
    int board = -1;
    *out = NULL;
    g->sock = sock;
    g->source = source;
    g->capabilities = capabilities & TP_RELEASES_CAPS;
    setsockopt(sock, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    pthread_mutex_lock(&r->lock);
    int err = r->n_guests >= r->config.limits.peers ? -EMFILE : 0;
    if (err == 0 && (g->capabilities & TP_CAP_BOARD) && tp_board_create(&g->board, &board) < 0)
        drop_board(g); /* no descriptors are left: it has notes alone */
    if (err == 0)
        err = greet(g, board);
    if (g->board && is_without_fd(err)) {
        drop_board(g);
        err = greet(g, -1);
    }
    if (board >= 0)
        close(board);
    if (err == 0)
        err = tp_notes_connect(r->notes, g->capabilities, g, &g->peer);
    if (err == 0) {
        count_guests(r, 1);
        arm(r, tp_notes_deadline(r->notes));
        *out = g;
    } else {
        tp_board_destroy(g->board);
        free(g);
    }
    pthread_mutex_unlock(&r->lock);
    return err;
}

void tp_releases_leave(struct tp_releases *r, struct tp_guest *g)
{
    pthread_mutex_lock(&r->lock);
    tp_notes_disconnect(r->notes, g->peer);
    count_guests(r, -1);
    pthread_mutex_unlock(&r->lock);
    tp_board_destroy(g->board);
    free(g);
}

int tp_releases_take(
    struct tp_releases *r, struct tp_guest *g, struct tp_scanout_frame *f, bool memory_is_right)
{
    int err = 0;
    pthread_mutex_lock(&r->lock);
    if (f->fourcc == TP_FRAME_REGISTER && memory_is_right) {
        tp_notes_register(r->notes, g->peer, &f->u.reg.buffer, f->fd, f->sequence);
        f->fd = -1;
        arm(r, tp_notes_deadline(r->notes));
    } else if (f->fourcc == TP_FRAME_REGISTER) {
        tp_notes_refuse(r->notes, g->peer, &f->u.reg.buffer, f->sequence);
    } else if (f->fourcc == TP_FRAME_UNREGISTER) {
        tp_notes_unregister(r->notes, g->peer, &f->u.unregister);
    } else if (f->fourcc == TP_FRAME_STATE && (g->capabilities & TP_CAP_STATE)) {
        tp_notes_ask(r->notes, g->peer, &f->u.state.buffer, f->sequence);
    } else if (!(f->fourcc == TP_FRAME_SETTING && (g->capabilities & TP_CAP_CONTROL)) &&
        !(f->fourcc == TP_FRAME_CENSUS && (g->capabilities & TP_CAP_CENSUS))) {
        err = -EBADMSG;
    }
    pthread_mutex_unlock(&r->lock);
    return err;
}

void tp_releases_drained(struct tp_releases *r, struct tp_guest *g)
{
    pthread_mutex_lock(&r->lock);
    listen_to(r, g, false);
    tp_notes_drained(r->notes, g->peer);
    pthread_mutex_unlock(&r->lock);
}

void tp_releases_setting(struct tp_releases *r, const struct tp_setting_frame *s)
{
    pthread_mutex_lock(&r->lock);
    tp_notes_setting(r->notes, NULL, s);
    pthread_mutex_unlock(&r->lock);
}

/* --- panels --- */

uint64_t tp_releases_serial(struct tp_releases *r)
{
    return atomic_fetch_add(&r->serial, 1) + 1;
}

static void before(struct tp_releases *r, unsigned output, const struct picture *p)
{
    int64_t now = tp_now_ns();
    tp_notes_before_apply(r->notes, output, p->serial, p->layers, p->n_layers, now);
    arm(r, now + TP_NOTES_SILENCE_NS);
}

void tp_releases_before(struct tp_releases *r, unsigned output, const struct tp_kms_scanout *s,
    bool blank, struct tp_buffer_name layers[TP_KMS_LAYERS])
{
    struct output *o = &r->outputs[output];
    struct picture p = {.serial = s->serial, .n_layers = s->n_layers};
    for (unsigned i = 0; i < s->n_layers; i++) {
        struct tp_kms_fb_info info;
        tp_kms_fb_info(s->layers[i].fb, &info);
        p.layers[i] = (struct tp_identity){info.device, info.inode};
    }
    pthread_mutex_lock(&r->lock);
    struct tp_notes_counts counts;
    tp_notes_counts(r->notes, &counts);
    if (r->n_guests == 0 && counts.fences > 0) /* the loop does not */
        look(r);
    o->next = p;
    o->unsaid = o->away;
    if (blank)
        o->blank_serial = p.serial;
    before(r, output, &p);
    for (unsigned i = 0; i < p.n_layers; i++)
        layers[i] = (struct tp_buffer_name){p.layers[i],
            tp_notes_generation(r->notes, &p.layers[i]), TP_BUFFER_NO_INDEX};
    pthread_mutex_unlock(&r->lock);
}

void tp_releases_after(struct tp_releases *r, unsigned output, uint64_t serial, int result)
{
    struct output *o = &r->outputs[output];
    pthread_mutex_lock(&r->lock);
    if (result == 0) {
        o->newest = o->next;
        if (o->unsaid && !o->away) /* it came back meanwhile */
            before(r, output, &o->newest);
    } else if (result == -ENODEV) {
        o->newest.n_layers = 0;
    }
    if (result < 0 && o->blank_serial == serial)
        o->blank_serial = 0;
    tp_notes_after_apply(r->notes, output, serial, result);
    pthread_mutex_unlock(&r->lock);
}

static enum tp_fence_kind kind_of(int fence)
{
    struct sync_file_info info = {.num_fences = 0};
    return ioctl(fence, SYNC_IOC_FILE_INFO, &info) == 0 ? TP_FENCE_SYNC_FILE : TP_FENCE_POLL;
}

void tp_releases_released(
    struct tp_releases *r, unsigned output, uint64_t serial, unsigned layer, int fence)
{
    enum tp_fence_kind kind = TP_FENCE_NONE;
    struct pollfd p = {.fd = fence, .events = POLLIN};
    if (fence >= 0 && poll(&p, 1, 0) != 0) { /* signalled already */
        close(fence);
        fence = -1;
    }
    if (fence >= 0)
        kind = kind_of(fence);
    pthread_mutex_lock(&r->lock);
    int64_t now = tp_now_ns();
    tp_notes_released(r->notes, output, serial, layer, fence, kind, now);
    arm(r, now + TP_NOTES_SILENCE_NS);
    pthread_mutex_unlock(&r->lock);
}

void tp_releases_shown(struct tp_releases *r, unsigned output, uint64_t serial)
{
    struct output *o = &r->outputs[output];
    pthread_mutex_lock(&r->lock);
    /* Where a later picture is shown, what the blank replaced is off the screen, too. */
    if (o->blank_serial != 0 && serial >= o->blank_serial) {
        tp_notes_blanked(r->notes, output, o->blank_serial);
        o->blank_serial = 0;
    }
    pthread_mutex_unlock(&r->lock);
}

void tp_releases_away(struct tp_releases *r, unsigned output, bool away)
{
    struct output *o = &r->outputs[output];
    pthread_mutex_lock(&r->lock);
    bool news = o->away != away;
    o->away = away;
    tp_notes_away(r->notes, output, away);
    if (news && away && o->timeline.period_ns > 0) {
        o->timeline.stopped = true;
        tp_notes_timeline(r->notes, &o->timeline);
    }
    if (news && !away && o->newest.n_layers > 0)
        before(r, output, &o->newest); /* the panel shows it again */
    pthread_mutex_unlock(&r->lock);
}

void tp_releases_tick(struct tp_releases *r, unsigned output, const struct tp_panel_tick *t,
    const struct tp_panel *panel, bool variable, struct tp_notes_counts *counts)
{
    const struct tp_timeline_frame f = {
        .output = output,
        .variable = variable,
        .pipeline = panel->pipeline,
        .sequence = t->sequence,
        .time_ns = t->time_ns,
        .period_ns = t->period_ns,
        .lead_ns = panel->lead_ns < t->period_ns ? panel->lead_ns : t->period_ns,
    };
    pthread_mutex_lock(&r->lock);
    if (t->period_ns > 0) {
        r->outputs[output].timeline = f;
        tp_notes_timeline(r->notes, &f);
    }
    tp_notes_counts(r->notes, counts);
    pthread_mutex_unlock(&r->lock);
}

/* --- the whole --- */

void tp_releases_count(struct tp_releases *r, struct tp_notes_counts *out)
{
    pthread_mutex_lock(&r->lock);
    tp_notes_counts(r->notes, out);
    pthread_mutex_unlock(&r->lock);
}

int tp_releases_fd(const struct tp_releases *r)
{
    return r->epoll;
}

int tp_releases_watch(struct tp_releases *r, void *source)
{
    struct epoll_event ev = {.events = 0, .data.ptr = source};
    r->source = source;
    return epoll_ctl(r->config.epoll, EPOLL_CTL_ADD, r->epoll, &ev) < 0 ? -errno : 0;
}

int tp_releases_create(const struct tp_releases_config *config, struct tp_releases **out)
{
    static const struct tp_notes_ops ops = {
        .send = on_send,
        .board = on_board,
        .watch = on_watch,
        .implicit = on_implicit,
        .close_fence = on_close_fence,
        .close_memory = on_close_memory,
        .blank = on_blank,
    };
    struct tp_releases *r = tp_calloc(1, sizeof *r);
    struct epoll_event ev = {.events = EPOLLIN};
    r->config = *config;
    r->timer_ns = INT64_MAX;
    pthread_mutex_init(&r->lock, NULL);
    tp_notes_create(&config->limits, &ops, r, &r->notes);
    r->epoll = epoll_create1(EPOLL_CLOEXEC);
    r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    ev.data.fd = r->timer;
    if (r->epoll < 0 || r->timer < 0 || epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->timer, &ev) < 0) {
        int err = -errno;
        tp_releases_destroy(r);
        *out = NULL;
        return err;
    }
    *out = r;
    return 0;
}

void tp_releases_destroy(struct tp_releases *r)
{
    if (!r)
        return;
    tp_notes_destroy(r->notes);
    if (r->timer >= 0)
        close(r->timer);
    if (r->epoll >= 0)
        close(r->epoll);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
