/* libwayland-client by window_library.h. */
#ifndef TP_FRAMES_ICD_WAYLAND_LIBRARY_H
#define TP_FRAMES_ICD_WAYLAND_LIBRARY_H

#include <wayland-client-core.h>

#include "wayland_symbols.h"

/* Calls what the table has. */
#include <wayland-client-protocol.h>

#endif
