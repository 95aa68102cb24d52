/*
 * A swapchain's buffer from end to end: the usage that the driver wants, a buffer that the vendor
 * allocates with it, imported and rendered to. How the GPU is told to write there is in the
 * simulator's log: the colour buffer's tile mode and the address of its flags (TURNPIKE_KGSL_WATCH).
 */
#include <vulkan/vulkan_core.h>

#include <vulkan/vulkan_android.h>

#include "android.h"
#include "android_host.h"

enum { SIDE = 256, RGBA_8888 = 1 };

VkImage tp_make_ahb_image(struct tp_run *r, uint32_t side)
{
    VkExternalMemoryImageCreateInfo handles = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_ANDROID_HARDWARE_BUFFER_BIT_ANDROID,
    };
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .pNext = &handles,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .extent = {side, side, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
    };
    VkImage image;
    TP_MAKE(r, Image, &info, &image);
    return image;
}

/* The driver keeps the buffer by a reference of its own; ours is given back either way. */
static VkResult import(struct tp_run *r, VkImage image, struct AHardwareBuffer *buffer,
                       VkDeviceMemory *memory)
{
    PFN_vkGetAndroidHardwareBufferPropertiesANDROID get_properties =
        (PFN_vkGetAndroidHardwareBufferPropertiesANDROID)r->client->entry.get_proc(
            r->client->instance, "vkGetAndroidHardwareBufferPropertiesANDROID");
    VkAndroidHardwareBufferPropertiesANDROID p = {
        .sType = VK_STRUCTURE_TYPE_ANDROID_HARDWARE_BUFFER_PROPERTIES_ANDROID,
    };
    VkImportAndroidHardwareBufferInfoANDROID handle = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_ANDROID_HARDWARE_BUFFER_INFO_ANDROID,
        .buffer = buffer,
    };
    VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
        .pNext = &handle,
        .image = image,
    };
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &dedicated,
    };
    VkResult result = get_properties ? get_properties(r->device, buffer, &p)
                                     : VK_ERROR_EXTENSION_NOT_PRESENT;
    info.allocationSize = p.allocationSize;
    while (info.memoryTypeIndex < 31 && !(p.memoryTypeBits >> info.memoryTypeIndex & 1))
        info.memoryTypeIndex++;
    if (result == VK_SUCCESS)
        result = r->vk->AllocateMemory(r->device, &info, NULL, memory);
    AHardwareBuffer_release(buffer);
    return result;
}

static VkImage make_target(struct tp_run *r, const void *input_next)
{
    struct AHardwareBuffer_Desc desc = {
        .width = SIDE, .height = SIDE, .layers = 1, .format = RGBA_8888};
    struct AHardwareBuffer *buffer;
    VkDeviceMemory memory;
    VkImage image = tp_make_ahb_image(r, SIDE);
    if (!tp_ahb_ask(r, VK_IMAGE_TILING_OPTIMAL, 0, input_next, &desc.usage))
        tp_skipped(r, "no AHardwareBuffer for a plain colour attachment");
    if (AHardwareBuffer_allocate(&desc, &buffer))
        tp_skipped(r, "/dev/dma_heap/system gives no buffer");
    tp_called(r, "the import of the buffer", import(r, image, buffer, &memory));
    tp_own(r, TP_KIND_DeviceMemory, TP_HANDLE(memory));
    TP_CALL(r, BindImageMemory, r->device, image, memory, 0);
    return image;
}

/* A pass that clears the image. */
static void render(struct tp_run *r, VkImage image)
{
    VkImageView view =
        tp_make_view(r, image, VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_ASPECT_COLOR_BIT);
    VkAttachmentDescription color = {
        .format = VK_FORMAT_R8G8B8A8_UNORM,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .finalLayout = VK_IMAGE_LAYOUT_GENERAL,
    };
    VkAttachmentReference reference = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass = {
        .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
        .colorAttachmentCount = 1,
        .pColorAttachments = &reference,
    };
    VkRenderPassCreateInfo pass_info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &color,
        .subpassCount = 1,
        .pSubpasses = &subpass,
    };
    VkRenderPass pass;
    TP_MAKE(r, RenderPass, &pass_info, &pass);
    VkFramebufferCreateInfo frame_info = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .renderPass = pass,
        .attachmentCount = 1,
        .pAttachments = &view,
        .width = SIDE,
        .height = SIDE,
        .layers = 1,
    };
    VkFramebuffer framebuffer;
    TP_MAKE(r, Framebuffer, &frame_info, &framebuffer);
    VkClearValue clear = {.color = {.float32 = {0, 1, 0, 1}}};
    VkRenderPassBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .renderPass = pass,
        .framebuffer = framebuffer,
        .renderArea = {{0, 0}, {SIDE, SIDE}},
        .clearValueCount = 1,
        .pClearValues = &clear,
    };
    VkCommandBuffer commands = tp_begin(r, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    r->vk->CmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
    r->vk->CmdEndRenderPass(commands);
    tp_finish(r, commands);
}

static void need(struct tp_run *r)
{
    if (!r->client->caps.android_buffers)
        tp_skipped(r, "VK_ANDROID_external_memory_android_hardware_buffer is not offered");
    if (r->client->options.layers)
        tp_skipped(r, "not under the validation layer"); /* it knows no Android on Linux */
    struct tp_vendor_buffer first;
    if (!tp_vendor_buffer(0, &first))
        tp_skipped(r, "no " TP_VENDOR_LIBRARY " says how buffers are laid out");
}

void tp_check_ahb_draw(struct tp_run *r)
{
    need(r);
    render(r, make_target(r, NULL));
}

void tp_check_ahb_draw_disabled(struct tp_run *r)
{
    VkImageCompressionControlEXT disabled = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_COMPRESSION_CONTROL_EXT,
        .flags = VK_IMAGE_COMPRESSION_DISABLED_EXT,
    };
    need(r);
    render(r, make_target(r, &disabled));
}
