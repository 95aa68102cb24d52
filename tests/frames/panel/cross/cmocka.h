/* As much of cmocka's interface as the panel's tests use, for machines that have no cmocka built:
 * the first assertion that fails ends the program. */
#ifndef TP_TESTS_CROSS_CMOCKA_H
#define TP_TESTS_CROSS_CMOCKA_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **);
    int (*setup)(void **);
    int (*teardown)(void **);
};

#define cmocka_unit_test(f)                                                                        \
    {                                                                                              \
#f, f, NULL, NULL                                                                          \
    }
#define cmocka_unit_test_setup_teardown(f, up, down)                                               \
    {                                                                                              \
#f, f, up, down                                                                            \
    }
#define fail_msg(...) (printf(__VA_ARGS__), printf(" (%s:%d)\n", __FILE__, __LINE__), exit(1))
#define assert_true(x)                                                                             \
    do {                                                                                           \
        if (!(x))                                                                                  \
            fail_msg("not so: %s", #x);                                                            \
    } while (0)
#define assert_false(x) assert_true(!(x))
#define assert_null(x) assert_true((x) == NULL)
#define assert_non_null(x) assert_true((x) != NULL)
#define assert_int_equal(a, b)                                                                     \
    do {                                                                                           \
        long long a_ = (long long)(a), b_ = (long long)(b);                                        \
        if (a_ != b_)                                                                              \
            fail_msg("%s: %lld, not %lld", #a, a_, b_);                                            \
    } while (0)
#define assert_in_range(x, a, b) assert_true((x) >= (a) && (x) <= (b))
#define assert_float_equal(a, b, e) assert_true(fabsf((a) - (b)) <= (e))
#define assert_string_equal(a, b) assert_true(strcmp(a, b) == 0)
#define assert_memory_equal(a, b, n) assert_true(memcmp(a, b, n) == 0)

static inline int run_group(const struct CMUnitTest *tests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *state = NULL;
        if (tests[i].setup)
            assert_int_equal(tests[i].setup(&state), 0);
        tests[i].run(&state);
        if (tests[i].teardown)
            assert_int_equal(tests[i].teardown(&state), 0);
        printf("ok %s\n", tests[i].name);
    }
    return 0;
}
#define cmocka_run_group_tests(tests, up, down) run_group(tests, sizeof(tests) / sizeof *(tests))

#endif
