/*
 * Host memory by the application's callbacks, by the chapter "Memory Allocation": what is taken is
 * given back, and an object that gets none is not made.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lawful.h"

/* --- the application's memory --- */

#define MARK UINT64_C(0x7475726e70696b65)

static struct {
    pthread_mutex_t lock;
    long left; /* so many more are given; -1: as many as one likes */
    unsigned live, calls, wrong;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER, .left = -1};

/* Before what is given: at its start, so that what is freed can be found. */
struct head {
    uint64_t mark;
    size_t size;
    void *start;
};

static void *take(void *data, size_t size, size_t alignment, VkSystemAllocationScope scope)
{
    struct head *head = NULL;

    (void)data;
    pthread_mutex_lock(&memory.lock);
    memory.calls++;
    memory.wrong += size == 0 || (alignment & (alignment - 1)) != 0 ||
        scope > VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE;
    if (memory.left != 0) {
        size_t before = sizeof *head > alignment ? sizeof *head : alignment;
        before = (before + alignment - 1) & ~(alignment - 1);
        void *start = NULL;
        assert_int_equal(posix_memalign(&start, alignment > 16 ? alignment : 16, before + size), 0);
        head = (struct head *)(void *)((char *)start + before) - 1;
        *head = (struct head){MARK, size, start};
        memory.live++;
        memory.left -= memory.left > 0;
    }
    pthread_mutex_unlock(&memory.lock);
    return head ? memset(head + 1, 0xa5, size) : NULL;
}

static void give(void *data, void *at)
{
    struct head *head = (struct head *)at - 1;

    (void)data;
    if (!at)
        return;
    pthread_mutex_lock(&memory.lock);
    memory.calls++;
    memory.wrong += head->mark != MARK;
    memory.live--;
    head->mark = 0;
    pthread_mutex_unlock(&memory.lock);
    free(head->start);
}

static void *change(
    void *data, void *at, size_t size, size_t alignment, VkSystemAllocationScope scope)
{
    struct head *head = (struct head *)at - 1;

    if (!at)
        return take(data, size, alignment, scope);
    void *other = size ? take(data, size, alignment, scope) : NULL;
    if (other)
        memcpy(other, at, size < head->size ? size : head->size);
    if (other || size == 0)
        give(data, at);
    return other;
}

static const VkAllocationCallbacks callbacks = {
    .pfnAllocation = take, .pfnReallocation = change, .pfnFree = give};

static void allow(long n)
{
    memory.left = n;
    memory.calls = 0;
}

static void check_memory(unsigned live)
{
    assert_int_equal(memory.live, live);
    assert_int_equal(memory.wrong, 0);
}

static VkResult try_surface(VkSurfaceKHR *out)
{
    CLIENT_GET_INSTANCE(&client, vkCreateHeadlessSurfaceEXT);
    VkHeadlessSurfaceCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};

    return vkCreateHeadlessSurfaceEXT(client.instance, &info, &callbacks, out);
}

/* --- the rules --- */

static void what_is_taken_is_given_back(void **state)
{
    struct chain ch;
    VkSurfaceKHR surface;

    (void)state;
    allow(-1);
    assert_int_equal(try_surface(&surface), VK_SUCCESS);
    assert_true(memory.live > 0);
    VkSwapchainCreateInfoKHR info = chain_info(surface, 64, 48);
    chain_open(&ch, &client, &info);
    VkSwapchainKHR plain = ch.swapchain;
    unsigned of_surface = memory.live;
    info.oldSwapchain = plain;
    VkSwapchainKHR own;
    assert_int_equal(vkCreateSwapchainKHR(client.device, &info, &callbacks, &own), VK_SUCCESS);
    assert_true(memory.live > of_surface);
    ch.swapchain = own;
    assert_int_equal(
        vkGetSwapchainImagesKHR(client.device, own, &ch.n_images, ch.images), VK_SUCCESS);
    for (int i = 0; i < 10; i++)
        assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
    vkDeviceWaitIdle(client.device);
    vkDestroySwapchainKHR(client.device, own, &callbacks);
    check_memory(of_surface);
    ch.swapchain = plain;
    chain_close(&ch);
    vkDestroySurfaceKHR(client.instance, surface, &callbacks);
    check_memory(0);
}

