/*
 * Transfers and dispatches: what is submitted and what it leaves in memory.
 */
#include <string.h>

#include "client.h"

#define WORDS 1024u
#define BOTH (VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT)
#define ONCE VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT

static uint32_t is_fill(uint32_t i)
{
    (void)i;
    return 0x600df00d;
}

static uint32_t is_count(uint32_t i)
{
    return i * 5 + 1;
}

static uint32_t is_shader_fill(uint32_t i)
{
    return i * 3 + 11;
}

static void write_count(uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        words[i] = is_count(i);
}

static void transfer_barrier(struct tp_run *r, VkCommandBuffer commands)
{
    tp_barrier(r, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
               VK_PIPELINE_STAGE_TRANSFER_BIT,
               VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
}

static void check_fill(struct tp_run *r)
{
    struct tp_buffer b = tp_make_buffer(r, WORDS * 4, BOTH);
    VkCommandBuffer commands = tp_begin(r, ONCE);
    r->vk->CmdFillBuffer(commands, b.buffer, 0, VK_WHOLE_SIZE, 0x600df00d);
    tp_host_barrier(r, commands);
    tp_finish(r, commands);
    tp_expect_words(r, "vkCmdFillBuffer", b.map, WORDS, is_fill);
}

static void check_update(struct tp_run *r)
{
    struct tp_buffer b = tp_make_buffer(r, WORDS * 4, BOTH);
    uint32_t words[WORDS];
    write_count(words, WORDS);
    VkCommandBuffer commands = tp_begin(r, ONCE);
    r->vk->CmdUpdateBuffer(commands, b.buffer, 0, sizeof words, words);
    tp_host_barrier(r, commands);
    tp_finish(r, commands);
    tp_expect_words(r, "vkCmdUpdateBuffer", b.map, WORDS, is_count);
}

static void check_copy_buffer(struct tp_run *r)
{
    struct tp_buffer from = tp_make_buffer(r, WORDS * 4, BOTH);
    struct tp_buffer to = tp_make_buffer(r, WORDS * 4 + 64, BOTH);
    VkBufferCopy part = {0, 64, WORDS * 4};
    write_count(from.map, WORDS);
    VkCommandBuffer commands = tp_begin(r, ONCE);
    r->vk->CmdCopyBuffer(commands, from.buffer, to.buffer, 1, &part);
    tp_host_barrier(r, commands);
    tp_finish(r, commands);
    tp_expect_words(r, "vkCmdCopyBuffer", (uint32_t *)to.map + 16, WORDS, is_count);
}

/* Transfers that wait for each other by barriers, one after the other. */
static void check_barriers(struct tp_run *r)
{
    struct tp_buffer a = tp_make_buffer(r, WORDS * 4, BOTH);
    struct tp_buffer b = tp_make_buffer(r, WORDS * 4, BOTH);
    VkBufferCopy all = {0, 0, WORDS * 4};
    VkCommandBuffer commands = tp_begin(r, ONCE);
    r->vk->CmdFillBuffer(commands, a.buffer, 0, VK_WHOLE_SIZE, 1);
    for (unsigned i = 0; i < 8; i++) {
        transfer_barrier(r, commands);
        r->vk->CmdCopyBuffer(commands, a.buffer, b.buffer, 1, &all);
        transfer_barrier(r, commands);
        r->vk->CmdFillBuffer(commands, a.buffer, 0, VK_WHOLE_SIZE, i == 7 ? 0 : 0x600df00d);
    }
    tp_host_barrier(r, commands);
    tp_finish(r, commands);
    tp_expect_words(r, "the copy after the fill", b.map, WORDS, is_fill);
}

#define SIDE 32u /* SIDE × SIDE pixels are WORDS */

static const VkImageSubresourceLayers color_part = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};

static VkImage make_texture(struct tp_run *r)
{
    return tp_make_image(r, &(struct tp_image_want){
                                .format = TP_COLOR_FORMAT,
                                .width = SIDE,
                                .height = SIDE,
                                .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                         VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                         VK_IMAGE_USAGE_SAMPLED_BIT,
                            });
}

