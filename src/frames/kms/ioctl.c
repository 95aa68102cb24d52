/* The ioctls: which function, and what an open needs to be allowed it (drm_ioctl.c). */
#include "frames/kms/internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MASTER    1u
#define AUTH      2u
#define ROOT      4u
#define RENDER    8u /* no need: the render node may, too */
#define ARG_BYTES 256u /* the largest struct's */

static int nothing(struct tp_ioctl_call *c, void *arg)
{
    (void)c;
    (void)arg;
    return 0;
}

static int invalid(struct tp_ioctl_call *c, void *arg)
{
    (void)c;
    (void)arg;
    return -EINVAL;
}

struct request {
    unsigned long request;
    unsigned needs;
    tp_ioctl_function *function;
};

static const struct request REQUESTS[] = {
    {DRM_IOCTL_VERSION, RENDER, tp_ioctl_query},
    {DRM_IOCTL_GET_UNIQUE, 0, tp_ioctl_get_unique},
    {DRM_IOCTL_GET_MAGIC, 0, tp_ioctl_get_magic},
    {DRM_IOCTL_GET_CLIENT, 0, tp_ioctl_get_client},
    {DRM_IOCTL_GET_STATS, 0, tp_ioctl_get_stats},
    {DRM_IOCTL_SET_VERSION, MASTER, tp_ioctl_set_version},
    {DRM_IOCTL_GEM_CLOSE, RENDER, tp_ioctl_gem_close},
    {DRM_IOCTL_GEM_FLINK, AUTH, tp_ioctl_gem_flink},
    {DRM_IOCTL_GEM_OPEN, AUTH, tp_ioctl_gem_open},
    {DRM_IOCTL_GET_CAP, RENDER, tp_ioctl_query},
    {DRM_IOCTL_SET_CLIENT_CAP, 0, tp_ioctl_client_cap},
    {DRM_IOCTL_SET_UNIQUE, AUTH | MASTER | ROOT, invalid},
    {DRM_IOCTL_AUTH_MAGIC, MASTER, tp_ioctl_auth_magic},
    {DRM_IOCTL_BLOCK, AUTH | MASTER | ROOT, nothing},
    {DRM_IOCTL_UNBLOCK, AUTH | MASTER | ROOT, nothing},
    {DRM_IOCTL_SET_MASTER, 0, tp_ioctl_set_master},
    {DRM_IOCTL_DROP_MASTER, 0, tp_ioctl_drop_master},
    {DRM_IOCTL_ADD_DRAW, AUTH | MASTER | ROOT, nothing},
    {DRM_IOCTL_RM_DRAW, AUTH | MASTER | ROOT, nothing},
    {DRM_IOCTL_FINISH, AUTH, nothing},
    {DRM_IOCTL_PRIME_HANDLE_TO_FD, RENDER, tp_ioctl_prime_export},
    {DRM_IOCTL_PRIME_FD_TO_HANDLE, RENDER, tp_ioctl_prime_import},
    {DRM_IOCTL_WAIT_VBLANK, 0, tp_ioctl_wait_vblank},
    {DRM_IOCTL_CRTC_GET_SEQUENCE, 0, tp_ioctl_get_sequence},
    {DRM_IOCTL_CRTC_QUEUE_SEQUENCE, 0, tp_ioctl_queue_sequence},
    {DRM_IOCTL_UPDATE_DRAW, AUTH | MASTER | ROOT, nothing},
    {DRM_IOCTL_MODE_GETRESOURCES, 0, tp_ioctl_query},
    {DRM_IOCTL_MODE_GETCRTC, 0, tp_ioctl_query},
    {DRM_IOCTL_MODE_SETCRTC, MASTER, tp_ioctl_set_crtc},
    {DRM_IOCTL_MODE_CURSOR, MASTER, tp_ioctl_cursor},
    {DRM_IOCTL_MODE_GETGAMMA, 0, tp_ioctl_get_gamma},
    {DRM_IOCTL_MODE_SETGAMMA, MASTER, tp_ioctl_set_gamma},
    {DRM_IOCTL_MODE_GETENCODER, 0, tp_ioctl_query},
    {DRM_IOCTL_MODE_GETCONNECTOR, 0, tp_ioctl_query},
    {DRM_IOCTL_MODE_ATTACHMODE, MASTER, nothing},
    {DRM_IOCTL_MODE_DETACHMODE, MASTER, nothing},
    {DRM_IOCTL_MODE_GETPROPERTY, 0, tp_ioctl_query},
    {DRM_IOCTL_MODE_SETPROPERTY, MASTER, tp_ioctl_connector_property},
    {DRM_IOCTL_MODE_GETPROPBLOB, 0, tp_ioctl_query},
    {DRM_IOCTL_MODE_GETFB, 0, tp_ioctl_get_fb},
    {DRM_IOCTL_MODE_ADDFB, 0, tp_ioctl_add_fb},
    {DRM_IOCTL_MODE_RMFB, 0, tp_ioctl_remove_fb},
    {DRM_IOCTL_MODE_PAGE_FLIP, MASTER, tp_ioctl_page_flip},
    {DRM_IOCTL_MODE_DIRTYFB, MASTER, tp_ioctl_dirty_fb},
    {DRM_IOCTL_MODE_CREATE_DUMB, 0, tp_ioctl_create_dumb},
    {DRM_IOCTL_MODE_MAP_DUMB, 0, tp_ioctl_map_dumb},
    {DRM_IOCTL_MODE_DESTROY_DUMB, 0, tp_ioctl_destroy_dumb},
    {DRM_IOCTL_MODE_GETPLANERESOURCES, 0, tp_ioctl_query},
    {DRM_IOCTL_MODE_GETPLANE, 0, tp_ioctl_query},
    {DRM_IOCTL_MODE_SETPLANE, MASTER, tp_ioctl_set_plane},
    {DRM_IOCTL_MODE_ADDFB2, 0, tp_ioctl_add_fb2},
    {DRM_IOCTL_MODE_OBJ_GETPROPERTIES, 0, tp_ioctl_query},
    {DRM_IOCTL_MODE_OBJ_SETPROPERTY, MASTER, tp_ioctl_set_property},
    {DRM_IOCTL_MODE_CURSOR2, MASTER, tp_ioctl_cursor2},
    {DRM_IOCTL_MODE_ATOMIC, MASTER, tp_ioctl_atomic},
    {DRM_IOCTL_MODE_CREATEPROPBLOB, 0, tp_ioctl_create_blob},
    {DRM_IOCTL_MODE_DESTROYPROPBLOB, 0, tp_ioctl_destroy_blob},
    {DRM_IOCTL_SYNCOBJ_CREATE, RENDER, tp_ioctl_syncobj_create},
    {DRM_IOCTL_SYNCOBJ_DESTROY, RENDER, tp_ioctl_syncobj_destroy},
    {DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, RENDER, tp_ioctl_syncobj_export},
    {DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, RENDER, tp_ioctl_syncobj_import},
    {DRM_IOCTL_SYNCOBJ_WAIT, RENDER, tp_ioctl_syncobj_wait},
    {DRM_IOCTL_SYNCOBJ_RESET, RENDER, tp_ioctl_syncobj_reset},
    {DRM_IOCTL_SYNCOBJ_SIGNAL, RENDER, tp_ioctl_syncobj_signal},
    {DRM_IOCTL_MODE_CREATE_LEASE, MASTER, tp_ioctl_lease},
    {DRM_IOCTL_MODE_LIST_LESSEES, MASTER, tp_ioctl_list_lessees},
    {DRM_IOCTL_MODE_GET_LEASE, MASTER, tp_ioctl_get_lease},
    {DRM_IOCTL_MODE_REVOKE_LEASE, MASTER, tp_ioctl_revoke_lease},
    {DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, RENDER, tp_ioctl_syncobj_timeline_wait},
    {DRM_IOCTL_SYNCOBJ_QUERY, RENDER, tp_ioctl_syncobj_query},
    {DRM_IOCTL_SYNCOBJ_TRANSFER, RENDER, tp_ioctl_syncobj_transfer},
    {DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, RENDER, tp_ioctl_syncobj_timeline_signal},
    {DRM_IOCTL_MODE_GETFB2, 0, tp_ioctl_get_fb2},
    {DRM_IOCTL_SYNCOBJ_EVENTFD, RENDER, tp_ioctl_syncobj_eventfd},
    {DRM_IOCTL_MODE_CLOSEFB, 0, tp_ioctl_close_fb},
};

