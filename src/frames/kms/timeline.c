/* Fences, and what a syncobj makes of them: one, or a timeline (dma-fence-chain.c). */
#include "frames/kms/syncobj.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"

struct tp_account *tp_account_create(unsigned limit)
{
    struct tp_account *a = tp_calloc(1, sizeof *a);
    a->refs = 1;
    a->limit = limit;
    return a;
}

bool tp_account_take(struct tp_account *a)
{
    if (a->fds >= a->limit)
        return false;
    a->fds++;
    a->refs++;
    return true;
}

void tp_account_give_back(struct tp_account *a)
{
    a->fds--;
    tp_account_put(a);
}

void tp_account_put(struct tp_account *a)
{
    if (!--a->refs)
        free(a);
}

struct tp_fence *tp_fence_of_fd(struct tp_account *account, int fd)
{
    struct tp_fence *f = tp_calloc(1, sizeof *f);
    f->refs = 1;
    f->fd = fd;
    f->account = account;
    return f;
}

struct tp_fence *tp_fence_signalled_one(void)
{
    return tp_fence_of_fd(NULL, -1);
}

void tp_fence_put(struct tp_fence *f)
{
    if (!f || --f->refs)
        return;
    if (f->fd >= 0)
        close(f->fd);
    if (f->account)
        tp_account_give_back(f->account);
    for (unsigned i = 0; i < f->n_parts; i++)
        tp_fence_put(f->parts[i]);
    free(f);
}

bool tp_fence_signalled(const struct tp_fence *f)
{
    for (unsigned i = 0; i < f->n_parts; i++)
        if (!tp_fence_signalled(f->parts[i]))
            return false;
    struct pollfd p = {.fd = f->fd, .events = POLLIN};
    return f->fd < 0 || poll(&p, 1, 0) > 0;
}

unsigned tp_fence_fds(const struct tp_fence *f, int *fds, unsigned n, unsigned have)
{
    for (unsigned i = 0; i < f->n_parts; i++)
        have = tp_fence_fds(f->parts[i], fds, n, have);
    if (f->fd >= 0 && have++ < n)
        fds[have - 1] = f->fd;
    return have;
}

/* Forgets the points that are signalled, from the first on. */
static void collect(struct tp_syncobj *s)
{
    unsigned n = 0;
    while (n < s->n_points && tp_fence_signalled(s->points[n].fence)) {
        s->done = s->points[n].value;
        tp_fence_put(s->points[n++].fence);
    }
    s->n_points -= n;
    s->kms->sync_changed |= n > 0;
    for (unsigned i = 0; n && i < s->n_points; i++)
        s->points[i] = s->points[i + n];
}

void tp_syncobj_replace(struct tp_syncobj *s, struct tp_fence *f)
{
    if (f)
        f->refs++;
    tp_fence_put(s->fence);
    for (unsigned i = 0; i < s->n_points; i++)
        tp_fence_put(s->points[i].fence);
    s->fence = f;
    s->kms->sync_changed = true;
    s->n_points = 0;
    s->timeline = false;
    s->last = s->done = 0;
}

int tp_syncobj_add_point(struct tp_syncobj *s, struct tp_fence *f, uint64_t point)
{
    collect(s);
    if (s->n_points >= TP_MAX_POINTS)
        return -ENOMEM;
    if (s->fence)
        TP_PUSH(s->points, s->n_points, s->cap_points) = (struct tp_point){0, s->fence};
    s->fence = NULL;
    s->kms->sync_changed = true;
    s->timeline = true;
    if (point > s->last)
        s->last = point;
    f->refs++;
    TP_PUSH(s->points, s->n_points, s->cap_points) = (struct tp_point){s->last, f};
    collect(s);
    return 0;
}

bool tp_syncobj_available(const struct tp_syncobj *s, uint64_t point)
{
    if (!s->timeline)
        return s->fence && !point;
    return point <= s->last;
}

/* Adds what is not signalled of f, each once. false: no room. */
static bool add_parts(struct tp_fence **parts, unsigned *n, struct tp_fence *f)
{
    for (unsigned i = 0; i < f->n_parts; i++)
        if (!add_parts(parts, n, f->parts[i]))
            return false;
    if (f->n_parts || tp_fence_signalled(f))
        return true;
    for (unsigned i = 0; i < *n; i++)
        if (parts[i] == f)
            return true;
    if (*n == TP_MAX_PARTS)
        return false;
    parts[(*n)++] = f;
    return true;
}

int tp_syncobj_fence(struct tp_syncobj *s, uint64_t point, struct tp_fence **out)
{
    struct tp_fence *parts[TP_MAX_PARTS];
    unsigned n = 0;
    if (s->fence) {
        s->fence->refs++;
        *out = s->fence;
        return 0;
    }
    collect(s);
    for (unsigned i = 0; i < s->n_points && !(point && point <= s->done); i++) {
        if (!add_parts(parts, &n, s->points[i].fence))
            return -ENOMEM;
        if (point && s->points[i].value >= point)
            break;
    }
    struct tp_fence *f = n == 1 ? parts[0] : tp_calloc(1, sizeof *f + n * sizeof *parts);
    f->refs++;
    *out = f;
    if (n == 1)
        return 0;
    f->fd = -1;
    for (f->n_parts = 0; f->n_parts < n; f->n_parts++) {
        parts[f->n_parts]->refs++;
        f->parts[f->n_parts] = parts[f->n_parts];
    }
    return 0;
}

bool tp_syncobj_signalled(struct tp_syncobj *s, uint64_t point)
{
    if (!s->timeline)
        return s->fence && tp_fence_signalled(s->fence);
    collect(s);
    return !s->n_points || (point && point <= s->done);
}

unsigned tp_syncobj_fds(const struct tp_syncobj *s, uint64_t point, int *fds, unsigned n,
                        unsigned have)
{
    if (s->fence)
        return tp_fence_fds(s->fence, fds, n, have);
    for (unsigned i = 0; i < s->n_points; i++) {
        have = tp_fence_fds(s->points[i].fence, fds, n, have);
        if (point && s->points[i].value >= point)
            break;
    }
    return have;
}
