/* turnpike chips: every GPU that a tree of Mesa, or a built driver, knows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/driver_file.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "factory/chips/chips.h"
#include "factory/package/elf_note.h"

static int of_driver(const char *path, char **version, json_t **chips, struct tp_error *e)
{
    struct tp_buf driver = {0};
    json_t *note = NULL;
    int r = tp_driver_read(path, &driver, NULL, e);
    if (!r)
        r = tp_note_read_memory(driver.data, driver.len, path, &note, e);
    if (!r) {
        json_t *list = json_object_get(note, "chips");
        if (json_is_array(list)) {
            *chips = json_incref(list);
            *version = tp_strdup(json_string_value(json_object_get(note, "mesa")));
        } else {
            r = tp_fail(e, TP_STATUS_FAILED, -ENODATA, path, "ask the tree that it was built from",
                        "the driver's note lists no chips");
        }
    }
    json_decref(note);
    tp_buf_finish(&driver);
    return r;
}

static void add_list(struct tp_buf *out, const json_t *list, const char *none)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
        tp_buf_addf(out, "%s%s", i ? ", " : "", json_is_string(item) ? json_string_value(item) : "?");
    if (!json_array_size(list))
        tp_buf_adds(out, none);
}

static const char *text_of(const json_t *chip, const char *key)
{
    const char *s = json_string_value(json_object_get(chip, key));
    return s ? s : "?";
}

static void print_table(const char *version, const json_t *chips)
{
    size_t i;
    json_t *chip;
    printf("Mesa %s\n%-22s  %-6s  %-40s  %s\n", version, "name", "chip", "ids", "settings");
    json_array_foreach(chips, i, chip)
    {
        struct tp_buf ids = {0}, quirks = {0};
        add_list(&ids, json_object_get(chip, "chip_ids"), "-");
        add_list(&quirks, json_object_get(chip, "quirks"), "");
        printf("%-22s  %-6s  %-40s  %s\n", text_of(chip, "name"), text_of(chip, "generation"),
               tp_buf_str(&ids), tp_buf_str(&quirks));
        tp_buf_finish(&ids);
        tp_buf_finish(&quirks);
    }
}

static int report(const char *version, json_t *chips, const char *json, struct tp_error *e)
{
    size_t i;
    json_t *warning, *warnings = tp_chips_warnings(chips);
    json_array_foreach(warnings, i, warning)
        fprintf(stderr, "turnpike chips: note: %s\n", json_string_value(warning));
    int r = 0;
    if (json) {
        json_t *j = json_pack("{s:s, s:i, s:s, s:O, s:O}", "turnpike", TP_VERSION, "schema", 1,
                              "mesa_version", version, "chips", chips, "warnings", warnings);
        r = tp_cli_write_json(j, json, e);
        json_decref(j);
    }
    if (!r && (!json || strcmp(json, "-") != 0)) {
        print_table(version, chips);
        r = tp_cli_flush(e);
    }
    json_decref(warnings);
    return r;
}

static int run(int argc, char **argv)
{
    const struct tp_command *cmd = &tp_command_chips;
    const char *json = NULL;
    for (int c; (c = tp_cli_option(cmd, argc, argv)) != -1;) {
        if (c != 'j')
            return TP_STATUS_INPUT;
        json = optarg;
    }
    if (argc - optind != 1)
        return tp_cli_usage(cmd, "name one tree of Mesa, one driver or one archive");
    if (tp_cli_operands(cmd, argc, argv))
        return TP_STATUS_INPUT;
    struct tp_error e = {0};
    char *version = NULL;
    json_t *chips = NULL;
    const char *path = argv[optind];
    int r = 0;
    if (json && tp_is_same_file(json, path))
        r = tp_fail(&e, TP_STATUS_INPUT, -EINVAL, json, "name another file",
                    "--json would write over the driver");
    else
        r = tp_is_dir(path) ? tp_chips_of_tree(path, &version, &chips, &e) :
                              of_driver(path, &version, &chips, &e);
    if (!r)
        r = report(version, chips, json, &e);
    json_decref(chips);
    free(version);
    return r ? tp_cli_fail(cmd, &e) : TP_STATUS_OK;
}

static const struct option options[] = {
    {"json", required_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

const struct tp_command tp_command_chips = {
    .name = "chips",
    .summary = "list the GPUs that a tree of Mesa or a driver knows",
    .help = "usage: turnpike chips TREE|DRIVER.so|ARCHIVE.zip [OPTIONS]\n\n"
            "Lists every GPU: name, chip ids as Mesa matches them (ffff in front: any speed bin; a last\n"
            "byte of ff: any patch level), generation, and the settings that turnpike's patches are\n"
            "about. A driver built by turnpike carries the list. Notes go to standard error: two chips\n"
            "that claim one id, a name that disagrees with its id.\n\n"
            "  --json FILE     the list as JSON; - for standard output\n\n"
            "Exit status: 0 listed, 1 the driver carries no list, 2 wrong usage or bad input.\n",
    .options = options,
    .run = run,
};
