/* Unpacks a tar stream that nobody vouches for. */
#ifndef TP_FACTORY_SOURCE_TAR_H
#define TP_FACTORY_SOURCE_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct tp_tar_link {
    char *path, *target;
};

/*
 * The reader's state. Between tp_tar_init and tp_tar_finish it owns a few descriptors and strings.
 * Formats: v7, ustar, GNU (long names) and pax (path, linkpath, size, mtime, comment). Refused,
 * with the member's name: absolute names, "..", control characters, devices and pipes, sparse
 * files, a name that occurs twice, more than TP_TAR_MAX_BYTES or TP_TAR_MAX_MEMBERS. Symbolic links
 * are made last, so that nothing is ever written through one; whether they stay inside is for the
 * caller to check. Owners and times of the stream are not taken over; of the modes, only
 * "executable".
 */
struct tp_tar {
    const char *name;  /* borrowed: the tarball, for errors */
    int root_fd;       /* owned: the folder that is filled */
    const char *place; /* borrowed: what that folder is called in errors */
    int64_t newest;    /* out: newest mtime of a member, -1 when there was none */
    char *comment;     /* out: git archive writes the commit here; may be NULL */

    enum { TP_TAR_HEADER, TP_TAR_DATA, TP_TAR_TEXT, TP_TAR_PADDING, TP_TAR_END } state;
    unsigned char block[512];
    size_t have;      /* bytes of block */
    uint64_t left;    /* bytes of the member's data still to come */
    unsigned padding; /* bytes behind it */
    char text_type;   /* 'x', 'g', 'L' or 'K' while in TP_TAR_TEXT */
    struct tp_buf text;
    char *next_path, *next_link; /* what such a text said about the next member */
    int64_t next_size, next_mtime;
    char *member; /* the current one, for errors */
    int fd;       /* the file that is written, or -1 */
    char *parent; /* the folder of the last member, and its descriptor */
    int parent_fd;
    uint64_t bytes, members;
    struct tp_tar_link *links;
    size_t n_links, cap_links;
};

#define TP_TAR_MAX_BYTES ((uint64_t)4 << 30)
#define TP_TAR_MAX_MEMBERS 500000

/* root: an empty folder. name, place: as above. */
int tp_tar_init(
    struct tp_tar *t, const char *name, const char *root, const char *place, struct tp_error *e);
/* The next bytes of the stream, in pieces of any size. After an error only tp_tar_finish is
 * allowed. */
int tp_tar_feed(struct tp_tar *t, const char *data, size_t n, struct tp_error *e);
/* The stream has ended: refuses a truncated one, makes the links. */
int tp_tar_end(struct tp_tar *t, struct tp_error *e);
void tp_tar_finish(struct tp_tar *t);

#endif
