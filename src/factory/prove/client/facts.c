/*
 * What the device says of itself: read once into the client's caps, and printed as facts.
 */
#include <stdio.h>
#include <string.h>

#include "client.h"

/* VkPhysicalDeviceFeatures, by name. */
#define FEATURES(X)                                                                                \
    X(robustBufferAccess)                                                                          \
    X(fullDrawIndexUint32)                                                                         \
    X(imageCubeArray)                                                                              \
    X(independentBlend)                                                                            \
    X(geometryShader)                                                                              \
    X(tessellationShader)                                                                          \
    X(sampleRateShading)                                                                           \
    X(dualSrcBlend)                                                                                \
    X(logicOp)                                                                                     \
    X(multiDrawIndirect)                                                                           \
    X(drawIndirectFirstInstance)                                                                   \
    X(depthClamp)                                                                                  \
    X(depthBiasClamp)                                                                              \
    X(fillModeNonSolid)                                                                            \
    X(depthBounds)                                                                                 \
    X(wideLines)                                                                                   \
    X(largePoints)                                                                                 \
    X(alphaToOne)                                                                                  \
    X(multiViewport)                                                                               \
    X(samplerAnisotropy)                                                                           \
    X(textureCompressionETC2)                                                                      \
    X(textureCompressionASTC_LDR)                                                                  \
    X(textureCompressionBC)                                                                        \
    X(occlusionQueryPrecise)                                                                       \
    X(pipelineStatisticsQuery)                                                                     \
    X(vertexPipelineStoresAndAtomics)                                                              \
    X(fragmentStoresAndAtomics)                                                                    \
    X(shaderStorageImageExtendedFormats)                                                           \
    X(shaderClipDistance)                                                                          \
    X(shaderCullDistance)                                                                          \
    X(shaderFloat64)                                                                               \
    X(shaderInt64)                                                                                 \
    X(shaderInt16)                                                                                 \
    X(sparseBinding)                                                                               \
    X(inheritedQueries)

bool tp_has_extension(const struct tp_client *client, const char *name)
{
    for (uint32_t i = 0; i < client->extension_count; i++) {
        if (!strcmp(client->extensions[i].extensionName, name))
            return true;
    }
    return false;
}

/* In Vulkan's core since API, or by an extension. */
static bool known(const struct tp_client *client, uint32_t api, const char *extension)
{
    return client->caps.api >= api || tp_has_extension(client, extension);
}

uint32_t tp_family_find(const struct tp_client *client, VkQueueFlags flags)
{
    for (uint32_t i = 0; i < client->family_count; i++) {
        if ((client->families[i].queueFlags & flags) == flags)
            return i;
    }
    return UINT32_MAX;
}

#define LINK(head, structure)                                                                      \
    ((structure).pNext = (head).pNext, (head).pNext = &(structure), (void)0)

static void read_features(struct tp_client *client)
{
    struct tp_caps *caps = &client->caps;
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
    };
    VkPhysicalDeviceHostQueryResetFeatures host_reset = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES,
    };
    VkPhysicalDeviceShaderAtomicInt64Features buffers = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES,
    };
    VkPhysicalDeviceDynamicRenderingFeatures dynamic = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES,
    };
    VkPhysicalDeviceSynchronization2Features sync2 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
    };
    VkPhysicalDeviceShaderImageAtomicInt64FeaturesEXT images = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_IMAGE_ATOMIC_INT64_FEATURES_EXT,
    };
    VkPhysicalDeviceImageCompressionControlFeaturesEXT compression = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_COMPRESSION_CONTROL_FEATURES_EXT,
    };
    /* Turnip advertises it on chips whose Vulkan is 1.0 without multiview, which it requires: it
     * cannot be switched on there by the rules. */
    bool multiview = known(client, VK_API_VERSION_1_1, "VK_KHR_multiview");
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    if (known(client, VK_API_VERSION_1_2, "VK_KHR_timeline_semaphore"))
        LINK(all, timeline);
    if (known(client, VK_API_VERSION_1_2, "VK_EXT_host_query_reset"))
        LINK(all, host_reset);
    if (known(client, VK_API_VERSION_1_2, "VK_KHR_shader_atomic_int64"))
        LINK(all, buffers);
    if (known(client, VK_API_VERSION_1_3, "VK_KHR_dynamic_rendering") && multiview)
        LINK(all, dynamic);
    if (known(client, VK_API_VERSION_1_3, "VK_KHR_synchronization2"))
        LINK(all, sync2);
    if (tp_has_extension(client, "VK_EXT_shader_image_atomic_int64"))
        LINK(all, images);
    if (tp_has_extension(client, "VK_EXT_image_compression_control"))
        LINK(all, compression);
    client->vk.GetPhysicalDeviceFeatures2(client->physical, &all);
    caps->features = all.features;
    caps->timeline = timeline.timelineSemaphore;
    caps->host_query_reset = host_reset.hostQueryReset;
    caps->buffer_int64_atomics = buffers.shaderBufferInt64Atomics;
    caps->dynamic_rendering = dynamic.dynamicRendering;
    caps->synchronization2 = sync2.synchronization2;
    caps->image_int64_atomics = images.shaderImageInt64Atomics;
    caps->compression_control = compression.imageCompressionControl;
}

