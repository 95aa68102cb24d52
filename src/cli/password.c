#include "cli/password.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/proc.h"

static int too_long(struct tp_error *e, const char *where)
{
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, NULL, "a password has %d bytes at most",
                   TP_MINISIGN_PASSWORD - 1);
}

/* One line, without its end. A descriptor's last line may lack one; a NUL ends it, too. */
static int read_line(int fd, const char *where, char *out, size_t size, struct tp_error *e)
{
    size_t n = 0;
    for (;;) {
        char c;
        ssize_t got = read(fd, &c, 1);
        if (got < 0 && errno == EINTR && !tp_interrupted())
            continue;
        if (got < 0 && errno == EINTR)
            return tp_fail(e, TP_STATUS_FAILED, -EINTR, where, NULL, "interrupted");
        if (got < 0)
            return tp_fail_errno(e, errno, where, "gives no password");
        if (!got || c == '\n' || !c)
            break;
        if (n + 1 == size)
            return too_long(e, where);
        out[n++] = c;
    }
    if (n && out[n - 1] == '\r')
        n--;
    out[n] = 0;
    return 0;
}

/* On the terminal itself, so that standard input and output stay what they are. */
static int ask_terminal(const char *path, char *out, size_t size, struct tp_error *e)
{
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    struct termios before, silent;
    if (fd < 0 || tcgetattr(fd, &before) < 0) {
        if (fd >= 0)
            close(fd);
        return tp_fail(e, TP_STATUS_INPUT, -ENOTTY, path,
                       "set " TP_PASSWORD_VARIABLE ", or give --password-fd",
                       "has a password, and there is no terminal to ask for it");
    }
    silent = before;
    silent.c_lflag &= ~(tcflag_t)ECHO;
    tcsetattr(fd, TCSAFLUSH, &silent);
    char *name = tp_printable(path);
    dprintf(fd, "Password of %s: ", name);
    free(name);
    int r = read_line(fd, "the terminal", out, size, e);
    tcsetattr(fd, TCSAFLUSH, &before);
    dprintf(fd, "\n");
    close(fd);
    return r;
}

int tp_cli_password(void *data, const char *path, char *password, size_t size, struct tp_error *e)
{
    int fd = *(const int *)data;
    const char *set = getenv(TP_PASSWORD_VARIABLE);
    if (fd >= 0)
        return read_line(fd, "--password-fd", password, size, e);
    if (!set)
        return ask_terminal(path, password, size, e);
    if (strlen(set) >= size)
        return too_long(e, TP_PASSWORD_VARIABLE);
    strcpy(password, set);
    return 0;
}

void tp_cli_password_forget(void)
{
    char *set = getenv(TP_PASSWORD_VARIABLE);
    if (set)
        sodium_memzero(set, strlen(set));
    unsetenv(TP_PASSWORD_VARIABLE);
}

int tp_cli_key_load(const char *path, int fd, struct tp_minisign_secret **out, struct tp_error *e)
{
    int r = tp_minisign_secret_load(path, tp_cli_password, &fd, out, e);
    tp_cli_password_forget();
    return r;
}

int tp_cli_password_fd(const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || n > 65535 || fcntl((int)n, F_GETFD) < 0)
        return -1;
    return (int)n;
}
