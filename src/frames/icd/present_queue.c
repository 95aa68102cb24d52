#include "frames/icd/present_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool gives_way(VkPresentModeKHR mode)
{
    return mode == VK_PRESENT_MODE_MAILBOX_KHR || mode == VK_PRESENT_MODE_IMMEDIATE_KHR ||
        mode == TP_VK_FIFO_LATEST_READY;
}

int tp_present_queue_put(struct tp_present_queue *q, const struct tp_picture *p)
{
    size_t damage = p->n_damage * sizeof *p->damage;
    struct tp_queued *new = calloc(1, sizeof *new + damage);

    if (!new)
        return -ENOMEM;
    new->picture = *p;
    new->picture.damage = NULL;
    if (p->n_damage > 0) {
        memcpy(new->damage, p->damage, damage);
        new->picture.damage = new->damage;
    }
    if (p->hdr) {
        new->hdr = *p->hdr;
        new->hdr.pNext = NULL;
        new->picture.hdr = &new->hdr;
    }
    if (q->last)
        q->last->next = new;
    else
        q->first = new;
    q->last = new;
    q->n++;
    return 0;
}

static struct tp_queued *take_first(struct tp_present_queue *q)
{
    struct tp_queued *first = q->first;

    q->first = first->next;
    if (!q->first)
        q->last = NULL;
    q->n--;
    first->next = NULL;
    return first;
}

/* What the one in front changes and the next one does not, the next one has to change. */
static void inherit(struct tp_queued *from, struct tp_queued *to)
{
    to->picture.n_damage = 0; /* what differs from the picture before the one that goes: unknown */
    to->picture.damage = NULL;
    if (from->picture.hdr && !to->picture.hdr) {
        to->hdr = from->hdr;
        to->picture.hdr = &to->hdr;
    }
}

/* The first gives way while the one behind it is of its kind, and due. */
static void drop_old(struct tp_present_queue *q, int64_t now_ns, struct tp_queued **dropped)
{
    struct tp_queued **end = dropped;

    while (*end)
        end = &(*end)->next;
    while (q->first && q->first->next && gives_way(q->first->picture.mode) &&
        q->first->next->picture.mode == q->first->picture.mode &&
        q->first->next->picture.not_before_ns <= now_ns) {
        struct tp_queued *old = take_first(q);
        inherit(old, q->first);
        *end = old;
        end = &old->next;
    }
}

struct tp_queued *tp_present_queue_take(struct tp_present_queue *q, bool turn, int64_t now_ns,
    struct tp_queued **dropped, int64_t *until_ns)
{
    *dropped = NULL;
    *until_ns = INT64_MAX;
    drop_old(q, now_ns, dropped);
    if (!q->first)
        return NULL;
    if (q->first->picture.not_before_ns > now_ns) {
        *until_ns = q->first->picture.not_before_ns;
        return NULL;
    }
    /* The next one may only become due, and take this one's place, while it waits for its turn. */
    if (!turn && q->first->picture.mode != VK_PRESENT_MODE_IMMEDIATE_KHR)
        return NULL;
    return take_first(q);
}

struct tp_queued *tp_present_queue_drain(struct tp_present_queue *q)
{
    struct tp_queued *all = q->first;

    *q = (struct tp_present_queue){0};
    return all;
}

void tp_queued_free(struct tp_queued *p)
{
    if (!p)
        return;
    if (p->picture.fence >= 0)
        close(p->picture.fence);
    free(p);
}

void tp_queued_free_all(struct tp_queued *list)
{
    for (struct tp_queued *next; list; list = next) {
        next = list->next;
        tp_queued_free(list);
    }
}

void tp_queued_give_up(struct tp_queued *list, const struct tp_stream_events *events, void *data)
{
    for (struct tp_queued *next; list; list = next) {
        int fence = list->picture.fence;

        next = list->next;
        list->picture.fence = -1;
        events->released(data, list->picture.index, fence);
        events->discarded(data, list->picture.serial);
        tp_queued_free(list);
    }
}
