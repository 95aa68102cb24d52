#include <stdlib.h>
#include <string.h>

#include "factory/recipe/internal.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *const host_options[] = {
    "-Dplatforms=", "-Dfreedreno-kmds=msm,kgsl", "-Dtools=drm-shim", NULL,
};

/* Without a window system an archive for Linux is useless. */
static const char *const linux_options[] = {
    "-Dplatforms=wayland,x11", "-Dfreedreno-kmds=msm,kgsl", "-Dtools=drm-shim",
    "-Dxlib-lease=enabled",    NULL,
};

/* The stubs stand for the platform's own libraries at link time; the phone has the real ones. The
 * level 34 opens the extensions, while the compiler's target level, 29, bounds what is called. */
static const char *const host_android_options[] = {
    "-Dplatforms=android",        "-Dandroid-stub=true",
    "-Dfreedreno-kmds=kgsl",      "-Dplatform-sdk-version=34",
    "-Dandroid-libbacktrace=disabled", NULL,
};
static const char *const android_options[] = {
    "-Dplatforms=android",        "-Dandroid-stub=true",
    "-Dfreedreno-kmds=kgsl",      "-Dplatform-sdk-version=34",
    "-Dandroid-libbacktrace=disabled",
    /* No C++ run-time library is needed then. */
    "-Dcpp_eh=none",
    /* Neither is among what a phone promises to apps. */
    "-Dzstd=disabled",            "?expat=disabled",
    NULL,
};

static const struct tp_recipe recipes[] = {
    {
        .target = {"host", "linux", "x86_64", "vk_icdGetInstanceProcAddr", "Host", true, true},
        .options = host_options,
    },
    {
        .target = {"linux-arm64", "linux", "aarch64", "vk_icdGetInstanceProcAddr", "Linux", true,
                   true},
        .options = linux_options,
        .cross = true,
    },
    {
        .target = {"host-android", "android", "x86_64", "HMI", "Host-Android", true, false},
        .options = host_android_options,
    },
    {
        .target = {"android-arm64", "android", "aarch64", "HMI", "", false, false},
        .options = android_options,
        .cross = true,
    },
};

const char *const tp_common_options[] = {
    /* Whatever is missing is named, not fetched. */
    "--wrap-mode=nodownload",
    "-Dbuildtype=release",
    "-Db_ndebug=true",
    "-Dvulkan-beta=true",
    "-Dvulkan-drivers=freedreno",
    "-Dgallium-drivers=",
    "-Dllvm=disabled",
    "-Dglx=disabled",
    "-Degl=disabled",
    "-Dgles1=disabled",
    "-Dgles2=disabled",
    "-Dopengl=false",
    "-Dgbm=disabled",
    "-Dvideo-codecs=",
    "?shared-glapi=disabled",
    /* What meson would otherwise take in or leave out by what this machine happens to have. */
    "-Dvalgrind=disabled",
    "-Dlibunwind=disabled",
    "-Dlmsensors=disabled",
    "-Dbuild-tests=false",
    NULL,
};

const struct tp_recipe *tp_recipe_of(const struct tp_target *target)
{
    for (size_t i = 0; i < COUNT(recipes); i++) {
        if (target == &recipes[i].target)
            return &recipes[i];
    }
    abort(); /* a target comes from the table */
}

const struct tp_target *tp_target_find(const char *name)
{
    for (size_t i = 0; i < COUNT(recipes); i++) {
        if (name && !strcmp(name, recipes[i].target.name))
            return &recipes[i].target;
    }
    return NULL;
}

const char *tp_target_names(void)
{
    return "host, linux-arm64, host-android, android-arm64";
}

const char *tp_target_default(const char *ndk, const char *sysroot)
{
    const char *env = getenv("ANDROID_NDK_HOME");
    bool android = (ndk && *ndk) || (sysroot && *sysroot) || (env && *env);
    return android ? "android-arm64" : "linux-arm64";
}
