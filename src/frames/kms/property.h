/* Which values a property takes, and on which object it is. Inside the core. */
#ifndef TP_FRAMES_KMS_PROPERTY_H
#define TP_FRAMES_KMS_PROPERTY_H

#include "frames/kms/internal.h"

/* drm_property_change_valid_get: an immutable one takes none. */
bool tp_property_takes(struct tp_kms *kms, enum tp_property p, uint64_t value);
/* The index of the object among its kind; -ENOENT: there is none with this id; -EINVAL: it has no
 * properties. */
int tp_property_object(const struct tp_kms *kms, uint64_t id, enum tp_object_kind *kind,
                       unsigned *place);
/* The property with this id, if the object at this place has it: enum tp_property, or -ENOENT. */
int tp_property_find(const struct tp_kms *kms, unsigned place, uint32_t id);

#endif
