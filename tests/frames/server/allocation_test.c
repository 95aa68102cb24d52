/* What the server's own code asks of the allocator, call by call (the linker leads its calls here).
 */
#include "peer.h"

#include <stdlib.h>

static unsigned n_allocations;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

void *__wrap_malloc(size_t n)
{
    n_allocations++;
    return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    n_allocations++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    n_allocations++;
    return __real_realloc(p, n);
}

static struct peer a;

static void a_steady_commit_allocates_nothing(void **state)
{
    struct drm_event_vblank e;
    (void)state;
    peer_open(&a);
    uint32_t fbs[2] = {light_up(&a), make_fb(&a)};
    for (unsigned i = 0; i < 1010; i++) {
        if (i == 10)
            n_allocations = 0;
        uint64_t before = published.serial;
        assert_int_equal(page_flip(&a, fbs[i % 2], i), 0);
        tick();
        panel_released(before, 0, -1);
        assert_int_equal(peer_event(&a, &e), sizeof e);
        assert_int_equal(e.user_data, i);
    }
    assert_int_equal(n_allocations, 0);
    peer_close(&a);
}

static void the_count_counts(void **state)
{
    (void)state;
    n_allocations = 0;
    peer_open(&a);
    assert_true(n_allocations > 0);
    peer_close(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_count_counts, setup_server, teardown_server),
        cmocka_unit_test_setup_teardown(
            a_steady_commit_allocates_nothing, setup_server, teardown_server),
    };
    return cmocka_run_group_tests_name("allocation", tests, NULL, NULL);
}
