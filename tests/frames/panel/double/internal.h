#ifndef TP_TESTS_DOUBLE_INTERNAL_H
#define TP_TESTS_DOUBLE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "double.h"

struct buffer_desc { /* AHardwareBuffer_Desc */
    uint32_t width, height, layers, format;
    uint64_t usage;
    uint32_t stride, rfu0;
    uint64_t rfu1;
};

typedef struct AHardwareBuffer {
    atomic_uint refs;
    struct buffer_desc desc;
    int fds[2]; /* the pixels', and what describes them */
    ino_t inode;
    size_t bytes;
    bool foreign; /* came through a socket */
    void *map;    /* while it is locked */
} AHardwareBuffer;

typedef struct ANativeWindow {
    atomic_uint refs;
    atomic_int width, height;
} ANativeWindow;

/* --- nativewindow.c --- */
void AHardwareBuffer_acquire(AHardwareBuffer *b);
void AHardwareBuffer_release(AHardwareBuffer *b);
void ANativeWindow_acquire(ANativeWindow *w);
void double_refuse_import(bool refuse);
unsigned double_buffers(void);
unsigned double_windows(void);

/* --- flinger.c; the lock is held, but for calls back --- */
extern pthread_mutex_t double_lock;
extern int64_t double_time, double_period, double_next; /* now; the refresh; when the next is */
extern int double_level;
extern struct double_habits double_habit;
uint64_t double_random(void);
bool double_chance(unsigned per_mille);
void flinger_reset(uint64_t seed);
void flinger_latch(void);
void flinger_refresh(void);
int64_t flinger_next(void); /* the next of its own events; INT64_MAX */
void flinger_event(void);   /* that one */

/* --- choreographer.c --- */
extern bool double_is_live;
void choreographer_reset(void);
void choreographer_refresh(int64_t vsync_ns);
void choreographer_period(void);
int64_t looper_deadline(void);
void looper_expire(void);

#endif
