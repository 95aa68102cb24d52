/* Where downloads are kept, and the arm64 libraries among them. */
#ifndef TP_BASE_CACHE_H
#define TP_BASE_CACHE_H

#include "base/error.h"

/* $TURNPIKE_CACHE, else $XDG_CACHE_HOME/turnpike, else ~/.cache/turnpike. Absolute; not made. The
 * caller frees. NULL with an error when no home is known. */
char *tp_cache_dir(struct tp_error *e);

/* Where tools/arm64-sysroot puts the arm64 libraries by default. As above. */
char *tp_arm64_sysroot_dir(struct tp_error *e);

/* Who is told before something large is fetched; NULL: nobody. For the start of a program. */
void tp_cache_tell(void (*note)(const char *text));

/*
 * Runs tools/arm64-sysroot for dir. The script keeps a folder that is up to date, and replaces one made
 * from another list. Errors: -EACCES (status INPUT) when the folder cannot be used, -ENOENT (status
 * MISSING) when the packages cannot be fetched, those of tp_run.
 */
int tp_arm64_sysroot_make(const char *dir, struct tp_error *e);

#endif
