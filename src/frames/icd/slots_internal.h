/* What the files of the slots share. */
#ifndef TP_FRAMES_ICD_SLOTS_INTERNAL_H
#define TP_FRAMES_ICD_SLOTS_INTERNAL_H

#include "frames/icd/slots.h"
#include "frames/pace/vblank.h"

#define TP_SLOTS_OPEN 4u
#define TP_SLOTS_SIXTY_HZ_NS INT64_C(16666667)
/* As long as a server waits for a fence that is silent. */
#define TP_SLOTS_SILENCE_NS INT64_C(1000000000)
/* Refreshes that a panel may be late by until it was seen to let go. */
#define TP_SLOTS_UNSEEN 2u
/* Later than that is no panel's way, but a fault that is over. */
#define TP_SLOTS_LATE_MOST 4u

enum tp_slot_place {
    TP_PLACE_IDLE, /* neither guest nor compositor has it */
    TP_PLACE_ACQUIRED,
    TP_PLACE_QUEUED,
    TP_PLACE_HELD,
};

enum tp_slot_registration {
    TP_REG_NONE,  /* never asked for, or refused: nothing is known of it */
    TP_REG_ASKED, /* the answer is due */
    TP_REG_KNOWN, /* it has an index */
};

struct tp_slot_fence {
    int fence;
    enum tp_fence_kind kind;
    bool compositor; /* of its reading; else the panel's */
    bool orphan;     /* of a server that is gone: no other one's words make it void */
};

struct tp_slot {
    enum tp_slot_place place;
    uint64_t order;   /* of its last present; 0: never was */
    int64_t given_ns; /* when it came back from guest or compositor */
    int64_t ready_ns; /* since when it is known to be ready; INT64_MIN: it is not, or always was */
    int64_t
        replaced_ns; /* when it was learnt that something took its place; INT64_MIN: it was not */
    int64_t kept_ns; /* the last look since then that found the panel to have it */
    int64_t quarantine_ns; /* since when it is there; INT64_MIN: it is not */
    bool doubt;            /* it came back, and the server was not seen to be there since */

    enum tp_slot_registration registration;
    struct tp_buffer_name name;
    bool presented; /* since it was registered, or it was then with somebody else */
    bool unheard; /* presented, or asked for anew, and the server has not said yet how it stands */

    /* What notes and answers say: all there is without a board. */
    uint32_t low;      /* of the newest */
    bool low_known;    /* there was one, for this registration */
    bool spent;        /* the image was taken since: what is not newer says nothing any more */
    bool incomplete;   /* one with a fence that did not come */
    bool fenced_known; /* fenced_low holds: the newest that says fenced and brought all fences */
    uint32_t fenced_low;
    /* Uses of which a pending note has come and no final one. */
    struct tp_slot_use {
        uint64_t serial;
        uint32_t layer;
    } open[TP_SLOTS_OPEN];
    unsigned n_open;

    int64_t orphans_ns; /* until when orphans are waited for */
    struct tp_slot_fence *fences;
    unsigned n_fences, fence_cap;
};

struct tp_slots {
    struct tp_slots_ops ops;
    void *data;
    struct tp_slots_config config;
    enum { TP_SERVER_NONE, TP_SERVER_UP, TP_SERVER_LOST } server;
    uint64_t capabilities;
    bool has_board;
    bool doubt; /* some slot's */
    struct tp_board_view board;
    struct tp_vblank vblank;
    /* Of all screens that were told of: the longest period and the deepest pipeline. */
    int64_t slowest_ns;
    unsigned deepest;
    bool watched;  /* it was seen to let go of something */
    unsigned late; /* refreshes by which the panel has let go later than it should, at most */
    uint64_t orders;
    struct tp_slots_counts counts;
    bool incident, incident_told;
    bool in_incident; /* the wait of incident_since_ns is counted */
    int64_t incident_since_ns, asked_ns;
    unsigned n;
    struct tp_slot slots[];
};

/* How the panel stands to a slot that nobody else has. */
enum tp_slot_panel {
    TP_PANEL_FREE,
    TP_PANEL_FENCED,     /* all its fences are in hand */
    TP_PANEL_FENCE_AWAY, /* it is fenced, and not all of them are */
    TP_PANEL_REPLACED,
    TP_PANEL_SHOWN,
};
/* low: the word to sleep on, where there is one: true. */
bool tp_slot_word(const struct tp_slots *s, const struct tp_slot *t, uint32_t *low);
enum tp_slot_panel tp_slot_panel(const struct tp_slots *s, const struct tp_slot *t);
typedef bool (*tp_slot_fence_is)(const struct tp_slots *s, const struct tp_slot_fence *f);
/* Closes those of its fences for which goes is true; the others stay in their order. */
void tp_slot_drop_fences(struct tp_slots *s, struct tp_slot *t, tp_slot_fence_is goes);
bool tp_slot_fence_is_any(const struct tp_slots *s, const struct tp_slot_fence *f);
/* Of the panel's reading, and of the server that is up. */
bool tp_slot_fence_is_servers(const struct tp_slots *s, const struct tp_slot_fence *f);
/* (pipeline + 2) refreshes. */
int64_t tp_slots_pass_ns(const struct tp_slots *s);
/* Until when that slot, which is in quarantine, stays there, as far as is known now. */
int64_t tp_slot_quarantined_until_ns(const struct tp_slots *s, const struct tp_slot *t);
/* That slot is idle, and this is how the panel stands to it: how late does it let go? */
void tp_slot_watch_release(
    struct tp_slots *s, struct tp_slot *t, enum tp_slot_panel panel, int64_t now_ns);
/* For slots_acquire.c: a wait of this kind began. */
void tp_slots_count_wait(struct tp_slots *s, bool for_release);

#endif
