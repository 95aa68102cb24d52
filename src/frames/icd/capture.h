/*
 * TURNPIKE_CAPTURE: a file (docs/capture.md) of what this process's swapchains tell of their frames
 * (census.h), with or without a server. A thread of its own reads their rings and writes; there is
 * none where the variable is not set.
 */
#ifndef TP_FRAMES_ICD_CAPTURE_H
#define TP_FRAMES_ICD_CAPTURE_H

#include <stdint.h>

/* A swapchain's ring; fd: borrowed for the call. Answers its number, or 0 where nothing is
 * written. */
uint32_t tp_icd_capture_add(int fd);
/* Nothing more will be put into it: what is there is still written. 0 is fine. */
void tp_icd_capture_end(uint32_t number);

#endif
