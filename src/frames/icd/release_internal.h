/* What the scan-out connection's files share. All of it under its lock. */
#ifndef TP_FRAMES_ICD_RELEASE_INTERNAL_H
#define TP_FRAMES_ICD_RELEASE_INTERNAL_H

#include <pthread.h>

#include "frames/icd/loop.h"
#include "frames/icd/release.h"

enum { TP_SCANOUT_OUTPUTS = 4 };

struct tp_scanout_image {
    int fd; /* borrowed; -1: none */
    struct tp_buffer_name name;
    bool unsent; /* its registration did not go yet */
};

struct tp_scanout_watch {
    struct tp_scanout *connection;
    struct tp_scanout_watch *next;
    const struct tp_scanout_events *events;
    void *data;
    _Atomic int sock; /* while it is told of as connected; else -1 */
    int census;       /* borrowed; -1: none */
    unsigned number;  /* of that, where the server was told, or is to be */
    enum { TP_CENSUS_UNTOLD, TP_CENSUS_UNSENT, TP_CENSUS_SENT } told;
    unsigned n_images;
    struct tp_scanout_image images[];
};

/* Names and records that are to be given up, and questions, that did not go yet. */
struct tp_scanout_unsent {
    struct tp_scanout_unsent *next;
    struct tp_scanout_frame frame; /* without a descriptor */
};

struct tp_scanout {
    struct sockaddr_un server;
    socklen_t server_bytes;
    pthread_mutex_t lock; /* for all that follows */
    struct tp_loop *loop; /* while there are watches */
    struct tp_scanout_watch *watches;
    int sock;              /* -1: not connected */
    int64_t retry_ns;      /* when it is tried next */
    int64_t hope_ns;       /* until then it counts as coming back; 0: it does not */
    bool greeted;          /* its hello came */
    bool known;            /* one has been there */
    bool met;              /* it is hoped for since it let itself be connected to, and not longer */
    bool refused;          /* what is there gives no hello: it is as none */
    uint64_t capabilities; /* of both */
    struct tp_board_view board;
    uint32_t generation, sequence;
    uint32_t numbers; /* of censuses: a bit for each that is in use */
    struct tp_scanout_unsent *unsent, **unsent_end;
    /* What whoever watches next is told first. */
    struct tp_timeline_frame timelines[TP_SCANOUT_OUTPUTS];
    unsigned n_timelines;
    struct tp_setting_frame settings[4]; /* by setting; 0: none */
    uint8_t buffer[TP_FRAME_BYTES];
};

/* Sends this image's registration, now or when there is room. */
void tp_scanout_send_registration(struct tp_scanout_watch *w, unsigned slot);
/* TUNR or TBST of this buffer, in order: what waits goes first. Nothing where there is no server.
 */
void tp_scanout_send_or_keep(
    struct tp_scanout *c, uint32_t fourcc, const struct tp_buffer_name *name);
/* Tells the server of its records, where it wants to hear of any and there are not too many. */
void tp_scanout_send_census(struct tp_scanout_watch *w);
void tp_scanout_end_census(struct tp_scanout_watch *w);
void tp_scanout_send_setting(struct tp_scanout *c, enum tp_setting setting, int64_t value);
/* What had no room, as far as there is room now. */
bool tp_scanout_has_unsent(const struct tp_scanout *c);
void tp_scanout_send_unsent(struct tp_scanout *c);
void tp_scanout_drop_unsent(struct tp_scanout *c);

#endif
