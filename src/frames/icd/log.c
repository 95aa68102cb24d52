#include "frames/icd/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int target = STDERR_FILENO;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_log(void)
{
    const char *path = getenv("TURNPIKE_LOG");

    if (!path || !*path)
        return;
    /* A log that cannot be written is no reason to write into a game's output. */
    target = strcmp(path, "0") != 0
        ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644)
        : -1;
}

void tp_icd_log(const char *fmt, ...)
{
    char line[2048];
    va_list args;
    int n = snprintf(line, sizeof line, "turnpike: ");

    pthread_once(&once, open_log);
    if (target < 0)
        return;
    va_start(args, fmt);
    int more = vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, args);
    va_end(args);
    if (more < 0)
        return;
    n += more;
    if ((size_t)n > sizeof line - 2)
        n = sizeof line - 2;
    line[n++] = '\n';
    /* One write, so that lines of several threads do not mix. */
    if (write(target, line, (size_t)n) < 0)
        return;
}

void tp_icd_log_error(const struct tp_error *e)
{
    tp_icd_log(
        "%s%s%s%s%s", e->where, e->where[0] ? ": " : "", e->what, e->todo[0] ? "; " : "", e->todo);
}
