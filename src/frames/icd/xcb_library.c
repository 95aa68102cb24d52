#include "frames/icd/xcb_library.h"

#include "frames/icd/window_library.h"

struct tp_xcb_symbols tp_xcb_symbols;
static bool there;

__attribute__((constructor)) static void load(void)
{
    static const struct tp_window_symbol symbols[] = TP_XCB_SYMBOLS;

    there = tp_window_find(symbols, sizeof symbols / sizeof *symbols, &tp_xcb_symbols);
}

bool tp_xcb_there(void)
{
    return there;
}
