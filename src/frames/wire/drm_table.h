/*
 * What the DRM ioctls' structs look like on the wire, and where in them arrays and descriptors are. For
 * drm_call.c and drm_serve.c alone.
 */
#ifndef TP_FRAMES_WIRE_DRM_TABLE_H
#define TP_FRAMES_WIRE_DRM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TP_DRM_STRUCT_WORDS 16u /* no struct is longer than 128 bytes */
#define TP_DRM_ARRAYS 4u
#define TP_DRM_NO_FD 0xffu

enum tp_drm_array_flags {
    TP_DRM_IN = 1 << 0,       /* the caller gives it */
    TP_DRM_OUT = 1 << 1,      /* the caller gets it */
    TP_DRM_WHOLE = 1 << 2,    /* only if there is room for all */
    TP_DRM_EXACT = 1 << 3,    /* only if the room is just as long */
    TP_DRM_FIXED = 1 << 4,    /* its length is the caller's, and another array's too: never cut */
    TP_DRM_SUM = 1 << 5,      /* its length is the sum of array 1's values */
    TP_DRM_NULLABLE = 1 << 6, /* may be left out */
};

/* Where a pointer to an array and the number of its elements stand in the struct as it is on the wire. */
struct tp_drm_array {
    uint8_t pointer, count;
    uint8_t count_bytes; /* 4 or 8; 0: there is no such array */
    uint8_t element_bytes;
    uint8_t flags;
    uint32_t most; /* elements of one that comes out */
};

struct tp_drm_row {
    unsigned long request; /* as this machine's headers have it; 0 for a row without a request */
    uint8_t bytes;         /* of the struct on the wire: 64-bit Linux's, of the newest kernel */
    uint8_t native_bytes;  /* of the struct here */
    uint8_t in_fd, out_fd; /* offset on the wire of a member that holds a descriptor */
    bool atomic;           /* values of properties may be fences */
    int bad_fd, too_many, no_array; /* negative errno: what the kernel says to these */
    struct tp_drm_array arrays[TP_DRM_ARRAYS];
    /* NULL: the struct is the same here and on the wire, but for its length. */
    void (*to_wire)(const uint64_t *native, uint64_t *wire);
    void (*from_wire)(const uint64_t *wire, uint64_t *native);
};

/* NULL for a request that is not in the table. Only its number counts, as in the kernel's drm_ioctl. */
const struct tp_drm_row *tp_drm_row(unsigned long request);

/* The request that stands in a frame: its number, and the struct's length. */
uint32_t tp_drm_wire_request(const struct tp_drm_row *row);

/* From and to a struct of this machine, zero-padded to TP_DRM_STRUCT_WORDS. */
void tp_drm_to_wire(const struct tp_drm_row *row, const uint64_t *native, uint64_t *wire);
void tp_drm_from_wire(const struct tp_drm_row *row, const uint64_t *wire, uint64_t *native);

uint64_t tp_drm_get(const uint64_t *wire, unsigned offset, unsigned bytes);
void tp_drm_set(uint64_t *wire, unsigned offset, unsigned bytes, uint64_t value);

/* How many elements of an array came out, where there was room for asked of them. */
uint64_t tp_drm_came_out(const struct tp_drm_array *a, uint64_t asked, uint64_t now);

/* The length of something in a payload: to the next 8. */
static inline size_t tp_drm_padded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

#endif
