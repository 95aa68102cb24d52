/*
 * A server that the test drives turn by turn, with a panel whose refreshes the test makes, and
 * clients that speak to it frame by frame, as a good one would or not.
 */
#ifndef TP_TESTS_FRAMES_SERVER_PEER_H
#define TP_TESTS_FRAMES_SERVER_PEER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <drm.h>
#include <drm_fourcc.h>
#include <drm_mode.h>

#include "frames/kms/snapshot.h"
#include "frames/server/server.h"
#include "frames/wire/drm_call.h"
#include "frames/wire/hello.h"

#define PTR(p) ((uint64_t)(uintptr_t)(p))

extern struct tp_server *server;
extern unsigned n_logged;

/* For cmocka. teardown checks that nothing is left: no object, no descriptor, no thread's report.
 */
int setup_server(void **state);
int teardown_server(void **state);
void start_server(const struct tp_server_config *more); /* its path, uids, limits */
unsigned n_descriptors(void);
/* Turns of the loop until there is nothing to do; answers how many. */
unsigned pump(void);

/* --- the panel --- */

/* A refresh begins. */
void tick(void);
uint64_t last_sequence(void);
/* How many pictures were published, and the latest. */
extern unsigned n_published;
extern struct tp_kms_scanout published;
extern int publish_answers;
/* Called from inside publish; NULL. */
extern void (*on_publish)(const struct tp_kms_scanout *s);
/* The panel of the next server may block: a thread of the server's publishes. */
extern bool panel_blocks;

/* What the panel tells; also from inside publish. */
void panel_released(uint64_t serial, unsigned layer, int fence);
void panel_shown(uint64_t serial);
void panel_away(bool away);

/* --- a client --- */

struct peer {
    int card, channel; /* -1: none */
    uint32_t sequence;
    uint8_t in[TP_FRAME_BYTES], out[TP_FRAME_BYTES];
    struct tp_snapshot *snapshot; /* mapped; NULL */
    struct tp_drm_fences fences;
};

/* Connects, without a word. */
void peer_connect(struct peer *p);
void peer_hello(struct peer *p, uint32_t version, uint32_t oldest, uint32_t kind);
/* Gives the server one end of a new socketpair; answers the other. */
int peer_channel(struct peer *p);
/* What comes first on a channel: 0, or the errno that the server refuses it with. */
int peer_greeting(struct peer *p, int channel, struct tp_hello *hello);
/* All of these; the card is open and has a channel. */
void peer_open(struct peer *p);
void peer_close(struct peer *p);

/* An ioctl: sends it, lets the server work, and decodes the answer. -EAGAIN: there is none yet;
 * peer_answer asks again. */
int peer_ioctl(struct peer *p, unsigned long request, void *arg);
int peer_answer(struct peer *p, unsigned long request, void *arg);
/* -EAGAIN: there is none. */
int peer_event(struct peer *p, struct drm_event_vblank *e);
/* Is the socket closed by the server? */
bool hung_up(int fd);

/* A dumb buffer with a framebuffer as large as the mode; and a mode set on it. */
uint32_t make_fb(struct peer *p);
uint32_t light_up(struct peer *p);
/* A framebuffer on memory from elsewhere, of as many bytes. */
#define FB_BYTES (64u * 48u * 4u)
uint32_t import_fb(struct peer *p, int memory);
int page_flip(struct peer *p, uint32_t fb, uint64_t user_data);

#endif
