#include "factory/inspect/kinds.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *words;
} kinds[] = {
    [TP_KIND_UNKNOWN] = {"unknown", "no driver and no archive of one"},
    [TP_KIND_DRIVER] = {"driver", "a driver by itself, without an archive"},
    [TP_KIND_DAMAGED] = {"damaged-archive", "a zip that cannot be read"},
    [TP_KIND_ANDROID] = {"adrenotools", "an Adrenotools archive for Android"},
    [TP_KIND_LINUX] = {"linux", "a driver archive for WinNative's Linux"},
    [TP_KIND_QUALCOMM] = {"qualcomm", "an Adrenotools archive of Qualcomm's driver"},
    [TP_KIND_FOLDER] = {"folder", "a driver archive that was packed with its folder"},
    [TP_KIND_MODULE] = {"module", "a module for Magisk or KernelSU"},
    [TP_KIND_NESTED] = {"nested", "an archive around other archives"},
    [TP_KIND_NO_DRIVER] = {"no-driver", "an archive without a driver"},
    [TP_KIND_TOO_LARGE] = {"too-large", "a file that is too large to be looked into"},
};

const char *tp_kind_name(enum tp_kind kind)
{
    return kinds[kind].name;
}

const char *tp_kind_words(enum tp_kind kind)
{
    return kinds[kind].words;
}

const char *tp_kind_guess(const void *bytes, size_t len)
{
    static const struct {
        size_t at, len;
        const char *magic, *what;
    } forms[] = {
        {0, 6, "7z\xbc\xaf\x27\x1c", "a 7z archive"},
        {0, 4, "Rar!", "a RAR archive"},
        {0, 2, "\x1f\x8b", "a gzip file"},
        {0, 6, "\3757zXZ", "an XZ file (a .wcp or .tar.xz)"},
        {0, 4, "\x28\xb5\x2f\xfd", "a Zstandard file (a .wcp or .tzst)"},
        {0, 3, "BZh", "a bzip2 file"},
        {257, 5, "ustar", "a tar archive"},
        {0, 8, "!<arch>\n", "a static library"},
        {0, 2, "MZ", "a Windows program"},
        {0, 4, "PK\7\x08", "a part of a zip in several files"},
        {0, 8, "\x89PNG\r\n\x1a\n", "a picture (PNG)"},
        {0, 3, "\xff\xd8\xff", "a picture (JPEG)"},
    };
    const char *p = bytes;
    if (!len)
        return "an empty file";
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (len >= forms[i].at + forms[i].len &&
            !memcmp(p + forms[i].at, forms[i].magic, forms[i].len))
            return forms[i].what;
    }
    size_t blank = 0;
    while (blank < len && strchr(" \t\r\n", p[blank]) && p[blank])
        blank++;
    if (len - blank >= 5 &&
        (!strncasecmp(p + blank, "<!doc", 5) || !strncasecmp(p + blank, "<html", 5)))
        return "a web page: the link led to a page, not to the file";
    return "no known kind of archive";
}

enum tp_kind tp_kind_of_entries(const struct tp_zip_view *zip)
{
    size_t libraries = 0, archives = 0;
    bool module = false, vendor = false, meta = false, on_top = false;
    for (size_t i = 0; i < zip->n; i++) {
        const struct tp_zip_entry *e = &zip->entries[i];
        if (e->folder)
            continue;
        module = module || tp_zip_name_is(e, "module.prop") ||
            tp_zip_name_is(e, "META-INF/com/google/android/update-binary");
        meta = meta || tp_zip_name_is(e, "meta.json");
        libraries += tp_zip_name_ends(e, ".so");
        on_top = on_top || (tp_zip_name_ends(e, ".so") && !memchr(e->name, '/', e->name_len));
        archives += tp_zip_name_ends(e, ".zip") || tp_zip_name_ends(e, ".adpkg");
        /* Names of Qualcomm's libraries, which blob-patcher.py begins with "not". */
        vendor = vendor || tp_zip_name_ends(e, "gsl.so") || tp_zip_name_ends(e, "llvm-qgl.so") ||
            tp_zip_name_ends(e, "llvm-glnext.so") || tp_zip_name_ends(e, "adreno_utils.so");
    }
    /* With an archive's two files on top, apps see nothing of the module. */
    if (module && !(meta && on_top))
        return TP_KIND_MODULE;
    if (!libraries)
        return archives ? TP_KIND_NESTED : TP_KIND_NO_DRIVER;
    return vendor ? TP_KIND_QUALCOMM : TP_KIND_ANDROID;
}
