/*
 * Loads a Vulkan driver by its path, as a loader would, and prints what it enumerates as JSON:
 *   {"entry": "vk_icd", "devices": [{"name", "driver_name", "driver_info", "api"}]}
 * Compiled for each target when it is needed, with the proofs' entry.c; needs only the Vulkan
 * headers.
 */
#include <stdint.h>
#include <stdio.h>

#include "entry.h"

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    return 1;
}

static int fail_code(const char *what, int code)
{
    fprintf(stderr, "%s: failed with %d\n", what, code);
    return 1;
}

static void print_string(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\' || (unsigned char)*s < 0x20)
            printf("\\u%04x", (unsigned char)*s);
        else
            putchar(*s);
    }
    putchar('"');
}

static void print_device(const struct tp_entry *d, VkInstance instance, VkPhysicalDevice device)
{
    PFN_vkGetPhysicalDeviceProperties2 get =
        (PFN_vkGetPhysicalDeviceProperties2)d->get_proc(instance, "vkGetPhysicalDeviceProperties2");
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
    };
    VkPhysicalDeviceProperties2 p = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &driver,
    };
    get(device, &p);
    printf("{\"name\": ");
    print_string(p.properties.deviceName);
    printf(", \"driver_name\": ");
    print_string(driver.driverName);
    printf(", \"driver_info\": ");
    print_string(driver.driverInfo);
    printf(", \"api\": %u}", p.properties.apiVersion);
}

int main(int argc, char **argv)
{
    struct tp_entry d;
    char why[512];
    if (argc != 2)
        return fail("usage", "smoke-client DRIVER.so");
    if (tp_entry_open(argv[1], &d, why, sizeof why))
        return fail(argv[1], why);
    VkApplicationInfo app = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = VK_API_VERSION_1_1,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &app,
    };
    VkInstance instance;
    VkResult r = d.create_instance(&info, NULL, &instance);
    if (r != VK_SUCCESS)
        return fail_code("vkCreateInstance", r);
    PFN_vkEnumeratePhysicalDevices enumerate =
        (PFN_vkEnumeratePhysicalDevices)d.get_proc(instance, "vkEnumeratePhysicalDevices");
    VkPhysicalDevice devices[16];
    uint32_t count = 16;
    r = enumerate(instance, &count, devices);
    if (r != VK_SUCCESS && r != VK_INCOMPLETE)
        return fail_code("vkEnumeratePhysicalDevices", r);
    printf("{\"entry\": \"%s\", \"devices\": [", d.name);
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            printf(", ");
        print_device(&d, instance, devices[i]);
    }
    printf("]}\n");
    PFN_vkDestroyInstance destroy =
        (PFN_vkDestroyInstance)d.get_proc(instance, "vkDestroyInstance");
    destroy(instance, NULL);
    return 0;
}
