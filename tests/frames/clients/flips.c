/*
 * flips RATE_HZ N: flips between two framebuffers N times on a card, at the mode with that rate,
 * and holds the events against it: every event's time lies on that rate's grid, as its sequence
 * says, and no refresh gets two. How many refreshes went by without one is told, and is no error:
 * machines have other work.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <drm.h>
#include <drm_mode.h>

#define PTR(p) ((uint64_t)(uintptr_t)(p))

static int card;

static void must(unsigned long request, void *arg, const char *what)
{
    if (ioctl(card, request, arg) < 0) {
        fprintf(stderr, "flips: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static uint32_t make_fb(const struct drm_mode_modeinfo *m)
{
    struct drm_mode_create_dumb d = {.width = m->hdisplay, .height = m->vdisplay, .bpp = 32};
    must(DRM_IOCTL_MODE_CREATE_DUMB, &d, "a buffer");
    struct drm_mode_fb_cmd f = {.width = d.width,
        .height = d.height,
        .pitch = d.pitch,
        .bpp = 32,
        .depth = 24,
        .handle = d.handle};
    must(DRM_IOCTL_MODE_ADDFB, &f, "a framebuffer");
    return f.fb_id;
}

static struct drm_event_vblank read_event(void)
{
    struct pollfd p = {.fd = card, .events = POLLIN};
    struct drm_event_vblank e;
    if (poll(&p, 1, 10000) != 1 || read(card, &e, sizeof e) != sizeof e) {
        fputs("flips: no event within ten seconds\n", stderr);
        exit(1);
    }
    return e;
}

int main(int argc, char **argv)
{
    double rate = argc > 1 ? strtod(argv[1], NULL) : 60;
    int n = argc > 2 ? atoi(argv[2]) : 60;
    uint32_t crtc, connector, fbs[2];
    struct drm_mode_modeinfo modes[16], *mode = NULL;
    card = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
    if (card < 0) {
        perror("flips: /dev/dri/card0");
        return 1;
    }
    struct drm_mode_card_res res = {.crtc_id_ptr = PTR(&crtc),
        .count_crtcs = 1,
        .connector_id_ptr = PTR(&connector),
        .count_connectors = 1};
    must(DRM_IOCTL_MODE_GETRESOURCES, &res, "the resources");
    struct drm_mode_get_connector c = {
        .connector_id = connector, .modes_ptr = PTR(modes), .count_modes = 16};
    must(DRM_IOCTL_MODE_GETCONNECTOR, &c, "the connector");
    for (uint32_t i = 0; i < c.count_modes && i < 16; i++) {
        double hz = modes[i].clock * 1000.0 / ((double)modes[i].htotal * modes[i].vtotal);
        if (hz > rate - 0.5 && hz < rate + 0.5)
            mode = &modes[i];
    }
    if (!mode) {
        fprintf(stderr, "flips: no mode of %g Hz\n", rate);
        return 1;
    }
    fbs[0] = make_fb(mode);
    fbs[1] = make_fb(mode);
    struct drm_mode_crtc set = {.crtc_id = crtc,
        .fb_id = fbs[0],
        .set_connectors_ptr = PTR(&connector),
        .count_connectors = 1,
        .mode = *mode,
        .mode_valid = 1};
    must(DRM_IOCTL_MODE_SETCRTC, &set, "the mode");
    uint32_t first = 0, last = 0;
    int64_t first_us = 0, last_us = 0;
    for (int i = 0; i < n; i++) {
        struct drm_mode_crtc_page_flip f = {.crtc_id = crtc,
            .fb_id = fbs[(i + 1) % 2],
            .flags = DRM_MODE_PAGE_FLIP_EVENT,
            .user_data = (uint64_t)i};
        must(DRM_IOCTL_MODE_PAGE_FLIP, &f, "a flip");
        struct drm_event_vblank e = read_event();
        int64_t us = (int64_t)e.tv_sec * 1000000 + e.tv_usec;
        if (e.base.type != DRM_EVENT_FLIP_COMPLETE || e.user_data != (uint64_t)i) {
            fprintf(stderr, "flips: event %d is another's\n", i);
            return 1;
        }
        if (i > 1) { /* the first one may still be of the refresh in which the mode was set */
            double want = (double)(e.sequence - last) * 1e6 / rate, got = (double)(us - last_us);
            if (e.sequence == last || got < want - 2 || got > want + 2) {
                fprintf(stderr, "flips: event %d: %" PRIu32 " refreshes in %" PRId64 " us\n", i,
                    e.sequence - last, us - last_us);
                return 1;
            }
        } else {
            first = e.sequence;
            first_us = us;
        }
        last = e.sequence;
        last_us = us;
    }
    printf("%.3f Hz by the events' times, %d flips in %" PRIu32 " refreshes\n",
        (last - first) * 1e6 / (double)(last_us - first_us), n - 2, last - first);
    return 0;
}
