/* The block that clients answer queries from: it says what the server says, never half of one state
 * and half of another, and whatever stands in it does no harm. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "harness.h"

/* One query, and the arrays that go with it. */
struct query {
    unsigned long request;
    union {
        uint64_t words[16];
        struct drm_version version;
        struct drm_get_cap cap;
        struct drm_mode_card_res resources;
        struct drm_mode_crtc crtc;
        struct drm_mode_get_encoder encoder;
        struct drm_mode_get_connector connector;
        struct drm_mode_get_plane_res planes;
        struct drm_mode_get_plane plane;
        struct drm_mode_get_property property;
        struct drm_mode_obj_get_properties properties;
        struct drm_mode_get_blob blob;
    } arg;
    /* Where the addresses of its arrays stand, in words; 0xff: no more. */
    uint8_t pointers[5];
    _Alignas(8) uint8_t arrays[4][16384];
};

static void aim(struct query *q)
{
    memset(q->arrays, 0x5c, sizeof q->arrays);
    for (unsigned i = 0; i < 4 && q->pointers[i] != 0xff; i++)
        q->arg.words[q->pointers[i]] = PTR(q->arrays[i]);
}

static unsigned n_answered;

static void both_agree(struct file *f, struct query *by_block)
{
    static struct query by_server;
    by_server = *by_block;
    aim(by_block);
    aim(&by_server);
    int a = tp_snapshot_query(own_snapshot(), own_view(f), by_block->request, by_block->arg.words);
    if (a == -ENOSYS)
        return;
    n_answered++;
    int b = drm_server(f, by_server.request, by_server.arg.words);
    if (a != b)
        fail_msg("request %#lx: the block says %d, the server %d", by_block->request, a, b);
    for (unsigned i = 0; i < 4 && by_block->pointers[i] != 0xff; i++)
        by_server.arg.words[by_server.pointers[i]] = by_block->arg.words[by_block->pointers[i]];
    if (a == 0 && memcmp(by_block->arg.words, by_server.arg.words, sizeof by_server.arg))
        fail_msg("request %#lx: the block and the server do not fill in the same",
                 by_block->request);
    assert_memory_equal(by_block->arrays, by_server.arrays, sizeof by_server.arrays);
}

/* Sizes of arrays: none, too little, and enough. */
static const uint32_t rooms[] = {0, 1, 2, 60};

/* Of others the kernel leaves count_enum_blobs as it came, and no client gives one. */
static bool has_enums(struct file *f, uint32_t id)
{
    struct drm_mode_get_property p = {.prop_id = id};
    return drm_server(f, DRM_IOCTL_MODE_GETPROPERTY, &p) == 0 &&
           p.flags & (DRM_MODE_PROP_ENUM | DRM_MODE_PROP_BITMASK);
}

static void ask_with_room(struct file *f, struct query *q, uint32_t room)
{
    switch (q->request) {
    case DRM_IOCTL_VERSION:
        q->arg.version.name_len = q->arg.version.date_len = q->arg.version.desc_len = room;
        break;
    case DRM_IOCTL_MODE_GETRESOURCES:
        q->arg.resources.count_fbs = q->arg.resources.count_crtcs = room;
        q->arg.resources.count_connectors = q->arg.resources.count_encoders = room;
        break;
    case DRM_IOCTL_MODE_GETCONNECTOR:
        q->arg.connector.count_modes = room ? room : 1;
        q->arg.connector.count_props = q->arg.connector.count_encoders = room;
        break;
    case DRM_IOCTL_MODE_GETPLANERESOURCES:
        q->arg.planes.count_planes = room;
        break;
    case DRM_IOCTL_MODE_GETPLANE:
        q->arg.plane.count_format_types = room;
        break;
    case DRM_IOCTL_MODE_GETPROPERTY:
        q->arg.property.count_values = room;
        q->arg.property.count_enum_blobs = has_enums(f, q->arg.property.prop_id) ? room : 0;
        break;
    case DRM_IOCTL_MODE_OBJ_GETPROPERTIES:
        q->arg.properties.count_props = room;
        break;
    default:
        break;
    }
    both_agree(f, q);
}

#define WORD(type, member) (offsetof(type, member) / 8)

