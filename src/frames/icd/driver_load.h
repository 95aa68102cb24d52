/* One driver's library: opened, and its entry points found. */
#ifndef TP_FRAMES_ICD_DRIVER_LOAD_H
#define TP_FRAMES_ICD_DRIVER_LOAD_H

#include "base/error.h"
#include "frames/icd/driver.h"

/* path: a library, an archive or a manifest; a name without a folder is a file here, or else a
 * library where the linker looks. Errors: -ENOENT and the like; -EINVAL: it is none of these;
 * -EBADMSG: it is damaged; -ENOTSUP: another machine's or Android's; -ENOEXEC: it cannot be loaded
 * here, or is no Vulkan driver; -ELOOP: it is this library. */
int tp_icd_driver_load(const char *path, struct tp_icd_driver *out, struct tp_error *e);
void tp_icd_driver_unload(struct tp_icd_driver *d);

/* What it is worth: how many kinds of device are worse than its best; 0: it has no device. */
int tp_icd_driver_rank(const struct tp_icd_driver *d);

#endif
