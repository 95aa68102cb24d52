/*
 * What the runtime of a newer Mesa answers once it is patched: compiled with that era's vk_android.c
 * and vk_physical_device.h, and stand-ins for the rest. Prints a TAP line for each rule, without the
 * plan. CPU_BIT_ON_MUTABLE: this era asks for CPU usage where an image must not be compressed.
 */
#include <stdio.h>

#include "vk_android.h"

#include "vk_physical_device.h"

#define VENDOR (UINT64_C(1) << 28)
#define UNTOUCHED UINT64_C(0x5555)
enum { FRAMEBUFFER = 0x200, CPU_WRITE_RARELY = 0x20 };

struct question {
    VkImageTiling tiling;
    VkImageCreateFlags flags;
    VkImageCompressionFlagsEXT compression; /* VK_IMAGE_COMPRESSION_DEFAULT_EXT: not chained */
    bool is_import;                         /* nothing chained to the answer */
};

static int number, failed;

static void tell(const char *what, uint64_t got, uint64_t wanted)
{
    printf("%sok %d - %s\n", got == wanted ? "" : "not ", ++number, what);
    if (got != wanted)
        printf("# 0x%llx, where 0x%llx is right\n", (unsigned long long)got,
               (unsigned long long)wanted);
    failed |= got != wanted;
}

static uint64_t answer(uint64_t vendor, struct question q)
{
    struct vk_physical_device device = {.ahb_vendor_usage_compressed = vendor};
    VkImageCompressionControlEXT control = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_COMPRESSION_CONTROL_EXT, .flags = q.compression};
    VkPhysicalDeviceExternalImageFormatInfo external = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO,
        .pNext = q.compression ? &control : NULL,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_ANDROID_HARDWARE_BUFFER_BIT_ANDROID,
    };
    VkPhysicalDeviceImageFormatInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .pNext = &external,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .type = VK_IMAGE_TYPE_2D,
        .tiling = q.tiling,
        .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
        .flags = q.flags,
    };
    VkAndroidHardwareBufferUsageANDROID usage = {
        .sType = VK_STRUCTURE_TYPE_ANDROID_HARDWARE_BUFFER_USAGE_ANDROID,
        .androidHardwareBufferUsage = UNTOUCHED,
    };
    VkImageFormatProperties2 props = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2,
                                      .pNext = q.is_import ? NULL : &usage};
    if (vk_android_get_ahb_image_properties((VkPhysicalDevice)(void *)&device, &info, &props))
        return 0;
    return usage.androidHardwareBufferUsage;
}

int main(void)
{
    const struct question plain = {0}, linear = {.tiling = VK_IMAGE_TILING_LINEAR},
                          disabled = {.compression = VK_IMAGE_COMPRESSION_DISABLED_EXT},
                          fixed = {.compression = VK_IMAGE_COMPRESSION_FIXED_RATE_DEFAULT_EXT},
                          import = {.is_import = true},
                          mutable = {.flags = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT};
    uint64_t with_cpu = FRAMEBUFFER | CPU_WRITE_RARELY;
#ifndef CPU_BIT_ON_MUTABLE
    with_cpu = FRAMEBUFFER | VENDOR;
#endif
    tell("a render target: with the vendor bit", answer(VENDOR, plain), FRAMEBUFFER | VENDOR);
    tell("compression of a fixed rate: with it", answer(VENDOR, fixed), FRAMEBUFFER | VENDOR);
    tell("linear tiling: without it", answer(VENDOR, linear), FRAMEBUFFER);
    tell("compression disabled: without it", answer(VENDOR, disabled), FRAMEBUFFER);
    tell("a mutable format, which a CPU bit stands for in some Mesas: without it there",
         answer(VENDOR, mutable), with_cpu);
    tell("import validation, which has nothing chained, is told nothing", answer(VENDOR, import),
         UNTOUCHED);
    tell("the conversion of usages, which import validation compares with, has no vendor bit",
         vk_image_usage_to_ahb_usage(0, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT), FRAMEBUFFER);
    tell("a driver that leaves the field 0 is answered as before", answer(0, plain), FRAMEBUFFER);
    tell("as before with a mutable format too", answer(0, mutable), with_cpu & ~VENDOR);
    return failed;
}
