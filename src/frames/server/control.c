/* Control connections: pictures of the screen, and outputs that come and go. */
#include "frames/server/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "frames/server/internal.h"

void tp_control_greet(struct tp_server *s, struct tp_connection *c)
{
    struct tp_hello hello = {.version = TP_WIRE_VERSION,
        .oldest = TP_WIRE_OLDEST,
        .kind = TP_HELLO_CONTROL,
        .capabilities = TP_CAP_CENSUS};
    const struct iovec part = {&hello, sizeof hello};
    c->kind = TP_CONTROL;
    if (tp_frame_send_now(c->source.fd, TP_FRAME_HELLO, 0, 0, &part, 1, NULL, 0) < 0)
        tp_connection_drop(s, c, NULL);
}

static int answer(int sock, uint32_t fourcc, uint32_t sequence, int result, const int *fd)
{
    int32_t words[2] = {result, 0};
    const struct iovec part = {words, sizeof words};
    return tp_frame_send_now(sock, fourcc, 0, sequence, &part, 1, fd, fd && result == 0);
}

static int look_png(struct tp_publisher *p)
{
    struct tp_error e = {0};
    struct tp_image image = {0};
    struct tp_buf png = {0};
    int r = tp_publisher_look(p, &image, &e);
    if (r == 0)
        r = tp_image_to_png(&image, &png, &e);
    if (r == 0)
        r = tp_memory_of(png.data, png.len);
    tp_image_finish(&image);
    tp_buf_finish(&png);
    return r;
}

/* A picture takes a tenth of a second to compose and pack, which nobody else is to wait for. */
static void *run(void *data)
{
    struct tp_look *l = data;
    int fd = look_png(l->publisher);
    answer(l->socket, TP_FRAME_LOOK, l->sequence, fd < 0 ? fd : 0, &fd);
    if (fd >= 0)
        close(fd);
    close(l->socket);
    atomic_store(&l->done, true);
    return NULL;
}

void tp_control_finish(struct tp_look *l)
{
    if (l->running)
        pthread_join(l->thread, NULL);
    l->running = false;
}

static int start(struct tp_server *s, const struct tp_connection *c, const struct tp_frame *f)
{
    struct tp_look *l = &s->look;
    uint32_t output;
    if (f->payload_bytes < sizeof output)
        return -EINVAL;
    memcpy(&output, f->payload, sizeof output);
    if (output >= s->n_outputs)
        return -EINVAL;
    if (l->running && !atomic_load(&l->done))
        return -EBUSY;
    tp_control_finish(l);
    l->publisher = s->publishers[output];
    l->sequence = f->sequence;
    l->socket = fcntl(c->source.fd, F_DUPFD_CLOEXEC, 0);
    if (l->socket < 0)
        return -errno;
    atomic_store(&l->done, false);
    int r = pthread_create(&l->thread, NULL, run, l);
    if (r)
        close(l->socket);
    l->running = r == 0;
    return -r;
}

static int tell_tick(struct tp_server *s, const struct tp_connection *c, const struct tp_frame *f)
{
    struct tp_control_tick t = {.result = -EINVAL};
    const struct iovec part = {&t, sizeof t};
    struct tp_panel_tick last;
    uint32_t output = s->n_outputs;
    if (f->payload_bytes >= sizeof output)
        memcpy(&output, f->payload, sizeof output);
    if (output < s->n_outputs) {
        tp_publisher_last_tick(s->publishers[output], &last, &t.told_ns);
        t.result = 0;
        t.sequence = last.sequence;
        t.time_ns = last.time_ns;
    }
    return tp_frame_send_now(c->source.fd, TP_FRAME_TICK, 0, f->sequence, &part, 1, NULL, 0);
}

static int plug(struct tp_server *s, const struct tp_connection *c, const struct tp_frame *f)
{
    struct tp_control_plug asked;
    struct tp_kms_output o;
    struct tp_error e = {0};
    if (f->payload_bytes < sizeof asked)
        return -EINVAL;
    memcpy(&asked, f->payload, sizeof asked);
    if (c->uid != 0 && c->uid != geteuid())
        return -EPERM;
    if (asked.n_modes > TP_KMS_MODES || tp_kms_get_output(s->kms, asked.output, &o) < 0)
        return -EINVAL;
    o.connected = asked.connected;
    if (asked.n_modes > 0) {
        memcpy(o.modes, asked.modes, asked.n_modes * sizeof *o.modes);
        o.n_modes = asked.n_modes;
    }
    return tp_server_plug(s, asked.output, &o, &e);
}

static int change(struct tp_server *s, const struct tp_connection *c, struct tp_frame *f)
{
    struct tp_scanout_frame setting;
    if (tp_scanout_decode(f, true, &setting) < 0)
        return -EINVAL;
    if (c->uid != 0 && c->uid != geteuid())
        return -EPERM;
    tp_releases_setting(s->releases, &setting.u.setting);
    return 0;
}

static int list(struct tp_server *s, const struct tp_connection *c, const struct tp_frame *f)
{
    struct tp_census_ring all[TP_KMS_OUTPUTS + TP_SERVER_RINGS];
    struct tp_control_census out = {.result = 0};
    int fds[TP_CONTROL_RINGS];
    unsigned n = 0;
    uint32_t first = 0;
    if (f->payload_bytes < sizeof first)
        out.result = -EINVAL;
    else if (c->uid != 0 && c->uid != geteuid())
        out.result = -EPERM;
    else
        memcpy(&first, f->payload, sizeof first);
    if (out.result == 0)
        out.total = tp_census_list(s, all, sizeof all / sizeof *all);
    for (unsigned i = first; i < out.total && n < TP_CONTROL_RINGS; i++, n++) {
        out.rings[n].id = all[i].id;
        out.rings[n].pid = all[i].pid;
        fds[n] = all[i].fd;
    }
    const struct iovec part = {
        &out, offsetof(struct tp_control_census, rings) + n * sizeof *out.rings};
    return tp_frame_send_now(c->source.fd, TP_FRAME_CENSUS, 0, f->sequence, &part, 1, fds, n);
}

void tp_control_frame(struct tp_server *s, struct tp_connection *c, struct tp_frame *f)
{
    int r;
    switch (f->fourcc) {
    case TP_FRAME_LOOK:
        r = start(s, c, f); /* 0: its thread answers */
        if (r < 0)
            r = answer(c->source.fd, TP_FRAME_LOOK, f->sequence, r, NULL);
        break;
    case TP_FRAME_PLUG:
        r = answer(c->source.fd, TP_FRAME_PLUG, f->sequence, plug(s, c, f), NULL);
        break;
    case TP_FRAME_SETTING:
        r = answer(c->source.fd, TP_FRAME_SETTING, f->sequence, change(s, c, f), NULL);
        break;
    case TP_FRAME_CENSUS:
        r = list(s, c, f);
        break;
    case TP_FRAME_TICK:
        r = tell_tick(s, c, f);
        break;
    default:
        tp_connection_drop(s, c, "a control frame that is not known here");
        return;
    }
    if (r < 0)
        tp_connection_drop(s, c, "it does not read its answers");
}
