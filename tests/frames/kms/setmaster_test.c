/* Who is master (drm_auth.c; IGT's core_setmaster and core_setmaster_vs_auth). */
#include "harness.h"

static bool is_master(struct file *f)
{
    struct drm_auth a = {0};
    return drm(f, DRM_IOCTL_AUTH_MAGIC, &a) != -EACCES;
}

static int set_master(struct file *f)
{
    return drm(f, DRM_IOCTL_SET_MASTER, NULL);
}

static int drop_master(struct file *f)
{
    return drm(f, DRM_IOCTL_DROP_MASTER, NULL);
}

static void the_first_open_is_master(void **state)
{
    (void)state;
    assert_true(is_master(card));
    assert_false(is_master(card_open()));
}

static void root_drops_and_takes_it_back(void **state)
{
    (void)state;
    assert_ok(drop_master(card));
    assert_false(is_master(card));
    assert_ok(set_master(card));
    assert_true(is_master(card));
    assert_ok(set_master(card)); /* what it is already */
}

static void the_first_user_drops_and_takes_it_back(void **state)
{
    (void)state;
    only_ours();
    card_close(card);
    struct file *user = card_open_user();
    assert_true(is_master(user));
    assert_ok(drop_master(user));
    assert_ok(set_master(user));
    assert_true(is_master(user));
}

static void a_user_who_never_was_master_may_not(void **state)
{
    (void)state;
    only_ours();
    struct file *user = card_open_user();
    assert_errno(drop_master(user), EACCES);
    assert_errno(set_master(user), EACCES);
    assert_ok(drop_master(card));
    assert_errno(set_master(user), EACCES);
}

static void there_is_one_master_at_a_time(void **state)
{
    (void)state;
    struct file *other = card_open();
    assert_errno(set_master(other), EBUSY);
    assert_errno(drop_master(other), EINVAL);
    assert_ok(drop_master(card));
    assert_errno(drop_master(card), EINVAL);
    assert_ok(set_master(other));
    assert_errno(set_master(card), EBUSY);
}

static void closing_frees_the_place(void **state)
{
    (void)state;
    struct file *other = card_open();
    card_close(card);
    assert_false(is_master(other));
    assert_ok(set_master(other));
    assert_true(is_master(other));
}

static void an_open_after_a_drop_becomes_master(void **state)
{
    (void)state;
    assert_ok(drop_master(card));
    struct file *next = card_open();
    assert_true(is_master(next));
    assert_errno(set_master(card), EBUSY);
}

static void a_new_master_keeps_its_authentication(void **state)
{
    (void)state;
    struct file *other = card_open();
    struct drm_auth a = {0};
    assert_ok(drm(other, DRM_IOCTL_GET_MAGIC, &a));
    assert_ok(drm(card, DRM_IOCTL_AUTH_MAGIC, &a));
    assert_ok(drop_master(card));
    assert_ok(set_master(other));
    struct drm_client c = {.idx = 0};
    assert_ok(drm(other, DRM_IOCTL_GET_CLIENT, &c));
    assert_int_equal(c.auth, 1);
}

/* DRM_MASTER in drm_ioctls[] (drm_ioctl.c). */
static void what_changes_the_screen_is_the_masters(void **state)
{
    (void)state;
    struct file *other = card_open();
    static const unsigned long requests[] = {
        DRM_IOCTL_MODE_SETCRTC,       DRM_IOCTL_MODE_SETPLANE,   DRM_IOCTL_MODE_CURSOR,
        DRM_IOCTL_MODE_CURSOR2,       DRM_IOCTL_MODE_SETGAMMA,   DRM_IOCTL_MODE_SETPROPERTY,
        DRM_IOCTL_MODE_OBJ_SETPROPERTY, DRM_IOCTL_MODE_PAGE_FLIP, DRM_IOCTL_MODE_DIRTYFB,
        DRM_IOCTL_MODE_ATOMIC,        DRM_IOCTL_MODE_CREATE_LEASE, DRM_IOCTL_MODE_LIST_LESSEES,
        DRM_IOCTL_MODE_REVOKE_LEASE,  DRM_IOCTL_AUTH_MAGIC,
    };
    for (unsigned i = 0; i < COUNT(requests); i++) {
        uint64_t arg[16] = {0};
        int r = drm(other, requests[i], arg);
        if (r != -EACCES)
            fail_msg("request %#lx of who is no master: %d", requests[i], r);
    }
}

