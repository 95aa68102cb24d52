#include "frames/icd/display_card.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "frames/icd/log.h"
#include "frames/icd/settings.h"

#define EVENT_BYTES 4096u /* the kernel's most for one file */

static pthread_mutex_t cards_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tp_display_card *cards; /* those that may be shared */

/* Where no thread listens yet, nobody has noticed. */
static bool is_gone(struct tp_display_card *c)
{
    struct pollfd p = {.fd = c->link.fd};

    pthread_mutex_lock(&c->lock);
    if (poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR))
        tp_display_card_lose(c);
    bool gone = c->gone;
    pthread_mutex_unlock(&c->lock);
    return gone;
}

/* Around a link that is open; moved. */
static int make(const struct tp_display_link *link, struct tp_display_card **out)
{
    struct tp_display_card *c = calloc(1, sizeof *c);

    if (!c)
        return -ENOMEM;
    c->link = *link;
    c->refs = 1;
    c->epoll = -1;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->idle, NULL);
    *out = c;
    return 0;
}

static int open_card(struct tp_display_card **out)
{
    const struct tp_icd_settings *s = tp_icd_settings();
    const struct sockaddr *address = (const struct sockaddr *)&s->server;
    struct tp_display_link link;
    int r = tp_display_link_open(&link, s->server_bytes ? address : NULL, s->server_bytes);

    if (r < 0)
        return r;
    /* Whoever only looks is not to keep a compositor from starting. */
    tp_display_ioctl(&link, DRM_IOCTL_DROP_MASTER, NULL);
    r = make(&link, out);
    if (r < 0)
        tp_display_link_finish(&link);
    return r;
}

int tp_display_card_get(struct tp_display_card **out)
{
    struct tp_display_card *c;
    int r = 0;

    pthread_mutex_lock(&cards_lock);
    for (c = cards; c && is_gone(c); c = c->next)
        ;
    if (c) {
        c->refs++;
    } else {
        r = open_card(&c);
        if (r == 0) {
            c->next = cards;
            cards = c;
        }
    }
    pthread_mutex_unlock(&cards_lock);
    *out = r == 0 ? c : NULL;
    return r;
}

int tp_display_card_wrap(int fd, struct tp_display_card **out)
{
    struct tp_display_link link;
    int r = tp_display_link_wrap(&link, fd);

    if (r < 0)
        return r;
    r = make(&link, out);
    if (r < 0)
        tp_display_link_finish(&link);
    else
        (*out)->foreign = true;
    return r;
}

struct tp_display_card *tp_display_card_hold(struct tp_display_card *c)
{
    pthread_mutex_lock(&cards_lock);
    c->refs++;
    pthread_mutex_unlock(&cards_lock);
    return c;
}

void tp_display_card_put(struct tp_display_card *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&cards_lock);
    bool last = --c->refs == 0;
    for (struct tp_display_card **at = &cards; last && *at; at = &(*at)->next) {
        if (*at == c) {
            *at = c->next;
            break;
        }
    }
    pthread_mutex_unlock(&cards_lock);
    if (!last)
        return;
    tp_loop_destroy(c->loop);
    if (c->epoll >= 0)
        close(c->epoll);
    tp_display_link_finish(&c->link);
    pthread_cond_destroy(&c->idle);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

void tp_display_card_lose(struct tp_display_card *c)
{
    if (c->gone)
        return;
    c->gone = true;
    for (struct tp_display_user *u = c->users; u; u = u->next)
        u->ops->gone(u);
}

/* --- the thread --- */

static void take_event(struct tp_display_card *c, const struct drm_event_vblank *e)
{
    for (struct tp_display_user *u = c->users; u; u = u->next) {
        if (u->cookie && u->cookie == e->user_data) {
            u->cookie = 0;
            u->ops->flipped(u, e);
            return;
        }
    }
}

