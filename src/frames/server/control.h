/*
 * Frames on a control connection (TP_HELLO_CONTROL), after both sides' THLO. A request is answered
 * by a frame of the same FourCC and sequence.
 *
 *   TLOK  u32 output: what is on the screen now. Answer: i32 result, u32 0; with result 0 a memfd
 * that holds a PNG file beside it. -EBUSY: another is just being made.
 */
#ifndef TP_FRAMES_SERVER_CONTROL_H
#define TP_FRAMES_SERVER_CONTROL_H

#include "frames/wire/frame.h"

#define TP_FRAME_LOOK TP_FOURCC('T', 'L', 'O', 'K')

#endif
