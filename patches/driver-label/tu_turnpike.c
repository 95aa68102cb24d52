/*
 * Copyright © 2026 The turnpike authors
 * SPDX-License-Identifier: MIT
 *
 * Driver @DRIVER_VERSION@, variant @VARIANT@, for @TARGET@,
 * from Mesa @MESA_VERSION@, made by turnpike @TURNPIKE_VERSION@.
 *
 * Besides this file only tu_knl_kgsl.cc and tu_autotune.cc may depend on the variant.
 */

#include "tu_turnpike.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* JSON: the build, and the state of each patch. */
#define TU_TURNPIKE_NOTE @NOTE_JSON_C@

#define TU_TURNPIKE_OWNER "turnpike"
#define TU_TURNPIKE_TYPE 1
#define TU_TURNPIKE_PADDED(n) (((n) + 3) & ~3u)

struct tu_turnpike_note {
   uint32_t owner_size;
   uint32_t text_size;
   uint32_t type;
   char owner[TU_TURNPIKE_PADDED(sizeof(TU_TURNPIKE_OWNER))];
   char text[TU_TURNPIKE_PADDED(sizeof(TU_TURNPIKE_NOTE) - 1)]; /* without its NUL */
};

extern const struct tu_turnpike_note tu_turnpike_note;

/* An ELF note: compilers and linkers know a section of this name as SHT_NOTE, and --gc-sections
 * keeps those without being told.
 */
__attribute__((used, visibility("hidden"), section(".note.turnpike"), aligned(4)))
const struct tu_turnpike_note tu_turnpike_note = {
   .owner_size = sizeof(TU_TURNPIKE_OWNER),
   .text_size = sizeof(TU_TURNPIKE_NOTE) - 1,
   .type = TU_TURNPIKE_TYPE,
   .owner = TU_TURNPIKE_OWNER,
   .text = TU_TURNPIKE_NOTE,
};

void
tu_turnpike_add_label(char *text, size_t size)
{
   size_t used = strnlen(text, size);

   if (used < size)
      snprintf(text + used, size - used, " (%s)", "@DRIVER_VERSION@");
}
