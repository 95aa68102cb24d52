/* The options of turnpike simulate: each by itself, and the files that several of them name. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "cli/parse.h"
#include "cli/simulate.h"
#include "frames/pace/profile.h"

const struct option tp_simulate_options[] = {
    {"trace", required_argument, NULL, TP_SIMULATE_TRACE},
    {"cost", required_argument, NULL, TP_SIMULATE_COST},
    {"guest", required_argument, NULL, TP_SIMULATE_GUEST},
    {"refresh", required_argument, NULL, TP_SIMULATE_REFRESH},
    {"cap", required_argument, NULL, TP_SIMULATE_CAP},
    {"gate", required_argument, NULL, TP_SIMULATE_GATE},
    {"images", required_argument, NULL, TP_SIMULATE_IMAGES},
    {"frames", required_argument, NULL, TP_SIMULATE_FRAMES},
    {"seed", required_argument, NULL, TP_SIMULATE_SEED},
    {"pipeline", required_argument, NULL, TP_SIMULATE_PIPELINE},
    {"latch", required_argument, NULL, TP_SIMULATE_LATCH},
    {"compositor-us", required_argument, NULL, TP_SIMULATE_COMPOSITOR},
    {"compose", required_argument, NULL, TP_SIMULATE_COMPOSE},
    {"callback", required_argument, NULL, TP_SIMULATE_CALLBACK},
    {"assert", no_argument, NULL, TP_SIMULATE_ASSERT},
    {"faults", required_argument, NULL, TP_SIMULATE_FAULTS},
    {"release-fence", required_argument, NULL, TP_SIMULATE_FENCE},
    {"capture", required_argument, NULL, TP_SIMULATE_CAPTURE},
    {"json", required_argument, NULL, TP_SIMULATE_JSON},
    {"chart", required_argument, NULL, TP_SIMULATE_CHART},
    {"chart-from", required_argument, NULL, TP_SIMULATE_CHART_FROM},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static bool parse_whole(const char *text, unsigned long max, unsigned long *out)
{
    return tp_parse_number(&text, max, out) && *text == 0;
}

static bool parse_us(const char *text, int64_t *ns)
{
    unsigned long us;
    if (!parse_whole(text, 1000000, &us))
        return false;
    *ns = (int64_t)us * 1000;
    return true;
}

/* How long, and of how many images of its own: "2000", "2000:3". */
static bool parse_compose(const char *text, struct tp_world_config *c)
{
    unsigned long us, images = 0;
    if (!tp_parse_number(&text, 1000000, &us) || us == 0)
        return false;
    if (*text == ':' && (!parse_whole(text + 1, 5, &images) || images < 2))
        return false;
    c->compose_ns = (int64_t)us * 1000;
    c->own_images = (unsigned)images;
    return *text == ':' || *text == 0;
}

static bool parse_guest(const char *text, struct tp_world_config *c)
{
    c->late_guest = strncmp(text, "late", 4) == 0;
    if (!c->late_guest && strncmp(text, "early", 5) != 0)
        return false;
    text += c->late_guest ? 4 : 5;
    unsigned long ahead = 0;
    if (*text == ':' && !parse_whole(text + 1, 3, &ahead))
        return false;
    c->run_ahead = (unsigned)ahead;
    return *text == ':' || *text == 0;
}

/* "60", "59.94", or a variable range: "48-120". */
static bool parse_refresh(const char *text, struct tp_world_config *c)
{
    c->slowest_mhz = 0;
    if (!tp_parse_hz(&text, &c->refresh_mhz))
        return false;
    if (*text != '-')
        return *text == 0;
    text++;
    c->slowest_mhz = c->refresh_mhz;
    return tp_parse_hz(&text, &c->refresh_mhz) && *text == 0 && c->slowest_mhz < c->refresh_mhz;
}

static bool parse_switch(const char *text, bool *out)
{
    *out = strcmp(text, "on") == 0;
    return *out || strcmp(text, "off") == 0;
}

