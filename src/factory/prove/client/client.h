/*
 * The client of `turnpike prove`: loads one driver by its path, and runs checks on the one device
 * that it enumerates. Depends on libc and the Vulkan headers only, for each C library that a driver
 * may be built for. Standard output, one JSON object a line:
 *   {"check": "ID", "ok": true, "skipped": false, "ms": 3, "detail": "…"}
 *   {"fact": "NAME", "value": …}
 *   {"done": true}
 * The last line is missing where the driver crashed or hung.
 *
 * A check is a function that just goes on: what it makes through the helpers here is noted in its
 * run, and a call that fails leaves the check (longjmp). Either way all that was noted is then
 * destroyed, newest first.
 */
#ifndef TP_FACTORY_PROVE_CLIENT_CLIENT_H
#define TP_FACTORY_PROVE_CLIENT_CLIENT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "entry.h"
#include "vk.h"

/* What a submit does beside retiring, which decides how much of its results can be looked at. */
enum tp_effects {
    TP_EFFECTS_NONE,   /* nothing is written: Mesa's no-op shim */
    TP_EFFECTS_EVENTS, /* events and queries are written: a simulated command processor */
    TP_EFFECTS_ALL,    /* memory and pixels too: a GPU, or a driver in software */
};

/* Found by its manifest: it must be there, or is used where it is. */
#define TP_LAYERS_FIND "find"
#define TP_LAYERS_AUTO "auto"

struct tp_client_options {
    const char *driver; /* path */
    const char *only;   /* ids and groups with commas between them, or NULL: all */
    bool list;
    const char *layers; /* a layer's library; TP_LAYERS_FIND, TP_LAYERS_AUTO; NULL: none */
    enum tp_effects effects;
    unsigned submits, empty_submits; /* how many in the checks of these names; 0: not run */
    unsigned threads;                /* of the check threads */
    unsigned draws;                  /* in one render pass of draw_many */
    unsigned slow_ms;    /* a submit is known to take at least this long; 0: not known */
    unsigned timeout_ms; /* for waits that must come to an end */
};

/* What the device offers, and the client's devices are made with. */
struct tp_caps {
    uint32_t api; /* the device's, at most 1.3 */
    bool driver_properties, timeline, dynamic_rendering, synchronization2, host_query_reset;
    bool buffer_int64_atomics, image_int64_atomics, calibrated_timestamps;
    bool memory_fd, memory_dma_buf, fence_fd, semaphore_fd;
    bool drm_properties, android_buffers, compression_control;
    VkPhysicalDeviceFeatures features;
    VkPhysicalDeviceLimits limits;
    VkPhysicalDeviceMemoryProperties memory;
};

#define TP_FAMILIES_MAX 8

struct tp_client {
    struct tp_client_options options;
    struct tp_entry entry; /* the driver's, or the layer's before it */
    struct tp_layers *layers; /* layers.c's, or NULL */
    struct tp_vk vk;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkExtensionProperties *extensions; /* the device's; owned */
    uint32_t extension_count;
    struct tp_caps caps;
    VkQueueFamilyProperties families[TP_FAMILIES_MAX];
    uint32_t family_count;
    VkDevice device;
    uint32_t family; /* with graphics and compute */
    VkQueue queue;   /* its first */
    bool lost;       /* a call has answered that the device is lost: it is only destroyed then */
    unsigned fds_before; /* open fds after a first instance has come and gone */
    unsigned fds_known;  /* left open by what the fact export_keeps_fd says */
    char fds_lost[200];  /* "CHECK 1, …": checks that left fds open */
    unsigned passed, failed, skipped;
};

/* --- a check's run (run.c) --- */

#define TP_DESTROYABLE(X)                                                                          \
    X(Buffer)                                                                                      \
    X(BufferView)                                                                                  \
    X(CommandPool)                                                                                 \
    X(DescriptorPool)                                                                              \
    X(DescriptorSetLayout)                                                                         \
    X(Event)                                                                                       \
    X(Fence)                                                                                       \
    X(Framebuffer)                                                                                 \
    X(Image)                                                                                       \
    X(ImageView)                                                                                   \
    X(Pipeline)                                                                                    \
    X(PipelineCache)                                                                               \
    X(PipelineLayout)                                                                              \
    X(QueryPool)                                                                                   \
    X(RenderPass)                                                                                  \
    X(Sampler)                                                                                     \
    X(Semaphore)                                                                                   \
    X(ShaderModule)

