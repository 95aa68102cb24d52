/* The server's release path with real dma-bufs and real sync files: what the panel stops reading
 * with is in the note and in the memory itself. The panel is the test's (frames/server/peer.h). */
#include <linux/dma-buf.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../frames/server/guest.h"
#include "real.h"

static struct peer compositor;
static struct guest guest, other;
static struct image x, y;

static void make_real(struct image *i, int memory, uint32_t generation)
{
    struct stat st;
    assert_true(memory >= 0);
    assert_int_equal(fstat(memory, &st), 0);
    i->memory = memory;
    i->fb = import_fb(&compositor, memory);
    i->name = (struct tp_buffer_name){{st.st_dev, st.st_ino}, generation, TP_BUFFER_NO_INDEX};
}

static void begin(int memory)
{
    peer_open(&compositor);
    light_up(&compositor);
    make_real(&x, memory, 5);
    make_real(&y, real_udmabuf(FB_BYTES), 6);
    guest_join(&guest, ALL_CAPS);
    assert_int_equal(guest_register(&guest, &x), 0);
    guest_drain(&guest);
}

static void end(void)
{
    guest_leave(&guest);
    image_finish(&x);
    image_finish(&y);
    peer_close(&compositor);
}

/* Has everybody whom one who reads, or writes, must wait for come to his end? */
static bool is_free_to(int memory, uint64_t flags)
{
    int fence = real_take_fence(memory, flags);
    assert_true(fence >= 0);
    int status = real_status(fence);
    close(fence);
    return status == 1;
}

static bool polls(int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};
    return poll(&p, 1, 0) == 1;
}

/* x is shown and replaced, and its release is a sync file of this timeline. */
static void release_later(int *timeline)
{
    uint64_t first = show(&compositor, &x);
    show(&compositor, &y);
    expect_note(&guest, &x, TP_NOTE_PENDING, NULL);
    assert_true(is_free_to(x.memory, DMA_BUF_SYNC_WRITE)); /* nobody has said with which fence */
    int fence = real_sync_file(timeline);
    assert_true(fence >= 0);
    panel_released(first, 0, fence);
}

static void released_by(int memory)
{
    int timeline, fence;
    begin(memory);
    release_later(&timeline);
    assert_int_equal(state_of(&guest, &x), TP_BOARD_FENCED);
    /* Who draws into the memory waits, who reads it does not. */
    assert_false(is_free_to(x.memory, DMA_BUF_SYNC_WRITE));
    assert_false(polls(x.memory, POLLOUT));
    assert_true(is_free_to(x.memory, DMA_BUF_SYNC_READ));
    assert_true(polls(x.memory, POLLIN));
    assert_int_equal(expect_note(&guest, &x, TP_NOTE_FINAL, &fence).kind, TP_FENCE_SYNC_FILE);
    assert_int_equal(real_status(fence), 0);
    real_move_on(timeline);
    pump();
    assert_int_equal(real_status(fence), 1);
    assert_true(is_free_to(x.memory, DMA_BUF_SYNC_WRITE));
    assert_true(polls(x.memory, POLLOUT));
    assert_int_equal(state_of(&guest, &x), TP_BOARD_FREE);
    expect_nothing(&guest);
    close(fence);
    close(timeline);
    end();
}

static void a_udmabufs_release_is_in_the_note_and_in_the_memory(void **state)
{
    (void)state;
    released_by(real_udmabuf(FB_BYTES));
}

static void a_heap_buffers_release_is_in_the_note_and_in_the_memory(void **state)
{
    (void)state;
    released_by(real_heap_buffer(FB_BYTES));
}

/* What a producer without any channel to us does, and the compositor that imported the memory. */
static void a_writer_may_line_up_behind_the_release(void **state)
{
    int timeline, writer_timeline;
    (void)state;
    begin(real_udmabuf(FB_BYTES));
    release_later(&timeline);
    int release = real_take_fence(x.memory, DMA_BUF_SYNC_WRITE);
    int writer = real_sync_file(&writer_timeline);
    assert_int_equal(real_put_fence(x.memory, writer, DMA_BUF_SYNC_WRITE), 0);
    assert_false(is_free_to(x.memory, DMA_BUF_SYNC_READ));
    guest_drain(&guest);
    /* It comes on the screen again once it is drawn, and not before. */
    unsigned before = n_published;
    assert_int_equal(page_flip(&compositor, x.fb, 0), 0);
    tick();
    assert_int_equal(n_published, before);
    real_move_on(timeline);
    assert_int_equal(real_status(release), 1);
    tick();
    assert_int_equal(n_published, before);
    real_move_on(writer_timeline);
    tick();
    assert_int_equal(n_published, before + 1);
    close(release);
    close(writer);
    close(timeline);
    close(writer_timeline);
    end();
}

static void everybody_who_has_it_gets_the_same_sync_file(void **state)
{
    int timeline, fences[2];
    (void)state;
    begin(real_udmabuf(FB_BYTES));
    struct image same = x;
    same.name.generation = 9;
    guest_join(&other, ALL_CAPS);
    assert_int_equal(guest_register(&other, &same), 0);
    guest_drain(&other);
    release_later(&timeline);
    expect_note(&other, &same, TP_NOTE_PENDING, NULL);
    expect_note(&guest, &x, TP_NOTE_FINAL, &fences[0]);
    expect_note(&other, &same, TP_NOTE_FINAL, &fences[1]);
    assert_true(real_status(fences[0]) == 0 && real_status(fences[1]) == 0);
    real_move_on(timeline);
    pump();
    assert_true(real_status(fences[0]) == 1 && real_status(fences[1]) == 1);
    assert_int_equal(state_of(&other, &same), TP_BOARD_FREE);
    close(fences[0]);
    close(fences[1]);
    close(timeline);
    guest_leave(&other);
    end();
}

static void a_guest_that_went_leaves_the_fence_in_the_memory(void **state)
{
    int timeline;
    (void)state;
    begin(real_udmabuf(FB_BYTES));
    release_later(&timeline);
    guest_leave(&guest);
    pump();
    assert_false(is_free_to(x.memory, DMA_BUF_SYNC_WRITE));
    real_move_on(timeline);
    assert_true(is_free_to(x.memory, DMA_BUF_SYNC_WRITE));
    close(timeline);
    image_finish(&x);
    image_finish(&y);
    peer_close(&compositor);
}

#define on_server(name) cmocka_unit_test_setup_teardown(name, setup_server, teardown_server)

int main(void)
{
    const struct CMUnitTest tests[] = {
        on_server(a_udmabufs_release_is_in_the_note_and_in_the_memory),
        on_server(a_heap_buffers_release_is_in_the_note_and_in_the_memory),
        on_server(a_writer_may_line_up_behind_the_release),
        on_server(everybody_who_has_it_gets_the_same_sync_file),
        on_server(a_guest_that_went_leaves_the_fence_in_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
