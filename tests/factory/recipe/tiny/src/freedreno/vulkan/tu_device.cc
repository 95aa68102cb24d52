#include "label.h"

extern "C" const char *tiny_where(void);
extern "C" int tiny_queue(int);
int tiny_tune(int);

/* An initializer without a public symbol beside it: the compiler names it by a random seed. */
namespace {
struct counted {
    counted() { n = tiny_tune(3); }
    int n;
} once;
}

extern "C" __attribute__((visibility("default"))) const void *
vk_icdGetInstanceProcAddr(void *, const char *name)
{
    static const char here[] = __FILE__;
    if (name[0] == 'w')
        return tiny_where();
    if (name[0] == 'l')
        return LABEL;
    return here + tiny_queue(once.n) % 2;
}
