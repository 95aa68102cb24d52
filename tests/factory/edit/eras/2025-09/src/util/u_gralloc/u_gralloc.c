/* Fixture: the table of backends. */
#include "u_gralloc_internal.h"

static const struct u_grallocs {
   enum u_gralloc_type type;
   struct u_gralloc *(*create)();
} u_grallocs[] = {
   {.type = U_GRALLOC_TYPE_CROS, .create = u_gralloc_cros_api_create},
#ifdef USE_IMAPPER4_METADATA_API
   {.type = U_GRALLOC_TYPE_GRALLOC4, .create = u_gralloc_imapper_api_create},
#endif /* USE_IMAPPER4_METADATA_API */
   {.type = U_GRALLOC_TYPE_LIBDRM, .create = u_gralloc_libdrm_create},
   {.type = U_GRALLOC_TYPE_QCOM, .create = u_gralloc_qcom_create},
   {.type = U_GRALLOC_TYPE_FALLBACK, .create = u_gralloc_fallback_create},
};

struct u_gralloc *
u_gralloc_create(enum u_gralloc_type type)
{
   for (unsigned i = 0; i < ARRAY_SIZE(u_grallocs); i++) {
      if (u_grallocs[i].type == type)
         return u_grallocs[i].create();
   }
   return NULL;
}
