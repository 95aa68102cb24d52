/* libxcb by window_library.h. */
#ifndef TP_FRAMES_ICD_XCB_LIBRARY_H
#define TP_FRAMES_ICD_XCB_LIBRARY_H

#include <xcb/xcb.h>

#include <xcb/dri3.h>
#include <xcb/present.h>
#include <xcb/shm.h>

#include "xcb_symbols.h"

#endif
