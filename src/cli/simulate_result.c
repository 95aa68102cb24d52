/* What turnpike simulate says of a run: in words, as JSON, and as a short story where it broke. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cli/simulate.h"
#include "frames/world/shrink.h"
#include "report/summary.h"

static json_t *story(const struct tp_world_result *r)
{
    json_t *j = json_array();
    for (unsigned i = 0; i < r->n_story; i++)
        json_array_append_new(j, json_string(r->story[i]));
    return j;
}

static json_t *result(const struct tp_simulate *o, const struct tp_world_result *r)
{
    struct tp_summary summary;
    tp_world_summary(&o->config, r, &summary);
    json_t *j = tp_summary_json(&summary);
    json_object_set_new(j, "seed", json_integer((json_int_t)o->config.seed));
    json_object_set_new(j, "broken", *r->broken ? json_string(r->broken) : json_null());
    if (*r->broken)
        json_object_set_new(j, "story", story(r));
    json_object_set_new(j, "blocked", *r->blocked ? json_string(r->blocked) : json_null());
    return j;
}

static void print_shown(const struct tp_world_result *r)
{
    printf(", %.2f %% on their refresh\nstayed for", 100 * r->on_vblank);
    for (unsigned i = 1; i <= TP_CADENCE; i++)
        if (r->cadence[i] > 0)
            printf(" %u%s: %llu", i, i == TP_CADENCE ? " or more" : "",
                (unsigned long long)r->cadence[i]);
    printf("; %llu repeats, %llu drops\n", (unsigned long long)r->repeats,
        (unsigned long long)r->drops);
    printf("start to first line: %.2f ms, 1 %% above %.2f ms\n", tp_ms((double)r->latency.p50_ns),
        tp_ms((double)r->latency.p99_ns));
}

static void print_waits(const struct tp_world_result *r)
{
    printf("an acquire waits %.2f ms: %.2f for an image, %.2f for its release, %.2f for the gate\n",
        tp_ms(r->acquire_wait.mean_ns), tp_ms(r->slot_wait_ns), tp_ms(r->release_wait_ns),
        tp_ms(r->gate_wait_ns));
}

static void print_result(const struct tp_simulate *o, const struct tp_world_result *r)
{
    printf("%llu frames in %.3f s: %.3f fps, %llu tears, %llu late", (unsigned long long)r->frames,
        (double)r->span_ns / 1e9, tp_world_fps(r), (unsigned long long)r->tears,
        (unsigned long long)r->gate_late);
    if (r->frames > TP_LEFT_OUT)
        print_shown(r);
    else if (r->frames > 0)
        printf("\nno more is said of so few: the first %u are left out; %llu drops\n", TP_LEFT_OUT,
            (unsigned long long)r->drops);
    else
        printf("\nnothing was shown: %llu drops\n", (unsigned long long)r->drops);
    if (r->frames + r->drops > TP_LEFT_OUT)
        print_waits(r);
    for (unsigned i = 0; i < TP_FAULTS; i++)
        if (o->config.per_mille[i] > 0)
            printf("%s: %llu times\n", tp_world_fault_names[i], (unsigned long long)r->injected[i]);
}

/* The story is that of the smallest world in which it breaks. */
static void print_story(
    const struct tp_command *cmd, const struct tp_simulate *o, const struct tp_world_result *r)
{
    struct tp_world_config c = o->config;
    struct tp_world_result *small = tp_calloc(1, sizeof *small);
    *small = *r;
    tp_world_shrink(&c, small);
    char *again = tp_simulate_again(&c, o->trace);
    fprintf(stderr, "turnpike %s: seed %llu: %s\n", cmd->name, (unsigned long long)o->config.seed,
        r->broken);
    fprintf(stderr, "so does this, within %llu frames: turnpike %s %s\n",
        (unsigned long long)(small->frames + small->drops), cmd->name, again);
    for (unsigned i = 0; i < small->n_story; i++)
        fprintf(stderr, "  %s\n", small->story[i]);
    free(again);
    free(small);
}

int tp_simulate_report(const struct tp_command *cmd, const struct tp_simulate *o,
    const struct tp_world_result *r, struct tp_error *e)
{
    int err = 0;
    if (!o->json || strcmp(o->json, "-") != 0) {
        print_result(o, r);
        err = tp_cli_flush(e);
    }
    if (err >= 0 && o->json) {
        json_t *j = result(o, r);
        err = tp_cli_write_json(j, o->json, e);
        json_decref(j);
    }
    if (err < 0)
        return tp_cli_fail(cmd, e);
    if (*r->broken)
        print_story(cmd, o, r);
    if (*r->blocked)
        fprintf(stderr, "turnpike %s: %s\n  Let less go wrong: --faults NAME:PER_MILLE\n",
            cmd->name, r->blocked);
    if (*r->broken || (o->asserts && r->tears > 0))
        return TP_STATUS_FAILED;
    return *r->blocked ? TP_STATUS_INPUT : TP_STATUS_OK;
}
