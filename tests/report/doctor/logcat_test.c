/* What stands in front of a message. Lines are as logcat prints them (AOSP liblog/logprint.cpp), as
 * Android Studio copies them, and as the kernel writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/doctor/logcat.h"

static struct tp_log_reader reader;

static void expect(const char *line, int pid, char level, const char *tag, const char *message)
{
    struct tp_log_line l;

    if (!tp_log_read(&reader, line, strlen(line), &l))
        fail_msg("no message in: %s", line);
    if (l.len != strlen(message) || memcmp(l.message, message, l.len) != 0)
        fail_msg("the message is '%.*s' in: %s", (int)l.len, l.message, line);
    if (l.pid != pid || l.level != level)
        fail_msg("process %d, level %c in: %s", l.pid, l.level ? l.level : '0', line);
    if ((tag == NULL) != (l.tag == NULL) ||
        (tag && (l.tag_len != strlen(tag) || memcmp(l.tag, tag, l.tag_len) != 0)))
        fail_msg("the tag is '%.*s' in: %s", (int)l.tag_len, l.tag ? l.tag : "", line);
}

static void no_message(const char *line)
{
    struct tp_log_line l;

    if (tp_log_read(&reader, line, strlen(line), &l))
        fail_msg("a message in: %s", line);
}

static int forget(void **state)
{
    (void)state;
    reader = (struct tp_log_reader){0};
    return 0;
}

static void logcats_formats_are_told_apart(void **state)
{
    (void)state;
    expect("11-30 12:00:02.600  4242  4300 E linker  : a: b", 4242, 'E', "linker", "a: b");
    expect("E/linker  ( 4242): a: b", 4242, 'E', "linker", "a: b");
    expect("E/linker  : a: b", TP_PID_UNKNOWN, 'E', "linker", "a: b");
    expect("11-30 12:00:02.600 E/linker  ( 4242): a: b", 4242, 'E', "linker", "a: b");
    expect("E( 4242) a: b  (linker)", 4242, 'E', "linker", "a: b");
    expect("E( 4242: 4300) a: b", 4242, 'E', NULL, "a: b");
    expect("11-30 12:00:02.600  4242  4300 F DEBUG   : #00 pc 1", 4242, 'F', "DEBUG", "#00 pc 1");
}

static void modifiers_stand_where_logcat_puts_them(void **state)
{
    (void)state;
    expect("2026-11-30 12:00:02.600  4242  4300 E t       : m", 4242, 'E', "t", "m");
    expect("11-30 12:00:02.600123  4242  4300 E t       : m", 4242, 'E', "t", "m");
    expect("11-30 12:00:02.600123456 +0100  4242  4300 E t       : m", 4242, 'E', "t", "m");
    expect("         1780000000.123  4242  4300 E t       : m", 4242, 'E', "t", "m");
    expect("11-30 12:00:02.600 10123  4242  4300 E t       : m", 4242, 'E', "t", "m");
    expect("11-30 12:00:02.600  root  4242  4300 E t       : m", 4242, 'E', "t", "m");
    expect("11-30 12:00:02.600 u0_a321  4242  4300 E t       : m", 4242, 'E', "t", "m");
    expect("E/t       (10123: 4242): m", 4242, 'E', "t", "m");
    expect("E/t       ( root: 4242): m", 4242, 'E', "t", "m");
    expect(
        "\033[31m11-30 12:00:02.600  4242  4300 E t       : m\033[0m", 4242, 'E', "t", "m\033[0m");
}

static void a_long_header_is_of_the_lines_behind_it(void **state)
{
    (void)state;
    no_message("--------- beginning of main");
    no_message("[ 11-30 12:00:02.600  4242: 4300 E/linker   ]");
    expect("a: b", 4242, 'E', "linker", "a: b");
    expect("I/fake ( 1): still its message", 4242, 'E', "linker", "I/fake ( 1): still its message");
    no_message("");
    no_message("[ 11-30 12:00:02.600 10123: 4243: 4300 W/other ]");
    expect("c", 4243, 'W', "other", "c");
    no_message("--------- switch to crash");
    expect("d", TP_PID_UNKNOWN, 0, NULL, "d");
    no_message("[03-26 15:42:52.012 13944:13944 I/wm_on_start_called]");
    expect("[61410587,com.dp]", 13944, 'I', "wm_on_start_called", "[61410587,com.dp]");
}

static void android_studio_has_two_formats(void **state)
{
    (void)state;
    expect("2024-03-22 20:49:56.744 24589-24616 hook_impl               com.example.test         "
           "I  hook_x: y",
        24589, 'I', "hook_impl", "hook_x: y");
    expect(
        "2022-05-03 10:50:52.570 27255-27299/org.o3de.MinProject E/vulkan: f(65) failed: x (-22)",
        27255, 'E', "vulkan", "f(65) failed: x (-22)");
}

static void the_kernels_lines_have_no_process(void **state)
{
    (void)state;
    expect("[  275.269536] kgsl: m", TP_PID_UNKNOWN, 0, NULL, "kgsl: m");
    expect("<3>[ 5123.400912] kgsl: m", TP_PID_UNKNOWN, 0, NULL, "kgsl: m");
    expect("<6>[ 5123.400912] [T1234] kgsl: m", TP_PID_UNKNOWN, 0, NULL, "kgsl: m");
    expect("<6>kgsl: m", TP_PID_UNKNOWN, 0, NULL, "kgsl: m");
    expect("11-30 12:00:05.000     0     0 E kgsl kgsl-3d0: m", 0, 'E', "kgsl kgsl-3d0", "m");
}

static void what_is_no_header_is_the_message(void **state)
{
    (void)state;
    static const char *const lines[] = {"turnpike: images are linear",
        "err:   DxvkSubmissionQueue: x", "11-30 12:00", "E/", "E(", "[", "[ 1", "<", "<3", "E/tag",
        "11-30 12:00:02.600  4242", "11-30 12:00:02.600  4242  4300 E", "E/x(12", "E(12",
        "11-30 12:00:02.600  4242  4300 E t", "  ", "1.5", "99999999999999999999999 x",
        "11-30 12:00:02.600 99999999999 4300 E t: m", "2024-03-22 20:49:56.744 1-"};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect(lines[i], TP_PID_UNKNOWN, 0, NULL, lines[i]);
    no_message("");
}

/* Cut anywhere, a line is read without a look beyond its end (the sanitizer watches). */
static void a_line_may_be_cut_anywhere(void **state)
{
    static const char *const lines[] = {
        "2026-11-30 12:00:02.600123 +0100 10123  4242  4300 E linker  : a: b",
        "[ 11-30 12:00:02.600 10123: 4242: 4300 E/linker   ]", "E(10123: 4242: 4300) a  (b)",
        "2024-03-22 20:49:56.744 24589-24616 hook_impl  com.example.test  I  y",
        "<6>[ 5123.400912] [T1234] kgsl: m", "11-30 12:00:02.600 E/linker  (10123: 4242): a"};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        for (size_t n = 0; n <= strlen(lines[i]); n++) {
            char *cut = malloc(n ? n : 1);
            struct tp_log_line l;
            memcpy(cut, lines[i], n);
            if (tp_log_read(&reader, cut, n, &l)) {
                assert_true(l.message >= cut && l.message + l.len <= cut + n);
            }
            free(cut);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(logcats_formats_are_told_apart, forget),
        cmocka_unit_test_setup(modifiers_stand_where_logcat_puts_them, forget),
        cmocka_unit_test_setup(a_long_header_is_of_the_lines_behind_it, forget),
        cmocka_unit_test_setup(android_studio_has_two_formats, forget),
        cmocka_unit_test_setup(the_kernels_lines_have_no_process, forget),
        cmocka_unit_test_setup(what_is_no_header_is_the_message, forget),
        cmocka_unit_test_setup(a_line_may_be_cut_anywhere, forget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
