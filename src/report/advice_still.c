/* Causes that lie in a picture that did not change: in the midst of a run, and at its end. */
#include "report/advice_internal.h"

#define STILL_NS INT64_C(1000000000)

bool advice_is_judged(const struct advice *a)
{
    return a->m->interval.max_ns > 0;
}

/* The instant of the capture; nothing, where its start is not known. */
static const char *at(const struct advice *a, const char *word, int64_t ns, char out[64])
{
    int64_t t = ns - a->signs->start_ns;
    *out = 0;
    if (a->signs->start_ns != 0 && t >= 0)
        snprintf(out, 64, " %s %lld:%02d.%03d", word, (long long)(t / 60000000000),
            (int)(t / 1000000000 % 60), (int)(t / 1000000 % 1000));
    return out;
}

int64_t advice_still_ns(const struct advice *a)
{
    const struct tp_signs *s = a->signs;
    if (s->shown == 0 || !s->last.refresh || s->replaced || s->last.refresh_ns <= s->shown_ns)
        return 0;
    int64_t still = s->last.refresh_ns - s->shown_ns;
    return still > STILL_NS && (double)still > 5 * s->last.usual_ns ? still : 0;
}

void advice_stands_still(struct advice *a)
{
    int64_t still = advice_still_ns(a);
    char since[64], title[96];
    double seconds = (double)still / 1e9;
    if (still == 0 || a->m->frames == 0)
        return;
    at(a, "since", a->signs->shown_ns, since);
    if (!advice_is_judged(a)) {
        struct tp_finding *f = find(a, TP_FINDING_NOTE, "stands-still", "A still picture");
        say(f, "No new frame for the last %.1f s%s, after %llu in all: a program that draws only when "
               "something changes does that. Else it stood still, was paused, or had ended.",
            seconds, since, (unsigned long long)a->m->frames);
        try(f, "For a judgement record something that moves, for some seconds.");
        return;
    }
    snprintf(title, sizeof title, "No new frame for the last %.1f s", seconds);
    struct tp_finding *f = find(
        a, a->signs->others ? TP_FINDING_NOTE : TP_FINDING_WARNING, "stands-still", title);
    say(f, "The panel went on for %.1f s%s without a new frame of this guest: the game stood still, was "
           "paused, or had ended.%s",
        seconds, since, a->signs->others ? " Another guest's frames came meanwhile." : "");
    try(f, "If it should have gone on, see what it waited for: its own log, whether its process was "
           "stopped, and while it lasts turnpike top and a debugger's picture of its threads.");
}

static const char *const parts[] = {
    [TP_STALL_UNKNOWN] = "only the panel's side of it is known",
    [TP_STALL_ELSEWHERE] = "before the game asked for its next image: it was busy otherwise, loaded, was "
                           "paused or stopped",
    [TP_STALL_SLOT] = "in waiting for an image",
    [TP_STALL_RELEASE] = "in waiting for an image's release",
    [TP_STALL_GATE] = "in waiting for the gate",
    [TP_STALL_ASLEEP] = "in its acquire, behind the instant of the gate: the process slept, because it "
                        "was stopped or not scheduled; the gate did not hold it",
    [TP_STALL_CPU] = "between its image and its present: the game's own work, or a stop of its process",
    [TP_STALL_GPU] = "on the GPU",
    [TP_STALL_WAY] = "between the finished frame and the panel: the compositor or the server",
};

void advice_stood_still(struct advice *a)
{
    const struct tp_signs *s = a->signs;
    char since[64], title[96];
    /* A panel that stopped is told as that. */
    if (s->stalls.n == 0 || (s->stops > 0 && s->longest_stop_ns > s->stalls.longest_ns / 2))
        return;
    double seconds = (double)s->stalls.longest_ns / 1e9;
    snprintf(title, sizeof title, "%s stood still for %.1f s",
        a->sum->has_guest ? "The game" : "The picture", seconds);
    struct tp_finding *f = find(a, TP_FINDING_WARNING, "stood-still", title);
    at(a, "from", s->stalls.from_ns, since);
    if (s->stalls.n > 1)
        say(f, "%llu times no new frame came for long, for up to %.2f s%s (before frame %llu). ",
            (unsigned long long)s->stalls.n, seconds, since, (unsigned long long)s->stalls.frame);
    else
        say(f, "No new frame came for %.2f s%s (before frame %llu). ", seconds, since,
            (unsigned long long)s->stalls.frame);
    if (s->stalls.part == TP_STALL_UNKNOWN)
        say(f, "O%s.", parts[TP_STALL_UNKNOWN] + 1);
    else
        say(f, "%.2f s of it lay %s.", (double)s->stalls.part_ns / 1e9, parts[s->stalls.part]);
    try(f, "Look at what happened then: a level that loads, shaders that are compiled, a pause, a process "
           "that was stopped or a machine that slept. The event there leads to the frame.");
}
