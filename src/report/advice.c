/* From a run's numbers to what is wrong with it, and what to try: one function a cause. */
#include "report/advice.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "frames/pace/cap.h"

struct advice {
    const struct tp_summary *sum;
    const struct tp_measures *m;
    const struct tp_setup *setup;
    const struct tp_signs *signs;
    int64_t period_ns, spacing_ns; /* of the panel; from frame to frame as it is wanted. 0: unknown */
    bool counted;                  /* what only the game's side counts is known */
    struct tp_finding *out;
    unsigned n;
};

const char *tp_finding_severity(enum tp_severity s)
{
    static const char *const names[] = {"note", "warning", "error"};
    return names[s];
}

/* --- numbers --- */

static double ms(double ns)
{
    return ns / 1e6;
}

static double mean(const struct tp_sign *s)
{
    return s->n > 0 ? s->sum / (double)s->n : 0;
}

static double share(uint64_t part, uint64_t of)
{
    return of > 0 ? (double)part / (double)of : 0;
}

static uint64_t count(const struct advice *a, enum tp_counter c)
{
    return a->counted ? a->sum->counts[c] : 0;
}

static const char *s_of(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static double fps_of(const struct tp_measures *m)
{
    return m->frames > 1 && m->span_ns > 0 ? (double)(m->frames - 1) / ((double)m->span_ns / 1e9)
                                           : 0;
}

/* Of the work of frames: not above it, and right to 9 %. */
static double work_quantile(const struct tp_signs *s, double q)
{
    uint64_t rank = (uint64_t)((double)s->work.n * q), seen = 0;
    for (unsigned i = 0; i < TP_SIGNS_BINS; i++) {
        seen += s->work_bins[i];
        if (seen > rank)
            return 1000 * exp2((double)i / 8);
    }
    return (double)s->work.most;
}

static unsigned pipeline_of(const struct tp_setup *setup, const struct tp_signs *s, double period)
{
    if (setup->has_pipeline)
        return setup->pipeline;
    double refreshes = floor(mean(&s->to_line) / period);
    return refreshes > 0 && refreshes < 8 ? (unsigned)refreshes : 0;
}

unsigned tp_advise_images(const struct tp_setup *setup, const struct tp_signs *s)
{
    double period = setup->refresh_mhz > 0 ? 1e12 / setup->refresh_mhz : 0;
    if (period <= 0 || s->work.n == 0)
        return 0;
    double work = work_quantile(s, 0.99) + mean(&s->to_commit) + mean(&s->composing);
    double needed = ceil(work / period) + pipeline_of(setup, s, period) + 2;
    return needed < 64 ? (unsigned)needed : 64;
}

static unsigned images_of(const struct advice *a)
{
    return a->setup->images > 0 ? a->setup->images : a->signs->most_image;
}

/* The rate is lower than it should be, by more than one frame in a hundred. */
static bool is_slow(const struct advice *a)
{
    return a->spacing_ns > 0 && a->m->interval.mean_ns > 1.01 * (double)a->spacing_ns;
}

static bool has_gate(const struct advice *a, const char *name)
{
    return strcmp(a->setup->gate, name) == 0;
}

/* --- findings --- */

static struct tp_finding *find(struct advice *a, enum tp_severity severity, const char *id,
    const char *title)
{
    struct tp_finding *f = &a->out[a->n++];
    *f = (struct tp_finding){.severity = severity};
    snprintf(f->id, sizeof f->id, "%s", id);
    snprintf(f->title, sizeof f->title, "%s", title);
    return f;
}

__attribute__((format(printf, 2, 3))) static void say(struct tp_finding *f, const char *fmt, ...)
{
    size_t n = strlen(f->text);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->text + n, sizeof f->text - n, fmt, ap);
    va_end(ap);
}

__attribute__((format(printf, 2, 3))) static void try(struct tp_finding *f, const char *fmt, ...)
{
    size_t n = strlen(f->todo);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->todo + n, sizeof f->todo - n, fmt, ap);
    va_end(ap);
}

