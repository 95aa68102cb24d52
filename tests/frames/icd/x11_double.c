#include "x11_double.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <xcb/dri3.h>
#include <xcb/present.h>
#include <xcb/xcb.h>

#include <cmocka.h>

enum { DRI3 = 140, PRESENT = 141, VISUAL = 0x21, ROOT = 0x100, PARTS = 16 };

struct double_client {
    struct x11_double *server;
    int fd;
    uint16_t sequence;
    int files[PARTS]; /* that came, and belong to requests to come */
    unsigned n_files;
};

/* --- bytes --- */

static bool get(struct double_client *c, void *to, size_t n)
{
    for (size_t got = 0; got < n;) {
        union {
            struct cmsghdr head;
            char room[CMSG_SPACE(PARTS * sizeof(int))];
        } control;
        struct iovec part = {(char *)to + got, n - got};
        struct msghdr m = {.msg_iov = &part,
            .msg_iovlen = 1,
            .msg_control = &control,
            .msg_controllen = sizeof control};
        ssize_t r = recvmsg(c->fd, &m, MSG_CMSG_CLOEXEC);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            return false;
        for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
            unsigned n_files = (unsigned)((h->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            for (unsigned i = 0; i < n_files && c->n_files < PARTS; i++)
                memcpy(&c->files[c->n_files++], CMSG_DATA(h) + i * sizeof(int), sizeof(int));
        }
        got += (size_t)r;
    }
    return true;
}

/* file: goes with it; -1: none. */
static void put(struct double_client *c, const void *from, size_t n, int file)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.head = {
                     .cmsg_len = CMSG_LEN(sizeof(int)),
                     .cmsg_level = SOL_SOCKET,
                     .cmsg_type = SCM_RIGHTS,
                 }};
    struct iovec part = {(void *)(uintptr_t)from, n};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};

    if (file >= 0) {
        m.msg_control = &control;
        m.msg_controllen = sizeof control.room;
        memcpy(CMSG_DATA(&control.head), &file, sizeof file);
    }
    (void)!sendmsg(c->fd, &m, MSG_NOSIGNAL); /* a client may have gone */
}

static int take_file(struct double_client *c)
{
    int fd = c->n_files ? c->files[0] : -1;

    if (c->n_files)
        memmove(c->files, c->files + 1, --c->n_files * sizeof(int));
    return fd;
}

/* --- the core protocol --- */

static bool shake_hands(struct double_client *c)
{
    xcb_setup_request_t asks;
    char rest[1024];
    struct {
        xcb_setup_t setup;
        xcb_format_t format;
        xcb_screen_t screen;
        xcb_depth_t depth;
        xcb_visualtype_t visual;
    } says = {
        .setup = {.status = 1,
            .protocol_major_version = 11,
            .length = (sizeof says - 8) / 4,
            .resource_id_base = UINT32_C(0x200000) * (c->server->n_clients + 1),
            .resource_id_mask = 0x1fffff,
            .maximum_request_length = 65535,
            .roots_len = 1,
            .pixmap_formats_len = 1,
            .bitmap_format_scanline_unit = 32,
            .bitmap_format_scanline_pad = 32,
            .min_keycode = 8,
            .max_keycode = 255},
        .format = {.depth = 24, .bits_per_pixel = 32, .scanline_pad = 32},
        .screen = {.root = ROOT,
            .width_in_pixels = 640,
            .height_in_pixels = 480,
            .root_visual = VISUAL,
            .root_depth = 24,
            .allowed_depths_len = 1},
        .depth = {.depth = 24, .visuals_len = 1},
        .visual = {.visual_id = VISUAL,
            ._class = XCB_VISUAL_CLASS_TRUE_COLOR,
            .bits_per_rgb_value = 8,
            .colormap_entries = 256,
            .red_mask = 0xff0000,
            .green_mask = 0xff00,
            .blue_mask = 0xff},
    };

    if (!get(c, &asks, sizeof asks))
        return false;
    size_t more = ((asks.authorization_protocol_name_len + 3u) & ~3u) +
        ((asks.authorization_protocol_data_len + 3u) & ~3u);
    if (more > sizeof rest || !get(c, rest, more))
        return false;
    put(c, &says, sizeof says, -1);
    return true;
}

#define REPLY(type, ...)                                                                           \
    do {                                                                                           \
        type reply = {.response_type = 1, .sequence = c->sequence, __VA_ARGS__};                   \
        char bytes[sizeof reply > 32 ? sizeof reply : 32] = {0};                                   \
        reply.length = (uint32_t)((sizeof bytes - 32 + 3) / 4);                                    \
        memcpy(bytes, &reply, sizeof reply);                                                       \
        put(c, bytes, sizeof bytes, -1);                                                           \
    } while (0)

