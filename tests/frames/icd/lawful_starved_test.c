/*
 * An ICD that gets no memory of the C library's: each allocation fails once, on every kind of
 * surface, and what was made before it is given back.
 *   lawful_starved_test PLACE
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lawful_place.h"

/* --- the C library's memory, as far as it is the ICD that asks for it --- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *at, size_t size);
extern void __libc_free(void *at);

enum { MOST = 1 << 16 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t code_begin, code_end; /* the ICD's */
static void *taken[MOST];              /* by address, each in the next free place */
static unsigned n_taken;
static long left = -1; /* so many are given before one is not; -1: all */

static bool is_icd(const void *caller)
{
    return (uintptr_t)caller >= code_begin && (uintptr_t)caller < code_end;
}

static bool is_denied(void)
{
    pthread_mutex_lock(&lock);
    bool denied = left == 0;
    left -= left >= 0;
    pthread_mutex_unlock(&lock);
    if (denied)
        errno = ENOMEM;
    return denied;
}

static unsigned place_of(const void *at)
{
    return (unsigned)(((uintptr_t)at >> 4) * 2654435761u) % MOST;
}

static void note(void *at)
{
    if (!at)
        return;
    pthread_mutex_lock(&lock);
    unsigned i = place_of(at);
    while (taken[i] && taken[i] != (void *)-1)
        i = (i + 1) % MOST;
    taken[i] = at;
    n_taken++;
    pthread_mutex_unlock(&lock);
}

