/* A client of the render node, which must be asked for (TURNPIKE_RENDER_NODE=1): what libdrm finds, what
 * the node allows and what it refuses. "--none": there is to be none. Prints what is not so; status 1. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <xf86drm.h>
#include <xf86drmMode.h>

#define CARD "/dev/dri/card0"
#define RENDER "/dev/dri/renderD128"

static int failed;

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            printf("line %d: %s (errno %d)\n", __LINE__, #what, errno);                            \
            failed = 1;                                                                            \
        }                                                                                          \
    } while (0)

static bool is_node(const struct stat *st, unsigned number)
{
    return S_ISCHR(st->st_mode) && st->st_rdev == makedev(226, number);
}

static bool has_both(drmDevicePtr d)
{
    return d->available_nodes == (1 << DRM_NODE_PRIMARY | 1 << DRM_NODE_RENDER) &&
           !strcmp(d->nodes[DRM_NODE_PRIMARY], CARD) && !strcmp(d->nodes[DRM_NODE_RENDER], RENDER) &&
           d->bustype == DRM_BUS_PLATFORM;
}

static void libdrm_finds_both_nodes_of_one_device(void)
{
    drmDevicePtr devices[8], d = NULL;
    int n = drmGetDevices2(0, devices, 8);

    CHECK(n == 1);
    if (n > 0) {
        CHECK(has_both(devices[0]));
        drmFreeDevices(devices, n);
    }
    for (unsigned number = 0; number <= 128; number += 128) {
        CHECK(drmGetDeviceFromDevId(makedev(226, number), 0, &d) == 0);
        if (d)
            CHECK(has_both(d));
        drmFreeDevice(&d);
    }
}

static void descriptors_tell_what_they_are(int card, int render)
{
    struct stat st;
    char link[64] = "", at[64];
    char *name = drmGetRenderDeviceNameFromFd(card), *own = drmGetDeviceNameFromFd2(render);

    CHECK(name && !strcmp(name, RENDER));
    CHECK(own && !strcmp(own, RENDER));
    CHECK(drmGetNodeTypeFromFd(render) == DRM_NODE_RENDER);
    CHECK(drmGetNodeTypeFromFd(card) == DRM_NODE_PRIMARY);
    CHECK(fstat(render, &st) == 0 && is_node(&st, 128));
    CHECK(fstat(card, &st) == 0 && is_node(&st, 0));
    CHECK(stat(RENDER, &st) == 0 && is_node(&st, 128));
    CHECK(lstat("/dev/dri/../dri/renderD128", &st) == 0 && is_node(&st, 128));
    snprintf(at, sizeof at, "/proc/self/fd/%d", render);
    CHECK(readlink(at, link, sizeof link - 1) > 0 && !strcmp(link, RENDER));
    CHECK(access(RENDER, R_OK | W_OK) == 0);
    CHECK(open(RENDER, O_RDONLY | O_DIRECTORY) < 0 && errno == ENOTDIR);
    CHECK(access("/sys/class/drm/renderD128/device/drm/card0/dev", R_OK) == 0);
    CHECK(access("/sys/dev/char/226:128/uevent", R_OK) == 0);
    drmFree(name);
    drmFree(own);
}

static void it_is_no_master_and_takes_none(int card, int render)
{
    CHECK(drmIsMaster(card));
    CHECK(!drmIsMaster(render));
    CHECK(drmSetMaster(render) < 0 && errno == EACCES);
    CHECK(drmDropMaster(render) < 0 && errno == EACCES);
    CHECK(drmIsMaster(card));
}

static bool refuses(int fd, unsigned long request, void *arg)
{
    return drmIoctl(fd, request, arg) < 0 && errno == EACCES;
}

static void it_has_no_screens(int render)
{
    struct drm_mode_card_res resources = {0};
    struct drm_mode_create_dumb dumb = {.width = 64, .height = 64, .bpp = 32};
    struct drm_mode_map_dumb map = {.handle = 1};
    struct drm_mode_atomic atomic = {0};
    struct drm_gem_flink flink = {.handle = 1};
    struct drm_set_client_cap cap = {DRM_CLIENT_CAP_ATOMIC, 1};
    struct drm_auth auth = {0};
    struct drm_client client = {0};
    struct drm_unique unique = {0};
    union drm_wait_vblank vblank = {.request = {0}};

    CHECK(refuses(render, DRM_IOCTL_MODE_GETRESOURCES, &resources));
    CHECK(refuses(render, DRM_IOCTL_MODE_CREATE_DUMB, &dumb));
    CHECK(refuses(render, DRM_IOCTL_MODE_MAP_DUMB, &map));
    CHECK(refuses(render, DRM_IOCTL_MODE_ATOMIC, &atomic));
    CHECK(refuses(render, DRM_IOCTL_GEM_FLINK, &flink));
    CHECK(refuses(render, DRM_IOCTL_SET_CLIENT_CAP, &cap));
    CHECK(refuses(render, DRM_IOCTL_GET_MAGIC, &auth));
    CHECK(refuses(render, DRM_IOCTL_GET_CLIENT, &client));
    CHECK(refuses(render, DRM_IOCTL_GET_UNIQUE, &unique));
    CHECK(refuses(render, DRM_IOCTL_WAIT_VBLANK, &vblank));
    CHECK(!drmIsKMS(render));
}

static void it_says_what_it_is(int render)
{
    drmVersionPtr v = drmGetVersion(render);
    uint64_t value = 0;

    CHECK(v && !strcmp(v->name, "turnpike"));
    drmFreeVersion(v);
    CHECK(drmGetCap(render, DRM_CAP_PRIME, &value) == 0 && value == 3);
    CHECK(drmGetCap(render, DRM_CAP_SYNCOBJ, &value) == 0 && value == 1);
}

static void buffers_and_fences_are_shared_with_the_card(int card, int render)
{
    struct drm_mode_create_dumb dumb = {.width = 64, .height = 64, .bpp = 32};
    struct stat a, b;
    uint32_t handle = 0, same = 0, there = 0, sync = 0;
    int fd = -1, again = -1, sync_fd = -1;

    CHECK(drmIoctl(card, DRM_IOCTL_MODE_CREATE_DUMB, &dumb) == 0);
    CHECK(drmPrimeHandleToFD(card, dumb.handle, O_CLOEXEC | O_RDWR, &fd) == 0);
    CHECK(drmPrimeFDToHandle(render, fd, &handle) == 0 && handle);
    CHECK(drmPrimeFDToHandle(render, fd, &same) == 0 && same == handle);
    CHECK(drmPrimeHandleToFD(render, handle, O_CLOEXEC | O_RDWR, &again) == 0);
    CHECK(fstat(fd, &a) == 0 && fstat(again, &b) == 0 && a.st_ino == b.st_ino);
    CHECK(drmPrimeFDToHandle(card, again, &there) == 0 && there == dumb.handle);
    CHECK(drmCloseBufferHandle(render, handle) == 0);
    CHECK(drmCloseBufferHandle(render, handle) < 0 && errno == EINVAL);
    close(fd);
    close(again);
    CHECK(drmSyncobjCreate(render, DRM_SYNCOBJ_CREATE_SIGNALED, &sync) == 0);
    CHECK(drmSyncobjHandleToFD(render, sync, &sync_fd) == 0);
    CHECK(drmSyncobjFDToHandle(card, sync_fd, &there) == 0);
    CHECK(drmSyncobjWait(card, &there, 1, 0, 0, NULL) == 0);
    CHECK(drmSyncobjDestroy(render, sync) == 0);
    close(sync_fd);
}

static int none(void)
{
    drmDevicePtr device = NULL;
    struct stat st;

    CHECK(stat(RENDER, &st) < 0 && errno == ENOENT);
    CHECK(open(RENDER, O_RDWR) < 0 && errno == ENOENT);
    CHECK(drmGetDeviceFromDevId(makedev(226, 0), 0, &device) == 0);
    if (device)
        CHECK(device->available_nodes == 1 << DRM_NODE_PRIMARY);
    drmFreeDevice(&device);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--none"))
        return none();
    int render = open(RENDER, O_RDWR | O_CLOEXEC); /* before the card: master is the card's all the same */
    int card = open(CARD, O_RDWR | O_CLOEXEC);

    CHECK(render >= 0);
    CHECK(card >= 0);
    if (failed)
        return 1;
    libdrm_finds_both_nodes_of_one_device();
    descriptors_tell_what_they_are(card, render);
    it_is_no_master_and_takes_none(card, render);
    it_has_no_screens(render);
    it_says_what_it_is(render);
    buffers_and_fences_are_shared_with_the_card(card, render);
    close(card);
    close(render);
    return failed;
}
