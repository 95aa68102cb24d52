/*
 * Swapchains and what the server says of their images: the board, notes and fences, servers that
 * come, go, lie or are old. The server is a peer in this process, its panel what a test says.
 */
#include "client.h"
#include "peer.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define ALL (TP_CAP_TIMELINE | TP_CAP_BOARD | TP_CAP_RELEASE_FENCE | TP_CAP_STATE | TP_CAP_CONTROL)
#define NOBODY UINT64_MAX /* no peer */
#define MS UINT64_C(1000000)

static char name[64];
static struct client client;
static struct peer peer;
static struct chain chain;

static int open_client(void **state)
{
    (void)state;
    client_open_lawless(&client);
    return 0;
}

static int close_client(void **state)
{
    (void)state;
    client_close(&client);
    return 0;
}

/* Two images, which are the server's buffers 0 and 1. */
static void begin(uint64_t capabilities)
{
    VkSwapchainCreateInfoKHR info = chain_info(client_headless(&client), 64, 48);

    if (capabilities != NOBODY)
        peer_start(&peer, name, capabilities);
    info.presentMode = VK_PRESENT_MODE_IMMEDIATE_KHR;
    chain_open(&chain, &client, &info);
    assert_int_equal(chain.n_images, 2);
    if (capabilities && capabilities != NOBODY)
        peer_wait(&peer, 2);
}

static void end(bool stop)
{
    chain_close(&chain);
    vkDestroySurfaceKHR(client.instance, chain.surface, NULL);
    if (stop)
        peer_stop(&peer);
}

static uint32_t acquire(uint64_t timeout)
{
    uint32_t index;

    assert_int_equal(chain_acquire(&chain, timeout, &index), VK_SUCCESS);
    return index;
}

