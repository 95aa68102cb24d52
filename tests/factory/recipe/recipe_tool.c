/*
 * The recipe without the rest of the program, for the scripts beside it.
 *
 *   recipe_tool [-l LAUNCHER] [-j N] [-d EPOCH] [-s SYSROOT] [-n NDK] TARGET TREE BUILD_DIR OUT.so
 *       configures and compiles; prints "seconds CONFIGURE COMPILE steps N"
 *   recipe_tool ... -c TARGET TREE BUILD_DIR OUT.so      compiles only, as for a second variant
 *   recipe_tool ... -k TARGET TREE BUILD_DIR OUT.so      loads OUT.so; prints what it enumerates
 *   recipe_tool ... -m TARGET TREE BUILD_DIR OUT.so      prints the machine file
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "factory/recipe/internal.h"

static int report(const struct tp_error *e)
{
    fprintf(stderr, "%s: %s\n", e->where, e->what);
    if (*e->todo)
        fprintf(stderr, "  %s\n", e->todo);
    return (int)e->status;
}

static void show(void *data, const struct tp_progress *p)
{
    (void)data;
    fprintf(stderr, "\r\033[K%s %u/%u eta %" PRId64 " s %.50s", p->phase, p->done, p->total,
            p->eta_ms < 0 ? -1 : p->eta_ms / 1000, p->text);
}

static int machine(const struct tp_build_request *req)
{
    struct tp_error e = {0};
    struct tp_tools tools;
    if (tp_tools_find(req, false, &tools, &e))
        return report(&e);
    struct tp_places places = {req->tree, req->build_dir, NULL};
    char *text = tp_machine_file(req->target, &tools, &places);
    fputs(text, stdout);
    free(text);
    tp_tools_finish(&tools);
    return 0;
}

static int smoke(const struct tp_build_request *req, const char *so)
{
    struct tp_error e = {0};
    struct tp_smoke s;
    if (tp_recipe_smoke(req, so, 0, &s, &e))
        return report(&e);
    printf("devices %u, %s, api %u.%u.%u, %s, %s\n", s.devices, s.device_name,
           s.api_version >> 22 & 0x7f, s.api_version >> 12 & 0x3ff, s.api_version & 0xfff,
           s.driver_name, s.driver_info);
    return 0;
}

int main(int argc, char **argv)
{
    struct tp_build_request req = {0};
    struct tp_error e = {0};
    char mode = 0;
    for (int opt; (opt = getopt(argc, argv, "l:j:d:s:n:ckm")) != -1;) {
        if (opt == 'l')
            req.tools.launcher = optarg;
        else if (opt == 'j')
            req.tools.jobs = (unsigned)atoi(optarg);
        else if (opt == 'd')
            req.source_date_epoch = atoll(optarg);
        else if (opt == 's')
            req.tools.sysroot = optarg;
        else if (opt == 'n')
            req.tools.ndk = optarg;
        else if (opt == '?')
            return 2;
        else
            mode = (char)opt;
    }
    if (argc - optind != 4 || !(req.target = tp_target_find(argv[optind])))
        return 2;
    req.tree = argv[optind + 1];
    req.build_dir = argv[optind + 2];
    const char *out = argv[optind + 3];
    char *log = tp_asprintf("%s.log", req.build_dir);
    req.log_path = log;
    if (isatty(2))
        req.on_progress = show;
    tp_catch_interrupts();
    int status = 0;
    if (mode == 'm' || mode == 'k') {
        status = mode == 'm' ? machine(&req) : smoke(&req, out);
    } else {
        struct tp_build_result result;
        double configured = 0;
        if ((mode != 'c' && tp_recipe_configure(&req, &configured, &e)) ||
            tp_recipe_compile(&req, out, &result, &e))
            status = report(&e);
        else
            printf("seconds %.2f %.2f steps %u\n", configured, result.seconds, result.steps);
    }
    free(log);
    return status;
}
