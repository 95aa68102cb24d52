/* Any bytes as a driver: the ELF reader, and every rule on what it read. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "factory/inspect/elf_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct tp_elf_ask asks[] = {
        {.min_api = 21, .library_name = "libvulkan_freedreno.so", .ours = true, .variant = 'p'},
        {.platform = TP_PLATFORM_LINUX, .driver_version = "WN-25.0.7-b"},
    };
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        struct tp_findings findings = {0};
        struct tp_elf_facts facts = {0};
        struct tp_elf *elf;
        if (tp_elf_check_open(data, size, "input", &findings, &elf))
            tp_elf_check(elf, &asks[i], &findings, &facts);
        else if (!findings.n)
            abort(); /* a failure without a reason */
        tp_elf_close(elf);
        tp_elf_facts_finish(&facts);
        tp_findings_finish(&findings);
    }
    return 0;
}
