/*
 * The server's own structures. Whoever touches them holds the server's lock: the loop while it
 * works, and a thread that brings news of a panel, which is told to clients at once where the lock
 * is to be had. Memory is freed by the loop alone.
 */
#ifndef TP_FRAMES_SERVER_INTERNAL_H
#define TP_FRAMES_SERVER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "frames/server/listen.h"
#include "frames/server/memory.h"
#include "frames/server/publisher.h"
#include "frames/server/releases.h"
#include "frames/server/server.h"
#include "frames/wire/hello.h"

#define TP_EVENT_BYTES 4096u /* of a card, not sent yet: as many as the kernel keeps unread */
#define TP_SYNC_FDS 256u     /* that waiting syncobj calls hang on */

/* Something in the epoll set. */
struct tp_source {
    void (*ready)(struct tp_server *s, struct tp_source *self, uint32_t events);
    int fd; /* owned; -1: closed */
};

enum tp_connection_kind { TP_NEW, TP_CARD, TP_CONTROL, TP_HOTPLUG, TP_SCANOUT };

/* A client's socket. */
struct tp_connection {
    struct tp_source source; /* first */
    struct tp_connection *prev, *next;
    enum tp_connection_kind kind;
    bool dead;       /* goes at the end of this turn */
    bool complained; /* it was told of in the log */
    bool wants_out;  /* epoll tells when the socket has room */
    pid_t pid;
    uid_t uid;
    unsigned handled; /* frames of this turn */
    uint64_t turn;
    /* a card's */
    struct tp_kms_file *file; /* NULL: refused, and opening says the reason to its channels */
    int refused;              /* negative errno */
    bool snapshot;            /* it can read the shared block */
    bool render;              /* by the render node */
    uint32_t client_caps;
    struct tp_channel_end *channels;
    unsigned n_channels;
    uint8_t events[TP_EVENT_BYTES]; /* whole drm_events that the socket had no room for */
    size_t event_bytes;
    /* a scan-out connection's */
    struct tp_guest *guest;                        /* owned */
    struct tp_guest_ring {
        uint32_t number; /* the guest's choice */
        uint32_t id;     /* this server's */
        int fd;          /* owned */
    } rings[TP_CENSUS_RINGS];
    unsigned n_rings;
    uint32_t cap_mhz, refresh_mhz[TP_KMS_OUTPUTS]; /* what it wishes */
};

/* The server's end of a channel. */
struct tp_channel_end {
    struct tp_source source; /* first */
    struct tp_connection *card;
    struct tp_channel_end *prev, *next; /* the card's list */
    struct tp_channel_end *next_dead;
    bool dead;
    bool waiting; /* its call has not come to its end */
    uint32_t sequence;
    struct tp_drm_call call; /* its memory stays from call to call */
};

/* A picture of the screen that is being made, on a thread of its own. */
struct tp_look {
    pthread_t thread;
    bool running; /* to be joined */
    atomic_bool done;
    struct tp_publisher *publisher;
    int socket; /* the thread's */
    uint32_t sequence;
};

struct tp_server {
    pthread_mutex_t lock;
    struct tp_look look;
    bool more; /* a panel has news for whoever holds the lock */
    struct tp_kms *kms;
    struct tp_server_limits limits;
    uid_t *uids; /* owned */
    size_t n_uids;
    void (*log)(void *data, const char *line);
    void *log_data;
    int epoll;
    int spare; /* a descriptor to let go where the table is full, so that a caller can be refused */
    struct tp_listener listener;
    struct tp_source accepting;   /* fd: the listener's, not closed here */
    struct tp_source notified;    /* eventfd: there is work for the loop */
    struct tp_source timer;       /* timerfd for calls that time out */
    int64_t timer_ns;             /* what it is set to */
    struct tp_source sync;        /* an epoll set of fences that syncobj calls wait for */
    struct tp_source releasing;   /* fd: the releases', not closed here */
    struct tp_releases *releases; /* owned */
    void (*vote)(void *data, unsigned output, uint32_t refresh_mhz);
    void *vote_data;
    uint32_t voted_mhz[TP_KMS_OUTPUTS];
    struct tp_publisher *publishers[TP_KMS_OUTPUTS];
    unsigned n_outputs;
    struct tp_shared_snapshot snapshot;
    bool changed;                      /* the snapshot is behind the device */
    bool plugged;                      /* and hot-plug connections are to hear so */
    struct tp_connection *connections; /* owned; the latest first */
    unsigned n_connections, n_channels;
    unsigned n_rings;   /* of live records, of all guests */
    uint32_t next_ring; /* the next one's id */
    bool some_dead;
    struct tp_channel_end *dead_channels;
    uint64_t turn;
    size_t event_cost; /* what one unread event counts in SIOCOUTQ */
    uint8_t in[TP_FRAME_BYTES], out[TP_FRAME_BYTES];
};

