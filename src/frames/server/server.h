/*
 * The display server: ties the device (kms) to its clients' sockets and to panels. One loop, which
 * never blocks on a client, a fence or a screen; an app may run it on a thread of its own, or embed
 * it.
 */
#ifndef TP_FRAMES_SERVER_SERVER_H
#define TP_FRAMES_SERVER_SERVER_H

#include <sys/types.h>

#include "frames/census/follow.h"
#include "frames/kms/kms.h"
#include "frames/panel/panel.h"

struct tp_server;

/* 0: the usual ones. What is past a limit is refused; the others go on. */
struct tp_server_limits {
    unsigned connections; /* 256, of all kinds */
    unsigned per_process; /* a quarter of them: of one kind, of one process */
    unsigned channels;    /* 64, of one card */
    unsigned guests;      /* 32 scan-out connections */
    unsigned registered;  /* 64 buffers, of one of those */
    unsigned rings;       /* 128 of live records, of all of them */
    unsigned frames;      /* 16: handled of one client before the others' turn */
};

struct tp_server_config {
    struct tp_kms_config kms; /* limits of 0 become what this process's descriptors allow */
    struct tp_panel *panels[TP_KMS_OUTPUTS]; /* one for each output; moved, on failure too */
    /* Where to listen: a path, or @NAME for an abstract address; NULL: only tp_server_adopt. A
     * path's socket is for this user alone (0600), or for all where others are listed; a lock lies
     * beside it. */
    const char *path;
    const uid_t *uids; /* who may connect besides the server's own user and root */
    size_t n_uids;
    struct tp_server_limits limits;
    /* One line for a person, about an incident; NULL: nobody hears it. On any thread, one at a
     * time, from inside the server. */
    void (*log)(void *data, const char *line);
    void *log_data;
    /* By what those who draw say of their caps, this refresh of a mode of the output's suits them
     * best; 0: none of them says anything. From inside the server, as log; NULL: nobody minds. */
    void (*vote)(void *data, unsigned output, uint32_t refresh_mhz);
    void *vote_data;
};

/* -EADDRINUSE: another server has the path. -EINVAL (INPUT) for a path or a device that cannot be.
 */
int tp_server_create(
    const struct tp_server_config *config, struct tp_server **out, struct tp_error *e);
/* NULL is fine. Ends all connections; the socket's file goes. */
void tp_server_destroy(struct tp_server *s);

/* A descriptor that polls readable when there is something to do; the server's own. */
int tp_server_fd(const struct tp_server *s);
/* Does what there is to do, waiting for at most timeout_ms (-1: for ever, or until a signal). 0, or
 * a negative errno when the loop itself is broken. */
int tp_server_dispatch(struct tp_server *s, int timeout_ms);

/* A connected SOCK_SEQPACKET socket, as if it had been accepted; moved. -EACCES, -EMFILE. */
int tp_server_adopt(struct tp_server *s, int fd);

/* What is on the screen of this output; the caller finishes out. Like all functions from here on,
 * any thread's to call. */
int tp_server_look(struct tp_server *s, unsigned output, struct tp_image *out, struct tp_error *e);

/* Plugs an output in or out, or gives it other modes: tp_kms_set_output's rules. Clients hear of it
 * as a hot-plug. */
int tp_server_set_output(
    struct tp_server *s, unsigned output, const struct tp_kms_output *o, struct tp_error *e);

/* What the screen has shown so far. */
struct tp_server_shown {
    uint64_t frames;  /* pictures, each once */
    int64_t first_ns; /* the first line of the first of them */
};
void tp_server_shown(const struct tp_server *s, unsigned output, struct tp_server_shown *out);

/* How much there is, for tests and tools. */
struct tp_server_counts {
    struct tp_kms_counts kms;
    unsigned connections, channels;
    unsigned guests, registered; /* scan-out connections; their buffers */
    unsigned read,
        release_fences; /* buffers in layers that panels read or may read; fences of theirs */
};
void tp_server_count(struct tp_server *s, struct tp_server_counts *out);

/*
 * The live records that there are (census/ring.h): of each screen, and of each swapchain of the
 * guests'. The descriptors are duplicates, and the caller's. Answers how many; those that have no
 * place, or no descriptor any more, are left out.
 */
#define TP_SERVER_RINGS 132u /* as many as there are, with the usual limits */
unsigned tp_server_census(struct tp_server *s, struct tp_census_ring *out, unsigned most);
/* What is known of refreshes that have ended is in the screens' rings when this returns: for the
 * end of a run. */
void tp_server_census_settle(struct tp_server *s);

/* What guests were told of their buffers, so far. */
struct tp_server_notes {
    uint64_t pending, final; /* sent */
    uint64_t lost;           /* that did not go, or went without their fence */
    uint64_t resynced;       /* sent in place of those that did not go */
};
void tp_server_notes(struct tp_server *s, struct tp_server_notes *out);

#endif