static void forget(const void *at)
{
    if (!at || !code_end)
        return;
    pthread_mutex_lock(&lock);
    for (unsigned i = place_of(at); taken[i]; i = (i + 1) % MOST) {
        if (taken[i] == at) {
            taken[i] = (void *)-1;
            n_taken--;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) void *malloc(size_t size)
{
    if (!is_icd(__builtin_return_address(0)))
        return __libc_malloc(size);
    void *at = is_denied() ? NULL : __libc_malloc(size);
    note(at);
    return at;
}

__attribute__((noinline)) void *calloc(size_t n, size_t size)
{
    if (!is_icd(__builtin_return_address(0)))
        return __libc_calloc(n, size);
    void *at = is_denied() ? NULL : __libc_calloc(n, size);
    note(at);
    return at;
}

__attribute__((noinline)) void *realloc(void *at, size_t size)
{
    if (!is_icd(__builtin_return_address(0))) {
        forget(at);
        return __libc_realloc(at, size);
    }
    if (is_denied())
        return NULL;
    forget(at);
    void *other = __libc_realloc(at, size);
    note(other ? other : at);
    return other;
}

__attribute__((noinline)) void free(void *at)
{
    forget(at);
    __libc_free(at);
}

static int find_code(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    if (!strstr(info->dlpi_name, "vulkan_turnpike"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type == PT_LOAD && h->p_flags & PF_X) {
            code_begin = info->dlpi_addr + h->p_vaddr;
            code_end = code_begin + h->p_memsz;
        }
    }
    return 1;
}

static void allow(long n)
{
    pthread_mutex_lock(&lock);
    left = n;
    pthread_mutex_unlock(&lock);
}

/* Were there as many as were allowed, and one more? */
static bool was_denied(void)
{
    pthread_mutex_lock(&lock);
    bool denied = left < 0;
    left = -1;
    pthread_mutex_unlock(&lock);
    return denied;
}

static int begin(void **state)
{
    begin_place(state);
    dl_iterate_phdr(find_code, NULL);
    assert_true(code_end > code_begin);
    return 0;
}

/* What is taken is at most what was taken then, once threads of the ICD have had their time. */
static bool is_settled(void *data)
{
    unsigned *then = data;

    pthread_mutex_lock(&lock);
    bool settled = n_taken <= *then;
    if (settled)
        *then = n_taken;
    pthread_mutex_unlock(&lock);
    return settled;
}

/* --- the rules --- */

static bool is_of_memory(VkResult r)
{
    return r == VK_ERROR_OUT_OF_HOST_MEMORY || r == VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static void questions_say_that_there_is_no_memory(void **state)
{
    VkSurfaceFormatKHR formats[64];
    VkSurfaceCapabilitiesKHR caps;
    bool denied = true;
    long n = 0;

    (void)state;
    for (; denied && n < 1000; n++) {
        uint32_t count = COUNT(formats);
        allow(n);
        VkResult r = vkGetPhysicalDeviceSurfaceCapabilitiesKHR(client.physical, surface, &caps);
        if (r == VK_SUCCESS)
            r = vkGetPhysicalDeviceSurfaceFormatsKHR(client.physical, surface, &count, formats);
        denied = was_denied();
        assert_true(r == VK_SUCCESS || (denied && is_of_memory(r)));
    }
    assert_false(denied);
    assert_true(n > 1);
}

/* One that is made is used: the errors of that are those of its commands. */
static void use(VkSwapchainKHR swapchain)
{
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;

    assert_int_equal(vkCreateFence(client.device, &info, NULL, &fence), VK_SUCCESS);
    for (int i = 0; i < 4; i++) {
        uint32_t index;
        VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
            .swapchainCount = 1,
            .pSwapchains = &swapchain,
            .pImageIndices = &index};
        VkResult r = vkAcquireNextImageKHR(
            client.device, swapchain, UINT64_C(10000000000), VK_NULL_HANDLE, fence, &index);
        if (is_of_memory(r) || r == VK_ERROR_OUT_OF_DATE_KHR)
            break;
        assert_int_equal(r, VK_SUCCESS);
        assert_int_equal(
            vkWaitForFences(client.device, 1, &fence, VK_TRUE, UINT64_MAX), VK_SUCCESS);
        assert_int_equal(vkResetFences(client.device, 1, &fence), VK_SUCCESS);
        r = vkQueuePresentKHR(client.queue, &present);
        assert_true(r == VK_SUCCESS || is_of_memory(r) || r == VK_ERROR_OUT_OF_DATE_KHR);
    }
    vkDeviceWaitIdle(client.device);
    vkDestroyFence(client.device, fence, NULL);
}

static void swapchains_give_back_what_they_have(void **state)
{
    VkSwapchainCreateInfoKHR info = chain_info(surface, PLACE_WIDTH, PLACE_HEIGHT);
    VkSwapchainKHR swapchain;
    unsigned before = 0, fds = 0;
    bool denied = true;
    long n = -1; /* the first one has them all: what stays for the next is there then */

    (void)state;
    for (; denied && n < 1000; n++) {
        allow(n);
        VkResult r = vkCreateSwapchainKHR(client.device, &info, NULL, &swapchain);
        if (r == VK_SUCCESS) {
            use(swapchain);
            vkDestroySwapchainKHR(client.device, swapchain, NULL);
        }
        denied = was_denied();
        assert_true(r == VK_SUCCESS || (denied && is_of_memory(r)));
        if (n == -1) {
            before = n_taken;
            fds = client_count_fds();
        }
        assert_int_equal(client_count_fds(), fds);
        assert_true(place_await(is_settled, &before));
    }
    assert_false(denied);
    assert_true(n > 10);
    vkDestroySwapchainKHR(client.device, VK_NULL_HANDLE, NULL);
}

static void surfaces_give_back_what_they_have(void **state)
{
    unsigned before = n_taken;
    bool denied = true;
    long n = 0;

    (void)state;
    if (!place()->again)
        skip();
    for (; denied && n < 1000; n++) {
        VkSwapchainCreateInfoKHR info = chain_info(VK_NULL_HANDLE, PLACE_WIDTH, PLACE_HEIGHT);
        VkSwapchainKHR swapchain;
        info.surface = place_again(&client, 0);
        allow(n);
        VkResult r = vkCreateSwapchainKHR(client.device, &info, NULL, &swapchain);
        denied = was_denied();
        assert_true(r == VK_SUCCESS || (denied && is_of_memory(r)));
        if (r == VK_SUCCESS)
            vkDestroySwapchainKHR(client.device, swapchain, NULL);
        vkDestroySurfaceKHR(client.instance, info.surface, NULL);
        assert_true(place_await(is_settled, &before));
    }
    assert_false(denied);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_say_that_there_is_no_memory),
        cmocka_unit_test(swapchains_give_back_what_they_have),
        cmocka_unit_test(surfaces_give_back_what_they_have),
    };

    if (!take_place(argc, argv))
        return 2;
    return cmocka_run_group_tests(tests, begin, end_place);
}
