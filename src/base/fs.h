/* Files and folders: bounded reads, whole writes, removal of trees, hashes. */
#ifndef TP_BASE_FS_H
#define TP_BASE_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

/* Opens a regular file for reading. size_bytes: may be NULL. Returns the descriptor, which the caller
 * closes, or a negative errno, -EISDIR and -EINVAL (status INPUT) for what is no regular file. */
int tp_open_regular(const char *path, uint64_t *size_bytes, struct tp_error *e);
/* Reads a regular file whole. max_bytes: a larger one is refused (-EFBIG); 0 means 1 GiB.
 * out: emptied first; the caller owns it. */
int tp_read_file(const char *path, size_t max_bytes, struct tp_buf *out, struct tp_error *e);

/* The descriptor of this process that a path names (/dev/stdout, /dev/stderr, /dev/fd/N,
 * /proc/self/fd/N); -1: it names none. It is written to where it stands: what a shell has opened
 * behind it, to append or with other programs, is not this one's to replace. */
int tp_named_descriptor(const char *path);

/* Writes a file whole or not at all: a temporary beside it, then rename. mode: permission bits of
 * a new file; a file that exists keeps its own. A symbolic link at path is followed. A device, a
 * pipe or a descriptor is written into. */
int tp_write_file(const char *path, const void *data, size_t len, mode_t mode, struct tp_error *e);

/* Opens a device or a pipe that is there to write into, without blocking on it: writes answer EAGAIN.
 * A named pipe has some seconds to get its reader. Returns the fd, the caller's; -ENXIO: nobody reads
 * it; -EINTR: a signal came that ends this process, blocked here or not. */
int tp_open_pipe(const char *path, struct tp_error *e);

/* Would tp_write_file find a place to write? Nothing is left changed. */
int tp_try_write(const char *path, struct tp_error *e);

/* Do both paths lead to one file that is there? */
bool tp_is_same_file(const char *a, const char *b);

/* Copies a regular file whole or not at all, with its permission bits. */
int tp_copy_file(const char *from, const char *to, struct tp_error *e);

/* mkdir -p. */
int tp_mkdirs(const char *path, struct tp_error *e);
/* Creates the folders that path's last component stands in. */
int tp_mkdirs_for(const char *path, struct tp_error *e);

/* rm -rf; never follows a link; a path that is not there is no error. */
int tp_remove_tree(const char *path, struct tp_error *e);

/* A new empty folder `dir/.tp-XXXXXX` that only this process uses. Returns its path (caller frees
 * and removes), or NULL. */
char *tp_temp_dir(const char *dir, struct tp_error *e);
/* The same as a file, for this user alone: its descriptor, or a negative errno. path: its name,
 * which the caller frees; NULL on failure. */
int tp_temp_file(const char *dir, char **path);
/* Removes what killed processes of this user left: every .tp-* entry in dir whose maker is gone. */
void tp_sweep_temp(const char *dir);
/* As tp_temp_dir, for libraries that are loaded out of it: below TMPDIR, or, where LD_PRELOAD would
 * split that path or no program may be run from there, below /tmp, /dev/shm or /var/tmp. What killed
 * processes left beside it is removed first. */
char *tp_run_dir(struct tp_error *e);

bool tp_exists(const char *path);
bool tp_is_dir(const char *path);
bool tp_is_file(const char *path);

/* "a/b" from "a" and "b" (b absolute: b alone). Caller frees. */
char *tp_join(const char *a, const char *b);
/* The absolute form of a path, links not resolved. As it is where the current folder is gone.
 * Caller frees. */
char *tp_absolute(const char *path);
/* What follows a path's last '/', in it: "c" of "a/b/c", all of it where there is none. */
const char *tp_base_name(const char *path);
/* The folder in which a path stands: "a/b" of "a/b/c", "/" of "/a", "." of "a". Caller frees. */
char *tp_parent(const char *path);
/* `path` as seen from the folder `from` (both absolute): "../x/y". Caller frees. */
char *tp_relative(const char *path, const char *from);

/* What this user may still write on the file system that path (which exists) is on; -1 where that
 * is not known. */
int64_t tp_free_bytes(const char *path);

/* Is this the one spelling of a path below a folder: relative, without empty, "." and ".." parts? */
bool tp_is_below(const char *path);

#define TP_SHA256_HEX 65
/* Lower-case hex with a NUL into out. */
void tp_sha256(const void *data, size_t len, char out[TP_SHA256_HEX]);
int tp_sha256_file(const char *path, char out[TP_SHA256_HEX], struct tp_error *e);

/* Where patches/ and other data live: TURNPIKE_DATADIR, else beside the executable (…/patches),
 * else where `ninja install` puts them as seen from there (../share/turnpike), else the compiled-in
 * source path; never the current directory. name: "patches". Returns a path that exists (caller
 * frees), or NULL with an error that names each place tried. */
char *tp_data_path(const char *name, struct tp_error *e);
/* The folder that this program was started from, links followed; NULL where it is not known. Caller
 * frees. */
char *tp_program_dir(void);

#endif
