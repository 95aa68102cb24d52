/* Causes that lie in the way of an image back to the game: tears, waits, fences, notes. */
#include "report/advice_internal.h"

void advice_tears(struct advice *a)
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
            n, es_of(n));
        try(f, "Switch release fences on (TURNPIKE_RELEASE_FENCE=on, --release-fence on). Where that "
               "cannot be, a cap at half the refresh or one image more hides it.");
        return;
    }
    struct tp_finding *f = find(a, TP_FINDING_ERROR, "tears", "Tearing");
    say(f, "%llu refresh%s showed an image that was written meanwhile. ", n, es_of(n));
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
        try(f, "A report's timeline shows which image is written, and who still reads it. If the game "
               "writes an image that it has presented, it is the game's fault; else please tell "
               "turnpike's maintainers, with a capture.");
    }
}

void advice_unsafe(struct advice *a)
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

void advice_timeouts(struct advice *a)
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
        say(f, " (the longest %.0f ms)", tp_ms((double)a->signs->longest_wait_ns));
    say(f, ". A healthy run has none of these. ");
    if (count(a, TP_COUNT_NOTES_LOST) > 0 && a->setup->board == TP_OFF)
        say(f, "Release notes were lost, and there is no board that says the same.");
    else if (a->signs->stops > 0)
        say(f, "The panel stopped meanwhile, which explains those around its stops.");
    else
        say(f, "Somebody keeps images: the panel's fence is silent, or the compositor stalls.");
    try(f, "A report's timeline shows the first one. turnpike doctor on the device's log says whether "
           "SurfaceFlinger rejected a transaction; a compositor that stalls shows as a long way from "
           "ready to the panel.");
}

void advice_late_fences(struct advice *a)
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
        mostly == TP_SIGNS_LATE ? " or more" : "", es_of(mostly));
    if (hurts)
        say(f, "The game waits for them: %.2f ms a frame%s.", tp_ms(a->m->release_wait_ns),
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

void advice_silent_fences(struct advice *a)
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

void advice_lost_notes(struct advice *a)
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
        say(f, "%s tells the same, and so no wait was longer for it.",
            a->setup->board == TP_ON ? "The board" : "A board");
    else
        say(f, "The board should tell the same, and yet waits went beyond their bound.");
    try(f, "See why the game's side does not empty its socket: a process that is stopped or starved, "
           "or that has run out of file descriptors.%s",
        a->setup->board == TP_OFF ? " Use a server with a board (this turnpike's)." : "");
}

/* Slots: the panel keeps an image longer than there are others to go on with. */
void advice_few_images(struct advice *a)
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
        tp_ms(mean(&a->signs->away)), needed, images, tp_ms(waits));
    try(f, "Give the swapchain %u images: TURNPIKE_MIN_IMAGES=%u, or --images %u. Or cap at half the "
           "refresh, which %u images may hold.",
        needed, needed, needed, images);
}
