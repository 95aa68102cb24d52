#include "frames/icd/release_internal.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frames/icd/clock.h"
#include "frames/icd/log.h"
#include "frames/icd/loop.h"
#include "frames/icd/settings.h"

/* How often a server that is not there is tried again, how long it counts as coming back, and one
 * that was met as about to say hello. */
#define RETRY_NS INT64_C(200000000)
#define HOPE_NS INT64_C(5000000000)
#define HELLO_NS INT64_C(1000000000)

static const struct tp_board_view *board_of(const struct tp_scanout *c)
{
    return c->board.n_words ? &c->board : NULL;
}

/* Whose swapchains take nobody's word tells of images and frames, and hears of refreshes. */
static uint64_t our_capabilities(void)
{
    const uint64_t heard = TP_CAP_BOARD | TP_CAP_RELEASE_FENCE | TP_CAP_STATE | TP_CAP_CONTROL;

    return TP_CAP_CENSUS | TP_CAP_TIMELINE | (tp_icd_settings()->release ? heard : 0);
}

/* --- the connection --- */

/* Of a connection that never was: a wrong name is worth a word, a server that went is not. */
static void say_none(struct tp_scanout *c, const char *why)
{
    const char *path = c->server.sun_path;
    int n = (int)(c->server_bytes - offsetof(struct sockaddr_un, sun_path)) - 1;

    if (!c->known)
        tp_icd_log_once("no server at %s%.*s (%s): no notes of what the screen reads; look at "
                        "TURNPIKE_SOCKET, or start it with `turnpike serve`",
            path[0] ? "" : "@", n, path[0] ? path : path + 1, why);
}

/* There is no server, or none that has said hello, and one is hoped for. */
static void expect(struct tp_scanout *c)
{
    c->hope_ns = tp_icd_now_ns() + (c->met ? HELLO_NS : HOPE_NS);
    for (struct tp_scanout_watch *w = c->watches; w; w = w->next) {
        w->sock = -1;
        w->events->disconnected(w->data, false);
    }
}

static void give_up(struct tp_scanout *c)
{
    c->hope_ns = 0;
    c->met = false;
    for (struct tp_scanout_watch *w = c->watches; w; w = w->next)
        w->events->disconnected(w->data, true);
}

static void lose(struct tp_scanout *c)
{
    int64_t now = tp_icd_now_ns();
    int sock = c->sock;

    if (sock < 0)
        return;
    c->sock = -1;
    c->retry_ns = now + RETRY_NS;
    tp_scanout_drop_unsent(c);
    c->numbers = 0;
    for (struct tp_scanout_watch *w = c->watches; w; w = w->next)
        w->told = TP_CENSUS_UNTOLD;
    if (c->greeted) {
        c->greeted = false;
        c->n_timelines = 0;
        expect(c);
        tp_board_close(&c->board);
        c->board = (struct tp_board_view){0};
    } else {
        c->refused = true;
        say_none(c, "what is there does not greet as one");
        if (c->met)
            give_up(c);
    }
    /* Nobody looks at it any more: each was told, with the lock that is held for that. */
    close(sock);
}

static void try_connect(struct tp_scanout *c)
{
    struct tp_hello hello = {.version = TP_WIRE_VERSION,
        .oldest = TP_WIRE_OLDEST,
        .kind = TP_HELLO_SCANOUT,
        .capabilities = our_capabilities()};
    struct iovec part = {&hello, sizeof hello};

    c->retry_ns = tp_icd_now_ns() + RETRY_NS;
    /* Asked by each acquire where there is no server: a look at the name is a twelfth of a socket. */
    if (c->server.sun_path[0] && access(c->server.sun_path, F_OK)) {
        say_none(c, strerror(errno));
        c->refused = false;
        return;
    }
    c->sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (c->sock < 0)
        return;
    int r = connect(c->sock, (struct sockaddr *)&c->server, c->server_bytes) ? -errno : 0;
    if (!r)
        r = tp_frame_send_now(c->sock, TP_FRAME_HELLO, 0, 0, &part, 1, NULL, 0);
    if (r) {
        say_none(c, strerror(-r));
        close(c->sock);
        c->sock = -1;
        c->refused = false;
        return;
    }
    if (c->hope_ns || c->refused)
        return;
    c->met = true;
    expect(c); /* what the compositor gives back may be on its panel already */
}

