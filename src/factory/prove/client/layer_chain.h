/* One layer between the client and a driver, without a loader. */
#ifndef TP_FACTORY_PROVE_CLIENT_LAYER_CHAIN_H
#define TP_FACTORY_PROVE_CLIENT_LAYER_CHAIN_H

#include <stddef.h>

#include "entry.h"
#include "vk.h"

/* The path of VK_LAYER_KHRONOS_validation's library, by its manifest in the folders that Vulkan's
 * loader looks in: $VK_LAYER_PATH alone, where it is set. 0: PATH is filled in (it may be a name for
 * dlopen); 1: there is no manifest; -1: there is one that is of no use. WHY says so. */
int tp_layer_find(char *path, size_t path_size, char *why, size_t size);

/*
 * Opens the layer at PATH and puts it on top of ENTRY's driver: its functions then lead through the
 * layer. One chain a process. OBJECT is called with what the chain itself finds wrong in the driver.
 * 0, or -1 with the reason.
 */
int tp_layer_chain(struct tp_entry *entry, const char *path, void (*object)(const char *what),
                   char *why, size_t size);
/* The driver's own functions, below the layer; filled in by vkCreateInstance. */
const struct tp_vk *tp_layer_below(void);
/* NULL, or a function that must be there and that the driver lacks. */
const char *tp_layer_missing(void);
/* Once nothing of it is used. */
void tp_layer_unchain(void);

#endif
