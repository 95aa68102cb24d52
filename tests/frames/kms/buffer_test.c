/* Dumb buffers, their mappings, and PRIME (drm_dumb_buffers.c, drm_gem.c, drm_prime.c). */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

static int dumb(struct drm_mode_create_dumb *d)
{
    return drm(card, DRM_IOCTL_MODE_CREATE_DUMB, d);
}

static int map(struct file *f, uint32_t handle, uint64_t *offset)
{
    struct drm_mode_map_dumb m = {.handle = handle};
    int r = drm(f, DRM_IOCTL_MODE_MAP_DUMB, &m);
    *offset = m.offset;
    return r;
}

static int export_fd(struct file *f, uint32_t handle, uint32_t flags, int *fd)
{
    struct drm_prime_handle p = {.handle = handle, .flags = flags, .fd = -1};
    int r = drm(f, DRM_IOCTL_PRIME_HANDLE_TO_FD, &p);
    *fd = p.fd;
    return r;
}

static int import_fd(struct file *f, int fd, uint32_t *handle)
{
    struct drm_prime_handle p = {.fd = fd};
    int r = drm(f, DRM_IOCTL_PRIME_FD_TO_HANDLE, &p);
    *handle = p.handle;
    return r;
}

static void sizes_are_whole_lines_and_pages(void **state)
{
    (void)state;
    static const struct {
        uint32_t width, height, bpp;
    } sizes[] = {{1, 1, 32}, {1080, 2400, 32}, {33, 7, 16}, {100, 100, 8}, {7, 3, 24}};
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        struct drm_mode_create_dumb d = create_dumb(card, sizes[i].width, sizes[i].height,
                                                    sizes[i].bpp);
        assert_true(d.pitch >= sizes[i].width * ((sizes[i].bpp + 7) / 8));
        assert_true(d.size >= (uint64_t)d.pitch * sizes[i].height);
        assert_true(d.size % 4096 == 0);
    }
}

static void sizes_that_are_none_or_overflow_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t width, height, bpp;
    } sizes[] = {{0, 1, 32},          {1, 0, 32},          {1, 1, 0},
                 {1, 1, UINT32_MAX},  {UINT32_MAX, 1, 32}, {1 << 16, 1 << 16, 32},
                 {1, UINT32_MAX, 32}, {1 << 20, 1 << 20, 8}};
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        struct drm_mode_create_dumb d = {.width = sizes[i].width, .height = sizes[i].height,
                                         .bpp = sizes[i].bpp};
        int r = dumb(&d);
        if (r != -EINVAL)
            fail_msg("%ux%u at %u: %d", sizes[i].width, sizes[i].height, sizes[i].bpp, r);
    }
}

static void rubbish_in_what_comes_out_does_not_matter(void **state)
{
    (void)state;
    struct drm_mode_create_dumb d = {.width = 64, .height = 64, .bpp = 32, .handle = 77,
                                     .pitch = 99999, .size = 3};
    assert_ok(dumb(&d));
    assert_int_equal(d.pitch, 256);
    assert_int_equal(d.size, 16384);
}

static void handles_are_closed_once(void **state)
{
    (void)state;
    uint32_t h = create_dumb(card, 64, 64, 32).handle;
    assert_ok(close_handle(card, h));
    assert_errno(close_handle(card, h), EINVAL);
    assert_errno(close_handle(card, 0), EINVAL);
    h = create_dumb(card, 64, 64, 32).handle;
    struct drm_mode_destroy_dumb d = {h};
    assert_ok(drm(card, DRM_IOCTL_MODE_DESTROY_DUMB, &d));
    assert_errno(drm(card, DRM_IOCTL_MODE_DESTROY_DUMB, &d), EINVAL);
}

static void handles_are_of_one_file(void **state)
{
    (void)state;
    struct file *other = card_open();
    uint32_t h = create_dumb(card, 64, 64, 32).handle;
    uint64_t offset;
    assert_errno(close_handle(other, h), EINVAL);
    assert_errno(map(other, h, &offset), ENOENT);
}

static void mapping_gives_an_offset_of_ones_own(void **state)
{
    (void)state;
    uint64_t a, b, again;
    uint32_t h = create_dumb(card, 64, 64, 32).handle;
    assert_ok(map(card, h, &a));
    assert_ok(map(card, create_dumb(card, 64, 64, 32).handle, &b));
    assert_ok(map(card, h, &again));
    assert_true(a != b && a == again && a % 4096 == 0);
    assert_errno(map(card, 0x7fff1234, &a), ENOENT);
}

