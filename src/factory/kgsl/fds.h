/* Which of the process's descriptors are the simulator's devices, and which open file they are of. */
#ifndef TP_FACTORY_KGSL_FDS_H
#define TP_FACTORY_KGSL_FDS_H

#include <stdint.h>

enum tp_fd_kind {
    TP_FD_OTHER,
    TP_FD_KGSL,
    TP_FD_HEAP, /* /dev/dma_heap/system */
    TP_FD_DEAD, /* a device that was inherited through fork */
    TP_FD_OWN,  /* the simulator's: the client does not close it */
};

/* Without a lock: a plain look-up. */
enum tp_fd_kind tp_fds_kind(int fd);

/* The rest under the process's lock. */

/* FD is KIND now, of open file FILE. Descriptors that are too high are not kept track of: -EMFILE. */
int tp_fds_set(int fd, enum tp_fd_kind kind, uint32_t file);
uint32_t tp_fds_file(int fd);

/* FD is no more. Answers how many others are of the same open file. */
unsigned tp_fds_clear(int fd);

/* After fork: all are dead. */
void tp_fds_forget(void);

#endif