static void ask_all(struct file *f)
{
    static struct query q;
    for (unsigned r = 0; r < COUNT(rooms); r++) {
        q = (struct query){.request = DRM_IOCTL_VERSION,
                           .pointers = {WORD(struct drm_version, name),
                                        WORD(struct drm_version, date),
                                        WORD(struct drm_version, desc), 0xff}};
        ask_with_room(f, &q, rooms[r]);
        q = (struct query){.request = DRM_IOCTL_MODE_GETRESOURCES, .pointers = {0, 1, 2, 3, 0xff}};
        ask_with_room(f, &q, rooms[r]);
        q = (struct query){.request = DRM_IOCTL_MODE_GETPLANERESOURCES, .pointers = {0, 0xff}};
        ask_with_room(f, &q, rooms[r]);
    }
    for (uint64_t cap = 0; cap < 0x20; cap++) {
        q = (struct query){.request = DRM_IOCTL_GET_CAP, .pointers = {0xff}};
        q.arg.cap.capability = cap;
        both_agree(f, &q);
    }
    for (uint32_t id = 0; id < 320; id++) {
        q = (struct query){.request = DRM_IOCTL_MODE_GETCRTC, .pointers = {0xff}};
        q.arg.crtc.crtc_id = id;
        both_agree(f, &q);
        q = (struct query){.request = DRM_IOCTL_MODE_GETENCODER, .pointers = {0xff}};
        q.arg.encoder.encoder_id = id;
        both_agree(f, &q);
        for (unsigned r = 0; r < COUNT(rooms); r++) {
            q = (struct query){.request = DRM_IOCTL_MODE_GETCONNECTOR,
                               .pointers = {0, 1, 2, 3, 0xff}};
            q.arg.connector.connector_id = id;
            ask_with_room(f, &q, rooms[r]);
            q = (struct query){.request = DRM_IOCTL_MODE_GETPLANE,
                               .pointers = {WORD(struct drm_mode_get_plane, format_type_ptr),
                                            0xff}};
            q.arg.plane.plane_id = id;
            ask_with_room(f, &q, rooms[r]);
            q = (struct query){.request = DRM_IOCTL_MODE_GETPROPERTY, .pointers = {0, 1, 0xff}};
            q.arg.property.prop_id = id;
            ask_with_room(f, &q, rooms[r]);
            static const uint32_t types[] = {
                DRM_MODE_OBJECT_ANY,   DRM_MODE_OBJECT_CRTC,    DRM_MODE_OBJECT_CONNECTOR,
                DRM_MODE_OBJECT_PLANE, DRM_MODE_OBJECT_ENCODER, DRM_MODE_OBJECT_FB,
                DRM_MODE_OBJECT_BLOB,  DRM_MODE_OBJECT_PROPERTY, 0x12345};
            for (unsigned t = 0; t < COUNT(types); t++) {
                q = (struct query){.request = DRM_IOCTL_MODE_OBJ_GETPROPERTIES,
                                   .pointers = {0, 1, 0xff}};
                q.arg.properties.obj_id = id;
                q.arg.properties.obj_type = types[t];
                ask_with_room(f, &q, rooms[r]);
            }
        }
        static const uint32_t lengths[] = {0, 1, 68, 128, 256, 384};
        for (unsigned i = 0; i < COUNT(lengths); i++) {
            q = (struct query){.request = DRM_IOCTL_MODE_GETPROPBLOB,
                               .pointers = {WORD(struct drm_mode_get_blob, data), 0xff}};
            q.arg.blob.blob_id = id;
            q.arg.blob.length = lengths[i];
            both_agree(f, &q);
        }
    }
}

static void block_and_server_agree_on_every_query(void **state)
{
    (void)state;
    only_ours();
    struct output o;
    assert_true(find_output(card, 0, &o));
    n_answered = 0;
    ask_all(card);
    light_up(card, &o, 0);
    ask_all(card);
    struct request r = {0};
    add(&r, card, o.crtc, "VRR_ENABLED", 1);
    if (o.overlay)
        add_plane(&r, card, o.overlay, o.crtc, fb_of(card, 64, 64, DRM_FORMAT_ARGB8888), -5, 6, 64,
                  64);
    assert_ok(commit(card, &r, 0, 0));
    ask_all(card);
    assert_ok(switch_off(card, &o));
    ask_all(card);
    assert_in_range(n_answered, 4000, 1000000);
}

static void they_agree_for_every_kind_of_client(void **state)
{
    (void)state;
    only_ours();
    struct output o;
    assert_true(find_output(card, 0, &o));
    light_up(card, &o, 0);
    struct file *plain = card_open(), *universal = card_open(), *aspect = card_open();
    assert_ok(set_client_cap(universal, DRM_CLIENT_CAP_UNIVERSAL_PLANES, 1));
    assert_ok(set_client_cap(aspect, DRM_CLIENT_CAP_ASPECT_RATIO, 1));
    assert_ok(set_client_cap(aspect, DRM_CLIENT_CAP_STEREO_3D, 1));
    ask_all(plain);
    ask_all(universal);
    ask_all(aspect);
    assert_ok(set_client_cap(card, DRM_CLIENT_CAP_WRITEBACK_CONNECTORS, 1));
    ask_all(card);
}

