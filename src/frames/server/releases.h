/*
 * The release protocol, live: notes.h with a lock of its own, over the sockets of scan-out
 * connections, their boards, fences that are polled, and a timer. The panels' threads call it as
 * things happen, the loop for its guests; nothing in it waits for anybody.
 *
 * Of locks, a caller may have the server's, and none of a publisher's. Only blank is called with
 * this one held.
 */
#ifndef TP_FRAMES_SERVER_RELEASES_H
#define TP_FRAMES_SERVER_RELEASES_H

#include "frames/kms/kms.h"
#include "frames/panel/panel.h"
#include "frames/server/notes.h"

#define TP_RELEASES_CAPS                                                                           \
    (TP_CAP_TIMELINE | TP_CAP_BOARD | TP_CAP_RELEASE_FENCE | TP_CAP_STATE | TP_CAP_CONTROL |       \
        TP_CAP_CENSUS)

struct tp_releases;
struct tp_guest; /* a scan-out connection */

struct tp_releases_config {
    struct tp_notes_limits limits;
    int epoll; /* the loop's: borrowed; tells of tp_releases_fd and of guests' sockets */
    /* notes.h's, for a panel's own thread to act on: it must not call back. */
    int (*blank)(void *data, unsigned output);
    void *data;
};

/* Negative errno. */
int tp_releases_create(const struct tp_releases_config *config, struct tp_releases **out);
/* Guests are gone with it. NULL is fine. */
void tp_releases_destroy(struct tp_releases *r);

/* In the loop's set while there are guests, with the address of `source` as data. */
int tp_releases_fd(const struct tp_releases *r);
int tp_releases_watch(struct tp_releases *r, void *source);
/* It is readable: fences have signalled, or it is time. */
void tp_releases_ready(struct tp_releases *r);

/* --- guests: the loop's thread alone --- */

/* Answers the hello of a guest, and counts it in. sock: borrowed, in the loop's set with this data,
 * for reading. capabilities: what it has said. -EMFILE: there are as many as there may be. */
int tp_releases_join(
    struct tp_releases *r, int sock, void *source, uint64_t capabilities, struct tp_guest **out);
/* Before its socket is closed. */
void tp_releases_leave(struct tp_releases *r, struct tp_guest *g);
/* Takes a frame that was decoded; what is not a guest's to say: -EBADMSG. Its descriptor is the
 * caller's, but for a registration's, which is moved; live records and settings are the caller's to
 * look at. memory_is_right: it is what the name says. */
int tp_releases_take(
    struct tp_releases *r, struct tp_guest *g, struct tp_scanout_frame *f, bool memory_is_right);
/* Its socket has room. */
void tp_releases_drained(struct tp_releases *r, struct tp_guest *g);
/* A live change, to all. */
void tp_releases_setting(struct tp_releases *r, const struct tp_setting_frame *s);

/* --- panels: any thread --- */

/* A number for a picture: greater than all before, on any output. */
uint64_t tp_releases_serial(struct tp_releases *r);
/* Right before a picture goes to the panel, under this serial, and right after. blank: the one that
 * was asked for. layers: of each its memory, with the generation that a guest has registered, or 0.
 */
void tp_releases_before(struct tp_releases *r, unsigned output, const struct tp_kms_scanout *s,
    bool blank, struct tp_buffer_name layers[TP_KMS_LAYERS]);
void tp_releases_after(struct tp_releases *r, unsigned output, uint64_t serial, int result);
/* As the panel's events; the fence is moved. */
void tp_releases_released(
    struct tp_releases *r, unsigned output, uint64_t serial, unsigned layer, int fence);
void tp_releases_shown(struct tp_releases *r, unsigned output, uint64_t serial);
void tp_releases_away(struct tp_releases *r, unsigned output, bool away);
/* counts: as tp_releases_count. */
void tp_releases_tick(struct tp_releases *r, unsigned output, const struct tp_panel_tick *t,
    const struct tp_panel *panel, bool variable, struct tp_notes_counts *counts);

void tp_releases_count(struct tp_releases *r, struct tp_notes_counts *out);

#endif
