/* A stand-in for what the runtime generates: Vulkan itself. */
#include <vulkan/vulkan_core.h>

#include <vulkan/vulkan_android.h>
