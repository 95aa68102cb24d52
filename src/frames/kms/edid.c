/*
 * An EDID of the output: a 1.4 base block; a CTA-861 block for HDR; DisplayID 2.0 blocks for
 * further timings, also those that EDID's 18 bytes cannot hold (VESA E-EDID A2, CTA-861-H, VESA
 * DisplayID 2.0).
 */
#include "frames/kms/internal.h"

#include <stdio.h>
#include <string.h>

#define BLOCK    128u
#define DTD      18u
#define TYPE7    20u
#define VGA_HZ   59u
#define VGA_KHZ  31u
#define HDR_NITS 115 /* code of 603 cd/m²: 50 · 2^(code / 32) */

static void checksum(uint8_t *block)
{
    uint8_t sum = 0;
    for (unsigned i = 0; i < BLOCK - 1; i++)
        sum += block[i];
    block[BLOCK - 1] = (uint8_t)-sum;
}

static bool dtd_holds(const struct drm_mode_modeinfo *m)
{
    return m->clock <= 655350 && m->hdisplay < 4096 && m->vdisplay < 4096 &&
           m->vtotal - m->vdisplay < 4096 && m->vsync_start - m->vdisplay < 64;
}

static void put_dtd(uint8_t *d, const struct drm_mode_modeinfo *m, uint32_t width_mm,
                    uint32_t height_mm)
{
    unsigned clock = (m->clock + 5) / 10, h_blank = m->htotal - m->hdisplay,
             v_blank = m->vtotal - m->vdisplay;
    unsigned h_front = m->hsync_start - m->hdisplay, h_sync = m->hsync_end - m->hsync_start;
    unsigned v_front = m->vsync_start - m->vdisplay, v_sync = m->vsync_end - m->vsync_start;
    unsigned w = width_mm < 4096 ? width_mm : 4095, h = height_mm < 4096 ? height_mm : 4095;
    d[0] = (uint8_t)clock;
    d[1] = (uint8_t)(clock >> 8);
    d[2] = (uint8_t)m->hdisplay;
    d[3] = (uint8_t)h_blank;
    d[4] = (uint8_t)(m->hdisplay >> 8 << 4 | h_blank >> 8);
    d[5] = (uint8_t)m->vdisplay;
    d[6] = (uint8_t)v_blank;
    d[7] = (uint8_t)(m->vdisplay >> 8 << 4 | v_blank >> 8);
    d[8] = (uint8_t)h_front;
    d[9] = (uint8_t)h_sync;
    d[10] = (uint8_t)((v_front & 15) << 4 | (v_sync & 15));
    d[11] = (uint8_t)(h_front >> 8 << 6 | h_sync >> 8 << 4 | v_front >> 4 << 2 | v_sync >> 4);
    d[12] = (uint8_t)w;
    d[13] = (uint8_t)h;
    d[14] = (uint8_t)(w >> 8 << 4 | h >> 8);
    /* Digital separate sync: vertical negative, horizontal positive. */
    d[17] = 0x1a;
}

static void put_text(uint8_t *d, uint8_t tag, const char *text)
{
    size_t n = strlen(text);
    memset(d, 0, DTD);
    d[3] = tag;
    memset(d + 5, ' ', 13);
    memcpy(d + 5, text, n < 13 ? n : 13);
    if (n < 13)
        d[5 + n] = '\n';
}

static unsigned line_khz(const struct drm_mode_modeinfo *m)
{
    return (m->clock + m->htotal / 2) / m->htotal;
}