/* --- server.c --- */
int tp_server_watch(struct tp_server *s, struct tp_source *source, uint32_t events);
/* Takes it out of the set and closes it: a client may hold the same open file, which would stay in
 * the set then. */
void tp_server_close(struct tp_server *s, struct tp_source *source);
void tp_server_log(struct tp_server *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Gives an output other modes, or plugs it; the lock is held. */
int tp_server_plug(
    struct tp_server *s, unsigned output, const struct tp_kms_output *o, struct tp_error *e);
/* Brings the snapshot up to date, before anybody hears of a change. */
void tp_server_settle(struct tp_server *s);

/* --- connection.c --- */
void tp_connection_accept(struct tp_server *s, struct tp_source *listener, uint32_t events);
int tp_connection_add(struct tp_server *s, int fd);
/* It goes at the end of the turn, with all it has. why: for the log, NULL: it left by itself. */
void tp_connection_drop(struct tp_server *s, struct tp_connection *c, const char *why);
/* One more frame of this client in this turn: false, the others come first. */
bool tp_connection_turn(struct tp_server *s, struct tp_connection *c);
/* Closes the files of the cards that were dropped. Not from inside the device. */
void tp_connections_close(struct tp_server *s);
/* Frees what was dropped. */
void tp_connections_reap(struct tp_server *s);
void tp_connection_event(struct tp_server *s, struct tp_connection *c, const void *e, size_t bytes);
/* Tells those who asked that an output came, went or changed. */
void tp_connections_plugged(struct tp_server *s);
size_t tp_connection_unread(struct tp_server *s, struct tp_connection *c);

/* --- control.c --- */
void tp_control_greet(struct tp_server *s, struct tp_connection *c);
void tp_control_frame(struct tp_server *s, struct tp_connection *c, struct tp_frame *f);
void tp_control_finish(struct tp_look *l);

/* --- guest.c --- */
void tp_guest_greet(struct tp_server *s, struct tp_connection *c, struct tp_frame *f);
void tp_guest_frame(struct tp_server *s, struct tp_connection *c, struct tp_frame *f);
/* Its socket is still open. */
void tp_guest_leave(struct tp_server *s, struct tp_connection *c);

/* --- census.c --- */
/* Live records that a guest has brought, or their end; takes the descriptor where it is kept.
 * -EBADMSG: none are in it, or there are too many. */
int tp_census_take(struct tp_server *s, struct tp_connection *c, struct tp_scanout_frame *f);
void tp_census_leave(struct tp_server *s, struct tp_connection *c);
/* All that there are, by their ids; descriptors are borrowed. Answers how many, at most so many. */
unsigned tp_census_list(struct tp_server *s, struct tp_census_ring *out, unsigned most);

/* --- channel.c --- */
/* Takes the descriptor. */
void tp_channel_add(struct tp_server *s, struct tp_connection *card, int fd);
void tp_channel_drop(struct tp_server *s, struct tp_channel_end *c);
void tp_channel_free(struct tp_server *s, struct tp_channel_end *c);
void tp_channel_finish_call(struct tp_server *s, struct tp_channel_end *c, int result);

#endif
