#include "factory/inspect/inspect.h"

#include <errno.h>
#include <string.h>

#include "base/fs.h"

static bool is_elf(const void *bytes, size_t len)
{
    return len >= 4 && !memcmp(bytes, "\177ELF", 4);
}

/* A zip begins with an entry, or has its end where readers look for it. */
static bool is_zip(const void *bytes, size_t len)
{
    enum { LOOK = 65536 + 22 };
    if (len >= 4 && (!memcmp(bytes, "PK\3\4", 4) || !memcmp(bytes, "PK\5\6", 4)))
        return true;
    size_t from = len > LOOK ? len - LOOK : 0;
    return !is_elf(bytes, len) && memmem((const char *)bytes + from, len - from, "PK\5\6", 4);
}

void tp_inspect_memory(
    const void *bytes, size_t len, const char *file_name, int api, struct tp_inspection *out)
{
    const struct tp_inspect_ask ask = {file_name, api};
    if (is_zip(bytes, len)) {
        tp_zip_view_open(bytes, len, &out->findings, &out->zip);
        tp_contents_read(&out->contents, out->zip, &ask, &out->findings);
        tp_zip_view_check_data(out->zip, &out->findings);
    } else if (is_elf(bytes, len)) {
        tp_contents_read_library(&out->contents, bytes, len, &ask, &out->findings);
    } else {
        tp_findings_add(&out->findings, TP_RULE_KIND_UNKNOWN, NULL, NULL,
            "it is neither a zip nor a library, but %s", tp_kind_guess(bytes, len));
    }
}

static int too_large(size_t limit, struct tp_inspection *out)
{
    tp_findings_add(&out->findings, TP_RULE_FILE_TOO_LARGE, NULL, NULL, "it has more than %zu MiB",
        limit >> 20);
    out->contents.kind = TP_KIND_TOO_LARGE;
    return 0;
}

int tp_inspect_file(const char *path, int api, struct tp_inspection *out, struct tp_error *e)
{
    *out = (struct tp_inspection){0};
    struct tp_error failed = {0};
    int r = tp_read_file(path, TP_INSPECT_MAX_ELF_BYTES, &out->bytes, &failed);
    if (r == -EFBIG)
        return too_large(TP_INSPECT_MAX_ELF_BYTES, out);
    if (r)
        return tp_fail(e, failed.status == TP_STATUS_MISSING ? failed.status : TP_STATUS_INPUT, r,
            failed.where, failed.todo, "%s", failed.what);
    const char *bytes = tp_buf_str(&out->bytes);
    if (!is_elf(bytes, out->bytes.len) && out->bytes.len > TP_INSPECT_MAX_ZIP_BYTES)
        return too_large(TP_INSPECT_MAX_ZIP_BYTES, out);
    tp_inspect_memory(bytes, out->bytes.len, tp_base_name(path), api, out);
    return 0;
}

void tp_inspection_finish(struct tp_inspection *i)
{
    tp_contents_finish(&i->contents);
    tp_findings_finish(&i->findings);
    tp_zip_view_close(i->zip);
    tp_buf_finish(&i->bytes);
    *i = (struct tp_inspection){0};
}
