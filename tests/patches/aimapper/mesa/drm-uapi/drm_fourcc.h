/* Mesa has a copy of the kernel's header; here it is libdrm's.
 * SPDX-License-Identifier: MIT */
#include <drm_fourcc.h>
