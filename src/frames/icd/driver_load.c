#include "frames/icd/driver_load.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frames/icd/archive.h"
#include "frames/icd/driver_elf.h"
#include "frames/icd/manifest.h"

/* The newest interface between loader and driver that we speak (vk_icd.h). */
#define NEWEST_INTERFACE 7u

enum { MAX_MANIFEST = 64 << 10 };

/* Android's drivers (hardware/hwvulkan.h, hardware/hardware.h). */
struct hmi_module;
struct hmi_device {
    uint32_t tag, version;
    struct hmi_module *module;
    uintptr_t reserved[12];
    int (*close)(struct hmi_device *d);
    PFN_vkEnumerateInstanceExtensionProperties enumerate_extensions;
    PFN_vkCreateInstance create_instance;
    PFN_vkGetInstanceProcAddr get;
};
struct hmi_module {
    uint32_t tag;
    uint16_t module_version, hal_version;
    const char *id, *name, *author;
    struct {
        int (*open)(const struct hmi_module *m, const char *id, struct hmi_device **out);
    } * methods;
};
#define HMI_MODULE_TAG 0x48574d54u /* "HWMT" */

static bool is_ours(void *library)
{
    Dl_info ours, theirs;
    void *entry = dlsym(library, "vk_icdGetInstanceProcAddr");

    return entry && dladdr((void *)(uintptr_t)tp_icd_driver_load, &ours) &&
        dladdr(entry, &theirs) && ours.dli_fbase == theirs.dli_fbase;
}

static int find_hmi(struct tp_icd_driver *d)
{
    struct hmi_module *m = dlsym(d->library, "HMI");
    struct hmi_device *device = NULL;

    if (!m || m->tag != HMI_MODULE_TAG || !m->methods || !m->methods->open ||
        m->methods->open(m, "vk0", &device) || !device)
        return -ENOEXEC;
    d->hmi = device;
    d->get = device->get;
    d->create_instance = device->create_instance;
    d->enumerate_extensions = device->enumerate_extensions;
    d->enumerate_version =
        (PFN_vkEnumerateInstanceVersion)d->get(NULL, "vkEnumerateInstanceVersion");
    return 0;
}

static int find_functions(struct tp_icd_driver *d)
{
    PFN_vkNegotiateLoaderICDInterfaceVersion negotiate;
    uint32_t version = NEWEST_INTERFACE;

    *(void **)&negotiate = dlsym(d->library, "vk_icdNegotiateLoaderICDInterfaceVersion");
    *(void **)&d->get = dlsym(d->library, "vk_icdGetInstanceProcAddr");
    *(void **)&d->get_physical = dlsym(d->library, "vk_icdGetPhysicalDeviceProcAddr");
    if (!d->get)
        return find_hmi(d);
    if (negotiate && negotiate(&version) != VK_SUCCESS)
        return -ENOEXEC;
    d->create_instance = (PFN_vkCreateInstance)d->get(NULL, "vkCreateInstance");
    d->enumerate_extensions = (PFN_vkEnumerateInstanceExtensionProperties)d->get(
        NULL, "vkEnumerateInstanceExtensionProperties");
    d->enumerate_version =
        (PFN_vkEnumerateInstanceVersion)d->get(NULL, "vkEnumerateInstanceVersion");
    return d->create_instance && d->enumerate_extensions ? 0 : -ENOEXEC;
}

/* Why dlopen did not take it; fd: the file, or -1. */
static int explain(int fd, const char *path, const char *shown, struct tp_error *e)
{
    const char *why = dlerror();
    size_t n = strlen(path);

    why = why ? why : "no reason is given";
    /* Nobody knows it by the name of a descriptor. */
    if (!strncmp(why, path, n) && !strncmp(why + n, ": ", 2))
        why += n + 2;
    if (fd >= 0 && tp_icd_elf_is_android(fd))
        return tp_fail(e, TP_STATUS_INPUT, -ENOTSUP, shown,
            "take the one for Linux (glibc), as `turnpike build --target linux-arm64` or `--target "
            "host` makes it",
            "the driver is Android's, whose C library (bionic) or system libraries are not here: "
            "%s",
            why);
    return tp_fail(e, TP_STATUS_INPUT, -ENOEXEC, shown,
        "take a driver that was built for this system, and install the libraries that it needs",
        "the driver cannot be loaded: %s", why);
}

