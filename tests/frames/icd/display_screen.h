/*
 * A display server on a thread of its own whose panel refreshes when the test says so.
 */
#ifndef TP_TESTS_FRAMES_ICD_DISPLAY_SCREEN_H
#define TP_TESTS_FRAMES_ICD_DISPLAY_SCREEN_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <drm_fourcc.h>

#include "frames/icd/clock.h"
#include "frames/icd/target_display.h"
#include "target_guest.h"

#define WIDTH 64u
#define HEIGHT 48u
#define PERIOD INT64_C(16666667)

/* Says where the server is, before anything asks. */
void screen_address(void);
int screen_setup(void **state);
/* Checks that the server has nothing left of its clients, and the process no descriptor. */
int screen_teardown(void **state);
void screen_start(void);
void screen_stop(void);

/* A refresh. */
void tick(void);
/* With the first n_modes of its modes; false: it is unplugged. */
void plug(bool connected, unsigned n_modes);
/* Of the picture that was published last. */
uint32_t published_refresh_mhz(void);
uint32_t published_layer_height(void);
bool published_async(void);
int64_t published_colorspace(void);
bool published_hdr(struct hdr_output_metadata *out);
unsigned n_framebuffers(void);
/* Somebody else's open of the card. */
int open_other(struct tp_display_link *out);

/* On the mode of this number; height: of the pictures, 0: the mode's. */
struct tp_target *make_target(unsigned mode, uint32_t height);
/* Opens a stream, and its image 0 is on the screen; the next picture has to wait for a tick. */
void guest_begin(struct guest *g, struct tp_target *t, uint32_t n_images, VkPresentModeKHR mode);
/* Until a count has come to n, with refreshes. */
void tick_until(struct guest *g, atomic_ullong *count, uint64_t n);

struct tp_display_link *card_link(void);

#endif
