/* What the environment says (docs: turnpike's ICD), read once. What cannot be is logged and left
 * out. */
#ifndef TP_FRAMES_ICD_SETTINGS_H
#define TP_FRAMES_ICD_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "frames/icd/slots.h"
#include "frames/pace/pace.h"

struct tp_icd_settings {
    /* TURNPIKE_SOCKET (@NAME: an abstract one), else turnpike-0 in XDG_RUNTIME_DIR where that is
     * there. */
    struct sockaddr_un server;
    socklen_t server_bytes;       /* 0: there is no server */
    struct tp_gate_settings gate; /* TURNPIKE_GATE, TURNPIKE_CAP */
    bool gate_set, cap_set;       /* said here: the server's word does not count until it is new */
    bool release;                 /* TURNPIKE_RELEASE_FENCE */
    enum tp_release_wait wait;    /* TURNPIKE_RELEASE_WAIT */
    unsigned min_images;          /* TURNPIKE_MIN_IMAGES; 0: none */
    bool render_node;             /* TURNPIKE_RENDER_NODE: the card has one, and we render for it */
    const char *capture;          /* TURNPIKE_CAPTURE; NULL: none */
};

const struct tp_icd_settings *tp_icd_settings(void);

#endif
