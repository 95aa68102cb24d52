/* For notes.c, which follows the panels, and notes_peer.c, which tells the peers. */
#ifndef TP_FRAMES_SERVER_NOTES_INTERNAL_H
#define TP_FRAMES_SERVER_NOTES_INTERNAL_H

#include "frames/server/notes.h"

#define TP_NOTES_BUCKETS 256u

enum tp_notes_phase { TP_NOTES_FENCED = 1, TP_NOTES_REPLACED, TP_NOTES_SHOWN }; /* the worst last */

/* A buffer in a layer of a picture. */
struct tp_notes_use {
    struct tp_notes_use *next, *prev;      /* the output's list, the oldest first */
    struct tp_notes_use *sibling, *before; /* the buffer's list, the oldest first */
    struct tp_notes_buffer *buffer;
    unsigned output, layer;
    uint64_t serial, replaced_by;
    enum tp_notes_phase phase;
    bool continued; /* a later picture shows the same buffer: nothing is told of this use */
    bool pending_said, final_said;
    int fence; /* owned; -1 */
    enum tp_fence_kind kind;
    int64_t since_ns; /* the panel's last word on it, or its replacement */
};

/* Memory that is registered or in use. */
struct tp_notes_buffer {
    struct tp_notes_buffer *next; /* of the bucket, or of those to be used again */
    struct tp_identity identity;
    struct tp_notes_use *first, *last;
    struct tp_notes_registration *registrations;
    uint64_t last_serial; /* of the use that ended last */
    unsigned last_layer;
};

/* A peer's buffer. */
struct tp_notes_registration {
    struct tp_notes_peer *peer;
    struct tp_notes_buffer *buffer;
    struct tp_notes_registration *next, *prev; /* the buffer's list */
    struct tp_buffer_name name;
    int memory;                  /* owned; -1 */
    enum tp_board_state written; /* what the board says */
    bool dirty;                  /* something was not told: how it stands now is to be */
    bool follow; /* it waits for something of which no note will come: tell it when it is free */
    bool asked;
    uint32_t asked_sequence;
};

struct tp_notes_peer {
    struct tp_notes_peer *next, *prev;
    void *data;
    uint64_t capabilities;
    bool full, broken;
    struct tp_notes_registration **registrations; /* by index; limits.buffers of them */
    uint32_t *sequences;                          /* of each index of the board; they go on */
    unsigned n_registrations;
    bool answer_owed;
    struct tp_scanout_frame answer;
    unsigned timelines_owed; /* a bit an output */
    unsigned settings_owed;  /* a bit a setting */
    struct tp_setting_frame settings[TP_SETTING_REFRESH + 1];
};

struct tp_notes_output {
    struct tp_notes_use *first, *last;
    unsigned n_uses;
    bool away, blanking;
    int64_t blank_ns; /* when the blank was asked for */
    bool ticked;
    struct tp_timeline_frame timeline; /* the last */
};

struct tp_notes {
    struct tp_notes_limits limits;
    struct tp_notes_ops ops;
    void *data;
    struct tp_notes_output outputs[TP_NOTES_OUTPUTS];
    struct tp_notes_buffer *buckets[TP_NOTES_BUCKETS];
    struct tp_notes_buffer *spare_buffers; /* so that steady work allocates nothing */
    struct tp_notes_use *spare_uses;
    struct tp_notes_peer *peers;
    struct tp_notes_counts counts;
};

/* --- notes.c --- */
struct tp_notes_buffer *tp_notes_buffer_of(struct tp_notes *n, const struct tp_identity *id);
/* Frees it if nobody needs it. */
void tp_notes_buffer_done(struct tp_notes *n, struct tp_notes_buffer *b);
enum tp_board_state tp_notes_state_of(const struct tp_notes_buffer *b);

/* --- notes_peer.c --- */
/* Brings the boards up to date. */
void tp_notes_write_boards(struct tp_notes *n, struct tp_notes_buffer *b);
/* Says a note of a use to all who have its buffer. */
void tp_notes_say(struct tp_notes *n, const struct tp_notes_use *u, enum tp_note_what what);
/* What is to be told besides, once the notes are out. */
void tp_notes_settle(struct tp_notes *n, struct tp_notes_buffer *b);

#endif
