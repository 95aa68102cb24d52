#include <dlfcn.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

static const char usage[] =
    "usage: prove-client [options] DRIVER.so\n"
    "\n"
    "Checks the one device of a Vulkan driver. Prints a JSON object a line; the last is\n"
    "{\"done\": true}. Exit status: 0 all checks hold, 1 one does not, 2 wrong usage.\n"
    "\n"
    "  --list              the checks, by group\n"
    "  --only ID[,ID…]     these checks and groups only\n"
    "  --effects E         what submits do beside retiring: none, events (the default), or all,\n"
    "                      where memory and pixels are compared too\n"
    "  --layers[=L]        under Khronos's validation layer. L: its library, a path; find (the\n"
    "                      default): by its manifest; auto: only where it is there\n"
    "  --submits N         submits of the check submits, and of each thread\n"
    "  --empty-submits N   submits of the check empty_submits\n"
    "  --threads N         threads of the check threads\n"
    "  --draws N           draws in one pass of the check draw_many (64)\n"
    "  --slow-ms N         a submit is known to take at least N ms\n"
    "  --timeout-ms N      for waits that must come to an end (10000)\n";

static const struct {
    const char *name;
    const struct tp_check *checks;
} groups[] = {
    {"layers", tp_layer_checks},      {"device", tp_device_checks},
    {"memory", tp_memory_checks},     {"resources", tp_resource_checks},
    {"pipelines", tp_pipeline_checks}, {"submit", tp_submit_checks},
    {"draw", tp_draw_checks},         {"sync", tp_sync_checks},
    {"queries", tp_query_checks},     {"external", tp_external_checks},
    {"android", tp_android_checks},   {"load", tp_load_checks},
};
#define GROUPS (sizeof groups / sizeof *groups)

/* Whether LIST, words with commas between them, holds WORD. */
static bool lists(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
        if (strcspn(at, ",") == length && !strncmp(at, word, length))
            return true;
    }
    return false;
}

static bool is_wanted(const struct tp_client_options *o, size_t group,
                      const struct tp_check *check)
{
    return !o->only || lists(o->only, groups[group].name) || lists(o->only, check->id);
}

static bool is_known(const char *word, size_t length)
{
    for (size_t g = 0; g < GROUPS; g++) {
        if (strlen(groups[g].name) == length && !strncmp(groups[g].name, word, length))
            return true;
        for (const struct tp_check *c = groups[g].checks; c->id; c++) {
            if (strlen(c->id) == length && !strncmp(c->id, word, length))
                return true;
        }
    }
    return false;
}

static void print_list(void)
{
    printf("always: instance, enumerate, device, teardown\n");
    for (size_t g = 0; g < GROUPS; g++) {
        printf("%s:\n", groups[g].name);
        for (const struct tp_check *c = groups[g].checks; c->id; c++)
            printf("  %-26s %s\n", c->id, c->what);
    }
}

static int wrong(const char *what, const char *why)
{
    fprintf(stderr, "prove-client: %s: %s (see --help)\n", what, why);
    return 2;
}

enum { OPT_EFFECTS = 256, OPT_HELP };

static int read_number(const char *text, unsigned *out)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || n > 10000000)
        return wrong(text, "is not a number");
    *out = (unsigned)n;
    return 0;
}

static int read_effects(const char *text, enum tp_effects *out)
{
    static const char *const names[] = {"none", "events", "all"};
    for (unsigned i = 0; i < 3; i++) {
        if (!strcmp(text, names[i])) {
            *out = (enum tp_effects)i;
            return 0;
        }
    }
    return wrong(text, "is not none, events or all");
}

static int check_layers(const char *text)
{
    if (strchr(text, '/') || !strcmp(text, TP_LAYERS_FIND) || !strcmp(text, TP_LAYERS_AUTO))
        return 0;
    return wrong(text, "is not a path, find or auto");
}

static int check_words(const char *list)
{
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
        if (!is_known(at, strcspn(at, ",")))
            return wrong(at, "is not a check or a group");
    }
    return 0;
}

