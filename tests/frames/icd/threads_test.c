/*
 * Eight threads on four swapchains: for each, one that acquires and one that presents, as the
 * specification has it (a swapchain, and a queue, is one thread's at a time), and one that waits
 * for the device. They make the swapchains anew meanwhile, and in the end the other side or the
 * device is lost under all of them.
 *   threads_test PLACE
 * Each has a queue of its own where there are so many, else they share them. TP_FULL: more frames.
 */
#include "place.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { CHAINS = PLACE_WINDOWS, SEMAPHORES = 32, FRAMES_OF_ONE = 40 };

static const char *where;
static struct client client;
static pthread_mutex_t queue_locks[CLIENT_QUEUES];
static unsigned n_queues;

/* A window with its swapchain, between two threads. */
struct window {
    VkSurfaceKHR surface;
    unsigned number, queue;
    VkPresentModeKHR mode;
    pthread_t acquirer, presenter;
    VkSemaphore semaphores[SEMAPHORES]; /* in turn: that of a frame, long presented, is free */
    pthread_mutex_t lock;               /* for what follows, the swapchain first of all */
    pthread_cond_t changed;
    VkSwapchainKHR swapchain;
    uint32_t may_hold; /* so many may be acquired at a time, that the next one comes for certain */
    uint32_t indices[CLIENT_MAX_IMAGES];
    uint64_t acquired, presented; /* frames, of all swapchains */
    uint64_t frames;              /* that are to be made; UINT64_MAX: until there is an error */
    VkResult error;               /* that ended it */
    unsigned made;                /* swapchains */
};
static struct window windows[CHAINS];
static unsigned n_windows;

static bool goes_on(const struct window *w)
{
    return w->error == VK_SUCCESS && w->presented < w->frames;
}

/* With the lock. */
static VkResult make_anew(struct window *w)
{
    VkSwapchainCreateInfoKHR info = chain_info(w->surface, PLACE_WIDTH, PLACE_HEIGHT);
    VkSwapchainKHR old = w->swapchain;
    VkImage images[CLIENT_MAX_IMAGES];
    uint32_t n = CLIENT_MAX_IMAGES;

    if (!place()->has_size)
        info.imageExtent = (VkExtent2D){40 + w->made % 20, 30 + w->number};
    info.presentMode = w->mode;
    info.minImageCount = 3;
    info.oldSwapchain = old;
    w->made++;
    VkResult r = vkCreateSwapchainKHR(client.device, &info, NULL, &w->swapchain);
    if (r != VK_SUCCESS)
        w->swapchain = VK_NULL_HANDLE;
    if (old) {
        /* Its images may be in use: only the queue knows. */
        pthread_mutex_lock(&queue_locks[w->queue]);
        vkQueueWaitIdle(client.queues[w->queue]);
        pthread_mutex_unlock(&queue_locks[w->queue]);
        vkDestroySwapchainKHR(client.device, old, NULL);
    }
    if (r == VK_SUCCESS)
        r = vkGetSwapchainImagesKHR(client.device, w->swapchain, &n, images);
    w->may_hold = n - 2 + 1;
    return r;
}

static VkResult acquire_one(struct window *w)
{
    VkSemaphore semaphore = w->semaphores[w->acquired % SEMAPHORES];

    return vkAcquireNextImageKHR(client.device, w->swapchain, UINT64_MAX, semaphore, VK_NULL_HANDLE,
        &w->indices[w->acquired % CLIENT_MAX_IMAGES]);
}

