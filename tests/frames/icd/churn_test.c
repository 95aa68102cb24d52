/*
 * Swapchains that are made anew thousands of times on one surface, while their pictures are still
 * under way, and on windows that change their size: nothing is left behind, and each call answers
 * what it has to.
 *   churn_test PLACE
 * TP_FULL: 10,000 times and 1,000 sizes.
 */
#include "place.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static const char *where;
static struct client client;

static int begin(void **state)
{
    (void)state;
    place_begin(where);
    place_serve(); /* who watches the images, too */
    client_open_lawless(&client);
    return 0;
}

static int end(void **state)
{
    (void)state;
    client_close(&client);
    place_end();
    return 0;
}

static unsigned times(unsigned few, unsigned many)
{
    const char *full = getenv("TP_FULL");

    return full && *full ? many : few;
}

/* --- what a process has --- */

struct has {
    unsigned fds, threads, mappings;
    long rss_kib;
    size_t heap;
    struct timespec at;
};

static struct has look(void)
{
    struct has h = {.fds = client_count_fds(), .threads = client_count_entries("/proc/self/task")};
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512];

    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        h.mappings += strchr(line, '\n') != NULL;
    fclose(f);
    f = fopen("/proc/self/status", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        sscanf(line, "VmRSS: %ld", &h.rss_kib);
    fclose(f);
    h.heap = mallinfo2().uordblks;
    clock_gettime(CLOCK_MONOTONIC, &h.at);
    return h;
}

static bool has_no_more_threads(void *data)
{
    const struct has *before = data;

    return client_count_entries("/proc/self/task") <= before->threads &&
        client_count_fds() <= before->fds;
}

/* Of n rounds. A kernel takes a moment to bury a thread. */
static void compare(const char *what, unsigned n, struct has *before)
{
    place_await(has_no_more_threads, before);
    struct has now = look();

    printf("%s, %u on %s: %.1f s; descriptors %u, then %u; threads %u, %u; mappings %u, %u; "
           "RSS %ld KiB, %ld; heap %zu bytes, %zu\n",
        what, n, where,
        (double)(now.at.tv_sec - before->at.tv_sec) +
            (double)(now.at.tv_nsec - before->at.tv_nsec) / 1e9,
        before->fds, now.fds, before->threads, now.threads, before->mappings, now.mappings,
        before->rss_kib, now.rss_kib, before->heap, now.heap);
    assert_int_equal(now.fds, before->fds);
    assert_in_range(now.threads, 0, before->threads); /* one was being buried then, at most */
    if (SANITIZED)
        return;
    assert_in_range(now.mappings, 0, before->mappings + 20);
    assert_in_range(now.heap, 0, before->heap + 65536 + n * 4);
    assert_in_range(now.rss_kib, 0, before->rss_kib + 2048);
}

/* --- re-creations --- */

/* Acquired and rendered into, not presented. */
static void hold(struct chain *ch)
{
    uint32_t index;

    assert_true(vkAcquireNextImageKHR(client.device, ch->swapchain, UINT64_MAX,
                    ch->acquired[CLIENT_FRAMES - 1], VK_NULL_HANDLE, &index) >= 0);
}

/* What the one before leaves for the next: nothing, pictures under way, an image that is held. */
static void use(struct chain *ch, unsigned i)
{
    unsigned pictures = i % 5 == 4 ? 0 : 1 + i % 2;

    for (unsigned k = 0; k < pictures; k++) {
        VkResult r = chain_round(ch, NULL);
        assert_true(r == VK_SUCCESS || r == VK_SUBOPTIMAL_KHR);
    }
    if (i % 3 == 0)
        hold(ch);
}

static const VkPresentModeKHR modes[] = {
    VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR};

/* One after another; of three, two are made of their predecessor, one of which is destroyed only
 * after the new one's first pictures. */
static void make_anew(struct chain *current, VkSurfaceKHR surface, unsigned i)
{
    VkSwapchainCreateInfoKHR info = chain_info(surface, PLACE_WIDTH, PLACE_HEIGHT);
    struct chain next;

    if (!place()->has_size)
        info.imageExtent = (VkExtent2D){16 + i % 50, 16 + i % 30};
    info.presentMode = modes[i / 2 % 3];
    if (i % 3 == 2) {
        chain_close(current);
        chain_open(current, &client, &info);
        use(current, i);
        return;
    }
    info.oldSwapchain = current->swapchain;
    chain_open(&next, &client, &info);
    if (i % 3 == 0)
        chain_close(current);
    use(&next, i);
    if (i % 3 == 1)
        chain_close(current);
    *current = next;
}

static void re_created_swapchains_leave_nothing_behind(void **state)
{
    unsigned n = times(300, 10000), warm = n / 10 + 20;
    struct has before = {0};
    struct chain ch;

    (void)state;
    VkSurfaceKHR surface = place_surface(&client, 0);
    VkSwapchainCreateInfoKHR info = chain_info(surface, PLACE_WIDTH, PLACE_HEIGHT);
    chain_open(&ch, &client, &info);
    for (unsigned i = 0; i < warm + n; i++) {
        make_anew(&ch, surface, i);
        if (i + 1 != warm)
            continue;
        /* Measured without one, as it is afterwards. */
        chain_close(&ch);
        before = look();
        chain_open(&ch, &client, &info);
    }
    chain_close(&ch);
    compare("re-creations", n, &before);
    place_close(&client, surface, 0);
}

