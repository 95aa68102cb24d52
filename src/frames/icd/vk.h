/*
 * Vulkan, as all files of the ICD include it: the Khronos headers of this machine, the window
 * systems' structs without the window systems' headers, and what headers of 1.3.239 do not have
 * yet.
 */
#ifndef TP_FRAMES_ICD_VK_H
#define TP_FRAMES_ICD_VK_H

#include <stdint.h>

/* The same typedefs as in the window systems' own headers, which may be included beside this one.
 */
typedef struct xcb_connection_t xcb_connection_t;
typedef uint32_t xcb_window_t;
typedef uint32_t xcb_visualid_t;
typedef struct _XDisplay Display;
typedef unsigned long Window;
typedef unsigned long VisualID;
typedef unsigned long RROutput;

#define VK_NO_PROTOTYPES
#include <vulkan/vk_icd.h>
#include <vulkan/vulkan_core.h>
#include <vulkan/vulkan_wayland.h>
#include <vulkan/vulkan_xcb.h>
#include <vulkan/vulkan_xlib.h>
#include <vulkan/vulkan_xlib_xrandr.h>

/* VK_EXT/KHR_present_mode_fifo_latest_ready (registry: extension 362). */
#define TP_VK_FIFO_LATEST_READY ((VkPresentModeKHR)1000361000)
#define TP_VK_FIFO_LATEST_READY_FEATURES ((VkStructureType)1000361000)
/* Of the EXT and the KHR one alike. */
struct tp_vk_latest_ready_features {
    VkStructureType sType;
    void *pNext;
    VkBool32 presentModeFifoLatestReady;
};

/* VK_KHR_maintenance6 (extension 546): where a command is to put what became of one binding. */
#define TP_VK_BIND_MEMORY_STATUS ((VkStructureType)1000545002)
struct tp_vk_bind_memory_status {
    VkStructureType sType;
    const void *pNext;
    VkResult *pResult;
};

#ifndef VK_KHR_SURFACE_MAINTENANCE_1_EXTENSION_NAME
#define VK_KHR_SURFACE_MAINTENANCE_1_EXTENSION_NAME "VK_KHR_surface_maintenance1"
#endif
#ifndef VK_KHR_SWAPCHAIN_MAINTENANCE_1_EXTENSION_NAME
#define VK_KHR_SWAPCHAIN_MAINTENANCE_1_EXTENSION_NAME "VK_KHR_swapchain_maintenance1"
#endif

#endif
