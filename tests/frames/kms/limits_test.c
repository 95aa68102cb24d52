/* Ends of what a client may have, and clients that mean no good: nothing of them stays, and nobody
 * else is disturbed. */
#include <fcntl.h>
#include <unistd.h>

#include "harness.h"

static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

static void assert_nothing_but(unsigned files)
{
    struct tp_kms_counts c;
    tp_kms_count(own_kms(), &c);
    assert_int_equal(c.files, files);
    assert_int_equal(c.fbs, 0);
    assert_int_equal(c.buffers, 0);
    assert_int_equal(c.blobs, 0);
    assert_int_equal(c.syncobjs, 0);
    assert_int_equal(c.waiters, 0);
    assert_int_equal(c.events, 0);
    assert_int_equal(c.buffer_bytes, 0);
}

/* One random thing that a client does; what it is answered does not matter. */
static void do_something(struct file *f, const struct output *o)
{
    struct drm_mode_create_dumb d = {.width = 64, .height = 64, .bpp = 32};
    struct drm_mode_fb_cmd2 fb = {.width = 64, .height = 64, .pixel_format = DRM_FORMAT_XRGB8888,
                                  .pitches = {256}};
    switch (random_below(12)) {
    case 0:
    case 1:
        drm(f, DRM_IOCTL_MODE_CREATE_DUMB, &d);
        break;
    case 2:
        if (drm(f, DRM_IOCTL_MODE_CREATE_DUMB, &d) == 0) {
            fb.handles[0] = d.handle;
            drm(f, DRM_IOCTL_MODE_ADDFB2, &fb);
            if (random_below(2))
                close_handle(f, d.handle);
        }
        break;
    case 3: {
        struct drm_mode_create_blob b = {.data = PTR(&d), .length = 1 + random_below(sizeof d)};
        drm(f, DRM_IOCTL_MODE_CREATEPROPBLOB, &b);
        break;
    }
    case 4: {
        struct drm_syncobj_create c = {.flags = random_below(2)};
        drm(f, DRM_IOCTL_SYNCOBJ_CREATE, &c);
        break;
    }
    case 5: {
        struct drm_prime_handle p = {.handle = 1 + random_below(4), .flags = DRM_CLOEXEC};
        if (drm(f, DRM_IOCTL_PRIME_HANDLE_TO_FD, &p) == 0) {
            struct drm_prime_handle q = {.fd = p.fd};
            drm(f, DRM_IOCTL_PRIME_FD_TO_HANDLE, &q);
            close(p.fd);
        }
        break;
    }
    case 6: {
        struct drm_syncobj_handle h = {.handle = 1 + random_below(4)};
        if (drm(f, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &h) == 0) {
            drm(f, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &h);
            close(h.fd);
        }
        break;
    }
    case 7: {
        union drm_wait_vblank v = {.request = {.type = _DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT,
                                               .sequence = random_below(10)}};
        drm(f, DRM_IOCTL_WAIT_VBLANK, &v);
        break;
    }
    case 8: {
        struct drm_auth a = {0};
        drm(f, DRM_IOCTL_GET_MAGIC, &a);
        break;
    }
    case 9: {
        struct drm_mode_crtc_page_flip p = {.crtc_id = o->crtc, .fb_id = 1 + random_below(300),
                                            .flags = DRM_MODE_PAGE_FLIP_EVENT};
        drm(f, DRM_IOCTL_MODE_PAGE_FLIP, &p);
        break;
    }
    case 10:
        close_handle(f, 1 + random_below(4));
        break;
    default: {
        struct drm_crtc_queue_sequence q = {.crtc_id = o->crtc, .flags = DRM_CRTC_SEQUENCE_RELATIVE,
                                            .sequence = random_below(10)};
        drm(f, DRM_IOCTL_CRTC_QUEUE_SEQUENCE, &q);
        break;
    }
    }
}

static void ten_thousand_clients_leave_nothing(void **state)
{
    (void)state;
    only_ours();
    struct output o;
    assert_true(find_output(card, 0, &o));
    light_up(card, &o, 0);
    struct tp_kms_counts before, after;
    tp_kms_count(own_kms(), &before);
    unsigned descriptors = n_descriptors();
    seed = 1;
    struct file *open[16] = {0};
    for (unsigned i = 0; i < 10000; i++) {
        unsigned at = random_below(16);
        if (open[at])
            card_close(open[at]);
        open[at] = random_below(2) ? card_open() : card_open_user();
        for (unsigned n = random_below(8); n > 0; n--)
            do_something(open[at], &o);
        if (i % 64 == 0)
            tick(o.index);
    }
    for (unsigned i = 0; i < 16; i++)
        if (open[i])
            card_close(open[i]);
    tick(o.index);
    tp_kms_count(own_kms(), &after);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(n_descriptors(), descriptors);
}

