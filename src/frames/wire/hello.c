#include "frames/wire/hello.h"

#include <errno.h>
#include <string.h>

int tp_hello_parse(const struct tp_frame *f, struct tp_hello *out, uint32_t *version)
{
    if (f->fourcc != TP_FRAME_HELLO || f->payload_bytes < sizeof *out)
        return -EBADMSG;
    memcpy(out, f->payload, sizeof *out);
    if (out->oldest > out->version)
        return -EBADMSG;
    if (out->version < TP_WIRE_OLDEST || out->oldest > TP_WIRE_VERSION)
        return -EPROTO;
    *version = out->version < TP_WIRE_VERSION ? out->version : TP_WIRE_VERSION;
    return 0;
}
