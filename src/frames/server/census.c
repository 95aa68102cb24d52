/* Whose live records there are: those of screens, and those that guests have brought. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "frames/server/internal.h"

static void drop(struct tp_server *s, struct tp_connection *c, unsigned i)
{
    close(c->rings[i].fd);
    c->n_rings--;
    s->n_rings--;
    memmove(c->rings + i, c->rings + i + 1, (c->n_rings - i) * sizeof *c->rings);
}

void tp_census_leave(struct tp_server *s, struct tp_connection *c)
{
    while (c->n_rings > 0)
        drop(s, c, c->n_rings - 1);
}

static bool is_ring(int fd)
{
    struct tp_ring_view *v;
    int r = tp_ring_open(fd, &v);
    tp_ring_close(v);
    return r == 0 || r == -ENOTSUP; /* a later version's: for readers of its own */
}

int tp_census_take(struct tp_server *s, struct tp_connection *c, struct tp_scanout_frame *f)
{
    const struct tp_census_frame *said = &f->u.census;
    unsigned i = 0;
    if (!said->ended && !is_ring(f->fd))
        return -EBADMSG;
    while (i < c->n_rings && c->rings[i].number != said->number)
        i++;
    if (i < c->n_rings)
        drop(s, c, i);
    if (said->ended)
        return 0;
    if (c->n_rings == TP_CENSUS_RINGS)
        return -EBADMSG;
    if (s->n_rings >= s->limits.rings) { /* it is not to be seen, and draws all the same */
        if (!c->complained)
            tp_server_log(s, "client %d (uid %u): there are as many live records as there may be",
                (int)c->pid, (unsigned)c->uid);
        c->complained = true;
        return 0;
    }
    c->rings[c->n_rings++] =
        (struct tp_guest_ring){.number = said->number, .id = s->next_ring++, .fd = f->fd};
    s->n_rings++;
    f->fd = -1;
    return 0;
}

static void add(struct tp_census_ring *out, unsigned *n, unsigned most, struct tp_census_ring r)
{
    unsigned at = *n;
    if (r.fd < 0 || *n == most)
        return;
    for (; at > 0 && out[at - 1].id > r.id; at--)
        out[at] = out[at - 1];
    out[at] = r;
    ++*n;
}

unsigned tp_census_list(struct tp_server *s, struct tp_census_ring *out, unsigned most)
{
    unsigned n = 0;
    for (unsigned i = 0; i < s->n_outputs; i++)
        add(out, &n, most,
            (struct tp_census_ring){i + 1, 0, tp_publisher_census(s->publishers[i])});
    for (const struct tp_connection *c = s->connections; c; c = c->next)
        for (unsigned i = 0; i < c->n_rings && !c->dead; i++) {
            const struct tp_guest_ring *r = &c->rings[i];
            uint32_t pid = c->pid > 0 ? (uint32_t)c->pid : TP_CENSUS_NO_PID;
            add(out, &n, most, (struct tp_census_ring){r->id, pid, r->fd});
        }
    return n;
}
