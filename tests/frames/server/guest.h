/* A guest's ICD, as far as the scan-out connection goes; with peer.h's server. */
#ifndef TP_TESTS_FRAMES_SERVER_GUEST_H
#define TP_TESTS_FRAMES_SERVER_GUEST_H

#include "peer.h"

#include "frames/wire/board.h"
#include "frames/wire/scanout.h"

#define ALL_CAPS                                                                                   \
    (TP_CAP_TIMELINE | TP_CAP_BOARD | TP_CAP_RELEASE_FENCE | TP_CAP_STATE | TP_CAP_CONTROL |       \
        TP_CAP_CENSUS)

struct guest {
    int sock;
    uint64_t capabilities; /* what the server has said */
    struct tp_board_view board;
    bool has_board;
    uint32_t sequence;
    uint8_t in[TP_FRAME_BYTES];
};

/* A buffer: memory, imported as a framebuffer by a compositor. */
struct image {
    int memory;
    uint32_t fb;
    struct tp_buffer_name name;
};

/* Connects and says hello; takes the answer. */
void guest_join(struct guest *g, uint64_t capabilities);
void guest_leave(struct guest *g);
/* Sends a frame, and lets the server work. */
void guest_say(struct guest *g, uint32_t fourcc, uint32_t flags, const void *payload, size_t bytes,
    const int *fds, unsigned n_fds);
void guest_send(struct guest *g, const struct tp_scanout_frame *f);
/* The next frame that is no refresh; false: there is none. Its descriptor is the caller's. */
bool guest_next(struct guest *g, struct tp_scanout_frame *f);
/* Reads what is there, and forgets it; answers how many frames. */
unsigned guest_drain(struct guest *g);

/* Makes one that the compositor has, too. */
void image_make(struct image *i, struct peer *compositor, uint32_t generation);
void image_finish(struct image *i);
/* Registers it, and takes the answer: its result. */
int guest_register(struct guest *g, struct image *i);
/* What the board says. */
int state_of(const struct guest *g, const struct image *i);

/* Flips to it, and lets a refresh begin; answers the serial under which it was published. */
uint64_t show(struct peer *compositor, const struct image *i);
/* The next frame is such a note. fence: its descriptor, the caller's; NULL: it has none. */
struct tp_note expect_note(
    struct guest *g, const struct image *i, enum tp_note_what what, int *fence);
void expect_nothing(struct guest *g);

#endif
