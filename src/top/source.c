#include "top/source.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "frames/census/follow.h"
#include "frames/server/control.h"

#define RETRY_NS INT64_C(500000000)
#define LIST_NS INT64_C(1000000000) /* from one question for the rings to the next */
#define RINGS 256u                  /* of a server, that are looked at */

struct tp_top_source {
    char *socket;
    struct sockaddr_un address;
    socklen_t address_bytes;
    struct tp_top_model *model;
    struct tp_follow *follow; /* NULL: no server was met yet */
    int fd;                   /* -1: not connected */
    bool greeted, listed;     /* listed: it has answered with its rings */
    bool asking;              /* for rings: the answer is on its way */
    pid_t pid;
    int reason; /* why there is no connection, a negative errno; 0: not known */
    bool met;   /* there was a server */
    int64_t retry_ns, list_ns;
    uint32_t sequence, set_sequence; /* set_sequence 0: nothing is waited for */
    bool answered;
    int answer;
    struct tp_census_ring rings[RINGS]; /* of a list that is not complete yet */
    unsigned n_rings;
    unsigned guests[TP_JOIN_RINGS]; /* those of the last list */
    unsigned n_guests;
    uint8_t buffer[TP_FRAME_BYTES];
};

/* --- from the join into the model --- */

static void on_guest(void *data, unsigned guest, const char *name, uint32_t pid)
{
    struct tp_top_source *s = data;
    tp_top_guest(s->model, guest, name, (pid_t)pid);
}

static void on_frame(void *data, const struct tp_frame_record *f)
{
    tp_top_frame(((struct tp_top_source *)data)->model, f);
}

static void on_refresh(void *data, const struct tp_refresh_record *r)
{
    tp_top_refresh(((struct tp_top_source *)data)->model, r);
}

static void on_lost(void *data, unsigned guest, uint64_t entries)
{
    tp_top_unheard(((struct tp_top_source *)data)->model, guest, entries);
}

static void begin_anew(struct tp_top_source *s)
{
    struct tp_join_sink sink = {
        .guest = on_guest, .frame = on_frame, .refresh = on_refresh, .lost = on_lost, .data = s};
    tp_follow_destroy(s->follow);
    tp_top_forget(s->model);
    s->follow = tp_follow_create(&sink);
    s->n_guests = 0;
}

/* --- the connection --- */

static int address_of(
    const char *name, struct sockaddr_un *address, socklen_t *bytes, struct tp_error *e)
{
    bool abstract = name[0] == '@';
    size_t n = strlen(name);
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (n < (abstract ? 2u : 1u) || n >= sizeof address->sun_path)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, name, "a path of at most 107 bytes, or @NAME",
            "no socket can have this name");
    memcpy(address->sun_path, name, n + 1);
    if (abstract)
        address->sun_path[0] = '\0';
    *bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + !abstract);
    return 0;
}

int tp_top_source_create(
    const char *socket, struct tp_top_model *model, struct tp_top_source **out, struct tp_error *e)
{
    struct sockaddr_un address;
    socklen_t bytes;
    int r = address_of(socket, &address, &bytes, e);
    *out = NULL;
    if (r < 0)
        return r;
    struct tp_top_source *s = tp_calloc(1, sizeof *s);
    s->socket = tp_strdup(socket);
    s->address = address;
    s->address_bytes = bytes;
    s->model = model;
    s->fd = -1;
    s->retry_ns = INT64_MIN;
    *out = s;
    return 0;
}

static int open_socket(const struct sockaddr_un *address, socklen_t bytes)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)address, bytes) == 0)
        return fd < 0 ? -errno : fd;
    int r = -errno;
    close(fd);
    return r;
}

bool tp_top_source_answers(const char *socket)
{
    struct sockaddr_un address;
    socklen_t bytes;
    int fd =
        address_of(socket, &address, &bytes, NULL) < 0 ? -EINVAL : open_socket(&address, bytes);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || fd == -EACCES || fd == -EAGAIN;
}

static void drop_rings(struct tp_top_source *s)
{
    for (unsigned i = 0; i < s->n_rings; i++)
        close(s->rings[i].fd);
    s->n_rings = 0;
}

static void lose(struct tp_top_source *s, int reason, int64_t now_ns)
{
    s->reason = reason;
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    if (s->set_sequence) {
        s->set_sequence = 0;
        s->answered = true;
        s->answer = reason;
    }
    s->greeted = s->listed = s->asking = false;
    drop_rings(s);
    s->retry_ns = now_ns + RETRY_NS;
}

