#include "factory/inspect/elf_libraries.h"

#include <stddef.h>
#include <string.h>

#include "factory/inspect/bionic.h"

#define LENGTH(a) (sizeof(a) / sizeof *(a))

/* The NDK's public libraries (its sysroot's stubs), and the platform's that the linker shows to a
 * graphics driver. */
static const struct {
    const char *name;
    int since;
} of_android[] = {
    {"libEGL.so", 21},
    {"libGLESv1_CM.so", 21},
    {"libGLESv2.so", 21},
    {"libGLESv3.so", 21},
    {"libOpenMAXAL.so", 21},
    {"libOpenSLES.so", 21},
    {"libaaudio.so", 26},
    {"libamidi.so", 29},
    {"libandroid.so", 21},
    {"libbinder_ndk.so", 29},
    {"libc.so", 21},
    {"libcamera2ndk.so", 24},
    {"libcutils.so", 21},
    {"libdl.so", 21},
    {"libhardware.so", 21},
    {"libicu.so", 31},
    {"libjnigraphics.so", 21},
    {"liblog.so", 21},
    {"libm.so", 21},
    {"libmediandk.so", 21},
    {"libnativehelper.so", 31},
    {"libnativewindow.so", 26},
    {"libneuralnetworks.so", 27},
    {"libstdc++.so", 21},
    {"libsync.so", 26},
    {"libvulkan.so", 24},
    {"libz.so", 21},
};

static const struct {
    const char *name, *why;
} refused[] = {
    {"libc++_shared.so",
     "no Android has it: it is each app's own, in another version or not there"},
    {"libui.so", "it is private to the platform and changes with each release"},
    {"libvndksupport.so", "only the platform's own programs may name it"},
};

/* Names and beginnings of names in Qualcomm's driver and what it stands on. */
static const char *const of_vendors[] = {
    "libgsl.so",
    "libllvm-",
    "libadreno_",
    "libgpudataproducer.so",
    "libq3dtools_",
    "eglSubDriver",
    "libEGL_adreno.so",
    "libGLESv1_CM_adreno.so",
    "libGLESv2_adreno.so",
    "vulkan.adreno.so",
    "libqdMetaData",
    "libgralloc",
    "libdmabufheap.so",
    "libhidlbase.so",
    "libhidltransport.so",
    "libhwbinder.so",
    "libutils.so",
    "libbase.so",
    "libc++.so",
    "libbacktrace.so",
    "libunwindstack.so",
    "android.hardware.",
    "vendor.",
    "libion.so",
    "libpropertyhandler.so",
    "libdrm.so",
};

struct tp_library tp_library_known(const char *name)
{
    for (size_t i = 0; i < LENGTH(of_android); i++) {
        if (!strcmp(name, of_android[i].name))
            return (struct tp_library){TP_LIBRARY_ANDROID, of_android[i].since, NULL};
    }
    for (size_t i = 0; i < LENGTH(refused); i++) {
        if (!strcmp(name, refused[i].name))
            return (struct tp_library){TP_LIBRARY_REFUSED, TP_API_FIRST, refused[i].why};
    }
    for (size_t i = 0; i < LENGTH(of_vendors); i++) {
        if (!strncmp(name, of_vendors[i], strlen(of_vendors[i])))
            return (struct tp_library){TP_LIBRARY_VENDOR, TP_API_FIRST, NULL};
    }
    return (struct tp_library){TP_LIBRARY_UNKNOWN, TP_API_FIRST, NULL};
}