/* first: the base block's own timing, which may be none of the modes. */
static void put_range(uint8_t *d, const struct tp_kms_output *o,
                      const struct drm_mode_modeinfo *modes, unsigned n,
                      const struct drm_mode_modeinfo *first)
{
    unsigned v_min = o->hdr ? VGA_HZ : ~0u, v_max = o->hdr ? VGA_HZ : 0;
    unsigned h_min = o->hdr ? VGA_KHZ : ~0u, h_max = 0, clock = 0;
    for (unsigned i = 0; i <= n; i++) {
        const struct drm_mode_modeinfo *m = i < n ? &modes[i] : first;
        unsigned mhz = tp_mode_refresh_mhz(m), khz = line_khz(m);
        v_min = mhz / 1000 < v_min ? mhz / 1000 : v_min;
        v_max = (mhz + 999) / 1000 > v_max ? (mhz + 500) / 1000 : v_max;
        h_min = khz < h_min ? khz : h_min;
        h_max = khz + 1 > h_max ? khz + 1 : h_max;
        clock = m->clock > clock ? m->clock : clock;
    }
    if (o->vrr_max_mhz) {
        v_min = o->vrr_min_mhz / 1000 < v_min ? o->vrr_min_mhz / 1000 : v_min;
        v_max = (o->vrr_max_mhz + 500) / 1000 > v_max ? (o->vrr_max_mhz + 500) / 1000 : v_max;
    }
    /* 255 and more: an offset of 255, for the maximum or for both. */
    unsigned v_off = v_min > 255   ? 3
                     : v_max > 255 ? 2
                                   : 0,
             h_off = h_min > 255   ? 3
                     : h_max > 255 ? 2
                                   : 0;
    v_max = v_max > 510 ? 510 : v_max;
    h_max = h_max > 510 ? 510 : h_max;
    memset(d, 0, DTD);
    d[3] = 0xfd;
    d[4] = (uint8_t)(h_off << 2 | v_off);
    d[5] = (uint8_t)(v_min ? v_off & 1 ? v_min - 255 : v_min : 1);
    d[6] = (uint8_t)(v_off ? v_max - 255 : v_max);
    d[7] = (uint8_t)(h_off & 1 ? (h_min > 510 ? 255 : h_min - 255) : h_min ? h_min : 1);
    d[8] = (uint8_t)(h_off ? h_max - 255 : h_max);
    d[9] = (uint8_t)(clock / 10000 >= 255 ? 255 : clock / 10000 + 1);
    d[10] = 0x01; /* limits, no formula */
    d[11] = '\n';
    memset(d + 12, ' ', 6);
}

/* Chromaticities of red, green, blue and white, in 1/1024: sRGB, or DCI-P3 with D65 for HDR. */
static void put_colours(uint8_t *b, bool hdr)
{
    static const uint16_t srgb[8] = {655, 338, 307, 614, 154, 61, 320, 337};
    static const uint16_t p3[8] = {696, 328, 271, 707, 154, 61, 320, 337};
    const uint16_t *c = hdr ? p3 : srgb;
    for (unsigned i = 0; i < 8; i++)
        b[27 + i] = (uint8_t)(c[i] >> 2);
    b[25] = (uint8_t)((c[0] & 3) << 6 | (c[1] & 3) << 4 | (c[2] & 3) << 2 | (c[3] & 3));
    b[26] = (uint8_t)((c[4] & 3) << 6 | (c[5] & 3) << 4 | (c[6] & 3) << 2 | (c[7] & 3));
}

static void put_base(uint8_t *b, const struct tp_kms_output *o,
                     const struct drm_mode_modeinfo *modes, unsigned n, uint32_t width_mm,
                     uint32_t height_mm, unsigned index, const struct drm_mode_modeinfo *first)
{
    static const uint8_t head[] = {0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0};
    static const char maker[] = "TPK";
    unsigned id = 0;
    for (unsigned i = 0; i < 3; i++)
        id = id << 5 | (unsigned)(maker[i] - 'A' + 1);
    bool display_port = o->connector_type != DRM_MODE_CONNECTOR_HDMIA;
    memcpy(b, head, sizeof head);
    b[8] = (uint8_t)(id >> 8);
    b[9] = (uint8_t)id;
    b[10] = 1; /* product */
    b[16] = 1; /* week */
    b[17] = 2025 - 1990;
    b[18] = 1;
    b[19] = 4;
    b[20] = (uint8_t)(0x80 | (o->hdr ? 3 : 2) << 4 | (display_port ? 5 : 2));
    b[21] = (uint8_t)((width_mm + 5) / 10 > 255 ? 0 : (width_mm + 5) / 10);
    b[22] = (uint8_t)((height_mm + 5) / 10 > 255 ? 0 : (height_mm + 5) / 10);
    if (!b[21] || !b[22])
        b[21] = b[22] = 0;
    b[23] = 120; /* gamma 2.2 */
    b[24] = (uint8_t)(0x02 | (o->hdr ? 0 : 0x04) | (o->vrr_max_mhz ? 0x01 : 0));
    put_colours(b, o->hdr);
    b[35] = o->hdr ? 0x20 : 0; /* 640x480 at 60 Hz: whoever has a CTA block must take it */
    memset(b + 38, 1, 16);     /* no standard timings */
    put_dtd(b + 54, first, width_mm, height_mm);
    put_range(b + 54 + DTD, o, modes, n, first);
    put_text(b + 54 + 2 * DTD, 0xfc, o->name[0] ? o->name : "Turnpike");
    char serial[14];
    snprintf(serial, sizeof serial, "%u", index + 1);
    put_text(b + 54 + 3 * DTD, 0xff, serial);
}

