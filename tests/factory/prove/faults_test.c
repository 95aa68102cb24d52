/* How a run under a fault schedule is judged. */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "factory/prove/books.h"
#include "factory/prove/faults.h"

#define BALANCED                                                                                   \
    "[{\"call\": \"open\"}, {\"call\": \"close\", \"leaked_buffers\": 0, \"leaked_bytes\": 0,"    \
    " \"leaked_contexts\": 0, \"leaked_timelines\": 0}]"
#define LEAKING                                                                                    \
    "[{\"call\": \"close\", \"leaked_buffers\": 0, \"leaked_contexts\": 0},"                       \
    " {\"call\": \"exit\", \"leaked_buffers\": 2, \"leaked_bytes\": 8192, \"leaked_contexts\": 1}]"
#define HOLDS "{\"id\": \"device\", \"ok\": true, \"detail\": \"Vulkan 1.3\"}"
#define FAILS(id, detail) "{\"id\": \"" id "\", \"ok\": false, \"detail\": \"" detail "\"}"

/* The outcome of a run of this end, these checks and this log; detail holds the words. */
static enum tp_fault_outcome judge(bool done, int status, const char *checks, const char *calls,
                                   const char *words)
{
    struct tp_run_result run = {.done = done, .status = status, .said = (char *)"said last"};
    run.checks = json_loads(checks, 0, NULL);
    run.calls = json_loads(calls, 0, NULL);
    run.facts = json_pack("{s:i}", "device_count", strstr(calls, "open") != NULL);
    assert_non_null(run.checks);
    assert_non_null(run.calls);
    char *detail;
    enum tp_fault_outcome outcome = tp_fault_judge(&run, &detail);
    if (words && (!detail || !strstr(detail, words)))
        fail_msg("'%s' does not say '%s'", detail ? detail : "", words);
    if (!words)
        assert_null(detail);
    free(detail);
    json_decref(run.facts);
    json_decref(run.checks);
    json_decref(run.calls);
    return outcome;
}

static void a_run_that_holds_is_a_success(void **state)
{
    (void)state;
    assert_int_equal(judge(true, 0, "[" HOLDS "]", BALANCED, NULL), TP_FAULT_SUCCESS);
    assert_false(tp_fault_is_failure(TP_FAULT_SUCCESS));
}

static void a_check_that_tells_an_error_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(judge(true, 1,
                           "[" HOLDS ", " FAILS("fill", "vkEndCommandBuffer: "
                                                        "VK_ERROR_OUT_OF_DEVICE_MEMORY (-2)") "]",
                           BALANCED, "VK_ERROR_OUT_OF_DEVICE_MEMORY"),
                     TP_FAULT_ERROR);
    assert_int_equal(judge(true, 1,
                           "[" FAILS("fence", "vkWaitForFences: VK_TIMEOUT (2), where VK_SUCCESS is "
                                              "right") "]",
                           BALANCED, "VK_TIMEOUT"),
                     TP_FAULT_ERROR);
    assert_false(tp_fault_is_failure(TP_FAULT_ERROR));
}

static void a_device_that_was_never_opened_leaves_nothing(void **state)
{
    (void)state;
    assert_int_equal(judge(true, 1,
                           "[" FAILS("enumerate", "vkEnumeratePhysicalDevices: "
                                                  "VK_ERROR_INITIALIZATION_FAILED (-3)") "]",
                           "[]", "VK_ERROR_INITIALIZATION_FAILED"),
                     TP_FAULT_ERROR);
}

static void a_signal_is_a_crash_whatever_was_said_before(void **state)
{
    (void)state;
    assert_int_equal(judge(false, 128 + 11, "[" HOLDS "]", "[]", "Segmentation fault"), TP_FAULT_CRASH);
    assert_int_equal(judge(true, 128 + 6, "[" HOLDS "]", BALANCED, "Aborted"), TP_FAULT_CRASH);
    assert_int_equal(judge(false, 1, "[" HOLDS "]", "[]", "said last"), TP_FAULT_CRASH);
    assert_true(tp_fault_is_failure(TP_FAULT_CRASH));
}

static void a_run_out_of_time_hangs(void **state)
{
    (void)state;
    assert_int_equal(judge(false, -ETIMEDOUT, "[" HOLDS "]", LEAKING, "in time"), TP_FAULT_HANG);
    assert_true(tp_fault_is_failure(TP_FAULT_HANG));
}

