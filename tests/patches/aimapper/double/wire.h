/* Metadata as IMapper 5 writes it: little-endian, unpadded. What does not fit is counted, not
 * written. */
#ifndef DOUBLE_WIRE_H
#define DOUBLE_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WIRE_TYPE "android.hardware.graphics.common.StandardMetadataType"
#define WIRE_COMPONENT "android.hardware.graphics.common.PlaneLayoutComponentType"
#define WIRE_COMPRESSION "android.hardware.graphics.common.Compression"
#define WIRE_SITING "android.hardware.graphics.common.ChromaSiting"

struct wire_out {
    uint8_t *bytes;
    size_t room;
    size_t size;
};

static inline void wire_put(struct wire_out *w, const void *bytes, size_t n)
{
    if (w->size <= w->room && n <= w->room - w->size && n > 0)
        memcpy(w->bytes + w->size, bytes, n);
    w->size += n;
}

static inline void wire_number(struct wire_out *w, uint64_t value, size_t bytes)
{
    uint8_t little[8];
    for (size_t i = 0; i < bytes; i++)
        little[i] = (uint8_t)(value >> (8 * i));
    wire_put(w, little, bytes);
}

static inline void wire_i64(struct wire_out *w, int64_t value)
{
    wire_number(w, (uint64_t)value, 8);
}

static inline void wire_name(struct wire_out *w, const char *name)
{
    wire_i64(w, (int64_t)strlen(name));
    wire_put(w, name, strlen(name));
}

/* What AIDL calls an ExtendableType. */
static inline void wire_extendable(struct wire_out *w, const char *name, int64_t value)
{
    wire_name(w, name);
    wire_i64(w, value);
}

static inline void wire_header(struct wire_out *w, int64_t type)
{
    wire_extendable(w, WIRE_TYPE, type);
}

#endif
