/*
 * Memory that is shared although the driver cannot share it (dmabuf.h), as a compositor uses it:
 * over lavapipe, with TURNPIKE_RENDER_NODE=1. Without that there is none of it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>
#include <vulkan/vulkan.h>

#define DMA_BUF VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
#define FORMAT  VK_FORMAT_B8G8R8A8_UNORM
#define RED     0xffff0000u
#define GREEN   0xff00ff00u

enum { WIDTH = 64, HEIGHT = 48, PIXEL = 4 };

static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static VkCommandPool pool;
static PFN_vkGetMemoryFdKHR get_fd;
static PFN_vkGetImageDrmFormatModifierPropertiesEXT get_modifier;

static const char *const extensions[] = {VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME,
    VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
    VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME};

static void make_instance(const char *name)
{
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = name,
        .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    uint32_t n = 1;

    assert_int_equal(vkCreateInstance(&info, NULL, &instance), VK_SUCCESS);
    assert_int_equal(vkEnumeratePhysicalDevices(instance, &n, &physical), VK_SUCCESS);
}

static void make_device(void)
{
    float priority = 1;
    VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queues,
        .enabledExtensionCount = sizeof extensions / sizeof *extensions,
        .ppEnabledExtensionNames = extensions};
    VkCommandPoolCreateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};

    assert_int_equal(vkCreateDevice(physical, &info, NULL, &device), VK_SUCCESS);
    vkGetDeviceQueue(device, 0, 0, &queue);
    assert_int_equal(vkCreateCommandPool(device, &commands, NULL, &pool), VK_SUCCESS);
    get_fd = (PFN_vkGetMemoryFdKHR)vkGetDeviceProcAddr(device, "vkGetMemoryFdKHR");
    get_modifier = (PFN_vkGetImageDrmFormatModifierPropertiesEXT)vkGetDeviceProcAddr(
        device, "vkGetImageDrmFormatModifierPropertiesEXT");
    assert_non_null(get_fd);
    assert_non_null(get_modifier);
}

static int setup(void **state)
{
    make_instance(*state ? *state : "test");
    make_device();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    vkDestroyCommandPool(device, pool, NULL);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return 0;
}

/* --- an image and its memory --- */

struct image {
    VkImage image;
    VkDeviceMemory memory;
    VkMemoryRequirements needs;
    VkSubresourceLayout layout;
};

static VkResult try_image(const void *chain, VkImage *out)
{
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .pNext = chain,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = FORMAT,
        .extent = {WIDTH, HEIGHT, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
            VK_IMAGE_USAGE_SAMPLED_BIT};

    return vkCreateImage(device, &info, NULL, out);
}

static VkResult try_list(uint64_t modifier, VkImage *out)
{
    VkImageDrmFormatModifierListCreateInfoEXT list = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_LIST_CREATE_INFO_EXT,
        .drmFormatModifierCount = 1,
        .pDrmFormatModifiers = &modifier};

    return try_image(&list, out);
}

static VkResult try_explicit(uint64_t modifier, VkDeviceSize pitch, VkImage *out)
{
    VkSubresourceLayout plane = {.rowPitch = pitch};
    VkImageDrmFormatModifierExplicitCreateInfoEXT layout = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT,
        .drmFormatModifier = modifier,
        .drmFormatModifierPlaneCount = 1,
        .pPlaneLayouts = &plane};
    VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .pNext = &layout,
        .handleTypes = DMA_BUF};

    return try_image(&external, out);
}

static void ask_image(struct image *i)
{
    VkImageSubresource part = {.aspectMask = VK_IMAGE_ASPECT_MEMORY_PLANE_0_BIT_EXT};

    vkGetImageMemoryRequirements(device, i->image, &i->needs);
    vkGetImageSubresourceLayout(device, i->image, &part, &i->layout);
}

static VkResult try_memory(const void *chain, VkDeviceSize bytes, VkDeviceMemory *out)
{
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = chain,
        .allocationSize = bytes};

    return vkAllocateMemory(device, &info, NULL, out);
}

