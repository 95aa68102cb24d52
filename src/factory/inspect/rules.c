#include "factory/inspect/rules.h"

#include <stddef.h>

static const struct tp_rule rules[TP_RULES] = {
    [TP_RULE_ELF_HEADER] = {
        "elf-header", TP_SEVERITY_ERROR,
        "the file begins with a whole and proper ELF header",
        "Android's linker refuses it from Android 8 (API 26) on, and apps then use the phone's own "
        "driver without a word",
        "link it again with lld or ld, and change the file only with tools that know ELF (llvm-strip, "
        "patchelf 0.18 or later)",
    },
    [TP_RULE_ELF_DAMAGED] = {
        "elf-damaged", TP_SEVERITY_ERROR,
        "every table that the headers name lies whole in the file",
        "no linker loads it, and apps then use the phone's own driver without a word",
        "build or fetch it again",
    },
    [TP_RULE_ELF_MACHINE] = {
        "elf-machine", TP_SEVERITY_ERROR,
        "a 64-bit little-endian file for the platform's processor (Android: AArch64)",
        "no app of that platform can load it",
        "build it for arm64 (aarch64)",
    },
    [TP_RULE_ELF_TYPE] = {
        "elf-type", TP_SEVERITY_ERROR,
        "a shared object (ET_DYN)",
        "dlopen takes nothing else",
        "link it with -shared",
    },
    [TP_RULE_ELF_PAGE_SIZE] = {
        "elf-page-size", TP_SEVERITY_ERROR,
        "loadable segments are aligned to 16 KiB or more",
        "phones with 16 KiB pages (from Android 15 on) refuse to load it; others take it",
        "link it with -Wl,-z,max-page-size=16384",
    },
    [TP_RULE_ELF_TEXTREL] = {
        "elf-textrel", TP_SEVERITY_ERROR,
        "no relocations in code (DT_TEXTREL)",
        "64-bit Android refuses such libraries on every version",
        "compile everything with -fPIC, assembly too, and link with -Wl,-z,text",
    },
    [TP_RULE_ELF_WRITABLE_CODE] = {
        "elf-writable-code", TP_SEVERITY_ERROR,
        "no segment is writable and executable at once",
        "Android refuses it from Android 8 (API 26) on",
        "link it with lld, without -N (--omagic) and without a linker script of its own",
    },
    [TP_RULE_ELF_STACK] = {
        "elf-stack", TP_SEVERITY_WARNING,
        "no executable stack is asked for",
        "glibc from 2.41 on refuses to dlopen it, and SELinux on Android forbids such a stack",
        "link it with -Wl,-z,noexecstack, and give assembly a .note.GNU-stack section",
    },
    [TP_RULE_ELF_SONAME] = {
        "elf-soname", TP_SEVERITY_ERROR,
        "the SONAME is the file's name, which is meta.json's libraryName",
        "the linker knows a library by its SONAME: with another one, a hooked or a second load finds "
        "the wrong driver or none",
        "link it with -Wl,-soname,<libraryName>; after a rename: patchelf --set-soname",
    },
    [TP_RULE_ELF_SEARCH_PATH] = {
        "elf-search-path", TP_SEVERITY_WARNING,
        "no RPATH or RUNPATH",
        "it is a place on the machine that built it, where another's library could be picked up",
        "take the installed file (ninja install), or link without -rpath; patchelf --remove-rpath",
    },
    [TP_RULE_ELF_NEEDED_PATH] = {
        "elf-needed-path", TP_SEVERITY_ERROR,
        "libraries are needed by name, not by path",
        "Android looks for such a library at that very path from Android 6 (API 23) on, where it is not",
        "give the library a SONAME and link against that: patchelf --replace-needed PATH NAME",
    },
    [TP_RULE_ELF_NEEDED] = {
        "elf-needed", TP_SEVERITY_ERROR,
        "every needed library is there for an app on the platform, or in the archive",
        NULL,
        "link it statically or leave it out of the link; open it at run time (dlopen) where it is there",
    },
    [TP_RULE_ELF_LIBC] = {
        "elf-libc", TP_SEVERITY_ERROR,
        "the C library is the platform's: bionic (libc.so) on Android, glibc (libc.so.6) on Linux",
        NULL,
        "build it for the platform that the archive is for",
    },
    [TP_RULE_ELF_EXPORTS] = {
        "elf-exports", TP_SEVERITY_ERROR,
        "the loader's entry point is exported: HMI on Android, vk_icdGetInstanceProcAddr on Linux",
        "the loader finds no driver in it and uses the phone's own, or none",
        "configure Mesa for the platform: with -Dplatforms=android for Android, without it for Linux",
    },
    [TP_RULE_ELF_EMUTLS] = {
        "elf-emutls", TP_SEVERITY_ERROR,
        "emulated thread-local storage brings its own runtime",
        "no library on any Android has this function, so that the driver does not load",
        "link compiler-rt's builtins or libgcc (-rtlib=compiler-rt), or build for API 29 with -ftls-model="
        "global-dynamic",
    },
    [TP_RULE_ELF_TLS] = {
        "elf-tls", TP_SEVERITY_ERROR,
        "native thread-local storage (PT_TLS) only where minApi is 29 or more",
        "Android 9 (API 28) loads it silently and then crashes; older ones refuse it",
        "declare minApi 29, or compile with -femulated-tls for older ones",
    },
    [TP_RULE_ELF_STATIC_TLS] = {
        "elf-static-tls", TP_SEVERITY_ERROR,
        "no initial-exec thread-local storage",
        "bionic refuses a dlopened library that has it, on every Android version",
        "compile with -ftls-model=global-dynamic, and Mesa with its initial-exec switched off",
    },
    [TP_RULE_ELF_RELR] = {
        "elf-relr", TP_SEVERITY_ERROR,
        "packed relative relocations (RELR) only in a form that minApi's linker knows",
        NULL,
        "link it with -Wl,--pack-dyn-relocs=none (or android+relr with --use-android-relr-tags for API "
        "28 and 29), or declare minApi 30",
    },
    [TP_RULE_ELF_RELOCATIONS] = {
        "elf-relocations", TP_SEVERITY_ERROR,
        "relocations are in a form that minApi's linker knows",
        NULL,
        "link it with -Wl,--pack-dyn-relocs=none",
    },
    [TP_RULE_ELF_HASH] = {
        "elf-hash", TP_SEVERITY_ERROR,
        "a symbol hash table that minApi's linker reads (DT_HASH, or DT_GNU_HASH from API 23 on)",
        NULL,
        "link it with -Wl,--hash-style=both",
    },
    [TP_RULE_ELF_API] = {
        "elf-api", TP_SEVERITY_ERROR,
        "every symbol it needs is there on the Android that minApi declares",
        NULL,
        "declare the higher minApi, or build for the declared one (--target=aarch64-linux-android<minApi>) "
        "so that the compiler names each use",
    },
    [TP_RULE_ELF_SYMBOL] = {
        "elf-symbol", TP_SEVERITY_ERROR,
        "every symbol it needs is in a library that it names",
        NULL,
        "link with -Wl,-z,defs, which names each missing symbol, and add the library or the source "
        "that has it",
    },
    [TP_RULE_ELF_BUILD_ID] = {
        "elf-build-id", TP_SEVERITY_WARNING,
        "a build-id",
        "Mesa keys its shader cache by it: without one, shaders of another build can be taken for "
        "this one's, and a crash report names no build",
        "link it with -Wl,--build-id=sha1",
    },
    [TP_RULE_ELF_DEBUG] = {
        "elf-debug", TP_SEVERITY_WARNING,
        "no debug information (.debug_*)",
        "it makes the archive several times as large; WinNative refuses more than 128 MiB",
        "strip it (llvm-strip --strip-unneeded)",
    },
    [TP_RULE_ELF_NOTE] = {
        "elf-note", TP_SEVERITY_ERROR,
        "the ELF note `turnpike` says which build it is and which patches are in it",
        "nobody can tell later what a player runs",
        "build it with `turnpike build`, with the patch driver-label in",
    },
    [TP_RULE_ELF_VARIANT] = {
        "elf-variant", TP_SEVERITY_ERROR,
        "the variant's marks: a power constraint in p, none in b",
        NULL,
        "pack the file of this variant, or build it again",
    },
};

const struct tp_rule *tp_rule_of(enum tp_rule_id id)
{
    return &rules[id];
}

const char *tp_severity_name(enum tp_severity severity)
{
    static const char *const names[] = {"note", "warning", "error"};
    return names[severity];
}
