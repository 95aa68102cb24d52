#include "frames/panel/android_api.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

static int open_library(const char *name, void **out, struct tp_error *e)
{
    *out = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (*out)
        return 0;
    return tp_fail(e, TP_STATUS_MISSING, -ENOSYS, name, "run it in an app, on Android 12 or newer",
        "the library cannot be loaded: %s", dlerror());
}

/* A data pointer becomes a function's, as POSIX has it for dlsym. */
static bool look_up(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

int tp_android_api_load(struct tp_android_api *api, struct tp_error *e)
{
    const char *missing = NULL;
    memset(api, 0, sizeof *api);
    int r = open_library("libandroid.so", &api->android, e);
    if (r == 0)
        r = open_library("libnativewindow.so", &api->window, e);
    if (r < 0)
        return r;
#define LOOK_UP(library, result, name, parameters)                                                 \
    if (!look_up(api->library, #name, &api->name))                                                 \
        missing = #name;
    TP_ANDROID_NEWER_CALLS(LOOK_UP)
    missing = NULL;
    TP_ANDROID_CALLS(LOOK_UP)
#undef LOOK_UP
    if (missing)
        return tp_fail(e, TP_STATUS_MISSING, -ENOSYS, missing,
            "Android 12 (API level 31) is the oldest that it works on",
            "this Android lacks a call of SurfaceControl's");
    return 0;
}
