/*
 * How a Vulkan driver is entered without a loader: by its path, through vk_icdGetInstanceProcAddr or
 * Android's HMI. Needs libc and the Vulkan headers only; compiled into clients for each target.
 */
#ifndef TP_FACTORY_PROVE_CLIENT_ENTRY_H
#define TP_FACTORY_PROVE_CLIENT_ENTRY_H

#include <stddef.h>
#include <vulkan/vulkan_core.h>

struct tp_entry {
    const char *name; /* "vk_icd" or "HMI" */
    void *library;    /* of dlopen; the owner may dlclose it once nothing of it is used */
    PFN_vkCreateInstance create_instance;
    PFN_vkGetInstanceProcAddr get_proc;
};

/* Loads the driver at PATH. Answers 0, or -1 with the reason in WHY, of SIZE bytes. */
int tp_entry_open(const char *path, struct tp_entry *entry, char *why, size_t size);

#endif
