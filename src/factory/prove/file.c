#include "factory/prove/file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/driver_file.h"
#include "base/fs.h"

static void add(json_t *checks, const char *id, bool ok, const char *detail)
{
    char *clean = tp_printable(detail);
    json_array_append_new(checks, json_pack("{s:s, s:b, s:s}", "id", id, "ok", ok, "detail", clean));
    free(clean);
}

static bool exports(const struct tp_elf *elf, const char *name)
{
    for (size_t i = 0; i < elf->n_symbols; i++) {
        if (!elf->symbols[i].undefined && !strcmp(elf->symbols[i].name, name))
            return true;
    }
    return false;
}

static int check_entry(const struct tp_prove_file *f, json_t *checks, struct tp_error *e)
{
    static const char *const entries[] = {"vk_icdGetInstanceProcAddr", "HMI"};
    const struct tp_elf *elf = f->elf;
    if (elf->class_bits != 64 || !elf->little_endian ||
        (elf->machine != EM_AARCH64 && elf->machine != EM_X86_64))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, f->path, "name a driver for arm64 or x86-64",
                       "it is for another machine: %d-bit, %s-endian, machine %u of the ELF list",
                       elf->class_bits, elf->little_endian ? "little" : "big", elf->machine);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (exports(elf, entries[i])) {
            add(checks, "entry", true, entries[i]);
            return 0;
        }
    }
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, f->path, "name Turnip's libvulkan_freedreno.so",
                   "it is no Vulkan driver: it exports neither vk_icdGetInstanceProcAddr nor HMI");
}

/* Says meta what is so, where it says anything? Else what is wrong; caller frees. */
static char *differs(const json_t *meta, const char *key, const char *so)
{
    const json_t *value = json_object_get(meta, key);
    const char *text = json_string_value(value);
    if (!value || !so || (text && !strcmp(text, so)))
        return NULL;
    return tp_asprintf("%s is \"%.100s\", and the driver's \"%.100s\"", key, text ? text : "no text",
                       so);
}

static char *wrong_in(const struct tp_prove_file *f, const json_t *meta)
{
    char sha256[TP_SHA256_HEX];
    if (!json_is_object(meta))
        return tp_strdup("meta.json is no JSON object");
    if (!json_is_string(json_object_get(meta, "libraryName")))
        return tp_strdup("meta.json does not name its library (libraryName)");
    tp_sha256(f->data, f->len, sha256);
    const char *driver = json_string_value(json_object_get(f->note, "driver"));
    if (driver && !json_is_string(json_object_get(meta, "driverVersion")))
        return tp_strdup("meta.json has no driverVersion");
    char *wrong = differs(meta, "driverVersion", driver);
    if (!wrong)
        wrong = differs(meta, "variant", json_string_value(json_object_get(f->note, "variant")));
    if (!wrong)
        wrong = differs(meta, "mesaVersion", json_string_value(json_object_get(f->note, "mesa")));
    return wrong ? wrong : differs(meta, "librarySha256", sha256);
}

static int check_meta(const struct tp_prove_file *f, json_t *checks, struct tp_error *e)
{
    struct tp_buf text = {0};
    int r = tp_driver_read_meta(f->path, &text, e);
    if (r == -ENOENT) {
        add(checks, "meta", false, "the archive has no meta.json: no importer takes it");
        return 0;
    }
    if (!r) {
        json_t *meta = json_loadb(tp_buf_str(&text), text.len, JSON_REJECT_DUPLICATES, NULL);
        char *wrong = wrong_in(f, meta);
        const char *name = json_string_value(json_object_get(meta, "name"));
        add(checks, "meta", !wrong, wrong ? wrong : name ? name : "says what the driver is");
        free(wrong);
        json_decref(meta);
    }
    tp_buf_finish(&text);
    return r;
}

int tp_prove_file_check(const struct tp_prove_file *f, json_t *checks, struct tp_error *e)
{
    int r = check_entry(f, checks, e);
    return !r && f->in_archive ? check_meta(f, checks, e) : r;
}
