#include "frames/world/shrink.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define SEEDS 20u

struct search {
    struct tp_world_config *best;
    struct tp_world_result *result, *other;
};

/* Takes it over where it breaks, too. */
static bool attempt(struct search *s, const struct tp_world_config *c)
{
    if (tp_world_run(c, s->other, NULL) < 0 || !*s->other->broken)
        return false;
    *s->best = *c;
    *s->result = *s->other;
    return true;
}

static uint64_t length(const struct tp_world_result *r)
{
    return r->frames + r->drops;
}

/* With one fault less the dice fall differently: another seed may show it, within as many frames.
 */
static bool attempt_seeds(struct search *s, struct tp_world_config c)
{
    uint64_t first = c.seed;
    for (unsigned i = 0; i < SEEDS; i++) {
        c.seed = first + i;
        if (attempt(s, &c))
            return true;
    }
    return false;
}

static void drop_faults(struct search *s)
{
    for (unsigned f = 0; f < TP_FAULTS; f++) {
        struct tp_world_config c = *s->best;
        if (c.per_mille[f] == 0)
            continue;
        c.per_mille[f] = 0;
        attempt_seeds(s, c);
    }
}

/* The seed that shows it first. */
static void find_early(struct search *s)
{
    struct tp_world_config c = *s->best;
    uint64_t first = c.seed;
    for (unsigned i = 1; i < SEEDS; i++) {
        c.seed = first + i;
        c.frames = length(s->result) > 0 ? length(s->result) : 1;
        attempt(s, &c);
    }
}

void tp_world_shrink(struct tp_world_config *c, struct tp_world_result *result)
{
    struct search s = {.best = c, .result = result, .other = tp_calloc(1, sizeof *result)};
    struct tp_world_config plain = *c;
    plain.run_ahead = 0;
    plain.watch = NULL;
    attempt_seeds(&s, plain);
    drop_faults(&s);
    find_early(&s);
    free(s.other);
}
