/* A swapchain's part towards its target: images in shared memory, and a count of all that it is
 * told. */
#ifndef TP_TESTS_FRAMES_ICD_TARGET_GUEST_H
#define TP_TESTS_FRAMES_ICD_TARGET_GUEST_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frames/icd/target.h"

#define GUEST_IMAGES 4u
#define GUEST_SERIALS 128u

/* The lock guards the counts; the test reads them after it has waited for one. */
struct guest {
    struct tp_target *target;
    struct tp_stream *stream;
    struct tp_stream_info info;
    int memory[GUEST_IMAGES];
    uint32_t *pixels[GUEST_IMAGES]; /* mapped */
    uint32_t row;                   /* pixels from one to the next */
    pthread_mutex_t lock;
    pthread_cond_t told;
    atomic_ullong n_committed, n_shown, n_discarded, n_out_of_date, n_suboptimal, n_lost,
        released[GUEST_IMAGES];
    struct tp_shown shown[GUEST_SERIALS]; /* from 1 on, in their order */
};

extern const struct tp_stream_events guest_events;

void guest_open(struct guest *g, struct tp_target *t, uint32_t n_images, VkPresentModeKHR mode);
void guest_open_in(struct guest *g, struct tp_target *t, uint32_t n_images, VkPresentModeKHR mode,
    VkColorSpaceKHR space);
void guest_present(struct guest *g, uint32_t index, uint64_t serial, VkPresentModeKHR mode);
/* Until a count has come to n; fails after ten seconds. */
void wait_for(struct guest *g, atomic_ullong *count, uint64_t n);
/* The same, for ns; false: not yet. */
bool wait_until(struct guest *g, atomic_ullong *count, uint64_t n, int64_t ns);
void guest_close_stream(struct guest *g);
/* And its target. */
void guest_close(struct guest *g);
unsigned n_descriptors(void);

#endif