/* path: without a slash it is looked for where the linker looks. */
static int open_library(
    const char *path, const char *shown, struct tp_icd_driver *d, struct tp_error *e)
{
    int fd = strchr(path, '/') ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    int r = fd >= 0 ? tp_icd_elf_check(fd, shown, e) : 0;

    if (!r)
        d->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!r && !d->library)
        r = explain(fd, path, shown, e);
    if (fd >= 0)
        close(fd);
    if (r)
        return r;
    if (is_ours(d->library)) {
        tp_icd_driver_unload(d);
        return tp_fail(e, TP_STATUS_INPUT, -ELOOP, shown,
            "name the driver that is to do the rendering", "this is turnpike's own library");
    }
    if (find_functions(d)) {
        tp_icd_driver_unload(d);
        return tp_fail(e, TP_STATUS_INPUT, -ENOEXEC, shown, "name a Vulkan driver",
            "the library is no Vulkan driver, or of an age that is not understood");
    }
    return 0;
}

/* The library beside our own. */
static void *open_beside(const char *name)
{
    char path[PATH_MAX];
    Dl_info ours;

    if (!dladdr((void *)(uintptr_t)tp_icd_driver_load, &ours) || !ours.dli_fname)
        return NULL;
    const char *slash = strrchr(ours.dli_fname, '/');
    int folder = slash ? (int)(slash - ours.dli_fname) + 1 : 0;
    int n = snprintf(path, sizeof path, "%.*s%s", folder, ours.dli_fname, name);
    return n > 0 && (size_t)n < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static int extract(const char *path, int fd, struct tp_error *e)
{
    tp_archive_extract_function *function;
    void *library = open_beside(TP_ARCHIVE_LIBRARY);

    if (!library)
        return tp_fail(e, TP_STATUS_MISSING, -ENOEXEC, path,
            "install libzip, jansson and libsodium, or unpack the archive and name the .so in it",
            "archives cannot be read: %s", dlerror());
    *(void **)&function = dlsym(library, TP_ARCHIVE_EXTRACT);
    int r = function ? function(path, fd, e) : -ENOEXEC;
    dlclose(library);
    return r;
}

/* A file that has no name any more, or never had one, in a folder from which code may be mapped. */
static int private_file(int attempt, char *name, size_t room)
{
    static const char *const places[] = {
        "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "TMPDIR", "HOME", NULL};
    const char *place = attempt == 0 ? NULL
        : places[attempt - 1]        ? getenv(places[attempt - 1])
                                     : "/tmp";
    int fd;

    if (attempt == 0) {
        fd = memfd_create("turnpike-driver", MFD_CLOEXEC);
        snprintf(name, room, "/proc/self/fd/%d", fd);
        return fd;
    }
    if (!place || (size_t)snprintf(name, room, "%s/.turnpike-driver-XXXXXX", place) >= room)
        return -1;
    return mkostemp(name, O_CLOEXEC);
}

static int load_archive(const char *path, struct tp_icd_driver *d, struct tp_error *e)
{
    char name[PATH_MAX];
    int r = -ENOEXEC;

    for (int attempt = 0; attempt < 6 && r == -ENOEXEC; attempt++) {
        struct tp_error why = {0};
        int fd = private_file(attempt, name, sizeof name);
        if (fd < 0)
            continue;
        r = extract(path, fd, &why);
        bool extracted = !r;
        if (!r)
            r = open_library(name, path, d, &why);
        if (attempt > 0)
            unlink(name);
        close(fd);
        if (r && (!e->err || !extracted))
            *e = why;
        if (!extracted)
            return r;
    }
    if (!r)
        *e = (struct tp_error){0};
    return r;
}

/* A library's path in a manifest: relative to the manifest where it has a slash. */
static int library_path(const char *manifest, const char *library, char *out, size_t room)
{
    const char *slash = strrchr(manifest, '/');
    int folder =
        slash && library[0] != '/' && strchr(library, '/') ? (int)(slash - manifest) + 1 : 0;
    int n = snprintf(out, room, "%.*s%s", folder, manifest, library);

    return n > 0 && (size_t)n < room ? 0 : -ENAMETOOLONG;
}

static int load_manifest(
    const char *path, const char *text, size_t n, struct tp_icd_driver *d, struct tp_error *e)
{
    char library[PATH_MAX], whole[PATH_MAX];

    if (tp_manifest_library(text, n, library, sizeof library) ||
        library_path(path, library, whole, sizeof whole))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, path,
            "name a driver (.so), an archive (.zip) or a manifest (.json)",
            "it names no library as ICD.library_path");
    return open_library(whole, path, d, e);
}

int tp_icd_driver_load(const char *path, struct tp_icd_driver *out, struct tp_error *e)
{
    char text[MAX_MANIFEST];
    struct stat st;
    size_t n = 0;
    ssize_t got;

    *out = (struct tp_icd_driver){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st)) {
        int err = errno;
        if (fd >= 0)
            close(fd);
        if (err == ENOENT && !strchr(path, '/'))
            return open_library(path, path, out, e);
        if (err == EACCES)
            return tp_fail(e, TP_STATUS_INPUT, -err, path,
                "make it, and the folders above it, readable for this user",
                "the driver cannot be opened: %s", strerror(err));
        return tp_fail_errno(e, err, path, "the driver cannot be opened");
    }
    while (
        S_ISREG(st.st_mode) && n < sizeof text && (got = read(fd, text + n, sizeof text - n)) > 0)
        n += (size_t)got;
    close(fd);
    if (n > 4 && !memcmp(text, "\177ELF", 4)) {
        /* Without a slash dlopen would look elsewhere. */
        char here[PATH_MAX];
        int m = snprintf(here, sizeof here, "%s%s", strchr(path, '/') ? "" : "./", path);
        return m > 0 && (size_t)m < sizeof here ? open_library(here, path, out, e) : -ENAMETOOLONG;
    }
    if (n > 4 && !memcmp(text, "PK", 2))
        return load_archive(path, out, e);
    if (n > 0 && n < sizeof text)
        return load_manifest(path, text, n, out, e);
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, path,
        "name a driver (.so), an archive (.zip) or a manifest (.json)",
        "it is neither a library nor an archive nor a manifest");
}

