/* The checksum of zlib, PNG and zip files, where zlib is not to be had. */
#ifndef TP_BASE_CRC32_H
#define TP_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* sum: of the bytes before these; 0: there are none. */
uint32_t tp_crc32(uint32_t sum, const void *bytes, size_t n);

#endif
