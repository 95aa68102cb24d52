/*
 * The socket on which libudev waits for the kernel's and udev's news. Apps on a phone may not have one, and
 * nothing would come; in its place stands a connection to the server, which says when an output came or
 * went, and the shim makes of that what udev would have said. Where udev's daemon runs, its socket stays.
 */
#ifndef TP_FRAMES_SHIM_UEVENT_H
#define TP_FRAMES_SHIM_UEVENT_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Is this a socket that the shim is to stand in for? */
bool tp_uevent_wanted(int domain, int protocol);

/* type: as in socket(). The descriptor, or a negative errno. */
int tp_uevent_open(int type);

/* The next message, as recvmsg gives it: its length, or a negative errno; -EAGAIN where there is none. */
ssize_t tp_uevent_receive(int fd, struct msghdr *msg, int flags);

/* The address that such a socket has. */
void tp_uevent_address(struct sockaddr *out, socklen_t *bytes);

#endif