static void tell_connected(struct tp_scanout *c, struct tp_scanout_watch *w)
{
    w->sock = c->sock;
    w->events->connected(w->data, c->capabilities, board_of(c));
}

static void connected(struct tp_scanout *c)
{
    const struct tp_icd_settings *s = tp_icd_settings();

    if (c->capabilities & TP_CAP_CONTROL) {
        if (s->cap_set)
            tp_scanout_send_setting(c, TP_SETTING_CAP, s->gate.cap_mhz);
        if (s->gate_set)
            tp_scanout_send_setting(c, TP_SETTING_GATE, s->gate.mode);
    }
    for (struct tp_scanout_watch *w = c->watches; w; w = w->next) {
        tell_connected(c, w);
        for (unsigned i = 0; i < w->n_images; i++) {
            if (w->images[i].fd >= 0)
                tp_scanout_send_registration(w, i);
        }
        tp_scanout_send_census(w);
    }
}

static int greet(struct tp_scanout *c, struct tp_frame *f)
{
    struct tp_hello hello;
    uint32_t version;
    int board = -1;

    if (f->fourcc != TP_FRAME_HELLO)
        return -EBADMSG;
    int r = tp_scanout_hello(f, true, &hello, &version, &board);
    if (r)
        return r;
    c->greeted = c->known = true;
    c->met = c->refused = false;
    c->hope_ns = 0;
    c->capabilities = hello.capabilities & our_capabilities();
    if (board >= 0) {
        if (tp_board_open(board, &c->board)) {
            tp_icd_log_once("the server's board cannot be read; going on without it");
            c->board = (struct tp_board_view){0};
            c->capabilities &= ~TP_CAP_BOARD;
        }
        close(board);
    } else {
        c->capabilities &= ~TP_CAP_BOARD;
    }
    connected(c);
    return 0;
}

/* --- receiving --- */

static void keep_timeline(struct tp_scanout *c, const struct tp_timeline_frame *t)
{
    unsigned i = 0;

    while (i < c->n_timelines && c->timelines[i].output != t->output)
        i++;
    if (i == TP_SCANOUT_OUTPUTS)
        return;
    c->timelines[i] = *t;
    if (i == c->n_timelines)
        c->n_timelines++;
}

static void registered(struct tp_scanout *c, const struct tp_register_frame *answer)
{
    const struct tp_buffer_name *name = &answer->buffer;

    for (struct tp_scanout_watch *w = c->watches; w; w = w->next) {
        for (unsigned i = 0; i < w->n_images; i++) {
            struct tp_scanout_image *image = &w->images[i];
            if (image->fd < 0 || image->name.generation != name->generation)
                continue;
            image->name.index = name->index;
            if (answer->result)
                tp_icd_log_once(
                    "the server does not watch an image: %s", strerror(-answer->result));
            w->events->registered(w->data, answer);
            return;
        }
    }
}

static void dispatch(struct tp_scanout *c, struct tp_scanout_frame *f)
{
    for (struct tp_scanout_watch *w = c->watches; w; w = w->next) {
        if (f->fourcc == TP_FRAME_NOTE &&
            w->events->note(w->data, &f->u.note, f->flags & TP_SCANOUT_RESYNC, f->fd)) {
            f->fd = -1;
            return;
        }
        if (f->fourcc == TP_FRAME_STATE && w->events->state(w->data, &f->u.state, f->fd)) {
            f->fd = -1;
            return;
        }
        if (f->fourcc == TP_FRAME_TIMELINE)
            w->events->timeline(w->data, &f->u.timeline);
        if (f->fourcc == TP_FRAME_SETTING)
            w->events->setting(w->data, &f->u.setting);
    }
}