/* IMAGE, of which nothing is left, is going to be written by a transfer; or was, and is to be read. */
static void to_write(struct tp_run *r, VkCommandBuffer commands, VkImage image)
{
    tp_image_barrier(r, commands, image, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_LAYOUT_UNDEFINED,
                     VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
}

static void to_read(struct tp_run *r, VkCommandBuffer commands, VkImage image)
{
    tp_image_barrier(r, commands, image, VK_IMAGE_ASPECT_COLOR_BIT,
                     VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
}

static void read_back(struct tp_run *r, VkCommandBuffer commands, VkImage image,
                      const struct tp_buffer *to)
{
    VkBufferImageCopy all = {.imageSubresource = color_part, .imageExtent = {SIDE, SIDE, 1}};
    r->vk->CmdCopyImageToBuffer(commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, to->buffer,
                                1, &all);
    tp_host_barrier(r, commands);
}

/* From a buffer by two images to another buffer. */
static void check_copy_image(struct tp_run *r)
{
    struct tp_buffer from = tp_make_buffer(r, WORDS * 4, BOTH);
    struct tp_buffer to = tp_make_buffer(r, WORDS * 4, BOTH);
    VkImage first = make_texture(r), second = make_texture(r);
    VkBufferImageCopy all = {.imageSubresource = color_part, .imageExtent = {SIDE, SIDE, 1}};
    VkImageCopy between = {color_part, {0, 0, 0}, color_part, {0, 0, 0}, {SIDE, SIDE, 1}};
    write_count(from.map, WORDS);
    VkCommandBuffer commands = tp_begin(r, ONCE);
    to_write(r, commands, first);
    to_write(r, commands, second);
    r->vk->CmdCopyBufferToImage(commands, from.buffer, first,
                                VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &all);
    to_read(r, commands, first);
    r->vk->CmdCopyImage(commands, first, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, second,
                        VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &between);
    to_read(r, commands, second);
    read_back(r, commands, second, &to);
    tp_finish(r, commands);
    tp_expect_words(r, "the image's copy", to.map, WORDS, is_count);
}

static uint32_t is_orange(uint32_t i)
{
    (void)i;
    return 0xff0080ff; /* R 255, G 128, B 0 */
}

static void check_clear_image(struct tp_run *r)
{
    struct tp_buffer to = tp_make_buffer(r, WORDS * 4, BOTH);
    VkImage image = make_texture(r);
    VkClearColorValue orange = {.float32 = {1, 128.0f / 255, 0, 1}};
    VkImageSubresourceRange all = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkCommandBuffer commands = tp_begin(r, ONCE);
    to_write(r, commands, image);
    r->vk->CmdClearColorImage(commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &orange, 1,
                              &all);
    to_read(r, commands, image);
    read_back(r, commands, image, &to);
    tp_finish(r, commands);
    tp_expect_words(r, "vkCmdClearColorImage", to.map, WORDS, is_orange);
}

static void check_blit_image(struct tp_run *r)
{
    struct tp_buffer to = tp_make_buffer(r, WORDS * 4, BOTH);
    VkImage from = make_texture(r), image = make_texture(r);
    VkClearColorValue orange = {.float32 = {1, 128.0f / 255, 0, 1}};
    VkImageSubresourceRange all = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkImageBlit blit = {color_part, {{0, 0, 0}, {SIDE / 2, SIDE / 2, 1}},
                        color_part, {{0, 0, 0}, {SIDE, SIDE, 1}}};
    VkCommandBuffer commands = tp_begin(r, ONCE);
    to_write(r, commands, from);
    to_write(r, commands, image);
    r->vk->CmdClearColorImage(commands, from, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &orange, 1,
                              &all);
    to_read(r, commands, from);
    r->vk->CmdBlitImage(commands, from, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, image,
                        VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &blit, VK_FILTER_NEAREST);
    to_read(r, commands, image);
    read_back(r, commands, image, &to);
    tp_finish(r, commands);
    tp_expect_words(r, "vkCmdBlitImage", to.map, WORDS, is_orange);
}

#define STORAGE (BOTH | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT)

static struct tp_compute make_fill(struct tp_run *r, const struct tp_buffer *b)
{
    struct tp_binding data = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .buffer = b->buffer};
    return tp_make_compute(r, "fill.comp", &data, 1);
}

static void check_dispatch(struct tp_run *r)
{
    struct tp_buffer b = tp_make_buffer(r, WORDS * 4, STORAGE);
    struct tp_compute fill = make_fill(r, &b);
    VkCommandBuffer commands = tp_begin(r, ONCE);
    tp_bind_compute(r, commands, &fill, 11);
    r->vk->CmdDispatch(commands, WORDS / 64, 1, 1);
    tp_host_barrier(r, commands);
    tp_finish(r, commands);
    tp_expect_words(r, "the shader's output", b.map, WORDS, is_shader_fill);
}

static void check_dispatch_indirect(struct tp_run *r)
{
    struct tp_buffer b = tp_make_buffer(r, WORDS * 4, STORAGE);
    struct tp_buffer size = tp_make_buffer(r, 12, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
    struct tp_compute fill = make_fill(r, &b);
    memcpy(size.map, (uint32_t[]){WORDS / 64, 1, 1}, 12);
    VkCommandBuffer commands = tp_begin(r, ONCE);
    tp_bind_compute(r, commands, &fill, 11);
    r->vk->CmdDispatchIndirect(commands, size.buffer, 0);
    tp_host_barrier(r, commands);
    tp_finish(r, commands);
    tp_expect_words(r, "the shader's output", b.map, WORDS, is_shader_fill);
}

/* The sum of the 128 words that group I of is_shader_fill has. */
static uint32_t is_group_sum(uint32_t i)
{
    return 3 * (128 * 128 * i + 127 * 128 / 2) + 11 * 128;
}

/* One dispatch reads what another wrote, and shares memory in its groups. */
static void check_dispatch_shared(struct tp_run *r)
{
    struct tp_buffer b = tp_make_buffer(r, WORDS * 4, STORAGE);
    struct tp_buffer sums = tp_make_buffer(r, WORDS / 128 * 4, STORAGE);
    struct tp_binding both[] = {
        {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .buffer = b.buffer},
        {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .buffer = sums.buffer},
    };
    struct tp_compute fill = make_fill(r, &b), add = tp_make_compute(r, "shared.comp", both, 2);
    VkCommandBuffer commands = tp_begin(r, ONCE);
    tp_bind_compute(r, commands, &fill, 11);
    r->vk->CmdDispatch(commands, WORDS / 64, 1, 1);
    tp_barrier(r, commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
               VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT);
    tp_bind_compute(r, commands, &add, 0);
    r->vk->CmdDispatch(commands, WORDS / 128, 1, 1);
    tp_host_barrier(r, commands);
    tp_finish(r, commands);
    tp_expect_words(r, "the groups' sums", sums.map, WORDS / 128, is_group_sum);
}

static uint32_t is_read(uint32_t i)
{
    static const uint32_t words[] = {77, 0x1234, 0xff0080ff, 26};
    return words[i];
}

static VkSampler make_sampler(struct tp_run *r)
{
    VkSamplerCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .magFilter = VK_FILTER_LINEAR,
        .minFilter = VK_FILTER_LINEAR,
    };
    VkSampler sampler;
    TP_MAKE(r, Sampler, &info, &sampler);
    return sampler;
}

/* A shader reads a buffer, an image, a texture and a texel buffer through their descriptors. */
static void check_descriptor_reads(struct tp_run *r)
{
    struct tp_buffer words = tp_make_buffer(r, 16, STORAGE);
    struct tp_buffer uniforms = tp_make_buffer(r, 16, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
    struct tp_buffer texels = tp_make_buffer(r, 64, VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT);
    VkImage texture = make_texture(r);
    VkImage image = tp_make_image(
        r, &(struct tp_image_want){VK_FORMAT_R32_UINT, 8, 8, VK_IMAGE_USAGE_STORAGE_BIT});
    VkBufferViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
        .buffer = texels.buffer,
        .format = VK_FORMAT_R32_UINT,
        .range = VK_WHOLE_SIZE,
    };
    VkBufferView texel_view;
    TP_MAKE(r, BufferView, &info, &texel_view);
    ((uint32_t *)uniforms.map)[1] = 77;
    write_count(texels.map, 16);
    struct tp_binding all[] = {
        {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .buffer = words.buffer},
        {.type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, .buffer = uniforms.buffer},
        {.type = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
         .view = tp_make_view(r, image, VK_FORMAT_R32_UINT, VK_IMAGE_ASPECT_COLOR_BIT),
         .view_layout = VK_IMAGE_LAYOUT_GENERAL},
        {.type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
         .view = tp_make_view(r, texture, TP_COLOR_FORMAT, VK_IMAGE_ASPECT_COLOR_BIT),
         .view_layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
         .sampler = make_sampler(r)},
        {.type = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, .texels = texel_view},
    };
    struct tp_compute reads = tp_make_compute(r, "reads.comp", all, 5);
    VkClearColorValue orange = {.float32 = {1, 128.0f / 255, 0, 1}};
    VkImageSubresourceRange whole = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkCommandBuffer commands = tp_begin(r, ONCE);
    to_write(r, commands, texture);
    r->vk->CmdClearColorImage(commands, texture, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &orange, 1,
                              &whole);
    tp_image_barrier(r, commands, texture, VK_IMAGE_ASPECT_COLOR_BIT,
                     VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                     VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    tp_image_barrier(r, commands, image, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_LAYOUT_UNDEFINED,
                     VK_IMAGE_LAYOUT_GENERAL);
    tp_bind_compute(r, commands, &reads, 0);
    r->vk->CmdDispatch(commands, 1, 1, 1);
    tp_host_barrier(r, commands);
    tp_finish(r, commands);
    tp_expect_words(r, "what the shader read", words.map, 4, is_read);
}

/* 1024 times 0x100000001. */
static void expect_sum(struct tp_run *r, const uint64_t *sum)
{
    if (r->client->options.effects == TP_EFFECTS_ALL && *sum != UINT64_C(0x40000000400))
        tp_failed(r, "the sum is 0x%llx, where 0x40000000400 is right", (unsigned long long)*sum);
}

static void check_atomics64_buffer(struct tp_run *r)
{
    if (!r->client->caps.buffer_int64_atomics || !r->client->caps.features.shaderInt64)
        tp_skipped(r, "64-bit atomics on buffers are not offered");
    struct tp_buffer b = tp_make_buffer(r, 16, STORAGE);
    struct tp_binding data = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .buffer = b.buffer};
    struct tp_compute add = tp_make_compute(r, "atomics64_buffer.comp", &data, 1);
    VkCommandBuffer commands = tp_begin(r, ONCE);
    tp_bind_compute(r, commands, &add, 0);
    r->vk->CmdDispatch(commands, WORDS / 64, 1, 1);
    tp_host_barrier(r, commands);
    tp_finish(r, commands);
    expect_sum(r, b.map);
    const uint64_t *most = (const uint64_t *)b.map + 1;
    if (r->client->options.effects == TP_EFFECTS_ALL && *most != UINT64_C(1023) << 33)
        tp_failed(r, "the greatest is 0x%llx", (unsigned long long)*most);
}

static void check_atomics64_image(struct tp_run *r)
{
    if (!r->client->caps.image_int64_atomics || !r->client->caps.features.shaderInt64)
        tp_skipped(r, "64-bit atomics on images are not offered");
    VkFormatProperties format;
    r->vk->GetPhysicalDeviceFormatProperties(r->client->physical, VK_FORMAT_R64_UINT, &format);
    if (!(format.optimalTilingFeatures & VK_FORMAT_FEATURE_STORAGE_IMAGE_ATOMIC_BIT))
        tp_failed(r, "VK_FORMAT_R64_UINT has no VK_FORMAT_FEATURE_STORAGE_IMAGE_ATOMIC_BIT");
    struct tp_buffer b = tp_make_buffer(r, 8, STORAGE);
    VkImage image = tp_make_image(
        r, &(struct tp_image_want){VK_FORMAT_R64_UINT, 4, 4, VK_IMAGE_USAGE_STORAGE_BIT});
    struct tp_binding both[] = {
        {.type = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
         .view = tp_make_view(r, image, VK_FORMAT_R64_UINT, VK_IMAGE_ASPECT_COLOR_BIT),
         .view_layout = VK_IMAGE_LAYOUT_GENERAL},
        {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .buffer = b.buffer},
    };
    struct tp_compute add = tp_make_compute(r, "atomics64_image.comp", both, 2);
    VkCommandBuffer commands = tp_begin(r, ONCE);
    tp_image_barrier(r, commands, image, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_LAYOUT_UNDEFINED,
                     VK_IMAGE_LAYOUT_GENERAL);
    for (uint32_t step = 0; step < 3; step++) {
        tp_bind_compute(r, commands, &add, step);
        r->vk->CmdDispatch(commands, step == 1 ? WORDS / 64 : 1, 1, 1);
        tp_barrier(r, commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                   VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                   VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    }
    tp_host_barrier(r, commands);
    tp_finish(r, commands);
    expect_sum(r, b.map);
}

/* Several submits in one call, with several command buffers each; one of them three times. */
static void check_submit_batch(struct tp_run *r)
{
    enum { SUBMITS = 4, EACH = 3 };
    struct tp_buffer b = tp_make_buffer(r, WORDS * 4, BOTH);
    VkCommandBuffer all[EACH];
    for (unsigned i = 0; i < EACH; i++) {
        all[i] = tp_begin(r, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
        transfer_barrier(r, all[i]);
        r->vk->CmdFillBuffer(all[i], b.buffer, 0, VK_WHOLE_SIZE, i == EACH - 1 ? 0x600df00d : i);
        tp_host_barrier(r, all[i]);
        tp_end(r, all[i]);
    }
    VkSubmitInfo submits[SUBMITS];
    for (unsigned i = 0; i < SUBMITS; i++)
        submits[i] = (VkSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
            .commandBufferCount = EACH,
            .pCommandBuffers = all,
        };
    VkFence fence = tp_make_fence(r, 0);
    TP_CALL(r, QueueSubmit, r->queue, SUBMITS, submits, fence);
    tp_wait(r, fence);
    tp_expect_words(r, "the last fill", b.map, WORDS, is_fill);
}

/* vkQueueSubmit2 with barriers of the second kind. */
static void check_synchronization2(struct tp_run *r)
{
    if (!r->client->caps.synchronization2)
        tp_skipped(r, "synchronization2 is not offered");
    struct tp_buffer b = tp_make_buffer(r, WORDS * 4, BOTH);
    VkMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_CLEAR_BIT,
        .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
        .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT,
    };
    VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
        .memoryBarrierCount = 1,
        .pMemoryBarriers = &barrier,
    };
    TP_IS_THERE(r, CmdPipelineBarrier2);
    VkCommandBuffer commands = tp_begin(r, ONCE);
    r->vk->CmdFillBuffer(commands, b.buffer, 0, VK_WHOLE_SIZE, 0x600df00d);
    r->vk->CmdPipelineBarrier2(commands, &dependency);
    tp_end(r, commands);
    VkCommandBufferSubmitInfo part = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = commands,
    };
    VkSubmitInfo2 submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &part,
    };
    VkFence fence = tp_make_fence(r, 0);
    TP_CALL(r, QueueSubmit2, r->queue, 1, &submit, fence);
    tp_wait(r, fence);
    tp_expect_words(r, "the fill", b.map, WORDS, is_fill);
}

const struct tp_check tp_submit_checks[] = {
    {"fill", "vkCmdFillBuffer", check_fill},
    {"update", "vkCmdUpdateBuffer", check_update},
    {"copy_buffer", "vkCmdCopyBuffer", check_copy_buffer},
    {"barriers", "fills and copies that wait for each other", check_barriers},
    {"copy_image", "buffer to image to image to buffer", check_copy_image},
    {"clear_image", "vkCmdClearColorImage", check_clear_image},
    {"blit_image", "vkCmdBlitImage, scaled", check_blit_image},
    {"dispatch", "vkCmdDispatch", check_dispatch},
    {"dispatch_indirect", "vkCmdDispatchIndirect", check_dispatch_indirect},
    {"dispatch_shared", "two dispatches, memory shared in a group", check_dispatch_shared},
    {"descriptor_reads", "a shader reads each kind of descriptor", check_descriptor_reads},
    {"atomics64_buffer", "64-bit atomics on a buffer", check_atomics64_buffer},
    {"atomics64_image", "64-bit atomics on an image", check_atomics64_image},
    {"submit_batch", "several submits in one call", check_submit_batch},
    {"synchronization2", "vkQueueSubmit2 and its barriers", check_synchronization2},
    {0},
};
