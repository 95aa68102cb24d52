/*
 * Where the validation layer's library is: its manifest, a JSON object, says so.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer_chain.h"

#define MANIFEST "VkLayer_khronos_validation.json"
#define MANIFEST_MAX 65536

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "re");
    char *text = f ? calloc(1, MANIFEST_MAX + 1) : NULL;
    if (text && !fread(text, 1, MANIFEST_MAX, f)) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    return text;
}

/* The string after "library_path", without escapes. Answers its length, 0 where there is none. */
static size_t find_library(const char *text, const char **at)
{
    const char *s = strstr(text, "\"library_path\"");
    if (!s)
        return 0;
    s += strlen("\"library_path\"");
    s += strspn(s, " \t\r\n:");
    if (*s != '"')
        return 0;
    *at = s + 1;
    return strcspn(s + 1, "\"\\");
}

/* 0, 1 or -1 as tp_layer_find. A library with a slash in it is relative to its manifest. */
static int look_in(const char *folder, int length, char *path, size_t path_size, char *why,
                   size_t size)
{
    char manifest[512];
    const char *library = NULL;
    if (snprintf(manifest, sizeof manifest, "%.*s/" MANIFEST, length, folder) >=
        (int)sizeof manifest)
        return 1;
    char *text = read_text(manifest);
    if (!text)
        return 1;
    size_t n = find_library(text, &library);
    bool beside = n && *library != '/' && memchr(library, '/', n);
    int wrote = snprintf(path, path_size, "%.*s%s%.*s", beside ? length : 0, folder,
                         beside ? "/" : "", (int)n, n ? library : "");
    free(text);
    if (n && wrote < (int)path_size)
        return 0;
    snprintf(why, size, "%s: names no library", manifest);
    return -1;
}

/* Folders with colons between them, each with UNDER below it. */
static int look_in_all(const char *folders, const char *under, char *path, size_t path_size,
                       char *why, size_t size)
{
    int found = 1;
    for (const char *at = folders; found == 1 && *at; at += strcspn(at, ":"), at += *at == ':') {
        char folder[400];
        int length = (int)strcspn(at, ":");
        if (length && snprintf(folder, sizeof folder, "%.*s%s", length, at, under) <
                          (int)sizeof folder)
            found = look_in(folder, (int)strlen(folder), path, path_size, why, size);
    }
    return found;
}

static const char *variable(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

int tp_layer_find(char *path, size_t path_size, char *why, size_t size)
{
    static const char under[] = "/vulkan/explicit_layer.d";
    char home[400];
    snprintf(why, size, MANIFEST " is not there (Debian's package vulkan-validationlayers)");
    const char *own = variable("VK_LAYER_PATH", NULL);
    if (own)
        return look_in_all(own, "", path, path_size, why, size);
    snprintf(home, sizeof home, "%.300s/.local/share", variable("HOME", ""));
    int found = look_in_all(variable("XDG_DATA_HOME", home), under, path, path_size, why, size);
    if (found == 1)
        found = look_in_all("/etc", under, path, path_size, why, size);
    if (found == 1)
        found = look_in_all(variable("XDG_DATA_DIRS", "/usr/local/share:/usr/share"), under, path,
                            path_size, why, size);
    return found;
}
