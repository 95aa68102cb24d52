/*
 * The calls of libandroid.so and libnativewindow.so that the panel makes, looked up at run time.
 * Types are our own; names, numbers and signatures are those of the NDK's surface_control.h,
 * choreographer.h, looper.h, hardware_buffer.h and native_window.h.
 */
#ifndef TP_FRAMES_PANEL_ANDROID_API_H
#define TP_FRAMES_PANEL_ANDROID_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct ANativeWindow ANativeWindow;
typedef struct ASurfaceControl ASurfaceControl;
typedef struct ASurfaceTransaction ASurfaceTransaction;
typedef struct ASurfaceTransactionStats ASurfaceTransactionStats;
typedef struct AHardwareBuffer AHardwareBuffer;
typedef struct AChoreographer AChoreographer;
typedef struct AChoreographerFrameCallbackData AChoreographerFrameCallbackData;
typedef struct ALooper ALooper;

struct tp_a_rect { /* ARect */
    int32_t left, top, right, bottom;
};

struct tp_a_buffer_desc { /* AHardwareBuffer_Desc */
    uint32_t width, height, layers, format;
    uint64_t usage;
    uint32_t stride; /* in pixels */
    uint32_t rfu0;
    uint64_t rfu1;
};

struct tp_a_smpte2086 { /* AHdrMetadata_smpte2086 */
    struct {
        float x, y;
    } red, green, blue, white;
    float max_luminance, min_luminance;
};

struct tp_a_cta861_3 { /* AHdrMetadata_cta861_3 */
    float max_content_light_level, max_frame_average_light_level;
};

enum { /* AHARDWAREBUFFER_FORMAT_*, and the HAL's BGRA_8888 */
    TP_A_RGBA_8888 = 1,
    TP_A_RGBX_8888 = 2,
    TP_A_RGB_565 = 4,
    TP_A_BGRA_8888 = 5,
    TP_A_RGBA_FP16 = 0x16,
    TP_A_RGBA_1010102 = 0x2b,
};
/* AHARDWAREBUFFER_USAGE_* */
#define TP_A_CPU_READ_RARELY UINT64_C(2)
#define TP_A_CPU_WRITE_RARELY UINT64_C(0x20)
#define TP_A_CPU_WRITE_OFTEN UINT64_C(0x30)
#define TP_A_GPU_SAMPLED_IMAGE UINT64_C(0x100)
#define TP_A_GPU_FRAMEBUFFER UINT64_C(0x200)
#define TP_A_COMPOSER_OVERLAY UINT64_C(0x800)
enum { /* ADATASPACE_* */
    TP_A_SRGB = 142671872,
    TP_A_BT2020_PQ = 163971072,
};
enum { /* ANATIVEWINDOW_TRANSFORM_*: mirrors first, then clockwise */
    TP_A_MIRROR_HORIZONTAL = 1,
    TP_A_MIRROR_VERTICAL = 2,
    TP_A_ROTATE_90 = 4,
};
enum { TP_A_TRANSLUCENT = 1, TP_A_OPAQUE = 2 }; /* ASURFACE_TRANSACTION_TRANSPARENCY_* */

