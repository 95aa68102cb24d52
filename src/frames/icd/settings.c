#include "frames/icd/settings.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frames/icd/log.h"
#include "frames/pace/profile.h"

static struct tp_icd_settings settings;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *get(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static void refuse(const char *name, const char *value, const char *may_be)
{
    tp_icd_log("%s=%s: it may be %s; going on without it", name, value, may_be);
}

static void read_address(struct tp_icd_settings *s)
{
    const char *socket = get("TURNPIKE_SOCKET"), *runtime = get("XDG_RUNTIME_DIR");
    char *path = s->server.sun_path;
    size_t room = sizeof s->server.sun_path;
    int n = 0;

    if (socket)
        n = snprintf(path, room, "%s", socket);
    else if (runtime)
        n = snprintf(path, room, "%s/turnpike-0", runtime);
    if (n <= 0)
        return;
    if ((size_t)n >= room) {
        if (socket)
            refuse("TURNPIKE_SOCKET", socket, "a path of at most 107 bytes, or @NAME");
        return;
    }
    if (!socket && access(path, F_OK))
        return;
    s->server.sun_family = AF_UNIX;
    s->server_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n);
    if (path[0] == '@')
        path[0] = 0;
    else
        s->server_bytes++; /* with its end */
}

/* One of these words: its number; -1: none is said, or no such word. */
static int read_word(const char *name, const char *const *words, const char *may_be)
{
    const char *value = get(name);

    for (int i = 0; value && words[i]; i++) {
        if (!strcmp(value, words[i]))
            return i;
    }
    if (value)
        refuse(name, value, may_be);
    return -1;
}

static void read_gate(struct tp_icd_settings *s)
{
    static const char *const modes[] = {"off", "vsync", "cap", "latency", NULL};
    int mode = read_word("TURNPIKE_GATE", modes, "off, vsync, cap or latency");
    const char *cap = get("TURNPIKE_CAP");

    s->gate.mode = TP_GATE_VSYNC;
    if (cap) {
        if (tp_cap_read(cap, &s->gate.cap_mhz) == 0)
            s->cap_set = true;
        else
            refuse("TURNPIKE_CAP", cap, "frames a second with three places at most, 0 for none");
    }
    if (mode >= 0) {
        s->gate.mode = (enum tp_gate_mode)mode;
        s->gate_set = true;
    }
    if (tp_gate_check(&s->gate)) {
        refuse("TURNPIKE_GATE", "cap", "that only with TURNPIKE_CAP=FPS");
        s->gate.mode = TP_GATE_VSYNC;
        s->gate_set = false;
    }
    if (s->gate.mode == TP_GATE_OFF && s->gate.cap_mhz > 0)
        tp_icd_log("TURNPIKE_CAP is left alone: TURNPIKE_GATE is off");
}

static void read_all(void)
{
    static const char *const onoff[] = {"0", "1", "off", "on", NULL};
    static const char *const waits[] = {"auto", "cpu", "gpu", "implicit", NULL};
    struct tp_icd_settings *s = &settings;
    const char *images = get("TURNPIKE_MIN_IMAGES");
    int word = read_word("TURNPIKE_RELEASE_FENCE", onoff, "0 or 1");

    s->release = word < 0 || word % 2 == 1;
    word = read_word("TURNPIKE_RELEASE_WAIT", waits, "auto, cpu, gpu or implicit");
    s->wait = word < 0 ? TP_RELEASE_WAIT_AUTO : (enum tp_release_wait)word;
    if (images) {
        char *end;
        long n = strtol(images, &end, 10);
        if (*end || n < 1 || n > (long)TP_SLOTS_MAX)
            refuse("TURNPIKE_MIN_IMAGES", images, "a count from 1 to 64");
        else
            s->min_images = (unsigned)n;
    }
    s->render_node = get("TURNPIKE_RENDER_NODE") && !strcmp(get("TURNPIKE_RENDER_NODE"), "1");
    /* What the program does to its environment later is its own affair. */
    s->capture = get("TURNPIKE_CAPTURE") ? strdup(get("TURNPIKE_CAPTURE")) : NULL;
    read_address(s);
    read_gate(s);
}

const struct tp_icd_settings *tp_icd_settings(void)
{
    pthread_once(&once, read_all);
    return &settings;
}
