/*
 * A libc.so to link against: of the symbols that bionic has in API 28, for arm64, those that are
 * used here or might well be, and that mean the same when they are called as glibc's headers
 * declare them (or as bionic.h renames them). The real libc.so is that of the user's phone.
 */
    .macro functions names:vararg
    .irp name, \names
    .globl \name
    .type \name, %function
\name:
    .endr
    .endm

    .macro objects names:vararg
    .irp name, \names
    .globl \name
    .type \name, %object
    .size \name, 8
\name:
    .endr
    .endm

    .text
    /* the program and its end */
    functions __libc_init, __cxa_atexit, __register_atfork, abort, exit, getenv, setenv, unsetenv
    functions __errno, getopt_long, longjmp, setjmp, _setjmp, siglongjmp, sigsetjmp
    /* memory, strings, numbers */
    functions calloc, free, malloc, realloc, memchr, memcmp, memcpy, memmove, memset, qsort
    functions strcasecmp, strchr, strcmp, strcspn, strerror, strlen, strncasecmp, strncmp, strncpy
    functions strdup, strndup, strnlen, strpbrk, strrchr, strspn, strstr, strtok_r
    functions atoi, strtod, strtol, strtoll, strtoul, strtoull, sscanf
    functions isalnum, isalpha, isdigit, islower, isprint, isspace, isupper, isxdigit
    functions tolower, toupper
    /* streams */
    functions fclose, fdopen, feof, ferror, fflush, fgets, flockfile, fopen, fprintf, fputc, fputs
    functions fread, fseek, ftell, funlockfile, fwrite
    functions printf, putchar, puts, snprintf, vfprintf, vsnprintf
    /* files, and the kernel */
    functions access, close, closedir, dup, eventfd, fcntl, fstat, ftruncate, getpid, ioctl, lseek
    functions mkstemps, mmap, munmap, open, openat, opendir, pipe, poll, ppoll, read, readdir
    functions readlink, realpath, stat, syscall, unlink, write
    /* time, signals, threads */
    functions clock_gettime, nanosleep, raise, sigaction, sigemptyset, sigfillset, usleep
    functions pthread_cond_broadcast, pthread_cond_init, pthread_cond_timedwait, pthread_cond_wait
    functions pthread_condattr_destroy, pthread_condattr_init, pthread_condattr_setclock
    functions pthread_create, pthread_join, pthread_mutex_destroy, pthread_mutex_init
    functions pthread_mutex_lock, pthread_mutex_unlock, pthread_once, pthread_self, pthread_sigmask

    .data
    objects optarg, optind, stderr, stdout
    .quad 0

    .section .note.GNU-stack, "", %progbits