static int take_frame(struct tp_scanout *c, struct tp_frame *frame)
{
    struct tp_scanout_frame f;

    if (!c->greeted)
        return greet(c, frame);
    int r = tp_scanout_decode(frame, true, &f);
    if (r)
        return r == -ENOTSUP ? 0 : r;
    if (f.fourcc == TP_FRAME_REGISTER)
        registered(c, &f.u.reg);
    else if (f.fourcc == TP_FRAME_TIMELINE)
        keep_timeline(c, &f.u.timeline);
    else if (f.fourcc == TP_FRAME_SETTING)
        c->settings[f.u.setting.setting & 3] = f.u.setting;
    dispatch(c, &f);
    tp_scanout_finish(&f);
    return 0;
}

static void drain(struct tp_scanout *c)
{
    struct tp_frame frame;
    int r = 0;

    while (c->sock >= 0 && !r) {
        r = tp_frame_recv_now(c->sock, c->buffer, &frame);
        /* Without room for descriptors the frame is lost, and the board has what it said. */
        if (r == -ENOBUFS)
            r = 0;
        else if (!r) {
            r = take_frame(c, &frame);
            tp_frame_finish(&frame);
        }
    }
    if (r == -EAGAIN || c->sock < 0)
        return;
    if (r != -EPIPE && r != -ECONNRESET)
        tp_icd_log_once("the server said what cannot be: %s", strerror(-r));
    lose(c);
}

/* --- the thread --- */

static int64_t before(void *data, short *events)
{
    struct tp_scanout *c = data;
    int64_t until = INT64_MAX;

    pthread_mutex_lock(&c->lock);
    if (c->sock < 0)
        until = c->retry_ns;
    else
        *events = POLLIN | (c->greeted && tp_scanout_has_unsent(c) ? POLLOUT : 0);
    if (c->hope_ns && c->hope_ns < until)
        until = c->hope_ns;
    tp_loop_set_fd(c->loop, c->sock);
    pthread_mutex_unlock(&c->lock);
    return until;
}

static void after(void *data, short revents)
{
    struct tp_scanout *c = data;

    pthread_mutex_lock(&c->lock);
    int64_t now = tp_icd_now_ns();
    if (c->sock < 0 && now >= c->retry_ns)
        try_connect(c);
    if (c->sock >= 0 && c->greeted && revents & POLLOUT)
        tp_scanout_send_unsent(c);
    if (c->sock >= 0)
        drain(c);
    if (c->hope_ns && now >= c->hope_ns) {
        lose(c); /* it says nothing */
        if (c->hope_ns)
            give_up(c);
    }
    pthread_mutex_unlock(&c->lock);
}

static const struct tp_loop_ops loop_ops = {before, after};

/* --- what is called from outside --- */

int tp_scanout_create(const struct sockaddr_un *server, socklen_t bytes, struct tp_scanout **out)
{
    struct tp_scanout *c = calloc(1, sizeof *c);

    if (!c)
        return -ENOMEM;
    c->server = *server;
    c->server_bytes = bytes;
    c->sock = -1;
    c->unsent_end = &c->unsent;
    /* Generations of two instances of one process do not meet. */
    static _Atomic uint32_t instances;
    c->generation = atomic_fetch_add(&instances, 1) << 20;
    pthread_mutex_init(&c->lock, NULL);
    *out = c;
    return 0;
}

