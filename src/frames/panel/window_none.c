/* The desktops that this program was built without. */
#include <errno.h>
#include <stdlib.h>

#include "frames/panel/window_view.h"

#define LACKS(desktop, name, variable, packages)                                                   \
    int tp_window_##desktop##_open(uint32_t width, uint32_t height, const char *title,             \
        struct tp_window **out, struct tp_error *e)                                                \
    {                                                                                              \
        (void)width;                                                                               \
        (void)height;                                                                              \
        (void)title;                                                                               \
        *out = NULL;                                                                               \
        return tp_fail(e, TP_STATUS_MISSING, -ENOSYS, getenv(variable),                            \
            "apt-get install " packages ", and build it again",                                    \
            "this turnpike was built without windows on " name);                                   \
    }

#ifndef TP_WAYLAND
LACKS(wayland, "Wayland", "WAYLAND_DISPLAY", "libwayland-dev wayland-protocols")
#endif
#ifndef TP_X11
LACKS(x11, "X11", "DISPLAY", "libxcb-shm0-dev")
#endif