/* X(library, result, name, parameters): without these there is no panel. */
#define TP_ANDROID_CALLS(X)                                                                        \
    X(window, void, ANativeWindow_acquire, (ANativeWindow *))                                      \
    X(window, void, ANativeWindow_release, (ANativeWindow *))                                      \
    X(window, int32_t, ANativeWindow_getWidth, (ANativeWindow *))                                  \
    X(window, int32_t, ANativeWindow_getHeight, (ANativeWindow *))                                 \
    X(window, int, AHardwareBuffer_allocate,                                                       \
        (const struct tp_a_buffer_desc *, AHardwareBuffer **))                                     \
    X(window, void, AHardwareBuffer_release, (AHardwareBuffer *))                                  \
    X(window, void, AHardwareBuffer_describe,                                                      \
        (const AHardwareBuffer *, struct tp_a_buffer_desc *))                                      \
    X(window, int, AHardwareBuffer_lock,                                                           \
        (AHardwareBuffer *, uint64_t, int32_t, const struct tp_a_rect *, void **))                 \
    X(window, int, AHardwareBuffer_unlock, (AHardwareBuffer *, int32_t *))                         \
    X(window, int, AHardwareBuffer_sendHandleToUnixSocket, (const AHardwareBuffer *, int))         \
    X(window, int, AHardwareBuffer_recvHandleFromUnixSocket, (int, AHardwareBuffer **))            \
    X(android, ASurfaceControl *, ASurfaceControl_createFromWindow,                                \
        (ANativeWindow *, const char *))                                                           \
    X(android, void, ASurfaceControl_release, (ASurfaceControl *))                                 \
    X(android, ASurfaceTransaction *, ASurfaceTransaction_create, (void))                          \
    X(android, void, ASurfaceTransaction_delete, (ASurfaceTransaction *))                          \
    X(android, void, ASurfaceTransaction_apply, (ASurfaceTransaction *))                           \
    X(android, void, ASurfaceTransaction_setOnComplete,                                            \
        (ASurfaceTransaction *, void *, void (*)(void *, ASurfaceTransactionStats *)))             \
    X(android, void, ASurfaceTransaction_setOnCommit,                                              \
        (ASurfaceTransaction *, void *, void (*)(void *, ASurfaceTransactionStats *)))             \
    X(android, void, ASurfaceTransaction_setDesiredPresentTime, (ASurfaceTransaction *, int64_t))  \
    X(android, void, ASurfaceTransaction_reparent,                                                 \
        (ASurfaceTransaction *, ASurfaceControl *, ASurfaceControl *))                             \
    X(android, void, ASurfaceTransaction_setVisibility,                                            \
        (ASurfaceTransaction *, ASurfaceControl *, int8_t))                                        \
    X(android, void, ASurfaceTransaction_setZOrder,                                                \
        (ASurfaceTransaction *, ASurfaceControl *, int32_t))                                       \
    X(android, void, ASurfaceTransaction_setBuffer,                                                \
        (ASurfaceTransaction *, ASurfaceControl *, AHardwareBuffer *, int))                        \
    X(android, void, ASurfaceTransaction_setGeometry,                                              \
        (ASurfaceTransaction *, ASurfaceControl *, const struct tp_a_rect *,                       \
            const struct tp_a_rect *, int32_t))                                                    \
    X(android, void, ASurfaceTransaction_setBufferTransparency,                                    \
        (ASurfaceTransaction *, ASurfaceControl *, int8_t))                                        \
    X(android, void, ASurfaceTransaction_setBufferAlpha,                                           \
        (ASurfaceTransaction *, ASurfaceControl *, float))                                         \
    X(android, void, ASurfaceTransaction_setBufferDataSpace,                                       \
        (ASurfaceTransaction *, ASurfaceControl *, int32_t))                                       \
    X(android, void, ASurfaceTransaction_setHdrMetadata_smpte2086,                                 \
        (ASurfaceTransaction *, ASurfaceControl *, struct tp_a_smpte2086 *))                       \
    X(android, void, ASurfaceTransaction_setHdrMetadata_cta861_3,                                  \
        (ASurfaceTransaction *, ASurfaceControl *, struct tp_a_cta861_3 *))                        \
    X(android, void, ASurfaceTransaction_setFrameRateWithChangeStrategy,                           \
        (ASurfaceTransaction *, ASurfaceControl *, float, int8_t, int8_t))                         \
    X(android, void, ASurfaceTransaction_setEnableBackPressure,                                    \
        (ASurfaceTransaction *, ASurfaceControl *, bool))                                          \
    X(android, int64_t, ASurfaceTransactionStats_getLatchTime, (ASurfaceTransactionStats *))       \
    X(android, int, ASurfaceTransactionStats_getPresentFenceFd, (ASurfaceTransactionStats *))      \
    X(android, void, ASurfaceTransactionStats_getASurfaceControls,                                 \
        (ASurfaceTransactionStats *, ASurfaceControl ***, size_t *))                               \
    X(android, void, ASurfaceTransactionStats_releaseASurfaceControls, (ASurfaceControl **))       \
    X(android, int, ASurfaceTransactionStats_getPreviousReleaseFenceFd,                            \
        (ASurfaceTransactionStats *, ASurfaceControl *))                                           \
    X(android, ALooper *, ALooper_prepare, (int))                                                  \
    X(android, void, ALooper_acquire, (ALooper *))                                                 \
    X(android, void, ALooper_release, (ALooper *))                                                 \
    X(android, void, ALooper_wake, (ALooper *))                                                    \
    X(android, int, ALooper_pollOnce, (int, int *, int *, void **))                                \
    X(android, AChoreographer *, AChoreographer_getInstance, (void))                               \
    X(android, void, AChoreographer_postFrameCallback64,                                           \
        (AChoreographer *, void (*)(int64_t, void *), void *))                                     \
    X(android, void, AChoreographer_registerRefreshRateCallback,                                   \
        (AChoreographer *, void (*)(int64_t, void *), void *))                                     \
    X(android, void, AChoreographer_unregisterRefreshRateCallback,                                 \
        (AChoreographer *, void (*)(int64_t, void *), void *))

/* The same, NULL where the system is older than the API level. */
#define TP_ANDROID_NEWER_CALLS(X)                                                                  \
    X(android, void, ASurfaceTransaction_setFrameTimeline, /* 33 */                                \
        (ASurfaceTransaction *, int64_t))                                                          \
    X(android, void, AChoreographer_postVsyncCallback, /* 33, and those below */                   \
        (AChoreographer *, void (*)(const AChoreographerFrameCallbackData *, void *), void *))     \
    X(android, int64_t, AChoreographerFrameCallbackData_getFrameTimeNanos,                         \
        (const AChoreographerFrameCallbackData *))                                                 \
    X(android, size_t, AChoreographerFrameCallbackData_getFrameTimelinesLength,                    \
        (const AChoreographerFrameCallbackData *))                                                 \
    X(android, size_t, AChoreographerFrameCallbackData_getPreferredFrameTimelineIndex,             \
        (const AChoreographerFrameCallbackData *))                                                 \
    X(android, int64_t, AChoreographerFrameCallbackData_getFrameTimelineVsyncId,                   \
        (const AChoreographerFrameCallbackData *, size_t))                                         \
    X(android, int64_t,                                                                            \
        AChoreographerFrameCallbackData_getFrameTimelineExpectedPresentationTimeNanos,             \
        (const AChoreographerFrameCallbackData *, size_t))                                         \
    X(android, void, ASurfaceTransaction_setBufferWithRelease, /* 36 */                            \
        (ASurfaceTransaction *, ASurfaceControl *, AHardwareBuffer *, int, void *,                 \
            void (*)(void *, int)))

#define TP_ANDROID_POINTER(library, result, name, parameters) result(*name) parameters;
struct tp_android_api {
    void *android, *window; /* libraries; never closed: the system's own callbacks run in them */
    TP_ANDROID_CALLS(TP_ANDROID_POINTER)
    TP_ANDROID_NEWER_CALLS(TP_ANDROID_POINTER)
};
#undef TP_ANDROID_POINTER

/* -ENOSYS (MISSING): this is no Android of API level 31 or newer. */
int tp_android_api_load(struct tp_android_api *api, struct tp_error *e);

#endif
