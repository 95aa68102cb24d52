/*
 * Buffers, images, samplers, descriptors, command pools: made in their kinds, bound, destroyed.
 */
#include "client.h"

static void check_buffers(struct tp_run *r)
{
    static const VkBufferUsageFlags usages[] = {
        VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
        VK_BUFFER_USAGE_INDEX_BUFFER_BIT,
        VK_BUFFER_USAGE_VERTEX_BUFFER_BIT,
        VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT,
    };
    static const VkDeviceSize sizes[] = {1, 4, 4096, 65537, 8u << 20};
    unsigned count = 0;
    for (size_t u = 0; u < sizeof usages / sizeof *usages; u++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct tp_buffer b = tp_make_buffer(r, sizes[s], usages[u]);
            TP_DESTROY(r, Buffer, b.buffer);
            TP_DESTROY(r, DeviceMemory, b.memory);
            count++;
        }
    }
    tp_note(r, "%u", count);
}

static void check_buffer_views(struct tp_run *r)
{
    static const VkFormat formats[] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32_UINT,
                                       VK_FORMAT_R32G32B32A32_SFLOAT};
    struct tp_buffer b = tp_make_buffer(
        r, 65536,
        VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        VkBufferViewCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
            .buffer = b.buffer,
            .format = formats[i],
            .range = VK_WHOLE_SIZE,
        };
        VkBufferView view;
        TP_MAKE(r, BufferView, &info, &view);
    }
}

#define COLOR                                                                                      \
    (VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT |                            \
        VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT)
#define TEXTURE (VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT)
#define DEPTH (VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT)

/* Vulkan asks each driver for the first of these; the others where they are offered. */
static const struct {
    const char *name;
    bool asked;
    struct tp_image_want want;
} images[] = {
    {"RGBA8 optimal", true, {VK_FORMAT_R8G8B8A8_UNORM, 640, 360, COLOR}},
    {"RGBA8 linear",
     false,
     {VK_FORMAT_R8G8B8A8_UNORM, 640, 360, TEXTURE, .tiling = VK_IMAGE_TILING_LINEAR}},
    {"BGRA8", true, {VK_FORMAT_B8G8R8A8_UNORM, 333, 77, COLOR}},
    {"RGB565", true, {VK_FORMAT_R5G6B5_UNORM_PACK16, 64, 64, TEXTURE}},
    {"A2B10G10R10", true, {VK_FORMAT_A2B10G10R10_UNORM_PACK32, 128, 128, COLOR}},
    {"RGBA16F", true, {VK_FORMAT_R16G16B16A16_SFLOAT, 256, 256, COLOR}},
    {"R32UI storage",
     true,
     {VK_FORMAT_R32_UINT, 64, 64, VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT}},
    {"mip levels", true, {VK_FORMAT_R8G8B8A8_UNORM, 1024, 512, COLOR, .mips = 11}},
    {"layers", true, {VK_FORMAT_R8G8B8A8_UNORM, 64, 64, COLOR, .layers = 12}},
    {"cube",
     true,
     {VK_FORMAT_R8G8B8A8_UNORM, 64, 64, COLOR, .layers = 6,
      .flags = VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT}},
    {"mutable",
     true,
     {VK_FORMAT_R8G8B8A8_UNORM, 64, 64, COLOR, .flags = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT}},
    {"4 samples",
     true,
     {VK_FORMAT_R8G8B8A8_UNORM, 320, 240, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
      .samples = VK_SAMPLE_COUNT_4_BIT}},
    {"D16", true, {VK_FORMAT_D16_UNORM, 320, 240, DEPTH}},
    {"D32F", false, {VK_FORMAT_D32_SFLOAT, 320, 240, DEPTH}},
    {"D24S8", false, {VK_FORMAT_D24_UNORM_S8_UINT, 320, 240, DEPTH}},
    {"D32FS8", false, {VK_FORMAT_D32_SFLOAT_S8_UINT, 320, 240, DEPTH}},
    {"D24S8, 4 samples",
     false,
     {VK_FORMAT_D24_UNORM_S8_UINT, 320, 240, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT,
      .samples = VK_SAMPLE_COUNT_4_BIT}},
    {"BC1", false, {VK_FORMAT_BC1_RGBA_UNORM_BLOCK, 256, 256, TEXTURE, .mips = 9}},
    {"BC7", false, {VK_FORMAT_BC7_UNORM_BLOCK, 256, 256, TEXTURE}},
    {"ETC2", false, {VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK, 256, 256, TEXTURE}},
    {"ASTC 4x4", false, {VK_FORMAT_ASTC_4x4_UNORM_BLOCK, 256, 256, TEXTURE}},
};
#define IMAGES (sizeof images / sizeof *images)

