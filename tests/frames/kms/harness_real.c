/* A card behind an open descriptor: a kernel's, or our shim's. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness_device.h"

#define NOBODY 65534

/* The kernel asks for the caller's own capabilities at each call. */
static bool become(uid_t uid)
{
    return geteuid() == uid || seteuid(uid) == 0;
}

bool real_is_turnpike(struct file *f)
{
    char name[16] = "";
    struct drm_version v = {.name = name, .name_len = sizeof name - 1};
    return real_call(f, DRM_IOCTL_VERSION, &v) == 0 && !strcmp(name, TP_KMS_DRIVER);
}

/* What those before left on the screen: a card stays as it was set when its last client goes. */
void real_reset(struct file *f)
{
    static const struct {
        const char *name;
        uint64_t value;
    } usual[] = {{"rotation", DRM_MODE_ROTATE_0}, {"alpha", 0xffff}, {"VRR_ENABLED", 0},
                 {"GAMMA_LUT", 0}, {"HDR_OUTPUT_METADATA", 0}, {"Colorspace", 0}, {"DPMS", 0}};
    struct lineup l;
    get_lineup(f, &l);
    /* Nobody may have asked yet what is plugged in. */
    for (unsigned i = 0; i < l.n_connectors; i++) {
        struct drm_mode_get_connector probe = {.connector_id = l.connectors[i]};
        assert_ok(drm(f, DRM_IOCTL_MODE_GETCONNECTOR, &probe));
    }
    for (unsigned i = 0; i < l.n_crtcs; i++)
        assert_ok(set_crtc(f, l.crtcs[i], 0, 0, 0, NULL, 0, NULL));
    for (unsigned i = 0; i < l.n_planes; i++) {
        struct drm_mode_set_plane off = {.plane_id = l.planes[i]};
        assert_ok(drm(f, DRM_IOCTL_MODE_SETPLANE, &off));
    }
    const struct {
        const uint32_t *ids;
        unsigned n;
        uint32_t type;
    } all[] = {{l.planes, l.n_planes, DRM_MODE_OBJECT_PLANE},
               {l.crtcs, l.n_crtcs, DRM_MODE_OBJECT_CRTC},
               {l.connectors, l.n_connectors, DRM_MODE_OBJECT_CONNECTOR}};
    for (unsigned k = 0; k < COUNT(all); k++)
        for (unsigned i = 0; i < all[k].n; i++)
            for (unsigned j = 0; j < COUNT(usual); j++) {
                uint64_t value;
                if (get_property(f, all[k].ids[i], all[k].type, usual[j].name, NULL, &value) &&
                    value != usual[j].value)
                    assert_ok(set_property(f, all[k].ids[i], all[k].type, usual[j].name,
                                           usual[j].value));
            }
}

int real_open(bool privileged, struct file **out)
{
    struct file *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->privileged = privileged;
    /* The node is not a user's to open: it is passed on to one. */
    f->fd = open(getenv("TURNPIKE_TEST_CARD"), O_RDWR | O_CLOEXEC);
    int r = f->fd < 0 ? -errno : 0;
    if (r < 0) {
        free(f);
        return r;
    }
    *out = f;
    return 0;
}

void real_close(struct file *f)
{
    close(f->fd);
    free(f);
}

int real_call(struct file *f, unsigned long request, void *arg)
{
    if (!f->privileged)
        become(NOBODY);
    int r;
    do
        r = ioctl(f->fd, request, arg);
    while (r < 0 && (errno == EINTR || errno == EAGAIN));
    r = r < 0 ? -errno : r;
    if (!f->privileged)
        become(0);
    return r;
}

/* linux/sync_file's sw_sync, which has no header of its own. */
struct sw_sync_fence {
    uint32_t value;
    char name[32];
    int32_t fence;
};
#define SW_SYNC_CREATE_FENCE _IOWR('W', 0, struct sw_sync_fence)
#define SW_SYNC_INC _IOW('W', 1, uint32_t)

static int timelines[64][2]; /* fence, timeline */
static unsigned n_timelines;

int real_fence(void)
{
    int timeline = open("/sys/kernel/debug/sync/sw_sync", O_RDWR | O_CLOEXEC);
    if (timeline < 0) {
        if (real_is_turnpike(card))
            return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        skip();
    }
    struct sw_sync_fence s = {.value = 1, .name = "test"};
    assert_int_equal(ioctl(timeline, SW_SYNC_CREATE_FENCE, &s), 0);
    assert_true(n_timelines < COUNT(timelines));
    timelines[n_timelines][0] = s.fence;
    timelines[n_timelines++][1] = timeline;
    return s.fence;
}

void real_signal(int fd)
{
    for (unsigned i = 0; i < n_timelines; i++)
        if (timelines[i][0] == fd) {
            uint32_t by = 1;
            assert_int_equal(ioctl(timelines[i][1], SW_SYNC_INC, &by), 0);
            close(timelines[i][1]);
            timelines[i][0] = timelines[--n_timelines][0];
            timelines[i][1] = timelines[n_timelines][1];
            return;
        }
    assert_int_equal(eventfd_write(fd, 1), 0);
}