static void they_agree_after_a_hotplug(void **state)
{
    (void)state;
    only_ours();
    struct tp_kms_config c = usual_config();
    struct tp_error e = {0};
    c.outputs[1].connected = false;
    assert_ok(tp_kms_set_output(own_kms(), 1, &c.outputs[1], &e));
    settle();
    ask_all(card);
    c.outputs[1].connected = true;
    c.outputs[1].n_modes = 1;
    assert_ok(tp_kms_set_output(own_kms(), 1, &c.outputs[1], &e));
    settle();
    ask_all(card);
}

/* --- a reader beside the writer --- */

static atomic_bool stop;
static atomic_ulong n_read, n_torn;

struct reader {
    struct tp_snapshot *block;
    struct tp_snapshot_view view;
    struct output o;
    uint32_t fbs[2]; /* with modes[0] and modes[2]: of different sizes */
    uint32_t active, fb_id, crtc_w;
};

static void *read_on(void *arg)
{
    struct reader *me = arg;
    while (!stop) {
        struct drm_mode_crtc c = {.crtc_id = me->o.crtc};
        int r = tp_snapshot_query(me->block, &me->view, DRM_IOCTL_MODE_GETCRTC, &c);
        if (r == -ENOSYS)
            continue;
        n_read++;
        unsigned is = c.fb_id == me->fbs[1];
        const struct drm_mode_modeinfo *m = &me->o.modes[is ? 2 : 0];
        if (r != 0 || c.fb_id != me->fbs[is] || !c.mode_valid || c.mode.hdisplay != m->hdisplay ||
            c.mode.vtotal != m->vtotal || strcmp(c.mode.name, m->name))
            n_torn++;

        uint32_t ids[64];
        uint64_t values[64], fb = 0, width = 0;
        struct drm_mode_obj_get_properties p = {.obj_id = me->o.primary,
                                                .obj_type = DRM_MODE_OBJECT_PLANE,
                                                .props_ptr = PTR(ids),
                                                .prop_values_ptr = PTR(values),
                                                .count_props = 64};
        if (tp_snapshot_query(me->block, &me->view, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &p) != 0)
            continue;
        for (unsigned i = 0; i < p.count_props && i < 64; i++) {
            if (ids[i] == me->fb_id)
                fb = values[i];
            if (ids[i] == me->crtc_w)
                width = values[i];
        }
        is = fb == me->fbs[1];
        if (fb != me->fbs[is] || width != me->o.modes[is ? 2 : 0].hdisplay)
            n_torn++;
    }
    return NULL;
}

static void show(const struct reader *w, unsigned which)
{
    const struct drm_mode_modeinfo *m = &w->o.modes[which ? 2 : 0];
    uint32_t blob = create_blob(card, m, sizeof *m);
    struct request r = {0};
    add(&r, card, w->o.connector, "CRTC_ID", w->o.crtc);
    add(&r, card, w->o.crtc, "MODE_ID", blob);
    add(&r, card, w->o.crtc, "ACTIVE", 1);
    add_plane(&r, card, w->o.primary, w->o.crtc, w->fbs[which], 0, 0, m->hdisplay, m->vdisplay);
    assert_ok(commit(card, &r, DRM_MODE_ATOMIC_ALLOW_MODESET, 0));
    assert_ok(destroy_blob(card, blob));
}

static void readers_see_one_state_or_the_other(void **state)
{
    (void)state;
    only_ours();
    static struct reader w;
    w = (struct reader){.block = own_snapshot(), .view = *own_view(card)};
    assert_true(find_output(card, 0, &w.o));
    assert_true(w.o.n_modes >= 3 && w.o.modes[0].hdisplay != w.o.modes[2].hdisplay);
    w.fbs[0] = fb_of(card, w.o.modes[0].hdisplay, w.o.modes[0].vdisplay, DRM_FORMAT_XRGB8888);
    w.fbs[1] = fb_of(card, w.o.modes[2].hdisplay, w.o.modes[2].vdisplay, DRM_FORMAT_XRGB8888);
    w.fb_id = property_id(card, w.o.primary, "FB_ID");
    w.crtc_w = property_id(card, w.o.primary, "CRTC_W");
    show(&w, 0);
    stop = false;
    n_read = n_torn = 0;
    pthread_t readers[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_on, &w), 0);
    for (unsigned i = 1; i < 600 || n_read < 1000; i++) {
        show(&w, i % 2);
        tp_snapshot_write(own_snapshot(), own_kms()); /* and again, though nothing changed */
    }
    stop = true;
    for (int i = 0; i < 2; i++)
        pthread_join(readers[i], NULL);
    /* Where it met a writer each time it tried, it says so, and the server is asked: that is no
     * tear. */
    assert_int_equal(n_torn, 0);
}