static const struct request *find(unsigned long request)
{
    for (size_t i = 0; i < sizeof REQUESTS / sizeof *REQUESTS; i++)
        if (_IOC_NR(REQUESTS[i].request) == _IOC_NR(request))
            return &REQUESTS[i];
    return NULL;
}

int tp_ioctl_dispatch(struct tp_kms_file *file, struct tp_drm_call *call, void *waiter)
{
    if (_IOC_TYPE(call->request) != DRM_IOCTL_BASE)
        return -ENOTTY;
    const struct request *r = find(call->request);
    if (!r)
        return -EINVAL;
    if (r->needs & ROOT && !file->privileged)
        return -EACCES;
    if (r->needs & AUTH && !file->authenticated && !file->render)
        return -EACCES;
    if (r->needs & MASTER && !tp_master_is(file))
        return -EACCES;
    if (file->render && !(r->needs & RENDER))
        return -EACCES;
    struct tp_ioctl_call c = {file->kms, file, call, waiter};
    size_t whole = _IOC_SIZE(r->request);
    if (call->arg_bytes >= whole)
        return r->function(&c, call->arg);
    /* A caller with an older, shorter struct: the rest is zero. */
    _Alignas(8) uint8_t arg[ARG_BYTES] = {0};
    size_t given = call->arg ? call->arg_bytes : 0;
    if (given)
        memcpy(arg, call->arg, given);
    int e = r->function(&c, arg);
    if (given)
        memcpy(call->arg, arg, given);
    return e;
}

int tp_kms_ioctl(struct tp_kms_file *file, struct tp_drm_call *call, void *waiter)
{
    int r = tp_ioctl_dispatch(file, call, waiter);
    if (file->kms->sync_changed)
        tp_sync_look(file->kms);
    tp_kms_tell(file->kms);
    return r;
}

int tp_call_fd(const struct tp_drm_call *call, int64_t index)
{
    return index >= 0 && index < call->n_in_fds ? call->in_fds[index] : -1;
}

int tp_call_take_fd(struct tp_drm_call *call, int64_t index)
{
    int fd = tp_call_fd(call, index);
    if (fd >= 0)
        call->in_fds[index] = -1;
    return fd;
}

int tp_call_give_fd(struct tp_drm_call *call, int fd)
{
    if (call->n_out_fds == TP_FRAME_FDS) {
        close(fd);
        return -EMFILE;
    }
    call->out_fds[call->n_out_fds] = fd;
    return (int)call->n_out_fds++;
}
