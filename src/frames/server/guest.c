/* Scan-out connections: what a guest's ICD says (wire/scanout.h), as far as sockets go. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frames/server/internal.h"
#include "frames/server/vote.h"

#define VOTERS 64u

/* A memfd, or a dma-buf of a kernel that gives each an inode: what fstat asks no other process
 * about, and what cannot be confused with another. */
static bool is_memory(int fd)
{
    char path[32], name[8] = "";
    if (fcntl(fd, F_GET_SEALS) >= 0)
        return true;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return readlink(path, name, sizeof name) == sizeof name && memcmp(name, "/dmabuf:", 8) == 0;
}

static bool is_named(int fd, const struct tp_buffer_name *name)
{
    struct stat st;
    return is_memory(fd) && fstat(fd, &st) == 0 && st.st_dev == name->identity.device &&
        st.st_ino == name->identity.inode;
}

void tp_guest_greet(struct tp_server *s, struct tp_connection *c, struct tp_frame *f)
{
    struct tp_hello hello;
    uint32_t version;
    int board, r = tp_scanout_hello(f, false, &hello, &version, &board);
    if (r == 0)
        r = tp_releases_join(s->releases, c->source.fd, &c->source, hello.capabilities, &c->guest);
    if (r == -EMFILE)
        tp_connection_drop(s, c, "there are as many scan-out connections as there may be");
    else if (r == -EBADMSG)
        tp_connection_drop(s, c, "its hello is none");
    else if (r < 0)
        tp_connection_drop(s, c, NULL);
    else
        c->kind = TP_SCANOUT;
}

/* What all guests wish of a screen is told where it is another than before. */
static void vote(struct tp_server *s)
{
    struct tp_vote_wish wishes[VOTERS];
    for (unsigned output = 0; output < s->n_outputs; output++) {
        struct tp_kms_output o;
        size_t n = 0;
        for (struct tp_connection *c = s->connections; c && n < VOTERS; c = c->next)
            if (c->guest && !c->dead)
                wishes[n++] = (struct tp_vote_wish){c->cap_mhz, c->refresh_mhz[output]};
        if (!s->vote || tp_kms_get_output(s->kms, output, &o) < 0)
            return;
        uint32_t mhz = tp_vote(&o, wishes, n);
        if (mhz == s->voted_mhz[output])
            continue;
        s->voted_mhz[output] = mhz;
        s->vote(s->vote_data, output, mhz);
    }
}

static void set(struct tp_server *s, struct tp_connection *c, const struct tp_setting_frame *f)
{
    if (f->setting == TP_SETTING_CAP)
        c->cap_mhz = (uint32_t)f->value;
    else if (f->setting == TP_SETTING_REFRESH && f->output < s->n_outputs)
        c->refresh_mhz[f->output] = (uint32_t)f->value;
    vote(s);
}

void tp_guest_frame(struct tp_server *s, struct tp_connection *c, struct tp_frame *frame)
{
    struct tp_scanout_frame f;
    int r = tp_scanout_decode(frame, false, &f);
    if (r == -ENOTSUP) /* a later version's */
        return;
    if (r == 0)
        r = tp_releases_take(s->releases, c->guest, &f,
            f.fourcc == TP_FRAME_REGISTER && is_named(f.fd, &f.u.reg.buffer));
    if (r == 0 && f.fourcc == TP_FRAME_SETTING)
        set(s, c, &f.u.setting);
    if (r == 0 && f.fourcc == TP_FRAME_CENSUS)
        r = tp_census_take(s, c, &f);
    tp_scanout_finish(&f);
    if (r < 0)
        tp_connection_drop(s, c, "a scan-out frame that is none");
}

void tp_guest_leave(struct tp_server *s, struct tp_connection *c)
{
    tp_releases_leave(s->releases, c->guest);
    tp_census_leave(s, c);
    c->guest = NULL;
    vote(s);
}
