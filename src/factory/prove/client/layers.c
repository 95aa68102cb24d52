/*
 * Messages of the validation layer: each is a failed check.
 */
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "layer_chain.h"

struct tp_layers {
    VkDebugUtilsMessengerCreateInfoEXT messages;
    VkDebugUtilsMessengerEXT messenger;
    const char *check; /* that is being run */
    unsigned count;    /* by __atomic */
    bool expected;     /* messages are none of the checks' faults, and are kept: */
    char kept[400];
};

/* One a process, as the chain. */
static struct tp_layers layers;

static void object(const char *what)
{
    char text[1200];
    if (layers.expected) {
        snprintf(layers.kept, sizeof layers.kept, "%.300s", what);
        return;
    }
    snprintf(text, sizeof text, "%s: %.1000s", layers.check, what);
    tp_print_check("validation", false, false, 0, text);
    __atomic_add_fetch(&layers.count, 1, __ATOMIC_RELAXED);
}

static VkBool32 VKAPI_CALL take_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                        VkDebugUtilsMessageTypeFlagsEXT types,
                                        const VkDebugUtilsMessengerCallbackDataEXT *data,
                                        void *user)
{
    (void)severity;
    (void)types;
    (void)user;
    object(data->pMessage);
    return VK_FALSE;
}

static int chain_layer(struct tp_client *client, char *why, size_t size)
{
    const char *wanted = client->options.layers;
    char found[1024];
    if (!strchr(wanted, '/')) {
        if (tp_layer_find(found, sizeof found, why, size))
            return -1;
        wanted = found;
    }
    if (tp_layer_chain(&client->entry, wanted, object, why, size))
        return -1;
    tp_print_string("validation_layer", wanted);
    return 0;
}

int tp_layers_open(struct tp_client *client, char *why, size_t size)
{
    const char *wanted = client->options.layers;
    if (!wanted)
        return 0;
    if (chain_layer(client, why, size)) {
        if (strcmp(wanted, TP_LAYERS_AUTO))
            return -1;
        tp_print_string("no_validation_layer", why);
        return 0;
    }
    client->layers = &layers;
    layers = (struct tp_layers){
        .check = "instance",
        .messages = {
            .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
            .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                               VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
            .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
            .pfnUserCallback = take_message,
        },
    };
    return 0;
}

const void *tp_layers_instance(const struct tp_client *client)
{
    return client->layers ? &client->layers->messages : NULL;
}

const char *tp_layers_missing(const struct tp_client *client)
{
    return client->layers ? tp_layer_missing() : NULL;
}

int tp_layers_watch(struct tp_client *client, char *why, size_t size)
{
    if (!client->layers)
        return 0;
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)client->entry.get_proc(
            client->instance, "vkCreateDebugUtilsMessengerEXT");
    VkResult result = create ? create(client->instance, &client->layers->messages, NULL,
                                      &client->layers->messenger)
                             : VK_ERROR_EXTENSION_NOT_PRESENT;
    if (result == VK_SUCCESS)
        return 0;
    snprintf(why, size, "the layer's vkCreateDebugUtilsMessengerEXT: %s", tp_vk_result(result));
    return -1;
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

const struct tp_vk *tp_layers_below(const struct tp_client *client)
{
    return client->layers ? tp_layer_below() : &client->vk;
}

void tp_layers_unwatch(struct tp_client *client)
{
    if (!client->layers || !client->layers->messenger)
        return;
    PFN_vkDestroyDebugUtilsMessengerEXT destroy =
        (PFN_vkDestroyDebugUtilsMessengerEXT)client->entry.get_proc(
            client->instance, "vkDestroyDebugUtilsMessengerEXT");
    destroy(client->instance, client->layers->messenger, NULL);
    client->layers->messenger = VK_NULL_HANDLE;
}

void tp_layers_close(struct tp_client *client)
{
    if (client->layers)
        tp_layer_unchain();
    client->layers = NULL;
}

/* Without fences to reset there is nothing that a driver could do. */
static void check_layer_objects(struct tp_run *r)
{
    struct tp_layers *own = r->client->layers;
    if (!own)
        tp_skipped(r, "not asked for, or not there (--layers)");
    own->expected = true;
    r->vk->ResetFences(r->device, 0, NULL);
    own->expected = false;
    if (!strstr(own->kept, "vkResetFences-fenceCount"))
        tp_failed(r, "the validation layer lets vkResetFences of no fences pass: %s",
                  *own->kept ? own->kept : "no message");
}

const struct tp_check tp_layer_checks[] = {
    {"layer_objects", "the validation layer objects to what is wrong", check_layer_objects},
    {0},
};
