/*
 * The loop of a game with IN_FLIGHT frames under way: wait for the oldest, acquire, record, submit,
 * present. A frame is a dispatch, whose cost can be set, and a pass that writes each pixel.
 */
#include "game.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <vulkan/vulkan.h>

#include "game.comp.h"
#include "game.frag.h"
#include "game.vert.h"

/* IMAGES: of a swapchain. Of MAILBOX the screen holds four, and a fifth waits for its turn. */
enum { IN_FLIGHT = 3, IMAGES = 8, NUMBERS = 1 << 20, PER_GROUP = 256 };

#define OK(call)                                                                                   \
    do {                                                                                           \
        VkResult r_ = (call);                                                                      \
        if (r_ < 0) {                                                                              \
            fprintf(stderr, "bench-game-loop: %s: %d\n", #call, r_);                               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct frame {
    VkFence over;
    VkSemaphore acquired;
    VkCommandBuffer commands;
};

struct image {
    VkImage image;
    VkImageView view;
    VkDeviceMemory memory; /* NULL: the swapchain's */
    VkSemaphore drawn;
};

struct game {
    enum game_target target;
    VkExtent2D extent;
    VkInstance instance;
    VkPhysicalDevice physical;
    uint32_t groups;
    VkDevice device;
    VkQueue queue;
    VkSurfaceKHR surface;
    VkSwapchainKHR swapchain;
    struct image images[IMAGES];
    uint32_t n_images;
    struct frame frames[IN_FLIGHT];
    VkCommandPool pool;
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool set_pool;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline compute, draw;
    uint64_t count;
};

#define FORMAT VK_FORMAT_B8G8R8A8_UNORM

/* --- device --- */

static void open_instance(struct game *g)
{
    const char *const extensions[] = {VK_KHR_SURFACE_EXTENSION_NAME,
        g->target == GAME_DISPLAY ? VK_KHR_DISPLAY_EXTENSION_NAME
                                  : VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME};
    VkApplicationInfo app = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &app,
        .enabledExtensionCount = g->target == GAME_OFF_SCREEN ? 0 : 2,
        .ppEnabledExtensionNames = extensions};
    VkPhysicalDeviceProperties properties;
    uint32_t one = 1;

    OK(vkCreateInstance(&info, NULL, &g->instance));
    OK(vkEnumeratePhysicalDevices(g->instance, &one, &g->physical));
    if (one == 0) {
        fprintf(stderr, "bench-game-loop: there is no device\n");
        exit(1);
    }
    vkGetPhysicalDeviceProperties(g->physical, &properties);
    /* Enough to fill it; a processor has little to fill. */
    g->groups = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU ? 8 : NUMBERS / PER_GROUP;
}

static void open_device(struct game *g)
{
    static const char *const extensions[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
    float priority = 1;
    VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority};
    VkPhysicalDeviceVulkan13Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .dynamicRendering = VK_TRUE};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queues,
        .enabledExtensionCount = g->target == GAME_OFF_SCREEN ? 0 : 1,
        .ppEnabledExtensionNames = extensions};

    OK(vkCreateDevice(g->physical, &info, NULL, &g->device));
    vkGetDeviceQueue(g->device, 0, 0, &g->queue);
}

static VkDeviceMemory allocate(struct game *g, const VkMemoryRequirements *needs)
{
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs->size};
    VkPhysicalDeviceMemoryProperties types;
    VkDeviceMemory memory;

    vkGetPhysicalDeviceMemoryProperties(g->physical, &types);
    for (uint32_t i = types.memoryTypeCount; i-- > 0;) {
        if (needs->memoryTypeBits >> i & 1 &&
            types.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
            info.memoryTypeIndex = i;
    }
    OK(vkAllocateMemory(g->device, &info, NULL, &memory));
    return memory;
}

/* --- the images --- */

