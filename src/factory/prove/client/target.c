/*
 * What is drawn to: images with a render pass, or with dynamic rendering.
 */
#include "client.h"

static VkImageView make_attachment(struct tp_run *r, const struct tp_target *t, VkFormat format,
                                   VkSampleCountFlagBits samples, VkImageUsageFlags usage,
                                   VkImageAspectFlags aspect, VkImage *image)
{
    struct tp_image_want want = {
        .format = format,
        .width = t->width,
        .height = t->height,
        .samples = samples,
        .usage = usage,
    };
    *image = tp_make_image(r, &want);
    return tp_make_view(r, *image, format, aspect);
}

static VkAttachmentDescription describe(VkFormat format, VkSampleCountFlagBits samples,
                                        bool cleared, VkImageLayout end)
{
    return (VkAttachmentDescription){
        .format = format,
        .samples = samples,
        .loadOp = cleared ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .storeOp = end == VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL ? VK_ATTACHMENT_STORE_OP_STORE
                                                               : VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
        .finalLayout = end,
    };
}

#define COLOR_LAYOUT VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL
#define DEPTH_LAYOUT VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL
#define READ_LAYOUT VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL

static void make_pass(struct tp_run *r, struct tp_target *t)
{
    bool many = t->samples > VK_SAMPLE_COUNT_1_BIT;
    VkAttachmentDescription all[3];
    VkImageView views[3];
    VkAttachmentReference color = {0, COLOR_LAYOUT}, depth = {1, DEPTH_LAYOUT}, resolved;
    uint32_t count = 1;
    all[0] = describe(TP_COLOR_FORMAT, t->samples, true, many ? COLOR_LAYOUT : READ_LAYOUT);
    views[0] = t->color_view;
    if (t->depth_format) {
        all[count] = describe(t->depth_format, t->samples, true, DEPTH_LAYOUT);
        views[count++] = t->depth_view;
    }
    if (many) {
        resolved = (VkAttachmentReference){count, COLOR_LAYOUT};
        all[count] = describe(TP_COLOR_FORMAT, VK_SAMPLE_COUNT_1_BIT, false, READ_LAYOUT);
        views[count++] = t->resolved_view;
    }
    VkSubpassDescription subpass = {
        .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
        .colorAttachmentCount = 1,
        .pColorAttachments = &color,
        .pResolveAttachments = many ? &resolved : NULL,
        .pDepthStencilAttachment = t->depth_format ? &depth : NULL,
    };
    VkSubpassDependency after = {
        .srcSubpass = 0,
        .dstSubpass = VK_SUBPASS_EXTERNAL,
        .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_TRANSFER_BIT,
        .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT,
    };
    VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = count,
        .pAttachments = all,
        .subpassCount = 1,
        .pSubpasses = &subpass,
        .dependencyCount = 1,
        .pDependencies = &after,
    };
    TP_MAKE(r, RenderPass, &info, &t->pass);
    VkFramebufferCreateInfo frame = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .renderPass = t->pass,
        .attachmentCount = count,
        .pAttachments = views,
        .width = t->width,
        .height = t->height,
        .layers = 1,
    };
    TP_MAKE(r, Framebuffer, &frame, &t->framebuffer);
}

struct tp_target tp_make_target(struct tp_run *r, uint32_t width, uint32_t height,
                                VkSampleCountFlagBits samples, bool depth, bool dynamic)
{
    struct tp_target t = {
        .width = width,
        .height = height,
        .samples = samples,
        .depth_format = depth ? VK_FORMAT_D16_UNORM : VK_FORMAT_UNDEFINED,
    };
    VkImageUsageFlags usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                              VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    t.color_view = make_attachment(r, &t, TP_COLOR_FORMAT, samples, usage,
                                   VK_IMAGE_ASPECT_COLOR_BIT, &t.color);
    if (depth)
        t.depth_view = make_attachment(r, &t, t.depth_format, samples,
                                       VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT,
                                       VK_IMAGE_ASPECT_DEPTH_BIT, &t.depth);
    if (samples > VK_SAMPLE_COUNT_1_BIT)
        t.resolved_view = make_attachment(r, &t, TP_COLOR_FORMAT, VK_SAMPLE_COUNT_1_BIT, usage,
                                          VK_IMAGE_ASPECT_COLOR_BIT, &t.resolved);
    if (!dynamic)
        make_pass(r, &t);
    return t;
}

static const VkClearValue black = {.color = {.float32 = {0, 0, 0, 1}}};
static const VkClearValue farthest = {.depthStencil = {1.0f, 0}};

static void begin_pass(struct tp_run *r, VkCommandBuffer commands, const struct tp_target *t,
                       bool secondary)
{
    VkClearValue clear[] = {black, farthest, black};
    VkRenderPassBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .renderPass = t->pass,
        .framebuffer = t->framebuffer,
        .renderArea = {{0, 0}, {t->width, t->height}},
        .clearValueCount = t->depth_format ? 2 : 1,
        .pClearValues = clear,
    };
    r->vk->CmdBeginRenderPass(commands, &info,
                              secondary ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS
                                        : VK_SUBPASS_CONTENTS_INLINE);
}

static void begin_rendering(struct tp_run *r, VkCommandBuffer commands, const struct tp_target *t)
{
    bool many = t->samples > VK_SAMPLE_COUNT_1_BIT;
    VkRenderingAttachmentInfo color = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = t->color_view,
        .imageLayout = COLOR_LAYOUT,
        .resolveMode = many ? VK_RESOLVE_MODE_AVERAGE_BIT : VK_RESOLVE_MODE_NONE,
        .resolveImageView = t->resolved_view,
        .resolveImageLayout = many ? COLOR_LAYOUT : VK_IMAGE_LAYOUT_UNDEFINED,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .clearValue = black,
    };
    VkRenderingAttachmentInfo depth = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = t->depth_view,
        .imageLayout = DEPTH_LAYOUT,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .clearValue = farthest,
    };
    VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = {{0, 0}, {t->width, t->height}},
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &color,
        .pDepthAttachment = t->depth_format ? &depth : NULL,
    };
    tp_image_barrier(r, commands, t->color, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_LAYOUT_UNDEFINED,
                     COLOR_LAYOUT);
    if (many)
        tp_image_barrier(r, commands, t->resolved, VK_IMAGE_ASPECT_COLOR_BIT,
                         VK_IMAGE_LAYOUT_UNDEFINED, COLOR_LAYOUT);
    if (t->depth_format)
        tp_image_barrier(r, commands, t->depth, VK_IMAGE_ASPECT_DEPTH_BIT,
                         VK_IMAGE_LAYOUT_UNDEFINED, DEPTH_LAYOUT);
    TP_IS_THERE(r, CmdBeginRendering);
    TP_IS_THERE(r, CmdEndRendering);
    r->vk->CmdBeginRendering(commands, &info);
}

void tp_target_begin(struct tp_run *r, VkCommandBuffer commands, const struct tp_target *t,
                     bool secondary)
{
    if (t->pass)
        begin_pass(r, commands, t, secondary);
    else
        begin_rendering(r, commands, t);
}

void tp_target_end(struct tp_run *r, VkCommandBuffer commands, const struct tp_target *t)
{
    if (t->pass) {
        r->vk->CmdEndRenderPass(commands);
        return;
    }
    r->vk->CmdEndRendering(commands);
    tp_image_barrier(r, commands, t->resolved ? t->resolved : t->color, VK_IMAGE_ASPECT_COLOR_BIT,
                     COLOR_LAYOUT, READ_LAYOUT);
}
