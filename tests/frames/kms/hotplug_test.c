/* Screens that come and go (tp_kms_set_output; drm_probe_helper.c for what clients see). */
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

static struct output o;
static struct tp_kms_output first, second;

static int setup_lit(void **state)
{
    (void)state;
    if (is_real())
        return 0;
    struct tp_kms_config c = usual_config();
    first = c.outputs[0];
    second = c.outputs[1];
    c.outputs[1].connected = false;
    setup_config(&c);
    assert_true(find_output(card, 0, &o));
    light_up(card, &o, 0);
    return 0;
}

static int teardown_ours(void **state)
{
    return is_real() ? 0 : teardown_card(state);
}

static void plug(unsigned output, struct tp_kms_output to, bool connected)
{
    struct tp_error e = {0};
    to.connected = connected;
    assert_ok(tp_kms_set_output(own_kms(), output, &to, &e));
    settle();
}

static struct drm_mode_get_connector connector(uint32_t id)
{
    static struct drm_mode_modeinfo modes[64];
    struct drm_mode_get_connector c = {.connector_id = id, .modes_ptr = PTR(modes),
                                       .count_modes = 64};
    assert_ok(drm(card, DRM_IOCTL_MODE_GETCONNECTOR, &c));
    return c;
}

static void a_disconnected_connector_is_there_without_modes(void **state)
{
    (void)state;
    only_ours();
    struct lineup l;
    get_lineup(card, &l);
    assert_int_equal(l.n_connectors, 2);
    struct drm_mode_get_connector c = connector(l.connectors[1]);
    assert_int_equal(c.connection, 2); /* DRM_MODE_DISCONNECTED */
    assert_int_equal(c.count_modes, 0);
    assert_int_equal(c.mm_width, 0);
    assert_int_equal(property_value(card, l.connectors[1], "EDID"), 0);
}

static void plugging_in_is_told(void **state)
{
    (void)state;
    only_ours();
    struct lineup l;
    get_lineup(card, &l);
    unsigned before = n_hotplugs();
    plug(1, second, true);
    assert_int_equal(n_hotplugs(), before + 1);
    struct drm_mode_get_connector c = connector(l.connectors[1]);
    assert_int_equal(c.connection, 1);
    assert_int_equal(c.count_modes, 2);
    assert_int_equal(c.mm_width, 520);
    assert_int_not_equal(property_value(card, l.connectors[1], "EDID"), 0);
    struct output out;
    assert_true(find_output(card, 1, &out));
    light_up(card, &out, 0);
}

static void the_same_again_is_no_news(void **state)
{
    (void)state;
    only_ours();
    unsigned before = n_hotplugs();
    plug(0, first, true);
    assert_int_equal(n_hotplugs(), before);
}

/* The kernel leaves what is shown to the client: it gets the event and switches off. */
static void unplugging_what_is_shown_leaves_it_to_the_client(void **state)
{
    (void)state;
    only_ours();
    plug(0, first, false);
    struct drm_mode_get_connector c = connector(o.connector);
    assert_int_equal(c.connection, 2);
    assert_int_equal(c.count_modes, 0);
    assert_int_equal(property_value(card, o.crtc, "ACTIVE"), 1);
    assert_ok(page_flip(card, o.crtc, (uint32_t)property_value(card, o.primary, "FB_ID"),
                        DRM_MODE_PAGE_FLIP_EVENT, 3));
    tick(o.index);
    struct drm_event_vblank e;
    assert_int_equal(read_event(card, &e, sizeof e), sizeof e);
    assert_ok(switch_off(card, &o));
    plug(0, first, true);
    light_up(card, &o, 0);
}

static void ids_stay(void **state)
{
    (void)state;
    only_ours();
    struct lineup before, after;
    get_lineup(card, &before);
    plug(1, second, true);
    plug(1, second, false);
    plug(1, second, true);
    get_lineup(card, &after);
    assert_memory_equal(before.connectors, after.connectors, sizeof *before.connectors * 2);
    assert_memory_equal(before.crtcs, after.crtcs, sizeof *before.crtcs * 2);
}

