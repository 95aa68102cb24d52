#include "frames/panel/window.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "frames/panel/window_view.h"

struct view {
    struct tp_panel panel;
    struct tp_panel *screen; /* owned */
    const struct tp_panel_events *events;
    void *data;
    int wake, gone_fd;        /* owned eventfds: the thread is to look; the window has gone */
    struct tp_window *window; /* owned; the thread's, once it runs */
    pthread_t thread;
    bool running;
    pthread_mutex_t mutex; /* all below */
    bool fresh, stop;      /* fresh: the screen shows something new */
    int gone;              /* as tp_panel_window_gone has it */
    struct tp_error why;
};

static void write_event(int fd)
{
    ssize_t n = write(fd, &(uint64_t){1}, sizeof(uint64_t));
    (void)n; /* full: then it is readable already */
}

/* --- what the screen tells goes on --- */

static void on_tick(void *data, const struct tp_panel_tick *t)
{
    struct view *v = data;
    v->events->tick(v->data, t);
}

static void on_released(void *data, uint64_t serial, unsigned layer, int fence)
{
    struct view *v = data;
    v->events->released(v->data, serial, layer, fence);
}

static void on_shown(void *data, uint64_t serial, int64_t first_line_ns)
{
    struct view *v = data;
    v->events->shown(v->data, serial, first_line_ns);
    pthread_mutex_lock(&v->mutex);
    v->fresh = true;
    pthread_mutex_unlock(&v->mutex);
    write_event(v->wake);
}

static void on_away(void *data, bool away)
{
    struct view *v = data;
    v->events->away(v->data, away);
}

static void on_torn(void *data, uint64_t sequence, int64_t time_ns, uint32_t line)
{
    const struct view *v = data;
    if (v->events->torn)
        v->events->torn(v->data, sequence, time_ns, line);
}

/* --- the window's thread --- */

/* False: it is to end. *fresh is set where the screen has something new. */
static bool orders(struct view *v, bool *fresh)
{
    pthread_mutex_lock(&v->mutex);
    bool stop = v->stop;
    *fresh |= v->fresh;
    v->fresh = false;
    pthread_mutex_unlock(&v->mutex);
    return !stop;
}

static void leave(struct view *v, int gone, const struct tp_error *why)
{
    pthread_mutex_lock(&v->mutex);
    v->gone = gone;
    v->why = *why;
    pthread_mutex_unlock(&v->mutex);
    write_event(v->gone_fd);
}

/* Hands the desktop a picture, if it would have one now: true. */
static bool draw(struct view *v, struct tp_image *image, bool *fresh)
{
    struct tp_window *w = v->window;
    struct tp_error e = {0};
    size_t pitch_px;
    if (!w->stale && !(*fresh && w->asked))
        return false;
    uint32_t *pixels = w->ops->begin(w, &pitch_px);
    if (!pixels)
        return false;
    if (*fresh) {
        tp_image_finish(image);
        *image = (struct tp_image){0}; /* black, where it cannot be seen */
        v->screen->ops->look(v->screen, image, &e);
        *fresh = false;
    }
    tp_window_draw(image, pixels, pitch_px, w->width, w->height);
    w->stale = false;
    w->ops->show(w);
    return true;
}

static void sleep_until_news(struct view *v)
{
    const struct tp_window *w = v->window;
    struct pollfd fds[2] = {{.fd = v->wake, .events = POLLIN},
        {.fd = w->fd, .events = (short)(POLLIN | (w->wants_out ? POLLOUT : 0))}};
    uint64_t count;
    poll(fds, 2, -1);
    ssize_t n = read(v->wake, &count, sizeof count);
    (void)n;
}

static void *run(void *data)
{
    struct view *v = data;
    struct tp_image image = {0};
    struct tp_error e = {0};
    bool fresh = true;
    sigset_t pipes;
    prctl(PR_SET_NAME, "window");
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE); /* a desktop that has gone is an error of its call */
    pthread_sigmask(SIG_BLOCK, &pipes, NULL);
    while (orders(v, &fresh)) {
        int r = v->window->ops->turn(v->window, &e);
        if (r < 0 || v->window->closed) {
            leave(v, r < 0 ? r : 1, &e);
            break;
        }
        if (!draw(v, &image, &fresh))
            sleep_until_news(v);
    }
    tp_image_finish(&image);
    return NULL;
}