void tp_icd_driver_unload(struct tp_icd_driver *d)
{
    struct hmi_device *device = d->hmi;

    if (device && device->close)
        device->close(device);
    if (d->library)
        dlclose(d->library);
    *d = (struct tp_icd_driver){0};
}

static int rank_of(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 4;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 3;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 2;
    default:
        return 1;
    }
}

int tp_icd_driver_rank(const struct tp_icd_driver *d)
{
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    VkPhysicalDevice devices[16];
    uint32_t n = 16;
    VkInstance instance;
    int best = 0;

    if (d->create_instance(&info, NULL, &instance) != VK_SUCCESS)
        return 0;
    PFN_vkEnumeratePhysicalDevices enumerate =
        (PFN_vkEnumeratePhysicalDevices)d->get(instance, "vkEnumeratePhysicalDevices");
    PFN_vkGetPhysicalDeviceProperties properties =
        (PFN_vkGetPhysicalDeviceProperties)d->get(instance, "vkGetPhysicalDeviceProperties");
    PFN_vkDestroyInstance destroy = (PFN_vkDestroyInstance)d->get(instance, "vkDestroyInstance");
    if (enumerate && properties && enumerate(instance, &n, devices) >= 0) {
        for (uint32_t i = 0; i < n; i++) {
            VkPhysicalDeviceProperties p;
            properties(devices[i], &p);
            int rank = rank_of(p.deviceType);
            best = rank > best ? rank : best;
        }
    }
    if (destroy)
        destroy(instance, NULL);
    return best;
}