static void the_offset_leads_to_the_memory(void **state)
{
    (void)state;
    only_ours();
    struct drm_mode_create_dumb d = create_dumb(card, 64, 64, 32);
    uint64_t offset, bytes;
    int fd;
    assert_ok(map(card, d.handle, &offset));
    assert_ok(tp_kms_map(own_file(card), offset, &fd, &bytes));
    assert_int_equal(bytes, d.size);
    uint32_t *pixels = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(pixels != MAP_FAILED);
    assert_int_equal(pixels[0], 0);
    pixels[5] = 0x12345678;
    munmap(pixels, bytes);
    /* Exactly there, and not another's: drm_gem_mmap. */
    assert_errno(tp_kms_map(own_file(card), offset + 4096, &fd, &bytes), EINVAL);
    assert_errno(tp_kms_map(own_file(card), 0, &fd, &bytes), EINVAL);
    assert_errno(tp_kms_map(own_file(card_open()), offset, &fd, &bytes), EACCES);
    assert_ok(close_handle(card, d.handle));
    assert_errno(tp_kms_map(own_file(card), offset, &fd, &bytes), EINVAL);
}

static void a_framebuffer_keeps_the_memory(void **state)
{
    (void)state;
    only_ours();
    struct output o;
    assert_true(find_output(card, 0, &o));
    uint32_t fb = light_up(card, &o, 0);
    struct tp_kms_fb *held = tp_kms_fb_ref(shown(o.index)->layers[0].fb);
    assert_ok(switch_off(card, &o));
    assert_ok(remove_fb(card, fb));
    struct tp_kms_fb_info info;
    tp_kms_fb_info(held, &info); /* the panel still reads it */
    assert_int_equal(info.n_planes, 1);
    assert_true(info.own);
    struct stat st;
    assert_int_equal(fstat(info.fds[0], &st), 0);
    assert_int_equal(info.device, st.st_dev);
    assert_int_equal(info.inode, st.st_ino);
    assert_true((uint64_t)st.st_size >= (uint64_t)info.pitches[0] * info.height);
    tp_kms_fb_unref(held);
}

static void an_exported_buffer_is_the_same_memory(void **state)
{
    (void)state;
    struct drm_mode_create_dumb d = create_dumb(card, 64, 64, 32);
    int fd;
    assert_ok(export_fd(card, d.handle, DRM_CLOEXEC | DRM_RDWR, &fd));
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(lseek(fd, 0, SEEK_END), (off_t)d.size);
    uint32_t *a = mmap(NULL, d.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(a != MAP_FAILED);
    a[3] = 0xcafe;
    if (!is_real()) {
        uint64_t offset, bytes;
        int memory;
        assert_ok(map(card, d.handle, &offset));
        assert_ok(tp_kms_map(own_file(card), offset, &memory, &bytes));
        uint32_t *b = mmap(NULL, bytes, PROT_READ, MAP_SHARED, memory, 0);
        assert_true(b != MAP_FAILED);
        assert_int_equal(b[3], 0xcafe);
        munmap(b, bytes);
    }
    munmap(a, d.size);
    close(fd);
}

/* drm_prime_lookup_buf_handle: a file has one handle of a buffer. */
static void importing_ones_own_gives_the_same_handle(void **state)
{
    (void)state;
    uint32_t h = create_dumb(card, 64, 64, 32).handle, again;
    int fd;
    assert_ok(export_fd(card, h, DRM_CLOEXEC, &fd));
    assert_ok(import_fd(card, fd, &again));
    assert_int_equal(again, h);
    close(fd);
}

static void another_file_imports_the_same_buffer(void **state)
{
    (void)state;
    struct file *other = card_open();
    uint32_t h = create_dumb(card, 64, 64, 32).handle, a, b;
    int fd, back;
    assert_ok(export_fd(card, h, DRM_CLOEXEC, &fd));
    assert_ok(import_fd(other, fd, &a));
    assert_ok(import_fd(other, fd, &b));
    assert_int_equal(a, b);
    assert_ok(export_fd(other, a, DRM_CLOEXEC, &back));
    struct stat x, y;
    assert_int_equal(fstat(fd, &x) | fstat(back, &y), 0);
    assert_true(x.st_ino == y.st_ino && x.st_dev == y.st_dev);
    assert_ok(close_handle(card, h));
    struct drm_mode_fb_cmd2 f = {.width = 64, .height = 64, .pixel_format = DRM_FORMAT_XRGB8888,
                                 .handles = {a}, .pitches = {256}};
    assert_ok(drm(other, DRM_IOCTL_MODE_ADDFB2, &f));
    close(fd);
    close(back);
}

static void foreign_memory_becomes_a_framebuffer(void **state)
{
    (void)state;
    only_ours(); /* a kernel takes dma-bufs only */
    int fd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(fd, 64 * 256), 0);
    uint32_t h, again;
    assert_ok(import_fd(card, fd, &h));
    int same = dup(fd);
    assert_ok(import_fd(card, same, &again));
    assert_int_equal(again, h); /* known by its identity, not by its number */
    close(same);
    struct drm_mode_fb_cmd2 f = {.width = 64, .height = 64, .pixel_format = DRM_FORMAT_XRGB8888,
                                 .handles = {h}, .pitches = {256}};
    assert_ok(drm(card, DRM_IOCTL_MODE_ADDFB2, &f));
    f.height = 65;
    assert_errno(drm(card, DRM_IOCTL_MODE_ADDFB2, &f), EINVAL);
    close(fd);
}

