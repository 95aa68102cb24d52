/* What turnpike play has to have before anything runs: a folder, the parts in it, who renders. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/parts.h"
#include "cli/demand.h"
#include "cli/play.h"

#define SHIM "libturnpike-drm.so" /* the preload library */
#define USER_ID 1000u             /* for compositors that refuse root, where sudo names nobody */

/* A socket's path has 107 bytes at the most; the longest below a place is of sway's own. */
#define BELOW "/.tp-4194304-XXXXXX/sway-ipc.4294967295.4194304.sock"

static const char *temp_place(void)
{
    const char *const places[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    for (size_t i = 0; i < 3; i++)
        if (places[i] && *places[i] && strlen(places[i]) + sizeof BELOW <= 108 &&
            tp_is_dir(places[i]) && access(places[i], W_OK | X_OK) == 0)
            return places[i];
    return "/tmp";
}

/* Whom the compositor runs as. Its library and its folder are its own to read then; /tmp is where
 * it can get at. */
static void choose_user(struct tp_play *p)
{
    const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
    if (!p->a->compositor || !p->a->compositor->never_as_root || geteuid() != 0)
        return;
    p->uid = uid ? (uid_t)strtoul(uid, NULL, 10) : USER_ID;
    p->gid = gid ? (gid_t)strtoul(gid, NULL, 10) : USER_ID;
    if (p->uid == 0)
        p->uid = p->gid = USER_ID;
}

static bool wants_render_node(const struct tp_play_arguments *a)
{
    const char *asked = getenv("TURNPIKE_RENDER_NODE");
    return (a->compositor && a->compositor->vulkan) || (asked && !strcmp(asked, "1"));
}

/* Our Vulkan driver is for who can do without as well. */
static int find_vulkan(struct tp_play *p, struct tp_error *e)
{
    struct tp_error unsaid = {0};
    bool must = tp_guest_asked(&p->a->guest) || (p->a->compositor && p->a->compositor->vulkan);
    int r = tp_guest_prepare(p->folder, &p->manifest, must ? e : &unsaid);
    return must ? r : 0;
}

static int make_folder(struct tp_play *p, struct tp_error *e)
{
    const char *place = p->uid ? "/tmp" : temp_place();
    tp_sweep_temp(place);
    p->folder = tp_temp_dir(place, e);
    if (!p->folder)
        return e->err;
    if (p->uid && chown(p->folder, p->uid, p->gid) < 0)
        return tp_fail_errno(e, errno, p->folder, "cannot be given to user %u", (unsigned)p->uid);
    p->tree = tp_join(p->folder, "tree");
    p->mount = tp_join(p->folder, "sys");
    p->namespace = (struct tp_namespace){p->a->mode, p->tree, p->mount, wants_render_node(p->a)};
    if (p->a->mode != TP_NAMESPACE_NO && tp_namespace_prepare(&p->namespace, e) < 0)
        return e->err;
    if (find_vulkan(p, e) < 0)
        return e->err;
    char *shim = tp_part_path("src/frames/shim/" SHIM, e);
    if (!shim || !p->uid) {
        p->shim = shim;
        return shim ? 0 : e->err;
    }
    p->shim = tp_join(p->folder, SHIM);
    int r = tp_copy_file(shim, p->shim, e);
    if (r == 0 && chmod(p->shim, 0755) < 0)
        r = tp_fail_errno(e, errno, p->shim, "cannot be made readable");
    free(shim);
    return r;
}

/* Who renders for a compositor that demands more of a driver than most programs do. */
static int choose_driver(struct tp_play *p, struct tp_error *e)
{
    const struct tp_compositor *c = p->a->compositor;
    if (!c || !c->vulkan)
        return 0;
    char *server = tp_join(p->folder, "drm");
    int r = tp_demand_driver(c->name, &p->a->guest, p->manifest, server, &p->compositor_driver, e);
    free(server);
    return r;
}

int tp_play_prepare(struct tp_play *p, struct tp_error *e)
{
    choose_user(p);
    int r = make_folder(p, e);
    return r == 0 ? choose_driver(p, e) : r;
}

void tp_play_clear(struct tp_play *p)
{
    if (p->folder) /* the keeper may have been killed, and the worker too */
        tp_remove_tree(p->folder, NULL);
    free(p->folder);
    free(p->tree);
    free(p->mount);
    free(p->shim);
    free(p->manifest);
    free(p->compositor_driver);
}
