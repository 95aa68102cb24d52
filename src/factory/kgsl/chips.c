#include "chips.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define K 1024u
#define M (1024u * K)
/* UCHE maps GMEM at 1 MiB up to the A640; from the A620/A650 family on at 0. */
#define OLD 0x100000u

/*
 * Names, ids, bank bits and the UBWC mode that leads to the same macrotiles: Mesa's
 * freedreno_devices.py, 25.0.7 to mid-2026. An id with a fuse part that is all ones there is
 * reached by its low 32 bits; entries with any other fuse part are not reached over KGSL. GMEM
 * sizes are of the right order, and were not held against a kernel's table (drm/msm,
 * a6xx_catalog.c): a driver only divides them up.
 */
static const struct tp_kgsl_chip chips[] = {
    {"FD605", "Adreno605", 0x06000500, 128 * K + 4 * K, OLD, 6, 13, 1, false},
    {"FD608", "Adreno608", 0x06000800, 128 * K + 4 * K, OLD, 6, 13, 1, false},
    {"FD610", "Adreno610", 0x06010000, 128 * K + 4 * K, OLD, 6, 13, 1, false},
    {"FD612", "Adreno612", 0x06010200, 128 * K + 4 * K, OLD, 6, 13, 1, false},
    {"FD613", "Adreno613", 0x06010300, 128 * K + 4 * K, OLD, 6, 13, 1, false},
    {"FD615", "Adreno615", 0x06010500, 512 * K, OLD, 6, 14, 2, false},
    {"FD616", "Adreno616", 0x06010600, 512 * K, OLD, 6, 14, 2, false},
    {"FD618", "Adreno618v1", 0x06010800, 512 * K, OLD, 6, 14, 2, false},
    {"FD619", "Adreno619", 0x06010900, 512 * K, OLD, 6, 14, 2, false},
    {"FD620", "Adreno620", 0x06020000, 512 * K, 0, 6, 15, 4, false},
    {"FD621", "Adreno621", 0x06020100, 512 * K, 0, 6, 15, 4, false},
    {"Adreno623", "Adreno623", 0x06020300, 512 * K, 0, 6, 15, 4, false},
    {"FD630", "Adreno630v2", 0x06030001, M, OLD, 6, 15, 2, false},
    {"FD640", "Adreno640v2", 0x06040001, M, OLD, 6, 15, 3, false},
    {"FD680", "Adreno680v2", 0x06080001, 2 * M, OLD, 6, 15, 3, false},
    {"FD650", "Adreno650v2", 0x06050002, M + 128 * K, 0, 6, 16, 4, false},
    {"Adreno 7c+ Gen 3", "Adreno642L", 0x06030500, 512 * K, 0, 6, 14, 4, false},
    {"FD660", "Adreno660v2", 0x06060001, M + 512 * K, 0, 6, 16, 4, false},
    {"FD644", "Adreno662", 0x06060201, 512 * K, 0, 6, 15, 4, false},
    {"FD663", "Adreno663", 0x06060300, M + 512 * K, 0, 6, 15, 4, false},
    {"FD690", "Adreno690", 0x06090000, 4 * M, 0, 6, 16, 4, false},
    {"FD702", "Adreno702", 0x07000200, 128 * K, OLD, 6, 14, 1, false},
    {"Adreno (TM) 704", "Adreno704", 0x07000400, 256 * K, OLD, 6, 14, 1, false},
    {"FD725", "Adreno725v1", 0x07030002, 2 * M, 0, 7, 16, 4, false},
    {"FD730", "Adreno730v2", 0x07030001, 2 * M, 0, 7, 16, 4, false},
    {"Adreno X1-45", "AdrenoX1-45", 0x43030c00, M + 512 * K, 0, 7, 15, 4, false},
    {"FD735", "Adreno735", 0x43030b00, M + 512 * K, 0, 7, 15, 4, false},
    {"FD740", "Adreno740v2", 0x43050a01, 3 * M, 0, 7, 16, 4, true},
    {"Adreno X1-85", "AdrenoX1-85", 0x43050c01, 3 * M, 0, 7, 16, 4, true},
    {"FDA32", "AdrenoA32", 0x43050a00, 3 * M, 0, 7, 15, 4, true},
    {"FD740v3", "Adreno740v3", 0x43050b00, 3 * M, 0, 7, 15, 4, true},
    {"FD750", "Adreno750v2", 0x43051401, 3 * M, 0, 7, 16, 4, true},
    {"Adreno (TM) 810", "Adreno810", 0x44010000, 576 * K, 0, 8, 14, 5, false},
    {"Adreno (TM) 825", "Adreno825", 0x44030000, 6 * M, 0, 8, 16, 5, true},
    {"Adreno (TM) 829", "Adreno829", 0x44030a20, 6 * M, 0, 8, 16, 5, true},
    {"Adreno (TM) 830", "Adreno830v2", 0x44050001, 12 * M, 0, 8, 16, 5, true},
    {"Adreno (TM) 840", "Adreno840v2", 0x44050a31, 18 * M, 0, 8, 16, 6, true},
    {"Adreno (TM) X2-85", "AdrenoX2-85", 0x44070031, 21 * M, 0, 8, 16, 6, true},
    {"Adreno (TM) X2-90", "AdrenoX2-90", 0x44070041, 21 * M, 0, 8, 16, 6, true},
};

