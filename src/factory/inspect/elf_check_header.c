#include <elf.h>
#include <string.h>

#include "factory/inspect/elf_internal.h"

static const char *machine_name(uint16_t machine)
{
    switch (machine) {
    case EM_AARCH64:
        return "64-bit Arm";
    case EM_X86_64:
        return "x86-64";
    case EM_ARM:
        return "32-bit Arm";
    case EM_386:
        return "32-bit x86";
    default:
        return "another processor";
    }
}

/* Does a table of n entries lie in the file? */
static bool lies_within(uint64_t offset, uint64_t n, uint64_t each, size_t len)
{
    return offset <= len && n * each <= len - offset;
}

/* The identification: the only part whose meaning no other field changes. */
static bool kind_holds(const unsigned char *ident, size_t len, const char *where,
                       struct tp_findings *f)
{
    if (len < SELFMAG || memcmp(ident, ELFMAG, SELFMAG) != 0) {
        tp_findings_add(f, TP_RULE_ELF_HEADER, where,
                        "name a shared object (libvulkan_freedreno.so)", "it is no ELF file");
        return false;
    }
    if (len < sizeof(Elf64_Ehdr)) {
        tp_findings_add(f, TP_RULE_ELF_HEADER, where, "build or fetch it again",
                        "it is cut short: %zu bytes are less than a header", len);
        return false;
    }
    if (ident[EI_CLASS] == ELFCLASS32 || ident[EI_DATA] == ELFDATA2MSB) {
        tp_findings_add(f, TP_RULE_ELF_MACHINE, where, NULL, "it is a %s file",
                        ident[EI_CLASS] == ELFCLASS32 ? "32-bit" : "big-endian");
        return false;
    }
    return true;
}

/* Why the header is none that a linker makes, or NULL. */
static const char *fault_of(const Elf64_Ehdr *eh, size_t len)
{
    const unsigned char *ident = eh->e_ident;
    if (ident[EI_CLASS] != ELFCLASS64)
        return "its class (EI_CLASS) is neither 32-bit nor 64-bit";
    if (ident[EI_DATA] != ELFDATA2LSB)
        return "its byte order (EI_DATA) is neither little- nor big-endian";
    if (ident[EI_VERSION] != EV_CURRENT || eh->e_version != EV_CURRENT)
        return "its ELF version is not 1";
    if (ident[EI_OSABI] != ELFOSABI_NONE && ident[EI_OSABI] != ELFOSABI_GNU)
        return "it is for another system (EI_OSABI)";
    if (ident[EI_ABIVERSION])
        return "it is for another version of the system (EI_ABIVERSION)";
    if (eh->e_ehsize != sizeof(Elf64_Ehdr))
        return "its header's size (e_ehsize) is not 64";
    if (eh->e_phentsize != sizeof(Elf64_Phdr))
        return "the size of its program headers (e_phentsize) is not 56";
    if (!eh->e_phnum || !eh->e_phoff)
        return "it has no program headers";
    if (eh->e_shentsize != sizeof(Elf64_Shdr))
        return "the size of its section headers (e_shentsize) is not 64";
    if (!eh->e_shstrndx)
        return "its section names (e_shstrndx) are section 0: it has none";
    if (!eh->e_shoff || !eh->e_shnum)
        return "it has no section headers";
    if (eh->e_shstrndx >= eh->e_shnum)
        return "its section names (e_shstrndx) are a section that is not there";
    if (!lies_within(eh->e_phoff, eh->e_phnum, sizeof(Elf64_Phdr), len))
        return "its program headers lie outside of the file: it is cut short, or the header lies";
    if (!lies_within(eh->e_shoff, eh->e_shnum, sizeof(Elf64_Shdr), len))
        return "its section headers lie outside of the file: it is cut short, or the header lies";
    if (eh->e_flags)
        return "it has processor flags (e_flags), of which this processor knows none";
    return NULL;
}

bool tp_elf_header_holds(const void *data, size_t len, const char *where, uint16_t machine,
                         struct tp_findings *f)
{
    if (!kind_holds(data, len, where, f))
        return false;
    Elf64_Ehdr eh;
    memcpy(&eh, data, sizeof eh);
    const char *fault = fault_of(&eh, len);
    if (fault) {
        tp_findings_add(f, TP_RULE_ELF_HEADER, where, NULL, "%s", fault);
        return false;
    }
    if (machine != EM_NONE && eh.e_machine != machine) {
        tp_findings_add(f, TP_RULE_ELF_MACHINE, where, NULL,
                        "it is for %s (ELF machine %u), not for %s", machine_name(eh.e_machine),
                        eh.e_machine, machine_name(machine));
        return false;
    }
    return true;
}