void tp_top_source_destroy(struct tp_top_source *s)
{
    if (!s)
        return;
    lose(s, 0, 0);
    tp_follow_destroy(s->follow);
    free(s->socket);
    free(s);
}

static int send_frame(struct tp_top_source *s, uint32_t fourcc, const void *payload, size_t n)
{
    const struct iovec part = {(void *)(uintptr_t)payload, n};
    return tp_frame_send_now(s->fd, fourcc, 0, ++s->sequence, &part, 1, NULL, 0);
}

static void try_connect(struct tp_top_source *s, int64_t now_ns)
{
    const struct tp_hello hello = {.version = TP_WIRE_VERSION,
        .oldest = TP_WIRE_OLDEST,
        .kind = TP_HELLO_CONTROL,
        .capabilities = TP_CAP_CENSUS | TP_CAP_CONTROL};
    if (now_ns < s->retry_ns)
        return;
    s->retry_ns = now_ns + RETRY_NS;
    s->fd = open_socket(&s->address, s->address_bytes);
    if (s->fd < 0) {
        lose(s, s->fd, now_ns);
        return;
    }
    struct ucred peer;
    socklen_t n = sizeof peer;
    s->pid = getsockopt(s->fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 ? peer.pid : 0;
    int r = send_frame(s, TP_FRAME_HELLO, &hello, sizeof hello);
    if (r < 0)
        lose(s, r, now_ns);
}

/* --- the list of rings --- */

static void ask_for_rings(struct tp_top_source *s, int64_t now_ns)
{
    const uint32_t first = s->n_rings;
    int r = send_frame(s, TP_FRAME_CENSUS, &first, sizeof first);
    s->asking = r == 0;
    s->list_ns = now_ns + LIST_NS;
    if (r < 0 && r != -EAGAIN)
        lose(s, r, now_ns);
}

static bool is_among(const unsigned *list, unsigned n, unsigned guest)
{
    for (unsigned i = 0; i < n; i++)
        if (list[i] == guest)
            return true;
    return false;
}

/* Whose ring was in the list before and is not any more has ended. */
static void compare_guests(struct tp_top_source *s)
{
    unsigned now[TP_JOIN_RINGS], n = 0, guest;
    for (unsigned i = 0; n < TP_JOIN_RINGS && tp_follow_view(s->follow, i, &guest, NULL); i++)
        now[n++] = guest;
    for (unsigned i = 0; i < s->n_guests; i++)
        if (!is_among(now, n, s->guests[i]))
            tp_top_gone(s->model, s->guests[i]);
    memcpy(s->guests, now, n * sizeof *now);
    s->n_guests = n;
}

static void complete(struct tp_top_source *s, int64_t now_ns)
{
    if (!s->listed)
        begin_anew(s);
    s->listed = s->met = true;
    s->reason = 0;
    s->asking = false;
    tp_follow_turn(s->follow, now_ns); /* what one that is over has left */
    tp_follow_rings(s->follow, s->rings, s->n_rings);
    compare_guests(s);
    drop_rings(s);
}

/* One page of the list; asks for the next, or uses it. */
static int take_rings(struct tp_top_source *s, struct tp_frame *f, int64_t now_ns)
{
    struct tp_control_census said = {0};
    const size_t head = offsetof(struct tp_control_census, rings);
    size_t needs = head + f->n_fds * sizeof *said.rings;
    if (!s->asking || f->n_fds > TP_CONTROL_RINGS || f->payload_bytes < needs)
        return -EBADMSG;
    memcpy(&said, f->payload, needs);
    if (said.result < 0)
        return said.result;
    for (unsigned i = 0; i < f->n_fds && s->n_rings < RINGS; i++) {
        int fd = tp_frame_take_fd(f, i);
        s->rings[s->n_rings++] = (struct tp_census_ring){said.rings[i].id, said.rings[i].pid, fd};
    }
    if (f->n_fds > 0 && s->n_rings < RINGS && s->n_rings < said.total)
        ask_for_rings(s, now_ns);
    else
        complete(s, now_ns);
    return 0;
}

/* --- frames that come --- */

static int greet(struct tp_top_source *s, const struct tp_frame *f, int64_t now_ns)
{
    struct tp_hello hello;
    uint32_t version;
    int r = tp_hello_parse(f, &hello, &version);
    if (r == 0 && !(hello.capabilities & TP_CAP_CENSUS))
        r = -ENOTSUP;
    if (r < 0)
        return r;
    s->greeted = true;
    ask_for_rings(s, now_ns);
    return 0;
}

static void take_answer(struct tp_top_source *s, const struct tp_frame *f)
{
    int32_t result;
    if (f->sequence != s->set_sequence || f->payload_bytes < sizeof result)
        return;
    memcpy(&result, f->payload, sizeof result);
    s->set_sequence = 0;
    s->answered = true;
    s->answer = result;
}

static int take(struct tp_top_source *s, struct tp_frame *f, int64_t now_ns)
{
    if (f->fourcc == TP_FRAME_HELLO)
        return s->greeted ? -EBADMSG : greet(s, f, now_ns);
    if (f->fourcc == TP_FRAME_CENSUS)
        return take_rings(s, f, now_ns);
    if (f->fourcc == TP_FRAME_SETTING)
        take_answer(s, f);
    return 0;
}

static void receive(struct tp_top_source *s, int64_t now_ns)
{
    for (unsigned i = 0; s->fd >= 0 && i < 64; i++) { /* whoever sends without an end */
        struct tp_frame f;
        int r = tp_frame_recv_now(s->fd, s->buffer, &f);
        if (r == -EAGAIN || r == -EINTR)
            return;
        if (r == 0) {
            r = take(s, &f, now_ns);
            tp_frame_finish(&f);
        }
        if (r < 0 && s->fd >= 0)
            lose(s, r, now_ns);
    }
}

/* --- what the rings say --- */

static void look(struct tp_top_source *s)
{
    const struct tp_ring_view *v;
    unsigned guest, screens = 0;
    for (unsigned i = 0; (v = tp_follow_view(s->follow, i, &guest, NULL)); i++) {
        uint64_t gauges[TP_GAUGES];
        for (unsigned k = 0; k < TP_GAUGES; k++)
            gauges[k] = tp_ring_look(v, k);
        if (guest == TP_JOIN_SCREEN)
            tp_top_screen_gauges(s->model, screens++, tp_ring_name(v), gauges);
        else
            tp_top_gauges(s->model, guest, gauges);
    }
}

void tp_top_source_turn(struct tp_top_source *s, int64_t now_ns)
{
    if (s->fd < 0)
        try_connect(s, now_ns);
    receive(s, now_ns);
    if (!s->listed)
        return;
    if (!s->asking && now_ns >= s->list_ns)
        ask_for_rings(s, now_ns);
    tp_follow_turn(s->follow, now_ns);
    look(s);
}

int tp_top_source_fd(const struct tp_top_source *s)
{
    return s->fd;
}

enum tp_top_link tp_top_source_link(const struct tp_top_source *s)
{
    return s->listed ? TP_TOP_LIVE : s->met ? TP_TOP_LOST : TP_TOP_WAITING;
}

pid_t tp_top_source_pid(const struct tp_top_source *s)
{
    return s->pid;
}

int tp_top_source_fails(const struct tp_top_source *s, struct tp_error *e)
{
    const char *start = "start one with `turnpike serve` or `turnpike play`, or say --socket PATH";
    int reason = s->listed ? 0 : s->reason == -ECONNRESET ? -EPIPE : s->reason;
    if (reason == -EPIPE && s->met)
        return tp_fail(e, TP_STATUS_FAILED, reason, s->socket, NULL, "the server has ended");
    switch (reason) {
    case 0:
        return 0;
    case -ENOENT:
    case -ECONNREFUSED:
        return tp_fail(e, TP_STATUS_INPUT, s->reason, s->socket, start, "there is no server");
    case -ENOTSUP:
        return tp_fail(e, TP_STATUS_INPUT, s->reason, s->socket,
            "use a server of this version of turnpike", "this server does not lend live records");
    case -EPERM:
    case -EACCES:
    case -EPIPE:
        return tp_fail(e, TP_STATUS_INPUT, reason, s->socket,
            "run top as the server's user, or as root", "the server does not let this user in");
    default:
        return tp_fail_errno(e, s->reason, s->socket, "there is no way to the server");
    }
}

/* --- changes --- */

int tp_top_source_set(struct tp_top_source *s, const struct tp_setting_frame *setting)
{
    const struct tp_scanout_frame f = {.fourcc = TP_FRAME_SETTING, .u.setting = *setting, .fd = -1};
    uint8_t bytes[TP_SCANOUT_BYTES];
    if (!s->listed)
        return -ENOTCONN;
    int r = send_frame(s, TP_FRAME_SETTING, bytes, tp_scanout_encode(&f, bytes));
    if (r == 0)
        s->set_sequence = s->sequence;
    return r;
}

bool tp_top_source_answer(struct tp_top_source *s, int *result)
{
    bool answered = s->answered;
    s->answered = false;
    *result = s->answer;
    return answered;
}
