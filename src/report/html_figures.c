/* Pictures and tables of the page that need no script. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/html_page.h"
#include "report/html_text.h"

#define WIDTH 440

void page_ms(struct tp_buf *out, double ns)
{
    double v = tp_ms(ns);
    tp_buf_addf(out, "%.*f", fabs(v) < 100 ? 2 : fabs(v) < 1000 ? 1 : 0, v);
}

static void figure(struct tp_buf *out, const char *title, const char *words)
{
    tp_buf_addf(out, "<figure>\n<figcaption><b>%s</b> <span>%s</span></figcaption>\n", title, words);
}

/* --- how long intervals are --- */

void page_histogram(struct tp_buf *out, const struct report_guest *g)
{
    unsigned last = 2 * REPORT_BAR;
    uint64_t most = 1;
    for (unsigned i = 0; i < REPORT_BARS; i++) {
        last = g->bars[i] > 0 && i > last ? i : last;
        most = g->bars[i] > most ? g->bars[i] : most;
    }
    figure(out, "Intervals", "from first line to first line; the height is logarithmic");
    double step = (double)(WIDTH - 20) / (last + 1), high = 150;
    tp_buf_addf(out,
        "<svg viewBox=\"0 0 %d 190\" role=\"img\" aria-label=\"Histogram: the median interval is %.2f "
        "milliseconds, the longest %.2f\">\n",
        WIDTH, tp_ms((double)g->summary.measures.interval.p50_ns),
        tp_ms((double)g->summary.measures.interval.max_ns));
    for (unsigned i = 0; i <= last; i += REPORT_BAR) {
        double x = 10 + (i + 0.5) * step;
        tp_buf_addf(out,
            "<line class=\"grid\" x1=\"%.1f\" y1=\"10\" x2=\"%.1f\" y2=\"160\"/><text x=\"%.1f\" "
            "y=\"176\" text-anchor=\"middle\">%.4g</text>\n",
            x, x, x, tp_ms((double)g->bar_ns * i));
    }
    double far = 1.5 * (double)g->summary.measures.interval.p50_ns;
    for (unsigned i = 0; i <= last; i++) {
        if (g->bars[i] == 0)
            continue;
        double h = high * log1p((double)g->bars[i]) / log1p((double)most);
        tp_buf_addf(out, "<rect class=\"bar%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">",
            (double)g->bar_ns * i > far ? " far" : "", 10 + i * step + 0.5, 160 - h,
            step > 3 ? step - 1 : 2, h);
        if (i == REPORT_BARS - 1)
            tp_buf_addf(out, "<title>%.1f ms or more: %" PRIu64 "</title></rect>\n",
                tp_ms((double)g->bar_ns * (i - 0.5)), g->bars[i]);
        else
            tp_buf_addf(out, "<title>%.1f to %.1f ms: %" PRIu64 "</title></rect>\n",
                tp_ms((double)g->bar_ns * (i > 0 ? i - 0.5 : 0)), tp_ms((double)g->bar_ns * (i + 0.5)),
                g->bars[i]);
    }
    tp_buf_addf(out, "<text x=\"%d\" y=\"188\" text-anchor=\"end\">ms</text></svg>\n</figure>\n",
        WIDTH - 4);
}

/* --- how long frames stay --- */

static void shares(struct tp_buf *out, const struct tp_measures *m, uint64_t all)
{
    double x = 0;
    tp_buf_addf(out,
        "<svg viewBox=\"0 0 %d 44\" role=\"img\" aria-label=\"Shares of frames by the refreshes for "
        "which they stay\">\n",
        WIDTH);
    for (unsigned i = 1; i <= TP_CADENCE; i++) {
        double w = WIDTH * (double)m->cadence[i] / (double)all;
        if (m->cadence[i] == 0)
            continue;
        tp_buf_addf(out,
            "<rect class=\"s%u\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"24\"><title>%u%s: %" PRIu64
            "</title></rect>\n",
            i < 4 ? i : 4, x, w > 1 ? w : 1, i, i == TP_CADENCE ? " or more" : "", m->cadence[i]);
        if (w > 60)
            tp_buf_addf(out,
                "<text class=\"ink\" x=\"%.1f\" y=\"16\" text-anchor=\"middle\">%u%s: %.*f %%</text>\n",
                x + w / 2, i, i == TP_CADENCE ? " or more" : "", m->cadence[i] == all ? 0 : 1,
                100 * (double)m->cadence[i] / (double)all);
        x += w;
    }
    tp_buf_addf(out, "<text x=\"0\" y=\"40\">share of frames that stay 1, 2, 3 … refreshes</text></svg>\n");
}