/* 0: go on; 1: all is said; 2: wrong usage. */
static int read_options(int argc, char **argv, struct tp_client_options *o)
{
    static const struct option options[] = {
        {"list", no_argument, NULL, 'l'},
        {"layers", optional_argument, NULL, 'v'},
        {"only", required_argument, NULL, 'o'},
        {"effects", required_argument, NULL, OPT_EFFECTS},
        {"submits", required_argument, NULL, 's'},
        {"empty-submits", required_argument, NULL, 'e'},
        {"threads", required_argument, NULL, 't'},
        {"draws", required_argument, NULL, 'd'},
        {"slow-ms", required_argument, NULL, 'w'},
        {"timeout-ms", required_argument, NULL, 'm'},
        {"help", no_argument, NULL, OPT_HELP},
        {0},
    };
    int c, r = 0;
    while (!r && (c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        unsigned *number = NULL;
        switch (c) {
        case 'l':
            print_list();
            return 1;
        case OPT_HELP:
            fputs(usage, stdout);
            return 1;
        case 'v':
            o->layers = optarg ? optarg : TP_LAYERS_FIND;
            r = check_layers(o->layers);
            break;
        case 'o':
            o->only = optarg;
            r = check_words(optarg);
            break;
        case OPT_EFFECTS:
            r = read_effects(optarg, &o->effects);
            break;
        case 's':
            number = &o->submits;
            break;
        case 'e':
            number = &o->empty_submits;
            break;
        case 't':
            number = &o->threads;
            break;
        case 'd':
            number = &o->draws;
            break;
        case 'w':
            number = &o->slow_ms;
            break;
        case 'm':
            number = &o->timeout_ms;
            break;
        default:
            return 2;
        }
        if (number)
            r = read_number(optarg, number);
    }
    if (!r && optind + 1 != argc)
        r = wrong("DRIVER.so", "one driver is needed");
    if (!r && (!o->draws || o->draws > 100000))
        r = wrong("--draws", "is between 1 and 100000");
    if (!r)
        o->driver = argv[optind];
    return r;
}

/* Everything goes, and no more fds are open than after the first instance. */
static void check_teardown(struct tp_run *r)
{
    struct tp_client *client = r->client;
    VkResult idle = VK_SUCCESS;
    if (client->device) {
        if (!client->lost)
            idle = r->vk->DeviceWaitIdle(client->device);
        r->vk->DestroyDevice(client->device, NULL);
    }
    client->device = r->device = VK_NULL_HANDLE;
    tp_layers_unwatch(client);
    r->vk->DestroyInstance(client->instance, NULL);
    client->instance = VK_NULL_HANDLE;
    tp_called(r, "vkDeviceWaitIdle", idle);
    unsigned fds = tp_open_fds();
    if (fds > client->fds_before + client->fds_known)
        tp_failed(r, "%u file descriptors are left open (%s)", fds - client->fds_before,
                  *client->fds_lost ? client->fds_lost : "by none of the checks");
    if (fds > client->fds_before)
        tp_note(r, "%u file descriptors are left open by memory that may be exported",
                fds - client->fds_before);
}

static const struct tp_check teardown = {"teardown", "destroy everything", check_teardown};

static void run_checks(struct tp_client *client)
{
    if (!tp_check_run(client, &tp_check_instance) || !tp_check_run(client, &tp_check_enumerate) ||
        !tp_check_run(client, &tp_check_device))
        return;
    for (size_t g = 0; g < GROUPS; g++) {
        for (const struct tp_check *c = groups[g].checks; c->id && !client->lost; c++) {
            if (!is_wanted(&client->options, g, c))
                continue;
            tp_check_run(client, c);
            if (client->lost)
                tp_print_string("lost", c->id);
        }
    }
}

static int enter(struct tp_client *client, char *why, size_t size)
{
    if (tp_entry_open(client->options.driver, &client->entry, why, size))
        return -1;
    return tp_layers_open(client, why, size);
}

static void summarize(const struct tp_client *client)
{
    struct tp_json j = tp_json_begin("checks", false);
    tp_json_number(&j, "passed", client->passed);
    tp_json_number(&j, "failed", client->failed);
    tp_json_number(&j, "skipped", client->skipped);
    tp_json_end(&j);
}

int main(int argc, char **argv)
{
    struct tp_client client = {
        .options = {.effects = TP_EFFECTS_EVENTS, .draws = 64, .timeout_ms = 10000},
    };
    char why[600];
    int r = read_options(argc, argv, &client.options);
    if (r)
        return r == 1 ? 0 : r;
    char *path = realpath(client.options.driver, NULL);
    if (!path)
        return wrong(client.options.driver, "is not there");
    client.options.driver = path;
    if (enter(&client, why, sizeof why)) {
        tp_print_check("instance", false, false, 0, why);
        client.failed++;
    } else {
        run_checks(&client);
        if (client.instance)
            tp_check_run(&client, &teardown);
    }
    client.failed += tp_layers_messages(&client);
    summarize(&client);
    tp_layers_close(&client);
    if (client.entry.library)
        dlclose(client.entry.library);
    free(client.extensions);
    free(path);
    tp_print_done();
    return client.failed ? 1 : 0;
}
