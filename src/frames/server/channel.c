/* Calls: the server's ends of clients' channels (wire/drm_call.h). */
#include "frames/server/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <drm.h>

#include "base/buf.h"

#define KEPT_BYTES (16u << 10) /* of a call's memory; more is given back */

void tp_channel_drop(struct tp_server *s, struct tp_channel_end *c)
{
    if (c->dead)
        return;
    c->dead = s->some_dead = true;
    tp_server_close(s, &c->source);
    c->next_dead = s->dead_channels;
    s->dead_channels = c;
}

void tp_channel_free(struct tp_server *s, struct tp_channel_end *c)
{
    if (c->waiting)
        tp_kms_cancel(s->kms, c);
    for (struct tp_channel_end **at = &s->dead_channels; *at; at = &(*at)->next_dead)
        if (*at == c) {
            *at = c->next_dead;
            break;
        }
    if (c->prev)
        c->prev->next = c->next;
    else
        c->card->channels = c->next;
    if (c->next)
        c->next->prev = c->prev;
    c->card->n_channels--;
    s->n_channels--;
    tp_drm_call_finish(&c->call);
    free(c);
}

/* A bad client is told of once, and loses the channel. */
static void refuse(struct tp_server *s, struct tp_channel_end *c, const char *why)
{
    if (!c->card->complained)
        tp_server_log(s, "client %d (uid %u): a channel is closed: %s", (int)c->card->pid,
            (unsigned)c->card->uid, why);
    c->card->complained = true;
    tp_channel_drop(s, c);
}

/* --- answers --- */

static void answer(struct tp_server *s, struct tp_channel_end *c, const void *payload, size_t bytes,
    const int *fds, unsigned n_fds)
{
    const struct iovec part = {(void *)(uintptr_t)payload, bytes};
    tp_server_settle(s);
    int r = tp_frame_send_now(c->source.fd, TP_FRAME_REPLY, 0, c->sequence, &part, 1, fds, n_fds);
    if (r == -ETOOMANYREFS) { /* too many descriptors are on their way: without, then */
        int32_t plain[2] = {-EMFILE, (int32_t)c->call.request};
        const struct iovec only = {plain, sizeof plain};
        r = tp_frame_send_now(c->source.fd, TP_FRAME_REPLY, 0, c->sequence, &only, 1, NULL, 0);
    }
    if (r == -EAGAIN)
        refuse(s, c, "it does not read its answers");
    else if (r < 0)
        tp_channel_drop(s, c);
}

static void answer_call(struct tp_server *s, struct tp_channel_end *c, int result)
{
    struct tp_drm_call *call = &c->call;
    int fds[TP_FRAME_FDS];
    unsigned n_fds = 0;
    ssize_t n =
        tp_drm_reply_encode(call, result, s->out, sizeof s->out - sizeof(struct tp_frame_header));
    if (n < 0) {
        int32_t plain[2] = {-EIO, (int32_t)call->request};
        memcpy(s->out, plain, n = sizeof plain);
    } else {
        for (unsigned i = 0; i < call->n_out_fds; i++)
            if (call->out_fds[i] >= 0)
                fds[n_fds++] = call->out_fds[i];
    }
    answer(s, c, s->out, (size_t)n, fds, n_fds);
    tp_drm_call_reset(call);
    if (call->memory_bytes > KEPT_BYTES)
        tp_drm_call_finish(call);
}

/* What the client has said about itself, for channels that other processes of it open later: bit 0,
 * that it has made a framebuffer. */
static void note_capability(struct tp_connection *card, const struct tp_drm_call *call, int result)
{
    const struct drm_set_client_cap *cap = call->arg;
    if (result >= 0 &&
        (call->request == DRM_IOCTL_MODE_ADDFB || call->request == DRM_IOCTL_MODE_ADDFB2))
        card->client_caps |= 1;
    if (call->request != DRM_IOCTL_SET_CLIENT_CAP || result < 0 || !cap || cap->capability > 31)
        return;
    uint32_t bit = UINT32_C(1) << cap->capability;
    card->client_caps = cap->value ? card->client_caps | bit : card->client_caps & ~bit;
}

void tp_channel_finish_call(struct tp_server *s, struct tp_channel_end *c, int result)
{
    c->waiting = false;
    if (!c->dead)
        answer_call(s, c, result);
}

/* --- frames --- */

