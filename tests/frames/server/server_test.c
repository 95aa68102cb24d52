/* What a client meets: opening, calls, events, pictures on their way to the panel. */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"
#include "frames/server/control.h"

static struct peer a, b;

static void hello_and_channel_open_the_card(void **state)
{
    struct tp_hello hello;
    (void)state;
    peer_connect(&a);
    peer_hello(&a, TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_CARD);
    a.channel = peer_channel(&a);
    assert_int_equal(peer_greeting(&a, a.channel, &hello), 0);
    assert_int_equal(hello.version, TP_WIRE_VERSION);
    assert_true(hello.capabilities & TP_CAP_SNAPSHOT);
    assert_true(tp_snapshot_valid(a.snapshot, TP_SNAPSHOT_BYTES));
    char name[16] = "";
    struct drm_version v = {.name = name, .name_len = sizeof name - 1};
    assert_int_equal(peer_ioctl(&a, DRM_IOCTL_VERSION, &v), 0);
    assert_string_equal(name, TP_KMS_DRIVER);
    peer_close(&a);
}

static void a_later_version_that_knows_ours_is_welcome(void **state)
{
    struct tp_hello hello;
    (void)state;
    peer_connect(&a);
    peer_hello(&a, TP_WIRE_VERSION + 5, TP_WIRE_VERSION, TP_HELLO_CARD);
    a.channel = peer_channel(&a);
    assert_int_equal(peer_greeting(&a, a.channel, &hello), 0);
    peer_close(&a);
}

static void a_version_with_none_in_common_hears_why(void **state)
{
    struct tp_hello hello;
    (void)state;
    peer_connect(&a);
    peer_hello(&a, TP_WIRE_VERSION + 5, TP_WIRE_VERSION + 1, TP_HELLO_CARD);
    a.channel = peer_channel(&a);
    assert_int_equal(peer_greeting(&a, a.channel, &hello), -EPROTO);
    peer_close(&a);
}

static void capabilities_of_the_client_are_told_to_its_later_channels(void **state)
{
    struct tp_hello hello;
    struct drm_set_client_cap cap = {DRM_CLIENT_CAP_ATOMIC, 1};
    (void)state;
    peer_open(&a);
    assert_int_equal(peer_ioctl(&a, DRM_IOCTL_SET_CLIENT_CAP, &cap), 0);
    int more = peer_channel(&a);
    assert_int_equal(peer_greeting(&a, more, &hello), 0);
    assert_int_equal(hello.client_caps, 1u << DRM_CLIENT_CAP_ATOMIC);
    close(more);
    peer_close(&a);
}

static void buffers_are_mapped_and_cannot_shrink(void **state)
{
    struct drm_mode_create_dumb d = {.width = 64, .height = 48, .bpp = 32};
    struct drm_mode_map_dumb m = {0};
    struct tp_frame f;
    uint64_t bytes;
    int32_t result;
    (void)state;
    peer_open(&a);
    assert_int_equal(peer_ioctl(&a, DRM_IOCTL_MODE_CREATE_DUMB, &d), 0);
    m.handle = d.handle;
    assert_int_equal(peer_ioctl(&a, DRM_IOCTL_MODE_MAP_DUMB, &m), 0);
    uint64_t offset = m.offset;
    const struct iovec part = {&offset, sizeof offset};
    assert_int_equal(tp_frame_send(a.channel, TP_FRAME_MAP, 0, 77, &part, 1, NULL, 0), 0);
    pump();
    assert_int_equal(tp_frame_recv(a.channel, a.in, &f), 0);
    assert_int_equal(f.sequence, 77);
    memcpy(&result, f.payload, sizeof result);
    memcpy(&bytes, f.payload + 8, sizeof bytes);
    assert_int_equal(result, 0);
    assert_int_equal(bytes, d.size);
    int memory = tp_frame_take_fd(&f, 0);
    tp_frame_finish(&f);
    assert_int_equal(ftruncate(memory, 0), -1);
    assert_int_equal(errno, EPERM);
    close(memory);
    offset = 12345;
    assert_int_equal(tp_frame_send(a.channel, TP_FRAME_MAP, 0, 78, &part, 1, NULL, 0), 0);
    pump();
    assert_int_equal(tp_frame_recv(a.channel, a.in, &f), 0);
    memcpy(&result, f.payload, sizeof result);
    assert_int_equal(result, -EINVAL);
    tp_frame_finish(&f);
    peer_close(&a);
}

