/* The backend as a library of its own, opened anew for each test (what it remembers for the process
 * goes with it), beside the vendor double. Environment: TP_BACKEND, the backend's library;
 * TP_DOUBLE, the folder of the double's. */
#ifndef AIMAPPER_SUPPORT_H
#define AIMAPPER_SUPPORT_H

#include <drm_fourcc.h>
#include <stdbool.h>
#include <stdint.h>

#include "double/buffer.h"
#include "double/counts.h"
#include "u_gralloc_internal.h"

struct backend {
    void *module;
    void *support;   /* libvndksupport's double, held so that the backend finds it by name */
    char path[4096]; /* its file */
    struct u_gralloc *(*create)(void);
    struct double_counts (*take)(void);
    char lines[4096]; /* what was logged, a line each */
    unsigned fds;     /* of the process, before */
};

/* A buffer of the double, with fds that are numbers only. */
struct buffer {
    struct u_gralloc_buffer_handle hnd;
    int32_t ints[3 + DOUBLE_FDS + DOUBLE_INTS]; /* the native_handle_t */
};

#define FIRST_FD 1000
#define SECOND_FD 1001

/* cmocka's setup and teardown: in a folder of the test's own, where the backend looks for mappers
 * below hw/; teardown fails where fds or libraries are left. */
int backend_setup(void **state);
int backend_teardown(void **state);

/* As setup and teardown do; folder: of libvndksupport's double, NULL: there is none. */
void backend_open(struct backend *b, const char *folder);
void backend_close(struct backend *b);
/* Creates with TURNPIKE_MAPPER set so. */
struct u_gralloc *backend_create(struct backend *b, const char *setting);
/* How many logged lines have this text. */
unsigned backend_logged(const struct backend *b, const char *text);
/* A library of the double's folder, under its full name, is loaded. */
bool is_loaded(const char *folder, const char *file);
const char *double_folder(void);

/* A buffer of 1216x2688, the kind's format. */
struct buffer buffer_make(int kind);
struct buffer buffer_sized(int kind, int width, int height, int format);
/* Puts the pointer right after a copy. */
struct u_gralloc_buffer_handle *buffer_handle(struct buffer *buffer);

int ask(struct u_gralloc *gr, struct buffer *buffer, struct u_gralloc_buffer_basic_info *out);

#endif