static void tears(struct advice *a)
{
    unsigned long long n = a->m->tears;
    if (!a->sum->has_tears || n == 0)
        return;
    if (a->setup->release_fence == TP_OFF) {
        struct tp_finding *f =
            find(a, TP_FINDING_ERROR, "tears-fences-off", "Tearing, as release fences are off");
        say(f,
            "%llu refresh%s showed an image while the game's GPU wrote the next frame into it. "
            "Without release fences an image counts as free when the compositor gives it back, which "
            "is before the panel has read it.",
            n, n == 1 ? "" : "es");
        try(f, "Switch release fences on (TURNPIKE_RELEASE_FENCE=on, --release-fence on). Where that "
               "cannot be, a cap at half the refresh or one image more hides it.");
        return;
    }
    struct tp_finding *f = find(a, TP_FINDING_ERROR, "tears", "Tearing");
    say(f, "%llu refresh%s showed an image that was written meanwhile. ", n, n == 1 ? "" : "es");
    if (count(a, TP_COUNT_UNSAFE) > 0) {
        say(f, "%llu times an image was handed out that the panel may still have read: the server has "
               "no board and did not say in time that it was free.",
            (unsigned long long)a->sum->counts[TP_COUNT_UNSAFE]);
        try(f, "Use a server with a board (this turnpike's), and see why its releases are late.");
    } else if (a->setup->board == TP_OFF) {
        say(f, "The server has no board: where it loses a pending note, an image is taken for free.");
        try(f, "Use a server with a board (this turnpike's).");
    } else {
        say(f, "Release fences %s, and no image was handed out unsafely.",
            a->setup->release_fence == TP_ON ? "are on" : "may be on");
        try(f, "See the first one in the timeline: which image is written, and who still reads it. If "
               "the game writes an image that it has presented, it is the game's fault; else please "
               "report it with this capture.");
    }
}

static void unsafe(struct advice *a)
{
    unsigned long long n = count(a, TP_COUNT_UNSAFE);
    if (n == 0 || (a->sum->has_tears && a->m->tears > 0))
        return;
    struct tp_finding *f =
        find(a, TP_FINDING_WARNING, "unsafe", "Images were handed out before they were free");
    say(f, "%llu times nobody said within the bound that an image is free, and a server without a "
           "board cannot be asked. It went well%s.",
        n, a->sum->has_tears ? "" : ", or nobody looked");
    try(f, "Use a server with a board (this turnpike's).");
}

static void timeouts(struct advice *a)
{
    unsigned long long n = count(a, TP_COUNT_RELEASE_TIMEOUTS);
    n = a->counted ? n : a->signs->long_waits;
    if (n == 0)
        return;
    struct tp_finding *f =
        find(a, TP_FINDING_ERROR, "release-timeouts", "Waits for a release went beyond their bound");
    say(f, "%llu acquire%s waited longer for an image than a healthy panel ever keeps one", n,
        s_of(n));
    if (a->signs->longest_wait_ns > 0)
        say(f, " (the longest %.0f ms)", ms((double)a->signs->longest_wait_ns));
    say(f, ". A healthy run has none of these. ");
    if (count(a, TP_COUNT_NOTES_LOST) > 0 && a->setup->board == TP_OFF)
        say(f, "Release notes were lost, and there is no board that says the same.");
    else if (a->signs->stops > 0)
        say(f, "The panel stopped meanwhile, which explains those around its stops.");
    else
        say(f, "Somebody keeps images: the panel's fence is silent, or the compositor stalls.");
    try(f, "Look at the first one in the timeline. turnpike doctor on the device's log says whether "
           "SurfaceFlinger rejected a transaction; a compositor that stalls shows as a long way from "
           "ready to the panel.");
}

static void late_fences(struct advice *a)
{
    const uint64_t *late = a->signs->released_late;
    uint64_t n = 0, all = late[0];
    unsigned mostly = 1;
    for (unsigned k = 1; k <= TP_SIGNS_LATE; k++) {
        n += late[k];
        all += late[k];
        mostly = late[k] > late[mostly] ? k : mostly;
    }
    if (n < 3 || share(n, all) < 0.001 || a->setup->release_fence == TP_OFF)
        return;
    bool hurts = share(n, all) > 0.005 && a->m->release_wait_ns > 0.01 * (double)a->period_ns;
    struct tp_finding *f =
        find(a, hurts ? TP_FINDING_WARNING : TP_FINDING_NOTE, "late-fences", "Release fences come late");
    say(f,
        "%llu of %llu release fences (%.1f %%) signalled after the panel had left the image, mostly "
        "by %u%s refresh%s. ",
        (unsigned long long)n, (unsigned long long)all, 100 * share(n, all), mostly,
        mostly == TP_SIGNS_LATE ? " or more" : "", mostly == 1 ? "" : "es");
    if (hurts)
        say(f, "The game waits for them: %.2f ms a frame%s.", ms(a->m->release_wait_ns),
            a->signs->late_wait > 0 ? ", and loses frames by that" : "");
    else if (a->m->release_wait_ns <= 0.01 * (double)a->period_ns)
        say(f, "There are enough images to hide it: nobody waits.");
    else
        say(f, "They are too few to be felt.");
    unsigned images = images_of(a), needed = tp_advise_images(a->setup, a->signs);
    if (hurts && needed > 0 && images > 0 && images < needed + mostly && needed + mostly <= 64)
        try(f, "%u images hide that (TURNPIKE_MIN_IMAGES=%u; there are %u), at the price of memory. ",
            needed + mostly, needed + mostly, images);
    try(f, "The cause is on the panel's side: its completion callback is late or batched, or another "
           "layer holds the buffer. Compare with another refresh rate.");
}

