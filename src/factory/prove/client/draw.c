/*
 * Draws: the target is cleared to black and must come out in the last colour that was drawn.
 */
#include <string.h>

#include "client.h"

#define ONCE VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT

static const float red[4] = {1, 0, 0, 1}, green[4] = {0, 1, 0, 1};

static uint32_t is_green(uint32_t i)
{
    (void)i;
    return 0xff00ff00;
}

static struct tp_buffer read_target(struct tp_run *r, VkCommandBuffer commands,
                                    const struct tp_target *t)
{
    struct tp_buffer to = tp_make_buffer(r, (VkDeviceSize)t->width * t->height * 4,
                                         VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    VkBufferImageCopy all = {
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {t->width, t->height, 1},
    };
    r->vk->CmdCopyImageToBuffer(commands, t->resolved ? t->resolved : t->color,
                                VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, to.buffer, 1, &all);
    tp_host_barrier(r, commands);
    return to;
}

static void finish(struct tp_run *r, VkCommandBuffer commands, const struct tp_target *t)
{
    struct tp_buffer pixels = read_target(r, commands, t);
    tp_finish(r, commands);
    tp_expect_words(r, "the pixels", pixels.map, t->width * t->height, is_green);
}

/* COUNT draws in one pass, the last one green. */
static void draw(struct tp_run *r, const struct tp_target *t, enum tp_stages stages,
                 unsigned count)
{
    struct tp_graphics g = tp_make_graphics(r, t, stages, VK_NULL_HANDLE);
    VkCommandBuffer commands = tp_begin(r, ONCE);
    tp_target_begin(r, commands, t, false);
    tp_bind_graphics(r, commands, t, &g);
    for (unsigned i = 0; i < count; i++) {
        tp_push_color(r, commands, &g, i == count - 1 ? green : red,
                      1.0f - (float)(i + 1) / (float)(count + 1));
        r->vk->CmdDraw(commands, 3, 1, 0, 0);
    }
    tp_target_end(r, commands, t);
    finish(r, commands, t);
    tp_note(r, "%u draw%s", count, count == 1 ? "" : "s");
}

static void check_few(struct tp_run *r)
{
    struct tp_target t = tp_make_target(r, 256, 256, VK_SAMPLE_COUNT_1_BIT, false, false);
    draw(r, &t, TP_STAGES_PLAIN, 1);
}

/* So many that a driver which divides its target into tiles does so. */
static void check_many(struct tp_run *r)
{
    struct tp_target t = tp_make_target(r, 256, 256, VK_SAMPLE_COUNT_1_BIT, false, false);
    draw(r, &t, TP_STAGES_PLAIN, r->client->options.draws);
}

static void check_large(struct tp_run *r)
{
    struct tp_target t = tp_make_target(r, 1920, 1080, VK_SAMPLE_COUNT_1_BIT, true, false);
    draw(r, &t, TP_STAGES_PLAIN, 16);
}

/* Cleared and stored with 16 bytes a pixel; cleared with one and not stored. */
static VkRenderPass make_uneven_pass(struct tp_run *r, const VkFormat formats[2])
{
    VkAttachmentDescription all[2];
    VkAttachmentReference colors[2];
    for (uint32_t i = 0; i < 2; i++) {
        colors[i] = (VkAttachmentReference){i, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
        all[i] = (VkAttachmentDescription){
            .format = formats[i],
            .samples = VK_SAMPLE_COUNT_1_BIT,
            .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
            .storeOp = i ? VK_ATTACHMENT_STORE_OP_DONT_CARE : VK_ATTACHMENT_STORE_OP_STORE,
            .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
            .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
            .finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        };
    }
    VkSubpassDescription subpass = {
        .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
        .colorAttachmentCount = 2,
        .pColorAttachments = colors,
    };
    VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = 2,
        .pAttachments = all,
        .subpassCount = 1,
        .pSubpasses = &subpass,
    };
    VkRenderPass pass;
    TP_MAKE(r, RenderPass, &info, &pass);
    return pass;
}

/*
 * One pass several times, each over before the next is recorded: a driver that learns from the past
 * decides about the later ones by what tiles and no tiles would move. Turnip's estimate
 * (tu_pass.cc: tu_render_pass_bandwidth_config) for a pixel: 17 bytes are cleared in memory, or 16
 * are stored from tiles.
 */
static void check_again(struct tp_run *r)
{
    static const VkFormat formats[2] = {VK_FORMAT_R32G32B32A32_SFLOAT, VK_FORMAT_R8_UNORM};
    VkRenderPass pass = make_uneven_pass(r, formats);
    VkImageView views[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct tp_image_want want = {
            .format = formats[i],
            .width = 256,
            .height = 256,
            .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
        };
        views[i] = tp_make_view(r, tp_make_image(r, &want), formats[i], VK_IMAGE_ASPECT_COLOR_BIT);
    }
    VkFramebufferCreateInfo frame = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .renderPass = pass,
        .attachmentCount = 2,
        .pAttachments = views,
        .width = 256,
        .height = 256,
        .layers = 1,
    };
    VkFramebuffer framebuffer;
    TP_MAKE(r, Framebuffer, &frame, &framebuffer);
    VkClearValue clear[2] = {{.color = {.float32 = {0}}}};
    VkRenderPassBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .renderPass = pass,
        .framebuffer = framebuffer,
        .renderArea = {{0, 0}, {256, 256}},
        .clearValueCount = 2,
        .pClearValues = clear,
    };
    for (unsigned i = 0; i < 6; i++) {
        VkCommandBuffer commands = tp_begin(r, ONCE);
        r->vk->CmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
        r->vk->CmdEndRenderPass(commands);
        tp_finish(r, commands);
    }
}

