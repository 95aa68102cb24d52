#include "base/driver_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "base/fs.h"

enum { MAX_ENTRIES = 4096, MAX_META = 64 << 10 };

static int damaged(const char *path, const char *what, struct tp_error *e)
{
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, path,
                   "name a driver (.so) or an archive (.zip) that holds one", "%s", what);
}

static int read_entry(zip_t *zip, zip_uint64_t index, size_t max, struct tp_buf *out)
{
    tp_buf_clear(out);
    zip_file_t *f = zip_fopen_index(zip, index, 0);
    if (!f)
        return -EINVAL;
    char chunk[65536];
    zip_int64_t n;
    while ((n = zip_fread(f, chunk, sizeof chunk)) > 0 && out->len <= max)
        tp_buf_add(out, chunk, (size_t)n);
    int r = n < 0 ? -EINVAL : out->len > max ? -EFBIG : 0;
    if (zip_fclose(f) != 0 && !r)
        r = -EINVAL; /* its checksum does not hold */
    return r;
}

/* libraryName of the archive's meta.json, or NULL. Caller frees. */
static char *library_name(zip_t *zip, zip_int64_t n)
{
    char *name = NULL;
    struct tp_buf text = {0};
    for (zip_int64_t i = 0; i < n && !name; i++) {
        const char *entry = zip_get_name(zip, (zip_uint64_t)i, 0);
        if (!entry || strcmp(tp_base_name(entry), "meta.json") != 0 ||
            read_entry(zip, (zip_uint64_t)i, MAX_META, &text))
            continue;
        json_t *meta = json_loadb(tp_buf_str(&text), text.len, 0, NULL);
        const char *s = json_string_value(json_object_get(meta, "libraryName"));
        name = s ? tp_strdup(s) : NULL;
        json_decref(meta);
    }
    tp_buf_finish(&text);
    return name;
}

static bool is_library(const char *entry)
{
    size_t n = strlen(entry);
    return n > 3 && !strcmp(entry + n - 3, ".so");
}

/* file stays the caller's while the archive is open. */
static int open_archive(const char *path, const struct tp_buf *file, zip_t **zip,
                        struct tp_error *e)
{
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(file->data, file->len, 0, &error);
    *zip = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
    zip_error_fini(&error);
    if (*zip)
        return 0;
    if (source)
        zip_source_free(source);
    return damaged(path, "the archive is damaged", e);
}

static int read_archive(const char *path, const struct tp_buf *file, struct tp_buf *out,
                        struct tp_error *e)
{
    zip_t *zip;
    int opened = open_archive(path, file, &zip, e);
    if (opened)
        return opened;
    zip_int64_t n = zip_get_num_entries(zip, 0), found = -1;
    bool several = false;
    char *library = n <= MAX_ENTRIES ? library_name(zip, n) : NULL;
    for (zip_int64_t i = 0; i < n && n <= MAX_ENTRIES; i++) {
        const char *entry = zip_get_name(zip, (zip_uint64_t)i, 0);
        if (!entry || (library ? strcmp(tp_base_name(entry), library) != 0 : !is_library(entry)))
            continue;
        several = several || found >= 0;
        found = i;
    }
    int r;
    if (n > MAX_ENTRIES)
        r = damaged(path, "the archive has thousands of entries", e);
    else if (found < 0)
        r = damaged(path, library ? "the archive lacks the library that its meta.json names" :
                                    "the archive holds no driver", e);
    else if (several)
        r = damaged(path, "the archive holds several drivers and does not say which is meant", e);
    else if (read_entry(zip, (zip_uint64_t)found, TP_DRIVER_MAX_BYTES, out))
        r = damaged(path, "the driver in the archive is damaged or too large", e);
    else
        r = 0;
    free(library);
    zip_discard(zip);
    return r;
}

int tp_driver_read(const char *path, struct tp_buf *out, bool *in_archive, struct tp_error *e)
{
    struct tp_buf file = {0};
    tp_buf_clear(out);
    int r = tp_read_file(path, TP_DRIVER_MAX_BYTES, &file, e);
    bool elf = !r && file.len > 4 && !memcmp(file.data, "\177ELF", 4);
    bool zip = !r && file.len > 4 && !memcmp(file.data, "PK", 2);
    if (in_archive)
        *in_archive = zip;
    if (zip)
        r = read_archive(path, &file, out, e);
    else if (elf)
        tp_buf_add(out, file.data, file.len);
    else if (!r)
        r = damaged(path, "it is neither an ELF file nor a zip", e);
    if (!r && (out->len < 4 || memcmp(out->data, "\177ELF", 4) != 0))
        r = damaged(path, "the library in the archive is no ELF file", e);
    tp_buf_finish(&file);
    return r;
}

int tp_driver_read_meta(const char *path, struct tp_buf *out, struct tp_error *e)
{
    struct tp_buf file = {0};
    zip_t *zip = NULL;
    zip_int64_t found = -1;
    tp_buf_clear(out);
    int r = tp_read_file(path, TP_DRIVER_MAX_BYTES, &file, e);
    if (!r)
        r = open_archive(path, &file, &zip, e);
    for (zip_int64_t i = 0; !r && i < zip_get_num_entries(zip, 0); i++) {
        const char *entry = zip_get_name(zip, (zip_uint64_t)i, 0);
        if (!entry || strcmp(tp_base_name(entry), "meta.json") != 0)
            continue;
        if (found >= 0)
            r = damaged(path, "the archive has several meta.json", e);
        found = i;
    }
    if (!r && found < 0)
        r = tp_fail(e, TP_STATUS_FAILED, -ENOENT, path, "pack the driver with one",
                    "the archive has no meta.json");
    else if (!r && read_entry(zip, (zip_uint64_t)found, MAX_META, out))
        r = damaged(path, "the archive's meta.json is damaged or too large", e);
    if (zip)
        zip_discard(zip);
    tp_buf_finish(&file);
    return r;
}
