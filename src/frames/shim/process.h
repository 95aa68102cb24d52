/* Telling a forked child from its parent, at the price of a read. */
#ifndef TP_FRAMES_SHIM_PROCESS_H
#define TP_FRAMES_SHIM_PROCESS_H

enum tp_process {
    TP_PROCESS_KNOWN,    /* as at the last call */
    TP_PROCESS_FORKED,   /* a child: this caller, and no other, puts things right and then settles */
    TP_PROCESS_SETTLING, /* somebody else is doing so, or this call interrupted it */
};

/* The first call of all makes the process known. */
enum tp_process tp_process_check(void);
void tp_process_settle(void);

#endif
