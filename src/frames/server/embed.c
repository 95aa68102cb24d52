/* The server as an app has it (turnpike/server.h): its loop on a thread, its screen a surface. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "frames/panel/android.h"
#include "frames/server/server.h"
#include "turnpike/server.h"

#define WAITING 16u

struct turnpike_server {
    struct tp_server *server; /* the loop's thread's, once that runs */
    struct tp_panel *panel;   /* the server's */
    int wake;                 /* owned eventfd */
    pthread_t thread;
    void (*log)(void *data, const char *line);
    void *log_data;
    pthread_mutex_t said;  /* one line at a time */
    pthread_mutex_t mutex; /* all below */
    int fds[WAITING];      /* owned: to be adopted */
    unsigned n_fds;
    bool stop;
    void *window; /* as the panel has it; not used */
};

static void on_line(void *data, const char *line)
{
    struct turnpike_server *t = data;
    if (!t->log)
        return;
    pthread_mutex_lock(&t->said);
    t->log(t->log_data, line);
    pthread_mutex_unlock(&t->said);
}

static void wake(struct turnpike_server *t)
{
    ssize_t n = write(t->wake, &(uint64_t){1}, sizeof(uint64_t));
    (void)n; /* full: then it is readable already */
}

/* Clients that came by descriptor. False: it is to end. */
static bool take_orders(struct turnpike_server *t)
{
    uint64_t count;
    ssize_t n = read(t->wake, &count, sizeof count);
    (void)n;
    pthread_mutex_lock(&t->mutex);
    bool stop = t->stop;
    while (!stop && t->n_fds > 0) {
        int fd = t->fds[--t->n_fds];
        pthread_mutex_unlock(&t->mutex);
        tp_server_adopt(t->server, fd); /* who may not come is told of in the log */
        pthread_mutex_lock(&t->mutex);
    }
    pthread_mutex_unlock(&t->mutex);
    return !stop;
}

static void *run(void *data)
{
    struct turnpike_server *t = data;
    struct pollfd fds[2] = {
        {.fd = tp_server_fd(t->server), .events = POLLIN}, {.fd = t->wake, .events = POLLIN}};
    prctl(PR_SET_NAME, "turnpike");
    for (;;) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            break;
        if (fds[1].revents && !take_orders(t))
            break;
        int r = fds[0].revents ? tp_server_dispatch(t->server, 0) : 0;
        if (r < 0) {
            on_line(t, "the server's loop is broken; it ends");
            break;
        }
    }
    return NULL;
}

static int make(
    struct turnpike_server *t, const struct turnpike_server_config *c, struct tp_error *e)
{
    struct tp_panel_android_config panel = {.mode = {c->width_px, c->height_px, c->refresh_mhz},
        .hdr = c->hdr != 0,
        .log = on_line,
        .log_data = t};
    struct tp_server_config server = {.path = c->socket_path, .log = on_line, .log_data = t};
    struct tp_kms_output *o = &server.kms.outputs[0];
    int r = tp_panel_android_create(&panel, &t->panel, e);
    if (r < 0)
        return r;
    server.kms.n_outputs = 1;
    server.panels[0] = t->panel;
    *o = (struct tp_kms_output){.connected = true,
        .width_mm = c->width_mm,
        .height_mm = c->height_mm,
        .modes = {panel.mode},
        .n_modes = 1,
        .hdr = panel.hdr};
    r = tp_server_create(&server, &t->server, e);
    if (r < 0)
        return r; /* the panel has gone with it */
    t->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (t->wake < 0)
        return tp_fail_errno(e, errno, NULL, "an eventfd");
    r = pthread_create(&t->thread, NULL, run, t);
    return r ? tp_fail_errno(e, r, NULL, "the server's thread cannot start") : 0;
}

static void release(struct turnpike_server *t)
{
    tp_server_destroy(t->server);
    for (unsigned i = 0; i < t->n_fds; i++)
        close(t->fds[i]);
    if (t->wake >= 0)
        close(t->wake);
    pthread_mutex_destroy(&t->mutex);
    pthread_mutex_destroy(&t->said);
    free(t);
}

int turnpike_server_create(const struct turnpike_server_config *config,
    struct turnpike_server **out, char *error, size_t error_bytes)
{
    struct tp_error e = {.err = 0};
    *out = NULL;
    if (error_bytes > 0)
        error[0] = '\0';
    if (config->size != sizeof *config) {
        if (error_bytes > 0)
            snprintf(error, error_bytes, "the app was built for another version of the server");
        return -EINVAL;
    }
    struct turnpike_server *t = tp_calloc(1, sizeof *t);
    t->wake = -1;
    t->log = config->log;
    t->log_data = config->log_data;
    pthread_mutex_init(&t->mutex, NULL);
    pthread_mutex_init(&t->said, NULL);
    int r = make(t, config, &e);
    if (r == 0) {
        *out = t;
        return 0;
    }
    if (error_bytes > 0)
        snprintf(error, error_bytes, "%s%s%s%s%s", e.where, e.where[0] ? ": " : "", e.what,
            e.todo[0] ? "; " : "", e.todo);
    release(t);
    return r;
}

void turnpike_server_destroy(struct turnpike_server *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->mutex);
    t->stop = true;
    pthread_mutex_unlock(&t->mutex);
    wake(t);
    pthread_join(t->thread, NULL);
    release(t);
}

void turnpike_server_set_window(struct turnpike_server *t, void *window)
{
    pthread_mutex_lock(&t->mutex);
    t->window = window;
    pthread_mutex_unlock(&t->mutex);
    tp_panel_android_set_window(t->panel, window);
}

void turnpike_server_resize(struct turnpike_server *t)
{
    pthread_mutex_lock(&t->mutex);
    void *window = t->window;
    pthread_mutex_unlock(&t->mutex);
    if (window)
        tp_panel_android_set_window(t->panel, window);
}

void turnpike_server_pause(struct turnpike_server *t)
{
    tp_panel_android_pause(t->panel);
}

void turnpike_server_resume(struct turnpike_server *t)
{
    tp_panel_android_resume(t->panel);
}

void turnpike_server_repaint(struct turnpike_server *t)
{
    tp_panel_android_repaint(t->panel);
}

void turnpike_server_set_hdr(struct turnpike_server *t, int hdr)
{
    tp_panel_android_set_hdr(t->panel, hdr != 0);
}

int turnpike_server_adopt(struct turnpike_server *t, int fd)
{
    pthread_mutex_lock(&t->mutex);
    bool room = t->n_fds < WAITING && !t->stop;
    if (room)
        t->fds[t->n_fds++] = fd;
    pthread_mutex_unlock(&t->mutex);
    if (!room) {
        close(fd);
        return -EMFILE;
    }
    wake(t);
    return 0;
}
