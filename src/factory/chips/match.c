#include <stdlib.h>
#include <string.h>

#include "factory/chips/chips.h"

#define ANY_FUSE UINT64_C(0x0000ffff00000000)
#define ANY_PATCH UINT64_C(0xff)

/* An entry's id in Mesa's table; 0: none. */
static uint64_t id_at(const json_t *chip, size_t i)
{
    const char *s = json_string_value(json_array_get(json_object_get(chip, "chip_ids"), i));
    return s ? strtoull(s, NULL, 16) : 0;
}

/* Mesa's dev_id_compare (freedreno_dev_info.c, 25.0.7 to mid-2026), for an id that has no fuse part:
 * the same; any patch level; any fuse; any of both. */
static bool claims(uint64_t entry, uint32_t id)
{
    if ((entry & ANY_FUSE) == ANY_FUSE)
        entry &= ~ANY_FUSE;
    if (entry == id)
        return true;
    return (entry & ANY_PATCH) == ANY_PATCH && (entry | ANY_PATCH) == (id | ANY_PATCH);
}

const char *tp_chips_match(const json_t *chips, uint32_t kgsl_id)
{
    size_t i;
    json_t *chip;
    json_array_foreach(chips, i, chip)
    {
        for (size_t k = 0; k < json_array_size(json_object_get(chip, "chip_ids")); k++) {
            if (claims(id_at(chip, k), kgsl_id))
                return json_string_value(json_object_get(chip, "name"));
        }
    }
    return NULL;
}

uint32_t tp_chips_kgsl_id(const json_t *chip, size_t i)
{
    uint64_t id = id_at(chip, i);
    if ((id & ANY_FUSE) == ANY_FUSE)
        id &= ~ANY_FUSE;
    if ((id & ANY_PATCH) == ANY_PATCH)
        id &= ~ANY_PATCH;
    return id <= UINT32_MAX ? (uint32_t)id : 0;
}