static bool is_depth(const struct tp_image_want *want)
{
    return want->usage & VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
}

static void check_images(struct tp_run *r)
{
    unsigned count = 0;
    for (size_t i = 0; i < IMAGES; i++) {
        const struct tp_image_want *want = &images[i].want;
        if (!tp_image_offered(r, want)) {
            if (images[i].asked)
                tp_failed(r, "vkGetPhysicalDeviceImageFormatProperties2: no %s", images[i].name);
            continue;
        }
        VkImage image = tp_make_image(r, want);
        if (want->tiling == VK_IMAGE_TILING_LINEAR) {
            VkImageSubresource part = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0};
            VkSubresourceLayout layout;
            r->vk->GetImageSubresourceLayout(r->device, image, &part, &layout);
            if (layout.rowPitch < want->width * 4)
                tp_failed(r, "vkGetImageSubresourceLayout: a row of %u pixels takes %llu bytes",
                          want->width, (unsigned long long)layout.rowPitch);
        }
        count++;
    }
    tp_note(r, "%u of %zu kinds", count, IMAGES);
}

static void check_image_views(struct tp_run *r)
{
    unsigned count = 0;
    for (size_t i = 0; i < IMAGES; i++) {
        const struct tp_image_want *want = &images[i].want;
        if (!tp_image_offered(r, want))
            continue;
        bool cube = want->flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT;
        VkImageViewCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
            .image = tp_make_image(r, want),
            .viewType = cube               ? VK_IMAGE_VIEW_TYPE_CUBE
                        : want->layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY
                                           : VK_IMAGE_VIEW_TYPE_2D,
            .format = want->flags & VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT ? VK_FORMAT_R8G8B8A8_SRGB
                                                                       : want->format,
            .components = {.r = is_depth(want) ? VK_COMPONENT_SWIZZLE_IDENTITY
                                               : VK_COMPONENT_SWIZZLE_R},
            .subresourceRange = {is_depth(want) ? VK_IMAGE_ASPECT_DEPTH_BIT
                                                : VK_IMAGE_ASPECT_COLOR_BIT,
                                 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS},
        };
        VkImageView view;
        TP_MAKE(r, ImageView, &info, &view);
        count++;
    }
    tp_note(r, "%u", count);
}

static void check_samplers(struct tp_run *r)
{
    static const VkFilter filters[] = {VK_FILTER_NEAREST, VK_FILTER_LINEAR};
    static const VkSamplerAddressMode modes[] = {
        VK_SAMPLER_ADDRESS_MODE_REPEAT, VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT,
        VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER};
    unsigned count = 0;
    for (unsigned f = 0; f < 2; f++) {
        for (unsigned m = 0; m < 4; m++) {
            VkSamplerCreateInfo info = {
                .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                .magFilter = filters[f],
                .minFilter = filters[1 - f],
                .mipmapMode = f ? VK_SAMPLER_MIPMAP_MODE_LINEAR : VK_SAMPLER_MIPMAP_MODE_NEAREST,
                .addressModeU = modes[m],
                .addressModeV = modes[m],
                .addressModeW = modes[m],
                .anisotropyEnable = f && r->client->caps.features.samplerAnisotropy,
                .maxAnisotropy = r->client->caps.limits.maxSamplerAnisotropy,
                .compareEnable = m == 0,
                .compareOp = VK_COMPARE_OP_LESS,
                .maxLod = VK_LOD_CLAMP_NONE,
                .borderColor = VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE,
            };
            VkSampler sampler;
            TP_MAKE(r, Sampler, &info, &sampler);
            count++;
        }
    }
    tp_note(r, "%u", count);
}

