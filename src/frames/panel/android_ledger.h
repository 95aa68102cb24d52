/*
 * Which buffer is whose: what was set on SurfaceControl's layers, and what each callback lets go.
 * Pure: it knows neither calls nor threads nor time, and descriptors only as numbers that it passes
 * on (through fences).
 *
 * A slot is a layer of SurfaceFlinger's. Every setBuffer is a reference of its own: an entry of its
 * slot. An item is a layer of a picture that the panel was given; it is told of when a newer
 * picture has come and the last entry that names it is released. Rules (surface_control.h of AOSP):
 * - OnComplete's previous release fence is of what the transaction replaced on that layer; -1:
 * free.
 * - A buffer that was replaced before it was latched was never read. Its transaction completes
 *   without a latch time, or with that of the one which replaced it; and either of the two may bear
 *   the fence. So -1 lets nothing go while a later transaction may have been in the same latch.
 * - A buffer with a release callback of its own (API 36) is released by that alone.
 */
#ifndef TP_FRAMES_PANEL_ANDROID_LEDGER_H
#define TP_FRAMES_PANEL_ANDROID_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#define TP_LEDGER_SLOTS 8u
#define TP_LEDGER_DEPTH 24u  /* entries of a slot */
#define TP_LEDGER_RESERVE 4u /* of them, for what must go through: blanks, repaints */
#define TP_LEDGER_ITEMS 256u

/* What to do with a fence's descriptor; dup: -1 when there are none left. */
struct tp_ledger_fences {
    int (*dup)(int fence);
    void (*close)(int fence);
};

struct tp_ledger_item {
    uint64_t tag;  /* never 0 */
    unsigned refs; /* entries that name it and are not released */
    bool current;  /* of the newest picture */
    bool told;     /* in the ring of what is to be told */
    int fence;     /* of its last release; owned */
};

struct tp_ledger_entry {
    uint64_t transaction;
    int item; /* index; -1: a blank */
    int64_t applied_ns, latched_ns;
    bool own; /* has a release callback of its own */
    bool latched, completed, released; /* latched: of that alone it was told, so far */
    int fence; /* what its completion had of those before it; owned */
};

struct tp_ledger {
    struct tp_ledger_fences fences;
    struct tp_ledger_item items[TP_LEDGER_ITEMS]; /* tag 0: free */
    unsigned next_item, n_items;
    struct tp_ledger_slot {
        struct tp_ledger_entry entries[TP_LEDGER_DEPTH]; /* the oldest first, a ring */
        unsigned first, n;
    } slots[TP_LEDGER_SLOTS];
    uint16_t to_tell[TP_LEDGER_ITEMS]; /* items, a ring */
    unsigned first_told, n_told;
};

void tp_ledger_init(struct tp_ledger *l, const struct tp_ledger_fences *fences);
/* Closes what fences are left. */
void tp_ledger_finish(struct tp_ledger *l);

/* Whether another picture fits: an item and an entry for each slot. */
bool tp_ledger_room(const struct tp_ledger *l);
/* A new picture comes: those before are the newest no more, and what of them has no reference any
 * more is told. */
void tp_ledger_supersede(struct tp_ledger *l);
/* A new item: a layer of the newest picture (current), or what is told of as soon as its entries
 * are released. */
void tp_ledger_show(struct tp_ledger *l, uint64_t tag, bool current);
/* The transaction sets a buffer on the slot: of this item, or a blank (0). To be said before it is
 * applied. A slot that is full is cleared. */
void tp_ledger_set(struct tp_ledger *l, unsigned slot, uint64_t transaction, uint64_t tag,
    int64_t now_ns, bool own);

/* OnCommit of the transaction: it was latched. */
void tp_ledger_latch(struct tp_ledger *l, unsigned slot, uint64_t transaction);
/* OnComplete of the transaction, for this slot: when it was latched (0 or less: never) and the
 * previous release fence, moved. Unknown transactions are ignored. */
void tp_ledger_complete(
    struct tp_ledger *l, unsigned slot, uint64_t transaction, int64_t latched_ns, int fence);
/* The release callback of the buffer that it set; the fence is moved. */
void tp_ledger_release(struct tp_ledger *l, unsigned slot, uint64_t transaction, int fence);
/* The layer is gone, or the screen is dark: all of the slot is free. */
void tp_ledger_clear(struct tp_ledger *l, unsigned slot);

/* The next item that was let go: false, none. The fence (-1: it is free now) is moved. */
bool tp_ledger_take(struct tp_ledger *l, uint64_t *tag, int *fence);

/* When the oldest transaction that has not completed was applied, or that was not even latched;
 * INT64_MAX: none. */
int64_t tp_ledger_oldest(const struct tp_ledger *l, bool unlatched);
/* Entries that are not released, but for each slot's last. */
unsigned tp_ledger_pending(const struct tp_ledger *l);

#endif
