/*
 * Included before everything else when the client, the simulator and the platform's stub are
 * compiled for Android's C library, by the cross compiler with glibc's headers. Both libraries
 * stand on the same kernel and the same ABI of the processor; what this program uses and the two
 * name or lay out differently is here and in adapt.c, where equal layouts are asserted too. What
 * bionic lacks, the link finds: libc.S and libdl.S have the symbols of API 28, and no other may be
 * used.
 */
#ifndef TP_FACTORY_PROVE_BIONIC_H
#define TP_FACTORY_PROVE_BIONIC_H

/* Functions, not glibc's macros over tables and FILE's inside. */
#define __NO_CTYPE
#ifndef __NO_INLINE__
#define __NO_INLINE__
#endif

/* glibc from 2.38 on reads numbers by functions of its own where _GNU_SOURCE is set. */
#include <features.h>
#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0

/* The same function under bionic's name. Which of the last are met depends on glibc's age. */
#pragma redefine_extname __errno_location __errno
#pragma redefine_extname __sigsetjmp sigsetjmp
#pragma redefine_extname __isoc99_sscanf sscanf
#pragma redefine_extname __isoc23_sscanf sscanf
#pragma redefine_extname __isoc23_strtol strtol
#pragma redefine_extname __isoc23_strtoul strtoul
#pragma redefine_extname __isoc23_strtoll strtoll
#pragma redefine_extname __isoc23_strtoull strtoull

/* Others, made in adapt.c. */
#pragma redefine_extname sigaction tp_bionic_sigaction
#pragma redefine_extname gnu_dev_makedev tp_bionic_makedev
#pragma redefine_extname pthread_atfork tp_bionic_atfork

#endif
