/* shim [N]: ioctls of a client with the shim preloaded, beside a raw round trip in the same run:
 *   tests/frames/shim/with_server.sh LOOPBACK libturnpike-drm.so bench/frames/shim */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <drm.h>
#include <drm_mode.h>

#include "roundtrips.h"

static int card;
static uint32_t connectors[8], crtcs[8];

static int get_cap(void *data)
{
    struct drm_get_cap cap = {.capability = DRM_CAP_DUMB_BUFFER};

    (void)data;
    return ioctl(card, DRM_IOCTL_GET_CAP, &cap);
}

static int get_resources(void *data)
{
    struct drm_mode_card_res r = {.crtc_id_ptr = (uintptr_t)crtcs,
        .count_crtcs = 8,
        .connector_id_ptr = (uintptr_t)connectors,
        .count_connectors = 8};

    (void)data;
    return ioctl(card, DRM_IOCTL_MODE_GETRESOURCES, &r);
}

static int get_connector(void *data)
{
    static struct drm_mode_modeinfo modes[16];
    static uint32_t props[64], encoders[8];
    static uint64_t values[64];
    struct drm_mode_get_connector c = {.connector_id = connectors[0],
        .modes_ptr = (uintptr_t)modes,
        .count_modes = 16,
        .props_ptr = (uintptr_t)props,
        .prop_values_ptr = (uintptr_t)values,
        .count_props = 64,
        .encoders_ptr = (uintptr_t)encoders,
        .count_encoders = 8};

    (void)data;
    return ioctl(card, DRM_IOCTL_MODE_GETCONNECTOR, &c);
}

static int get_properties(void *data)
{
    static uint32_t props[64];
    static uint64_t values[64];
    struct drm_mode_obj_get_properties o = {.obj_id = crtcs[0],
        .obj_type = DRM_MODE_OBJECT_CRTC,
        .props_ptr = (uintptr_t)props,
        .prop_values_ptr = (uintptr_t)values,
        .count_props = 64};

    (void)data;
    return ioctl(card, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &o);
}

static int get_magic(void *data)
{
    struct drm_auth auth = {0};

    (void)data;
    return ioctl(card, DRM_IOCTL_GET_MAGIC, &auth);
}

static int test_commit(void *data)
{
    struct drm_mode_atomic a = {.flags = DRM_MODE_ATOMIC_TEST_ONLY};

    (void)data;
    return ioctl(card, DRM_IOCTL_MODE_ATOMIC, &a);
}

int main(int argc, char **argv)
{
    struct drm_set_client_cap atomic = {DRM_CLIENT_CAP_ATOMIC, 1};
    int n = argc > 1 ? atoi(argv[1]) : 20000, raw = start_echo();

    card = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
    if (n < 100 || card < 0 || ioctl(card, DRM_IOCTL_SET_CLIENT_CAP, &atomic) < 0) {
        perror("/dev/dri/card0");
        return 1;
    }
    bench("raw SOCK_SEQPACKET round trip, 64 bytes", n, raw_round_trip, &raw);
    bench("GET_CAP", n, get_cap, NULL);
    bench("GETRESOURCES", n, get_resources, NULL);
    bench("GETCONNECTOR", n, get_connector, NULL);
    bench("OBJ_GETPROPERTIES", n, get_properties, NULL);
    bench("GET_MAGIC, forwarded", n, get_magic, NULL);
    bench("ATOMIC, empty test, forwarded", n, test_commit, NULL);
    bench("raw SOCK_SEQPACKET round trip, again", n, raw_round_trip, &raw);
    return 0;
}
