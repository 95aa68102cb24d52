/*
 * What the kernel's structs look like to every compiler that a client may come from: sizes and
 * offsets, which are an ABI. Nothing but assertions: it is compiled for 64 and 32 bits and for
 * arm64, and never linked. Those with another layout on 32 bits are told apart
 * (include/uapi/drm/drm.h, drm_mode.h; drm_ioc32.c).
 */
#include <stddef.h>

#include "frames/kms/snapshot_layout.h"

#define SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), "size of struct " #type)
#define AT(type, member, offset)                                                                   \
    _Static_assert(offsetof(struct type, member) == (offset),                                      \
                   "place of " #member " in struct " #type)

/* 64 bits are aligned to 4 bytes on 32-bit x86 alone: these end without padding there, and
 * drm_mode_fb_cmd2 has none before its modifiers. */
#if defined(__i386__)
#define I386_SHORT 4u
#else
#define I386_SHORT 0u
#endif

SIZE(drm_auth, 4);
AT(drm_auth, magic, 0);

SIZE(drm_get_cap, 16);
AT(drm_get_cap, capability, 0);
AT(drm_get_cap, value, 8);

SIZE(drm_set_client_cap, 16);
AT(drm_set_client_cap, capability, 0);
AT(drm_set_client_cap, value, 8);

SIZE(drm_set_version, 16);
AT(drm_set_version, drm_di_major, 0);
AT(drm_set_version, drm_dd_minor, 12);

SIZE(drm_gem_close, 8);
AT(drm_gem_close, handle, 0);

SIZE(drm_gem_flink, 8);
AT(drm_gem_flink, handle, 0);
AT(drm_gem_flink, name, 4);

SIZE(drm_gem_open, 16);
AT(drm_gem_open, name, 0);
AT(drm_gem_open, handle, 4);
AT(drm_gem_open, size, 8);

SIZE(drm_prime_handle, 12);
AT(drm_prime_handle, handle, 0);
AT(drm_prime_handle, flags, 4);
AT(drm_prime_handle, fd, 8);

SIZE(drm_mode_modeinfo, 68);
AT(drm_mode_modeinfo, clock, 0);
AT(drm_mode_modeinfo, hdisplay, 4);
AT(drm_mode_modeinfo, vscan, 22);
AT(drm_mode_modeinfo, vrefresh, 24);
AT(drm_mode_modeinfo, flags, 28);
AT(drm_mode_modeinfo, type, 32);
AT(drm_mode_modeinfo, name, 36);

SIZE(drm_mode_card_res, 64);
AT(drm_mode_card_res, fb_id_ptr, 0);
AT(drm_mode_card_res, encoder_id_ptr, 24);
AT(drm_mode_card_res, count_fbs, 32);
AT(drm_mode_card_res, max_height, 60);

SIZE(drm_mode_crtc, 104);
AT(drm_mode_crtc, set_connectors_ptr, 0);
AT(drm_mode_crtc, count_connectors, 8);
AT(drm_mode_crtc, crtc_id, 12);
AT(drm_mode_crtc, fb_id, 16);
AT(drm_mode_crtc, x, 20);
AT(drm_mode_crtc, y, 24);
AT(drm_mode_crtc, gamma_size, 28);
AT(drm_mode_crtc, mode_valid, 32);
AT(drm_mode_crtc, mode, 36);

SIZE(drm_mode_get_encoder, 20);
AT(drm_mode_get_encoder, encoder_id, 0);
AT(drm_mode_get_encoder, possible_clones, 16);

SIZE(drm_mode_get_connector, 80);
AT(drm_mode_get_connector, encoders_ptr, 0);
AT(drm_mode_get_connector, prop_values_ptr, 24);
AT(drm_mode_get_connector, count_modes, 32);
AT(drm_mode_get_connector, connection, 60);
AT(drm_mode_get_connector, subpixel, 72);

SIZE(drm_mode_get_property, 64);
AT(drm_mode_get_property, values_ptr, 0);
AT(drm_mode_get_property, enum_blob_ptr, 8);
AT(drm_mode_get_property, prop_id, 16);
AT(drm_mode_get_property, flags, 20);
AT(drm_mode_get_property, name, 24);
AT(drm_mode_get_property, count_values, 56);
AT(drm_mode_get_property, count_enum_blobs, 60);

SIZE(drm_mode_property_enum, 40);
AT(drm_mode_property_enum, value, 0);
AT(drm_mode_property_enum, name, 8);

SIZE(drm_mode_connector_set_property, 16);
AT(drm_mode_connector_set_property, value, 0);
AT(drm_mode_connector_set_property, prop_id, 8);
AT(drm_mode_connector_set_property, connector_id, 12);

SIZE(drm_mode_obj_get_properties, 32 - I386_SHORT);
AT(drm_mode_obj_get_properties, props_ptr, 0);
AT(drm_mode_obj_get_properties, prop_values_ptr, 8);
AT(drm_mode_obj_get_properties, count_props, 16);
AT(drm_mode_obj_get_properties, obj_id, 20);
AT(drm_mode_obj_get_properties, obj_type, 24);

SIZE(drm_mode_obj_set_property, 24 - I386_SHORT);
AT(drm_mode_obj_set_property, value, 0);
AT(drm_mode_obj_set_property, prop_id, 8);
AT(drm_mode_obj_set_property, obj_id, 12);
AT(drm_mode_obj_set_property, obj_type, 16);

SIZE(drm_mode_get_blob, 16);
AT(drm_mode_get_blob, blob_id, 0);
AT(drm_mode_get_blob, length, 4);
AT(drm_mode_get_blob, data, 8);

SIZE(drm_mode_create_blob, 16);
AT(drm_mode_create_blob, data, 0);
AT(drm_mode_create_blob, length, 8);
AT(drm_mode_create_blob, blob_id, 12);

SIZE(drm_mode_destroy_blob, 4);
AT(drm_mode_destroy_blob, blob_id, 0);

SIZE(drm_mode_fb_cmd, 28);
AT(drm_mode_fb_cmd, fb_id, 0);
AT(drm_mode_fb_cmd, pitch, 12);
AT(drm_mode_fb_cmd, handle, 24);

SIZE(drm_mode_fb_cmd2, 104 - I386_SHORT);
AT(drm_mode_fb_cmd2, pixel_format, 12);
AT(drm_mode_fb_cmd2, flags, 16);
AT(drm_mode_fb_cmd2, handles, 20);
AT(drm_mode_fb_cmd2, pitches, 36);
AT(drm_mode_fb_cmd2, offsets, 52);
AT(drm_mode_fb_cmd2, modifier, 72 - I386_SHORT);

SIZE(drm_mode_fb_dirty_cmd, 24);
AT(drm_mode_fb_dirty_cmd, flags, 4);
AT(drm_mode_fb_dirty_cmd, num_clips, 12);
AT(drm_mode_fb_dirty_cmd, clips_ptr, 16);

SIZE(drm_mode_crtc_page_flip, 24);
AT(drm_mode_crtc_page_flip, crtc_id, 0);
AT(drm_mode_crtc_page_flip, flags, 8);
AT(drm_mode_crtc_page_flip, user_data, 16);

SIZE(drm_mode_crtc_page_flip_target, 24);
AT(drm_mode_crtc_page_flip_target, sequence, 12);
AT(drm_mode_crtc_page_flip_target, user_data, 16);

SIZE(drm_mode_create_dumb, 32);
AT(drm_mode_create_dumb, height, 0);
AT(drm_mode_create_dumb, flags, 12);
AT(drm_mode_create_dumb, handle, 16);
AT(drm_mode_create_dumb, pitch, 20);
AT(drm_mode_create_dumb, size, 24);

SIZE(drm_mode_map_dumb, 16);
AT(drm_mode_map_dumb, handle, 0);
AT(drm_mode_map_dumb, offset, 8);

SIZE(drm_mode_destroy_dumb, 4);
AT(drm_mode_destroy_dumb, handle, 0);

SIZE(drm_mode_get_plane_res, 16 - I386_SHORT);
AT(drm_mode_get_plane_res, plane_id_ptr, 0);
AT(drm_mode_get_plane_res, count_planes, 8);

SIZE(drm_mode_get_plane, 32);
AT(drm_mode_get_plane, plane_id, 0);
AT(drm_mode_get_plane, possible_crtcs, 12);
AT(drm_mode_get_plane, count_format_types, 20);
AT(drm_mode_get_plane, format_type_ptr, 24);

SIZE(drm_mode_set_plane, 48);
AT(drm_mode_set_plane, plane_id, 0);
AT(drm_mode_set_plane, crtc_x, 16);
AT(drm_mode_set_plane, crtc_w, 24);
AT(drm_mode_set_plane, src_x, 32);
AT(drm_mode_set_plane, src_w, 44);

SIZE(drm_mode_cursor, 28);
AT(drm_mode_cursor, flags, 0);
AT(drm_mode_cursor, crtc_id, 4);
AT(drm_mode_cursor, x, 8);
AT(drm_mode_cursor, handle, 24);

SIZE(drm_mode_cursor2, 36);
AT(drm_mode_cursor2, handle, 24);
AT(drm_mode_cursor2, hot_x, 28);
AT(drm_mode_cursor2, hot_y, 32);

SIZE(drm_mode_crtc_lut, 32);
AT(drm_mode_crtc_lut, crtc_id, 0);
AT(drm_mode_crtc_lut, gamma_size, 4);
AT(drm_mode_crtc_lut, red, 8);
AT(drm_mode_crtc_lut, blue, 24);

SIZE(drm_color_lut, 8);
AT(drm_color_lut, red, 0);
AT(drm_color_lut, blue, 4);

SIZE(drm_mode_rect, 16);
AT(drm_mode_rect, x1, 0);
AT(drm_mode_rect, y2, 12);

SIZE(drm_mode_atomic, 56);
AT(drm_mode_atomic, flags, 0);
AT(drm_mode_atomic, count_objs, 4);
AT(drm_mode_atomic, objs_ptr, 8);
AT(drm_mode_atomic, count_props_ptr, 16);
AT(drm_mode_atomic, props_ptr, 24);
AT(drm_mode_atomic, prop_values_ptr, 32);
AT(drm_mode_atomic, reserved, 40);
AT(drm_mode_atomic, user_data, 48);

SIZE(drm_mode_closefb, 8);
AT(drm_mode_closefb, fb_id, 0);
AT(drm_mode_closefb, pad, 4);

SIZE(drm_mode_create_lease, 24);
AT(drm_mode_create_lease, object_ids, 0);
AT(drm_mode_create_lease, object_count, 8);
AT(drm_mode_create_lease, flags, 12);
AT(drm_mode_create_lease, lessee_id, 16);
AT(drm_mode_create_lease, fd, 20);

SIZE(drm_mode_list_lessees, 16);
AT(drm_mode_list_lessees, count_lessees, 0);
AT(drm_mode_list_lessees, lessees_ptr, 8);

SIZE(drm_mode_get_lease, 16);
AT(drm_mode_get_lease, count_objects, 0);
AT(drm_mode_get_lease, objects_ptr, 8);

SIZE(drm_mode_revoke_lease, 4);
AT(drm_mode_revoke_lease, lessee_id, 0);

SIZE(drm_format_modifier_blob, 24);
AT(drm_format_modifier_blob, version, 0);
AT(drm_format_modifier_blob, count_formats, 8);
AT(drm_format_modifier_blob, modifiers_offset, 20);

SIZE(drm_format_modifier, 24);
AT(drm_format_modifier, formats, 0);
AT(drm_format_modifier, offset, 8);
AT(drm_format_modifier, modifier, 16);

SIZE(hdr_output_metadata, 32);
AT(hdr_output_metadata, metadata_type, 0);
AT(hdr_output_metadata, hdmi_metadata_type1, 4);

SIZE(drm_crtc_get_sequence, 24);
AT(drm_crtc_get_sequence, crtc_id, 0);
AT(drm_crtc_get_sequence, active, 4);
AT(drm_crtc_get_sequence, sequence, 8);
AT(drm_crtc_get_sequence, sequence_ns, 16);

SIZE(drm_crtc_queue_sequence, 24);
AT(drm_crtc_queue_sequence, crtc_id, 0);
AT(drm_crtc_queue_sequence, flags, 4);
AT(drm_crtc_queue_sequence, sequence, 8);
AT(drm_crtc_queue_sequence, user_data, 16);

SIZE(drm_event, 8);
AT(drm_event, type, 0);
AT(drm_event, length, 4);

SIZE(drm_event_vblank, 32);
AT(drm_event_vblank, user_data, 8);
AT(drm_event_vblank, tv_sec, 16);
AT(drm_event_vblank, sequence, 24);
AT(drm_event_vblank, crtc_id, 28);

SIZE(drm_event_crtc_sequence, 32);
AT(drm_event_crtc_sequence, user_data, 8);
AT(drm_event_crtc_sequence, time_ns, 16);
AT(drm_event_crtc_sequence, sequence, 24);

SIZE(drm_syncobj_create, 8);
AT(drm_syncobj_create, handle, 0);
AT(drm_syncobj_create, flags, 4);

SIZE(drm_syncobj_destroy, 8);
AT(drm_syncobj_destroy, handle, 0);
AT(drm_syncobj_destroy, pad, 4);

SIZE(drm_syncobj_handle, 16);
AT(drm_syncobj_handle, handle, 0);
AT(drm_syncobj_handle, flags, 4);
AT(drm_syncobj_handle, fd, 8);
AT(drm_syncobj_handle, pad, 12);

SIZE(drm_syncobj_transfer, 32);
AT(drm_syncobj_transfer, src_handle, 0);
AT(drm_syncobj_transfer, dst_handle, 4);
AT(drm_syncobj_transfer, src_point, 8);
AT(drm_syncobj_transfer, dst_point, 16);
AT(drm_syncobj_transfer, flags, 24);

SIZE(drm_syncobj_wait, 32);
AT(drm_syncobj_wait, handles, 0);
AT(drm_syncobj_wait, timeout_nsec, 8);
AT(drm_syncobj_wait, count_handles, 16);
AT(drm_syncobj_wait, flags, 20);
AT(drm_syncobj_wait, first_signaled, 24);
AT(drm_syncobj_wait, pad, 28);

SIZE(drm_syncobj_timeline_wait, 40);
AT(drm_syncobj_timeline_wait, handles, 0);
AT(drm_syncobj_timeline_wait, points, 8);
AT(drm_syncobj_timeline_wait, timeout_nsec, 16);
AT(drm_syncobj_timeline_wait, count_handles, 24);
AT(drm_syncobj_timeline_wait, flags, 28);
AT(drm_syncobj_timeline_wait, first_signaled, 32);

SIZE(drm_syncobj_array, 16);
AT(drm_syncobj_array, handles, 0);
AT(drm_syncobj_array, count_handles, 8);
AT(drm_syncobj_array, pad, 12);

SIZE(drm_syncobj_timeline_array, 24);
AT(drm_syncobj_timeline_array, handles, 0);
AT(drm_syncobj_timeline_array, points, 8);
AT(drm_syncobj_timeline_array, count_handles, 16);
AT(drm_syncobj_timeline_array, flags, 20);

SIZE(drm_syncobj_eventfd, 24);
AT(drm_syncobj_eventfd, handle, 0);
AT(drm_syncobj_eventfd, flags, 4);
AT(drm_syncobj_eventfd, point, 8);
AT(drm_syncobj_eventfd, fd, 16);
AT(drm_syncobj_eventfd, pad, 20);

/* Those with pointers, longs or size_t in them. */
#if defined(__LP64__)
SIZE(drm_version, 64);
AT(drm_version, name_len, 16);
AT(drm_version, desc, 56);
SIZE(drm_unique, 16);
AT(drm_unique, unique, 8);
SIZE(drm_client, 40);
AT(drm_client, pid, 8);
_Static_assert(sizeof(union drm_wait_vblank) == 24, "size of union drm_wait_vblank");
#else
SIZE(drm_version, 36);
AT(drm_version, name_len, 12);
AT(drm_version, desc, 32);
SIZE(drm_unique, 8);
AT(drm_unique, unique, 4);
SIZE(drm_client, 24);
AT(drm_client, pid, 8);
_Static_assert(sizeof(union drm_wait_vblank) == 16, "size of union drm_wait_vblank");
#endif

/* Requests that libdrm 2.4.114 lacks; and the numbers of some that tell a struct's size
 * (Linux 6.12). */
_Static_assert(DRM_IOCTL_SYNCOBJ_EVENTFD == 0xc01864cfu, "SYNCOBJ_EVENTFD");
_Static_assert(DRM_IOCTL_MODE_CLOSEFB == 0xc00864d0u, "MODE_CLOSEFB");
_Static_assert(DRM_IOCTL_MODE_ATOMIC == 0xc03864bcu, "MODE_ATOMIC");
_Static_assert(DRM_IOCTL_MODE_GETRESOURCES == 0xc04064a0u, "MODE_GETRESOURCES");
_Static_assert(DRM_IOCTL_MODE_ADDFB2 == 0xc06864b8u - (I386_SHORT << 16), "MODE_ADDFB2");
_Static_assert(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT == 0xc02864cau, "SYNCOBJ_TIMELINE_WAIT");

/* The snapshot is one block of memory for all of them. */
SIZE(tp_snapshot, 88872);
AT(tp_snapshot, generation, 16);
AT(tp_snapshot, state, 24);
AT(tp_snapshot, fixed, 10504);
