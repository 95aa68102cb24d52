/* Bionic runs no destructors of libraries when the program ends: the simulator's, which closes its
 * books, is run from here. */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>

extern const Elf64_Dyn _DYNAMIC[] __attribute__((visibility("hidden")));
extern const char __ehdr_start[] __attribute__((visibility("hidden"))); /* ld's; linked at 0 */

int __cxa_atexit(void (*function)(void *), void *argument, void *object);

static void run_destructors(void *nothing)
{
    uint64_t at = 0, bytes = 0;
    (void)nothing;
    for (const Elf64_Dyn *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_FINI_ARRAY)
            at = d->d_un.d_ptr;
        else if (d->d_tag == DT_FINI_ARRAYSZ)
            bytes = d->d_un.d_val;
    }
    void (*const *list)(void) = (void (*const *)(void))(const void *)(__ehdr_start + at);
    for (size_t i = bytes / sizeof *list; i-- > 0;)
        list[i]();
}

__attribute__((constructor)) static void begin(void)
{
    __cxa_atexit(run_destructors, NULL, NULL);
}
