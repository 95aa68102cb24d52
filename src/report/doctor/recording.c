#include "report/doctor/recording.h"

#include "base/buf.h"
#include "report/html_model.h"

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

/* What report says of the guest that has the figures; where there is none, of the panel. */
static void conclude(const struct tp_report *r, struct tp_diagnosis *out)
{
    const struct report_guest *g = report_main_guest(r);
    struct report_guest nobody = {0};

    if (!g) {
        nobody.n_findings = tp_advise(&r->main, &r->setup, &r->panel, nobody.findings);
        tp_advise_verdict(&r->main, &r->setup, &r->panel, nobody.findings, nobody.n_findings,
            &nobody.verdict);
        g = &nobody;
    }
    for (unsigned i = 0; i < g->n_findings; i++)
        add(out, &g->findings[i]);
    out->verdict = tp_printable_line(g->verdict.text);
}

int tp_doctor_recording(
    const char *path, struct tp_diagnosis *out, struct tp_capture_found *found, struct tp_error *e)
{
    struct tp_report *r;
    int err = tp_report_read(path, &r, e);

    *out = (struct tp_diagnosis){0};
    if (err < 0)
        return err;
    *found = r->found;
    conclude(r, out);
    tp_report_destroy(r);
    return 0;
}
