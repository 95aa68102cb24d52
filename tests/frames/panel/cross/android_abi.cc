/* Our own types of Android's calls against the NDK's: as many parameters, of the same sizes and in
 * the same kinds of registers. C++, as surface_control.h is not C. */
#include <android/choreographer.h>
#include <android/hardware_buffer.h>
#include <android/looper.h>
#include <android/ndk-version.h>
#include <android/native_window.h>
#include <android/surface_control.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if __NDK_MAJOR__ < 29 /* as AOSP's header of API level 36 has it */
void ASurfaceTransaction_setBufferWithRelease(ASurfaceTransaction *, ASurfaceControl *,
    AHardwareBuffer *, int, void *, void (*)(void *, int));
#endif

namespace ours {
#include "frames/panel/android_api.h"
}

/* How a parameter travels. */
template <class T> struct Way { static constexpr int value = sizeof(T) * 4; };
template <class T> struct Way<T &> { static constexpr int value = sizeof(void *) * 4; };
template <> struct Way<void> { static constexpr int value = 0; };
template <> struct Way<float> { static constexpr int value = sizeof(float) * 4 + 1; };
template <> struct Way<double> { static constexpr int value = sizeof(double) * 4 + 1; };

template <class A, class B> struct Same { static constexpr bool value = false; };
template <class R, class S, class... P, class... Q> struct Same<R(P...), S (*)(Q...)> {
    static constexpr bool equal(const int *a, const int *b, size_t n)
    {
        for (size_t i = 0; i < n; i++)
            if (a[i] != b[i])
                return false;
        return true;
    }
    static constexpr int theirs[] = {Way<R>::value, Way<P>::value...};
    static constexpr int own[] = {Way<S>::value, Way<Q>::value...};
    static constexpr bool value =
        sizeof...(P) == sizeof...(Q) && equal(theirs, own, sizeof...(P) + 1);
};

#define CHECK(library, result, name, parameters)                                                   \
    static_assert(Same<decltype(::name), decltype(ours::tp_android_api::name)>::value, #name);
TP_ANDROID_CALLS(CHECK)
TP_ANDROID_NEWER_CALLS(CHECK)

static_assert(sizeof(ARect) == sizeof(ours::tp_a_rect), "ARect");
static_assert(sizeof(AHardwareBuffer_Desc) == sizeof(ours::tp_a_buffer_desc), "desc");
static_assert(offsetof(AHardwareBuffer_Desc, usage) == offsetof(ours::tp_a_buffer_desc, usage) &&
                  offsetof(AHardwareBuffer_Desc, stride) == offsetof(ours::tp_a_buffer_desc, stride),
    "desc");
static_assert(sizeof(AHdrMetadata_smpte2086) == sizeof(ours::tp_a_smpte2086), "smpte2086");
static_assert(sizeof(AHdrMetadata_cta861_3) == sizeof(ours::tp_a_cta861_3), "cta861_3");
static_assert(AHARDWAREBUFFER_FORMAT_R8G8B8A8_UNORM == ours::TP_A_RGBA_8888 &&
                  AHARDWAREBUFFER_FORMAT_R8G8B8X8_UNORM == ours::TP_A_RGBX_8888 &&
                  AHARDWAREBUFFER_FORMAT_R5G6B5_UNORM == ours::TP_A_RGB_565 &&
                  AHARDWAREBUFFER_FORMAT_R16G16B16A16_FLOAT == ours::TP_A_RGBA_FP16 &&
                  AHARDWAREBUFFER_FORMAT_R10G10B10A2_UNORM == ours::TP_A_RGBA_1010102,
    "formats");
static_assert(AHARDWAREBUFFER_USAGE_CPU_READ_RARELY == TP_A_CPU_READ_RARELY &&
                  AHARDWAREBUFFER_USAGE_CPU_WRITE_RARELY == TP_A_CPU_WRITE_RARELY &&
                  AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN == TP_A_CPU_WRITE_OFTEN &&
                  AHARDWAREBUFFER_USAGE_GPU_SAMPLED_IMAGE == TP_A_GPU_SAMPLED_IMAGE &&
                  AHARDWAREBUFFER_USAGE_GPU_FRAMEBUFFER == TP_A_GPU_FRAMEBUFFER &&
                  AHARDWAREBUFFER_USAGE_COMPOSER_OVERLAY == TP_A_COMPOSER_OVERLAY,
    "usage");
static_assert((int)ADATASPACE_SRGB == (int)ours::TP_A_SRGB &&
                  (int)ADATASPACE_BT2020_PQ == (int)ours::TP_A_BT2020_PQ,
    "data spaces");
static_assert(ANATIVEWINDOW_TRANSFORM_MIRROR_HORIZONTAL == (int)ours::TP_A_MIRROR_HORIZONTAL &&
                  ANATIVEWINDOW_TRANSFORM_MIRROR_VERTICAL == (int)ours::TP_A_MIRROR_VERTICAL &&
                  ANATIVEWINDOW_TRANSFORM_ROTATE_90 == (int)ours::TP_A_ROTATE_90,
    "transforms");
static_assert((int)ASURFACE_TRANSACTION_TRANSPARENCY_TRANSLUCENT == (int)ours::TP_A_TRANSLUCENT &&
                  (int)ASURFACE_TRANSACTION_TRANSPARENCY_OPAQUE == (int)ours::TP_A_OPAQUE,
    "transparency");

#include <jni.h>
#include "frames/server/jni_table.h"
#define PLACE(name) (offsetof(JNINativeInterface, name) / sizeof(void *))
static_assert(PLACE(FindClass) == TP_JNI_FIND_CLASS && PLACE(ThrowNew) == TP_JNI_THROW_NEW &&
                  PLACE(GetStringUTFChars) == TP_JNI_GET_STRING_UTF_CHARS &&
                  PLACE(ReleaseStringUTFChars) == TP_JNI_RELEASE_STRING_UTF_CHARS,
    "JNIEnv");