const struct tp_kgsl_chip *tp_kgsl_chips(size_t *count)
{
    *count = sizeof chips / sizeof chips[0];
    return chips;
}

/* The name without what all have. */
static const char *alias(const char *name)
{
    static const char *const prefixes[] = {"Adreno (TM) ", "Adreno ", "Adreno", "FD"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t n = strlen(prefixes[i]);
        if (!strncmp(name, prefixes[i], n))
            return name + n;
    }
    return name;
}

static int parse_size(const char *text, uint32_t *out)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 0);
    if (errno || end == text || !isdigit((unsigned char)*text))
        return -EINVAL;
    if (*end == 'K' || *end == 'k')
        n *= K, end++;
    else if (*end == 'M' || *end == 'm')
        n *= M, end++;
    if (*end || !n || n > 1024u * M)
        return -EINVAL;
    *out = (uint32_t)n;
    return 0;
}

/* What a chip of this id's generation usually has. A marketing id (from 0x43 on) of the second
 * byte 0x43 is an A7xx, of 0x44 an A8xx. */
static void usual(uint32_t id, struct tp_kgsl_chip *out)
{
    uint8_t core = (uint8_t)(id >> 24);
    uint8_t generation = core == 0x43 ? 7 : core >= 0x44 ? 8 : core == 7 ? 7 : 6;
    *out = (struct tp_kgsl_chip){
        .name = "unknown",
        .model = "AdrenoUnknown",
        .chip_id = id,
        .gmem_bytes = generation == 6 ? 512 * K : generation == 7 ? 2 * M : 12 * M,
        .generation = generation,
        .highest_bank_bit = generation == 6 ? 15 : 16,
        .ubwc_mode = generation == 8 ? 5 : 4,
        .ray_tracing = generation > 7,
    };
}

static int find_id(const char *text, struct tp_kgsl_chip *out)
{
    char *end;
    errno = 0;
    unsigned long long id = strtoull(text, &end, 16);
    if (errno || end == text + 2 || id > UINT32_MAX || (*end && *end != ':'))
        return -EINVAL;
    usual((uint32_t)id, out);
    for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++) {
        if (chips[i].chip_id == id)
            *out = chips[i];
    }
    return *end ? parse_size(end + 1, &out->gmem_bytes) : 0;
}

bool tp_kgsl_chip_is_beyond(const char *text)
{
    static const char *const names[] = {"FD643", "Adreno 7c+ Gen 3", "Adreno 7c+ Gen 3 Lite"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!strcasecmp(text, names[i]) || !strcasecmp(text, alias(names[i])))
            return true;
    }
    return false;
}

int tp_kgsl_chip_find(const char *text, struct tp_kgsl_chip *out)
{
    if (!strncasecmp(text, "0x", 2))
        return find_id(text, out);
    for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++) {
        if (!strcasecmp(text, chips[i].name) || !strcasecmp(text, alias(chips[i].name))) {
            *out = chips[i];
            return 0;
        }
    }
    return -EINVAL;
}
