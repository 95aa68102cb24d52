#include "frames/panel/android_ledger.h"

#include <string.h>

void tp_ledger_init(struct tp_ledger *l, const struct tp_ledger_fences *fences)
{
    memset(l, 0, sizeof *l);
    l->fences = *fences;
}

void tp_ledger_finish(struct tp_ledger *l)
{
    for (unsigned i = 0; i < TP_LEDGER_SLOTS; i++)
        tp_ledger_clear(l, i);
    for (unsigned i = 0; i < TP_LEDGER_ITEMS; i++)
        if (l->items[i].tag && l->items[i].fence >= 0)
            l->fences.close(l->items[i].fence);
    memset(l, 0, sizeof *l);
}

static struct tp_ledger_entry *entry_at(struct tp_ledger_slot *s, unsigned i)
{
    return &s->entries[(s->first + i) % TP_LEDGER_DEPTH];
}

static int find_item(const struct tp_ledger *l, uint64_t tag)
{
    for (unsigned i = 1; i <= TP_LEDGER_ITEMS; i++) { /* the newest first */
        unsigned at = (l->next_item + TP_LEDGER_ITEMS - i) % TP_LEDGER_ITEMS;
        if (l->items[at].tag == tag && !l->items[at].told)
            return (int)at;
    }
    return -1;
}

static void tell_if_done(struct tp_ledger *l, unsigned item)
{
    struct tp_ledger_item *it = &l->items[item];
    if (it->current || it->refs > 0 || it->told)
        return;
    it->told = true;
    l->to_tell[(l->first_told + l->n_told++) % TP_LEDGER_ITEMS] = (uint16_t)item;
}

bool tp_ledger_take(struct tp_ledger *l, uint64_t *tag, int *fence)
{
    if (l->n_told == 0)
        return false;
    struct tp_ledger_item *it = &l->items[l->to_tell[l->first_told]];
    l->first_told = (l->first_told + 1) % TP_LEDGER_ITEMS;
    l->n_told--;
    *tag = it->tag;
    *fence = it->fence;
    it->tag = 0;
    l->n_items--;
    return true;
}

bool tp_ledger_room(const struct tp_ledger *l)
{
    for (unsigned i = 0; i < TP_LEDGER_SLOTS; i++)
        if (l->slots[i].n + TP_LEDGER_RESERVE >= TP_LEDGER_DEPTH)
            return false;
    return l->n_items + TP_LEDGER_SLOTS <= TP_LEDGER_ITEMS;
}

void tp_ledger_supersede(struct tp_ledger *l)
{
    unsigned left = l->n_items;
    for (unsigned i = 0; left > 0 && i < TP_LEDGER_ITEMS; i++) { /* the oldest first */
        unsigned at = (l->next_item + i) % TP_LEDGER_ITEMS;
        if (!l->items[at].tag)
            continue;
        left--;
        l->items[at].current = false;
        tell_if_done(l, at);
    }
}

void tp_ledger_show(struct tp_ledger *l, uint64_t tag, bool current)
{
    while (l->items[l->next_item].tag) /* room: there is a free one */
        l->next_item = (l->next_item + 1) % TP_LEDGER_ITEMS;
    l->items[l->next_item] = (struct tp_ledger_item){.tag = tag, .current = current, .fence = -1};
    l->next_item = (l->next_item + 1) % TP_LEDGER_ITEMS;
    l->n_items++;
}

void tp_ledger_set(struct tp_ledger *l, unsigned slot, uint64_t transaction, uint64_t tag,
    int64_t now_ns, bool own)
{
    struct tp_ledger_slot *s = &l->slots[slot];
    int item = tag ? find_item(l, tag) : -1;
    if (s->n == TP_LEDGER_DEPTH)
        tp_ledger_clear(l, slot);
    if (item >= 0)
        l->items[item].refs++;
    *entry_at(s, s->n++) = (struct tp_ledger_entry){
        .transaction = transaction, .item = item, .applied_ns = now_ns, .own = own, .fence = -1};
}

/* One reference goes. The fence is moved. */
static void let_go(struct tp_ledger *l, struct tp_ledger_entry *e, int fence)
{
    struct tp_ledger_item *it = e->item >= 0 ? &l->items[e->item] : NULL;
    e->released = true;
    if (it && --it->refs == 0) {
        if (it->fence >= 0)
            l->fences.close(it->fence);
        it->fence = fence;
        tell_if_done(l, (unsigned)e->item);
    } else if (fence >= 0) { /* a blank, or the reference that is left has one that is later */
        l->fences.close(fence);
    }
}

/* An entry's fence says nothing any more once nothing older is left. */
static void drop_fence(struct tp_ledger *l, struct tp_ledger_entry *e)
{
    if (e->fence >= 0)
        l->fences.close(e->fence);
    e->fence = -1;
}

static void forget_released(struct tp_ledger *l, struct tp_ledger_slot *s)
{
    while (s->n > 0 && entry_at(s, 0)->released) {
        drop_fence(l, entry_at(s, 0));
        s->first = (s->first + 1) % TP_LEDGER_DEPTH;
        s->n--;
    }
    if (s->n > 0)
        drop_fence(l, entry_at(s, 0));
}

