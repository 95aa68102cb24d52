/*
 * Turnpike's display server in an app: a DRM card for compositors that run beside it, whose screen
 * is a surface of the app's. See docs/embedding.md.
 *
 * All functions may be called from any thread; those of one server one at a time. None waits for a
 * client. Answers are 0 or a negative errno.
 */
#ifndef TURNPIKE_SERVER_H
#define TURNPIKE_SERVER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TURNPIKE_API __attribute__((visibility("default")))
#else
#define TURNPIKE_API
#endif

struct turnpike_server;

struct turnpike_server_config {
    size_t size; /* sizeof(struct turnpike_server_config) */
    /* Where clients connect: a path of at most 107 bytes, or @NAME for an abstract address; NULL:
     * only descriptors of turnpike_server_adopt. */
    const char *socket_path;
    uint32_t width_px, height_px; /* the screen's mode; the surface shows it as large as fits */
    uint32_t refresh_mhz;         /* in millihertz: 60000 */
    uint32_t width_mm, height_mm; /* 0: as 300 dpi makes it */
    int hdr;                      /* pass HDR pictures on as such */
    /* A line about an incident, for a person; any thread, one at a time. NULL: nobody hears it. */
    void (*log)(void *data, const char *line);
    void *log_data;
};

/*
 * A server on threads of its own, with no surface yet. On failure *out is NULL, and error, if there
 * is room, says what was wrong and what to do. -ENOSYS: no Android 12 or newer; -EADDRINUSE:
 * another server has the path; -EINVAL: a mode or a path that cannot be.
 */
TURNPIKE_API int turnpike_server_create(const struct turnpike_server_config *config,
    struct turnpike_server **out, char *error, size_t error_bytes);
/* Ends it: clients are disconnected, the socket's file goes. NULL is fine. */
TURNPIKE_API void turnpike_server_destroy(struct turnpike_server *server);

/* Where to show: an ANativeWindow *, which gets a reference of its own. NULL: the surface is being
 * destroyed; once this has returned, it is not used any more. */
TURNPIKE_API void turnpike_server_set_window(struct turnpike_server *server, void *window);
/* The surface has another size, or was turned. */
TURNPIKE_API void turnpike_server_resize(struct turnpike_server *server);

/* The app is hidden: clients go on, unseen, and SurfaceFlinger keeps none of their buffers. */
TURNPIKE_API void turnpike_server_pause(struct turnpike_server *server);
/* It is seen again, with the newest picture. */
TURNPIKE_API void turnpike_server_resume(struct turnpike_server *server);
/* Shows the newest picture once more: for a screen recorder that has just begun. */
TURNPIKE_API void turnpike_server_repaint(struct turnpike_server *server);
/* HDR pictures are passed on as such (1) or shown as others are (0). */
TURNPIKE_API void turnpike_server_set_hdr(struct turnpike_server *server, int hdr);

/* Takes a client: one end of a connected SOCK_SEQPACKET socket, which is moved, on failure too. */
TURNPIKE_API int turnpike_server_adopt(struct turnpike_server *server, int fd);

#ifdef __cplusplus
}
#endif

#endif
