/* On which simulated chips a driver is started. */
#ifndef TP_FACTORY_PROVE_LINEUP_H
#define TP_FACTORY_PROVE_LINEUP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_lineup_what {
    TP_LINEUP_RUNS,
    TP_LINEUP_SAME_AS,    /* the driver takes it for another: same_as */
    TP_LINEUP_NO_KGSL_ID, /* only ids that KGSL cannot say reach it */
    TP_LINEUP_NO_SUPPORT, /* the driver does not know it: why */
};

struct tp_lineup_chip {
    const char *name;
    uint32_t chip_id; /* 0: none */
    char simulated[12]; /* it as TURNPIKE_KGSL_CHIP has it: "0x43050a01" */
    enum tp_lineup_what what;
    const char *same_as, *why; /* or NULL */
};

struct tp_lineup {
    struct tp_lineup_chip *at;
    size_t n, cap;
};

/*
 * Every chip that the simulator knows, in its order, then what the driver's own table has beside. Strings
 * are borrowed from table, which is as tp_chips_read makes it; NULL for a driver whose table is not
 * known: then every chip runs.
 */
void tp_lineup_make(const json_t *table, struct tp_lineup *out);

/*
 * Is it the chip that a user means by text? Its name or the device's as a report has it ("FD740",
 * "Turnip Adreno (TM) 740", "Adreno 740", "A740", "740"), whatever the case, or its id ("0x43050a01").
 */
bool tp_lineup_is_called(const struct tp_lineup_chip *chip, const char *text);

/* The name of the chip for runs that are about the driver and not about a chip: a usual one of the
 * newest generation that every Mesa knows. */
const char *tp_lineup_usual(const struct tp_lineup *l);

void tp_lineup_finish(struct tp_lineup *l);

#endif
