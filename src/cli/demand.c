#include "cli/demand.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include "base/fs.h"
#include "base/parts.h"
#include "base/proc.h"

enum { PATIENCE_S = 20 }; /* for a driver to tell of itself */

/* --- in a process of its own: a driver may end it --- */

/* What gamescope 3.11 asks of a device, and to be on a card of ours (docs/kms.md). */
static const char *const EXTENSIONS[] = {"VK_EXT_physical_device_drm", "VK_KHR_external_memory_fd",
    "VK_EXT_external_memory_dma_buf", "VK_EXT_image_drm_format_modifier",
    "VK_EXT_queue_family_foreign", "VK_EXT_robustness2", NULL};

struct vulkan {
    PFN_vkGetInstanceProcAddr get;
    VkInstance instance;
    VkPhysicalDevice device;
};

#define CALL(v, name) ((PFN_vk##name)(v)->get((v)->instance, "vk" #name))

static bool computes(const struct vulkan *v, VkPhysicalDevice device)
{
    VkQueueFamilyProperties families[32];
    VkPhysicalDeviceProperties p;
    uint32_t n = 32;

    CALL(v, GetPhysicalDeviceProperties)(device, &p);
    if (p.apiVersion < VK_API_VERSION_1_2)
        return false;
    CALL(v, GetPhysicalDeviceQueueFamilyProperties)(device, &n, families);
    for (uint32_t i = 0; i < n; i++)
        if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)
            return true;
    return false;
}

/* The first that would be taken; false: there is none. */
static bool find_device(struct vulkan *v)
{
    VkApplicationInfo app = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    VkPhysicalDevice devices[16];
    uint32_t n = 16;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)v->get(NULL, "vkCreateInstance");

    if (!create || create(&info, NULL, &v->instance) != VK_SUCCESS ||
        CALL(v, EnumeratePhysicalDevices)(v->instance, &n, devices) < 0)
        return false;
    for (uint32_t i = 0; i < n && !v->device; i++)
        if (computes(v, devices[i]))
            v->device = devices[i];
    return v->device != NULL;
}

static void lack(struct tp_buf *out, const char *what)
{
    tp_buf_addf(out, "%s%s", out->len > 0 ? ", " : "", what);
}

static void look_for_extensions(const struct vulkan *v, struct tp_buf *out)
{
    uint32_t n = 0;
    PFN_vkEnumerateDeviceExtensionProperties enumerate =
        CALL(v, EnumerateDeviceExtensionProperties);

    enumerate(v->device, NULL, &n, NULL);
    VkExtensionProperties *all = tp_calloc(n + 1, sizeof *all);
    enumerate(v->device, NULL, &n, all);
    for (size_t k = 0; EXTENSIONS[k]; k++) {
        uint32_t i = 0;
        while (i < n && strcmp(all[i].extensionName, EXTENSIONS[k]) != 0)
            i++;
        if (i == n)
            lack(out, EXTENSIONS[k]);
    }
    free(all);
}

static void look_for_features(const struct vulkan *v, struct tp_buf *out)
{
    VkPhysicalDeviceRobustness2FeaturesEXT robustness = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT};
    VkPhysicalDeviceVulkan12Features of12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &robustness};
    VkPhysicalDeviceVulkan11Features of11 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &of12};
    VkPhysicalDeviceFeatures2 all = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &of11};

    CALL(v, GetPhysicalDeviceFeatures2)(v->device, &all);
    if (!of12.timelineSemaphore)
        lack(out, "timelineSemaphore");
    if (!of11.samplerYcbcrConversion)
        lack(out, "samplerYcbcrConversion");
    if (!robustness.nullDescriptor)
        lack(out, "nullDescriptor");
}

/* What is said of the driver goes to fd as a line, behind lines of our driver's log. */
_Noreturn static void ask_driver(const char *library, const char *const *env, int fd)
{
    struct vulkan v = {0};
    struct tp_buf out = {0};
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

    alarm(PATIENCE_S);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    for (; *env; env++)
        putenv((char *)(uintptr_t)*env);
    void *ours = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (ours)
        *(void **)&v.get = dlsym(ours, "vk_icdGetInstanceProcAddr");
    if (!v.get || !find_device(&v)) {
        lack(&out, "a device of Vulkan 1.2 that computes");
    } else {
        look_for_extensions(&v, &out);
        look_for_features(&v, &out);
    }
    dprintf(fd, "lacks: %s\n", tp_buf_str(&out));
    _exit(0); /* the driver's own ways of ending are its own affair */
}

/* --- here --- */

struct question {
    const char *library, *manifest, *server;
    const struct tp_guest_options *options;
};

