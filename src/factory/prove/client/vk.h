/*
 * The Vulkan functions that the client calls, found by name through vkGetInstanceProcAddr: the
 * drivers' and the layer's answers dispatch on the handle, so that one table serves every device.
 */
#ifndef TP_FACTORY_PROVE_CLIENT_VK_H
#define TP_FACTORY_PROVE_CLIENT_VK_H

#include <stddef.h>
#include <vulkan/vulkan_core.h>

/* Vulkan 1.0 of the instance. */
#define TP_VK_INSTANCE(X)                                                                          \
    X(CreateDevice)                                                                                \
    X(DestroyInstance)                                                                             \
    X(EnumerateDeviceExtensionProperties)                                                          \
    X(EnumeratePhysicalDevices)                                                                    \
    X(GetDeviceProcAddr)                                                                           \
    X(GetPhysicalDeviceFormatProperties)                                                           \
    X(GetPhysicalDeviceMemoryProperties)                                                           \
    X(GetPhysicalDeviceQueueFamilyProperties)

/* Core since Vulkan 1.1, but a device of 1.0 has them by their older names alone. The instance has
 * these extensions on. */
#define TP_VK_INSTANCE_KHR(X)                                                                      \
    X(GetPhysicalDeviceExternalBufferProperties)                                                   \
    X(GetPhysicalDeviceExternalFenceProperties)                                                    \
    X(GetPhysicalDeviceExternalSemaphoreProperties)                                                \
    X(GetPhysicalDeviceFeatures2)                                                                  \
    X(GetPhysicalDeviceImageFormatProperties2)                                                     \
    X(GetPhysicalDeviceProperties2)
#define TP_VK_INSTANCE_EXTENSIONS                                                                  \
    "VK_KHR_external_fence_capabilities", "VK_KHR_external_memory_capabilities",                   \
        "VK_KHR_external_semaphore_capabilities", "VK_KHR_get_physical_device_properties2"

/* Vulkan 1.0 of the device. */
#define TP_VK_DEVICE(X)                                                                            \
    X(AllocateCommandBuffers)                                                                      \
    X(AllocateDescriptorSets)                                                                      \
    X(AllocateMemory)                                                                              \
    X(BeginCommandBuffer)                                                                          \
    X(BindBufferMemory)                                                                            \
    X(BindImageMemory)                                                                             \
    X(CmdBeginQuery)                                                                               \
    X(CmdBeginRenderPass)                                                                          \
    X(CmdBindDescriptorSets)                                                                       \
    X(CmdBindPipeline)                                                                             \
    X(CmdBindVertexBuffers)                                                                        \
    X(CmdBlitImage)                                                                                \
    X(CmdClearColorImage)                                                                          \
    X(CmdCopyBuffer)                                                                               \
    X(CmdCopyBufferToImage)                                                                        \
    X(CmdCopyImage)                                                                                \
    X(CmdCopyImageToBuffer)                                                                        \
    X(CmdCopyQueryPoolResults)                                                                     \
    X(CmdDispatch)                                                                                 \
    X(CmdDispatchIndirect)                                                                         \
    X(CmdDraw)                                                                                     \
    X(CmdDrawIndirect)                                                                             \
    X(CmdEndQuery)                                                                                 \
    X(CmdEndRenderPass)                                                                            \
    X(CmdExecuteCommands)                                                                          \
    X(CmdFillBuffer)                                                                               \
    X(CmdPipelineBarrier)                                                                          \
    X(CmdPushConstants)                                                                            \
    X(CmdResetEvent)                                                                               \
    X(CmdResetQueryPool)                                                                           \
    X(CmdSetEvent)                                                                                 \
    X(CmdSetScissor)                                                                               \
    X(CmdSetViewport)                                                                              \
    X(CmdUpdateBuffer)                                                                             \
    X(CmdWaitEvents)                                                                               \
    X(CmdWriteTimestamp)                                                                           \
    X(CreateBuffer)                                                                                \
    X(CreateBufferView)                                                                            \
    X(CreateCommandPool)                                                                           \
    X(CreateComputePipelines)                                                                      \
    X(CreateDescriptorPool)                                                                        \
    X(CreateDescriptorSetLayout)                                                                   \
    X(CreateEvent)                                                                                 \
    X(CreateFence)                                                                                 \
    X(CreateFramebuffer)                                                                           \
    X(CreateGraphicsPipelines)                                                                     \
    X(CreateImage)                                                                                 \
    X(CreateImageView)                                                                             \
    X(CreatePipelineCache)                                                                         \
    X(CreatePipelineLayout)                                                                        \
    X(CreateQueryPool)                                                                             \
    X(CreateRenderPass)                                                                            \
    X(CreateSampler)                                                                               \
    X(CreateSemaphore)                                                                             \
    X(CreateShaderModule)                                                                          \
    X(DestroyBuffer)                                                                               \
    X(DestroyBufferView)                                                                           \
    X(DestroyCommandPool)                                                                          \
    X(DestroyDescriptorPool)                                                                       \
    X(DestroyDescriptorSetLayout)                                                                  \
    X(DestroyDevice)                                                                               \
    X(DestroyEvent)                                                                                \
    X(DestroyFence)                                                                                \
    X(DestroyFramebuffer)                                                                          \
    X(DestroyImage)                                                                                \
    X(DestroyImageView)                                                                            \
    X(DestroyPipeline)                                                                             \
    X(DestroyPipelineCache)                                                                        \
    X(DestroyPipelineLayout)                                                                       \
    X(DestroyQueryPool)                                                                            \
    X(DestroyRenderPass)                                                                           \
    X(DestroySampler)                                                                              \
    X(DestroySemaphore)                                                                            \
    X(DestroyShaderModule)                                                                         \
    X(DeviceWaitIdle)                                                                              \
    X(EndCommandBuffer)                                                                            \
    X(FlushMappedMemoryRanges)                                                                     \
    X(FreeCommandBuffers)                                                                          \
    X(FreeDescriptorSets)                                                                          \
    X(FreeMemory)                                                                                  \
    X(GetBufferMemoryRequirements)                                                                 \
    X(GetDeviceQueue)                                                                              \
    X(GetEventStatus)                                                                              \
    X(GetFenceStatus)                                                                              \
    X(GetImageMemoryRequirements)                                                                  \
    X(GetImageSubresourceLayout)                                                                   \
    X(GetPipelineCacheData)                                                                        \
    X(GetQueryPoolResults)                                                                         \
    X(InvalidateMappedMemoryRanges)                                                                \
    X(MapMemory)                                                                                   \
    X(QueueSubmit)                                                                                 \
    X(QueueWaitIdle)                                                                               \
    X(ResetCommandBuffer)                                                                          \
    X(ResetCommandPool)                                                                            \
    X(ResetDescriptorPool)                                                                         \
    X(ResetEvent)                                                                                  \
    X(ResetFences)                                                                                 \
    X(SetEvent)                                                                                    \
    X(UnmapMemory)                                                                                 \
    X(UpdateDescriptorSets)                                                                        \
    X(WaitForFences)

