/*
 * The C library's own calls, past the preload library's. TP_REAL(open)(path, flags) is the next open
 * after ours; NULL where the C library has none of that name. Looked up once, when the library is loaded:
 * dlsym is not async-signal-safe.
 */
#ifndef TP_FRAMES_SHIM_REAL_H
#define TP_FRAMES_SHIM_REAL_H

#define TP_REAL_NAMES(X)                                                                           \
    X(open) X(open64) X(openat) X(openat64) X(close) X(close_range) X(closefrom) X(dup) X(dup2)    \
    X(dup3) X(fcntl) X(fcntl64) X(ioctl) X(mmap) X(mmap64) X(stat) X(stat64) X(lstat) X(lstat64)   \
    X(fstat) X(fstat64) X(fstatat) X(fstatat64) X(statx) X(opendir) X(scandir) X(scandir64)        \
    X(readlink) X(readlinkat) X(access) X(faccessat) X(euidaccess) X(fopen) X(fopen64)             \
    X(realpath) X(glob) X(glob64) X(getxattr)       \
    X(lgetxattr) X(listxattr) X(llistxattr) X(canonicalize_file_name) X(inotify_add_watch) X(socket) X(bind)      \
    X(setsockopt) X(getsockname) X(read) X(recv) X(recvmsg)

#define TP_REAL_INDEX(name) TP_REAL_##name,
enum tp_real { TP_REAL_NAMES(TP_REAL_INDEX) TP_REALS };
#undef TP_REAL_INDEX

/* Looks all of them up. */
void tp_real_find_all(void);
void (*tp_real_find(enum tp_real which))(void);

#define TP_REAL(name) ((__typeof__(&name))tp_real_find(TP_REAL_##name))

#endif