static void *acquire(void *data)
{
    struct window *w = data;

    pthread_mutex_lock(&w->lock);
    while (goes_on(w)) {
        uint64_t held = w->acquired - w->presented;
        VkResult r = VK_SUCCESS;
        if (held == 0 && w->acquired / FRAMES_OF_ONE >= w->made) {
            r = make_anew(w);
        } else if (held < w->may_hold && w->acquired / FRAMES_OF_ONE < w->made &&
            w->acquired < w->frames) {
            r = acquire_one(w);
            w->acquired += r >= 0;
        } else {
            pthread_cond_wait(&w->changed, &w->lock);
        }
        if (r < 0)
            w->error = r;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static VkResult present_one(struct window *w)
{
    CLIENT_GET(&client, vkWaitForPresentKHR);
    uint64_t id = w->presented + 1;
    VkPresentIdKHR ids = {
        .sType = VK_STRUCTURE_TYPE_PRESENT_ID_KHR, .swapchainCount = 1, .pPresentIds = &id};
    VkPresentInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
        .pNext = &ids,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &w->semaphores[w->presented % SEMAPHORES],
        .swapchainCount = 1,
        .pSwapchains = &w->swapchain,
        .pImageIndices = &w->indices[w->presented % CLIENT_MAX_IMAGES]};

    pthread_mutex_lock(&queue_locks[w->queue]);
    VkResult r = vkQueuePresentKHR(client.queues[w->queue], &info);
    pthread_mutex_unlock(&queue_locks[w->queue]);
    if (r >= 0 && id % 16 == 0)
        r = vkWaitForPresentKHR(client.device, w->swapchain, id, UINT64_MAX);
    return r;
}

static void *present(void *data)
{
    struct window *w = data;

    pthread_mutex_lock(&w->lock);
    while (goes_on(w)) {
        if (w->acquired == w->presented) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        VkResult r = present_one(w);
        w->presented++;
        if (r < 0)
            w->error = r;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* --- all of them --- */

static int begin(void **state)
{
    (void)state;
    alarm(240);
    place_begin(where);
    client_open_lawless(&client);
    for (n_queues = 0; n_queues < CLIENT_QUEUES && client.queues[n_queues]; n_queues++)
        pthread_mutex_init(&queue_locks[n_queues], NULL);
    if (getenv("LESS_QUEUES"))
        assert_int_equal(n_queues, CLIENT_QUEUES);
    return 0;
}

static int end(void **state)
{
    (void)state;
    client_close(&client);
    place_end();
    client_lose_device(false);
    return 0;
}

static void open_window(struct window *w, unsigned i, uint64_t frames)
{
    static const VkPresentModeKHR modes[] = {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};

    *w = (struct window){
        .surface = place_surface(&client, i), .number = i, .queue = i % n_queues, .frames = frames};
    w->mode = modes[i % 2];
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    for (unsigned k = 0; k < SEMAPHORES; k++)
        assert_int_equal(vkCreateSemaphore(client.device, &info, NULL, &w->semaphores[k]), 0);
    assert_int_equal(pthread_create(&w->acquirer, NULL, acquire, w), 0);
    assert_int_equal(pthread_create(&w->presenter, NULL, present, w), 0);
}

static void close_window(struct window *w)
{
    vkDestroySwapchainKHR(client.device, w->swapchain, NULL);
    for (unsigned k = 0; k < SEMAPHORES; k++)
        vkDestroySemaphore(client.device, w->semaphores[k], NULL);
    place_close(&client, w->surface, w->number);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
}

static void open_all(uint64_t frames)
{
    /* A screen is one swapchain's. */
    n_windows = strcmp(where, "display") == 0 ? 1 : CHAINS;
    for (unsigned i = 0; i < n_windows; i++)
        open_window(&windows[i], i, frames);
}

static bool goes_on_somewhere(void)
{
    bool does = false;

    for (unsigned i = 0; i < n_windows && !does; i++) {
        pthread_mutex_lock(&windows[i].lock);
        does = goes_on(&windows[i]);
        pthread_mutex_unlock(&windows[i].lock);
    }
    return does;
}

/* As the specification has it: no queue is used meanwhile. An acquire is no use of one. */
static void *wait_for_the_device(void *data)
{
    while (goes_on_somewhere()) {
        for (unsigned i = 0; i < n_queues; i++)
            pthread_mutex_lock(&queue_locks[i]);
        vkDeviceWaitIdle(client.device);
        for (unsigned i = 0; i < n_queues; i++)
            pthread_mutex_unlock(&queue_locks[i]);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return data;
}

static void close_all(VkResult expected)
{
    pthread_t waiter;

    assert_int_equal(pthread_create(&waiter, NULL, wait_for_the_device, NULL), 0);
    pthread_join(waiter, NULL);
    for (unsigned i = 0; i < n_windows; i++) {
        pthread_join(windows[i].acquirer, NULL);
        pthread_join(windows[i].presenter, NULL);
    }
    vkDeviceWaitIdle(client.device);
    for (unsigned i = 0; i < n_windows; i++) {
        assert_int_equal(windows[i].error, expected);
        close_window(&windows[i]);
    }
}

static bool all_are_at_work(void *data)
{
    bool are = true;

    (void)data;
    for (unsigned i = 0; i < n_windows; i++) {
        pthread_mutex_lock(&windows[i].lock);
        are = are && windows[i].made > 1;
        pthread_mutex_unlock(&windows[i].lock);
    }
    return are;
}

static void all_frames_are_made(void **state)
{
    const char *full = getenv("TP_FULL");
    uint64_t frames = full && *full ? 3000 : 200;

    (void)state;
    open_all(frames);
    close_all(VK_SUCCESS);
    for (unsigned i = 0; i < n_windows; i++)
        assert_int_equal(windows[i].presented, frames);
}

static void all_are_told_of_a_lost_surface(void **state)
{
    (void)state;
    if (strcmp(where, "headless") == 0)
        return; /* its other side is nobody */
    open_all(UINT64_MAX);
    assert_true(place_await(all_are_at_work, NULL));
    place_kill();
    close_all(VK_ERROR_SURFACE_LOST_KHR);
}

static void all_are_told_of_a_lost_device(void **state)
{
    (void)state;
    open_all(UINT64_MAX);
    assert_true(place_await(all_are_at_work, NULL));
    client_lose_device(true);
    close_all(VK_ERROR_DEVICE_LOST);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_frames_are_made, begin, end),
        cmocka_unit_test_setup_teardown(all_are_told_of_a_lost_surface, begin, end),
        cmocka_unit_test_setup_teardown(all_are_told_of_a_lost_device, begin, end),
    };

    if (argc != 2)
        return 2;
    where = argv[1];
    return cmocka_run_group_tests_name(where, tests, NULL, NULL);
}