static void silent_fences(struct advice *a)
{
    unsigned long long n = a->signs->silent, resynced = count(a, TP_COUNT_NOTES_RESYNCED);
    if (n == 0)
        return;
    struct tp_finding *f =
        find(a, TP_FINDING_WARNING, "silent-fences", "Release fences stay silent");
    say(f,
        "%llu time%s nobody said for half a second or more that the panel had left an image. The server "
        "then shows a picture of its own, so that the panel lets go; until that the game has one image "
        "less",
        n, s_of(n));
    if (resynced > 0)
        say(f, ", and asked %llu times for the state", resynced);
    say(f, ".");
    try(f, "The panel's completion callback or its fence is at fault: see with turnpike doctor whether "
           "SurfaceFlinger rejected transactions or the app lost its surface.");
}

static void lost_notes(struct advice *a)
{
    unsigned long long lost = count(a, TP_COUNT_NOTES_LOST), resynced = count(a, TP_COUNT_NOTES_RESYNCED);
    if (lost == 0)
        return;
    uint64_t sent = count(a, TP_COUNT_NOTES_PENDING) + count(a, TP_COUNT_NOTES_FINAL) + lost;
    struct tp_finding *f = find(a, TP_FINDING_WARNING, "notes-lost", "Release notes are lost");
    say(f, "%llu of about %llu notes from the server (%.1f %%) did not reach the game", lost,
        (unsigned long long)sent, 100 * share(lost, sent));
    if (resynced > 0)
        say(f, "; %llu times the state was asked for again", resynced);
    say(f, ". ");
    if (a->setup->board == TP_OFF)
        say(f, "There is no board: a lost final note costs a wait up to its bound, and a lost pending "
               "note can tear.");
    else if (count(a, TP_COUNT_RELEASE_TIMEOUTS) == 0)
        say(f, "The board tells the same, and so no wait was longer for it.");
    else
        say(f, "The board should tell the same, and yet waits went beyond their bound.");
    try(f, "See why the game's side does not empty its socket: a process that is stopped or starved, "
           "or that has run out of file descriptors.%s",
        a->setup->board == TP_OFF ? " Use a server with a board (this turnpike's)." : "");
}

/* Slots: the panel keeps an image longer than there are others to go on with. */
static void few_images(struct advice *a)
{
    unsigned images = images_of(a), needed = tp_advise_images(a->setup, a->signs);
    double waits = a->m->slot_wait_ns + a->m->release_wait_ns;
    if (images == 0 || needed <= images || !is_slow(a) || a->setup->release_fence == TP_OFF ||
        waits < 0.05 * (double)a->period_ns)
        return;
    struct tp_finding *f =
        find(a, TP_FINDING_WARNING, "few-images", "Too few images for the full rate");
    say(f,
        "An image is away for %.1f ms from its acquire to its release. To go on meanwhile takes %u "
        "images (H/T, rounded up), and there are %u; each frame waits %.1f ms for one.",
        ms(mean(&a->signs->away)), needed, images, ms(waits));
    try(f, "Give the swapchain %u images: TURNPIKE_MIN_IMAGES=%u, or --images %u. Or cap at half the "
           "refresh, which %u images may hold.",
        needed, needed, needed, images);
}

static void add_rate(char *to, size_t n, uint32_t mhz)
{
    size_t at = strlen(to);
    snprintf(to + at, n - at, "%s%.4g", at > 0 ? ", " : "", mhz / 1000.0);
}

static void cap_beats(struct advice *a)
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
        if (panels[i] != refresh && tp_cap_lock(cap, INT64_C(1000000000000) / panels[i]) > 0)
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

static void over_budget(struct advice *a)
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
            ms(mean(&s->work)), ms(cpu), ms(gpu), ms(spacing), where_work_goes(cpu, gpu, spacing));
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
        (unsigned long long)s->late_work, ms((double)s->work.most), ms(mean(&s->work)));
    try(f, "Jump to one in the timeline and see whether its CPU or its GPU part is long: shaders that "
           "are compiled, files that are loaded, or a heavy view.");
    if (has_gate(a, "latency"))
        try(f, " The gate vsync leaves more room for them than latency.");
}

