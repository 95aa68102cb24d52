/* How lines become findings: by process, in order, bounded; and what rules may say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/doctor/doctor.h"

static const char small_rules[] =
    "rule start\n severity fact\n stage driver\n source s\n"
    " pattern Start proc {pid#}:{process}/\n"
    "rule asked\n severity fact\n stage driver\n source s\n"
    " pattern asked for\n"
    "rule fallback\n severity error\n stage frames\n title t {why}\n"
    " text {process} fell {none}\n fix f\n source s\n"
    " pattern fell back: {why}\n after asked\n"
    "rule loaded\n severity note\n stage driver\n group good\n"
    " title l {what}\n text x\n source s\n pattern loaded {what}\n"
    "rule half\n severity warning\n stage mapper\n title h\n text x\n"
    " fix f\n source s\n needs good\n without fallback\n without done\n"
    "rule done\n severity fact\n stage driver\n source s\n"
    " pattern all done\n"
    "rule big\n severity warning\n stage gpu\n title b\n text x\n"
    " fix f\n source s\n pattern number {n#} end\n where n above 9\n"
    "rule served\n severity note\n stage driver\n group good\n title s\n text x\n source s\n"
    " pattern served {what}\n once\n"
    "rule pair\n severity note\n stage frames\n title p\n text x\n source s\n needs good\n"
    " needs asked\n"
    "rule tagged\n severity note\n stage driver\n title g\n text x\n source s\n tag Right Also\n"
    " pattern tagged line\n"
    "rule speaks\n severity note\n stage driver\n title k\n text x\n source s\n"
    " speaker Chatter\n"
    "rule hook\n severity fact\n stage driver\n source s\n pattern given {custom}\n"
    "rule broken\n severity error\n stage driver\n title r {file}\n text x\n fix f\n source s\n"
    " pattern \"{file}\" is broken\n where file names driver\n"
    "rule stock\n severity note\n stage driver\n title o\n text x\n source s\n"
    " pattern \"{file}\" is worn\n where file names stock\n"
    "rule mine\n severity error\n stage gpu\n title m\n text x\n fix f\n source s\n"
    " pattern faulted [{pid#}]\n pattern a fault of all\n shows good\n"
    "rule theirs\n severity note\n stage gpu\n title of {process}\n text x\n source s\n"
    " pattern faulted [{pid#}]\n pattern a fault of all\n known\n without good\n"
    "rule large\n severity warning\n stage buffers\n title w\n text x\n fix f\n source s\n"
    " pattern area {w#} x {h#}\n where w*h above 99\n"
    "rule small\n severity note\n stage buffers\n title v\n text x\n source s\n"
    " pattern area {w#} x {h#}\n where w*h below 100\n"
    "rule lost\n severity error\n stage gpu\n title d\n text x\n fix f\n source s\n"
    " pattern VK_ERROR_DEVICE_LOST\n pattern lost anyhow\n"
    " where line tells VK_ERROR_DEVICE_LOST\n"
    "rule silent\n severity error\n stage driver\n title nothing\n"
    " text x\n fix f\n source s\n alone\n";

static struct tp_rules rules;
static struct tp_doctor *doctor;
static struct tp_diagnosis found;
static uint64_t number;

static int begin(void **state)
{
    struct tp_error e = {0};

    (void)state;
    if (tp_rules_read(small_rules, "small", &rules, &e)) {
        print_error("%s: %s\n", e.where, e.what);
        return -1;
    }
    doctor = tp_doctor_create(&rules);
    number = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    tp_diagnosis_finish(&found);
    tp_doctor_destroy(doctor);
    tp_rules_finish(&rules);
    return 0;
}

static void doctor_begins_anew(void)
{
    tp_doctor_destroy(doctor);
    doctor = tp_doctor_create(&rules);
    number = 0;
}

static void say(int pid, const char *message)
{
    char text[512];
    struct tp_line line = {text, 0, ++number};

    line.len = (size_t)snprintf(
        text, sizeof text, "11-30 12:00:02.600 %5d  4300 E t       : %s", pid, message);
    tp_doctor_line(doctor, &line);
}

static const struct tp_doctor_finding *conclude(size_t n)
{
    tp_diagnosis_finish(&found);
    tp_doctor_conclude(doctor, &found);
    if (found.n != n)
        fail_msg("%zu findings, not %zu: %s", found.n, n, found.verdict);
    return found.list;
}

static void a_finding_has_its_line_and_what_the_line_says(void **state)
{
    (void)state;
    say(7, "Start proc 12:com.game/u0a1 for x");
    say(12, "asked for");
    say(12, "fell back: no room");
    const struct tp_doctor_finding *f = conclude(1);
    assert_int_equal(f->line, 3);
    assert_int_equal(f->pid, 12);
    assert_string_equal(f->process, "com.game");
    assert_string_equal(f->title, "t no room");
    assert_string_equal(f->text, "com.game (process 12) fell ?");
    assert_string_equal(found.verdict, "t no room");
}

static void an_order_is_asked_of_one_process(void **state)
{
    (void)state;
    say(1, "fell back: before");
    say(2, "asked for");
    say(1, "fell back: another's");
    conclude(1);
    assert_string_equal(found.list[0].id, "silent");
    say(1, "asked for");
    say(1, "fell back: now");
    assert_string_equal(conclude(1)->title, "t now");
}

static void what_is_missing_is_told_of_the_process_that_it_is_missing_of(void **state)
{
    (void)state;
    say(1, "loaded a");
    say(2, "loaded b");
    say(2, "all done");
    const struct tp_doctor_finding *f = conclude(3);
    /* in the order of the stages */
    assert_string_equal(f[0].title, "l a");
    assert_string_equal(f[1].title, "l b");
    assert_string_equal(f[2].id, "half");
    assert_int_equal(f[2].pid, 1);
    assert_int_equal(f[2].line, 1);
    assert_string_equal(found.verdict, "no error; h");
}