static void nothing_is_destroyed_without_a_call(void **state)
{
    (void)state;
    allow(-1);
    vkDestroySurfaceKHR(client.instance, VK_NULL_HANDLE, &callbacks);
    vkDestroySwapchainKHR(client.device, VK_NULL_HANDLE, &callbacks);
    assert_int_equal(memory.calls, 0);
}

static void a_surface_without_memory_is_not_made(void **state)
{
    VkSurfaceKHR surface;
    VkResult r = VK_ERROR_OUT_OF_HOST_MEMORY;
    long n = 0;

    (void)state;
    for (; r != VK_SUCCESS && n < 100; n++) {
        allow(n);
        r = try_surface(&surface);
        if (r != VK_SUCCESS) {
            assert_int_equal(r, VK_ERROR_OUT_OF_HOST_MEMORY);
            check_memory(0);
        }
    }
    assert_int_equal(r, VK_SUCCESS);
    assert_true(n > 1);
    vkDestroySurfaceKHR(client.instance, surface, &callbacks);
    check_memory(0);
}

/* Of so few allocations as it needs; -1: with memory for all of them it fails. */
static long make_swapchain(const VkSwapchainCreateInfoKHR *info, VkSwapchainKHR *out)
{
    unsigned fds = client_count_fds();

    for (long n = 0; n < 1000; n++) {
        allow(n);
        VkResult r = vkCreateSwapchainKHR(client.device, info, &callbacks, out);
        allow(-1);
        if (r == VK_SUCCESS)
            return n;
        assert_true(r == VK_ERROR_OUT_OF_HOST_MEMORY || r == VK_ERROR_OUT_OF_DEVICE_MEMORY);
        check_memory(0);
        assert_int_equal(client_count_fds(), fds);
    }
    return -1;
}

static void a_swapchain_without_memory_is_not_made(void **state)
{
    VkSwapchainCreateInfoKHR info = chain_info(client_headless(&client), 64, 48);
    VkSwapchainKHR swapchain;

    (void)state;
    for (info.minImageCount = 2; info.minImageCount < 8; info.minImageCount += 5) {
        /* Its own, and the driver's for each image. */
        assert_true(make_swapchain(&info, &swapchain) > (long)info.minImageCount);
        vkDestroySwapchainKHR(client.device, swapchain, &callbacks);
        check_memory(0);
    }
    vkDestroySurfaceKHR(client.instance, info.surface, NULL);
}

static void the_old_swapchain_is_retired_even_then(void **state)
{
    struct chain old;
    VkSwapchainKHR new;
    uint32_t index;

    (void)state;
    open_chain(&old);
    VkSwapchainCreateInfoKHR info = old.info;
    info.oldSwapchain = old.swapchain;
    allow(0);
    assert_int_equal(
        vkCreateSwapchainKHR(client.device, &info, &callbacks, &new), VK_ERROR_OUT_OF_HOST_MEMORY);
    allow(-1);
    assert_int_equal(chain_acquire(&old, UINT64_MAX, &index), VK_ERROR_OUT_OF_DATE_KHR);
    /* The window is free again. */
    info.oldSwapchain = VK_NULL_HANDLE;
    assert_int_equal(vkCreateSwapchainKHR(client.device, &info, &callbacks, &new), VK_SUCCESS);
    vkDestroySwapchainKHR(client.device, new, &callbacks);
    close_chain(&old);
    check_memory(0);
}

static void an_image_of_a_swapchain_without_memory_is_not_made(void **state)
{
    struct chain ch;
    VkImage image;
    VkResult r = VK_ERROR_OUT_OF_HOST_MEMORY;
    long n = 0;

    (void)state;
    open_chain(&ch);
    for (; r != VK_SUCCESS && n < 100; n++) {
        allow(n);
        r = try_image(&ch, &callbacks, &image);
        allow(-1);
        assert_true(r == VK_SUCCESS || r == VK_ERROR_OUT_OF_HOST_MEMORY);
    }
    assert_true(n > 1);
    vkDestroyImage(client.device, image, &callbacks);
    close_chain(&ch);
    check_memory(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_is_given_back),
        cmocka_unit_test(nothing_is_destroyed_without_a_call),
        cmocka_unit_test(a_surface_without_memory_is_not_made),
        cmocka_unit_test(a_swapchain_without_memory_is_not_made),
        cmocka_unit_test(the_old_swapchain_is_retired_even_then),
        cmocka_unit_test(an_image_of_a_swapchain_without_memory_is_not_made),
    };

    return cmocka_run_group_tests(tests, open_client_lawless, close_client);
}