/* The CTA block: colorimetry and HDR metadata, then as many timings as fit. Answers how many. */
static unsigned put_cta(uint8_t *b, const struct drm_mode_modeinfo *const *dtds, unsigned n,
                        uint32_t width_mm, uint32_t height_mm)
{
    static const uint8_t blocks[] = {
        0xe2,     0x00,          0x4a,       /* selectable RGB range; IT and CE: underscanned */
        0xe3,     0x05,          0x80, 0x80, /* BT.2020 RGB; DCI-P3 */
        0xe6,     0x06,          0x05, 0x01,
        HDR_NITS, HDR_NITS - 16, 18, /* SDR and PQ, static metadata type 1 */
    };
    unsigned at = 4, done = 0;
    b[0] = 0x02;
    b[1] = 3;
    memcpy(b + at, blocks, sizeof blocks);
    at += sizeof blocks;
    b[2] = (uint8_t)at;
    b[3] = 0x80; /* IT formats underscanned by default; no native timing here */
    while (done < n && at + DTD <= BLOCK - 1) {
        put_dtd(b + at, dtds[done++], width_mm, height_mm);
        at += DTD;
    }
    return done;
}

static void put_type7(uint8_t *d, const struct drm_mode_modeinfo *m)
{
    const unsigned fields[] = {
        m->hdisplay - 1u,
        (unsigned)m->htotal - m->hdisplay - 1,
        ((unsigned)m->hsync_start - m->hdisplay - 1) | 0x8000, /* positive */
        (unsigned)m->hsync_end - m->hsync_start - 1,
        m->vdisplay - 1u,
        (unsigned)m->vtotal - m->vdisplay - 1,
        (unsigned)m->vsync_start - m->vdisplay - 1,
        (unsigned)m->vsync_end - m->vsync_start - 1,
    };
    unsigned clock = m->clock - 1;
    d[0] = (uint8_t)clock;
    d[1] = (uint8_t)(clock >> 8);
    d[2] = (uint8_t)(clock >> 16);
    d[3] =
        (uint8_t)((m->type & DRM_MODE_TYPE_PREFERRED ? 0x80 : 0) | 8); /* aspect ratio not said */
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
        d[4 + 2 * i] = (uint8_t)fields[i];
        d[5 + 2 * i] = (uint8_t)(fields[i] >> 8);
    }
}

/* What the first DisplayID section must say: the product, its size and colours, what its link
 * carries. */
static unsigned put_product(uint8_t *b, const struct tp_kms_output *o,
                            const struct drm_mode_modeinfo *m, uint32_t width_mm,
                            uint32_t height_mm)
{
    static const uint8_t product[] = {0x20, 0, 12, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 25, 0};
    /* Red, green, blue, white: x and y in 1/4096. */
    static const uint16_t srgb[8] = {2621, 1352, 1229, 2458, 614, 246, 1281, 1348};
    static const uint16_t p3[8] = {2785, 1311, 1085, 2826, 614, 246, 1281, 1348};
    const uint16_t *c = o->hdr ? p3 : srgb;
    uint8_t *d = b + sizeof product;
    memcpy(b, product, sizeof product);
    d[0] = 0x21;
    d[1] = 0x80; /* sizes in mm */
    d[2] = 29;
    const unsigned sizes[4] = {width_mm, height_mm, m->hdisplay, m->vdisplay};
    for (unsigned i = 0; i < 4; i++) {
        d[3 + 2 * i] = (uint8_t)sizes[i];
        d[4 + 2 * i] = (uint8_t)(sizes[i] >> 8);
    }
    d[11] = 0; /* scanned left to right, top to bottom; no audio */
    for (unsigned i = 0; i < 4; i++) {
        unsigned x = c[2 * i], y = c[2 * i + 1];
        d[12 + 3 * i] = (uint8_t)x;
        d[13 + 3 * i] = (uint8_t)((y & 15) << 4 | x >> 8);
        d[14 + 3 * i] = (uint8_t)(y >> 4);
    }
    /* Luminance in half floats: 600, 600 and 0.03 cd/m²; or not said. */
    static const uint8_t light[6] = {0xb0, 0x60, 0xb0, 0x60, 0xae, 0x27},
                         unsaid[6] = {0, 0x80, 0, 0x80, 0, 0x80};
    memcpy(d + 24, o->hdr ? light : unsaid, 6);
    d[30] = o->hdr ? 3 : 2; /* 10 or 8 bits */
    d[31] = 120;            /* gamma 2.2 */
    d += 32;
    d[0] = 0x26;
    d[1] = 0;
    d[2] = 9;
    d[3] = o->hdr ? 0x06 : 0x02; /* RGB at 8, or at 8 and 10 bits */
    d[9] = o->hdr ? 0x41 : 0x01; /* sRGB; BT.2020 with ST 2084 */
    return sizeof product + 32 + 12;
}

