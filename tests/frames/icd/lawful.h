/* What tests of the specification's rules share: a client, and swapchains on surfaces of its. */
#ifndef TP_TESTS_ICD_LAWFUL_H
#define TP_TESTS_ICD_LAWFUL_H

#include <stddef.h>

#include "client.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

extern struct client client;

/* For groups of tests: with the validation layer, and without. */
int open_client(void **state);
int open_client_lawless(void **state);
int close_client(void **state);

/* FIFO, 64×48, on a headless surface of its own, which ends with it. */
void open_chain(struct chain *ch);
void close_chain(struct chain *ch);
/* The same with a mode, a chain, as many images and what can be read back. */
void open_modes(struct chain *ch, VkPresentModeKHR mode, const void *next, uint32_t images);

/* The caller's. */
VkFence make_fence(void);
VkSemaphore make_semaphore(void);

/* An image of each chain, drawn into. */
void acquire_all(struct chain *chains, uint32_t *indices, uint32_t n);

/* Presents several chains' acquired images at once, without drawing; each image has been presented
 * before. results: NULL, or one for each. semaphore: VK_NULL_HANDLE for none. */
VkResult present_all(struct chain *chains, const uint32_t *indices, uint32_t n,
    VkSemaphore semaphore, VkResult *results, const void *next);
/* Fills an acquired image, and leaves it in the layout of a present. colour: 0 to 255. */
void draw_image(struct chain *ch, uint32_t index, unsigned colour);
/* The colour of an acquired image in the layout of a present. Its usage has TRANSFER_SRC. */
unsigned read_image(struct chain *ch, uint32_t index);
/* An image like the swapchain's, to be bound to its memory. The caller's. */
VkResult try_image(const struct chain *ch, const VkAllocationCallbacks *allocator, VkImage *out);
VkImage image_of(const struct chain *ch);

#endif