static void what_is_missing_is_told_once_of_a_process(void **state)
{
    (void)state;
    say(1, "loaded a");
    say(1, "served b");
    const struct tp_doctor_finding *f = conclude(3);
    assert_string_equal(f[2].id, "half");
}

static void all_that_is_needed_is_asked_of_one_process(void **state)
{
    (void)state;
    say(1, "loaded a");
    say(2, "asked for");
    say(1, "all done");
    conclude(1);
    say(1, "asked for");
    const struct tp_doctor_finding *f = conclude(2);
    assert_string_equal(f[1].id, "pair");
    assert_int_equal(f[1].pid, 1);
}

static void once_is_of_the_first_process(void **state)
{
    (void)state;
    say(1, "served a");
    say(2, "served b");
    say(2, "served c");
    say(1, "all done");
    say(2, "all done");
    const struct tp_doctor_finding *f = conclude(1);
    assert_int_equal(f->pid, 1);
    assert_int_equal(f->others, 2);
}

static void a_tag_must_be_one_of_the_rules_where_there_is_one(void **state)
{
    static const struct {
        const char *text;
        bool fires;
    } lines[] = {{"E/Right   ( 12): tagged line", true}, {"E/Also    ( 12): tagged line", true},
        {"E/Wrong   ( 12): tagged line", false}, {"E/Righ    ( 12): tagged line", false},
        {"tagged line", true}};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct tp_doctor *d = tp_doctor_create(&rules);
        struct tp_line line = {lines[i].text, strlen(lines[i].text), 1};
        tp_doctor_line(d, &line);
        tp_diagnosis_finish(&found);
        tp_doctor_conclude(d, &found);
        if (strcmp(found.list[0].id, lines[i].fires ? "tagged" : "silent") != 0)
            fail_msg("%s: %s", lines[i].text, found.list[0].id);
        tp_doctor_destroy(d);
    }
}

/* What a log of these lines alone comes to, by the id of its only finding; process 12's. */
static void expect(const char *id, const char *first, const char *second)
{
    doctor_begins_anew();
    say(12, first);
    if (second)
        say(12, second);
    if (strcmp(conclude(1)->id, id) != 0)
        fail_msg("%s, not %s: %s", found.list[0].id, id, second ? second : first);
}

static void every_line_of_a_speaker_counts_in_every_format(void **state)
{
    static const struct {
        const char *text, *next;
        bool fires;
    } lines[] = {{"11-30 12:00:02.600  4242  4300 I Chatter : anything", NULL, true},
        {"I/Chatter ( 12): x", NULL, true}, {"I/Chatter2( 12): x", NULL, false},
        {"I/Chat    ( 12): x", NULL, false}, {"I/Other   ( 12): Chatter", NULL, false},
        {"[ 11-30 12:00:02.600  4242: 4300 I/Chatter ]", "x", true},
        {"[ 11-30 12:00:02.600  4242: 4300 I/Other ]", "Chatter", false}, {"Chatter", NULL, false}};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        doctor_begins_anew();
        const char *texts[] = {lines[i].text, lines[i].next};
        for (size_t k = 0; k < 2 && texts[k]; k++) {
            struct tp_line line = {texts[k], strlen(texts[k]), k + 1};
            tp_doctor_line(doctor, &line);
        }
        if (strcmp(conclude(1)->id, lines[i].fires ? "speaks" : "silent") != 0)
            fail_msg("%s: %s", lines[i].text, found.list[0].id);
    }
}

