/*
 * What stands in front of a line's message: logcat's formats (brief, process, tag, thread, time,
 * threadtime, long, with year, epoch, uid, usec, zone and colour), Android Studio's two, the
 * kernel's. Layouts: AOSP liblog/logprint.cpp, android_log_formatLogLine.
 */
#ifndef TP_REPORT_DOCTOR_LOGCAT_H
#define TP_REPORT_DOCTOR_LOGCAT_H

#include <stdbool.h>
#include <stddef.h>

#define TP_PID_UNKNOWN (-1)

struct tp_log_line {
    const char *message; /* borrowed; the whole line where nothing is known of it */
    size_t len;
    const char *tag; /* borrowed, not terminated; NULL: the format has none */
    size_t tag_len;
    int pid;    /* TP_PID_UNKNOWN: the format has none */
    char level; /* V D I W E F S; 0: not said */
};

/* What of a line goes on to the next ones. {0} at the beginning of a log. */
struct tp_log_reader {
    bool in_long; /* behind a header of the format long, whose message is the next lines */
    int pid;
    char level;
    char tag[64];
    size_t tag_len;
};

/*
 * Takes a line apart. Each line is to come by, in order, for those of the format long have their
 * header in front. False: it is a header, a divider ("--------- beginning of main") or empty, and
 * carries no message.
 */
bool tp_log_read(struct tp_log_reader *r, const char *line, size_t len, struct tp_log_line *out);

#endif