static void check_dynamic(struct tp_run *r)
{
    if (!r->client->caps.dynamic_rendering)
        tp_skipped(r, "dynamic rendering is not offered");
    struct tp_target t = tp_make_target(r, 256, 256, VK_SAMPLE_COUNT_1_BIT, true, true);
    draw(r, &t, TP_STAGES_PLAIN, 8);
}

static void check_samples(struct tp_run *r)
{
    struct tp_target t = tp_make_target(r, 256, 256, VK_SAMPLE_COUNT_4_BIT, true, false);
    draw(r, &t, TP_STAGES_PLAIN, 8);
}

/* What lies farther is not drawn over what lies nearer. */
static void check_depth(struct tp_run *r)
{
    struct tp_target t = tp_make_target(r, 128, 128, VK_SAMPLE_COUNT_1_BIT, true, false);
    struct tp_graphics g = tp_make_graphics(r, &t, TP_STAGES_PLAIN, VK_NULL_HANDLE);
    VkCommandBuffer commands = tp_begin(r, ONCE);
    tp_target_begin(r, commands, &t, false);
    tp_bind_graphics(r, commands, &t, &g);
    tp_push_color(r, commands, &g, green, 0.25f);
    r->vk->CmdDraw(commands, 3, 1, 0, 0);
    tp_push_color(r, commands, &g, red, 0.75f);
    r->vk->CmdDraw(commands, 3, 1, 0, 0);
    tp_target_end(r, commands, &t);
    finish(r, commands, &t);
}