static void drivers_are_known_by_their_usual_names(void **state)
{
    static const char *const are[] = {"/d/libvulkan_freedreno.so", "libvulkan_freedreno_b.so",
        "/v/vulkan.adreno.so", "vulkan.ad07xx.so", "/v/vulkan.turnip.so", "libvulkan_turnpike.so",
        "/a/base.apk!libvulkan_freedreno.so", "/v/vulkan.adreno.so (offset 0x1000)"};
    static const char *const are_not[] = {"/lib/arm64/libvulkanrenderer.so", "libmyvulkan.so",
        "libvulkan_debug.so", "libvulkan.so", "/vulkan.adreno.so/libfoo.so", "vulkan.ad", "", "/",
        "libmy_vulkan.adreno.so", "/lib/libfoo.so (vulkan.adreno.so)"};
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof are / sizeof *are; i++) {
        snprintf(text, sizeof text, "\"%s\" is broken", are[i]);
        expect("broken", text, NULL);
    }
    for (size_t i = 0; i < sizeof are_not / sizeof *are_not; i++) {
        snprintf(text, sizeof text, "\"%s\" is broken", are_not[i]);
        expect("silent", text, NULL);
    }
    expect("stock", "\"/vendor/lib64/hw/vulkan.adreno.so\" is worn", NULL);
    expect("silent", "\"/data/x/vulkan.adreno.so\" is worn", NULL);
}

static void other_names_are_drivers_where_they_were_given_to_the_same_process(void **state)
{
    (void)state;
    expect("broken", "given /d/libbest.so", "\"/d/libbest.so\" is broken");
    expect("silent", "given /d/libbest.so", "\"/d/libother.so\" is broken");
    doctor_begins_anew();
    say(7, "given /d/libbest.so");
    say(12, "\"/d/libbest.so\" is broken");
    say(12, "given ");
    say(12, "\"\" is broken");
    assert_string_equal(conclude(1)->id, "silent");
    for (int i = 0; i < 9; i++)
        say(12, i % 2 ? "given /d/libeven.so" : "given /d/libodd.so");
    for (char name[] = "given /d/a.so"; name[9] < 'h'; name[9]++)
        say(12, name);
    say(12, "\"/d/g.so\" is broken");
    assert_string_equal(conclude(1)->title, "r /d/g.so");
}

static void a_fault_is_told_as_of_whose_process_it_is(void **state)
{
    (void)state;
    doctor_begins_anew();
    say(0, "faulted [12]");
    assert_string_equal(conclude(1)->id, "theirs");
    assert_string_equal(found.list[0].title, "of process 12");
    assert_string_equal(found.verdict, "no error of Turnip's or turnpike's; of process 12");
    say(12, "loaded x");
    say(12, "all done");
    assert_string_equal(conclude(2)[1].id, "mine");
    say(0, "faulted [13]");
    const struct tp_doctor_finding *f = conclude(3);
    assert_string_equal(f[2].id, "theirs");
    assert_int_equal(f[2].pid, 13);
    /* Of a process that nobody names it may be ours. */
    doctor_begins_anew();
    struct tp_line line = {"a fault of all", 14, 1};
    tp_doctor_line(doctor, &line);
    assert_string_equal(conclude(1)->id, "mine");
}

static void a_product_of_captures_is_compared(void **state)
{
    (void)state;
    expect("small", "area 9 x 11", NULL);
    expect("large", "area 10 x 10", NULL);
    expect("large", "area 100 x 1", NULL);
    expect("large", "area 9999999999999999999 x 9999999999999999999", NULL);
}