/* Each frame as long as it stays. */
static void rhythm(struct tp_buf *out, const struct report_guest *g)
{
    uint64_t n = g->stays < REPORT_STRIP ? g->stays : REPORT_STRIP;
    double unit = WIDTH / 48.0, x = 0;
    unsigned y = 0;
    struct tp_buf cells = {0};
    for (uint64_t i = 0; i < n && y < 6; i++) {
        unsigned stay = g->strip[(g->stays - n + i) % REPORT_STRIP];
        double w = unit * (stay < 8 ? stay : 8);
        if (x + w > WIDTH + 0.5) {
            x = 0;
            y++;
        }
        if (y < 6)
            tp_buf_addf(&cells,
                "<rect class=\"s%u\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"15\" rx=\"2\"><title>"
                "frame %" PRIu64 ": %u</title></rect>\n",
                stay < 1 ? 1 : stay < 4 ? stay : 4, x + 0.5, y * 19, w - 1, g->strip_first + i, stay);
        x += w;
    }
    unsigned lines = y < 6 ? y + 1 : 6;
    tp_buf_addf(out,
        "<svg viewBox=\"0 0 %d %u\" role=\"img\" aria-label=\"The rhythm of frames, each as long as it "
        "stays\">\n%s<text x=\"0\" y=\"%u\">from frame %" PRIu64 ", each as long as it stays</text></svg>\n",
        WIDTH, lines * 19 + 18, tp_buf_str(&cells), lines * 19 + 11, g->strip_first);
    tp_buf_finish(&cells);
}

void page_cadence(struct tp_buf *out, const struct report_guest *g)
{
    const struct tp_measures *m = &g->summary.measures;
    uint64_t all = 0;
    for (unsigned i = 1; i <= TP_CADENCE; i++)
        all += m->cadence[i];
    figure(out, "Cadence", "for how many refreshes each frame stays");
    if (all == 0)
        tp_buf_adds(out, "<p class=\"soft\">With a variable rate there are no refreshes to count by.</p>\n");
    else
        shares(out, m, all);
    if (g->stays > 0)
        rhythm(out, g);
    tp_buf_adds(out, "</figure>\n");
}

/* --- where a frame's time goes --- */

struct stage {
    const char *name, *class;
    double ns;
};

static double mean(const struct tp_sign *s)
{
    return s->n > 0 ? s->sum / (double)s->n : 0;
}

static unsigned stages_of(const struct report_guest *g, struct stage out[8])
{
    const struct tp_measures *m = &g->summary.measures;
    const struct tp_signs *s = &g->signs;
    double server = mean(&s->to_commit) + mean(&s->composing), latch = mean(&s->to_latch) - server;
    const struct stage all[] = {{"waits for an image", "w", m->slot_wait_ns},
        {"for its release", "w", m->release_wait_ns}, {"for the gate", "w", m->gate_wait_ns},
        {"CPU", "s1", mean(&s->cpu)}, {"GPU", "s2", mean(&s->gpu)},
        {"compositor", "s3", server}, {"to its latch", "s1", latch > 0 ? latch : 0},
        {"latch to first line", "s4", mean(&s->to_line)}};
    unsigned n = 0;
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].ns >= 5000)
            out[n++] = all[i];
    return n;
}

