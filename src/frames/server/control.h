/*
 * Frames on a control connection (TP_HELLO_CONTROL), after both sides' THLO. A request is answered
 * by a frame of the same FourCC and sequence.
 *
 *   TLOK  u32 output: what is on the screen now. Answer: i32 result, u32 0; with result 0 a memfd
 * that holds a PNG file beside it. -EBUSY: another is just being made.
 *
 *   TTCK  u32 output: the last refresh. Answer: struct tp_control_tick.
 *
 *   TPLG  struct tp_control_plug: plugs an output out or in, or gives it other modes, of which
 * clients hear as a hot-plug. Answer: i32 result, u32 0. -EPERM: the server's own user and root
 * may.
 *
 *   TCTL  as on a scan-out connection (docs/protocol.md): a live change, for all guests. Answer:
 * i32 result, u32 0. -EINVAL; -EPERM: the server's own user and root may.
 *
 *   TCEN  u32 first: the live records that there are (census/ring.h), by their ids; the first so
 * many of them are left out. Only where the server's THLO says TP_CAP_CENSUS. Answer: struct
 * tp_control_census, as long as it has rings, and of each its memory as a descriptor. -EINVAL;
 * -EPERM: the server's own user and root may.
 */
#ifndef TP_FRAMES_SERVER_CONTROL_H
#define TP_FRAMES_SERVER_CONTROL_H

#include "frames/kms/kms.h"

#define TP_FRAME_LOOK TP_FOURCC('T', 'L', 'O', 'K')
#define TP_FRAME_TICK TP_FOURCC('T', 'T', 'C', 'K')

struct tp_control_tick {
    int32_t result;
    uint32_t zero;
    uint64_t sequence;
    int64_t time_ns; /* when it was due, on CLOCK_MONOTONIC */
    int64_t told_ns; /* when the screen's thread had woken for it, and told the server */
};

#define TP_FRAME_PLUG TP_FOURCC('T', 'P', 'L', 'G')

struct tp_control_plug {
    uint32_t output, connected;
    uint32_t n_modes, zero; /* 0 modes: those that it had */
    struct tp_kms_mode modes[TP_KMS_MODES];
};

#define TP_CONTROL_RINGS 15u

struct tp_control_census {
    int32_t result;
    uint32_t total; /* rings that there are */
    struct {
        uint32_t id;  /* of this server, never used twice */
        uint32_t pid; /* of the guest, as the kernel says it; 0: a screen's; all ones: not known */
    } rings[TP_CONTROL_RINGS];
};

#endif