void tp_scanout_destroy(struct tp_scanout *c)
{
    if (!c)
        return;
    tp_loop_destroy(c->loop);
    tp_scanout_drop_unsent(c);
    if (c->sock >= 0)
        close(c->sock);
    tp_board_close(&c->board);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static void tell_what_is_known(struct tp_scanout *c, struct tp_scanout_watch *w)
{
    if (c->greeted)
        tell_connected(c, w);
    else if (c->hope_ns)
        w->events->disconnected(w->data, false);
    for (unsigned i = 0; i < c->n_timelines; i++)
        w->events->timeline(w->data, &c->timelines[i]);
    for (unsigned i = 1; i < 4; i++) {
        if (c->settings[i].setting)
            w->events->setting(w->data, &c->settings[i]);
    }
}

/* Who begins to watch is connected at once, where that can be: its first frame is watched already.
 */
static void start(struct tp_scanout *c)
{
    struct pollfd p = {.events = POLLIN};

    try_connect(c);
    if (c->sock < 0)
        return;
    p.fd = c->sock;
    if (poll(&p, 1, 100) > 0)
        drain(c);
}

int tp_scanout_watch(struct tp_scanout *c, unsigned n_slots, const struct tp_scanout_events *events,
    void *data, struct tp_scanout_watch **out)
{
    struct tp_scanout_watch *w = calloc(1, sizeof *w + n_slots * sizeof w->images[0]);
    int r = 0;

    if (!w)
        return -ENOMEM;
    w->connection = c;
    w->events = events;
    w->data = data;
    w->sock = w->census = -1;
    w->n_images = n_slots;
    for (unsigned i = 0; i < n_slots; i++)
        w->images[i].fd = -1;
    pthread_mutex_lock(&c->lock);
    if (c->sock < 0)
        start(c);
    if (!c->loop)
        r = tp_loop_create("tp-scanout", c->sock, &loop_ops, c, &c->loop);
    else
        tp_loop_wake(c->loop);
    if (!r) {
        tell_what_is_known(c, w);
        w->next = c->watches;
        c->watches = w;
        *out = w;
    }
    pthread_mutex_unlock(&c->lock);
    if (r)
        free(w);
    return r;
}

void tp_scanout_unwatch(struct tp_scanout_watch *w)
{
    if (!w)
        return;
    struct tp_scanout *c = w->connection;
    pthread_mutex_lock(&c->lock);
    for (unsigned i = 0; i < w->n_images; i++) {
        if (w->images[i].fd >= 0 && !w->images[i].unsent)
            tp_scanout_send_or_keep(c, TP_FRAME_UNREGISTER, &w->images[i].name);
    }
    tp_scanout_end_census(w);
    for (struct tp_scanout_watch **at = &c->watches; *at; at = &(*at)->next) {
        if (*at == w) {
            *at = w->next;
            break;
        }
    }
    pthread_mutex_unlock(&c->lock);
    free(w);
}

int tp_scanout_add(struct tp_scanout_watch *w, unsigned slot, int fd)
{
    struct tp_scanout *c = w->connection;
    struct tp_scanout_image *i = &w->images[slot];
    struct stat st;

    if (fstat(fd, &st))
        return -errno;
    pthread_mutex_lock(&c->lock);
    if (++c->generation == 0)
        c->generation = 1;
    i->fd = fd;
    i->name = (struct tp_buffer_name){.identity = {st.st_dev, st.st_ino},
        .generation = c->generation,
        .index = TP_BUFFER_NO_INDEX};
    if (c->greeted)
        tp_scanout_send_registration(w, slot);
    pthread_mutex_unlock(&c->lock);
    return 0;
}

void tp_scanout_census(struct tp_scanout_watch *w, int fd)
{
    pthread_mutex_lock(&w->connection->lock);
    w->census = fd;
    tp_scanout_send_census(w);
    pthread_mutex_unlock(&w->connection->lock);
}

void tp_scanout_ask(struct tp_scanout_watch *w, const struct tp_buffer_name *name)
{
    struct tp_scanout *c = w->connection;

    pthread_mutex_lock(&c->lock);
    if (c->capabilities & TP_CAP_STATE)
        tp_scanout_send_or_keep(c, TP_FRAME_STATE, name);
    pthread_mutex_unlock(&c->lock);
}

void tp_scanout_drain(struct tp_scanout *c)
{
    pthread_mutex_lock(&c->lock);
    if (c->sock < 0 && !c->hope_ns && !c->refused) {
        try_connect(c);
        if (c->sock >= 0)
            tp_loop_wake(c->loop);
    }
    if (c->sock >= 0)
        drain(c);
    pthread_mutex_unlock(&c->lock);
}

int tp_scanout_look(const struct tp_scanout_watch *w)
{
    struct pollfd p = {.fd = w->sock};

    if (p.fd < 0)
        return -ENOTCONN;
    return poll(&p, 1, 0) ? -EPIPE : 0;
}
