#include "settings.h"

#include "pm4.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a check of a driver's patches looks at, whatever else is asked for. */
static const uint32_t always_watched[] = {
    REG_SP_VS_CTRL_REG0, REG_SP_HS_CTRL_REG0, REG_SP_DS_CTRL_REG0,  REG_SP_GS_CTRL_REG0,
    REG_SP_FS_CTRL_REG0, REG_SP_CS_CTRL_REG0, REG_TPL1_DBG_ECO_CNTL1, REG_GRAS_BIN_CONTROL,
    REG_RB_BIN_CONTROL,  REG_RB_RENDER_CNTL,
};

static int number(const char *name, const char *text, uint64_t max, uint64_t *out, char *why,
                  size_t size)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 0);
    if (errno || *end || n > max || !isdigit((unsigned char)*text)) {
        snprintf(why, size, "%s=%s: a number up to %llu is needed", name, text,
                 (unsigned long long)max);
        return -EINVAL;
    }
    *out = n;
    return 0;
}

static int watches(struct tp_kgsl_settings *s, const char *text, char *why, size_t size)
{
    memcpy(s->watches, always_watched, sizeof always_watched);
    s->watch_count = sizeof always_watched / sizeof always_watched[0];
    while (text && *text) {
        char *end;
        unsigned long reg = strtoul(text, &end, 16);
        if (end == text || (*end && *end != ',') || reg > 0x3ffff ||
            s->watch_count == TP_GPU_WATCHES) {
            snprintf(why, size, "TURNPIKE_KGSL_WATCH: up to %zu registers in hexadecimal are "
                                "needed, with commas between",
                     TP_GPU_WATCHES - sizeof always_watched / sizeof always_watched[0]);
            return -EINVAL;
        }
        s->watches[s->watch_count++] = (uint32_t)reg;
        text = end + (*end == ',');
    }
    return 0;
}

int tp_kgsl_settings_read(struct tp_kgsl_settings *s, char *(*get)(const char *name), char *why,
                          size_t size)
{
    static const struct {
        const char *name;
        uint64_t usual, max, unit;
    } numbers[] = {
        {"TURNPIKE_KGSL_RETIRE_US", 20, 60000000, 1000},
        {"TURNPIKE_KGSL_HANG_MS", 2000, 60000, 1000000},
        {"TURNPIKE_KGSL_MEMORY_MB", TP_KGSL_MEMORY_MAX >> 20, TP_KGSL_MEMORY_MAX >> 20, 1 << 20},
    };
    uint64_t values[3];
    const char *bad = "", *text;
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < 3; i++) {
        text = get(numbers[i].name);
        values[i] = numbers[i].usual;
        if (text && *text && number(numbers[i].name, text, numbers[i].max, &values[i], why, size))
            return -EINVAL;
        values[i] *= numbers[i].unit;
    }
    text = get("TURNPIKE_KGSL_CHIP");
    if (tp_kgsl_chip_find(text && *text ? text : "FD750", &s->config.chip)) {
        if (tp_kgsl_chip_is_beyond(text))
            snprintf(why, size, "TURNPIKE_KGSL_CHIP=%s: no id of 32 bits, which is all that KGSL "
                                "tells, reaches this GPU",
                     text);
        else
            snprintf(why, size, "TURNPIKE_KGSL_CHIP=%s: neither a chip's name (FD750, 750, X1-85) nor "
                                "an id of 32 bits (0x43051401, 0x43051401:3M)",
                     text);
        return -EINVAL;
    }
    text = get("TURNPIKE_KGSL_KERNEL");
    s->config.old_kernel = text && !strcmp(text, "old");
    if (text && *text && strcmp(text, "old") && strcmp(text, "new")) {
        snprintf(why, size, "TURNPIKE_KGSL_KERNEL=%s: old or new is needed", text);
        return -EINVAL;
    }
    if (tp_kgsl_faults_parse(&s->faults, get("TURNPIKE_KGSL_FAULTS"), &bad)) {
        snprintf(why, size, "TURNPIKE_KGSL_FAULTS: no such fault: %.60s", bad);
        return -EINVAL;
    }
    s->config.retire_ns = (int64_t)values[0] + s->faults.slow_ns;
    s->config.hang_ns = (int64_t)values[1];
    s->config.memory_bytes = values[2];
    return watches(s, get("TURNPIKE_KGSL_WATCH"), why, size);
}
