/* Packs one driver, for outside.test.sh: package_tool SO OUT_DIR SYSTEM MACHINE TARGET VARIANT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "factory/package/package.h"

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: package_tool SO OUT_DIR SYSTEM MACHINE TARGET VARIANT\n");
        return TP_STATUS_INPUT;
    }
    char variant = *argv[6];
    char *driver_version = tp_asprintf("WN-25.0.7-%c", variant);
    char *name = tp_asprintf("WN-Turnip-25.0.7-%c Axxx", variant);
    char *archive = tp_asprintf("%s-25.0.7-%c_Axxx.zip",
                                strcmp(argv[3], "linux") ? "WN-Turnip" : "WN-Linux-Turnip", variant);
    struct tp_package_request q = {
        .driver = argv[1],
        .out_dir = argv[2],
        .archive_name = archive,
        .system = argv[3],
        .machine = argv[4],
        .target = argv[5],
        .variant = variant,
        .version = "25.0.7",
        .driver_version = driver_version,
        .name = name,
        .description = "Mesa Turnip 25.0.7",
        .author = "WinNative",
        .vendor = "Mesa",
        .min_api = 29,
        .mesa = {.version = "25.0.7", .source = "debian:25.0.7-2"},
        .build_commit = "unknown",
        .receipt = json_object(),
        .patches = json_array(),
    };
    struct tp_package_result result;
    struct tp_error e = {0};
    int r = tp_package_write(&q, &result, &e);
    if (r < 0)
        fprintf(stderr, "%s: %s; %s\n", e.where, e.what, e.todo);
    else
        printf("%s\n%s\n%s\n", result.path, result.sha256, result.driver_sha256);
    tp_package_result_finish(&result);
    json_decref(q.receipt);
    json_decref(q.patches);
    free(archive);
    free(name);
    free(driver_version);
    return r < 0 ? (int)e.status : TP_STATUS_OK;
}
