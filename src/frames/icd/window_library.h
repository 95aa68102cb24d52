/*
 * The window systems' client libraries are looked for when ours is loaded, and not linked: one
 * library of ours is for machines with both, with one of them, and with none, as a launcher's
 * container may be. What is used of them is listed in window_symbols.txt: those names are macros
 * for the pointers that were found, and nothing is called by them where there is no such library.
 *
 * Wayland's headers and xcb's are included by wayland_library.h and xcb_library.h alone, so that
 * none is called past the table.
 */
#ifndef TP_FRAMES_ICD_WINDOW_LIBRARY_H
#define TP_FRAMES_ICD_WINDOW_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct tp_window_symbol {
    const char *library, *name;
};

/* libwayland-client, 1.20 or newer. */
bool tp_wayland_there(void);
/* libxcb with its DRI3, Present and MIT-SHM. */
bool tp_xcb_there(void);

/* All of them, into a table of pointers, or false. Libraries stay: at the end of the process
 * threads of ours, and of the application's, may still be in them. */
static inline bool tp_window_find(const struct tp_window_symbol *symbols, size_t n, void *table)
{
    const char *opened = "";
    void *library = NULL;

    for (size_t i = 0; i < n; i++) {
        if (strcmp(opened, symbols[i].library) != 0) {
            opened = symbols[i].library;
            library = dlopen(opened, RTLD_NOW | RTLD_LOCAL);
        }
        void *at = library ? dlsym(library, symbols[i].name) : NULL;
        if (!at)
            return false;
        memcpy((char *)table + i * sizeof at, &at, sizeof at);
    }
    return true;
}

#endif