/* Without DRM_MASTER or DRM_AUTH there. */
static void what_looks_and_prepares_is_anyones(void **state)
{
    (void)state;
    struct file *other = card_open();
    struct lineup l;
    get_lineup(other, &l);
    uint32_t fb = fb_of(other, 64, 64, DRM_FORMAT_XRGB8888);
    uint32_t blob = create_blob(other, "1234", 4);
    assert_ok(destroy_blob(other, blob));
    assert_ok(remove_fb(other, fb));
}

/* DRM_AUTH: names of buffers are for who was let in. */
static void buffers_names_are_for_the_authenticated(void **state)
{
    (void)state;
    only_ours();
    struct file *user = card_open_user();
    struct drm_gem_flink f = {.handle = create_dumb(user, 64, 64, 32).handle};
    struct drm_gem_open o = {.name = 1};
    assert_errno(drm(user, DRM_IOCTL_GEM_FLINK, &f), EACCES);
    assert_errno(drm(user, DRM_IOCTL_GEM_OPEN, &o), EACCES);
    struct drm_auth a = {0};
    assert_ok(drm(user, DRM_IOCTL_GET_MAGIC, &a));
    assert_ok(drm(card, DRM_IOCTL_AUTH_MAGIC, &a));
    assert_ok(drm(user, DRM_IOCTL_GEM_FLINK, &f));
}

static int lease(const uint32_t *ids, uint32_t n, uint32_t flags)
{
    struct drm_mode_create_lease l = {.object_ids = PTR(ids), .object_count = n, .flags = flags};
    return drm(card, DRM_IOCTL_MODE_CREATE_LEASE, &l);
}

/* drm_lease.c: what is no lease is refused as there; ours lends nothing at all. */
static void leases_are_asked_for_properly(void **state)
{
    (void)state;
    struct output o;
    assert_true(find_output(card, 0, &o));
    const uint32_t good[] = {o.connector, o.crtc, o.primary}, none[] = {o.connector, 0x7fff0000};
    assert_errno(lease(good, 3, 1), EINVAL);
    assert_errno(lease(none, 2, 0), ENOENT);
    assert_errno(lease(good, 1, 0), EINVAL); /* a connector alone */
    assert_errno(lease(good, 2, 0), EINVAL); /* and with universal planes a plane as well */
    if (!is_real())
        assert_errno(lease(good, 3, 0), EOPNOTSUPP);
    struct drm_mode_revoke_lease r = {.lessee_id = 77};
    assert_errno(drm(card, DRM_IOCTL_MODE_REVOKE_LEASE, &r), ENOENT);
    struct drm_mode_list_lessees l = {.pad = 1};
    assert_errno(drm(card, DRM_IOCTL_MODE_LIST_LESSEES, &l), EINVAL);
    l.pad = 0;
    assert_ok(drm(card, DRM_IOCTL_MODE_LIST_LESSEES, &l));
    assert_int_equal(l.count_lessees, 0);
    /* Who leased nothing has all there is, properties and blobs, too. */
    uint32_t ids[256];
    struct drm_mode_get_lease g = {.objects_ptr = PTR(ids), .count_objects = COUNT(ids)};
    assert_ok(drm(card, DRM_IOCTL_MODE_GET_LEASE, &g));
    uint32_t n = g.count_objects, active = property_id(card, o.crtc, "ACTIVE");
    assert_in_range(n, 5, COUNT(ids));
    const uint32_t some[] = {o.connector, o.encoder, o.crtc, o.primary, active};
    for (unsigned i = 0; i < COUNT(some); i++) {
        unsigned at = 0;
        while (at < n && ids[at] != some[i])
            at++;
        assert_int_not_equal(at, n);
    }
    uint32_t blob = create_blob(card, "abcd", 4);
    g.count_objects = 0;
    assert_ok(drm(card, DRM_IOCTL_MODE_GET_LEASE, &g));
    assert_int_equal(g.count_objects, n + 1);
    assert_ok(destroy_blob(card, blob));
    g.pad = 1;
    assert_errno(drm(card, DRM_IOCTL_MODE_GET_LEASE, &g), EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(the_first_open_is_master),
        test(root_drops_and_takes_it_back),
        test(the_first_user_drops_and_takes_it_back),
        test(a_user_who_never_was_master_may_not),
        test(there_is_one_master_at_a_time),
        test(closing_frees_the_place),
        test(an_open_after_a_drop_becomes_master),
        test(a_new_master_keeps_its_authentication),
        test(what_changes_the_screen_is_the_masters),
        test(what_looks_and_prepares_is_anyones),
        test(buffers_names_are_for_the_authenticated),
        test(leases_are_asked_for_properly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
