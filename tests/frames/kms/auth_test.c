/* Magics (drm_auth.c; IGT's core_auth). */
#include <stdlib.h>
#include <sys/resource.h>

#include "harness.h"

static uint32_t get_magic(struct file *f)
{
    struct drm_auth a = {0};
    assert_ok(drm(f, DRM_IOCTL_GET_MAGIC, &a));
    assert_int_not_equal(a.magic, 0);
    return a.magic;
}

static int auth_magic(struct file *f, uint32_t magic)
{
    struct drm_auth a = {magic};
    return drm(f, DRM_IOCTL_AUTH_MAGIC, &a);
}

static bool authenticated(struct file *f)
{
    struct drm_client c = {.idx = 0};
    assert_ok(drm(f, DRM_IOCTL_GET_CLIENT, &c));
    return c.auth != 0;
}

static void root_is_authenticated_from_the_start(void **state)
{
    (void)state;
    assert_true(authenticated(card));
    assert_true(authenticated(card_open()));
}

static void a_second_client_stays_authenticated_when_the_master_goes(void **state)
{
    (void)state;
    struct file *second = card_open();
    assert_true(authenticated(second));
    card_close(card);
    assert_true(authenticated(second));
}

static void a_magic_stays_the_same(void **state)
{
    (void)state;
    struct file *slave = card_open();
    uint32_t magic = get_magic(slave);
    assert_int_equal(get_magic(slave), magic);
    assert_ok(auth_magic(card, magic));
    assert_int_equal(get_magic(slave), magic);
}

static void only_the_master_authenticates(void **state)
{
    (void)state;
    struct file *slave = card_open();
    uint32_t magic = get_magic(slave);
    assert_errno(auth_magic(slave, magic), EACCES);
    assert_ok(auth_magic(card, magic));
}

static void a_magic_is_good_for_once(void **state)
{
    (void)state;
    uint32_t magic = get_magic(card_open());
    assert_ok(auth_magic(card, magic));
    assert_errno(auth_magic(card, magic), EINVAL);
}

static void magics_that_nobody_has_are_refused(void **state)
{
    (void)state;
    assert_errno(auth_magic(card, 0), EINVAL);
    assert_errno(auth_magic(card, 12345), EINVAL);
    struct file *slave = card_open();
    uint32_t magic = get_magic(slave);
    card_close(slave);
    assert_errno(auth_magic(card, magic), EINVAL);
}

static void a_user_is_authenticated_by_the_master(void **state)
{
    (void)state;
    only_ours(); /* a real card's node is not a user's to open */
    struct file *user = card_open_user();
    assert_false(authenticated(user));
    assert_ok(auth_magic(card, get_magic(user)));
    assert_true(authenticated(user));
}

static void many_clients_have_magics_of_their_own(void **state)
{
    (void)state;
    enum { N = 200 };
    struct file *slaves[N];
    uint32_t magics[N];
    /* A server's default limit of connections is under that. */
    unsigned n = is_real() && !is_kernels() ? 50 : N;
    for (unsigned i = 0; i < n; i++) {
        slaves[i] = card_open();
        assert_errno(drm(slaves[i], DRM_IOCTL_SET_MASTER, NULL), EBUSY);
        magics[i] = get_magic(slaves[i]);
        for (unsigned j = 0; j < i; j++)
            assert_int_not_equal(magics[i], magics[j]);
    }
    for (unsigned i = 0; i < n; i++)
        assert_ok(auth_magic(card, magics[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(root_is_authenticated_from_the_start),
        test(a_second_client_stays_authenticated_when_the_master_goes),
        test(a_magic_stays_the_same),
        test(only_the_master_authenticates),
        test(a_magic_is_good_for_once),
        test(magics_that_nobody_has_are_refused),
        test(a_user_is_authenticated_by_the_master),
        test(many_clients_have_magics_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