static void take_call(struct tp_server *s, struct tp_channel_end *c, struct tp_frame *f)
{
    int r = tp_drm_call_decode(f, &c->call);
    if (r == -EBADMSG) {
        refuse(s, c, "a call that is none");
        return;
    }
    if (r == 0) {
        c->waiting = true; /* it may come to its end before this returns */
        r = tp_kms_ioctl(c->card->file, &c->call, c);
        if (r == TP_KMS_WAITS)
            return;
        c->waiting = false;
        note_capability(c->card, &c->call, r);
    }
    answer_call(s, c, r);
}

static void take_map(struct tp_server *s, struct tp_channel_end *c, const struct tp_frame *f)
{
    struct {
        int32_t result;
        uint32_t zero;
        uint64_t bytes;
    } reply = {-EINVAL, 0, 0};
    uint64_t offset;
    int fd = -1;
    if (f->payload_bytes != sizeof offset) {
        refuse(s, c, "a mapping that is none");
        return;
    }
    memcpy(&offset, f->payload, sizeof offset);
    reply.result = tp_kms_map(c->card->file, offset, &fd, &reply.bytes);
    answer(s, c, &reply, sizeof reply, &fd, reply.result == 0);
}

static void on_channel(struct tp_server *s, struct tp_source *self, uint32_t events)
{
    struct tp_channel_end *c = (struct tp_channel_end *)self;
    struct tp_frame f;
    if (events & EPOLLHUP) {
        tp_channel_drop(s, c);
        return;
    }
    if (!tp_connection_turn(s, c->card))
        return;
    int r = tp_frame_recv_now(c->source.fd, s->in, &f);
    if (r == -EAGAIN || r == -EINTR)
        return;
    if (r == -EPIPE || r == -ECONNRESET) {
        tp_channel_drop(s, c);
        return;
    }
    if (r == -ENOBUFS) {
        refuse(s, c, "its descriptors find no place here");
        return;
    }
    if (r < 0 || c->waiting) {
        refuse(s, c, r < 0 ? "a frame that is none" : "a call while another is under way");
    } else {
        c->sequence = f.sequence;
        if (f.fourcc == TP_FRAME_CALL)
            take_call(s, c, &f);
        else if (f.fourcc == TP_FRAME_MAP)
            take_map(s, c, &f);
        else
            refuse(s, c, "a frame that is not known here");
    }
    if (r == 0)
        tp_frame_finish(&f);
}

/* --- coming --- */

static bool is_channel(int fd)
{
    int type = 0, domain = 0;
    socklen_t n = sizeof type, m = sizeof domain;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0 && type == SOCK_SEQPACKET &&
        getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &m) == 0 && domain == AF_UNIX;
}

static void say_refused(int fd, int reason)
{
    int32_t plain[2] = {reason, 0};
    const struct iovec part = {plain, sizeof plain};
    tp_frame_send_now(fd, TP_FRAME_REPLY, 0, 0, &part, 1, NULL, 0);
    close(fd);
}

void tp_channel_add(struct tp_server *s, struct tp_connection *card, int fd)
{
    struct tp_hello hello = {
        .version = TP_WIRE_VERSION,
        .oldest = TP_WIRE_OLDEST,
        .kind = card->render ? TP_HELLO_RENDER : TP_HELLO_CARD,
        .client_caps = card->client_caps,
        .capabilities = card->snapshot ? TP_CAP_SNAPSHOT : 0,
    };
    const struct iovec part = {&hello, sizeof hello};
    if (!is_channel(fd)) {
        close(fd);
        tp_connection_drop(s, card, "a channel that is no socket of this kind");
        return;
    }
    if (!card->file || card->n_channels >= s->limits.channels) {
        say_refused(fd, card->file ? -EMFILE : card->refused);
        return;
    }
    tp_server_settle(s);
    struct tp_channel_end *c = tp_calloc(1, sizeof *c);
    c->source = (struct tp_source){on_channel, fd};
    c->card = card;
    int r = tp_frame_send_now(
        fd, TP_FRAME_HELLO, 0, 0, &part, 1, &s->snapshot.fd, card->snapshot);
    if (r < 0 || tp_server_watch(s, &c->source, EPOLLIN) < 0) {
        close(fd);
        free(c);
        return;
    }
    c->next = card->channels;
    if (c->next)
        c->next->prev = c;
    card->channels = c;
    card->n_channels++;
    s->n_channels++;
}