static void masters_that_die_with_all_they_show_leave_nothing(void **state)
{
    (void)state;
    only_ours();
    seed = 2;
    for (unsigned i = 0; i < 200; i++) {
        struct output o;
        assert_true(find_output(card, random_below(2), &o));
        uint32_t fb = light_up(card, &o, random_below(o.n_modes));
        for (unsigned n = random_below(6); n > 0; n--) {
            page_flip(card, o.crtc, fb, DRM_MODE_PAGE_FLIP_EVENT, n);
            if (random_below(2))
                tick(o.index);
            do_something(card, &o);
        }
        card_close(card);
        card = card_open();
        assert_ok(set_client_cap(card, DRM_CLIENT_CAP_ATOMIC, 1));
        for (unsigned n = 0; n < 4; n++)
            tick(n % 2);
        assert_nothing_but(1);
    }
}

/* An id is given again only when nobody can have it any more. */
static void ids_of_what_lives_are_its_own(void **state)
{
    (void)state;
    enum { N = 512 };
    static uint32_t live[N];
    static bool is_fb[N];
    seed = 3;
    unsigned n = 0;
    struct lineup l;
    get_lineup(card, &l);
    uint32_t buffer = create_dumb(card, 64, 64, 32).handle;
    for (unsigned i = 0; i < 4000; i++) {
        if (n == 100 || (n > 0 && random_below(3) == 0)) {
            unsigned at = random_below(n);
            assert_ok(is_fb[at] ? remove_fb(card, live[at]) : destroy_blob(card, live[at]));
            live[at] = live[--n];
            is_fb[at] = is_fb[n];
            continue;
        }
        is_fb[n] = random_below(2);
        if (is_fb[n]) {
            struct drm_mode_fb_cmd2 fb = {.width = 64, .height = 64, .handles = {buffer},
                                          .pixel_format = DRM_FORMAT_XRGB8888, .pitches = {256}};
            assert_ok(drm(card, DRM_IOCTL_MODE_ADDFB2, &fb));
            live[n] = fb.fb_id;
        } else {
            live[n] = create_blob(card, &i, sizeof i);
        }
        for (unsigned j = 0; j < n; j++)
            assert_int_not_equal(live[j], live[n]);
        for (unsigned j = 0; j < l.n_planes; j++)
            assert_int_not_equal(l.planes[j], live[n]);
        for (unsigned j = 0; j < l.n_connectors; j++)
            assert_int_not_equal(l.connectors[j], live[n]);
        n++;
    }
}

/* While a removed framebuffer is on the screen nobody else gets its id. */
static void the_id_of_what_is_shown_is_not_given_again(void **state)
{
    (void)state;
    struct output o;
    assert_true(find_output(card, 0, &o));
    uint32_t fb = light_up(card, &o, 0);
    struct drm_mode_closefb c = {.fb_id = fb};
    assert_ok(drm(card, DRM_IOCTL_MODE_CLOSEFB, &c));
    for (int i = 0; i < 300; i++) {
        uint32_t other = fb_of(card, 64, 64, DRM_FORMAT_XRGB8888);
        assert_int_not_equal(other, fb);
        assert_ok(remove_fb(card, other));
    }
    assert_ok(switch_off(card, &o));
}

static int setup_tight(void **state)
{
    (void)state;
    if (is_real())
        return 0;
    struct tp_kms_config c = usual_config();
    c.limits = (struct tp_kms_limits){.files = 4,
                                      .fbs = 5,
                                      .buffers = 6,
                                      .blobs = 7,
                                      .syncobjs = 8,
                                      .buffer_bytes = 10 * 16384,
                                      .blob_bytes = 1000,
                                      .event_bytes = 128};
    return setup_config(&c);
}

static int teardown_ours(void **state)
{
    return is_real() ? 0 : teardown_card(state);
}

/* What the kernel says when it has no more: idr_alloc's ENOSPC, or ENOMEM. */
static bool is_full(int r)
{
    return r == -ENOSPC || r == -ENOMEM;
}

