/* The books that the simulated device keeps of a process: what was left when it was closed. */
#ifndef TP_FACTORY_PROVE_BOOKS_H
#define TP_FACTORY_PROVE_BOOKS_H

#include <jansson.h>
#include <stdbool.h>

/*
 * calls: the simulator's log, borrowed. Answers NULL where nothing was left, or what was
 * ("leaked_buffers 2 (8192 bytes)"); the caller frees it. closed: whether the device was closed at
 * all, without which there is nothing to say.
 */
char *tp_books_left(const json_t *calls, bool *closed);

/* What is said of a run whose log lacks its end. */
#define TP_BOOKS_NOT_WHOLE "the simulator's log is not whole: nothing is proved by it"

/* Did the client see a device, so that there must be books of it? facts: the client's, borrowed. */
bool tp_books_were_opened(const json_t *facts);

#endif
