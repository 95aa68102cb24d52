#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "factory/inspect/elf_internal.h"
#include "factory/package/elf_note.h"

/* IOCTL_KGSL_SETPROPERTY (msm_kgsl.h): a call that upstream's driver never makes. A power
 * constraint is set with it. */
enum { SET_PROPERTY_LOW = 0x0932, SET_PROPERTY_HIGH = 0x4018 };

/* MOVZ or MOVK of a 16-bit number: which register, which half. */
static bool loads_half(uint32_t instruction, uint16_t *number, unsigned *half, unsigned *reg)
{
    uint32_t kind = instruction & 0x7f800000; /* bit 31: 32 or 64 bits */
    if (kind != 0x52800000 && kind != 0x72800000)
        return false;
    *number = (uint16_t)(instruction >> 5);
    *half = instruction >> 21 & 3;
    *reg = instruction & 31;
    return true;
}

/* Both halves of the number come into one register within a few instructions. */
static bool arm64_code_has(const unsigned char *code, size_t len)
{
    enum { NEAR = 8 };
    size_t low_at[32], high_at[32];
    for (size_t i = 0; i < 32; i++)
        low_at[i] = high_at[i] = SIZE_MAX;
    for (size_t i = 0; i < len / 4; i++) {
        uint32_t instruction;
        uint16_t number;
        unsigned half, reg;
        memcpy(&instruction, code + 4 * i, sizeof instruction);
        if (!loads_half(instruction, &number, &half, &reg))
            continue;
        if (half == 0 && number == SET_PROPERTY_LOW)
            low_at[reg] = i;
        else if (half == 1 && number == SET_PROPERTY_HIGH)
            high_at[reg] = i;
        else
            continue;
        size_t other = half ? low_at[reg] : high_at[reg];
        if (other != SIZE_MAX && i - other <= NEAR)
            return true;
    }
    return false;
}

static bool x86_code_has(const unsigned char *code, size_t len)
{
    static const unsigned char number[] = {0x32, 0x09, 0x18, 0x40};
    return memmem(code, len, number, sizeof number) != NULL;
}

static bool sets_properties(const struct tp_elf *elf)
{
    for (size_t i = 0; i < elf->n_segments; i++) {
        const GElf_Phdr *p = &elf->segments[i];
        size_t len;
        const unsigned char *code =
            p->p_type == PT_LOAD && p->p_flags & PF_X ? tp_elf_at(elf, p->p_vaddr, &len) : NULL;
        if (code &&
            (elf->machine == EM_AARCH64 ? arm64_code_has(code, len) : x86_code_has(code, len)))
            return true;
    }
    return false;
}

/* Does the note say that the patch is in the driver? */
static bool notes_patch(const json_t *note, const char *id)
{
    const json_t *patch = tp_json_find(json_object_get(note, "patches"), "id", id);
    const char *state = tp_json_text(patch, "state");
    return !strcmp(state, "applied") || !strcmp(state, "already");
}

static void check_variant(struct tp_elf_run *run)
{
    const char *noted = tp_json_text(run->facts->note, "variant");
    char variant = run->ask->variant ? run->ask->variant : *noted;
    run->facts->power = sets_properties(run->elf);
    if (*noted && *noted != variant)
        tp_findings_add(run->findings, TP_RULE_ELF_VARIANT, run->elf->where, NULL,
                        "its ELF note says that it is variant %c, and the archive that it is %c",
                        *noted, variant);
    else if (variant == 'p' && !run->facts->power && run->facts->note &&
             !notes_patch(run->facts->note, "power-max"))
        tp_findings_add_as(
            run->findings, TP_RULE_ELF_VARIANT, TP_SEVERITY_NOTE, run->elf->where,
            "build it with the patch power-max in",
            "it is variant p, built without the patch power-max: it asks KGSL for no clocks");
    else if (variant == 'p' && !run->facts->power)
        tp_findings_add(
            run->findings, TP_RULE_ELF_VARIANT, run->elf->where, NULL,
            "it is said to be variant p, and never asks KGSL for clocks: it runs as b does");
    else if (variant == 'b' && run->facts->power)
        tp_findings_add(
            run->findings, TP_RULE_ELF_VARIANT, run->elf->where, NULL,
            "it is said to be variant b, and sets a KGSL property, as for a power constraint: "
            "phones grow hot where their players chose not to");
}

static void check_note(struct tp_elf_run *run)
{
    const struct tp_elf_ask *ask = run->ask;
    const struct {
        const char *key, *claimed;
    } fields[] = {
        {"driver", ask->driver_version},
        {"target", ask->target},
        {"mesa", ask->mesa_version},
    };
    size_t at = 0;
    if (!run->facts->note) {
        bool there = tp_elf_next_note(run->elf, TP_NOTE_OWNER, TP_NOTE_TYPE, &at) != NULL;
        json_t *unread = NULL;
        struct tp_error e = {0};
        if (there || ask->ours) {
            tp_note_from_elf(run->elf, &unread, &e);
            tp_findings_add(run->findings, TP_RULE_ELF_NOTE, run->elf->where, NULL, "%s", e.what);
        }
        return;
    }
    bool other_variant = ask->variant && *tp_json_text(run->facts->note, "variant") != ask->variant;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *noted = tp_json_text(run->facts->note, fields[i].key);
        /* The driver's version ends in its variant, which has a rule of its own. */
        if (!i && other_variant)
            continue;
        if (fields[i].claimed && strcmp(noted, fields[i].claimed) != 0)
            tp_findings_add(run->findings, TP_RULE_ELF_NOTE, run->elf->where,
                            "build it again: the file is not from this build",
                            "its ELF note says that its %s is \"%.100s\", not \"%.100s\"",
                            fields[i].key, noted, fields[i].claimed);
    }
}

static void check_debug(struct tp_elf_run *run)
{
    for (size_t i = 0; i < run->elf->n_sections; i++) {
        const char *name = run->elf->sections[i].name;
        if (!strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8)) {
            tp_findings_add(run->findings, TP_RULE_ELF_DEBUG, run->elf->where, NULL,
                            "it has debug information (section %.100s)", name);
            return;
        }
    }
}

void tp_elf_check_origin(struct tp_elf_run *run)
{
    if (!*run->elf->build_id)
        tp_findings_add(run->findings, TP_RULE_ELF_BUILD_ID, run->elf->where, NULL,
                        "it has no build-id");
    check_debug(run);
    check_note(run);
    check_variant(run);
}
