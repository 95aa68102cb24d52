#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "factory/inspect/bionic.h"

/* The first level that has the symbol; 0: none. */
static int since(const char *library, const char *symbol)
{
    const struct tp_bionic_library *l = tp_bionic_library(library);
    if (!l)
        fail_msg("no table of %s", library);
    const struct tp_bionic_symbol *s = tp_bionic_symbol(l, symbol);
    return s ? s->since : 0;
}

/* From the NDK's headers (__INTRODUCED_IN) and Android's release notes; AOSP's own tags for the rest. */
static void symbols_came_with_the_release_that_brought_them(void **state)
{
    (void)state;
    static const struct {
        const char *library, *symbol;
        int since;
    } rows[] = {
        {"libc.so", "malloc", 21},
        {"libc.so", "posix_memalign", 21},
        {"libc.so", "futimes", 26},
        {"libc.so", "syncfs", 28},
        {"libc.so", "getrandom", 28},
        {"libc.so", "aligned_alloc", 28},
        {"libc.so", "timespec_get", 29},
        {"libc.so", "__tls_get_addr", 30},
        {"libc.so", "call_once", 30},
        {"libc.so", "mtx_lock", 30},
        {"libc.so", "memfd_create", 30},
        {"libc.so", "pthread_cond_clockwait", 30},
        {"libc.so", "pidfd_open", 31},
        {"libc.so", "preadv2", 33},
        {"libc.so", "close_range", 34},
        {"libc.so", "tcgetwinsize", 35},
        {"libc.so", "qsort_r", 36},
        {"libc.so", "gets_s", 0},
        {"libm.so", "cosf", 21},
        {"libm.so", "clog", 26},
        {"libdl.so", "dlopen", 21},
        {"liblog.so", "__android_log_print", 21},
        {"liblog.so", "__android_log_set_logger", 30},
        {"libnativewindow.so", "AHardwareBuffer_allocate", 26},
        {"libnativewindow.so", "AHardwareBuffer_isSupported", 29},
        {"libnativewindow.so", "ANativeWindow_setFrameRate", 30},
        {"libnativewindow.so", "AHardwareBuffer_getId", 31},
        {"libandroid.so", "ASurfaceControl_create", 29},
        {"libandroid.so", "AChoreographer_postVsyncCallback", 33},
        {"libsync.so", "sync_merge", 26},
        {"libvulkan.so", "vkCreateInstance", 24},
        {"libvulkan.so", "vkQueueSubmit2", 33},
        {"libz.so", "deflate", 21},
        {"libcutils.so", "property_get", 21},
        {"libcutils.so", "atrace_get_enabled_tags", 31},
        {"libhardware.so", "hw_get_module", 21},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int found = since(rows[i].library, rows[i].symbol);
        if (found != rows[i].since)
            fail_msg("%s of %s: %d, not %d", rows[i].symbol, rows[i].library, found, rows[i].since);
    }
}

/* What another architecture alone has is not in the table. */
static void other_processors_symbols_are_left_out(void **state)
{
    (void)state;
    assert_int_equal(since("libc.so", "__aeabi_memcpy"), 0);
    assert_int_equal(since("libc.so", "bsd_signal"), 0);
    assert_int_equal(since("libc.so", "__sF"), 21);
}

static void every_table_is_in_order_and_within_the_levels(void **state)
{
    (void)state;
    size_t n = 0;
    for (const struct tp_bionic_library *l = tp_bionic_libraries; l->name; l++, n++) {
        assert_true(l->n_symbols > 0);
        for (size_t i = 0; i < l->n_symbols; i++) {
            const struct tp_bionic_symbol *s = &l->symbols[i];
            if (i && strcmp(l->symbols[i - 1].name, s->name) >= 0)
                fail_msg("%s: %s is out of order", l->name, s->name);
            assert_in_range(s->since, TP_API_FIRST, TP_API_LAST);
            if (s->until)
                assert_in_range(s->until, s->since, TP_API_LAST - 1);
        }
    }
    assert_int_equal(n, 12);
    assert_true(tp_bionic_library("libc.so")->n_symbols > 1300);
    assert_null(tp_bionic_library("libui.so"));
}

static void levels_have_the_names_that_players_know(void **state)
{
    (void)state;
    assert_string_equal(tp_android_name(21), "Android 5.0");
    assert_string_equal(tp_android_name(29), "Android 10");
    assert_string_equal(tp_android_name(32), "Android 12L");
    assert_string_equal(tp_android_name(36), "Android 16");
    assert_string_equal(tp_android_name(99), "Android (API 99)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols_came_with_the_release_that_brought_them),
        cmocka_unit_test(other_processors_symbols_are_left_out),
        cmocka_unit_test(every_table_is_in_order_and_within_the_levels),
        cmocka_unit_test(levels_have_the_names_that_players_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