static void composition(struct advice *a)
{
    double delay = mean(&a->signs->to_commit) + mean(&a->signs->composing);
    if (a->period_ns <= 0 || share(a->signs->slow_way, a->signs->frames) < 0.5)
        return;
    struct tp_finding *f =
        find(a, TP_FINDING_WARNING, "composition", "The compositor takes long with each frame");
    say(f,
        "From ready to the server a frame takes %.1f ms on average, %.0f %% of a refresh. With direct "
        "scan-out it is next to nothing: the compositor draws a picture of its own, or is late.",
        ms(delay), 100 * delay / (double)a->period_ns);
    try(f, "Make the game's window full-screen and opaque, without overlays and scaling, so that its "
           "own images go to the panel.");
}

static void held(struct advice *a)
{
    const struct tp_signs *s = a->signs;
    if (s->late_held < 2 || 5 * s->late_held < s->late)
        return;
    struct tp_finding *f =
        find(a, TP_FINDING_WARNING, "held", "Frames are held on their way to the panel");
    say(f,
        "%llu frames that were ready in time came to the panel's side late, by up to %.0f ms: the "
        "compositor or the server stood still%s.",
        (unsigned long long)s->late_held, ms((double)s->longest_held_ns),
        s->stops > 0 ? ", or the panel did" : "");
    try(f, "Look at what else ran then: a compositor that loads, is stopped or was started anew, a phone "
           "that is short of memory or hot. Fewer layers, and none above the game, leave it less to do.");
}

static void left_lying(struct advice *a)
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

static void gate_off(struct advice *a)
{
    if (!has_gate(a, "off"))
        return;
    double queue = mean(&a->signs->to_latch);
    bool queues = a->period_ns > 0 && queue > 1.25 * (double)a->period_ns;
    struct tp_finding *f = find(a, queues ? TP_FINDING_WARNING : TP_FINDING_NOTE, "gate-off",
        queues ? "The gate is off, and finished frames queue" : "The gate is off");
    if (queues)
        say(f,
            "A finished frame waits %.1f ms for the panel (%.1f refreshes): nothing holds the game "
            "back but the count of its images, and each is old when it is shown.",
            ms(queue), queue / (double)a->period_ns);
    else
        say(f, "Frames start when the game likes: nothing keeps their spacing even.");
    try(f, "TURNPIKE_GATE=vsync paces to the refresh; latency starts frames as late as they may.");
}

static void clocks(struct advice *a)
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
            ms(idle), ms(busy));
    else
        say(f, "The GPU's clock was low %llu times, as it was idle most of the time; a frame takes it "
               "%.1f ms.",
            (unsigned long long)planted, ms(mean(&s->gpu)));
    try(f, "Compare the driver variant p, which asks the kernel to keep clocks up, and watch the heat.");
}

static void stops(struct advice *a)
{
    unsigned long long n = a->signs->stops;
    if (n == 0)
        return;
    struct tp_finding *f = find(a, TP_FINDING_WARNING, "panel-stopped", "The panel stopped");
    say(f, "%llu time%s no refresh came, for up to %.0f ms.", n, s_of(n),
        ms((double)a->signs->longest_stop_ns));
    if (a->m->drops > 0)
        say(f, " Frames that were presented then were dropped (%llu in all).",
            (unsigned long long)a->m->drops);
    try(f, "A screen that was switched off, a minimised app or a mode set do that, and are no fault. "
           "Else look at the device's log around these instants with turnpike doctor.");
}

static void rates(struct advice *a)
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

static void drops(struct advice *a)
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

static void async_tears(struct advice *a)
{
    if (a->m->async_tears == 0)
        return;
    struct tp_finding *f =
        find(a, TP_FINDING_NOTE, "async-tears", "The game asked for tearing, and got it");
    say(f, "%llu refresh%s showed two frames, one above the other: presents of the mode IMMEDIATE.",
        (unsigned long long)a->m->async_tears, a->m->async_tears == 1 ? "" : "es");
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
static void uneven(struct advice *a)
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
    try(f, "Step through the events (key n) and see which part of a late frame is long: a wait, the "
           "CPU, the GPU or the way to the panel.");
}