/* --- a block that a server of ill will wrote, or one that died while it wrote --- */

static void other_blocks_are_not_taken(void **state)
{
    (void)state;
    only_ours();
    static _Alignas(4096) uint8_t block[TP_SNAPSHOT_BYTES];
    struct tp_snapshot *s = (void *)block;
    assert_false(tp_snapshot_valid(s, sizeof block));
    memcpy(block, own_snapshot(), sizeof block);
    assert_true(tp_snapshot_valid(s, sizeof block));
    assert_false(tp_snapshot_valid(s, 4096));
    assert_false(tp_snapshot_valid(s, 0));
    for (unsigned i = 0; i < 8; i++) { /* magic and version */
        block[i] ^= 0x81;
        assert_false(tp_snapshot_valid(s, sizeof block));
        block[i] ^= 0x81;
    }
}

static void ask_hostile(struct tp_snapshot *s, uint32_t id, uint32_t room)
{
    static struct query q;
    static const struct {
        unsigned long request;
        uint8_t pointers[5];
    } all[] = {
        {DRM_IOCTL_VERSION, {WORD(struct drm_version, name), WORD(struct drm_version, date),
                             WORD(struct drm_version, desc), 0xff}},
        {DRM_IOCTL_GET_CAP, {0xff}},
        {DRM_IOCTL_MODE_GETRESOURCES, {0, 1, 2, 3, 0xff}},
        {DRM_IOCTL_MODE_GETCRTC, {0xff}},
        {DRM_IOCTL_MODE_GETENCODER, {0xff}},
        {DRM_IOCTL_MODE_GETCONNECTOR, {0, 1, 2, 3, 0xff}},
        {DRM_IOCTL_MODE_GETPLANERESOURCES, {0, 0xff}},
        {DRM_IOCTL_MODE_GETPLANE, {WORD(struct drm_mode_get_plane, format_type_ptr), 0xff}},
        {DRM_IOCTL_MODE_GETPROPERTY, {0, 1, 0xff}},
        {DRM_IOCTL_MODE_OBJ_GETPROPERTIES, {0, 1, 0xff}},
        {DRM_IOCTL_MODE_GETPROPBLOB, {WORD(struct drm_mode_get_blob, data), 0xff}},
    };
    const struct tp_snapshot_view view = {.universal_planes = true, .atomic = true};
    for (unsigned i = 0; i < COUNT(all); i++) {
        memset(&q.arg, 0, sizeof q.arg);
        q.request = all[i].request;
        memcpy(q.pointers, all[i].pointers, sizeof q.pointers);
        q.arg.cap.capability = id;
        switch (q.request) {
        case DRM_IOCTL_VERSION:
            q.arg.version.name_len = q.arg.version.date_len = q.arg.version.desc_len = room;
            break;
        case DRM_IOCTL_MODE_GETRESOURCES:
            q.arg.resources.count_fbs = q.arg.resources.count_crtcs = room;
            q.arg.resources.count_connectors = q.arg.resources.count_encoders = room;
            break;
        case DRM_IOCTL_MODE_GETCRTC:
            q.arg.crtc.crtc_id = id;
            break;
        case DRM_IOCTL_MODE_GETCONNECTOR:
            q.arg.connector.connector_id = id;
            q.arg.connector.count_modes = q.arg.connector.count_props = room;
            q.arg.connector.count_encoders = room;
            break;
        case DRM_IOCTL_MODE_GETPLANERESOURCES:
            q.arg.planes.count_planes = room;
            break;
        case DRM_IOCTL_MODE_GETPLANE:
            q.arg.plane.plane_id = id;
            q.arg.plane.count_format_types = room;
            break;
        case DRM_IOCTL_MODE_GETPROPERTY:
            q.arg.property.prop_id = id;
            q.arg.property.count_values = q.arg.property.count_enum_blobs = room;
            break;
        case DRM_IOCTL_MODE_OBJ_GETPROPERTIES:
            q.arg.properties.obj_id = id;
            q.arg.properties.count_props = room;
            break;
        case DRM_IOCTL_MODE_GETPROPBLOB:
            q.arg.blob.blob_id = id;
            q.arg.blob.length = room;
            break;
        default:
            break;
        }
        uint32_t before = room;
        for (unsigned a = 0; a < 4; a++)
            memset(q.arrays[a], 0x5c, sizeof q.arrays[a]);
        for (unsigned a = 0; a < 4 && q.pointers[a] != 0xff; a++)
            q.arg.words[q.pointers[a]] = PTR(q.arrays[a]);
        tp_snapshot_query(s, &view, q.request, q.arg.words);
        /* Never more than there was room for: 68 bytes are the largest element, a mode. */
        for (unsigned a = 0; a < 4; a++)
            for (size_t at = before * 68u; at < sizeof q.arrays[a]; at++)
                assert_int_equal(q.arrays[a][at], 0x5c);
    }
}

