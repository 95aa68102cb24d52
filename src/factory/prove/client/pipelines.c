/*
 * Graphics pipelines, and the checks that make pipelines of every kind.
 */
#include <string.h>

#include "client.h"

#define STAGES_MAX 4

static VkPipelineShaderStageCreateInfo stage(struct tp_run *r, VkShaderStageFlagBits bit,
                                             const char *shader)
{
    return (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = bit,
        .module = tp_make_module(r, shader),
        .pName = "main",
    };
}

static uint32_t make_stages(struct tp_run *r, enum tp_stages stages,
                            VkPipelineShaderStageCreateInfo *all)
{
    uint32_t count = 0;
    all[count++] = stage(r, VK_SHADER_STAGE_VERTEX_BIT,
                         stages == TP_STAGES_VERTICES ? "vertices.vert" : "triangle.vert");
    if (stages == TP_STAGES_TESSELLATION) {
        all[count++] = stage(r, VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, "triangle.tesc");
        all[count++] = stage(r, VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT, "triangle.tese");
    }
    if (stages == TP_STAGES_GEOMETRY)
        all[count++] = stage(r, VK_SHADER_STAGE_GEOMETRY_BIT, "triangle.geom");
    all[count++] = stage(r, VK_SHADER_STAGE_FRAGMENT_BIT, "color.frag");
    return count;
}

static VkPipelineLayout make_layout(struct tp_run *r)
{
    VkPushConstantRange push = {VK_SHADER_STAGE_VERTEX_BIT, 0, TP_PUSH_BYTES};
    VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &push,
    };
    VkPipelineLayout layout;
    TP_MAKE(r, PipelineLayout, &info, &layout);
    return layout;
}

struct tp_graphics tp_make_graphics(struct tp_run *r, const struct tp_target *t,
                                    enum tp_stages stages, VkPipelineCache cache)
{
    struct tp_graphics g = {.layout = make_layout(r)};
    VkPipelineShaderStageCreateInfo shaders[STAGES_MAX];
    VkVertexInputBindingDescription binding = {.stride = 2 * sizeof(float)};
    VkVertexInputAttributeDescription attribute = {.format = VK_FORMAT_R32G32_SFLOAT};
    bool buffered = stages == TP_STAGES_VERTICES, patches = stages == TP_STAGES_TESSELLATION;
    VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = buffered,
        .pVertexBindingDescriptions = &binding,
        .vertexAttributeDescriptionCount = buffered,
        .pVertexAttributeDescriptions = &attribute,
    };
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = patches ? VK_PRIMITIVE_TOPOLOGY_PATCH_LIST
                            : VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
    };
    VkPipelineTessellationStateCreateInfo tessellation = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_STATE_CREATE_INFO,
        .patchControlPoints = 3,
    };
    VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1,
    };
    VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .polygonMode = VK_POLYGON_MODE_FILL,
        .lineWidth = 1.0f,
    };
    VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = t->samples,
    };
    VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = t->depth_format != VK_FORMAT_UNDEFINED,
        .depthWriteEnable = t->depth_format != VK_FORMAT_UNDEFINED,
        .depthCompareOp = VK_COMPARE_OP_LESS,
    };
    VkPipelineColorBlendAttachmentState attachment = {.colorWriteMask = 0xf};
    VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
    };
    static const VkDynamicState set_later[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = set_later,
    };
    VkFormat format = TP_COLOR_FORMAT;
    VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format,
        .depthAttachmentFormat = t->depth_format,
    };
    VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = t->pass ? NULL : &rendering,
        .stageCount = make_stages(r, stages, shaders),
        .pStages = shaders,
        .pVertexInputState = &input,
        .pInputAssemblyState = &assembly,
        .pTessellationState = patches ? &tessellation : NULL,
        .pViewportState = &viewport,
        .pRasterizationState = &raster,
        .pMultisampleState = &samples,
        .pDepthStencilState = &depth,
        .pColorBlendState = &blend,
        .pDynamicState = &dynamic,
        .layout = g.layout,
        .renderPass = t->pass,
    };
    TP_CALL(r, CreateGraphicsPipelines, r->device, cache, 1, &info, NULL, &g.pipeline);
    tp_own(r, TP_KIND_Pipeline, TP_HANDLE(g.pipeline));
    return g;
}

void tp_bind_graphics(struct tp_run *r, VkCommandBuffer commands, const struct tp_target *t,
                      const struct tp_graphics *g)
{
    VkViewport viewport = {0, 0, (float)t->width, (float)t->height, 0, 1};
    VkRect2D scissor = {{0, 0}, {t->width, t->height}};
    r->vk->CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, g->pipeline);
    r->vk->CmdSetViewport(commands, 0, 1, &viewport);
    r->vk->CmdSetScissor(commands, 0, 1, &scissor);
}

