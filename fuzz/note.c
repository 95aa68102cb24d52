/* Any bytes as a driver: the ELF reader and the note's JSON. */
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "factory/package/elf_note.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *note;
    struct tp_error e = {0};
    if (tp_note_read_memory(data, size, "input", &note, &e) == 0)
        json_decref(note);
    return 0;
}