static VkSurfaceKHR display_surface(struct game *g)
{
    VkDisplayPropertiesKHR display;
    VkDisplayModePropertiesKHR mode;
    VkDisplaySurfaceCreateInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_DISPLAY_SURFACE_CREATE_INFO_KHR,
        .transform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .alphaMode = VK_DISPLAY_PLANE_ALPHA_OPAQUE_BIT_KHR};
    VkSurfaceKHR surface;
    uint32_t one = 1;

    OK(vkGetPhysicalDeviceDisplayPropertiesKHR(g->physical, &one, &display));
    if (one == 1)
        OK(vkGetDisplayModePropertiesKHR(g->physical, display.display, &one, &mode));
    if (one == 0) {
        fprintf(stderr, "bench-game-loop: there is no screen\n");
        exit(1);
    }
    info.displayMode = mode.displayMode;
    info.imageExtent = g->extent;
    OK(vkCreateDisplayPlaneSurfaceKHR(g->instance, &info, NULL, &surface));
    return surface;
}

static VkSurfaceKHR headless_surface(struct game *g)
{
    PFN_vkCreateHeadlessSurfaceEXT create = (PFN_vkCreateHeadlessSurfaceEXT)vkGetInstanceProcAddr(
        g->instance, "vkCreateHeadlessSurfaceEXT");
    VkHeadlessSurfaceCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    VkSurfaceKHR surface;

    OK(create(g->instance, &info, NULL, &surface));
    return surface;
}

static void open_swapchain(struct game *g, bool at_once)
{
    VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
        .minImageCount = IMAGES,
        .imageFormat = FORMAT,
        .imageExtent = g->extent,
        .imageArrayLayers = 1,
        .imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
        .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
        .presentMode = at_once ? VK_PRESENT_MODE_IMMEDIATE_KHR : VK_PRESENT_MODE_MAILBOX_KHR};
    VkImage images[IMAGES];

    g->surface = g->target == GAME_DISPLAY ? display_surface(g) : headless_surface(g);
    info.surface = g->surface;
    OK(vkCreateSwapchainKHR(g->device, &info, NULL, &g->swapchain));
    g->n_images = IMAGES;
    OK(vkGetSwapchainImagesKHR(g->device, g->swapchain, &g->n_images, images));
    for (uint32_t i = 0; i < g->n_images; i++)
        g->images[i].image = images[i];
}

static void make_images(struct game *g)
{
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = FORMAT,
        .extent = {g->extent.width, g->extent.height, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT};

    for (g->n_images = 0; g->n_images < IN_FLIGHT; g->n_images++) {
        struct image *i = &g->images[g->n_images];
        VkMemoryRequirements needs;
        OK(vkCreateImage(g->device, &info, NULL, &i->image));
        vkGetImageMemoryRequirements(g->device, i->image, &needs);
        i->memory = allocate(g, &needs);
        OK(vkBindImageMemory(g->device, i->image, i->memory, 0));
    }
}

static void make_views(struct game *g)
{
    VkImageViewCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = FORMAT,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};

    for (uint32_t i = 0; i < g->n_images; i++) {
        info.image = g->images[i].image;
        OK(vkCreateImageView(g->device, &info, NULL, &g->images[i].view));
        OK(vkCreateSemaphore(g->device, &semaphore, NULL, &g->images[i].drawn));
    }
}

/* --- what is drawn --- */

static void make_buffer(struct game *g)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = NUMBERS * sizeof(float),
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VkMemoryRequirements needs;

    OK(vkCreateBuffer(g->device, &info, NULL, &g->buffer));
    vkGetBufferMemoryRequirements(g->device, g->buffer, &needs);
    g->memory = allocate(g, &needs);
    OK(vkBindBufferMemory(g->device, g->buffer, g->memory, 0));
}

static void make_set(struct game *g)
{
    VkDescriptorSetLayoutBinding binding = {.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .descriptorCount = 1,
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_FRAGMENT_BIT};
    VkDescriptorSetLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding};
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &size};
    VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorSetCount = 1,
        .pSetLayouts = &g->set_layout};
    VkDescriptorBufferInfo buffer = {g->buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = &buffer};

    OK(vkCreateDescriptorSetLayout(g->device, &layout, NULL, &g->set_layout));
    OK(vkCreateDescriptorPool(g->device, &pool, NULL, &g->set_pool));
    set.descriptorPool = g->set_pool;
    OK(vkAllocateDescriptorSets(g->device, &set, &g->set));
    write.dstSet = g->set;
    vkUpdateDescriptorSets(g->device, 1, &write, 0, NULL);
}