static void present(uint32_t index)
{
    assert_int_equal(chain_present(&chain, index, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    /* The thread that presents is done with it. */
    vkQueueWaitIdle(client.queue);
}

/* Both images go through the panel once: the first has been replaced by the second. The caller says
 * how it stands with the first then. */
static uint32_t show_two(enum tp_board_state first)
{
    uint32_t a = acquire(UINT64_MAX), b = acquire(UINT64_MAX);

    peer_set(&peer, a, TP_BOARD_SHOWN);
    present(a);
    peer_set(&peer, a, first);
    peer_set(&peer, b, TP_BOARD_SHOWN);
    present(b);
    return a;
}

/* Whatever kind of memory it is: it has what was rendered, once it is presented. */
static void the_server_reads_what_was_rendered(void **state)
{
    CLIENT_GET(&client, vkWaitForPresentKHR);
    uint8_t pixels[64][4];

    (void)state;
    begin(ALL);
    for (uint64_t i = 1; i <= 20; i++) {
        VkPresentIdKHR ids = {
            .sType = VK_STRUCTURE_TYPE_PRESENT_ID_KHR, .swapchainCount = 1, .pPresentIds = &i};
        uint8_t colour = (uint8_t)(chain.frame + 1); /* as chain_present has it */
        uint32_t index = acquire(UINT64_MAX);
        assert_int_equal(chain_present(&chain, index, VK_NULL_HANDLE, &ids), VK_SUCCESS);
        assert_int_equal(
            vkWaitForPresentKHR(client.device, chain.swapchain, i, UINT64_MAX), VK_SUCCESS);
        peer_read(&peer, index, pixels, sizeof pixels);
        for (int x = 0; x < 64; x++) {
            assert_int_equal(pixels[x][0], 255);
            assert_in_range(pixels[x][1], 127, 128);
            assert_int_equal(pixels[x][2], colour);
            assert_int_equal(pixels[x][3], 255);
        }
    }
    end(true);
}

static void *free_later(void *data)
{
    usleep(30000);
    peer_set(&peer, *(uint32_t *)data, TP_BOARD_FREE);
    return NULL;
}

static void what_the_panel_reads_is_not_handed_out(void **state)
{
    uint32_t index;

    (void)state;
    begin(ALL);
    uint32_t first = show_two(TP_BOARD_REPLACED);
    assert_int_equal(chain_acquire(&chain, 0, &index), VK_NOT_READY);
    assert_int_equal(chain_acquire(&chain, 2 * MS, &index), VK_TIMEOUT);
    peer_set(&peer, first, TP_BOARD_FENCED);
    assert_int_equal(chain_acquire(&chain, 0, &index), VK_NOT_READY);
    peer_set(&peer, first, TP_BOARD_FREE);
    assert_int_equal(acquire(UINT64_MAX), first);
    end(true);
}

static void an_acquire_sleeps_on_the_board(void **state)
{
    pthread_t thread;

    (void)state;
    begin(ALL);
    uint32_t first = show_two(TP_BOARD_REPLACED);
    assert_int_equal(pthread_create(&thread, NULL, free_later, &first), 0);
    assert_int_equal(acquire(UINT64_MAX), first);
    pthread_join(thread, NULL);
    end(true);
}

static void *signal_later(void *data)
{
    uint64_t one = 1;

    usleep(30000);
    assert_int_equal(write(*(int *)data, &one, sizeof one), sizeof one);
    return NULL;
}

static void an_acquire_waits_for_the_fence_of_a_note(void **state)
{
    int fence = eventfd(0, EFD_CLOEXEC);
    uint32_t index;
    pthread_t thread;

    (void)state;
    begin(ALL);
    uint32_t first = show_two(TP_BOARD_FENCED);
    peer_note(&peer, first, TP_NOTE_FINAL, TP_FENCE_POLL, fence);
    assert_int_equal(chain_acquire(&chain, 2 * MS, &index), VK_TIMEOUT);
    assert_int_equal(pthread_create(&thread, NULL, signal_later, &fence), 0);
    /* The board does not say so yet: the fence in hand is enough. */
    assert_int_equal(acquire(UINT64_MAX), first);
    pthread_join(thread, NULL);
    close(fence);
    end(true);
}

/* Sync files that a test signals (drivers/dma-buf/sw_sync.c), where the kernel has them. */
struct sw_sync_fence {
    uint32_t value;
    char name[32];
    int32_t fence;
};
#define SW_SYNC_CREATE_FENCE _IOWR('W', 0, struct sw_sync_fence)
#define SW_SYNC_INC _IOW('W', 1, uint32_t)

/* Else the CPU waits, which the test cannot go on from. */
static bool driver_takes_sync_files(void)
{
    VkExtensionProperties all[512];
    uint32_t n = 512;
    bool has = false;

    assert_int_equal(
        vkEnumerateDeviceExtensionProperties(client.physical, NULL, &n, all), VK_SUCCESS);
    for (uint32_t i = 0; i < n; i++)
        has = has || !strcmp(all[i].extensionName, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
    return has;
}

static void the_gpu_waits_for_a_sync_file(void **state)
{
    int timeline = open("/sys/kernel/debug/sync/sw_sync", O_RDWR | O_CLOEXEC);
    struct sw_sync_fence fence = {.value = 1, .name = "panel"};
    VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    uint32_t index, one = 1;
    VkFence done;

    (void)state;
    if (timeline < 0 || !driver_takes_sync_files()) {
        if (timeline >= 0)
            close(timeline);
        skip();
    }
    assert_int_equal(ioctl(timeline, SW_SYNC_CREATE_FENCE, &fence), 0);
    begin(ALL);
    uint32_t first = show_two(TP_BOARD_FENCED);
    peer_note(&peer, first, TP_NOTE_FINAL, TP_FENCE_SYNC_FILE, fence.fence);
    assert_int_equal(vkCreateFence(client.device, &info, NULL, &done), VK_SUCCESS);
    /* The CPU has it at once, the GPU not before the panel has let go. */
    assert_int_equal(vkAcquireNextImageKHR(client.device, chain.swapchain, UINT64_MAX,
                         chain.acquired[0], done, &index),
        VK_SUCCESS);
    assert_int_equal(index, first);
    assert_int_equal(vkGetFenceStatus(client.device, done), VK_NOT_READY);
    assert_int_equal(ioctl(timeline, SW_SYNC_INC, &one), 0);
    assert_int_equal(vkWaitForFences(client.device, 1, &done, VK_TRUE, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(chain_present(&chain, index, chain.acquired[0], NULL), VK_SUCCESS);
    vkDeviceWaitIdle(client.device);
    vkDestroyFence(client.device, done, NULL);
    close(fence.fence);
    close(timeline);
    end(true);
}

static void without_a_board_the_notes_count(void **state)
{
    uint32_t index;

    (void)state;
    begin(ALL & ~TP_CAP_BOARD);
    uint32_t a = acquire(UINT64_MAX), b = acquire(UINT64_MAX);
    present(a);
    peer_set(&peer, a, TP_BOARD_REPLACED);
    peer_note(&peer, a, TP_NOTE_PENDING, TP_FENCE_NONE, -1);
    present(b);
    assert_int_equal(chain_acquire(&chain, 2 * MS, &index), VK_TIMEOUT);
    peer_set(&peer, a, TP_BOARD_FREE);
    peer_note(&peer, a, TP_NOTE_FINAL, TP_FENCE_NONE, -1);
    assert_int_equal(acquire(UINT64_MAX), a);
    end(true);
}

static void past_the_bound_the_server_is_asked(void **state)
{
    uint32_t index;

    (void)state;
    begin(ALL);
    uint32_t first = show_two(TP_BOARD_REPLACED);
    assert_int_equal(chain_acquire(&chain, 150 * MS, &index), VK_TIMEOUT);
    assert_true(peer_asked(&peer, first) >= 1);
    peer_set(&peer, first, TP_BOARD_FREE);
    assert_int_equal(acquire(UINT64_MAX), first);
    end(true);
}

static void an_old_server_changes_nothing(void **state)
{
    (void)state;
    begin(0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(chain_round(&chain, NULL), VK_SUCCESS);
    end(true);
}

static void images_of_a_dead_server_come_back(void **state)
{
    (void)state;
    begin(ALL);
    show_two(TP_BOARD_REPLACED);
    peer_stop(&peer);
    for (int i = 0; i < 20; i++)
        assert_int_equal(chain_round(&chain, NULL), VK_SUCCESS);
    end(false);
}

static void *stop_later(void *data)
{
    (void)data;
    usleep(30000);
    peer_stop(&peer);
    return NULL;
}

static void a_server_may_die_under_an_acquire(void **state)
{
    pthread_t thread;

    (void)state;
    begin(ALL);
    show_two(TP_BOARD_REPLACED);
    assert_int_equal(pthread_create(&thread, NULL, stop_later, NULL), 0);
    acquire(UINT64_MAX);
    pthread_join(thread, NULL);
    end(false);
}

/* Whether or not the connection's thread has found out. */
static void the_board_of_a_dead_server_is_not_believed(void **state)
{
    /* A quarantine outlasts the test. */
    const struct tp_timeline_frame slow = {
        .pipeline = 1, .sequence = 7, .time_ns = 1000000000, .period_ns = 10000000000};
    uint32_t index;

    (void)state;
    begin(ALL);
    uint32_t a = acquire(UINT64_MAX), b = acquire(UINT64_MAX);
    peer_timeline(&peer, &slow);
    assert_int_equal(chain_acquire(&chain, 0, &index), VK_NOT_READY); /* it has been heard */
    present(a);
    present(b);
    peer_stop(&peer);
    assert_int_equal(chain_acquire(&chain, 0, &index), VK_NOT_READY);
    end(false);
}

/* The first: while none has said hello. */
static void a_server_that_has_come_is_met_before_what_came_back_is_given_out(void **state)
{
    struct pollfd listener = {.events = POLLIN};
    uint32_t index;

    (void)state;
    begin(NOBODY);
    for (int i = 0; i < 4; i++) /* as towards no server */
        assert_int_equal(chain_round(&chain, NULL), VK_SUCCESS);
    vkQueueWaitIdle(client.queue);
    listener.fd = peer_listen(name);
    chain_acquire(&chain, 0, &index);
    assert_int_equal(poll(&listener, 1, 0), 1);
    end(false);
    close(listener.fd);
}

static void a_new_server_learns_of_the_images(void **state)
{
    uint32_t index;

    (void)state;
    begin(ALL);
    peer_stop(&peer);
    peer_start(&peer, name, ALL);
    peer_wait(&peer, 2);
    uint32_t first = show_two(TP_BOARD_REPLACED);
    assert_int_equal(chain_acquire(&chain, 2 * MS, &index), VK_TIMEOUT);
    peer_set(&peer, first, TP_BOARD_FREE);
    assert_int_equal(acquire(UINT64_MAX), first);
    end(true);
}

static void a_server_that_talks_nonsense_is_left(void **state)
{
    (void)state;
    begin(ALL);
    peer_nonsense(&peer);
    /* It comes back, and says everything anew. */
    peer_wait_connections(&peer, 2);
    peer_wait(&peer, 2);
    for (int i = 0; i < 20; i++)
        assert_int_equal(chain_round(&chain, NULL), VK_SUCCESS);
    end(true);
}

static void a_destroyed_swapchain_gives_its_images_up(void **state)
{
    (void)state;
    begin(ALL);
    end(false);
    peer_wait_live(&peer, 0);
    peer_stop(&peer);
}

static void the_timeline_and_settings_are_taken(void **state)
{
    CLIENT_GET(&client, vkGetRefreshCycleDurationGOOGLE);
    VkSwapchainCreateInfoKHR info = chain_info(client_headless(&client), 640, 400);
    struct tp_timeline_frame t = {.pipeline = 1,
        .sequence = 7,
        .time_ns = 1000000000,
        .period_ns = 8333333,
        .lead_ns = 1000000};
    VkRefreshCycleDurationGOOGLE refresh = {0};

    (void)state;
    peer_start(&peer, name, ALL);
    chain_open(&chain, &client, &info);
    peer_wait(&peer, chain.n_images);
    peer_setting(&peer, TP_SETTING_GATE, TP_GATE_OFF);
    peer_setting(&peer, TP_SETTING_CAP, 30000);
    peer_timeline(&peer, &t);
    while (refresh.refreshDuration != 8333333)
        assert_int_equal(
            vkGetRefreshCycleDurationGOOGLE(client.device, chain.swapchain, &refresh), VK_SUCCESS);
    for (int i = 0; i < 5; i++)
        assert_int_equal(chain_round(&chain, NULL), VK_SUCCESS);
    end(true);
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static struct tp_timeline_frame rate(int64_t period_ns)
{
    return (struct tp_timeline_frame){
        .pipeline = 1, .sequence = 7, .time_ns = now_ns(), .period_ns = period_ns};
}

static void *switch_later(void *data)
{
    struct tp_timeline_frame t = rate(16666667);

    (void)data;
    usleep(30000);
    peer_timeline(&peer, &t);
    return NULL;
}

/* Until the next of refreshes that are ten seconds apart, when they are not any more. */
static void an_acquire_that_sleeps_hears_of_another_rate(void **state)
{
    CLIENT_GET(&client, vkGetRefreshCycleDurationGOOGLE);
    VkSwapchainCreateInfoKHR info = chain_info(client_headless(&client), 640, 400);
    VkRefreshCycleDurationGOOGLE refresh = {0};
    struct tp_timeline_frame slow;
    pthread_t thread;

    (void)state;
    peer_start(&peer, name, ALL);
    chain_open(&chain, &client, &info);
    peer_wait(&peer, chain.n_images);
    peer_setting(&peer, TP_SETTING_GATE, TP_GATE_VSYNC);
    peer_setting(&peer, TP_SETTING_CAP, 0);
    slow = rate(10000000000);
    peer_timeline(&peer, &slow);
    while (refresh.refreshDuration != 10000000000)
        assert_int_equal(
            vkGetRefreshCycleDurationGOOGLE(client.device, chain.swapchain, &refresh), VK_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, switch_later, NULL), 0);
    acquire(UINT64_MAX);
    pthread_join(thread, NULL);
    assert_true(now_ns() < slow.time_ns + 9000000000);
    end(true);
}

static void nothing_stays_open(void **state)
{
    unsigned before = 0;

    (void)state;
    for (int i = 0; i < 20; i++) {
        int fence = eventfd(0, EFD_CLOEXEC);
        begin(ALL);
        uint32_t first = show_two(TP_BOARD_FENCED);
        for (int k = 0; k < 3; k++)
            peer_note(&peer, first, TP_NOTE_FINAL, TP_FENCE_POLL, fence);
        peer_set(&peer, first, TP_BOARD_FREE);
        assert_int_equal(acquire(UINT64_MAX), first);
        end(false);
        peer_wait_live(&peer, 0);
        peer_stop(&peer);
        close(fence);
        /* The connection finds out in its own time. */
        usleep(20000);
        if (i == 3)
            before = client_count_fds();
    }
    assert_in_range(client_count_fds(), 0, before + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_has_come_is_met_before_what_came_back_is_given_out),
        cmocka_unit_test(what_the_panel_reads_is_not_handed_out),
        cmocka_unit_test(the_server_reads_what_was_rendered),
        cmocka_unit_test(an_acquire_sleeps_on_the_board),
        cmocka_unit_test(an_acquire_waits_for_the_fence_of_a_note),
        cmocka_unit_test(the_gpu_waits_for_a_sync_file),
        cmocka_unit_test(without_a_board_the_notes_count),
        cmocka_unit_test(past_the_bound_the_server_is_asked),
        cmocka_unit_test(an_old_server_changes_nothing),
        cmocka_unit_test(images_of_a_dead_server_come_back),
        cmocka_unit_test(a_server_may_die_under_an_acquire),
        cmocka_unit_test(the_board_of_a_dead_server_is_not_believed),
        cmocka_unit_test(a_new_server_learns_of_the_images),
        cmocka_unit_test(a_server_that_talks_nonsense_is_left),
        cmocka_unit_test(a_destroyed_swapchain_gives_its_images_up),
        cmocka_unit_test(the_timeline_and_settings_are_taken),
        cmocka_unit_test(an_acquire_that_sleeps_hears_of_another_rate),
        cmocka_unit_test(nothing_stays_open),
    };
    char socket[80];

    snprintf(name, sizeof name, "turnpike-release-test-%d", (int)getpid());
    snprintf(socket, sizeof socket, "@%s", name);
    setenv("TURNPIKE_SOCKET", socket, 1);
    return cmocka_run_group_tests(tests, open_client, close_client);
}