static void a_code_is_told_where_it_happened_and_not_in_a_list(void **state)
{
    static const char *const told[] = {"VK_ERROR_DEVICE_LOST", "call failed: VK_ERROR_DEVICE_LOST",
        "failed with result VK_ERROR_DEVICE_LOST, not VK_ERROR_UNKNOWN",
        "VK_ERROR_DEVICE_LOST (-4)", "x (VK_ERROR_DEVICE_LOST): VK_ERROR_DEVICE_LOST",
        "supported was: call returned VK_ERROR_DEVICE_LOST", "it is lost anyhow",
        "expected VK_SUCCESS, got VK_ERROR_DEVICE_LOST"};
    static const char *const listed[] = {"errors: VK_ERROR_DEVICE_LOST=-4, VK_ERROR_UNKNOWN=-13",
        "VK_ERROR_DEVICE_LOST = -4,", "VK_ERROR_UNKNOWN VK_ERROR_DEVICE_LOST",
        "supports VK_ERROR_DEVICE_LOST", "this may return VK_ERROR_DEVICE_LOST",
        "handler of VK_ERROR_DEVICE_LOST", "error names: VK_ERROR_DEVICE_LOST, VK_ERROR_UNKNOWN"};

    (void)state;
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        expect("lost", told[i], NULL);
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
        expect("silent", listed[i], NULL);
}

static void lines_of_a_kind_are_counted_and_processes_are_bounded(void **state)
{
    (void)state;
    for (int i = 0; i < 448; i++)
        say(1, "number 10 end");
    for (int pid = 2; pid < 2 + 20; pid++)
        say(pid, "number 11 end");
    say(1, "number 9 end");
    const struct tp_doctor_finding *f = conclude(TP_DOCTOR_HITS);
    assert_int_equal(f[0].count, 448);
    assert_int_equal(f[1].count, 1);
    assert_int_equal(f[TP_DOCTOR_HITS - 1].others, 20 - (TP_DOCTOR_HITS - 1));
    assert_string_equal(found.verdict, "no error; b, and 7 more warnings");
}

static void a_number_that_is_used_again_is_another_process(void **state)
{
    (void)state;
    say(7, "Start proc 12:com.game/u0a1 for x");
    say(12, "asked for");
    say(7, "Start proc 12:com.other/u0a1 for x");
    say(12, "fell back: it never asked");
    conclude(1);
    assert_string_equal(found.list[0].id, "silent");
}

static void more_processes_than_there_is_room_for_are_one(void **state)
{
    char text[64];

    (void)state;
    for (int pid = 1; pid < 100000; pid++) {
        say(pid, "asked for");
        snprintf(text, sizeof text, "Start proc %d:com.a%d/u", pid, pid);
        say(5, text);
    }
    say(99999, "fell back: still told");
    assert_string_equal(conclude(1)->id, "fallback");
}

static void what_a_line_has_in_it_is_made_printable(void **state)
{
    const char text[] = "asked for \033]0;x\007 \0 \xff";
    const char hostile[] = "fell back: \033[31mred\0and \xe2\x82";
    struct tp_line lines[] = {{text, sizeof text - 1, 1}, {hostile, sizeof hostile - 1, 2}};

    (void)state;
    tp_doctor_line(doctor, &lines[0]);
    tp_doctor_line(doctor, &lines[1]);
    const struct tp_doctor_finding *f = conclude(1);
    assert_string_equal(f->quote, "fell back: \\x1b[31mred\\x00and \\xe2\\x82");
    assert_string_equal(f->title, "t \\x1b[31mred\\x00and \\xe2\\x82");
    assert_int_equal(f->pid, -1);
    assert_string_equal(f->text, "A process that this log does not name fell ?");
}

