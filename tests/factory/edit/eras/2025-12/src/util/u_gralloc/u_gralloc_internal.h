/* Fixture: the backends. */
#ifndef U_GRALLOC_INTERNAL_H
#define U_GRALLOC_INTERNAL_H

#ifdef __cplusplus
extern "C" {
#endif

#include "u_gralloc.h"

struct u_gralloc {
   int type;
};

extern struct u_gralloc *u_gralloc_cros_api_create(void);
#ifdef USE_IMAPPER4_METADATA_API
extern struct u_gralloc *u_gralloc_imapper_api_create(void);
#endif
extern struct u_gralloc *u_gralloc_qcom_create(void);
extern struct u_gralloc *u_gralloc_libdrm_create(void);
extern struct u_gralloc *u_gralloc_fallback_create(void);

#ifdef __cplusplus
}
#endif

#endif
