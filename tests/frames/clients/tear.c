/*
 * tear SECONDS [LINE]: draws into the buffer that is shown, all the time: a line of it, or a band that
 * wanders. The buffer is memory of its own, imported: a dumb one would be copied.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <drm.h>
#include <drm_mode.h>

#define PTR(p) ((uint64_t)(uintptr_t)(p))

static int card;

static void must(unsigned long request, void *arg, const char *what)
{
    if (ioctl(card, request, arg) < 0) {
        fprintf(stderr, "tear: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    uint32_t crtc, connector, step = 0;
    struct drm_mode_modeinfo mode;
    card = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
    if (card < 0) {
        perror("tear: /dev/dri/card0");
        return 1;
    }
    struct drm_mode_card_res res = {.crtc_id_ptr = PTR(&crtc),
        .count_crtcs = 1,
        .connector_id_ptr = PTR(&connector),
        .count_connectors = 1};
    must(DRM_IOCTL_MODE_GETRESOURCES, &res, "the resources");
    struct drm_mode_get_connector c = {
        .connector_id = connector, .modes_ptr = PTR(&mode), .count_modes = 1};
    must(DRM_IOCTL_MODE_GETCONNECTOR, &c, "the connector");
    uint32_t pitch = mode.hdisplay * 4u;
    size_t bytes = (size_t)pitch * mode.vdisplay;
    int memory = memfd_create("tear", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0 || ftruncate(memory, (off_t)bytes) < 0 ||
        fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK) < 0) {
        perror("tear: memory");
        return 1;
    }
    struct drm_prime_handle h = {.fd = memory};
    must(DRM_IOCTL_PRIME_FD_TO_HANDLE, &h, "the buffer");
    struct drm_mode_fb_cmd f = {.width = mode.hdisplay,
        .height = mode.vdisplay,
        .pitch = pitch,
        .bpp = 32,
        .depth = 24,
        .handle = h.handle};
    must(DRM_IOCTL_MODE_ADDFB, &f, "a framebuffer");
    uint8_t *pixels = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (pixels == MAP_FAILED) {
        perror("tear: the buffer");
        return 1;
    }
    struct drm_mode_crtc set = {.crtc_id = crtc,
        .fb_id = f.fb_id,
        .set_connectors_ptr = PTR(&connector),
        .count_connectors = 1,
        .mode = mode,
        .mode_valid = 1};
    must(DRM_IOCTL_MODE_SETCRTC, &set, "the mode");
    for (int left = (int)(seconds * 500); left > 0; left--) { /* each 2 ms */
        uint32_t line = argc > 2 ? (uint32_t)atoi(argv[2]) : ++step % mode.vdisplay;
        memset(pixels + (size_t)line * pitch, left, pitch);
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    return 0;
}
