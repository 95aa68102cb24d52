/* Fixture: what a back end does. */
struct tu_knl {
   const char *name;

   void (*bo_finish)(struct tu_device *dev, struct tu_bo *bo);
   void (*submit_add_entries)(struct tu_device *device, void *_submit,
                              struct tu_cs_entry *entries, unsigned num_entries);
};