/* --- the panel --- */

static int start(
    struct tp_panel *p, const struct tp_panel_events *events, void *data, struct tp_error *e)
{
    static const struct tp_panel_events ours = {
        on_tick, on_released, on_shown, on_away, on_torn};
    struct view *v = (struct view *)p;
    v->events = events;
    v->data = data;
    int r = v->screen->ops->start(v->screen, &ours, v, e);
    if (r < 0)
        return r;
    r = pthread_create(&v->thread, NULL, run, v);
    if (r)
        return tp_fail_errno(e, r, NULL, "the window's thread cannot start");
    v->running = true;
    return 0;
}

static int publish(struct tp_panel *p, const struct tp_kms_scanout *s)
{
    struct tp_panel *screen = ((struct view *)p)->screen;
    return screen->ops->publish(screen, s);
}

static int set_mode(struct tp_panel *p, const struct tp_kms_mode *mode, bool vrr)
{
    struct tp_panel *screen = ((struct view *)p)->screen;
    return screen->ops->set_mode(screen, mode, vrr);
}

static int look(struct tp_panel *p, struct tp_image *out, struct tp_error *e)
{
    struct tp_panel *screen = ((struct view *)p)->screen;
    return screen->ops->look(screen, out, e);
}

static void destroy(struct tp_panel *p)
{
    struct view *v = (struct view *)p;
    if (!v)
        return;
    pthread_mutex_lock(&v->mutex);
    v->stop = true;
    pthread_mutex_unlock(&v->mutex);
    if (v->running) {
        write_event(v->wake);
        pthread_join(v->thread, NULL);
    }
    v->screen->ops->destroy(v->screen); /* it may tell of a picture until it has gone */
    if (v->window)
        v->window->ops->close(v->window);
    if (v->wake >= 0)
        close(v->wake);
    if (v->gone_fd >= 0)
        close(v->gone_fd);
    pthread_mutex_destroy(&v->mutex);
    free(v);
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

/* On the first of the two that opens one. Where none does, why the first did not. */
static int open_window(
    const struct tp_panel_window_config *c, struct tp_window **out, struct tp_error *e)
{
    static const struct {
        const char *variable;
        int (*open)(uint32_t width, uint32_t height, const char *title, struct tp_window **out,
            struct tp_error *e);
    } desktops[] = {{"WAYLAND_DISPLAY", tp_window_wayland_open}, {"DISPLAY", tp_window_x11_open}};
    struct tp_error why = {0};
    for (unsigned i = 0; i < 2; i++)
        if (is_set(desktops[i].variable) &&
            desktops[i].open(c->width_px, c->height_px, c->title, out, &why) == 0)
            return 0;
    tp_fail(&why, TP_STATUS_MISSING, -ENOENT, NULL,
        "run it on a desktop, set WAYLAND_DISPLAY or DISPLAY, or use a simulated screen alone",
        "there is no desktop to open a window on");
    *e = why;
    return why.err;
}

int tp_panel_window_create(
    const struct tp_panel_window_config *config, struct tp_panel **out, struct tp_error *e)
{
    static const struct tp_panel_ops ops = {start, publish, set_mode, look, destroy};
    struct view *v = tp_calloc(1, sizeof *v);
    *out = NULL;
    v->screen = config->screen;
    v->panel = *config->screen;
    v->panel.ops = &ops;
    pthread_mutex_init(&v->mutex, NULL);
    v->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    v->gone_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int r = v->wake < 0 || v->gone_fd < 0 ? tp_fail_errno(e, errno, NULL, "an eventfd") : 0;
    if (r == 0)
        r = open_window(config, &v->window, e);
    if (r < 0) {
        destroy(&v->panel);
        return r;
    }
    *out = &v->panel;
    return 0;
}

int tp_panel_window_fd(const struct tp_panel *p)
{
    return ((const struct view *)p)->gone_fd;
}

int tp_panel_window_gone(struct tp_panel *p, struct tp_error *e)
{
    struct view *v = (struct view *)p;
    pthread_mutex_lock(&v->mutex);
    int gone = v->gone;
    if (gone < 0)
        *e = v->why;
    pthread_mutex_unlock(&v->mutex);
    return gone;
}
