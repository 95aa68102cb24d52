#include "display_screen.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "frames/server/server.h"

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t address_bytes;
static struct tp_server *server;
static pthread_t loop;
static atomic_bool stop;
static unsigned descriptors_before;

static struct {
    struct tp_panel base;
    const struct tp_panel_events *events;
    void *data;
    struct tp_panel_tick last;
    pthread_mutex_t lock; /* for what follows */
    struct tp_kms_scanout published;
    struct hdr_output_metadata hdr;
} panel = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int start(
    struct tp_panel *p, const struct tp_panel_events *events, void *data, struct tp_error *e)
{
    (void)p;
    (void)e;
    panel.events = events;
    panel.data = data;
    return 0;
}

static int publish(struct tp_panel *p, const struct tp_kms_scanout *s)
{
    (void)p;
    pthread_mutex_lock(&panel.lock);
    panel.published = *s;
    if (s->hdr_metadata)
        memcpy(&panel.hdr, s->hdr_metadata, sizeof panel.hdr);
    pthread_mutex_unlock(&panel.lock);
    return 0;
}

static int set_mode(struct tp_panel *p, const struct tp_kms_mode *mode, bool vrr)
{
    (void)p;
    (void)mode;
    (void)vrr;
    return 0;
}

static void destroy(struct tp_panel *p)
{
    (void)p;
}

static const struct tp_panel_ops panel_ops = {start, publish, set_mode, NULL, destroy};

void tick(void)
{
    panel.last.sequence++;
    panel.last.time_ns += PERIOD;
    panel.last.period_ns = PERIOD;
    panel.events->tick(panel.data, &panel.last);
}

#define PUBLISHED(type, name, expression)                                                          \
    type name(void)                                                                                \
    {                                                                                              \
        pthread_mutex_lock(&panel.lock);                                                           \
        type value = (expression);                                                                 \
        pthread_mutex_unlock(&panel.lock);                                                         \
        return value;                                                                              \
    }
PUBLISHED(uint32_t, published_refresh_mhz, panel.published.mode.refresh_mhz)
PUBLISHED(uint32_t, published_layer_height, panel.published.layers[0].height)
PUBLISHED(bool, published_async, panel.published.async)
PUBLISHED(int64_t, published_colorspace, panel.published.colorspace)

bool published_hdr(struct hdr_output_metadata *out)
{
    pthread_mutex_lock(&panel.lock);
    bool there = panel.published.hdr_metadata;
    *out = panel.hdr;
    pthread_mutex_unlock(&panel.lock);
    return there;
}

static struct tp_kms_output output(bool connected, unsigned n_modes)
{
    return (struct tp_kms_output){.connected = connected,
        .hdr = true,
        .modes = {{WIDTH, HEIGHT, 60000}, {WIDTH, HEIGHT, 120000}, {WIDTH, 2 * HEIGHT, 60000}},
        .n_modes = n_modes};
}

void plug(bool connected, unsigned n_modes)
{
    const struct tp_kms_output o = output(connected, n_modes);
    struct tp_error e;

    assert_int_equal(tp_server_set_output(server, 0, &o, &e), 0);
}

static void *run(void *data)
{
    (void)data;
    while (!atomic_load(&stop)) {
        if (tp_server_dispatch(server, 20) < 0)
            abort();
    }
    return NULL;
}

void screen_address(void)
{
    char name[64];
    int n = snprintf(name, sizeof name, "@turnpike-icd-display-%d", (int)getpid());

    setenv("TURNPIKE_SOCKET", name, 1);
    memcpy(address.sun_path + 1, name + 1, (size_t)n - 1);
    address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n);
}

void screen_start(void)
{
    struct tp_server_config c = {.path = getenv("TURNPIKE_SOCKET"), .panels = {&panel.base}};
    struct tp_error e = {0};

    panel.base = (struct tp_panel){.ops = &panel_ops,
        .never_blocks = true,
        .can_async = true,
        .lead_ns = 1000000,
        .pipeline = 1};
    panel.last.time_ns = tp_icd_now_ns();
    c.kms.n_outputs = 1;
    c.kms.outputs[0] = output(true, 3);
    if (tp_server_create(&c, &server, &e) < 0)
        fail_msg("%s: %s", e.where, e.what);
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&loop, NULL, run, NULL), 0);
    tick();
}

void screen_stop(void)
{
    atomic_store(&stop, true);
    pthread_join(loop, NULL);
    tp_server_destroy(server);
    server = NULL;
}

int screen_setup(void **state)
{
    (void)state;
    descriptors_before = n_descriptors();
    screen_start();
    return 0;
}

int screen_teardown(void **state)
{
    struct tp_server_counts c = {0};

    (void)state;
    for (int i = 0; i < 500; i++) {
        tick(); /* what was shown last goes when nothing is shown any more */
        tp_server_count(server, &c);
        if (c.connections == 0 && c.kms.fbs == 0 && c.kms.buffers == 0)
            break;
        usleep(10000);
    }
    screen_stop();
    assert_int_equal(c.connections, 0);
    assert_int_equal(c.kms.files, 0);
    assert_int_equal(c.kms.fbs, 0);
    assert_int_equal(c.kms.buffers, 0);
    assert_int_equal(n_descriptors(), descriptors_before);
    return 0;
}

unsigned n_framebuffers(void)
{
    struct tp_server_counts c;

    tp_server_count(server, &c);
    return c.kms.fbs;
}

int open_other(struct tp_display_link *out)
{
    return tp_display_link_open(out, (const struct sockaddr *)&address, address_bytes);
}

/* --- guests --- */

struct tp_target *make_target(unsigned mode, uint32_t height)
{
    struct tp_display_connector c[TP_DISPLAY_CONNECTORS];
    struct tp_display_card *card;
    struct tp_target *t;

    assert_int_equal(tp_display_card_get(&card), 0);
    assert_int_equal(tp_display_connectors(&card->link, c), 1);
    assert_true(mode < c[0].n_modes);
    assert_int_equal(tp_target_display_create(card, c[0].id, &c[0].modes[mode], WIDTH,
                         height ? height : c[0].modes[mode].vdisplay, &t),
        0);
    tp_display_card_put(card);
    return t;
}

void guest_begin(struct guest *g, struct tp_target *t, uint32_t n_images, VkPresentModeKHR mode)
{
    guest_open(g, t, n_images, mode);
    guest_present(g, 0, 1, mode);
    wait_for(g, &g->n_shown, 1); /* with the tick of the server's start: none has been used yet */
}

void tick_until(struct guest *g, atomic_ullong *count, uint64_t n)
{
    for (int i = 0; i < 1000; i++) {
        tick();
        if (wait_until(g, count, n, 10000000))
            return;
    }
    fail_msg("%llu came, not %llu", *count, (unsigned long long)n);
}

struct tp_display_link *card_link(void)
{
    struct tp_display_card *c;

    assert_int_equal(tp_display_card_get(&c), 0); /* the one that is open */
    tp_display_card_put(c);
    return &c->link;
}
