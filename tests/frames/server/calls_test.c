/*
 * What the server does in which order, by the system calls that it makes: this program's own send,
 * sendmsg and ioctl stand before the C library's, and write down what goes through them.
 */
#include "guest.h"

#include <errno.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/proc.h"

#ifndef DMA_BUF_IOCTL_IMPORT_SYNC_FILE
struct dma_buf_import_sync_file {
    uint32_t flags;
    int32_t fd;
};
#define DMA_BUF_IOCTL_IMPORT_SYNC_FILE _IOW(DMA_BUF_BASE, 3, struct dma_buf_import_sync_file)
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char calls[512]; /* one word each */
static bool refuse_fds, is_sync_file;
static int import_answers;

static void note_call(const char *word)
{
    pthread_mutex_lock(&mutex);
    strncat(calls, word, sizeof calls - strlen(calls) - 1);
    pthread_mutex_unlock(&mutex);
}

static void forget_calls(void)
{
    pthread_mutex_lock(&mutex);
    calls[0] = 0;
    pthread_mutex_unlock(&mutex);
}

static uint32_t word_at(const struct msghdr *msg, size_t part, size_t at)
{
    uint32_t word = 0;
    if (msg->msg_iovlen > part && msg->msg_iov[part].iov_len >= at + sizeof word)
        memcpy(&word, (const char *)msg->msg_iov[part].iov_base + at, sizeof word);
    return word;
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
    if (word_at(msg, 0, 0) == TP_FRAME_NOTE) {
        if (refuse_fds && msg->msg_controllen > 0) {
            errno = ETOOMANYREFS;
            return -1;
        }
        note_call(word_at(msg, 1, 36) == TP_NOTE_PENDING ? "pending " : "final ");
    }
    return syscall(SYS_sendmsg, fd, msg, flags);
}

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
    struct drm_event e;
    if (n == sizeof(struct drm_event_vblank)) {
        memcpy(&e, bytes, sizeof e);
        if (e.type == DRM_EVENT_FLIP_COMPLETE)
            note_call("flip ");
    }
    return syscall(SYS_sendto, fd, bytes, n, flags, NULL, 0);
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list ap;
    va_start(ap, request);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    if (request == SYNC_IOC_FILE_INFO && is_sync_file)
        return 0;
    if (request == DMA_BUF_IOCTL_IMPORT_SYNC_FILE) {
        const struct dma_buf_import_sync_file *import = arg;
        note_call(import->flags == DMA_BUF_SYNC_READ ? "import " : "import? ");
        errno = -import_answers;
        return import_answers < 0 ? -1 : 0;
    }
    return (int)syscall(SYS_ioctl, fd, request, arg);
}

/* --- --- */

static struct peer compositor;
static struct guest guest;
static struct image x, y;
static int x_then, y_then; /* what the board says while the panel is given the picture */

static void look_at_board(const struct tp_kms_scanout *s)
{
    (void)s;
    x_then = state_of(&guest, &x);
    y_then = state_of(&guest, &y);
    note_call("publish ");
}

static void begin(void)
{
    refuse_fds = is_sync_file = false;
    import_answers = 0;
    peer_open(&compositor);
    light_up(&compositor);
    image_make(&x, &compositor, 5);
    image_make(&y, &compositor, 6);
    guest_join(&guest, ALL_CAPS);
    assert_int_equal(guest_register(&guest, &x), 0);
    assert_int_equal(guest_register(&guest, &y), 0);
}

static void end(void)
{
    guest_leave(&guest);
    image_finish(&x);
    image_finish(&y);
    peer_close(&compositor);
}

/* Lets refreshes begin until the flip's event is there: with a panel that may block, it comes from
 * another thread. */
static void await_flip(void)
{
    struct drm_event_vblank e;
    for (int i = 0; i < 1000 && peer_event(&compositor, &e) < 0; i++) {
        struct pollfd p = {.fd = compositor.card, .events = POLLIN};
        tick();
        poll(&p, 1, i ? 20 : 0);
        pump();
    }
}

static void expect_order(void)
{
    on_publish = NULL;
    pthread_mutex_lock(&mutex);
    assert_string_equal(calls, "pending publish flip ");
    pthread_mutex_unlock(&mutex);
    assert_int_equal(x_then, TP_BOARD_REPLACED);
    assert_int_equal(y_then, TP_BOARD_SHOWN);
}

