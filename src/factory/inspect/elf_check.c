#include "factory/inspect/elf_check.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "factory/inspect/elf_internal.h"
#include "factory/package/elf_note.h"

void tp_elf_facts_finish(struct tp_elf_facts *facts)
{
    json_decref(facts->note);
    *facts = (struct tp_elf_facts){0};
}

void tp_elf_needs_api(struct tp_elf_run *run, int api, const char *why)
{
    if (api <= run->facts->min_api)
        return;
    run->facts->min_api = api;
    snprintf(run->facts->min_api_why, sizeof run->facts->min_api_why, "%s", why);
}

bool tp_elf_declares_below(const struct tp_elf_run *run, int api)
{
    return run->ask->min_api && run->ask->min_api < api;
}

const char *tp_elf_who_declares(const struct tp_elf_run *run)
{
    return run->ask->phone ? "the phone has API" : "minApi declares";
}

const char *tp_elf_api_fix(const struct tp_elf_run *run)
{
    return run->ask->phone ? "take a driver that is built for this phone's Android" : NULL;
}

/* turnpike's own drivers for a computer say so in their note. */
static bool is_for_a_computer(const json_t *note, const struct tp_elf_ask *ask)
{
    const char *target = note || !ask->target ? tp_json_text(note, "target") : ask->target;
    return !strncmp(target, "host", 4);
}

static void note_where_it_runs(const struct tp_elf_run *run)
{
    if (!run->host)
        return;
    tp_findings_add_as(run->findings, TP_RULE_ELF_MACHINE, TP_SEVERITY_NOTE, run->elf->where,
                       "build one for players with --target android-arm64 or linux-arm64",
                       "built for proofs on a computer (target %s)",
                       run->facts->note ? tp_json_text(run->facts->note, "target")
                                        : run->ask->target);
}

static bool begins_well(struct tp_elf_run *run)
{
    const struct tp_elf *elf = run->elf;
    if (!tp_elf_header_holds(elf->image, elf->image_len, elf->where, run->machine, run->findings))
        return false;
    if (!elf->has_section_names)
        tp_findings_add(run->findings, TP_RULE_ELF_HEADER, elf->where, NULL,
                        "its section names (e_shstrndx) are a section that holds no names");
    return elf->has_section_names;
}

void tp_elf_check(const struct tp_elf *elf, const struct tp_elf_ask *ask,
                  struct tp_findings *findings, struct tp_elf_facts *facts)
{
    struct tp_elf_run run = {
        .elf = elf,
        .ask = ask,
        .findings = findings,
        .facts = facts,
    };
    *facts = (struct tp_elf_facts){.page_bytes = elf->load_align};
    snprintf(facts->build_id, sizeof facts->build_id, "%s", elf->build_id);
    tp_note_from_elf(elf, &facts->note, NULL);
    run.host = is_for_a_computer(facts->note, ask);
    run.machine = ask->machine ? ask->machine : run.host ? elf->machine : EM_AARCH64;
    run.bionic = ask->platform == TP_PLATFORM_ANDROID && !run.host;
    if (run.bionic)
        facts->min_api = TP_API_FIRST;
    if (!begins_well(&run))
        return;
    if (elf->type != ET_DYN) {
        tp_findings_add(findings, TP_RULE_ELF_TYPE, elf->where, NULL,
                        "it is no shared object (ELF type %u)", elf->type);
        return;
    }
    note_where_it_runs(&run);
    tp_elf_check_layout(&run);
    if (run.broken)
        return;
    tp_elf_check_api(&run);
    if (!ask->companion)
        tp_elf_check_origin(&run);
}

bool tp_elf_check_open(const void *data, size_t len, const char *where,
                       struct tp_findings *findings, struct tp_elf **elf)
{
    struct tp_error e = {0};
    int r = tp_elf_open_memory(data, len, where, elf, &e);
    /* Any machine: a driver for this computer is one only when its note has been read. */
    if (!tp_elf_header_holds(data, len, where, EM_NONE, findings))
        return false;
    if (r)
        tp_findings_add(findings, TP_RULE_ELF_DAMAGED, where, NULL, "%s", e.what);
    return !r;
}
