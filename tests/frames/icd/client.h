/* A small Vulkan client, under the loader and with the validation layer: what tests of the ICD
 * share. */
#ifndef TP_TESTS_ICD_CLIENT_H
#define TP_TESTS_ICD_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <vulkan/vulkan.h>

enum { CLIENT_MAX_IMAGES = 64, CLIENT_FRAMES = 3, CLIENT_QUEUES = 4 };

struct client {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    bool lawless;
    atomic_int messages; /* of the validation layer, warnings and errors */
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkQueue queues[CLIENT_QUEUES]; /* the first is queue; as many as there are, then NULL */
    uint32_t family;
    VkPhysicalDeviceMemoryProperties memory;
};

/* Functions of extensions. */
#define CLIENT_GET(c, name) PFN_##name name = (PFN_##name)vkGetDeviceProcAddr((c)->device, #name)
#define CLIENT_GET_INSTANCE(c, name)                                                               \
    PFN_##name name = (PFN_##name)vkGetInstanceProcAddr((c)->instance, #name)

/* Of a window system, to be on in instances that are opened from now on; NULL: none. */
extern const char *client_extension;
extern const char *client_device_extension; /* the same of devices */

/* Everything on that the ICD brings. Asserts. */
void client_open(struct client *c);
/* Without the validation layer: for what guests do although they may not, and for what that layer
 * does not know yet. */
void client_open_lawless(struct client *c);
/* Asserts that the validation layer has said nothing. */
void client_close(struct client *c);

VkSurfaceKHR client_headless(struct client *c);

/* A swapchain, with what it takes to go round. Images are cleared with a colour. */
struct chain {
    struct client *client;
    VkSurfaceKHR surface;
    VkSwapchainKHR swapchain;
    VkSwapchainCreateInfoKHR info;
    uint32_t n_images;
    VkImage images[CLIENT_MAX_IMAGES];
    VkCommandPool pool;
    VkCommandBuffer commands[CLIENT_FRAMES];
    VkSemaphore drawn[CLIENT_MAX_IMAGES];
    VkSemaphore acquired[CLIENT_FRAMES];
    VkFence done[CLIENT_FRAMES];
    unsigned frame;
};

/* How chains are made: FIFO, opaque, BGRA, this extent, as few images as there may be. */
VkSwapchainCreateInfoKHR chain_info(VkSurfaceKHR surface, uint32_t width, uint32_t height);
VkResult chain_try(struct chain *ch, struct client *c, const VkSwapchainCreateInfoKHR *info);
void chain_open(struct chain *ch, struct client *c, const VkSwapchainCreateInfoKHR *info);
/* Waits for the device; the surface stays. */
void chain_close(struct chain *ch);

/* Clears the image and presents it, after the semaphore (VK_NULL_HANDLE: none). next: the present's
 * chain. */
VkResult chain_present(struct chain *ch, uint32_t index, VkSemaphore after, const void *next);
/* Acquire, clear, present. */
VkResult chain_round(struct chain *ch, const void *next);
/* An acquire that signals a fence, and a wait for that. */
VkResult chain_acquire(struct chain *ch, uint64_t timeout, uint32_t *index);

/* A timeline semaphore at 0, which queued work waits for until the host signals 1. Asserts. */
VkSemaphore client_hold_queue(struct client *c);
void client_release_queue(struct client *c, VkSemaphore semaphore);

/* The device is lost, or is not: where its driver is less_driver.c. */
void client_lose_device(bool lost);

/* What a folder has in it, "." and ".." too. Asserts that it can be read. */
unsigned client_count_entries(const char *folder);
/* Descriptors of this process, by that. */
unsigned client_count_fds(void);

#endif
