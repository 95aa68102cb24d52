#include "factory/package/archive.h"

#include <errno.h>
#include <sys/stat.h>
#include <zip.h>

/* MS-DOS form of 1980-01-01 12:00:00: hour in bits 11–15; year - 1980 in 9–15, month in 5–8, day in
 * 0–4. Noon, because libzip 1.7 takes even this form through the time zone and back, which changes an
 * hour that the zone skips; some skip midnights, none a noon of that year. */
enum { DOS_TIME = 12 << 11, DOS_DATE = 0 << 9 | 1 << 5 | 1 };

static int failed(const char *where, struct tp_error *e, const char *what, const char *why)
{
    return tp_fail(e, TP_STATUS_FAILED, -EIO, where, NULL, "%s: %s", what, why);
}

static int add_entry(zip_t *zip, const struct tp_archive_entry *entry, const char *where,
                     struct tp_error *e)
{
    zip_source_t *source = zip_source_buffer(zip, entry->data, entry->len, 0);
    zip_int64_t index = source ? zip_file_add(zip, entry->name, source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
        zip_source_free(source);
        return failed(where, e, entry->name, zip_strerror(zip));
    }
    zip_uint64_t i = (zip_uint64_t)index;
    /* Not zip_file_set_mtime, which takes the time zone into the archive's bytes. */
    if (zip_set_file_compression(zip, i, ZIP_CM_DEFLATE, 9) < 0 ||
        zip_file_set_dostime(zip, i, DOS_TIME, DOS_DATE, 0) < 0 ||
        zip_file_set_external_attributes(zip, i, 0, ZIP_OPSYS_UNIX,
                                         (zip_uint32_t)(S_IFREG | 0644) << 16) < 0)
        return failed(where, e, entry->name, zip_strerror(zip));
    return 0;
}

static int write_entries(zip_source_t *target, const struct tp_archive_entry *entries, size_t n,
                         const char *where, struct tp_error *e)
{
    zip_error_t error;
    zip_error_init(&error);
    zip_t *zip = zip_open_from_source(target, ZIP_TRUNCATE, &error);
    if (!zip) {
        int r = failed(where, e, "the archive cannot be begun", zip_error_strerror(&error));
        zip_error_fini(&error);
        zip_source_free(target);
        return r;
    }
    zip_error_fini(&error);
    int r = 0;
    for (size_t i = 0; i < n && r == 0; i++)
        r = add_entry(zip, &entries[i], where, e);
    if (r == 0 && zip_close(zip) == 0)
        return 0;
    if (r == 0)
        r = failed(where, e, "the archive cannot be completed", zip_strerror(zip));
    zip_discard(zip);
    return r;
}

static int take_bytes(zip_source_t *source, const char *where, struct tp_buf *out,
                      struct tp_error *e)
{
    if (zip_source_open(source) < 0)
        return failed(where, e, "the archive cannot be read back",
                      zip_error_strerror(zip_source_error(source)));
    char chunk[65536];
    zip_int64_t n;
    while ((n = zip_source_read(source, chunk, sizeof chunk)) > 0)
        tp_buf_add(out, chunk, (size_t)n);
    int r = n < 0 ? failed(where, e, "the archive cannot be read back",
                           zip_error_strerror(zip_source_error(source)))
                  : 0;
    zip_source_close(source);
    return r;
}

int tp_archive_build(const struct tp_archive_entry *entries, size_t n, const char *where,
                     struct tp_buf *out, struct tp_error *e)
{
    tp_buf_clear(out);
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *target = zip_source_buffer_create(NULL, 0, 0, &error);
    if (!target) {
        int r = failed(where, e, "no memory for the archive", zip_error_strerror(&error));
        zip_error_fini(&error);
        return r;
    }
    zip_error_fini(&error);
    zip_source_keep(target); /* zip_close and zip_discard give one reference back */
    int r = write_entries(target, entries, n, where, e);
    if (r == 0)
        r = take_bytes(target, where, out, e);
    zip_source_free(target);
    return r;
}
