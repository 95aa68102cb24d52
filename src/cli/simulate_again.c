/* The options of turnpike simulate that run the same world again: those that are not the defaults.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cli/simulate.h"
#include "frames/pace/profile.h"

#define PLAIN                                                                                      \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"                                         \
    "0123456789._/+,:@%-"

static void add_quoted(struct tp_buf *b, const char *text)
{
    if (*text != 0 && text[strspn(text, PLAIN)] == 0) {
        tp_buf_adds(b, text);
        return;
    }
    tp_buf_addc(b, '\'');
    for (; *text; text++)
        if (*text == '\'')
            tp_buf_adds(b, "'\\''");
        else
            tp_buf_addc(b, *text);
    tp_buf_addc(b, '\'');
}

/* Thousandths of a hertz, or of a frame a second. */
static void add_thousandths(struct tp_buf *b, uint32_t n)
{
    tp_buf_addf(b, "%u", n / 1000);
    if (n % 1000 > 0)
        tp_buf_addf(b, ".%03u", n % 1000);
}

static void add_us(struct tp_buf *b, const char *name, int64_t ns, int64_t usual_ns)
{
    if (ns != usual_ns)
        tp_buf_addf(b, " --%s %lld", name, (long long)ns / 1000);
}

/* A cost that was said as one number is parted in the same way again. */
static void add_costs(struct tp_buf *b, const struct tp_world_config *c)
{
    for (size_t i = 0; i < c->n_costs; i++) {
        long long cpu = c->costs[i].cpu_ns, gpu = c->costs[i].gpu_ns, us = (cpu + gpu) / 1000;
        tp_buf_adds(b, i > 0 ? "," : " --cost ");
        if (cpu == us * 400)
            tp_buf_addf(b, "%lld", us);
        else
            tp_buf_addf(b, "%lld+%lld", cpu / 1000, gpu / 1000);
    }
}

static void add_screen(
    struct tp_buf *b, const struct tp_world_config *c, const struct tp_world_config *usual)
{
    if (c->slowest_mhz > 0 || c->refresh_mhz != usual->refresh_mhz) {
        tp_buf_adds(b, " --refresh ");
        if (c->slowest_mhz > 0) {
            add_thousandths(b, c->slowest_mhz);
            tp_buf_adds(b, "-");
        }
        add_thousandths(b, c->refresh_mhz);
    }
    if (c->pipeline != usual->pipeline)
        tp_buf_addf(b, " --pipeline %u", c->pipeline);
    add_us(b, "latch", c->lead_ns, usual->lead_ns);
    add_us(b, "callback", c->callback_ns, usual->callback_ns);
    add_us(b, "compositor-us", c->compositor_ns, usual->compositor_ns);
    add_us(b, "compose", c->compose_ns, usual->compose_ns);
    if (c->compose_ns > 0 && c->own_images > 0)
        tp_buf_addf(b, ":%u", c->own_images);
    if (!c->release)
        tp_buf_adds(b, " --release-fence off");
}

static void add_game(
    struct tp_buf *b, const struct tp_world_config *c, const struct tp_world_config *usual)
{
    if (c->late_guest != usual->late_guest || c->run_ahead != usual->run_ahead)
        tp_buf_addf(b, " --guest %s:%u", c->late_guest ? "late" : "early", c->run_ahead);
    if (c->gate.mode != usual->gate.mode)
        tp_buf_addf(b, " --gate %s", tp_gate_mode_name(c->gate.mode));
    if (c->gate.cap_mhz > 0) {
        tp_buf_adds(b, " --cap ");
        add_thousandths(b, c->gate.cap_mhz);
    }
    if (c->images != tp_slots_image_count(0, c->pipeline, 0))
        tp_buf_addf(b, " --images %u", c->images);
    if (c->frames != TP_SIMULATE_USUAL_FRAMES)
        tp_buf_addf(b, " --frames %llu", (unsigned long long)c->frames);
}

static void add_faults(struct tp_buf *b, const struct tp_world_config *c)
{
    const char *before = " --faults ";
    for (unsigned i = 0; i < TP_FAULTS; i++) {
        if (c->per_mille[i] == 0)
            continue;
        tp_buf_addf(b, "%s%s:%u", before, tp_world_fault_names[i], c->per_mille[i]);
        if (i == TP_FAULT_LATE_FENCE && c->late_refreshes != 1)
            tp_buf_addf(b, ":%u", c->late_refreshes);
        before = ",";
    }
}

char *tp_simulate_again(const struct tp_world_config *c, const char *trace)
{
    struct tp_world_config usual;
    struct tp_buf b = {0};
    tp_world_defaults(&usual);
    tp_buf_addf(&b, "--seed %llu", (unsigned long long)c->seed);
    if (trace) {
        tp_buf_adds(&b, " --trace ");
        add_quoted(&b, trace);
    } else {
        add_costs(&b, c);
    }
    add_game(&b, c, &usual);
    add_screen(&b, c, &usual);
    add_faults(&b, c);
    char *out = tp_strdup(tp_buf_str(&b));
    tp_buf_finish(&b);
    return out;
}