void page_stages(struct tp_buf *out, const struct report_guest *g)
{
    struct stage stages[8];
    unsigned n = stages_of(g, stages);
    double all = 1;
    for (unsigned i = 0; i < n; i++)
        all += stages[i].ns;
    figure(out, "Where a frame's time goes", "means, one after the other, in ms");
    tp_buf_addf(out, "<svg viewBox=\"0 0 %d %u\" role=\"img\" aria-label=\"Mean durations:", WIDTH,
        n * 22 + 8);
    for (unsigned i = 0; i < n; i++)
        tp_buf_addf(out, " %s %.2f ms%s", stages[i].name, tp_ms(stages[i].ns), i + 1 < n ? "," : "");
    tp_buf_adds(out, "\">\n");
    double left = 116, wide = WIDTH - left - 56, at = 0;
    for (unsigned i = 0; i < n; i++) {
        double w = wide * stages[i].ns / all, x = left + wide * at / all;
        tp_buf_addf(out,
            "<text x=\"%.0f\" y=\"%u\" text-anchor=\"end\">%s</text><rect class=\"%s\" x=\"%.1f\" "
            "y=\"%u\" width=\"%.1f\" height=\"16\" rx=\"2\"/><text class=\"ink\" x=\"%.1f\" "
            "y=\"%u\">%.2f</text>\n",
            left - 8, i * 22 + 16, stages[i].name, stages[i].class, x, i * 22 + 4, w > 1 ? w : 1,
            x + w + 6, i * 22 + 16, tp_ms(stages[i].ns));
        at += stages[i].ns;
    }
    tp_buf_adds(out, "</svg>\n</figure>\n");
}

/* --- tables --- */

static void spread_row(struct tp_buf *out, const char *name, const struct tp_spread *s, bool known)
{
    tp_buf_addf(out, "<tr><th scope=\"row\">%s</th>", name);
    const double values[] = {
        (double)s->p50_ns, (double)s->p99_ns, (double)s->max_ns, s->mean_ns, s->stddev_ns};
    for (unsigned i = 0; i < 5; i++) {
        tp_buf_adds(out, known ? "<td>" : "<td class=\"none\">–");
        if (known)
            page_ms(out, values[i]);
        tp_buf_adds(out, "</td>");
    }
    tp_buf_adds(out, "</tr>\n");
}

static void mean_row(struct tp_buf *out, const char *name, double ns)
{
    tp_buf_addf(out,
        "<tr><th scope=\"row\">%s</th><td class=\"none\">–</td><td class=\"none\">–</td>"
        "<td class=\"none\">–</td><td>",
        name);
    page_ms(out, ns);
    tp_buf_adds(out, "</td><td class=\"none\">–</td></tr>\n");
}

static void times(struct tp_buf *out, const struct report_guest *g)
{
    const struct tp_measures *m = &g->summary.measures;
    bool known = g->summary.has_guest;
    tp_buf_adds(out,
        "<div class=\"card scroll\"><table>\n<caption>Times in ms</caption>\n<thead><tr><td></td>"
        "<th scope=\"col\">half below</th><th scope=\"col\">99 % below</th><th scope=\"col\">longest</th>"
        "<th scope=\"col\">mean</th><th scope=\"col\">std. dev.</th></tr></thead>\n<tbody>\n");
    spread_row(out, "Interval", &m->interval, m->frames > 0);
    spread_row(out, "Change from one interval to the next", &m->stutter, m->frames > 0);
    spread_row(out, "Start to first line", &m->latency, known);
    spread_row(out, "Acquire wait", &m->acquire_wait, known);
    if (known) {
        mean_row(out, "… for an image", m->slot_wait_ns);
        mean_row(out, "… for its release", m->release_wait_ns);
        mean_row(out, "… for the gate", m->gate_wait_ns);
    }
    spread_row(out, "Gate to start", &m->gate_to_start, known);
    tp_buf_adds(out, "</tbody></table></div>\n");
}

static void count_row(
    struct tp_buf *out, const char *name, const char *words, bool known, uint64_t n)
{
    tp_buf_addf(out, "<tr><th scope=\"row\">%s <small>%s</small></th>", name, words);
    if (known)
        tp_buf_addf(out, "<td>%" PRIu64 "</td></tr>\n", n);
    else
        tp_buf_adds(out, "<td class=\"none\">not known</td></tr>\n");
}

