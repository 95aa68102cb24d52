#include "factory/package/package.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "factory/package/archive.h"
#include "factory/package/meta.h"

static int unusable(struct tp_error *e, const char *where, const char *what)
{
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, NULL, "%s", what);
}

static int check_request(const struct tp_package_request *q, struct tp_error *e)
{
    const struct {
        const char *name, *value;
    } texts[] = {
        {"the driver's path", q->driver},
        {"the output folder", q->out_dir},
        {"the archive's file name", q->archive_name},
        {"the system", q->system},
        {"the target", q->target},
        {"the version", q->version},
        {"the driver version", q->driver_version},
        {"the name", q->name},
        {"the description", q->description},
        {"the author", q->author},
        {"the vendor", q->vendor},
        {"Mesa's version", q->mesa.version},
        {"Mesa's source", q->mesa.source},
        {"turnpike's revision", q->build_commit},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!texts[i].value || !*texts[i].value)
            return tp_fail(e, TP_STATUS_INPUT, -EINVAL, "package", NULL, "%s is not given",
                           texts[i].name);
    }
    size_t n = strlen(q->archive_name);
    if (n <= 4 || strcmp(q->archive_name + n - 4, ".zip") || strchr(q->archive_name, '/') ||
        *q->archive_name == '.')
        return unusable(e, q->archive_name,
                        "is no archive name: it must end in .zip, hold no / and begin with no dot");
    if (strcmp(q->system, "android") && strcmp(q->system, "linux"))
        return unusable(e, q->system, "is no known system: android, linux");
    if (q->machine && strcmp(q->machine, "aarch64") && strcmp(q->machine, "x86_64"))
        return unusable(e, q->machine, "is no known machine: aarch64, x86_64");
    if (q->variant != 'b' && q->variant != 'p')
        return unusable(e, q->archive_name, "is of no known variant: b, p");
    if (!strcmp(q->system, "android") && q->min_api < 1)
        return unusable(e, q->archive_name, "has no minApi: Android's API level is needed");
    if (!q->receipt || !q->patches)
        return unusable(e, q->archive_name, "has no patch receipt or patch list");
    return 0;
}

static int not_text(const struct tp_package_request *q, struct tp_error *e)
{
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, q->archive_name,
                   "write the recipe's name, description, author and vendor in UTF-8",
                   "a text for it is not UTF-8");
}

/* Reads and checks the driver. Fills the facts that come from it; build_id and note are new. */
static int examine(const struct tp_package_request *q, const struct tp_buf *driver, char **build_id,
                   json_t **note, struct tp_error *e)
{
    struct tp_elf *elf;
    int r = tp_elf_open_memory(tp_buf_str(driver), driver->len, q->driver, &elf, e);
    if (r < 0)
        return r;
    const struct tp_driver_claim claim = {
        .system = q->system,
        .machine = q->machine && !strcmp(q->machine, "x86_64") ? EM_X86_64 : EM_AARCH64,
        .variant = q->variant,
        .target = q->target,
        .driver_version = q->driver_version,
        .mesa_version = q->mesa.version,
        .min_api = strcmp(q->system, "android") ? 0 : q->min_api,
    };
    r = tp_driver_check(elf, &claim, note, e);
    *build_id = tp_strdup(elf->build_id);
    tp_elf_close(elf);
    return r;
}

static int build_archive(const struct tp_package_request *q, const struct tp_buf *driver,
                         const char *driver_sha256, struct tp_buf *out, struct tp_error *e)
{
    json_t *meta = tp_meta_make(q, driver_sha256);
    if (!meta)
        return not_text(q, e);
    struct tp_buf text = {0};
    tp_meta_print(meta, &text);
    json_decref(meta);
    const struct tp_archive_entry entries[] = {
        {"meta.json", text.data, text.len},
        {TP_DRIVER_LIBRARY, driver->data, driver->len},
    };
    int r = tp_archive_build(entries, 2, q->archive_name, out, e);
    tp_buf_finish(&text);
    return r;
}

/* Writes into a folder beside the final place; an error names the final place. */
static int stage(const char *dir, const char *file, const struct tp_buf *bytes, const char *final,
                 struct tp_error *e)
{
    char *path = tp_join(dir, file);
    struct tp_error inner = {0};
    int r = tp_write_file(path, tp_buf_str(bytes), bytes->len, 0644, &inner);
    if (r < 0)
        tp_fail(e, inner.status, r, final, inner.todo, "%s", inner.what);
    free(path);
    return r;
}

static int move(const char *dir, const char *file, const char *final, struct tp_error *e)
{
    char *path = tp_join(dir, file);
    int r = rename(path, final) < 0 ? tp_fail_errno(e, errno, final, "cannot be put in place") : 0;
    free(path);
    return r;
}

/* Both files or none: what can fail for want of space is done before the first rename. */
static int write_both(const struct tp_package_request *q, const struct tp_buf *archive,
                      const struct tp_buf *receipt, const struct tp_package_result *result,
                      struct tp_error *e)
{
    char *dir = tp_temp_dir(q->out_dir, e);
    if (!dir)
        return e && e->err ? e->err : -EIO;
    int r = stage(dir, "archive", archive, result->path, e);
    if (!r)
        r = stage(dir, "receipt", receipt, result->receipt_path, e);
    if (!r)
        r = move(dir, "archive", result->path, e);
    if (!r) {
        r = move(dir, "receipt", result->receipt_path, e);
        if (r < 0)
            unlink(result->path);
    }
    int removed = tp_remove_tree(dir, e);
    free(dir);
    return r ? r : removed;
}

int tp_package_write(const struct tp_package_request *q, struct tp_package_result *result,
                     struct tp_error *e)
{
    *result = (struct tp_package_result){0};
    struct tp_buf driver = {0}, archive = {0}, receipt = {0};
    char *build_id = NULL;
    json_t *note = NULL, *receipt_json = NULL;
    int r = check_request(q, e);
    if (!r)
        r = tp_read_file(q->driver, TP_ELF_MAX_BYTES, &driver, e);
    if (!r)
        r = examine(q, &driver, &build_id, &note, e);
    if (r < 0)
        goto out;

    tp_sha256(driver.data, driver.len, result->driver_sha256);
    r = build_archive(q, &driver, result->driver_sha256, &archive, e);
    if (r < 0)
        goto out;
    tp_sha256(archive.data, archive.len, result->sha256);

    receipt_json = tp_receipt_make(q, &(struct tp_receipt_facts){
                                          .archive_sha256 = result->sha256,
                                          .driver_sha256 = result->driver_sha256,
                                          .build_id = build_id,
                                          .note = note,
                                      });
    if (!receipt_json) {
        r = not_text(q, e);
        goto out;
    }
    tp_meta_print(receipt_json, &receipt);
    result->path = tp_join(q->out_dir, q->archive_name);
    result->receipt_path = tp_asprintf("%s.receipt.json", result->path);
    result->driver_version = tp_strdup(q->driver_version);
    r = write_both(q, &archive, &receipt, result, e);
out:
    json_decref(receipt_json);
    json_decref(note);
    free(build_id);
    tp_buf_finish(&receipt);
    tp_buf_finish(&archive);
    tp_buf_finish(&driver);
    return r;
}

void tp_package_result_finish(struct tp_package_result *result)
{
    free(result->path);
    free(result->receipt_path);
    free(result->driver_version);
    *result = (struct tp_package_result){0};
}
