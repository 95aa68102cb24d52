/* The names under which releases are published. */
#ifndef TP_FACTORY_INSPECT_ASSET_H
#define TP_FACTORY_INSPECT_ASSET_H

#include <jansson.h>
#include <stdbool.h>

#include "factory/inspect/finding.h"

/* Does a driver version, or a file's name, bear this project's brand ("WN-…")? */
bool tp_asset_is_ours(const char *name);

/* 'b' or 'p' of "WN-25.0.7-b", of "WN-Turnip-25.0.7-b Axxx" and of such a file's name; 0: of no
 * variant, or not branded so. */
char tp_asset_variant(const char *name);

/*
 * Holds a file's name against what its metadata says. Names of other builders' archives are theirs
 * and not looked at. A copy that a browser has numbered ("… (1).zip") is told as a warning.
 */
void tp_asset_check(const char *file_name, const json_t *meta, struct tp_findings *findings);

#endif