void tp_push_color(struct tp_run *r, VkCommandBuffer commands, const struct tp_graphics *g,
                   const float color[4], float depth)
{
    float push[TP_PUSH_BYTES / sizeof(float)] = {color[0], color[1], color[2], color[3], 0,
                                                 0, 0, depth};
    r->vk->CmdPushConstants(commands, g->layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof push, push);
}

static void check_compute(struct tp_run *r)
{
    struct tp_buffer b = tp_make_buffer(r, 4096, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    struct tp_binding bindings[] = {
        {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .buffer = b.buffer},
        {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .buffer = b.buffer},
    };
    tp_make_compute(r, "fill.comp", bindings, 1);
    tp_make_compute(r, "shared.comp", bindings, 2);
}

static void make_kinds(struct tp_run *r, enum tp_stages stages, bool dynamic)
{
    struct tp_target plain = tp_make_target(r, 64, 64, VK_SAMPLE_COUNT_1_BIT, false, dynamic);
    struct tp_target depth = tp_make_target(r, 64, 64, VK_SAMPLE_COUNT_1_BIT, true, dynamic);
    struct tp_target many = tp_make_target(r, 64, 64, VK_SAMPLE_COUNT_4_BIT, true, dynamic);
    tp_make_graphics(r, &plain, stages, VK_NULL_HANDLE);
    tp_make_graphics(r, &depth, stages, VK_NULL_HANDLE);
    tp_make_graphics(r, &many, stages, VK_NULL_HANDLE);
}

static void check_render_pass(struct tp_run *r)
{
    make_kinds(r, TP_STAGES_PLAIN, false);
    make_kinds(r, TP_STAGES_VERTICES, false);
}

static void check_dynamic(struct tp_run *r)
{
    if (!r->client->caps.dynamic_rendering)
        tp_skipped(r, "dynamic rendering is not offered");
    make_kinds(r, TP_STAGES_PLAIN, true);
}

static void check_tessellation(struct tp_run *r)
{
    if (!r->client->caps.features.tessellationShader)
        tp_skipped(r, "tessellation is not offered");
    make_kinds(r, TP_STAGES_TESSELLATION, false);
}

static void check_geometry(struct tp_run *r)
{
    if (!r->client->caps.features.geometryShader)
        tp_skipped(r, "geometry shaders are not offered");
    make_kinds(r, TP_STAGES_GEOMETRY, false);
}

/* A cache's data makes another cache, which serves the same pipeline. */
static void check_cache(struct tp_run *r)
{
    struct tp_target t = tp_make_target(r, 64, 64, VK_SAMPLE_COUNT_1_BIT, true, false);
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkPipelineCache cache;
    TP_MAKE(r, PipelineCache, &info, &cache);
    tp_make_graphics(r, &t, TP_STAGES_PLAIN, cache);
    size_t size = 0;
    TP_CALL(r, GetPipelineCacheData, r->device, cache, &size, NULL);
    struct {
        uint32_t bytes, version, vendor, device;
    } head;
    if (size < sizeof head)
        tp_failed(r, "vkGetPipelineCacheData: %zu bytes, less than a header", size);
    void *data = tp_heap(r, 1, size);
    TP_CALL_FOR(r, VK_SUCCESS, GetPipelineCacheData, r->device, cache, &size, data);
    memcpy(&head, data, sizeof head);
    if (head.version != VK_PIPELINE_CACHE_HEADER_VERSION_ONE)
        tp_failed(r, "vkGetPipelineCacheData: header of version %u", head.version);
    info.initialDataSize = size;
    info.pInitialData = data;
    TP_MAKE(r, PipelineCache, &info, &cache);
    tp_make_graphics(r, &t, TP_STAGES_PLAIN, cache);
    tp_note(r, "%zu bytes", size);
}

const struct tp_check tp_pipeline_checks[] = {
    {"pipeline_compute", "compute pipelines", check_compute},
    {"pipeline_render_pass", "graphics pipelines for render passes", check_render_pass},
    {"pipeline_dynamic", "graphics pipelines for dynamic rendering", check_dynamic},
    {"pipeline_tessellation", "pipelines with tessellation", check_tessellation},
    {"pipeline_geometry", "pipelines with a geometry shader", check_geometry},
    {"pipeline_cache", "a pipeline cache, its data, another cache", check_cache},
    {0},
};
