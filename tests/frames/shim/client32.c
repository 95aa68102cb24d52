/* A 32-bit client, with the 32-bit library preloaded, of a 64-bit server: the structs that the two lay out
 * differently. Without cmocka, of which there is no 32-bit one; says what went wrong and ends with 1. */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <drm.h>
#include <drm_fourcc.h>
#include <drm_mode.h>

#define CHECK(is) check(is, #is, __LINE__)

static void check(int is, const char *what, int line)
{
    if (!is) {
        fprintf(stderr, "client32.c:%d: %s: %s\n", line, what, strerror(errno));
        exit(1);
    }
}

static void version(int fd)
{
    char name[16] = "", date[16] = "";
    struct drm_version v = {.name = name, .name_len = sizeof name, .date = date,
                            .date_len = sizeof date};

    CHECK(ioctl(fd, DRM_IOCTL_VERSION, &v) == 0);
    CHECK(!strcmp(name, "turnpike") && v.name_len == 8 && v.name == name);
}

/* The modifiers lie at another place in the struct. */
static void framebuffer(int fd)
{
    struct drm_mode_create_dumb create = {.width = 64, .height = 64, .bpp = 32};
    struct drm_mode_map_dumb map = {0};
    struct drm_mode_fb_cmd2 fb = {.width = 64, .height = 64, .pixel_format = DRM_FORMAT_XRGB8888,
                                  .flags = DRM_MODE_FB_MODIFIERS};
    struct drm_mode_fb_cmd2 got = {0};
    uint32_t *pixels;

    CHECK(ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create) == 0);
    map.handle = fb.handles[0] = create.handle;
    fb.pitches[0] = create.pitch;
    fb.modifier[0] = DRM_FORMAT_MOD_LINEAR;
    CHECK(ioctl(fd, DRM_IOCTL_MODE_ADDFB2, &fb) == 0 && fb.fb_id > 0);
    got.fb_id = fb.fb_id;
    got.modifier[0] = 1;
    CHECK(ioctl(fd, DRM_IOCTL_MODE_GETFB2, &got) == 0);
    CHECK(got.modifier[0] == DRM_FORMAT_MOD_LINEAR && got.pitches[0] == create.pitch);
    fb.modifier[0] = DRM_FORMAT_MOD_INVALID - 1;
    CHECK(ioctl(fd, DRM_IOCTL_MODE_ADDFB2, &fb) < 0 && errno == EINVAL);
    CHECK(ioctl(fd, DRM_IOCTL_MODE_MAP_DUMB, &map) == 0);
    pixels = mmap(NULL, (size_t)create.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                  (off_t)map.offset);
    CHECK(pixels != MAP_FAILED);
    pixels[0] = 1;
    munmap(pixels, (size_t)create.size);
}

/* Its longs are the machine's. */
static void vblank(int fd)
{
    union drm_wait_vblank v = {.request = {.type = _DRM_VBLANK_RELATIVE, .sequence = 1}};

    errno = 0;
    if (ioctl(fd, DRM_IOCTL_WAIT_VBLANK, &v) == 0)
        CHECK(v.reply.tval_sec > 0 && v.reply.tval_usec < 1000000);
    else
        CHECK(errno == EINVAL); /* the screen is off */
}

/* Structs whose length ends in padding on 64 bit only. */
static void short_structs(int fd)
{
    uint32_t planes[32], props[64];
    uint64_t values[64];
    struct drm_set_client_cap cap = {DRM_CLIENT_CAP_ATOMIC, 1};
    struct drm_mode_get_plane_res res = {.plane_id_ptr = (uintptr_t)planes, .count_planes = 32};
    struct drm_mode_obj_get_properties o = {.obj_type = DRM_MODE_OBJECT_PLANE,
                                            .props_ptr = (uintptr_t)props, .count_props = 64,
                                            .prop_values_ptr = (uintptr_t)values};

    CHECK(ioctl(fd, DRM_IOCTL_SET_CLIENT_CAP, &cap) == 0);
    CHECK(ioctl(fd, DRM_IOCTL_MODE_GETPLANERESOURCES, &res) == 0 && res.count_planes > 1);
    o.obj_id = planes[0];
    CHECK(ioctl(fd, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &o) == 0 && o.count_props > 5);
}

int main(void)
{
    struct stat st;
    int fd = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);

    CHECK(fd >= 0);
    CHECK(fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && major(st.st_rdev) == 226);
    version(fd);
    framebuffer(fd);
    vblank(fd);
    short_structs(fd);
    return 0;
}