static void a_quote_is_cut_between_characters(void **state)
{
    char text[3000] = "asked for\0";
    struct tp_line line = {text, 9, 1};

    (void)state;
    tp_doctor_line(doctor, &line);
    strcpy(text, "fell back: x");
    for (size_t i = 12; i + 2 <= 2002; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    line = (struct tp_line){text, 2002, 2};
    tp_doctor_line(doctor, &line);
    const struct tp_doctor_finding *f = conclude(1);
    assert_true(strlen(f->quote) < 420);
    assert_null(strstr(f->quote, "\\x"));
    assert_string_equal(f->quote + strlen(f->quote) - 4, " …");
}

static void a_log_that_says_nothing_is_no_healthy_one(void **state)
{
    (void)state;
    say(1, "hello");
    const struct tp_doctor_finding *f = conclude(1);
    assert_string_equal(f->id, "silent");
    assert_int_equal(f->line, 0);
    assert_int_equal(tp_diagnosis_count(&found, TP_DOCTOR_ERROR), 1);
    say(1, "loaded x");
    say(1, "all done");
    assert_string_equal(conclude(1)->title, "l x");
    assert_string_equal(found.verdict, "nothing wrong is in this log: l x");
}

static void rules_that_are_wrong_are_named_with_their_line(void **state)
{
    static const struct {
        const char *text, *where, *what;
    } wrong[] = {
        {"pattern abcd", "f:1", "begins with its name"},
        {"rule a\n\n# x\nrule a", "f:4", "already called 'a'"},
        {"rule", "f:1", "no name"},
        {"rule a\n colour red", "f:2", "no 'colour'"},
        {"rule a\n severity bad", "f:2", "not known 'bad'"},
        {"rule a\n stage up", "f:2", "not known 'up'"},
        {"rule a\n pattern {x}", "f:2", "no piece"},
        {"rule a\n where x", "f:2", "NAME"},
        {"rule a\n where x above y", "f:2", "NAME"},
        {"rule a\n where x names it", "f:2", "NAME"},
        {"rule a\n speaker a {tag} here", "f:2", "a tag has no captures"},
        {"rule a\n where x above 99999999999999999999", "f:2", "NAME"},
        {"rule a\n severity fact\n source s\n needs b\n pattern abcd", "f:4", "called 'b'"},
        {"rule a\n severity fact\n source s", "f:1", "makes this rule fire"},
        {"rule a\n severity fact\n pattern abcd", "f:1", "who writes"},
        {"rule a\n severity note\n source s\n pattern abcd", "f:1", "missing of 'a'"},
        {"rule a\n severity error\n source s\n title t\n text x\n pattern abcd", "f:1", "fix"},
        {"rule a\n and x", "f:2", "behind a yes"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct tp_rules r;
        struct tp_error e = {0};
        if (!tp_rules_read(wrong[i].text, "f", &r, &e))
            fail_msg("taken: %s", wrong[i].text);
        if (strcmp(e.where, wrong[i].where) != 0 || !strstr(e.what, wrong[i].what))
            fail_msg("%s: %s: %s", e.where, e.what, wrong[i].text);
        assert_int_equal(e.status, TP_STATUS_INPUT);
        tp_rules_finish(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_finding_has_its_line_and_what_the_line_says, begin, end),
        cmocka_unit_test_setup_teardown(an_order_is_asked_of_one_process, begin, end),
        cmocka_unit_test_setup_teardown(
            what_is_missing_is_told_of_the_process_that_it_is_missing_of, begin, end),
        cmocka_unit_test_setup_teardown(what_is_missing_is_told_once_of_a_process, begin, end),
        cmocka_unit_test_setup_teardown(all_that_is_needed_is_asked_of_one_process, begin, end),
        cmocka_unit_test_setup_teardown(once_is_of_the_first_process, begin, end),
        cmocka_unit_test_setup_teardown(
            a_tag_must_be_one_of_the_rules_where_there_is_one, begin, end),
        cmocka_unit_test_setup_teardown(every_line_of_a_speaker_counts_in_every_format, begin, end),
        cmocka_unit_test_setup_teardown(drivers_are_known_by_their_usual_names, begin, end),
        cmocka_unit_test_setup_teardown(
            other_names_are_drivers_where_they_were_given_to_the_same_process, begin, end),
        cmocka_unit_test_setup_teardown(a_fault_is_told_as_of_whose_process_it_is, begin, end),
        cmocka_unit_test_setup_teardown(a_product_of_captures_is_compared, begin, end),
        cmocka_unit_test_setup_teardown(
            a_code_is_told_where_it_happened_and_not_in_a_list, begin, end),
        cmocka_unit_test_setup_teardown(
            lines_of_a_kind_are_counted_and_processes_are_bounded, begin, end),
        cmocka_unit_test_setup_teardown(a_number_that_is_used_again_is_another_process, begin, end),
        cmocka_unit_test_setup_teardown(more_processes_than_there_is_room_for_are_one, begin, end),
        cmocka_unit_test_setup_teardown(what_a_line_has_in_it_is_made_printable, begin, end),
        cmocka_unit_test_setup_teardown(a_quote_is_cut_between_characters, begin, end),
        cmocka_unit_test_setup_teardown(a_log_that_says_nothing_is_no_healthy_one, begin, end),
        cmocka_unit_test(rules_that_are_wrong_are_named_with_their_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