/* --- sizes --- */

static VkExtent2D extent_of(VkSurfaceKHR surface, VkExtent2D wanted)
{
    VkSurfaceCapabilitiesKHR caps;

    assert_int_equal(
        vkGetPhysicalDeviceSurfaceCapabilitiesKHR(client.physical, surface, &caps), VK_SUCCESS);
    return caps.currentExtent.width == UINT32_MAX ? wanted : caps.currentExtent;
}

struct resized {
    struct chain *chain;
    bool noticed;
};

/* Once it has noticed it says so to every call; before that, it does not know. */
static bool is_noticed(void *data)
{
    struct resized *s = data;
    VkResult r = chain_round(s->chain, NULL);

    s->noticed = r == VK_SUBOPTIMAL_KHR || r == VK_ERROR_OUT_OF_DATE_KHR;
    assert_true(s->noticed || r == VK_SUCCESS);
    return s->noticed;
}

static void resized_windows_get_swapchains_of_their_size(void **state)
{
    unsigned n = times(100, 1000), warm = n / 10 + 10;
    struct has before = {0};
    struct chain ch, next;

    (void)state;
    VkSurfaceKHR surface = place_surface(&client, 0);
    VkSwapchainCreateInfoKHR info = chain_info(surface, PLACE_WIDTH, PLACE_HEIGHT);
    info.presentMode = VK_PRESENT_MODE_MAILBOX_KHR;
    chain_open(&ch, &client, &info);
    for (unsigned i = 0; i < warm + n; i++) {
        VkExtent2D size = {100 + i * 7 % 300, 80 + i * 5 % 200};
        assert_int_equal(chain_round(&ch, NULL), VK_SUCCESS);
        if (place()->resize) {
            struct resized resized = {&ch, false};
            place_resize(0, size.width, size.height);
            assert_true(place_await(is_noticed, &resized));
            assert_true(is_noticed(&resized));
        }
        info.imageExtent = extent_of(surface, size);
        if (place()->resize || !place()->has_size) {
            assert_int_equal(info.imageExtent.width, size.width);
            assert_int_equal(info.imageExtent.height, size.height);
        }
        info.oldSwapchain = ch.swapchain;
        chain_open(&next, &client, &info);
        assert_int_equal(chain_round(&next, NULL), VK_SUCCESS);
        /* The retired one gives no image any more. */
        assert_int_equal(chain_round(&ch, NULL), VK_ERROR_OUT_OF_DATE_KHR);
        chain_close(&ch);
        ch = next;
        if (i + 1 == warm)
            before = look();
    }
    compare("sizes", n, &before);
    chain_close(&ch);
    place_close(&client, surface, 0);
}

/* --- timeouts --- */

static void timeouts_are_none_finite_and_without_end(void **state)
{
    uint32_t index[CLIENT_MAX_IMAGES + 1];
    struct timespec from, to;
    struct chain ch;

    (void)state;
    VkSurfaceKHR surface = place_surface(&client, 0);
    VkSwapchainCreateInfoKHR info = chain_info(surface, PLACE_WIDTH, PLACE_HEIGHT);
    chain_open(&ch, &client, &info);
    /* Each when its frame is to begin. */
    for (uint32_t i = 0; i < ch.n_images; i++)
        assert_int_equal(chain_acquire(&ch, 1000000000, &index[i]), VK_SUCCESS);
    assert_int_equal(chain_acquire(&ch, 0, &index[ch.n_images]), VK_NOT_READY);
    clock_gettime(CLOCK_MONOTONIC, &from);
    assert_int_equal(chain_acquire(&ch, 30000000, &index[ch.n_images]), VK_TIMEOUT);
    clock_gettime(CLOCK_MONOTONIC, &to);
    assert_true((to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec >= 30000000);
    /* Two, since the newest stays on the screen. */
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(chain_present(&ch, index[i], VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(chain_acquire(&ch, UINT64_MAX, &index[ch.n_images]), VK_SUCCESS);
    /* Longer than there is time is without end. */
    assert_int_equal(chain_present(&ch, index[2], VK_NULL_HANDLE, NULL), VK_SUCCESS);
    assert_int_equal(chain_acquire(&ch, UINT64_MAX - 1, &index[ch.n_images]), VK_SUCCESS);
    chain_close(&ch);
    place_close(&client, surface, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(timeouts_are_none_finite_and_without_end, begin, end),
        cmocka_unit_test_setup_teardown(re_created_swapchains_leave_nothing_behind, begin, end),
        cmocka_unit_test_setup_teardown(resized_windows_get_swapchains_of_their_size, begin, end),
    };

    if (argc != 2)
        return 2;
    where = argv[1];
    return cmocka_run_group_tests_name(where, tests, NULL, NULL);
}