static VkPipelineShaderStageCreateInfo stage(
    struct game *g, VkShaderStageFlagBits which, const uint32_t *code, size_t bytes)
{
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = code};
    VkPipelineShaderStageCreateInfo out = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = which,
        .pName = "main"};

    OK(vkCreateShaderModule(g->device, &info, NULL, &out.module));
    return out;
}

static void make_compute(struct game *g)
{
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &g->set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range};
    VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = stage(g, VK_SHADER_STAGE_COMPUTE_BIT, game_comp, sizeof game_comp)};

    OK(vkCreatePipelineLayout(g->device, &layout, NULL, &g->layout));
    info.layout = g->layout;
    OK(vkCreateComputePipelines(g->device, NULL, 1, &info, NULL, &g->compute));
    vkDestroyShaderModule(g->device, info.stage.module, NULL);
}

static void make_draw(struct game *g)
{
    VkPipelineShaderStageCreateInfo stages[] = {
        stage(g, VK_SHADER_STAGE_VERTEX_BIT, game_vert, sizeof game_vert),
        stage(g, VK_SHADER_STAGE_FRAGMENT_BIT, game_frag, sizeof game_frag)};
    VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    VkViewport viewport = {
        .width = (float)g->extent.width, .height = (float)g->extent.height, .maxDepth = 1};
    VkRect2D scissor = {.extent = g->extent};
    VkPipelineViewportStateCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = &scissor};
    VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    VkPipelineColorBlendAttachmentState all = {.colorWriteMask = 0xf};
    VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &all};
    VkFormat format = FORMAT;
    VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format};
    VkGraphicsPipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .pNext = &rendering,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &view,
        .pRasterizationState = &raster,
        .pMultisampleState = &samples,
        .pColorBlendState = &blend,
        .layout = g->layout};

    OK(vkCreateGraphicsPipelines(g->device, NULL, 1, &info, NULL, &g->draw));
    vkDestroyShaderModule(g->device, stages[0].module, NULL);
    vkDestroyShaderModule(g->device, stages[1].module, NULL);
}

static void make_frames(struct game *g)
{
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandBufferCount = 1};
    VkFenceCreateInfo fence = {
        .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .flags = VK_FENCE_CREATE_SIGNALED_BIT};
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};

    OK(vkCreateCommandPool(g->device, &pool, NULL, &g->pool));
    commands.commandPool = g->pool;
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        struct frame *f = &g->frames[i];
        OK(vkCreateFence(g->device, &fence, NULL, &f->over));
        OK(vkCreateSemaphore(g->device, &semaphore, NULL, &f->acquired));
        OK(vkAllocateCommandBuffers(g->device, &commands, &f->commands));
    }
}

struct game *game_open(enum game_target target, uint32_t width, uint32_t height, bool at_once)
{
    struct game *g = calloc(1, sizeof *g);

    if (!g)
        exit(1);
    g->target = target;
    g->extent = (VkExtent2D){width, height};
    open_instance(g);
    open_device(g);
    if (target == GAME_OFF_SCREEN)
        make_images(g);
    else
        open_swapchain(g, at_once);
    make_views(g);
    make_buffer(g);
    make_set(g);
    make_compute(g);
    make_draw(g);
    make_frames(g);
    return g;
}

/* --- frames --- */

static void record_draw(struct game *g, VkCommandBuffer c, const struct image *image)
{
    VkRenderingAttachmentInfo attachment = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = image->view,
        .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    VkRenderingInfo rendering = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .renderArea = {.extent = g->extent},
        .layerCount = 1,
        .colorAttachmentCount = 1,
        .pColorAttachments = &attachment};

    vkCmdBeginRendering(c, &rendering);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, g->draw);
    vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, g->layout, 0, 1, &g->set, 0, NULL);
    vkCmdDraw(c, 3, 1, 0, 0);
    vkCmdEndRendering(c);
}

