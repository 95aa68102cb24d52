/* Which GPUs a driver knows: the table in Mesa's freedreno_devices.py, read without running it. */
#ifndef TP_FACTORY_CHIPS_H
#define TP_FACTORY_CHIPS_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"
#include "factory/edit/tree.h"

#define TP_CHIPS_PATH "src/freedreno/common/freedreno_devices.py"

/*
 * The table as a JSON array, in its order: {"name", "chip_ids": ["0x43050a01", …], "generation":
 * "A7XX", "quirks": ["disable_gmem = True", …]}. chip_ids are as Mesa matches them: more than 32 bits
 * carry DRM's speed bin in front (0xffff: any), a last byte of ff is any patch level. quirks are the
 * settings that this program's patches are about, where they are not the generation's usual ones.
 * Names that several entries share are one object. Caller owns it; empty for a text without a table.
 */
json_t *tp_chips_read(struct tp_text *devices);

/* What looks wrong in such a table, as an array of sentences: two chips that claim one id, a name
 * that disagrees with its id. Caller owns it. */
json_t *tp_chips_warnings(const json_t *chips);

/* The name of the first entry that claims what KGSL says of a GPU, as Mesa looks it up; borrowed,
 * NULL: none does. chips: as tp_chips_read makes it. */
const char *tp_chips_match(const json_t *chips, uint32_t kgsl_id);

/* What KGSL says of a GPU that id i of an entry means; 0 where it cannot say it: KGSL's ids have 32
 * bits, and no speed bin. */
uint32_t tp_chips_kgsl_id(const json_t *chip, size_t i);

/* For tp_selection: puts the table, as patched, into the ELF note as "chips". */
void tp_chips_add_to_note(struct tp_tree *tree, json_t *note);

/* The table of a tree of Mesa, as it is on the disk. Errors: those of reading; -EINVAL (INPUT) for a
 * tree without the table. */
int tp_chips_of_tree(const char *tree, char **mesa_version, json_t **chips, struct tp_error *e);

#endif
