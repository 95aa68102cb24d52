/* The C library's own calls, past the preload library's. As in C: -1 and errno. */
#ifndef TP_FACTORY_KGSL_REAL_H
#define TP_FACTORY_KGSL_REAL_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

int tp_real_openat(int dirfd, const char *path, int flags, mode_t mode);
int tp_real_close(int fd);
int tp_real_dup3(int from, int to, int flags);
int tp_real_fcntl(int fd, int command, void *argument);
int tp_real_ioctl(int fd, unsigned long request, void *argument);
void *tp_real_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset);
int tp_real_fstat(int fd, struct stat *out);
int tp_real_fstatat(int dirfd, const char *path, struct stat *out, int flags);
int tp_real_access(const char *path, int mode);

#endif
