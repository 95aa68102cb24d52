/* What Vulkan clients of our own share: a device, a swapchain, frames of one colour. What fails
 * ends the program. */
#ifndef TP_TESTS_CLIENTS_DRAW_H
#define TP_TESTS_CLIENTS_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct draw {
    const char *name; /* of the program */
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    uint32_t n_images;
    uint64_t n_frames;
    bool over; /* against the rules: each picture is drawn once more when it was presented */
};
extern struct draw draw;

_Noreturn void draw_die(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
void draw_must(VkResult r, const char *what);
/* "fifo", "mailbox", "immediate"; else status 2. */
VkPresentModeKHR draw_mode(const char *name);
/* Seconds of the monotonic clock. */
double draw_now(void);

/* Status 3: there is no driver that has these extensions of the instance. */
void draw_open(const char *name, const char *const *extensions, uint32_t n);
/* A swapchain of the surface; extent counts where the surface has none of its own. */
void draw_on(VkSurfaceKHR surface, VkExtent2D extent, VkPresentModeKHR mode);
/* False: the surface has changed, and wants draw_on anew. */
bool draw_frame(float red, float green, float blue);
/* Waits for all, and ends the swapchain and the surface. */
void draw_close(void);

#endif
