/*
 * Open cards. A card's descriptor is the socket to the server itself, so that read, poll and epoll work
 * on it; calls go over channels beside it. All of this is lock-free, allocates by mmap alone, and may be
 * called by threads, signal handlers, forked children and after exec. 0 or more, or a negative errno.
 */
#ifndef TP_FRAMES_SHIM_CARD_H
#define TP_FRAMES_SHIM_CARD_H

#include <stdbool.h>
#include <stdint.h>

struct tp_card;

/* Connects: the new descriptor. flags: O_CLOEXEC and O_NONBLOCK count. -ENODEV: there is no server. */
int tp_card_open(int flags);
/* The same by the render node. */
int tp_card_open_render(int flags);

/*
 * The card that a descriptor is, held until tp_card_put; NULL: none. One that this process has not
 * opened (it came with exec, or in a message) is recognised by its peer's address and taken in.
 */
struct tp_card *tp_card_get(int fd);
void tp_card_put(struct tp_card *card);

/* The same for what is known already, without a look at the socket: may say no where tp_card_get says
 * yes. */
bool tp_card_is_known(int fd);

/* Is the descriptor still the card's? It may have been closed past the shim, and be something else by now;
 * then that is noted. One system call. */
bool tp_card_is_still(struct tp_card *card, int fd);

/*
 * A read of the descriptor has met an end: is it a card's? Leaves errno alone. A client that goes on
 * reading takes its time here: event loops that ignore the error are woken for ever by the hang-up.
 */
bool tp_card_read_end(int fd);

/* Was it opened by the render node? */
bool tp_card_is_render(const struct tp_card *card);

/* fd: one of the card's. */
int tp_card_ioctl(struct tp_card *card, int fd, unsigned long request, void *arg);
int tp_card_map(struct tp_card *card, int fd, uint64_t offset, int *memory, uint64_t *bytes);

/* The C library closes this descriptor, or puts another in its place. */
void tp_card_forget_fd(int fd);
/* to is now another descriptor of what from is. */
void tp_card_copy_fd(int from, int to);

#endif
