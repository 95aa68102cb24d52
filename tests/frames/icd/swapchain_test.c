/*
 * Swapchains under many threads and for long: without the validation layer, which takes its time.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "lawful.h"

struct late {
    struct chain *chain;
    uint32_t index;
};

static void *present_late(void *data)
{
    struct late *l = data;

    usleep(20000);
    chain_present(l->chain, l->index, VK_NULL_HANDLE, NULL);
    return NULL;
}

static void an_infinite_acquire_waits_for_an_image(void **state)
{
    struct chain ch;
    uint32_t index[CLIENT_MAX_IMAGES + 1];
    pthread_t thread;

    (void)state;
    open_chain(&ch);
    /* One is on the screen; the next present gives it back. */
    assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    for (uint32_t i = 0; i + 1 < ch.n_images; i++)
        assert_int_equal(chain_acquire(&ch, UINT64_MAX, &index[i]), VK_SUCCESS);
    struct late late = {&ch, index[0]};
    assert_int_equal(pthread_create(&thread, NULL, present_late, &late), 0);
    assert_int_equal(chain_acquire(&ch, UINT64_MAX, &index[ch.n_images]), VK_SUCCESS);
    pthread_join(thread, NULL);
    close_chain(&ch);
}

static void re_created_swapchains_leave_nothing_behind(void **state)
{
    VkSurfaceKHR surface = client_headless(&client);
    const char *asked = getenv("RECREATIONS");
    int n = asked ? atoi(asked) : 300;
    unsigned before = 0;

    (void)state;
    for (int i = 0; i < n; i++) {
        VkSwapchainCreateInfoKHR info =
            chain_info(surface, 16 + (uint32_t)i % 50, 16 + (uint32_t)i % 30);
        struct chain ch;
        chain_open(&ch, &client, &info);
        assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
        assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
        chain_close(&ch);
        if (i == 10)
            before = client_count_fds();
    }
    assert_int_equal(client_count_fds(), before);
    vkDestroySurfaceKHR(client.instance, surface, NULL);
}

static void resizes_go_from_swapchain_to_swapchain(void **state)
{
    VkSwapchainCreateInfoKHR info = chain_info(client_headless(&client), 64, 48);
    struct chain old, new;

    (void)state;
    chain_open(&old, &client, &info);
    for (uint32_t i = 0; i < 200; i++) {
        assert_int_equal(chain_round(&old, NULL), VK_SUCCESS);
        info.imageExtent = (VkExtent2D){20 + i % 40, 20 + i % 17};
        info.oldSwapchain = old.swapchain;
        chain_open(&new, &client, &info);
        assert_int_equal(chain_round(&new, NULL), VK_SUCCESS);
        chain_close(&old);
        old = new;
    }
    close_chain(&old);
}

/* --- 4 swapchains, each used by two threads in turn, all on one queue --- */

enum { SWAPCHAINS = 4, ROUNDS = 200 };
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;

struct shared {
    struct chain chain;
    pthread_mutex_t lock;
};

static void *use_chain(void *data)
{
    struct shared *s = data;

    for (int i = 0; i < ROUNDS; i++) {
        uint32_t index;
        pthread_mutex_lock(&s->lock);
        /* The acquire is not under the queue's lock: it is not the application's to know that it
         * may use the queue. */
        assert_int_equal(chain_acquire(&s->chain, UINT64_MAX, &index), VK_SUCCESS);
        pthread_mutex_lock(&queue_lock);
        assert_int_equal(chain_present(&s->chain, index, VK_NULL_HANDLE, NULL), VK_SUCCESS);
        pthread_mutex_unlock(&queue_lock);
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

static void threads_use_swapchains_at_the_same_time(void **state)
{
    static struct shared shared[SWAPCHAINS];
    pthread_t threads[2 * SWAPCHAINS];

    (void)state;
    for (int i = 0; i < SWAPCHAINS; i++) {
        open_chain(&shared[i].chain);
        pthread_mutex_init(&shared[i].lock, NULL);
    }
    for (int i = 0; i < 2 * SWAPCHAINS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_chain, &shared[i % SWAPCHAINS]), 0);
    for (int i = 0; i < 2 * SWAPCHAINS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < SWAPCHAINS; i++)
        close_chain(&shared[i].chain);
}

static void *wait_for_queue(void *data)
{
    (void)data;
    pthread_mutex_lock(&queue_lock);
    vkQueueWaitIdle(client.queue);
    pthread_mutex_unlock(&queue_lock);
    return NULL;
}

/* The queue waits for what the host does after its next acquire (a timeline semaphore): a wait for
 * the queue must not hold that acquire up. */
static void a_wait_for_the_queue_holds_no_acquire_up(void **state)
{
    VkSemaphore semaphore;
    pthread_t thread;
    struct chain ch;
    uint32_t index;

    (void)state;
    open_chain(&ch);
    semaphore = client_hold_queue(&client);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_queue, NULL), 0);
    usleep(20000);
    assert_int_equal(vkAcquireNextImageKHR(client.device, ch.swapchain, UINT64_MAX, ch.acquired[0],
                         VK_NULL_HANDLE, &index),
        VK_SUCCESS);
    client_release_queue(&client, semaphore);
    pthread_join(thread, NULL);
    assert_int_equal(chain_present(&ch, index, ch.acquired[0], NULL), VK_SUCCESS);
    vkDeviceWaitIdle(client.device);
    vkDestroySemaphore(client.device, semaphore, NULL);
    close_chain(&ch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_infinite_acquire_waits_for_an_image),
        cmocka_unit_test(re_created_swapchains_leave_nothing_behind),
        cmocka_unit_test(resizes_go_from_swapchain_to_swapchain),
        cmocka_unit_test(threads_use_swapchains_at_the_same_time),
        cmocka_unit_test(a_wait_for_the_queue_holds_no_acquire_up),
    };

    return cmocka_run_group_tests(tests, open_client_lawless, close_client);
}
