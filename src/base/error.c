#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void set(struct tp_error *e, enum tp_status status, int err, const char *where,
                const char *todo)
{
    e->status = status;
    e->err = err;
    snprintf(e->where, sizeof e->where, "%s", where ? where : "");
    snprintf(e->todo, sizeof e->todo, "%s", todo ? todo : "");
}

int tp_fail(struct tp_error *e, enum tp_status status, int err, const char *where, const char *todo,
            const char *fmt, ...)
{
    if (!e || e->err)
        return err;
    set(e, status, err, where, todo);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->what, sizeof e->what, fmt, ap);
    va_end(ap);
    return err;
}

static const char *remedy(int err)
{
    switch (err) {
    case ENOSPC:
    case EDQUOT:
        return "free some space there, or choose another folder";
    case EACCES:
    case EPERM:
    case EROFS:
        return "make it readable and writable for this user, or choose another folder";
    case ENOENT:
    case ENOTDIR:
    case EEXIST:
    case ELOOP:
    case ENAMETOOLONG:
        return "check the path";
    case EISDIR:
        return "name a file, or move the folder of that name away";
    case EIO:
        return "try again; where that fails too, look at the disk (dmesg)";
    case EMFILE:
    case ENFILE:
        return "raise the limit on open files (ulimit -n)";
    default:
        return "";
    }
}

/* A full disk or a reader that has gone is nobody's wrong usage. */
static enum tp_status status_of(int err)
{
    switch (err) {
    case ENOMEM:
    case EMFILE:
    case ENFILE:
        return TP_STATUS_MISSING;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EIO:
    case EPIPE:
    case EINTR:
    case ETIMEDOUT:
        return TP_STATUS_FAILED;
    default:
        return TP_STATUS_INPUT;
    }
}

int tp_fail_errno(struct tp_error *e, int err, const char *where, const char *fmt, ...)
{
    if (err < 0)
        err = -err;
    if (!e || e->err)
        return -err;
    set(e, status_of(err), -err, where, remedy(err));
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(e->what, sizeof e->what, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof e->what)
        snprintf(e->what + n, sizeof e->what - (size_t)n, ": %s", strerror(err));
    return -err;
}
