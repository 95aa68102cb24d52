/* Between the harness's parts: the device of our own, and a card behind an open descriptor. */
#ifndef TP_TESTS_FRAMES_KMS_HARNESS_DEVICE_H
#define TP_TESTS_FRAMES_KMS_HARNESS_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "harness.h"

struct file {
    bool privileged;
    int fd; /* of a real card; -1 */
    struct tp_kms_file *kms;
    struct tp_snapshot_view view;
    uint8_t events[16384];
    size_t n_events; /* bytes */
    struct file *next;
};

struct pending {
    struct file *file;
    unsigned long request;
    void *arg;
    struct tp_drm_call call;
    atomic_bool done;
    int result;
    bool orphan;   /* its file was closed: there is nobody to answer */
    bool answered; /* the call is over with */
    pthread_t thread;
    struct pending *next;
};

void own_create(const struct tp_kms_config *config);
void own_destroy(void);
int own_open(bool privileged, struct file **out);
void own_close(struct file *f);
/* Answers, or TP_KMS_WAITS: then p->done will tell. may_snapshot: unless the test goes by the wire
 * alone. */
int own_call(struct pending *p, bool may_snapshot);
/* The answer of a call that has come to its end. */
int own_answer(struct pending *p);
void own_tick(unsigned crtc);
/* A refresh of every screen, or a millisecond where all are off; what is due times out. */
void own_pass_time(void);
int64_t own_now_ns(void);
void own_advance_ns(int64_t ns);
void own_cancel(struct pending *p);

int real_open(bool privileged, struct file **out);
void real_close(struct file *f);
int real_call(struct file *f, unsigned long request, void *arg);
/* Ours behind the shim? */
bool real_is_turnpike(struct file *f);
void real_reset(struct file *f);
int real_fence(void);
void real_signal(int fd);

#endif