static int make_buffer(uint32_t *handle)
{
    struct drm_mode_create_dumb d = {.width = 64, .height = 64, .bpp = 32};
    int r = drm(card, DRM_IOCTL_MODE_CREATE_DUMB, &d);
    *handle = d.handle;
    return r;
}

static int make_fb(uint32_t handle, uint32_t *id)
{
    struct drm_mode_fb_cmd2 f = {.width = 64, .height = 64, .handles = {handle},
                                 .pixel_format = DRM_FORMAT_XRGB8888, .pitches = {256}};
    int r = drm(card, DRM_IOCTL_MODE_ADDFB2, &f);
    *id = f.fb_id;
    return r;
}

static void files_are_counted(void **state)
{
    (void)state;
    only_ours();
    struct file *f[4];
    for (int i = 1; i < 4; i++)
        f[i] = card_open();
    struct file *more;
    assert_errno(card_try_open(true, &more), EMFILE);
    card_close(f[2]);
    assert_ok(card_try_open(true, &more));
}

static void buffers_are_counted(void **state)
{
    (void)state;
    only_ours();
    uint32_t handles[6], more;
    for (int i = 0; i < 6; i++)
        assert_ok(make_buffer(&handles[i]));
    assert_true(is_full(make_buffer(&more)));
    assert_ok(close_handle(card, handles[3]));
    assert_ok(make_buffer(&more));
}

static void bytes_of_buffers_are_counted(void **state)
{
    (void)state;
    only_ours();
    struct drm_mode_create_dumb d = {.width = 64, .height = 64 * 11, .bpp = 32};
    assert_true(is_full(drm(card, DRM_IOCTL_MODE_CREATE_DUMB, &d)));
    d.height = 64 * 10;
    assert_ok(drm(card, DRM_IOCTL_MODE_CREATE_DUMB, &d));
    uint32_t more;
    assert_true(is_full(make_buffer(&more)));
    /* A framebuffer keeps them, whatever becomes of the handle. */
    uint32_t fb;
    assert_ok(make_fb(d.handle, &fb));
    assert_ok(close_handle(card, d.handle));
    assert_true(is_full(make_buffer(&more)));
    assert_ok(remove_fb(card, fb));
    assert_ok(make_buffer(&more));
}

static void each_file_has_its_own_share(void **state)
{
    (void)state;
    only_ours();
    uint32_t handle;
    for (int i = 0; i < 6; i++)
        assert_ok(make_buffer(&handle));
    struct file *other = card_open();
    struct drm_mode_create_dumb d = {.width = 64, .height = 64, .bpp = 32};
    assert_ok(drm(other, DRM_IOCTL_MODE_CREATE_DUMB, &d));
}

static void framebuffers_are_counted(void **state)
{
    (void)state;
    only_ours();
    uint32_t handle, ids[5], more;
    assert_ok(make_buffer(&handle));
    for (int i = 0; i < 5; i++)
        assert_ok(make_fb(handle, &ids[i]));
    assert_true(is_full(make_fb(handle, &more)));
    assert_ok(remove_fb(card, ids[0]));
    assert_ok(make_fb(handle, &more));
}

static void blobs_and_their_bytes_are_counted(void **state)
{
    (void)state;
    only_ours();
    static uint8_t data[1001];
    struct drm_mode_create_blob b = {.data = PTR(data), .length = 1001};
    assert_true(is_full(drm(card, DRM_IOCTL_MODE_CREATEPROPBLOB, &b)));
    uint32_t ids[7];
    for (int i = 0; i < 7; i++)
        ids[i] = create_blob(card, data, 10);
    b.length = 10;
    assert_true(is_full(drm(card, DRM_IOCTL_MODE_CREATEPROPBLOB, &b)));
    assert_ok(destroy_blob(card, ids[1]));
    assert_ok(destroy_blob(card, ids[2]));
    b.length = 950;
    assert_ok(drm(card, DRM_IOCTL_MODE_CREATEPROPBLOB, &b));
    b.length = 10;
    assert_true(is_full(drm(card, DRM_IOCTL_MODE_CREATEPROPBLOB, &b)));
}

static void syncobjs_are_counted(void **state)
{
    (void)state;
    only_ours();
    struct drm_syncobj_create c = {0};
    uint32_t first = 0;
    for (int i = 0; i < 8; i++) {
        assert_ok(drm(card, DRM_IOCTL_SYNCOBJ_CREATE, &c));
        first = c.handle;
    }
    assert_true(is_full(drm(card, DRM_IOCTL_SYNCOBJ_CREATE, &c)));
    struct drm_syncobj_destroy d = {.handle = first};
    assert_ok(drm(card, DRM_IOCTL_SYNCOBJ_DESTROY, &d));
    assert_ok(drm(card, DRM_IOCTL_SYNCOBJ_CREATE, &c));
}