/* Until pid has said all, or nobody wants to know any more. */
static void read_all(int fd, pid_t pid, struct tp_buf *out)
{
    char bytes[4096];
    ssize_t n;

    while ((n = read(fd, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR)) {
        if (n > 0)
            tp_buf_add(out, bytes, (size_t)n);
        if (pid > 0 && tp_interrupted())
            kill(pid, SIGKILL);
    }
}

static char *line_of(const char *text, const char *begins)
{
    for (const char *at = text; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
        if (!strncmp(at, begins, strlen(begins)))
            return tp_strndup(at + strlen(begins), strcspn(at, "\n") - strlen(begins));
    return NULL;
}

/* What the driver below ours lacks, the caller's to free; "": nothing. driver: NULL: as the
 * options and the environment have it. */
static char *what_lacks(const struct question *q, const char *driver)
{
    struct tp_guest_options o = *q->options;
    struct tp_cli_list env = {0}, owned = {0};
    struct tp_buf said = {0};
    char log[32], *answer = NULL;
    int fds[2], status = 0;

    if (driver)
        o.driver = driver;
    if (pipe2(fds, O_CLOEXEC))
        return tp_asprintf("room for another pipe (%s)", strerror(errno));
    tp_guest_add(&o, q->manifest, NULL, &env, &owned);
    char *server = tp_asprintf("TURNPIKE_SOCKET=%s", q->server);
    snprintf(log, sizeof log, "TURNPIKE_LOG=/proc/self/fd/%d", fds[1]);
    tp_cli_list_add(&env, server);
    tp_cli_list_add(&env, "TURNPIKE_RENDER_NODE=1");
    tp_cli_list_add(&env, log);
    pid_t pid = fork();
    if (pid == 0)
        ask_driver(q->library, env.at, fds[1]);
    close(fds[1]);
    read_all(fds[0], pid, &said);
    close(fds[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    /* Why there is no driver is worth more than that there is none. */
    answer = line_of(tp_buf_str(&said), "lacks: ");
    char *why = answer && *answer ? line_of(tp_buf_str(&said), "turnpike: ") : NULL;
    if (why) {
        free(answer);
        answer = tp_asprintf("a device (%s)", why);
        free(why);
    }
    if (!answer)
        answer = tp_strdup("the strength to be asked: it ended the process that did");
    for (int i = 0; i < owned.n; i++)
        free((char *)(uintptr_t)owned.at[i]);
    free(server);
    tp_cli_list_finish(&owned);
    tp_cli_list_finish(&env);
    tp_buf_finish(&said);
    return answer;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_others_manifest(const struct dirent *d)
{
    size_t n = strlen(d->d_name);

    return n > 5 && !strcmp(d->d_name + n - 5, ".json") && strncmp(d->d_name, "turnpike_icd", 12);
}

static char *try_folder(const struct question *q, const char *folder)
{
    struct dirent **names;
    char *found = NULL;
    int n = scandir(folder, &names, is_others_manifest, by_name);

    for (int i = 0; i < n; i++) {
        char *path = tp_join(folder, names[i]->d_name);
        char *lacks = found || tp_interrupted() ? NULL : what_lacks(q, path);
        if (lacks && !*lacks)
            found = path;
        else
            free(path);
        free(lacks);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    return found;
}

/* In the loader's folders, in its order. Its path, the caller's to free; NULL: none. */
static char *find_other(const struct question *q)
{
    static const struct {
        const char *name, *otherwise, *below;
    } places[] = {
        {"XDG_CONFIG_HOME", NULL, "vulkan/icd.d"},
        {"HOME", NULL, ".config/vulkan/icd.d"},
        {"XDG_CONFIG_DIRS", "/etc/xdg", "vulkan/icd.d"},
        {NULL, "/etc", "vulkan/icd.d"},
        {"XDG_DATA_HOME", NULL, "vulkan/icd.d"},
        {"HOME", NULL, ".local/share/vulkan/icd.d"},
        {"XDG_DATA_DIRS", "/usr/local/share:/usr/share", "vulkan/icd.d"},
    };
    char *found = NULL;

    for (size_t i = 0; i < sizeof places / sizeof *places && !found; i++) {
        const char *list = places[i].name ? getenv(places[i].name) : NULL;
        if (!list || !*list)
            list = places[i].otherwise;
        while (list && *list && !found) {
            size_t n = strcspn(list, ":");
            char *folder = tp_asprintf("%.*s/%s", (int)n, list, places[i].below);
            found = n > 0 ? try_folder(q, folder) : NULL;
            free(folder);
            list += n + (list[n] == ':');
        }
    }
    return found;
}

int tp_demand_driver(const char *who, const struct tp_guest_options *o, const char *manifest,
    const char *server, char **driver, struct tp_error *e)
{
    int r = 0;

    *driver = NULL;
    char *library = tp_part_path("src/frames/icd/libvulkan_turnpike.so", e);
    if (!library)
        return e->err;
    struct question q = {library, manifest, server, o};
    char *lacks = what_lacks(&q, NULL);
    if (*lacks)
        *driver = find_other(&q);
    if (tp_interrupted())
        r = tp_fail(e, TP_STATUS_FAILED, -EINTR, who, NULL, "interrupted");
    else if (*driver)
        fprintf(stderr, "turnpike play: %s renders with %s: the driver otherwise taken lacks %s\n",
            who, *driver, lacks);
    else if (*lacks)
        r = tp_fail(e, TP_STATUS_MISSING, -ENODEV, who,
            "name one that has it with --driver, or install one: Mesa 25's lavapipe is such",
            "the Vulkan driver lacks %s, and no other here has it", lacks);
    free(lacks);
    free(library);
    return r;
}