static struct image make_exported(int *fd)
{
    struct image i = {0};
    VkExportMemoryAllocateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, .handleTypes = DMA_BUF};
    VkMemoryGetFdInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, .handleType = DMA_BUF};

    assert_int_equal(try_list(0, &i.image), VK_SUCCESS);
    ask_image(&i);
    assert_int_equal(try_memory(&export, i.needs.size, &i.memory), VK_SUCCESS);
    assert_int_equal(vkBindImageMemory(device, i.image, i.memory, 0), VK_SUCCESS);
    info.memory = i.memory;
    assert_int_equal(get_fd(device, &info, fd), VK_SUCCESS);
    return i;
}

static VkResult try_import(int fd, VkDeviceSize bytes, VkDeviceMemory *out)
{
    VkImportMemoryFdInfoKHR import = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
        .handleType = DMA_BUF,
        .fd = fd};

    return try_memory(&import, bytes, out);
}

/* fd: moved. */
static struct image make_imported(int fd, VkDeviceSize pitch)
{
    struct image i = {0};

    assert_int_equal(try_explicit(0, pitch, &i.image), VK_SUCCESS);
    ask_image(&i);
    assert_int_equal(try_import(fd, i.needs.size, &i.memory), VK_SUCCESS);
    assert_int_equal(vkBindImageMemory(device, i.image, i.memory, 0), VK_SUCCESS);
    return i;
}

static void drop(struct image *i)
{
    vkDestroyImage(device, i->image, NULL);
    vkFreeMemory(device, i->memory, NULL);
}

/* --- commands --- */

static VkCommandBuffer begin(void)
{
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = 1};
    VkCommandBufferBeginInfo start = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer c;

    assert_int_equal(vkAllocateCommandBuffers(device, &info, &c), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(c, &start), VK_SUCCESS);
    return c;
}

static void end(VkCommandBuffer c)
{
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &c};

    assert_int_equal(vkEndCommandBuffer(c), VK_SUCCESS);
    assert_int_equal(vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(vkQueueWaitIdle(queue), VK_SUCCESS);
    vkFreeCommandBuffers(device, pool, 1, &c);
}

static void come(VkCommandBuffer c, VkImage image, VkImageLayout from)
{
    VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .oldLayout = from,
        .newLayout = VK_IMAGE_LAYOUT_GENERAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_FOREIGN_EXT,
        .dstQueueFamilyIndex = 0,
        .image = image,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};

    vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0,
        NULL, 0, NULL, 1, &barrier);
}

static void clear(VkImage image, float red, float green)
{
    VkClearColorValue colour = {.float32 = {red, green, 0, 1}};
    VkImageSubresourceRange all = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkCommandBuffer c = begin();

    come(c, image, VK_IMAGE_LAYOUT_UNDEFINED);
    vkCmdClearColorImage(c, image, VK_IMAGE_LAYOUT_GENERAL, &colour, 1, &all);
    end(c);
}

/* A buffer that the host sees, of so many pixels. */
struct buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t *pixels;
};

static struct buffer make_buffer(size_t n)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = n * PIXEL,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkMemoryRequirements needs;
    struct buffer b;
    void *at;

    assert_int_equal(vkCreateBuffer(device, &info, NULL, &b.buffer), VK_SUCCESS);
    vkGetBufferMemoryRequirements(device, b.buffer, &needs);
    assert_int_equal(try_memory(NULL, needs.size, &b.memory), VK_SUCCESS);
    assert_int_equal(vkBindBufferMemory(device, b.buffer, b.memory, 0), VK_SUCCESS);
    assert_int_equal(vkMapMemory(device, b.memory, 0, VK_WHOLE_SIZE, 0, &at), VK_SUCCESS);
    b.pixels = at;
    return b;
}

static void drop_buffer(struct buffer *b)
{
    vkDestroyBuffer(device, b->buffer, NULL);
    vkFreeMemory(device, b->memory, NULL);
}

static VkBufferImageCopy whole(uint32_t row)
{
    return (VkBufferImageCopy){.bufferRowLength = row,
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {WIDTH, HEIGHT, 1}};
}

static struct buffer read_image(VkImage image)
{
    struct buffer b = make_buffer((size_t)WIDTH * HEIGHT);
    VkBufferImageCopy region = whole(0);
    VkCommandBuffer c = begin();

    come(c, image, VK_IMAGE_LAYOUT_GENERAL);
    vkCmdCopyImageToBuffer(c, image, VK_IMAGE_LAYOUT_GENERAL, b.buffer, 1, &region);
    end(c);
    return b;
}

/* --- what there is --- */

