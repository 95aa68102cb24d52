/* Causes that lie in when frames come: caps, costs, the compositor, the gate, the panel. */
#include "frames/pace/cap.h"
#include "report/advice_internal.h"

static void add_rate(char *to, size_t size, uint32_t mhz)
{
    advice_add(to, size, "%s%.4g", *to ? ", " : "", mhz / 1000.0);
}

void advice_cap_beats(struct advice *a)
{
    static const uint32_t panels[] = {60000, 72000, 90000, 120000, 144000, 165000};
    uint32_t cap = a->setup->cap_mhz, refresh = a->setup->refresh_mhz;
    if (cap == 0 || refresh == 0 || cap >= refresh || a->setup->slowest_mhz > 0 ||
        has_gate(a, "off") || tp_cap_lock(cap, a->period_ns) > 0)
        return;
    uint64_t all = 0, most = 0;
    unsigned usual = 1, second = 0;
    for (unsigned i = 1; i <= TP_CADENCE; i++) {
        all += a->m->cadence[i];
        if (a->m->cadence[i] > most) {
            most = a->m->cadence[i];
            usual = i;
        }
    }
    for (unsigned i = 1; i <= TP_CADENCE; i++)
        if (i != usual && (second == 0 || a->m->cadence[i] > a->m->cadence[second]))
            second = i;
    if (all == 0 || share(most, all) > 0.98)
        return;
    unsigned low = usual < second ? usual : second, high = usual < second ? second : usual;
    char caps[48] = "", rates[64] = "";
    unsigned n = refresh / cap;
    add_rate(caps, sizeof caps, refresh / n);
    add_rate(caps, sizeof caps, refresh / (n + 1));
    for (unsigned i = 0; i < sizeof panels / sizeof *panels; i++)
        if (panels[i] != refresh && tp_cap_lock(cap, tp_mhz_period_ns(panels[i])) > 0)
            add_rate(rates, sizeof rates, panels[i]);
    struct tp_finding *f = find(a, TP_FINDING_WARNING, "cap-beats", "The cap beats with the refresh");
    say(f,
        "%.4g frames a second do not divide %.4g Hz: frames stay %u and %u refreshes in turn (%.0f %% "
        "and %.0f %%), which is seen as judder though every frame is on time.",
        cap / 1000.0, refresh / 1000.0, low, high, 100 * share(a->m->cadence[low], all),
        100 * share(a->m->cadence[high], all));
    try(f, "Caps that do not beat at this refresh: %s.", caps);
    if (*rates)
        try(f, " Refreshes that this cap divides: %s Hz; or a variable rate.", rates);
}

static const char *where_work_goes(double cpu, double gpu, double spacing)
{
    if (gpu > spacing && gpu >= cpu)
        return "the GPU alone needs more";
    if (cpu > spacing)
        return "the CPU alone needs more";
    return "neither alone does, but they work one after the other";
}

void advice_over_budget(struct advice *a)
{
    const struct tp_signs *s = a->signs;
    double spacing = (double)a->spacing_ns;
    if (spacing <= 0 || s->work.n == 0)
        return;
    double cpu = mean(&s->cpu), gpu = mean(&s->gpu);
    if (is_slow(a) && mean(&s->work) > 0.97 * spacing) {
        struct tp_finding *f = find(
            a, TP_FINDING_WARNING, "over-budget", "Frames cost more than the time there is for one");
        say(f, "A frame costs %.1f ms (CPU %.1f, GPU %.1f), and one is wanted every %.1f ms: %s.",
            tp_ms(mean(&s->work)), tp_ms(cpu), tp_ms(gpu), tp_ms(spacing), where_work_goes(cpu, gpu, spacing));
        if (cpu <= spacing && gpu <= spacing)
            try(f, "Let the CPU work ahead of the GPU (the game's setting for frames in flight). ");
        double rate = 1e9 / (mean(&s->work) * 1.1);
        try(f, "Lower the %s, or cap at what the game can do evenly: below %.0f frames a second.",
            gpu >= cpu ? "resolution or effects" : "load on the CPU (draw distance, crowds)", rate);
        return;
    }
    if (s->late_work < 3 || 5 * s->late_work < s->late)
        return;
    struct tp_finding *f =
        find(a, TP_FINDING_WARNING, "stalls", "Some frames cost more than the time there is for one");
    say(f,
        "%llu frames came late because they, or the ones before them, needed more than the time from one "
        "to the next. The longest took %.1f ms of CPU and GPU; the mean is %.1f ms.",
        (unsigned long long)s->late_work, tp_ms((double)s->work.most), tp_ms(mean(&s->work)));
    try(f, "A report's timeline shows whether the CPU's or the GPU's part of such a frame is long: "
           "shaders that are compiled, files that are loaded, or a heavy view.");
    if (has_gate(a, "latency"))
        try(f, " The gate vsync leaves more room for them than latency.");
}

