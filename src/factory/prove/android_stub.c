/*
 * What a driver of Android's flavour needs of the platform's libraries when it runs on glibc: one
 * library under the names libcutils, libhardware, liblog, libnativewindow and libsync, and (in
 * android_vendor.c) libvndksupport. The client has the rest (hw_get_module, AHardwareBuffer_*), and
 * goes before.
 */
#include <errno.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int property_get(const char *key, char *value, const char *fallback);
EXPORT int __android_log_write(int priority, const char *tag, const char *text);
EXPORT int __android_log_print(int priority, const char *tag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
EXPORT int sync_wait(int fd, int timeout_ms);
EXPORT int sync_merge(const char *name, int a, int b);
EXPORT const void *AHardwareBuffer_getNativeHandle(const void *buffer);
#ifndef __BIONIC__
EXPORT void atrace_init(void);
EXPORT uint64_t atrace_get_enabled_tags(void);
EXPORT void atrace_begin_body(const char *name);
EXPORT void atrace_end_body(void);
#endif

/* No property is set. value holds PROPERTY_VALUE_MAX, 92 bytes. */
int property_get(const char *key, char *value, const char *fallback)
{
    (void)key;
    return snprintf(value, 92, "%s", fallback ? fallback : "");
}

int __android_log_write(int priority, const char *tag, const char *text)
{
    (void)priority;
    return fprintf(stderr, "%s: %s\n", tag ? tag : "", text ? text : "");
}

int __android_log_print(int priority, const char *tag, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return __android_log_write(priority, tag, text);
}

/* A timeout below 0 waits for ever. */
int sync_wait(int fd, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int r;
    do {
        r = poll(&p, 1, timeout_ms);
    } while (r < 0 && (errno == EINTR || errno == EAGAIN));
    if (r > 0 && (p.revents & (POLLERR | POLLNVAL))) {
        errno = EINVAL;
        return -1;
    }
    if (r == 0)
        errno = ETIME;
    return r > 0 ? 0 : -1;
}

int sync_merge(const char *name, int a, int b)
{
    struct sync_merge_data data = {.fd2 = b};
    snprintf(data.name, sizeof data.name, "%s", name ? name : "");
    return ioctl(a, SYNC_IOC_MERGE, &data) < 0 ? -1 : data.fence;
}

#ifndef __BIONIC__
/* Tracing, as later Androids have it (cutils/trace.h), switched off: a driver that refers to it comes up
 * here, and is told by its symbols alone. */
void atrace_init(void)
{
}

uint64_t atrace_get_enabled_tags(void)
{
    return 0;
}

void atrace_begin_body(const char *name)
{
    (void)name;
}

void atrace_end_body(void)
{
}
#endif

/* The client's goes before, for its own buffers: no others have a handle. */
const void *AHardwareBuffer_getNativeHandle(const void *buffer)
{
    (void)buffer;
    return NULL;
}
