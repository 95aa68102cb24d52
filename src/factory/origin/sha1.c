#include "factory/origin/sha1.h"

#include <stdint.h>
#include <string.h>

#define BLOCK 64u

static uint32_t rotate(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static void take_block(uint32_t h[5], const unsigned char *at)
{
    uint32_t w[80], v[5];
    for (int t = 0; t < 16; t++, at += 4)
        w[t] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    for (int t = 16; t < 80; t++)
        w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    memcpy(v, h, sizeof v);
    for (int t = 0; t < 80; t++) {
        static const uint32_t k[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
        uint32_t choose = (v[1] & v[2]) ^ (~v[1] & v[3]);
        uint32_t parity = v[1] ^ v[2] ^ v[3];
        uint32_t majority = (v[1] & v[2]) ^ (v[1] & v[3]) ^ (v[2] & v[3]);
        const uint32_t f[] = {choose, parity, majority, parity};
        uint32_t next = rotate(v[0], 5) + f[t / 20] + v[4] + k[t / 20] + w[t];
        v[4] = v[3];
        v[3] = v[2];
        v[2] = rotate(v[1], 30);
        v[1] = v[0];
        v[0] = next;
    }
    for (int i = 0; i < 5; i++)
        h[i] += v[i];
}

void tp_sha1(const void *data, size_t len, char out[TP_SHA1_HEX])
{
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    const unsigned char *at = data;
    size_t left = len;
    for (; left >= BLOCK; left -= BLOCK, at += BLOCK)
        take_block(h, at);
    unsigned char last[2 * BLOCK] = {0};
    if (left)
        memcpy(last, at, left);
    last[left] = 0x80;
    size_t blocks = left < BLOCK - 8 ? 1 : 2;
    for (size_t i = 0; i < 8; i++)
        last[blocks * BLOCK - 1 - i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
    for (size_t i = 0; i < blocks; i++)
        take_block(h, last + i * BLOCK);
    for (int i = 0; i < 40; i++)
        out[i] = "0123456789abcdef"[h[i / 8] >> (28 - 4 * (i % 8)) & 15];
    out[40] = 0;
}
