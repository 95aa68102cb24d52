/* Clients' sockets: who may connect, what they say first, events on their way to them. */
#include "frames/server/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <drm.h>

#include "base/buf.h"

#define ACCEPTS 8 /* of one turn */

void tp_connection_drop(struct tp_server *s, struct tp_connection *c, const char *why)
{
    if (c->dead)
        return;
    if (why && !c->complained)
        tp_server_log(s, "client %d (uid %u): dropped: %s", (int)c->pid, (unsigned)c->uid, why);
    c->complained = true;
    c->dead = s->some_dead = true;
    if (c->guest)
        tp_guest_leave(s, c);
    tp_server_close(s, &c->source);
    for (struct tp_channel_end *k = c->channels; k; k = k->next) {
        tp_server_close(s, &k->source);
        k->dead = true;
    }
}

void tp_connections_close(struct tp_server *s)
{
    for (struct tp_connection *c = s->some_dead ? s->connections : NULL; c; c = c->next) {
        if (!c->dead || !c->file)
            continue;
        tp_kms_close(c->file); /* its waiting calls are forgotten with it */
        c->file = NULL;
        for (struct tp_channel_end *k = c->channels; k; k = k->next)
            k->waiting = false;
    }
}

static void free_connection(struct tp_server *s, struct tp_connection *c)
{
    if (c->prev)
        c->prev->next = c->next;
    else
        s->connections = c->next;
    if (c->next)
        c->next->prev = c->prev;
    s->n_connections--;
    while (c->channels)
        tp_channel_free(s, c->channels);
    free(c);
}

void tp_connections_reap(struct tp_server *s)
{
    /* What goes may end what others wait for, and so let them go too. */
    while (s->some_dead) {
        tp_connections_close(s);
        s->some_dead = false;
        while (s->dead_channels)
            tp_channel_free(s, s->dead_channels);
        for (struct tp_connection *c = s->connections, *next; c; c = next) {
            next = c->next;
            if (c->dead && !c->file)
                free_connection(s, c);
        }
    }
}

bool tp_connection_turn(struct tp_server *s, struct tp_connection *c)
{
    if (c->turn != s->turn) {
        c->turn = s->turn;
        c->handled = 0;
    }
    return c->handled++ < s->limits.frames;
}

/* --- events --- */

size_t tp_connection_unread(struct tp_server *s, struct tp_connection *c)
{
    int queued = 0;
    if (c->source.fd < 0 || s->event_cost == 0 || ioctl(c->source.fd, SIOCOUTQ, &queued) < 0)
        return c->event_bytes;
    return c->event_bytes + (size_t)queued / s->event_cost * sizeof(struct drm_event_vblank);
}

/* Tells epoll whether room in the socket is waited for. */
static void set_out(struct tp_server *s, struct tp_connection *c, bool out)
{
    struct epoll_event ev = {.events = EPOLLIN | (out ? EPOLLOUT : 0u), .data.ptr = &c->source};
    if (c->wants_out == out)
        return;
    c->wants_out = out;
    epoll_ctl(s->epoll, EPOLL_CTL_MOD, c->source.fd, &ev);
}

void tp_connection_event(struct tp_server *s, struct tp_connection *c, const void *e, size_t bytes)
{
    if (c->dead)
        return;
    if (c->event_bytes == 0) {
        ssize_t n = send(c->source.fd, e, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0)
            return;
        if (errno != EAGAIN && errno != ENOBUFS && errno != EINTR) {
            tp_connection_drop(s, c, NULL);
            return;
        }
    }
    if (bytes > sizeof c->events - c->event_bytes) {
        tp_connection_drop(s, c, "it does not read its events");
        return;
    }
    memcpy(c->events + c->event_bytes, e, bytes);
    c->event_bytes += bytes;
    set_out(s, c, true);
}