static void other_modes_may_come(void **state)
{
    (void)state;
    only_ours();
    struct tp_kms_output changed = first;
    changed.modes[0] = (struct tp_kms_mode){800, 600, 90000};
    changed.n_modes = 1;
    uint32_t old = (uint32_t)property_value(card, o.connector, "EDID");
    unsigned before = n_hotplugs();
    plug(0, changed, true);
    assert_int_equal(n_hotplugs(), before + 1);
    assert_int_equal(connector(o.connector).count_modes, 1);
    uint32_t edid = (uint32_t)property_value(card, o.connector, "EDID");
    assert_int_not_equal(edid, old);
    struct drm_mode_get_blob get = {.blob_id = old};
    assert_errno(drm(card, DRM_IOCTL_MODE_GETPROPBLOB, &get), ENOENT);
    struct output now;
    assert_true(find_output(card, 0, &now));
    assert_int_equal(now.modes[0].hdisplay, 800);
    light_up(card, &now, 0);
    assert_int_equal(shown(o.index)->mode.refresh_mhz, 90000);
}

static void what_makes_no_screen_is_refused(void **state)
{
    (void)state;
    only_ours();
    struct tp_error e = {0};
    struct tp_kms_output bad = first;
    bad.n_modes = 0;
    assert_errno(tp_kms_set_output(own_kms(), 0, &bad, &e), EINVAL);
    assert_true(e.what[0] != 0);
    bad = first;
    bad.modes[0].width_px = 0;
    e = (struct tp_error){0};
    assert_errno(tp_kms_set_output(own_kms(), 0, &bad, &e), EINVAL);
    bad = first;
    bad.modes[0].refresh_mhz = 0;
    e = (struct tp_error){0};
    assert_errno(tp_kms_set_output(own_kms(), 0, &bad, &e), EINVAL);
    e = (struct tp_error){0};
    assert_errno(tp_kms_set_output(own_kms(), 2, &first, &e), EINVAL);
    assert_int_equal(connector(o.connector).count_modes, 3);
}

static void configurations_that_make_no_device_are_refused(void **state)
{
    (void)state;
    only_ours();
    static const struct tp_kms_ops none;
    struct tp_kms *kms = NULL;
    for (int i = 0; i < 4; i++) {
        struct tp_kms_config c = usual_config();
        switch (i) {
        case 0:
            c.n_outputs = 0;
            break;
        case 1:
            c.n_outputs = TP_KMS_OUTPUTS + 1;
            break;
        case 2:
            c.outputs[0].n_modes = TP_KMS_MODES + 1;
            break;
        default:
            c.n_overlays = TP_KMS_OVERLAYS + 1;
        }
        struct tp_error e = {0};
        assert_errno(tp_kms_create(&c, &none, NULL, &kms, &e), EINVAL);
        assert_int_equal(e.status, TP_STATUS_INPUT);
        assert_true(e.what[0] != 0);
        assert_null(kms);
    }
}

/* A server that ends with clients on it. */
static int memory(void *data, uint64_t bytes)
{
    (void)data;
    int fd = memfd_create("memory", MFD_CLOEXEC);
    return fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 ? fd : -ENOMEM;
}

static void a_device_that_ends_lets_all_go(void **state)
{
    (void)state;
    only_ours();
    const struct tp_kms_ops ops = {.create_memory = memory};
    struct tp_kms_config c = usual_config();
    struct tp_error e = {0};
    struct tp_kms *kms;
    unsigned before = n_descriptors();
    assert_ok(tp_kms_create(&c, &ops, NULL, &kms, &e));
    for (int i = 0; i < 3; i++) {
        struct tp_kms_file *f;
        assert_ok(tp_kms_open(kms, true, 1, NULL, &f));
        struct drm_mode_create_dumb d = {.width = 64, .height = 64, .bpp = 32};
        struct tp_drm_call call = {.request = DRM_IOCTL_MODE_CREATE_DUMB, .arg = &d,
                                   .arg_bytes = sizeof d};
        assert_ok(tp_kms_ioctl(f, &call, NULL));
        struct drm_syncobj_create s = {0};
        call = (struct tp_drm_call){.request = DRM_IOCTL_SYNCOBJ_CREATE, .arg = &s,
                                    .arg_bytes = sizeof s};
        assert_ok(tp_kms_ioctl(f, &call, NULL));
    }
    assert_true(n_descriptors() > before);
    tp_kms_destroy(kms);
    assert_int_equal(n_descriptors(), before);
}

#define plugged(name) cmocka_unit_test_setup_teardown(name, setup_lit, teardown_ours)

int main(void)
{
    const struct CMUnitTest tests[] = {
        plugged(a_disconnected_connector_is_there_without_modes),
        plugged(plugging_in_is_told),
        plugged(the_same_again_is_no_news),
        plugged(unplugging_what_is_shown_leaves_it_to_the_client),
        plugged(ids_stay),
        plugged(other_modes_may_come),
        plugged(what_makes_no_screen_is_refused),
        plugged(a_device_that_ends_lets_all_go),
        plugged(configurations_that_make_no_device_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
