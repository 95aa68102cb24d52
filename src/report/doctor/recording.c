#include "report/doctor/recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "frames/census/figures.h"
#include "report/advice.h"

/* Signs are of one guest, and whose are wanted is known at the end only. */
struct recording {
    struct tp_figures *figures;
    struct tp_setup setup;
    struct tp_signs panel; /* of refreshes, which are no guest's */
    struct {
        unsigned guest;
        struct tp_signs signs;
    } guests[TP_FIGURES_GUESTS];
    unsigned n_guests;
};

static struct tp_signs *signs_of(struct recording *r, unsigned guest)
{
    unsigned i = 0;

    while (i < r->n_guests && r->guests[i].guest != guest)
        i++;
    if (i == TP_FIGURES_GUESTS)
        return NULL;
    if (i == r->n_guests)
        r->guests[r->n_guests++].guest = guest;
    return &r->guests[i].signs;
}

static void on_setting(void *data, int64_t at_ns, const char *name, const char *value)
{
    struct recording *r = data;

    (void)at_ns;
    tp_setup_set(&r->setup, name, value);
    tp_figures_setting(r->figures, name, value);
}

static void on_frame(void *data, const struct tp_frame_record *f)
{
    struct recording *r = data;
    struct tp_signs *signs = signs_of(r, f->guest);

    tp_figures_frame(r->figures, f);
    if (signs)
        tp_signs_frame(signs, &r->setup, f);
}

static void on_refresh(void *data, const struct tp_refresh_record *f)
{
    struct recording *r = data;

    tp_figures_refresh(r->figures, f);
    tp_signs_refresh(&r->panel, f);
}

static void on_count(void *data, const char *name, uint64_t value)
{
    tp_figures_count(((struct recording *)data)->figures, name, value);
}

static void add(struct tp_diagnosis *out, const struct tp_finding *f)
{
    static const enum tp_doctor_severity severities[] = {[TP_FINDING_NOTE] = TP_DOCTOR_NOTE,
        [TP_FINDING_WARNING] = TP_DOCTOR_WARNING,
        [TP_FINDING_ERROR] = TP_DOCTOR_ERROR};
    unsigned rule = (unsigned)out->n;

    TP_PUSH(out->list, out->n, out->cap) =
        (struct tp_doctor_finding){.severity = severities[f->severity],
            .stage = TP_STAGE_FRAMES,
            .rule = rule,
            .pid = -1,
            .id = tp_printable_line(f->id),
            .process = tp_strdup(""),
            .quote = tp_strdup(""),
            .title = tp_printable_line(f->title),
            .text = tp_printable_line(f->text),
            .fix = tp_printable_line(f->todo),
            .matters = tp_strdup(""),
            .source = tp_strdup("the run's own records")};
}

static void conclude(struct recording *r, struct tp_diagnosis *out)
{
    struct tp_summary summary;
    struct tp_finding list[TP_FINDINGS];
    struct tp_verdict verdict;
    struct tp_signs none = {0}, *signs = signs_of(r, tp_figures_guest(r->figures));

    signs = signs ? signs : &none;
    signs->stops = r->panel.stops;
    signs->longest_stop_ns = r->panel.longest_stop_ns;
    signs->rate_changes = r->panel.rate_changes;
    tp_figures_get(r->figures, TP_FIGURES_MAIN, &summary);
    unsigned n = tp_advise(&summary, &r->setup, signs, list);
    tp_advise_verdict(&summary, &r->setup, signs, list, n, &verdict);
    for (unsigned i = 0; i < n; i++)
        add(out, &list[i]);
    out->verdict = tp_printable_line(verdict.text);
}

int tp_doctor_recording(
    const char *path, struct tp_diagnosis *out, struct tp_capture_found *found, struct tp_error *e)
{
    struct recording *r = tp_calloc(1, sizeof *r);
    struct tp_capture_sink sink = {.setting = on_setting,
        .frame = on_frame,
        .refresh = on_refresh,
        .count = on_count,
        .data = r};

    *out = (struct tp_diagnosis){0};
    r->figures = tp_figures_create();
    int err = tp_capture_read(path, &sink, found, e);
    if (!err)
        conclude(r, out);
    tp_figures_destroy(r->figures);
    free(r);
    return err;
}