static void what_is_left_behind_is_a_leak_with_an_error_too(void **state)
{
    (void)state;
    assert_int_equal(judge(true, 0, "[" HOLDS "]", LEAKING,
                           "leaked_contexts 1, leaked_buffers 2 (8192 bytes)"),
                     TP_FAULT_LEAK);
    assert_int_equal(judge(true, 1, "[" FAILS("device", "VK_ERROR_OUT_OF_HOST_MEMORY (-1)") "]",
                           LEAKING, "leaked_buffers 2"),
                     TP_FAULT_LEAK);
    assert_int_equal(judge(true, 1,
                           "[" FAILS("fill", "VK_ERROR_DEVICE_LOST (-4)") ", "
                           FAILS("teardown", "3 file descriptors are left open (fill 3)") "]",
                           BALANCED, "3 file descriptors"),
                     TP_FAULT_LEAK);
    assert_true(tp_fault_is_failure(TP_FAULT_LEAK));
}

static void a_wrong_result_without_an_error_is_wrong(void **state)
{
    (void)state;
    assert_int_equal(judge(true, 1,
                           "[" FAILS("fill", "VK_ERROR_DEVICE_LOST (-4)") ", "
                           FAILS("update", "word 3 is 0x0, where 0x3 is right") "]",
                           BALANCED, "update: word 3"),
                     TP_FAULT_WRONG);
    assert_int_equal(judge(true, 1,
                           "[" FAILS("fence_timeout", "vkWaitForFences: VK_SUCCESS (0), where "
                                                      "VK_TIMEOUT is right") "]",
                           BALANCED, "VK_SUCCESS"),
                     TP_FAULT_WRONG);
    assert_true(tp_fault_is_failure(TP_FAULT_WRONG));
}

static void a_state_that_is_not_so_tells_no_error(void **state)
{
    (void)state;
    assert_int_equal(judge(true, 1,
                           "[" FAILS("fence", "vkGetFenceStatus: VK_NOT_READY (1), where VK_SUCCESS "
                                              "is right") "]",
                           BALANCED, "VK_NOT_READY"),
                     TP_FAULT_WRONG);
    assert_int_equal(judge(true, 1,
                           "[" FAILS("fence", "vkGetFenceStatus: VK_NOT_READY (1), where VK_SUCCESS "
                                              "is right") "]",
                           "[{\"call\": \"open\"}, {\"call\": \"WAITTIMESTAMP_CTXTID\", \"fault\": 1,"
                           " \"ret\": -1, \"error\": \"ETIMEDOUT\"}, {\"call\": \"close\"}]",
                           "VK_NOT_READY"),
                     TP_FAULT_ERROR); /* the kernel said that the time is up */
    assert_int_equal(judge(true, 1, "[" FAILS("event", "VK_EVENT_RESET (4)") "]", BALANCED, "RESET"),
                     TP_FAULT_WRONG);
}

static void a_log_without_its_end_proves_nothing(void **state)
{
    (void)state;
    assert_int_equal(judge(true, 0, "[" HOLDS "]", "[{\"call\": \"open\"}]", "not whole"),
                     TP_FAULT_WRONG);
    assert_int_equal(judge(true, 1, "[" FAILS("fill", "VK_ERROR_DEVICE_LOST (-4)") "]",
                           "[{\"call\": \"open\"}]", "not whole"),
                     TP_FAULT_WRONG);
}

static void books_that_were_never_closed_say_nothing(void **state)
{
    (void)state;
    json_t *calls = json_loads("[{\"call\": \"open\"}]", 0, NULL);
    bool closed = true;
    assert_null(tp_books_left(calls, &closed));
    assert_false(closed);
    json_decref(calls);
    calls = json_loads(BALANCED, 0, NULL);
    assert_null(tp_books_left(calls, &closed));
    assert_true(closed);
    json_decref(calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_holds_is_a_success),
        cmocka_unit_test(a_check_that_tells_an_error_is_an_error),
        cmocka_unit_test(a_device_that_was_never_opened_leaves_nothing),
        cmocka_unit_test(a_signal_is_a_crash_whatever_was_said_before),
        cmocka_unit_test(a_run_out_of_time_hangs),
        cmocka_unit_test(what_is_left_behind_is_a_leak_with_an_error_too),
        cmocka_unit_test(a_wrong_result_without_an_error_is_wrong),
        cmocka_unit_test(a_state_that_is_not_so_tells_no_error),
        cmocka_unit_test(a_log_without_its_end_proves_nothing),
        cmocka_unit_test(books_that_were_never_closed_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
