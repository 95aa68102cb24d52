/* What keys do: guests that are chosen, changes that are asked for, and what is said of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "made.h"

#define SECOND INT64_C(1000000000)

static struct made m;
static struct tp_setting_frame set;

static int begin(void **state)
{
    (void)state;
    made_healthy(&m);
    set = (struct tp_setting_frame){0};
    return 0;
}

static enum tp_top_action press(uint32_t key)
{
    return tp_top_key(&m.ui, &m.s, key, &set);
}

static void press_all(const char *keys)
{
    for (; *keys; keys++)
        press((unsigned char)*keys);
}

static void assert_asked(enum tp_setting setting, int64_t value)
{
    assert_int_equal(set.setting, setting);
    assert_int_equal(set.value, value);
}

static void passed(int64_t seconds)
{
    m.s.now_ns += seconds * SECOND;
    tp_top_passed(&m.ui, &m.s);
}

static void tab_up_and_down_go_round_the_guests(void **state)
{
    (void)state;
    assert_ptr_equal(tp_top_chosen(&m.ui, &m.s), &m.guests[0]);
    press('\t');
    assert_ptr_equal(tp_top_chosen(&m.ui, &m.s), &m.guests[1]);
    press(TP_KEY_DOWN);
    assert_ptr_equal(tp_top_chosen(&m.ui, &m.s), &m.guests[0]);
    press(TP_KEY_UP);
    assert_ptr_equal(tp_top_chosen(&m.ui, &m.s), &m.guests[1]);
    m.s.n_guests = 1; /* the chosen one has ended */
    assert_ptr_equal(tp_top_chosen(&m.ui, &m.s), &m.guests[0]);
    m.s.n_guests = 0;
    assert_null(tp_top_chosen(&m.ui, &m.s));
    assert_int_equal(press(TP_KEY_UP), TP_TOP_NOTHING);
}

static void left_and_right_go_round_the_screens(void **state)
{
    (void)state;
    assert_int_equal(press(TP_KEY_RIGHT), TP_TOP_NOTHING);
    m.s.n_screens = 2;
    m.s.screens[1] = (struct tp_top_screen){.id = 1, .refresh_mhz = 90000};
    press(TP_KEY_RIGHT);
    assert_ptr_equal(tp_top_chosen_screen(&m.ui, &m.s), &m.s.screens[1]);
    press('r'); /* of that screen */
    assert_asked(TP_SETTING_REFRESH, 120000);
    assert_int_equal(set.output, 1);
    press(TP_KEY_LEFT);
    assert_ptr_equal(tp_top_chosen_screen(&m.ui, &m.s), &m.s.screens[0]);
    press(TP_KEY_LEFT);
    m.s.n_screens = 1; /* it was plugged out */
    assert_ptr_equal(tp_top_chosen_screen(&m.ui, &m.s), &m.s.screens[0]);
}

static void c_goes_up_the_caps_and_round(void **state)
{
    (void)state;
    static const int64_t caps[] = {30000, 40000, 45000, 60000, 72000, 90000, 120000, 0, 30000};
    for (unsigned i = 0; i < 9; i++) { /* each from what the last one asked for */
        assert_int_equal(press('c'), TP_TOP_SET);
        assert_asked(TP_SETTING_CAP, caps[i]);
    }
    for (unsigned i = 8; i-- > 0;) {
        press('C');
        assert_asked(TP_SETTING_CAP, caps[i]);
    }
}

static void a_number_is_a_cap_or_a_refresh(void **state)
{
    (void)state;
    press_all("37.5");
    assert_int_equal(m.ui.n_entry, 4);
    assert_int_equal(press(TP_KEY_ENTER), TP_TOP_SET);
    assert_asked(TP_SETTING_CAP, 37500);
    press_all("0c");
    assert_asked(TP_SETTING_CAP, 0);
    press_all("90r");
    assert_asked(TP_SETTING_REFRESH, 90000);
    press_all("12");
    press(TP_KEY_BACKSPACE);
    press(TP_KEY_BACKSPACE);
    assert_int_equal(m.ui.n_entry, 0);
    press_all("12");
    press(TP_KEY_ESCAPE);
    assert_int_equal(m.ui.n_entry, 0);
}