static unsigned count_extension(const char *name)
{
    uint32_t n = 0;
    unsigned found = 0;

    assert_int_equal(vkEnumerateDeviceExtensionProperties(physical, NULL, &n, NULL), VK_SUCCESS);
    VkExtensionProperties *all = calloc(n, sizeof *all);
    assert_int_equal(vkEnumerateDeviceExtensionProperties(physical, NULL, &n, all), VK_SUCCESS);
    for (uint32_t i = 0; i < n; i++)
        found += !strcmp(all[i].extensionName, name);
    free(all);
    return found;
}

static void each_extension_is_there_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
        assert_int_equal(count_extension(extensions[i]), 1);
    assert_int_equal(count_extension(VK_EXT_PHYSICAL_DEVICE_DRM_EXTENSION_NAME), 1);
}

static VkPhysicalDeviceDrmPropertiesEXT ask_drm(void)
{
    VkPhysicalDeviceDrmPropertiesEXT drm = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRM_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 all = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &drm};

    vkGetPhysicalDeviceProperties2(physical, &all);
    return drm;
}

static void the_device_is_the_servers_with_both_nodes(void **state)
{
    VkPhysicalDeviceDrmPropertiesEXT drm = ask_drm();

    (void)state;
    assert_true(drm.hasPrimary && drm.hasRender);
    assert_int_equal(makedev(drm.primaryMajor, drm.primaryMinor), makedev(226, 0));
    assert_int_equal(makedev(drm.renderMajor, drm.renderMinor), makedev(226, 128));
}

static void without_a_render_node_there_is_none_of_it(void **state)
{
    VkFormatProperties2 format = {.sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2};

    (void)state;
    make_instance("test");
    assert_int_equal(count_extension(VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME), 0);
    assert_false(ask_drm().hasRender);
    assert_true(ask_drm().hasPrimary);
    vkGetPhysicalDeviceFormatProperties2(physical, FORMAT, &format);
    assert_true(format.formatProperties.linearTilingFeatures);
    vkDestroyInstance(instance, NULL);
}

static uint32_t ask_modifiers(VkFormat format, uint32_t room,
    VkDrmFormatModifierPropertiesEXT *out, VkFormatFeatureFlags *linear)
{
    VkDrmFormatModifierPropertiesListEXT list = {
        .sType = VK_STRUCTURE_TYPE_DRM_FORMAT_MODIFIER_PROPERTIES_LIST_EXT,
        .drmFormatModifierCount = room,
        .pDrmFormatModifierProperties = out};
    VkFormatProperties2 all = {.sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2, .pNext = &list};

    vkGetPhysicalDeviceFormatProperties2(physical, format, &all);
    assert_ptr_equal(all.pNext, &list);
    *linear = all.formatProperties.linearTilingFeatures;
    return list.drmFormatModifierCount;
}

static void formats_are_linear_and_of_one_plane(void **state)
{
    VkDrmFormatModifierPropertiesEXT one = {.drmFormatModifier = 7};
    VkFormatFeatureFlags linear;

    (void)state;
    assert_int_equal(ask_modifiers(FORMAT, 0, NULL, &linear), 1);
    assert_int_equal(ask_modifiers(FORMAT, 0, &one, &linear), 0);
    assert_int_equal(one.drmFormatModifier, 7);
    assert_int_equal(ask_modifiers(FORMAT, 1, &one, &linear), 1);
    assert_int_equal(one.drmFormatModifier, 0);
    assert_int_equal(one.drmFormatModifierPlaneCount, 1);
    assert_int_equal(one.drmFormatModifierTilingFeatures, linear);
    assert_int_equal(ask_modifiers(VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, 0, NULL, &linear), 0);
}

static VkResult ask_image_format(VkImageTiling tiling, uint64_t modifier,
    VkExternalMemoryHandleTypeFlagBits type, VkExternalImageFormatProperties *can)
{
    VkPhysicalDeviceImageDrmFormatModifierInfoEXT drm = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_DRM_FORMAT_MODIFIER_INFO_EXT,
        .drmFormatModifier = modifier};
    VkPhysicalDeviceExternalImageFormatInfo external = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO,
        .pNext = tiling == VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT ? &drm : NULL,
        .handleType = type};
    VkPhysicalDeviceImageFormatInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
        .pNext = &external,
        .format = FORMAT,
        .type = VK_IMAGE_TYPE_2D,
        .tiling = tiling,
        .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_SAMPLED_BIT};
    VkImageFormatProperties2 out = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};

    *can = (VkExternalImageFormatProperties){
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
    out.pNext = can;
    return vkGetPhysicalDeviceImageFormatProperties2(physical, &info, &out);
}

