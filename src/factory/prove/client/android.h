/* The checks of Android's buffers (android.c, android_buffers.c, android_draw.c). */
#ifndef TP_FACTORY_PROVE_CLIENT_ANDROID_H
#define TP_FACTORY_PROVE_CLIENT_ANDROID_H

#include "client.h"

/* Which usage the driver wants for a colour attachment of 8-bit RGBA. False: it has no such. */
bool tp_ahb_ask(struct tp_run *r, VkImageTiling tiling, VkImageCreateFlags flags,
                const void *input_next, uint64_t *out);
/* A fact "0x…": bits are more than JSON's numbers hold. */
void tp_print_bits(const char *fact, uint64_t bits);

/* A square of 8-bit RGBA to render to, whose memory is to be an AHardwareBuffer. */
VkImage tp_make_ahb_image(struct tp_run *r, uint32_t side);

void tp_check_ahb_import(struct tp_run *r);
void tp_check_ahb_swapchain(struct tp_run *r);
void tp_check_ahb_export(struct tp_run *r);
void tp_check_native_buffer(struct tp_run *r);
void tp_check_ahb_draw(struct tp_run *r);
void tp_check_ahb_draw_disabled(struct tp_run *r);

#endif
