#include "frames/icd/driver.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames/icd/driver_load.h"
#include "frames/icd/log.h"

static struct tp_icd_driver driver;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The best so far, and how good it is. */
struct choice {
    struct tp_icd_driver driver;
    int rank;
    unsigned tried;
};

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n > m && !strcmp(s + n - m, end);
}

static void try_file(struct choice *c, const char *path)
{
    struct tp_icd_driver d;
    struct tp_error e = {0};

    /* Those of other architectures, and of devices that are not here, are no news. */
    if (tp_icd_driver_load(path, &d, &e))
        return;
    c->tried++;
    int rank = tp_icd_driver_rank(&d);
    if (rank > c->rank) {
        tp_icd_driver_unload(&c->driver);
        c->driver = d;
        c->rank = rank;
    } else {
        tp_icd_driver_unload(&d);
    }
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_manifest(const struct dirent *d)
{
    return ends_with(d->d_name, ".json");
}

static void try_folder(struct choice *c, const char *folder)
{
    struct dirent **names;
    char path[PATH_MAX];
    int n = scandir(folder, &names, is_manifest, by_name);

    for (int i = 0; i < n; i++) {
        int m = snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (m > 0 && (size_t)m < sizeof path)
            try_file(c, path);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
}

/* Each place of a list with colons, with something behind it. files: files or folders that hold
 * some. */
static void try_list(struct choice *c, const char *list, const char *behind, bool files)
{
    char path[PATH_MAX];

    while (list && *list) {
        size_t n = strcspn(list, ":");
        int m = snprintf(path, sizeof path, "%.*s%s", (int)n, list, behind);
        if (n > 0 && m > 0 && (size_t)m < sizeof path) {
            if (files && ends_with(path, ".json"))
                try_file(c, path);
            else
                try_folder(c, path);
        }
        list += n + (list[n] == ':');
    }
}

static const char * or (const char *name, const char *otherwise)
{
    const char *value = getenv(name);

    return value && *value ? value : otherwise;
}

/* In the loader's order (LoaderDriverInterface.md, "Driver Discovery on Linux"). */
static void search(struct choice *c)
{
    const char *listed = or ("VK_DRIVER_FILES", getenv("VK_ICD_FILENAMES"));

    try_list(c, listed, "", true);
    try_list(c, getenv("VK_ADD_DRIVER_FILES"), "", true);
    if (c->rank > 0)
        return;
    if (getenv("XDG_CONFIG_HOME"))
        try_list(c, getenv("XDG_CONFIG_HOME"), "/vulkan/icd.d", false);
    else
        try_list(c, getenv("HOME"), "/.config/vulkan/icd.d", false);
    try_list(c, or ("XDG_CONFIG_DIRS", "/etc/xdg"), "/vulkan/icd.d", false);
    try_list(c, "/etc", "/vulkan/icd.d", false);
    if (getenv("XDG_DATA_HOME"))
        try_list(c, getenv("XDG_DATA_HOME"), "/vulkan/icd.d", false);
    else
        try_list(c, getenv("HOME"), "/.local/share/vulkan/icd.d", false);
    try_list(c, or ("XDG_DATA_DIRS", "/usr/local/share:/usr/share"), "/vulkan/icd.d", false);
}

static void choose(void)
{
    const char *asked = getenv("TURNPIKE_DRIVER");
    struct tp_error e = {0};
    struct choice c = {0};

    if (asked && *asked) {
        if (tp_icd_driver_load(asked, &driver, &e))
            tp_icd_log_error(&e);
        return;
    }
    search(&c);
    driver = c.driver;
    if (c.rank == 0) {
        tp_fail(&e, TP_STATUS_MISSING, -ENODEV, "", "install one, or name it in TURNPIKE_DRIVER",
            "%s",
            c.tried ? "no Vulkan driver here has a device" : "there is no other Vulkan driver");
        tp_icd_log_error(&e);
    }
}

const struct tp_icd_driver *tp_icd_driver_get(void)
{
    pthread_once(&once, choose);
    return driver.library ? &driver : NULL;
}

/* The loader takes us out of the process again; so do we. */
__attribute__((destructor)) static void unload(void)
{
    tp_icd_driver_unload(&driver);
}
