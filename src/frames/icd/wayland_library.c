#include "frames/icd/wayland_library.h"

#include "frames/icd/window_library.h"

struct tp_wayland_symbols tp_wayland_symbols;
static bool there;

__attribute__((constructor)) static void load(void)
{
    static const struct tp_window_symbol symbols[] = TP_WAYLAND_SYMBOLS;

    there = tp_window_find(symbols, sizeof symbols / sizeof *symbols, &tp_wayland_symbols);
}

bool tp_wayland_there(void)
{
    return there;
}
