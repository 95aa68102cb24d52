#include "factory/prove/validation.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static void keep(char **at, const json_t *facts, const char *fact)
{
    const char *value = json_string_value(json_object_get(facts, fact));
    if (value && !*at)
        *at = tp_strdup(value);
}

void tp_validation_add(struct tp_validation *v, const struct tp_run_result *run)
{
    size_t i;
    json_t *check;
    if (!json_object_get(run->facts, "entry"))
        return;
    v->runs++;
    v->watched += json_object_get(run->facts, "validation_layer") != NULL;
    keep(&v->layer, run->facts, "validation_layer");
    keep(&v->why, run->facts, "no_validation_layer");
    json_array_foreach(run->checks, i, check)
    {
        const char *id = json_string_value(json_object_get(check, "id"));
        v->messages += id && !strcmp(id, "validation");
    }
}

json_t *tp_validation_check(const struct tp_validation *v)
{
    char *detail;
    if (!v->runs)
        return NULL;
    if (v->watched)
        detail = tp_asprintf("%s watched %u of %u chips: %u message%s", v->layer, v->watched, v->runs,
                             v->messages, v->messages == 1 ? "" : "s");
    else
        detail = tp_asprintf("no chip was watched by the validation layer: %s",
                             v->why ? v->why : "there is none for this driver's C library");
    json_t *check = json_pack("{s:s, s:b, s:s}", "id", "validation", "ok", !v->messages, "detail",
                              detail);
    free(detail);
    return check;
}

void tp_validation_finish(struct tp_validation *v)
{
    free(v->layer);
    free(v->why);
    *v = (struct tp_validation){0};
}
