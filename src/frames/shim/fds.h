/*
 * What each descriptor of this process is to the shim. No locks: one atomic word a descriptor.
 */
#ifndef TP_FRAMES_SHIM_FDS_H
#define TP_FRAMES_SHIM_FDS_H

#include <stdbool.h>
#include <stdint.h>

#define TP_FDS 65536 /* higher ones are never the shim's */

enum tp_fd_kind {
    TP_FD_UNKNOWN = 0, /* nobody has looked; a new descriptor */
    TP_FD_OTHER,       /* looked at: not a card */
    TP_FD_CARD,        /* number: of the card */
    TP_FD_TTY,         /* number: of the console */
    TP_FD_UEVENT,      /* stands for a netlink socket (uevent.h) */
    TP_FD_OWN,         /* the shim's; hidden from the client */
};

struct tp_fd {
    enum tp_fd_kind kind;
    unsigned number;
};

struct tp_fd tp_fds_get(int fd);
/* Sets it where it still is what it was: false, and nothing is done, where it is not, or is too high. */
bool tp_fds_set(int fd, struct tp_fd was, struct tp_fd now);
/* Makes it unknown; answers what it was. */
struct tp_fd tp_fds_take(int fd);

void tp_fds_set_own(int fd);
void tp_fds_clear_own(int fd);

/* One more than the highest descriptor that ever was something here. */
int tp_fds_end(void);

#endif
