/* For the files that define the C library's calls anew. Before all other headers: they make open and
 * open64, stat and stat64 one, where files are 64 bits long by default. */
#ifndef TP_FRAMES_SHIM_PRELOAD_H
#define TP_FRAMES_SHIM_PRELOAD_H

#undef _FILE_OFFSET_BITS
#ifndef BIONIC_IOCTL_NO_SIGNEDNESS_OVERLOAD
#define BIONIC_IOCTL_NO_SIGNEDNESS_OVERLOAD /* Bionic declares ioctl twice, but for this */
#endif

#include <errno.h>

#include "frames/shim/card.h"
#include "frames/shim/fds.h"
#include "frames/shim/process.h"

#define TP_EXPORT __attribute__((visibility("default")))

/* As C answers. kept: errno as it was, which success leaves alone. */
static inline int tp_answer(int result, int kept)
{
    errno = result < 0 ? -result : kept;
    return result < 0 ? -1 : result;
}

/* A descriptor that the C library has handed out, or closes: it is none of ours, whatever it was. */
static inline void tp_forget(int fd)
{
    if (fd >= 0 && tp_fds_get(fd).kind != TP_FD_UNKNOWN && !tp_process_is_borrowed())
        tp_card_forget_fd(fd);
}

#endif