/* How long a finished frame waits for its turn. */
static double queue_of(const struct advice *a)
{
    double period = (double)a->period_ns, rest = (double)a->setup->lead_ns;
    if (a->signs->to_latch.n > 0)
        return mean(&a->signs->to_latch);
    return mean(&a->signs->to_show) - rest - period * (a->setup->has_pipeline ? a->setup->pipeline : 1);
}

static bool queues(const struct advice *a)
{
    return a->period_ns > 0 && queue_of(a) > 1.25 * (double)a->period_ns;
}

void advice_composition(struct advice *a)
{
    double delay = mean(&a->signs->to_commit) + mean(&a->signs->composing);
    bool queue = has_gate(a, "off") && queues(a); /* which is no compositor's doing */
    if (a->period_ns <= 0 || queue || share(a->signs->slow_way, a->signs->frames) < 0.5)
        return;
    struct tp_finding *f =
        find(a, TP_FINDING_WARNING, "composition", "The compositor takes long with each frame");
    say(f,
        "From ready to the server a frame takes %.1f ms on average, %.0f %% of a refresh. With direct "
        "scan-out it is next to nothing: the compositor draws a picture of its own, or is late.",
        tp_ms(delay), 100 * delay / (double)a->period_ns);
    try(f, "Make the game's window full-screen and opaque, without overlays and scaling, so that its "
           "own images go to the panel.");
}

void advice_held(struct advice *a)
{
    const struct tp_signs *s = a->signs;
    if (s->late_held < 2 || 5 * s->late_held < s->late)
        return;
    struct tp_finding *f =
        find(a, TP_FINDING_WARNING, "held", "Frames are held on their way to the panel");
    say(f,
        "%llu frames that were ready in time came to the panel's side late, by up to %.0f ms: the "
        "compositor or the server stood still%s.",
        (unsigned long long)s->late_held, tp_ms((double)s->longest_held_ns),
        s->stops > 0 ? ", or the panel did" : "");
    try(f, "Look at what else ran then: a compositor that loads, is stopped or was started anew, a phone "
           "that is short of memory or hot. Fewer layers, and none above the game, leave it less to do.");
}

void advice_left_lying(struct advice *a)
{
    const struct tp_signs *s = a->signs;
    if (s->late_panel < 3 || 5 * s->late_panel < s->late)
        return;
    unsigned long long resynced = count(a, TP_COUNT_NOTES_RESYNCED);
    struct tp_finding *f =
        find(a, TP_FINDING_WARNING, "panel-late", "The panel takes frames a refresh too late");
    say(f, "%llu frames were with the panel's side before their latch, and were shown a refresh or more "
           "behind it.",
        (unsigned long long)s->late_panel);
    if (resynced > 0)
        say(f, " %llu times a release fence stayed silent and the state was asked for: the server puts "
               "its own picture between then, so that the panel lets go.",
            resynced);
    try(f, "See whether the latch is really as early as the set-up says (--latch), and with turnpike doctor "
           "whether SurfaceFlinger rejected or delayed transactions.");
}

void advice_gate_off(struct advice *a)
{
    if (!has_gate(a, "off") || !a->sum->has_guest)
        return;
    double queue = queue_of(a);
    struct tp_finding *f = find(a, queues(a) ? TP_FINDING_WARNING : TP_FINDING_NOTE, "gate-off",
        queues(a) ? "The gate is off, and finished frames queue" : "The gate is off");
    if (queues(a))
        say(f,
            "A finished frame waits %.1f ms for the panel (%.1f refreshes): nothing holds the game "
            "back but the count of its images, and each is old when it is shown.",
            tp_ms(queue), queue / (double)a->period_ns);
    else
        say(f, "Frames start when the game likes: nothing keeps their spacing even.");
    try(f, "TURNPIKE_GATE=vsync paces to the refresh; latency starts frames as late as they may.");
}

void advice_clocks(struct advice *a)
{
    const struct tp_signs *s = a->signs;
    double idle = mean(&s->gpu_idle), busy = mean(&s->gpu_busy);
    uint64_t planted = 0;
    for (unsigned i = 0; i < a->sum->n_faults; i++)
        if (strcmp(a->sum->faults[i].name, "dvfs") == 0)
            planted = a->sum->faults[i].injected;
    bool seen = s->gpu_idle.n > 64 && s->gpu_busy.n > 64 && idle > 1.2 * busy;
    if (!seen && planted == 0)
        return;
    struct tp_finding *f =
        find(a, TP_FINDING_WARNING, "clocks", "The GPU slows down when it has little to do");
    if (seen)
        say(f,
            "A frame takes the GPU %.1f ms while it is mostly idle and %.1f ms while it is busy: its "
            "clock is scaled down between frames.",
            tp_ms(idle), tp_ms(busy));
    else
        say(f, "The GPU's clock was low %llu times, as it was idle most of the time; a frame takes it "
               "%.1f ms.",
            (unsigned long long)planted, tp_ms(mean(&s->gpu)));
    try(f, "Compare the driver variant p, which asks the kernel to keep clocks up, and watch the heat.");
}

