/* What a build is made with, as its receipt tells it. */
#ifndef TP_CLI_TOOLCHAIN_H
#define TP_CLI_TOOLCHAIN_H

#include <jansson.h>

#include "factory/recipe/recipe.h"

/* {"compiler": "gcc …", "linker": …, "libraries": {"libz.a": hash}, "options": […], "machine_file": […]}.
 * *out: a new reference. Errors: those of tp_recipe_ingredients. */
int tp_cli_toolchain(const struct tp_build_request *req, json_t **out, struct tp_error *e);

#endif
