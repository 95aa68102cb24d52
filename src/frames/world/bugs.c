/* Mistakes that somebody could make, planted so that the invariants can be seen to find them. */
#include "frames/pace/gate_internal.h"
#include "frames/world/internal.h"

const char *const tp_world_bug_names[TP_BUGS] = {"none", "note after the flip",
    "free on wl_buffer.release", "wait after booking", "first free slot", "late fence dropped",
    "handed out at the bound", "released at publish", "no quarantine", "fence leaked",
    "fence closed twice", "wake-up lost", "two pictures in a refresh", "grid at the refresh",
    "board says free too early", "cap in whole milliseconds", "whole nanoseconds",
    "generation ignored", "dropped successor releases", "released before it is read",
    "drawn into the front buffer"};

uint64_t as_guest_reads(struct world *w, unsigned index, uint64_t word)
{
    if (has_bug(w, TP_BUG_BOARD_FREE_TOO_EARLY) && (word & 3) == TP_BOARD_FENCED)
        word &= ~UINT64_C(3);
    if (has_bug(w, TP_BUG_GENERATION_IGNORED) && index < w->screened.images)
        word = tp_board_word(w->screened.names[index].generation, (uint32_t)word);
    return word;
}

int64_t quarantine_from(const struct world *w)
{
    return has_bug(w, TP_BUG_NO_QUARANTINE) ? 0 : w->now;
}

void spoil_note(struct world *w, struct tp_scanout_frame *f)
{
    if (f->fd >= 0 && has_bug(w, TP_BUG_FENCE_DROPPED)) {
        drop_fence(w, f->fd);
        f->fd = -1;
        f->u.note.kind = TP_FENCE_NONE;
    }
    if (f->fd >= 0 && has_bug(w, TP_BUG_FENCE_LEAKED) && dice(w, 100) == 0)
        hold_fence(w, f->fd);
    if (f->fd >= 0 && has_bug(w, TP_BUG_FENCE_CLOSED_TWICE) && dice(w, 100) == 0)
        drop_fence(w, f->fd);
}

void spoil_clock(struct world *w)
{
    if (has_bug(w, TP_BUG_WHOLE_NANOSECONDS))
        w->guest.gate->clock &= -tp_fine_of(1);
}

bool book_before(struct world *w, struct frame *f)
{
    struct guest *g = &w->guest;
    struct tp_gate_plan p;
    if (!has_bug(w, TP_BUG_WAIT_AFTER_BOOKING) || g->booked)
        return true;
    tp_gate_plan(g->gate, f->asked, w->now, INT64_MIN, false, &p);
    if (p.start_ns > w->now && g->asleep_until == NEVER) {
        g->wait = (struct tp_slots_wait){.board_index = -1, .fence = -1};
        sleep_until(w, p.start_ns);
        return false;
    }
    f->id = tp_gate_book(g->gate, &p, w->now);
    g->booked = true;
    return true;
}

bool take_anyway(struct world *w, bool any)
{
    struct guest *g = &w->guest;
    for (unsigned i = 0; i < w->c->images; i++) {
        enum tp_slot_state state = tp_slots_look(g->slots, i, w->now);
        if (state != TP_SLOT_REPLACED && state != TP_SLOT_FENCED &&
            !(any && state == TP_SLOT_READY))
            continue;
        struct tp_slots_choice c = {.slot = (int)i, .release_ns = INT64_MIN};
        g->got = (struct tp_acquired){0};
        tp_slots_take(g->slots, &c, w->now, &g->got.image);
        return true;
    }
    return false;
}
