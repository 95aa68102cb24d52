#include "report/doctor/logcat.h"

#include <string.h>

/* A place in a line, and its end. */
struct at {
    const char *p, *end;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char peek(const struct at *a)
{
    return a->p < a->end ? *a->p : '\0';
}

static bool take(struct at *a, char c)
{
    if (a->p >= a->end || *a->p != c)
        return false;
    a->p++;
    return true;
}

static bool take_text(struct at *a, const char *text)
{
    size_t n = strlen(text);

    if ((size_t)(a->end - a->p) < n || memcmp(a->p, text, n) != 0)
        return false;
    a->p += n;
    return true;
}

static void blanks(struct at *a)
{
    while (peek(a) == ' ' || peek(a) == '\t')
        a->p++;
}

/* A whole number that an int holds. */
static bool number(struct at *a, int *out)
{
    const char *from = a->p;
    long n = 0;

    while (is_digit(peek(a)) && a->p - from < 10)
        n = n * 10 + (*a->p++ - '0');
    if (a->p == from || n > 0x7fffffff || is_digit(peek(a)))
        return false;
    *out = (int)n;
    return true;
}

static bool level(struct at *a, char *out)
{
    char c = peek(a);

    if (!c || !strchr("VDIWEFS", c))
        return false;
    *out = c;
    a->p++;
    return true;
}

/* ESC [ … m, of -v color. */
static void colours(struct at *a)
{
    while (a->end - a->p >= 3 && a->p[0] == '\033' && a->p[1] == '[') {
        const char *p = a->p + 2;
        while (p < a->end && (is_digit(*p) || *p == ';'))
            p++;
        if (p == a->end || *p != 'm')
            return;
        a->p = p + 1;
    }
}

static bool digits(struct at *a, int at_least)
{
    const char *from = a->p;

    while (is_digit(peek(a)))
        a->p++;
    return a->p - from >= at_least;
}

/* "03-22 20:49:56.741", with a year in front, more digits, a zone; or seconds with a fraction. */
static bool instant(struct at *a)
{
    struct at t = *a;

    blanks(&t);
    if (!digits(&t, 1))
        return false;
    if (take(&t, '.')) { /* epoch, monotonic */
        if (!digits(&t, 3))
            return false;
    } else {
        if (!take(&t, '-') || !digits(&t, 2))
            return false;
        if (take(&t, '-') && !digits(&t, 2))
            return false;
        if ((!take(&t, ' ') && !take(&t, 'T')) || !digits(&t, 2) || !take(&t, ':') ||
            !digits(&t, 2) || !take(&t, ':') || !digits(&t, 2))
            return false;
        if (take(&t, '.') && !digits(&t, 3))
            return false;
        struct at zone = t;
        blanks(&zone);
        if ((take(&zone, '+') || take(&zone, '-')) && digits(&zone, 4))
            t = zone;
    }
    if (peek(&t) != ' ')
        return false;
    *a = t;
    return true;
}

/* A tag up to what closes it, blanks behind it left out. */
static bool tag(struct at *a, const char *close, struct tp_log_line *out)
{
    size_t n = strlen(close);
    const char *from = a->p, *p = memmem(from, (size_t)(a->end - from), close, n);

    if (!p)
        return false;
    a->p = p + n;
    while (p > from && p[-1] == ' ')
        p--;
    out->tag = from;
    out->tag_len = (size_t)(p - from);
    return true;
}

/* "  123", "u0_a1: 123", "10123:  123": a user may stand in front of the process. */
static bool pid_with_uid(struct at *a, int *pid)
{
    struct at t = *a;

    blanks(&t);
    if (number(&t, pid) && peek(&t) != ':') {
        *a = t;
        return true;
    }
    t = *a;
    blanks(&t);
    const char *from = t.p;
    while (t.p < t.end && *t.p != ':' && *t.p != ' ' && *t.p != ')' && t.p - from < 16)
        t.p++;
    if (t.p == from || !take(&t, ':'))
        return false;
    blanks(&t);
    if (!number(&t, pid))
        return false;
    *a = t;
    return true;
}

static void message(struct at *a, struct tp_log_line *out)
{
    take(a, ' ');
    out->message = a->p;
    out->len = (size_t)(a->end - a->p);
}

/* "20:49:56.741 24589-24616 hook_impl  com.example  I  text", Android Studio's since Dolphin, and
 * "24589-24616/com.example I/tag: text", before it. */
static bool studio(struct at a, int pid, struct tp_log_line *out)
{
    int tid;

    if (!take(&a, '-') || !number(&a, &tid))
        return false;
    out->pid = pid;
    if (take(&a, '/')) {
        while (peek(&a) && peek(&a) != ' ')
            a.p++;
        if (!take(&a, ' ') || !level(&a, &out->level) || !take(&a, '/') || !tag(&a, ": ", out))
            return false;
        a.p--;
        message(&a, out);
        return true;
    }
    if (!take(&a, ' '))
        return false;
    blanks(&a);
    if (!tag(&a, "  ", out) && !tag(&a, " ", out))
        return false;
    blanks(&a);
    while (peek(&a) && peek(&a) != ' ') /* the package */
        a.p++;
    blanks(&a);
    if (!level(&a, &out->level) || peek(&a) != ' ')
        return false;
    take(&a, ' ');
    message(&a, out);
    return true;
}

/* Up to the next blank. */
static struct at word(struct at *a)
{
    struct at w = {NULL, NULL};

