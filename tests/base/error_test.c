#include <errno.h>

#include "support.h"

static void a_failure_says_where_what_and_what_to_do(void **state)
{
    (void)state;
    struct tp_error e = {0};
    assert_int_equal(tp_fail(&e, TP_STATUS_INPUT, -EINVAL, "f:3", "mend it", "%d is odd", 3), -EINVAL);
    assert_int_equal(e.status, TP_STATUS_INPUT);
    assert_int_equal(e.err, -EINVAL);
    assert_string_equal(e.where, "f:3");
    assert_string_equal(e.what, "3 is odd");
    assert_string_equal(e.todo, "mend it");
}

static void the_first_failure_is_the_one_that_is_kept(void **state)
{
    (void)state;
    struct tp_error e = {0};
    tp_fail(&e, TP_STATUS_FAILED, -EIO, NULL, NULL, "first");
    assert_int_equal(tp_fail(&e, TP_STATUS_INPUT, -EINVAL, "x", "y", "second"), -EINVAL);
    assert_int_equal(tp_fail_errno(&e, ENOENT, "x", "third"), -ENOENT);
    assert_string_equal(e.what, "first");
    assert_string_equal(e.where, "");
    assert_int_equal(e.status, TP_STATUS_FAILED);
}

static void nobody_needs_to_listen(void **state)
{
    (void)state;
    assert_int_equal(tp_fail(NULL, TP_STATUS_INPUT, -EINVAL, "x", "y", "z"), -EINVAL);
    assert_int_equal(tp_fail_errno(NULL, -ENOSPC, "x", "z"), -ENOSPC);
}

static void a_system_error_is_named_and_has_a_remedy(void **state)
{
    (void)state;
    struct tp_error e = {0};
    assert_int_equal(tp_fail_errno(&e, ENOSPC, "/x", "cannot be written"), -ENOSPC);
    assert_string_equal(e.what, "cannot be written: No space left on device");
    assert_non_null(strstr(e.todo, "free some space"));
    struct tp_error f = {0};
    assert_int_equal(tp_fail_errno(&f, -EACCES, "/x", "cannot be read"), -EACCES);
    assert_non_null(strstr(f.todo, "readable"));
    struct tp_error g = {0};
    tp_fail_errno(&g, EMFILE, "/x", "cannot be opened");
    assert_int_equal(g.status, TP_STATUS_MISSING);
    assert_int_equal(e.status, TP_STATUS_FAILED);
    assert_int_equal(f.status, TP_STATUS_INPUT);
}

static void long_texts_are_cut_and_stay_strings(void **state)
{
    (void)state;
    char text[5000];
    memset(text, 'w', sizeof text - 1);
    text[sizeof text - 1] = 0;
    struct tp_error e = {0};
    tp_fail(&e, TP_STATUS_INPUT, -EINVAL, text, text, "%s", text);
    assert_int_equal(strlen(e.where), sizeof e.where - 1);
    assert_int_equal(strlen(e.what), sizeof e.what - 1);
    assert_int_equal(strlen(e.todo), sizeof e.todo - 1);
    struct tp_error f = {0};
    tp_fail_errno(&f, EIO, text, "%s", text);
    assert_int_equal(strlen(f.what), sizeof f.what - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_says_where_what_and_what_to_do),
        cmocka_unit_test(the_first_failure_is_the_one_that_is_kept),
        cmocka_unit_test(nobody_needs_to_listen),
        cmocka_unit_test(a_system_error_is_named_and_has_a_remedy),
        cmocka_unit_test(long_texts_are_cut_and_stay_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
