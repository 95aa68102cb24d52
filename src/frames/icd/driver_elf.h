/* What a driver's file says of itself, before it is mapped into a process. */
#ifndef TP_FRAMES_ICD_DRIVER_ELF_H
#define TP_FRAMES_ICD_DRIVER_ELF_H

#include <stdbool.h>

#include "base/error.h"

/* Whether the library behind fd (borrowed) is whole, and of this process's machine. shown: its name
 * for people. -ENOTSUP: another machine's; -EBADMSG: damaged or cut off, so that who maps it may be
 * ended by a signal; read's errors. */
int tp_icd_elf_check(int fd, const char *shown, struct tp_error *e);

/* It was linked for Android: by its note, or by the libraries that it needs. */
bool tp_icd_elf_is_android(int fd);

#endif
