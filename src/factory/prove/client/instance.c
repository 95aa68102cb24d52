#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "client.h"

unsigned tp_open_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;
    if (!dir)
        return 0;
    for (struct dirent *d; (d = readdir(dir));)
        count += d->d_name[0] != '.';
    closedir(dir);
    return count - 1; /* that of the folder */
}

static int refuse(char *why, size_t size, const char *name, const char *reason)
{
    snprintf(why, size, "%s: %s", name, reason);
    return -1;
}

int tp_instance_create(struct tp_client *client, VkInstance *out, char *why, size_t size)
{
    VkApplicationInfo app = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "prove-client",
        .apiVersion = VK_API_VERSION_1_3,
    };
    static const char *const extensions[] = {TP_VK_INSTANCE_EXTENSIONS, TP_LAYERS_EXTENSION};
    uint32_t count = sizeof extensions / sizeof *extensions;
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = tp_layers_instance(client),
        .pApplicationInfo = &app,
        .enabledExtensionCount = client->layers ? count : count - 1,
        .ppEnabledExtensionNames = extensions,
    };
    VkResult result = client->entry.create_instance(&info, NULL, out);
    if (result != VK_SUCCESS) {
        *out = VK_NULL_HANDLE;
        return refuse(why, size, "vkCreateInstance", tp_vk_result(result));
    }
    const char *missing = tp_vk_load(&client->vk, client->entry.get_proc, *out);
    if (!missing)
        missing = tp_layers_missing(client);
    tp_vk_limit(&client->vk, tp_layers_below(client));
    if (!missing)
        return 0;
    if (client->vk.DestroyInstance)
        client->vk.DestroyInstance(*out, NULL);
    *out = VK_NULL_HANDLE;
    return refuse(why, size, missing, "is not there");
}

/* A first instance comes and goes: what a driver opens once for all is then open, and what it loses
 * afterwards shows. One that finds no device opens less: it has a second go. */
static void come_and_go(struct tp_run *r)
{
    struct tp_client *client = r->client;
    char why[300];
    VkInstance first;
    uint32_t count = 0;
    for (int go = 0; go < 2 && !count; go++) {
        if (tp_instance_create(client, &first, why, sizeof why))
            tp_failed(r, "%s", why);
        if (client->vk.EnumeratePhysicalDevices(first, &count, NULL) != VK_SUCCESS)
            count = 0;
        client->vk.DestroyInstance(first, NULL);
    }
    client->fds_before = tp_open_fds();
}

static void check_instance(struct tp_run *r)
{
    struct tp_client *client = r->client;
    char why[300];
    come_and_go(r);
    if (tp_instance_create(client, &client->instance, why, sizeof why) ||
        tp_layers_watch(client, why, sizeof why))
        tp_failed(r, "%s", why);
    tp_note(r, "by %s", client->entry.name);
}

static void read_extensions(struct tp_run *r)
{
    struct tp_client *client = r->client;
    uint32_t count = 0;
    TP_CALL(r, EnumerateDeviceExtensionProperties, client->physical, NULL, &count, NULL);
    client->extensions = calloc(count ? count : 1, sizeof *client->extensions);
    if (!client->extensions)
        tp_failed(r, "the client is out of memory");
    TP_CALL(r, EnumerateDeviceExtensionProperties, client->physical, NULL, &count,
            client->extensions);
    client->extension_count = count;
}

static void check_enumerate(struct tp_run *r)
{
    struct tp_client *client = r->client;
    uint32_t count = 0;
    VkResult result = r->vk->EnumeratePhysicalDevices(client->instance, &count, NULL);
    tp_print_number("device_count", result == VK_SUCCESS ? count : 0);
    tp_called(r, "vkEnumeratePhysicalDevices", result);
    if (count != 1)
        tp_failed(r, "vkEnumeratePhysicalDevices: %u devices, where 1 is right", count);
    TP_CALL_FOR(r, VK_SUCCESS, EnumeratePhysicalDevices, client->instance, &count,
                &client->physical);
    read_extensions(r);
    tp_caps_read(r);
    tp_facts_print(client);
    if (client->family == UINT32_MAX)
        tp_failed(r, "no queue family has graphics and compute");
    tp_note(r, "%u extensions, %u queue famil%s", client->extension_count, client->family_count,
            client->family_count == 1 ? "y" : "ies");
}

const struct tp_check tp_check_instance = {"instance", "load the driver, make an instance",
                                           check_instance};
const struct tp_check tp_check_enumerate = {"enumerate", "find one device and what it offers",
                                            check_enumerate};