static void events_are_counted(void **state)
{
    (void)state;
    only_ours();
    struct output o;
    assert_true(find_output(card, 0, &o));
    /* A black screen: there is no room for a picture. */
    struct request r = {0};
    uint32_t blob = create_blob(card, &o.modes[0], sizeof o.modes[0]);
    add(&r, card, o.connector, "CRTC_ID", o.crtc);
    add(&r, card, o.crtc, "MODE_ID", blob);
    add(&r, card, o.crtc, "ACTIVE", 1);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0));
    for (int i = 0; i < 4; i++) {
        union drm_wait_vblank v = {
            .request = {.type = _DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT, .sequence = 2}};
        assert_ok(drm(card, DRM_IOCTL_WAIT_VBLANK, &v));
    }
    union drm_wait_vblank v = {
        .request = {.type = _DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT, .sequence = 2}};
    assert_errno(drm(card, DRM_IOCTL_WAIT_VBLANK, &v), ENOMEM);
    tick(o.index);
    tick(o.index);
    v.request.type = _DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT;
    v.request.sequence = 2;
    assert_ok(drm(card, DRM_IOCTL_WAIT_VBLANK, &v));
}

static void no_memory_is_told_and_got_over(void **state)
{
    (void)state;
    only_ours();
    uint32_t handle;
    break_memory(true);
    assert_errno(make_buffer(&handle), ENOMEM);
    break_memory(false);
    assert_ok(make_buffer(&handle));
}

/* Garbage for every request that there is, by a user and by the master: an answer, and no harm. */
static void garbage_does_no_harm(void **state)
{
    (void)state;
    only_ours();
    struct output o;
    assert_true(find_output(card, 0, &o));
    light_up(card, &o, 0);
    struct file *user = card_open_user(), *master = card;
    seed = 4;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t arg[16];
        for (unsigned j = 0; j < COUNT(arg); j++)
            switch (random_below(4)) {
            case 0:
                arg[j] = 0;
                break;
            case 1:
                arg[j] = random_below(300);
                break;
            case 2:
                arg[j] = (uint64_t)random_below(300) << 32 | random_below(300);
                break;
            default:
                arg[j] = (uint64_t)seed << 32 | (seed ^ 0x5a5a5a5a);
            }
        static const unsigned long requests[] = {
            DRM_IOCTL_GET_CAP,           DRM_IOCTL_SET_CLIENT_CAP,    DRM_IOCTL_GEM_CLOSE,
            DRM_IOCTL_AUTH_MAGIC,        DRM_IOCTL_MODE_GETCRTC,      DRM_IOCTL_MODE_CURSOR,
            DRM_IOCTL_MODE_CURSOR2,      DRM_IOCTL_MODE_GETENCODER,   DRM_IOCTL_MODE_SETPROPERTY,
            DRM_IOCTL_MODE_OBJ_SETPROPERTY, DRM_IOCTL_MODE_GETFB,     DRM_IOCTL_MODE_GETFB2,
            DRM_IOCTL_MODE_ADDFB,        DRM_IOCTL_MODE_ADDFB2,       DRM_IOCTL_MODE_RMFB,
            DRM_IOCTL_MODE_PAGE_FLIP,    DRM_IOCTL_MODE_SETPLANE,     DRM_IOCTL_MODE_MAP_DUMB,
            DRM_IOCTL_MODE_DESTROY_DUMB, DRM_IOCTL_SYNCOBJ_CREATE,    DRM_IOCTL_SYNCOBJ_DESTROY,
            DRM_IOCTL_SYNCOBJ_TRANSFER,  DRM_IOCTL_CRTC_GET_SEQUENCE, DRM_IOCTL_CRTC_QUEUE_SEQUENCE,
            DRM_IOCTL_MODE_DESTROYPROPBLOB, DRM_IOCTL_MODE_REVOKE_LEASE, DRM_IOCTL_GEM_FLINK,
            DRM_IOCTL_GEM_OPEN,          DRM_IOCTL_MODE_CREATE_DUMB,  DRM_IOCTL_WAIT_VBLANK,
        };
        unsigned long request = requests[random_below(COUNT(requests))];
        struct drm_mode_create_dumb *d = (void *)arg;
        if (request == DRM_IOCTL_MODE_CREATE_DUMB) {
            d->width %= 64;
            d->height %= 64;
        }
        struct pending *p = drm_start(random_below(2) ? user : master, request, arg);
        if (!drm_done(p)) {
            drm_abandon(p);
            tick(o.index);
        } else {
            drm_wait(p);
        }
        if (i % 500 == 0)
            tick(o.index);
        struct drm_event_vblank e;
        while (read_event(master, &e, sizeof e) > 0)
            ;
        while (read_event(user, &e, sizeof e) > 0)
            ;
    }
    card_close(user);
    /* The device still does its work. */
    set_client_cap(card, DRM_CLIENT_CAP_ATOMIC, 1);
    light_up(card, &o, 1);
}

