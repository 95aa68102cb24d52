#include "factory/inspect/rules.h"

#include <stddef.h>

static const struct tp_rule rules[TP_RULES] = {
    [TP_RULE_ELF_HEADER] = {
        "elf-header", TP_SEVERITY_ERROR,
        "the file begins with a whole and proper ELF header",
        "the linker refuses it (for its section headers' sake: from Android 8, API 26, on), and apps then "
        "use the phone's own driver without a word",
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
        "a library of the same name could be picked up there in the platform's place",
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
    [TP_RULE_KIND_UNKNOWN] = {
        "kind-unknown", TP_SEVERITY_ERROR,
        "the file is a zip or a shared library",
        "no app imports anything else",
        "fetch it again from where its builder publishes it, as the .zip that it is there",
    },
    [TP_RULE_KIND_NO_DRIVER] = {
        "kind-no-driver", TP_SEVERITY_ERROR,
        "there is a driver (a .so) in the archive",
        "there is nothing to import",
        "fetch the builder's archive with the driver in it, not the one of its sources",
    },
    [TP_RULE_KIND_MODULE] = {
        "kind-module", TP_SEVERITY_ERROR,
        "the archive is for apps, not for Magisk or KernelSU",
        "apps find no meta.json in a module and import nothing; a module replaces the driver of the "
        "whole phone, by root",
        "take the builder's Adrenotools archive; or pack the module's vulkan.*.so with a meta.json "
        "beside it",
    },
    [TP_RULE_KIND_NESTED] = {
        "kind-nested", TP_SEVERITY_ERROR,
        "the driver is in the archive itself, not in an archive within it",
        "no app opens a zip in a zip",
        "unpack this file once, and import the one that is in it",
    },
    [TP_RULE_KIND_BARE] = {
        "kind-bare", TP_SEVERITY_NOTE,
        "a driver comes in an archive with its meta.json",
        "no app's importer takes a library alone",
        "pack it: a zip of meta.json and the library, no folders",
    },
    [TP_RULE_FILE_TOO_LARGE] = {
        "file-too-large", TP_SEVERITY_ERROR,
        "an archive, and each library in it, has 96 MiB at most; a library alone 192 MiB",
        "it is not looked into, and nothing is said of whether it is good",
        "strip the library (llvm-strip --strip-unneeded), and pack nothing but it and meta.json",
    },
    [TP_RULE_ZIP_TRUNCATED] = {
        "zip-truncated", TP_SEVERITY_ERROR,
        "the file is whole: its directory is at its end",
        "some apps say that it is invalid, others do nothing at all",
        "fetch it again: the download was cut off",
    },
    [TP_RULE_ZIP_DAMAGED] = {
        "zip-damaged", TP_SEVERITY_ERROR,
        "the directory is well-formed and leads to every entry",
        "what apps import of it, if anything, differs from app to app",
        "fetch it again, or pack it again",
    },
    [TP_RULE_ZIP_SPLIT] = {
        "zip-split", TP_SEVERITY_ERROR,
        "the zip is one file",
        "no app reads a part of one",
        "pack it again as one file (zip -s 0 PART.zip --out WHOLE.zip)",
    },
    [TP_RULE_ZIP_TWO_ENDS] = {
        "zip-two-ends", TP_SEVERITY_ERROR,
        "there is one end and one directory",
        "which entries are seen differs from app to app",
        "pack it again",
    },
    [TP_RULE_ZIP_PREFIX] = {
        "zip-prefix", TP_SEVERITY_ERROR,
        "the file begins with its first entry",
        "apps that read from front to back (GameNative, Winlator, WinNative) see nothing, or "
        "the entries of another zip that stands in front",
        "pack it again as a plain zip, not self-extracting",
    },
    [TP_RULE_ZIP_GAP] = {
        "zip-gap", TP_SEVERITY_ERROR,
        "entries follow one another without a gap",
        "apps that read from front to back (GameNative, Winlator, WinNative) stop there, or see an "
        "entry that others do not",
        "pack it again; do not change or delete entries in place",
    },
    [TP_RULE_ZIP_TRAILING] = {
        "zip-trailing", TP_SEVERITY_WARNING,
        "nothing follows the end",
        "some readers then do not find it",
        "pack or fetch it again",
    },
    [TP_RULE_ZIP_OVERLAP] = {
        "zip-overlap", TP_SEVERITY_ERROR,
        "no two entries share bytes",
        "this is how a small file unpacks to an endless one",
        "delete it; an honest packer does not do this",
    },
    [TP_RULE_ZIP_LOCAL_DIFFERS] = {
        "zip-local-differs", TP_SEVERITY_ERROR,
        "each entry's own header says what the directory says",
        "apps that read from front to back import something else than apps that read the directory",
        "pack it again",
    },
    [TP_RULE_ZIP_STORED_DESCRIPTOR] = {
        "zip-stored-descriptor", TP_SEVERITY_ERROR,
        "an entry that is stored says its size in front",
        "Java's ZipInputStream refuses it (GameNative, Winlator, WinNative): only deflated entries may "
        "do so",
        "pack it again with deflate, or to a file rather than into a pipe",
    },
    [TP_RULE_ZIP_ZIP64] = {
        "zip-zip64", TP_SEVERITY_WARNING,
        "the form is the plain one, which suffices below 4 GiB",
        "not every reader in apps knows zip64",
        "pack it again without forcing zip64 (zip -fz-, 7z and libzip do so by themselves)",
    },
    [TP_RULE_ZIP_SIZE_LIES] = {
        "zip-size-lies", TP_SEVERITY_ERROR,
        "entries have the sizes that they say",
        "apps end with an error, or unpack without end",
        "pack it again",
    },
    [TP_RULE_ZIP_CRC] = {
        "zip-crc", TP_SEVERITY_ERROR,
        "every entry unpacks and its checksum holds",
        "apps end with an error in the middle of the import",
        "fetch it again: bytes changed on the way",
    },
    [TP_RULE_ZIP_BOMB] = {
        "zip-bomb", TP_SEVERITY_ERROR,
        "a small file does not unpack to an immense one",
        "it fills the phone's storage; WinNative stops at 128 MiB",
        "delete it; a driver has some 10 to 30 MiB",
    },
    [TP_RULE_ZIP_TOO_LARGE] = {
        "zip-too-large", TP_SEVERITY_ERROR,
        "the entries have 128 MiB at most together",
        "WinNative refuses more",
        "strip the library (llvm-strip --strip-unneeded), and pack nothing but it and meta.json",
    },
    [TP_RULE_ZIP_TOO_MANY] = {
        "zip-too-many", TP_SEVERITY_ERROR,
        "there are 32 entries at most",
        "WinNative refuses more",
        "pack nothing but meta.json and the libraries",
    },
    [TP_RULE_ZIP_PATH] = {
        "zip-path", TP_SEVERITY_ERROR,
        "no entry's name leads elsewhere: no .., no leading /, no backslash, no drive",
        "it writes over other files, or the app refuses the whole archive",
        "delete it if it is not yours; else pack the files by their bare names (zip -j)",
    },
    [TP_RULE_ZIP_LINK] = {
        "zip-link", TP_SEVERITY_ERROR,
        "entries are plain files",
        "apps write a link's target as text into a file: the driver is then a few bytes long",
        "pack the file itself (zip without -y)",
    },
    [TP_RULE_ZIP_FOLDER] = {
        "zip-folder", TP_SEVERITY_ERROR,
        "entries lie at the top, not in folders",
        "GameNative, Winlator, WinNative and PPSSPP import none of it",
        "pack from within the folder: zip -j NAME.zip FOLDER/*",
    },
    [TP_RULE_ZIP_NAME] = {
        "zip-name", TP_SEVERITY_ERROR,
        "names are UTF-8, without control characters or a leading dot, of 180 characters at most",
        "WinNative refuses the archive, and others cannot write the file",
        "rename or leave out the entry",
    },
    [TP_RULE_ZIP_DUPLICATE] = {
        "zip-duplicate", TP_SEVERITY_ERROR,
        "no name is there twice",
        "WinNative refuses it; of other apps, some take the first and some the last",
        "pack it again with one of the two",
    },
    [TP_RULE_ZIP_CASE] = {
        "zip-case", TP_SEVERITY_ERROR,
        "no two names are the same but for the case of letters",
        "on storage that does not tell them apart one is written over the other",
        "rename or leave out one of the two",
    },
    [TP_RULE_ZIP_ENCRYPTED] = {
        "zip-encrypted", TP_SEVERITY_ERROR,
        "nothing is encrypted",
        "no app asks for a password",
        "pack it again without a password",
    },
    [TP_RULE_ZIP_METHOD] = {
        "zip-method", TP_SEVERITY_ERROR,
        "entries are stored or deflated",
        "no app reads another method (LZMA, Zstandard, Deflate64)",
        "pack it again with deflate (7z: -mm=Deflate)",
    },
    [TP_RULE_META_MISSING] = {
        "meta-missing", TP_SEVERITY_ERROR,
        "there is a meta.json at the top",
        "apps say \"metadata missing\" or do nothing at all",
        "add a meta.json (docs/archives.md has one), or take the builder's Adrenotools archive",
    },
    [TP_RULE_META_OTHER_JSON] = {
        "meta-other-json", TP_SEVERITY_ERROR,
        "meta.json is the only entry whose name holds .json",
        "yuzu, Citra and their successors take the first such entry for the metadata",
        "leave the other one out",
    },
    [TP_RULE_META_SIZE] = {
        "meta-size", TP_SEVERITY_ERROR,
        "meta.json has 64 KiB at most",
        "WinNative refuses more",
        "leave out what no importer reads",
    },
    [TP_RULE_META_ENCODING] = {
        "meta-encoding", TP_SEVERITY_ERROR,
        "meta.json is plain UTF-8, without a byte order mark and NULs",
        "Strato, RPCSX, Dolphin and PPSSPP refuse it; others take it",
        "save it as UTF-8 without BOM",
    },
    [TP_RULE_META_SYNTAX] = {
        "meta-syntax", TP_SEVERITY_ERROR,
        "meta.json is one well-formed JSON object",
        "strict readers refuse it, lenient ones may or may not take it",
        "mend it there: jq . meta.json names the place, too",
    },
    [TP_RULE_META_DUPLICATE] = {
        "meta-duplicate", TP_SEVERITY_ERROR,
        "no key is there twice",
        "of two values most readers take the last, and some refuse both",
        "leave one of them out",
    },
    [TP_RULE_META_DEPTH] = {
        "meta-depth", TP_SEVERITY_ERROR,
        "values are texts and numbers, not nested",
        "a reader may run out of stack, and the app crashes",
        "leave out what no importer reads",
    },
    [TP_RULE_META_KEY_MISSING] = {
        "meta-key-missing", TP_SEVERITY_ERROR,
        "every key that importers want is there (Android: all nine)",
        NULL,
        "add it: docs/archives.md has a meta.json with all of them",
    },
    [TP_RULE_META_KEY_UNKNOWN] = {
        "meta-key-unknown", TP_SEVERITY_ERROR,
        "on Android, the nine keys and no other",
        "Strato, RPCSX and Dolphin refuse unknown keys",
        "leave it out",
    },
    [TP_RULE_META_TYPE] = {
        "meta-type", TP_SEVERITY_ERROR,
        "schemaVersion and minApi are whole numbers, all else is text",
        "some importers refuse it",
        "numbers without quotes and point, texts with quotes",
    },
    [TP_RULE_META_SCHEMA] = {
        "meta-schema", TP_SEVERITY_ERROR,
        "schemaVersion is 1",
        "Strato, RPCSX, Dolphin and PPSSPP refuse any other",
        "write \"schemaVersion\": 1",
    },
    [TP_RULE_META_NAME] = {
        "meta-name", TP_SEVERITY_ERROR,
        "name and packageVersion can be a folder's name, and stand for no other driver",
        NULL,
        "give it a name of letters, digits, spaces and - _ . +, as \"Turnip 25.0.7 b\"",
    },
    [TP_RULE_META_API] = {
        "meta-api", TP_SEVERITY_ERROR,
        "minApi is an API level of Android, and not above the phone's",
        NULL,
        "write the oldest API level on which the driver loads (29 is Android 10)",
    },
    [TP_RULE_META_PLATFORM] = {
        "meta-platform", TP_SEVERITY_ERROR,
        "platform, architecture and libc in meta.json are the library's",
        "WinNative refuses it",
        "pack the library that the archive is for",
    },
    [TP_RULE_META_ADPKG] = {
        "meta-adpkg", TP_SEVERITY_NOTE,
        "driverVersion and vendor are as libadrenotools' description of packages has them",
        "no importer checks that",
        "nothing need be done",
    },
    [TP_RULE_LIBRARY_NAME] = {
        "library-name", TP_SEVERITY_ERROR,
        "libraryName is a .so in the archive, without a path",
        "the import succeeds in most apps, which then find no driver and use the phone's own without "
        "a word",
        "write the library's exact name into libraryName; after a rename, change the SONAME as well "
        "(patchelf --set-soname)",
    },
    [TP_RULE_LIBRARY_HASH] = {
        "library-hash", TP_SEVERITY_ERROR,
        "librarySha256, where it is there, is the library's",
        "WinNative refuses it",
        "fetch it again; or write the sum that sha256sum prints",
    },
    [TP_RULE_LIBRARY_PLATFORMS] = {
        "library-platforms", TP_SEVERITY_ERROR,
        "all libraries are for one platform",
        "WinNative refuses it",
        "pack one archive for Android and one for Linux",
    },
    [TP_RULE_ASSET_NAME] = {
        "asset-name", TP_SEVERITY_ERROR,
        "a release's file is called as its meta.json is, with _Axxx.zip behind",
        "launchers and release notes find it by that name",
        "rename it",
    },
    [TP_RULE_ASSET_VARIANT] = {
        "asset-variant", TP_SEVERITY_ERROR,
        "the variant in the file's name, in meta.json and in the driver is one",
        "a player gets another driver than the name says",
        "pack the file of this variant, or rename it",
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