static void what_is_no_buffer_is_not_imported(void **state)
{
    (void)state;
    uint32_t h;
    assert_errno(import_fd(card, 9999, &h), EBADF);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_errno(import_fd(card, null, &h), EINVAL); /* dma_buf_get */
    close(null);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_errno(import_fd(card, ends[0], &h), EINVAL);
    close(ends[0]);
    close(ends[1]);
}

static void what_is_not_there_is_not_exported(void **state)
{
    (void)state;
    int fd;
    assert_errno(export_fd(card, 0x7fff1234, 0, &fd), ENOENT);
    assert_errno(export_fd(card, 0, 0, &fd), ENOENT);
    uint32_t h = create_dumb(card, 64, 64, 32).handle;
    assert_errno(export_fd(card, h, 1u << 5, &fd), EINVAL);
}

static void a_closed_handle_is_imported_anew(void **state)
{
    (void)state;
    uint32_t h = create_dumb(card, 64, 64, 32).handle, again;
    int fd;
    assert_ok(export_fd(card, h, DRM_CLOEXEC, &fd));
    assert_ok(close_handle(card, h));
    assert_ok(import_fd(card, fd, &again));
    assert_ok(close_handle(card, again));
    close(fd);
}

static void names_lead_to_a_buffer(void **state)
{
    (void)state;
    struct file *other = card_open();
    struct drm_mode_create_dumb d = create_dumb(card, 64, 64, 32);
    struct drm_gem_flink f = {.handle = d.handle}, g = f;
    int r = drm(card, DRM_IOCTL_GEM_FLINK, &f);
    if (!is_real() && r == -EOPNOTSUPP)
        skip();
    assert_ok(r);
    assert_ok(drm(card, DRM_IOCTL_GEM_FLINK, &g));
    assert_int_equal(f.name, g.name);
    struct drm_gem_open open = {.name = f.name};
    assert_ok(drm(other, DRM_IOCTL_GEM_OPEN, &open));
    assert_int_equal(open.size, d.size);
    open.name = 0x7fff1234;
    assert_errno(drm(other, DRM_IOCTL_GEM_OPEN, &open), ENOENT);
    f.handle = 0x7fff1234;
    assert_errno(drm(card, DRM_IOCTL_GEM_FLINK, &f), ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(sizes_are_whole_lines_and_pages),
        test(sizes_that_are_none_or_overflow_are_refused),
        test(rubbish_in_what_comes_out_does_not_matter),
        test(handles_are_closed_once),
        test(handles_are_of_one_file),
        test(mapping_gives_an_offset_of_ones_own),
        test(the_offset_leads_to_the_memory),
        test(a_framebuffer_keeps_the_memory),
        test(an_exported_buffer_is_the_same_memory),
        test(importing_ones_own_gives_the_same_handle),
        test(another_file_imports_the_same_buffer),
        test(foreign_memory_becomes_a_framebuffer),
        test(what_is_no_buffer_is_not_imported),
        test(what_is_not_there_is_not_exported),
        test(a_closed_handle_is_imported_anew),
        test(names_lead_to_a_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
