/* Fixture: a command stream. */
#include "tu_knl.h"

struct tu_cs
{
   uint32_t *start;
   uint32_t *cur;
   uint32_t *end;
   const char *name;

   struct tu_device *device;
   enum tu_cs_mode mode;
   bool writeable;
   uint32_t next_bo_size;

   struct tu_bo_array read_only, read_write;

   /* which this stream shares with others */
   struct tu_bo *refcount_bo;
};
