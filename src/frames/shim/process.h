/* Telling a forked child from its parent, at the price of a read. */
#ifndef TP_FRAMES_SHIM_PROCESS_H
#define TP_FRAMES_SHIM_PROCESS_H

#include <stdbool.h>

enum tp_process {
    TP_PROCESS_KNOWN,    /* as at the last call */
    TP_PROCESS_FORKED,   /* a child: this caller, and no other, puts things right and then settles */
    TP_PROCESS_SETTLING, /* somebody else is doing so, or this call interrupted it */
};

/* When the library is loaded: makes the process known. */
void tp_process_load(void);
enum tp_process tp_process_check(void);
void tp_process_settle(void);

/* A child of vfork, which has this memory with its parent but descriptors of its own: what it does with
 * them is not to be noted. */
bool tp_process_is_borrowed(void);

#endif
