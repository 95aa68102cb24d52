/* The app's life: the surface comes and goes, the app is hidden, the screen goes dark; and the
 * watchdog over what SurfaceFlinger does with pictures. */
#include "base/proc.h"
#include "frames/panel/android_internal.h"

#define LEAVE_NS INT64_C(50000000) /* besides the refreshes that a blank needs to be shown */

/* Says that the screen went away or came back, if that is news. */
static void tell_away(struct tp_android *a, bool away)
{
    pthread_mutex_lock(&a->mutex);
    bool news = a->away_told != away && a->events && !a->closing;
    if (news) {
        a->away_told = away;
        a->telling++;
    }
    pthread_mutex_unlock(&a->mutex);
    if (!news)
        return;
    a->events->away(a->data, away);
    tp_android_end_event(a);
}

/* Blanks in all layers' places. What they replace is told when they are shown, or at the end of
 * leave_until_ns: nobody reads it on a screen that is off. commit is held. */
static void leave(struct tp_android *a, int64_t now)
{
    if (a->leaving)
        return;
    tp_android_apply_blanks(a);
    tp_android_buffers_forget(&a->buffers);
    pthread_mutex_lock(&a->mutex);
    int64_t period = a->clock.tick.period_ns;
    pthread_mutex_unlock(&a->mutex);
    a->leaving = true;
    a->leave_until_ns = now + (a->panel.pipeline + 2) * period + LEAVE_NS;
}

/* The screen is there, if it has not gone again meanwhile: the newest picture comes back. Whoever
 * is told knows that before SurfaceFlinger has the picture. No lock is held. */
static void come_back(struct tp_android *a)
{
    tell_away(a, false);
    pthread_mutex_lock(&a->commit);
    if (!tp_android_is_away(a)) {
        a->direct = true;
        if (a->picture.n_layers > 0)
            tp_android_apply(a);
    }
    pthread_mutex_unlock(&a->commit);
    tp_android_tell(a);
}

/* Everything is off the screen, or its time is over: true. commit is held. */
static bool left(struct tp_android *a, int64_t now)
{
    pthread_mutex_lock(&a->mutex);
    bool over = tp_ledger_pending(&a->ledger) == 0 || now >= a->leave_until_ns;
    for (unsigned slot = 0; over && slot < TP_KMS_LAYERS; slot++)
        tp_ledger_clear(&a->ledger, slot);
    pthread_mutex_unlock(&a->mutex);
    return over;
}

/* Pictures that are not shown: copies are tried, then other layers. commit is held. */
static void watch(struct tp_android *a, int64_t now)
{
    pthread_mutex_lock(&a->mutex);
    int64_t oldest = tp_ledger_oldest(&a->ledger, false);
    int64_t unlatched = tp_ledger_oldest(&a->ledger, true);
    bool dead = oldest != INT64_MAX && now - oldest >= TP_ANDROID_DEAD_NS;
    bool stalled = dead || (unlatched != INT64_MAX && now - unlatched >= TP_ANDROID_STALL_NS);
    a->counts.stalls += stalled && a->direct;
    a->counts.rebuilt += dead;
    pthread_mutex_unlock(&a->mutex);
    if (!stalled)
        return;
    if (dead) {
        tp_android_say(a, SAID_DEAD, "the phone shows nothing any more: its layers are made anew");
        tp_android_drop_layers(a);
    } else if (!a->direct) {
        return;
    }
    tp_android_say(a, SAID_STALL,
        "the phone does not show guests' buffers: they are copied until the app is resumed");
    a->direct = false;
    tp_android_apply(a);
}

void tp_android_housekeep(struct tp_android *a, int64_t now_ns)
{
    bool gone = false, back = false;
    if (pthread_mutex_trylock(&a->commit) != 0)
        return; /* a picture is on its way; at the next refresh */
    pthread_mutex_lock(&a->mutex);
    bool silent = tp_android_clock_silent(&a->clock, now_ns);
    pthread_mutex_unlock(&a->mutex);
    if (silent && !a->dark) {
        a->dark = true;
        leave(a, now_ns);
    } else if (!silent && a->dark) {
        a->dark = false;
        back = !tp_android_is_away(a);
        a->leaving &= !back;
    }
    if (a->leaving)
        gone = left(a, now_ns);
    else if (!tp_android_is_away(a) && !back) {
        watch(a, now_ns);
        if (a->repaint)
            tp_android_apply(a);
    }
    pthread_mutex_unlock(&a->commit);
    tp_android_tell(a);
    if (gone)
        tell_away(a, true);
    if (back)
        come_back(a);
}

void tp_panel_android_set_window(struct tp_panel *p, void *window)
{
    struct tp_android *a = (struct tp_android *)p;
    ANativeWindow *old;
    pthread_mutex_lock(&a->commit);
    old = a->window;
    if (window)
        a->api.ANativeWindow_acquire(window);
    if (old != window)
        tp_android_drop_layers(a);
    a->window = window;
    a->width = window ? a->api.ANativeWindow_getWidth(window) : 0;
    a->height = window ? a->api.ANativeWindow_getHeight(window) : 0;
    bool away = tp_android_is_away(a);
    if (!away && old == window)
        tp_android_apply(a); /* another size */
    else if (away)
        tp_android_buffers_forget(&a->buffers);
    pthread_mutex_unlock(&a->commit);
    if (old)
        a->api.ANativeWindow_release(old);
    tp_android_tell(a);
    if (!window)
        tell_away(a, true);
    else if (!away && old != window)
        come_back(a);
}

void tp_panel_android_pause(struct tp_panel *p)
{
    struct tp_android *a = (struct tp_android *)p;
    pthread_mutex_lock(&a->commit);
    a->paused = true;
    leave(a, tp_now_ns());
    pthread_mutex_unlock(&a->commit);
    tp_android_tell(a);
}

void tp_panel_android_resume(struct tp_panel *p)
{
    struct tp_android *a = (struct tp_android *)p;
    pthread_mutex_lock(&a->commit);
    bool was = a->paused;
    a->paused = false;
    a->said = 0;
    bool away = tp_android_is_away(a);
    a->leaving &= away;
    if (!away && !was) /* what was not taken is tried again */
        tp_android_buffers_forget(&a->buffers);
    pthread_mutex_unlock(&a->commit);
    if (!away)
        come_back(a);
}

void tp_panel_android_repaint(struct tp_panel *p)
{
    struct tp_android *a = (struct tp_android *)p;
    pthread_mutex_lock(&a->commit);
    if (!tp_android_is_away(a))
        tp_android_apply(a);
    pthread_mutex_unlock(&a->commit);
    tp_android_tell(a);
}

void tp_panel_android_set_hdr(struct tp_panel *p, bool hdr)
{
    struct tp_android *a = (struct tp_android *)p;
    pthread_mutex_lock(&a->commit);
    a->hdr = hdr;
    if (!tp_android_is_away(a))
        tp_android_apply(a);
    pthread_mutex_unlock(&a->commit);
    tp_android_tell(a);
}
