#include "factory/prove/lineup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/json.h"
#include "factory/chips/chips.h"
#include "factory/kgsl/chips.h"

/* A chip of the simulator, as the driver will look it up. */
static struct tp_lineup_chip known_chip(const json_t *table, const struct tp_kgsl_chip *chip)
{
    struct tp_lineup_chip out = {.name = chip->name, .chip_id = chip->chip_id};
    const char *match = table ? tp_chips_match(table, chip->chip_id) : chip->name;
    if (!match) {
        out.what = TP_LINEUP_NO_SUPPORT;
        out.why = chip->generation == 8 && !tp_json_find(table, "generation", "A8XX") ?
                      "this Mesa has no A8xx" : "this Mesa does not know it";
    } else if (strcmp(match, chip->name) != 0) {
        out.what = TP_LINEUP_SAME_AS;
        out.same_as = match;
    }
    return out;
}

/* An entry of the driver's table that no chip of the simulator is. */
static struct tp_lineup_chip table_chip(const json_t *table, const json_t *entry)
{
    struct tp_lineup_chip out = {.name = tp_json_text(entry, "name"), .what = TP_LINEUP_NO_KGSL_ID};
    for (size_t i = 0; i < json_array_size(json_object_get(entry, "chip_ids")); i++) {
        uint32_t id = tp_chips_kgsl_id(entry, i);
        const char *match = id ? tp_chips_match(table, id) : NULL;
        if (!match)
            continue;
        out.chip_id = id;
        out.same_as = match;
        out.what = TP_LINEUP_SAME_AS;
        if (!strcmp(match, out.name)) {
            out.same_as = NULL;
            out.what = TP_LINEUP_RUNS;
            break;
        }
    }
    return out;
}

static void add(struct tp_lineup *l, struct tp_lineup_chip chip)
{
    snprintf(chip.simulated, sizeof chip.simulated, "0x%08x", chip.chip_id);
    TP_PUSH(l->at, l->n, l->cap) = chip;
}

void tp_lineup_make(const json_t *table, struct tp_lineup *out)
{
    size_t n, i;
    json_t *entry;
    const struct tp_kgsl_chip *chips = tp_kgsl_chips(&n);
    *out = (struct tp_lineup){0};
    for (i = 0; i < n; i++)
        add(out, known_chip(table, &chips[i]));
    json_array_foreach(table, i, entry)
    {
        const char *name = tp_json_text(entry, "name");
        bool there = strcmp(tp_json_text(entry, "generation"), "A6XX") < 0;
        for (size_t k = 0; k < n && !there; k++)
            there = !strcmp(chips[k].name, name);
        if (!there)
            add(out, table_chip(table, entry));
    }
}

/* A name without what all have: "740" of "Turnip Adreno (TM) 740", "FD740" and "A740"; "A32" of "FDA32". */
static const char *bare(const char *name)
{
    static const char *const prefixes[] = {"Turnip ", "Adreno (TM) ", "Adreno ", "Adreno", "FD"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t n = strlen(prefixes[i]);
        if (!strncasecmp(name, prefixes[i], n))
            name += n;
    }
    bool is_model = (*name == 'A' || *name == 'a') && strspn(name + 1, "0123456789") == 3;
    return name + is_model;
}

bool tp_lineup_is_called(const struct tp_lineup_chip *chip, const char *text)
{
    struct tp_kgsl_chip one;
    if (!strncasecmp(text, "0x", 2))
        return chip->chip_id && !tp_kgsl_chip_find(text, &one) && one.chip_id == chip->chip_id;
    return !strcasecmp(bare(text), bare(chip->name));
}

const char *tp_lineup_usual(const struct tp_lineup *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->at[i].what == TP_LINEUP_RUNS && !strcmp(l->at[i].name, "FD750"))
            return "FD750";
    }
    return "FD650";
}

void tp_lineup_finish(struct tp_lineup *l)
{
    free(l->at);
    *l = (struct tp_lineup){0};
}