static void record(
    struct game *g, VkCommandBuffer c, const struct image *image, const uint32_t push[2])
{
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkMemoryBarrier computed = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT};
    VkImageMemoryBarrier to_draw = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
        .newLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image->image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    VkImageMemoryBarrier to_show = to_draw;

    OK(vkBeginCommandBuffer(c, &begin));
    vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0, NULL, 0, NULL, 0, NULL);
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, g->compute);
    vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_COMPUTE, g->layout, 0, 1, &g->set, 0, NULL);
    vkCmdPushConstants(c, g->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8, push);
    vkCmdDispatch(c, g->groups, 1, 1);
    vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
        VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, 0, 1, &computed, 0, NULL, 0, NULL);
    vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
        VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, 0, 0, NULL, 0, NULL, 1, &to_draw);
    record_draw(g, c, image);
    if (g->target != GAME_OFF_SCREEN) {
        to_show.srcAccessMask = to_draw.dstAccessMask;
        to_show.dstAccessMask = 0;
        to_show.oldLayout = to_draw.newLayout;
        to_show.newLayout = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR;
        vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
            VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, 0, NULL, 0, NULL, 1, &to_show);
    }
    OK(vkEndCommandBuffer(c));
}

static void one_frame(struct game *g, uint32_t turns)
{
    struct frame *f = &g->frames[g->count % IN_FLIGHT];
    uint32_t index = (uint32_t)(g->count % g->n_images);
    union {
        float number;
        uint32_t bits;
    } push = {.number = (float)(g->count % 1000) / 1000};
    VkPipelineStageFlags wait = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    bool off = g->target == GAME_OFF_SCREEN;

    OK(vkWaitForFences(g->device, 1, &f->over, VK_TRUE, UINT64_MAX));
    if (!off)
        OK(vkAcquireNextImageKHR(
            g->device, g->swapchain, UINT64_MAX, f->acquired, VK_NULL_HANDLE, &index));
    struct image *image = &g->images[index];
    record(g, f->commands, image, (uint32_t[2]){turns, push.bits});
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .waitSemaphoreCount = off ? 0 : 1,
        .pWaitSemaphores = &f->acquired,
        .pWaitDstStageMask = &wait,
        .commandBufferCount = 1,
        .pCommandBuffers = &f->commands,
        .signalSemaphoreCount = off ? 0 : 1,
        .pSignalSemaphores = &image->drawn};
    VkPresentInfoKHR show = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &image->drawn,
        .swapchainCount = 1,
        .pSwapchains = &g->swapchain,
        .pImageIndices = &index};
    OK(vkResetFences(g->device, 1, &f->over));
    OK(vkQueueSubmit(g->queue, 1, &submit, f->over));
    if (!off)
        OK(vkQueuePresentKHR(g->queue, &show));
    g->count++;
}

void game_run(struct game *g, uint32_t turns, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        one_frame(g, turns);
    OK(vkQueueWaitIdle(g->queue));
}

void game_close(struct game *g)
{
    OK(vkDeviceWaitIdle(g->device));
    for (unsigned i = 0; i < IN_FLIGHT; i++) {
        vkDestroyFence(g->device, g->frames[i].over, NULL);
        vkDestroySemaphore(g->device, g->frames[i].acquired, NULL);
    }
    for (uint32_t i = 0; i < g->n_images; i++) {
        vkDestroySemaphore(g->device, g->images[i].drawn, NULL);
        vkDestroyImageView(g->device, g->images[i].view, NULL);
        if (g->images[i].memory) {
            vkDestroyImage(g->device, g->images[i].image, NULL);
            vkFreeMemory(g->device, g->images[i].memory, NULL);
        }
    }
    if (g->surface) {
        vkDestroySwapchainKHR(g->device, g->swapchain, NULL);
        vkDestroySurfaceKHR(g->instance, g->surface, NULL);
    }
    vkDestroyPipeline(g->device, g->draw, NULL);
    vkDestroyPipeline(g->device, g->compute, NULL);
    vkDestroyPipelineLayout(g->device, g->layout, NULL);
    vkDestroyDescriptorPool(g->device, g->set_pool, NULL);
    vkDestroyDescriptorSetLayout(g->device, g->set_layout, NULL);
    vkDestroyBuffer(g->device, g->buffer, NULL);
    vkFreeMemory(g->device, g->memory, NULL);
    vkDestroyCommandPool(g->device, g->pool, NULL);
    vkDestroyDevice(g->device, NULL);
    vkDestroyInstance(g->instance, NULL);
    free(g);
}
