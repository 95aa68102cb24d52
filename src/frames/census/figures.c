#include "frames/census/figures.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

struct followed {
    struct tp_metrics *metrics; /* owned; NULL: nobody is followed here */
    unsigned guest;
    uint64_t shown;
    bool has_guest;
};

struct tp_figures {
    struct followed guests[TP_FIGURES_GUESTS + 1]; /* the last: the screen */
    struct tp_summary sums;                        /* what is of all: tears, counts, faults */
    bool refreshed, unwatched;
};

struct tp_figures *tp_figures_create(void)
{
    return tp_calloc(1, sizeof(struct tp_figures));
}

void tp_figures_destroy(struct tp_figures *f)
{
    if (!f)
        return;
    for (unsigned i = 0; i <= TP_FIGURES_GUESTS; i++)
        tp_metrics_destroy(f->guests[i].metrics);
    free(f);
}

static struct followed *find(struct tp_figures *f, unsigned guest)
{
    for (unsigned i = 0; i <= TP_FIGURES_GUESTS; i++)
        if (f->guests[i].metrics && f->guests[i].guest == guest)
            return &f->guests[i];
    return NULL;
}

/* A free place, or that of the one which has shown least. */
static struct followed *find_place(struct tp_figures *f, unsigned guest)
{
    struct followed *least = &f->guests[0];
    if (guest == TP_JOIN_SCREEN)
        return &f->guests[TP_FIGURES_GUESTS];
    for (unsigned i = 0; i < TP_FIGURES_GUESTS; i++) {
        if (!f->guests[i].metrics)
            return &f->guests[i];
        if (f->guests[i].shown < least->shown)
            least = &f->guests[i];
    }
    return least;
}

static struct followed *follow(struct tp_figures *f, unsigned guest)
{
    struct followed *g = find(f, guest);
    if (g)
        return g;
    g = find_place(f, guest);
    struct tp_metrics *metrics = g->metrics;
    if (metrics)
        tp_metrics_reset(metrics);
    else
        metrics = tp_metrics_create();
    *g = (struct followed){.metrics = metrics, .guest = guest};
    return g;
}

void tp_figures_frame(struct tp_figures *f, const struct tp_frame_record *r)
{
    struct followed *g = follow(f, r->guest);
    g->has_guest |= r->acquired_ns != TP_NEVER;
    g->shown += r->line_ns != TP_NEVER;
    tp_metrics_frame(g->metrics, r);
}

void tp_figures_refresh(struct tp_figures *f, const struct tp_refresh_record *r)
{
    f->refreshed = true;
    f->sums.measures.tears += r->torn_ns != TP_NEVER;
    f->sums.measures.async_tears += r->async_torn;
}

void tp_figures_setting(struct tp_figures *f, const char *name, const char *value)
{
    if (strcmp(name, TP_SETTING_WATCHED) == 0)
        f->unwatched = strcmp(value, "off") == 0;
}

static void count_fault(struct tp_summary *s, const char *name, uint64_t value)
{
    unsigned i = 0;
    while (i < s->n_faults && strcmp(s->faults[i].name, name) != 0)
        i++;
    if (i == TP_SUMMARY_FAULTS || strlen(name) >= sizeof s->faults[i].name)
        return;
    if (i == s->n_faults)
        strcpy(s->faults[s->n_faults++].name, name);
    s->faults[i].injected = value;
}

void tp_summary_count(struct tp_summary *s, const char *name, uint64_t value)
{
    for (unsigned i = 0; i < TP_COUNTERS; i++)
        if (strcmp(name, tp_counter_names[i]) == 0)
            s->counts[i] = value;
    s->has_counts = true;
    if (strncmp(name, TP_COUNT_FAULT, strlen(TP_COUNT_FAULT)) == 0)
        count_fault(s, name + strlen(TP_COUNT_FAULT), value);
}

void tp_figures_count(struct tp_figures *f, const char *name, uint64_t value)
{
    tp_summary_count(&f->sums, name, value);
}

unsigned tp_figures_guest(const struct tp_figures *f)
{
    unsigned guest = TP_JOIN_SCREEN;
    uint64_t most = 0;
    for (unsigned i = 0; i < TP_FIGURES_GUESTS; i++) {
        const struct followed *g = &f->guests[i];
        if (!g->metrics || g->shown < most || (g->shown == most && g->guest > guest))
            continue;
        if (g->shown == 0)
            continue;
        most = g->shown;
        guest = g->guest;
    }
    return guest;
}

void tp_figures_get(const struct tp_figures *f, unsigned guest, struct tp_summary *out)
{
    *out = f->sums;
    out->has_tears = f->refreshed && !f->unwatched;
    if (guest == TP_FIGURES_MAIN)
        guest = tp_figures_guest(f);
    for (unsigned i = 0; i <= TP_FIGURES_GUESTS; i++) {
        const struct followed *g = &f->guests[i];
        if (!g->metrics || g->guest != guest)
            continue;
        tp_metrics_get(g->metrics, &out->measures);
        out->measures.tears = f->sums.measures.tears;
        out->measures.async_tears = f->sums.measures.async_tears;
        out->has_guest = g->has_guest;
    }
}