static void answer_core(struct double_client *c, const uint8_t *r)
{
    switch (r[0]) {
    case XCB_QUERY_EXTENSION: {
        const xcb_query_extension_request_t *q = (const void *)r;
        const char *name = (const char *)(q + 1);
        bool dri3 = q->name_len == 4 && !memcmp(name, "DRI3", 4);
        bool present = q->name_len == 7 && !memcmp(name, "Present", 7);
        REPLY(xcb_query_extension_reply_t, .present = dri3 || present,
            .major_opcode = dri3 ? DRI3
                : present        ? PRESENT
                                 : 0);
        break;
    }
    case XCB_GET_GEOMETRY:
        REPLY(xcb_get_geometry_reply_t, .depth = 24, .root = ROOT, .width = DOUBLE_WIDTH,
            .height = DOUBLE_HEIGHT);
        break;
    case XCB_GET_WINDOW_ATTRIBUTES:
        REPLY(xcb_get_window_attributes_reply_t, .visual = VISUAL, ._class = 1,
            .map_state = XCB_MAP_STATE_VIEWABLE);
        break;
    case XCB_GET_INPUT_FOCUS:
        REPLY(xcb_get_input_focus_reply_t, .focus = ROOT);
        break;
    case XCB_FREE_PIXMAP:
        for (unsigned i = 0; i < c->server->n_pixmaps; i++)
            c->server->pixmaps[i].freed |= c->server->pixmaps[i].id ==
                ((const xcb_free_pixmap_request_t *)(const void *)r)->pixmap;
        c->server->n_freed++;
        break;
    default: /* windows and graphic contexts are as they are asked for */
        break;
    }
}

/* --- DRI3 and Present --- */

static void refuse(struct double_client *c, const uint8_t *r)
{
    xcb_generic_error_t e = {
        .error_code = XCB_ALLOC, .sequence = c->sequence, .minor_code = r[1], .major_code = r[0]};

    put(c, &e, 32, -1);
}

static void keep(struct double_client *c, struct double_pixmap *p, const uint8_t *r)
{
    struct stat st;

    for (unsigned i = 0; i < p->n_files; i++) {
        int fd = take_file(c);
        p->files[i] = fd >= 0 && fstat(fd, &st) == 0 ? st.st_ino : 0;
        if (fd >= 0)
            close(fd);
    }
    if (c->server->refuses)
        refuse(c, r);
    else if (c->server->n_pixmaps < DOUBLE_RECORDS)
        c->server->pixmaps[c->server->n_pixmaps++] = *p;
}

static void take_pixmap(struct double_client *c, const uint8_t *r)
{
    const xcb_dri3_pixmap_from_buffer_request_t *q = (const void *)r;

    keep(c,
        &(struct double_pixmap){.id = q->pixmap,
            .width = q->width,
            .height = q->height,
            .pitches = {q->stride},
            .size = q->size,
            .depth = q->depth,
            .bits = q->bpp,
            .n_files = 1},
        r);
}

static void take_pixmap_of_many(struct double_client *c, const uint8_t *r)
{
    const xcb_dri3_pixmap_from_buffers_request_t *q = (const void *)r;

    keep(c,
        &(struct double_pixmap){.id = q->pixmap,
            .width = q->width,
            .height = q->height,
            .pitches = {q->stride0, q->stride1, q->stride2, q->stride3},
            .offsets = {q->offset0, q->offset1, q->offset2, q->offset3},
            .depth = q->depth,
            .bits = q->bpp,
            .modifier = q->modifier,
            .modified = true,
            .n_files = q->num_buffers <= DOUBLE_FILES ? q->num_buffers : DOUBLE_FILES},
        r);
}

static void tell_modifiers(struct double_client *c)
{
    struct x11_double *d = c->server;
    xcb_dri3_get_supported_modifiers_reply_t says = {.response_type = 1,
        .sequence = c->sequence,
        .length = 2 * (d->n_of_window + d->n_of_screen),
        .num_window_modifiers = d->n_of_window,
        .num_screen_modifiers = d->n_of_screen};

    put(c, &says, sizeof says, -1);
    if (d->n_of_window)
        put(c, d->of_window, d->n_of_window * sizeof *d->of_window, -1);
    if (d->n_of_screen)
        put(c, d->of_screen, d->n_of_screen * sizeof *d->of_screen, -1);
}

/* Any device will do. */
static void tell_device(struct double_client *c)
{
    xcb_dri3_open_reply_t says = {.response_type = 1, .nfd = 1, .sequence = c->sequence};
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    put(c, &says, 32, fd);
    close(fd);
}

static void answer_dri3(struct double_client *c, const uint8_t *r)
{
    switch (r[1]) {
    case XCB_DRI3_QUERY_VERSION:
        REPLY(xcb_dri3_query_version_reply_t, .major_version = 1,
            .minor_version = c->server->dri3_minor);
        break;
    case XCB_DRI3_OPEN:
        tell_device(c);
        break;
    case XCB_DRI3_PIXMAP_FROM_BUFFER:
        take_pixmap(c, r);
        break;
    case XCB_DRI3_GET_SUPPORTED_MODIFIERS:
        tell_modifiers(c);
        break;
    case XCB_DRI3_PIXMAP_FROM_BUFFERS:
        take_pixmap_of_many(c, r);
        break;
    }
}

