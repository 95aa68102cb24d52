#include "top/ui.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames/pace/profile.h"

#define PATIENCE_NS INT64_C(3000000000) /* for a change that was asked for to be seen */
#define MESSAGE_NS INT64_C(6000000000)

static const uint32_t caps[] = {0, 30000, 40000, 45000, 60000, 72000, 90000, 120000};
static const uint32_t rates[] = {0, 60000, 72000, 90000, 120000, 144000, 165000};

__attribute__((format(printf, 4, 5))) static void say(
    struct tp_top_ui *ui, int64_t now_ns, bool bad, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(ui->message, sizeof ui->message, fmt, ap);
    va_end(ap);
    ui->message_is_bad = bad;
    ui->message_ns = now_ns;
}

/* --- who is looked at --- */

static unsigned place_of(const struct tp_top_ui *ui, const struct tp_top_snapshot *s)
{
    for (unsigned i = 0; ui->has_guest && i < s->n_guests; i++)
        if (s->guests[i]->id == ui->guest)
            return i;
    return 0;
}

const struct tp_top_guest *tp_top_chosen(
    const struct tp_top_ui *ui, const struct tp_top_snapshot *s)
{
    return s->n_guests > 0 ? s->guests[place_of(ui, s)] : NULL;
}

const struct tp_top_screen *tp_top_chosen_screen(
    const struct tp_top_ui *ui, const struct tp_top_snapshot *s)
{
    if (s->n_screens == 0)
        return NULL;
    return &s->screens[ui->screen < s->n_screens ? ui->screen : 0];
}

static enum tp_top_action choose_screen(
    struct tp_top_ui *ui, const struct tp_top_snapshot *s, unsigned steps)
{
    if (s->n_screens < 2)
        return TP_TOP_NOTHING;
    ui->screen = (ui->screen + steps) % s->n_screens;
    return TP_TOP_DRAW;
}

static enum tp_top_action choose(
    struct tp_top_ui *ui, const struct tp_top_snapshot *s, unsigned steps)
{
    if (s->n_guests == 0)
        return TP_TOP_NOTHING;
    ui->guest = s->guests[(place_of(ui, s) + steps) % s->n_guests]->id;
    ui->has_guest = true;
    return TP_TOP_DRAW;
}

/* --- changes --- */

/* As it is, or as it was just asked to be: keys in a row go on from each other. */
static int64_t current(
    const struct tp_top_ui *ui, const struct tp_top_snapshot *s, enum tp_setting setting)
{
    const struct tp_top_guest *g = tp_top_chosen(ui, s);
    if (ui->asked.setting == setting)
        return ui->asked.value;
    const struct tp_top_screen *screen = tp_top_chosen_screen(ui, s);
    if (setting == TP_SETTING_REFRESH)
        return screen ? screen->refresh_mhz : 0;
    if (!g || !g->has_gauges)
        return setting == TP_SETTING_GATE ? TP_GATE_VSYNC : 0;
    return setting == TP_SETTING_GATE ? (int64_t)g->gate : g->cap_mhz;
}

/* What is so now, for all to see; also where there is nobody whom it could be seen of. */
static bool is_so(const struct tp_top_ui *ui, const struct tp_top_snapshot *s)
{
    struct tp_top_ui unasked = *ui;
    unasked.asked.setting = 0;
    return current(&unasked, s, ui->asked.setting) == ui->asked.value;
}

static void name_change(const struct tp_setting_frame *f, char *to, size_t n)
{
    double value = (double)f->value / 1000;
    if (f->setting == TP_SETTING_GATE)
        snprintf(to, n, "gate %s", tp_gate_mode_name((enum tp_gate_mode)f->value));
    else if (f->setting == TP_SETTING_CAP && f->value == 0)
        snprintf(to, n, "cap off");
    else if (f->setting == TP_SETTING_CAP)
        snprintf(to, n, "cap %.6g", value);
    else if (f->value == 0)
        snprintf(to, n, "refresh of the server's choice");
    else
        snprintf(to, n, "refresh %.6g Hz", value);
}

static enum tp_top_action ask(struct tp_top_ui *ui, const struct tp_top_snapshot *s,
    enum tp_setting setting, int64_t value, struct tp_setting_frame *set)
{
    const struct tp_top_screen *screen = tp_top_chosen_screen(ui, s);
    ui->n_entry = 0;
    if (ui->link != TP_TOP_LIVE) {
        say(ui, s->now_ns, true, "There is no server to ask.");
        return TP_TOP_DRAW;
    }
    *set = ui->asked = (struct tp_setting_frame){.setting = setting,
        .output = setting == TP_SETTING_REFRESH && screen ? screen->id : 0,
        .value = value};
    ui->asked_ns = s->now_ns;
    return TP_TOP_SET;
}

/* The next of a list, or the one before; ends lead to each other. */
static int64_t next_of(const uint32_t *list, size_t n, int64_t now, bool back)
{
    if (back) {
        for (size_t i = n; i-- > 0;)
            if (list[i] < now)
                return list[i];
        return list[n - 1];
    }
    for (size_t i = 0; i < n; i++)
        if (list[i] > now)
            return list[i];
    return list[0];
}

static enum tp_top_action next_cap(
    struct tp_top_ui *ui, const struct tp_top_snapshot *s, bool back, struct tp_setting_frame *set)
{
    int64_t now = current(ui, s, TP_SETTING_CAP);
    return ask(ui, s, TP_SETTING_CAP, next_of(caps, sizeof caps / sizeof *caps, now, back), set);
}