enum tp_kind {
#define TP_KIND(name) TP_KIND_##name,
    TP_DESTROYABLE(TP_KIND)
#undef TP_KIND
    TP_KIND_DeviceMemory,
    TP_KIND_Fd,
    TP_KIND_Heap, /* of malloc */
};

struct tp_item {
    enum tp_kind kind;
    uint64_t handle;
};

/* One function's run on one device and queue, by one thread. */
struct tp_run {
    struct tp_client *client;
    const struct tp_vk *vk; /* the client's */
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    jmp_buf out;
    struct tp_item *items;
    size_t item_count, item_room;
    VkSemaphore timeline; /* signalled on failure, so that no submit waits for it for ever */
    bool failed, skipped, lost;
    char detail[400];
};

struct tp_check {
    const char *id, *what;
    void (*run)(struct tp_run *r);
};

/* Runs FUNCTION and destroys what it made. The caller fills in client, vk, device, queue, family. */
void tp_run_execute(struct tp_run *r, void (*function)(struct tp_run *r));

/* Leaves the check as failed, with a reason. */
_Noreturn void tp_failed(struct tp_run *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Leaves the check: the driver does not offer what it is about. */
_Noreturn void tp_skipped(struct tp_run *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What a check that holds says of itself. */
void tp_note(struct tp_run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The result of the call NAME: an error leaves the check. */
VkResult tp_called(struct tp_run *r, const char *name, VkResult result);
/* The same, where just one result is right. */
void tp_called_for(struct tp_run *r, const char *name, VkResult result, VkResult wanted);

/* Notes HANDLE to be destroyed. */
void tp_own(struct tp_run *r, enum tp_kind kind, uint64_t handle);
/* Forgets what was noted last of HANDLE (it was moved elsewhere, or destroyed). */
void tp_disown(struct tp_run *r, enum tp_kind kind, uint64_t handle);
/* Destroys it now. */
void tp_destroy_now(struct tp_run *r, enum tp_kind kind, uint64_t handle);
/* Memory of calloc that the run owns. */
void *tp_heap(struct tp_run *r, size_t count, size_t size);

#define TP_HANDLE(handle) ((uint64_t)(uintptr_t)(handle))

#define TP_IS_THERE(r, name)                                                                       \
    ((r)->vk->name ? (void)0 : tp_failed((r), "vk%s is not there", #name))

/* TP_CALL(r, CreateFence, r->device, …): vkCreateFence, which must not fail. */
#define TP_CALL(r, name, ...)                                                                      \
    (TP_IS_THERE(r, name), tp_called((r), "vk" #name, (r)->vk->name(__VA_ARGS__)))
/* TP_CALL_FOR(r, VK_TIMEOUT, WaitForFences, …): the only right result. */
#define TP_CALL_FOR(r, wanted, name, ...)                                                          \
    (TP_IS_THERE(r, name), tp_called_for((r), "vk" #name, (r)->vk->name(__VA_ARGS__), (wanted)))
/* TP_MAKE(r, Fence, &info, &fence): vkCreateFence, noted. */
#define TP_MAKE(r, name, info, out)                                                                \
    (tp_called((r), "vkCreate" #name, (r)->vk->Create##name((r)->device, (info), NULL, (out))),    \
        tp_own((r), TP_KIND_##name, TP_HANDLE(*(out))))
#define TP_DESTROY(r, name, handle) tp_destroy_now((r), TP_KIND_##name, TP_HANDLE(handle))

/* Runs CHECK on the client's device, prints its line and counts it. Answers whether it holds. */
bool tp_check_run(struct tp_client *client, const struct tp_check *check);

/* Nanoseconds of CLOCK_MONOTONIC. */
int64_t tp_now_ns(void);

/* --- lines of JSON (output.c); each is written whole and at once --- */

void tp_print_check(const char *id, bool ok, bool skipped, int64_t ms, const char *detail);
void tp_print_string(const char *name, const char *value);
void tp_print_number(const char *name, uint64_t value);
void tp_print_bool(const char *name, bool value);
/* A fact whose value is put together in parts: begin, then members of an object or an array. */
struct tp_json {
    bool more, array;
};
struct tp_json tp_json_begin(const char *name, bool array);
/* NAME is NULL in an array. */
void tp_json_string(struct tp_json *j, const char *name, const char *value);
void tp_json_number(struct tp_json *j, const char *name, uint64_t value);
void tp_json_bool(struct tp_json *j, const char *name, bool value);
void tp_json_end(struct tp_json *j);
void tp_print_done(void);
/* S as JSON has it, in quotes. */
void tp_put_string(FILE *f, const char *s);

/* --- what checks make (make.c) --- */

struct tp_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize bytes;
    void *map; /* coherent; lasts as long as the memory */
};

/* A buffer in memory that the host sees, zeroed. */
struct tp_buffer tp_make_buffer(struct tp_run *r, VkDeviceSize bytes, VkBufferUsageFlags usage);

struct tp_image_want {
    VkFormat format;
    uint32_t width, height;
    VkImageUsageFlags usage;
    uint32_t mips, layers;         /* 0: 1 */
    VkSampleCountFlagBits samples; /* 0: 1 */
    VkImageTiling tiling;
    VkImageCreateFlags flags;
};

/* An image with memory of its own. */
VkImage tp_make_image(struct tp_run *r, const struct tp_image_want *want);
/* Whether the device can make it. */
bool tp_image_offered(struct tp_run *r, const struct tp_image_want *want);
/* All of a 2D image. */
VkImageView tp_make_view(struct tp_run *r, VkImage image, VkFormat format,
                         VkImageAspectFlags aspect);

/* A memory type among BITS with FLAGS, or UINT32_MAX. */
uint32_t tp_memory_type(struct tp_run *r, uint32_t bits, VkMemoryPropertyFlags flags);
VkDeviceMemory tp_make_memory(struct tp_run *r, const VkMemoryRequirements *needs,
                              VkMemoryPropertyFlags flags, const void *next);

VkCommandPool tp_make_pool(struct tp_run *r, VkCommandPoolCreateFlags flags);
VkCommandBuffer tp_make_commands(struct tp_run *r, VkCommandPool pool, VkCommandBufferLevel level);
/* A command buffer of its own pool, begun with USAGE. */
VkCommandBuffer tp_begin(struct tp_run *r, VkCommandBufferUsageFlags usage);
void tp_end(struct tp_run *r, VkCommandBuffer commands);
VkFence tp_make_fence(struct tp_run *r, VkFenceCreateFlags flags);
/* Submits COMMANDS (or nothing, when NULL) with FENCE. */
void tp_submit(struct tp_run *r, VkCommandBuffer commands, VkFence fence);
/* Waits for FENCE, which must come within the client's timeout. */
void tp_wait(struct tp_run *r, VkFence fence);
/* Ends, submits and waits. */
void tp_finish(struct tp_run *r, VkCommandBuffer commands);

void tp_barrier(struct tp_run *r, VkCommandBuffer commands, VkPipelineStageFlags from,
                VkAccessFlags wrote, VkPipelineStageFlags to, VkAccessFlags reads);
void tp_image_barrier(struct tp_run *r, VkCommandBuffer commands, VkImage image,
                      VkImageAspectFlags aspect, VkImageLayout from, VkImageLayout to);
/* What transfers and shaders wrote is there for the host. */
void tp_host_barrier(struct tp_run *r, VkCommandBuffer commands);
/* COUNT words at DATA are WANTED(i) each; compared only where the effects are all there. */
void tp_expect_words(struct tp_run *r, const char *what, const uint32_t *data, uint32_t count,
                     uint32_t (*wanted)(uint32_t i));

/* --- shaders and pipelines (shaders.c, pipelines.c) --- */

/* By the name of its source, "fill.comp". */
VkShaderModule tp_make_module(struct tp_run *r, const char *name);

#define TP_BINDINGS_MAX 6
#define TP_PUSH_BYTES 32u

/* A compute pipeline with one set of descriptors. */
struct tp_compute {
    VkPipeline pipeline;
    VkPipelineLayout layout;
    VkDescriptorSet set;
};

struct tp_binding {
    VkDescriptorType type;
    VkBuffer buffer; /* whole */
    VkImageView view;
    VkImageLayout view_layout;
    VkSampler sampler;
    VkBufferView texels;
};

/* Bindings 0 to COUNT - 1, for SHADER. */
struct tp_compute tp_make_compute(struct tp_run *r, const char *shader,
                                  const struct tp_binding *bindings, uint32_t count);
void tp_bind_compute(struct tp_run *r, VkCommandBuffer commands, const struct tp_compute *compute,
                     uint32_t push);

/* What is drawn to: colour, perhaps with depth and several samples that are resolved. */
struct tp_target {
    uint32_t width, height;
    VkSampleCountFlagBits samples;
    VkFormat depth_format; /* VK_FORMAT_UNDEFINED: none */
    VkImage color, depth, resolved;
    VkImageView color_view, depth_view, resolved_view;
    VkRenderPass pass; /* VK_NULL_HANDLE: by dynamic rendering */
    VkFramebuffer framebuffer;
};

#define TP_COLOR_FORMAT VK_FORMAT_R8G8B8A8_UNORM

struct tp_target tp_make_target(struct tp_run *r, uint32_t width, uint32_t height,
                                VkSampleCountFlagBits samples, bool depth, bool dynamic);
/* From the first commands to drawing, cleared to black; and to the end, readable by transfers. */
void tp_target_begin(struct tp_run *r, VkCommandBuffer commands, const struct tp_target *t,
                     bool secondary);
void tp_target_end(struct tp_run *r, VkCommandBuffer commands, const struct tp_target *t);

enum tp_stages {
    TP_STAGES_PLAIN,
    TP_STAGES_VERTICES, /* from a vertex buffer of three positions */
    TP_STAGES_TESSELLATION,
    TP_STAGES_GEOMETRY,
};

struct tp_graphics {
    VkPipeline pipeline;
    VkPipelineLayout layout;
};

struct tp_graphics tp_make_graphics(struct tp_run *r, const struct tp_target *t,
                                    enum tp_stages stages, VkPipelineCache cache);
void tp_bind_graphics(struct tp_run *r, VkCommandBuffer commands, const struct tp_target *t,
                      const struct tp_graphics *g);
/* What the next draws are like: a colour, each part 0 to 1, and a depth. */
void tp_push_color(struct tp_run *r, VkCommandBuffer commands, const struct tp_graphics *g,
                   const float color[4], float depth);

/* --- instance and device (instance.c, facts.c, device.c) --- */

int tp_instance_create(struct tp_client *client, VkInstance *out, char *why, size_t size);
/* Reads what the device offers into the client. Part of the check "enumerate". */
void tp_caps_read(struct tp_run *r);
void tp_facts_print(struct tp_client *client);
bool tp_has_extension(const struct tp_client *client, const char *name);
/* A device with all that the client uses and the driver offers, one queue of each family's
 * queues. */
VkResult tp_device_create(struct tp_client *client, VkDevice *out);
/* The first queue family whose flags hold all of FLAGS, or UINT32_MAX. */
uint32_t tp_family_find(const struct tp_client *client, VkQueueFlags flags);
/* How many fds this process has open. */
unsigned tp_open_fds(void);

/* --- the validation layer (layers.c, layer_chain.c, layer_find.c) --- */

/* Puts the layer that the options name on top of the driver: the client's entry is then the layer's.
 * 0, or -1 with the reason. */
int tp_layers_open(struct tp_client *client, char *why, size_t size);
/* What an instance with the layer is created with: an extension, and a structure for what comes
 * while it is made and destroyed (NULL without the layer). */
#define TP_LAYERS_EXTENSION "VK_EXT_debug_utils"
const void *tp_layers_instance(const struct tp_client *client);
/* NULL, or what the driver lacks: the layer itself has every function. */
const char *tp_layers_missing(const struct tp_client *client);
/* From now on messages are failed checks; CHECK: what they come from. */
int tp_layers_watch(struct tp_client *client, char *why, size_t size);
void tp_layers_now(struct tp_client *client, const char *check);
/* Messages so far. */
unsigned tp_layers_messages(const struct tp_client *client);
/* The driver's own functions, for what is not valid use on purpose. */
const struct tp_vk *tp_layers_below(const struct tp_client *client);
/* Before the instance goes, and after it. */
void tp_layers_unwatch(struct tp_client *client);
void tp_layers_close(struct tp_client *client);

/* --- the checks by theme, each list ends with an empty one --- */

extern const struct tp_check tp_check_instance, tp_check_enumerate, tp_check_device;
extern const struct tp_check tp_layer_checks[];
extern const struct tp_check tp_device_checks[];
extern const struct tp_check tp_memory_checks[];
extern const struct tp_check tp_resource_checks[];
extern const struct tp_check tp_pipeline_checks[];
extern const struct tp_check tp_submit_checks[];
extern const struct tp_check tp_draw_checks[];
extern const struct tp_check tp_sync_checks[];
extern const struct tp_check tp_query_checks[];
extern const struct tp_check tp_external_checks[];
extern const struct tp_check tp_load_checks[];
extern const struct tp_check tp_android_checks[];

#endif
