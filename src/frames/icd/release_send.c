/* What the scan-out connection sends. A server that does not read is not waited for. */
#include <errno.h>
#include <stdlib.h>

#include "frames/icd/release_internal.h"

static int send_frame(struct tp_scanout *c, struct tp_scanout_frame *f)
{
    uint8_t payload[TP_SCANOUT_BYTES];
    struct iovec part = {payload, tp_scanout_encode(f, payload)};

    return tp_frame_send_now(c->sock, f->fourcc, 0, ++c->sequence, &part, 1, &f->fd, f->fd >= 0);
}

/* In order: what waits goes first. */
static void send_or_keep(struct tp_scanout *c, struct tp_scanout_frame *f)
{
    if (!c->greeted || (!c->unsent && send_frame(c, f) != -EAGAIN))
        return;
    struct tp_scanout_unsent *u = calloc(1, sizeof *u);
    if (!u)
        return; /* the server finds out when the connection ends */
    u->frame = *f;
    *c->unsent_end = u;
    c->unsent_end = &u->next;
    tp_loop_wake(c->loop);
}

void tp_scanout_send_or_keep(
    struct tp_scanout *c, uint32_t fourcc, const struct tp_buffer_name *name)
{
    struct tp_scanout_frame f = {.fourcc = fourcc, .fd = -1};

    if (fourcc == TP_FRAME_STATE)
        f.u.state.buffer = *name;
    else
        f.u.unregister = *name;
    send_or_keep(c, &f);
}

void tp_scanout_drop_unsent(struct tp_scanout *c)
{
    for (struct tp_scanout_unsent *u = c->unsent, *next; u; u = next) {
        next = u->next;
        free(u);
    }
    c->unsent = NULL;
    c->unsent_end = &c->unsent;
}

void tp_scanout_send_registration(struct tp_scanout_watch *w, unsigned slot)
{
    struct tp_scanout *c = w->connection;
    struct tp_scanout_image *i = &w->images[slot];
    struct tp_scanout_frame f = {.fourcc = TP_FRAME_REGISTER, .u.reg.buffer = i->name, .fd = i->fd};

    f.u.reg.buffer.index = i->name.index = TP_BUFFER_NO_INDEX;
    w->events->registering(w->data, slot, &i->name);
    i->unsent = send_frame(c, &f) == -EAGAIN;
    if (i->unsent)
        tp_loop_wake(c->loop);
}

/* The lowest number that is free; false: there is none. */
static bool take_number(struct tp_scanout *c, unsigned *out)
{
    for (*out = 0; *out < TP_CENSUS_RINGS; ++*out) {
        if (c->numbers >> *out & 1)
            continue;
        c->numbers |= 1u << *out;
        return true;
    }
    return false;
}

void tp_scanout_send_census(struct tp_scanout_watch *w)
{
    struct tp_scanout *c = w->connection;

    if (w->census < 0 || !c->greeted || !(c->capabilities & TP_CAP_CENSUS))
        return;
    if (w->told == TP_CENSUS_UNTOLD && !take_number(c, &w->number))
        return;
    struct tp_scanout_frame f = {
        .fourcc = TP_FRAME_CENSUS, .u.census.number = w->number, .fd = w->census};
    /* The end of another of this number goes first. */
    w->told = c->unsent || send_frame(c, &f) == -EAGAIN ? TP_CENSUS_UNSENT : TP_CENSUS_SENT;
    if (w->told == TP_CENSUS_UNSENT)
        tp_loop_wake(c->loop);
}

void tp_scanout_end_census(struct tp_scanout_watch *w)
{
    struct tp_scanout_frame f = {
        .fourcc = TP_FRAME_CENSUS, .u.census = {w->number, true}, .fd = -1};

    if (w->told == TP_CENSUS_SENT)
        send_or_keep(w->connection, &f);
    if (w->told != TP_CENSUS_UNTOLD)
        w->connection->numbers &= ~(1u << w->number);
    w->told = TP_CENSUS_UNTOLD;
}

bool tp_scanout_has_unsent(const struct tp_scanout *c)
{
    if (c->unsent)
        return true;
    for (struct tp_scanout_watch *w = c->watches; w; w = w->next) {
        if (w->told == TP_CENSUS_UNSENT)
            return true;
        for (unsigned i = 0; i < w->n_images; i++) {
            if (w->images[i].fd >= 0 && w->images[i].unsent)
                return true;
        }
    }
    return false;
}

void tp_scanout_send_unsent(struct tp_scanout *c)
{
    while (c->unsent) {
        struct tp_scanout_unsent *u = c->unsent;
        if (send_frame(c, &u->frame) == -EAGAIN)
            return;
        c->unsent = u->next;
        free(u);
    }
    c->unsent_end = &c->unsent;
    for (struct tp_scanout_watch *w = c->watches; w; w = w->next) {
        if (w->told == TP_CENSUS_UNSENT)
            tp_scanout_send_census(w);
        for (unsigned i = 0; i < w->n_images; i++) {
            if (w->images[i].fd >= 0 && w->images[i].unsent)
                tp_scanout_send_registration(w, i);
        }
    }
}

void tp_scanout_send_setting(struct tp_scanout *c, enum tp_setting setting, int64_t value)
{
    struct tp_scanout_frame f = {
        .fourcc = TP_FRAME_SETTING, .u.setting = {.setting = setting, .value = value}, .fd = -1};

    send_frame(c, &f);
}