static void send_kept_events(struct tp_server *s, struct tp_connection *c)
{
    size_t at = 0;
    while (at < c->event_bytes) {
        struct drm_event e;
        memcpy(&e, c->events + at, sizeof e);
        if (send(c->source.fd, c->events + at, e.length, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            break;
        at += e.length;
    }
    memmove(c->events, c->events + at, c->event_bytes - at);
    c->event_bytes -= at;
    set_out(s, c, c->event_bytes > 0);
}

void tp_connections_plugged(struct tp_server *s)
{
    for (struct tp_connection *c = s->connections; c; c = c->next) {
        if (c->kind != TP_HOTPLUG || c->dead)
            continue;
        int r = tp_frame_send_now(c->source.fd, TP_FRAME_HOTPLUG, 0, 0, NULL, 0, NULL, 0);
        if (r < 0 && r != -EAGAIN) /* full: it has not read the last one yet, which says the same */
            tp_connection_drop(s, c, NULL);
    }
}

/* --- frames --- */

/* Has its process a full share of connections of this kind? */
static bool is_one_too_many(
    const struct tp_server *s, const struct tp_connection *c, enum tp_connection_kind kind)
{
    unsigned n = 0;
    for (const struct tp_connection *o = s->connections; o; o = o->next)
        n += o != c && o->kind == kind && !o->dead && o->pid == c->pid && o->uid == c->uid;
    return n >= s->limits.per_process;
}

static void open_card(struct tp_server *s, struct tp_connection *c, const struct tp_hello *hello)
{
    bool too_many = is_one_too_many(s, c, TP_CARD);
    bool privileged = c->uid == 0 || c->uid == geteuid();
    c->kind = TP_CARD;
    c->render = hello->kind == TP_HELLO_RENDER;
    /* The block tells of modes and planes, which a render node has not. */
    c->snapshot = (hello->capabilities & TP_CAP_SNAPSHOT) && !c->render;
    if (too_many)
        c->refused = -EMFILE;
    else if (c->render)
        c->refused = tp_kms_open_render(s->kms, (int32_t)c->pid, c, &c->file);
    else
        c->refused = tp_kms_open(s->kms, privileged, (int32_t)c->pid, c, &c->file);
}

static enum tp_connection_kind kind_of(const struct tp_hello *hello)
{
    switch (hello->kind) {
    case TP_HELLO_SCANOUT:
        return TP_SCANOUT;
    case TP_HELLO_CONTROL:
        return TP_CONTROL;
    case TP_HELLO_HOTPLUG:
        return TP_HOTPLUG;
    }
    return TP_NEW;
}

static bool is_node(const struct tp_hello *hello)
{
    return hello->kind == TP_HELLO_CARD || hello->kind == TP_HELLO_RENDER;
}

static void take_hello(struct tp_server *s, struct tp_connection *c, struct tp_frame *f)
{
    struct tp_hello hello;
    uint32_t version;
    int r = tp_hello_parse(f, &hello, &version);
    if (r == -EPROTO && is_node(&hello)) { /* its channels say so */
        c->kind = TP_CARD;
        c->refused = -EPROTO;
        return;
    }
    if (r == -EPROTO)
        tp_connection_drop(s, c, "it speaks no version that is understood here");
    else if (r == 0 && is_node(&hello))
        open_card(s, c, &hello);
    else if (r == 0 && is_one_too_many(s, c, kind_of(&hello)))
        tp_connection_drop(s, c, "its process has too many connections");
    else if (r == 0 && hello.kind == TP_HELLO_SCANOUT)
        tp_guest_greet(s, c, f);
    else if (r == 0 && hello.kind == TP_HELLO_CONTROL)
        tp_control_greet(s, c);
    else if (r == 0 && hello.kind == TP_HELLO_HOTPLUG)
        c->kind = TP_HOTPLUG;
    else
        tp_connection_drop(s, c, "its first frame is no hello that is known here");
}

static void take_frame(struct tp_server *s, struct tp_connection *c, struct tp_frame *f)
{
    switch (c->kind) {
    case TP_NEW:
        take_hello(s, c, f);
        break;
    case TP_CARD:
        if (f->fourcc == TP_FRAME_CHANNEL && f->n_fds == 1)
            tp_channel_add(s, c, tp_frame_take_fd(f, 0));
        else
            tp_connection_drop(s, c, "a frame on the card's socket that is not known here");
        break;
    case TP_CONTROL:
        tp_control_frame(s, c, f);
        break;
    case TP_HOTPLUG:
        tp_connection_drop(s, c, "a frame where it has nothing to say");
        break;
    case TP_SCANOUT:
        tp_guest_frame(s, c, f);
        break;
    }
}

static void on_connection(struct tp_server *s, struct tp_source *self, uint32_t events)
{
    struct tp_connection *c = (struct tp_connection *)self;
    struct tp_frame f;
    if (events & EPOLLHUP) { /* nobody is there any more to hear an answer */
        tp_connection_drop(s, c, NULL);
        return;
    }
    if (events & EPOLLOUT && c->guest)
        tp_releases_drained(s->releases, c->guest);
    else if (events & EPOLLOUT)
        send_kept_events(s, c);
    if (!(events & ~(uint32_t)EPOLLOUT) || !tp_connection_turn(s, c))
        return;
    int r = tp_frame_recv_now(c->source.fd, s->in, &f);
    if (r == -EAGAIN || r == -EINTR)
        return;
    if (r < 0) {
        bool left = r == -EPIPE || r == -ECONNRESET;
        const char *why =
            r == -ENOBUFS ? "its descriptors find no place here" : "a frame that is none";
        tp_connection_drop(s, c, left ? NULL : why);
        return;
    }
    take_frame(s, c, &f);
    tp_frame_finish(&f);
}

/* --- coming --- */

static bool may_connect(const struct tp_server *s, uid_t uid)
{
    if (uid == 0 || uid == geteuid())
        return true;
    for (size_t i = 0; i < s->n_uids; i++)
        if (s->uids[i] == uid)
            return true;
    return false;
}

/* Makes room among those that have not said yet what they want: the one that is silent longest
 * goes. */
static bool make_room(struct tp_server *s)
{
    struct tp_connection *silent = NULL;
    for (struct tp_connection *c = s->connections; c; c = c->next)
        if (c->kind == TP_NEW && !c->dead)
            silent = c;
    if (!silent)
        return false;
    tp_connection_drop(s, silent, NULL);
    return true;
}

/* Who is refused hears why, whatever he asked. */
static void refuse(struct tp_server *s, int fd, const struct ucred *who, int reason)
{
    int32_t plain[2] = {reason, 0};
    const struct iovec part = {plain, sizeof plain};
    tp_frame_send_now(fd, TP_FRAME_REPLY, 0, 0, &part, 1, NULL, 0);
    close(fd);
    tp_server_log(s, "client %d (uid %u): refused: %s", (int)who->pid, (unsigned)who->uid,
        reason == -EACCES ? "the display is not this user's" : strerror(-reason));
}

int tp_connection_add(struct tp_server *s, int fd)
{
    struct ucred who = {0};
    socklen_t n = sizeof who;
    int r = 0;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0)
        r = -errno;
    else if (!may_connect(s, who.uid))
        r = -EACCES;
    else if (s->n_connections >= s->limits.connections && !make_room(s))
        r = -EMFILE;
    if (r < 0) {
        refuse(s, fd, &who, r);
        return r;
    }
    struct tp_connection *c = tp_calloc(1, sizeof *c);
    c->source = (struct tp_source){on_connection, fd};
    c->pid = who.pid;
    c->uid = who.uid;
    r = tp_server_watch(s, &c->source, EPOLLIN);
    if (r < 0) {
        close(fd);
        free(c);
        return r;
    }
    c->next = s->connections;
    if (c->next)
        c->next->prev = c;
    s->connections = c;
    s->n_connections++;
    return 0;
}

void tp_connection_accept(struct tp_server *s, struct tp_source *listener, uint32_t events)
{
    (void)events;
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE) && s->spare >= 0) {
            /* The caller is heard, and refused; else the listener would be ready for ever. */
            close(s->spare);
            fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
            if (fd >= 0)
                close(fd);
            s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
            tp_server_log(s, "a client was refused: this process has no descriptors left");
            return;
        }
        if (fd < 0)
            return;
        tp_connection_add(s, fd);
    }
}