static void only_linear_images_are_shared(void **state)
{
    const VkImageTiling with_modifier = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT;
    VkExternalImageFormatProperties can;

    (void)state;
    assert_int_equal(ask_image_format(with_modifier, 0, DMA_BUF, &can), VK_SUCCESS);
    assert_int_equal(can.externalMemoryProperties.externalMemoryFeatures &
            (VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT),
        VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT);
    assert_int_equal(
        ask_image_format(VK_IMAGE_TILING_LINEAR, 0, DMA_BUF, &can), VK_SUCCESS);
    assert_int_equal(ask_image_format(with_modifier, 1, DMA_BUF, &can),
        VK_ERROR_FORMAT_NOT_SUPPORTED);
    assert_int_equal(ask_image_format(VK_IMAGE_TILING_OPTIMAL, 0, DMA_BUF, &can),
        VK_ERROR_FORMAT_NOT_SUPPORTED);
    assert_int_equal(ask_image_format(with_modifier, 0,
                         VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, &can),
        VK_ERROR_FORMAT_NOT_SUPPORTED);
}

/* --- pictures --- */

static void what_is_drawn_is_in_the_file_and_in_who_imports_it(void **state)
{
    VkImageDrmFormatModifierPropertiesEXT drm = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_PROPERTIES_EXT,
        .drmFormatModifier = 7};
    int fd = -1;

    (void)state;
    struct image out = make_exported(&fd);
    assert_int_equal(get_modifier(device, out.image, &drm), VK_SUCCESS);
    assert_int_equal(drm.drmFormatModifier, 0);
    assert_int_equal(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK, F_SEAL_SHRINK);
    clear(out.image, 1, 0);
    size_t bytes = out.layout.rowPitch * HEIGHT;
    const uint8_t *pages = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    for (unsigned y = 0; y < HEIGHT; y += HEIGHT - 1)
        assert_int_equal(*(const uint32_t *)(pages + y * out.layout.rowPitch), RED);
    struct image in = make_imported(fd, out.layout.rowPitch);
    clear(out.image, 0, 1);
    struct buffer seen = read_image(in.image);
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++)
        assert_int_equal(seen.pixels[i], GREEN);
    drop_buffer(&seen);
    drop(&out);
    clear(in.image, 1, 0); /* it outlives its maker */
    assert_int_equal(*(const uint32_t *)pages, RED);
    drop(&in);
    munmap((void *)(uintptr_t)pages, bytes);
}

static void other_layouts_are_refused(void **state)
{
    VkImage image = VK_NULL_HANDLE;
    struct image right = {0};

    (void)state;
    assert_int_not_equal(try_list(1, &image), VK_SUCCESS);
    assert_int_equal(try_list(0, &right.image), VK_SUCCESS);
    ask_image(&right);
    assert_int_equal(try_explicit(0, right.layout.rowPitch + 256, &image),
        VK_ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT);
    assert_int_equal(try_explicit(1, right.layout.rowPitch, &image),
        VK_ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT);
    drop(&right);
}

/* Its maker has given it just the rows that there are, and the driver wants whole blocks of them. */
static void a_file_that_ends_with_the_picture_is_long_enough(void **state)
{
    int fd = memfd_create("short", MFD_CLOEXEC | MFD_ALLOW_SEALING), kept = dup(fd);
    struct stat st;

    (void)state;
    assert_int_equal(ftruncate(fd, 4096), 0);
    struct image in = make_imported(fd, (VkDeviceSize)WIDTH * PIXEL);
    assert_true(in.needs.size > 4096);
    clear(in.image, 1, 0);
    struct buffer seen = read_image(in.image);
    assert_int_equal(seen.pixels[WIDTH * HEIGHT - 1], RED);
    assert_int_equal(fstat(kept, &st), 0);
    assert_int_equal(st.st_size, 4096);
    assert_int_equal(ftruncate(kept, 0), -1); /* and it stays so long */
    drop_buffer(&seen);
    drop(&in);
    close(kept);
}