/* Timings, as many as fit; the first section says what product this is. Answers how many. */
static unsigned put_display_id(uint8_t *b, const struct tp_kms_output *o, uint32_t width_mm,
                               uint32_t height_mm, const struct drm_mode_modeinfo *const *modes,
                               unsigned n, bool first)
{
    uint8_t *section = b + 1;
    unsigned at = 4, end = BLOCK - 3; /* of the section: its head, and its checksum */
    b[0] = 0x70;
    section[0] = 0x20; /* 2.0 */
    section[1] = BLOCK - 2 - 5;
    section[2] = first ? 2 : 0; /* for any use */
    if (first)
        at += put_product(section + at, o, modes[0], width_mm, height_mm);
    unsigned fit = (end - at - 3) / TYPE7;
    fit = n < fit ? n : fit;
    section[at] = 0x22;
    section[at + 2] = (uint8_t)(fit * TYPE7);
    for (unsigned i = 0; i < fit; i++)
        put_type7(section + at + 3 + i * TYPE7, modes[i]);
    return fit;
}

static void sum_section(uint8_t *section)
{
    uint8_t sum = 0;
    for (unsigned i = 0; i < BLOCK - 3; i++)
        sum += section[i];
    section[BLOCK - 3] = (uint8_t)-sum;
}

size_t tp_edid_make(const struct tp_kms_output *o, const struct drm_mode_modeinfo *modes,
                    unsigned n_modes, uint32_t width_mm, uint32_t height_mm, unsigned index,
                    uint8_t out[TP_EDID_BYTES])
{
    const struct drm_mode_modeinfo *small[TP_KMS_MODES], *rest[TP_KMS_MODES + 1];
    unsigned n_small = 0, n_rest = 1, blocks = 1;
    struct drm_mode_modeinfo stand_in;
    memset(out, 0, TP_EDID_BYTES);
    rest[0] = &modes[0]; /* where there is DisplayID, it names the preferred mode */
    for (unsigned i = 0; i < n_modes; i++) {
        if (dtd_holds(&modes[i]))
            small[n_small++] = &modes[i];
        else if (i)
            rest[n_rest++] = &modes[i];
    }
    if (!n_small) {
        /* The base block must have a timing: the preferred one, made smaller and slower until it
         * fits. */
        uint32_t width = modes[0].hdisplay, height = modes[0].vdisplay;
        tp_mode_make(&stand_in, width, height, 60000, false);
        while (!dtd_holds(&stand_in)) {
            width /= 2;
            height /= 2;
            tp_mode_make(&stand_in, width, height, 60000, false);
        }
        small[n_small++] = &stand_in;
    }
    put_base(out, o, modes, n_modes, width_mm, height_mm, index, small[0]);
    unsigned done = 1;
    if (o->hdr)
        done += put_cta(out + BLOCK * blocks++, small + 1, n_small - 1, width_mm, height_mm);
    while (done < n_small)
        rest[n_rest++] = small[done++];
    unsigned first = blocks, put = 0;
    bool more = n_rest > 1 || small[0] != &modes[0];
    while (more && put < n_rest && blocks < TP_EDID_BYTES / BLOCK)
        put += put_display_id(out + BLOCK * blocks++, o, width_mm, height_mm, rest + put,
                              n_rest - put, !put);
    if (more)
        out[BLOCK * first + 4] = (uint8_t)(blocks - first - 1); /* sections that follow */
    for (unsigned i = first; i < blocks; i++)
        sum_section(out + BLOCK * i + 1);
    out[126] = (uint8_t)(blocks - 1);
    for (unsigned i = 0; i < blocks; i++)
        checksum(out + BLOCK * i);
    return BLOCK * blocks;
}
