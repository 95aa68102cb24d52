/* What Android's crtbegin_dynamic.o does (bionic/libc/arch-common/bionic/crtbegin.c). */
#include <stddef.h>

/* libc_init_common.h. Constructors are run by linker64; there is nothing to run at the end. */
struct structors {
    void (**preinit)(void), (**init)(void), (**fini)(void);
    size_t preinit_count, init_count, fini_count; /* API 34 and later look at them */
};

_Noreturn void __libc_init(void *raw, void (*at_exit)(void), int (*program)(int, char **, char **),
                           const struct structors *structors);
int main(int argc, char **argv, char **environment);
_Noreturn void tp_bionic_start(void *raw);

__attribute__((visibility("hidden"))) _Noreturn void tp_bionic_start(void *raw)
{
    static const struct structors none;
    __libc_init(raw, NULL, main, &none);
}
