#include <drm_fourcc.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "frames/icd/x11.h"

/* The name under which the server of a connection is found: by its socket's address; false: that of
 * the environment will be right. */
static bool name_server(xcb_connection_t *c, char *out, size_t room)
{
    struct sockaddr_un peer = {0};
    socklen_t bytes = sizeof peer - 1;
    const char *path = peer.sun_path, *name;

    if (getpeername(xcb_get_file_descriptor(c), (struct sockaddr *)&peer, &bytes) < 0 ||
        peer.sun_family != AF_UNIX)
        return false;
    if (!path[0])
        path++;
    name = strrchr(path, '/');
    if (!name || name[1] != 'X')
        return false;
    snprintf(out, room, ":%s", name + 2);
    return true;
}

static bool is_local(xcb_connection_t *c)
{
    struct sockaddr_storage peer;
    socklen_t bytes = sizeof peer;

    return getpeername(xcb_get_file_descriptor(c), (struct sockaddr *)&peer, &bytes) == 0 &&
        peer.ss_family == AF_UNIX;
}

static void ask_present(struct tp_x11_link *l)
{
    const xcb_query_extension_reply_t *x = xcb_get_extension_data(l->c, &xcb_present_id);

    if (!x || !x->present)
        return;
    xcb_present_query_version_reply_t *v =
        xcb_present_query_version_reply(l->c, xcb_present_query_version(l->c, 1, 2), NULL);
    l->present = v ? x->major_opcode : 0;
    free(v);
}

static void ask_shm(struct tp_x11_link *l)
{
    const xcb_query_extension_reply_t *x = xcb_get_extension_data(l->c, &xcb_shm_id);

    if (!x || !x->present)
        return;
    xcb_shm_query_version_reply_t *v =
        xcb_shm_query_version_reply(l->c, xcb_shm_query_version(l->c), NULL);
    /* From 1.2 on memory is given by its descriptor. */
    if (v && (v->major_version > 1 || v->minor_version >= 2)) {
        l->shm_event = (uint8_t)(x->first_event + XCB_SHM_COMPLETION);
        l->shm_pixmaps = v->shared_pixmaps && v->pixmap_format == XCB_IMAGE_FORMAT_Z_PIXMAP;
    }
    free(v);
}

static void ask_dri3(struct tp_x11_link *l)
{
    const xcb_query_extension_reply_t *x = xcb_get_extension_data(l->c, &xcb_dri3_id);

    if (!x || !x->present)
        return;
    xcb_dri3_query_version_reply_t *v =
        xcb_dri3_query_version_reply(l->c, xcb_dri3_query_version(l->c, 1, 2), NULL);
    l->dri3 = v ? v->minor_version + 1 : 0;
    free(v);
}

/* libXau keeps the name of its file for the process: one at a time. */
static xcb_connection_t *connect_to(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    xcb_connection_t *c = xcb_connect(name, NULL);
    pthread_mutex_unlock(&lock);
    return c;
}

int tp_x11_link_open(struct tp_x11_link *l, xcb_connection_t *other)
{
    char name[sizeof(struct sockaddr_un)];
    bool named = name_server(other, name, sizeof name);

    *l = (struct tp_x11_link){.c = connect_to(named ? name : NULL)};
    if (xcb_connection_has_error(l->c)) {
        tp_x11_link_close(l);
        return -ENODEV;
    }
    ask_present(l);
    if (is_local(l->c)) {
        ask_shm(l);
        ask_dri3(l);
    }
    return 0;
}

void tp_x11_link_close(struct tp_x11_link *l)
{
    if (l->c)
        xcb_disconnect(l->c);
    l->c = NULL;
}

/* --- windows and formats --- */

static const xcb_visualtype_t *find_visual(
    xcb_connection_t *c, xcb_visualid_t visual, uint8_t *depth)
{
    for (xcb_screen_iterator_t s = xcb_setup_roots_iterator(xcb_get_setup(c)); s.rem;
         xcb_screen_next(&s)) {
        for (xcb_depth_iterator_t d = xcb_screen_allowed_depths_iterator(s.data); d.rem;
             xcb_depth_next(&d)) {
            for (xcb_visualtype_iterator_t v = xcb_depth_visuals_iterator(d.data); v.rem;
                 xcb_visualtype_next(&v)) {
                if (v.data->visual_id == visual) {
                    *depth = d.data->depth;
                    return v.data;
                }
            }
        }
    }
    return NULL;
}

