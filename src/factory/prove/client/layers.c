/*
 * The Vulkan loader and the validation layer, between the client and the driver. The loader is found
 * at run time; it takes the driver from a manifest that is written for the purpose.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"

#define LOADER "libvulkan.so.1"
#define VALIDATION "VK_LAYER_KHRONOS_validation"

struct tp_layers {
    struct tp_client *client;
    void *loader;
    char manifest[512]; /* path; "": none */
    VkDebugUtilsMessengerCreateInfoEXT messages;
    VkDebugUtilsMessengerEXT messenger;
    const char *check; /* that is being run */
    unsigned count;    /* by __atomic */
};

static int refuse(char *why, size_t size, const char *what, const char *reason)
{
    snprintf(why, size, "%s: %s", what, reason);
    return -1;
}

static VkBool32 VKAPI_CALL take_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                        VkDebugUtilsMessageTypeFlagsEXT types,
                                        const VkDebugUtilsMessengerCallbackDataEXT *data,
                                        void *user)
{
    struct tp_layers *layers = user;
    char text[1200];
    (void)severity;
    (void)types;
    snprintf(text, sizeof text, "%s: %.1000s", layers->check, data->pMessage);
    tp_print_check("validation", false, false, 0, text);
    __atomic_add_fetch(&layers->count, 1, __ATOMIC_RELAXED);
    return VK_FALSE;
}

static int write_manifest(struct tp_layers *layers, const char *driver, char *why, size_t size)
{
    const char *folder = getenv("TMPDIR");
    snprintf(layers->manifest, sizeof layers->manifest, "%s/prove-client-XXXXXX.json",
             folder ? folder : "/tmp");
    int fd = mkstemps(layers->manifest, strlen(".json"));
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f) {
        if (fd >= 0)
            close(fd);
        return refuse(why, size, layers->manifest, "cannot be written");
    }
    fputs("{\"file_format_version\": \"1.0.0\", \"ICD\": {\"api_version\": \"1.3.0\", "
          "\"library_path\": ",
          f);
    tp_put_string(f, driver);
    fputs("}}\n", f);
    bool written = !ferror(f);
    written &= !fclose(f);
    return written ? 0 : refuse(why, size, layers->manifest, "cannot be written");
}

static bool has_validation(PFN_vkGetInstanceProcAddr get_proc)
{
    VkLayerProperties all[64];
    uint32_t count = 64;
    PFN_vkEnumerateInstanceLayerProperties enumerate =
        (PFN_vkEnumerateInstanceLayerProperties)get_proc(NULL,
                                                         "vkEnumerateInstanceLayerProperties");
    if (!enumerate || enumerate(&count, all) < 0)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!strcmp(all[i].layerName, VALIDATION))
            return true;
    }
    return false;
}

static int open_loader(struct tp_layers *layers, char *why, size_t size)
{
    struct tp_client *client = layers->client;
    if (strcmp(client->entry.name, "vk_icd"))
        return refuse(why, size, client->options.driver,
                      "is entered by HMI, which the loader does not do");
    if (write_manifest(layers, client->options.driver, why, size))
        return -1;
    /* The second is what loaders before 1.3.207 look at. */
    setenv("VK_DRIVER_FILES", layers->manifest, 1);
    setenv("VK_ICD_FILENAMES", layers->manifest, 1);
    layers->loader = dlopen(LOADER, RTLD_NOW | RTLD_LOCAL);
    if (!layers->loader)
        return refuse(why, size, LOADER, "is not there (Debian's package libvulkan1)");
    PFN_vkGetInstanceProcAddr get_proc;
    *(void **)&get_proc = dlsym(layers->loader, "vkGetInstanceProcAddr");
    if (!get_proc)
        return refuse(why, size, LOADER, "has no vkGetInstanceProcAddr");
    if (!has_validation(get_proc))
        return refuse(why, size, VALIDATION,
                      "is not there (Debian's package vulkan-validationlayers)");
    client->entry.get_proc = get_proc;
    client->entry.create_instance = (PFN_vkCreateInstance)get_proc(NULL, "vkCreateInstance");
    return 0;
}

int tp_layers_open(struct tp_client *client, char *why, size_t size)
{
    struct tp_layers *layers = calloc(1, sizeof *layers);
    if (!layers)
        return refuse(why, size, "the client", "is out of memory");
    client->layers = layers;
    layers->client = client;
    layers->check = "instance";
    layers->messages = (VkDebugUtilsMessengerCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = take_message,
        .pUserData = layers,
    };
    return open_loader(layers, why, size);
}

void tp_layers_instance(struct tp_client *client, VkInstanceCreateInfo *info)
{
    static const char *const layer = VALIDATION, *const extension = "VK_EXT_debug_utils";
    if (!client->layers)
        return;
    info->enabledLayerCount = 1;
    info->ppEnabledLayerNames = &layer;
    info->enabledExtensionCount = 1;
    info->ppEnabledExtensionNames = &extension;
    /* What comes while the instance is made and destroyed. */
    info->pNext = &client->layers->messages;
}

int tp_layers_watch(struct tp_client *client, char *why, size_t size)
{
    struct tp_layers *layers = client->layers;
    if (!layers)
        return 0;
    if (!client->vk.CreateDebugUtilsMessengerEXT || !client->vk.DestroyDebugUtilsMessengerEXT)
        return refuse(why, size, "vkCreateDebugUtilsMessengerEXT", "is not there");
    VkResult result = client->vk.CreateDebugUtilsMessengerEXT(client->instance, &layers->messages,
                                                              NULL, &layers->messenger);
    return result == VK_SUCCESS
               ? 0
               : refuse(why, size, "vkCreateDebugUtilsMessengerEXT", tp_vk_result(result));
}

void tp_layers_now(struct tp_client *client, const char *check)
{
    if (client->layers)
        client->layers->check = check;
}

unsigned tp_layers_messages(const struct tp_client *client)
{
    return client->layers ? __atomic_load_n(&client->layers->count, __ATOMIC_RELAXED) : 0;
}

void tp_layers_unwatch(struct tp_client *client)
{
    struct tp_layers *layers = client->layers;
    if (!layers || !layers->messenger)
        return;
    client->vk.DestroyDebugUtilsMessengerEXT(client->instance, layers->messenger, NULL);
    layers->messenger = VK_NULL_HANDLE;
}

void tp_layers_close(struct tp_client *client)
{
    struct tp_layers *layers = client->layers;
    if (!layers)
        return;
    if (layers->loader)
        dlclose(layers->loader);
    if (*layers->manifest)
        unlink(layers->manifest);
    free(layers);
    client->layers = NULL;
}