static void counts(struct tp_buf *out, const struct report_guest *g)
{
    const struct tp_summary *s = &g->summary;
    const struct tp_measures *m = &s->measures;
    bool counted = s->has_guest && s->has_counts;
    const uint64_t *c = s->counts;
    tp_buf_adds(out, "<div class=\"card scroll\"><table class=\"plain\">\n<caption>Counts</caption>\n<tbody>\n");
    count_row(out, "Frames shown", "distinct images", true, m->frames);
    count_row(out, "Tears", "refreshes whose image was written meanwhile", s->has_tears, m->tears);
    if (m->async_tears > 0)
        count_row(out, "Async flips", "tears that were asked for", true, m->async_tears);
    count_row(out, "Repeats", "refreshes that should have shown a new frame", true, m->repeats);
    count_row(out, "Ready too late", "for the latch that was booked", s->has_guest, m->gate_late);
    count_row(out, "Drops", "presented, never shown", true, m->drops);
    count_row(out, "Waits for a release", "acquires that had to", counted, c[TP_COUNT_RELEASE_WAITS]);
    count_row(out, "Waits for an image", "acquires that had none to wait for", counted,
        c[TP_COUNT_SLOT_WAITS]);
    count_row(out, "Release time-outs", "a healthy run has none", counted,
        c[TP_COUNT_RELEASE_TIMEOUTS]);
    count_row(out, "Unsafe", "handed out before it was known to be free", counted, c[TP_COUNT_UNSAFE]);
    count_row(out, "Notes: pending, final", "from the server", s->has_counts,
        c[TP_COUNT_NOTES_PENDING] + c[TP_COUNT_NOTES_FINAL]);
    count_row(out, "Notes lost", "they did not arrive", s->has_counts, c[TP_COUNT_NOTES_LOST]);
    count_row(out, "State asked again", "after a loss or a reconnect", s->has_counts,
        c[TP_COUNT_NOTES_RESYNCED]);
    tp_buf_adds(out, "</tbody></table></div>\n");
}

void page_figures(struct tp_buf *out, const struct tp_report *r, const struct report_guest *g)
{
    (void)r;
    tp_buf_adds(out, "<div class=\"cards\">\n");
    times(out, g);
    counts(out, g);
    tp_buf_adds(out, "</div>\n");
}

/* --- settings --- */

static double number(const char *value)
{
    return strtod(value, NULL);
}

/* A setting in words; false: it is none of these. */
static bool setting(const struct report_setting *s, const char **name, char *value, size_t n)
{
    static const struct {
        const char *name, *words, *format;
        double divisor;
    } known[] = {{"refresh-mhz", "Refresh", "%.6g Hz", 1000},
        {"slowest-mhz", "Slowest refresh", "%.6g Hz", 1000}, {"cap-mhz", "Cap", "%.6g fps", 1000},
        {"lead-ns", "Latch before the refresh", "%.4g ms", 1e6},
        {"pipeline", "Refreshes from latch to first line", "%.0f", 1}, {"images", "Images", "%.0f", 1}};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(s->name, known[i].name) != 0)
            continue;
        *name = known[i].words;
        snprintf(value, n, known[i].format, number(s->value) / known[i].divisor);
        if (strcmp(s->name, "cap-mhz") == 0 && strcmp(s->value, "0") == 0)
            snprintf(value, n, "none");
        return true;
    }
    return false;
}

static void setting_row(struct tp_buf *out, const struct report_setting *s)
{
    static const char *const words[][2] = {{"made-by", "Made by"}, {"seed", "Seed"}, {"gate", "Gate"},
        {"release-fence", "Release fences"}, {"board", "Board"}};
    const char *name = s->name;
    char value[32];
    tp_buf_adds(out, "<li>");
    bool number = setting(s, &name, value, sizeof value);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        name = strcmp(s->name, words[i][0]) == 0 ? words[i][1] : name;
    html_escape(out, name);
    tp_buf_adds(out, " <bdi>");
    html_escape(out, number ? value : s->value);
    tp_buf_adds(out, "</bdi></li>\n");
}

void page_setup(struct tp_buf *out, const struct tp_report *r)
{
    if (r->n_settings == 0 && r->main.n_faults == 0) {
        tp_buf_adds(out, "<p class=\"soft\">The capture does not say.</p>\n");
        return;
    }
    tp_buf_adds(out, "<ul class=\"setup\">\n");
    for (unsigned i = 0; i < r->n_settings; i++)
        setting_row(out, &r->settings[i]);
    for (unsigned i = 0; i < r->main.n_faults; i++) {
        char *name = html_visible(r->main.faults[i].name);
        tp_buf_adds(out, "<li>Planted: ");
        html_escape(out, name);
        tp_buf_addf(out, " <bdi>%" PRIu64 " times</bdi></li>\n", r->main.faults[i].injected);
        free(name);
    }
    tp_buf_adds(out, "</ul>\n");
    if (r->other_settings > 0)
        tp_buf_addf(out, "<p class=\"soft\">%" PRIu64 " more settings are left out.</p>\n",
            r->other_settings);
}