uint32_t tp_x11_visual_fourcc(
    xcb_connection_t *c, xcb_visualid_t visual, uint8_t *depth, bool *alpha)
{
    static const struct {
        uint8_t depth;
        uint32_t red, fourcc;
        bool alpha;
    } known[] = {
        {24, 0xff0000, DRM_FORMAT_XRGB8888, false},
        {32, 0xff0000, DRM_FORMAT_ARGB8888, true},
        {24, 0xff, DRM_FORMAT_XBGR8888, false},
        {32, 0xff, DRM_FORMAT_ABGR8888, true},
        {30, 0x3ff00000, DRM_FORMAT_XRGB2101010, false},
        {30, 0x3ff, DRM_FORMAT_XBGR2101010, false},
        {16, 0xf800, DRM_FORMAT_RGB565, false},
    };
    const xcb_visualtype_t *v = find_visual(c, visual, depth);

    if (!v || xcb_get_setup(c)->image_byte_order != XCB_IMAGE_ORDER_LSB_FIRST)
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].depth == *depth && known[i].red == v->red_mask) {
            *alpha = known[i].alpha;
            return known[i].fourcc;
        }
    }
    return 0;
}

int tp_x11_window_get(struct tp_x11_link *l, xcb_window_t id, struct tp_x11_window *out)
{
    xcb_get_geometry_cookie_t asked = xcb_get_geometry(l->c, id);
    xcb_get_window_attributes_cookie_t asked_too = xcb_get_window_attributes(l->c, id);
    xcb_get_geometry_reply_t *g = xcb_get_geometry_reply(l->c, asked, NULL);
    xcb_get_window_attributes_reply_t *a = xcb_get_window_attributes_reply(l->c, asked_too, NULL);

    *out = (struct tp_x11_window){.id = id};
    if (g && a) {
        out->width = g->width;
        out->height = g->height;
        out->fourcc = tp_x11_visual_fourcc(l->c, a->visual, &out->depth, &out->alpha);
        out->depth = g->depth;
        out->bits = out->fourcc == DRM_FORMAT_RGB565 ? 16 : 32;
    }
    int r = g && a ? 0 : -ENODEV;
    free(g);
    free(a);
    return r;
}

static void add(struct tp_target_format *to, uint32_t *n, const struct tp_x11_window *w,
    uint64_t modifier, uint32_t memory)
{
    for (uint32_t i = 0; i < *n; i++) {
        if (to[i].modifier == modifier) {
            to[i].memory |= memory;
            return;
        }
    }
    to[(*n)++] = (struct tp_target_format){w->fourcc, modifier, memory};
}

int tp_x11_formats(struct tp_x11_link *l, const struct tp_x11_window *w,
    struct tp_target_format **out, uint32_t *n)
{
    xcb_dri3_get_supported_modifiers_reply_t *m = NULL;
    int of_window = 0, of_screen = 0;

    *n = 0;
    if (l->dri3 > 2 && l->present)
        m = xcb_dri3_get_supported_modifiers_reply(
            l->c, xcb_dri3_get_supported_modifiers(l->c, w->id, w->depth, w->bits), NULL);
    if (m) {
        of_window = xcb_dri3_get_supported_modifiers_window_modifiers_length(m);
        of_screen = xcb_dri3_get_supported_modifiers_screen_modifiers_length(m);
    }
    *out = calloc((size_t)of_window + (size_t)of_screen + 2, sizeof **out);
    if (*out && w->fourcc) {
        for (int i = 0; i < of_window; i++)
            add(*out, n, w, xcb_dri3_get_supported_modifiers_window_modifiers(m)[i],
                TP_MEMORY_DMABUF);
        for (int i = 0; i < of_screen; i++)
            add(*out, n, w, xcb_dri3_get_supported_modifiers_screen_modifiers(m)[i],
                TP_MEMORY_DMABUF);
        l->names_none = *n == 0;
        if (l->dri3 && l->present && l->names_none)
            add(*out, n, w, DRM_FORMAT_MOD_INVALID, TP_MEMORY_DMABUF);
        add(*out, n, w, DRM_FORMAT_MOD_LINEAR, TP_MEMORY_SHARED);
    }
    free(m);
    return *out ? 0 : -ENOMEM;
}

uint64_t tp_x11_device(struct tp_x11_link *l, const struct tp_x11_window *w)
{
    uint64_t device = 0;
    struct stat st;

    if (!l->dri3)
        return 0;
    xcb_dri3_open_reply_t *r = xcb_dri3_open_reply(l->c, xcb_dri3_open(l->c, w->id, 0), NULL);
    for (int i = 0; r && i < r->nfd; i++) {
        int fd = xcb_dri3_open_reply_fds(l->c, r)[i];
        if (fstat(fd, &st) == 0)
            device = st.st_rdev;
        close(fd);
    }
    free(r);
    return device;
}
