#include "factory/package/elf_note.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static int malformed(const char *where, struct tp_error *e, const char *what)
{
    return tp_fail(e, TP_STATUS_INPUT, -EBADMSG, where, "build the driver again",
                   "its ELF note `%s` %s", TP_NOTE_OWNER, what);
}

static bool is_one_of(const char *text, const char *const *words)
{
    while (*words && strcmp(*words, text) != 0)
        words++;
    return *words != NULL;
}

static int check_patches(const json_t *list, const char *where, struct tp_error *e)
{
    if (!json_is_array(list))
        return malformed(where, e, "has no array \"patches\"");
    static const char *const states[] = {"applied", "already", "absorbed", "not-applicable",
                                         "drifted", "failed",  "off",      NULL};
    size_t i;
    const json_t *patch;
    json_array_foreach(list, i, patch) {
        if (!json_is_string(json_object_get(patch, "id")) ||
            !json_is_string(json_object_get(patch, "state")))
            return malformed(where, e, "lists a patch without a string \"id\" or \"state\"");
        if (!is_one_of(json_string_value(json_object_get(patch, "state")), states))
            return malformed(where, e, "has a patch in a state that there is not");
    }
    return 0;
}

/* The table of chips, where there is one. */
static int check_chips(const json_t *list, const char *where, struct tp_error *e)
{
    size_t i;
    const json_t *chip;
    if (list && !json_is_array(list))
        return malformed(where, e, "has \"chips\" that are no array");
    json_array_foreach(list, i, chip) {
        if (!json_is_string(json_object_get(chip, "name")) ||
            !json_is_string(json_object_get(chip, "generation")) ||
            !json_is_array(json_object_get(chip, "chip_ids")))
            return malformed(where, e,
                             "lists a chip without \"name\", \"generation\" or \"chip_ids\"");
    }
    return 0;
}

static int check_fields(const json_t *note, const char *where, struct tp_error *e)
{
    static const char *const texts[] = {"turnpike", "driver", "variant", "target", "mesa"};
    const json_t *schema = json_object_get(note, "schema");
    if (!json_is_integer(schema))
        return malformed(where, e, "has no integer \"schema\"");
    if (json_integer_value(schema) != TP_NOTE_SCHEMA)
        return tp_fail(e, TP_STATUS_INPUT, -EBADMSG, where, "use the turnpike that built the driver",
                       "its ELF note `%s` has schema %lld; this program reads %d", TP_NOTE_OWNER,
                       (long long)json_integer_value(schema), TP_NOTE_SCHEMA);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!json_is_string(json_object_get(note, texts[i])))
            return tp_fail(e, TP_STATUS_INPUT, -EBADMSG, where, "build the driver again",
                           "its ELF note `%s` has no string \"%s\"", TP_NOTE_OWNER, texts[i]);
    }
    static const char *const variants[] = {"b", "p", NULL};
    static const char *const targets[] = {"host", "host-android", "linux-arm64", "android-arm64",
                                          NULL};
    if (!is_one_of(json_string_value(json_object_get(note, "variant")), variants))
        return malformed(where, e, "is of a variant that is neither b nor p");
    if (!is_one_of(json_string_value(json_object_get(note, "target")), targets))
        return malformed(where, e, "is of a target that there is not");
    int r = check_patches(json_object_get(note, "patches"), where, e);
    return r ? r : check_chips(json_object_get(note, "chips"), where, e);
}

int tp_note_from_elf(const struct tp_elf *elf, json_t **out, struct tp_error *e)
{
    *out = NULL;
    size_t at = 0;
    const struct tp_elf_note *n = tp_elf_next_note(elf, TP_NOTE_OWNER, TP_NOTE_TYPE, &at);
    if (!n)
        return tp_fail(e, TP_STATUS_FAILED, -ENOENT, elf->where,
                       "build it with `turnpike build`, with the patch driver-label in",
                       "has no ELF note `%s`: it does not say which build it is", TP_NOTE_OWNER);
    if (tp_elf_next_note(elf, TP_NOTE_OWNER, TP_NOTE_TYPE, &at))
        return malformed(elf->where, e, "is there more than once");
    if (n->desc_len > TP_NOTE_MAX_BYTES)
        return tp_fail(e, TP_STATUS_INPUT, -EFBIG, elf->where, "build the driver again",
                       "its ELF note `%s` has %zu bytes, more than the %zu it may have",
                       TP_NOTE_OWNER, n->desc_len, TP_NOTE_MAX_BYTES);
    const char *text = n->desc;
    size_t len = n->desc_len;
    while (len && !text[len - 1])
        len--;
    json_error_t je;
    json_t *note = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);
    if (!note)
        return tp_fail(e, TP_STATUS_INPUT, -EBADMSG, elf->where, "build the driver again",
                       "its ELF note `%s` is not JSON: %s (byte %d)", TP_NOTE_OWNER, je.text,
                       je.position);
    int r = json_is_object(note) ? check_fields(note, elf->where, e)
                                 : malformed(elf->where, e, "is not a JSON object");
    if (r < 0) {
        json_decref(note);
        return r;
    }
    *out = note;
    return 0;
}

static int read_and_close(struct tp_elf *elf, json_t **out, struct tp_error *e)
{
    int r = tp_note_from_elf(elf, out, e);
    tp_elf_close(elf);
    return r;
}

int tp_note_read(const char *so_path, json_t **out, struct tp_error *e)
{
    *out = NULL;
    struct tp_elf *elf;
    int r = tp_elf_open(so_path, &elf, e);
    return r < 0 ? r : read_and_close(elf, out, e);
}

int tp_note_read_memory(const void *data, size_t len, const char *where, json_t **out,
                        struct tp_error *e)
{
    *out = NULL;
    struct tp_elf *elf;
    int r = tp_elf_open_memory(data, len, where, &elf, e);
    return r < 0 ? r : read_and_close(elf, out, e);
}