static void what_could_shrink_or_is_no_memory_is_refused(void **state)
{
    VkDeviceMemory memory;
    int ends[2];
    int fds[] = {memfd_create("unsealable", MFD_CLOEXEC),
        memfd_create("empty", MFD_CLOEXEC | MFD_ALLOW_SEALING), open("/dev/zero", O_RDWR), -1};

    (void)state;
    assert_int_equal(ftruncate(fds[0], 1 << 16), 0);
    assert_int_equal(pipe(ends), 0);
    fds[3] = ends[0];
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        assert_int_equal(try_import(fds[i], 1 << 16, &memory), VK_ERROR_INVALID_EXTERNAL_HANDLE);
        assert_true(fcntl(fds[i], F_GETFD) >= 0); /* still the caller's */
        close(fds[i]);
    }
    close(ends[1]);
}

static void all_memory_gives_something_to_poll(void **state)
{
    VkMemoryGetFdInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, .handleType = DMA_BUF};
    struct pollfd p = {.fd = -1, .events = POLLOUT};

    (void)state;
    assert_int_equal(try_memory(NULL, 4096, &info.memory), VK_SUCCESS);
    assert_int_equal(get_fd(device, &info, &p.fd), VK_SUCCESS);
    assert_int_equal(poll(&p, 1, 0), 1);
    assert_int_equal(p.revents, POLLOUT);
    close(p.fd);
    vkFreeMemory(device, info.memory, NULL);
}

static unsigned count_fds(void)
{
    unsigned n = 0;

    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void nothing_stays_behind(void **state)
{
    unsigned before = count_fds();

    (void)state;
    for (int i = 0; i < 8; i++) {
        int fd = -1;
        struct image out = make_exported(&fd);
        struct image in = make_imported(fd, out.layout.rowPitch);
        drop(&out);
        drop(&in);
    }
    assert_int_equal(count_fds(), before);
}

/* Rows of the buffer are four times as long as the picture is wide, or said to be. */
static uint32_t second_row_after_upload(void)
{
    struct buffer from = make_buffer((size_t)WIDTH * HEIGHT * PIXEL);
    VkBufferImageCopy region = whole(WIDTH * PIXEL);
    int fd = -1;
    struct image to = make_exported(&fd);

    for (unsigned i = 0; i < WIDTH * HEIGHT * PIXEL; i++)
        from.pixels[i] = i;
    VkCommandBuffer c = begin();
    come(c, to.image, VK_IMAGE_LAYOUT_UNDEFINED);
    vkCmdCopyBufferToImage(c, from.buffer, to.image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
    end(c);
    struct buffer seen = read_image(to.image);
    uint32_t got = seen.pixels[WIDTH];
    drop_buffer(&seen);
    drop_buffer(&from);
    drop(&to);
    close(fd);
    return got;
}

static void row_lengths_are_in_pixels(void **state)
{
    (void)state;
    assert_int_equal(second_row_after_upload(), WIDTH * PIXEL);
}

static void gamescopes_row_lengths_are_in_bytes(void **state)
{
    (void)state;
    assert_int_equal(second_row_after_upload(), WIDTH);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
/* So that a leak checker can still say at the end which leaks are the driver's own. */
__attribute__((constructor)) static void keep_driver(void)
{
    const char *driver = getenv("TURNPIKE_DRIVER");

    if (driver)
        dlopen(driver, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

int main(void)
{
    const struct CMUnitTest off[] = {cmocka_unit_test(without_a_render_node_there_is_none_of_it)};
    const struct CMUnitTest on[] = {
        TEST(each_extension_is_there_once),
        TEST(the_device_is_the_servers_with_both_nodes),
        TEST(formats_are_linear_and_of_one_plane),
        TEST(only_linear_images_are_shared),
        TEST(what_is_drawn_is_in_the_file_and_in_who_imports_it),
        TEST(other_layouts_are_refused),
        TEST(a_file_that_ends_with_the_picture_is_long_enough),
        TEST(what_could_shrink_or_is_no_memory_is_refused),
        TEST(all_memory_gives_something_to_poll),
        TEST(nothing_stays_behind),
        TEST(row_lengths_are_in_pixels),
        cmocka_unit_test_prestate_setup_teardown(
            gamescopes_row_lengths_are_in_bytes, setup, teardown, "gamescope"),
    };

    return getenv("TURNPIKE_RENDER_NODE") ? cmocka_run_group_tests(on, NULL, NULL)
                                          : cmocka_run_group_tests(off, NULL, NULL);
}