static void whatever_stands_in_it_does_no_harm(void **state)
{
    (void)state;
    only_ours();
    uint32_t seed = 7;
    uint8_t *block = aligned_alloc(4096, TP_SNAPSHOT_BYTES);
    assert_non_null(block);
    for (unsigned i = 0; i < 1500; i++) {
        memcpy(block, own_snapshot(), TP_SNAPSHOT_BYTES);
        for (unsigned n = 1 + i % 40; n > 0; n--) {
            seed = seed * 1664525 + 1013904223;
            uint32_t at = (seed >> 4) % (i % 2 ? TP_SNAPSHOT_BYTES : 16384);
            /* Not the header: what that says was checked by tp_snapshot_valid, and a sequence
             * that is odd is a test of its own. */
            if (at < 16)
                continue;
            at &= ~3u;
            static const uint32_t values[] = {UINT32_MAX, 0x80000000, 0x7fffffff, 255, 65536, 4096};
            uint32_t v = i % 3 ? values[seed % COUNT(values)] : seed;
            memcpy(block + at, &v, 4);
        }
        ask_hostile((void *)block, seed % 260, i % 3 * 10);
    }
    free(block);
}

static void a_writer_that_died_half_way_keeps_nobody(void **state)
{
    (void)state;
    only_ours();
    static _Alignas(4096) uint8_t block[TP_SNAPSHOT_BYTES];
    memcpy(block, own_snapshot(), sizeof block);
    uint32_t odd;
    memcpy(&odd, block + 12, 4); /* struct tp_snapshot: sequence */
    odd |= 1;
    memcpy(block + 12, &odd, 4);
    const struct tp_snapshot_view view = {.atomic = true};
    struct drm_mode_card_res res = {0};
    /* It ends, and the server is asked instead. */
    assert_errno(tp_snapshot_query((void *)block, &view, DRM_IOCTL_MODE_GETRESOURCES, &res),
                 ENOSYS);
}

static void it_tells_where_fences_are(void **state)
{
    (void)state;
    only_ours();
    struct output o;
    assert_true(find_output(card, 0, &o));
    struct tp_drm_fences f = {0};
    tp_snapshot_fences(own_snapshot(), &f);
    assert_int_equal(f.in_fence_fd, property_id(card, o.primary, "IN_FENCE_FD"));
    assert_int_equal(f.out_fence_ptr, property_id(card, o.crtc, "OUT_FENCE_PTR"));
}

static void changes_are_not_its_to_make(void **state)
{
    (void)state;
    only_ours();
    static const unsigned long requests[] = {
        DRM_IOCTL_MODE_SETCRTC, DRM_IOCTL_MODE_ATOMIC,      DRM_IOCTL_MODE_ADDFB2,
        DRM_IOCTL_MODE_RMFB,    DRM_IOCTL_SET_CLIENT_CAP,   DRM_IOCTL_MODE_CREATE_DUMB,
        DRM_IOCTL_SET_MASTER,   DRM_IOCTL_MODE_PAGE_FLIP,   DRM_IOCTL_GEM_CLOSE,
        DRM_IOCTL_WAIT_VBLANK,  DRM_IOCTL_CRTC_GET_SEQUENCE, DRM_IOCTL_SYNCOBJ_QUERY,
    };
    for (unsigned i = 0; i < COUNT(requests); i++) {
        uint64_t arg[16] = {0};
        assert_errno(tp_snapshot_query(own_snapshot(), own_view(card), requests[i], arg), ENOSYS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(block_and_server_agree_on_every_query),
        test(they_agree_for_every_kind_of_client),
        test(they_agree_after_a_hotplug),
        test(readers_see_one_state_or_the_other),
        test(other_blocks_are_not_taken),
        test(whatever_stands_in_it_does_no_harm),
        test(a_writer_that_died_half_way_keeps_nobody),
        test(it_tells_where_fences_are),
        test(changes_are_not_its_to_make),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