static int find_entry(struct tp_ledger_slot *s, uint64_t transaction)
{
    for (unsigned i = s->n; i-- > 0;)
        if (entry_at(s, i)->transaction == transaction)
            return (int)i;
    return -1;
}

/* What became of an entry: its place was taken by one that was latched, whose fence says when it is
 * read no more; or it is free. */
enum fate { UNKNOWN, FREE, FENCED };

/* What entry m, and those of its latch, say of what they replaced. */
static enum fate latch_says(struct tp_ledger_slot *s, unsigned m, int *fence)
{
    int64_t latched = entry_at(s, m)->latched_ns;
    for (unsigned i = m; i < s->n; i++) {
        const struct tp_ledger_entry *e = entry_at(s, i);
        if (!e->completed && e->applied_ns <= latched)
            return UNKNOWN; /* it may have been in that latch, and bear the fence */
        if (e->completed && e->latched_ns == latched && e->fence >= 0) {
            *fence = e->fence;
            return FENCED;
        }
    }
    return FREE;
}

static enum fate fate_of(struct tp_ledger_slot *s, unsigned o, int *fence)
{
    const struct tp_ledger_entry *old = entry_at(s, o);
    for (unsigned m = o + 1; m < s->n; m++) {
        const struct tp_ledger_entry *e = entry_at(s, m);
        if (!e->completed)
            return UNKNOWN;
        if (old->completed && (old->latched_ns <= 0 || old->latched_ns == e->latched_ns))
            return FREE; /* it was never shown */
        if (e->fence >= 0) {
            *fence = e->fence;
            return FENCED;
        }
        if (e->latched_ns > 0)
            return latch_says(s, m, fence);
    }
    return UNKNOWN;
}

/* Lets go of what is known to be free, the oldest first. */
static void resolve(struct tp_ledger *l, struct tp_ledger_slot *s)
{
    for (unsigned o = 0; o < s->n; o++) {
        struct tp_ledger_entry *e = entry_at(s, o);
        int fence = -1;
        if (e->own || e->released)
            continue;
        enum fate fate = fate_of(s, o, &fence);
        if (fate == FENCED && (fence = l->fences.dup(fence)) < 0)
            break; /* no descriptors: at the next occasion */
        if (fate == UNKNOWN)
            break;
        let_go(l, e, fence);
    }
    forget_released(l, s);
}

void tp_ledger_latch(struct tp_ledger *l, unsigned slot, uint64_t transaction)
{
    struct tp_ledger_slot *s = &l->slots[slot];
    int k = find_entry(s, transaction);
    if (k >= 0)
        entry_at(s, (unsigned)k)->latched = true;
}

void tp_ledger_complete(
    struct tp_ledger *l, unsigned slot, uint64_t transaction, int64_t latched_ns, int fence)
{
    struct tp_ledger_slot *s = &l->slots[slot];
    int k = find_entry(s, transaction);
    if (k < 0) {
        if (fence >= 0)
            l->fences.close(fence);
        return;
    }
    struct tp_ledger_entry *e = entry_at(s, (unsigned)k);
    drop_fence(l, e);
    e->completed = true;
    e->latched_ns = latched_ns;
    e->fence = fence;
    resolve(l, s);
}

void tp_ledger_release(struct tp_ledger *l, unsigned slot, uint64_t transaction, int fence)
{
    struct tp_ledger_slot *s = &l->slots[slot];
    int i = find_entry(s, transaction);
    if (i >= 0 && !entry_at(s, (unsigned)i)->released) {
        let_go(l, entry_at(s, (unsigned)i), fence);
        forget_released(l, s);
    } else if (fence >= 0) {
        l->fences.close(fence);
    }
}

void tp_ledger_clear(struct tp_ledger *l, unsigned slot)
{
    struct tp_ledger_slot *s = &l->slots[slot];
    for (unsigned i = 0; i < s->n; i++) {
        drop_fence(l, entry_at(s, i));
        if (!entry_at(s, i)->released)
            let_go(l, entry_at(s, i), -1);
    }
    s->first = s->n = 0;
}

int64_t tp_ledger_oldest(const struct tp_ledger *l, bool unlatched)
{
    int64_t oldest = INT64_MAX;
    for (unsigned i = 0; i < TP_LEDGER_SLOTS; i++) {
        const struct tp_ledger_slot *s = &l->slots[i];
        for (unsigned j = 0; j < s->n; j++) {
            const struct tp_ledger_entry *e = &s->entries[(s->first + j) % TP_LEDGER_DEPTH];
            if (!e->completed && !(unlatched && e->latched) && e->applied_ns < oldest)
                oldest = e->applied_ns;
        }
    }
    return oldest;
}

unsigned tp_ledger_pending(const struct tp_ledger *l)
{
    unsigned pending = 0;
    for (unsigned i = 0; i < TP_LEDGER_SLOTS; i++)
        pending += l->slots[i].n > 1 ? l->slots[i].n - 1 : 0;
    return pending;
}
