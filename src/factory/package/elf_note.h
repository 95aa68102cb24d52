/* The driver's own label: an ELF note `turnpike` that says which build it is and what is in it. */
#ifndef TP_FACTORY_PACKAGE_ELF_NOTE_H
#define TP_FACTORY_PACKAGE_ELF_NOTE_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"
#include "factory/package/elf_file.h"

/* The note stands in section .note.turnpike (SHT_NOTE); its description is JSON text in UTF-8,
 * which may be followed by NULs:
 * {"turnpike": "0.1.0", "schema": 1, "driver": "WN-25.0.7-b", "variant": "b",
 *  "target": "linux-arm64", "mesa": "25.0.7", "patches": [{"id": "…", "state": "applied"}, …]} */
#define TP_NOTE_OWNER "turnpike"
#define TP_NOTE_TYPE 1
#define TP_NOTE_SCHEMA 1
#define TP_NOTE_MAX_BYTES ((size_t)64 << 10)

/*
 * The note's object, with the fields above checked for presence and type, variant, target and states
 * for being one that there is, and "chips", where it is there, for its entries' names, generations and
 * ids (more may be there).
 * *out: a new reference for the caller; NULL on failure. Errors: -ENOENT (status FAILED) when the
 * file has no such note, -EBADMSG when it is not such an object or stands there twice, -EFBIG when
 * it is longer than TP_NOTE_MAX_BYTES, and those of tp_elf_open.
 */
int tp_note_read(const char *so_path, json_t **out, struct tp_error *e);
/* As tp_note_read, from a file's bytes; where: what errors call it. */
int tp_note_read_memory(const void *data, size_t len, const char *where, json_t **out,
                        struct tp_error *e);
/* As tp_note_read, from a file that is already open. */
int tp_note_from_elf(const struct tp_elf *elf, json_t **out, struct tp_error *e);

#endif