static void the_snapshot_is_nobodys_to_write(void **state)
{
    struct tp_frame f;
    (void)state;
    peer_open(&a);
    int more = peer_channel(&a);
    assert_int_equal(tp_frame_recv(more, a.in, &f), 0);
    int fd = tp_frame_take_fd(&f, 0);
    tp_frame_finish(&f);
    assert_ptr_equal(
        mmap(NULL, TP_SNAPSHOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    assert_int_equal(write(fd, "x", 1), -1);
    assert_int_equal(ftruncate(fd, 0), -1);
    close(fd);
    close(more);
    peer_close(&a);
}

static void the_snapshot_is_up_to_date_when_the_answer_comes(void **state)
{
    struct tp_snapshot_view view = {0};
    uint32_t crtc = 0;
    struct drm_mode_card_res res = {.crtc_id_ptr = PTR(&crtc), .count_crtcs = 1};
    (void)state;
    peer_open(&a);
    uint32_t fb = light_up(&a);
    assert_int_equal(tp_snapshot_query(a.snapshot, &view, DRM_IOCTL_MODE_GETRESOURCES, &res), 0);
    struct drm_mode_crtc c = {.crtc_id = crtc};
    assert_int_equal(tp_snapshot_query(a.snapshot, &view, DRM_IOCTL_MODE_GETCRTC, &c), 0);
    assert_int_equal(c.fb_id, fb);
    peer_close(&a);
}

static void a_flip_gets_its_event_with_the_refresh_it_was_published_in(void **state)
{
    struct drm_event_vblank e;
    (void)state;
    peer_open(&a);
    light_up(&a);
    uint32_t fb = make_fb(&a);
    unsigned before = n_published;
    assert_int_equal(page_flip(&a, fb, 42), 0);
    assert_int_equal(n_published, before + 1); /* this refresh has had none yet */
    assert_int_equal(peer_event(&a, &e), sizeof e);
    assert_int_equal(e.base.type, DRM_EVENT_FLIP_COMPLETE);
    assert_int_equal(e.user_data, 42);
    assert_int_equal(e.sequence, last_sequence());
    peer_close(&a);
}

static void a_refresh_takes_one_picture(void **state)
{
    struct drm_event_vblank e;
    (void)state;
    peer_open(&a);
    uint32_t fbs[2] = {light_up(&a), make_fb(&a)};
    assert_int_equal(page_flip(&a, fbs[1], 1), 0);
    assert_int_equal(peer_event(&a, &e), sizeof e);
    unsigned before = n_published;
    assert_int_equal(page_flip(&a, fbs[0], 2), 0);
    assert_int_equal(page_flip(&a, fbs[1], 3), -EBUSY); /* one is under way */
    assert_int_equal(peer_event(&a, &e), -EAGAIN);
    assert_int_equal(n_published, before);
    tick();
    assert_int_equal(n_published, before + 1);
    assert_int_equal(peer_event(&a, &e), sizeof e);
    assert_int_equal(e.user_data, 2);
    assert_int_equal(e.sequence, last_sequence());
    peer_close(&a);
}

/* While the panel takes the picture. */
static void next_refresh(const struct tp_kms_scanout *s)
{
    (void)s;
    on_publish = NULL;
    tick();
}

static void a_refresh_that_begins_under_a_picture_has_its_own(void **state)
{
    struct drm_event_vblank first, second;
    (void)state;
    peer_open(&a);
    uint32_t fbs[2] = {light_up(&a), make_fb(&a)};
    tick();
    on_publish = next_refresh;
    assert_int_equal(page_flip(&a, fbs[1], 1), 0);
    assert_int_equal(peer_event(&a, &first), sizeof first);
    assert_int_equal(page_flip(&a, fbs[0], 2), 0);
    assert_int_equal(peer_event(&a, &second), sizeof second);
    assert_int_equal(first.sequence + 1, last_sequence());
    assert_int_equal(second.sequence, last_sequence());
    peer_close(&a);
}

static void a_screen_that_cannot_take_it_yet_gets_it_with_the_next_refresh(void **state)
{
    struct drm_event_vblank e;
    (void)state;
    peer_open(&a);
    light_up(&a);
    publish_answers = -EAGAIN;
    assert_int_equal(page_flip(&a, make_fb(&a), 1), 0);
    tick();
    assert_int_equal(peer_event(&a, &e), -EAGAIN);
    publish_answers = 0;
    tick();
    assert_int_equal(peer_event(&a, &e), sizeof e);
    peer_close(&a);
}

static void a_screen_that_is_away_does_not_stop_its_clients(void **state)
{
    struct drm_event_vblank e;
    (void)state;
    peer_open(&a);
    light_up(&a);
    publish_answers = -ENODEV;
    assert_int_equal(page_flip(&a, make_fb(&a), 1), 0);
    assert_int_equal(peer_event(&a, &e), sizeof e);
    peer_close(&a);
}

/* --- fences --- */

static uint32_t find_property(struct peer *p, uint32_t object, uint32_t type, const char *name)
{
    uint32_t ids[32];
    uint64_t values[32];
    struct drm_mode_obj_get_properties o = {.props_ptr = PTR(ids),
        .prop_values_ptr = PTR(values),
        .count_props = 32,
        .obj_id = object,
        .obj_type = type};
    assert_int_equal(peer_ioctl(p, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &o), 0);
    for (uint32_t i = 0; i < o.count_props; i++) {
        struct drm_mode_get_property g = {.prop_id = ids[i]};
        assert_int_equal(peer_ioctl(p, DRM_IOCTL_MODE_GETPROPERTY, &g), 0);
        if (!strcmp(g.name, name))
            return ids[i];
    }
    fail_msg("no property %s", name);
    return 0;
}

/* An atomic flip of the first plane with this in-fence, not blocking. */
static int flip_with_fence(struct peer *p, uint32_t fb, int fence)
{
    struct drm_set_client_cap cap = {DRM_CLIENT_CAP_ATOMIC, 1};
    uint32_t plane;
    struct drm_mode_get_plane_res planes = {.plane_id_ptr = PTR(&plane), .count_planes = 1};
    assert_int_equal(peer_ioctl(p, DRM_IOCTL_SET_CLIENT_CAP, &cap), 0);
    assert_int_equal(peer_ioctl(p, DRM_IOCTL_MODE_GETPLANERESOURCES, &planes), 0);
    uint32_t count = 2;
    uint32_t props[2] = {find_property(p, plane, DRM_MODE_OBJECT_PLANE, "FB_ID"),
        find_property(p, plane, DRM_MODE_OBJECT_PLANE, "IN_FENCE_FD")};
    uint64_t values[2] = {fb, (uint64_t)(int64_t)fence};
    struct drm_mode_atomic at = {.flags = DRM_MODE_ATOMIC_NONBLOCK | DRM_MODE_PAGE_FLIP_EVENT,
        .count_objs = 1,
        .objs_ptr = PTR(&plane),
        .count_props_ptr = PTR(&count),
        .props_ptr = PTR(props),
        .prop_values_ptr = PTR(values),
        .user_data = 9};
    return peer_ioctl(p, DRM_IOCTL_MODE_ATOMIC, &at);
}

/* Waits for an event, with refreshes passing. */
static int await_event(struct peer *p, struct drm_event_vblank *e, int64_t at_most_ns)
{
    int64_t end = tp_now_ns() + at_most_ns;
    int r;
    while ((r = peer_event(p, e)) == -EAGAIN && tp_now_ns() < end) {
        nanosleep(&(struct timespec){0, 2000000}, NULL);
        tick();
    }
    return r;
}

static void a_picture_waits_for_its_fence_and_nobody_else_does(void **state)
{
    struct drm_event_vblank e;
    (void)state;
    peer_open(&a);
    light_up(&a);
    int fence = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    unsigned before = n_published;
    assert_int_equal(flip_with_fence(&a, make_fb(&a), fence), 0);
    tick();
    tick();
    assert_int_equal(n_published, before);
    assert_int_equal(peer_event(&a, &e), -EAGAIN);
    peer_open(&b);
    make_fb(&b);
    peer_close(&b);
    assert_int_equal(write(fence, &(uint64_t){1}, 8), 8);
    assert_int_equal(await_event(&a, &e, INT64_C(5000000000)), sizeof e);
    assert_int_equal(e.user_data, 9);
    assert_int_equal(n_published, before + 1);
    assert_int_equal(n_logged, 0);
    close(fence);
    peer_close(&a);
}

static void a_fence_that_stays_silent_costs_one_picture(void **state)
{
    struct drm_event_vblank e;
    (void)state;
    peer_open(&a);
    light_up(&a);
    int fence = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    unsigned before = n_published;
    assert_int_equal(flip_with_fence(&a, make_fb(&a), fence), 0);
    assert_int_equal(await_event(&a, &e, INT64_C(20000000000)), sizeof e);
    assert_int_equal(n_published, before);
    assert_int_equal(n_logged, 1);
    tick();
    assert_int_equal(page_flip(&a, make_fb(&a), 1), 0);
    assert_int_equal(n_published, before + 1);
    close(fence);
    peer_close(&a);
}

/* --- the end of a client --- */

static void what_waits_is_forgotten_with_its_channel(void **state)
{
    union drm_wait_vblank w = {.request = {.type = _DRM_VBLANK_RELATIVE, .sequence = 100}};
    struct tp_server_counts c;
    (void)state;
    peer_open(&a);
    light_up(&a);
    assert_int_equal(peer_ioctl(&a, DRM_IOCTL_WAIT_VBLANK, &w), -EAGAIN);
    tp_server_count(server, &c);
    assert_int_equal(c.kms.waiters, 1);
    close(a.channel);
    a.channel = -1;
    pump();
    tp_server_count(server, &c);
    assert_int_equal(c.kms.waiters, 0);
    assert_int_equal(c.channels, 0);
    peer_close(&a);
}

static void a_client_that_dies_with_a_flip_under_way_leaves_nothing(void **state)
{
    (void)state;
    peer_open(&a);
    uint32_t fbs[2] = {light_up(&a), make_fb(&a)};
    assert_int_equal(page_flip(&a, fbs[1], 1), 0);
    assert_int_equal(page_flip(&a, fbs[0], 2), 0);
    peer_close(&a);
    tick();
    tick();
    struct tp_server_counts c;
    tp_server_count(server, &c);
    assert_int_equal(c.kms.buffers, 0);
}

static void what_was_closed_is_gone_before_the_next_call(void **state)
{
    (void)state;
    peer_open(&b);
    for (unsigned i = 0; i < 20; i++) {
        struct drm_mode_create_blob blob = {.data = PTR("12345678"), .length = 8};
        peer_open(&a);
        assert_int_equal(peer_ioctl(&a, DRM_IOCTL_MODE_CREATEPROPBLOB, &blob), 0);
        struct drm_mode_get_blob get = {.blob_id = blob.blob_id};
        assert_int_equal(peer_ioctl(&b, DRM_IOCTL_MODE_GETPROPBLOB, &get), 0);
        close(a.channel); /* the server has not had a turn since */
        close(a.card);
        get = (struct drm_mode_get_blob){.blob_id = blob.blob_id};
        assert_int_equal(peer_ioctl(&b, DRM_IOCTL_MODE_GETPROPBLOB, &get), -ENOENT);
        a.card = a.channel = -1;
        peer_close(&a);
    }
    peer_close(&b);
}

static void a_waiting_vblank_ends_with_its_refresh(void **state)
{
    union drm_wait_vblank w = {.request = {.type = _DRM_VBLANK_RELATIVE, .sequence = 2}};
    (void)state;
    peer_open(&a);
    light_up(&a);
    uint64_t from = last_sequence();
    assert_int_equal(peer_ioctl(&a, DRM_IOCTL_WAIT_VBLANK, &w), -EAGAIN);
    tick();
    assert_int_equal(peer_answer(&a, DRM_IOCTL_WAIT_VBLANK, &w), -EAGAIN);
    tick();
    assert_int_equal(peer_answer(&a, DRM_IOCTL_WAIT_VBLANK, &w), 0);
    assert_int_equal(w.reply.sequence, from + 2);
    peer_close(&a);
}

static void control_connections_get_the_picture_as_png(void **state)
{
    static const uint8_t magic[] = {0x89, 'P', 'N', 'G'};
    uint32_t output = 0;
    const struct iovec part = {&output, sizeof output};
    struct tp_frame f;
    uint8_t head[4];
    int32_t result;
    int r;
    (void)state;
    peer_connect(&a);
    peer_hello(&a, TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_CONTROL);
    assert_int_equal(tp_frame_recv(a.card, a.in, &f), 0);
    assert_int_equal(f.fourcc, TP_FRAME_HELLO);
    tp_frame_finish(&f);
    for (; output < 2; output++) {
        assert_int_equal(tp_frame_send(a.card, TP_FRAME_LOOK, 0, 5, &part, 1, NULL, 0), 0);
        do
            pump();
        while ((r = tp_frame_recv(a.card, a.in, &f)) == -EAGAIN);
        assert_int_equal(r, 0);
        memcpy(&result, f.payload, sizeof result);
        assert_int_equal(result, output == 0 ? 0 : -EINVAL);
        int fd = tp_frame_take_fd(&f, 0);
        tp_frame_finish(&f);
        if (output == 0) {
            assert_int_equal(pread(fd, head, 4, 0), 4);
            assert_memory_equal(head, magic, 4);
            close(fd);
        } else {
            assert_int_equal(fd, -1);
        }
    }
    peer_close(&a);
}

/* Asks to plug the output; answers the result. */
static int plug(struct peer *p, const struct tp_control_plug *asked)
{
    const struct iovec part = {(void *)(uintptr_t)asked, sizeof *asked};
    struct tp_frame f;
    int32_t result;
    assert_int_equal(tp_frame_send(p->card, TP_FRAME_PLUG, 0, 5, &part, 1, NULL, 0), 0);
    pump();
    assert_int_equal(tp_frame_recv(p->card, p->in, &f), 0);
    assert_int_equal(f.fourcc, TP_FRAME_PLUG);
    memcpy(&result, f.payload, sizeof result);
    tp_frame_finish(&f);
    return result;
}

/* Is there news of a plug? */
static bool heard_plug(struct peer *p)
{
    struct tp_frame f;
    int r = tp_frame_recv(p->card, p->in, &f);
    if (r == -EAGAIN)
        return false;
    assert_int_equal(r, 0);
    assert_int_equal(f.fourcc, TP_FRAME_HOTPLUG);
    assert_int_equal(f.payload_bytes, 0);
    tp_frame_finish(&f);
    return true;
}

static void a_plug_is_heard_by_those_who_asked_and_seen_by_all(void **state)
{
    static struct peer udev, tool;
    struct tp_control_plug asked = {.connected = 0};
    struct tp_frame f;
    uint32_t crtc, connector;
    (void)state;
    peer_open(&a);
    peer_connect(&udev);
    peer_hello(&udev, TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_HOTPLUG);
    peer_connect(&tool);
    peer_hello(&tool, TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_CONTROL);
    assert_int_equal(tp_frame_recv(tool.card, tool.in, &f), 0);
    tp_frame_finish(&f);
    assert_false(heard_plug(&udev));
    assert_int_equal(plug(&tool, &asked), 0);
    assert_true(heard_plug(&udev));
    assert_false(heard_plug(&udev));
    struct drm_mode_card_res res = {.crtc_id_ptr = PTR(&crtc),
        .count_crtcs = 1,
        .connector_id_ptr = PTR(&connector),
        .count_connectors = 1};
    assert_int_equal(peer_ioctl(&a, DRM_IOCTL_MODE_GETRESOURCES, &res), 0);
    struct drm_mode_get_connector c = {.connector_id = connector};
    assert_int_equal(peer_ioctl(&a, DRM_IOCTL_MODE_GETCONNECTOR, &c), 0);
    assert_int_equal(c.connection, 2); /* disconnected */
    assert_int_equal(c.count_modes, 0);
    assert_int_equal(plug(&tool, &asked), 0); /* no news */
    assert_false(heard_plug(&udev));
    asked = (struct tp_control_plug){.connected = 1,
        .n_modes = 2,
        .modes = {{64, 48, 120000}, {32, 24, 60000}}};
    assert_int_equal(plug(&tool, &asked), 0);
    assert_true(heard_plug(&udev));
    c = (struct drm_mode_get_connector){.connector_id = connector};
    assert_int_equal(peer_ioctl(&a, DRM_IOCTL_MODE_GETCONNECTOR, &c), 0);
    assert_int_equal(c.connection, 1);
    assert_int_equal(c.count_modes, 2);
    asked.output = 1;
    assert_int_equal(plug(&tool, &asked), -EINVAL);
    asked.output = 0;
    asked.n_modes = TP_KMS_MODES + 1;
    assert_int_equal(plug(&tool, &asked), -EINVAL);
    /* Who has something to say on such a connection loses it. */
    assert_int_equal(tp_frame_send(udev.card, TP_FRAME_HOTPLUG, 0, 0, NULL, 0, NULL, 0), 0);
    pump();
    assert_true(hung_up(udev.card));
    peer_close(&udev);
    peer_close(&tool);
    peer_close(&a);
}

static void a_tool_hears_of_the_last_refresh(void **state)
{
    struct tp_control_tick t;
    struct tp_frame f;
    (void)state;
    peer_connect(&a);
    peer_hello(&a, TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_CONTROL);
    assert_int_equal(tp_frame_recv(a.card, a.in, &f), 0);
    tp_frame_finish(&f);
    tick();
    for (uint32_t output = 0; output < 2; output++) {
        const struct iovec part = {&output, sizeof output};
        assert_int_equal(tp_frame_send(a.card, TP_FRAME_TICK, 0, 5, &part, 1, NULL, 0), 0);
        pump();
        assert_int_equal(tp_frame_recv(a.card, a.in, &f), 0);
        assert_int_equal(f.fourcc, TP_FRAME_TICK);
        assert_int_equal(f.payload_bytes, sizeof t);
        memcpy(&t, f.payload, sizeof t);
        tp_frame_finish(&f);
        assert_int_equal(t.result, output == 0 ? 0 : -EINVAL);
        assert_int_equal(t.sequence, output == 0 ? last_sequence() : 0);
        assert_true(output == 1 || t.told_ns > 0);
    }
    peer_close(&a);
}

static void plugs_that_nobody_reads_stop_nobody(void **state)
{
    static struct peer deaf;
    struct tp_kms_output o = {.connected = true, .n_modes = 1, .modes = {{64, 48, 60000}}};
    struct tp_error e = {0};
    (void)state;
    peer_connect(&deaf);
    peer_hello(&deaf, TP_WIRE_VERSION, TP_WIRE_OLDEST, TP_HELLO_HOTPLUG);
    for (unsigned i = 0; i < 2000; i++) {
        o.connected = !o.connected;
        assert_int_equal(tp_server_set_output(server, 0, &o, &e), 0);
    }
    pump();
    assert_true(heard_plug(&deaf));
    peer_close(&deaf);
}

#define t(name) cmocka_unit_test_setup_teardown(name, setup_server, teardown_server)

int main(void)
{
    const struct CMUnitTest tests[] = {
        t(hello_and_channel_open_the_card),
        t(a_later_version_that_knows_ours_is_welcome),
        t(a_version_with_none_in_common_hears_why),
        t(capabilities_of_the_client_are_told_to_its_later_channels),
        t(buffers_are_mapped_and_cannot_shrink),
        t(the_snapshot_is_nobodys_to_write),
        t(the_snapshot_is_up_to_date_when_the_answer_comes),
        t(a_plug_is_heard_by_those_who_asked_and_seen_by_all),
        t(a_tool_hears_of_the_last_refresh),
        t(plugs_that_nobody_reads_stop_nobody),
        t(a_flip_gets_its_event_with_the_refresh_it_was_published_in),
        t(a_refresh_takes_one_picture),
        t(a_refresh_that_begins_under_a_picture_has_its_own),
        t(a_refresh_that_begins_under_a_picture_has_its_own),
        t(a_screen_that_cannot_take_it_yet_gets_it_with_the_next_refresh),
        t(a_screen_that_is_away_does_not_stop_its_clients),
        t(a_picture_waits_for_its_fence_and_nobody_else_does),
        t(a_fence_that_stays_silent_costs_one_picture),
        t(what_waits_is_forgotten_with_its_channel),
        t(a_client_that_dies_with_a_flip_under_way_leaves_nothing),
        t(what_was_closed_is_gone_before_the_next_call),
        t(a_waiting_vblank_ends_with_its_refresh),
        t(control_connections_get_the_picture_as_png),
    };
    return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
