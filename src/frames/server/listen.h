/* The socket that clients connect to. */
#ifndef TP_FRAMES_SERVER_LISTEN_H
#define TP_FRAMES_SERVER_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct tp_listener {
    int fd, lock; /* owned; -1: none */
    char path[108], lock_path[120];
    dev_t device; /* of the socket's file */
    ino_t inode;
};

/*
 * Listens at a path (@NAME: an abstract address). A lock beside it says that the path is taken; a
 * socket that a dead server has left is removed, nothing else ever is. for_all: others may connect
 * too (whom the server then asks who they are). -EADDRINUSE; -EINVAL for a path that is too long or
 * no socket's.
 */
int tp_listen(const char *path, bool for_all, struct tp_listener *out, struct tp_error *e);
/* Closes it; the socket's file goes, if it is still ours. */
void tp_listener_finish(struct tp_listener *l);

#endif
