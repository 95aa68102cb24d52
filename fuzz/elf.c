/* Any bytes as a driver: the ELF reader, and every rule on what it read. */
#include <stddef.h>
#include <stdint.h>

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
        tp_elf_check_memory(data, size, "input", &asks[i], &findings, &facts);
        tp_elf_facts_finish(&facts);
        tp_findings_finish(&findings);
    }
    return 0;
}