/* Of later versions and extensions, with the other name that a driver may know it by; NULL where
 * the driver has neither. */
#define TP_VK_OPTIONAL(X)                                                                          \
    X(CmdBeginRendering, "vkCmdBeginRenderingKHR")                                                 \
    X(CmdEndRendering, "vkCmdEndRenderingKHR")                                                     \
    X(CmdPipelineBarrier2, "vkCmdPipelineBarrier2KHR")                                             \
    X(QueueSubmit2, "vkQueueSubmit2KHR")                                                           \
    X(GetSemaphoreCounterValue, "vkGetSemaphoreCounterValueKHR")                                   \
    X(SignalSemaphore, "vkSignalSemaphoreKHR")                                                     \
    X(WaitSemaphores, "vkWaitSemaphoresKHR")                                                       \
    X(ResetQueryPool, "vkResetQueryPoolEXT")                                                       \
    X(GetMemoryFdKHR, NULL)                                                                        \
    X(GetMemoryFdPropertiesKHR, NULL)                                                              \
    X(GetFenceFdKHR, NULL)                                                                         \
    X(ImportFenceFdKHR, NULL)                                                                      \
    X(GetSemaphoreFdKHR, NULL)                                                                     \
    X(ImportSemaphoreFdKHR, NULL)                                                                  \
    X(GetCalibratedTimestampsEXT, "vkGetCalibratedTimestampsKHR")                                  \
    X(GetPhysicalDeviceCalibrateableTimeDomainsEXT, "vkGetPhysicalDeviceCalibrateableTimeDomainsKHR")

struct tp_vk {
#define TP_VK_FIELD(name) PFN_vk##name name;
#define TP_VK_OPTIONAL_FIELD(name, other) PFN_vk##name name;
    TP_VK_INSTANCE(TP_VK_FIELD)
    TP_VK_INSTANCE_KHR(TP_VK_FIELD)
    TP_VK_DEVICE(TP_VK_FIELD)
    TP_VK_OPTIONAL(TP_VK_OPTIONAL_FIELD)
#undef TP_VK_FIELD
#undef TP_VK_OPTIONAL_FIELD
};

/* Fills VK from an instance. Answers NULL, or the name of a function that must be there and is not
 * (DestroyInstance is then filled in where it exists). */
const char *tp_vk_load(struct tp_vk *vk, PFN_vkGetInstanceProcAddr get_proc, VkInstance instance);

/* Leaves out of VK what is optional and BELOW lacks. */
void tp_vk_limit(struct tp_vk *vk, const struct tp_vk *below);

/* NULL, or the name of a function of Vulkan 1.0 that the device's vkGetDeviceProcAddr lacks. */
const char *tp_vk_device_lacks(const struct tp_vk *vk, VkDevice device);

/* "VK_ERROR_DEVICE_LOST", …; "another VkResult" for a code that has no name here. */
const char *tp_vk_result(VkResult result);

#endif
