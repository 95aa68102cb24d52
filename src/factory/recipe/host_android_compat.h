/*
 * What Mesa's Android paths take from bionic and glibc does not have, so that the Android platform
 * can be built and run on a glibc host (target host-android). Included before every file, those of
 * meson's checks too: whatever the standard and the warnings, it must compile, or checks fail unseen.
 */
#ifndef TP_HOST_ANDROID_COMPAT_H
#define TP_HOST_ANDROID_COMPAT_H
#ifndef __ASSEMBLER__

/* bionic's <fcntl.h> is the kernel's; with glibc's the two define struct flock twice. */
#define _LINUX_FCNTL_H
#define _ASM_GENERIC_FCNTL_H
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* bionic's <threads.h> builds mtx_t on pthread_mutex_t, and Mesa's own does too: take that one. */
#undef HAVE_THRD_CREATE

/* bionic <sys/system_properties.h> */
#ifndef PROP_NAME_MAX
#define PROP_NAME_MAX 32
#endif
#ifndef PROP_VALUE_MAX
#define PROP_VALUE_MAX 92
#endif

/* BSD's, in bionic's <string.h>; glibc has them from 2.38. */
#if defined(__GLIBC__) && (__GLIBC__ < 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ < 38))
static inline size_t strlcpy(char *to, const char *from, size_t size)
{
    size_t len = strlen(from);
    if (size) {
        size_t n = len < size ? len : size - 1;
        memcpy(to, from, n);
        to[n] = '\0';
    }
    return len;
}

static inline size_t strlcat(char *to, const char *from, size_t size)
{
    const char *end = (const char *) memchr(to, 0, size); /* no strnlen under -std=c11 */
    size_t used = end ? (size_t)(end - to) : size;
    return used == size ? size + strlen(from) : used + strlcpy(to + used, from, size - used);
}
#endif

#endif
#endif