    blanks(a);
    w.p = a->p;
    while (peek(a) && peek(a) != ' ')
        a->p++;
    w.end = a->p;
    return w;
}

/* threadtime's "1234  5678 I tag: text", where a user may stand in front. */
static bool threadtime(struct at a, struct tp_log_line *out)
{
    int before = TP_PID_UNKNOWN, last = TP_PID_UNKNOWN;

    for (int n = 0; n < 4; n++) {
        struct at w = word(&a), t = w;
        int id = TP_PID_UNKNOWN;
        if (w.p == w.end || a.p == a.end)
            return false;
        if (n >= 2 && w.end - w.p == 1 && level(&t, &out->level))
            break;
        if (!number(&t, &id) || t.p != t.end)
            id = TP_PID_UNKNOWN;
        before = last;
        last = id;
    }
    if (!out->level || before < 0 || last < 0 || !take(&a, ' '))
        return false;
    struct at t = a;
    if (tag(&t, ": ", out)) {
        t.p--;
    } else if (t.end[-1] == ':') { /* nothing is said */
        out->tag = t.p;
        out->tag_len = (size_t)(t.end - t.p) - 1;
        t.p = t.end;
    } else {
        return false;
    }
    out->pid = before;
    message(&t, out);
    return true;
}

/* Behind an instant: time's "I/tag( 1234): text", Android Studio's, threadtime's. */
static bool timed(struct at a, struct tp_log_line *out)
{
    struct at t = a;
    int pid;

    blanks(&t);
    if (level(&t, &out->level) && take(&t, '/')) {
        if (!tag(&t, "(", out) || !pid_with_uid(&t, &pid) || !take_text(&t, "):"))
            return false;
        out->pid = pid;
        message(&t, out);
        return true;
    }
    out->level = 0;
    t = a;
    blanks(&t);
    if (number(&t, &pid) && peek(&t) == '-')
        return studio(t, pid, out);
    return threadtime(a, out);
}

/* brief "I/tag( 1234): text", tag "I/tag: text". */
static bool slashed(struct at a, struct tp_log_line *out)
{
    int pid;

    if (!level(&a, &out->level) || !take(&a, '/'))
        return false;
    struct at t = a;
    if (tag(&t, "(", out) && out->tag_len < 64 && pid_with_uid(&t, &pid) && take_text(&t, "):")) {
        out->pid = pid;
        message(&t, out);
        return true;
    }
    t = a;
    if (!tag(&t, ": ", out) || out->tag_len >= 64)
        return false;
    t.p--;
    message(&t, out);
    return true;
}

/* process "I( 1234) text  (tag)", thread "I( 1234: 5678) text". */
static bool bracketed(struct at a, struct tp_log_line *out)
{
    int pid, tid;

    if (!level(&a, &out->level) || !take(&a, '('))
        return false;
    struct at t = a;
    blanks(&t);
    bool ok = number(&t, &pid);
    if (ok && take(&t, ')') && peek(&t) == ' ') {
        out->pid = pid;
        message(&t, out);
        /* The tag stands behind. */
        if (out->len && t.end[-1] == ')') {
            const char *p = t.end - 1;
            while (p > out->message && *p != '(')
                p--;
            if (p >= out->message + 2 && p[-1] == ' ' && p[-2] == ' ') {
                out->tag = p + 1;
                out->tag_len = (size_t)(t.end - 1 - out->tag);
                out->len = (size_t)(p - 2 - out->message);
            }
        }
        return true;
    }
    if (!ok || !take(&t, ':'))
        return false;
    blanks(&t);
    if (!number(&t, &tid))
        return false;
    if (take(&t, ':')) { /* user, process, thread */
        pid = tid;
        blanks(&t);
        if (!number(&t, &tid))
            return false;
    }
    if (!take(&t, ')'))
        return false;
    out->pid = pid;
    message(&t, out);
    return true;
}

/* "[ 03-22 20:49:56.741 24589:24616 I/tag ]", and "[03-26 15:42:52.012 13944:13944 I/tag]". */
static bool long_header(struct at a, struct tp_log_line *out)
{
    int pid, tid;

    if (!take(&a, '[') || !instant(&a))
        return false;
    blanks(&a);
    struct at t = a;
    if (!number(&t, &pid) || !take(&t, ':') || (blanks(&t), !number(&t, &tid)) || peek(&t) == ':') {
        t = a;
        if (!pid_with_uid(&t, &pid) || !take(&t, ':') || (blanks(&t), !number(&t, &tid)))
            return false;
    }
    blanks(&t);
    if (!level(&t, &out->level) || !take(&t, '/') || t.end <= t.p || t.end[-1] != ']')
        return false;
    t.end--;
    while (t.end > t.p && t.end[-1] == ' ')
        t.end--;
    out->pid = pid;
    out->tag = t.p;
    out->tag_len = (size_t)(t.end - t.p);
    return true;
}

/* "<6>[  123.456789] [T123] text"; what is not there is left out. False: no kernel's line. */
static bool kernel(struct at a, struct tp_log_line *out)
{
    bool priority = false;
    int n;

    if (take(&a, '<')) {
        priority = number(&a, &n) && take(&a, '>');
        if (!priority)
            return false;
    }
    struct at t = a;
    if (take(&t, '[') && (blanks(&t), digits(&t, 1)) && take(&t, '.') && digits(&t, 3) &&
        take(&t, ']')) {
        a = t;
        blanks(&t);
        if (take(&t, '[')) { /* the thread or the processor */
            const char *end = memchr(t.p, ']', (size_t)(t.end - t.p));
            if (end && end - t.p < 24)
                a.p = end + 1;
        }
    } else if (!priority) {
        return false;
    }
    out->level = 0;
    message(&a, out);
    return true;
}

static const struct tp_log_line nothing = {.pid = TP_PID_UNKNOWN};

/* Does it have a header that is understood? */
static bool headed(const struct tp_log_reader *r, struct at a, struct tp_log_line *out)
{
    struct at t = a;

    *out = nothing;
    if ((*a.p == ' ' || is_digit(*a.p)) && instant(&t) && timed(t, out))
        return true;
    /* The message of a long header may look like anything. */
    if (r->in_long)
        return false;
    *out = nothing;
    if ((*a.p == '[' || *a.p == '<') && kernel(a, out))
        return true;
    *out = nothing;
    if (a.end - a.p > 3 && a.p[1] == '/' && slashed(a, out))
        return true;
    *out = nothing;
    return a.end - a.p > 3 && a.p[1] == '(' && bracketed(a, out);
}

bool tp_log_read(struct tp_log_reader *r, const char *line, size_t len, struct tp_log_line *out)
{
    struct at a = {line, line + len};

    *out = nothing;
    colours(&a);
    if (a.p == a.end)
        return false;
    if (a.end - a.p > 10 && !memcmp(a.p, "---------", 9)) {
        r->in_long = false;
        return false;
    }
    if (*a.p == '[' && long_header(a, out)) {
        r->in_long = true;
        r->pid = out->pid;
        r->level = out->level;
        r->tag_len = out->tag_len < sizeof r->tag ? out->tag_len : sizeof r->tag;
        memcpy(r->tag, out->tag, r->tag_len);
        return false;
    }
    if (headed(r, a, out)) {
        r->in_long = false;
        return true;
    }
    *out = nothing;
    out->message = a.p;
    out->len = (size_t)(a.end - a.p);
    if (r->in_long) {
        out->pid = r->pid;
        out->level = r->level;
        out->tag = r->tag;
        out->tag_len = r->tag_len;
    }
    return true;
}