static VkDescriptorSetLayout make_every_type(struct tp_run *r, const VkDescriptorType *types,
                                             uint32_t count)
{
    VkDescriptorSetLayoutBinding bindings[16];
    for (uint32_t i = 0; i < count; i++) {
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = types[i],
            .descriptorCount = 2,
            .stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT,
        };
    }
    VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = count,
        .pBindings = bindings,
    };
    VkDescriptorSetLayout layout;
    TP_MAKE(r, DescriptorSetLayout, &info, &layout);
    return layout;
}

/* Sets with every kind of descriptor: allocated to the pool's end, freed, allocated again. */
static void check_descriptors(struct tp_run *r)
{
    static const VkDescriptorType types[] = {
        VK_DESCRIPTOR_TYPE_SAMPLER,
        VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
        VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
        VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
        VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
        VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER,
        VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
        VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
        VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC,
        VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT,
    };
    enum { TYPES = sizeof types / sizeof *types, SETS = 8 };
    VkDescriptorPoolSize sizes[TYPES];
    for (uint32_t i = 0; i < TYPES; i++)
        sizes[i] = (VkDescriptorPoolSize){types[i], 2 * SETS};
    VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT,
        .maxSets = SETS,
        .poolSizeCount = TYPES,
        .pPoolSizes = sizes,
    };
    VkDescriptorPool pool;
    TP_MAKE(r, DescriptorPool, &info, &pool);
    VkDescriptorSetLayout layouts[SETS];
    layouts[0] = make_every_type(r, types, TYPES);
    for (unsigned i = 1; i < SETS; i++)
        layouts[i] = layouts[0];
    VkDescriptorSetAllocateInfo want = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool,
        .descriptorSetCount = SETS,
        .pSetLayouts = layouts,
    };
    VkDescriptorSet sets[SETS];
    for (unsigned round = 0; round < 3; round++) {
        TP_CALL(r, AllocateDescriptorSets, r->device, &want, sets);
        TP_CALL(r, FreeDescriptorSets, r->device, pool, SETS, sets);
    }
    TP_CALL(r, AllocateDescriptorSets, r->device, &want, sets);
    TP_CALL(r, ResetDescriptorPool, r->device, pool, 0);
    TP_CALL(r, AllocateDescriptorSets, r->device, &want, sets);
    tp_note(r, "%d types in %d sets", TYPES, SETS);
}

static void check_command_pools(struct tp_run *r)
{
    VkCommandPool pool = tp_make_pool(r, VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT |
                                             VK_COMMAND_POOL_CREATE_TRANSIENT_BIT);
    VkCommandBuffer commands[8];
    VkCommandBufferAllocateInfo want = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 8,
    };
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    struct tp_buffer b = tp_make_buffer(r, 4096, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    TP_CALL(r, AllocateCommandBuffers, r->device, &want, commands);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 8; i++) {
            TP_CALL(r, BeginCommandBuffer, commands[i], &begin);
            for (unsigned n = 0; n < 100; n++)
                r->vk->CmdFillBuffer(commands[i], b.buffer, n * 40, 40, n);
            TP_CALL(r, EndCommandBuffer, commands[i]);
        }
        TP_CALL(r, ResetCommandBuffer, commands[0],
                VK_COMMAND_BUFFER_RESET_RELEASE_RESOURCES_BIT);
        TP_CALL(r, ResetCommandPool, r->device, pool,
                round == 1 ? VK_COMMAND_POOL_RESET_RELEASE_RESOURCES_BIT : 0);
    }
    r->vk->FreeCommandBuffers(r->device, pool, 8, commands);
}

const struct tp_check tp_resource_checks[] = {
    {"buffers", "buffers of several uses and sizes", check_buffers},
    {"buffer_views", "views of texel buffers", check_buffer_views},
    {"images", "images: tilings, formats, depth, samples, levels, layers", check_images},
    {"image_views", "views of them: arrays, cubes, another format", check_image_views},
    {"samplers", "samplers of several modes", check_samplers},
    {"descriptors", "sets with every kind of descriptor", check_descriptors},
    {"command_pools", "command buffers recorded, reset, recorded again", check_command_pools},
    {0},
};
