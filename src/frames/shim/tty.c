#include "frames/shim/preload.h"

#include "frames/shim/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/kd.h>
#include <linux/vt.h>

#include "frames/shim/channel.h"
#include "frames/shim/real.h"

#define ACTIVE 1u

/* One state for all consoles: a client uses one. */
static atomic_int display_mode = KD_TEXT;
static atomic_int keyboard_mode = 3; /* K_UNICODE */
static _Atomic(uint64_t) switching;  /* struct vt_mode, packed */

int tp_tty_open(unsigned number, int flags)
{
    char path[32];
    unsigned pty = 0;
    int master = TP_REAL(open)("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), zero = 0, fd;

    if (master < 0)
        return -errno;
    if (TP_REAL(ioctl)(master, TIOCSPTLCK, &zero) < 0 ||
        TP_REAL(ioctl)(master, TIOCGPTN, &pty) < 0) {
        TP_REAL(close)(master);
        return -EIO;
    }
    snprintf(path, sizeof path, "/dev/pts/%u", pty);
    fd = TP_REAL(open)(path, (flags & (O_ACCMODE | O_NONBLOCK | O_CLOEXEC)) | O_NOCTTY);
    if (fd < 0) {
        int r = -errno;

        TP_REAL(close)(master);
        return r;
    }
    /* As long as it is open, reads of the console wait for keys. It stays so to the process's end. */
    tp_channel_hide_fd(master);
    tp_forget(fd);
    tp_fds_set(fd, (struct tp_fd){TP_FD_UNKNOWN, 0},
               (struct tp_fd){TP_FD_TTY, number > 0 ? number : ACTIVE});
    return fd;
}

static void set_mode(const struct vt_mode *m)
{
    uint64_t packed = 0;

    memcpy(&packed, m, sizeof *m);
    atomic_store(&switching, packed);
}

_Static_assert(sizeof(struct vt_mode) == sizeof(uint64_t), "a vt_mode is one word");

int tp_tty_ioctl(unsigned number, unsigned long request, void *arg)
{
    uint64_t packed;

    switch (request) {
    case VT_OPENQRY:
        *(int *)arg = (int)number;
        return 0;
    case VT_GETSTATE:
        *(struct vt_stat *)arg =
            (struct vt_stat){.v_active = (unsigned short)number, .v_state = 1u << 1 | 1u};
        return 0;
    case VT_GETMODE:
        packed = atomic_load(&switching);
        memcpy(arg, &packed, sizeof packed);
        return 0;
    case VT_SETMODE:
        set_mode(arg);
        return 0;
    case KDGETMODE:
        *(int *)arg = atomic_load(&display_mode);
        return 0;
    case KDSETMODE:
        atomic_store(&display_mode, (int)(intptr_t)arg);
        return 0;
    case KDGKBMODE:
        *(int *)arg = atomic_load(&keyboard_mode);
        return 0;
    case KDSKBMODE:
        atomic_store(&keyboard_mode, (int)(intptr_t)arg);
        return 0;
    case KDGKBTYPE:
        *(char *)arg = KB_101;
        return 0;
    case VT_ACTIVATE: /* there is none to change to */
    case VT_WAITACTIVE:
    case VT_RELDISP:
    case VT_DISALLOCATE:
    case 0x4b51: /* KDSKBMUTE */
        return 0;
    default:
        return -ENOSYS;
    }
}