static enum tp_top_action next_gate(
    struct tp_top_ui *ui, const struct tp_top_snapshot *s, struct tp_setting_frame *set)
{
    int64_t gate = current(ui, s, TP_SETTING_GATE);
    gate = gate == TP_GATE_LATENCY ? TP_GATE_OFF : gate + 1;
    if (gate == TP_GATE_CAP && current(ui, s, TP_SETTING_CAP) == 0)
        gate = TP_GATE_LATENCY; /* there is no cap to pace by */
    return ask(ui, s, TP_SETTING_GATE, gate, set);
}

static enum tp_top_action next_refresh(
    struct tp_top_ui *ui, const struct tp_top_snapshot *s, bool back, struct tp_setting_frame *set)
{
    int64_t now = current(ui, s, TP_SETTING_REFRESH);
    return ask(
        ui, s, TP_SETTING_REFRESH, next_of(rates, sizeof rates / sizeof *rates, now, back), set);
}

/* --- what is typed --- */

static bool entered(const struct tp_top_ui *ui, int64_t *mhz)
{
    char text[sizeof ui->entry + 1] = "";
    char *end;
    memcpy(text, ui->entry, ui->n_entry);
    double value = strtod(text, &end);
    *mhz = (int64_t)(value * 1000 + 0.5);
    return ui->n_entry > 0 && *end == '\0' && *mhz <= 1000000;
}

static enum tp_top_action enter(struct tp_top_ui *ui, const struct tp_top_snapshot *s,
    enum tp_setting setting, struct tp_setting_frame *set)
{
    int64_t mhz;
    if (entered(ui, &mhz))
        return ask(ui, s, setting, mhz, set);
    say(ui, s->now_ns, true, "A number up to 1000 is wanted.");
    ui->n_entry = 0;
    return TP_TOP_DRAW;
}

/* True: the key was for the number. */
static bool type(struct tp_top_ui *ui, const struct tp_top_snapshot *s, uint32_t key,
    struct tp_setting_frame *set, enum tp_top_action *out)
{
    *out = TP_TOP_DRAW;
    if ((key >= '0' && key <= '9') || (key == '.' && ui->n_entry > 0)) {
        if (ui->n_entry < sizeof ui->entry - 1)
            ui->entry[ui->n_entry++] = (char)key;
        return true;
    }
    if (ui->n_entry == 0)
        return false;
    if (key == TP_KEY_BACKSPACE)
        ui->n_entry--;
    else if (key == TP_KEY_ESCAPE)
        ui->n_entry = 0;
    else if (key == TP_KEY_ENTER || key == 'c' || key == 'C')
        *out = enter(ui, s, TP_SETTING_CAP, set);
    else if (key == 'r' || key == 'R')
        *out = enter(ui, s, TP_SETTING_REFRESH, set);
    else
        return false;
    return true;
}

enum tp_top_action tp_top_key(struct tp_top_ui *ui, const struct tp_top_snapshot *s, uint32_t key,
    struct tp_setting_frame *set)
{
    enum tp_top_action action;
    if (key == 'q' || key == 'Q')
        return TP_TOP_QUIT;
    if (key == 'h' || key == '?') {
        ui->help = !ui->help;
        return TP_TOP_DRAW;
    }
    if (ui->help) { /* any other key ends it */
        ui->help = false;
        return TP_TOP_DRAW;
    }
    if (type(ui, s, key, set, &action))
        return action;
    switch (key) {
    case TP_KEY_DOWN:
    case '\t':
        return choose(ui, s, 1);
    case TP_KEY_UP:
        return choose(ui, s, s->n_guests - 1);
    case TP_KEY_RIGHT:
        return choose_screen(ui, s, 1);
    case TP_KEY_LEFT:
        return choose_screen(ui, s, s->n_screens - 1);
    case 'p':
    case ' ':
        ui->paused = !ui->paused;
        return TP_TOP_DRAW;
    case 'c':
    case 'C':
        return next_cap(ui, s, key == 'C', set);
    case 'g':
        return next_gate(ui, s, set);
    case 'r':
    case 'R':
        return next_refresh(ui, s, key == 'R', set);
    default:
        return TP_TOP_NOTHING;
    }
}

/* --- what becomes of it --- */

void tp_top_answered(struct tp_top_ui *ui, int result, int64_t now_ns)
{
    char change[64];
    if (ui->asked.setting == 0)
        return;
    name_change(&ui->asked, change, sizeof change);
    if (result == 0) {
        say(ui, now_ns, false, "%s: asked of all guests.", change);
        return;
    }
    if (result == -EPERM)
        say(ui, now_ns, true, "%s: refused. Only the server's own user and root may change it.",
            change);
    else
        say(ui, now_ns, true, "%s: refused: %s.", change, strerror(-result));
    ui->asked.setting = 0;
}

void tp_top_passed(struct tp_top_ui *ui, const struct tp_top_snapshot *s)
{
    char change[64];
    if (ui->asked.setting != 0) {
        name_change(&ui->asked, change, sizeof change);
        if (is_so(ui, s)) {
            say(ui, s->now_ns, false, "%s, for all guests.", change);
            ui->asked.setting = 0;
        } else if (s->now_ns - ui->asked_ns > PATIENCE_NS) {
            const struct tp_top_guest *g = tp_top_chosen(ui, s);
            const struct tp_top_screen *screen = tp_top_chosen_screen(ui, s);
            if (ui->asked.setting == TP_SETTING_REFRESH)
                say(ui, s->now_ns, ui->asked.value != 0,
                    "%s was asked for; the screen stays at %.6g Hz.", change,
                    screen ? screen->refresh_mhz / 1000.0 : 0);
            else if (g && g->has_gauges)
                say(ui, s->now_ns, true, "%s was asked for, and this guest has not taken it.",
                    change);
            ui->asked.setting = 0;
        }
    } else if (s->now_ns - ui->message_ns > MESSAGE_NS) {
        ui->message[0] = '\0';
    }
}
