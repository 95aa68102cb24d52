#include "screen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include <cmocka.h>
#include <drm.h>
#include <drm_mode.h>

void light_up(int fd)
{
    uint32_t crtcs[4], connectors[4];
    struct drm_mode_modeinfo modes[16];
    struct drm_mode_card_res res = {.crtc_id_ptr = (uintptr_t)crtcs, .count_crtcs = 4,
                                    .connector_id_ptr = (uintptr_t)connectors,
                                    .count_connectors = 4};
    struct drm_mode_get_connector connector = {.modes_ptr = (uintptr_t)modes, .count_modes = 16};
    struct drm_mode_create_dumb create = {.bpp = 32};
    struct drm_mode_fb_cmd fb = {.bpp = 32, .depth = 24};
    struct drm_mode_crtc crtc = {.set_connectors_ptr = (uintptr_t)connectors,
                                 .count_connectors = 1, .mode_valid = 1};

    assert_int_equal(ioctl(fd, DRM_IOCTL_MODE_GETRESOURCES, &res), 0);
    connector.connector_id = connectors[0];
    assert_int_equal(ioctl(fd, DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
    create.width = fb.width = modes[0].hdisplay;
    create.height = fb.height = modes[0].vdisplay;
    assert_int_equal(ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
    fb.pitch = create.pitch;
    fb.handle = create.handle;
    assert_int_equal(ioctl(fd, DRM_IOCTL_MODE_ADDFB, &fb), 0);
    crtc.crtc_id = crtcs[0];
    crtc.fb_id = fb.fb_id;
    crtc.mode = modes[0];
    assert_int_equal(ioctl(fd, DRM_IOCTL_MODE_SETCRTC, &crtc), 0);
}