/* Structs of older clients are shorter, those of newer ones longer; the wire hands on what came. */
static void calls_of_any_length_do_no_harm(void **state)
{
    (void)state;
    only_ours();
    struct output o;
    assert_true(find_output(card, 0, &o));
    light_up(card, &o, 0);
    struct file *user = card_open_user();
    for (unsigned nr = 0; nr < 256; nr++)
        for (unsigned bytes = 0; bytes <= 128; bytes += bytes < 16 ? 4 : 8) {
            unsigned long request = _IOC(_IOC_READ | _IOC_WRITE, DRM_IOCTL_BASE, nr, bytes);
            if (nr == _IOC_NR(DRM_IOCTL_DROP_MASTER))
                continue; /* what follows needs one */
            for (unsigned k = 0; k < 2; k++) {
                uint8_t *arg = test_calloc(1, bytes ? bytes : 1); /* just so long */
                struct tp_drm_call call = {.request = request, .arg = bytes ? arg : NULL,
                                           .arg_bytes = bytes};
                int waiter;
                int r = tp_kms_ioctl(own_file(k ? user : card), &call, &waiter);
                if (r == TP_KMS_WAITS)
                    tp_kms_cancel(own_kms(), &waiter);
                for (unsigned i = 0; i < call.n_out_fds; i++)
                    close(call.out_fds[i]);
                test_free(arg);
            }
        }
    settle();
    tick(o.index);
    set_client_cap(card, DRM_CLIENT_CAP_ATOMIC, 1);
    light_up(card, &o, 1);
}

static void a_client_that_asks_no_more_keeps_nobody_waiting(void **state)
{
    (void)state;
    only_ours();
    struct output o;
    assert_true(find_output(card, 0, &o));
    uint32_t fb = light_up(card, &o, 0);
    struct file *idle = card_open();
    union drm_wait_vblank waits[50];
    struct pending *p[50];
    for (unsigned i = 0; i < 50; i++) {
        waits[i] = (union drm_wait_vblank){
            .request = {.type = _DRM_VBLANK_RELATIVE, .sequence = 1000000}};
        p[i] = drm_start(idle, DRM_IOCTL_WAIT_VBLANK, &waits[i]);
        assert_false(drm_done(p[i]));
    }
    for (int i = 0; i < 10; i++) {
        assert_ok(page_flip(card, o.crtc, fb, DRM_MODE_PAGE_FLIP_EVENT, 0));
        tick(o.index);
        struct drm_event_vblank e;
        assert_int_equal(read_event(card, &e, sizeof e), sizeof e);
    }
    card_close(idle);
    struct tp_kms_counts c;
    tp_kms_count(own_kms(), &c);
    assert_int_equal(c.waiters, 0);
    for (unsigned i = 0; i < 50; i++)
        assert_errno(drm_wait(p[i]), EBADF);
}

#define tight(name) cmocka_unit_test_setup_teardown(name, setup_tight, teardown_ours)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(ten_thousand_clients_leave_nothing),
        test(masters_that_die_with_all_they_show_leave_nothing),
        test(ids_of_what_lives_are_its_own),
        test(the_id_of_what_is_shown_is_not_given_again),
        tight(files_are_counted),
        tight(buffers_are_counted),
        tight(bytes_of_buffers_are_counted),
        tight(each_file_has_its_own_share),
        tight(framebuffers_are_counted),
        tight(blobs_and_their_bytes_are_counted),
        tight(syncobjs_are_counted),
        tight(events_are_counted),
        tight(no_memory_is_told_and_got_over),
        test(garbage_does_no_harm),
        test(calls_of_any_length_do_no_harm),
        test(a_client_that_asks_no_more_keeps_nobody_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