static void check_vertices(struct tp_run *r)
{
    static const float corners[] = {-1, -1, 3, -1, -1, 3};
    struct tp_target t = tp_make_target(r, 128, 128, VK_SAMPLE_COUNT_1_BIT, false, false);
    struct tp_graphics g = tp_make_graphics(r, &t, TP_STAGES_VERTICES, VK_NULL_HANDLE);
    struct tp_buffer b = tp_make_buffer(r, sizeof corners, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
    VkDeviceSize offset = 0;
    memcpy(b.map, corners, sizeof corners);
    VkCommandBuffer commands = tp_begin(r, ONCE);
    tp_target_begin(r, commands, &t, false);
    tp_bind_graphics(r, commands, &t, &g);
    r->vk->CmdBindVertexBuffers(commands, 0, 1, &b.buffer, &offset);
    tp_push_color(r, commands, &g, green, 0);
    r->vk->CmdDraw(commands, 3, 1, 0, 0);
    tp_target_end(r, commands, &t);
    finish(r, commands, &t);
}

static void check_indirect(struct tp_run *r)
{
    struct tp_target t = tp_make_target(r, 128, 128, VK_SAMPLE_COUNT_1_BIT, false, false);
    struct tp_graphics g = tp_make_graphics(r, &t, TP_STAGES_PLAIN, VK_NULL_HANDLE);
    struct tp_buffer b = tp_make_buffer(r, sizeof(VkDrawIndirectCommand),
                                        VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
    memcpy(b.map, &(VkDrawIndirectCommand){3, 1, 0, 0}, sizeof(VkDrawIndirectCommand));
    VkCommandBuffer commands = tp_begin(r, ONCE);
    tp_target_begin(r, commands, &t, false);
    tp_bind_graphics(r, commands, &t, &g);
    tp_push_color(r, commands, &g, green, 0);
    r->vk->CmdDrawIndirect(commands, b.buffer, 0, 1, sizeof(VkDrawIndirectCommand));
    tp_target_end(r, commands, &t);
    finish(r, commands, &t);
}

static void check_secondary(struct tp_run *r)
{
    struct tp_target t = tp_make_target(r, 128, 128, VK_SAMPLE_COUNT_1_BIT, true, false);
    struct tp_graphics g = tp_make_graphics(r, &t, TP_STAGES_PLAIN, VK_NULL_HANDLE);
    VkCommandBuffer second =
        tp_make_commands(r, tp_make_pool(r, 0), VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    VkCommandBufferInheritanceInfo inherited = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
        .renderPass = t.pass,
        .framebuffer = t.framebuffer,
    };
    VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT,
        .pInheritanceInfo = &inherited,
    };
    TP_CALL(r, BeginCommandBuffer, second, &begin);
    tp_bind_graphics(r, second, &t, &g);
    tp_push_color(r, second, &g, green, 0);
    r->vk->CmdDraw(second, 3, 1, 0, 0);
    tp_end(r, second);
    VkCommandBuffer commands = tp_begin(r, ONCE);
    tp_target_begin(r, commands, &t, true);
    r->vk->CmdExecuteCommands(commands, 1, &second);
    tp_target_end(r, commands, &t);
    finish(r, commands, &t);
}

static void check_tessellation(struct tp_run *r)
{
    if (!r->client->caps.features.tessellationShader)
        tp_skipped(r, "tessellation is not offered");
    struct tp_target t = tp_make_target(r, 128, 128, VK_SAMPLE_COUNT_1_BIT, false, false);
    draw(r, &t, TP_STAGES_TESSELLATION, 2);
}

static void check_geometry(struct tp_run *r)
{
    if (!r->client->caps.features.geometryShader)
        tp_skipped(r, "geometry shaders are not offered");
    struct tp_target t = tp_make_target(r, 128, 128, VK_SAMPLE_COUNT_1_BIT, false, false);
    draw(r, &t, TP_STAGES_GEOMETRY, 2);
}

const struct tp_check tp_draw_checks[] = {
    {"draw_few", "a pass with one draw", check_few},
    {"draw_many", "a pass with many draws (--draws)", check_many},
    {"draw_large", "a pass over 1920x1080 with depth", check_large},
    {"draw_again", "one pass several times, each after the last is over", check_again},
    {"draw_dynamic", "dynamic rendering", check_dynamic},
    {"draw_samples", "four samples with depth, resolved", check_samples},
    {"draw_depth", "the depth test", check_depth},
    {"draw_vertices", "a vertex buffer", check_vertices},
    {"draw_indirect", "vkCmdDrawIndirect", check_indirect},
    {"draw_secondary", "a secondary command buffer", check_secondary},
    {"draw_tessellation", "tessellation", check_tessellation},
    {"draw_geometry", "a geometry shader", check_geometry},
    {0},
};