static void a_number_that_is_none_is_refused(void **state)
{
    (void)state;
    press_all("1.2.3");
    assert_int_equal(press(TP_KEY_ENTER), TP_TOP_DRAW);
    assert_true(m.ui.message_is_bad);
    press_all("12345678901234567890");
    assert_int_equal(press('c'), TP_TOP_DRAW);
    assert_int_equal(set.setting, 0);
    assert_int_equal(m.ui.n_entry, 0);
}

static void g_leaves_out_the_cap_where_there_is_none(void **state)
{
    (void)state;
    press('g');
    assert_asked(TP_SETTING_GATE, TP_GATE_LATENCY);
    press('g');
    assert_asked(TP_SETTING_GATE, TP_GATE_OFF);
    press('g');
    assert_asked(TP_SETTING_GATE, TP_GATE_VSYNC);
    m.guests[0].cap_mhz = 30000;
    press('g');
    assert_asked(TP_SETTING_GATE, TP_GATE_CAP);
}

static void r_goes_up_the_rates_of_panels(void **state)
{
    (void)state;
    press('r');
    assert_asked(TP_SETTING_REFRESH, 72000);
    press('R');
    press('R');
    assert_asked(TP_SETTING_REFRESH, 0);
}

static void a_change_is_told_when_it_is_seen(void **state)
{
    (void)state;
    press('c');
    tp_top_answered(&m.ui, 0, m.s.now_ns);
    assert_string_equal(m.ui.message, "cap 30: asked of all guests.");
    m.guests[0].cap_mhz = 30000;
    passed(1);
    assert_string_equal(m.ui.message, "cap 30, for all guests.");
    assert_false(m.ui.message_is_bad);
    passed(10);
    assert_string_equal(m.ui.message, "");
}

static void a_change_that_nobody_takes_is_told(void **state)
{
    (void)state;
    press('c');
    tp_top_answered(&m.ui, 0, m.s.now_ns);
    passed(4);
    assert_true(m.ui.message_is_bad);
    assert_non_null(strstr(m.ui.message, "has not taken it"));
    press_all("144r");
    tp_top_answered(&m.ui, 0, m.s.now_ns);
    passed(4);
    assert_string_equal(m.ui.message, "refresh 144 Hz was asked for; the screen stays at 60 Hz.");
}

static void a_refusal_is_told_with_its_reason(void **state)
{
    (void)state;
    press('c');
    tp_top_answered(&m.ui, -EPERM, m.s.now_ns);
    assert_true(m.ui.message_is_bad);
    assert_non_null(strstr(m.ui.message, "Only the server's own user and root"));
    press('c'); /* from what it is, not from what was refused */
    assert_asked(TP_SETTING_CAP, 30000);
}

static void nothing_is_asked_where_there_is_no_server(void **state)
{
    (void)state;
    m.ui.link = TP_TOP_LOST;
    assert_int_equal(press('c'), TP_TOP_DRAW);
    assert_true(m.ui.message_is_bad);
    assert_int_equal(set.setting, 0);
}

static void other_keys(void **state)
{
    (void)state;
    assert_int_equal(press('x'), TP_TOP_NOTHING);
    press('p');
    assert_true(m.ui.paused);
    press(' ');
    assert_false(m.ui.paused);
    press('?');
    assert_true(m.ui.help);
    assert_int_equal(press('c'), TP_TOP_DRAW); /* ends the help, and does no more */
    assert_false(m.ui.help);
    assert_int_equal(set.setting, 0);
    assert_int_equal(press('q'), TP_TOP_QUIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(tab_up_and_down_go_round_the_guests, begin),
        cmocka_unit_test_setup(left_and_right_go_round_the_screens, begin),
        cmocka_unit_test_setup(c_goes_up_the_caps_and_round, begin),
        cmocka_unit_test_setup(a_number_is_a_cap_or_a_refresh, begin),
        cmocka_unit_test_setup(a_number_that_is_none_is_refused, begin),
        cmocka_unit_test_setup(g_leaves_out_the_cap_where_there_is_none, begin),
        cmocka_unit_test_setup(r_goes_up_the_rates_of_panels, begin),
        cmocka_unit_test_setup(a_change_is_told_when_it_is_seen, begin),
        cmocka_unit_test_setup(a_change_that_nobody_takes_is_told, begin),
        cmocka_unit_test_setup(a_refusal_is_told_with_its_reason, begin),
        cmocka_unit_test_setup(nothing_is_asked_where_there_is_no_server, begin),
        cmocka_unit_test_setup(other_keys, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
