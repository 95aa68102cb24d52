/*
 * Compute pipelines and their descriptors.
 */
#include "client.h"

static VkDescriptorSetLayout make_set_layout(struct tp_run *r, const struct tp_binding *bindings,
                                             uint32_t count)
{
    VkDescriptorSetLayoutBinding all[TP_BINDINGS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        all[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = bindings[i].type,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    }
    VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = count,
        .pBindings = all,
    };
    VkDescriptorSetLayout layout;
    TP_MAKE(r, DescriptorSetLayout, &info, &layout);
    return layout;
}

static VkDescriptorSet make_set(struct tp_run *r, VkDescriptorSetLayout layout,
                                const struct tp_binding *bindings, uint32_t count)
{
    VkDescriptorPoolSize sizes[TP_BINDINGS_MAX];
    for (uint32_t i = 0; i < count; i++)
        sizes[i] = (VkDescriptorPoolSize){bindings[i].type, 1};
    VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = count,
        .pPoolSizes = sizes,
    };
    VkDescriptorPool pool;
    TP_MAKE(r, DescriptorPool, &info, &pool);
    VkDescriptorSetAllocateInfo want = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &layout,
    };
    VkDescriptorSet set;
    TP_CALL(r, AllocateDescriptorSets, r->device, &want, &set);
    for (uint32_t i = 0; i < count; i++) {
        VkDescriptorBufferInfo buffer = {.buffer = bindings[i].buffer, .range = VK_WHOLE_SIZE};
        VkDescriptorImageInfo image = {bindings[i].sampler, bindings[i].view,
                                       bindings[i].view_layout};
        VkWriteDescriptorSet write = {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = bindings[i].type,
            .pBufferInfo = &buffer,
            .pImageInfo = &image,
            .pTexelBufferView = &bindings[i].texels,
        };
        r->vk->UpdateDescriptorSets(r->device, 1, &write, 0, NULL);
    }
    return set;
}

struct tp_compute tp_make_compute(struct tp_run *r, const char *shader,
                                  const struct tp_binding *bindings, uint32_t count)
{
    struct tp_compute compute;
    VkDescriptorSetLayout set_layout = make_set_layout(r, bindings, count);
    VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint32_t)};
    VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &push,
    };
    TP_MAKE(r, PipelineLayout, &layout, &compute.layout);
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = tp_make_module(r, shader),
                  .pName = "main"},
        .layout = compute.layout,
    };
    TP_CALL(r, CreateComputePipelines, r->device, VK_NULL_HANDLE, 1, &info, NULL,
            &compute.pipeline);
    tp_own(r, TP_KIND_Pipeline, TP_HANDLE(compute.pipeline));
    compute.set = make_set(r, set_layout, bindings, count);
    return compute;
}

void tp_bind_compute(struct tp_run *r, VkCommandBuffer commands, const struct tp_compute *compute,
                     uint32_t push)
{
    r->vk->CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, compute->pipeline);
    r->vk->CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, compute->layout, 0, 1,
                                 &compute->set, 0, NULL);
    r->vk->CmdPushConstants(commands, compute->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push,
                            &push);
}
