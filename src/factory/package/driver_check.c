#include "factory/package/driver_check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "factory/package/elf_note.h"

struct fault {
    char text[512];
    const char *fix;
};

static bool broken(struct fault *fault, const char *fix, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns false, so that a rule can end in `return broken(…)`. */
static bool broken(struct fault *fault, const char *fix, const char *fmt, ...)
{
    fault->fix = fix;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(fault->text, sizeof fault->text, fmt, ap);
    va_end(ap);
    return false;
}

static const char *machine_name(uint16_t machine)
{
    switch (machine) {
    case EM_AARCH64:
        return "AArch64";
    case EM_X86_64:
        return "x86-64";
    case EM_ARM:
        return "32-bit Arm";
    default:
        return "another machine";
    }
}

static bool header_holds(const struct tp_elf *elf, const struct tp_driver_claim *claim,
                         struct fault *fault)
{
    if (elf->class_bits != 64 || !elf->little_endian)
        return broken(fault, "build for a 64-bit little-endian target", "is a %d-bit %s-endian file",
                      elf->class_bits, elf->little_endian ? "little" : "big");
    if (elf->type != ET_DYN)
        return broken(fault, "link it with -shared", "is not a shared object (ELF type %u)",
                      elf->type);
    if (elf->machine != claim->machine)
        return broken(fault, "check the cross file's compiler against --target",
                      "is for %s (ELF machine %u), not for %s", machine_name(elf->machine),
                      elf->machine, machine_name(claim->machine));
    return true;
}

static bool soname_holds(const struct tp_elf *elf, const struct tp_driver_claim *claim,
                         struct fault *fault)
{
    (void)claim;
    if (!elf->soname)
        return broken(fault, "link it with -Wl,-soname," TP_DRIVER_LIBRARY, "has no SONAME");
    if (strcmp(elf->soname, TP_DRIVER_LIBRARY))
        return broken(fault, "link it with -Wl,-soname," TP_DRIVER_LIBRARY,
                      "has the SONAME \"%.200s\", not \"%s\"", elf->soname, TP_DRIVER_LIBRARY);
    return true;
}

static bool search_path_holds(const struct tp_elf *elf, const struct tp_driver_claim *claim,
                              struct fault *fault)
{
    (void)claim;
    if (!elf->runpath && !elf->rpath)
        return true;
    return broken(fault, "take the installed file (ninja install), or link without -rpath",
                  "carries the %s \"%.200s\" of the machine that built it",
                  elf->runpath ? "RUNPATH" : "RPATH", elf->runpath ? elf->runpath : elf->rpath);
}

static bool stripped_holds(const struct tp_elf *elf, const struct tp_driver_claim *claim,
                           struct fault *fault)
{
    (void)claim;
    if (!elf->has_section_names)
        return broken(fault, "strip it with --strip-unneeded, which keeps the section headers",
                      "has no section names");
    for (size_t i = 0; i < elf->n_sections; i++) {
        const char *name = elf->sections[i].name;
        if (!strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8))
            return broken(fault, "strip it (strip --strip-unneeded)",
                          "still has debug information (section %.100s)", name);
    }
    return true;
}

static bool entry_point_holds(const struct tp_elf *elf, const struct tp_driver_claim *claim,
                              struct fault *fault)
{
    bool android = !strcmp(claim->system, "android");
    const char *symbol = android ? "HMI" : "vk_icdGetInstanceProcAddr";
    if (tp_elf_exports(elf, symbol))
        return true;
    return broken(fault, android ? "configure Mesa with -Dplatforms=android"
                                 : "configure Mesa without -Dplatforms=android",
                  "does not export %s, which a loader on %s asks for", symbol,
                  android ? "Android" : "Linux");
}

static bool build_id_holds(const struct tp_elf *elf, const struct tp_driver_claim *claim,
                           struct fault *fault)
{
    (void)claim;
    if (*elf->build_id)
        return true;
    return broken(fault, "link it with -Wl,--build-id=sha1",
                  "has no build-id, by which Mesa keys its shader cache");
}

static bool note_holds(const json_t *note, const struct tp_driver_claim *claim, struct fault *fault)
{
    const char variant[] = {claim->variant, 0};
    const struct {
        const char *key, *claimed;
    } fields[] = {
        {"variant", variant},
        {"driver", claim->driver_version},
        {"target", claim->target},
        {"mesa", claim->mesa_version},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *noted = json_string_value(json_object_get(note, fields[i].key));
        if (fields[i].claimed && strcmp(noted, fields[i].claimed))
            return broken(fault, "build it again: the file is not from this build",
                          "says in its ELF note that its %s is \"%.100s\", not \"%.100s\"",
                          fields[i].key, noted, fields[i].claimed);
    }
    return true;
}

static void add_fault(struct fault *all, const struct fault *one)
{
    if (!*all->text) {
        *all = *one;
        return;
    }
    size_t n = strlen(all->text);
    snprintf(all->text + n, sizeof all->text - n, "; %s", one->text);
}

int tp_driver_check(const struct tp_elf *elf, const struct tp_driver_claim *claim, json_t **note,
                    struct tp_error *e)
{
    static bool (*const rules[])(const struct tp_elf *, const struct tp_driver_claim *,
                                 struct fault *) = {
        header_holds,      soname_holds,   search_path_holds, stripped_holds,
        entry_point_holds, build_id_holds,
    };
    struct fault all = {0}, one;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (!rules[i](elf, claim, &one))
            add_fault(&all, &one);
    }
    json_t *found = NULL;
    struct tp_error unread = {0};
    if (tp_note_from_elf(elf, &found, &unread) < 0) {
        broken(&one, "build it with `turnpike build`, with the patch driver-label in", "%.400s",
               unread.what);
        add_fault(&all, &one);
    } else if (!note_holds(found, claim, &one)) {
        add_fault(&all, &one);
    }
    if (note)
        *note = *all.text ? NULL : json_incref(found);
    json_decref(found);
    return *all.text ? tp_fail(e, TP_STATUS_FAILED, -EINVAL, elf->where, all.fix, "%s", all.text)
                     : 0;
}
