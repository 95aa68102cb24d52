#include "cli/toolchain.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* What a program says of itself need not be UTF-8. */
static void set(json_t *object, const char *name, const char *value)
{
    char *clean = tp_printable(value);
    json_object_set_new(object, name, json_string(clean));
    free(clean);
}

static void add_options(json_t *list, const char *const *options)
{
    for (; *options; options++) {
        char *known = **options == '?' ? tp_asprintf("-D%s, where known", *options + 1) : NULL;
        json_array_append_new(list, json_string(known ? known : *options));
        free(known);
    }
}

static json_t *lines_of(const char *text)
{
    json_t *lines = json_array();
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (n)
            json_array_append_new(lines, json_stringn(text, n));
        text += n + (text[n] == '\n');
    }
    return lines;
}

int tp_cli_toolchain(const struct tp_build_request *req, json_t **out, struct tp_error *e)
{
    struct tp_ingredients all;
    *out = NULL;
    int r = tp_recipe_ingredients(req, &all, e);
    if (!r) {
        *out = json_object();
        for (size_t i = 0; i < all.n_tools; i++)
            set(*out, all.tools[i].name, all.tools[i].value);
        json_t *libraries = json_object(), *options = json_array();
        for (size_t i = 0; i < all.n_libraries; i++)
            set(libraries, all.libraries[i].name, all.libraries[i].value);
        if (all.n_libraries)
            json_object_set(*out, "libraries", libraries);
        json_decref(libraries);
        add_options(options, all.options);
        add_options(options, all.more_options);
        json_object_set_new(*out, "options", options);
        json_object_set_new(*out, "machine_file", lines_of(all.machine_file));
    }
    tp_ingredients_finish(&all);
    return r;
}