static void read_extensions(struct tp_client *client)
{
    struct tp_caps *caps = &client->caps;
    caps->driver_properties = known(client, VK_API_VERSION_1_2, "VK_KHR_driver_properties");
    caps->calibrated_timestamps = tp_has_extension(client, "VK_KHR_calibrated_timestamps") ||
                                  tp_has_extension(client, "VK_EXT_calibrated_timestamps");
    caps->memory_fd = tp_has_extension(client, "VK_KHR_external_memory_fd");
    caps->memory_dma_buf =
        caps->memory_fd && tp_has_extension(client, "VK_EXT_external_memory_dma_buf");
    caps->fence_fd = tp_has_extension(client, "VK_KHR_external_fence_fd");
    caps->semaphore_fd = tp_has_extension(client, "VK_KHR_external_semaphore_fd");
    caps->drm_properties = tp_has_extension(client, "VK_EXT_physical_device_drm");
    caps->android_buffers =
        tp_has_extension(client, "VK_ANDROID_external_memory_android_hardware_buffer");
}

void tp_caps_read(struct tp_run *r)
{
    struct tp_client *client = r->client;
    struct tp_caps *caps = &client->caps;
    VkPhysicalDeviceProperties2 p = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    r->vk->GetPhysicalDeviceProperties2(client->physical, &p);
    caps->limits = p.properties.limits;
    caps->api = p.properties.apiVersion < VK_API_VERSION_1_3 ? p.properties.apiVersion
                                                             : VK_API_VERSION_1_3;
    r->vk->GetPhysicalDeviceMemoryProperties(client->physical, &caps->memory);
    client->family_count = TP_FAMILIES_MAX;
    r->vk->GetPhysicalDeviceQueueFamilyProperties(client->physical, &client->family_count,
                                                  client->families);
    client->family = tp_family_find(client, VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT);
    read_extensions(client);
    read_features(client);
}

static void print_drm(struct tp_client *client)
{
    VkPhysicalDeviceDrmPropertiesEXT drm = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRM_PROPERTIES_EXT,
    };
    VkPhysicalDeviceProperties2 p = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &drm,
    };
    if (client->caps.drm_properties)
        client->vk.GetPhysicalDeviceProperties2(client->physical, &p);
    struct tp_json j = tp_json_begin("drm", false);
    tp_json_bool(&j, "advertised", client->caps.drm_properties);
    if (client->caps.drm_properties) {
        tp_json_bool(&j, "has_primary", drm.hasPrimary);
        tp_json_number(&j, "primary_major", (uint64_t)drm.primaryMajor);
        tp_json_number(&j, "primary_minor", (uint64_t)drm.primaryMinor);
        tp_json_bool(&j, "has_render", drm.hasRender);
        tp_json_number(&j, "render_major", (uint64_t)drm.renderMajor);
        tp_json_number(&j, "render_minor", (uint64_t)drm.renderMinor);
    }
    tp_json_end(&j);
}

static void print_identity(struct tp_client *client)
{
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
    };
    VkPhysicalDeviceProperties2 p = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = client->caps.driver_properties ? &driver : NULL,
    };
    client->vk.GetPhysicalDeviceProperties2(client->physical, &p);
    uint32_t v = p.properties.apiVersion;
    char api[40];
    snprintf(api, sizeof api, "%u.%u.%u", VK_API_VERSION_MAJOR(v), VK_API_VERSION_MINOR(v),
             VK_API_VERSION_PATCH(v));
    tp_print_string("entry", client->entry.name);
    tp_print_string("device_name", p.properties.deviceName);
    tp_print_string("api", api);
    tp_print_string("driver_name", driver.driverName);
    tp_print_string("driver_info", driver.driverInfo);
    tp_print_number("driver_version", p.properties.driverVersion);
    tp_print_number("vendor_id", p.properties.vendorID);
    tp_print_number("device_id", p.properties.deviceID);
    tp_print_number("device_type", p.properties.deviceType);
}

static void print_features(const struct tp_client *client)
{
    const struct tp_caps *caps = &client->caps;
    struct tp_json j = tp_json_begin("features", false);
#define PRINT(name) tp_json_bool(&j, #name, caps->features.name);
    FEATURES(PRINT)
#undef PRINT
    tp_json_bool(&j, "timelineSemaphore", caps->timeline);
    tp_json_bool(&j, "hostQueryReset", caps->host_query_reset);
    tp_json_bool(&j, "dynamicRendering", caps->dynamic_rendering);
    tp_json_bool(&j, "synchronization2", caps->synchronization2);
    tp_json_bool(&j, "shaderBufferInt64Atomics", caps->buffer_int64_atomics);
    tp_json_bool(&j, "shaderImageInt64Atomics", caps->image_int64_atomics);
    tp_json_bool(&j, "imageCompressionControl", caps->compression_control);
    tp_json_end(&j);
}

static void print_queues(const struct tp_client *client)
{
    struct tp_json j = tp_json_begin("queues", true);
    for (uint32_t i = 0; i < client->family_count; i++)
        tp_json_number(&j, NULL, client->families[i].queueCount);
    tp_json_end(&j);
}

void tp_facts_print(struct tp_client *client)
{
    print_identity(client);
    struct tp_json j = tp_json_begin("extensions", true);
    for (uint32_t i = 0; i < client->extension_count; i++)
        tp_json_string(&j, NULL, client->extensions[i].extensionName);
    tp_json_end(&j);
    print_features(client);
    tp_print_bool("calibrated_timestamps", client->caps.calibrated_timestamps);
    tp_print_bool("present_timing", tp_has_extension(client, "VK_EXT_present_timing"));
    tp_print_bool("image_atomic_int64",
                  tp_has_extension(client, "VK_EXT_shader_image_atomic_int64"));
    print_drm(client);
    print_queues(client);
    tp_print_number("memory_types", client->caps.memory.memoryTypeCount);
}
