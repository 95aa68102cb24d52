/* Clients' eventfds: told without ever waiting for the client. Inside the core. */
#ifndef TP_FRAMES_KMS_EVENTFD_H
#define TP_FRAMES_KMS_EVENTFD_H

#include <stdint.h>

struct tp_eventfds {
    unsigned long context; /* aio_context_t; 0: this kernel has none, and a write has to do */
    int file;              /* owned; -1: none */
};

void tp_eventfds_init(struct tp_eventfds *t);
void tp_eventfds_finish(struct tp_eventfds *t);
/* Adds 1 to the eventfd; where it is full it stays so. */
void tp_eventfds_add(struct tp_eventfds *t, int fd);

#endif
