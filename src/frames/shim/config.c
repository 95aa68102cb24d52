#include "frames/shim/config.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames/shim/process.h"
#include "frames/shim/real.h"

static struct tp_shim_config config;
static atomic_bool loaded;

static void read_address(struct tp_shim_config *c)
{
    const char *socket = getenv("TURNPIKE_SOCKET"), *runtime = getenv("XDG_RUNTIME_DIR");
    char *path = c->server.sun_path;
    size_t room = sizeof c->server.sun_path;
    int n;

    if (socket && *socket)
        n = snprintf(path, room, "%s", socket);
    else if (runtime && *runtime)
        n = snprintf(path, room, "%s/turnpike-0", runtime);
    else
        return;
    if (n <= 0 || (size_t)n >= room)
        return;
    c->server.sun_family = AF_UNIX;
    c->server_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n);
    if (path[0] == '@')
        path[0] = 0;
    else
        c->server_bytes++; /* with its end */
}

static void read_tree(struct tp_shim_config *c)
{
    static const char *const places[] = {"XDG_RUNTIME_DIR", "TMPDIR"};
    const char *tree = getenv("TURNPIKE_TREE"), *place = NULL;

    if (tree && strlen(tree) < sizeof c->tree)
        strcpy(c->tree, tree);
    for (size_t i = 0; i < 2 && (!place || !*place); i++)
        place = getenv(places[i]);
    if (!place || !*place || strlen(place) >= sizeof c->tree_place)
        place = "/tmp";
    strcpy(c->tree_place, place);
}

static void read_all(void)
{
    const char *tty = getenv("TURNPIKE_TTY"), *render = getenv("TURNPIKE_RENDER_NODE");

    tp_real_find_all();
    read_address(&config);
    read_tree(&config);
    config.tty = tty && !strcmp(tty, "1");
    config.render = render && !strcmp(render, "1");
    /* libudev otherwise insists that what is below /sys is a sysfs. */
    if (config.server_bytes > 0)
        setenv("SYSTEMD_DEVICE_VERIFY_SYSFS", "0", 0);
}

const struct tp_shim_config *tp_shim_config(void)
{
    return atomic_load_explicit(&loaded, memory_order_acquire) ? &config : NULL;
}

/* Not at the first call that comes: the C library itself may make that, before it knows the environment. */
__attribute__((constructor)) static void load(void)
{
    read_all();
    atomic_store_explicit(&loaded, true, memory_order_release);
    tp_process_load();
}

bool tp_shim_is_server(const struct sockaddr_un *address, socklen_t bytes)
{
    const struct tp_shim_config *c = tp_shim_config();
    socklen_t path = offsetof(struct sockaddr_un, sun_path);

    if (!c || c->server_bytes == 0 || address->sun_family != AF_UNIX || bytes <= path)
        return false;
    if (c->server.sun_path[0] == 0)
        return bytes == c->server_bytes && !memcmp(address, &c->server, bytes);
    return !strncmp(address->sun_path, c->server.sun_path, bytes - path);
}
