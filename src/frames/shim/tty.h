/*
 * A virtual console for clients that insist on one (weston --tty, seatd): the client's end of a
 * pseudo-terminal, whose requests of consoles the shim answers. Only with TURNPIKE_TTY=1.
 */
#ifndef TP_FRAMES_SHIM_TTY_H
#define TP_FRAMES_SHIM_TTY_H

/* number: of /dev/ttyN; 0: the active one. The descriptor, or a negative errno. */
int tp_tty_open(unsigned number, int flags);

/* Answers a request of the console: 0, or a negative errno; -ENOSYS: one that the pseudo-terminal itself
 * answers. */
int tp_tty_ioctl(unsigned number, unsigned long request, void *arg);

#endif
