#include "cli/proof.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static bool holds(const json_t *check)
{
    return json_is_true(json_object_get(check, "ok"));
}

static void trim(struct tp_buf *b, char c)
{
    while (b->len && b->data[b->len - 1] == c)
        tp_buf_splice(b, b->len - 1, 1, "", 0);
}

static void add_failures(const json_t *checks, const char *margin, struct tp_buf *out)
{
    size_t i;
    json_t *check;
    json_array_foreach(checks, i, check)
    {
        if (!holds(check))
            tp_buf_addf(out, "%s%s: %s\n", margin, tp_json_text(check, "id"), tp_json_text(check, "detail"));
    }
}

static void add_chip(const json_t *chip, struct tp_buf *out)
{
    const char *status = tp_json_text(chip, "status");
    const json_t *checks = json_object_get(chip, "checks");
    tp_buf_addf(out, "  %-22s %-11s ", tp_json_text(chip, "name"), status);
    if (!strcmp(status, "no-support"))
        tp_buf_addf(out, "%s", tp_json_text(json_array_get(checks, 0), "detail"));
    else if (!strcmp(status, "same-as"))
        tp_buf_addf(out, "%s", tp_json_text(chip, "same_as"));
    else if (*tp_json_text(chip, "device_name"))
        tp_buf_addf(out, "%s, Vulkan %s", tp_json_text(chip, "device_name"), tp_json_text(chip, "api"));
    trim(out, ' ');
    tp_buf_addf(out, "\n");
    if (!strcmp(status, "failed"))
        add_failures(checks, "    ", out);
}

/* What came of the fault schedules, and how to run one again that failed. */
static void add_faults(const json_t *faults, struct tp_buf *out)
{
    static const char *const counts[] = {"success", "errors", "crashes", "hangs", "leaks", "wrong"};
    size_t i;
    json_t *item;
    long long schedules = (long long)json_integer_value(json_object_get(faults, "schedules"));
    tp_buf_addf(out, "Under %lld fault schedule%s:", schedules, schedules == 1 ? "" : "s");
    for (i = 0; i < sizeof counts / sizeof *counts; i++)
        tp_buf_addf(out, "%s %s %lld", i ? "," : "", counts[i],
                    (long long)json_integer_value(json_object_get(faults, counts[i])));
    tp_buf_addf(out, "\n");
    json_array_foreach(json_object_get(faults, "failed"), i, item)
        tp_buf_addf(out, "  %s: %s\n    again: --chip %s --faults 1:%lld (%s)\n",
                    tp_json_text(item, "outcome"), tp_json_text(item, "detail"), tp_json_text(item, "chip"),
                    (long long)json_integer_value(json_object_get(item, "seed")),
                    tp_json_text(item, "schedule"));
}

/* What comes from a driver does not reach the terminal as it is. */
static void make_printable(struct tp_buf *b)
{
    char *clean = tp_printable(tp_buf_str(b));
    tp_buf_clear(b);
    tp_buf_adds(b, clean);
    free(clean);
}

void tp_cli_proof_text(const json_t *report, struct tp_buf *out)
{
    size_t i;
    json_t *item;
    tp_buf_addf(out, "The file itself:\n");
    json_array_foreach(json_object_get(report, "static"), i, item)
        tp_buf_addf(out, "  %-22s %-6s %s\n", tp_json_text(item, "id"), holds(item) ? "holds" : "FAILS",
                    tp_json_text(item, "detail"));
    if (json_array_size(json_object_get(report, "chips")))
        tp_buf_addf(out, "On simulated chips:\n");
    json_array_foreach(json_object_get(report, "chips"), i, item)
        add_chip(item, out);
    if (json_object_get(report, "faults"))
        add_faults(json_object_get(report, "faults"), out);
    json_array_foreach(json_object_get(report, "notes"), i, item)
        tp_buf_addf(out, "Note: %s\n", json_string_value(item));
    tp_buf_addf(out, "%s\n", tp_json_text(report, "verdict"));
    make_printable(out);
}

/* The first that fail, and how many more. */
static void add_failed_chips(const json_t *chips, size_t failed, struct tp_buf *out)
{
    enum { MOST = 4 };
    size_t i, told = 0;
    json_t *chip;
    json_array_foreach(chips, i, chip)
    {
        if (!strcmp(tp_json_text(chip, "status"), "failed") && told++ < MOST)
            add_chip(chip, out);
    }
    if (told > MOST)
        tp_buf_addf(out, "  and %zu more\n", failed - MOST);
}

void tp_cli_proof_summary(const json_t *report, char variant, struct tp_buf *out)
{
    size_t i, proved = 0, failed = 0;
    json_t *chip;
    const json_t *chips = json_object_get(report, "chips");
    json_array_foreach(chips, i, chip)
    {
        proved += !strcmp(tp_json_text(chip, "status"), "proved");
        failed += !strcmp(tp_json_text(chip, "status"), "failed");
    }
    if (proved || failed)
        tp_buf_addf(out, "  %c %s on %zu simulated chips", variant,
                    holds(report) ? "is proved" : "FAILS", holds(report) ? proved : failed);
    else
        tp_buf_addf(out, "  %c %s: the file itself, started on no chip", variant,
                    holds(report) ? "holds" : "FAILS");
    if (holds(report))
        return;
    tp_buf_addf(out, "\n");
    add_failures(json_object_get(report, "static"), "    ", out);
    add_failed_chips(chips, failed, out);
    tp_buf_addf(out, "    %s", tp_json_text(report, "verdict"));
    make_printable(out);
}