static void take_events(struct tp_display_card *c, const uint8_t *bytes, size_t n)
{
    struct drm_event_crtc_sequence s;
    struct drm_event_vblank e;
    struct drm_event head;

    for (size_t at = 0; at + sizeof head <= n; at += head.length) {
        memcpy(&head, bytes + at, sizeof head);
        if (head.length < sizeof head || head.length > n - at)
            return;
        if (head.type == DRM_EVENT_CRTC_SEQUENCE && head.length >= sizeof s) {
            memcpy(&s, bytes + at, sizeof s);
            e = (struct drm_event_vblank){.base = s.base, .user_data = s.user_data};
            take_event(c, &e);
        }
        if (head.type != DRM_EVENT_FLIP_COMPLETE || head.length < sizeof e)
            continue;
        memcpy(&e, bytes + at, sizeof e);
        take_event(c, &e);
    }
}

static void read_events(struct tp_display_card *c)
{
    uint8_t bytes[EVENT_BYTES];
    struct pollfd p = {.fd = c->link.fd, .events = POLLIN};

    while (!c->gone && poll(&p, 1, 0) > 0) {
        ssize_t n = read(c->link.fd, bytes, sizeof bytes);
        if (n > 0)
            take_events(c, bytes, (size_t)n);
        else if (n == 0 || (errno != EINTR && errno != EAGAIN))
            tp_display_card_lose(c);
    }
}

static void read_hotplug(struct tp_display_card *c)
{
    struct pollfd p = {.fd = c->link.hotplug, .events = POLLIN};

    if (c->gone || c->link.hotplug < 0 || poll(&p, 1, 0) <= 0)
        return;
    if (!tp_display_link_drain(&c->link))
        epoll_ctl(c->epoll, EPOLL_CTL_DEL, c->link.hotplug, NULL);
    for (struct tp_display_user *u = c->users; u && !c->gone; u = u->next)
        u->ops->screens_changed(u);
}

static int64_t before(void *data, short *events)
{
    struct tp_display_card *c = data;
    int64_t until = INT64_MAX;

    pthread_mutex_lock(&c->lock);
    /* A user stays in the list while it is busy. */
    for (struct tp_display_user *u = c->users; u && !c->gone; u = u->next) {
        int64_t at = u->ops->work(u);
        until = at < until ? at : until;
    }
    *events = c->gone ? 0 : POLLIN;
    if (c->gone)
        tp_loop_set_fd(c->loop, -1);
    pthread_mutex_unlock(&c->lock);
    return until;
}

static void after(void *data, short revents)
{
    struct tp_display_card *c = data;

    if (!revents)
        return;
    pthread_mutex_lock(&c->lock);
    read_events(c);
    read_hotplug(c);
    pthread_mutex_unlock(&c->lock);
}

static const struct tp_loop_ops loop_ops = {before, after};

static int listen_to(struct tp_display_card *c, int fd)
{
    struct epoll_event e = {.events = EPOLLIN};

    return fd >= 0 && epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

int tp_display_card_listen(struct tp_display_card *c)
{
    int r = 0;

    if (c->loop)
        return 0;
    if (c->epoll < 0) {
        c->epoll = epoll_create1(EPOLL_CLOEXEC);
        if (c->epoll < 0)
            return -errno;
        r = listen_to(c, c->link.fd);
        if (r == 0)
            r = listen_to(c, c->link.hotplug);
    }
    return r < 0 ? r : tp_loop_create("turnpike-kms", c->epoll, &loop_ops, c, &c->loop);
}

int tp_display_card_start(struct tp_display_card *c)
{
    int r;

    if (c->gone)
        return -ENODEV;
    if (!c->master && !c->foreign) {
        r = tp_display_ioctl(&c->link, DRM_IOCTL_SET_MASTER, NULL);
        if (r == -ENODEV) {
            tp_display_card_lose(c);
            return r;
        }
        if (r < 0) {
            tp_icd_log_once(
                "another program draws on the screens; a display's swapchain needs them "
                "for itself: end it, or use its windows");
            return -EBUSY;
        }
    }
    c->master = true;
    return tp_display_card_listen(c);
}

void tp_display_card_wake(struct tp_display_card *c)
{
    if (c->loop)
        tp_loop_wake(c->loop);
}

void tp_display_card_wait_idle(struct tp_display_card *c, struct tp_display_user *u)
{
    while (u->busy)
        pthread_cond_wait(&c->idle, &c->lock);
}
