/* Files that people write: per-game profiles, traces of costs, and costs on the command line. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "frames/pace/profile.h"
#include "frames/world/costs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_profile(const char *text, size_t n)
{
    struct tp_profile p;
    struct tp_error e = {0};
    int r = tp_profile_read(text, n, "hades.exe", "f", &p, &e);
    assert(r == 0 || (r < 0 && e.what[0] && e.where[0] && e.todo[0]));
    if (r < 0)
        return;
    assert(!p.has_cap || p.gate.cap_mhz <= 10000000);
    assert(!p.has_images || (p.images >= 2 && p.images <= 64));
}

static void check_costs(const struct tp_costs *c)
{
    for (size_t i = 0; i < c->n; i++)
        assert(c->at[i].cpu_ns >= 0 && c->at[i].gpu_ns >= 0 &&
            c->at[i].cpu_ns + c->at[i].gpu_ns <= INT64_C(10000000000));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct tp_costs c;
    struct tp_error e = {0};
    check_profile((const char *)data, n);
    if (tp_costs_read((const char *)data, n, "f", &c, &e) == 0)
        assert(c.n > 0);
    check_costs(&c);
    tp_costs_finish(&c);
    char *text = malloc(n + 1);
    memcpy(text, data, n);
    text[n] = 0;
    tp_costs_parse(text, &c, NULL);
    check_costs(&c);
    tp_costs_finish(&c);
    free(text);
    return 0;
}
