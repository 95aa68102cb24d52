/* Any bytes as a receipt: read as a plan, compared with a toolchain, made a document of. A plan's parts are
 * fit for file names and options, and no source but the two that are known is taken. */
#include <sodium.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "factory/origin/rebuild.h"
#include "factory/origin/spdx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_plan(const json_t *receipt)
{
    struct tp_plan plan;
    struct tp_error e = {0};
    if (!tp_plan_read(receipt, "input", &plan, &e)) {
        if (strchr(plan.archive, '/') || strchr(plan.version, '/') || *plan.target == '-')
            abort();
        for (const char **id = plan.with; *id; id++) {
            if (**id == '-')
                abort();
        }
        char *spec = tp_plan_source(&plan, "https://git.example/mesa.git");
        if (spec && strncmp(spec, "debian:", 7) && strncmp(spec, "git:https://git.example/mesa.git@", 33))
            abort();
        free(spec);
        struct tp_differences d = {0};
        struct tp_patch_set none = {0};
        tp_rebuild_compare_patches(receipt, &plan, &none, &d);
        tp_rebuild_compare_mesa(&plan, "25.0.7", "", "", &d);
        tp_differences_finish(&d);
    }
    tp_plan_finish(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int ready;
    if (!ready && sodium_init() < 0)
        abort();
    ready = 1;
    json_t *receipt = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (!receipt)
        return 0;
    check_plan(receipt);
    json_t *here = json_pack("{s:s}", "compiler", "gcc");
    struct tp_differences d = {0};
    tp_rebuild_compare_tools(receipt, here, &d);
    tp_rebuild_compare_receipts(receipt, here, &(struct tp_rebuild_known){0}, &d);
    tp_rebuild_compare_receipts(here, receipt, &(struct tp_rebuild_known){true, true, true}, &d);
    tp_differences_finish(&d);
    json_decref(here);
    const struct tp_spdx_file files[] = {{"meta.json", "{}", 2}, {"a.so", "x", 1}};
    json_decref(tp_spdx_make(receipt, "Maker", files, 2));
    json_decref(receipt);
    return 0;
}
