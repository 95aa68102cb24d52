/* What the files of turnpike simulate share. */
#ifndef TP_CLI_SIMULATE_H
#define TP_CLI_SIMULATE_H

#include "cli/cli.h"
#include "frames/world/costs.h"
#include "frames/world/world.h"

#define TP_SIMULATE_USUAL_FRAMES 10000u

enum tp_simulate_option {
    TP_SIMULATE_TRACE = 1,
    TP_SIMULATE_COST,
    TP_SIMULATE_GUEST,
    TP_SIMULATE_REFRESH,
    TP_SIMULATE_CAP,
    TP_SIMULATE_GATE,
    TP_SIMULATE_IMAGES,
    TP_SIMULATE_FRAMES,
    TP_SIMULATE_SEED,
    TP_SIMULATE_PIPELINE,
    TP_SIMULATE_LATCH,
    TP_SIMULATE_COMPOSITOR,
    TP_SIMULATE_COMPOSE,
    TP_SIMULATE_CALLBACK,
    TP_SIMULATE_ASSERT,
    TP_SIMULATE_FAULTS,
    TP_SIMULATE_FENCE,
    TP_SIMULATE_CAPTURE,
    TP_SIMULATE_JSON,
    TP_SIMULATE_CHART,
    TP_SIMULATE_CHART_FROM,
};

struct tp_simulate {
    struct tp_world_config config;
    struct tp_costs costs;
    const char *trace, *capture, *json, *chart;
    uint64_t chart_from;
    bool has_chart_from, asserts;
};

/* Takes one option but --cost; text is kept. What is wrong with it, or NULL. */
const char *tp_simulate_set(int option, const char *text, struct tp_simulate *o);
/* What is wrong with the names of its files, or NULL. */
const char *tp_simulate_check_files(const struct tp_simulate *o);

extern const struct option tp_simulate_options[];

/* The options that run c again, as one types them: seed, costs and what is not the default. trace:
 * where the costs are from, or NULL. The caller frees it. */
char *tp_simulate_again(const struct tp_world_config *c, const char *trace);

/* Says what came of a run, on standard output and where --json goes; the exit status. */
int tp_simulate_report(const struct tp_command *cmd, const struct tp_simulate *o,
    const struct tp_world_result *r, struct tp_error *e);

#endif