/* NAME[:PER_MILLE[:REFRESHES]]; text ends there. */
static bool parse_fault(char *text, struct tp_world_config *c)
{
    unsigned long rate = 1, refreshes = 1;
    char *colon = strchr(text, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
    if (second)
        *second = 0;
    if (colon)
        *colon = 0;
    if (colon && !parse_whole(colon + 1, 1000, &rate))
        return false;
    if (second &&
        (!parse_whole(second + 1, 16, &refreshes) || refreshes == 0 ||
            strcmp(text, "late-fence") != 0))
        return false;
    bool all = strcmp(text, "all") == 0, some = all;
    for (unsigned i = 0; i < TP_FAULTS; i++)
        if (all || strcmp(text, tp_world_fault_names[i]) == 0) {
            c->per_mille[i] = (uint32_t)rate;
            some = true;
        }
    if (second)
        c->late_refreshes = (unsigned)refreshes;
    return some;
}

static bool parse_faults(const char *text, struct tp_world_config *c)
{
    char *copy = tp_strdup(text);
    bool ok = true;
    char *rest = copy;
    for (char *one; ok && (one = strsep(&rest, ","));)
        ok = parse_fault(one, c);
    free(copy);
    return ok;
}

static bool parse_unsigned(const char *text, unsigned long min, unsigned long max, unsigned *out)
{
    unsigned long n;
    if (!parse_whole(text, max, &n) || n < min)
        return false;
    *out = (unsigned)n;
    return true;
}

static bool parse_big(const char *text, uint64_t min, uint64_t *out)
{
    unsigned long n;
    if (!parse_whole(text, INT64_MAX, &n) || n < min)
        return false;
    *out = n;
    return true;
}

const char *tp_simulate_set(int option, const char *text, struct tp_simulate *o)
{
    struct tp_world_config *c = &o->config;
    switch (option) {
    case TP_SIMULATE_TRACE:
        o->trace = text;
        return NULL;
    case TP_SIMULATE_GUEST:
        return parse_guest(text, c) ? NULL : "--guest is early or late, with :0 to :3 behind it";
    case TP_SIMULATE_REFRESH:
        return parse_refresh(text, c)
            ? NULL
            : "--refresh is 1 to 1000 Hz, up to three places, or a range as 48-120";
    case TP_SIMULATE_CAP:
        return tp_cap_read(text, &c->gate.cap_mhz) == 0 && c->gate.cap_mhz > 0
            ? NULL
            : "--cap is 0.001 to 10000 frames a second, up to three places behind the point";
    case TP_SIMULATE_GATE:
        return tp_gate_mode_read(text, &c->gate.mode) == 0 ? NULL
                                                           : "--gate is off, vsync, cap or latency";
    case TP_SIMULATE_IMAGES:
        return parse_unsigned(text, 2, 64, &c->images) ? NULL : "--images is 2 to 64";
    case TP_SIMULATE_FRAMES:
        return parse_big(text, 1, &c->frames) ? NULL : "--frames is 1 to 9223372036854775807";
    case TP_SIMULATE_SEED:
        return parse_big(text, 0, &c->seed) ? NULL : "--seed is 0 to 9223372036854775807";
    case TP_SIMULATE_PIPELINE:
        return parse_unsigned(text, 0, 2, &c->pipeline) ? NULL : "--pipeline is 0 to 2";
    case TP_SIMULATE_LATCH:
        return parse_us(text, &c->lead_ns) ? NULL : "--latch is 0 to 1000000 us";
    case TP_SIMULATE_COMPOSITOR:
        return parse_us(text, &c->compositor_ns) ? NULL : "--compositor-us is 0 to 1000000";
    case TP_SIMULATE_COMPOSE:
        return parse_compose(text, c) ? NULL : "--compose is 1 to 1000000 us, and :2 to :5 images";
    case TP_SIMULATE_CALLBACK:
        return parse_us(text, &c->callback_ns) ? NULL : "--callback is 0 to 1000000 us";
    case TP_SIMULATE_ASSERT:
        o->asserts = true;
        return NULL;
    case TP_SIMULATE_FAULTS:
        return parse_faults(text, c)
            ? NULL
            : "--faults is a list of NAME or NAME:PER_MILLE, of 0 to 1000; see --help";
    case TP_SIMULATE_FENCE:
        return parse_switch(text, &c->release) ? NULL : "--release-fence is on or off";
    case TP_SIMULATE_CAPTURE:
        o->capture = text;
        return NULL;
    case TP_SIMULATE_JSON:
        o->json = text;
        return NULL;
    case TP_SIMULATE_CHART:
        o->chart = text;
        return NULL;
    case TP_SIMULATE_CHART_FROM:
        o->has_chart_from = true;
        return parse_big(text, 0, &o->chart_from) ? NULL
                                                  : "--chart-from is a frame's number, from 0";
    }
    return NULL;
}

/* --- where it goes --- */

/* The file of both names is one, or will be. */
static bool is_one_file(const char *a, const char *b)
{
    if (!a || !b || strcmp(a, "-") == 0)
        return false;
    if (strcmp(a, b) == 0 || tp_is_same_file(a, b))
        return true;
    const char *x = strrchr(a, '/'), *y = strrchr(b, '/');
    if (strcmp(tp_base_name(a), tp_base_name(b)) != 0)
        return false;
    char *in_a = x ? tp_asprintf("%.*s/", (int)(x - a), a) : tp_strdup(".");
    char *in_b = y ? tp_asprintf("%.*s/", (int)(y - b), b) : tp_strdup(".");
    bool one = tp_is_same_file(in_a, in_b);
    free(in_a);
    free(in_b);
    return one;
}

const char *tp_simulate_check_files(const struct tp_simulate *o)
{
    if (o->has_chart_from && !o->chart)
        return "--chart-from is a part of a --chart";
    if ((o->chart && strcmp(o->chart, "-") == 0) || (o->capture && strcmp(o->capture, "-") == 0))
        return "--chart and --capture write a file; only --json has '-'";
    const char *files[] = {o->trace, o->json, o->chart, o->capture};
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = i + 1; k < 4; k++)
            if (is_one_file(files[i], files[k]))
                return "--trace, --json, --chart and --capture are files of their own";
    return NULL;
}