static void board_and_pending_note_go_before_the_apply_and_that_before_the_flip(void **state)
{
    (void)state;
    begin();
    assert_int_equal(page_flip(&compositor, x.fb, 0), 0);
    await_flip();
    forget_calls();
    on_publish = look_at_board;
    tick();
    forget_calls();
    assert_int_equal(page_flip(&compositor, y.fb, 0), 0); /* on the loop */
    await_flip();
    expect_order();
    end();
}

static void so_they_do_on_the_thread_of_the_refresh(void **state)
{
    (void)state;
    begin();
    assert_int_equal(page_flip(&compositor, x.fb, 0), 0);
    await_flip();
    tick();
    assert_int_equal(page_flip(&compositor, x.fb, 0), 0);
    await_flip(); /* this refresh has had its picture */
    forget_calls();
    on_publish = look_at_board;
    assert_int_equal(page_flip(&compositor, y.fb, 0), 0);
    assert_string_equal(calls, "");
    await_flip();
    expect_order();
    end();
}

static int setup_blocking(void **state)
{
    panel_blocks = true;
    return setup_server(state);
}

static int teardown_blocking(void **state)
{
    panel_blocks = false;
    return teardown_server(state);
}

static void so_they_do_with_a_panel_that_may_block(void **state)
{
    (void)state;
    begin();
    assert_int_equal(page_flip(&compositor, x.fb, 0), 0);
    await_flip();
    forget_calls();
    on_publish = look_at_board;
    assert_int_equal(page_flip(&compositor, y.fb, 0), 0);
    await_flip();
    expect_order();
    end();
}

static int make_fence(int *signal)
{
    int ends[2];
    assert_int_equal(tp_fence_pair(ends), 0);
    *signal = ends[0];
    return ends[1];
}

static void a_fence_that_cannot_be_sent_costs_the_fence_alone(void **state)
{
    struct tp_server_notes n;
    int signal;
    (void)state;
    begin();
    uint64_t first = show(&compositor, &x);
    show(&compositor, &y);
    expect_note(&guest, &x, TP_NOTE_PENDING, NULL);
    refuse_fds = true;
    panel_released(first, 0, make_fence(&signal));
    struct tp_note note = expect_note(&guest, &x, TP_NOTE_FINAL, NULL);
    assert_int_equal(note.kind, TP_FENCE_LOST);
    assert_int_equal(tp_board_state_of(note.low), TP_BOARD_REPLACED);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_FENCED);
    close(signal);
    pump();
    note = expect_note(&guest, &x, TP_NOTE_FINAL, NULL); /* and is told when it is over */
    assert_int_equal(tp_board_state_of(note.low), TP_BOARD_FREE);
    tp_server_notes(server, &n);
    assert_int_equal(n.lost, 1);
    assert_int_equal(n.resynced, 1);
    end();
}

static void a_sync_file_is_in_the_memory_before_it_is_in_a_note(void **state)
{
    int signals[2];
    (void)state;
    begin();
    is_sync_file = true;
    uint64_t first = show(&compositor, &x), second = show(&compositor, &y);
    show(&compositor, &x);
    forget_calls();
    import_answers = -ENOTTY; /* of a memfd: it says nothing of what dma-bufs can */
    panel_released(first, 0, make_fence(&signals[0]));
    assert_string_equal(calls, "import final ");
    panel_released(second, 0, make_fence(&signals[1]));
    assert_string_equal(calls, "import final import final ");
    guest_drain(&guest);
    close(signals[0]);
    close(signals[1]);
    pump();
    end();
}

int main(void)
{
#define behaviour(f) cmocka_unit_test_setup_teardown(f, setup_server, teardown_server)
    const struct CMUnitTest tests[] = {
        behaviour(board_and_pending_note_go_before_the_apply_and_that_before_the_flip),
        behaviour(so_they_do_on_the_thread_of_the_refresh),
        cmocka_unit_test_setup_teardown(
            so_they_do_with_a_panel_that_may_block, setup_blocking, teardown_blocking),
        behaviour(a_fence_that_cannot_be_sent_costs_the_fence_alone),
        behaviour(a_sync_file_is_in_the_memory_before_it_is_in_a_note),
    };
    return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
