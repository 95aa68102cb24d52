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

/* Presents several chains' acquired images at once, without drawing; each image has been presented
 * before. results: NULL, or one for each. semaphore: VK_NULL_HANDLE for none. */
VkResult present_all(struct chain *chains, const uint32_t *indices, uint32_t n,
    VkSemaphore semaphore, VkResult *results, const void *next);
/* As acquire, clear and present do, but holds the image: how often it was drawn into is its colour
 * then, 1 to 255 (read_image). */
void draw_image(struct chain *ch, uint32_t index, unsigned colour);
/* The colour of an acquired image in the layout of a present. Its usage has TRANSFER_SRC. */
unsigned read_image(struct chain *ch, uint32_t index);

#endif
