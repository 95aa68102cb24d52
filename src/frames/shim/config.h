/* What the environment says, read once when the library is loaded. */
#ifndef TP_FRAMES_SHIM_CONFIG_H
#define TP_FRAMES_SHIM_CONFIG_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

struct tp_shim_config {
    /* The server's: TURNPIKE_SOCKET (@NAME: an abstract one), else turnpike-0 in XDG_RUNTIME_DIR. */
    struct sockaddr_un server;
    socklen_t server_bytes; /* 0: no server is known, and everything goes to the C library */
    char tree[256];         /* TURNPIKE_TREE; "": one is made (tree.h) */
    char tree_place[256];   /* the folder that it is made in */
    bool tty;               /* TURNPIKE_TTY=1: virtual consoles are played (tty.h) */
    bool render;            /* TURNPIKE_RENDER_NODE=1: /dev/dri/renderD128 is there too */
};

/* NULL while the library is still being loaded. */
const struct tp_shim_config *tp_shim_config(void);

/* Is this address the server's? */
bool tp_shim_is_server(const struct sockaddr_un *address, socklen_t bytes);

#endif
