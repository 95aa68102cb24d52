/* What the environment asks of the simulator: see docs/kgsl-sim.md. */
#ifndef TP_FACTORY_KGSL_SETTINGS_H
#define TP_FACTORY_KGSL_SETTINGS_H

#include "factory/kgsl/device.h"
#include "factory/kgsl/faults.h"

struct tp_kgsl_settings {
    struct tp_kgsl_config config;
    struct tp_kgsl_faults faults;
    uint32_t watches[TP_GPU_WATCHES];
    size_t watch_count;
};

/*
 * Reads the settings through GET (getenv's shape). -EINVAL: WHY (of SIZE bytes) names the variable
 * that cannot be read and what is wrong with it.
 */
int tp_kgsl_settings_read(struct tp_kgsl_settings *s, char *(*get)(const char *name), char *why,
                          size_t size);

#endif
