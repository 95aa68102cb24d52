#include "cli/guest.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/parts.h"
#include "frames/pace/profile.h"

#define MAX_IMAGES 64 /* TP_SLOTS_MAX */

static bool is_among(const char *value, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(value, *words))
            return true;
    return false;
}

/* A library's path where the linker looks for its name, the caller's to free; NULL: there is none.
 * In a process of its own: a driver may do anything as it is loaded. */
static char *find_library(const char *name)
{
    char path[PATH_MAX];
    int fds[2];

    if (strchr(name, '/') || pipe2(fds, O_CLOEXEC))
        return NULL;
    pid_t pid = fork();
    if (pid == 0) {
        struct link_map *map;
        void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
        if (library && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 &&
            write(fds[1], map->l_name, strlen(map->l_name)) < 0)
            _exit(1);
        _exit(0);
    }
    close(fds[1]);
    ssize_t n = read(fds[0], path, sizeof path - 1);
    close(fds[0]);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    path[n > 0 ? n : 0] = 0;
    return n > 0 ? realpath(path, NULL) : NULL;
}

static int take_driver(const struct tp_command *cmd, const char *value, struct tp_guest_options *o)
{
    free(o->driver_path);
    o->driver_path = realpath(value, NULL);
    int err = errno;
    if (!o->driver_path && err == ENOENT)
        o->driver_path = find_library(value);
    if (!o->driver_path)
        return tp_cli_usage(cmd, "--driver '%s': %s", value, strerror(err));
    o->driver = o->driver_path;
    return 0;
}

int tp_guest_option(
    const struct tp_command *cmd, int c, const char *value, struct tp_guest_options *o)
{
    static const char *const gates[] = {"off", "vsync", "cap", "latency", NULL};
    static const char *const switches[] = {"on", "off", NULL};
    char *end;
    switch (c) {
    case 'X':
        return take_driver(cmd, value, o);
    case 'g':
        o->gate = value;
        return is_among(value, gates)
            ? 0
            : tp_cli_usage(cmd, "--gate is off, vsync, cap or latency");
    case 'c': {
        uint32_t mhz;
        o->cap = value;
        return tp_cap_read(value, &mhz) == 0 && mhz > 0
            ? 0
            : tp_cli_usage(cmd, "--cap is frames a second, 0.001 to 10000, with three places at most");
    }
    case 'i': {
        long n = strtol(value, &end, 10);
        o->images = value;
        return end != value && !*end && n >= 1 && n <= MAX_IMAGES
            ? 0
            : tp_cli_usage(cmd, "--images is a whole number from 1 to %d", MAX_IMAGES);
    }
    case 'F':
        o->release_fence = strcmp(value, "on") ? "0" : "1";
        return is_among(value, switches) ? 0 : tp_cli_usage(cmd, "--release-fence is on or off");
    default:
        return -1;
    }
}

bool tp_guest_asked(const struct tp_guest_options *o)
{
    return o->driver || o->gate || o->cap || o->images || o->release_fence;
}

void tp_guest_finish(struct tp_guest_options *o)
{
    free(o->driver_path);
    *o = (struct tp_guest_options){0};
}

int tp_guest_prepare(const char *folder, char **manifest, struct tp_error *e)
{
    *manifest = NULL;
    char *library = tp_part_path("src/frames/icd/libvulkan_turnpike.so", e);
    if (!library)
        return e->err;
    json_t *j = json_pack("{s:s, s:{s:s, s:s}}", "file_format_version", "1.0.1", "ICD",
        "library_path", library, "api_version", "1.3.239");
    char *text = j ? json_dumps(j, JSON_INDENT(4)) : NULL;
    char *path = tp_join(folder, "turnpike_icd.json");
    int r = text ? tp_write_file(path, text, strlen(text), 0644, e)
                 : tp_fail(e, TP_STATUS_INPUT, -EINVAL, library, "move turnpike elsewhere",
                       "the path is no UTF-8");
    json_decref(j);
    free(text);
    free(library);
    if (r == 0)
        *manifest = path;
    else
        free(path);
    return r;
}

static void add(
    struct tp_cli_list *env, struct tp_cli_list *owned, const char *name, const char *value)
{
    char *s = tp_asprintf("%s=%s", name, value);
    tp_cli_list_add(owned, s);
    tp_cli_list_add(env, s);
}

/* The driver that the loader would have taken by the caller's word: the first file of its list.
 * Ours takes its place there. Caller frees; NULL: nothing was said. */
static char *driver_of_loader(void)
{
    static const char *const lists[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"};
    for (size_t i = 0; i < 2; i++) {
        const char *list = getenv(lists[i]);
        size_t n = list ? strcspn(list, ":") : 0;
        char *first = n ? tp_asprintf("%.*s", (int)n, list) : NULL;
        if (first && !strstr(first, "/turnpike_icd"))
            return first;
        free(first); /* ours itself: it knows what is below it */
    }
    return NULL;
}

void tp_guest_add(const struct tp_guest_options *o, const char *manifest, const char *server,
    struct tp_cli_list *env, struct tp_cli_list *owned)
{
    const char *below = getenv("TURNPIKE_DRIVER");
    char *loaders = o->driver || (below && *below) ? NULL : driver_of_loader();
    add(env, owned, "VK_DRIVER_FILES", manifest);
    add(env, owned, "VK_ICD_FILENAMES", manifest); /* for loaders before 1.3.207 */
    if (o->driver || loaders)
        add(env, owned, "TURNPIKE_DRIVER", o->driver ? o->driver : loaders);
    free(loaders);
    if (!server)
        return;
    add(env, owned, "TURNPIKE_SOCKET", server);
    const char *const said[][2] = {
        {"TURNPIKE_GATE", o->gate},
        {"TURNPIKE_CAP", o->cap},
        {"TURNPIKE_MIN_IMAGES", o->images},
        {"TURNPIKE_RELEASE_FENCE", o->release_fence},
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (said[i][1])
            add(env, owned, said[i][0], said[i][1]);
}