static void one_side(struct advice *a)
{
    if (a->sum->has_guest || a->m->frames == 0)
        return;
    struct tp_finding *f =
        find(a, TP_FINDING_NOTE, "panel-side-only", "Only the panel's side was recorded");
    say(f, "What the game waited for, and when its frames began, is not in here: the game does not use "
           "turnpike's ICD, or did not share its records.");
    try(f, "Run the game with the ICD, as turnpike play does, to see causes.");
}

static void nothing(struct advice *a)
{
    if (a->m->frames > 0)
        return;
    struct tp_finding *f = find(a, TP_FINDING_WARNING, "nothing-shown", "Nothing was shown");
    say(f, "No frame of this guest reached the panel%s.",
        a->m->drops > 0 ? ", though some were presented" : "");
    try(f, "See whether the game presents at all, and whether its window is the one that is shown.");
}

static void sort(struct tp_finding *f, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        for (unsigned k = i; k > 0 && f[k].severity > f[k - 1].severity; k--) {
            struct tp_finding one = f[k];
            f[k] = f[k - 1];
            f[k - 1] = one;
        }
}

static struct advice begin(const struct tp_summary *summary, const struct tp_setup *setup,
    const struct tp_signs *signs, struct tp_finding *out)
{
    struct advice a = {.sum = summary,
        .m = &summary->measures,
        .setup = setup,
        .signs = signs,
        .counted = summary->has_guest && summary->has_counts,
        .out = out};
    a.period_ns = setup->refresh_mhz > 0 ? INT64_C(1000000000000) / setup->refresh_mhz : 0;
    int64_t cap = setup->cap_mhz > 0 && !has_gate(&a, "off")
        ? INT64_C(1000000000000) / setup->cap_mhz
        : 0;
    a.spacing_ns = cap > a.period_ns ? cap : a.period_ns;
    return a;
}

unsigned tp_advise(const struct tp_summary *summary, const struct tp_setup *setup,
    const struct tp_signs *signs, struct tp_finding out[TP_FINDINGS])
{
    /* The order within a severity is that of what to look at first. */
    static void (*const causes[])(struct advice *) = {nothing, tears, timeouts, unsafe,
        late_fences, silent_fences, few_images, over_budget, stops, composition, held, left_lying,
        cap_beats, lost_notes, gate_off, clocks, rates, drops, async_tears, uneven, one_side};
    static_assert(sizeof causes / sizeof *causes <= TP_FINDINGS, "one finding a cause");
    struct advice a = begin(summary, setup, signs, out);
    for (unsigned i = 0; i < sizeof causes / sizeof *causes; i++)
        causes[i](&a);
    sort(out, a.n);
    return a.n;
}

/* --- the verdict --- */

__attribute__((format(printf, 2, 3))) static void more(struct tp_verdict *v, const char *fmt, ...)
{
    size_t n = strlen(v->text);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(v->text + n, sizeof v->text - n, fmt, ap);
    va_end(ap);
}

void tp_advise_verdict(const struct tp_summary *summary, const struct tp_setup *setup,
    const struct tp_signs *signs, const struct tp_finding *findings, unsigned n,
    struct tp_verdict *out)
{
    struct advice a = begin(summary, setup, signs, NULL);
    unsigned grave = 0;
    for (unsigned i = 0; i < n; i++)
        grave += findings[i].severity >= TP_FINDING_WARNING;
    *out = (struct tp_verdict){.severity = n > 0 ? findings[0].severity : TP_FINDING_NOTE};
    more(out, "%s", grave > 0 ? findings[0].title : "Healthy");
    if (a.m->frames == 0) {
        more(out, ".");
        return;
    }
    more(out, ": %.2f frames a second", fps_of(a.m));
    if (setup->slowest_mhz > 0)
        more(out, " on %.4g to %.4g Hz", setup->slowest_mhz / 1000.0, setup->refresh_mhz / 1000.0);
    else if (setup->refresh_mhz > 0)
        more(out, " on %.4g Hz", setup->refresh_mhz / 1000.0);
    if (summary->has_tears && a.m->tears == 0)
        more(out, ", no tear");
    else if (summary->has_tears)
        more(out, ", %llu tear%s", (unsigned long long)a.m->tears, s_of(a.m->tears));
    if (summary->has_guest && setup->slowest_mhz == 0 && !(summary->has_tears && a.m->tears > 0))
        more(out, a.m->on_vblank >= 1 ? ", every frame on its refresh"
                                      : ", %.2f %% of frames on their refresh",
            100 * a.m->on_vblank);
    more(out, ".");
    if (grave > 1)
        more(out, " %u more finding%s.", grave - 1, s_of(grave - 1));
}
