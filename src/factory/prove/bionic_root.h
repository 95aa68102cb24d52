/* The runtime of Android's C library that a user names: where its five files are, and a root folder
 * made of them. */
#ifndef TP_FACTORY_PROVE_BIONIC_ROOT_H
#define TP_FACTORY_PROVE_BIONIC_ROOT_H

#include "base/error.h"

/*
 * Looks for linker64, libc.so, libm.so, libdl.so and libz.so in dir: where a phone has them
 * (dir/system/…, dir/apex/com.android.runtime/…), or all beside each other. Errors: -ENOENT
 * (MISSING) names the one that is not there and says where a phone has it; INPUT: not a folder, or
 * a file of them is damaged or not for arm64.
 */
int tp_bionic_root_check(const char *dir, struct tp_error *e);

/* Makes root, which does not exist: system/bin and system/lib64 with links to dir's files.
 * Errors: as above, and those of making them. */
int tp_bionic_root_merge(const char *dir, const char *root, struct tp_error *e);

#endif