void advice_stops(struct advice *a)
{
    unsigned long long n = a->signs->stops;
    if (n == 0)
        return;
    struct tp_finding *f = find(a, TP_FINDING_WARNING, "panel-stopped", "The panel stopped");
    say(f, "%llu time%s no refresh came, for up to %.0f ms.", n, s_of(n),
        tp_ms((double)a->signs->longest_stop_ns));
    if (a->m->drops > 0)
        say(f, " Frames that were presented then were dropped (%llu in all).",
            (unsigned long long)a->m->drops);
    try(f, "A screen that was switched off, a minimised app or a mode set do that, and are no fault. "
           "Else look at the device's log around these instants with turnpike doctor.");
}

void advice_rates(struct advice *a)
{
    unsigned long long n = a->signs->rate_changes;
    if (n == 0 || a->setup->slowest_mhz > 0)
        return;
    struct tp_finding *f = find(a, TP_FINDING_NOTE, "refresh-changed", "The refresh rate changed");
    say(f, "%llu time%s; it is %.4g Hz at the end. The gate follows, with a frame or two off the new "
           "grid.",
        n, s_of(n), a->setup->refresh_mhz / 1000.0);
    try(f, "If nobody asked for that, fix the rate in the system's display settings, or let the cap "
           "choose it.");
}

void advice_drops(struct advice *a)
{
    if (a->m->drops == 0 || a->signs->stops > 0)
        return;
    struct tp_finding *f = find(a, TP_FINDING_NOTE, "drops", "Frames were never shown");
    say(f, "%llu frame%s presented and replaced by a newer one, or given up, before the panel took %s.",
        (unsigned long long)a->m->drops, a->m->drops == 1 ? " was" : "s were",
        a->m->drops == 1 ? "it" : "them");
    try(f, "With MAILBOX or IMMEDIATE that is what the game asked for. With FIFO look for a server or "
           "compositor that started anew.");
}

void advice_async_tears(struct advice *a)
{
    if (a->m->async_tears == 0)
        return;
    struct tp_finding *f =
        find(a, TP_FINDING_NOTE, "async-tears", "The game asked for tearing, and got it");
    say(f, "%llu refresh%s showed two frames, one above the other: presents of the mode IMMEDIATE.",
        (unsigned long long)a->m->async_tears, es_of(a->m->async_tears));
    try(f, "Choose FIFO or MAILBOX in the game (\"vsync on\") for whole pictures.");
}

static bool is_explained(const struct advice *a)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->out[i].severity >= TP_FINDING_WARNING)
            return true;
    return false;
}

/* What none of the causes above is the name of. */
void advice_uneven(struct advice *a)
{
    uint64_t late = a->m->repeats + a->m->gate_late;
    if (is_explained(a) || late < 3 || share(late, a->m->frames) < 0.005)
        return;
    struct tp_finding *f = find(a, TP_FINDING_WARNING, "uneven", "Frames come late");
    say(f,
        "%llu refreshes showed an old frame where a new one was due, and %llu frames were ready after "
        "the latch that was booked for them.",
        (unsigned long long)a->m->repeats, (unsigned long long)a->m->gate_late);
    if (a->signs->late_wait > 0)
        say(f, " %llu of them had waited for an image.", (unsigned long long)a->signs->late_wait);
    else
        say(f, " No cause that is recorded explains it.");
    try(f, "A report's events lead to each late frame: see which part of it is long, a wait, the CPU, "
           "the GPU or the way to the panel.");
}

void advice_one_side(struct advice *a)
{
    if (a->sum->has_guest || a->m->frames == 0)
        return;
    struct tp_finding *f =
        find(a, TP_FINDING_NOTE, "panel-side-only", "Only the panel's side was recorded");
    say(f, "What the game waited for, and when its frames began, is not in here: the game does not use "
           "turnpike's ICD, or did not share its records.");
    try(f, "Run the game with the ICD, as turnpike play does, to see causes.");
}

void advice_nothing(struct advice *a)
{
    if (a->m->frames > 0)
        return;
    struct tp_finding *f = find(a, TP_FINDING_WARNING, "nothing-shown", "Nothing was shown");
    say(f, "No frame of this guest reached the panel%s.",
        a->m->drops > 0 ? ", though some were presented" : "");
    try(f, "See whether the game presents at all, and whether its window is the one that is shown.");
}
