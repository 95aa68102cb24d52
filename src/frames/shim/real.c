#include "frames/shim/real.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

#define NAME(name) #name,
static const char *const names[] = {TP_REAL_NAMES(NAME)};

typedef void (*function)(void);

static _Atomic(function) found[TP_REALS];

function tp_real_find(enum tp_real which)
{
    function f = atomic_load_explicit(&found[which], memory_order_relaxed);

    if (!f) {
        *(void **)&f = dlsym(RTLD_NEXT, names[which]);
        atomic_store_explicit(&found[which], f, memory_order_relaxed);
    }
    return f;
}

void tp_real_find_all(void)
{
    for (int i = 0; i < TP_REALS; i++)
        tp_real_find((enum tp_real)i);
}