static void answer_present(struct double_client *c, const uint8_t *r)
{
    struct x11_double *d = c->server;

    if (r[1] == XCB_PRESENT_QUERY_VERSION) {
        REPLY(xcb_present_query_version_reply_t, .major_version = 1, .minor_version = 2);
    } else if (r[1] == XCB_PRESENT_SELECT_INPUT) {
        const xcb_present_select_input_request_t *q = (const void *)r;
        d->event = q->eid;
        d->window = q->window;
        d->hearer = c;
    } else if (r[1] == XCB_PRESENT_PIXMAP && d->n_presents < DOUBLE_RECORDS) {
        const xcb_present_pixmap_request_t *q = (const void *)r;
        d->presents[d->n_presents++] = (struct double_present){q->pixmap, q->serial, q->options};
    }
}

static void *serve(void *data)
{
    struct double_client *c = data;
    struct x11_double *d = c->server;
    _Alignas(8) uint8_t request[4096];
    uint16_t words;

    while (get(c, request, 4)) {
        memcpy(&words, request + 2, 2);
        if (words < 1 || words * 4u > sizeof request || !get(c, request + 4, words * 4u - 4))
            break;
        pthread_mutex_lock(&d->lock);
        c->sequence++;
        if (request[0] == DRI3)
            answer_dri3(c, request);
        else if (request[0] == PRESENT)
            answer_present(c, request);
        else
            answer_core(c, request);
        pthread_cond_broadcast(&d->happened);
        pthread_mutex_unlock(&d->lock);
    }
    while (c->n_files)
        close(take_file(c));
    return NULL;
}

static void *welcome(void *data)
{
    struct x11_double *d = data;
    int fd;

    while ((fd = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        struct double_client *c = calloc(1, sizeof *c);
        if (!c || d->n_clients == 4)
            abort();
        *c = (struct double_client){.server = d, .fd = fd};
        shake_hands(c);
        pthread_mutex_lock(&d->lock);
        d->clients[d->n_clients] = c;
        pthread_create(&d->readers[d->n_clients++], NULL, serve, c);
        pthread_mutex_unlock(&d->lock);
    }
    return NULL;
}

/* --- the test's side --- */

void x11_double_begin(struct x11_double *d)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int n = 1000 + (int)(getpid() % 30000);

    d->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(d->listener >= 0);
    /* An abstract name: where clients look first. */
    snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "/tmp/.X11-unix/X%d", n);
    socklen_t bytes =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(at.sun_path + 1));
    assert_int_equal(bind(d->listener, (struct sockaddr *)&at, bytes), 0);
    assert_int_equal(listen(d->listener, 4), 0);
    snprintf(d->name, sizeof d->name, ":%d", n);
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->happened, NULL);
    assert_int_equal(pthread_create(&d->acceptor, NULL, welcome, d), 0);
}

void x11_double_end(struct x11_double *d)
{
    shutdown(d->listener, SHUT_RDWR);
    pthread_join(d->acceptor, NULL);
    close(d->listener);
    for (unsigned i = 0; i < d->n_clients; i++) {
        pthread_join(d->readers[i], NULL);
        close(d->clients[i]->fd);
        free(d->clients[i]);
    }
    pthread_cond_destroy(&d->happened);
    pthread_mutex_destroy(&d->lock);
}

void x11_double_wait(struct x11_double *d, const unsigned *count, unsigned n)
{
    struct timespec end;
    int r = 0;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 10;
    pthread_mutex_lock(&d->lock);
    while (*count < n && r == 0)
        r = pthread_cond_timedwait(&d->happened, &d->lock, &end);
    unsigned is = *count;
    pthread_mutex_unlock(&d->lock);
    if (is < n)
        fail_msg("%u came, not %u", is, n);
}

/* An event as it goes over the wire: xcb puts a number of its own after its first 32 bytes. */
static void send_event(struct x11_double *d, void *event, size_t n)
{
    xcb_ge_generic_event_t *e = event;

    pthread_mutex_lock(&d->lock);
    e->response_type = XCB_GE_GENERIC;
    e->extension = PRESENT;
    e->sequence = d->hearer->sequence;
    e->length = (uint32_t)(n - 32) / 4;
    put(d->hearer, event, n, -1);
    pthread_mutex_unlock(&d->lock);
}

void x11_double_complete(
    struct x11_double *d, uint32_t serial, uint8_t mode, uint64_t ust, uint64_t msc)
{
    xcb_present_complete_notify_event_t e = {.event_type = XCB_PRESENT_COMPLETE_NOTIFY,
        .kind = XCB_PRESENT_COMPLETE_KIND_PIXMAP,
        .mode = mode,
        .event = d->event,
        .window = d->window,
        .serial = serial,
        .ust = ust};
    char wire[40];

    memcpy(wire, &e, 32);
    memcpy(wire + 32, &msc, 8);
    send_event(d, wire, sizeof wire);
}

void x11_double_idle(struct x11_double *d, uint32_t serial, uint32_t pixmap)
{
    xcb_present_idle_notify_event_t e = {.event_type = XCB_PRESENT_IDLE_NOTIFY,
        .event = d->event,
        .window = d->window,
        .serial = serial,
        .pixmap = pixmap};

    send_event(d, &e, 32);
}
