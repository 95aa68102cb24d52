/*
 * The identities that the simulated device can take: what KGSL tells a driver about its GPU.
 */
#ifndef TP_FACTORY_KGSL_CHIPS_H
#define TP_FACTORY_KGSL_CHIPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_kgsl_chip {
    const char *name;  /* Mesa's table's: "FD650", "Adreno X1-85" */
    const char *model; /* KGSL_PROP_GPU_MODEL's text */
    uint32_t chip_id;
    uint32_t gmem_bytes;
    uint64_t gmem_base; /* where UCHE maps GMEM */
    uint8_t generation; /* 6, 7, 8: how its command processor reads packets */
    uint8_t highest_bank_bit;
    uint8_t ubwc_mode; /* KGSL_UBWC_n_0 */
    bool ray_tracing;
};

/* The table, in Mesa's order. COUNT: how many. */
const struct tp_kgsl_chip *tp_kgsl_chips(size_t *count);

/*
 * Finds the chip that TEXT means and copies it to OUT: a name of the table, without regard to case
 * ("FD650", "adreno x1-85"), its alias (the name without "FD", "Adreno" and "(TM)": "650", "X1-85"),
 * or a 32-bit id as 0xHEX, with ":BYTES" for a GMEM size (K and M understood). An id that is not
 * in the table gets its generation's usual values. -EINVAL: neither.
 */
int tp_kgsl_chip_find(const char *text, struct tp_kgsl_chip *out);

/* Is it a GPU of Mesa's table that only an id of more than 32 bits reaches, which KGSL cannot tell? */
bool tp_kgsl_chip_is_beyond(const char *text);

#endif
