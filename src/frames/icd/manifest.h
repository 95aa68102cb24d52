/* The manifests by which the Vulkan loader finds drivers (LoaderDriverInterface.md, "Driver
 * Manifest File Format"). */
#ifndef TP_FRAMES_ICD_MANIFEST_H
#define TP_FRAMES_ICD_MANIFEST_H

#include <stddef.h>

/* ICD.library_path of a manifest's text, as it stands there, into out. -EINVAL: it has none, or is
 * no JSON; -ENAMETOOLONG. */
int tp_manifest_library(const char *text, size_t n, char *out, size_t room);

#endif
